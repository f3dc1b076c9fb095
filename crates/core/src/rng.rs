//! Random numbers: one seed, one stream per purpose and owner.
//!
//! A stream is keyed by (seed, purpose, index), not by the order in which streams are made, so that adding a flow or
//! a node never moves the numbers of another. The distributions are our own: a library update cannot move results.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng};
use std::f64::consts::PI;

/// Purpose of a random stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Purpose {
    /// Backoff slots of a station.
    Backoff = 1,
    /// Jitter of the routing protocol of a node.
    Routing = 2,
    /// Phase of the clock that ticks the retransmission timer of a flow.
    ClockPhase = 3,
    /// Packet times of an application.
    Application = 4,
    /// Errors on a direction of a point-to-point link, by its ends.
    Errors = 5,
    /// Positions of a topology.
    Topology = 6,
    /// Ends of random flows.
    Flows = 7,
    /// Drops of a queue in front of a radio.
    Queue = 8,
    /// Errors at a receiver of frames.
    FrameErrors = 9,
    /// Drops of Link RED at a node.
    LinkRed = 10,
    /// Drops of Neighborhood RED at a node, and times of its measurements.
    NeighborhoodRed = 11,
    /// Arrival times of short flows.
    Arrivals = 12,
    /// Sizes of short flows.
    Sizes = 13,
    /// Ends of short flows.
    TransferEnds = 14,
    /// Phase of the clock that ticks the retransmission timer of a short flow.
    TransferPhase = 15,
    /// Random waypoint movement of a node.
    Mobility = 16,
    /// Shadowing between two nodes.
    Shadowing = 17,
    /// Fading and lost bits at a receiver.
    Reception = 18,
    /// Rate control of a station.
    RateControl = 19,
    /// Other networks in the secondary channel of a station.
    SecondaryChannel = 20,
    /// Drops of a queue in front of a direction of a point-to-point link, by its ends.
    LinkQueue = 21,
    /// Deviation of the measured signals between two nodes.
    MeasuredLinks = 22,
    /// Times between the probes of bandwidth of a flow (BBR version 3).
    BandwidthProbes = 23,
}

/// A stream of random numbers (xoshiro256++).
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

/// One step of SplitMix64 (Steele, Lea, Flood 2014), used to mix the key into a seed, and as a hash.
pub fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Key of each radio, given their nodes: the first radio of a node has the number of the node. Numbers of radios would
/// not do: one more node moves those of additional radios.
pub fn keys_of_radios(nodes: impl Iterator<Item = u32>) -> Vec<u64> {
    let mut before = Vec::new();
    let key = |node: u32| {
        before.resize(before.len().max(node as usize + 1), 0);
        let key = before[node as usize] << 32 | u64::from(node);
        before[node as usize] += 1;
        key
    };
    nodes.map(key).collect()
}

impl Stream {
    /// Stream of `purpose` at `index` in a run with this seed.
    pub fn new(seed: u64, purpose: Purpose, index: u64) -> Stream {
        let key = mix(mix(mix(seed) ^ purpose as u64) ^ index);
        Stream(Xoshiro256PlusPlus::seed_from_u64(key))
    }

    /// Uniform integer in `0..n`; `n` must not be 0.
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        #[cfg(test)]
        if let Some(v) = script::below(n) {
            return v;
        }
        // Multiply and shift (Lemire 2019): the bias of at most n / 2^64 is too small to be observed in any run.
        ((u128::from(self.0.next_u64()) * u128::from(n)) >> 64) as u32
    }

    /// Exponential with the mean 1.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        #[cfg(test)]
        if let Some(v) = script::exponential() {
            return v;
        }
        // From (0, 1], so that the logarithm is finite.
        -libm::log(1.0 - self.uniform())
    }

    /// Normal with the mean 0 and the standard deviation 1 (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let (radius, angle) = (libm::sqrt(2.0 * self.exponential()), 2.0 * PI * self.uniform());
        radius * libm::cos(angle)
    }

    /// Uniform in [0, 1), 53 bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        #[cfg(test)]
        if let Some(v) = script::uniform() {
            return v;
        }
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

/// Replaces all streams in tests that replay a trace of ns-2 by its single generator, drawn from in call order.
/// MRG32k3a, L'Ecuyer, Operations Research 47(1), 1999.
#[cfg(test)]
pub(crate) mod script {
    use std::cell::RefCell;

    struct Mrg {
        a: [i64; 3],
        b: [i64; 3],
    }

    thread_local! {
        static ACTIVE: RefCell<Option<Mrg>> = const { RefCell::new(None) };
    }

    impl Mrg {
        fn next(&mut self) -> f64 {
            const M1: i64 = 4_294_967_087;
            const M2: i64 = 4_294_944_443;
            let p1 = (1_403_580 * self.a[1] - 810_728 * self.a[0]).rem_euclid(M1);
            self.a = [self.a[1], self.a[2], p1];
            let p2 = (527_612 * self.b[2] - 1_370_589 * self.b[0]).rem_euclid(M2);
            self.b = [self.b[1], self.b[2], p2];
            let d = if p1 > p2 { p1 - p2 } else { p1 - p2 + M1 };
            d as f64 / (M1 + 1) as f64
        }

        fn whole(&mut self) -> u64 {
            (self.next() * 2_147_483_648.0) as u64
        }
    }

    /// Makes every draw of this thread come from ns-2's generator with this seed, after `skip` draws.
    pub(crate) fn start(seed: i64, skip: u32) {
        let mut mrg = Mrg { a: [seed; 3], b: [seed; 3] };
        for _ in 0..skip {
            mrg.next();
        }
        ACTIVE.with(|m| *m.borrow_mut() = Some(mrg));
    }

    /// Returns to keyed streams.
    pub(crate) fn stop() {
        ACTIVE.with(|m| *m.borrow_mut() = None);
    }

    pub(super) fn below(n: u32) -> Option<u32> {
        ACTIVE.with(|m| m.borrow_mut().as_mut().map(|m| (m.whole() % u64::from(n)) as u32))
    }

    pub(super) fn uniform() -> Option<f64> {
        ACTIVE.with(|m| m.borrow_mut().as_mut().map(|m| m.whole() as f64 / 2_147_483_647.0))
    }

    /// `RNG::exponential` takes the logarithm of the uniform number itself.
    pub(super) fn exponential() -> Option<f64> {
        uniform().map(|u| -libm::log(u))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_keyed_not_counted() {
        let mut a = Stream::new(1, Purpose::Backoff, 7);
        let _other = Stream::new(1, Purpose::Routing, 7).uniform();
        let mut b = Stream::new(1, Purpose::Backoff, 7);
        assert!((0..100).all(|_| a.below(1 << 20) == b.below(1 << 20)));
        let differ = |mut x: Stream, mut y: Stream| (0..8).any(|_| x.below(1 << 20) != y.below(1 << 20));
        assert!(differ(Stream::new(1, Purpose::Backoff, 7), Stream::new(2, Purpose::Backoff, 7)));
        assert!(differ(Stream::new(1, Purpose::Backoff, 7), Stream::new(1, Purpose::Backoff, 8)));
        assert!(differ(Stream::new(1, Purpose::Backoff, 7), Stream::new(1, Purpose::Routing, 7)));
    }

    #[test]
    fn keys_of_radios_stay_when_a_node_is_added() {
        // Two radios at the nodes 0 and 2, one at node 1.
        let before = keys_of_radios([0, 1, 2, 0, 2].into_iter());
        let after = keys_of_radios([0, 1, 2, 3, 0, 2, 3].into_iter());
        assert_eq!(before, [0, 1, 2, 1 << 32, 1 << 32 | 2]);
        assert_eq!([&after[..3], &after[4..6]].concat(), before);
    }

    #[test]
    fn uniform_numbers_are_uniform() {
        let mut s = Stream::new(3, Purpose::Application, 0);
        let n = 200_000;
        let mut counts = [0u32; 31];
        let mut sum = 0.0;
        for _ in 0..n {
            counts[s.below(31) as usize] += 1;
            sum += s.uniform();
        }
        let expected = f64::from(n) / 31.0;
        let chi2: f64 = counts.iter().map(|&c| (f64::from(c) - expected).powi(2) / expected).sum();
        assert!(chi2 < 59.7, "chi-square {chi2:.1} of 30 degrees of freedom exceeds the 99.9 % point");
        assert!((sum / f64::from(n) - 0.5).abs() < 0.003);
    }

    #[test]
    fn the_generator_of_ns2_is_reproduced() {
        // ns-2.35: $defaultRNG seed 1; uniform 0 1, uniform 0 1, integer 1000000.
        script::start(1, 0);
        let mut s = Stream::new(0, Purpose::Backoff, 0);
        assert!((s.uniform() - 0.000_339_576_974_669_274_4).abs() < 1e-15);
        assert!((s.uniform() - 0.555_880_715_863_723_7).abs() < 1e-15);
        assert_eq!(s.below(1_000_000), 504_276);
        script::stop();
    }
}
