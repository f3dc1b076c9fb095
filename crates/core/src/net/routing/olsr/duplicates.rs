//! Messages that a node has seen (RFC 3626, section 3.4).

use crate::packet::NodeId;
use crate::unit::Time;

/// Originator, number, and the time until which the message is remembered, sorted.
#[derive(Clone, Debug, Default)]
pub(super) struct Duplicates(Vec<(NodeId, u16, Time)>);

impl Duplicates {
    fn find(&self, originator: NodeId, number: u16) -> Result<usize, usize> {
        self.0.binary_search_by_key(&(originator, number), |d| (d.0, d.1))
    }

    pub(super) fn has(&self, originator: NodeId, number: u16, now: Time) -> bool {
        self.find(originator, number).is_ok_and(|i| self.0[i].2 > now)
    }

    /// Remembers a message. Forgets all that are due when the list would grow.
    pub(super) fn add(&mut self, originator: NodeId, number: u16, until: Time, now: Time) {
        if self.0.len() == self.0.capacity() {
            self.0.retain(|d| d.2 > now);
            if 4 * self.0.len() >= 3 * self.0.capacity() {
                self.0.reserve(self.0.len().max(64));
            }
        }
        match self.find(originator, number) {
            Ok(i) => self.0[i].2 = until,
            Err(i) => self.0.insert(i, (originator, number, until)),
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Approximate memory [B].
    pub(super) fn memory(&self) -> usize {
        self.0.capacity() * size_of::<(NodeId, u16, Time)>()
    }
}
