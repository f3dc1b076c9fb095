//! Explicit loss notification (Balakrishnan and Katz, Globecom 1998): a node that can tell a link loss from congestion
//! marks the acknowledgements that it forwards. The reaction of the source is `tcp.eln`.

use super::registry::OnPath;
use super::{Counters, Cx, Verdict};
use crate::packet::{Body, Packet, Seq};
use crate::setting::limit::range;
use crate::{keywords, settings};
use std::collections::VecDeque;

keywords! {
    /// Method by which the middlebox detects link losses.
    pub enum Knowledge {
        /// A lost segment that the middlebox has forwarded is lost on the link: the middlebox is before the lossy link.
        Forwarded = "forwarded",
        /// The channel reports every loss on the route to the middlebox, which no real node can know.
        Channel = "channel",
        /// A segment is missing although later ones have arrived: the middlebox is behind the lossy link (ns-2).
        Holes = "holes",
    }
}

settings! {
    /// Explicit loss notification.
    pub struct Config {
        /// Method by which the middlebox detects link losses.
        pub knowledge: Knowledge = Knowledge::Forwarded,
        /// Number of segments beyond the last acknowledgement that are remembered per flow.
        pub memory_segments: u32 = 1024 => range(1, 1_000_000),
    }
}

/// State of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Unknown,
    /// The segment was forwarded; at a middlebox behind the lossy link: it has arrived.
    Passed,
    /// The segment arrived here after later ones; its earlier history is unknown.
    Late,
    /// The segment was lost on a link.
    Lost,
}

#[derive(Clone, Debug, Default)]
struct Flow {
    /// Next segment expected by the receiver, the first in `states`.
    next: Seq,
    states: VecDeque<State>,
    /// All segments below this had been forwarded when duplicate acknowledgements began.
    recover: Seq,
    /// The last acknowledged segment has arrived again, with nothing beyond it: duplicate acknowledgements answer it.
    repeated: bool,
    counters: Counters,
}

impl Flow {
    fn set(&mut self, seq: Seq, state: State, memory: u32) {
        let Some(i) = seq.checked_sub(self.next).filter(|&i| i < memory) else { return };
        if self.states.capacity() == 0 {
            self.states.reserve(memory.min(1 << 16) as usize);
        }
        let i = i as usize;
        if i >= self.states.len() {
            self.states.resize(i + 1, State::Unknown);
        }
        self.states[i] = state;
    }

    fn get(&self, seq: Seq) -> State {
        let i = seq.checked_sub(self.next).map(|i| i as usize);
        i.and_then(|i| self.states.get(i)).copied().unwrap_or(State::Unknown)
    }

    /// One past the highest segment with a known state.
    fn end(&self) -> Seq {
        self.next + self.states.len() as Seq
    }
}

/// A middlebox that marks acknowledgements.
#[derive(Clone, Debug)]
pub struct Eln {
    cfg: Config,
    flows: Vec<Flow>,
}

impl OnPath for Eln {
    type Config = Config;

    fn new(cfg: &Config, flows: usize) -> Eln {
        Eln { cfg: cfg.clone(), flows: vec![Flow::default(); flows] }
    }

    fn kept(cfg: &Config) -> u32 {
        cfg.memory_segments
    }

    fn on_data(&mut self, flow: usize, _packet: &Packet, seq: Seq, _cx: &mut Cx<'_>) -> Verdict {
        self.pass(flow, seq);
        Verdict::Pass
    }

    fn on_ack(&mut self, flow: usize, packet: &mut Packet, next: Seq, _cx: &mut Cx<'_>) -> Verdict {
        if let Body::Ack(ack) = &mut packet.body {
            ack.eln |= self.marks(flow, next);
        }
        Verdict::Pass
    }

    fn on_dropped(&mut self, f: usize, seq: Seq, here: bool, by_link: bool) {
        let state = match self.cfg.knowledge {
            Knowledge::Forwarded if here && !by_link => State::Unknown,
            Knowledge::Channel if by_link => State::Lost,
            Knowledge::Channel => State::Unknown,
            Knowledge::Forwarded | Knowledge::Holes => return,
        };
        self.flows[f].set(seq, state, self.cfg.memory_segments);
    }

    fn counters(&self, flow: usize) -> Counters {
        self.flows[flow].counters
    }
}

impl Eln {
    /// A segment is passed on.
    fn pass(&mut self, f: usize, seq: Seq) {
        let flow = &mut self.flows[f];
        if seq == 0 && flow.next > 0 {
            // The connection was restarted.
            *flow = Flow { states: std::mem::take(&mut flow.states), counters: flow.counters, ..Flow::default() };
            flow.states.clear();
        }
        flow.repeated |= flow.states.is_empty() && seq + 1 == flow.next;
        let late = seq < flow.end() && flow.get(seq) != State::Passed;
        match self.cfg.knowledge {
            // Duplicate acknowledgements of earlier segments are still to come, and must not count as a loss of this
            // one.
            Knowledge::Forwarded if late => flow.set(seq, State::Late, self.cfg.memory_segments),
            Knowledge::Forwarded | Knowledge::Holes => flow.set(seq, State::Passed, self.cfg.memory_segments),
            Knowledge::Channel => {}
        }
    }

    /// Returns true if this acknowledgement gets a notification.
    fn marks(&mut self, f: usize, next: Seq) -> bool {
        let flow = &mut self.flows[f];
        if next < flow.next {
            return false;
        }
        let duplicate = next == flow.next;
        if duplicate {
            if next >= flow.recover {
                flow.recover = flow.end();
            }
        } else {
            let gone = flow.states.len().min((next - flow.next) as usize);
            flow.states.drain(..gone);
            flow.next = next;
            flow.repeated = false;
        }
        let marked = match self.cfg.knowledge {
            // A new acknowledgement below the segments forwarded before the duplicates shows a further hole.
            Knowledge::Forwarded => flow.get(next) == State::Passed && (duplicate || next < flow.recover),
            Knowledge::Channel => flow.get(next) == State::Lost,
            Knowledge::Holes if duplicate => flow.get(next) == State::Unknown && !flow.repeated,
            Knowledge::Holes => flow.get(next) == State::Unknown && !flow.states.is_empty(),
        };
        flow.counters.eln_marks += u64::from(marked);
        marked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eln(knowledge: Knowledge) -> Eln {
        Eln::new(&Config { knowledge, memory_segments: 8 }, 1)
    }

    fn pass(e: &mut Eln, seqs: impl IntoIterator<Item = Seq>) {
        seqs.into_iter().for_each(|s| e.pass(0, s));
    }

    #[test]
    fn forwarded_hole_counts_as_link_loss_before_the_link() {
        let mut e = eln(Knowledge::Forwarded);
        pass(&mut e, 0..7);
        assert!(!e.marks(0, 2));
        assert!(e.marks(0, 2));
        assert!(e.marks(0, 2));
        // Further holes among the segments forwarded before the first duplicate.
        pass(&mut e, [7, 2]);
        assert!(e.marks(0, 4));
        assert!(!e.marks(0, 7), "the last acknowledgement covers all of that");
        // Segment 8 was lost before it arrived here.
        pass(&mut e, [9]);
        assert!(!e.marks(0, 8));
        assert!(!e.marks(0, 8));
        assert_eq!(e.counters(0).eln_marks, 3);
    }

    #[test]
    fn drop_at_the_own_node_counts_as_congestion() {
        let mut e = eln(Knowledge::Forwarded);
        pass(&mut e, 0..4);
        e.on_dropped(0, 1, true, false);
        e.on_dropped(0, 2, false, false);
        e.on_dropped(0, 3, true, true);
        e.marks(0, 1);
        assert!(!e.marks(0, 1));
        pass(&mut e, [1]);
        assert!(!e.marks(0, 1), "duplicates of what was sent before it");
        e.marks(0, 2);
        assert!(e.marks(0, 2), "nobody tells the node of a queue farther on");
        e.marks(0, 3);
        assert!(e.marks(0, 3));
    }

    #[test]
    fn channel_knowledge_marks_every_link_loss() {
        let mut e = eln(Knowledge::Channel);
        pass(&mut e, 0..6);
        e.on_dropped(0, 1, false, true);
        e.on_dropped(0, 3, false, true);
        e.on_dropped(0, 4, true, false);
        assert!(e.marks(0, 1), "a new acknowledgement, too");
        pass(&mut e, [1]);
        assert!(e.marks(0, 1), "duplicates that were on their way when it was sent again");
        e.on_dropped(0, 1, true, false);
        assert!(!e.marks(0, 1), "now congestion has taken it");
        assert!(e.marks(0, 3));
        assert!(!e.marks(0, 4));
    }

    #[test]
    fn any_hole_counts_as_link_loss_behind_the_link() {
        let mut e = eln(Knowledge::Holes);
        pass(&mut e, [0, 1, 2, 5, 6]);
        assert!(!e.marks(0, 1) && !e.marks(0, 2));
        assert!(e.marks(0, 3), "new, but 3 is missing and 5 is there");
        assert!(e.marks(0, 3));
        pass(&mut e, [3]);
        assert!(e.marks(0, 4));
        pass(&mut e, [4]);
        assert!(!e.marks(0, 7));
        assert!(e.marks(0, 7), "a duplicate without a segment beyond it");
        pass(&mut e, [6]);
        assert!(!e.marks(0, 7), "the answer to a segment that came twice");
    }

    #[test]
    fn memory_is_bounded_and_connection_can_restart() {
        let mut e = eln(Knowledge::Forwarded);
        pass(&mut e, 0..100);
        assert_eq!(e.flows[0].states.len(), 8);
        e.marks(0, 50);
        assert!(!e.marks(0, 50));
        pass(&mut e, [0, 1]);
        assert!(!e.marks(0, 1));
        assert!(e.marks(0, 1));
    }
}
