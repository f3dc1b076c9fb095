//! Times on air and inter-frame spaces of the DSSS and HR-DSSS PHY and of OFDM (IEEE 802.11-2020, clauses 15 to 17),
//! computed once per scenario.

use super::edca::{ADDBA_BYTES, BLOCK_ACK_BYTES, BLOCK_ACK_REQUEST_BYTES};
use super::mode::{self, COLUMNS};
use super::{AirtimeRounding, Config, Frame, FrameKind, Mode, Preamble, RATES, ppdu};
use crate::unit::Span;

/// Length of an RTS [B].
const RTS_BYTES: u32 = 20;
/// Length of a CTS or an ACK [B].
const CTS_BYTES: u32 = 14;
/// Long PLCP: 144 bit preamble and 48 bit header at 1 Mbit/s.
const LONG_PLCP: Span = Span::us(192);
/// Short PLCP: 72 bit preamble at 1 Mbit/s and 48 bit header at 2 Mbit/s.
const SHORT_PLCP: Span = Span::us(96);

/// OFDM: preamble and SIGNAL, a symbol, and the bits of SERVICE and tail.
const OFDM_PLCP: Span = Span::us(20);
const SYMBOL: Span = Span::us(4);
const SERVICE_AND_TAIL: u64 = 16 + 6;

/// Size of tables by [column](Mode::column): a power of two.
const ROOM: usize = COLUMNS.next_power_of_two();

/// Interframe spaces and times on air.
#[derive(Clone, Debug)]
pub struct Timing {
    /// Slot time (aSlotTime).
    pub slot: Span,
    /// Short interframe space (aSIFSTime).
    pub sifs: Span,
    /// DIFS: SIFS and two slots.
    pub difs: Span,
    /// EIFS: SIFS, DIFS and an ACK at the lowest rate, 1 Mbit/s.
    pub eifs: Span,
    /// EIFS as the NAV counts it, in whole microseconds.
    pub eifs_nav: Span,
    /// Time on air of an RTS.
    pub rts: Span,
    /// Time on air of a CTS.
    pub cts: Span,
    /// Time on air of an ACK.
    pub ack: Span,
    /// Rate of the ACK to a data frame at each rate, and its time on air.
    acks: [(Mode, Span); ROOM],
    /// Shortest ACK, for data of which only the Duration of the RTS is known.
    pub shortest_ack: Span,
    /// Preamble and header of the ACK to a data frame at each rate.
    ack_rx_starts: [Span; ROOM],
    /// PHY-RX-START delay (aRxPHYStartDelay): preamble and header of a CTS, after which PHY-RXSTART is indicated.
    pub rx_start_delay: Span,
    /// Rate and time on air of a CTS that a station sends to itself, if OFDM is protected.
    pub protection: Option<(Mode, Span)>,
    /// Rate of action frames and broadcasts, of RTS and CTS, and of ACK frames where no others are given.
    pub basic_mode: Mode,
    /// Rate of RTS frames: the basic one, or the control rate of the slowest data where these may be slower.
    pub rts_mode: Mode,
    /// Rate of other data frames, on links without a rate of their own.
    pub data_mode: Mode,
    preamble: Preamble,
    basic_preamble: Preamble,
    rounding: AirtimeRounding,
    overhead: u32,
    header: u32,
    /// Time after the end of each OFDM frame that belongs to it, in the band of 2.4 GHz.
    signal_extension: Span,
    pub(super) ppdu: ppdu::Config,
}

fn plcp(mode: Mode, preamble: Preamble) -> Span {
    match preamble {
        _ if mode.is_ofdm() => OFDM_PLCP,
        // 1 Mbit/s has no short preamble (IEEE 802.11-2020, 16.2.2.3).
        Preamble::Short if mode > Mode::LOWEST => SHORT_PLCP,
        _ => LONG_PLCP,
    }
}

/// PLCP preamble and header of a frame: time from its beginning to the first bit of its MPDU.
pub fn preamble_of(cfg: &Config, frame: &Frame) -> Span {
    let is_protection = frame.kind == FrameKind::Cts && frame.to == frame.from;
    match frame.kind {
        _ if frame.mode.is_ht() => cfg.ppdu.preamble(frame.mode),
        _ if is_protection => plcp(frame.mode, Preamble::Long),
        FrameKind::Data | FrameKind::Action if !frame.to.is_broadcast() => plcp(frame.mode, cfg.preamble),
        _ => plcp(frame.mode, cfg.basic_preamble.unwrap_or(cfg.preamble)),
    }
}

/// PLCP preamble and header of data frames in each [column](Mode::column) of modes.
pub fn preambles(cfg: &Config) -> Vec<Span> {
    let preamble = |mode: Mode| if mode.is_ht() { cfg.ppdu.preamble(mode) } else { plcp(mode, cfg.preamble) };
    mode::of_channel(&cfg.ppdu).map(preamble).collect()
}

impl Timing {
    /// Priority interframe space: SIFS and a slot (10.3.2.3.4).
    pub fn pifs(&self) -> Span {
        self.sifs + self.slot
    }

    /// Computes the times for a configuration.
    pub fn new(cfg: &Config) -> Timing {
        let difs = cfg.sifs + cfg.slot_time * 2;
        let mut t = Timing {
            slot: cfg.slot_time,
            sifs: cfg.sifs,
            difs,
            eifs: Span::ZERO,
            eifs_nav: Span::ZERO,
            rts: Span::ZERO,
            cts: Span::ZERO,
            ack: Span::ZERO,
            acks: [(Mode::LOWEST, Span::ZERO); ROOM],
            ack_rx_starts: [Span::ZERO; ROOM],
            shortest_ack: Span::ZERO,
            rx_start_delay: Span::ZERO,
            protection: None,
            basic_mode: Mode::checked(cfg.basic_rate),
            rts_mode: Mode::checked(cfg.basic_rate),
            data_mode: cfg.data_mode(),
            preamble: cfg.preamble,
            basic_preamble: cfg.basic_preamble.unwrap_or(cfg.preamble),
            rounding: cfg.airtime_rounding,
            overhead: cfg.header_size.0 + cfg.llc_size.0,
            header: cfg.header_size.0,
            signal_extension: cfg.signal_extension,
            ppdu: cfg.ppdu.clone(),
        };
        t.ack = t.basic(CTS_BYTES);
        let non_ht = |column: usize| match column.checked_sub(RATES.len()) {
            None => column,
            Some(ht) => usize::from(Mode::checked(ppdu::reference(ht as u32)).0),
        };
        let control = &cfg.rate_control;
        let chosen = control.algorithm.chooses_rates();
        // Nothing is answered faster than it was sent: if no basic rate is so slow, with a mandatory one (10.6.6.5).
        let mandatory = |mode: usize| match Mode(mode as u8) {
            mode if mode.is_ofdm() => mode.family().step_by(2).take(3).filter(|&m| m <= mode).max().unwrap_or(mode),
            mode => mode,
        };
        t.acks = std::array::from_fn(|mode| {
            let rates = cfg
                .response_rates
                .iter()
                .filter_map(|&r| Mode::of(r))
                .filter(|m| m.is_ofdm() == t.basic_mode.is_ofdm());
            let fitting = rates.clone().filter(|m| usize::from(m.0) <= non_ht(mode)).max();
            let basic = if chosen { t.basic_mode.min(mandatory(non_ht(mode))) } else { t.basic_mode };
            let response = fitting.or_else(|| rates.min()).unwrap_or(basic);
            (response, t.airtime(CTS_BYTES, response, t.basic_preamble))
        });
        if chosen && (!control.algorithm.has_chain() || control.algorithm.over_aggregates()) {
            t.rts_mode = t.basic_mode.min(t.response_to_any(cfg.slowest_mode()).0);
        }
        t.rts = t.airtime(RTS_BYTES, t.rts_mode, t.basic_preamble);
        t.cts = t.cts_in(t.rts_mode);
        t.ack_rx_starts = t.acks.map(|(mode, _)| plcp(mode, t.basic_preamble));
        let acks = t.data_mode.family().map(|mode| t.ack_to(mode));
        t.shortest_ack = acks.min().unwrap_or(t.ack);
        t.rx_start_delay = plcp(t.rts_mode, t.basic_preamble);
        let slowest = t.basic_mode.family().next().unwrap_or(Mode::LOWEST);
        t.eifs = cfg.sifs + difs + t.airtime(CTS_BYTES, slowest, Preamble::Long);
        t.eifs_nav = t.eifs.nearest_us();
        t.protection = cfg.protection.filter(|_| cfg.has_ofdm_data()).map(|rate| {
            let mode = Mode::checked(rate);
            (mode, t.airtime(CTS_BYTES, mode, Preamble::Long))
        });
        t
    }

    fn basic(&self, bytes: u32) -> Span {
        self.airtime(bytes, self.basic_mode, self.basic_preamble)
    }

    fn airtime(&self, bytes: u32, mode: Mode, preamble: Preamble) -> Span {
        if mode.is_ofdm() {
            if mode.is_ht() {
                return self.ppdu.airtime(bytes, mode) + self.signal_extension;
            }
            let bits_of_symbol = mode.rate().0 / 250_000;
            let symbols = (SERVICE_AND_TAIL + 8 * u64::from(bytes)).div_ceil(bits_of_symbol);
            return OFDM_PLCP + SYMBOL * symbols + self.signal_extension;
        }
        let exact = plcp(mode, preamble) + mode.rate().airtime(bytes);
        match self.rounding {
            AirtimeRounding::Up => exact.ceil_us(),
            AirtimeRounding::None => exact,
        }
    }

    /// Bytes of a frame of this type; a data frame carries a network packet of `packet_bytes`.
    pub fn bytes_of(&self, kind: FrameKind, packet_bytes: u32) -> u32 {
        match kind {
            FrameKind::Rts => RTS_BYTES,
            FrameKind::Cts | FrameKind::Ack => CTS_BYTES,
            FrameKind::Data => self.frame_bytes(packet_bytes),
            FrameKind::BlockAck => BLOCK_ACK_BYTES,
            FrameKind::BlockAckReq => BLOCK_ACK_REQUEST_BYTES,
            FrameKind::CfEnd => RTS_BYTES,
            FrameKind::Action => ADDBA_BYTES,
        }
    }

    /// Bytes of the data frame that carries a network packet.
    pub fn frame_bytes(&self, packet_bytes: u32) -> u32 {
        packet_bytes + self.overhead
    }

    /// Time on air of a unicast data frame \[B\] at the rate of all links.
    pub fn data(&self, frame_bytes: u32) -> Span {
        self.data_in(self.data_mode, frame_bytes)
    }

    /// Time on air of a unicast data frame \[B\] at a rate.
    pub fn data_in(&self, mode: Mode, frame_bytes: u32) -> Span {
        self.airtime(frame_bytes, mode, self.preamble)
    }

    /// Bytes of the MAC header and the FCS of a data frame.
    pub fn header_bytes(&self) -> u32 {
        self.header
    }

    /// Bytes of LLC and SNAP in front of a packet.
    pub fn llc_bytes(&self) -> u32 {
        self.overhead - self.header
    }

    /// Returns true if a single MPDU has the delimiter of an A-MPDU subframe, as every MPDU in a VHT PPDU.
    pub fn delimits_single(&self) -> bool {
        self.ppdu.format == ppdu::Format::Vht
    }

    /// Times after the begin of a frame at which some of the bytes of its PSDU begin and end.
    pub fn part_of_psdu(&self, mode: Mode, psdu: u32, from: u32, until: u32) -> (Span, Span) {
        let preamble = if mode.is_ht() { self.ppdu.preamble(mode) } else { plcp(mode, self.preamble) };
        let data = self.data_in(mode, psdu) - preamble - self.signal_extension;
        let at = |byte: u32| preamble + Span(data.0 * u64::from(byte) / u64::from(psdu.max(1)));
        (at(from), at(until))
    }

    /// Mode of control frames that belong to data in a mode, and the time on air of one of this size.
    pub fn control_for(&self, data: Mode, bytes: u32) -> (Mode, Span) {
        let mode = self.response_to_any(data).0;
        (mode, self.airtime(bytes, mode, self.basic_preamble))
    }

    /// Time on air of a CTS to an RTS in a mode.
    pub fn cts_in(&self, mode: Mode) -> Span {
        self.airtime(CTS_BYTES, mode, self.basic_preamble)
    }

    /// Time on air of a frame of this size at the basic rate.
    pub fn at_basic_rate(&self, bytes: u32) -> Span {
        self.basic(bytes)
    }

    /// PHY-RX-START delay of a non-HT frame in a mode.
    pub fn rx_start_of(&self, mode: Mode) -> Span {
        plcp(mode, self.basic_preamble)
    }

    /// Time on air of a broadcast data frame of this size \[B\].
    pub fn broadcast(&self, frame_bytes: u32) -> Span {
        self.basic(frame_bytes)
    }

    /// Rate of the ACK to a data frame at a rate, and its time on air.
    #[inline]
    pub fn response_to(&self, mode: Mode) -> (Mode, Span) {
        self.acks[usize::from(mode.0) % ROOM]
    }

    /// Rate of the response to a data frame in a mode of any PHY, and the time on air of an ACK.
    pub fn response_to_any(&self, mode: Mode) -> (Mode, Span) {
        self.acks[usize::from(mode.column())]
    }

    /// Time on air of the ACK to a data frame at a rate.
    #[inline]
    pub fn ack_to(&self, mode: Mode) -> Span {
        self.response_to(mode).1
    }

    /// aRxPHYStartDelay of the ACK to a data frame at a rate.
    #[inline]
    pub fn ack_rx_start_delay(&self, mode: Mode) -> Span {
        self.ack_rx_starts[usize::from(mode.0) % ROOM]
    }

    /// Duration field of an RTS that announces data of this time on air, at a rate.
    pub fn rts_duration(&self, data: Span, mode: Mode) -> Span {
        (self.sifs * 3 + self.cts + data + self.ack_to(mode)).nearest_us()
    }

    /// Duration field of the CTS of this time on air that answers an RTS with this Duration.
    pub fn cts_duration(&self, rts_duration: Span, cts: Span) -> Span {
        (rts_duration - self.sifs - cts).nearest_us()
    }

    /// Duration field of a unicast data frame at a rate.
    pub fn data_duration(&self, mode: Mode) -> Span {
        (self.sifs + self.ack_to(mode)).nearest_us()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{BitRate, Bytes};

    fn ns2(rate: BitRate) -> Timing {
        Timing::new(&Config {
            data_rate: rate,
            header_size: Bytes(34),
            llc_size: Bytes(0),
            airtime_rounding: AirtimeRounding::None,
            ..Config::default()
        })
    }

    #[test]
    fn air_times_of_the_dsss_phy() {
        let t = ns2(BitRate::mbps(2));
        assert_eq!((t.rts, t.cts, t.ack, t.eifs), (Span::us(352), Span::us(304), Span::us(304), Span::us(364)));
        // Network packet, MPDU, and time on air at 1, 2, 5.5, 11 Mbit/s [us].
        for (packet, us) in [
            (28, [688.0, 440.0, 282.2, 237.1]),
            (40, [784.0, 488.0, 299.6, 245.8]),
            (48, [848.0, 520.0, 311.3, 251.6]),
            (552, [4880.0, 2536.0, 1044.4, 618.2]),
            (1480, [12304.0, 6248.0, 2394.2, 1293.1]),
            (1500, [12464.0, 6328.0, 2423.3, 1307.6]),
        ] {
            for (rate, us) in [1_000_000, 2_000_000, 5_500_000, 11_000_000].into_iter().zip(us) {
                let t = ns2(BitRate(rate));
                let air = t.data(t.frame_bytes(packet));
                assert!((air.as_secs() * 1e6 - us).abs() < 0.05, "{packet} B at {rate} bit/s: {air}");
            }
        }
    }

    #[test]
    fn air_times_of_ofdm() {
        // MPDU \[B\], and time on air at 6, 9, 12, 18, 24, 36, 48, 54 Mbit/s [us]: ACK, RTS, 40 B and 1500 B above the
        // MAC.
        for (bytes, us) in [
            (14, [44, 36, 32, 28, 28, 24, 24, 24]),
            (20, [52, 44, 36, 32, 28, 28, 24, 24]),
            (76, [128, 92, 76, 56, 48, 40, 36, 32]),
            (548, [756, 512, 388, 268, 204, 144, 112, 104]),
            (1536, [2072, 1388, 1048, 704, 536, 364, 280, 248]),
        ] {
            for (mode, us) in Mode(4).family().zip(us) {
                assert_eq!(Timing::new(&Config::default()).data_in(mode, bytes), Span::us(us), "{bytes} B, {mode:?}");
            }
        }
        let a = Config {
            slot_time: Span::us(9),
            sifs: Span::us(16),
            data_rate: BitRate::mbps(54),
            basic_rate: BitRate::mbps(24),
            ..Config::default()
        };
        let t = Timing::new(&a);
        assert_eq!((t.difs, t.rts, t.ack, t.rx_start_delay), (Span::us(34), Span::us(28), Span::us(28), Span::us(20)));
        // EIFS contains an ACK at 6 Mbit/s.
        assert_eq!(t.eifs, Span::us(16 + 34 + 44));
    }

    #[test]
    fn durations_of_an_exchange() {
        let t = ns2(BitRate::mbps(2));
        let data = t.data(t.frame_bytes(1500));
        assert_eq!(t.rts_duration(data, t.data_mode), Span::us(6966));
        assert_eq!(t.cts_duration(t.rts_duration(data, t.data_mode), t.cts), Span::us(6652));
        assert_eq!(t.data_duration(t.data_mode), Span::us(314));
        let t = ns2(BitRate::mbps(11));
        assert_eq!(t.rts_duration(t.data(t.frame_bytes(1500)), t.data_mode), Span::us(1946));
    }

    #[test]
    fn the_standard_rounds_up_and_keeps_the_long_preamble_at_1_mbps() {
        let short = Config { data_rate: BitRate::mbps(11), preamble: Preamble::Short, ..Config::default() };
        let t = Timing::new(&short);
        assert_eq!(t.cts, Span::us(304));
        assert_eq!(t.data(1534), Span::us(1212));
        assert_eq!(Timing::new(&Config { preamble: Preamble::Long, ..short }).data(1534), Span::us(1308));
    }

    #[test]
    fn frames_at_the_basic_rate_may_have_a_preamble_of_their_own() {
        let short = Config {
            data_rate: BitRate::mbps(11),
            basic_rate: BitRate::mbps(2),
            preamble: Preamble::Short,
            ..Config::default()
        };
        let t = Timing::new(&short);
        assert_eq!((t.rts, t.cts, t.rx_start_delay), (Span::us(176), Span::us(152), Span::us(96)));
        let t = Timing::new(&Config { basic_preamble: Some(Preamble::Long), ..short });
        assert_eq!((t.rts, t.cts, t.rx_start_delay), (Span::us(272), Span::us(248), Span::us(192)));
        assert_eq!((t.data(1534), t.broadcast(1534)), (Span::us(1212), Span::us(192 + 6136)));
    }
}
