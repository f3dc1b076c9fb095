//! Route requests in progress, and those seen from other nodes.

use super::Config;
use crate::packet::NodeId;
use crate::unit::{Span, Time};

/// A destination for which a route is requested.
#[derive(Clone, Debug)]
pub(super) struct Sought {
    to: NodeId,
    /// Requests since the last reply.
    pub(super) cycles: u32,
    /// Earliest time of the next request.
    pub(super) next_at: Time,
    /// Time at which the neighbors were asked, if the whole network was not asked yet.
    pub(super) neighbors_asked: Option<Time>,
}

/// Request state of a node.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests {
    sought: Vec<Sought>,
    /// Last request number seen of each originator.
    seen: Vec<(NodeId, u32)>,
}

impl Requests {
    pub(super) fn get(&mut self, to: NodeId) -> &mut Sought {
        let i = self.sought.iter().position(|s| s.to == to).unwrap_or_else(|| {
            self.sought.push(Sought { to, cycles: 0, next_at: Time::ZERO, neighbors_asked: None });
            self.sought.len() - 1
        });
        &mut self.sought[i]
    }

    /// Records a request; returns true if it, or a later one of the same node, was seen before.
    pub(super) fn saw(&mut self, originator: NodeId, id: u32) -> bool {
        match self.seen.iter_mut().find(|s| s.0 == originator) {
            Some(s) if id <= s.1 => true,
            Some(s) => {
                s.1 = id;
                false
            }
            None => {
                self.seen.push((originator, id));
                false
            }
        }
    }
}

impl Sought {
    /// Begins another request; returns `false` if there were too many.
    pub(super) fn begin(&mut self, cfg: &Config, now: Time) -> bool {
        if cfg.max_requests.is_some_and(|most| self.cycles >= most) {
            *self = Sought { to: self.to, cycles: 0, next_at: now + cfg.max_request_period, neighbors_asked: None };
            return false;
        }
        let mut wait = cfg.request_period;
        for _ in 0..self.cycles {
            wait = (wait * u64::from(cfg.request_growth)).min(cfg.max_request_period);
        }
        self.cycles = self.cycles.saturating_add(1).min(64);
        self.next_at = now + wait.min(cfg.max_request_period);
        true
    }

    /// Resets the state after a reply.
    pub(super) fn answered(&mut self) {
        *self = Sought { to: self.to, cycles: 0, next_at: Time::ZERO, neighbors_asked: None };
    }

    /// Returns true if the neighbors have not replied in time.
    pub(super) fn neighbors_are_silent(&self, timeout: Span, now: Time) -> bool {
        self.neighbors_asked.is_some_and(|asked| asked + timeout < now)
    }
}
