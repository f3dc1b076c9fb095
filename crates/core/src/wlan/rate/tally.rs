//! Frames and packets sent by a station to a neighbor, by rate and kind of packet.

use crate::counters;
use crate::packet::Kind;

counters! {
    /// Counters of a neighbor and rate.
    pub struct Counts {
        /// Packets handed to the MAC whose first attempt was planned at this rate.
        packets,
        /// Packets that were acknowledged at this rate.
        packets_acked,
        /// Packets given up after a last attempt at this rate.
        packets_given_up,
        /// Data frames sent.
        data_frames_sent,
        /// Data frames that no ACK answered.
        data_frames_failed,
        /// RTS frames for a data frame at this rate that no CTS answered.
        rts_frames_failed,
    }
}

/// Counters of a neighbor, by index of the rate among those of the PHY, and by kind of packet.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    rates: Vec<[Counts; Kind::ALL.len()]>,
}

impl Tally {
    /// Zero counters for this number of rates.
    pub(super) fn new(rates: usize) -> Tally {
        Tally { rates: vec![[Counts::default(); Kind::ALL.len()]; rates] }
    }

    /// Counters for a kind of packet at a rate.
    pub(super) fn at(&mut self, rate: usize, kind: Kind) -> &mut Counts {
        &mut self.rates[rate][kind as usize]
    }

    /// All counters, with the index of their rate and their kind.
    pub(super) fn all(&self) -> impl Iterator<Item = (usize, Kind, &Counts)> {
        let rates = self.rates.iter().enumerate();
        rates.flat_map(|(rate, counts)| Kind::ALL.into_iter().zip(counts).map(move |(kind, c)| (rate, kind, c)))
    }
}
