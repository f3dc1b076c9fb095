//! Address resolution (RFC 826) as in ns-2, or switched off.
//!
//! One packet per unresolved neighbour is held; a second packet replaces it, and the first is dropped. Each packet
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
        pub bytes: Bytes = Bytes(28) => at_most(LARGEST_PACKET),
        /// Processing time before a request, a reply or a released packet reaches the queue.
        pub delay: Span = Span::ZERO => at_most(HOUR),
        /// Unanswered requests after which packets are returned.
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

/// ARP table of a node. Entries do not age.
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

    /// Learns the sender of a received ARP message. Returns the packet held for it.
    pub fn on_message(&mut self, message: &Message) -> Option<PacketId> {
        let entry = self.entry(message.sender);
        entry.known = true;
        entry.held.take()
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
        let heard = Message { sender: to, target: NodeId(7), request: true };
        assert_eq!(t.on_message(&heard), Some(PacketId(5)), "any message teaches its sender's address");
        assert_eq!(t.resolve(to, PacketId(6), &cfg), Resolution::Known);
        assert_eq!(t.held(), 0);
    }
}
