//! The transmit ring of a driver: its buffers hold the packet that is sent, too, and those that were sent until the card
//! interrupts. The card interrupts after every few frames, and when it has sent all that waits.

use super::registry::Queueing;
use super::{Config as QueueConfig, Cx, Outlet};
use crate::packet::{PacketId, PacketPool, Reason};
use crate::rng::Stream;
use crate::setting::limit::range;
use crate::settings;
use std::collections::VecDeque;

settings! {
    /// Settings of a transmit ring.
    pub struct Config {
        /// Number of frames after each of which the card interrupts; it also does when none waits.
        pub interrupt_frames: u32 = 5 => range(1, 1_000_000),
    }
}

/// A transmit ring.
#[derive(Clone, Debug)]
pub struct TransmitRing {
    waiting: VecDeque<PacketId>,
    buffers: usize,
    interrupt_frames: usize,
    /// Buffers of the packet that is being sent, and of those that were sent since the last interrupt.
    sending: usize,
    sent: usize,
}

impl Queueing for TransmitRing {
    fn new(cfg: &QueueConfig, _: Outlet, _: Stream) -> TransmitRing {
        let interrupt_frames = cfg.transmit_ring.interrupt_frames as usize;
        TransmitRing { waiting: VecDeque::new(), buffers: cfg.limit as usize, interrupt_frames, sending: 0, sent: 0 }
    }

    fn push(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        if self.waiting.len() >= self.room() {
            return cx.discard(packet, Reason::QueueFull);
        }
        self.waiting.push_back(packet);
    }

    /// The outlet is free: the packet before has been sent.
    fn pop(&mut self, _: &mut Cx<'_>) -> Option<PacketId> {
        self.sent += std::mem::take(&mut self.sending);
        if self.sent >= self.interrupt_frames || self.waiting.is_empty() {
            self.sent = 0;
        }
        let packet = self.waiting.pop_front()?;
        self.sending = 1;
        Some(packet)
    }

    fn remove(&mut self, _: &Cx<'_>, mut matches: impl FnMut(PacketId) -> bool) -> Option<PacketId> {
        let i = self.waiting.iter().position(|&p| matches(p))?;
        self.waiting.remove(i)
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }

    fn room(&self) -> usize {
        self.buffers.saturating_sub(self.sending + self.sent)
    }

    fn bytes(&self, pool: &PacketPool) -> u64 {
        self.waiting.iter().map(|&p| u64::from(pool[p].bytes)).sum()
    }

    fn marks(&self) -> u64 {
        0
    }
}
