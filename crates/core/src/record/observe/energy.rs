//! Energy in batteries over time.

use super::columns::table;
use crate::packet::NodeId;
use crate::record::note::Note;
use crate::unit::Time;

table! {
    /// Energy left in the battery of a node.
    pub struct Row in Kept {
        /// Time \[s\].
        time_s: Time,
        /// Node of the battery.
        node: NodeId,
        /// Energy left \[J\]; null for an unlimited battery.
        remaining_j: f64,
    }
}

/// Writes a row for each node at each sample, and when a battery is empty.
#[derive(Clone, Debug, Default)]
pub struct Energy {
    /// Rows written so far.
    pub rows: Kept,
}

impl Energy {
    pub(super) fn on(&mut self, at: Time, note: &Note<'_>) {
        if let Note::Battery { node, left } = *note {
            self.rows.push(Row { time_s: at, node, remaining_j: left });
        }
    }
}
