//! Packets of OLSR (RFC 3626, sections 3.3, 6.1, 9.1 and 12.1): several messages in one list of entries.
//!
//! A message is two entries, its head, and one entry for each address.

use super::{ListId, Listed, NodeId};
use crate::unit::Span;

/// IP header, UDP header, and header of the packet \[B\].
pub const PACKET_HEADER: u32 = 20 + 8 + 4;
/// Fields of a HELLO or TC before its addresses \[B\].
const FIELDS: u32 = 4;
/// Header of a message, and these fields \[B\].
pub const MESSAGE_HEADER: u32 = 12 + FIELDS;
/// Header of the addresses with one link code in a HELLO \[B\].
pub const GROUP_HEADER: u32 = 4;
/// Entries of the head of a message.
const HEAD: usize = 2;

/// An OLSR packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OlsrPacket {
    /// Sequence number of the packet, by its sender.
    pub number: u16,
    /// Its messages.
    pub list: ListId,
}

/// Fields that only one kind of message has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// HELLO, for the neighbors.
    Hello {
        /// Time between HELLOs of the originator, encoded (Htime).
        interval: u8,
        /// Willingness to forward the traffic of others, from 0 to 7.
        willingness: u8,
    },
    /// TC (topology control), for the whole network.
    Tc {
        /// Advertised neighbor sequence number (ANSN).
        ansn: u16,
    },
    /// HNA (host and network association), for the whole network: the addresses are networks behind a gateway.
    Hna,
}

/// A message without its addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// Node that has made the message.
    pub originator: NodeId,
    /// Sequence number of the message, by its originator.
    pub number: u16,
    /// Hops that are left.
    pub ttl: u8,
    /// Hops made.
    pub hop_count: u8,
    /// Time for which its contents are valid, encoded (Vtime).
    pub validity: u8,
    /// Addresses have link qualities, as with olsrd.
    pub has_quality: bool,
    /// Fields of its kind.
    pub content: Content,
}

/// A link that a message announces.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Announced {
    /// Link code of a HELLO (RFC 3626, section 6.1.1); 0 in others.
    pub code: u8,
    /// The neighbor.
    pub node: NodeId,
    /// Link quality: packets that the originator receives of the neighbor's, in 255ths.
    pub lq: u8,
    /// Neighbor link quality: packets of the originator that the neighbor receives, in 255ths.
    pub nlq: u8,
}

impl Announced {
    fn entry(self) -> Listed {
        let sequence = u32::from(self.lq) << 8 | u32::from(self.nlq);
        Listed { node: self.node, sequence, hops: self.code }
    }

    fn read(entry: &Listed) -> Announced {
        let [.., lq, nlq] = entry.sequence.to_be_bytes();
        Announced { code: entry.hops, node: entry.node, lq, nlq }
    }
}

impl Message {
    /// Type of the message (RFC 3626, section 18.4; 201 and 202 of olsrd).
    pub fn kind(&self) -> u8 {
        let kind = match self.content {
            Content::Hello { .. } => 1,
            Content::Tc { .. } => 2,
            Content::Hna => 4,
        };
        if self.has_quality { kind + 200 } else { kind }
    }

    /// Size of each address \[B\], with the qualities of its link or the mask of its network.
    pub fn address_bytes(&self) -> u32 {
        if self.has_quality || self.content == Content::Hna { 8 } else { 4 }
    }

    /// Appends the message to those of a packet; the addresses of a HELLO are sorted by their link codes.
    pub fn write(&self, links: impl Iterator<Item = Announced>, out: &mut Vec<Listed>) {
        let [n0, n1] = self.number.to_be_bytes();
        let fields = match self.content {
            Content::Hello { interval, willingness } => u32::from(interval) << 8 | u32::from(willingness),
            Content::Tc { ansn } => u32::from(ansn),
            Content::Hna => 0,
        };
        let first = u32::from_be_bytes([n0, n1, self.ttl, self.hop_count]);
        out.push(Listed { node: self.originator, sequence: first, hops: self.validity });
        let head = out.len();
        out.push(Listed { node: NodeId(0), sequence: fields, hops: self.kind() });
        out.extend(links.map(Announced::entry));
        out[head].node = NodeId((out.len() - head - 1) as u32);
    }

    /// Size of the message with its addresses \[B\].
    pub fn bytes(&self, links: impl Iterator<Item = Announced>) -> u32 {
        let header = if self.content == Content::Hna { MESSAGE_HEADER - FIELDS } else { MESSAGE_HEADER };
        let (mut bytes, mut last) = (header, None);
        for link in links {
            let is_new = last.replace(link.code) != Some(link.code);
            let header = if is_new && matches!(self.content, Content::Hello { .. }) { GROUP_HEADER } else { 0 };
            bytes += header + self.address_bytes();
        }
        bytes
    }
}

/// Messages of a packet, with the links that each announces.
pub fn messages(mut list: &[Listed]) -> impl Iterator<Item = (Message, impl Iterator<Item = Announced> + Clone)> {
    std::iter::from_fn(move || {
        let [first, head, rest @ ..] = list else { return None };
        let (links, after) = rest.split_at(head.node.0 as usize);
        list = after;
        let [n0, n1, ttl, hop_count] = first.sequence.to_be_bytes();
        let [.., interval, willingness] = head.sequence.to_be_bytes();
        let content = match head.hops % 200 {
            1 => Content::Hello { interval, willingness },
            2 => Content::Tc { ansn: head.sequence as u16 },
            _ => Content::Hna,
        };
        let message = Message {
            originator: first.node,
            number: u16::from_be_bytes([n0, n1]),
            ttl,
            hop_count,
            validity: first.hops,
            has_quality: head.hops > 200,
            content,
        };
        Some((message, links.iter().map(Announced::read)))
    })
}

/// Number of entries of the message with which a list begins.
pub fn first_length(list: &[Listed]) -> usize {
    HEAD + list[1].node.0 as usize
}

/// Scaling factor C of encoded times, 1/16 s, by the 16 steps of a mantissa.
const STEP: Span = Span(1_000_000_000 / 16 / 16);

/// Encodes a time as C (1 + a/16) 2^b, rounded up (RFC 3626, section 18.3).
pub fn encode_time(time: Span) -> u8 {
    for b in 0..16 {
        let a = time.0.div_ceil(STEP.0 << b).max(16) - 16;
        if a < 16 {
            return (a as u8) << 4 | b;
        }
    }
    u8::MAX
}

/// Time of an encoded one.
pub fn decode_time(code: u8) -> Span {
    Span((STEP.0 * (16 + u64::from(code >> 4))) << (code & 15))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_the_rfc() {
        // RFC 3626, section 18.3: a in the upper four bits, b in the lower ones.
        for (seconds, code) in [(2, 0x05), (5, 0x46), (6, 0x86), (15, 0xe7), (30, 0xe8)] {
            assert_eq!(encode_time(Span::secs(seconds)), code, "{seconds} s");
            assert_eq!(decode_time(code), Span::secs(seconds));
        }
        assert_eq!(decode_time(encode_time(Span::secs(20))), Span::secs(20));
        // 300 s has no code of its own: 1.1875 2^8 s.
        assert_eq!(decode_time(encode_time(Span::secs(300))), Span::secs(304));
        assert_eq!((encode_time(Span::ZERO), encode_time(Span::secs(100_000))), (0, 255));
    }

    #[test]
    fn messages_are_read_as_they_were_written() {
        let link = |code, node| Announced { code, node: NodeId(node), lq: 200, nlq: 7 };
        let hello = Message {
            originator: NodeId(70_000),
            number: 65_535,
            ttl: 1,
            hop_count: 0,
            validity: 0x86,
            has_quality: true,
            content: Content::Hello { interval: 5, willingness: 7 },
        };
        let tc = Message { ttl: 255, hop_count: 3, has_quality: false, content: Content::Tc { ansn: 65_535 }, ..hello };
        let hna = Message { content: Content::Hna, ..tc };
        let links = [link(6, 1), link(6, 2), link(10, 3)];
        let mut list = vec![];
        hello.write(links.into_iter(), &mut list);
        tc.write(links[..0].iter().copied(), &mut list);
        hna.write(links[..1].iter().copied(), &mut list);
        let read: Vec<_> = messages(&list).map(|(m, l)| (m, l.collect::<Vec<_>>())).collect();
        assert_eq!(read, [(hello, links.to_vec()), (tc, vec![]), (hna, vec![links[0]])]);
        assert_eq!(first_length(&list), 5);
        // Two link codes and three addresses of olsrd; no address.
        assert_eq!((hello.bytes(links.into_iter()), tc.bytes(links[..0].iter().copied())), (16 + 2 * 4 + 3 * 8, 16));
        // The header of the message, and two networks with their masks.
        assert_eq!(hna.bytes(links[..2].iter().copied()), 12 + 2 * 8);
    }
}
