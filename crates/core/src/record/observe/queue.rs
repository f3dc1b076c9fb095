//! Lengths of queues, at each change.

use super::Whose;
use super::columns::{table, word_cell};
use crate::packet::NodeId;
use crate::record::note::{Note, QueueId};
use crate::run::Setup;
use crate::unit::Time;
use crate::wlan::edca::{AccessCategory, CATEGORIES};

const WORDS: [&str; CATEGORIES.len()] = {
    let mut words = [""; CATEGORIES.len()];
    let mut i = 0;
    while i < words.len() {
        words[CATEGORIES[i] as usize] = CATEGORIES[i].word();
        i += 1;
    }
    words
};
word_cell!(AccessCategory, &WORDS);

table! {
    /// Length of a queue after a change.
    pub struct Row in Kept {
        /// Time \[s\].
        time_s: Time,
        /// Node of the queue.
        node: NodeId,
        /// Channel of the radio behind the queue; null for the queue of a point-to-point link.
        channel: Option<u32>,
        /// Access category of the queue of a station with EDCA: `background`, `best_effort`, `video` or `voice`; null
        /// for the queue of a station with the DCF, or of a point-to-point link.
        access_category: Option<AccessCategory>,
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
        let Note::Queue { id, packets, bytes } = *note else { return };
        let now = (packets, bytes);
        match self.known.binary_search_by_key(&id, |k| k.0) {
            Ok(i) if self.known[i].1 == now => return,
            Ok(i) => self.known[i].1 = now,
            Err(_) if now.0 == 0 => return,
            Err(i) => self.known.insert(i, (id, now)),
        }
        let (node, channel, access_category, wired_dst) = match id {
            QueueId::Radio(radio, category) => {
                (self.radios.node(radio), Some(self.radios.channel(radio)), category, None)
            }
            QueueId::Link { from, to } => (from, None, None, Some(to)),
        };
        self.rows.push(Row { time_s: at, node, channel, access_category, wired_dst, packets: now.0, bytes });
    }
}
