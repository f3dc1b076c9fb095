//! Messages of routing protocols: AODV (RFC 3561), Babel (RFC 8966), DSDV, OLSR (RFC 3626), DSR (RFC 4728).

use super::inet::address;
use crate::packet::olsr::{Content, Message, messages};
use crate::packet::{DsrRequest, FlowState, Header, Listed, NodeId, Rrep, Rreq, Tlv};
use crate::unit::Span;

/// Port of AODV (RFC 3561, section 3).
pub const AODV_PORT: u16 = 654;
/// Port of Babel (RFC 8966, section 4).
pub const BABEL_PORT: u16 = 6696;
/// Port of updates of DSDV, which has none of its own.
pub const DSDV_PORT: u16 = 50_000;

/// Port of OLSR (RFC 3626, section 3.1).
pub const OLSR_PORT: u16 = 698;

fn extend(out: &mut Vec<u8>, words: &[u32]) {
    words.iter().for_each(|word| out.extend_from_slice(&word.to_be_bytes()));
}

fn of(node: NodeId) -> u32 {
    u32::from_be_bytes(address(node))
}

/// Route request (RFC 3561, section 5.1).
pub fn rreq(m: &Rreq) -> Vec<u8> {
    let unknown = if m.unknown_seq { 0x08 } else { 0 };
    let mut out = vec![1, unknown, 0, m.hop_count];
    extend(&mut out, &[m.id, of(m.destination), m.destination_seq, of(m.originator), m.originator_seq]);
    out
}

/// Route reply, or HELLO (RFC 3561, section 5.2).
pub fn rrep(m: &Rrep) -> Vec<u8> {
    let mut out = vec![2, 0, 0, m.hop_count];
    let lifetime = (m.lifetime.0 / 1_000_000) as u32;
    // The originator of a HELLO is the node itself.
    let originator = if m.hello { m.destination } else { m.originator };
    extend(&mut out, &[of(m.destination), m.destination_seq, of(originator), lifetime]);
    out
}

/// Route error (RFC 3561, section 5.3).
pub fn rerr(unreachable: &[Listed]) -> Vec<u8> {
    // The message counts at most 255 destinations.
    let listed = &unreachable[..unreachable.len().min(255)];
    let mut out = vec![3, 0, 0, listed.len() as u8];
    for l in listed {
        extend(&mut out, &[of(l.node), l.sequence]);
    }
    out
}

/// Update of DSDV: destination, hops and sequence number of each entry.
pub fn update(entries: &[Listed]) -> Vec<u8> {
    let mut out = Vec::with_capacity(12 * entries.len());
    for l in entries {
        extend(&mut out, &[of(l.node), u32::from(l.hops), l.sequence]);
    }
    out
}

/// Packet of OLSR (RFC 3626, sections 3.3, 6.1, 9.1 and 12.1); with link qualities the messages 201 and 202 of olsrd.
pub fn olsr(number: u16, list: &[Listed]) -> Vec<u8> {
    let mut out = vec![0; 2];
    out.extend_from_slice(&number.to_be_bytes());
    for (message, links) in messages(list) {
        let Message { originator, ttl, hop_count, validity, .. } = message;
        let bytes = message.bytes(links.clone()) as u16;
        out.extend_from_slice(&[message.kind(), validity]);
        out.extend_from_slice(&bytes.to_be_bytes());
        extend(&mut out, &[of(originator)]);
        out.extend_from_slice(&[ttl, hop_count]);
        out.extend_from_slice(&message.number.to_be_bytes());
        let is_hello = match message.content {
            Content::Hello { interval, willingness } => {
                out.extend_from_slice(&[0, 0, interval, willingness]);
                true
            }
            Content::Tc { ansn } => {
                out.extend_from_slice(&ansn.to_be_bytes());
                out.extend_from_slice(&[0, 0]);
                false
            }
            Content::Hna => false,
        };
        let mut last = None;
        for link in links.clone() {
            if is_hello && last.replace(link.code) != Some(link.code) {
                let same = links.clone().filter(|l| l.code == link.code).count() as u32;
                let length = (4 + same * message.address_bytes()) as u16;
                out.extend_from_slice(&[link.code, 0]);
                out.extend_from_slice(&length.to_be_bytes());
            }
            extend(&mut out, &[of(link.node)]);
            if message.content == Content::Hna {
                extend(&mut out, &[u32::MAX]);
            }
            if message.has_quality {
                out.extend_from_slice(&[link.lq, link.nlq, 0, 0]);
            }
        }
    }
    let length = (out.len() as u16).to_be_bytes();
    out[..2].copy_from_slice(&length);
    out
}

/// Magic number and version of a Babel packet (RFC 8966, section 4.2).
const BABEL: [u8; 2] = [42, 2];
/// Address encodings: wildcard, IPv4, link-local IPv6 (RFC 8966, section 4.1.4).
const WILDCARD: u8 = 0;
const IPV4: u8 = 1;
const LINK_LOCAL: u8 = 3;
/// Length of the prefix of a node.
const HOST: u8 = 32;

/// Router-id, or interface identifier, of a node.
fn identifier(node: NodeId) -> [u8; 8] {
    u64::from(of(node)).to_be_bytes()
}

/// Babel packet, whose TLVs are as over IPv6 and whose prefixes are of IPv4 (RFC 8966, section 4.6).
pub fn babel(tlvs: &[Tlv]) -> Vec<u8> {
    let mut out = BABEL.to_vec();
    out.extend_from_slice(&[0; 2]);
    let word = u16::to_be_bytes;
    for tlv in tlvs {
        let length = tlv.bytes() as u8 - 2;
        match *tlv {
            Tlv::Hello { seqno, interval } => {
                out.extend_from_slice(&[4, length, 0, 0]);
                out.extend_from_slice(&[word(seqno), word(interval)].concat());
            }
            Tlv::Ihu { node, rxcost, interval } => {
                out.extend_from_slice(&[5, length, LINK_LOCAL, 0]);
                out.extend_from_slice(&[word(rxcost), word(interval)].concat());
                out.extend_from_slice(&identifier(node));
            }
            Tlv::RouterId(node) => {
                out.extend_from_slice(&[6, length, 0, 0]);
                out.extend_from_slice(&identifier(node));
            }
            Tlv::Update { prefix, interval, seqno, metric, .. } => {
                out.extend_from_slice(&[8, length, IPV4, 0, HOST, 0]);
                out.extend_from_slice(&[word(interval), word(seqno), word(metric)].concat());
                out.extend_from_slice(&address(prefix));
            }
            Tlv::RetractAll { seqno } => {
                out.extend_from_slice(&[8, length, WILDCARD, 0, 0, 0]);
                out.extend_from_slice(&[word(u16::MAX), word(seqno), word(u16::MAX)].concat());
            }
            Tlv::RouteRequest(None) => out.extend_from_slice(&[9, length, WILDCARD, 0]),
            Tlv::RouteRequest(Some(prefix)) => {
                out.extend_from_slice(&[9, length, IPV4, HOST]);
                out.extend_from_slice(&address(prefix));
            }
            Tlv::SeqnoRequest { prefix, seqno, hop_count, router } => {
                out.extend_from_slice(&[10, length, IPV4, HOST]);
                out.extend_from_slice(&word(seqno));
                out.extend_from_slice(&[hop_count, 0]);
                out.extend_from_slice(&identifier(router));
                out.extend_from_slice(&address(prefix));
            }
        }
    }
    let length = word(out.len() as u16 - 4);
    out[2..4].copy_from_slice(&length);
    out
}

/// Next header: none.
pub const NO_NEXT_HEADER: u8 = 59;

/// Types of options (RFC 4728, sections 6 and 8).
const ROUTE_REQUEST: u8 = 1;
const ROUTE_REPLY: u8 = 2;
const ROUTE_ERROR: u8 = 3;
const SOURCE_ROUTE: u8 = 96;
const TIMEOUT: u8 = 128;

/// Types of errors.
const NODE_UNREACHABLE: u8 = 1;
const UNKNOWN_FLOW: u8 = 129;
const DEFAULT_FLOW_UNKNOWN: u8 = 130;

fn option(out: &mut Vec<u8>, kind: u8, data: &[u8]) {
    out.extend_from_slice(&[kind, data.len() as u8]);
    out.extend_from_slice(data);
}

fn addresses(out: &mut Vec<u8>, nodes: &[NodeId]) {
    nodes.iter().for_each(|&node| out.extend_from_slice(&address(node)));
}

/// Headers of DSR in front of a packet with this protocol number; `request`: the packet is a route request. `None`: the
/// packet follows the default flow, which needs none. `timeout`: time for which nodes store a flow.
pub fn dsr(
    header: &Header,
    request: Option<&DsrRequest>,
    next: u8,
    (source, destination): (NodeId, NodeId),
    timeout: Span,
) -> Option<Vec<u8>> {
    let mut options = vec![];
    if let Some(m) = request {
        let mut data = (m.id as u16).to_be_bytes().to_vec();
        addresses(&mut data, &[m.target]);
        addresses(&mut data, header.route.get(1..).unwrap_or(&[]));
        option(&mut options, ROUTE_REQUEST, &data);
    }
    if !header.reply.is_empty() {
        let mut data = vec![0];
        addresses(&mut data, &header.reply[1..]);
        option(&mut options, ROUTE_REPLY, &data);
    }
    for error in &header.errors {
        let mut data = vec![NODE_UNREACHABLE, header.salvaged & 0x0f];
        addresses(&mut data, &[error.link.from, error.tell, error.link.to]);
        option(&mut options, ROUTE_ERROR, &data);
    }
    if let Some((target, flow)) = header.unknown_flow {
        let kind = if flow.is_some() { UNKNOWN_FLOW } else { DEFAULT_FLOW_UNKNOWN };
        let mut data = vec![kind, header.salvaged & 0x0f];
        addresses(&mut data, &[source, destination, target]);
        data.extend(flow.into_iter().flat_map(|id| (id as u16).to_be_bytes()));
        option(&mut options, ROUTE_ERROR, &data);
    }
    if let FlowState::Establishes(_) = header.flow {
        let seconds = (timeout.0 / 1_000_000_000).min(u16::MAX.into()) as u16;
        option(&mut options, TIMEOUT, &seconds.to_be_bytes());
    }
    if request.is_none() && !header.flow.hides_route() && !header.route.is_empty() {
        // The ends of the route are in the IP header.
        let between = header.route.get(1..header.route.len() - 1).unwrap_or(&[]);
        let left = between.len().saturating_sub(header.at) as u16;
        let mut data = (u16::from(header.salvaged & 0x0f) << 6 | left & 0x3f).to_be_bytes().to_vec();
        addresses(&mut data, between);
        option(&mut options, SOURCE_ROUTE, &data);
    }
    let mut out = vec![];
    if let FlowState::Establishes(id) | FlowState::Follows(id) = header.flow {
        // Flow state header: its first bit is set (RFC 4728, section 7.1).
        let follower = if options.is_empty() { next } else { super::inet::DSR };
        out.extend_from_slice(&[follower, 0x80]);
        out.extend_from_slice(&(id as u16).to_be_bytes());
    }
    if !options.is_empty() {
        // PadN and Pad1, up to a whole word.
        let length = options.len().next_multiple_of(4);
        match length - options.len() {
            0 => {}
            1 => options.push(224),
            n => option(&mut options, 0, &[0; 2][..n - 2]),
        }
        out.extend_from_slice(&[next, 0]);
        out.extend_from_slice(&(length as u16).to_be_bytes());
        out.extend_from_slice(&options);
    }
    (!out.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::olsr::Announced;
    use crate::packet::{BrokenLink, RouteError};
    use crate::unit::Time;

    const TIMEOUT_OF_FLOWS: Span = Span::secs(60);

    fn nodes(numbers: &[u32]) -> Vec<NodeId> {
        numbers.iter().map(|&n| NodeId(n)).collect()
    }

    #[test]
    fn messages_of_aodv_by_hand() {
        let request = Rreq {
            id: 7,
            hop_count: 2,
            unknown_seq: true,
            originator: NodeId(1),
            originator_seq: 5,
            destination: NodeId(9),
            destination_seq: 0,
            sent: Time::ZERO,
        };
        let expected = [1, 8, 0, 2, 0, 0, 0, 7, 10, 0, 0, 9, 0, 0, 0, 0, 10, 0, 0, 1, 0, 0, 0, 5];
        assert_eq!(rreq(&request), expected);
        let reply = Rrep {
            hop_count: 3,
            destination: NodeId(9),
            destination_seq: 4,
            originator: NodeId(1),
            lifetime: Span::secs(10),
            sent: Time::ZERO,
            hello: false,
        };
        let expected = [2, 0, 0, 3, 10, 0, 0, 9, 0, 0, 0, 4, 10, 0, 0, 1, 0, 0, 0x27, 0x10];
        assert_eq!(rrep(&reply), expected);
        let hello = rrep(&Rrep { hello: true, originator: NodeId::BROADCAST, ..reply });
        assert_eq!(hello[12..16], [10, 0, 0, 9]);
        let lost = |node, sequence| Listed { node: NodeId(node), sequence, hops: u8::MAX };
        assert_eq!(rerr(&[lost(3, 6)]), [3, 0, 0, 1, 10, 0, 0, 3, 0, 0, 0, 6]);
        assert_eq!(rerr(&vec![lost(3, 6); 300]).len(), 4 + 255 * 8);
    }

    #[test]
    fn an_update_of_dsdv_by_hand() {
        let entry = Listed { node: NodeId(3), sequence: 8, hops: 2 };
        assert_eq!(update(&[entry]), [10, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 8]);
    }

    #[test]
    fn a_packet_of_olsr_by_hand() {
        let link = |code, node| Announced { code, node: NodeId(node), lq: 255, nlq: 191 };
        let hello = Message {
            originator: NodeId(9),
            number: 7,
            ttl: 1,
            hop_count: 0,
            validity: 0x86,
            has_quality: false,
            content: Content::Hello { interval: 0x05, willingness: 3 },
        };
        let tc = Message { ttl: 254, hop_count: 1, has_quality: true, content: Content::Tc { ansn: 5 }, ..hello };
        let hna = Message { content: Content::Hna, has_quality: false, ..tc };
        let mut list = vec![];
        hello.write([link(6, 1), link(6, 2), link(10, 3)].into_iter(), &mut list);
        tc.write([link(0, 4)].into_iter(), &mut list);
        hna.write([link(0, 5)].into_iter(), &mut list);
        #[rustfmt::skip]
        let expected = [
            0, 84, 1, 2,
            1, 0x86, 0, 36, 10, 0, 0, 9, 1, 0, 0, 7, 0, 0, 0x05, 3,
            6, 0, 0, 12, 10, 0, 0, 1, 10, 0, 0, 2, 10, 0, 0, 8, 10, 0, 0, 3,
            202, 0x86, 0, 24, 10, 0, 0, 9, 254, 1, 0, 7, 0, 5, 0, 0, 10, 0, 0, 4, 255, 191, 0, 0,
            4, 0x86, 0, 20, 10, 0, 0, 9, 254, 1, 0, 7, 10, 0, 0, 5, 255, 255, 255, 255,
        ];
        assert_eq!(olsr(0x0102, &list), expected);
    }

    #[test]
    fn a_packet_of_babel_by_hand() {
        let (node, metric) = (NodeId(3), 512);
        let sent = babel(&[
            Tlv::Hello { seqno: 258, interval: 400 },
            Tlv::Ihu { node, rxcost: 256, interval: 1200 },
            Tlv::RouterId(node),
            Tlv::Update { prefix: node, interval: 1600, seqno: 7, metric, hops: 2 },
            Tlv::RetractAll { seqno: 8 },
            Tlv::RouteRequest(None),
            Tlv::RouteRequest(Some(node)),
            Tlv::SeqnoRequest { prefix: node, seqno: 9, hop_count: 127, router: node },
        ]);
        #[rustfmt::skip]
        let expected = [
            42, 2, 0, 96,
            4, 6, 0, 0, 1, 2, 1, 0x90,
            5, 14, 3, 0, 1, 0, 4, 0xb0, 0, 0, 0, 0, 10, 0, 0, 3,
            6, 10, 0, 0, 0, 0, 0, 0, 10, 0, 0, 3,
            8, 14, 1, 0, 32, 0, 6, 0x40, 0, 7, 2, 0, 10, 0, 0, 3,
            8, 10, 0, 0, 0, 0, 255, 255, 0, 8, 255, 255,
            9, 2, 0, 0,
            9, 6, 1, 32, 10, 0, 0, 3,
            10, 18, 1, 32, 0, 9, 127, 0, 0, 0, 0, 0, 10, 0, 0, 3, 10, 0, 0, 3,
        ];
        assert_eq!(sent, expected);
    }

    #[test]
    fn a_source_route_by_hand() {
        let mut header = Header { route: nodes(&[1, 2, 3, 4]), at: 1, salvaged: 2, ..Header::default() };
        let ends = (NodeId(1), NodeId(4));
        let out = |header: &Header| dsr(header, None, 6, ends, TIMEOUT_OF_FLOWS).expect("a header");
        // One of two segments is left; salvaged twice; ten bytes of data and two of padding.
        #[rustfmt::skip]
        let expected = [
            6, 0, 0, 12, 96, 10, 0, 0x81, 10, 0, 0, 2, 10, 0, 0, 3,
        ];
        assert_eq!(out(&header), expected);
        header.errors.push(RouteError {
            link: BrokenLink { from: NodeId(2), to: NodeId(3) },
            tell: NodeId(1),
            lost: None,
        });
        let with_error = out(&header);
        assert_eq!(with_error[4..20], [3, 14, 1, 2, 10, 0, 0, 2, 10, 0, 0, 1, 10, 0, 0, 3]);
        assert_eq!(with_error[..4], [6, 0, 0, 28]);
    }

    #[test]
    fn a_route_request_and_a_reply_by_hand() {
        let request = DsrRequest { id: 0x10002, target: NodeId(5), propagates: true };
        let header = Header { route: nodes(&[1, 2]), ..Header::default() };
        let ends = (NodeId(1), NodeId::BROADCAST);
        let out = dsr(&header, Some(&request), NO_NEXT_HEADER, ends, TIMEOUT_OF_FLOWS).expect("a header");
        assert_eq!(out, [59, 0, 0, 12, 1, 10, 0, 2, 10, 0, 0, 5, 10, 0, 0, 2]);
        let header = Header { reply: nodes(&[1, 2, 5]), ..Header::default() };
        let out = dsr(&header, None, NO_NEXT_HEADER, ends, TIMEOUT_OF_FLOWS).expect("a header");
        assert_eq!(out, [59, 0, 0, 12, 2, 9, 0, 10, 0, 0, 2, 10, 0, 0, 5, 224]);
    }

    #[test]
    fn flow_state_by_hand() {
        let header = |flow| Header { route: nodes(&[1, 2]), flow, ..Header::default() };
        let out = |flow| dsr(&header(flow), None, 6, (NodeId(1), NodeId(2)), TIMEOUT_OF_FLOWS);
        assert_eq!(out(FlowState::Follows(3)), Some(vec![6, 0x80, 0, 3]));
        assert_eq!(out(FlowState::FollowsDefault), None);
        let establishes = [48, 0x80, 0, 3, 6, 0, 0, 8, 128, 2, 0, 60, 96, 2, 0, 0];
        assert_eq!(out(FlowState::Establishes(3)), Some(establishes.to_vec()));
    }
}
