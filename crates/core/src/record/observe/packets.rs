//! Events of every packet, from its creation to its outcome.

use super::columns::{table, word_cell, words};
use crate::packet::{Body, Fate, FlowId, Happening, NodeId, Reason, Step};
use crate::record::loss::Cause;
use crate::record::note::Note;
use crate::run::Setup;
use crate::unit::Time;
use std::collections::VecDeque;

words! {
    /// Event of a packet at a node.
    pub enum Event {
        /// The source has created the packet.
        Created = "created",
        /// A middlebox has created the packet.
        Injected = "injected",
        /// The node has received the packet over the radio, or has copied a broadcast for another of its radios: a copy
        /// begins.
        Received = "received",
        /// The packet has arrived over a point-to-point link.
        Arrived = "arrived",
        /// The packet was offered to the queue of a radio or of a point-to-point link.
        Queued = "queued",
        /// The packet has left the queue and was passed to the MAC or to the transmitter of the link.
        Dequeued = "dequeued",
        /// The packet has reached its destination, where the application may read it later (`tcp.reader`); at the
        /// sender of a broadcast: the packet was sent.
        Delivered = "delivered",
        /// The next hop has acknowledged its copy, so that the copy of this node is no longer needed.
        Relayed = "relayed",
        /// A middlebox has consumed the packet.
        Absorbed = "absorbed",
        /// The node has dropped the packet.
        Dropped = "dropped",
    }
}

words! {
    /// Types of packets.
    pub enum PacketType {
        /// a TCP data segment
        Data = "tcp_data",
        /// a TCP acknowledgement
        Ack = "tcp_ack",
        /// a UDP datagram
        Datagram = "udp",
        /// an AODV route request
        Rreq = "rreq",
        /// an AODV route reply
        Rrep = "rrep",
        /// an AODV HELLO message
        Hello = "hello",
        /// an AODV route error
        Rerr = "rerr",
        /// a DSDV routing update
        Update = "update",
        /// a Babel packet
        Babel = "babel",
        /// an OLSR packet with HELLO or TC messages
        Olsr = "olsr",
        /// originator messages of batman-adv
        Ogm = "ogm",
        /// a DSR route request
        DsrRequest = "dsr_request",
        /// a DSR route reply
        DsrReply = "dsr_reply",
        /// a DSR route error
        DsrError = "dsr_error",
        /// an ARP request or reply
        Arp = "arp",
        /// a congestion notification of Neighborhood RED
        Notification = "notification",
    }
}

const REASONS: [&str; Reason::ALL.len()] = {
    let mut words = [""; Reason::ALL.len()];
    let mut i = 0;
    while i < words.len() {
        words[i] = Reason::ALL[i].1;
        i += 1;
    }
    words
};
word_cell!(Reason, &REASONS);

const CAUSES: [&str; Cause::ALL.len()] = {
    let mut words = [""; Cause::ALL.len()];
    let mut i = 0;
    while i < words.len() {
        words[i] = Cause::ALL[i].1;
        i += 1;
    }
    words
};
word_cell!(Cause, &CAUSES);

table! {
    /// An event of a packet.
    pub struct Row in Kept {
        /// Time \[s\].
        time_s: Time,
        /// Number of the packet, unique over the run and shared by its copies.
        packet: u64,
        /// Number of the flow; null: none.
        flow: FlowId,
        /// Type: `tcp_data`, `tcp_ack`, `udp`, `rreq`, `rrep`, `hello`, `rerr`, `update`, `babel`, `olsr`,
        /// `ogm`, `dsr_request`, `dsr_reply`, `dsr_error`, `arp`, `notification`.
        packet_type: PacketType,
        /// Number of the segment, datagram or request; for an acknowledgement, the next expected segment.
        sequence: Option<u32>,
        /// Size with the headers of network layer and transport \[B\].
        bytes: u32,
        /// Node that created the packet; for a forwarded message, the node that sent it last.
        src: NodeId,
        /// Destination node; null: broadcast.
        dst: NodeId,
        /// Node of the event.
        node: NodeId,
        /// Event of the packet: see below.
        event: Event,
        /// Next hop, at `queued` and `dequeued`; null: broadcast, or not known yet.
        next_hop: Option<NodeId>,
        /// Reason for the drop, as in the columns of `packet_outcomes`; null in all other rows.
        drop_reason: Option<Reason>,
        /// Cause of the last failed attempt if the drop reason is `retry_limit`; null otherwise.
        retry_cause: Option<Cause>,
        /// Time at which the source of the flow sent the segment or datagram \[s\], also if a middlebox has sent it
        /// again; null: it has no place in the data, or it is of no use to the destination because it has bypassed the
        /// node that splits the connection.
        sent_at_s: Option<Time>,
    }
}

/// Writes a row for every event of a packet.
#[derive(Clone, Debug)]
pub struct Packets {
    /// For each flow of the scenario: true if a node splits its connection.
    split: Vec<bool>,
    /// Packets given up whose end has not been logged yet.
    given_up: VecDeque<(Option<u64>, Cause)>,
    pub(super) rows: Kept,
}

impl Packets {
    pub(super) fn new(setup: &Setup) -> Packets {
        let split = setup.flows.iter().map(|f| f.split.is_some()).collect();
        Packets { split, given_up: VecDeque::new(), rows: Kept::default() }
    }

    pub(super) fn on(&mut self, note: &Note<'_>) {
        match *note {
            Note::GivenUp { number, cause } => self.given_up.push_back((number, cause)),
            Note::Packet(step) => self.on_step(step),
            _ => {}
        }
    }

    fn on_step(&mut self, step: &Step) {
        let p = &step.packet;
        let (packet_type, sequence) = type_and_sequence(&p.body);
        let (event, reason) = match step.happening {
            Happening::Created => (Event::Created, None),
            Happening::Injected => (Event::Injected, None),
            Happening::Received => (Event::Received, None),
            Happening::Arrived => (Event::Arrived, None),
            Happening::Queued => (Event::Queued, None),
            Happening::Dequeued => (Event::Dequeued, None),
            Happening::Ended(Fate::Delivered) => (Event::Delivered, None),
            Happening::Ended(Fate::Relayed) => (Event::Relayed, None),
            Happening::Ended(Fate::Absorbed) => (Event::Absorbed, None),
            Happening::Ended(Fate::Dropped(reason)) => (Event::Dropped, Some(reason)),
        };
        // Packets that are given up and their ends come in the same order.
        let given_up =
            reason == Some(Reason::RetryLimit) && self.given_up.front().is_some_and(|g| g.0 == Some(step.number));
        let cause = if given_up { self.given_up.pop_front().map(|g| g.1) } else { None };
        let leaves = matches!(event, Event::Queued | Event::Dequeued);
        self.rows.push(Row {
            time_s: step.at,
            packet: step.number,
            flow: p.flow,
            packet_type,
            sequence,
            bytes: p.bytes,
            src: p.source,
            dst: p.final_destination,
            node: step.node,
            event,
            next_hop: leaves.then_some(p.next_hop),
            drop_reason: reason,
            retry_cause: cause,
            sent_at_s: self.sent_at(step),
        });
    }

    /// Time at which the source sent the contents of a packet.
    fn sent_at(&self, step: &Step) -> Option<Time> {
        let p = &step.packet;
        match p.body {
            Body::Data(segment) if segment.control.is_none() => {
                let ends = step.happening == Happening::Ended(Fate::Delivered) && step.node == p.final_destination;
                let split = self.split.get(p.flow.index()).is_some_and(|&split| split);
                (!(ends && split) || p.from_split).then_some(segment.born)
            }
            Body::Datagram(_) => Some(p.born),
            _ => None,
        }
    }
}

fn type_and_sequence(body: &Body) -> (PacketType, Option<u32>) {
    match body {
        Body::Data(segment) => (PacketType::Data, Some(segment.seq)),
        Body::Ack(ack) => (PacketType::Ack, Some(ack.next)),
        Body::Datagram(datagram) => (PacketType::Datagram, Some(datagram.seq)),
        Body::Rreq(request) => (PacketType::Rreq, Some(request.id)),
        Body::Rrep(reply) => (if reply.hello { PacketType::Hello } else { PacketType::Rrep }, None),
        Body::Rerr(_) => (PacketType::Rerr, None),
        Body::Update(_) => (PacketType::Update, None),
        Body::Babel(_) => (PacketType::Babel, None),
        Body::Olsr(packet) => (PacketType::Olsr, Some(packet.number.into())),
        Body::Ogm(_) => (PacketType::Ogm, None),
        Body::DsrRequest(request) => (PacketType::DsrRequest, Some(request.id)),
        Body::DsrReply => (PacketType::DsrReply, None),
        Body::DsrError => (PacketType::DsrError, None),
        Body::Arp(_) => (PacketType::Arp, None),
        Body::Notification(_) => (PacketType::Notification, None),
    }
}
