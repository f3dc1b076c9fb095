//! Every frame on the air.

use super::Whose;
use super::columns::{table, word_cell, words};
use crate::packet::{NodeId, RadioId};
use crate::radio::Verdict;
use crate::record::loss::Cause;
use crate::record::note::Note;
use crate::run::Setup;
use crate::unit::{Span, Time};
use crate::wlan::{Frame, FrameKind};

word_cell!(FrameKind, &["rts", "cts", "data", "ack"]);

words! {
    /// What became of a frame at the node that it was for.
    pub enum Outcome {
        /// It was decoded.
        Received = "received",
        /// Another frame destroyed it there, whose sender its own sender cannot sense.
        HiddenTerminal = "hidden_terminal",
        /// Another frame destroyed it there, whose sender its own sender can sense.
        SameSlot = "same_slot",
        /// The receiver was locked on another frame, which was the stronger one.
        Captured = "captured",
        /// The receiver was transmitting itself.
        Transmitting = "transmitting",
        /// An error model damaged it, or noise where signals add up.
        Damaged = "damaged",
        /// It came too weak to be read, if at all, though nothing disturbed it.
        OutOfRange = "out_of_range",
        /// The receiver was switched off, or the sender before the end of the frame.
        SwitchedOff = "switched_off",
        /// It was for all; `decoded_by` says how many had it.
        Broadcast = "broadcast",
    }
}

table! {
    /// A frame.
    pub struct Row in Kept {
        /// When its sender began to send it \[s\].
        time_s: Time,
        /// Node that sent it.
        sender: NodeId,
        /// Node that it was for; null: all.
        receiver: Option<NodeId>,
        /// Channel on which it was sent.
        channel: u32,
        /// Type: `rts`, `cts`, `data`, `ack`.
        kind: FrameKind,
        /// Size with the headers of the MAC \[B\].
        bytes: u32,
        /// Rate of what follows the preamble \[bit/s\].
        rate_bps: u64,
        /// How long it took, preamble included \[s\].
        air_time_s: Span,
        /// Duration field: for how long it reserved the medium after its end \[s\].
        reserved_s: Span,
        /// Number of the packet in a data frame, as in `packets`; null in others.
        packet: Option<u64>,
        /// Whether its retry bit was set.
        retry: bool,
        /// What became of it at the node that it was for; null: it was still on the air when the run ended.
        outcome: Option<Outcome>,
        /// Nodes that decoded it and that it was for.
        decoded_by: u32,
    }
}

/// Writes a row for each frame when all have heard its end.
#[derive(Clone, Debug)]
pub struct Frames {
    radios: Whose,
    /// The frames on the air, and who sends them.
    on_air: Vec<(RadioId, Row)>,
    /// Those that are over.
    pub(super) rows: Kept,
}

impl Frames {
    pub(super) fn new(setup: &Setup) -> Frames {
        Frames { radios: Whose::new(setup), on_air: Vec::new(), rows: Kept::default() }
    }

    pub(super) fn on(&mut self, at: Time, note: &Note<'_>) {
        match *note {
            Note::FrameBegins { frame, bytes, packet } => self.begins(at, frame, bytes, packet.and_then(|p| p.1)),
            Note::FrameHeard { radio, frame, verdict: Verdict::Decoded }
                if frame.to == radio || frame.to.is_broadcast() =>
            {
                if let Some((_, row)) = self.on_air.iter_mut().find(|f| f.0 == frame.from) {
                    row.decoded_by += 1;
                }
            }
            Note::FrameOver { frame, lost } => {
                let Some(i) = self.on_air.iter().position(|f| f.0 == frame.from) else { return };
                let (_, mut row) = self.on_air.swap_remove(i);
                row.outcome = Some(outcome(frame, lost));
                self.rows.push(row);
            }
            Note::End => self.on_air.drain(..).for_each(|(_, row)| self.rows.push(row)),
            _ => {}
        }
    }

    fn begins(&mut self, at: Time, frame: &Frame, bytes: u32, packet: Option<u64>) {
        let row = Row {
            time_s: at,
            sender: self.radios.node(frame.from),
            receiver: (!frame.to.is_broadcast()).then(|| self.radios.node(frame.to)),
            channel: self.radios.channel(frame.from),
            kind: frame.kind,
            bytes,
            rate_bps: frame.mode.rate().0,
            air_time_s: frame.airtime,
            reserved_s: frame.duration,
            packet,
            retry: frame.retry,
            outcome: None,
            decoded_by: 0,
        };
        self.on_air.push((frame.from, row));
    }
}

fn outcome(frame: &Frame, lost: Option<Cause>) -> Outcome {
    match lost {
        _ if frame.to.is_broadcast() => Outcome::Broadcast,
        Some(Cause::HiddenTerminal) => Outcome::HiddenTerminal,
        Some(Cause::SameSlot) => Outcome::SameSlot,
        Some(Cause::Captured) => Outcome::Captured,
        Some(Cause::Transmitting) => Outcome::Transmitting,
        Some(Cause::Damaged) => Outcome::Damaged,
        Some(Cause::OutOfRange) => Outcome::OutOfRange,
        Some(Cause::SwitchedOff) => Outcome::SwitchedOff,
        // It came.
        None | Some(Cause::Refused | Cause::ResponseLost) => Outcome::Received,
    }
}
