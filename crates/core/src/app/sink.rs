//! Sink of a datagram flow; counts each datagram once.
//!
//! The network duplicates packets: when all ACKs of a frame are lost, the MAC gives up a packet that the next hop has,
//! and the routing protocol sends it again, on the same or another route. The sink therefore records the numbers of
//! received datagrams.

use crate::unit::Span;

/// Size of the record, in words of 64 numbers: the word of the highest number and those before it.
///
/// A datagram older than the record counts as a duplicate, so that never more is delivered than was sent. Such a
/// datagram was delayed while its source sent at least 65,472 others; send buffers keep a packet for 30 s at a time, so
/// this takes 2,180 per second, more than a radio with the rates of 802.11b carries.
const WORDS: u32 = 1024;

/// Size of the record below the highest number, wherever in its word that lies.
pub const KNOWN: u32 = (WORDS - 1) * u64::BITS;

/// Counters of a sink.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Datagrams received for the first time.
    pub delivered: u64,
    /// Datagrams received again.
    pub duplicates: u64,
    /// Sum of the delays of datagrams received for the first time \[ns\].
    pub delay_sum: u64,
    /// Sum of the delays of all datagrams, duplicates included \[ns\].
    pub copies_delay_sum: u64,
    /// Sum of the hops of all datagrams, duplicates included.
    pub hops_sum: u64,
}

/// A sink of datagrams.
#[derive(Clone, Debug)]
pub struct Sink {
    counters: Counters,
    /// One bit for each received number. Each word replaces the one [`WORDS`] before it.
    came: [u64; WORDS as usize],
    /// Index of the word with the highest number.
    last: u32,
}

impl Default for Sink {
    fn default() -> Sink {
        Sink { counters: Counters::default(), came: [0; WORDS as usize], last: 0 }
    }
}

impl Sink {
    /// A datagram arrives with this number, delay and number of hops. Returns true if it is delivered.
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

    /// Records a number; returns true if it is new.
    fn is_new(&mut self, seq: u32) -> bool {
        let word = seq / u64::BITS;
        if word + WORDS <= self.last {
            return false;
        }
        // However far the numbers have jumped, no word is cleared twice.
        for begun in (self.last + 1).max((word + 1).saturating_sub(WORDS))..=word {
            self.came[(begun % WORDS) as usize] = 0;
        }
        self.last = self.last.max(word);
        let (came, bit) = (&mut self.came[(word % WORDS) as usize], 1 << (seq % u64::BITS));
        let new = *came & bit == 0;
        *came |= bit;
        new
    }

    /// Counters of the sink.
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
    fn duplicates_are_delivered_once() {
        let sink = sink_of([0, 2, 1, 2, 63, 64, 65, 0, 64]);
        let counters =
            Counters { delivered: 6, duplicates: 3, delay_sum: 6 * 5, copies_delay_sum: 9 * 5, hops_sum: 9 * 2 };
        assert_eq!(*sink.counters(), counters);
    }

    #[test]
    fn record_equals_a_set_for_any_order_of_numbers() {
        let mut rng = Stream::new(1, Purpose::Application, 0);
        let (mut sink, mut set) = (Sink::default(), BTreeSet::new());
        let mut next = 0;
        for _ in 0..300_000 {
            // Sometimes loses many in a row, up to twice the size of the record.
            next += 1 + if rng.uniform() < 1e-4 { (rng.uniform() * f64::from(2 * KNOWN)) as u32 } else { 0 };
            let behind = (rng.uniform().powi(20) * f64::from(KNOWN)) as u32;
            let seq = next - behind.min(next);
            assert_eq!(sink.on_datagram(seq, Span(1), 1), set.insert(seq), "{seq} of {next}");
        }
        assert!(next > 5 * KNOWN && sink.counters().duplicates > 10_000, "{next}, {:?}", sink.counters());
    }

    #[test]
    fn datagram_older_than_the_record_is_not_delivered() {
        // First number of its word.
        let far = 2 * WORDS * u64::BITS;
        for (behind, delivered) in [(1, true), (KNOWN, true), (KNOWN + 1, false), (far, false)] {
            assert_eq!(sink_of([far]).on_datagram(far - behind, Span(1), 1), delivered, "{behind}");
        }
    }
}
