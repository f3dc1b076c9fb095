//! The application of a receiver: times and sizes of its reads.

use crate::setting::limit::{LONGEST, at_most, range};
use crate::settings;
use crate::unit::{BitRate, Bytes, Span, Time};

settings! {
    /// Application that reads the data of a receiver. Unread data fill the receiver's buffer, so that the advertised
    /// window closes.
    pub struct Config {
        /// Rate at which the application reads; "unlimited": at once.
        pub rate: Option<BitRate> | "unlimited" = None => range(BitRate(1), BitRate(1_000_000_000_000)),
        /// Largest read; the next read follows after the time that the rate takes for this size.
        pub read_size: Bytes = Bytes(16_384) => range(Bytes(1), Bytes(1_000_000_000))
            ; used when Config::limits, else "the application reads at once",
        /// Time from the first segment (the SYN) to a pause in which the application does not read.
        pub pause_after: Span = Span::ZERO => at_most(LONGEST)
            ; used when |c| c.pause > Span::ZERO, else "`tcp.reader.pause` is 0 s",
        /// Length of the pause.
        pub pause: Span = Span::ZERO => at_most(LONGEST),
    }
}

impl Config {
    /// Returns true if the application does not always read at once.
    pub fn limits(&self) -> bool {
        self.rate.is_some() || self.pause > Span::ZERO
    }
}

/// State of the reading application.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Reader {
    cfg: Config,
    /// Beginning and end of the pause.
    pause: (Time, Time),
    /// Earliest time of the next read.
    ready: Time,
}

impl Reader {
    /// An application that has not read anything; its connection has not begun.
    pub fn new(cfg: &Config) -> Reader {
        Reader { cfg: cfg.clone(), pause: (Time::NEVER, Time::NEVER), ready: Time::ZERO }
    }

    /// The first segment has arrived.
    pub fn begin(&mut self, now: Time) {
        if self.pause.0 == Time::NEVER {
            let from = now + self.cfg.pause_after;
            self.pause = (from, from + self.cfg.pause);
            self.wait_until(now + self.period());
        }
    }

    /// Time between two reads.
    fn period(&self) -> Span {
        self.cfg.rate.map_or(Span::ZERO, |rate| rate.airtime(self.cfg.read_size.0))
    }

    fn wait_until(&mut self, at: Time) {
        let pauses = self.pause.0 <= at && at < self.pause.1;
        self.ready = if pauses { self.pause.1 } else { at };
    }

    /// Earliest time of the next read of data.
    pub fn ready(&self) -> Time {
        self.ready
    }

    /// Reads now; returns the bytes of `available` that are read.
    pub fn read(&mut self, available: u64, now: Time) -> u64 {
        // The pause may have begun since the last read.
        self.wait_until(self.ready.max(now));
        if available == 0 || now < self.ready {
            return 0;
        }
        self.wait_until(now + self.period());
        if self.cfg.limits() { available.min(u64::from(self.cfg.read_size.0)) } else { available }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times [ms] and bytes of the reads of an application for which there are always data.
    fn reads(cfg: &Config, times: usize) -> Vec<(u64, u64)> {
        let mut reader = Reader::new(cfg);
        reader.begin(Time::ZERO + Span::ms(100));
        let mut out = vec![];
        while out.len() < times {
            let at = reader.ready();
            out.push((at.0 / 1_000_000, reader.read(1_000_000, at)));
        }
        out
    }

    #[test]
    fn a_rate_is_that_of_reads() {
        let cfg = Config { rate: Some(BitRate::mbps(1)), read_size: Bytes(1250), ..Config::default() };
        assert_eq!(reads(&cfg, 3), [(110, 1250), (120, 1250), (130, 1250)]);
    }

    #[test]
    fn nothing_is_read_in_a_pause() {
        let pause = Config { pause_after: Span::ms(15), pause: Span::ms(50), ..Config::default() };
        let cfg = Config { rate: Some(BitRate::mbps(1)), read_size: Bytes(1250), ..pause.clone() };
        assert_eq!(reads(&cfg, 3), [(110, 1250), (165, 1250), (175, 1250)]);
        let mut reader = Reader::new(&pause);
        let ms = |n| Time::ZERO + Span::ms(n);
        reader.begin(ms(0));
        let read = [(10, 3000), (14, 0), (15, 3000), (64, 3000), (65, 3000)].map(|(at, n)| reader.read(n, ms(at)));
        assert_eq!(read, [3000, 0, 0, 0, 3000]);
    }

    #[test]
    fn data_that_arrive_in_a_pause_wait_for_its_end_with_a_rate_too() {
        let pause = Config { pause_after: Span::ms(15), pause: Span::ms(50), ..Config::default() };
        let mut reader = Reader::new(&Config { rate: Some(BitRate::mbps(1)), read_size: Bytes(1250), ..pause });
        let ms = |n| Time::ZERO + Span::ms(n);
        reader.begin(ms(0));
        assert_eq!([(10, 0), (20, 3000), (64, 3000)].map(|(at, n)| reader.read(n, ms(at))), [0, 0, 0]);
        assert_eq!((reader.ready(), reader.read(3000, ms(65))), (ms(65), 1250));
    }
}
