//! Neighbours that possibly do not receive from this node (RFC 3561, 6.8).

use crate::packet::NodeId;
use crate::unit::Time;

/// Neighbours to which a reply could not be sent, with the end of the time in which their requests are ignored.
#[derive(Clone, Debug, Default)]
pub(super) struct Blacklist(Vec<(NodeId, Time)>);

impl Blacklist {
    #[cold]
    pub(super) fn add(&mut self, neighbour: NodeId, until: Time, now: Time) {
        self.0.retain(|b| b.0 != neighbour && b.1 > now);
        self.0.push((neighbour, until));
    }

    #[inline]
    pub(super) fn has(&self, neighbour: NodeId, now: Time) -> bool {
        self.0.iter().any(|b| b.0 == neighbour && b.1 > now)
    }
}
