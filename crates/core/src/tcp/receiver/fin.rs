//! A receiver that closes its end of the connection with a FIN of its own.

use super::Receiver;
use crate::packet::{DataSegment, Flag};
use crate::tcp::Out;
use crate::unit::Time;

impl Receiver {
    /// Returns true if the receiver is about to close its end, or waits for the acknowledgement of its FIN.
    pub fn is_closing(&self) -> bool {
        self.closing.as_ref().is_some_and(|c| c.is_under_way())
    }

    /// Notes a segment for the end of the connection. Returns true if it is the acknowledgement of the FIN, and nothing
    /// else.
    #[cold]
    pub(super) fn note_in_closing(&mut self, segment: &DataSegment, now: Time) -> bool {
        let again = self.last_ack.is_some();
        let Some(closing) = &mut self.closing else { return false };
        if segment.is_fin_ack() {
            closing.end();
        } else if segment.syn {
            closing.note_syn_ack(again, now);
        } else {
            closing.note_segment(now);
        }
        segment.is_fin_ack()
    }

    /// Sends the FIN when it is due.
    #[cold]
    pub(super) fn close(&mut self, now: Time, out: &mut Vec<Out>) {
        let has_read_all = self.has_ended() && !self.has_unread();
        let Some(closing) = self.closing.as_mut().filter(|_| has_read_all) else { return };
        closing.begin(now);
        if closing.take(now) {
            self.acknowledge_with(Flag::Fin, self.next.saturating_sub(1), out);
        }
    }
}
