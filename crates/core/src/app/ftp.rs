//! A file transfer: all its data are there from the start.

use super::Out;
use crate::setting::limit::at_least;
use crate::settings;
use crate::unit::Time;

settings! {
    /// File transfer.
    pub struct Config {
        /// Segments to send; "none": without end.
        pub segments: Option<u32> = None => at_least(1),
    }
}

/// A file transfer.
#[derive(Clone, Debug)]
pub struct Ftp {
    start: Time,
    segments: Option<u32>,
}

impl Ftp {
    /// A transfer that begins at `start`.
    pub fn new(cfg: &Config, start: Time) -> Ftp {
        Ftp { start, segments: cfg.segments }
    }

    pub(super) fn deadline(&self) -> Time {
        self.start
    }

    pub(super) fn on_deadline(&mut self) -> Out {
        self.start = Time::NEVER;
        Out::Write { segments: self.segments }
    }
}
