//! Frames of batman-adv, version 15 of its format: originator messages of the algorithm IV, and data.

use super::wifi::{self, Mac};
use crate::packet::ogm::ogms;
use crate::packet::{Listed, NodeId, Packet};

/// Version of the format.
const VERSION: u8 = 15;
/// Types of packets.
const IV_OGM: u8 = 0x00;
const UNICAST: u8 = 0x40;
/// Flags of an originator message.
const NOT_BEST_NEXT_HOP: u8 = 1;
const DIRECT_LINK: u8 = 4;

/// Containers (TVLVs) of a node without clients: distributed ARP table; translation table of one VLAN, without changes;
/// multicast.
#[rustfmt::skip]
const CONTAINERS: [u8; 28] = [
    2, 1, 0, 0,
    4, 1, 0, 12, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0,
    6, 2, 0, 4, 0, 0, 0, 0,
];

fn mac(node: NodeId) -> Mac {
    wifi::mac(node, 0)
}

/// Container of a gateway with the bandwidths that batctl gives one, 10 and 2 Mbit/s.
const GATEWAY: [u8; 12] = [1, 1, 0, 8, 0, 0, 0, 100, 0, 0, 0, 20];

/// Originator messages.
pub fn originator_messages(list: &[Listed]) -> Vec<u8> {
    let mut out = vec![];
    for ogm in ogms(list) {
        let flag = |is_set, bit| if is_set { bit } else { 0 };
        let flags = flag(ogm.direct_link, DIRECT_LINK) | flag(ogm.not_best_next_hop, NOT_BEST_NEXT_HOP);
        out.extend_from_slice(&[IV_OGM, VERSION, ogm.ttl, flags]);
        out.extend_from_slice(&ogm.seqno.to_be_bytes());
        out.extend_from_slice(&mac(ogm.originator));
        out.extend_from_slice(&mac(ogm.prev_sender));
        out.extend_from_slice(&[0, ogm.tq]);
        let of_gateway = if ogm.is_gateway { &GATEWAY[..] } else { &[] };
        out.extend_from_slice(&((of_gateway.len() + CONTAINERS.len()) as u16).to_be_bytes());
        out.extend_from_slice(of_gateway);
        out.extend_from_slice(&CONTAINERS);
    }
    out
}

/// An IP packet behind the header of a unicast packet and an Ethernet header.
pub fn data(p: &Packet, ip: &[u8]) -> Vec<u8> {
    let (to, from) = (mac(p.destination), mac(p.source));
    // One version of the translation table of the destination: its clients never change.
    let mut out = vec![UNICAST, VERSION, p.ttl, 1];
    out.extend_from_slice(&to);
    out.extend_from_slice(&to);
    out.extend_from_slice(&from);
    out.extend_from_slice(&wifi::IPV4.to_be_bytes());
    out.extend_from_slice(ip);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::ogm::Ogm;
    use crate::packet::{Body, Datagram};
    use crate::unit::Time;

    #[test]
    fn an_originator_message_by_hand() {
        let ogm = Ogm {
            originator: NodeId(3),
            seqno: 0x0102_0304,
            ttl: 49,
            tq: 198,
            prev_sender: NodeId(3),
            direct_link: true,
            not_best_next_hop: true,
            is_gateway: false,
        };
        let mut list = vec![];
        ogm.write(&mut list);
        Ogm { direct_link: false, not_best_next_hop: false, is_gateway: true, ..ogm }.write(&mut list);
        let frame = originator_messages(&list);
        assert_eq!(frame.len(), 52 + 64);
        let node = mac(NodeId(3));
        let expected = [&[0, 15, 49, 5, 1, 2, 3, 4][..], &node, &node, &[0, 198, 0, 28]].concat();
        assert_eq!(frame[..24], expected);
        assert_eq!(frame[52..56], [0, 15, 49, 0]);
        assert_eq!(frame[72..88], [0, 198, 0, 40, 1, 1, 0, 8, 0, 0, 0, 100, 0, 0, 0, 20]);
    }

    #[test]
    fn data_by_hand() {
        let body = Body::Datagram(Datagram::default());
        let p = Packet { ttl: 31, ..Packet::new(body, 80, NodeId(2), NodeId(5), Time::ZERO) };
        let (to, from) = (mac(NodeId(5)), mac(NodeId(2)));
        assert_eq!(data(&p, &[0x45]), [&[0x40, 15, 31, 1][..], &to, &to, &from, &[8, 0, 0x45]].concat());
    }
}
