//! The transmit ring of a driver: its buffers hold the packet that is sent, too, and those that were sent until the card
//! interrupts. The card interrupts after every few frames, and when it has sent all that waits.

use super::droptail::DropTail;
use super::registry::Queueing;
use super::{Config as QueueConfig, Cx, Outlet};
use crate::packet::{PacketId, PacketPool, Reason};
use crate::rng::Stream;
use crate::setting::limit::range;
use crate::settings;

settings! {
    /// Settings of a transmit ring.
    pub struct Config {
        /// Number of frames that the card transmits per interrupt; it also interrupts when no frame waits.
        pub interrupt_frames: u32 = 5 => range(1, 1_000_000),
    }
}

/// A transmit ring.
#[derive(Clone, Debug)]
pub struct TransmitRing {
    waiting: DropTail,
    interrupt_frames: usize,
    /// Buffers of the packet that is being sent, and of those that were sent since the last interrupt.
    sending: usize,
    sent: usize,
}

impl Queueing for TransmitRing {
    fn new(cfg: &QueueConfig, _: Outlet, _: Stream) -> TransmitRing {
        let interrupt_frames = cfg.transmit_ring.interrupt_frames as usize;
        TransmitRing { waiting: DropTail::plain(cfg), interrupt_frames, sending: 0, sent: 0 }
    }

    fn push(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        if self.waiting.len() >= self.room() {
            return cx.discard(packet, Reason::QueueFull);
        }
        self.waiting.push(packet, cx);
    }

    /// The outlet is free: the packet before has been sent.
    fn pop(&mut self, cx: &mut Cx<'_>) -> Option<PacketId> {
        self.sent += std::mem::take(&mut self.sending);
        if self.sent >= self.interrupt_frames || self.waiting.len() == 0 {
            self.sent = 0;
        }
        let packet = self.waiting.pop(cx)?;
        self.sending = 1;
        Some(packet)
    }

    fn remove(&mut self, cx: &Cx<'_>, matches: impl FnMut(PacketId) -> bool) -> Option<PacketId> {
        self.waiting.remove(cx, matches)
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }

    fn room(&self) -> usize {
        self.waiting.room().saturating_sub(self.sending + self.sent)
    }

    fn set_limit(&mut self, packets: usize) {
        self.waiting.set_limit(packets);
    }

    fn bytes(&self, pool: &PacketPool) -> u64 {
        self.waiting.bytes(pool)
    }

    fn marks(&self) -> u64 {
        self.waiting.marks()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Bench;
    use super::super::{Config, Discipline};
    use crate::packet::Ecn;
    use crate::unit::BitRate;

    /// A ring with so many buffers, the card of which interrupts after so many frames.
    fn ring(buffers: u32, frames: u32) -> Bench {
        let mut cfg = Config { discipline: Discipline::TransmitRing, limit: buffers, ..Config::default() };
        cfg.transmit_ring.interrupt_frames = frames;
        Bench::new(&cfg, BitRate::mbps(2))
    }

    fn arrive(b: &mut Bench, packets: u32) {
        (0..packets).for_each(|_| b.push(0, 100, Ecn::NotEct));
    }

    #[test]
    fn the_packet_that_is_sent_keeps_its_buffer() {
        let mut b = ring(2, 1);
        arrive(&mut b, 1);
        assert_eq!(b.pop().map(|p| p.0), Some(0));
        arrive(&mut b, 2);
        assert_eq!(b.drops(), [2], "one waits, one is sent");
        assert_eq!((b.pop().map(|p| p.0), b.queue.room()), (Some(1), 1));
    }

    #[test]
    fn buffers_of_sent_packets_are_free_after_an_interrupt() {
        let mut b = ring(4, 3);
        arrive(&mut b, 4);
        // 0 is sent; 1, 2 and 3 wait. Packets that arrive while 1 and 2 are sent find no buffer.
        for sent in 0..3 {
            assert_eq!(b.pop().map(|p| p.0), Some(sent));
            arrive(&mut b, 1);
        }
        assert_eq!(b.drops(), [4, 5, 6]);
        // The third frame is over: the card interrupts, three buffers are free.
        assert_eq!((b.pop().map(|p| p.0), b.queue.room()), (Some(3), 3));
    }

    #[test]
    fn the_card_also_interrupts_when_nothing_waits() {
        let mut b = ring(2, 100);
        arrive(&mut b, 2);
        assert_eq!((b.pop().is_some(), b.queue.room()), (true, 1));
        assert_eq!((b.pop().is_some(), b.queue.room()), (true, 0), "one was sent, one is being sent");
        assert_eq!((b.pop(), b.queue.room()), (None, 2));
    }
}
