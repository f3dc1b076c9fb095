//! Messages that wait to be sent, several in a packet.

use super::gateway;
use crate::packet::Listed;
use crate::packet::ogm::Ogm;
use crate::unit::{Span, Time};

/// Time for which a message waits for others that leave with it.
const MAX_AGGREGATION: Span = Span::ms(100);
/// Largest packet of several messages \[B\].
const MAX_BYTES: u32 = 512;

/// A packet.
#[derive(Clone, Debug)]
struct Waiting {
    number: u32,
    at: Time,
    bytes: u32,
    is_own: bool,
    /// Other messages may leave with its first one.
    takes_others: bool,
}

/// A packet to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Due {
    number: u32,
    /// Size of its messages [B].
    pub(super) bytes: u32,
    /// Begins with a message of this node.
    pub(super) is_own: bool,
}

/// Packets that wait, with their messages in the order in which they were added.
#[derive(Clone, Debug)]
pub(super) struct Outbox {
    packets: Vec<Waiting>,
    ogms: Vec<(u32, Ogm)>,
    last: u32,
    /// Size of a message of a node that is no gateway [B].
    size: u32,
    aggregates: bool,
}

impl Outbox {
    /// An empty outbox for messages of this size.
    pub(super) fn new(size: u32, aggregates: bool) -> Outbox {
        Outbox { packets: Vec::with_capacity(16), ogms: Vec::with_capacity(64), last: 0, size, aggregates }
    }

    pub(super) fn clear(&mut self) {
        self.packets.clear();
        self.ogms.clear();
    }

    /// Time at which the next packet is sent.
    pub(super) fn due(&self) -> Time {
        self.packets.iter().map(|p| p.at).min().unwrap_or(Time::NEVER)
    }

    /// Size of a message [B].
    fn bytes(&self, ogm: &Ogm) -> u32 {
        self.size + if ogm.is_gateway { gateway::BYTES } else { 0 }
    }

    fn begin(&mut self, ogm: Ogm, at: Time, is_own: bool) {
        self.last = self.last.wrapping_add(1);
        let takes_others = !ogm.direct_link && ogm.ttl != 1;
        self.packets.push(Waiting { number: self.last, at, bytes: self.bytes(&ogm), is_own, takes_others });
        self.ogms.push((self.last, ogm));
    }

    /// Adds a message of this node, which begins a packet.
    pub(super) fn add_own(&mut self, ogm: Ogm, at: Time) {
        self.begin(ogm, at, true);
    }

    /// Adds a message of another node, to be sent at an instant, or later with others. Echoes, which are for one node
    /// only, leave alone.
    pub(super) fn add(&mut self, ogm: Ogm, at: Time) {
        if !self.aggregates {
            return self.begin(ogm, at, false);
        }
        let (size, until) = (self.bytes(&ogm), at + MAX_AGGREGATION);
        let fits = |p: &&mut Waiting| p.takes_others && at < p.at && p.at <= until && p.bytes + size <= MAX_BYTES;
        match self.packets.iter_mut().rev().find(fits).filter(|_| !ogm.direct_link) {
            Some(packet) => {
                packet.bytes += size;
                self.ogms.push((packet.number, ogm));
            }
            None => self.begin(ogm, until, false),
        }
    }

    /// Takes out a packet that is to be sent now.
    pub(super) fn take_due(&mut self, now: Time) -> Option<Due> {
        let i = self.packets.iter().position(|p| p.at <= now)?;
        let Waiting { number, bytes, is_own, .. } = self.packets.remove(i);
        Some(Due { number, bytes, is_own })
    }

    /// Moves the messages of a packet to a list.
    pub(super) fn write(&mut self, packet: Due, out: &mut Vec<Listed>) {
        self.ogms.retain(|(number, ogm)| {
            let leaves = *number == packet.number;
            if leaves {
                ogm.write(out);
            }
            !leaves
        });
    }

    /// Approximate memory [B].
    pub(super) fn memory(&self) -> usize {
        self.packets.capacity() * size_of::<Waiting>() + self.ogms.capacity() * size_of::<(u32, Ogm)>()
    }
}
