//! Neighborhood RED (Xu, Gerla, Qi and Shu, ACM MobiCom 2003): nodes within interference range share one distributed
//! queue. Each node measures the use of the medium around it; a node that finds the queue long notifies its neighbors,
//! and each of these drops in proportion to its own part of the queue.

use crate::packet::Notification;
use crate::rng::Stream;
use crate::setting::limit::{HOUR, LARGEST_PACKET, above, range};
use crate::settings;
use crate::unit::{Bytes, Span, Time};

settings! {
    /// Neighborhood RED at every node with a radio. The estimate of the queue that a node shares with its neighbors is
    /// the number of packets that fit into the busy time per second.
    pub struct Config if enabled, else "`net.neighborhood_red.enabled` is false" {
        /// Enables Neighborhood RED.
        pub enabled: bool = false,
        /// Interval at which each node measures the use of the medium.
        pub interval: Span = Span::ms(100) => range(Span::us(1), HOUR),
        /// Weight of the latest interval in the averages.
        pub weight: f64 = 0.2 => above(0.0).at_most(1.0),
        /// Assumed packet size: the busy time is divided by its airtime to estimate the size of the queue.
        pub mean_packet_size: Bytes = Bytes(1000) => range(Bytes(1), LARGEST_PACKET),
        /// Average queue size at which a node begins to notify its neighbors.
        pub min_threshold: f64 = 100.0 => range(0.0, 1e6),
        /// Average queue size at which all packets are dropped.
        pub max_threshold: f64 = 240.0 => range(0.0, 1e6),
        /// Drop probability just below `max_threshold`, over all nodes that share the queue.
        pub max_p: f64 = 0.14 => range(0.0, 1.0),
        /// Time for which a notification is valid.
        pub lifetime: Span = Span::ms(200) => range(Span::us(1), HOUR),
        /// Size of a notification, which is broadcast.
        pub ncn_size: Bytes = Bytes(40) => range(Bytes(1), LARGEST_PACKET),
    }
}

/// Use of the medium at a node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Length of the measurement.
    pub of: Span,
    /// Time with signals of others or own frames.
    pub busy: Span,
    /// Time with own frames, and frames for this node that it decoded.
    pub own: Span,
}

/// Measures the use of the medium at a node.
#[derive(Clone, Copy, Debug, Default)]
pub struct Meter {
    used: Usage,
    since: Time,
    /// End of the last signal, and of the last own frame.
    busy_until: Time,
    sends_until: Time,
}

impl Meter {
    /// Adds a signal of this or another node. Signals come in the order of their begins.
    pub fn on_signal(&mut self, from: Time, until: Time) {
        if until > self.busy_until {
            self.used.busy += until.since(from.max(self.busy_until));
            self.busy_until = until;
        }
    }

    /// Adds a frame sent by the node.
    pub fn on_sent(&mut self, from: Time, until: Time) {
        self.on_signal(from, until);
        self.used.own += until.since(from);
        self.sends_until = until;
    }

    /// Adds a frame for this node with this time on air that has ended and was decoded.
    pub fn on_read(&mut self, airtime: Span) {
        self.used.own += airtime;
    }

    /// Use of the medium since the last call.
    pub fn take(&mut self, now: Time) -> Usage {
        let used = self.used;
        // Signals still on the air count in the next interval; some of them have not arrived yet.
        let busy = self.busy_until.since(now).min(used.busy);
        let own = self.sends_until.since(now).min(used.own);
        let next = Usage { of: Span::ZERO, busy, own };
        let of = now.since(self.since);
        (self.used, self.since) = (next, now);
        Usage { of, busy: used.busy - next.busy, own: used.own - next.own }
    }
}

/// A probability with an expiry time.
#[derive(Clone, Copy, Debug)]
struct Held {
    probability: f64,
    until: Time,
}

impl Held {
    const NOTHING: Held = Held { probability: 0.0, until: Time::ZERO };

    fn at(self, now: Time) -> f64 {
        if now < self.until { self.probability } else { 0.0 }
    }
}

/// Neighborhood RED at a node.
#[derive(Clone, Debug)]
pub struct NeighborhoodRed {
    /// Average queue sizes: of the neighborhood, and of this node's part.
    avg: f64,
    avg_own: f64,
    /// Last notification sent, and strongest notification received.
    sent: Held,
    heard: Held,
    rng: Stream,
}

impl NeighborhoodRed {
    /// Initial state, with a random stream of its own.
    pub fn new(rng: Stream) -> NeighborhoodRed {
        NeighborhoodRed { avg: 0.0, avg_own: 0.0, sent: Held::NOTHING, heard: Held::NOTHING, rng }
    }

    /// Random length of the first interval, so that nodes do not measure in step.
    pub fn phase(&mut self, cfg: &Config) -> Span {
        Span((self.rng.uniform() * cfg.interval.0 as f64) as u64 + 1)
    }

    /// Ends an interval; `packet` is the time on air of a packet of the mean size. Returns the notification for the
    /// neighbors, if any.
    pub fn on_interval(&mut self, usage: Usage, packet: Span, cfg: &Config, now: Time) -> Option<Notification> {
        let size = |time: Span| time.0 as f64 / usage.of.0 as f64 * (Span::secs(1).0 as f64 / packet.0 as f64);
        self.avg += cfg.weight * (size(usage.busy) - self.avg);
        self.avg_own += cfg.weight * (size(usage.own) - self.avg_own);
        let probability = self.normalized(cfg);
        if probability == 0.0 || self.heard.at(now) > probability {
            return None;
        }
        self.sent = Held { probability, until: now + cfg.lifetime };
        Some(Notification { probability, lifetime: cfg.lifetime })
    }

    /// Drop probability for each packet of the queue, as in RED.
    fn normalized(&self, cfg: &Config) -> f64 {
        let p = if self.avg < cfg.min_threshold {
            0.0
        } else if self.avg < cfg.max_threshold {
            cfg.max_p * (self.avg - cfg.min_threshold) / (cfg.max_threshold - cfg.min_threshold)
        } else {
            1.0
        };
        if p > 0.0 { p / self.avg } else { 0.0 }
    }

    /// Handles the notification of a neighbor; ignored while a stronger one holds.
    pub fn on_notification(&mut self, notification: &Notification, now: Time) {
        let &Notification { probability, lifetime } = notification;
        if probability >= self.heard.at(now) {
            self.heard = Held { probability, until: now + lifetime };
        }
    }

    /// Probability with which this node drops an outgoing packet.
    fn probability(&self, now: Time) -> f64 {
        self.heard.at(now).max(self.sent.at(now)) * self.avg_own
    }

    /// Returns true if an outgoing packet is to be dropped or marked.
    pub fn drops(&mut self, now: Time) -> bool {
        let p = self.probability(now);
        p > 0.0 && self.rng.uniform() < p
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    const INTERVAL: Span = Span::ms(100);
    const PACKET: Span = Span::ms(4);

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::ms(ms)
    }

    fn node() -> NeighborhoodRed {
        NeighborhoodRed::new(Stream::new(1, Purpose::NeighborhoodRed, 0))
    }

    /// A node after a number of intervals in which the medium was busy for `busy` ms and used by the node for `own` ms.
    fn after(intervals: u64, busy: u64, own: u64, cfg: &Config) -> (NeighborhoodRed, Option<Notification>) {
        let (mut node, mut said) = (node(), None);
        let usage = Usage { of: INTERVAL, busy: Span::ms(busy), own: Span::ms(own) };
        for i in 1..=intervals {
            said = node.on_interval(usage, PACKET, cfg, at(100 * i));
        }
        (node, said)
    }

    #[test]
    fn sizes_are_packets_of_a_second_in_an_exponential_average() {
        // A packet takes 4 ms: at most 250 per second. Busy for 80 of 100 ms: 200; own 40 ms: 100.
        let cfg = Config::default();
        let (node, _) = after(1, 80, 40, &cfg);
        assert!((node.avg - 40.0).abs() < 1e-9 && (node.avg_own - 20.0).abs() < 1e-9);
        let (node, _) = after(3, 80, 40, &cfg);
        // 200 (1 - 0.8^3)
        assert!((node.avg - 97.6).abs() < 1e-9 && (node.avg_own - 48.8).abs() < 1e-9);
    }

    #[test]
    fn the_probability_is_that_of_red_for_each_packet_of_the_queue() {
        let cfg = Config::default();
        // 0.14 (avg - 100) / 140 / avg; from 240 on 1 / avg.
        for (avg, p) in
            [(0.0, 0.0), (99.9, 0.0), (100.0, 0.0), (170.0, 0.07 / 170.0), (240.0, 1.0 / 240.0), (250.0, 1.0 / 250.0)]
        {
            let found = NeighborhoodRed { avg, ..node() }.normalized(&cfg);
            assert!((found - p).abs() < 1e-12, "{avg}: {found}");
        }
    }

    #[test]
    fn a_node_notifies_its_neighbors_from_the_minimum_threshold_on() {
        let cfg = Config::default();
        assert_eq!(after(3, 80, 40, &cfg).1, None, "97.6 packets");
        let (mut node, said) = after(4, 80, 40, &cfg);
        // 200 (1 - 0.8^4) = 118.08, half of it due to the node itself.
        let probability = 0.14 * 18.08 / 140.0 / 118.08;
        let said = said.expect("a notification");
        assert!((said.probability - probability).abs() < 1e-12 && said.lifetime == Span::ms(200));
        // The notification holds for the node itself as well, and expires.
        assert!((node.probability(at(400)) - probability * 59.04).abs() < 1e-12);
        assert!((node.probability(at(599)) - probability * 59.04).abs() < 1e-12);
        assert_eq!(node.probability(at(600)), 0.0);
        assert!(!node.drops(at(600)));
    }

    #[test]
    fn the_strongest_notification_holds_and_silences() {
        let cfg = Config::default();
        let (mut node, said) = after(4, 80, 40, &cfg);
        let own = said.expect("a notification").probability;
        let usage = Usage { of: INTERVAL, busy: Span::ms(80), own: Span::ms(40) };
        node.on_notification(&Notification { probability: 4e-3, lifetime: Span::ms(150) }, at(450));
        // A weaker notification changes nothing.
        node.on_notification(&Notification { probability: own, lifetime: Span::secs(9) }, at(460));
        assert_eq!(node.heard.at(at(599)), 4e-3);
        assert_eq!(node.on_interval(usage, PACKET, &cfg, at(500)), None, "a stronger one holds");
        let p = node.probability(at(500));
        assert!((p - 4e-3 * 100.0 * (1.0 - 0.8f64.powi(5))).abs() < 1e-12, "{p}");
        // After it has expired, the node notifies again, and accepts a weaker notification.
        assert!(node.on_interval(usage, PACKET, &cfg, at(600)).is_some());
        node.on_notification(&Notification { probability: 1e-6, lifetime: Span::ms(1) }, at(600));
        assert_eq!(node.heard.at(at(600)), 1e-6);
    }

    #[test]
    fn drop_frequency_matches_the_probability() {
        let mut node = NeighborhoodRed { avg_own: 100.0, ..node() };
        node.on_notification(&Notification { probability: 1e-3, lifetime: Span::secs(1) }, at(0));
        let (n, p) = (100_000, 0.1);
        let dropped = (0..n).filter(|_| node.drops(at(1))).count() as f64;
        let (mean, deviation) = (f64::from(n) * p, (f64::from(n) * p * (1.0 - p)).sqrt());
        assert!((dropped - mean).abs() < 4.0 * deviation, "{dropped} of {n}");
    }

    #[test]
    fn overlapping_signals_count_once_and_unfinished_ones_later() {
        let mut m = Meter::default();
        m.on_signal(at(10), at(20));
        m.on_signal(at(15), at(18));
        m.on_signal(at(17), at(25));
        m.on_sent(at(30), at(34));
        m.on_read(Span::ms(3));
        m.on_sent(at(96), at(103));
        m.on_signal(at(98), at(110));
        let usage = |of, busy, own| Usage { of: Span::ms(of), busy: Span::ms(busy), own: Span::ms(own) };
        // 10 to 25, 30 to 34, 96 to 100.
        assert_eq!(m.take(at(100)), usage(100, 23, 11));
        assert_eq!(m.take(at(105)), usage(5, 5, 3));
        assert_eq!(m.take(at(205)), usage(100, 5, 0));
        assert_eq!(m.take(at(305)), usage(100, 0, 0));
        // A signal that arrives at the instant of the query.
        m.on_signal(at(306), at(310));
        assert_eq!(m.take(at(305) + Span::us(500)), Usage { of: Span::us(500), busy: Span::ZERO, own: Span::ZERO });
        assert_eq!(m.take(at(405)).busy, Span::ms(4));
    }

    #[test]
    fn the_first_interval_ends_at_random() {
        let cfg = Config::default();
        let phases: Vec<u64> = (0..1000)
            .map(|i| NeighborhoodRed::new(Stream::new(1, Purpose::NeighborhoodRed, i)).phase(&cfg).0)
            .collect();
        assert!(phases.iter().all(|p| (1..=INTERVAL.0).contains(p)));
        let mean = phases.iter().sum::<u64>() as f64 / 1000.0;
        // Tolerance: four standard deviations of the mean of a uniform variable.
        let deviation = INTERVAL.0 as f64 / (12.0f64 * 1000.0).sqrt();
        assert!((mean - INTERVAL.0 as f64 / 2.0).abs() < 4.0 * deviation, "{mean}");
    }
}
