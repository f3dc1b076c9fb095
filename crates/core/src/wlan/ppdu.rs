//! PPDUs of 802.11n (HT) and 802.11ac (VHT): their data rates and times on air (IEEE 802.11-2020, clauses 19 and 21).

use super::mode::{Mode, PER_STREAM};
use crate::setting::limit::{one_of, range};
use crate::unit::{BitRate, Hertz, Span};
use crate::{keywords, settings};

keywords! {
    /// Format of the PPDUs that carry unicast data. All other frames are non-HT PPDUs.
    pub enum Format {
        /// Non-HT: PPDUs of 802.11a and 802.11b, at `wlan.data_rate`.
        NonHt = "non_ht",
        /// HT-mixed, 802.11n (clause 19).
        HtMixed = "ht_mixed",
        /// VHT for one user, 802.11ac (clause 21).
        Vht = "vht",
    }
}

/// Bandwidths of a channel.
pub const WIDTHS: [Hertz; 3] = [Hertz(20e6), Hertz(40e6), Hertz(80e6)];
/// Guard intervals of a symbol.
pub const GUARD_INTERVALS: [Span; 2] = [Span(800), Span(400)];
/// Data subcarriers in a channel of each width.
const SUBCARRIERS: [u32; 3] = [52, 108, 234];
/// Coded bits of a subcarrier, and code rate as numerator and denominator, of each MCS.
const CODED: [(u32, u32, u32); PER_STREAM as usize] =
    [(1, 1, 2), (2, 1, 2), (2, 3, 4), (4, 1, 2), (4, 3, 4), (6, 2, 3), (6, 3, 4), (6, 5, 6), (8, 3, 4), (8, 5, 6)];
/// Rate of 802.11a with the same modulation and code, or the next lower one, of each MCS: the non-HT reference rate
/// (10.6.11).
const REFERENCES: [u64; PER_STREAM as usize] = [6, 12, 18, 24, 36, 48, 54, 54, 54, 54];
/// Symbol without its guard interval [ns].
const USEFUL: u64 = 3200;
const SYMBOL: Span = Span::us(4);
/// Bits of SERVICE, and tail bits of an encoder.
const SERVICE: u64 = 16;
const TAIL: u64 = 6;

settings! {
    /// PPDUs of unicast data: HT (802.11n) and VHT (802.11ac).
    pub struct Config {
        /// Format of the PPDUs that carry unicast data.
        pub format: Format = Format::NonHt,
        /// Bandwidth of the channel.
        pub channel_width: Hertz = Hertz(20e6) => one_of(&WIDTHS)
            ; used when Config::is_ht, else "`wlan.ppdu.format` is `non_ht`",
        /// Guard interval of a symbol: 800 ns, or 400 ns (short).
        pub guard_interval: Span = Span(800) => one_of(&GUARD_INTERVALS)
            ; used when Config::is_ht, else "`wlan.ppdu.format` is `non_ht`",
        /// Modulation and coding scheme of each spatial stream. MCS 8 to 15 of 802.11n are MCS 0 to 7 with two streams.
        pub mcs: u32 = 7 => range(0, 9)
            ; used when Config::is_ht, else "`wlan.ppdu.format` is `non_ht`",
        /// Number of spatial streams.
        pub streams: u32 = 1 => range(1, 2)
            ; used when Config::is_ht, else "`wlan.ppdu.format` is `non_ht`",
        /// Sends VHT-SIG-B, 4 us of the preamble of a VHT PPDU; ns-3.37 omits it.
        pub sig_b: bool = true
            ; used when |c| c.format == Format::Vht, else "`wlan.ppdu.format` is not `vht`",
        /// Extends a PPDU with a short guard interval to a multiple of 4 us; ns-3.37 does not.
        pub short_symbols_rounded: bool = true
            ; used when |c| c.is_ht() && c.is_short(), else "`wlan.ppdu.guard_interval` is not 400 ns",
    }
}

impl Config {
    /// Returns true if unicast data are sent in HT or VHT PPDUs.
    pub fn is_ht(&self) -> bool {
        self.format != Format::NonHt
    }

    /// Returns true if the channel is wider than 20 MHz.
    pub fn is_wide(&self) -> bool {
        self.is_ht() && self.channel_width != WIDTHS[0]
    }

    /// Returns true if the guard interval is short.
    fn is_short(&self) -> bool {
        self.guard_interval == GUARD_INTERVALS[1]
    }

    /// Mode of an MCS with a number of streams, in this channel.
    pub fn mode(&self, mcs: u32, streams: u32) -> Mode {
        let width = WIDTHS.iter().position(|w| *w == self.channel_width).unwrap_or(0);
        Mode::high_throughput(mcs as u8, streams as u8, width as u8, self.is_short())
    }

    /// Mode of data frames.
    pub fn data_mode(&self) -> Mode {
        self.mode(self.mcs, self.streams)
    }

    /// Returns true if frames can be sent in a mode: if it is no HT mode, or exists in this format.
    pub fn has_mode(&self, mode: Mode) -> bool {
        !mode.is_ht() || self.has(mode.mcs().into())
    }

    /// Returns true if this format has an MCS at the width of the channel.
    pub fn has(&self, mcs: u32) -> bool {
        match self.format {
            Format::NonHt => false,
            Format::HtMixed => mcs <= 7 && self.channel_width.0 <= 40e6,
            // Of the puncturing patterns of MCS 9, only those with whole bits in a symbol exist.
            Format::Vht => mcs <= 8 || self.channel_width.0 > 20e6,
        }
    }

    /// Time on air of a PSDU \[B\] in a mode.
    pub fn airtime(&self, psdu: u32, mode: Mode) -> Span {
        let streams = u64::from(mode.streams());
        let bits = bits_of_symbol(mode);
        let (preamble, one_encoder) = match self.format {
            Format::Vht => (36 + 4 * u64::from(self.sig_b), 600_000_000),
            _ => (36, 300_000_000),
        };
        let encoders = 1 + u64::from(mode.rate().0 > one_encoder);
        let symbols = (SERVICE + 8 * u64::from(psdu) + TAIL * encoders).div_ceil(u64::from(bits));
        let symbol = Span(USEFUL + guard_interval(mode).0);
        let data = symbol * symbols;
        let data = if self.short_symbols_rounded { SYMBOL * data.0.div_ceil(SYMBOL.0) } else { data };
        Span::us(preamble + 4 * (streams - 1)) + data
    }

    /// Time on air before the PSDU.
    pub fn preamble(&self, mode: Mode) -> Span {
        let sig_b = self.format == Format::Vht && self.sig_b;
        Span::us(36 + 4 * u64::from(sig_b) + 4 * (u64::from(mode.streams()) - 1))
    }
}

fn guard_interval(mode: Mode) -> Span {
    GUARD_INTERVALS[usize::from(mode.has_short_guard())]
}

/// Data bits of a symbol, N_DBPS.
pub fn bits_of_symbol(mode: Mode) -> u32 {
    let (bits, over, under) = CODED[usize::from(mode.mcs())];
    SUBCARRIERS[usize::from(mode.width())] * bits * over / under * u32::from(mode.streams())
}

/// Data rate of an HT or VHT mode.
pub fn rate(mode: Mode) -> BitRate {
    BitRate(u64::from(bits_of_symbol(mode)) * 1_000_000_000 / (USEFUL + guard_interval(mode).0))
}

/// Non-HT reference rate of the modes of HT and VHT PPDUs, counted over the MCS of all streams (10.6.11).
pub fn reference(mode: u32) -> BitRate {
    BitRate::mbps(REFERENCES[(mode % u32::from(PER_STREAM)) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ht(width: f64) -> Config {
        Config { format: Format::HtMixed, channel_width: Hertz(width), ..Config::default() }
    }

    fn vht(width: f64) -> Config {
        Config { format: Format::Vht, channel_width: Hertz(width), ..Config::default() }
    }

    fn us(cfg: &Config, mcs: u32, psdu: u32) -> u64 {
        let span = cfg.airtime(psdu, cfg.mode(mcs, cfg.streams));
        assert_eq!(span.0 % 1000, 0, "{span} is no whole number of microseconds");
        span.0 / 1000
    }

    #[test]
    fn a_narrow_mode_has_the_mcs_that_exists_in_20_mhz() {
        let wide = Config { guard_interval: GUARD_INTERVALS[1], ..vht(80e6) };
        let narrow = Config { guard_interval: GUARD_INTERVALS[1], ..vht(20e6) };
        for (mcs, streams) in (0..10).flat_map(|mcs| [(mcs, 1), (mcs, 2)]) {
            assert_eq!(wide.mode(mcs, streams).narrow(), narrow.mode(mcs.min(8), streams), "MCS {mcs}");
        }
    }

    #[test]
    fn rates_are_those_of_the_tables_of_the_standard() {
        // Tables 19-27 to 19-30, 21-30 to 21-46, in units of 100 kbit/s: 20, 40, 80 MHz, long and short guard interval.
        let tables: [(f64, bool, [u64; 10]); 6] = [
            (20e6, false, [65, 130, 195, 260, 390, 520, 585, 650, 780, 0]),
            (20e6, true, [72, 144, 217, 289, 433, 578, 650, 722, 867, 0]),
            (40e6, false, [135, 270, 405, 540, 810, 1080, 1215, 1350, 1620, 1800]),
            (40e6, true, [150, 300, 450, 600, 900, 1200, 1350, 1500, 1800, 2000]),
            (80e6, false, [293, 585, 878, 1170, 1755, 2340, 2633, 2925, 3510, 3900]),
            (80e6, true, [325, 650, 975, 1300, 1950, 2600, 2925, 3250, 3900, 4333]),
        ];
        for (width, short, rates) in tables {
            let cfg = Config { guard_interval: GUARD_INTERVALS[usize::from(short)], ..vht(width) };
            for (mcs, wanted) in (0..).zip(rates).filter(|&(mcs, _)| cfg.has(mcs)) {
                let rate = cfg.mode(mcs, 1).rate();
                assert_eq!((rate.0 + 50_000) / 100_000, wanted, "MCS {mcs}, {width} Hz, short: {short}");
                // Bits of a symbol are whole, so the rate of two streams is twice as high but for rounding.
                assert!(cfg.mode(mcs, 2).rate().0.abs_diff(2 * rate.0) <= 1);
            }
        }
        assert!(!vht(20e6).has(9) && vht(40e6).has(9) && !ht(40e6).has(8) && !ht(80e6).has(0));
    }

    #[test]
    fn a_frame_of_1538_bytes_lasts_as_in_the_sheet() {
        let of = |cfg: Config, psdu, most| (0..=most).map(|mcs| us(&cfg, mcs, psdu)).collect::<Vec<_>>();
        assert_eq!(of(ht(20e6), 1538, 7), [1936, 988, 672, 512, 356, 276, 248, 228]);
        assert_eq!(of(ht(40e6), 1538, 7), [952, 496, 344, 268, 192, 152, 140, 128]);
        assert_eq!(of(vht(80e6), 1542, 9), [464, 252, 184, 148, 112, 96, 88, 84, 76, 72]);
    }

    #[test]
    fn aggregates_last_as_long_as_ns3_sends_them() {
        // From `timelines.txt`: PSDU, time on air.
        for (psdu, wanted) in [(3086, 420), (12_350, 1560), (43_230, 5360)] {
            assert_eq!(us(&ht(20e6), 7, psdu), wanted);
        }
        assert_eq!(us(&ht(20e6), 0, 3086), 3840);
        // The standard's VHT PPDU has a SIG-B and ends with a whole symbol; that of ns-3 lasts 1861.2 us.
        let short = Config { guard_interval: GUARD_INTERVALS[1], ..vht(80e6) };
        assert_eq!(us(&short, 9, 98_814), 1868);
        let ns3 = Config { sig_b: false, short_symbols_rounded: false, ..short };
        assert_eq!(ns3.airtime(98_814, ns3.mode(9, 1)), Span(1_861_200));
    }

    #[test]
    fn a_second_stream_halves_the_symbols_and_adds_a_training_field() {
        let two = Config { streams: 2, ..ht(20e6) };
        // 12326 bits at 520 a symbol: 24 symbols.
        assert_eq!(us(&two, 7, 1538), 40 + 4 * 24);
        // Above 600 Mbit/s a second encoder adds 6 tail bits: 12464 bits are 8 symbols of 1560 bits less 16.
        let fast = Config { streams: 2, guard_interval: GUARD_INTERVALS[1], ..vht(80e6) };
        let bits = 3120 * 5;
        let full = (bits - 16 - 12) / 8;
        assert_eq!(us(&fast, 9, full), 44 + 20, "5 symbols of 3.6 us end at 18 us");
        assert_eq!(us(&fast, 9, full + 1), 44 + 24, "6 symbols at 21.6 us");
    }

    #[test]
    fn responses_have_the_rates_of_the_sheet() {
        let one = [6, 12, 18, 24, 36, 48, 54, 54, 54, 54];
        for (mode, mbps) in (0..).zip(one.into_iter().chain(one)) {
            assert_eq!(reference(mode), BitRate::mbps(mbps));
        }
    }
}
