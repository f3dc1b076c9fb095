//! External flows: their datagrams under way, the events that their driver has not taken, the timers of endpoints.
//!
//! Like an observer it reads the log of packet events, in which the copies of a packet begin and end. Runs without
//! external flows keep no log for it.

use crate::packet::{Body, Fate, Happening, NodeId, Reason, Step};
use crate::run::external::{Event, MOST_UNDER_WAY};
use crate::run::{FlowSetup, Setup};
use crate::unit::Time;
use std::collections::VecDeque;

/// A datagram from its injection to the end of its last copy.
#[derive(Clone, Debug)]
struct UnderWay {
    tag: u64,
    /// Number of its copies; 0 after its end.
    copies: u32,
    has_left: bool,
    has_arrived: bool,
    /// Node and reason of the last drop of a copy.
    dropped: Option<(NodeId, Reason)>,
}

/// An external flow.
#[derive(Clone, Debug)]
struct Flow {
    source: NodeId,
    destination: NodeId,
    /// Neighbors of the source at the end of a link.
    wired: Vec<NodeId>,
    /// Sequence number of the first datagram of the list.
    first: u32,
    /// From the oldest datagram that is under way to the newest.
    datagrams: VecDeque<UnderWay>,
}

/// External flows of a run.
#[derive(Clone, Debug)]
pub(super) struct External {
    /// All flows of the scenario; `None`: the flow is not external.
    flows: Vec<Option<Flow>>,
    events: Vec<Event>,
    /// Endpoints whose timer is set, in the order of their nodes.
    timers: Vec<(NodeId, Time)>,
}

impl External {
    /// External flows of a run, if there are any.
    pub(super) fn new(setup: &Setup) -> Option<Box<External>> {
        if !setup.flows.iter().any(|f| f.app.is_external()) {
            return None;
        }
        let flow = |f: &FlowSetup| {
            let of_source = setup.links.iter().filter(|link| link.from == f.from);
            f.app.is_external().then(|| Flow {
                source: f.from,
                destination: f.to,
                wired: of_source.map(|link| link.to).collect(),
                first: 0,
                datagrams: VecDeque::new(),
            })
        };
        let flows = setup.flows.iter().map(flow).collect();
        Some(Box::new(External { flows, events: Vec::new(), timers: Vec::new() }))
    }

    /// Memory of datagrams under way and of events \[B\].
    pub(super) fn memory(&self) -> usize {
        let datagrams: usize = self.flows.iter().flatten().map(|f| f.datagrams.capacity()).sum();
        datagrams * size_of::<UnderWay>() + self.events.capacity() * size_of::<Event>()
    }

    /// Returns true if another datagram of a flow may be under way.
    pub(super) fn has_room(&self, flow: usize) -> bool {
        self.flows[flow].as_ref().is_some_and(|f| f.datagrams.len() < MOST_UNDER_WAY as usize)
    }

    /// Notes a datagram of a flow, before the packet is created.
    pub(super) fn begin(&mut self, flow: usize, tag: u64) {
        if let Some(flow) = &mut self.flows[flow] {
            let new = UnderWay { tag, copies: 1, has_left: false, has_arrived: false, dropped: None };
            flow.datagrams.push_back(new);
        }
    }

    /// Reads an event of a packet.
    pub(super) fn on_step(&mut self, step: &Step) {
        let (id, p) = (step.packet.flow, &step.packet);
        let Some(Some(flow)) = self.flows.get_mut(id.index()) else { return };
        let Body::Datagram(number) = p.body else { return };
        let datagram = &mut flow.datagrams[(number.seq - flow.first) as usize];
        let (tag, source, at_source) = (datagram.tag, flow.source, step.node == flow.source);
        let leaves = match step.happening {
            Happening::Dequeued => flow.wired.contains(&p.next_hop),
            Happening::Ended(_) => true,
            _ => false,
        };
        if leaves && at_source && !datagram.has_left {
            datagram.has_left = true;
            self.events.push(Event::Left { flow: id, endpoint: source, tag });
        }
        match step.happening {
            Happening::Received => datagram.copies += 1,
            Happening::Ended(fate) => {
                datagram.copies -= 1;
                match fate {
                    Fate::Delivered => {
                        let copy = std::mem::replace(&mut datagram.has_arrived, true);
                        let (endpoint, sent) = (flow.destination, p.born);
                        let arrived = Event::Arrived { flow: id, endpoint, tag, sent, ecn: p.ecn, hops: p.hops, copy };
                        self.events.push(arrived);
                    }
                    Fate::Dropped(reason) => datagram.dropped = Some((step.node, reason)),
                    Fate::Relayed | Fate::Absorbed => {}
                }
                if datagram.copies == 0 && !datagram.has_arrived {
                    let (node, reason) = datagram.dropped.map_or((p.next_hop, None), |(n, reason)| (n, Some(reason)));
                    self.events.push(Event::Lost { flow: id, endpoint: source, tag, node, reason });
                }
                while flow.datagrams.front().is_some_and(|d| d.copies == 0) {
                    flow.datagrams.pop_front();
                    flow.first += 1;
                }
            }
            _ => {}
        }
    }

    /// Sets the timer of an endpoint; `Time::NEVER` clears it.
    pub(super) fn set_timer(&mut self, endpoint: NodeId, at: Time) {
        self.timers.retain(|timer| timer.0 != endpoint);
        if at != Time::NEVER {
            let place = self.timers.partition_point(|timer| timer.0 < endpoint);
            self.timers.insert(place, (endpoint, at));
        }
    }

    /// Earliest deadline of a timer.
    pub(super) fn deadline(&self) -> Time {
        self.timers.iter().map(|timer| timer.1).min().unwrap_or(Time::NEVER)
    }

    /// Makes events of the timers that are due, in the order of their nodes.
    pub(super) fn expire(&mut self, now: Time) {
        let due = self.timers.extract_if(.., |timer| timer.1 <= now);
        self.events.extend(due.map(|(endpoint, _)| Event::Wake { endpoint }));
    }

    /// Returns true if events wait for the driver.
    pub(super) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Removes and returns the events.
    pub(super) fn take(&mut self) -> std::vec::Drain<'_, Event> {
        self.events.drain(..)
    }
}
