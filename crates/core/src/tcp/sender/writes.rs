//! Data that an application writes: in pieces, the segments that are cut of them, their PSH flags, and the send buffer;
//! as whole files, responses or bursts, the short segments at the ends.
//!
//! A segment is cut at its first transmission, from all bytes written by then. PSH marks a segment that ends with the
//! end of a write (RFC 9293, 3.9.1.2; Linux clears PSH when the next write begins in the segment).

use crate::keywords;
use crate::packet::Seq;
use std::collections::VecDeque;

keywords! {
    /// Nagle's algorithm: rule for a short segment at the end of the written data, while data are outstanding. A FIN is
    /// never held.
    pub enum Nagle {
        /// Sends the segment at once (`TCP_NODELAY`).
        Off = "off",
        /// Holds the segment until all data are acknowledged or the segment is full (RFC 9293, 3.7.4; RFC 896).
        Rfc9293 = "rfc9293",
        /// Holds the segment only while another short segment is outstanding (Minshall; Linux).
        Minshall = "minshall",
    }
}

keywords! {
    /// Size of the buffer into which the application writes.
    pub enum SendBuffer {
        /// The application never waits.
        Unlimited = "unlimited",
        /// Memory for two times the largest window (three times with `bbr`), of at least 10 segments (Linux:
        /// auto-tuning). The application resumes when a third of the memory is free.
        Auto = "auto",
    }
}

/// Memory of a segment in its node on top of its payload \[B\]: a kernel takes 2280 B for 1448 B of payload.
pub(in crate::tcp) const OVERHEAD: u64 = 832;

/// Memory that the send buffer reserves for a segment of the window on top of its payload \[B\]: 2304 B in all for
/// 1448 B of payload.
const RESERVE: u64 = 856;

/// Window for which the send buffer has room at least \[segments\] (Linux: the initial window).
const LEAST_WINDOW: u64 = 10;

/// Largest size of a send buffer that is tuned automatically \[B\] (Linux: `tcp_wmem`).
const LARGEST: u64 = 4 << 20;

/// Stands for an amount without end \[B\].
const ENDLESS: u64 = 1 << 62;

/// Returns true if a small segment waits: the segments from `una` up to `max` are outstanding, and `small` is one past
/// the last small one that was sent.
fn waits(nagle: Nagle, small: Seq, una: Seq, max: Seq) -> bool {
    match nagle {
        Nagle::Off => false,
        Nagle::Rfc9293 => una < max,
        Nagle::Minshall => small > una,
    }
}

/// Data that the application has written, as the connection knows them.
#[derive(Clone, Debug)]
pub(in crate::tcp) enum Written {
    /// They are written in pieces.
    Pieces(Writes),
    /// They are written as a whole, and some end with a short segment.
    Whole(ShortEnds),
}

impl Written {
    /// Memory of the records \[B\].
    pub fn records(&self) -> usize {
        match self {
            Written::Pieces(writes) => writes.records(),
            Written::Whole(ends) => ends.records(),
        }
    }
}

/// Segments that are not full because a file, a response or a burst ends with them.
#[derive(Clone, Debug, Default)]
pub(in crate::tcp) struct ShortEnds {
    /// Those that were not sent, in their order.
    unsent: VecDeque<Seq>,
    /// One past the last one that was sent; 0: there was none.
    sent: Seq,
}

impl ShortEnds {
    /// A write ends with this segment.
    pub fn note(&mut self, seq: Seq) {
        self.unsent.push_back(seq);
    }

    /// The application writes no more; the segments from `end` on are withdrawn.
    pub fn withdraw(&mut self, end: Seq) {
        self.unsent.retain(|seq| *seq < end);
    }

    /// A new segment is sent.
    pub fn note_sent(&mut self, seq: Seq) {
        if self.unsent.pop_front_if(|s| *s == seq).is_some() {
            self.sent = seq + 1;
        }
    }

    /// Returns true if Nagle's algorithm lets this new segment wait, the last one that was written.
    pub fn holds(&self, nagle: Nagle, seq: Seq, una: Seq, max: Seq) -> bool {
        waits(nagle, self.sent, una, max) && self.unsent.back() == Some(&seq)
    }

    /// Memory of the records \[B\].
    pub fn records(&self) -> usize {
        size_of::<ShortEnds>() + self.unsent.capacity() * size_of::<Seq>()
    }
}

/// A segment that is not full, or has the PSH flag.
#[derive(Clone, Copy, Debug)]
struct Special {
    seq: Seq,
    missing: u32,
    push: bool,
}

/// An application that writes in pieces, and the data that it has written.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Writes {
    mss: u64,
    nagle: Nagle,
    buffer: SendBuffer,
    /// Size of the send buffer \[B\].
    room: u64,
    /// Bytes of a write.
    size: u64,
    /// Bytes that the application has still to write.
    left: u64,
    /// Bytes written before the application last began.
    began: u64,
    /// Bytes written.
    written: u64,
    /// Ends of writes among the bytes that are not cut, if the send buffer is limited.
    ends: VecDeque<u64>,
    /// Half of the largest window of the receiver when the application last wrote \[B\].
    most: u64,
    /// End of the last write, or segment with PSH, in the segments that were cut.
    pushed: u64,
    /// One past the last segment that was cut, and the bytes up to there.
    cut: (Seq, u64),
    /// The first segment that is not acknowledged, and the bytes before it.
    acked: (Seq, u64),
    /// Segments that are cut, not acknowledged, and short or pushed.
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

    /// Discards the bytes that are not cut; the application writes no more.
    pub fn stop(&mut self) {
        self.left = 0;
        self.written = self.cut.1;
        self.ends.clear();
    }

    /// Returns true if the application has more to write.
    pub fn has_more(&self) -> bool {
        self.left > 0
    }

    /// Bytes that are written and not yet cut.
    fn uncut(&self) -> u64 {
        self.written - self.cut.1
    }

    /// Returns true if a full segment waits.
    pub fn has_full(&self) -> bool {
        self.uncut() >= self.mss
    }

    /// One past the last written segment.
    pub fn end(&self) -> Seq {
        let more = self.uncut().div_ceil(self.mss).min(u64::from(Seq::MAX));
        self.cut.0.saturating_add(more as Seq)
    }

    /// Grows the send buffer to `windows` times the congestion window \[segments\].
    pub fn grow_buffer(&mut self, cwnd: u32, windows: u64) {
        let wanted = windows * u64::from(cwnd).max(LEAST_WINDOW) * (self.mss + RESERVE);
        self.room = self.room.max(wanted).min(LARGEST);
    }

    /// Memory of unacknowledged segments \[B\].
    fn memory(&self) -> u64 {
        let segments = u64::from(self.cut.0 - self.acked.0) + self.uncut().div_ceil(self.mss);
        segments * OVERHEAD + self.written - self.acked.1
    }

    /// Bytes of a write that the send buffer accepts: they fill the last segment, and begin others while memory is
    /// free.
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

    /// Writes the next piece if the application has a piece and the send buffer has room; writes everything once a full
    /// segment waits in an unlimited buffer. Returns true if bytes were written. `window`: the window that the receiver
    /// offers \[B\].
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
    fn take_push(&mut self, from: u64, to: u64) -> bool {
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

    /// Cuts the next segment unless the segment is cut already. Returns the missing bytes and the PSH flag.
    pub fn cut(&mut self, seq: Seq) -> (u32, bool) {
        if seq == self.cut.0 {
            let from = self.cut.1;
            let to = from + self.mss.min(self.uncut());
            let (missing, push) = ((self.mss - (to - from)) as u32, self.take_push(from, to));
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

    /// Returns true if Nagle's algorithm lets this new segment wait.
    pub fn holds(&self, seq: Seq, una: Seq, max: Seq) -> bool {
        waits(self.nagle, self.small, una, max) && seq == self.cut.0 && !self.has_full()
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
