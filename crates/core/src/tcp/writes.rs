//! Data that an application writes in pieces: the segments that are cut of them, their PSH flags, and the send buffer.
//!
//! A segment is cut when it is sent for the first time: what was written until then fills it. Its PSH flag tells that a write
//! ends with it (RFC 9293, 3.9.1.2; Linux takes the flag back when the next write begins in the same segment).

use super::config::{Nagle, SendBuffer};
use crate::packet::Seq;
use std::collections::VecDeque;

/// Memory of a segment in its node beside its payload \[B\]: with 1448 B of payload a kernel takes 2280 B.
pub(super) const OVERHEAD: u64 = 832;

/// Memory beside the payload that the send buffer reserves for a segment of the window \[B\]: 2304 B for each of 1448 B.
const RESERVE: u64 = 856;

/// Window for which the send buffer has room at least \[segments\] (Linux: the initial window).
const LEAST_WINDOW: u64 = 10;

/// Largest size of a send buffer that is tuned automatically \[B\] (Linux: `tcp_wmem`).
const LARGEST: u64 = 4 << 20;

/// Stands for an amount without end \[B\].
const ENDLESS: u64 = 1 << 62;

/// A segment that is not full, or has the PSH flag.
#[derive(Clone, Copy, Debug)]
struct Special {
    seq: Seq,
    missing: u32,
    push: bool,
}

/// An application that writes in pieces, and what it has written.
#[derive(Clone, Debug)]
pub(super) struct Writes {
    mss: u64,
    nagle: Nagle,
    buffer: SendBuffer,
    /// Size of the send buffer \[B\].
    room: u64,
    /// Bytes of a write.
    size: u64,
    /// Bytes that the application has still to write.
    left: u64,
    /// Bytes written before the application last began, and by now.
    began: u64,
    written: u64,
    /// Ends of writes in what is not yet cut, if the buffer is limited; otherwise each write is whole.
    ends: VecDeque<u64>,
    /// Half of the largest window of the receiver when the application last wrote \[B\].
    most: u64,
    /// End of the last write, or segment with PSH, in what was cut.
    pushed: u64,
    /// One past the last segment that was cut, and the bytes up to there.
    cut: (Seq, u64),
    /// The first segment that is not acknowledged, and the bytes before it.
    acked: (Seq, u64),
    /// Cut segments that are not acknowledged, if they are no ordinary ones.
    special: VecDeque<Special>,
    /// One past the last segment that was not full; 0: there was none.
    small: Seq,
}

impl Writes {
    /// Nothing written; the first segment with data has this number, and this payload if it is full.
    pub fn new(first: Seq, mss: u32, nagle: Nagle, buffer: SendBuffer) -> Writes {
        Writes {
            mss: u64::from(mss),
            nagle,
            buffer,
            room: 0,
            size: 0,
            left: 0,
            began: 0,
            written: 0,
            ends: VecDeque::new(),
            most: 0,
            pushed: 0,
            cut: (first, 0),
            acked: (first, 0),
            special: VecDeque::new(),
            small: 0,
        }
    }

    /// The application is about to write this many bytes, `None` without end, in pieces of `size` bytes.
    pub fn begin(&mut self, bytes: Option<u64>, size: u32) {
        self.size = u64::from(size.max(1));
        self.left = bytes.map_or(ENDLESS, |b| self.left.saturating_add(b).min(ENDLESS));
        self.began = self.written;
    }

    /// The application writes no more, and what is not yet cut is withdrawn.
    pub fn stop(&mut self) {
        self.left = 0;
        self.written = self.cut.1;
        self.ends.clear();
    }

    /// Tells if the application has more to write.
    pub fn has_more(&self) -> bool {
        self.left > 0
    }

    /// Bytes that are written and not yet cut.
    fn uncut(&self) -> u64 {
        self.written - self.cut.1
    }

    /// Tells if a full segment waits.
    pub fn has_full(&self) -> bool {
        self.uncut() >= self.mss
    }

    /// One past the last segment of what is written.
    pub fn end(&self) -> Seq {
        let more = self.uncut().div_ceil(self.mss).min(u64::from(Seq::MAX));
        self.cut.0.saturating_add(more as Seq)
    }

    /// The buffer grows with the window \[segments\], of which it holds this many.
    pub fn make_room(&mut self, cwnd: u32, windows: u64) {
        let wanted = windows * u64::from(cwnd).max(LEAST_WINDOW) * (self.mss + RESERVE);
        self.room = self.room.max(wanted).min(LARGEST);
    }

    /// Memory of what is not acknowledged \[B\].
    fn memory(&self) -> u64 {
        let segments = u64::from(self.cut.0 - self.acked.0) + self.uncut().div_ceil(self.mss);
        segments * OVERHEAD + self.written - self.acked.1
    }

    /// Bytes that the buffer takes of a write: it fills the last segment, and begins others while memory is free.
    fn accepted(&self, bytes: u64) -> u64 {
        let tail = self.uncut() % self.mss;
        let mut taken = if tail > 0 { bytes.min(self.mss - tail) } else { 0 };
        let mut memory = self.memory() + taken;
        while taken < bytes && memory < self.room {
            let next = self.mss.min(bytes - taken);
            taken += next;
            memory += next + OVERHEAD;
        }
        taken
    }

    /// The application writes a piece, if it has one and the buffer room. Once full segments wait in an unlimited buffer,
    /// it writes everything. `window`: the window that the receiver offers \[B\].
    pub fn take(&mut self, window: u64) -> bool {
        self.most = self.most.max(window / 2);
        let taken = match self.buffer {
            SendBuffer::Unlimited if self.has_full() => self.left,
            SendBuffer::Unlimited => self.size.min(self.left),
            SendBuffer::Auto if 3 * self.memory() > 2 * self.room => 0,
            SendBuffer::Auto => self.accepted(self.size.min(self.left)),
        };
        self.left -= taken;
        self.written += taken;
        if taken > 0 && self.buffer == SendBuffer::Auto {
            self.ends.push_back(self.written);
        }
        taken > 0
    }

    /// PSH flag of a segment that is cut now, up to the byte `to`: a write ends there, or more than half of the largest
    /// window that the receiver has offered was written since the end of the last one, or since the last such segment.
    fn is_pushed(&mut self, from: u64, to: u64) -> bool {
        let last = if self.buffer == SendBuffer::Unlimited {
            let whole = to.saturating_sub(self.began) / self.size * self.size + self.began;
            if self.left == 0 && to == self.written { to } else { whole }
        } else {
            let mut last = 0;
            while let Some(end) = self.ends.pop_front_if(|end| *end <= to) {
                last = end;
            }
            last
        };
        self.pushed = self.pushed.max(last);
        let forced = to - from == self.mss && to - self.pushed > self.most;
        if forced {
            self.pushed = to;
        }
        self.pushed == to
    }

    /// Cuts the next segment, if that was not done before. Returns the bytes by which a segment is shorter than a full one,
    /// and its PSH flag.
    pub fn cut(&mut self, seq: Seq) -> (u32, bool) {
        if seq == self.cut.0 {
            let from = self.cut.1;
            let to = from + self.mss.min(self.uncut());
            let (missing, push) = ((self.mss - (to - from)) as u32, self.is_pushed(from, to));
            self.cut = (seq + 1, to);
            if missing > 0 {
                self.small = seq + 1;
            }
            if missing > 0 || push {
                self.special.push_back(Special { seq, missing, push });
            }
        }
        self.special.binary_search_by_key(&seq, |s| s.seq).map_or((0, false), |i| {
            let found = &self.special[i];
            (found.missing, found.push)
        })
    }

    /// Payload of a segment if it is sent now \[B\].
    pub fn payload(&self, seq: Seq) -> u32 {
        if seq >= self.cut.0 {
            return self.mss.min(self.uncut()) as u32;
        }
        let missing = self.special.binary_search_by_key(&seq, |s| s.seq).map_or(0, |i| self.special[i].missing);
        self.mss as u32 - missing
    }

    /// Tells if Nagle's algorithm lets this new segment wait.
    pub fn holds(&self, seq: Seq, una: Seq, max: Seq) -> bool {
        let waits = match self.nagle {
            Nagle::Off => false,
            Nagle::Rfc9293 => una < max,
            Nagle::Minshall => self.small > una,
        };
        waits && seq == self.cut.0 && !self.has_full()
    }

    /// Segments below this one are acknowledged.
    pub fn forget(&mut self, una: Seq) {
        let una = una.clamp(self.acked.0, self.cut.0);
        let mut bytes = u64::from(una - self.acked.0) * self.mss;
        while let Some(special) = self.special.pop_front_if(|s| s.seq < una) {
            bytes -= u64::from(special.missing);
        }
        self.acked = (una, self.acked.1 + bytes);
    }

    /// Memory of the records \[B\].
    pub fn records(&self) -> usize {
        self.special.capacity() * size_of::<Special>() + self.ends.capacity() * size_of::<u64>()
    }
}
