//! The border between network layer, TCP and applications.

use super::{Ends, Flow, Sim};
use crate::app;
use crate::packet::{Body, Datagram, Fate, FlowId, NodeId, Packet, PacketId};
use crate::record::totals::{FlowTotals, NodeTotals, Totals};
use crate::tcp::Out;

impl Sim {
    /// A packet has reached its destination.
    pub(super) fn on_delivered_to(&mut self, n: NodeId, id: PacketId) {
        let p = self.slab[id];
        self.slab.end(id, Fate::Delivered);
        let f = p.flow.index();
        let flow = &mut self.flows[f];
        match (&mut flow.ends, p.body) {
            (Ends::Tcp(ends), Body::Data(segment)) => {
                flow.received_bytes += u64::from(p.bytes);
                ends.1.on_segment(&segment, p.hops, self.now, &mut self.tcp_said);
                self.agenda.set(self.slots.receiver(f), ends.1.deadline());
                self.carry_receiver(f);
            }
            (Ends::Tcp(ends), Body::Ack(ack)) => {
                ends.0.on_ack(&ack, p.hops, self.now);
                flow.time.on_event(self.now, false, ends.0.phase());
                self.carry_sender(f);
            }
            (Ends::Udp(books), Body::Datagram(_)) => {
                flow.received_bytes += u64::from(p.bytes);
                books.received += 1;
                books.delay_sum += self.now.since(p.born).0;
                self.recorder.on_delivered(f, 1);
            }
            (_, body) => unreachable!("{body:?} reached {n:?}, which has no use for it"),
        }
    }

    /// A retransmission timer is due.
    pub(super) fn on_sender(&mut self, f: usize) {
        let flow = &mut self.flows[f];
        if let Ends::Tcp(ends) = &mut flow.ends {
            let before = ends.0.timeouts();
            ends.0.on_deadline(self.now);
            flow.time.on_event(self.now, ends.0.timeouts() > before, ends.0.phase());
        }
        self.carry_sender(f);
    }

    /// A held acknowledgement is due.
    pub(super) fn on_receiver(&mut self, f: usize) {
        if let Ends::Tcp(ends) = &mut self.flows[f].ends {
            ends.1.on_deadline(&mut self.tcp_said);
            self.agenda.set(self.slots.receiver(f), ends.1.deadline());
        }
        self.carry_receiver(f);
    }

    /// An application acts.
    pub(super) fn on_application(&mut self, f: usize) {
        let flow = &mut self.flows[f];
        let out = flow.app.on_deadline();
        self.agenda.set(self.slots.app(f), flow.app.deadline());
        match (out, &mut flow.ends) {
            (app::Out::Write { segments }, Ends::Tcp(ends)) => {
                ends.0.write(segments, self.now);
                flow.time.on_event(self.now, false, ends.0.phase());
                self.carry_sender(f);
            }
            (app::Out::Datagram { seq, bytes }, Ends::Udp(books)) => {
                books.sent += 1;
                let (from, to) = (flow.from, flow.to);
                self.send(f, from, to, Body::Datagram(Datagram { seq }), bytes);
            }
            (out, _) => unreachable!("{out:?} does not fit the transport of flow {f}"),
        }
    }

    /// Sends what a TCP sender has said.
    fn carry_sender(&mut self, f: usize) {
        let Flow { from, to, ends, tcp, .. } = &mut self.flows[f];
        let (Ends::Tcp(ends), Some(cfg)) = (ends, tcp) else { return };
        self.agenda.set(self.slots.sender(f), ends.0.deadline());
        let (from, to) = (*from, *to);
        let size = |syn| cfg.segment_bytes(syn);
        let (bytes, syn_bytes) = (size(false), size(true));
        self.tcp_said.extend(ends.0.drain());
        let mut said = std::mem::take(&mut self.tcp_said);
        for out in said.drain(..) {
            if let Out::Segment(segment) = out {
                let bytes = if segment.syn { syn_bytes } else { bytes };
                self.send(f, from, to, Body::Data(segment), bytes);
            }
        }
        self.tcp_said = said;
    }

    /// Sends and delivers what a TCP receiver has said.
    fn carry_receiver(&mut self, f: usize) {
        let flow = &self.flows[f];
        let (from, to) = (flow.to, flow.from);
        let cfg = flow.tcp.as_ref().expect("a TCP receiver has TCP settings");
        let (ack_bytes, block_bytes) = (cfg.ack_bytes.0, cfg.sack_block_bytes.0);
        let mut said = std::mem::take(&mut self.tcp_said);
        for out in said.drain(..) {
            match out {
                Out::Ack(ack) => {
                    let bytes = ack_bytes + block_bytes * ack.sack.len() as u32;
                    self.send(f, from, to, Body::Ack(ack), bytes);
                }
                Out::Deliver { segments } => self.recorder.on_delivered(f, segments),
                Out::Segment(_) => unreachable!("a receiver sends no segments"),
            }
        }
        self.tcp_said = said;
    }

    /// Makes a packet and hands it to the network layer.
    fn send(&mut self, f: usize, from: NodeId, to: NodeId, body: Body, bytes: u32) {
        let id = self.slab.create(Packet {
            body,
            born: self.now,
            bytes,
            source: from,
            destination: to,
            next_hop: NodeId::BROADCAST,
            flow: FlowId(f as u32),
            ttl: self.ttl,
            hops: 0,
        });
        self.route(from, id);
    }

    /// All counters as they stand.
    pub(super) fn totals(&mut self) -> Totals {
        let now = self.now;
        let flows = self.flows.iter_mut().map(|flow| match &mut flow.ends {
            Ends::Tcp(ends) => {
                let (s, r) = (*ends.0.counters(now), ends.1.counters());
                FlowTotals {
                    delivered_packets: r.delivered,
                    received_bytes: flow.received_bytes,
                    packets_sent: s.segments_sent,
                    retransmissions: s.retransmissions,
                    timeouts: s.timeouts,
                    fast_retransmits: s.fast_retransmits,
                    acks_received: s.acks_received,
                    duplicates_received: r.duplicates,
                    rtt_samples: s.rtt_samples,
                    rtt_ns: s.rtt_sum,
                    delay_samples: r.delay_samples,
                    delay_ns: r.delay_sum,
                    window_ns: s.window_time,
                    window_integral: s.window_integral,
                    uses_ns: flow.time.up_to(now),
                }
            }
            Ends::Udp(u) => FlowTotals {
                delivered_packets: u.received,
                received_bytes: flow.received_bytes,
                packets_sent: u.sent,
                delay_samples: u.received,
                delay_ns: u.delay_sum,
                ..FlowTotals::default()
            },
        });
        let flows = flows.collect();
        let nodes = (0..self.nodes.len())
            .map(|i| {
                let (c, r) = (self.stations[i].counters(), self.nodes[i].router.counters());
                NodeTotals::new(c, &self.channel.counters()[i], &r)
            })
            .collect();
        Totals { at: now, flows, nodes, ledger: self.slab.ledger().clone(), losses: self.losses }
    }
}
