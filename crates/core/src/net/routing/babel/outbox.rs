//! TLVs that wait to be sent together.

use crate::packet::{NodeId, Tlv};
use crate::unit::Time;

/// The next packet for all neighbors, or for one.
#[derive(Clone, Debug)]
pub(super) struct Outbox {
    /// Receiver of the packet.
    pub(super) to: NodeId,
    pub(super) tlvs: Vec<Tlv>,
    /// Router-id in force at the end of the packet.
    pub(super) router: Option<NodeId>,
    /// Time at which the packet is sent.
    pub(super) due: Time,
}

impl Outbox {
    pub(super) fn new(to: NodeId) -> Outbox {
        Outbox { to, tlvs: Vec::with_capacity(32), router: None, due: Time::NEVER }
    }

    /// Size of the TLVs [B].
    pub(super) fn bytes(&self) -> u32 {
        self.tlvs.iter().map(|tlv| tlv.bytes()).sum()
    }

    /// Sends the packet at this time, or before if it was due before.
    pub(super) fn send_by(&mut self, at: Time) {
        self.due = self.due.min(at);
    }

    /// Empties the packet, which was sent.
    pub(super) fn clear(&mut self) {
        self.tlvs.clear();
        (self.router, self.due) = (None, Time::NEVER);
    }
}
