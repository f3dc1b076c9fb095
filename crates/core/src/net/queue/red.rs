//! Random early detection (Floyd and Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993), with later additions:
//! the gentle slope above the maximum threshold (Floyd 2000), Adaptive RED (Floyd, Gummadi and Shenker 2001), and
//! deviations of ns-2 as settings.

use super::fifo::{Fifo, over_fifo};
use super::registry::Queueing;
use super::{Cx, Marking, Outlet};
use crate::packet::{PacketId, PacketPool, Reason};
use crate::rng::Stream;
use crate::setting::limit::{HOUR, LARGEST_PACKET, above, at_most, range};
use crate::settings;
use crate::unit::{Bytes, Span, Time};

settings! {
    /// Random early detection. Lengths count packets, or packets of the mean size if the queue is measured in bytes.
    pub struct Config {
        /// Average length below which nothing is dropped; "auto": 5, or half of the length that `target_delay` allows
        /// if that is larger.
        pub min_threshold: Option<f64> | "auto" = Some(5.0) => above(0.0).at_most(1e6),
        /// Average length at which all packets are dropped; with `gentle`, at which the drop probability begins to rise
        /// above `max_p` to 1. "auto": three times the minimum.
        pub max_threshold: Option<f64> | "auto" = Some(15.0) => range(0.0, 1e6),
        /// Drop probability just below `max_threshold`.
        pub max_p: f64 = 0.02 => above(0.0).at_most(1.0),
        /// Weight of the current length in the average; "auto": follows from the output rate, so that the average
        /// adapts within ten round-trip times.
        pub weight: Option<f64> | "auto" = Some(0.002) => above(0.0).at_most(1.0),
        /// Lets the drop probability rise from `max_p` to 1 between `max_threshold` and twice that; otherwise it is 1
        /// from `max_threshold` on.
        pub gentle: bool = false,
        /// Lets at least 1/p packets pass between two drops, where p is the drop probability.
        pub wait: bool = false,
        /// Measures lengths in bytes, and drops larger packets with higher probability.
        pub queue_in_bytes: bool = false,
        /// Assumed packet size, for lengths in bytes and for the average after an idle time.
        pub mean_packet_size: Bytes = Bytes(500) => range(Bytes(1), LARGEST_PACKET),
        /// Largest drop probability at which ECN-capable packets are marked; above it they are dropped. "always": they
        /// are marked whenever the drop would be random.
        pub mark_p: Option<f64> | "always" = None => above(0.0).at_most(1.0),
        /// Lets a packet pass that finds at most one packet waiting, or that is the first to find the average above
        /// `min_threshold` (ns-2).
        pub lenient: bool = false,
        /// Adaptive RED: adapts `max_p` so that the average stays halfway between the thresholds.
        pub adaptive: bool = false,
        /// Interval between adaptations of `max_p`.
        pub interval: Span = Span::ms(500) => at_most(HOUR)
            ; used when |c| c.adaptive, else "`queue.red.adaptive` is false",
        /// Increment of `max_p`, or a quarter of `max_p` if that is smaller.
        pub alpha: f64 = 0.01 => above(0.0).at_most(1.0)
            ; used when |c| c.adaptive, else "`queue.red.adaptive` is false",
        /// Factor by which `max_p` is reduced.
        pub beta: f64 = 0.9 => above(0.0).at_most(1.0)
            ; used when |c| c.adaptive, else "`queue.red.adaptive` is false",
        /// Lower limit of `max_p`; "auto": 0.01, or less on fast links.
        pub min_max_p: Option<f64> | "auto" = None => above(0.0).at_most(1.0)
            ; used when |c| c.adaptive, else "`queue.red.adaptive` is false",
        /// Upper limit of `max_p`.
        pub max_max_p: f64 = 0.5 => above(0.0).at_most(1.0)
            ; used when |c| c.adaptive, else "`queue.red.adaptive` is false",
        /// Queueing delay from which the thresholds are computed where they are "auto".
        pub target_delay: Span = Span::ms(5) => at_most(HOUR)
            ; used when |c| c.min_threshold.is_none() || c.adaptive, else "`queue.red.min_threshold` is given",
    }
}

/// A queue under RED, with the variable names of the paper where it has them.
#[derive(Clone, Debug)]
pub struct Red {
    cfg: Config,
    fifo: Fifo,
    marking: Marking,
    /// Limit of waiting packets, or of bytes before the last packet.
    limit: f64,
    /// Thresholds, in packets or bytes.
    min: f64,
    max: f64,
    max_p: f64,
    bottom: f64,
    weight: f64,
    /// Packets of the mean size that the outlet can send per second.
    rate: f64,
    avg: f64,
    /// Packets, and bytes, since the last drop.
    count: i64,
    count_bytes: i64,
    /// The average was above the minimum before.
    crossed: bool,
    idle_since: Option<Time>,
    adapted: Time,
    rng: Stream,
}

/// Decision on an arrival.
#[derive(PartialEq, Eq)]
enum Verdict {
    Pass,
    Random,
    Forced,
}

impl Queueing for Red {
    const MANAGED: bool = true;

    fn new(queue: &super::Config, outlet: Outlet, rng: Stream) -> Red {
        let cfg = queue.red.clone();
        let mean = f64::from(cfg.mean_packet_size.0);
        let rate = outlet.rate.0 as f64 / (8.0 * mean);
        let min = cfg.min_threshold.unwrap_or_else(|| (cfg.target_delay.as_secs() * rate / 2.0).max(5.0));
        let max = cfg.max_threshold.unwrap_or(3.0 * min);
        let weight = cfg.weight.unwrap_or_else(|| {
            let rtt = (3.0 * (outlet.delay.as_secs() + 1.0 / rate)).max(0.1);
            1.0 - libm::exp(-1.0 / (10.0 * rtt * rate))
        });
        let unit = if cfg.queue_in_bytes { mean } else { 1.0 };
        let fifo = Fifo::new(queue);
        Red {
            fifo: if cfg.queue_in_bytes { fifo.with_any_number() } else { fifo },
            limit: f64::from(queue.limit) * unit,
            marking: Marking::new(queue),
            min: min * unit,
            max: max * unit,
            max_p: cfg.max_p,
            // At most one drop per window of 1000 B packets at this rate and a round-trip time of 100 ms.
            bottom: cfg.min_max_p.unwrap_or_else(|| (80_000.0 / outlet.rate.0 as f64).min(0.01)),
            weight,
            rate,
            avg: 0.0,
            count: if cfg.lenient { 0 } else { -1 },
            count_bytes: 0,
            crossed: false,
            idle_since: Some(Time::ZERO),
            adapted: Time::ZERO,
            rng,
            cfg,
        }
    }

    fn push(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        let size = cx.size(packet);
        let length = if self.cfg.queue_in_bytes { self.fifo.bytes() as f64 } else { self.fifo.len() as f64 };
        self.average(length, cx.now);
        self.count += 1;
        self.count_bytes += size as i64;
        let mut verdict = self.judge(length, size);
        let full = length >= self.limit || !self.fifo.has_room(size);
        if verdict == Verdict::Random && !full && self.may_mark() && self.marking.mark(&mut cx.pool[packet]) {
            verdict = Verdict::Pass;
        }
        if verdict == Verdict::Pass && !full {
            self.fifo.push(packet, cx);
        } else {
            self.forget_count();
            cx.discard(packet, if full { Reason::QueueFull } else { Reason::Aqm });
        }
    }

    fn pop(&mut self, cx: &mut Cx<'_>) -> Option<PacketId> {
        let first = self.fifo.pop(cx);
        self.idle_since = if first.is_some() { None } else { Some(cx.now) };
        Some(first?.0)
    }

    over_fifo!();

    fn set_limit(&mut self, packets: usize) {
        if self.cfg.queue_in_bytes {
            self.limit = packets as f64 * f64::from(self.cfg.mean_packet_size.0);
        } else {
            (self.limit, self.fifo.room) = (packets as f64, packets);
        }
    }
}

impl Red {
    /// Average length, as if small packets had arrived at an empty queue while it was idle.
    fn average(&mut self, length: f64, now: Time) {
        let kept = 1.0 - self.weight;
        let missed = match self.idle_since.take() {
            Some(since) => (self.rate * now.since(since).as_secs()).floor(),
            None => 0.0,
        };
        let decay = if missed > 0.0 { libm::pow(kept, missed + 1.0) } else { kept };
        self.avg = self.avg * decay + self.weight * length;
        if self.cfg.adaptive && now.since(self.adapted) > self.cfg.interval {
            self.adapt(now);
        }
    }

    /// Adaptive RED: keeps the average in the middle fifth between the thresholds.
    fn adapt(&mut self, now: Time) {
        let part = 0.4 * (self.max - self.min);
        if self.avg < self.min + part && self.max_p > self.bottom {
            self.max_p *= self.cfg.beta;
            self.adapted = now;
        } else if self.avg > self.max - part && self.max_p < self.cfg.max_max_p {
            self.max_p += self.cfg.alpha.min(self.max_p / 4.0);
            self.adapted = now;
        }
    }

    fn judge(&mut self, length: f64, size: u64) -> Verdict {
        if self.avg < self.min || (self.cfg.lenient && length <= 1.0) {
            self.crossed = false;
            if !self.cfg.lenient {
                self.count = -1;
                self.count_bytes = 0;
            }
            return Verdict::Pass;
        }
        let certain = if self.cfg.gentle { 2.0 * self.max } else { self.max };
        if self.cfg.mark_p.is_none() && self.avg >= certain {
            return Verdict::Forced;
        }
        if self.cfg.lenient && !self.crossed {
            self.crossed = true;
            self.count = 1;
            self.count_bytes = size as i64;
            return Verdict::Pass;
        }
        let p = self.spread(self.base_probability(), size);
        if self.rng.uniform() < p {
            self.forget_count();
            return Verdict::Random;
        }
        Verdict::Pass
    }

    fn forget_count(&mut self) {
        self.count = 0;
        self.count_bytes = 0;
    }

    /// Returns true if a randomly chosen packet is marked if it is ECN-capable. RFC 3168, section 7, requires drops
    /// when the average exceeds its bounds.
    fn may_mark(&self) -> bool {
        self.cfg.mark_p.is_none_or(|p| self.base_probability() < p)
    }

    /// p_b: the probability by the average alone.
    fn base_probability(&self) -> f64 {
        let p = if self.avg < self.max {
            self.max_p * (self.avg - self.min) / (self.max - self.min)
        } else if self.cfg.gentle {
            self.max_p + (1.0 - self.max_p) * (self.avg - self.max) / self.max
        } else {
            1.0
        };
        p.clamp(0.0, 1.0)
    }

    /// p_a: spaces drops evenly, by the number of packets since the last one.
    fn spread(&self, base: f64, size: u64) -> f64 {
        let mean = i64::from(self.cfg.mean_packet_size.0);
        let count = if self.cfg.queue_in_bytes { self.count_bytes / mean } else { self.count };
        let due = count as f64 * base;
        let p = match (self.cfg.wait, due) {
            (true, d) if d < 1.0 => 0.0,
            (true, d) if d < 2.0 => base / (2.0 - d),
            (false, d) if d < 1.0 => base / (1.0 - d),
            _ => 1.0,
        };
        if self.cfg.queue_in_bytes && p < 1.0 { p * size as f64 / mean as f64 } else { p }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Bench;
    use super::super::{Config as Queue, Discipline, Queue as Kind};
    use super::*;
    use crate::packet::Ecn;
    use crate::rng::{Purpose, script};
    use crate::unit::BitRate;

    fn red(cfg: Config) -> Red {
        let queue = Queue { discipline: Discipline::Red, red: cfg, ..Queue::default() };
        let outlet = Outlet { rate: BitRate::mbps(2), delay: Span::ms(10) };
        Red::new(&queue, outlet, Stream::new(1, Purpose::Queue, 0))
    }

    /// The settings of ns-2.35.
    fn ns2() -> Config {
        Config {
            min_threshold: None,
            max_threshold: None,
            max_p: 0.1,
            weight: None,
            gentle: true,
            wait: true,
            queue_in_bytes: true,
            mark_p: Some(0.1),
            lenient: true,
            ..Config::default()
        }
    }

    #[test]
    fn the_probability_that_the_average_gives() {
        let mut q = red(Config { max_p: 0.1, gentle: true, ..Config::default() });
        for (avg, p) in [(5.0, 0.0), (10.0, 0.05), (15.0, 0.1), (22.5, 0.55), (30.0, 1.0), (40.0, 1.0)] {
            q.avg = avg;
            assert!((q.base_probability() - p).abs() < 1e-12, "{avg}: {}", q.base_probability());
        }
        q.cfg.gentle = false;
        q.avg = 15.0;
        assert_eq!(q.base_probability(), 1.0);
    }

    #[test]
    fn with_wait_drops_are_at_least_one_over_p_apart() {
        let mut q = red(Config { wait: true, ..Config::default() });
        for (count, p) in [(1, 0.0), (19, 0.0), (20, 0.05), (30, 0.1), (40, 1.0)] {
            q.count = count;
            assert!((q.spread(0.05, 500) - p).abs() < 1e-12, "{count}: {}", q.spread(0.05, 500));
        }
        q.cfg.wait = false;
        for (count, p) in [(1, 0.05 / 0.95), (10, 0.1), (19, 1.0), (20, 1.0)] {
            q.count = count;
            assert!((q.spread(0.05, 500) - p).abs() < 1e-9, "{count}: {}", q.spread(0.05, 500));
        }
    }

    /// Floyd and Jacobson 1993, 7.2; the automatic values are those of ns-2's file of defaults.
    #[test]
    fn automatic_settings_follow_the_rate() {
        let q = red(ns2());
        // 500 packets of 500 B a second: half of 5 ms is 1.25 packets, less than 5.
        assert_eq!((q.rate, q.min, q.max), (500.0, 2500.0, 7500.0));
        assert!((q.weight - (1.0 - (-1.0f64 / 500.0).exp())).abs() < 1e-12, "{}", q.weight);
        let outlet = Outlet { rate: BitRate::mbps(100), delay: Span::ms(50) };
        let queue = Queue { red: Config { queue_in_bytes: false, ..ns2() }, ..Queue::default() };
        let q = Red::new(&queue, outlet, Stream::new(1, Purpose::Queue, 0));
        assert_eq!((q.rate, q.min, q.max, q.bottom), (25_000.0, 62.5, 187.5, 0.0008));
        let rtt: f64 = 3.0 * (0.05 + 1.0 / 25_000.0);
        assert!((q.weight - (1.0 - (-1.0 / (10.0 * rtt * 25_000.0)).exp())).abs() < 1e-12);
    }

    #[test]
    fn an_idle_queue_forgets_as_if_small_packets_had_come() {
        let mut q = red(Config::default());
        q.avg = 8.0;
        q.idle_since = Some(Time::ZERO + Span::secs(1));
        // 100 ms correspond to 50 packets of 500 B at 2 Mbit/s.
        q.average(0.0, Time::ZERO + Span::ms(1100));
        assert!((q.avg - 8.0 * 0.998f64.powi(51)).abs() < 1e-9, "{}", q.avg);
        q.average(20.0, Time::ZERO + Span::ms(1200));
        assert!((q.avg - (8.0 * 0.998f64.powi(52) + 0.04)).abs() < 1e-9, "{}", q.avg);
    }

    #[test]
    fn adaptive_red_moves_max_p_towards_the_middle() {
        let mut q = red(Config { adaptive: true, max_p: 0.1, ..Config::default() });
        let mut at = Time::ZERO;
        let mut after = |q: &mut Red, avg: f64| {
            at += Span::ms(501);
            q.avg = avg;
            q.average(avg, at);
            q.max_p
        };
        // The middle fifth of 5 to 15 is 9 to 11.
        assert!((after(&mut q, 8.9) - 0.09).abs() < 1e-12);
        assert!((after(&mut q, 10.0) - 0.09).abs() < 1e-12);
        assert!((after(&mut q, 11.1) - 0.10).abs() < 1e-12);
        q.max_p = 0.02;
        assert!((after(&mut q, 12.0) - 0.025).abs() < 1e-12, "by a quarter of itself");
        q.max_p = 0.5;
        assert_eq!(after(&mut q, 20.0), 0.5, "no more than top");
        q.max_p = 0.01;
        assert_eq!(after(&mut q, 1.0), 0.01, "no less than bottom");
    }

    /// Mean and variance of the number of packets from one drop to the next at a constant average.
    fn gap(base: f64, wait: bool) -> (f64, f64) {
        let (mut left, mut mean, mut square) = (1.0, 0.0, 0.0);
        for k in 1..10_000 {
            let due = f64::from(k) * base;
            let p = match wait {
                true if due < 1.0 => 0.0,
                true if due < 2.0 => base / (2.0 - due),
                false if due < 1.0 => base / (1.0 - due),
                _ => 1.0,
            };
            let here = left * p.min(1.0);
            mean += f64::from(k) * here;
            square += f64::from(k * k) * here;
            left -= here;
        }
        (mean, square - mean * mean)
    }

    /// Share of marked arrivals when `length` packets wait at each arrival.
    fn marked(cfg: &Config, length: u32, arrivals: u32) -> f64 {
        // The average equals the current length.
        let red = Config { weight: Some(1.0), ..cfg.clone() };
        let queue = Queue { discipline: Discipline::Red, limit: 100, red, ..Queue::default() };
        let mut b = Bench::new(&queue, BitRate::mbps(2));
        // Marks do not shorten the queue.
        (0..length).for_each(|_| b.push(0, 500, Ecn::Ect));
        let before = b.queue.marks();
        for _ in 0..arrivals {
            b.push(0, 500, Ecn::Ect);
            b.pop();
        }
        assert_eq!(b.queue.len(), length as usize, "ECN-capable packets are not dropped");
        (b.queue.marks() - before) as f64 / f64::from(arrivals)
    }

    /// Compares the measured curve with p_b and p_a, within four standard deviations of the count.
    #[test]
    fn the_marking_curve_is_that_of_the_paper() {
        for (wait, gentle, max_p) in [(false, false, 0.02), (false, true, 0.1), (true, true, 0.1)] {
            let cfg = Config { wait, gentle, max_p, ..Config::default() };
            for length in (6..if gentle { 30 } else { 15 }).step_by(2) {
                let avg = f64::from(length);
                let base =
                    if avg < 15.0 { max_p * (avg - 5.0) / 10.0 } else { max_p + (1.0 - max_p) * (avg - 15.0) / 15.0 };
                let (mean, variance) = gap(base, wait);
                let n = 40_000.0;
                let deviation = (n * variance / mean.powi(3)).sqrt() / n;
                let share = marked(&cfg, length, n as u32);
                let off = (share - 1.0 / mean).abs();
                assert!(off <= 4.0 * deviation + 2.0 / n, "{wait} {gentle} {length}: {share} for {}", 1.0 / mean);
            }
        }
    }

    #[test]
    fn average_beyond_its_bounds_drops_all_packets() {
        for gentle in [false, true] {
            let red = Config { weight: Some(1.0), gentle, ..Config::default() };
            let queue = Queue { discipline: Discipline::Red, limit: 100, red, ..Queue::default() };
            let mut b = Bench::new(&queue, BitRate::mbps(2));
            (0..100).for_each(|_| b.push(0, 500, Ecn::Ect));
            // The average equals the length: it exceeds its bound by at most the packet that reaches it.
            let bound = if gentle { 30 } else { 15 };
            assert_eq!(b.queue.len(), bound, "RFC 3168, section 7: dropped, ECN-capable or not");
            assert!(b.dropped.iter().all(|d| d.2 == Reason::Aqm));
        }
        // ns-2: only while p_b is below mark_p.
        let Kind::Red(mut q) = Bench::new(
            &Queue { discipline: Discipline::Red, red: Config { mark_p: Some(0.1), ..ns2() }, ..Queue::default() },
            BitRate::mbps(2),
        )
        .queue
        else {
            unreachable!("it was asked for")
        };
        q.avg = 7499.0;
        assert!(q.may_mark());
        q.avg = 7501.0;
        assert!(!q.may_mark());
    }

    /// Constant-rate flows over a link of 2 Mbit/s: sizes, and intervals, starts and ends [ns].
    const FLOWS: [(u32, u64, u64, u64); 5] = [
        (1000, 7_013_300, 10_100_070, 11_000_000_000),
        (400, 2_307_100, 500_300_310, 3_000_000_000),
        (600, 4_501_300, 1_500_700_530, 2_500_000_000),
        (1200, 4_111_700, 5_000_900_790, 8_000_000_000),
        (200, 907_300, 9_000_100_910, 9_600_000_000),
    ];

    fn drops(cfg: Config) -> Vec<u32> {
        let queue = Queue { discipline: Discipline::Red, red: cfg, ..Queue::default() };
        let mut b = Bench::new(&queue, BitRate::mbps(2));
        let outlet = Outlet { rate: BitRate::mbps(2), delay: Span::ms(10) };
        b.queue = Kind::new(&queue, outlet, Stream::new(1, Purpose::Queue, 0));
        let mut arrivals: Vec<(Time, u32)> = vec![];
        for (bytes, interval, start, end) in FLOWS {
            let times = (0..).map(|k| Time(start + k * interval));
            arrivals.extend(times.take_while(|t| t.0 < end).map(|t| (t, bytes)));
        }
        arrivals.sort_unstable();
        let sizes: Vec<u32> = arrivals.iter().map(|a| a.1).collect();
        let mut free = Time::ZERO;
        let mut arrivals = arrivals.into_iter().peekable();
        let mut idle = true;
        while let Some(&(at, bytes)) = arrivals.peek() {
            if idle || at < free {
                b.now = at;
                b.push(0, bytes, Ecn::NotEct);
                arrivals.next();
                if !idle {
                    continue;
                }
            } else {
                b.now = free;
            }
            let next = b.pop();
            idle = next.is_none();
            if let Some((seq, ..)) = next {
                free = b.now + BitRate::mbps(2).airtime(sizes[seq as usize]);
            }
        }
        b.drops()
    }

    /// Compares with ns-2's own random numbers, packet by packet.
    #[test]
    fn the_drops_of_ns2() {
        let floyd_jacobson = Config { lenient: true, ..Config::default() };
        let adaptive = Config { adaptive: true, gentle: false, mark_p: None, max_p: 1.0 / 30.0, ..ns2() };
        let gentle_packets = Config {
            queue_in_bytes: false,
            min_threshold: Some(3.0),
            max_threshold: Some(9.0),
            weight: Some(0.02),
            wait: false,
            ..ns2()
        };
        let runs = [
            ("ns2-2.35", ns2()),
            ("floyd-jacobson", floyd_jacobson),
            ("adaptive", adaptive),
            ("gentle-packets", gentle_packets),
        ];
        let lines = include_str!("../../../tests/data/red_drops.txt").lines().filter(|l| !l.starts_with('#'));
        for (line, (name, cfg)) in lines.zip(runs) {
            let mut words = line.split(' ');
            assert_eq!(words.next(), Some(name));
            let theirs: Vec<u32> = words.map(|w| w.parse().expect("a number")).collect();
            script::start(1, 0);
            let ours = drops(cfg);
            script::stop();
            let same = ours.iter().zip(&theirs).take_while(|(a, b)| a == b).count();
            assert!(
                same == theirs.len() && ours.len() == same,
                "{name}: drop {same} of {}: {:?} for {:?}",
                theirs.len(),
                &ours[same..(same + 3).min(ours.len())],
                &theirs[same..(same + 3).min(theirs.len())]
            );
        }
    }
}
