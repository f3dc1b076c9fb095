//! The energy in batteries over time.

use super::columns::table;
use crate::packet::NodeId;
use crate::record::note::Note;
use crate::unit::Time;

table! {
    /// What is left in the battery of a node.
    pub struct Row in Kept {
        /// When \[s\].
        time_s: Time,
        /// Whose battery it is.
        node: NodeId,
        /// Energy left \[J\]; infinite where the battery does not end.
        remaining_j: f64,
    }
}

/// Writes a row for each node at each sample, and when a battery is empty.
#[derive(Clone, Debug, Default)]
pub struct Energy {
    /// What was written down.
    pub rows: Kept,
}

impl Energy {
    pub(super) fn on(&mut self, at: Time, note: &Note<'_>) {
        if let Note::Battery { node, left } = *note {
            self.rows.push(Row { time_s: at, node, remaining_j: left });
        }
    }
}
