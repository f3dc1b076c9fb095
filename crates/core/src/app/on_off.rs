//! Exponential on/off: bursts of messages separated by pauses, both of exponential length.
//!
//! A source is independent of its transport: over TCP, messages wait in the sender, without limit, and data written
//! before the source stops are still sent, as after a program closes its socket.

use super::{Out, Times};
use crate::rng::Stream;
use crate::setting::limit::{LARGEST_PACKET, LONGEST, at_most, range};
use crate::unit::{BitRate, Bytes, Span, Time};
use crate::{keywords, settings};

keywords! {
    /// Transport of the messages.
    pub enum Transport {
        /// TCP connection.
        Tcp = "tcp",
        /// UDP: each message is a datagram.
        Udp = "udp",
    }
}

keywords! {
    /// Structure of a burst.
    pub enum Messages {
        /// A burst lasts for an exponential time and generates bytes at `on_off.rate`; over TCP they form a stream.
        Stream = "stream",
        /// A burst is a whole number of messages; over TCP each has segments of its own (ns-2).
        Whole = "whole",
    }
}

settings! {
    /// Bursts of messages separated by pauses.
    pub struct Config {
        /// Transport of the messages.
        pub transport: Transport = Transport::Tcp,
        /// Mean length of a burst.
        pub on: Span = Span::ms(500) => range(Span::us(1), LONGEST),
        /// Mean length of a pause.
        pub off: Span = Span::ms(500) => at_most(LONGEST),
        /// Payload rate during a burst.
        pub rate: BitRate = BitRate(64_000) => range(BitRate(1), BitRate(1_000_000_000_000)),
        /// Payload of a message.
        pub payload: Bytes = Bytes(210) => range(Bytes(1), Bytes(1_000_000_000)),
        /// Structure of a burst.
        pub framing: Messages = Messages::Stream,
        /// UDP and IP header of a datagram.
        pub header_size: Bytes = Bytes(28) => at_most(LARGEST_PACKET)
            ; used when |c| c.transport == Transport::Udp, else "the messages go over TCP",
        /// Lets AODV declare the neighbor lost when the MAC gives up data of this source; otherwise AODV drops these
        /// data and keeps the route.
        pub breaks_links: bool = true,
    }
}

impl Config {
    /// Time in which a burst generates a message.
    pub fn message_time(&self) -> Span {
        self.rate.airtime(self.payload.0).max(Span(1))
    }
}

/// Next event of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// Start of the source, with a pause.
    Begin,
    /// Start of a burst.
    Burst,
    /// Next message of a burst.
    Message,
    /// End of a burst.
    Pause,
}

/// A source that alternates between bursts and silence.
#[derive(Clone, Debug)]
pub struct OnOff {
    cfg: Config,
    /// Payload of a TCP segment \[B\].
    segment: u64,
    message_time: Span,
    rng: Stream,
    next: Next,
    at: Time,
    /// End of the burst (`stream`).
    until: Time,
    /// Time that bursts have spent so far on the current message (`stream`).
    made: Span,
    /// Bytes of the burst that do not fill a segment (`stream`).
    rest: u64,
    /// Messages left in the burst (`whole`).
    left: u32,
    /// Number of the next datagram.
    seq: u32,
}

impl OnOff {
    /// A source that begins at `start`, with a random stream of its own and this payload per TCP segment.
    pub fn new(cfg: &Config, start: Time, segment: Bytes, rng: Stream) -> OnOff {
        OnOff {
            cfg: cfg.clone(),
            segment: u64::from(segment.0.max(1)),
            message_time: cfg.message_time(),
            rng,
            next: Next::Begin,
            at: start,
            until: Time::ZERO,
            made: Span::ZERO,
            rest: 0,
            left: 0,
            seq: 0,
        }
    }

    pub(super) fn deadline(&self) -> Time {
        self.at
    }

    /// Returns true if the source has begun.
    pub(super) fn is_on(&self) -> bool {
        self.next != Next::Begin && self.at != Time::NEVER
    }

    pub(super) fn begin(&mut self, at: Time) {
        (self.next, self.at) = (Next::Begin, at);
        (self.made, self.rest, self.left) = (Span::ZERO, 0, 0);
    }

    /// Stops the source, which writes everything that it has generated.
    pub(super) fn end(&mut self) -> Out {
        let rest = self.rest;
        self.begin(Time::NEVER);
        self.short_segment(rest).unwrap_or(Out::End { takes_back: false })
    }

    pub(super) fn on_deadline(&mut self) -> Option<Out> {
        match self.cfg.framing {
            Messages::Stream => self.stream(),
            Messages::Whole => self.whole(),
        }
    }

    /// Draws an exponential time in whole nanoseconds.
    fn draw(&mut self, mean: Span) -> Span {
        Times::Exponential.draw(mean, &mut self.rng)
    }

    fn wait(&mut self, next: Next, span: Span) {
        (self.next, self.at) = (next, Time(self.at.0.saturating_add(span.0)));
    }

    // ---- bursts of a random duration ----

    fn stream(&mut self) -> Option<Out> {
        match self.next {
            Next::Begin => {
                self.pause();
                None
            }
            Next::Burst => {
                let lasts = self.draw(self.cfg.on);
                self.until = Time(self.at.0.saturating_add(lasts.0));
                self.go_on(self.message_time - self.made);
                None
            }
            Next::Message => {
                self.made = Span::ZERO;
                self.go_on(self.message_time);
                self.message()
            }
            Next::Pause => {
                let rest = std::mem::take(&mut self.rest);
                self.pause();
                self.short_segment(rest)
            }
        }
    }

    fn pause(&mut self) {
        let span = self.draw(self.cfg.off);
        self.wait(Next::Burst, span);
    }

    /// Schedules the next message after `wait`, if the burst lasts that long. The next burst completes an unfinished
    /// message, so that the mean rate is that of the bursts.
    fn go_on(&mut self, wait: Span) {
        let left = self.until.since(self.at);
        if wait <= left {
            self.wait(Next::Message, wait);
        } else {
            self.made += left;
            self.wait(Next::Pause, left);
        }
    }

    /// Completes a message; full segments are sent at once.
    fn message(&mut self) -> Option<Out> {
        if self.cfg.transport == Transport::Udp {
            return Some(self.datagram());
        }
        let bytes = self.rest + u64::from(self.cfg.payload.0);
        self.rest = bytes % self.segment;
        let segments = (bytes / self.segment) as u32;
        (segments > 0).then_some(Out::Write { segments: Some(segments), missing: 0 })
    }

    /// A short segment with the remaining bytes.
    fn short_segment(&self, rest: u64) -> Option<Out> {
        (rest > 0).then(|| Out::Write { segments: Some(1), missing: (self.segment - rest) as u32 })
    }

    // ---- bursts of a random number of messages ----

    /// Follows `Application/Traffic/Exponential` of ns-2: the pause is added to the time of a message.
    fn whole(&mut self) -> Option<Out> {
        let action = match self.next {
            Next::Message if self.cfg.transport == Transport::Udp => Some(self.datagram()),
            Next::Message => {
                let segments = u64::from(self.cfg.payload.0).div_ceil(self.segment);
                Some(Out::Write { segments: Some(segments as u32), missing: 0 })
            }
            _ => None,
        };
        let mut wait = self.message_time;
        if self.left == 0 {
            let mean = self.cfg.on.0 as f64 / self.message_time.0 as f64;
            self.left = ((self.rng.exponential() * mean + 0.5) as u32).max(1);
            wait += self.draw(self.cfg.off);
        }
        self.left -= 1;
        self.wait(Next::Message, wait);
        action
    }

    fn datagram(&mut self) -> Out {
        let seq = self.seq;
        self.seq += 1;
        Out::Datagram { seq, bytes: self.cfg.payload.0 + self.cfg.header_size.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    /// Actions of a source in this number of seconds, with their times \[s\].
    fn said(cfg: &Config, segment: u32, seconds: u64) -> Vec<(f64, Out)> {
        let mut source = OnOff::new(cfg, Time::ZERO, Bytes(segment), Stream::new(5, Purpose::Application, 0));
        let mut actions = vec![];
        while source.deadline() < Time(seconds * 1_000_000_000) {
            let at = source.deadline().as_secs();
            actions.extend(source.on_deadline().map(|out| (at, out)));
        }
        actions
    }

    /// Sources of the classroom scenario (Ramarathinam and Labrador 2003).
    fn classroom(messages: Messages, transport: Transport) -> Config {
        Config {
            on: Span::ms(200),
            off: Span::ms(800),
            payload: Bytes(512),
            framing: messages,
            transport,
            ..Config::default()
        }
    }

    fn bytes(said: &[(f64, Out)], segment: u32) -> u64 {
        let of = |out: &Out| match *out {
            Out::Write { segments: Some(n), missing } => u64::from(n * segment - missing),
            Out::Datagram { bytes, .. } => u64::from(bytes - Config::default().header_size.0),
            _ => 0,
        };
        said.iter().map(|(_, out)| of(out)).sum()
    }

    #[test]
    fn whole_messages_have_the_rate_and_the_gaps_of_those_of_ns2() {
        // Mean number of messages per burst, max(1, round(Exp(3.125))): 1 + the sum of exp(-(k - 1/2) / 3.125) from k =
        // 2.
        let a = 1.0 / 3.125_f64;
        let number = 1.0 + (-1.5 * a).exp() / (1.0 - (-a).exp());
        let rate = number / (number * 0.064 + 0.8);
        let seconds = 100_000;
        let said = said(&classroom(Messages::Whole, Transport::Tcp), 512, seconds);
        assert!(said.iter().all(|s| s.1 == Out::Write { segments: Some(1), missing: 0 }));
        let found = said.len() as f64 / seconds as f64;
        // The standard deviation of a cycle is about its mean: five standard errors over 100,000 cycles are 1.6 %.
        assert!((found / rate - 1.0).abs() < 0.016, "{found} per second instead of {rate}");
        // ns-2.35, 300 sources over 500 s: 3.24 packets/s, 13.27 kbit/s.
        assert!((rate - 3.24).abs() < 0.01, "{rate}");
        assert!((rate * 4096.0 - 13_270.0).abs() < 40.0, "{rate}");
        let gaps: Vec<f64> = said.windows(2).map(|w| w[1].0 - w[0].0).collect();
        let pauses: Vec<f64> = gaps.iter().map(|g| g - 0.064).filter(|g| *g > 1e-6).collect();
        assert!(gaps.iter().all(|g| *g > 0.064 - 1e-6));
        let mean = pauses.iter().sum::<f64>() / pauses.len() as f64;
        assert!((mean - 0.8).abs() < 5.0 * 0.8 / (pauses.len() as f64).sqrt(), "{mean}");
    }

    #[test]
    fn a_stream_has_the_rate_of_its_bursts() {
        let seconds = 100_000;
        for (transport, segment) in [(Transport::Tcp, 512), (Transport::Tcp, 1460), (Transport::Udp, 512)] {
            let said = said(&classroom(Messages::Stream, transport), segment, seconds);
            let rate = bytes(&said, segment) as f64 * 8.0 / seconds as f64;
            // 64 kbit/s for a fifth of the time; the standard deviation of bursts equals their mean.
            assert!((rate / 12_800.0 - 1.0).abs() < 0.016, "{transport:?}, {segment} B: {rate} bit/s");
        }
    }

    #[test]
    fn bursts_and_pauses_are_exponential() {
        // Short messages show the lengths of bursts directly.
        let cfg = Config { payload: Bytes(8), ..classroom(Messages::Stream, Transport::Udp) };
        let times: Vec<f64> = said(&cfg, 512, 20_000).iter().map(|s| s.0).collect();
        let gaps: Vec<f64> = times.windows(2).map(|w| w[1] - w[0] - 0.001).collect();
        let pauses: Vec<f64> = gaps.iter().copied().filter(|g| *g > 1e-6).collect();
        let n = pauses.len() as f64;
        for x in [0.2, 0.8, 1.6] {
            let (found, p) = (pauses.iter().filter(|g| **g > x).count() as f64 / n, (-x / 0.8_f64).exp());
            assert!((found - p).abs() < 5.0 * (p * (1.0 - p) / n).sqrt() + 0.001, "{found} above {x} s instead of {p}");
        }
        // Mean number of messages: those of 0.2 s at 1,000 per second, less the bursts that are too short for any.
        let mean = times.len() as f64 / n;
        assert!((mean / 200.0 - 1.0).abs() < 5.0 / n.sqrt() + 0.01, "{mean}");
    }

    #[test]
    fn a_burst_ends_with_a_short_segment() {
        // Messages of 300 B in segments of 512 B: after the second message 88 B are left, after the third 388 B.
        let cfg = Config { payload: Bytes(300), ..classroom(Messages::Stream, Transport::Tcp) };
        let all = said(&cfg, 512, 2000);
        let (mut written, mut made) = (0, 0);
        for (_, out) in &all {
            let Out::Write { segments: Some(n), missing } = *out else { unreachable!("{out:?}") };
            assert!(n == 1 && missing < 512);
            written += u64::from(512 - missing);
            if missing > 0 {
                // A burst writes a whole number of messages.
                assert_eq!(written % 300, 0);
                made += 1;
            }
        }
        assert!(made > 500, "{made} bursts");
        // A source that stops during a burst writes what it has generated.
        let mut source = OnOff::new(&cfg, Time::ZERO, Bytes(512), Stream::new(5, Purpose::Application, 0));
        while source.rest != 88 {
            source.on_deadline();
        }
        assert_eq!(source.end(), Out::Write { segments: Some(1), missing: 512 - 88 });
        assert_eq!((source.deadline(), source.end()), (Time::NEVER, Out::End { takes_back: false }));
    }

    #[test]
    fn large_messages_are_whole_segments_as_in_ns2() {
        let cfg = Config { payload: Bytes(1300), ..classroom(Messages::Whole, Transport::Tcp) };
        assert!(said(&cfg, 512, 100).iter().all(|s| s.1 == Out::Write { segments: Some(3), missing: 0 }));
    }
}
