//! Lengths of queues, at each change.

use super::Whose;
use super::columns::table;
use crate::packet::NodeId;
use crate::record::note::{Note, QueueId};
use crate::run::Setup;
use crate::unit::Time;

table! {
    /// Length of a queue after a change.
    pub struct Row in Kept {
        /// Time \[s\].
        time_s: Time,
        /// Node of the queue.
        node: NodeId,
        /// Channel of the radio behind the queue; null for the queue of a point-to-point link.
        channel: Option<u32>,
        /// Receiving node of the point-to-point link behind the queue; null for the queue of a radio.
        wired_dst: Option<NodeId>,
        /// Number of waiting packets.
        packets: u32,
        /// Size of the waiting packets with the headers of network layer and transport \[B\].
        bytes: u64,
    }
}

/// Writes a row whenever the number of waiting packets in a queue has changed. A packet that comes and goes at the same
/// instant has not waited.
#[derive(Clone, Debug)]
pub struct Queues {
    radios: Whose,
    /// Last length of each queue.
    known: Vec<(QueueId, (u32, u64))>,
    pub(super) rows: Kept,
}

impl Queues {
    pub(super) fn new(setup: &Setup) -> Queues {
        Queues { radios: Whose::new(setup), known: Vec::new(), rows: Kept::default() }
    }

    pub(super) fn on(&mut self, at: Time, note: &Note<'_>) {
        let Note::Queue { id, queue, bytes } = *note else { return };
        let now = (queue.len() as u32, bytes);
        match self.known.binary_search_by_key(&id, |k| k.0) {
            Ok(i) if self.known[i].1 == now => return,
            Ok(i) => self.known[i].1 = now,
            Err(_) if now.0 == 0 => return,
            Err(i) => self.known.insert(i, (id, now)),
        }
        let (node, channel, wired_dst) = match id {
            QueueId::Radio(radio) => (self.radios.node(radio), Some(self.radios.channel(radio)), None),
            QueueId::Link { from, to } => (from, None, Some(to)),
        };
        self.rows.push(Row { time_s: at, node, channel, wired_dst, packets: now.0, bytes });
    }
}
