//! Fields of IP headers that the network reads and writes.

use chappe_core::packet::Ecn;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Fields of a packet that the network reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Destination.
    pub to: IpAddr,
    /// Differentiated services codepoint (RFC 2474).
    pub dscp: u8,
    /// ECN field (RFC 3168): both codepoints of ECN-capable transports are `Ecn::Ect`.
    pub ecn: Ecn,
}

/// Header of a packet; `None`: it is no IP packet.
pub fn read(packet: &[u8]) -> Option<Header> {
    let (to, class) = match packet.first()? >> 4 {
        4 => (IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(packet.get(16..20)?).ok()?)), packet[1]),
        6 => {
            let to: [u8; 16] = packet.get(24..40)?.try_into().ok()?;
            (IpAddr::V6(Ipv6Addr::from(to)), packet[0] << 4 | packet[1] >> 4)
        }
        _ => return None,
    };
    let ecn = match class & 3 {
        0 => Ecn::NotEct,
        3 => Ecn::Ce,
        _ => Ecn::Ect,
    };
    Some(Header { to, dscp: class >> 2, ecn })
}

/// Marks a packet with *congestion experienced*, and mends the checksum of an IPv4 header (RFC 1624).
pub fn mark(packet: &mut [u8]) {
    match packet[0] >> 4 {
        4 => {
            let word = |packet: &[u8], at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
            let before = word(packet, 0);
            packet[1] |= 3;
            let sum = u32::from(!word(packet, 10)) + u32::from(!before) + u32::from(word(packet, 0));
            let folded = (sum & 0xffff) + (sum >> 16);
            let checksum = !((folded & 0xffff) + (folded >> 16)) as u16;
            packet[10..12].copy_from_slice(&checksum.to_be_bytes());
        }
        _ => packet[1] |= 3 << 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checksum of RFC 1071 over a whole header: 0 if it is right.
    fn checksum(header: &[u8]) -> u16 {
        let sum: u32 = header.chunks(2).map(|c| u32::from(u16::from_be_bytes([c[0], c[1]]))).sum();
        !(((sum & 0xffff) + (sum >> 16)) as u16)
    }

    /// An IPv4 header to 10.0.3.1 with this traffic class and identification, and with its checksum.
    fn v4(class: u8, id: u16) -> Vec<u8> {
        let mut header =
            vec![0x45, class, 0, 20, (id >> 8) as u8, id as u8, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 3, 1];
        let sum = checksum(&header);
        header[10..12].copy_from_slice(&sum.to_be_bytes());
        header
    }

    #[test]
    fn fields_are_read_from_both_versions() {
        let to = IpAddr::V4(Ipv4Addr::new(10, 0, 3, 1));
        assert_eq!(read(&v4(46 << 2 | 2, 7)), Some(Header { to, dscp: 46, ecn: Ecn::Ect }));
        assert_eq!(read(&v4(1, 7)).map(|h| h.ecn), Some(Ecn::Ect));
        let mut v6 = vec![0; 40];
        (v6[0], v6[1]) = (0x60 | 46 >> 2, (46 & 3) << 6 | 3 << 4);
        v6[24..40].copy_from_slice(&crate::address::v6(3).octets());
        assert_eq!(read(&v6), Some(Header { to: IpAddr::V6(crate::address::v6(3)), dscp: 46, ecn: Ecn::Ce }));
    }

    #[test]
    fn what_is_no_packet_has_no_header() {
        for wrong in [&[][..], &[0x45; 19], &[0x60; 39], &[0x15; 60]] {
            assert_eq!(read(wrong), None);
        }
    }

    #[test]
    fn a_mark_keeps_the_checksum_right() {
        for class in 0..=255 {
            for id in [0, 1, 0x7fff, 0xbfff, 0xfffe, 0xffff] {
                let mut header = v4(class, id);
                assert_eq!(checksum(&header), 0);
                mark(&mut header);
                assert_eq!((checksum(&header), header[1]), (0, class | 3), "{class} {id}");
            }
        }
        let mut v6 = vec![0x60, 0x20];
        v6.resize(40, 0);
        mark(&mut v6);
        assert_eq!(read(&v6).map(|h| (h.ecn, h.dscp)), Some((Ecn::Ce, 0)));
    }
}
