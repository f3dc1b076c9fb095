//! The radios of a network: where each is, and the rates of all.

use super::config::{Config, Reception};
use crate::unit::{BitRate, Position, Span};

/// A radio: position, channel, and profile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Site {
    /// Position of the radio.
    pub position: Position,
    /// Number of the node.
    pub node: u32,
    /// Key of its random numbers, of [`keys_of_radios`](crate::rng::keys_of_radios).
    pub key: u64,
    /// Channel number; radios on different channels cannot sense each other.
    pub channel: u16,
    /// Index of the radio's configuration in [`Radios::profiles`].
    pub profile: u32,
}

/// Added to the number of a rate for a frame that leaves a part of a wide channel free; at most as many rates decide
/// who can decode a frame.
pub const NARROW: u8 = 32;

/// All radios of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Radios {
    /// Distinct configurations; the first one sets the common properties: propagation, frequency, losses.
    pub profiles: Vec<Config>,
    /// All radios, in the order of their numbers.
    pub sites: Vec<Site>,
    /// Rates at which frames are sent.
    pub rates: Vec<BitRate>,
    /// For each of these rates, the one with the same modulation and code in a channel of 20 MHz with one stream.
    pub codings: Vec<BitRate>,
    /// For each of these rates, that of a frame which leaves a part of a wide channel free; empty if none does. The
    /// numbers of these rates begin at [`NARROW`].
    pub narrow_rates: Vec<BitRate>,
    /// Number of rates whose frames are judged as a whole; those of frames at the following rates, MPDU by MPDU.
    pub whole: usize,
    /// Duration of the PLCP preamble and header at each of these rates.
    pub plcp: Vec<Span>,
    /// Seed of the shadowing, which is drawn once for all runs.
    pub seed: u64,
}

impl Radios {
    /// Returns true if radios differ by rate in who can decode their frames.
    pub(crate) fn differ_by_rate(&self) -> bool {
        self.profiles.iter().any(Config::differs_by_rate)
    }

    /// Modulation and code, or sensitivity, of each rate.
    pub(crate) fn distinguished(&self) -> &[BitRate] {
        let sums = self.profiles.iter().any(|p| p.reception == Reception::Sinr);
        if sums { &self.codings } else { &self.rates }
    }

    /// One radio at each of these positions, all alike and on one channel.
    pub fn alike(cfg: &Config, positions: &[Position]) -> Radios {
        let site =
            |(node, &position): (u32, &Position)| Site { position, node, key: node.into(), channel: 1, profile: 0 };
        Radios {
            profiles: vec![cfg.clone()],
            sites: (0..).zip(positions).map(site).collect(),
            rates: Vec::new(),
            codings: Vec::new(),
            narrow_rates: Vec::new(),
            whole: usize::MAX,
            plcp: Vec::new(),
            seed: 0,
        }
    }
}
