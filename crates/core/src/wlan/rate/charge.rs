//! Estimated duration of attempts, as rate control computes it; differs slightly from the true duration.
//!
//! madwifi (`calc_usecs_unicast_packet` of `ath_rate/sample`) assumes a contention window that begins anew in each
//! series of a chain, short preambles except at 1 Mbit/s, and an ACK at 2 Mbit/s, or at 1 Mbit/s to a frame at that
//! rate.

use super::super::{Mode, Timing};
use crate::unit::Span;

/// Durations for the rates of a PHY.
#[derive(Clone, Debug)]
pub(super) struct Times {
    slot: u64,
    sifs: u64,
    difs: u64,
    cw_min: u64,
    /// For each rate: preamble and header [us], bits per symbol, symbol [us], ACK [us].
    rates: Vec<Rate>,
}

#[derive(Clone, Debug)]
struct Rate {
    plcp: u64,
    kbps: u64,
    ack: u64,
    ofdm: Option<(Timing, Mode)>,
}

const CW_MAX: u64 = 1023;

impl Times {
    pub(super) fn new(modes: &[Mode], timing: &Timing) -> Times {
        let ofdm = modes[0].is_ofdm();
        let rate = |&mode: &Mode| {
            let slowest = mode == Mode::LOWEST;
            let us = |span: Span| span.0 / 1000;
            if mode.is_ofdm() {
                // ACKs are sent at 24, 12 or 6 Mbit/s.
                let answers = |m: &Mode| m.0 <= mode.0 && matches!(m.rate().0, 6_000_000 | 12_000_000 | 24_000_000);
                let of_ack = mode.family().rev().find(answers).unwrap_or(mode);
                let ack = us(timing.data_in(of_ack, 14));
                return Rate { plcp: 20, kbps: mode.rate().0 / 1000, ack, ofdm: Some((timing.clone(), mode)) };
            }
            let (plcp, ack) = if slowest { (192, 304) } else { (96, 152) };
            Rate { plcp, kbps: mode.rate().0 / 1000, ack, ofdm: None }
        };
        let rates = modes.iter().map(rate).collect();
        let (slot, sifs, difs, cw_min) = if ofdm { (9, 16, 34, 15) } else { (20, 10, 50, 31) };
        Times { slot, sifs, difs, cw_min, rates }
    }

    /// Number of rates.
    pub(super) fn rates(&self) -> usize {
        self.rates.len()
    }

    /// Time on air of a frame [us].
    pub(super) fn frame(&self, rate: u8, bytes: u32) -> u64 {
        let r = &self.rates[usize::from(rate)];
        match &r.ofdm {
            Some((timing, mode)) => timing.data_in(*mode, bytes).0 / 1000,
            None => r.plcp + (8000 * u64::from(bytes)).div_ceil(r.kbps),
        }
    }

    /// Time on air of a frame with a long preamble at every rate [us].
    pub(super) fn frame_after_long_preamble(&self, rate: u8, bytes: u32) -> u64 {
        let r = &self.rates[usize::from(rate)];
        self.frame(rate, bytes) + if r.ofdm.is_some() { 0 } else { 192 - r.plcp }
    }

    /// Mean backoff before these attempts at a frame, the first with `cw` [us].
    fn backoff(&self, tries: u8) -> u64 {
        let mut cw = self.cw_min;
        let mut sum = 0;
        for _ in 0..tries {
            sum += self.slot * cw / 2;
            cw = (2 * cw + 1).min(CW_MAX);
        }
        sum
    }

    /// Duration of a series of attempts at one rate [us]. `more`: rounds of backoff in addition to those of the
    /// attempts.
    pub(super) fn series(&self, rate: u8, bytes: u32, tries: u8, more: u8) -> u64 {
        let r = &self.rates[usize::from(rate)];
        let each = self.sifs + r.ack + self.frame(rate, bytes);
        self.difs + u64::from(tries) * each + self.backoff(tries + more)
    }

    /// Duration of an attempt and `more` further attempts in ns-3's Minstrel [us]: long preambles, an ACK at the rate
    /// of the data, and a contention window of 31 slots for any PHY.
    pub(super) fn ns3_attempts(&self, rate: u8, bytes: u32, more: u8) -> u64 {
        let r = &self.rates[usize::from(rate)];
        let ack = if r.ofdm.is_some() { r.ack } else { self.frame_after_long_preamble(rate, 14) };
        let each = self.frame_after_long_preamble(rate, bytes) + self.sifs + ack;
        let backoff = |retry: u8| self.slot * (32u64 << retry).min(CW_MAX) / 2;
        u64::from(more + 1) * each + (0..more).map(backoff).sum::<u64>()
    }

    /// Duration of one successful attempt at a rate [us].
    pub(super) fn perfect(&self, rate: u8, bytes: u32) -> u64 {
        self.series(rate, bytes, 1, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wlan;

    #[test]
    fn times_are_those_of_the_driver() {
        let timing = Timing::new(&wlan::Config::default());
        let b = Times::new(&Mode(0).family().collect::<Vec<_>>(), &timing);
        // Rate, and durations of 1 to 4 attempts at 1600 B [us].
        for (rate, us) in [
            (3, [1782, 3834, 6526, 10_498]),
            (2, [2946, 6162, 10_018, 15_154]),
            (1, [7018, 14_306, 22_234, 31_442]),
            (0, [13_666, 27_602, 42_178, 58_034]),
        ] {
            for (tries, us) in (1..).zip(us) {
                assert_eq!(b.series(rate, 1600, tries, 0), us, "rate {rate}, {tries} attempts");
            }
        }
        let more: Vec<u64> = (1..=4).map(|n| b.series(3, 1600, n, 1) - b.series(3, 1600, n, 0)).collect();
        assert_eq!(more, [630, 1270, 2550, 5110]);
        let a = Times::new(&Mode(4).family().collect::<Vec<_>>(), &timing);
        assert_eq!((a.rates(), a.frame(7, 1536), a.frame(0, 76)), (8, 248, 128));
        assert_eq!(a.perfect(7, 1536), 34 + 16 + 28 + 248 + 9 * 15 / 2);
        // The ACK to 54 Mbit/s is sent at 24 Mbit/s, even where that is not among the rates to choose from.
        let few = Times::new(&[Mode(4), Mode(11)], &timing);
        assert_eq!(few.perfect(1, 1536), a.perfect(7, 1536));
    }

    #[test]
    fn attempts_of_ns3() {
        // Frame of 1200 B, SIFS, acknowledgement: 192 + 873 + 10 + 192 + 11 us at 11 Mbit/s; half of 32 and 64 slots.
        let b = Times::new(&Mode(0).family().collect::<Vec<_>>(), &Timing::new(&wlan::Config::default()));
        assert_eq!(b.ns3_attempts(3, 1200, 2), 3 * (192 + 873 + 10 + 192 + 11) + 320 + 640);
        assert_eq!(b.ns3_attempts(0, 1200, 1), 2 * (192 + 9600 + 10 + 304) + 320);
        let a = Times::new(&Mode(4).family().collect::<Vec<_>>(), &Timing::new(&wlan::Config::default()));
        assert_eq!(a.ns3_attempts(7, 1200, 1), 2 * (a.frame(7, 1200) + 16 + 28) + 9 * 16);
    }
}
