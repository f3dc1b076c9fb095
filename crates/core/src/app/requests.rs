//! Requests and responses over one connection: the source of the flow is the server, which writes a response; the client
//! reads the whole of it, thinks, and asks for the next one.
//!
//! Connections carry data in one direction. A request is therefore no packet of its own: it travels with the
//! acknowledgement of the last segment, so that the server learns of it a way back after the response has arrived, and
//! answers after the think time. A lost acknowledgement delays the request as a lost request would be. Over a split
//! connection the request follows the acknowledgement of the node that splits it.

use super::arrivals::Size;
use super::{Out, Times};
use crate::rng::Stream;
use crate::setting::limit::{LONGEST, at_most, range};
use crate::settings;
use crate::unit::{Bytes, Span, Time};

settings! {
    /// Requests and responses over one TCP connection.
    pub struct Config {
        /// Sizes of the responses.
        pub size: Size = Size::default(),
        /// Mean think time, from the acknowledgement of a response to the next response.
        pub think: Span = Span::secs(1) => at_most(LONGEST),
        /// Distribution of the think times.
        pub think_distribution: Times = Times::Exponential,
        /// Number of responses.
        pub count: Option<u32> | "unlimited" = None => range(1, 1_000_000_000),
    }
}

/// A server that answers one request after the other.
#[derive(Clone, Debug)]
pub struct Requests {
    cfg: Config,
    /// Payload of a TCP segment \[B\].
    segment: u64,
    rng: Stream,
    /// Time of the next response; NEVER while a response is under way.
    at: Time,
    /// Responses since the last start.
    written: u32,
    /// A response is under way, and another response follows.
    waits: bool,
}

impl Requests {
    /// A source that writes its first response at `start`, with a random stream of its own and this payload per segment.
    pub fn new(cfg: &Config, start: Time, segment: Bytes, rng: Stream) -> Requests {
        let segment = u64::from(segment.0.max(1));
        Requests { cfg: cfg.clone(), segment, rng, at: start, written: 0, waits: false }
    }

    pub(super) fn deadline(&self) -> Time {
        self.at
    }

    /// Returns true if no response follows.
    pub(super) fn is_over(&self) -> bool {
        self.at == Time::NEVER && !self.waits
    }

    pub(super) fn begin(&mut self, at: Time) {
        (self.at, self.written, self.waits) = (at, 0, false);
    }

    /// Writes a response.
    pub(super) fn on_deadline(&mut self) -> Out {
        self.at = Time::NEVER;
        self.written += 1;
        self.waits = self.cfg.count.is_none_or(|count| self.written < count);
        let bytes = u64::from(self.cfg.size.draw(&mut self.rng));
        let segments = bytes.div_ceil(self.segment);
        Out::Message { segments: segments as u32, missing: (segments * self.segment - bytes) as u32 }
    }

    /// The response has been acknowledged; the next response follows after the think time. Returns true if a response
    /// follows.
    pub(super) fn on_answer(&mut self, now: Time) -> bool {
        if !std::mem::take(&mut self.waits) {
            return false;
        }
        let think = self.cfg.think_distribution.draw(self.cfg.think, &mut self.rng);
        self.at = Time(now.0.saturating_add(think.0));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::arrivals::Distribution;
    use crate::rng::Purpose;

    /// Responses of a size to requests that come 5 ns after the last byte was written, until there are no more.
    fn said(count: u32, mean: u32) -> Vec<(u64, Out)> {
        let size = Size { distribution: Distribution::Fixed, mean: Bytes(mean), ..Size::default() };
        let cfg = Config { size, think: Span(100), think_distribution: Times::Fixed, count: Some(count) };
        let mut source = Requests::new(&cfg, Time(7), Bytes(1000), Stream::new(1, Purpose::Application, 0));
        let mut actions = vec![];
        while !source.is_over() {
            let at = source.deadline();
            actions.push((at.0, source.on_deadline()));
            source.on_answer(at + Span(5));
        }
        actions
    }

    #[test]
    fn a_response_follows_the_last_acknowledgement_and_think_time() {
        let message = |segments, missing| Out::Message { segments, missing };
        assert_eq!(said(3, 2500), [7, 112, 217].map(|at| (at, message(3, 500))));
        assert_eq!(said(1, 1000), [(7, message(1, 0))]);
        assert_eq!(said(1, 1), [(7, message(1, 999))]);
    }

    #[test]
    fn acknowledgements_without_a_response_under_way_request_nothing() {
        let cfg = Config { count: Some(2), ..Config::default() };
        let mut source = Requests::new(&cfg, Time(7), Bytes(1000), Stream::new(1, Purpose::Application, 0));
        source.on_answer(Time(3));
        assert_eq!(source.deadline(), Time(7));
        source.on_deadline();
        source.begin(Time::NEVER);
        source.on_answer(Time(9));
        assert!(source.is_over(), "it was stopped");
        source.begin(Time(20));
        let times: Vec<_> = (0..2).map(|_| (source.on_deadline(), source.on_answer(Time(30))).1).collect();
        assert_eq!((times.len(), source.is_over()), (2, true), "a source that starts again has all its responses");
    }

    #[test]
    fn think_times_have_the_mean() {
        let cfg = Config { think: Span::ms(10), ..Config::default() };
        let mut source = Requests::new(&cfg, Time::ZERO, Bytes(1000), Stream::new(3, Purpose::Application, 0));
        for _ in 0..10_000 {
            let at = source.deadline();
            source.on_deadline();
            source.on_answer(at);
        }
        assert!((source.deadline().as_secs() / 100.0 - 1.0).abs() < 0.04, "{:?}", source.deadline());
    }
}
