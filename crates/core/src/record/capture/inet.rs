//! Headers of ARP, IPv4, UDP and TCP, with checksums (RFC 826, 791, 768, 9293).

use crate::packet::{Arp, Ecn, NodeId};

/// Protocol numbers of IP headers.
pub const TCP: u8 = 6;
/// UDP.
pub const UDP: u8 = 17;
/// DSR (RFC 4728, section 6).
pub const DSR: u8 = 48;
/// Use for experimentation (RFC 3692).
pub const EXPERIMENTAL: u8 = 253;

const IP_HEADER: usize = 20;

/// IPv4 address of a node: 10.x.y.z, with the number of the node in the last three bytes.
pub fn address(node: NodeId) -> [u8; 4] {
    if node.is_broadcast() {
        return [255; 4];
    }
    let [_, x, y, z] = node.0.to_be_bytes();
    [10, x, y, z]
}

/// Ones' complement sum of 16-bit words (RFC 1071), before its complement.
fn sum(bytes: &[u8], start: u32) -> u32 {
    let words = bytes.chunks(2).map(|c| u32::from(c[0]) << 8 | u32::from(c.get(1).copied().unwrap_or(0)));
    words.fold(start, |sum, word| sum + word)
}

fn folded(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// Checksum of a header.
pub fn checksum(bytes: &[u8]) -> u16 {
    folded(sum(bytes, 0))
}

/// Fields of an IPv4 header that differ between packets.
#[derive(Clone, Copy, Debug)]
pub struct Ip {
    /// Source node.
    pub source: NodeId,
    /// Destination node.
    pub destination: NodeId,
    /// Number of the packet; the header has its last 16 bits.
    pub number: u64,
    /// Time to live.
    pub ttl: u8,
    /// ECN codepoint.
    pub ecn: Ecn,
}

impl Ip {
    /// Packet with this header and payload.
    pub fn packet(&self, protocol: u8, payload: &[u8]) -> Vec<u8> {
        let ecn = [0, 2, 3][self.ecn as usize];
        let mut out = Vec::with_capacity(IP_HEADER + payload.len());
        out.extend_from_slice(&[0x45, ecn]);
        out.extend_from_slice(&((IP_HEADER + payload.len()) as u16).to_be_bytes());
        out.extend_from_slice(&(self.number as u16).to_be_bytes());
        out.extend_from_slice(&[0, 0, self.ttl, protocol, 0, 0]);
        out.extend_from_slice(&address(self.source));
        out.extend_from_slice(&address(self.destination));
        let sum = checksum(&out);
        out[10..12].copy_from_slice(&sum.to_be_bytes());
        out.extend_from_slice(payload);
        out
    }

    /// Fills in the checksum of a TCP segment or UDP datagram at this place, over it and the pseudo-header.
    fn check(&self, protocol: u8, segment: &mut [u8], at: usize) {
        let mut pseudo = [0; 12];
        pseudo[..4].copy_from_slice(&address(self.source));
        pseudo[4..8].copy_from_slice(&address(self.destination));
        pseudo[9] = protocol;
        pseudo[10..].copy_from_slice(&(segment.len() as u16).to_be_bytes());
        let value = folded(sum(segment, sum(&pseudo, 0)));
        // In UDP 0 stands for no checksum.
        let value = if value == 0 && protocol == UDP { u16::MAX } else { value };
        segment[at..at + 2].copy_from_slice(&value.to_be_bytes());
    }

    /// UDP datagram with this payload.
    pub fn udp(&self, (from, to): (u16, u16), payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(8 + payload.len());
        for word in [from, to, (8 + payload.len()) as u16, 0] {
            out.extend_from_slice(&word.to_be_bytes());
        }
        out.extend_from_slice(payload);
        self.check(UDP, &mut out, 6);
        out
    }

    /// TCP segment whose payload is `zeros` bytes of 0.
    pub fn tcp(&self, ports: (u16, u16), header: &Tcp, zeros: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(60 + zeros);
        out.extend_from_slice(&ports.0.to_be_bytes());
        out.extend_from_slice(&ports.1.to_be_bytes());
        out.extend_from_slice(&header.seq.to_be_bytes());
        out.extend_from_slice(&header.ack.to_be_bytes());
        let words = (20 + header.options.len()) / 4;
        out.extend_from_slice(&[(words as u8) << 4, header.flags]);
        out.extend_from_slice(&header.window.to_be_bytes());
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&header.options);
        out.resize(out.len() + zeros, 0);
        self.check(TCP, &mut out, 16);
        out
    }
}

/// Flags of a TCP header.
pub mod flag {
    /// No more data from the sender.
    pub const FIN: u8 = 0x01;
    /// Synchronizes sequence numbers.
    pub const SYN: u8 = 0x02;
    /// The end of a write.
    pub const PSH: u8 = 0x08;
    /// The acknowledgement number is valid.
    pub const ACK: u8 = 0x10;
    /// ECN-Echo (RFC 3168).
    pub const ECE: u8 = 0x40;
    /// Congestion window reduced (RFC 3168).
    pub const CWR: u8 = 0x80;
}

/// TCP header without ports.
#[derive(Clone, Debug, Default)]
pub struct Tcp {
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Flags.
    pub flags: u8,
    /// Window, scaled.
    pub window: u16,
    /// Options, a multiple of four bytes.
    pub options: Vec<u8>,
}

impl Tcp {
    /// Options of a SYN (RFC 9293, 7323, 2018).
    pub fn syn_options(&mut self, mss: u16, scale: u8, sack_permitted: bool) {
        self.options.extend_from_slice(&[2, 4]);
        self.options.extend_from_slice(&mss.to_be_bytes());
        self.options.extend_from_slice(&[1, 3, 3, scale]);
        if sack_permitted {
            self.options.extend_from_slice(&[1, 1, 4, 2]);
        }
    }

    /// Timestamps option \[ms\] (RFC 7323).
    pub fn timestamps(&mut self, value: u32, echo: u32) {
        self.options.extend_from_slice(&[1, 1, 8, 10]);
        self.options.extend_from_slice(&value.to_be_bytes());
        self.options.extend_from_slice(&echo.to_be_bytes());
    }

    /// SACK option (RFC 2018).
    pub fn sack(&mut self, blocks: impl ExactSizeIterator<Item = (u32, u32)>) {
        self.options.extend_from_slice(&[1, 1, 5, 2 + 8 * blocks.len() as u8]);
        for (left, right) in blocks {
            self.options.extend_from_slice(&left.to_be_bytes());
            self.options.extend_from_slice(&right.to_be_bytes());
        }
    }
}

/// ARP message between stations with these MAC addresses.
pub fn arp(message: &Arp, sender: [u8; 6], target: [u8; 6]) -> Vec<u8> {
    let mut out = vec![0, 1, 8, 0, 6, 4, 0, if message.request { 1 } else { 2 }];
    out.extend_from_slice(&sender);
    out.extend_from_slice(&address(message.sender));
    out.extend_from_slice(&target);
    out.extend_from_slice(&address(message.target));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const IP: Ip = Ip { source: NodeId(1), destination: NodeId(2), number: 0x1_0003, ttl: 64, ecn: Ecn::Ect };

    #[test]
    fn the_checksum_is_that_of_the_example() {
        // RFC 1071, section 3.
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
        assert_eq!(checksum(&[0xff]), 0x00ff, "an odd byte is the upper one");
    }

    #[test]
    fn an_ip_header_by_hand() {
        let packet = IP.packet(UDP, &[9, 9]);
        // 4502 + 0016 + 0003 + 4011 + 0a00 + 0001 + 0a00 + 0002 = 992f, whose complement is 66d0.
        let expected = [0x45, 2, 0, 22, 0, 3, 0, 0, 64, 17, 0x66, 0xd0, 10, 0, 0, 1, 10, 0, 0, 2, 9, 9];
        assert_eq!(packet, expected);
    }

    #[test]
    fn a_datagram_by_hand() {
        // 0a00 + 0001 + 0a00 + 0002 + 0011 + 0009 + 028e + 028e + 0009 + 0700 = 2042 + ..., in all 2042.
        let words = [0x0a00, 1, 0x0a00, 2, 17, 9, 0x028e, 0x028e, 9, 0x0700_u32];
        let sum = !(words.iter().sum::<u32>() as u16);
        let [high, low] = sum.to_be_bytes();
        assert_eq!(IP.udp((654, 654), &[7]), [2, 0x8e, 2, 0x8e, 0, 9, high, low, 7]);
    }

    #[test]
    fn a_checksum_of_udp_is_never_zero() {
        // The words of the pseudo-header, of the header and of the payload add up to ffff.
        let rest = 0xffff - (0x0a00 + 1 + 0x0a00 + 2 + 17 + 10 + 10_u32);
        let [high, low] = (rest as u16).to_be_bytes();
        assert_eq!(IP.udp((0, 0), &[high, low])[6..8], [0xff, 0xff]);
    }

    #[test]
    fn a_segment_has_its_options_in_whole_words() {
        let mut header = Tcp { seq: 1461, ack: 1, flags: flag::ACK, window: 100, options: vec![] };
        header.timestamps(7, 8);
        header.sack([(2921, 4381)].into_iter());
        let segment = IP.tcp((40000, 5001), &header, 3);
        assert_eq!(segment.len(), 20 + 12 + 12 + 3);
        assert_eq!(segment[12] >> 4, 11);
        assert_eq!(segment[20..32], [1, 1, 8, 10, 0, 0, 0, 7, 0, 0, 0, 8]);
        assert_eq!(segment[32..44], [1, 1, 5, 10, 0, 0, 0x0b, 0x69, 0, 0, 0x11, 0x1d]);
        let mut whole = vec![10, 0, 0, 1, 10, 0, 0, 2, 0, 6, 0, 47];
        whole.extend_from_slice(&segment);
        assert_eq!(checksum(&whole), 0, "a receiver adds up to ffff");
    }

    #[test]
    fn addresses_have_the_number_of_the_node() {
        assert_eq!(address(NodeId(0x01_02_03)), [10, 1, 2, 3]);
        assert_eq!(address(NodeId::BROADCAST), [255; 4]);
    }
}
