//! The retransmission timeout: RFC 6298, the clock ticks of ns-2's one-way agents (Tahoe's arithmetic), or Linux' rule.

use crate::setting::limit::{HOUR, LONGEST, at_most, range};
use crate::unit::{Span, Time};
use crate::{keywords, settings};

keywords! {
    /// Estimator of the retransmission timeout.
    pub enum Estimator {
        /// SRTT and RTTVAR of RFC 6298.
        Rfc6298 = "rfc6298",
        /// SRTT and RTTVAR in whole ticks of a coarse clock, as scaled integers (ns-2).
        Ticks = "ticks",
        /// Linux: the smoothed round-trip time plus the largest deviation in a round trip, at least `min`. The
        /// deviation decreases by a quarter of its excess each round trip.
        Linux = "linux",
    }
}

settings! {
    /// Estimation of the retransmission timeout.
    pub struct Config {
        /// Estimator of the round-trip time and its variation.
        pub estimator: Estimator = Estimator::Rfc6298,
        /// Clock granularity G of RFC 6298; with the estimator `ticks`, the tick of its clock.
        pub tick: Span = Span::ms(1) => range(Span::us(1), HOUR),
        /// Smallest timeout before backoff; with the estimator `linux`, the smallest deviation in it.
        pub(everyday) min: Span = Span::secs(1) => at_most(HOUR),
        /// Upper limit of the timeout.
        pub max: Span = Span::secs(60) => range(Span::ms(1), LONGEST),
        /// Timeout before the first measurement.
        pub initial: Span = Span::secs(1) => range(Span::ms(1), HOUR),
    }
}

/// The estimate of one connection.
#[derive(Clone, Debug)]
pub struct Rto {
    cfg: Config,
    /// The estimate, neither bounded nor backed off.
    base: Span,
    backoff: u32,
    estimate: Estimate,
}

#[derive(Clone, Debug)]
enum Estimate {
    /// SRTT and RTTVAR [ns], once there is a measurement.
    Exact { smoothed: Option<(f64, f64)> },
    /// 8 SRTT and 4 RTTVAR [ticks], and the phase of the clock.
    Ticks { srtt8: i64, var4: i64, phase: Span },
    /// Linux' variables; the first is 0 before there is a measurement.
    Linux(Linux),
}

/// Linux' estimator, with its names [ns]: srtt eightfold, the deviations fourfold.
#[derive(Clone, Debug, Default)]
struct Linux {
    srtt8: i64,
    mdev: i64,
    mdev_max: i64,
    rttvar: i64,
    /// The round ends with the first segment sent at this time or later.
    round: Time,
}

impl Linux {
    /// Processes a round-trip time; `floor` is the smallest deviation. A round ends as the sender says, or with what
    /// was sent in it.
    fn sample(&mut self, sent: Time, now: Time, floor: i64, ends_round: Option<bool>) {
        let rtt = now.since(sent).0 as i64;
        if self.srtt8 == 0 {
            self.srtt8 = rtt.max(1) << 3;
            self.mdev = rtt << 1;
            self.rttvar = self.mdev.max(floor);
            self.mdev_max = self.rttvar;
            self.round = now;
            return;
        }
        let error = rtt - (self.srtt8 >> 3);
        self.srtt8 = (self.srtt8 + error).max(1);
        let mut more = error.abs() - (self.mdev >> 2);
        if error < 0 && more > 0 {
            // A falling round-trip time must not raise the timeout.
            more >>= 3;
        }
        self.mdev += more;
        self.mdev_max = self.mdev_max.max(self.mdev);
        self.rttvar = self.rttvar.max(self.mdev_max);
        if ends_round.unwrap_or(sent >= self.round) {
            if self.mdev_max < self.rttvar {
                self.rttvar -= (self.rttvar - self.mdev_max) >> 2;
            }
            self.mdev_max = floor;
            self.round = now;
        }
    }
}

impl Rto {
    /// An estimate without measurements. `phase` is the time of the last tick of the coarse clock before the run.
    pub fn new(cfg: &Config, phase: Span) -> Rto {
        let estimate = match cfg.estimator {
            Estimator::Rfc6298 => Estimate::Exact { smoothed: None },
            Estimator::Ticks => Estimate::Ticks { srtt8: 0, var4: 0, phase },
            Estimator::Linux => Estimate::Linux(Linux::default()),
        };
        Rto { cfg: cfg.clone(), base: cfg.initial, backoff: 1, estimate }
    }

    /// SRTT: the smoothed round-trip time; `None`: nothing was measured.
    pub fn srtt(&self) -> Option<Span> {
        match &self.estimate {
            Estimate::Exact { smoothed } => smoothed.map(|(srtt, _)| Span(srtt.round() as u64)),
            Estimate::Linux(linux) => (linux.srtt8 > 0).then_some(Span((linux.srtt8 >> 3) as u64)),
            Estimate::Ticks { srtt8, .. } => (*srtt8 > 0).then(|| self.cfg.tick * (*srtt8 >> 3) as u64),
        }
    }

    /// Discards all measurements.
    pub fn forget(&mut self) {
        let phase = if let Estimate::Ticks { phase, .. } = self.estimate { phase } else { Span::ZERO };
        *self = Rto::new(&self.cfg, phase);
    }

    /// Measures a segment sent once at `sent` and acknowledged at `now` (Karn's algorithm).
    pub fn sample(&mut self, sent: Time, now: Time) {
        self.measure(sent, now, None);
    }

    /// The same, by a sender that says when a round trip ends: with Linux' estimator the deviation shrinks then.
    pub(in crate::tcp) fn sample_in_round(&mut self, sent: Time, now: Time, ends_round: bool) {
        self.measure(sent, now, Some(ends_round));
    }

    #[inline]
    fn measure(&mut self, sent: Time, now: Time, ends_round: Option<bool>) {
        self.backoff = 1;
        match &mut self.estimate {
            Estimate::Exact { smoothed } => {
                let r = now.since(sent).0 as f64;
                // RFC 6298 2.2, 2.3
                let (srtt, rttvar) = match *smoothed {
                    None => (r, r / 2.0),
                    Some((srtt, rttvar)) => (0.875 * srtt + 0.125 * r, 0.75 * rttvar + 0.25 * (srtt - r).abs()),
                };
                *smoothed = Some((srtt, rttvar));
                self.base = Span((srtt + (4.0 * rttvar).max(self.cfg.tick.0 as f64)).round() as u64);
            }
            Estimate::Ticks { srtt8, var4, phase } => {
                let tick = self.cfg.tick.0;
                let into_tick = (sent.0 + phase.0) % tick;
                let t = (((now.since(sent).0 + into_tick) / tick) as i64).max(1);
                if *srtt8 == 0 {
                    *srtt8 = t << 3;
                    *var4 = t << 1;
                } else {
                    let error = t - (*srtt8 >> 3);
                    *srtt8 = (*srtt8 + error).max(1);
                    *var4 = (*var4 + error.abs() - (*var4 >> 2)).max(1);
                }
                self.base = Span((((*var4 << 3) + *srtt8) >> 3) as u64 * tick);
            }
            Estimate::Linux(linux) => {
                linux.sample(sent, now, self.cfg.min.0 as i64, ends_round);
                self.base = Span(((linux.srtt8 >> 3) + linux.rttvar) as u64);
            }
        }
    }

    /// The timeout to set now.
    pub fn timeout(&self) -> Span {
        let bounded = self.base.max(self.cfg.min);
        (bounded * u64::from(self.backoff)).min(self.cfg.max).max(self.cfg.tick * 2)
    }

    /// The same, of a sender that rounds up to whole ticks before it doubles: 245 ms with ticks of 4 ms are 248, then
    /// 496 ms.
    pub(in crate::tcp) fn timeout_in_ticks(&self, tick: Span) -> Span {
        let bounded = self.base.max(self.cfg.min);
        let whole = tick * bounded.0.div_ceil(tick.0);
        (whole * u64::from(self.backoff)).min(self.cfg.max)
    }

    /// Time after which a tail loss probe is sent if one segment is outstanding (RFC 8985, 7.2); `None`: nothing was
    /// measured.
    pub(in crate::tcp) fn probe_timeout(&self) -> Option<Span> {
        self.srtt().map(|srtt| srtt * 2 + self.cfg.min)
    }

    /// Doubles the next timeout after an expiration (RFC 6298 5.5).
    pub fn back_off(&mut self) {
        let bounded = self.backoff >= 64 && self.timeout() >= self.cfg.max;
        if !bounded {
            self.backoff = self.backoff.saturating_mul(2);
        }
        if let Estimate::Ticks { srtt8, var4, .. } = &mut self.estimate {
            // After this many doublings the mean is obsolete: it is added to the deviation and measured anew.
            if self.backoff > 8 {
                *var4 += *srtt8 >> 3;
                *srtt8 = 0;
            }
        }
    }

    /// Ends the backoff without a measurement.
    pub fn clear_backoff(&mut self) {
        self.backoff = 1;
    }

    /// Keeps the backoff in spite of a measurement.
    pub fn restore_backoff(&mut self, backoff: u32) {
        self.backoff = backoff;
    }

    /// The first data follow a SYN that has timed out. If the SYN gave no measurement (Karn), the timeout is 3 s, or
    /// remains backed off and is at least 3 s (RFC 6298 5.7).
    pub fn begin_data(&mut self, ends_backoff: bool) {
        let unmeasured = match &self.estimate {
            Estimate::Exact { smoothed } => smoothed.is_none(),
            Estimate::Linux(linux) => linux.srtt8 == 0,
            Estimate::Ticks { .. } => false,
        };
        if unmeasured {
            let backed_off = if ends_backoff { Span::ZERO } else { self.timeout() };
            self.base = backed_off.max(Span::secs(3));
            self.backoff = 1;
        }
    }

    /// Exponent of the backoff: number of doublings in force.
    pub fn backoff(&self) -> u32 {
        self.backoff
    }

    /// The smoothed round-trip time, once there is one.
    pub fn smoothed(&self) -> Option<Span> {
        match &self.estimate {
            Estimate::Exact { smoothed } => smoothed.map(|(srtt, _)| Span(srtt as u64)),
            Estimate::Ticks { srtt8, .. } => (*srtt8 > 0).then(|| Span(*srtt8 as u64 * self.cfg.tick.0 / 8)),
            Estimate::Linux(linux) => (linux.srtt8 > 0).then_some(Span((linux.srtt8 >> 3) as u64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The timeouts [s] after round-trip times [s] of segments sent back to back.
    fn timeouts(cfg: &Config, rtts: &[f64]) -> Vec<f64> {
        let mut rto = Rto::new(cfg, Span::ZERO);
        let mut now = Time::ZERO;
        let mut all = vec![];
        for &r in rtts {
            let sent = now;
            now += Span::from_secs(r);
            rto.sample(sent, now);
            all.push((rto.timeout().as_secs() * 1e6).round() / 1e6);
        }
        all
    }

    #[test]
    fn c01_rfc_6298_with_and_without_a_floor() {
        let rtts = [0.1, 0.1, 0.2, 0.1, 0.05];
        let bare = Config { min: Span::ZERO, ..Config::default() };
        assert_eq!(timeouts(&bare, &rtts), [0.3, 0.25, 0.325, 0.282_813, 0.293_164]);
        assert_eq!(timeouts(&Config::default(), &rtts), [1.0; 5]);
    }

    #[test]
    fn c02_the_ticks_of_ns2() {
        let cfg = Config {
            estimator: Estimator::Ticks,
            tick: Span::ms(10),
            min: Span::ZERO,
            initial: Span::secs(3),
            ..Config::default()
        };
        let mut rtts = vec![0.1; 8];
        rtts.extend([0.3, 0.1]);
        assert_eq!(timeouts(&cfg, &rtts), [0.30, 0.25, 0.22, 0.19, 0.17, 0.16, 0.15, 0.14, 0.35, 0.32]);
        let floored = Config { min: Span::ms(200), ..cfg };
        assert_eq!(timeouts(&floored, &rtts[..6]), [0.30, 0.25, 0.22, 0.20, 0.20, 0.20]);
    }

    #[test]
    fn linux_adds_the_largest_deviation_and_lets_it_shrink() {
        let cfg = Config { estimator: Estimator::Linux, min: Span::ms(200), ..Config::default() };
        // "RTT 100 ms gives RTO 300 ms". A step to 300 ms: SRTT 125, deviation 4 x 87.5 at once, from a first one
        // of 50.
        assert_eq!(timeouts(&cfg, &[0.1, 0.1, 0.1]), [0.3, 0.3, 0.3]);
        let all = timeouts(&cfg, &[0.1, 0.3, 0.3, 0.3]);
        assert_eq!(all[..2], [0.3, 0.475]);
        assert!(all[2] > all[1], "SRTT follows");
        let settled = timeouts(&cfg, &[&[0.1][..], &[0.3; 100]].concat());
        assert!((settled[100] - 0.5).abs() < 1e-3, "300 ms and the floor: {}", settled[100]);
        // After 100 ms one of 20: SRTT 90 ms; what the error of 80 has above the deviation of 50 counts an eighth.
        let bare = Config { min: Span::ZERO, ..cfg };
        assert_eq!(timeouts(&bare, &[0.1, 0.02]), [0.3, 0.29375]);
    }

    /// The deviation is held at its largest, and loses a quarter of the excess at the end of a round: after 200 ms SRTT
    /// 112.5 and 4 x 53.1; then SRTT 110.9 and the same, 323, or 320 when the round has ended.
    #[test]
    fn c08_linux_holds_the_deviation_at_its_largest() {
        let cfg = Config { estimator: Estimator::Linux, min: Span::ms(200), ..Config::default() };
        let all = timeouts(&cfg, &[0.1, 0.1, 0.2, 0.1]);
        assert_eq!(all[..3], [0.3, 0.3, 0.325]);
        assert!((0.320..=0.324).contains(&all[3]), "{all:?}");
    }

    #[test]
    fn a_timeout_doubles_until_the_largest() {
        let mut rto = Rto::new(&Config { initial: Span::secs(3), ..Config::default() }, Span::ZERO);
        let mut all = vec![];
        for _ in 0..7 {
            all.push(rto.timeout().as_secs());
            rto.back_off();
        }
        assert_eq!(all, [3.0, 6.0, 12.0, 24.0, 48.0, 60.0, 60.0]);
        rto.sample(Time::ZERO, Time::ZERO + Span::ms(400));
        assert_eq!(rto.timeout().as_secs(), 1.2);
    }
}
