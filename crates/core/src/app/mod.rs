//! Applications: the data that flows send and the times at which they do; and sinks of datagrams.

pub mod arrivals;
pub mod bulk;
pub mod cbr;
pub mod on_off;
pub mod requests;
pub mod sink;

use crate::keywords;
use crate::rng::Stream;
use crate::unit::{Span, Time};
use bulk::Bulk;
use cbr::Cbr;
use on_off::OnOff;
use requests::Requests;

keywords! {
    /// Applications.
    pub enum Kind {
        /// A file transfer over TCP, unlimited unless `bulk.segments` or `bulk.bytes` is set.
        Bulk = "bulk",
        /// Datagrams of constant size at a constant rate over UDP, or at exponential intervals.
        Cbr = "cbr",
        /// Bursts of messages separated by pauses, over TCP or UDP.
        OnOff = "on_off",
        /// Responses to requests over one TCP connection, one after the other.
        Requests = "requests",
        /// Datagrams over UDP that the program makes which drives the run.
        External = "external",
    }
}

keywords! {
    /// Distributions of intervals and think times.
    pub enum Times {
        /// Constant: all times equal the mean.
        Fixed = "fixed",
        /// Exponential distribution.
        Exponential = "exponential",
    }
}

impl Times {
    /// Draws a time in whole nanoseconds.
    fn draw(self, mean: Span, rng: &mut Stream) -> Span {
        match self {
            Times::Fixed => mean,
            Times::Exponential => Span((rng.exponential() * mean.0 as f64) as u64),
        }
    }
}

/// An action of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Out {
    /// Hands segments to TCP.
    Write {
        /// Number of segments; `None`: unlimited.
        segments: Option<u32>,
        /// Bytes by which the last segment is shorter than the others.
        missing: u32,
    },
    /// Hands bytes to TCP, in pieces.
    WriteInPieces {
        /// Number of bytes; `None`: unlimited.
        bytes: Option<u64>,
        /// Bytes of each piece but the last one.
        size: u32,
    },
    /// Hands a message to TCP, whose completion is measured.
    Message {
        /// Number of segments.
        segments: u32,
        /// Bytes by which the last segment is shorter than the others.
        missing: u32,
    },
    /// Sends a datagram of this flow over UDP.
    Datagram {
        /// Sequence number of the datagram.
        seq: u32,
        /// Size at the network layer \[B\].
        bytes: u32,
    },
    /// The source has ended.
    End {
        /// Withdraws the data that TCP has not sent yet.
        takes_back: bool,
    },
}

/// Traffic source of a flow.
#[derive(Clone, Debug)]
pub enum Source {
    /// Writes a file to TCP.
    Bulk(Bulk),
    /// Sends datagrams at a constant bit rate.
    Cbr(Box<Cbr>),
    /// Sends in bursts of exponential duration.
    OnOff(Box<OnOff>),
    /// Writes responses.
    Requests(Box<Requests>),
    /// Sends nothing by itself: the driver of the run does.
    External,
}

/// Sending application of a flow: a source, and its stop time.
#[derive(Clone, Debug)]
pub struct Application {
    source: Source,
    /// Stop time, after which nothing new is written; NEVER once it has passed.
    stop: Time,
    /// The source has ended and was not restarted.
    ended: bool,
}

impl Application {
    /// An application that sends nothing at `stop` or later.
    pub fn new(source: Source, stop: Time) -> Application {
        Application { source, stop, ended: false }
    }

    /// Next event of the source, or the stop time.
    #[inline]
    pub fn deadline(&self) -> Time {
        if self.ended { Time::NEVER } else { self.next().min(self.stop) }
    }

    /// Next event of the source.
    fn next(&self) -> Time {
        match &self.source {
            Source::Bulk(a) => a.deadline(),
            Source::Cbr(a) => a.deadline(),
            Source::OnOff(a) => a.deadline(),
            Source::Requests(a) => a.deadline(),
            Source::External => Time::NEVER,
        }
    }

    /// Returns true if the source has begun and continues, even if it has not sent anything yet.
    pub fn is_on(&self) -> bool {
        matches!(&self.source, Source::OnOff(a) if a.is_on())
    }

    /// Returns true if the driver of the run sends the data.
    pub fn is_external(&self) -> bool {
        matches!(self.source, Source::External)
    }

    /// Returns true if the source has ended.
    pub fn is_over(&self) -> bool {
        match &self.source {
            Source::Requests(a) => a.is_over(),
            Source::External => false,
            _ => self.next() == Time::NEVER,
        }
    }

    /// All data are acknowledged, so that a request may have come. Returns true if the deadline has changed.
    #[inline]
    pub fn on_all_acked(&mut self, now: Time) -> bool {
        match &mut self.source {
            Source::Requests(a) => !self.ended && a.on_answer(now),
            _ => false,
        }
    }

    /// Returns the action that is due.
    pub fn on_deadline(&mut self) -> Option<Out> {
        if self.stop <= self.next() {
            self.stop = Time::NEVER;
            return Some(self.end());
        }
        match &mut self.source {
            Source::Bulk(a) => Some(a.on_deadline()),
            Source::Cbr(a) => Some(a.on_deadline()),
            Source::OnOff(a) => a.on_deadline(),
            Source::Requests(a) => Some(a.on_deadline()),
            Source::External => None,
        }
    }

    /// Starts the source at this instant, again if it has ended. A stop time that has passed no longer counts.
    pub fn begin(&mut self, at: Time) {
        self.ended = false;
        if self.stop <= at {
            self.stop = Time::NEVER;
        }
        self.begin_source(at);
    }

    fn begin_source(&mut self, at: Time) {
        match &mut self.source {
            Source::Bulk(a) => a.begin(at),
            Source::Cbr(a) => a.begin(at),
            Source::OnOff(a) => a.begin(at),
            Source::Requests(a) => a.begin(at),
            Source::External => {}
        }
    }

    /// Changes the interval between datagrams; ignored by other applications.
    pub fn set_interval(&mut self, interval: Span, now: Time) {
        if let Source::Cbr(a) = &mut self.source {
            a.set_interval(interval, now);
        }
    }

    /// Stops the source until it is started again; a stop time in the future then still holds.
    pub fn end(&mut self) -> Out {
        let out = match &mut self.source {
            Source::OnOff(a) => a.end(),
            source => {
                let takes_back = !matches!(source, Source::Requests(_));
                self.begin_source(Time::NEVER);
                Out::End { takes_back }
            }
        };
        self.ended = true;
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;
    use crate::unit::Bytes;

    fn every_10_ns() -> cbr::Config {
        cbr::Config { interval: Span(10), ..cbr::Config::default() }
    }

    fn cbr(cfg: &cbr::Config, start: Time) -> Source {
        Source::Cbr(Box::new(Cbr::new(cfg, start, Stream::new(1, Purpose::Application, 0))))
    }

    /// Actions of an application, with their times.
    fn said(mut app: Application) -> Vec<(u64, Out)> {
        let mut actions = vec![];
        while app.deadline() != Time::NEVER {
            let at = app.deadline().0;
            actions.extend(app.on_deadline().map(|out| (at, out)));
        }
        actions
    }

    #[test]
    fn nothing_is_sent_at_the_stop_or_later() {
        let cfg = cbr::Config { payload: Bytes(500), ..every_10_ns() };
        let app = Application::new(cbr(&cfg, Time(5)), Time(25));
        let datagram = |seq| Out::Datagram { seq, bytes: 528 };
        assert_eq!(said(app), [(5, datagram(0)), (15, datagram(1)), (25, Out::End { takes_back: true })]);
    }

    #[test]
    fn a_transfer_of_bytes_has_a_short_last_segment() {
        for (bytes, segments, missing) in [(1, 1, 1459), (1460, 1, 0), (1461, 2, 1459), (4000, 3, 380)] {
            let cfg = bulk::Config { bytes: Some(Bytes(bytes)), ..bulk::Config::default() };
            let bulk = Bulk::new(&cfg, Time(3), Bytes(1460));
            assert_eq!(bulk.missing(), missing, "{bytes} B");
            let app = Application::new(Source::Bulk(bulk), Time::NEVER);
            assert_eq!(said(app), [(3, Out::Write { segments: Some(segments), missing })]);
        }
    }

    #[test]
    fn restarted_application_keeps_a_future_stop_time() {
        let mut app = Application::new(cbr(&every_10_ns(), Time(5)), Time(50));
        app.end();
        assert_eq!(app.deadline(), Time::NEVER);
        app.begin(Time(25));
        let times: Vec<u64> = said(app.clone()).iter().map(|s| s.0).collect();
        assert_eq!(times, [25, 35, 45, 50]);
        // A source that had ended before it was restarted.
        let mut late = app.clone();
        late.end();
        late.begin(Time(60));
        assert_eq!(late.deadline(), Time(60));
        late.on_deadline();
        assert_eq!(late.deadline(), Time(70));
        // A stop time that has passed no longer counts.
        while app.deadline() != Time::NEVER {
            app.on_deadline();
        }
        app.begin(Time(70));
        assert_eq!(app.deadline(), Time(70));
    }

    #[test]
    fn ended_application_can_restart() {
        let cfg = cbr::Config { datagrams: Some(2), ..every_10_ns() };
        let mut app = Application::new(cbr(&cfg, Time(5)), Time::NEVER);
        assert_eq!(app.end(), Out::End { takes_back: true });
        assert!(app.is_over() && app.deadline() == Time::NEVER);
        app.begin(Time(40));
        let times: Vec<u64> = said(app).iter().map(|s| s.0).collect();
        assert_eq!(times, [40, 50]);
    }
}
