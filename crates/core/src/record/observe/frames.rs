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

word_cell!(FrameKind, &["rts", "cts", "data", "ack", "block_ack", "block_ack_request", "cf_end", "action"]);

words! {
    /// Outcome of a frame at its intended receiver.
    pub enum Outcome {
        /// The frame was decoded.
        Received = "received",
        /// The frame collided at the receiver with a frame from a sender outside the carrier-sense range of its own
        /// sender.
        HiddenTerminal = "hidden_terminal",
        /// The frame collided at the receiver with a frame from a sender within the carrier-sense range of its own
        /// sender.
        SameSlot = "same_slot",
        /// The receiver was locked on another, stronger frame.
        Captured = "captured",
        /// The receiver was transmitting.
        Transmitting = "transmitting",
        /// The frame was damaged by an error model, or by noise with SINR reception.
        Damaged = "damaged",
        /// The frame was too weak to be decoded, or was not sensed at all, without interference.
        OutOfRange = "out_of_range",
        /// The receiver was switched off, or the sender was switched off before the end of the frame.
        SwitchedOff = "switched_off",
        /// A broadcast; `decoded_by` is the number of nodes that decoded it.
        Broadcast = "broadcast",
    }
}

table! {
    /// A frame.
    pub struct Row in Kept {
        /// Beginning of the transmission \[s\].
        time_s: Time,
        /// Sending node.
        src: NodeId,
        /// Intended receiver; null: broadcast.
        dst: Option<NodeId>,
        /// Channel number.
        channel: u32,
        /// Type of the frame: `rts`, `cts`, `data`, `ack`, `block_ack`, `block_ack_request`, `cf_end`, `action`.
        frame_type: FrameKind,
        /// Size with MAC headers \[B\].
        bytes: u32,
        /// Rate after the preamble \[bit/s\].
        rate_bps: u64,
        /// Time on air, including the preamble \[s\].
        airtime_s: Span,
        /// Duration field: time for which the medium is reserved after the frame \[s\].
        reserved_s: Span,
        /// Number of the first packet in a data frame, as in `packets`; null for other frames.
        packet: Option<u64>,
        /// Number of MPDUs in a data frame, several in an A-MPDU; 0 for other frames.
        mpdus: u32,
        /// Retry bit; of the first MPDU.
        retry: bool,
        /// Outcome at the intended receiver; null: the frame was still on the air when the run ended.
        outcome: Option<Outcome>,
        /// Number of intended receivers that decoded the frame.
        decoded_by: u32,
    }
}

/// Writes a row for each frame when its end has reached all receivers.
#[derive(Clone, Debug)]
pub struct Frames {
    radios: Whose,
    /// Frames on the air with their senders.
    on_air: Vec<(RadioId, Row)>,
    /// Rows of frames that have ended.
    pub(super) rows: Kept,
}

impl Frames {
    pub(super) fn new(setup: &Setup) -> Frames {
        Frames { radios: Whose::new(setup), on_air: Vec::new(), rows: Kept::default() }
    }

    pub(super) fn on(&mut self, at: Time, note: &Note<'_>) {
        match *note {
            Note::FrameBegins { frame, bytes, packet, psdu, .. } => {
                let mpdus = match psdu {
                    _ if frame.kind != FrameKind::Data => 0,
                    Some(psdu) => psdu.count() as u32,
                    None => 1,
                };
                self.begins(at, frame, (bytes, mpdus), packet.and_then(|p| p.1));
            }
            Note::FrameHeard { radio, frame, verdict: Verdict::Decoded, .. }
                if frame.to == radio || frame.to.is_broadcast() =>
            {
                if let Some((_, row)) = self.on_air.iter_mut().find(|f| f.0 == frame.from) {
                    row.decoded_by += 1;
                }
            }
            Note::FrameOver { frame, lost, .. } => {
                let Some(i) = self.on_air.iter().position(|f| f.0 == frame.from) else { return };
                let (_, mut row) = self.on_air.swap_remove(i);
                row.outcome = Some(outcome(frame, lost));
                self.rows.push(row);
            }
            Note::End => self.on_air.drain(..).for_each(|(_, row)| self.rows.push(row)),
            _ => {}
        }
    }

    fn begins(&mut self, at: Time, frame: &Frame, (bytes, mpdus): (u32, u32), packet: Option<u64>) {
        let row = Row {
            time_s: at,
            src: self.radios.node(frame.from),
            dst: (!frame.to.is_broadcast()).then(|| self.radios.node(frame.to)),
            channel: self.radios.channel(frame.from),
            frame_type: frame.kind,
            bytes,
            rate_bps: frame.mode.rate().0,
            airtime_s: frame.airtime,
            reserved_s: frame.duration,
            packet,
            mpdus,
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
        // The frame arrived; its response did not.
        None | Some(Cause::Refused | Cause::ResponseLost) => Outcome::Received,
    }
}
