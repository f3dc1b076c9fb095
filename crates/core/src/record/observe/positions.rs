//! Positions of nodes over time: their movement segments, as in a movement file.

use super::columns::table;
use crate::packet::NodeId;
use crate::record::note::Note;
use crate::unit::Time;

table! {
    /// A movement segment of a node.
    pub struct Row in Kept {
        /// Beginning of the segment \[s\].
        time_s: Time,
        /// Number of the node.
        node: NodeId,
        /// Position of the node at that time: x \[m\].
        x_m: f64,
        /// Position of the node at that time: y \[m\].
        y_m: f64,
        /// Destination: x \[m\]. The node stays there until its next segment.
        dest_x_m: f64,
        /// Destination: y \[m\].
        dest_y_m: f64,
        /// Speed \[m/s\]; 0: the node pauses.
        speed_mps: f64,
    }
}

/// Writes a row whenever a node begins a segment, and one per node at the beginning of the run.
#[derive(Clone, Debug, Default)]
pub struct Positions {
    /// Rows written so far.
    pub rows: Kept,
}

impl Positions {
    pub(super) fn on(&mut self, note: &Note<'_>) {
        if let Note::Movement { node, segment, to } = *note {
            let to = if segment.moves() { to } else { segment.from };
            self.rows.push(Row {
                time_s: segment.begins,
                node,
                x_m: segment.from.x,
                y_m: segment.from.y,
                dest_x_m: to.x,
                dest_y_m: to.y,
                speed_mps: segment.speed.0,
            });
        }
    }
}
