//! Every frame at every radio that was locked on it.

use super::Whose;
use super::columns::{table, words};
use crate::packet::{NodeId, RadioId};
use crate::radio::{self, Channel};
use crate::record::note::Note;
use crate::run::Setup;
use crate::unit::{Span, Time};
use crate::wlan::Frame;
use std::collections::BTreeMap;

words! {
    /// Outcome of a frame at a radio that was locked on it.
    pub enum Verdict {
        /// The frame was decoded.
        Decoded = "decoded",
        /// The frame was too weak to be decoded.
        Sensed = "sensed",
        /// The frame was strong enough to be decoded, and overlapped another frame that the node sensed.
        Collided = "collided",
        /// The frame was strong enough to be decoded, overlapped no other one, and was damaged by an error model, by
        /// noise, or because its sender was switched off.
        Damaged = "damaged",
        /// Only energy was sensed: the node transmitted at or after the beginning of the frame, or missed its preamble.
        Noise = "noise",
    }
}

table! {
    /// A frame at a receiver.
    pub struct Row in Kept {
        /// End of the frame at the receiver \[s\].
        time_s: Time,
        /// Node that received or sensed the frame.
        node: NodeId,
        /// Sending node.
        src: NodeId,
        /// Channel number.
        channel: u32,
        /// Beginning of the transmission, `time_s` of the frame in `frames` \[s\].
        started_at_s: Time,
        /// Outcome of the frame at the receiver.
        verdict: Verdict,
    }
}

/// A frame that may overlap others.
#[derive(Clone, Copy, Debug)]
struct Sent {
    from: RadioId,
    begin: Time,
    end: Time,
    over: bool,
}

/// End of a frame at a radio, with the frame and its begin.
type End = (Time, RadioId, Frame, Time, radio::Verdict);

/// Writes the rows of a frame when its end has reached all receivers.
#[derive(Clone, Debug)]
pub struct Heard {
    radios: Whose,
    /// Frames on the air, and earlier ones that overlap them.
    sent: Vec<Sent>,
    /// Begins of the last two frames of each sender.
    begun: BTreeMap<RadioId, [Time; 2]>,
    /// Ends at receivers of frames that have not reached all of them.
    ends: Vec<End>,
    /// Rows written so far.
    pub(super) rows: Kept,
}

/// Longest propagation delay: that of 10,000 km, the longest range of a radio.
const FARTHEST: Span = Span::ms(34);

impl Heard {
    pub(super) fn new(setup: &Setup) -> Heard {
        Heard {
            radios: Whose::new(setup),
            sent: Vec::new(),
            begun: BTreeMap::new(),
            ends: Vec::new(),
            rows: Kept::default(),
        }
    }

    pub(super) fn on(&mut self, at: Time, note: &Note<'_>) {
        match *note {
            Note::FrameBegins { frame, .. } => self.begins(at, frame),
            Note::FrameHeard { radio, frame, verdict, .. } => {
                // A frame that was cut short can end at a radio when its sender has begun the next one.
                let of_frame = |s: &&Sent| s.from == frame.from && s.begin <= at;
                let sent = self.sent.iter().rev().find(of_frame);
                // With SINR reception the rest of a signal can be noticed after the end of its frame was reported: at the
                // next frame, which may come after a long silence.
                let is_late = sent.is_none_or(|s| s.over) && verdict == radio::Verdict::Noise;
                let begin = sent.map_or_else(|| self.last_begin(frame.from, at), |s| s.begin);
                if is_late {
                    self.write((at, radio, *frame, begin, verdict), Verdict::Noise);
                } else {
                    self.ends.push((at, radio, *frame, begin, verdict));
                }
            }
            Note::FrameOver { frame, channel, .. } => self.over(frame, channel),
            _ => {}
        }
    }

    /// Begin of the last frame of a sender that had begun by an instant.
    fn last_begin(&self, from: RadioId, by: Time) -> Time {
        let begun = self.begun.get(&from).into_iter().flatten().copied();
        begun.filter(|begin| *begin <= by).max().unwrap_or(by)
    }

    fn begins(&mut self, at: Time, frame: &Frame) {
        let begun = self.begun.entry(frame.from).or_insert([at; 2]);
        *begun = [begun[1], at];
        let oldest = self.sent.iter().filter(|s| !s.over).map(|s| s.begin).min().unwrap_or(at).min(at);
        self.sent.retain(|s| !s.over || s.end + FARTHEST > oldest);
        self.sent.push(Sent { from: frame.from, begin: at, end: at + frame.airtime, over: false });
    }

    fn over(&mut self, frame: &Frame, channel: &Channel) {
        for end in std::mem::take(&mut self.ends) {
            let (at, radio, of, begin, verdict) = end;
            if of.from != frame.from {
                self.ends.push(end);
                continue;
            }
            let verdict = match verdict {
                radio::Verdict::Decoded => Verdict::Decoded,
                radio::Verdict::Noise => Verdict::Noise,
                _ if !channel.decodes(of.from, radio, of.mode.column()) => Verdict::Sensed,
                _ if meets(&self.sent, channel, radio, of.from, (begin, at)) => Verdict::Collided,
                _ => Verdict::Damaged,
            };
            self.write(end, verdict);
        }
        self.sent.iter_mut().filter(|s| s.from == frame.from).for_each(|s| s.over = true);
    }

    fn write(&mut self, (at, radio, frame, begin, _): End, verdict: Verdict) {
        let radios = &self.radios;
        self.rows.push(Row {
            time_s: at,
            node: radios.node(radio),
            src: radios.node(frame.from),
            channel: radios.channel(radio),
            started_at_s: begin,
            verdict,
        });
    }
}

/// Returns true if another frame was at this radio between these instants.
fn meets(sent: &[Sent], channel: &Channel, radio: RadioId, sender: RadioId, (begin, end): (Time, Time)) -> bool {
    let overlaps = |other: &Sent| {
        let mut delays = channel.in_range(other.from).filter(|r| r.0 == radio).map(|r| r.1);
        delays.any(|delay| other.begin + delay < end && other.end + delay > begin)
    };
    sent.iter().filter(|s| s.from != sender && s.begin < end && s.end + FARTHEST > begin).any(overlaps)
}
