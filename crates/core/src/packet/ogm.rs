//! Originator messages of batman-adv IV: several in one list of entries, two entries each.

use super::{Listed, NodeId};

/// TTL of a new message.
pub const TTL: u8 = 50;
/// Size of a message without its containers (TVLVs) \[B\].
pub const HEADER: u32 = 24;

const DIRECT_LINK: u32 = 1;
const NOT_BEST_NEXT_HOP: u32 = 2;
const GATEWAY: u32 = 4;

/// An originator message (OGM).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ogm {
    /// Node that has made the message.
    pub originator: NodeId,
    /// Number of the message, by its originator.
    pub seqno: u32,
    /// Hops that are left.
    pub ttl: u8,
    /// Transmit quality of the way to the originator, from 0 to 255.
    pub tq: u8,
    /// Node from which the sender has the message; the originator itself at first.
    pub prev_sender: NodeId,
    /// The sender has the message from the originator itself.
    pub direct_link: bool,
    /// The sender does not have the message from its next hop to the originator: the message is an echo for the
    /// originator only.
    pub not_best_next_hop: bool,
    /// The originator is a gateway.
    pub is_gateway: bool,
}

impl Ogm {
    /// Appends the message to those of a packet.
    pub fn write(&self, out: &mut Vec<Listed>) {
        let flag = |is_set, bit| if is_set { bit } else { 0 };
        let flags = flag(self.direct_link, DIRECT_LINK)
            | flag(self.not_best_next_hop, NOT_BEST_NEXT_HOP)
            | flag(self.is_gateway, GATEWAY);
        out.push(Listed { node: self.originator, sequence: self.seqno, hops: self.ttl });
        out.push(Listed { node: self.prev_sender, sequence: flags, hops: self.tq });
    }
}

/// Messages of a packet.
pub fn ogms(list: &[Listed]) -> impl Iterator<Item = Ogm> {
    list.chunks_exact(2).map(|pair| Ogm {
        originator: pair[0].node,
        seqno: pair[0].sequence,
        ttl: pair[0].hops,
        tq: pair[1].hops,
        prev_sender: pair[1].node,
        direct_link: pair[1].sequence & DIRECT_LINK != 0,
        not_best_next_hop: pair[1].sequence & NOT_BEST_NEXT_HOP != 0,
        is_gateway: pair[1].sequence & GATEWAY != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_as_they_were_written() {
        let first = Ogm {
            originator: NodeId(70_000),
            seqno: u32::MAX,
            ttl: TTL,
            tq: 255,
            prev_sender: NodeId(3),
            direct_link: true,
            not_best_next_hop: false,
            is_gateway: false,
        };
        let second = Ogm { tq: 0, direct_link: false, not_best_next_hop: true, is_gateway: true, ..first };
        let mut list = vec![];
        [first, second].iter().for_each(|ogm| ogm.write(&mut list));
        assert_eq!(ogms(&list).collect::<Vec<_>>(), [first, second]);
    }
}
