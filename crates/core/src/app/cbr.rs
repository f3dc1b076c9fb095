//! Constant bit rate: datagrams at equal intervals ("paced UDP"), or at exponential intervals.

use super::{Out, Times};
use crate::rng::Stream;
use crate::setting::limit::{LARGEST_PACKET, LONGEST, above, at_most, range};
use crate::settings;
use crate::unit::{Bytes, Span, Time};

settings! {
    /// Constant bit rate over UDP.
    pub struct Config {
        /// Interval from one datagram to the next; the mean of exponential intervals.
        pub(everyday) interval: Span = Span::ms(100) => above(Span::ZERO).at_most(LONGEST),
        /// Distribution of the intervals; "exponential": datagrams form a Poisson process.
        pub interval_distribution: Times = Times::Fixed,
        /// Payload of a datagram.
        pub(everyday) payload: Bytes = Bytes(1460) => range(Bytes(1), LARGEST_PACKET),
        /// UDP and IP header of a datagram.
        pub header_size: Bytes = Bytes(28) => at_most(LARGEST_PACKET),
        /// Number of datagrams to send.
        pub datagrams: Option<u32> | "unlimited" = None => range(1, 1_000_000_000),
    }
}

/// A source of datagrams.
#[derive(Clone, Debug)]
pub struct Cbr {
    cfg: Config,
    rng: Stream,
    next: Time,
    seq: u32,
    /// Datagrams since the last start.
    sent: u32,
}

impl Cbr {
    /// A source whose first datagram leaves at `start`, with a random stream of its own.
    pub fn new(cfg: &Config, start: Time, rng: Stream) -> Cbr {
        Cbr { cfg: cfg.clone(), rng, next: start, seq: 0, sent: 0 }
    }

    pub(super) fn deadline(&self) -> Time {
        self.next
    }

    /// Changes the interval between datagrams, counted from the last datagram. An exponential interval is drawn anew:
    /// the distribution has no memory.
    pub(super) fn set_interval(&mut self, interval: Span, now: Time) {
        let old = std::mem::replace(&mut self.cfg.interval, interval);
        if self.sent > 0 && self.next != Time::NEVER {
            self.next = match self.cfg.interval_distribution {
                Times::Fixed => now.max(Time(self.next.0 - old.0) + interval),
                Times::Exponential => now + self.draw(),
            };
        }
    }

    /// Time from a datagram to the next.
    fn draw(&mut self) -> Span {
        self.cfg.interval_distribution.draw(self.cfg.interval, &mut self.rng)
    }

    pub(super) fn begin(&mut self, at: Time) {
        (self.next, self.sent) = (at, 0);
    }

    pub(super) fn on_deadline(&mut self) -> Out {
        let seq = self.seq;
        self.seq += 1;
        self.sent += 1;
        let last = self.cfg.datagrams.is_some_and(|n| self.sent >= n);
        self.next = if last { Time::NEVER } else { self.next + self.draw() };
        Out::Datagram { seq, bytes: self.cfg.payload.0 + self.cfg.header_size.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    fn source(interval_distribution: Times) -> Cbr {
        let cfg = Config { interval: Span::ms(10), interval_distribution, ..Config::default() };
        Cbr::new(&cfg, Time::ZERO, Stream::new(1, Purpose::Application, 0))
    }

    /// Intervals between datagrams \[ms\].
    fn intervals(source: &mut Cbr, datagrams: usize) -> Vec<f64> {
        let mut next = || {
            source.on_deadline();
            source.deadline()
        };
        let mut last = next();
        let mut interval = || {
            let before = std::mem::replace(&mut last, next());
            last.since(before).as_secs() * 1e3
        };
        (0..datagrams).map(|_| interval()).collect()
    }

    #[test]
    fn exponential_intervals_have_the_mean_as_their_deviation() {
        let all = intervals(&mut source(Times::Exponential), 40_000);
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let deviation = (all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / all.len() as f64).sqrt();
        // Four standard errors of the mean are 0.2 ms, and of the deviation 0.28 ms.
        assert!((mean - 10.0).abs() < 0.2 && (deviation - 10.0).abs() < 0.28, "{mean} {deviation}");
        let short = all.iter().filter(|&&x| x < 1.0).count() as f64 / all.len() as f64;
        assert!((short - 0.0952).abs() < 0.006, "{short}: 1 - exp(-0.1) are below a tenth of the mean");
        assert!(intervals(&mut source(Times::Fixed), 100).iter().all(|&x| (x - 10.0).abs() < 1e-9));
    }

    #[test]
    fn a_changed_mean_holds_from_now_on() {
        let mut cbr = source(Times::Exponential);
        intervals(&mut cbr, 3);
        let now = cbr.deadline();
        cbr.set_interval(Span::us(10), now);
        assert!(cbr.deadline() > now && cbr.deadline() < now + Span::us(200));
        let all = intervals(&mut cbr, 10_000);
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        assert!((mean - 0.01).abs() < 0.0004, "{mean}");
    }
}
