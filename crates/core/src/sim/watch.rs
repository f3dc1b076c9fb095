//! The recorder of a run, and its observers. Nothing that they do changes a result.

use super::air::Mac;
use super::flows::{Ends, Flow};
use crate::net::queue::Queue;
use crate::net::routing::Router;
use crate::packet::{NodeId, PacketId, PacketPool, RadioId};
use crate::record::Recorder;
use crate::record::air_time::AirTime;
use crate::record::loss::{Cause, Losses};
use crate::record::note::{Note, QueueId};
use crate::record::observe::Observers;
use crate::run::{RecordedTable, Setup};
use crate::tcp::Sender;
use crate::unit::{Span, Time};
use crate::wlan::Frame;

/// The recorder, counters that no layer keeps, and observers. Each note costs one test where there are no observers.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    pub(super) recorder: Recorder,
    /// Packets given up, by cause.
    pub(super) losses: Losses,
    /// Observers, if there are any.
    pub(super) observers: Option<Box<Observers>>,
    /// The budgets of air time, if they are asked for.
    pub(super) air_time: Option<Box<AirTime>>,
    /// Interval of samples.
    pub(super) sample: Option<Span>,
}

impl Watch {
    /// Nothing has been recorded.
    pub(super) fn new(setup: &Setup) -> Watch {
        Watch {
            recorder: Recorder::new(setup),
            losses: Losses::default(),
            observers: (!setup.record.is_empty()).then(|| Box::new(Observers::new(setup))),
            air_time: setup.air_time.then(|| Box::new(AirTime::new(setup.interfaces.radios.len()))),
            sample: setup.sample,
        }
    }

    /// Tells if each end of a frame is noted or booked.
    pub(super) fn follows_frames(setup: &Setup) -> bool {
        setup.air_time || setup.record.contains(&RecordedTable::Frames)
    }

    /// Notes something that has happened.
    #[inline]
    pub(super) fn note(&mut self, at: Time, note: &Note<'_>) {
        if let Some(observers) = &mut self.observers {
            observers.on(at, note);
        }
    }

    /// Books the time of a radio up to now, before its station is called.
    #[cold]
    pub(super) fn book(&mut self, r: RadioId, now: Time, mac: &Mac) {
        if let Some(air) = &mut self.air_time {
            air.book_until(r, now, mac.station.contention(), &mac.rules.timing);
        }
    }

    /// A frame goes on the air from the radio of this MAC.
    pub(super) fn note_begin(&mut self, at: Time, frame: &Frame, mac: &Mac, pool: &PacketPool) {
        let Some(observers) = &mut self.observers else { return };
        let packet = frame.packet.map(|id| (&pool[id], pool.number(id)));
        let bytes = mac.rules.timing.bytes_of(frame.kind, packet.map_or(0, |p| p.0.bytes));
        observers.on(at, &Note::FrameBegins { frame, bytes, packet });
    }

    /// Notes what has happened to packets since the last call.
    pub(super) fn note_packets(&mut self, pool: &mut PacketPool) {
        let Some(observers) = &mut self.observers else { return };
        for step in pool.take_steps().into_iter().flatten() {
            observers.on(step.at, &Note::Packet(&step));
        }
    }

    /// Counts a packet that is given up because the last attempt to send it has failed.
    pub(super) fn count_given_up(&mut self, now: Time, packet: PacketId, cause: Cause, pool: &PacketPool) {
        self.losses.count(pool[packet].body.kind(), cause);
        if let Some(observers) = &mut self.observers {
            observers.on(now, &Note::GivenUp { number: pool.number(packet), cause });
        }
    }

    /// A sender of flow `f` has acted: that of the source, or that of the node that splits the connection.
    #[inline]
    pub(super) fn note_sender(&mut self, now: Time, f: usize, flow: &Flow, at_split: bool) {
        if self.observers.is_some() {
            self.tell_sender(now, f, flow, at_split);
        }
    }

    #[cold]
    fn tell_sender(&mut self, now: Time, f: usize, flow: &Flow, at_split: bool) {
        let Some(observers) = &mut self.observers else { return };
        let mut tell = |node: NodeId, sender: &Sender| {
            observers.on(now, &Note::Sender { flow: f as u32, node, sender });
        };
        match (&flow.ends, &flow.split) {
            (_, Some(split)) if at_split => tell(split.node, split.halves.sender()),
            (Ends::Tcp(ends), _) if !at_split => tell(flow.from, &ends.0),
            _ => {}
        }
    }

    /// An interface queue, or that in front of a wire, has changed.
    #[inline]
    pub(super) fn note_queue(&mut self, at: Time, id: QueueId, queue: &Queue, pool: &PacketPool) {
        if self.observers.is_some() {
            self.tell_queue(at, id, queue, pool);
        }
    }

    #[cold]
    fn tell_queue(&mut self, at: Time, id: QueueId, queue: &Queue, pool: &PacketPool) {
        self.note(at, &Note::Queue { id, queue, bytes: queue.bytes(pool) });
    }

    /// The routes of a node may have changed, where the protocol finds routes during the run.
    #[inline]
    pub(super) fn note_routes(&mut self, now: Time, node: NodeId, router: &Router) {
        if self.observers.is_some() {
            self.tell_routes(now, node, router);
        }
    }

    #[cold]
    fn tell_routes(&mut self, now: Time, node: NodeId, router: &Router) {
        if router.learns() || now == Time::ZERO {
            self.note(now, &Note::Router { node, router });
        }
    }
}
