//! Link RED and the adaptive pacing of the link layer (Fu, Zerfos, Luo, Lu, Zhang and Gerla, IEEE INFOCOM 2003): over
//! several hops packets are lost to contention long before queues are full, so the number of MAC retries measures the
//! congestion at a node.

use crate::rng::Stream;
use crate::setting::limit::range;
use crate::settings;

settings! {
    /// Link RED at every node with a radio: packets of flows are dropped, or marked as set by `queue.ecn`, before they
    /// are handed to the MAC.
    pub struct Config if enabled, else "`net.link_red.enabled` is false" {
        /// Enables Link RED.
        pub enabled: bool = false,
        /// Average number of retries per packet at which drops begin.
        pub min_threshold: f64 = 1.0 => range(0.0, 1e6),
        /// Average number of retries per packet at which the drop probability would be 1 without the limit `max_p`.
        pub max_threshold: f64 = 3.0 => range(0.0, 1e6),
        /// Upper limit of the drop probability; 0: no drops.
        pub max_p: f64 = 0.1 => range(0.0, 1.0),
        /// Adaptive pacing: extends the backoff after a packet by the airtime of that packet while the average is at
        /// least `min_threshold`.
        pub pacing: bool = true,
    }
}

/// Weight of the last packet in the average.
const WEIGHT: f64 = 1.0 / 8.0;

/// Link RED at a node.
#[derive(Clone, Debug)]
pub struct LinkRed {
    avg_retry: f64,
    rng: Stream,
}

impl LinkRed {
    /// Initial state, with a random stream of its own.
    pub fn new(rng: Stream) -> LinkRed {
        LinkRed { avg_retry: 0.0, rng }
    }

    /// Updates the average after the MAC has sent or given up a packet with this number of retries.
    pub fn on_done(&mut self, retries: u64) {
        self.avg_retry += WEIGHT * (retries as f64 - self.avg_retry);
    }

    fn is_congested(&self, cfg: &Config) -> bool {
        self.avg_retry >= cfg.min_threshold
    }

    /// Drop probability of the packet at the head of the queue.
    fn probability(&self, cfg: &Config) -> f64 {
        if self.is_congested(cfg) {
            ((self.avg_retry - cfg.min_threshold) / (cfg.max_threshold - cfg.min_threshold)).min(cfg.max_p)
        } else {
            0.0
        }
    }

    /// Returns true if the packet at the head of the queue is to be dropped or marked.
    pub fn drops(&mut self, cfg: &Config) -> bool {
        let p = self.probability(cfg);
        p > 0.0 && self.rng.uniform() < p
    }

    /// Returns true if the backoff after a packet is to be prolonged.
    pub fn paces(&self, cfg: &Config) -> bool {
        cfg.pacing && self.is_congested(cfg)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    fn after(retries: &[u64]) -> LinkRed {
        let mut red = LinkRed::new(Stream::new(1, Purpose::LinkRed, 0));
        retries.iter().for_each(|r| red.on_done(*r));
        red
    }

    #[test]
    fn the_average_forgets_an_eighth_with_every_packet() {
        // avg = 7/8 avg + 1/8 retries; every value is exact in binary.
        for (retries, avg) in [
            (&[][..], 0.0),
            (&[6], 0.75),
            (&[6, 0], 0.65625),
            (&[6, 0, 4], 1.07421875),
            (&[8, 8], 1.875),
            (&[8, 8, 8], 2.640625),
        ] {
            assert_eq!(after(retries).avg_retry, avg, "{retries:?}");
        }
    }

    #[test]
    fn the_probability_rises_from_the_minimum_threshold_to_its_limit() {
        let cfg = Config { max_p: 0.5, ..Config::default() };
        // (avg - 1) / (3 - 1), at most 1/2.
        for (avg_retry, p) in
            [(0.0, 0.0), (0.999, 0.0), (1.0, 0.0), (1.25, 0.125), (1.5, 0.25), (2.0, 0.5), (2.5, 0.5), (6.0, 0.5)]
        {
            let red = LinkRed { avg_retry, ..after(&[]) };
            assert_eq!(red.probability(&cfg), p, "average {avg_retry}");
        }
        let red = LinkRed { avg_retry: 1.1, ..after(&[]) };
        assert!((red.probability(&Config::default()) - 0.05).abs() < 1e-12);
        assert_eq!(LinkRed { avg_retry: 1.5, ..red }.probability(&Config::default()), 0.1);
    }

    #[test]
    fn drop_frequency_matches_the_probability() {
        let mut red = LinkRed { avg_retry: 1.25, ..after(&[]) };
        let cfg = Config { max_p: 0.5, ..Config::default() };
        let (n, p) = (100_000, 0.125);
        let dropped = (0..n).filter(|_| red.drops(&cfg)).count() as f64;
        let (mean, deviation) = (f64::from(n) * p, (f64::from(n) * p * (1.0 - p)).sqrt());
        assert!((dropped - mean).abs() < 4.0 * deviation, "{dropped} of {n}");
        assert!((0..1000).all(|_| !red.drops(&Config { max_p: 0.0, ..cfg.clone() })));
    }

    #[test]
    fn pacing_begins_at_the_minimum_threshold_and_can_be_left_out() {
        let cfg = Config::default();
        let at = |avg_retry| LinkRed { avg_retry, ..after(&[]) };
        assert_eq!([0.9, 1.0, 7.0].map(|avg| at(avg).paces(&cfg)), [false, true, true]);
        assert!(!at(7.0).paces(&Config { pacing: false, ..cfg }));
    }
}
