//! The receiving end of a flow of datagrams, which counts each of them once.
//!
//! The network makes second copies: a MAC gives up a packet that the next hop has when all ACKs for it were lost, and
//! the routing protocol sends it once more, the same way or another. So a record is kept of the numbers that have come.

use crate::unit::Span;

/// Words of 64 numbers of which it is known whether they have come: that of the highest one, and those before it.
///
/// What comes later than these counts as a duplicate, so that never more is delivered than was sent. It has waited
/// while its source sent at least 65,472 others; send buffers keep a packet for 30 s at a time, so those are 2,180 a
/// second, more than a radio with the rates of 802.11b carries.
const WORDS: u32 = 1024;

/// Counters of a sink.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Datagrams that came for the first time.
    pub delivered: u64,
    /// Datagrams that had come before.
    pub duplicates: u64,
    /// Sum of the times from sending to arrival of those that were no duplicates \[ns\].
    pub delay_sum: u64,
    /// The same sum of all that came \[ns\].
    pub copies_delay_sum: u64,
    /// Hops that all that came have made.
    pub hops_sum: u64,
}

/// A sink of datagrams.
#[derive(Clone, Debug)]
pub struct Sink {
    counters: Counters,
    /// A bit for each number that has come. A word takes the place of the one that was [`WORDS`] before it.
    came: [u64; WORDS as usize],
    /// The word of the highest number.
    last: u32,
}

impl Default for Sink {
    fn default() -> Sink {
        Sink { counters: Counters::default(), came: [0; WORDS as usize], last: 0 }
    }
}

impl Sink {
    /// A datagram with this number arrives, after so long and so many hops; whether it is delivered.
    pub fn on_datagram(&mut self, seq: u32, delay: Span, hops: u8) -> bool {
        let new = self.is_new(seq);
        let c = &mut self.counters;
        c.copies_delay_sum += delay.0;
        c.hops_sum += u64::from(hops);
        if new {
            c.delivered += 1;
            c.delay_sum += delay.0;
        } else {
            c.duplicates += 1;
        }
        new
    }

    /// Notes a number; whether it has not come before.
    fn is_new(&mut self, seq: u32) -> bool {
        let word = seq / u64::BITS;
        if word + WORDS <= self.last {
            return false;
        }
        // However far the numbers have jumped, no place is cleared twice.
        for begun in (self.last + 1).max((word + 1).saturating_sub(WORDS))..=word {
            self.came[(begun % WORDS) as usize] = 0;
        }
        self.last = self.last.max(word);
        let (came, bit) = (&mut self.came[(word % WORDS) as usize], 1 << (seq % u64::BITS));
        let new = *came & bit == 0;
        *came |= bit;
        new
    }

    /// What it has counted.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};
    use std::collections::BTreeSet;

    fn sink_of(numbers: impl IntoIterator<Item = u32>) -> Sink {
        let mut sink = Sink::default();
        for seq in numbers {
            sink.on_datagram(seq, Span(5), 2);
        }
        sink
    }

    #[test]
    fn what_comes_twice_is_delivered_once() {
        let sink = sink_of([0, 2, 1, 2, 63, 64, 65, 0, 64]);
        let counters =
            Counters { delivered: 6, duplicates: 3, delay_sum: 6 * 5, copies_delay_sum: 9 * 5, hops_sum: 9 * 2 };
        assert_eq!(*sink.counters(), counters);
    }

    /// So many numbers below the highest one are known, wherever in its word that lies.
    const KNOWN: u32 = (WORDS - 1) * u64::BITS;

    #[test]
    fn numbers_in_any_order_are_known_as_those_of_a_set() {
        let mut rng = Stream::new(1, Purpose::Application, 0);
        let (mut sink, mut set) = (Sink::default(), BTreeSet::new());
        let mut next = 0;
        for _ in 0..300_000 {
            // Now and then many in a row are lost, up to twice as many as are known.
            next += 1 + if rng.uniform() < 1e-4 { (rng.uniform() * f64::from(2 * KNOWN)) as u32 } else { 0 };
            let behind = (rng.uniform().powi(20) * f64::from(KNOWN)) as u32;
            let seq = next - behind.min(next);
            assert_eq!(sink.on_datagram(seq, Span(1), 1), set.insert(seq), "{seq} of {next}");
        }
        assert!(next > 5 * KNOWN && sink.counters().duplicates > 10_000, "{next}, {:?}", sink.counters());
    }

    #[test]
    fn what_comes_too_late_to_be_known_is_not_delivered() {
        // The first number of its word.
        let far = 2 * WORDS * u64::BITS;
        for (behind, delivered) in [(1, true), (KNOWN, true), (KNOWN + 1, false), (far, false)] {
            assert_eq!(sink_of([far]).on_datagram(far - behind, Span(1), 1), delivered, "{behind}");
        }
    }
}
