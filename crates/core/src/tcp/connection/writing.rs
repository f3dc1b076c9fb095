//! Data that the application writes, in pieces or as a whole.

use super::Connection;
use crate::packet::Seq;
use crate::tcp::sender::writes::{ShortEnds, Writes, Written};

impl Connection {
    /// The application is about to write this many bytes, `None` without end, in pieces of `size` bytes.
    pub(in crate::tcp) fn plan_writes(&mut self, bytes: Option<u64>, size: u32) {
        let (first, cfg) = (Seq::from(self.syn), &self.cfg);
        let new = || Box::new(Written::Pieces(Writes::new(first, cfg.mss.0, cfg.nagle, cfg.send_buffer)));
        if let Written::Pieces(writes) = &mut **self.written.get_or_insert_with(new) {
            writes.begin(bytes, size);
        }
    }

    /// Data that are written in pieces.
    fn pieces(&self) -> Option<&Writes> {
        self.written.as_deref().and_then(|w| if let Written::Pieces(writes) = w { Some(writes) } else { None })
    }

    /// The same, to change.
    pub(super) fn pieces_mut(&mut self) -> Option<&mut Writes> {
        self.written.as_deref_mut().and_then(|w| if let Written::Pieces(writes) = w { Some(writes) } else { None })
    }

    /// Returns true if the application has more to write.
    #[inline]
    pub(in crate::tcp) fn writes_more(&self) -> bool {
        self.pieces().is_some_and(|w| w.has_more())
    }

    /// Returns true if less than a full segment waits to be sent.
    pub(in crate::tcp) fn has_sent_all(&self) -> bool {
        self.pieces().is_none_or(|w| !w.has_full())
    }

    /// Writes the next piece if the application has a piece and the send buffer has room. Returns true if bytes were
    /// written.
    pub(in crate::tcp) fn take_piece(&mut self) -> bool {
        let (una, cwnd) = (self.una, self.window.cwnd as u32);
        // The window of a SYN-ACK is not scaled (RFC 7323, 2.2).
        let limit = if self.syn && una == 1 { u64::from(u16::MAX) } else { u64::MAX };
        let window = (u64::from(self.offered) * u64::from(self.cfg.mss.0)).min(limit);
        let windows = self.cc.windows_in_buffer();
        let Some(writes) = self.pieces_mut() else { return false };
        writes.forget(una);
        writes.grow_buffer(cwnd, windows);
        let (taken, end) = (writes.take(window), writes.end());
        if taken {
            self.available = end;
        }
        taken
    }

    /// Returns true if Nagle's algorithm holds the next new segment (`tcp.nagle`).
    #[inline]
    pub fn holds_small(&self, seq: Seq) -> bool {
        let (una, max) = (self.una, self.max);
        let holds = match self.written.as_deref() {
            None => false,
            Some(Written::Pieces(writes)) => writes.holds(seq, una, max),
            Some(Written::Whole(ends)) => seq + 1 >= self.available && ends.holds(self.cfg.nagle, seq, una, max),
        };
        holds && seq != self.fin.0
    }

    /// The last segment that the application has provided is not full.
    #[cold]
    pub(in crate::tcp) fn note_short_end(&mut self) {
        let last = self.available - 1;
        if let Written::Whole(ends) =
            &mut **self.written.get_or_insert_with(|| Box::new(Written::Whole(ShortEnds::default())))
        {
            ends.note(last);
        }
    }

    /// Payload of a segment \[B\].
    pub(in crate::tcp) fn payload_of(&self, seq: Seq) -> u32 {
        self.pieces().map_or(self.cfg.mss.0, |w| w.payload(seq))
    }
}
