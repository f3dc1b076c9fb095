//! Neighbors that possibly do not receive from this node (RFC 3561, 6.8).

use crate::packet::NodeId;
use crate::unit::Time;

/// Neighbors to which a reply could not be sent, with the end of the time in which their requests are ignored.
#[derive(Clone, Debug, Default)]
pub(super) struct Blacklist(Vec<(NodeId, Time)>);

impl Blacklist {
    #[cold]
    pub(super) fn add(&mut self, neighbor: NodeId, until: Time, now: Time) {
        self.0.retain(|b| b.0 != neighbor && b.1 > now);
        self.0.push((neighbor, until));
    }

    #[inline]
    pub(super) fn has(&self, neighbor: NodeId, now: Time) -> bool {
        self.0.iter().any(|b| b.0 == neighbor && b.1 > now)
    }
}
