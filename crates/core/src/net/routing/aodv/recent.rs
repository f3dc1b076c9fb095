//! The last few requests received by a node, in one cache line.
//!
//! Every node forwards a request once and so receives it once from every neighbor, within milliseconds: nearly all
//! copies are of one of the last few requests. These copies are recognized here, without touching the rest of the
//! router.

use crate::packet::NodeId;
use crate::unit::{Span, Time};

const ROOM: usize = 7;

/// Requests, latest first, all remembered at least until the same instant.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Recent {
    requests: [(NodeId, u32); ROOM],
    /// Earliest time at which one of them may be forgotten.
    until: Time,
}

impl Recent {
    pub(super) fn new() -> Recent {
        Recent { requests: [(NodeId::BROADCAST, 0); ROOM], until: Time::ZERO }
    }

    /// Returns true if a request is among them.
    #[inline]
    pub(super) fn has(&self, originator: NodeId, id: u32, now: Time) -> bool {
        now < self.until && self.requests.iter().fold(false, |found, &r| found | (r == (originator, id)))
    }

    /// Adds a request that is remembered until this instant; expired requests are removed at multiples of the period.
    pub(super) fn add(&mut self, originator: NodeId, id: u32, now: Time, until: Time, period: Option<Span>) {
        if now >= self.until {
            let until = period.map_or(until, |p| Time(until.0.div_ceil(p.0) * p.0));
            *self = Recent { until, ..Recent::new() };
        }
        self.requests.rotate_right(1);
        self.requests[0] = (originator, id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_requests_are_known_until_the_first_may_expire() {
        let mut r = Recent::new();
        assert!(!r.has(NodeId::BROADCAST, 0, Time(0)), "an empty place is no request");
        r.add(NodeId(1), 7, Time(0), Time(100), None);
        r.add(NodeId(2), 7, Time(50), Time(150), None);
        assert!(r.has(NodeId(1), 7, Time(99)) && r.has(NodeId(2), 7, Time(99)));
        assert!(!r.has(NodeId(1), 8, Time(99)));
        assert!(!r.has(NodeId(1), 7, Time(100)) && !r.has(NodeId(2), 7, Time(100)));
        r.add(NodeId(3), 7, Time(120), Time(220), Some(Span(50)));
        assert!(r.has(NodeId(3), 7, Time(249)) && !r.has(NodeId(3), 7, Time(250)));
        assert!(!r.has(NodeId(2), 7, Time(130)), "it may have been forgotten");
    }
}
