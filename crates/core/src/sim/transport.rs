//! The border between network layer, TCP and applications.

use super::slots::Slot;
use super::{Ends, Flow, Mac, Sim};
use crate::app;
use crate::packet::{Body, Datagram, Ecn, Fate, FlowId, HeaderId, NodeId, Packet, PacketId, RadioId, Reason};
use crate::record::rates::Rates;
use crate::record::totals::{FlowTotals, LocalTotals, NodeTotals, RadioTotals, Totals};
use crate::run::{Setup, Transport};
use crate::tcp::{Out, Sender};
use crate::unit::Time;

/// Whether a sender wants to hear of broken routes.
pub(super) fn tells_of_routes(setup: &Setup) -> bool {
    let of_flow = |t: &Transport| matches!(t, Transport::Tcp(cfg) if cfg.elfn.enabled);
    setup.flows.iter().any(|f| of_flow(&f.transport) || f.split.as_ref().is_some_and(|s| s.tcp.elfn.enabled))
        || setup.arrivals.iter().any(|a| a.tcp.elfn.enabled)
}

impl Sim {
    /// A packet has reached its destination.
    pub(super) fn on_delivered_to(&mut self, n: NodeId, id: PacketId) {
        let p = self.slab[id];
        self.slab.here(n, self.now);
        let f = p.flow.index();
        let flow = &mut self.flows[f];
        if p.born < flow.since {
            return self.slab.end(id, Fate::Dropped(Reason::FlowOver));
        }
        self.slab.end(id, Fate::Delivered);
        match (&mut flow.ends, p.body) {
            // With a connection that is split, only what comes over its second half means something here.
            (Ends::Tcp(_), Body::Data(_)) if flow.split.is_some() && !p.halfway => {}
            (Ends::Tcp(_), Body::Ack(ack)) if n != flow.from => self.on_split_ack(f, &ack, p.hops),
            (Ends::Tcp(ends), Body::Data(segment)) => {
                flow.received_bytes += u64::from(p.bytes);
                ends.1.on_segment(&segment, p.hops, p.ecn, self.now, &mut self.tcp_said);
                self.timers.set(Slot::Receiver(f), ends.1.deadline());
                self.carry_receiver(f);
            }
            (Ends::Tcp(ends), Body::Ack(ack)) => {
                ends.0.on_ack(&ack, p.hops, self.now);
                flow.time.on_event(self.now, ends.0.phase());
                self.carry_sender(f);
            }
            (Ends::Udp { sink, .. }, Body::Datagram(datagram)) => {
                flow.received_bytes += u64::from(p.bytes);
                if sink.on_datagram(datagram.seq, self.now.since(p.born), p.hops) {
                    self.recorder.on_delivered(f, 1);
                    self.on_delivery(f);
                }
            }
            (_, body) => unreachable!("{body:?} reached {n:?}, which has no use for it"),
        }
    }

    /// The route from a node to a destination is broken: its TCP senders are told.
    #[cold]
    pub(super) fn on_route_lost(&mut self, n: NodeId, destination: NodeId, anew: bool) {
        if anew {
            self.break_routes(n, Some(destination));
        }
        if !self.tells_of_routes {
            return;
        }
        for (f, flow) in self.flows.iter_mut().enumerate() {
            if let (Ends::Tcp(ends), true) = (&mut flow.ends, (flow.from, flow.first_to) == (n, destination)) {
                ends.0.on_route_lost(self.now);
                self.timers.set(Slot::Sender(f), ends.0.deadline());
            }
            if let Some(split) = flow.split.as_mut().filter(|s| (s.node, flow.to) == (n, destination)) {
                split.halves.on_route_lost(self.now);
                self.timers.set(Slot::Split(f), split.halves.deadline());
            }
        }
    }

    /// A retransmission timer is due.
    pub(super) fn on_sender(&mut self, f: usize) {
        let flow = &mut self.flows[f];
        if let Ends::Tcp(ends) = &mut flow.ends {
            let before = ends.0.timeouts();
            ends.0.on_deadline(self.now);
            if ends.0.timeouts() > before {
                let rebooking = flow.time.on_timeout(self.now, ends.0.phase());
                self.recorder.rebook(f, &rebooking);
            } else {
                flow.time.on_event(self.now, ends.0.phase());
            }
        }
        self.carry_sender(f);
    }

    /// The run ends here: flows that can do nothing more until their retransmission timers expire have waited for that since
    /// their last event, as far as can be known.
    pub(super) fn book_open_waits(&mut self) {
        let inside = self.slab.flows_inside(self.pool.first);
        for (f, inside) in inside.into_iter().enumerate() {
            if !inside && self.waits_for_timeout(f) {
                let rebooking = self.flows[f].time.waits();
                self.recorder.rebook(f, &rebooking);
            }
        }
    }

    /// Tells if only a timeout is left to happen to a flow of which no packet is under way.
    fn waits_for_timeout(&self, f: usize) -> bool {
        let Flow { ends: Ends::Tcp(ends), app, split, .. } = &self.flows[f] else { return false };
        let timer = ends.0.deadline();
        ends.0.awaits_timeout()
            && timer < app.deadline()
            && ends.1.deadline() == Time::NEVER
            && split.as_ref().is_none_or(|s| s.halves.deadline() == Time::NEVER)
            && self.boxes.are_quiet()
    }

    /// A held acknowledgement is due.
    #[inline(never)]
    pub(super) fn on_receiver(&mut self, f: usize) {
        if let Ends::Tcp(ends) = &mut self.flows[f].ends {
            ends.1.on_deadline(&mut self.tcp_said);
            self.timers.set(Slot::Receiver(f), ends.1.deadline());
        }
        self.carry_receiver(f);
    }

    /// An application acts.
    #[inline(never)]
    pub(super) fn on_application(&mut self, f: usize) {
        let flow = &mut self.flows[f];
        let out = flow.app.on_deadline();
        self.timers.set(Slot::App(f), flow.app.deadline());
        if let Some(out) = out {
            self.carry_application(f, out);
        }
    }

    /// Carries out what an application says.
    pub(super) fn carry_application(&mut self, f: usize, out: app::Out) {
        let flow = &mut self.flows[f];
        let says_more = !matches!(out, app::Out::End { .. });
        if says_more && flow.transfer.began == Time::NEVER {
            flow.transfer.begin(self.now);
            self.begin_routes(f);
        }
        let flow = &mut self.flows[f];
        match (out, &mut flow.ends) {
            (app::Out::Write { segments, missing }, Ends::Tcp(ends)) => {
                let before = ends.0.written();
                ends.0.write(segments, self.now);
                // A connection that was given up takes nothing.
                if ends.0.written() != before {
                    flow.transfer.on_written(ends.0.written(), missing);
                }
                flow.time.on_event(self.now, ends.0.phase());
                self.carry_sender(f);
            }
            (app::Out::Datagram { seq, bytes }, Ends::Udp { sent, .. }) => {
                *sent += 1;
                let (from, to) = (flow.from, flow.to);
                self.send(f, from, to, Body::Datagram(Datagram { seq }), bytes, Ecn::NotEct);
            }
            (app::Out::End { takes_back }, _) => self.on_end_of_application(f, takes_back),
            (out, _) => unreachable!("{out:?} does not fit the transport of flow {f}"),
        }
    }

    /// Sends what a TCP sender has said.
    pub(super) fn carry_sender(&mut self, f: usize) {
        self.note_sender(f, false);
        let Flow { from, ends, .. } = &mut self.flows[f];
        let from = *from;
        let Ends::Tcp(ends) = ends else { return };
        self.timers.set(Slot::Sender(f), ends.0.deadline());
        self.tcp_said.extend(ends.0.drain());
        self.carry_tcp(f, from);
        if self.is_done_with(f) {
            self.free_entry(f);
        }
    }

    /// Sends and delivers what a TCP receiver has said.
    fn carry_receiver(&mut self, f: usize) {
        self.carry_tcp(f, self.flows[f].to);
    }

    /// Sends and delivers what has been said at a node of a TCP connection: at one of its ends, or where it is split.
    pub(super) fn carry_tcp(&mut self, f: usize, at: NodeId) {
        let Flow { from, to, ends: Ends::Tcp(ends), split, .. } = &self.flows[f] else { return };
        let first = ends.0.connection().cfg();
        let (from, to) = (*from, *to);
        // A segment or an acknowledgement belongs to the half of which this node is the near end.
        let halfway = split.as_ref().map(|s| (s.node, &*s.tcp));
        let (ends_at, second) = halfway.unwrap_or((from, first));
        let (data, ack) = if at == from { (first, first) } else { (second, if at == to { second } else { first }) };
        let syn = data.starts_with_syn();
        let data_bytes = [data.segment_bytes(false), data.segment_bytes(true)];
        let (ack_bytes, block_bytes) = (ack.ack_bytes.0, ack.sack_block_bytes.0);
        let acks_are_ect = ack.ecn.enabled && ack.ecn.acks;
        let acks_to = if at == to { ends_at } else { from };
        let mut said = std::mem::take(&mut self.tcp_said);
        for out in said.drain(..) {
            match out {
                Out::Segment(segment) => {
                    let ecn = if segment.ect { Ecn::Ect } else { Ecn::NotEct };
                    let bytes = if segment.probe {
                        data_bytes[1]
                    } else {
                        data_bytes[usize::from(segment.syn)] - self.flows[f].transfer.missing_of(&segment, syn)
                    };
                    self.send(f, at, to, Body::Data(segment), bytes, ecn);
                }
                Out::Ack(ack) => {
                    let bytes = ack_bytes + block_bytes * ack.sack.len() as u32;
                    let ecn = if acks_are_ect && !ack.syn { Ecn::Ect } else { Ecn::NotEct };
                    self.send(f, at, acks_to, Body::Ack(ack), bytes, ecn);
                }
                Out::Deliver { segments } => {
                    self.recorder.on_delivered(f, segments);
                    self.on_delivery(f);
                }
            }
        }
        self.tcp_said = said;
    }

    /// Makes a packet and hands it to the network layer.
    fn send(&mut self, f: usize, from: NodeId, to: NodeId, body: Body, bytes: u32, ecn: Ecn) {
        let halfway = self.timers.has_splits() && from != self.flows[f].from && from != self.flows[f].to;
        self.slab.here(from, self.now);
        let id = self.slab.create(Packet {
            body,
            born: self.now,
            bytes,
            overhead: 0,
            source: from,
            destination: to,
            goal: to,
            next_hop: NodeId::BROADCAST,
            flow: FlowId(f as u32),
            ttl: self.ttl,
            hops: 0,
            ecn,
            urgent: false,
            tried: false,
            halfway,
            header: HeaderId::NONE,
        });
        self.route(from, id);
    }

    /// The counters of a flow as they stand.
    pub(super) fn flow_totals(&mut self, f: usize) -> FlowTotals {
        let (now, boxes) = (self.now, &self.boxes);
        let flow = &mut self.flows[f];
        let (route_breaks, route_ns, no_route_ns) = flow.routes.up_to(now);
        match &mut flow.ends {
            Ends::Tcp(ends) => {
                let (s, r) = (*ends.0.counters(now), ends.1.counters());
                FlowTotals {
                    delivered_packets: r.delivered,
                    delivered_bytes: flow.transfer.bytes(r.delivered),
                    received_bytes: flow.received_bytes,
                    packets_sent: s.segments_sent,
                    retransmissions: s.retransmissions,
                    probes: s.probes,
                    timeouts: s.timeouts,
                    timeouts_after_ecn_cut: s.timeouts_after_ecn_cut,
                    fast_retransmits: s.fast_retransmits,
                    ecn_cuts: s.ecn_cuts,
                    marks_received: r.marked,
                    acked_packets: ends.0.acknowledged(),
                    acks_received: s.acks_received,
                    duplicates_received: r.duplicates,
                    local: LocalTotals::new(&boxes.counters(f), flow.split.as_ref().map(|s| s.halves.sender())),
                    rtt_samples: s.rtt_samples,
                    rtt_ns: s.rtt_sum,
                    delay_samples: r.delay_samples,
                    delay_ns: r.delay_sum,
                    copies_received: r.segments_received,
                    copies_delay_ns: r.copies_delay_sum,
                    copies_hops: r.hops_sum,
                    window_ns: s.window_time,
                    window_integral: s.window_integral,
                    uses_ns: flow.time.up_to(now),
                    route_breaks,
                    route_ns,
                    no_route_ns,
                    gave_up: [Some(&ends.0), flow.split.as_ref().map(|s| s.halves.sender())]
                        .into_iter()
                        .flatten()
                        .filter_map(Sender::gave_up)
                        .min(),
                    began: flow.transfer.began(),
                    completed: flow.transfer.completed(),
                }
            }
            Ends::Udp { sent, sink } => {
                let s = sink.counters();
                FlowTotals {
                    delivered_packets: s.delivered,
                    delivered_bytes: flow.transfer.bytes(s.delivered),
                    received_bytes: flow.received_bytes,
                    packets_sent: *sent,
                    duplicates_received: s.duplicates,
                    delay_samples: s.delivered,
                    delay_ns: s.delay_sum,
                    copies_received: s.delivered + s.duplicates,
                    copies_delay_ns: s.copies_delay_sum,
                    copies_hops: s.hops_sum,
                    route_breaks,
                    route_ns,
                    no_route_ns,
                    began: flow.transfer.began(),
                    completed: flow.transfer.completed(),
                    ..FlowTotals::default()
                }
            }
        }
    }

    /// All counters as they stand.
    pub(super) fn totals(&mut self) -> Totals {
        let flows = (0..self.pool.first).map(|f| self.flow_totals(f)).collect();
        let transfers = self.transfer_totals();
        let now = self.now;
        let mut nodes: Vec<NodeTotals> = self
            .nodes
            .iter()
            .map(|node| NodeTotals { routing: node.router.counted(), ..NodeTotals::default() })
            .collect();
        for (Mac { station, .. }, r) in self.macs.iter().zip((0..).map(RadioId)) {
            let radio = self.channel.counters(r);
            let at_radio = RadioTotals::new(
                station.counters(),
                radio,
                &self.ports.queues[r.index()],
                self.channel.neighbour_changes(r),
            );
            nodes[self.ports.node(r).index()].radio.add(&at_radio);
        }
        self.wires.add_marks(&mut nodes);
        if let Some(admission) = &self.admission {
            admission.add_marks(&mut nodes, &self.ports);
        }
        let links = self.wires.totals(now);
        let contention = self.macs.iter().map(|m| (m.station.contention(), m.rules.timing.eifs));
        let air = self.air.as_mut().map_or_else(Vec::new, |air| air.up_to(now, contention));
        let batteries = self.batteries.as_ref().map_or_else(Vec::new, |b| b.totals(now));
        let stations = self.macs.iter().zip((0..).map(RadioId));
        let rates =
            stations.flat_map(|(m, r)| m.station.tallies().map(move |(to, mode, kind, n)| (r, to, kind, mode, n)));
        let rates = Rates::new(rates);
        let ledger = self.slab.ledger().clone();
        Totals { at: now, flows, transfers, nodes, air, batteries, links, rates, ledger, losses: self.losses }
    }
}
