//! Track: what queries of positions need of a node, in one cache line.

use super::segment::{Line, MovementSegment};
use crate::unit::{Position, Span, Time};

/// Motion of a node in its current segment, and the position that others have recorded.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Track {
    line: Line,
    /// The last exact query, or the begin of the segment, or a multiple of `known_for` after that.
    pub recorded: Record,
}

/// Position of a node at an instant of its segment.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    at: Time,
    pub position: Position,
}

impl Track {
    /// Track of a node whose position was recorded at the begin of this segment.
    pub fn new(segment: &MovementSegment) -> Track {
        Track { line: segment.line(), recorded: Record { at: segment.begins, position: segment.from } }
    }

    /// Follows this segment from now on.
    pub fn follow(&mut self, segment: &MovementSegment) {
        self.line = segment.line();
        self.recorded = self.exact(self.recorded.at);
    }

    /// Position at an instant, or at the begin of the segment if that is later.
    #[inline(always)]
    pub fn exact(&self, at: Time) -> Record {
        let begins = self.line.begins;
        Record { at: begins + at.since(begins), position: self.line.at(at) }
    }

    /// Recorded position, which is less than `known_for` old.
    #[inline(always)]
    pub fn known(&mut self, at: Time, known_for: Span) -> Position {
        if at.since(self.recorded.at) >= known_for {
            self.renew(at, known_for);
        }
        self.recorded.position
    }

    /// Records the position of the last multiple of `known_for` after the recorded one.
    #[cold]
    #[inline(never)]
    fn renew(&mut self, at: Time, known_for: Span) {
        let age = at.since(self.recorded.at);
        self.recorded = self.exact(self.recorded.at + Span(age.0 / known_for.0 * known_for.0));
    }
}
