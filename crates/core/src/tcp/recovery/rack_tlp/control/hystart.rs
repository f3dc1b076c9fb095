//! HyStart (Ha and Rhee, "Taming the elephants: New TCP slow start", Computer Networks 2011): slow start ends before a
//! loss, when the acknowledgements of a round trip stretch over half of the smallest round-trip time, or when
//! round-trip times have grown.

use super::interface::Input;
use crate::packet::Seq;
use crate::unit::{Span, Time};

/// Smallest window at which slow start ends \[segments\].
const LOW_WINDOW: u32 = 16;

/// Round-trip times of a round, of which the smallest counts.
const SAMPLES: u32 = 8;

/// Acknowledgements that follow each other more slowly are no train.
const TRAIN_GAP: Span = Span::ms(2);

/// State of HyStart.
#[derive(Clone, Debug, Default)]
pub(super) struct HyStart {
    found: bool,
    round_start: Time,
    /// The last acknowledgement of the train.
    last: Time,
    /// The round is over when more than this is acknowledged.
    end: Seq,
    smallest: Option<Span>,
    samples: u32,
}

impl HyStart {
    /// Begins a round trip that ends with this segment.
    pub fn begin_round(&mut self, now: Time, nxt: Seq) {
        let found = self.found;
        *self = HyStart { found, round_start: now, last: now, end: nxt, smallest: None, samples: 0 };
    }

    /// Returns true if slow start ends with an acknowledgement.
    pub fn ends_slow_start(&mut self, input: &Input, rtt: Span, min_rtt: Span, cwnd: u32) -> bool {
        if self.found {
            return false;
        }
        let (una, nxt) = input.range;
        let now = input.now;
        if una > self.end {
            self.begin_round(now, nxt);
        }
        if cwnd < LOW_WINDOW {
            return false;
        }
        if now.since(self.last) <= TRAIN_GAP {
            self.last = now;
            // Acknowledgements that come in pairs are waited for.
            let train = (min_rtt + Span::ms(1)) / 2;
            self.found |= now.since(self.round_start) > train;
        }
        let smallest = self.smallest.map_or(rtt, |s| s.min(rtt));
        self.smallest = Some(smallest);
        if self.samples < SAMPLES {
            self.samples += 1;
        } else {
            let threshold = Span((min_rtt.0 / 8).clamp(Span::ms(4).0, Span::ms(16).0));
            self.found |= smallest > min_rtt + threshold;
        }
        self.found
    }
}
