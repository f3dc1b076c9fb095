//! Interface between network layer, TCP and applications.

use crate::app;
use crate::packet::{Body, Datagram, Ecn, Fate, Fin, Flag, FlowId, NodeId, Packet, PacketId, Reason};
use crate::record::note::Note;
use crate::record::short_flows::Record;
use crate::run::external::HEADER;
use crate::sim::Sim;
use crate::sim::flows::{Ends, Flow};
use crate::sim::timer_numbers::Timer;
use crate::tcp::{Out, Phase};
use crate::unit::Time;

impl Sim {
    /// A packet has reached its destination.
    pub(in crate::sim) fn on_delivered_to(&mut self, n: NodeId, id: PacketId) {
        let p = self.pool[id];
        self.pool.set_context(n, self.now);
        let f = p.flow.index();
        let flow = &mut self.flows.list[f];
        if p.born < flow.since {
            return self.pool.end(id, Fate::Dropped(Reason::FlowOver));
        }
        self.pool.end(id, Fate::Delivered);
        match (&mut flow.ends, p.body) {
            // The receiver of a split connection belongs to the second half and ignores segments of the first.
            (Ends::Tcp(_), Body::Data(_)) if flow.split.is_some() && !p.from_split => {}
            (Ends::Tcp(_), Body::Ack(ack)) if n != flow.from => self.on_split_ack(f, &ack, p.hops, p.born),
            (Ends::Tcp(ends), Body::Data(segment)) => {
                flow.received_bytes += u64::from(p.bytes);
                ends.receiver.on_segment(&segment, p.hops, p.ecn, self.now, &mut self.flows.actions);
                self.timers.set(Timer::Receiver(f), ends.receiver.deadline());
                self.dispatch_receiver(f);
                if segment.is_fin_ack() {
                    self.free_if_done(f);
                }
            }
            (Ends::Tcp(ends), Body::Ack(ack)) => {
                ends.sender.note_sent(p.born);
                ends.sender.on_ack(&ack, p.hops, self.now);
                let phase = ends.sender.phase();
                flow.time.on_event(self.now, phase);
                let all_acked = phase == Phase::ApplicationLimited && ends.sender.gave_up().is_none();
                if all_acked && flow.app.on_all_acked(self.now) {
                    self.timers.set(Timer::App(f), flow.app.deadline());
                }
                self.dispatch_sender(f);
            }
            (Ends::Udp { sink, .. }, Body::Datagram(datagram)) => {
                flow.received_bytes += u64::from(p.bytes);
                if sink.on_datagram(datagram.seq, self.now.since(p.born), p.hops) {
                    if flow.app.is_external() {
                        flow.transfer.pass_datagram(p.bytes - HEADER.0);
                    }
                    self.watch.recorder.on_delivered(f, 1);
                    self.flows.list[f].on_delivery(self.now, &mut self.watch.recorder.short_flows);
                }
            }
            (_, body) => unreachable!("{body:?} reached {n:?}, which cannot process it"),
        }
    }

    /// A node has lost its route to a destination; its TCP senders are notified.
    #[cold]
    pub(in crate::sim) fn on_route_lost(&mut self, n: NodeId, destination: NodeId, anew: bool) {
        if anew {
            self.flows.break_routes(n, Some(destination), &mut self.net.nodes[n.index()], self.now);
        }
        if !self.flows.reports_routes {
            return;
        }
        for (f, flow) in self.flows.list.iter_mut().enumerate() {
            if let (Ends::Tcp(ends), true) = (&mut flow.ends, (flow.from, flow.first_to) == (n, destination)) {
                ends.sender.on_route_lost(self.now);
                self.timers.set(Timer::Sender(f), ends.sender.deadline());
            }
            if let Some(split) = flow.split.as_mut().filter(|s| (s.node, flow.to) == (n, destination)) {
                split.halves.on_route_lost(self.now);
                self.timers.set(Timer::Split(f), split.halves.deadline());
            }
        }
    }

    /// The timer of a TCP sender has expired.
    pub(in crate::sim) fn on_sender(&mut self, f: usize) {
        let flow = &mut self.flows.list[f];
        if let Ends::Tcp(ends) = &mut flow.ends {
            let before = ends.sender.timeouts();
            ends.sender.on_deadline(self.now);
            if ends.sender.timeouts() > before {
                let rebooking = flow.time.on_timeout(self.now, ends.sender.phase());
                self.watch.recorder.rebook(f, &rebooking);
            } else {
                flow.time.on_event(self.now, ends.sender.phase());
            }
        }
        self.dispatch_sender(f);
    }

    /// The timer of a TCP receiver has expired: an acknowledgement, a read, or the FIN is due.
    #[inline(never)]
    pub(in crate::sim) fn on_receiver(&mut self, f: usize) {
        if let Ends::Tcp(ends) = &mut self.flows.list[f].ends {
            ends.receiver.on_deadline(self.now, &mut self.flows.actions);
            self.timers.set(Timer::Receiver(f), ends.receiver.deadline());
        }
        self.dispatch_receiver(f);
        self.free_if_done(f);
    }

    /// A short flow of origin `k` starts.
    #[inline(never)]
    pub(in crate::sim) fn on_arrival_of_transfer(&mut self, k: usize) {
        let f = self.flows.begin_transfer(k, self.now, &self.net, &mut self.watch.recorder);
        let Flow { from, to, .. } = self.flows.list[f];
        let begins = Note::ShortFlow { flow: FlowId(f as u32), generator: k as u32, from, to };
        self.watch.note(self.now, &begins);
        self.timers.make_room(self.flows.list.len());
        self.timers.set(Timer::Arrivals(k), self.flows.generator.deadline(k));
        self.flows.begin_routes(f, &mut self.net.nodes, self.now);
        self.dispatch_sender(f);
    }

    /// The timer of an application has expired.
    #[inline(never)]
    pub(in crate::sim) fn on_application(&mut self, f: usize) {
        let flow = &mut self.flows.list[f];
        let out = flow.app.on_deadline();
        self.timers.set(Timer::App(f), flow.app.deadline());
        if let Some(out) = out {
            self.dispatch_application(f, out);
        }
    }

    /// Dispatches an action of an application.
    pub(in crate::sim) fn dispatch_application(&mut self, f: usize, out: app::Out) {
        if !matches!(out, app::Out::End { .. }) {
            self.begin_transfer(f);
        }
        let flow = &mut self.flows.list[f];
        match (out, &mut flow.ends) {
            (app::Out::Write { segments, missing }, Ends::Tcp(ends)) => {
                let before = ends.sender.written();
                ends.sender.write_whole(segments, missing > 0, self.now);
                // A connection that was given up takes nothing.
                if ends.sender.written() != before {
                    flow.transfer.on_written(ends.sender.written(), missing);
                }
                flow.time.on_event(self.now, ends.sender.phase());
                self.dispatch_sender(f);
            }
            (app::Out::WriteInPieces { bytes, size }, Ends::Tcp(ends)) => {
                ends.sender.write_in_pieces(bytes, size, self.now);
                flow.time.on_event(self.now, ends.sender.phase());
                self.dispatch_sender(f);
            }
            (app::Out::Message { segments, missing }, Ends::Tcp(ends)) => {
                let before = ends.sender.written();
                ends.sender.write_whole(Some(segments), missing > 0, self.now);
                if ends.sender.written() != before {
                    let bytes =
                        u64::from(segments) * u64::from(ends.sender.connection().cfg().mss.0) - u64::from(missing);
                    let (from, to, start) = (flow.from.0, flow.to.0, self.now);
                    let record = Record { flow: Some(f as u32), from, to, start, bytes: bytes as u32, ..Record::NEW };
                    let number = self.watch.recorder.short_flows.begin(record);
                    let before = (ends.sender.retransmissions(), ends.sender.timeouts());
                    flow.transfer.on_written(ends.sender.written(), missing);
                    flow.transfer.on_message(ends.sender.written(), number, before);
                }
                flow.time.on_event(self.now, ends.sender.phase());
                self.dispatch_sender(f);
            }
            (app::Out::Datagram { seq, bytes }, Ends::Udp { sent, .. }) => {
                *sent += 1;
                let (from, to, dscp) = (flow.from, flow.to, flow.dscp);
                self.send(f, from, to, Body::Datagram(Datagram { seq, dscp }), bytes, Ecn::NotEct);
            }
            (app::Out::End { takes_back }, _) => {
                flow.on_end_of_application(takes_back, self.now);
                if let (Ends::Tcp(ends), true) = (&flow.ends, takes_back) {
                    self.timers.set(Timer::Sender(f), ends.sender.deadline());
                }
            }
            (out, _) => unreachable!("{out:?} does not fit the transport of flow {f}"),
        }
        self.close_if_over(f);
    }

    /// The application of a flow sends, for the first time since its start perhaps.
    #[inline]
    pub(in crate::sim) fn begin_transfer(&mut self, f: usize) {
        let flow = &mut self.flows.list[f];
        if flow.transfer.began == Time::NEVER {
            flow.transfer.begin(self.now);
            self.flows.begin_routes(f, &mut self.net.nodes, self.now);
        }
    }

    /// Closes the connection of an application that has written everything (`tcp.fin`).
    fn close_if_over(&mut self, f: usize) {
        let flow = &mut self.flows.list[f];
        if let Ends::Tcp(ends) = &mut flow.ends
            && flow.app.is_over()
            && ends.sender.finish(self.now)
        {
            self.dispatch_sender(f);
        }
    }

    /// Dispatches the actions of a TCP sender.
    pub(in crate::sim) fn dispatch_sender(&mut self, f: usize) {
        let flow = &mut self.flows.list[f];
        self.watch.note_sender(self.now, f, flow, false);
        let Flow { from, ends, .. } = flow;
        let from = *from;
        let Ends::Tcp(ends) = ends else { return };
        self.timers.set(Timer::Sender(f), ends.sender.deadline());
        self.flows.actions.extend(ends.sender.drain());
        self.dispatch_tcp(f, from);
        self.free_if_done(f);
    }

    /// Frees the entry of a short flow that is over.
    fn free_if_done(&mut self, f: usize) {
        if self.flows.is_done_with(f) {
            self.flows.free_entry(f, self.now, &self.net.boxes, &mut self.watch.recorder);
            self.timers.set(Timer::Sender(f), Time::NEVER);
            self.timers.set(Timer::Receiver(f), Time::NEVER);
        }
    }

    /// Dispatches the actions of a TCP receiver.
    fn dispatch_receiver(&mut self, f: usize) {
        self.dispatch_tcp(f, self.flows.list[f].to);
    }

    /// Dispatches the actions of a TCP connection at a node: one of its ends, or the node that splits it.
    pub(in crate::sim) fn dispatch_tcp(&mut self, f: usize, at: NodeId) {
        let Flow { from, to, ends: Ends::Tcp(ends), split, .. } = &self.flows.list[f] else { return };
        let first = ends.sender.connection().cfg();
        let (from, to) = (*from, *to);
        // A segment or an acknowledgement belongs to the half that begins or ends at this node.
        let split = split.as_ref().map(|s| (s.node, &*s.tcp));
        let (ends_at, second) = split.unwrap_or((from, first));
        let (data, ack) = if at == from { (first, first) } else { (second, if at == to { second } else { first }) };
        let syn = data.starts_with_syn();
        let data_bytes = [data.segment_bytes(false), data.segment_bytes(true)];
        let (ack_bytes, block_bytes) = (ack.ack_size.0, ack.sack_block_size.0);
        let acks_are_ect = ack.ecn.enabled && ack.ecn.acks;
        let acks_to = if at == to { ends_at } else { from };
        let mut actions = std::mem::take(&mut self.flows.actions);
        for out in actions.drain(..) {
            match out {
                Out::Segment(mut segment) => {
                    let ecn = if segment.ect { Ecn::Ect } else { Ecn::NotEct };
                    let bytes = if segment.control.is_some() || segment.fin == Fin::Bare {
                        data_bytes[1]
                    } else {
                        segment.missing = self.flows.list[f].transfer.missing_of(&segment, syn);
                        data_bytes[usize::from(segment.syn)] - segment.missing
                    };
                    self.send(f, at, to, Body::Data(segment), bytes, ecn);
                }
                Out::Ack(ack) => {
                    let bytes = ack_bytes + block_bytes * ack.sack.len() as u32;
                    let ecn = if acks_are_ect && ack.flag != Flag::Syn { Ecn::Ect } else { Ecn::NotEct };
                    self.send(f, at, acks_to, Body::Ack(ack), bytes, ecn);
                }
                Out::Deliver { segments } => {
                    self.watch.recorder.on_delivered(f, segments);
                    self.flows.list[f].on_delivery(self.now, &mut self.watch.recorder.short_flows);
                }
            }
        }
        self.flows.actions = actions;
    }

    /// Creates a packet and passes it to the network layer.
    pub(in crate::sim) fn send(&mut self, f: usize, from: NodeId, to: NodeId, body: Body, bytes: u32, ecn: Ecn) {
        let from_split = self.timers.has_splits() && from != self.flows.list[f].from && from != self.flows.list[f].to;
        self.pool.set_context(from, self.now);
        let id = self.pool.create(Packet {
            flow: FlowId(f as u32),
            ttl: self.net.cfg.ttl,
            ecn,
            from_split,
            ..Packet::new(body, bytes, from, to, self.now)
        });
        self.route(from, id);
    }
}
