//! Route table and source table of Babel (RFC 8966, sections 3.2.5 and 3.2.6).

use super::requests::is_newer;
use super::{INFINITE, roughly};
use crate::packet::NodeId;
use crate::rng::Stream;
use crate::unit::{Span, Time};
use std::ops::Range;

/// Time after which a source without updates counts no more.
const SOURCE_KEPT: Span = Span::secs(200);

/// A route that a neighbor has announced.
#[derive(Clone, Debug)]
pub(super) struct Route {
    pub(super) prefix: NodeId,
    /// Neighbor that announces it, and next hop.
    pub(super) via: NodeId,
    /// Router-id of the origin.
    pub(super) router: NodeId,
    pub(super) seqno: u16,
    /// Metric that the neighbor announces.
    pub(super) refmetric: u16,
    /// Cost of the link to the neighbor.
    pub(super) cost: u16,
    /// Hops, for tables.
    pub(super) hops: u8,
    /// Time of the last update with a finite metric, and how long the route is kept without one.
    pub(super) heard_at: Time,
    pub(super) hold: Span,
    /// Metric that follows the real one slowly, and the time up to which it does.
    pub(super) smoothed: u16,
    pub(super) smoothed_at: Time,
    /// The route is the one in use.
    pub(super) installed: bool,
}

/// Metric of a route whose neighbor announces `refmetric`.
pub(super) fn metric(refmetric: u16, cost: u16) -> u16 {
    refmetric.saturating_add(cost)
}

impl Route {
    pub(super) fn metric(&self) -> u16 {
        metric(self.refmetric, self.cost)
    }

    /// Lets the smoothed metric follow up to now: half of the way in each half-life, in steps of a second. Steps are
    /// randomized, so that nodes do not change their routes at once.
    pub(super) fn smooth(&mut self, half_life: Span, now: Time, rng: &mut Stream) -> u16 {
        let metric = self.metric();
        if half_life == Span::ZERO || metric == INFINITE {
            (self.smoothed, self.smoothed_at) = (metric, now);
            return metric;
        }
        let mut step = |smoothed: u16, share: f64| {
            let way = f64::from(metric) - f64::from(smoothed);
            (f64::from(smoothed) + (way * roughly(1.0, rng) * share).trunc()) as u16
        };
        let is_there = |smoothed: u16| smoothed.abs_diff(metric) < 4;
        while !is_there(self.smoothed) && self.smoothed_at + half_life <= now {
            self.smoothed = step(self.smoothed, 0.5);
            self.smoothed_at += half_life;
        }
        let second = Span::secs(1);
        while !is_there(self.smoothed) && self.smoothed_at + second <= now {
            self.smoothed = step(self.smoothed, libm::exp2(1.0 / half_life.as_secs()) - 1.0);
            self.smoothed_at += second;
        }
        if is_there(self.smoothed) {
            (self.smoothed, self.smoothed_at) = (metric, now);
        }
        self.smoothed
    }
}

/// The best that this node has announced of a source: the feasibility distance.
#[derive(Clone, Debug)]
pub(super) struct Source {
    prefix: NodeId,
    router: NodeId,
    pub(super) seqno: u16,
    pub(super) metric: u16,
    at: Time,
}

/// Routes by prefix and neighbor, and sources by prefix and router-id.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    pub(super) routes: Vec<Route>,
    sources: Vec<Source>,
}

impl Table {
    // ---- routes ----

    /// Places of the routes to a prefix.
    pub(super) fn to(&self, prefix: NodeId) -> Range<usize> {
        let begin = self.routes.partition_point(|r| r.prefix < prefix);
        begin..begin + self.routes[begin..].partition_point(|r| r.prefix == prefix)
    }

    pub(super) fn find(&self, prefix: NodeId, via: NodeId) -> Result<usize, usize> {
        self.routes.binary_search_by_key(&(prefix, via), |r| (r.prefix, r.via))
    }

    /// Place of the route in use.
    pub(super) fn installed(&self, prefix: NodeId) -> Option<usize> {
        self.to(prefix).find(|&i| self.routes[i].installed)
    }

    /// The route in use, if it leads to its destination.
    pub(super) fn up(&self, prefix: NodeId) -> Option<&Route> {
        self.installed(prefix).map(|i| &self.routes[i]).filter(|r| r.metric() < INFINITE)
    }

    // ---- sources ----

    fn source_at(&self, prefix: NodeId, router: NodeId) -> Result<usize, usize> {
        self.sources.binary_search_by_key(&(prefix, router), |s| (s.prefix, s.router))
    }

    pub(super) fn source(&self, prefix: NodeId, router: NodeId) -> Option<&Source> {
        self.source_at(prefix, router).ok().map(|i| &self.sources[i])
    }

    /// Feasibility condition (RFC 8966, section 3.5.1): a route that is accepted cannot close a loop.
    pub(super) fn is_feasible(&self, (prefix, router): (NodeId, NodeId), seqno: u16, metric: u16, now: Time) -> bool {
        let Some(source) = self.source(prefix, router).filter(|s| now.since(s.at) <= SOURCE_KEPT) else { return true };
        metric == INFINITE || is_newer(seqno, source.seqno) || (seqno == source.seqno && metric < source.metric)
    }

    pub(super) fn is_route_feasible(&self, at: usize, now: Time) -> bool {
        let r = &self.routes[at];
        self.is_feasible((r.prefix, r.router), r.seqno, r.refmetric, now)
    }

    /// This node announces a route (RFC 8966, section 3.7.3).
    pub(super) fn announce(&mut self, prefix: NodeId, router: NodeId, seqno: u16, metric: u16, now: Time) {
        if metric == INFINITE {
            return;
        }
        let fresh = Source { prefix, router, seqno, metric, at: now };
        match self.source_at(prefix, router) {
            Err(i) => self.sources.insert(i, fresh),
            Ok(i) => {
                let s = &mut self.sources[i];
                let is_better = is_newer(seqno, s.seqno) || (seqno == s.seqno && metric < s.metric);
                if is_better || now.since(s.at) > SOURCE_KEPT {
                    *s = fresh;
                } else {
                    s.at = now;
                }
            }
        }
    }

    /// Forgets sources that do not count any more.
    pub(super) fn forget_sources(&mut self, now: Time) {
        self.sources.retain(|s| now.since(s.at) <= SOURCE_KEPT);
    }

    /// Approximate memory [B].
    pub(super) fn memory(&self) -> usize {
        self.routes.capacity() * size_of::<Route>() + self.sources.capacity() * size_of::<Source>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    fn at(s: u64) -> Time {
        Time::ZERO + Span::secs(s)
    }

    #[test]
    fn updates_are_feasible_below_what_was_announced() {
        let mut t = Table::default();
        let (to, feasible) = ((NodeId(4), NodeId(4)), |t: &Table, seqno, metric, s| {
            t.is_feasible((NodeId(4), NodeId(4)), seqno, metric, at(s))
        });
        assert!(feasible(&t, 1, 60_000, 0), "nothing was announced");
        t.announce(to.0, to.1, 7, 192, at(10));
        assert!(feasible(&t, 7, 191, 11) && !feasible(&t, 7, 192, 11));
        assert!(feasible(&t, 8, 60_000, 11) && !feasible(&t, 6, 1, 11) && feasible(&t, 6, INFINITE, 11));
        // Worse metrics are announced, the distance stays.
        t.announce(to.0, to.1, 7, 500, at(20));
        assert!(!feasible(&t, 7, 200, 21));
        assert!(!feasible(&t, 7, 200, 220) && feasible(&t, 7, 200, 221), "200 s after the last one");
    }

    #[test]
    fn half_of_the_way_is_made_in_a_half_life() {
        let mut r = Route {
            prefix: NodeId(4),
            via: NodeId(1),
            router: NodeId(4),
            seqno: 1,
            refmetric: 0,
            cost: 256,
            hops: 1,
            heard_at: at(0),
            hold: Span::secs(96),
            smoothed: 768,
            smoothed_at: at(0),
            installed: false,
        };
        // The mean of many, because each step is randomized: 672, 594, 512, 384, 320.
        let mean = |s: u64| {
            let sum: u32 = (0..400)
                .map(|seed| {
                    u32::from(r.clone().smooth(Span::secs(4), at(s), &mut Stream::new(seed, Purpose::Routing, 0)))
                })
                .sum();
            f64::from(sum) / 400.0
        };
        for (s, expected) in [(1, 672.0), (2, 594.0), (4, 512.0), (8, 384.0), (12, 320.0)] {
            assert!((mean(s) - expected).abs() < 4.0, "{} after {s} s", mean(s));
        }
        r.cost = INFINITE;
        assert_eq!(r.smooth(Span::secs(4), at(1), &mut Stream::new(1, Purpose::Routing, 0)), INFINITE);
    }
}
