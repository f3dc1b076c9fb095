//! Recorder and observers of a run, and its external flows. No observer changes a result.

use super::external::External;
use super::flows::{Ends, Flow};
use crate::net::queue::Queue;
use crate::net::routing::Router;
use crate::packet::{NodeId, PacketId, PacketPool, RadioId};
use crate::record::Recorder;
use crate::record::capture::Captures;
use crate::record::drops::Drops;
use crate::record::loss::{Cause, Losses};
use crate::record::note::{Note, QueueId};
use crate::record::observe::Observers;
use crate::record::uses::airtime::Airtime;
use crate::run::{RecordedTable, Setup};
use crate::tcp::Sender;
use crate::unit::{Span, Time};
use crate::wlan::edca::Psdu;
use crate::wlan::{Contention, Frame, Timing};

/// The recorder, counters that no layer keeps, and observers. Without observers, a note costs one test.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    pub(super) recorder: Recorder,
    /// Packets that a MAC has given up, by cause.
    pub(super) losses: Losses,
    /// Packets of each flow that were dropped.
    pub(super) drops: Drops,
    /// Observers, if any.
    pub(super) observers: Option<Box<Observers>>,
    /// Airtime accounting, if enabled.
    pub(super) airtime: Option<Box<Airtime>>,
    /// Interval of samples, if any are taken.
    pub(super) sample: Option<Span>,
    /// External flows, if any.
    pub(super) external: Option<Box<External>>,
}

impl Watch {
    /// Creates the recorder and the observers of a run.
    pub(super) fn new(setup: &Setup) -> Watch {
        Watch {
            recorder: Recorder::new(setup),
            losses: Losses::default(),
            drops: Drops::new(setup.flows.len()),
            observers: (!setup.record.is_empty() || setup.capture).then(|| Box::new(Observers::new(setup))),
            airtime: setup.airtime.then(|| Box::new(Airtime::new(setup.interfaces.radios.len()))),
            sample: setup.sample,
            external: External::new(setup),
        }
    }

    /// Returns true if an observer or airtime accounting needs the end of every frame.
    pub(super) fn follows_frames(setup: &Setup) -> bool {
        let of_frames = |table: &RecordedTable| {
            matches!(table, RecordedTable::Frames | RecordedTable::Mpdus | RecordedTable::Heard)
        };
        setup.airtime || setup.capture || setup.record.iter().any(of_frames)
    }

    /// Returns true if an observer or airtime accounting needs the end of every frame at every radio.
    pub(super) fn needs_every_end(setup: &Setup) -> bool {
        setup.airtime || setup.record.contains(&RecordedTable::Heard)
    }

    /// Passes a note to the observers.
    #[inline]
    pub(super) fn note(&mut self, at: Time, note: &Note<'_>) {
        if let Some(observers) = &mut self.observers {
            observers.on(at, note);
        }
    }

    /// Books the airtime of a radio, in this state of contention, up to now. Must precede every call of its station.
    #[cold]
    pub(super) fn book(&mut self, r: RadioId, now: Time, contention: Contention, timing: &Timing) {
        if let Some(air) = &mut self.airtime {
            air.book_until(r, now, contention, timing);
        }
    }

    /// Notes the start of a frame; of a QoS station, with its PSDU.
    pub(super) fn note_begin(
        &mut self,
        at: Time,
        (frame, psdu): (&Frame, Option<&Psdu>),
        timing: &Timing,
        pool: &mut PacketPool,
    ) {
        self.order_packets(pool);
        let Some(observers) = &mut self.observers else { return };
        let packet = frame.packet.map(|id| (&pool[id], pool.number(id)));
        let of_frame = timing.bytes_of(frame.kind, packet.map_or(0, |p| p.0.bytes));
        // A PSDU may have many packets.
        let bytes = psdu.filter(|_| packet.is_some()).map_or(of_frame, |psdu| psdu.bytes);
        observers.on(at, &Note::FrameBegins { frame, bytes, packet, psdu, pool });
    }

    /// Notes that a point-to-point link begins to transmit a packet.
    #[inline]
    pub(super) fn note_departure(
        &mut self,
        at: Time,
        (from, to): (NodeId, NodeId),
        id: PacketId,
        pool: &mut PacketPool,
    ) {
        if self.observers.is_some() {
            self.order_packets(pool);
            let (packet, number) = (&pool[id], pool.number(id));
            self.note(at, &Note::Departure { from, to, packet, number, pool });
        }
    }

    /// Notes that a packet has arrived over a point-to-point link.
    #[inline]
    pub(super) fn note_arrival(&mut self, at: Time, (from, to): (NodeId, NodeId), id: PacketId, pool: &mut PacketPool) {
        if self.observers.is_some() {
            self.order_packets(pool);
            let (packet, number) = (&pool[id], pool.number(id));
            self.note(at, &Note::Arrival { from, to, packet, number, pool });
        }
    }

    /// Notes the events of packets so far ahead of another note, where their order counts: in captures.
    fn order_packets(&mut self, pool: &mut PacketPool) {
        if self.captures().is_some() {
            self.note_packets(pool);
        }
    }

    /// The captures, if any are written.
    pub(super) fn captures(&mut self) -> Option<&mut Captures> {
        self.observers.as_mut()?.captures()
    }

    /// Notes the events of packets since the last call.
    pub(super) fn note_packets(&mut self, pool: &mut PacketPool) {
        if self.observers.is_none() && self.external.is_none() {
            return;
        }
        for step in pool.take_steps().into_iter().flatten() {
            if let Some(observers) = &mut self.observers {
                observers.on(step.at, &Note::Packet(&step));
            }
            if let Some(external) = &mut self.external {
                external.on_step(&step);
            }
        }
    }

    /// Counts a packet that the MAC gave up at the retry limit.
    pub(super) fn count_given_up(&mut self, now: Time, packet: PacketId, cause: Cause, pool: &PacketPool) {
        self.losses.count(pool[packet].measured, pool[packet].body.kind(), cause);
        self.drops.count_cause(&pool[packet], cause);
        if let Some(observers) = &mut self.observers {
            observers.on(now, &Note::GivenUp { number: pool.number(packet), cause });
        }
    }

    /// Notes the state of a sender of flow `f`: at the source, or at the node that splits the connection.
    #[inline]
    pub(super) fn note_sender(&mut self, now: Time, f: usize, flow: &Flow, at_split: bool) {
        if self.observers.is_some() {
            self.note_sender_state(now, f, flow, at_split);
        }
    }

    #[cold]
    fn note_sender_state(&mut self, now: Time, f: usize, flow: &Flow, at_split: bool) {
        let Some(observers) = &mut self.observers else { return };
        let mut note = |node: NodeId, sender: &Sender| {
            observers.on(now, &Note::Sender { flow: f as u32, node, sender });
        };
        match (&flow.ends, &flow.split) {
            (_, Some(split)) if at_split => note(split.node, split.halves.sender()),
            (Ends::Tcp(ends), _) if !at_split => note(flow.from, &ends.sender),
            _ => {}
        }
    }

    /// Returns true if there are observers.
    #[inline]
    pub(super) fn is_observed(&self) -> bool {
        self.observers.is_some()
    }

    /// Notes a change of the queue in front of a link.
    #[inline]
    pub(super) fn note_queue(&mut self, at: Time, id: QueueId, queue: &Queue, pool: &PacketPool) {
        if self.observers.is_some() {
            self.note_queue_length(at, id, queue.len(), queue.bytes(pool));
        }
    }

    /// Notes the packets and bytes that wait in a queue after a change.
    #[cold]
    pub(super) fn note_queue_length(&mut self, at: Time, id: QueueId, packets: usize, bytes: u64) {
        self.note(at, &Note::Queue { id, packets: packets as u32, bytes });
    }

    /// Notes the routes of a node, which may have changed.
    #[inline]
    pub(super) fn note_routes(&mut self, now: Time, node: NodeId, router: &Router) {
        if self.observers.is_some() {
            self.note_router_state(now, node, router);
        }
    }

    #[cold]
    fn note_router_state(&mut self, now: Time, node: NodeId, router: &Router) {
        if router.learns() || now == Time::ZERO {
            self.note(now, &Note::Router { node, router });
        }
    }
}
