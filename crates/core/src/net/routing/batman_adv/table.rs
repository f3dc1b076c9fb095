//! Originators, and the ways to them over neighbors.

use super::quality::{Recent, WINDOW};
use crate::packet::NodeId;
use crate::packet::ogm::{Ogm, TTL};
use crate::unit::{Span, Time};
use std::ops::Range;

/// Largest step of a number that is not taken for a restart of its originator.
const EXPECTED_RANGE: i32 = 65_536;
/// Time after a restart in which another one is not believed.
const RESET_PROTECTION: Span = Span::secs(30);

/// Which copy of a message has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Copy {
    /// The first one.
    First,
    /// One that came over other neighbors before.
    Another,
    /// One that came over this neighbor before.
    Same,
}

/// A node that is not this one.
#[derive(Clone, Debug)]
struct Originator {
    node: NodeId,
    /// Number of its newest message, and TTL of the first copy of that.
    seqno: u32,
    ttl: u8,
    protected_until: Time,
    /// Own messages that the node has repeated, the newest in bit 0.
    echoes: u64,
    router: Option<NodeId>,
    seen: Time,
}

/// A way to an originator over a neighbor.
#[derive(Clone, Debug)]
struct Way {
    originator: NodeId,
    via: NodeId,
    /// Messages of the originator that came over the neighbor, the newest number in bit 0.
    heard: u64,
    recent: Recent,
    /// Average of the qualities.
    tq: u8,
    ttl: u8,
    seen: Time,
}

/// A route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Route {
    pub(super) destination: NodeId,
    pub(super) next_hop: NodeId,
    pub(super) hops: u32,
}

/// Originators, and the ways to them, as a node knows them.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// Sorted by node.
    originators: Vec<Originator>,
    /// Sorted by originator and neighbor.
    ways: Vec<Way>,
}

impl Default for Table {
    fn default() -> Table {
        Table { originators: Vec::with_capacity(16), ways: Vec::with_capacity(64) }
    }
}

impl Table {
    fn place(&self, node: NodeId) -> Result<usize, usize> {
        self.originators.binary_search_by_key(&node, |o| o.node)
    }

    fn get(&self, node: NodeId) -> Option<&Originator> {
        self.place(node).ok().map(|i| &self.originators[i])
    }

    fn find_way(&self, originator: NodeId, via: NodeId) -> Result<usize, usize> {
        self.ways.binary_search_by_key(&(originator, via), |w| (w.originator, w.via))
    }

    fn way(&self, originator: NodeId, via: NodeId) -> Option<&Way> {
        self.find_way(originator, via).ok().map(|i| &self.ways[i])
    }

    /// Places of the ways to an originator.
    fn ways_to(&self, originator: NodeId) -> Range<usize> {
        let begin = self.ways.partition_point(|w| w.originator < originator);
        begin..begin + self.ways[begin..].partition_point(|w| w.originator == originator)
    }

    /// The way to an originator over a neighbor, with a new entry if there is none.
    fn way_entry(&mut self, originator: NodeId, via: NodeId, now: Time) -> &mut Way {
        let i = self.find_way(originator, via).unwrap_or_else(|i| {
            let way = Way { originator, via, heard: 0, recent: Recent::default(), tq: 0, ttl: 0, seen: now };
            self.ways.insert(i, way);
            i
        });
        &mut self.ways[i]
    }

    pub(super) fn clear(&mut self) {
        self.originators.clear();
        self.ways.clear();
    }

    // ---- routes ----

    /// Next hop to a node.
    pub(super) fn router(&self, to: NodeId) -> Option<NodeId> {
        self.get(to)?.router
    }

    /// Average quality of the way to a node over a neighbor; 0: there is none.
    pub(super) fn quality(&self, to: NodeId, via: NodeId) -> u8 {
        self.way(to, via).map_or(0, |w| w.tq)
    }

    /// Average quality of the way in use to a node; 0: there is none.
    pub(super) fn best(&self, to: NodeId) -> u8 {
        self.router(to).map_or(0, |via| self.quality(to, via))
    }

    /// Time of the last message of a node.
    pub(super) fn seen(&self, node: NodeId) -> Option<Time> {
        self.get(node).map(|o| o.seen)
    }

    /// All routes, by destination.
    pub(super) fn routes(&self) -> impl Iterator<Item = Route> + '_ {
        self.originators.iter().filter_map(|o| {
            let next_hop = o.router?;
            let ttl = self.way(o.node, next_hop)?.ttl;
            Some(Route { destination: o.node, next_hop, hops: u32::from(TTL - ttl) + 1 })
        })
    }

    // ---- links ----

    /// An own message was sent: the windows of echoes move on.
    pub(super) fn slide(&mut self) {
        self.originators.iter_mut().for_each(|o| o.echoes <<= 1);
    }

    /// A neighbor has repeated the own message that was sent `age` messages ago.
    pub(super) fn on_echo(&mut self, neighbor: NodeId, age: u32) {
        if age < WINDOW
            && let Ok(i) = self.place(neighbor)
        {
            self.originators[i].echoes |= 1 << age;
        }
    }

    /// Own messages that a neighbor has repeated.
    fn echoed(&self, neighbor: NodeId) -> u32 {
        self.get(neighbor).map_or(0, |o| o.echoes.count_ones())
    }

    /// Own messages that a neighbor has repeated, and messages heard of it; a message of `originator` has come from it.
    pub(super) fn link(&mut self, neighbor: NodeId, originator: NodeId, now: Time) -> (u32, u32) {
        if let Ok(i) = self.place(originator) {
            self.originators[i].seen = now;
        }
        let way = self.way_entry(neighbor, neighbor, now);
        if neighbor == originator {
            way.seen = now;
        }
        let heard = way.heard.count_ones();
        (self.echoed(neighbor), heard)
    }

    // ---- messages ----

    /// Counts a message; `None`: its number is not believed.
    pub(super) fn count(&mut self, ogm: &Ogm, from: NodeId, now: Time) -> Option<Copy> {
        let i = self.place(ogm.originator).unwrap_or_else(|i| {
            let new = Originator {
                node: ogm.originator,
                seqno: ogm.seqno,
                ttl: 0,
                protected_until: Time::ZERO,
                echoes: 0,
                router: None,
                seen: now,
            };
            self.originators.insert(i, new);
            i
        });
        let ways = self.ways_to(ogm.originator);
        let originator = &mut self.originators[i];
        let step = ogm.seqno.wrapping_sub(originator.seqno) as i32;
        let restarts = step <= -(WINDOW as i32) || step >= EXPECTED_RANGE;
        if restarts && !ways.is_empty() {
            if originator.protected_until > now {
                return None;
            }
            originator.protected_until = now + RESET_PROTECTION;
        }
        let mut copy = Copy::First;
        for way in &mut self.ways[ways] {
            let is_from = way.via == from;
            if !restarts && step <= 0 {
                let bit = 1 << -step;
                match (way.heard & bit != 0, is_from) {
                    (true, true) => copy = Copy::Same,
                    (true, false) if copy != Copy::Same => copy = Copy::Another,
                    _ => {}
                }
                way.heard |= if is_from { bit } else { 0 };
            } else {
                let kept = if restarts || step >= WINDOW as i32 { 0 } else { way.heard << step };
                way.heard = kept | u64::from(is_from);
            }
        }
        if restarts || step > 0 {
            originator.seqno = ogm.seqno;
        }
        Some(copy)
    }

    /// Returns true if a message may rank the ways: the first copy, or one of the newest message that has come as far.
    pub(super) fn may_rank(&self, ogm: &Ogm, copy: Copy) -> bool {
        let is_like = |o: &Originator| o.seqno == ogm.seqno && o.ttl <= ogm.ttl.saturating_add(3);
        copy == Copy::First || self.get(ogm.originator).is_some_and(is_like)
    }

    /// Notes the quality of a way, and takes it if it is better than that in use. Ways over which the message has not
    /// come yet get a quality of 0.
    pub(super) fn rank(&mut self, ogm: &Ogm, (from, tq): (NodeId, u8), copy: Copy, now: Time) {
        let to = ogm.originator;
        if copy == Copy::First {
            for i in self.ways_to(to) {
                let way = &mut self.ways[i];
                if way.via != from {
                    way.tq = way.recent.add(0);
                }
            }
        }
        let way = self.way_entry(to, from, now);
        (way.seen, way.ttl) = (now, ogm.ttl);
        way.tq = way.recent.add(tq);
        let fresh = way.tq;
        let Ok(i) = self.place(to) else { return };
        if copy == Copy::First {
            self.originators[i].ttl = ogm.ttl;
        }
        let is_better = match self.originators[i].router {
            None => true,
            Some(router) if router == from => false,
            Some(router) => {
                let used = self.quality(to, router);
                // Among equal ways that with the neighbor which repeats more.
                fresh > used || (fresh == used && self.echoed(from) > self.echoed(router))
            }
        };
        if is_better {
            self.originators[i].router = Some(from);
        }
    }

    /// Forgets ways over which nothing has come for this time; calls `lost` with each destination without another way.
    pub(super) fn purge(&mut self, timeout: Span, now: Time, mut lost: impl FnMut(NodeId)) {
        self.ways.retain(|w| w.seen + timeout > now);
        for i in 0..self.originators.len() {
            let Originator { node, router: Some(router), .. } = self.originators[i] else { continue };
            if self.find_way(node, router).is_err() {
                let usable = self.ways[self.ways_to(node)].iter().filter(|w| w.tq > 0);
                self.originators[i].router = usable.max_by_key(|w| w.tq).map(|w| w.via);
                if self.originators[i].router.is_none() {
                    lost(node);
                }
            }
        }
        self.originators.retain(|o| o.seen + timeout * 2 > now);
    }

    /// Approximate memory [B].
    pub(super) fn memory(&self) -> usize {
        self.originators.capacity() * size_of::<Originator>() + self.ways.capacity() * size_of::<Way>()
    }
}
