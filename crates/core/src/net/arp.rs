//! Address resolution (RFC 826) as in ns-2, or switched off.
//!
//! One packet per unresolved neighbor is held; a second packet replaces it, and the first is dropped. Each packet
//! causes one request; after three unanswered requests the held and the new packet are returned as undeliverable.

use crate::packet::{Arp as Message, NodeId, PacketId};
use crate::setting::limit::{HOUR, LARGEST_PACKET, at_most, range};
use crate::settings;
use crate::unit::{Bytes, Span};

settings! {
    /// Address resolution.
    pub struct Config if enabled, else "`arp.enabled` is false" {
        /// Resolves addresses by ARP; otherwise all addresses are known.
        pub enabled: bool = false,
        /// Size of a request or a reply.
        pub packet_size: Bytes = Bytes(28) => at_most(LARGEST_PACKET),
        /// Processing time before a request, a reply or a released packet reaches the queue.
        pub delay: Span = Span::ZERO => at_most(HOUR),
        /// Number of unanswered requests after which packets are returned to the routing protocol.
        pub max_requests: u32 = 3 => range(1, 1000),
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    address: NodeId,
    known: bool,
    held: Option<PacketId>,
    requests: u32,
}

/// Result of an address resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// The address is known: send the packet.
    Known,
    /// The packet is held; send a request. A packet that was held before is dropped.
    Ask {
        /// Packet that was held before.
        displaced: Option<PacketId>,
    },
    /// No reply: return the packet, and the one that was held.
    Unreachable {
        /// Packet that was held before.
        held: Option<PacketId>,
    },
}

/// Actions after an ARP message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Received {
    /// The packet that was held for the sender of the message: send it.
    pub released: Option<PacketId>,
    /// Reply to send to its target.
    pub reply: Option<Message>,
}

/// The request of a node for the address of a neighbor.
pub fn request(own: NodeId, neighbor: NodeId) -> Message {
    Message { sender: own, target: neighbor, request: true }
}

/// The table of a node. Entries do not age.
#[derive(Clone, Debug, Default)]
pub struct Table {
    entries: Vec<Entry>,
}

impl Table {
    fn entry(&mut self, address: NodeId) -> &mut Entry {
        let i = self.entries.iter().position(|e| e.address == address).unwrap_or_else(|| {
            self.entries.push(Entry { address, known: false, held: None, requests: 0 });
            self.entries.len() - 1
        });
        &mut self.entries[i]
    }

    /// Resolves the next hop of a packet.
    pub fn resolve(&mut self, to: NodeId, packet: PacketId, cfg: &Config) -> Resolution {
        let entry = self.entry(to);
        if entry.known {
            return Resolution::Known;
        }
        if entry.requests >= cfg.max_requests {
            entry.requests = 0;
            return Resolution::Unreachable { held: entry.held.take() };
        }
        entry.requests += 1;
        Resolution::Ask { displaced: entry.held.replace(packet) }
    }

    /// Node `own` has received an ARP message, whose sender is known from now on.
    pub fn on_message(&mut self, message: &Message, own: NodeId) -> Received {
        let entry = self.entry(message.sender);
        entry.known = true;
        let is_asked = message.request && message.target == own;
        let reply = is_asked.then_some(Message { sender: own, target: message.sender, request: false });
        Received { released: entry.held.take(), reply }
    }

    /// Takes the held packets out.
    pub fn into_held(self) -> impl Iterator<Item = PacketId> {
        self.entries.into_iter().filter_map(|e| e.held)
    }

    /// Number of packets that are held.
    pub fn held(&self) -> usize {
        self.entries.iter().filter(|e| e.held.is_some()).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_packet_is_held_and_the_fourth_request_is_not_sent() {
        let cfg = Config::default();
        let mut t = Table::default();
        let to = NodeId(1);
        assert_eq!(t.resolve(to, PacketId(1), &cfg), Resolution::Ask { displaced: None });
        assert_eq!(t.resolve(to, PacketId(2), &cfg), Resolution::Ask { displaced: Some(PacketId(1)) });
        assert_eq!(t.resolve(to, PacketId(3), &cfg), Resolution::Ask { displaced: Some(PacketId(2)) });
        assert_eq!(t.resolve(to, PacketId(4), &cfg), Resolution::Unreachable { held: Some(PacketId(3)) });
        assert_eq!(t.resolve(to, PacketId(5), &cfg), Resolution::Ask { displaced: None });
        let own = NodeId(0);
        let released = t.on_message(&request(to, NodeId(7)), own);
        assert_eq!(released, Received { released: Some(PacketId(5)), reply: None }, "any message teaches its sender");
        assert_eq!(t.resolve(to, PacketId(6), &cfg), Resolution::Known);
        assert_eq!(t.held(), 0);
        let reply = Some(Message { sender: own, target: to, request: false });
        assert_eq!(t.on_message(&request(to, own), own), Received { released: None, reply });
    }
}
