//! Applications: what is sent, and when; and where datagrams go.

pub mod arrivals;
pub mod cbr;
pub mod ftp;
pub mod on_off;
pub mod sink;

use crate::keywords;
use crate::unit::{Span, Time};
use cbr::Cbr;
use ftp::Ftp;
use on_off::OnOff;

keywords! {
    /// Applications.
    pub enum Kind {
        /// A file transfer over TCP, without end unless `ftp.segments` or `ftp.bytes` says otherwise.
        Ftp = "ftp",
        /// Datagrams of one size at one rate over UDP.
        Cbr = "cbr",
        /// Bursts of messages with pauses between them, over TCP or UDP.
        OnOff = "on_off",
    }
}

/// What an application says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Out {
    /// Gives TCP segments to send.
    Write {
        /// Number of segments; `None`: without end.
        segments: Option<u32>,
        /// Bytes by which the last of them is shorter than the others.
        missing: u32,
    },
    /// Sends a datagram.
    Datagram {
        /// Its number.
        seq: u32,
        /// Size at the network layer \[B\].
        bytes: u32,
    },
    /// Has nothing more to send.
    End {
        /// Whether what TCP has not sent by now is not sent.
        takes_back: bool,
    },
}

/// What an application sends.
#[derive(Clone, Debug)]
pub enum Source {
    /// File transfer.
    Ftp(Ftp),
    /// Constant bit rate.
    Cbr(Cbr),
    /// Bursts and pauses.
    OnOff(Box<OnOff>),
}

/// The sending application of a flow: a source, and when it stops.
#[derive(Clone, Debug)]
pub struct Application {
    source: Source,
    /// When it writes nothing new any more; NEVER once that has come.
    stop: Time,
    /// It has ended, and has not begun again.
    ended: bool,
}

impl Application {
    /// An application that sends nothing at `stop` or later.
    pub fn new(source: Source, stop: Time) -> Application {
        Application { source, stop, ended: false }
    }

    /// When the application wants to be called.
    #[inline]
    pub fn deadline(&self) -> Time {
        if self.ended { Time::NEVER } else { self.next().min(self.stop) }
    }

    /// When its source has something to send.
    fn next(&self) -> Time {
        match &self.source {
            Source::Ftp(a) => a.deadline(),
            Source::Cbr(a) => a.deadline(),
            Source::OnOff(a) => a.deadline(),
        }
    }

    /// Whether its source has begun and goes on by itself, whether or not it has sent anything by now.
    pub fn is_on(&self) -> bool {
        matches!(&self.source, Source::OnOff(a) if a.is_on())
    }

    /// Whether its source has nothing more to send.
    pub fn is_over(&self) -> bool {
        self.next() == Time::NEVER
    }

    /// Its deadline has come.
    pub fn on_deadline(&mut self) -> Option<Out> {
        if self.stop <= self.next() {
            self.stop = Time::NEVER;
            return Some(self.end());
        }
        match &mut self.source {
            Source::Ftp(a) => Some(a.on_deadline()),
            Source::Cbr(a) => Some(a.on_deadline()),
            Source::OnOff(a) => a.on_deadline(),
        }
    }

    /// Begins to send at this instant, once more if it has ended. A stop that has come by then counts no more.
    pub fn begin(&mut self, at: Time) {
        self.ended = false;
        if self.stop <= at {
            self.stop = Time::NEVER;
        }
        self.begin_source(at);
    }

    fn begin_source(&mut self, at: Time) {
        match &mut self.source {
            Source::Ftp(a) => a.begin(at),
            Source::Cbr(a) => a.begin(at),
            Source::OnOff(a) => a.begin(at),
        }
    }

    /// Another time from one datagram to the next; other applications have none.
    pub fn set_interval(&mut self, interval: Span, now: Time) {
        if let Source::Cbr(a) = &mut self.source {
            a.set_interval(interval, now);
        }
    }

    /// Writes nothing from now on, unless it begins again: then up to its stop, if that is still to come.
    pub fn end(&mut self) -> Out {
        let out = match &mut self.source {
            Source::OnOff(a) => a.end(),
            _ => {
                self.begin_source(Time::NEVER);
                Out::End { takes_back: true }
            }
        };
        self.ended = true;
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Bytes;

    /// What an application says, and when.
    fn said(mut app: Application) -> Vec<(u64, Out)> {
        let mut said = vec![];
        while app.deadline() != Time::NEVER {
            let at = app.deadline().0;
            said.extend(app.on_deadline().map(|out| (at, out)));
        }
        said
    }

    #[test]
    fn nothing_is_sent_at_the_stop_or_later() {
        let cfg = cbr::Config { interval: Span(10), payload: Bytes(500), header: Bytes(28), datagrams: None };
        let app = Application::new(Source::Cbr(Cbr::new(&cfg, Time(5))), Time(25));
        let datagram = |seq| Out::Datagram { seq, bytes: 528 };
        assert_eq!(said(app), [(5, datagram(0)), (15, datagram(1)), (25, Out::End { takes_back: true })]);
    }

    #[test]
    fn a_transfer_of_bytes_has_a_short_last_segment() {
        for (bytes, segments, missing) in [(1, 1, 1459), (1460, 1, 0), (1461, 2, 1459), (4000, 3, 380)] {
            let cfg = ftp::Config { segments: None, bytes: Some(Bytes(bytes)) };
            let ftp = Ftp::new(&cfg, Time(3), Bytes(1460));
            assert_eq!(ftp.missing(), missing, "{bytes} B");
            let app = Application::new(Source::Ftp(ftp), Time::NEVER);
            assert_eq!(said(app), [(3, Out::Write { segments: Some(segments), missing })]);
        }
    }

    #[test]
    fn the_stop_of_who_has_begun_again_is_still_to_come() {
        let cfg = cbr::Config { interval: Span(10), ..cbr::Config::default() };
        let mut app = Application::new(Source::Cbr(Cbr::new(&cfg, Time(5))), Time(50));
        app.end();
        assert_eq!(app.deadline(), Time::NEVER);
        app.begin(Time(25));
        let times: Vec<u64> = said(app.clone()).iter().map(|s| s.0).collect();
        assert_eq!(times, [25, 35, 45, 50]);
        // One that was over before it began again.
        let mut late = app.clone();
        late.end();
        late.begin(Time(60));
        assert_eq!(late.deadline(), Time(60));
        late.on_deadline();
        assert_eq!(late.deadline(), Time(70));
        // A stop that has come counts no more.
        while app.deadline() != Time::NEVER {
            app.on_deadline();
        }
        app.begin(Time(70));
        assert_eq!(app.deadline(), Time(70));
    }

    #[test]
    fn who_has_ended_can_begin_again() {
        let cfg = cbr::Config { interval: Span(10), datagrams: Some(2), ..cbr::Config::default() };
        let mut app = Application::new(Source::Cbr(Cbr::new(&cfg, Time(5))), Time::NEVER);
        assert_eq!(app.end(), Out::End { takes_back: true });
        assert!(app.is_over() && app.deadline() == Time::NEVER);
        app.begin(Time(40));
        let times: Vec<u64> = said(app).iter().map(|s| s.0).collect();
        assert_eq!(times, [40, 50]);
    }
}
