//! TCP-AP: new segments are sent at the rate at which the path can forward them.
//!
//! ElRakabawy, Klemm and Lindemann, "TCP with Adaptive Pacing for Multihop Wireless Networks" (MobiHoc 2005). The
//! sender estimates the *four-hop propagation delay* from the round-trip time and the hop count, and how much it
//! varies; it sends one segment per estimate, since nodes four hops apart do not disturb each other. Two readings of
//! the variation exist: the paper's coefficient of variation and the mean deviation of the authors' own agent.

use super::interface::{Ack, Congestion, Window};
use super::registry::WindowRule;
use super::reno::Reno;
use crate::setting::limit::{HOUR, LARGEST_PACKET, at_most, range};
use crate::unit::{BitRate, Bytes, Span};
use crate::{keywords, settings};

keywords! {
    /// Measure of the variation of the delay.
    pub enum Variation {
        /// Mean absolute deviation over the mean, as in the authors' agent for ns-2.
        MeanDeviation = "mean_deviation",
        /// Standard deviation over the mean, as in the paper.
        Coefficient = "coefficient",
    }
}

settings! {
    /// Adaptive pacing (TCP-AP).
    pub struct Config {
        /// Rate of the links of the path.
        pub link_rate: BitRate = BitRate::mbps(2) => range(BitRate(1), BitRate(1_000_000_000_000)),
        /// Bytes that headers add to a segment on the air, and size of an acknowledgement.
        pub overhead: Bytes = Bytes(112) => at_most(LARGEST_PACKET),
        /// Weight of a new sample of the four-hop propagation delay.
        pub ewma_weight: f64 = 0.3 => range(0.0, 1.0),
        /// Number of latest samples from which the variation is computed.
        pub history_samples: u32 = 50 => range(1, 1_000_000_000),
        /// Measure of the variation.
        pub variation: Variation = Variation::MeanDeviation,
        /// Weight of the variation in the time between segments.
        pub variation_weight: f64 = 2.0 => range(0.0, 100.0),
        /// Time between segments before the first measurement.
        pub initial_interval: Span = Span::ms(50) => at_most(HOUR),
        /// Length from which samples are ignored.
        pub max_sample: Span = Span::ms(500) => at_most(HOUR),
        /// Backs off the retransmission timeout after each expiration.
        pub rto_backoff: bool = false,
    }
}

/// Reno's window, and a pace.
#[derive(Clone, Debug)]
pub struct AdaptivePacing {
    cfg: Config,
    reno: Reno,
    /// Payload of a segment \[B\].
    segment: f64,
    /// Smoothed four-hop propagation delay \[s\].
    delay: Option<f64>,
    /// Smoothed time that a packet waits per hop \[s\].
    queueing: Option<f64>,
    /// The newest delays \[s\], as many as `history_samples` says.
    samples: Vec<f64>,
    oldest: usize,
}

impl AdaptivePacing {
    /// For segments of this payload, without measurements.
    pub(super) fn new(cfg: &Config, segment: Bytes) -> AdaptivePacing {
        AdaptivePacing {
            cfg: cfg.clone(),
            reno: Reno,
            segment: f64::from(segment.0),
            delay: None,
            queueing: None,
            samples: Vec::with_capacity(cfg.history_samples as usize),
            oldest: 0,
        }
    }

    /// Updates the estimates with a round-trip time over a path of this many hops.
    pub(super) fn on_round_trip(&mut self, rtt: Span, hops: u8) {
        let (hops, longest) = (f64::from(hops.max(1)), self.cfg.max_sample.as_secs());
        let rate = self.cfg.link_rate.0 as f64;
        let overhead = f64::from(self.cfg.overhead.0);
        let on_air = |bytes: f64| bytes * 8.0 / rate;
        // Half of what a packet and its acknowledgement spend per hop beyond their time on the air.
        let mut queueing = 0.5 * (rtt.as_secs() / hops - on_air(self.segment + 2.0 * overhead));
        if queueing > longest {
            let old = self.queueing.unwrap_or(queueing);
            queueing = 0.5 * old + 0.5 * queueing;
        }
        self.queueing = Some(queueing);
        let one_hop = queueing + on_air(self.segment + overhead);
        let delay = if hops >= 4.0 { 4.0 * one_hop } else { one_hop };
        if delay <= 0.0 || delay >= longest {
            return;
        }
        let gain = self.cfg.ewma_weight;
        self.delay = Some(self.delay.map_or(delay, |old| (1.0 - gain) * old + gain * delay));
        if self.samples.len() < self.cfg.history_samples as usize {
            self.samples.push(delay);
        } else {
            self.samples[self.oldest] = delay;
            self.oldest = (self.oldest + 1) % self.samples.len();
        }
    }

    /// Variation of the delay, relative to its mean.
    fn variation(&self) -> f64 {
        let n = self.samples.len().max(1) as f64;
        let mean = self.samples.iter().sum::<f64>() / n;
        let deviation = |x: &f64| (x - mean).abs();
        match self.cfg.variation {
            Variation::MeanDeviation => self.samples.iter().map(deviation).sum::<f64>() / n / mean,
            Variation::Coefficient => {
                (self.samples.iter().map(|x| deviation(x).powi(2)).sum::<f64>() / n).sqrt() / mean
            }
        }
    }

    /// The time from one segment to the next.
    pub(super) fn interval(&self) -> Span {
        match self.delay {
            Some(delay) => Span::from_secs((1.0 + self.cfg.variation_weight * self.variation()) * delay),
            None => self.cfg.initial_interval,
        }
    }
}

impl WindowRule for AdaptivePacing {
    fn grow(&mut self, w: &mut Window) {
        self.reno.grow(w);
    }

    fn on_congestion(&mut self, c: &Congestion, w: &mut Window) {
        self.reno.on_congestion(c, w);
    }

    fn backs_off_rto(&self) -> bool {
        self.cfg.rto_backoff
    }

    fn on_every_ack(&mut self, ack: &Ack, _: &mut Window) {
        self.on_round_trip(ack.round_trip, ack.hops);
    }

    fn pace(&self) -> Option<Span> {
        Some(self.interval())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule() -> AdaptivePacing {
        AdaptivePacing::new(&Config::default(), Bytes(1460))
    }

    #[test]
    fn c86_interval_of_adaptive_pacing() {
        let mut p = rule();
        assert_eq!(p.interval(), Span::ms(50));
        p.on_round_trip(Span::ms(200), 7);
        assert!((p.delay.unwrap() - 68.823e-3).abs() < 0.5e-6, "{:?}", p.delay);
        assert!((p.queueing.unwrap() - 10.918e-3).abs() < 0.5e-6);
        // Samples that deviate by a fifth of their mean.
        p.samples = vec![0.8, 1.2];
        assert!((p.interval().as_secs() - 96.352e-3).abs() < 1e-6, "{:?}", p.interval());
        p.cfg.variation = Variation::Coefficient;
        assert!((p.interval().as_secs() - 96.352e-3).abs() < 1e-6);
    }

    #[test]
    fn shorter_paths() {
        let mut p = rule();
        p.on_round_trip(Span::ms(80), 4);
        assert!((p.interval().as_secs() - 51.680e-3).abs() < 1e-6);
        let mut p = rule();
        p.on_round_trip(Span::ms(60), 3);
        assert!((p.interval().as_secs() - 12.920e-3).abs() < 1e-6);
    }
}
