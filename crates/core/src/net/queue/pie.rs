//! PIE: proportional integral controller enhanced (RFC 8033). Arrivals are dropped with a probability that a controller
//! adjusts every T_UPDATE, by the distance of the queueing delay from its target and by its change.
//!
//! The controller needs no timer: between arrivals and departures the queue does not change, so overdue updates are
//! made before the next of these is handled.

use super::fifo::{Fifo, over_fifo};
use super::registry::Queueing;
use super::{Cx, Marking, Outlet};
use crate::packet::{PacketId, PacketPool, Reason};
use crate::rng::Stream;
use crate::setting::limit::{HOUR, LARGEST_PACKET, above, at_most, range};
use crate::unit::{Bytes, Span, Time};
use crate::{keywords, settings};

keywords! {
    /// Estimates of the queueing delay (RFC 8033, 4.3).
    pub enum Estimate {
        /// Waiting bytes divided by the average departure rate (Little's law; RFC 8033, 5.2).
        DepartureRate = "departure_rate",
        /// Sojourn time of the last departed packet.
        Timestamps = "timestamps",
    }
}

settings! {
    /// Proportional integral controller enhanced (RFC 8033).
    pub struct Config {
        /// QDELAY_REF: target of the queueing delay.
        pub target: Span = Span::ms(15) => above(Span::ZERO).at_most(HOUR),
        /// T_UPDATE: interval between updates of the drop probability.
        pub update_interval: Span = Span::ms(15) => range(Span::us(10), HOUR),
        /// Gain for the deviation of the delay from its target \[1/s\].
        pub alpha: f64 = 0.125 => range(0.0, 1000.0),
        /// Gain for the change of the delay since the last update \[1/s\].
        pub beta: f64 = 1.25 => range(0.0, 1000.0),
        /// MAX_BURST: time without drops after a period without congestion.
        pub max_burst: Span = Span::ms(150) => at_most(HOUR),
        /// Estimate of the queueing delay.
        pub estimate: Estimate = Estimate::DepartureRate,
        /// DQ_THRESHOLD: backlog at which a measurement of the departure rate begins, and number of bytes after whose
        /// departure it ends.
        pub dq_threshold: Bytes = Bytes(16_384) => range(Bytes(1), Bytes(65_536))
            ; used when |c| c.estimate == Estimate::DepartureRate, else "`queue.pie.estimate` is not `departure_rate`",
        /// MEAN_PKTSIZE: nothing is dropped while at most two packets of this size wait.
        pub mean_packet_size: Bytes = Bytes(1024) => at_most(LARGEST_PACKET),
        /// mark_ecnth: largest drop probability at which ECN-capable packets are marked; above it they are dropped.
        pub mark_threshold: f64 = 0.1 => range(0.0, 1.0)
            ; used within |queue: &super::Config| queue.ecn, else "`queue.ecn` is false",
        /// Spaces drops evenly: none before the drop probabilities since the last drop add up to 0.85, and one at the
        /// latest when they add up to 8.5 (RFC 8033, 5.4).
        pub derandomize: bool = false,
    }
}

/// Auto-tuning (RFC 8033, 4.2): bounds of the drop probability, and the divisors of steps below them.
const SCALES: [(f64, f64); 6] =
    [(0.000_001, 2048.0), (0.000_01, 512.0), (0.000_1, 128.0), (0.001, 32.0), (0.01, 8.0), (0.1, 2.0)];
/// The largest step from this drop probability on (RFC 8033, 5.5).
const CAP: (f64, f64) = (0.1, 0.02);
/// Factor of the drop probability at each update while the queue is empty (RFC 8033, 4.2).
const DECAY: f64 = 0.98;
/// Largest drop probability at which nothing is dropped while the delay is below half of its target (RFC 8033, 4.1).
const SAFE: f64 = 0.2;
/// Sums of drop probabilities before which no packet is dropped, and at which one is (RFC 8033, 5.4).
const SPREAD: (f64, f64) = (0.85, 8.5);

/// State of the controller. Variables have the names of RFC 8033.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Controller {
    drop_prob: f64,
    qdelay_old: Span,
    burst_allowance: Span,
}

/// A measurement of the departure rate.
#[derive(Clone, Copy, Debug)]
struct Measurement {
    start: Time,
    /// Bytes departed since the begin.
    dq_count: u64,
}

/// A queue under PIE.
#[derive(Clone, Debug)]
pub struct Pie {
    cfg: Config,
    fifo: Fifo,
    marking: Marking,
    controller: Controller,
    accu_prob: f64,
    /// Time of the next update.
    update_at: Time,
    measurement: Option<Measurement>,
    /// Average time in which `dq_threshold` bytes depart \[s\]; 0: not yet measured.
    avg_dq_time: f64,
    /// Sojourn time of the last departed packet.
    waited: Span,
    rng: Stream,
}

impl Pie {
    /// Estimate of the queueing delay.
    fn qdelay(&self) -> Span {
        match self.cfg.estimate {
            _ if self.fifo.len() == 0 => Span::ZERO,
            Estimate::Timestamps => self.waited,
            Estimate::DepartureRate => {
                let share = self.fifo.bytes() as f64 / f64::from(self.cfg.dq_threshold.0);
                Span::from_secs(share * self.avg_dq_time)
            }
        }
    }

    /// Makes the overdue updates.
    fn catch_up(&mut self, now: Time) {
        while self.update_at <= now {
            let before = self.controller;
            self.update();
            self.update_at += self.cfg.update_interval;
            if before == self.controller && self.update_at <= now {
                // Further updates of an unchanged queue change nothing.
                let missed = now.since(self.update_at).0 / self.cfg.update_interval.0 + 1;
                self.update_at += self.cfg.update_interval * missed;
            }
        }
    }

    /// Updates the drop probability (RFC 8033, 4.2, 4.4 and 5.5).
    fn update(&mut self) {
        let (qdelay, old) = (self.qdelay(), self.controller.qdelay_old);
        let c = &mut self.controller;
        c.burst_allowance = Span(c.burst_allowance.0.saturating_sub(self.cfg.update_interval.0));
        let mut p = self.cfg.alpha * (qdelay.as_secs() - self.cfg.target.as_secs())
            + self.cfg.beta * (qdelay.as_secs() - old.as_secs());
        if let Some(scale) = SCALES.iter().find(|s| c.drop_prob < s.0) {
            p /= scale.1;
        }
        if c.drop_prob >= CAP.0 {
            p = p.min(CAP.1);
        }
        c.drop_prob += p;
        if qdelay == Span::ZERO && old == Span::ZERO {
            c.drop_prob *= DECAY;
        }
        c.drop_prob = c.drop_prob.clamp(0.0, 1.0);
        c.qdelay_old = qdelay;
        let half = self.cfg.target / 2;
        if c.drop_prob == 0.0 && qdelay < half && old < half {
            c.burst_allowance = self.cfg.max_burst;
        }
    }

    /// Returns true if an arrival is chosen to be dropped or marked (RFC 8033, 4.1 and 5.4).
    fn drop_early(&mut self) -> bool {
        let c = self.controller;
        if c.burst_allowance > Span::ZERO {
            return false;
        }
        let short = self.fifo.bytes() <= 2 * u64::from(self.cfg.mean_packet_size.0);
        if short || (c.qdelay_old < self.cfg.target / 2 && c.drop_prob < SAFE) {
            return false;
        }
        if !self.cfg.derandomize {
            return self.rng.uniform() < c.drop_prob;
        }
        self.accu_prob = if c.drop_prob == 0.0 { 0.0 } else { self.accu_prob + c.drop_prob };
        let chosen = self.accu_prob >= SPREAD.0 && (self.accu_prob >= SPREAD.1 || self.rng.uniform() < c.drop_prob);
        if chosen {
            self.accu_prob = 0.0;
        }
        chosen
    }

    /// A packet of this size \[B\] departs: measures the departure rate (RFC 8033, 5.2). `waiting` includes the packet
    /// itself.
    fn measure(&mut self, size: u64, waiting: u64, now: Time) {
        let threshold = u64::from(self.cfg.dq_threshold.0);
        if self.measurement.is_none() && waiting >= threshold {
            self.measurement = Some(Measurement { start: now, dq_count: 0 });
        }
        let Some(m) = &mut self.measurement else { return };
        m.dq_count += size;
        if m.dq_count < threshold {
            return;
        }
        let time = now.since(m.start).as_secs();
        let weight = threshold as f64 / 65_536.0;
        self.avg_dq_time =
            if self.avg_dq_time == 0.0 { time } else { weight * time + (1.0 - weight) * self.avg_dq_time };
        let is_long = waiting - size >= threshold;
        self.measurement = is_long.then_some(Measurement { start: now, dq_count: 0 });
    }
}

impl Queueing for Pie {
    const MANAGED: bool = true;

    fn new(queue: &super::Config, _: Outlet, rng: Stream) -> Pie {
        let cfg = queue.pie.clone();
        Pie {
            fifo: Fifo::new(queue),
            marking: Marking::new(queue),
            controller: Controller { drop_prob: 0.0, qdelay_old: Span::ZERO, burst_allowance: cfg.max_burst },
            accu_prob: 0.0,
            update_at: Time::ZERO + cfg.update_interval,
            measurement: None,
            avg_dq_time: 0.0,
            waited: Span::ZERO,
            rng,
            cfg,
        }
    }

    fn push(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        self.catch_up(cx.now);
        if !self.fifo.has_room(cx.size(packet)) {
            return cx.discard(packet, Reason::QueueFull);
        }
        if self.drop_early() {
            let may_mark = self.controller.drop_prob <= self.cfg.mark_threshold;
            if !(may_mark && self.marking.mark(&mut cx.pool[packet])) {
                return cx.discard(packet, Reason::Aqm);
            }
        }
        self.fifo.push(packet, cx);
    }

    fn pop(&mut self, cx: &mut Cx<'_>) -> Option<PacketId> {
        self.catch_up(cx.now);
        let waiting = self.fifo.bytes();
        let (packet, came) = self.fifo.pop(cx)?;
        self.waited = cx.now.since(came);
        if self.cfg.estimate == Estimate::DepartureRate {
            self.measure(cx.size(packet), waiting, cx.now);
        }
        Some(packet)
    }

    fn remove(&mut self, cx: &Cx<'_>, matches: impl FnMut(PacketId) -> bool) -> Option<PacketId> {
        self.catch_up(cx.now);
        self.fifo.remove(cx, matches)
    }

    over_fifo!(@state);

    fn set_limit(&mut self, packets: usize) {
        self.fifo.room = packets;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Bench;
    use super::super::{Config as Queue, Discipline, Queue as AnyQueue};
    use super::*;
    use crate::packet::Ecn;
    use crate::rng::Purpose;
    use crate::unit::BitRate;
    use proptest::prelude::*;

    fn config(pie: Config) -> Queue {
        Queue { discipline: Discipline::Pie, limit: 100_000, pie, ..Queue::default() }
    }

    fn bench(pie: Config) -> Bench {
        Bench::new(&config(pie), BitRate::mbps(2))
    }

    fn inside(b: &mut Bench) -> &mut Pie {
        match &mut b.queue {
            AnyQueue::Pie(q) => q,
            other => unreachable!("{other:?}"),
        }
    }

    fn timestamps() -> Config {
        Config { estimate: Estimate::Timestamps, ..Config::default() }
    }

    /// Controller of a non-empty queue whose last packet has waited this long [ms].
    fn controller(waited_ms: u64, drop_prob: f64, qdelay_old_ms: u64) -> Bench {
        let mut b = bench(timestamps());
        b.push(0, 500, Ecn::NotEct);
        let pie = inside(&mut b);
        pie.waited = Span::ms(waited_ms);
        pie.controller = Controller { drop_prob, qdelay_old: Span::ms(qdelay_old_ms), burst_allowance: Span::ZERO };
        b
    }

    /// RFC 8033, 4.2, by hand: p = 0.125 (0.035 - 0.015) + 1.25 (0.035 - 0) = 0.04625, divided by 2048 at 0; then
    /// 0.0025, divided by 128 from 0.00001 on and by 32 from 0.0001 on.
    #[test]
    fn steps_are_scaled_by_the_drop_probability() {
        let mut b = controller(35, 0.0, 0);
        let mut seen = vec![];
        for _ in 0..6 {
            inside(&mut b).update();
            seen.push(inside(&mut b).controller.drop_prob);
        }
        let first = 0.04625 / 2048.0;
        let slow = 0.0025 / 128.0;
        let expected = [
            first,
            first + slow,
            first + 2.0 * slow,
            first + 3.0 * slow,
            first + 4.0 * slow,
            first + 4.0 * slow + 0.0025 / 32.0,
        ];
        assert!(seen.iter().zip(expected).all(|(a, e)| (a - e).abs() < 1e-12), "{seen:?} for {expected:?}");
    }

    /// RFC 8033, 5.5: p = 0.125 (1 - 0.015) + 1.25 (1 - 0.1) = 1.248 becomes 0.02 from 0.1 on.
    #[test]
    fn large_steps_are_capped() {
        for (before, after) in [(0.15, 0.17), (0.1, 0.12), (0.09, 0.09 + (0.123_125 + 1.125) / 2.0)] {
            let mut b = controller(1000, before, 100);
            inside(&mut b).update();
            assert!((inside(&mut b).controller.drop_prob - after).abs() < 1e-12, "{before}");
        }
    }

    /// RFC 8033, 4.2: an empty queue has no delay; p = -0.125 * 0.015, and 0.98 of the rest is left.
    #[test]
    fn the_drop_probability_decays_while_the_queue_is_empty() {
        let mut b = controller(0, 0.5, 0);
        b.pop();
        inside(&mut b).waited = Span::ms(35);
        inside(&mut b).update();
        assert!((inside(&mut b).controller.drop_prob - (0.5 - 0.001_875) * 0.98).abs() < 1e-12);
        b.now += Span::secs(3600);
        b.push(0, 500, Ecn::NotEct);
        let c = inside(&mut b).controller;
        assert_eq!((c.drop_prob, c.burst_allowance), (0.0, Span::ms(150)), "a burst is allowed again");
    }

    /// Adds packets, and takes as many, every millisecond between two instants [ms].
    fn stand(b: &mut Bench, until_ms: u64, ecn: Ecn) {
        while b.now < Time::ZERO + Span::ms(until_ms) {
            b.pop();
            b.push(0, 500, ecn);
            b.now += Span::ms(1);
        }
    }

    #[test]
    fn burst_passes_and_standing_queue_is_dropped_from() {
        let mut b = bench(Config { alpha: 1000.0, ..timestamps() });
        (0..100).for_each(|_| b.push(0, 500, Ecn::NotEct));
        stand(&mut b, 150, Ecn::NotEct);
        assert_eq!(b.dropped.len(), 0, "MAX_BURST");
        stand(&mut b, 400, Ecn::NotEct);
        assert!(b.dropped.len() > 90 && b.dropped.iter().all(|d| d.2 == Reason::Aqm), "{}", b.dropped.len());
        assert!(b.dropped[0].0 >= Time::ZERO + Span::ms(150));
        // Two packets of the mean size are never dropped.
        assert!(b.queue.bytes(&b.pool) >= 2048, "{}", b.queue.bytes(&b.pool));
    }

    #[test]
    fn ecn_marks_up_to_the_threshold_and_drops_beyond() {
        for (drop_prob, mark_threshold, marked) in [(0.1, 0.1, true), (0.11, 0.1, false), (1.0, 1.0, true)] {
            let mut b = bench(Config { mark_threshold, ..timestamps() });
            (0..20).for_each(|_| b.push(0, 500, Ecn::Ect));
            inside(&mut b).controller =
                Controller { drop_prob, qdelay_old: Span::ms(100), burst_allowance: Span::ZERO };
            (0..200).for_each(|_| b.push(0, 500, Ecn::Ect));
            let (marks, drops) = (b.queue.marks(), b.dropped.len() as u64);
            assert_eq!((marks > 5, drops > 5), (marked, !marked), "{drop_prob}: {marks} marked, {drops} dropped");
        }
    }

    /// RFC 8033, 5.4: with a probability of 0.1 the ninth packet after a drop is the first that can be dropped, and the
    /// 85th the last.
    #[test]
    fn drops_are_spread_out() {
        let mut b = bench(Config { derandomize: true, ..timestamps() });
        (0..20).for_each(|_| b.push(0, 500, Ecn::NotEct));
        inside(&mut b).controller =
            Controller { drop_prob: 0.1, qdelay_old: Span::ms(100), burst_allowance: Span::ZERO };
        (0..2000).for_each(|_| b.push(0, 500, Ecn::NotEct));
        let gaps: Vec<_> = b.drops().windows(2).map(|w| w[1] - w[0]).collect();
        assert!(gaps.len() > 80 && gaps.iter().all(|g| (9..=86).contains(g)), "{gaps:?}");
        assert!(gaps.contains(&9), "{gaps:?}");
    }

    /// RFC 8033, 5.2: a packet of 1,500 B departs every 6 ms. Eleven are the first 16,384 B, 60 ms after the first of
    /// them; the next eleven take 66 ms, a quarter of which goes into the average.
    #[test]
    fn the_departure_rate_is_measured_while_the_queue_is_long() {
        let mut b = bench(Config { max_burst: Span::secs(100), ..Config::default() });
        (0..60).for_each(|_| b.push(0, 1500, Ecn::NotEct));
        let mut averages = vec![];
        for _ in 0..60 {
            b.pop();
            b.now += Span::ms(6);
            averages.push(inside(&mut b).avg_dq_time);
        }
        averages.dedup();
        // Five measurements: 16 packets wait when the last one begins.
        let mut expected = vec![0.0, 0.060];
        for _ in 0..4 {
            expected.push(0.25 * 0.066 + 0.75 * expected.last().expect("one"));
        }
        assert_eq!(averages.len(), expected.len(), "{averages:?}");
        assert!(averages.iter().zip(expected).all(|(a, e)| (a - e).abs() < 1e-12), "{averages:?}");
    }

    #[test]
    fn delay_estimate_is_backlog_over_departure_rate() {
        let mut b = bench(Config::default());
        (0..10).for_each(|_| b.push(0, 1500, Ecn::NotEct));
        assert_eq!(inside(&mut b).qdelay(), Span::ZERO, "no rate is known");
        inside(&mut b).avg_dq_time = 0.016_384;
        assert_eq!(inside(&mut b).qdelay(), Span::ms(15), "15,000 B at 1 MB/s");
    }

    proptest! {
        /// Updates made late, at the next packet, give the state of updates made in time.
        #[test]
        fn updates_are_made_up_for(
            steps in prop::collection::vec((any::<bool>(), 0u64..400_000), 1..200),
            timestamps in any::<bool>(),
            alpha in prop::sample::select(vec![0.125, 5.0, 100.0]),
        ) {
            let estimate = if timestamps { Estimate::Timestamps } else { Estimate::DepartureRate };
            let cfg = config(Config { estimate, alpha, dq_threshold: Bytes(3000), ..Config::default() });
            let outlet = Outlet { rate: BitRate::mbps(2), delay: Span::ZERO };
            let new = || Pie::new(&cfg, outlet, Stream::new(7, Purpose::Queue, 0));
            let (mut seldom, mut often) = (new(), new());
            let mut b = Bench::new(&cfg, BitRate::mbps(2));
            for (arrives, wait_us) in steps {
                for _ in 0..20 {
                    b.now += Span::us(wait_us / 20);
                    often.catch_up(b.now);
                }
                let packet = b.packet(0, 1500, Ecn::NotEct);
                let (mut dropped, mut same) = (vec![], vec![]);
                for (queue, dropped) in [(&mut seldom, &mut dropped), (&mut often, &mut same)] {
                    let mut cx = Cx { now: b.now, pool: &mut b.pool, dropped };
                    if arrives {
                        queue.push(packet, &mut cx);
                    } else {
                        queue.pop(&mut cx);
                    }
                }
                prop_assert_eq!(dropped, same);
                prop_assert_eq!(seldom.controller, often.controller);
                prop_assert_eq!(seldom.update_at, often.update_at);
            }
        }
    }
}
