//! A receiver whose buffer and application limit the window.

use super::Receiver;
use crate::packet::{DataSegment, Fin, Seq};
use crate::tcp::Out;
use crate::tcp::ack::interface::BufferState;
use crate::tcp::config::Config;
use crate::unit::Time;

impl Receiver {
    /// A receiver without an application: data that arrive are passed on, and [`open_to`](Self::open_to) sets the
    /// window.
    pub fn of_relay(cfg: &Config) -> Receiver {
        Receiver { room: None, ..Receiver::new(cfg) }
    }

    /// Returns true if there are data that the application has not read.
    pub fn has_unread(&self) -> bool {
        self.room.as_ref().is_some_and(|room| room.buffer.unread() > 0)
    }

    /// Returns true if there is no room for a segment.
    pub(super) fn is_beyond(&self, segment: &DataSegment) -> bool {
        let (seq, first) = (segment.seq, Seq::from(self.syn));
        match &self.room {
            Some(_) if segment.syn || segment.fin == Fin::Bare => false,
            Some(room) => !room.buffer.has_room_for(seq.saturating_sub(first)),
            None => seq >= self.edge,
        }
    }

    /// Puts a segment into the buffer, by which the next one expected has advanced by `in_order`.
    #[cold]
    pub(super) fn put_into_buffer(&mut self, segment: &DataSegment, in_order: u32, now: Time) -> Option<BufferState> {
        let syn = u32::from(self.syn && self.next == in_order && in_order > 0);
        let (fin, kind) = self.fin;
        let fin = u32::from(kind == Fin::Bare && (self.next - in_order..self.next).contains(&fin));
        let first = Seq::from(self.syn);
        let room = self.room.as_mut()?;
        room.reader.begin(now);
        if in_order == syn + fin && self.ahead.count() == 0 {
            return None;
        }
        room.buffer.measure(segment.echo, now);
        let after_idle = room.buffer.note(now);
        if segment.missing > 0 {
            room.buffer.note_short(segment.seq - first, segment.missing);
        }
        let grows = room.buffer.take(in_order - syn - fin, self.ahead.count(), now);
        // The policy of a receiver without auto-tuning takes no notice of the window (RFC 9293, 3.8.6.3).
        room.buffer.is_of_memory().then(|| BufferState {
            grows,
            scarce: room.buffer.is_scarce(),
            keeps_window: room.buffer.keeps_window(),
            after_idle,
        })
    }

    /// The application reads as much as it can. An acknowledgement goes out if one was pending for as many segments as
    /// the policy lets wait, or if much of the buffer has become free.
    #[cold]
    pub(super) fn read(&mut self, now: Time, out: &mut Vec<Out>) {
        while let Some(room) = &mut self.room {
            let bytes = room.reader.read(room.buffer.unread(), now);
            if bytes == 0 {
                room.reads_at = if room.buffer.unread() > 0 { room.reader.ready() } else { Time::NEVER };
                return;
            }
            let segments = room.buffer.read(bytes, now);
            let tells =
                (self.timer < Time::NEVER && self.held >= self.policy.due_when_read()) || room.buffer.is_worth_update();
            self.deliver(segments, out);
            if tells {
                self.acknowledge(self.next.saturating_sub(1), out);
            }
        }
    }
}
