//! File transfer: all data are available from the start.

use super::Out;
use crate::setting::limit::range;
use crate::settings;
use crate::unit::{Bytes, Time};

settings! {
    /// File transfer over TCP.
    pub struct Config {
        /// Number of segments to send.
        pub segments: Option<u32> | "unlimited" = None => range(1, 1_000_000_000),
        /// Number of bytes to send, in place of `segments`; the last segment may be shorter than the others.
        pub(everyday) bytes: Option<Bytes> | "unlimited" = None => range(Bytes(1), Bytes(4_000_000_000)),
        /// Number of bytes that the application writes at a time, as soon as the send buffer has room; "unlimited":
        /// everything at once.
        pub write_size: Option<Bytes> | "unlimited" = None => range(Bytes(1), Bytes(1_000_000_000)),
    }
}

/// Source of a file transfer, which hands the whole file over at its start.
#[derive(Clone, Debug)]
pub struct Bulk {
    start: Time,
    segments: Option<u32>,
    missing: u32,
    /// Bytes of the file; `None`: unlimited.
    bytes: Option<u64>,
    /// Bytes of a write; `None`: the whole file at once.
    write_size: Option<u32>,
}

impl Bulk {
    /// A transfer that begins at `start`, with this payload per segment.
    pub fn new(cfg: &Config, start: Time, segment: Bytes) -> Bulk {
        let (segments, missing) = match cfg.bytes {
            Some(bytes) => {
                let segments = bytes.0.div_ceil(segment.0.max(1));
                (Some(segments), (u64::from(segments) * u64::from(segment.0) - u64::from(bytes.0)) as u32)
            }
            None => (cfg.segments, 0),
        };
        let bytes = segments.map(|n| u64::from(n) * u64::from(segment.0) - u64::from(missing));
        Bulk { start, segments, missing, bytes, write_size: cfg.write_size.map(|size| size.0) }
    }

    /// Segments of the file; `None`: unlimited.
    pub fn segments(&self) -> Option<u32> {
        self.segments
    }

    /// Bytes by which the last segment is shorter than the others.
    pub fn missing(&self) -> u32 {
        self.missing
    }

    pub(super) fn deadline(&self) -> Time {
        self.start
    }

    pub(super) fn begin(&mut self, at: Time) {
        self.start = at;
    }

    pub(super) fn on_deadline(&mut self) -> Out {
        self.start = Time::NEVER;
        match self.write_size {
            Some(size) => Out::WriteInPieces { bytes: self.bytes, size },
            None => Out::Write { segments: self.segments, missing: self.missing },
        }
    }
}
