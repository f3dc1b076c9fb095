//! Where nodes are over time: the legs of their ways, as a file of motion has them.

use super::columns::table;
use crate::packet::NodeId;
use crate::record::note::Note;
use crate::unit::Time;

table! {
    /// A leg of a node.
    pub struct Row in Kept {
        /// When it begins \[s\].
        time_s: Time,
        /// Whose it is.
        node: NodeId,
        /// Where the node is then, along x \[m\].
        x_m: f64,
        /// Along y \[m\].
        y_m: f64,
        /// Where it goes, along x \[m\]; there it rests until its next leg.
        dest_x_m: f64,
        /// Along y \[m\].
        dest_y_m: f64,
        /// How fast \[m/s\]; 0: it rests.
        speed_mps: f64,
    }
}

/// Writes a row whenever a node begins a leg, and one for each at the beginning of the run.
#[derive(Clone, Debug, Default)]
pub struct Positions {
    /// What was written down.
    pub rows: Kept,
}

impl Positions {
    pub(super) fn on(&mut self, note: &Note<'_>) {
        if let Note::Leg { node, leg, to } = *note {
            let to = if leg.moves() { to } else { leg.from };
            self.rows.push(Row {
                time_s: leg.begins,
                node,
                x_m: leg.from.x,
                y_m: leg.from.y,
                dest_x_m: to.x,
                dest_y_m: to.y,
                speed_mps: leg.speed.0,
            });
        }
    }
}
