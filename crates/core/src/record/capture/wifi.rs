//! IEEE 802.11 frames behind a radiotap header, with LLC/SNAP and the frame check sequence.

use crate::packet::NodeId;
use crate::unit::Time;
use crate::wlan::{Frame, FrameKind};

/// EtherType of IPv4.
pub const IPV4: u16 = 0x0800;
/// EtherType of batman-adv.
pub const BATMAN: u16 = 0x4305;
/// EtherType of ARP.
pub const ARP: u16 = 0x0806;

/// MAC address of a station.
pub type Mac = [u8; 6];

/// Address of all stations.
pub const BROADCAST: Mac = [0xff; 6];
/// BSSID of the one network of a run.
pub const BSSID: Mac = [2, 0xff, 0xff, 0xff, 0xff, 0xff];

/// Fields of the radiotap header: TSFT, flags, rate, channel; MCS, A-MPDU status, VHT.
const TSFT_FLAGS_CHANNEL: u32 = 0b1011;
const RATE: u32 = 1 << 2;
const MCS: u32 = 1 << 19;
const A_MPDU: u32 = 1 << 20;
const VHT: u32 = 1 << 21;
/// Flags of the status of an A-MPDU: the last subframe is known, and this is it.
const LAST_KNOWN: u16 = 0x04;
const IS_LAST: u16 = 0x08;
/// Flags of the radiotap header: the frame ends with its check sequence, which was found to be bad.
const FCS_AT_END: u8 = 0x10;
const BAD_FCS: u8 = 0x40;
/// Flags of the channel: CCK, OFDM, 2.4 GHz band, 5 GHz band.
const CCK: u16 = 0x20;
const OFDM: u16 = 0x40;
const BAND_2_4: u16 = 0x80;
const BAND_5: u16 = 0x100;

/// Locally administered MAC address of a radio: 02:00, the node in three bytes, the radio of the node in one.
pub fn mac(node: NodeId, radio: u8) -> Mac {
    let [_, x, y, z] = node.0.to_be_bytes();
    [2, 0, x, y, z, radio]
}

/// Writes a frame of the MAC, up to its check sequence. `to` and `from` are the receiver and transmitter addresses;
/// `payload`: EtherType and contents of a data frame.
pub fn frame(frame: &Frame, to: Mac, from: Mac, payload: Option<(u16, &[u8])>) -> Vec<u8> {
    let kind = match frame.kind {
        FrameKind::Rts => 0xb4,
        FrameKind::Cts => 0xc4,
        FrameKind::Ack => 0xd4,
        FrameKind::Data => 0x08,
        FrameKind::BlockAck => 0x94,
        FrameKind::BlockAckReq => 0x84,
        FrameKind::CfEnd => 0xe4,
        FrameKind::Action => 0xd0,
    };
    let mut out = begin(kind, frame.retry, frame, to);
    match frame.kind {
        FrameKind::Cts | FrameKind::Ack => {}
        FrameKind::Rts | FrameKind::BlockAck | FrameKind::BlockAckReq | FrameKind::CfEnd => {
            out.extend_from_slice(&from);
        }
        FrameKind::Data | FrameKind::Action => {
            out.extend_from_slice(&from);
            out.extend_from_slice(&BSSID);
            out.extend_from_slice(&(frame.seq << 4).to_le_bytes());
        }
    }
    if let Some((ether_type, contents)) = payload {
        llc(&mut out, ether_type, contents);
    }
    out
}

/// Begins a frame with the byte of its type: frame control, Duration and receiver address.
pub fn begin(kind: u8, retry: bool, frame: &Frame, to: Mac) -> Vec<u8> {
    let mut out = vec![kind, if retry { 0x08 } else { 0 }];
    // The field counts whole microseconds, rounded up (IEEE 802.11-2020, 9.2.5.2), up to 32767.
    let reserved = frame.duration.0.div_ceil(1000).min(32_767) as u16;
    out.extend_from_slice(&reserved.to_le_bytes());
    out.extend_from_slice(&to);
    out
}

/// Writes a packet behind its LLC and SNAP header.
pub fn llc(out: &mut Vec<u8>, ether_type: u16, contents: &[u8]) {
    out.extend_from_slice(&[0xaa, 0xaa, 3, 0, 0, 0]);
    out.extend_from_slice(&ether_type.to_be_bytes());
    out.extend_from_slice(contents);
}

/// Center frequency of a channel \[MHz\] (IEEE 802.11-2020, 15.4.4.3 and 17.3.8.4.2).
fn frequency(channel: u16) -> u16 {
    match channel {
        14 => 2484,
        ..14 => 2407 + 5 * channel,
        _ => 5000_u16.saturating_add(channel.saturating_mul(5)),
    }
}

/// MPDU with its radiotap header and check sequence, as it was sent; a flag tells that it was damaged on the way. `at`:
/// time of the first bit of the MPDU, or of the first MPDU of an A-MPDU, which is what TSFT means.
/// `is_vht`: an MCS is one of VHT, not HT. `aggregate`: number of the A-MPDU that it is in, and true for its last MPDU.
pub fn on_air(
    at: Time,
    frame: &Frame,
    (channel, is_vht): (u16, bool),
    (mpdu, aggregate): (&[u8], Option<(u32, bool)>),
    damaged: bool,
) -> Vec<u8> {
    let mode = frame.mode;
    let rate = match mode.is_ht() {
        true if is_vht => VHT,
        true => MCS,
        false => RATE,
    };
    let status = if aggregate.is_some() { A_MPDU } else { 0 };
    let mut out = Vec::with_capacity(50 + mpdu.len());
    out.extend_from_slice(&[0, 0, 0, 0]);
    out.extend_from_slice(&(TSFT_FLAGS_CHANNEL | rate | status).to_le_bytes());
    out.extend_from_slice(&(at.0 / 1000).to_le_bytes());
    out.push(FCS_AT_END | if damaged { BAD_FCS } else { 0 });
    // In units of 500 kbit/s; the byte is padding where the rate is that of an MCS.
    out.push(if rate == RATE { (mode.rate().0 / 500_000) as u8 } else { 0 });
    out.extend_from_slice(&frequency(channel).to_le_bytes());
    let band = if channel <= 14 { BAND_2_4 } else { BAND_5 };
    let modulation = if mode.is_ofdm() || mode.is_ht() { OFDM } else { CCK };
    out.extend_from_slice(&(band | modulation).to_le_bytes());
    let short = u8::from(mode.has_short_guard());
    if rate == MCS {
        // All is known: mixed format, BCC, no STBC, no extension streams; HT counts the MCS over streams.
        out.extend_from_slice(&[0x7f, mode.width() | short << 2, mode.mcs() + 8 * (mode.streams() - 1)]);
    }
    if let Some((number, is_last)) = aggregate {
        out.resize(out.len().next_multiple_of(4), 0);
        out.extend_from_slice(&number.to_le_bytes());
        out.extend_from_slice(&(LAST_KNOWN | if is_last { IS_LAST } else { 0 }).to_le_bytes());
        out.extend_from_slice(&[0, 0]);
    }
    if rate == VHT {
        out.resize(out.len().next_multiple_of(2), 0);
        // Guard interval and bandwidth are known; of the four users one has an MCS and streams.
        out.extend_from_slice(&[0x44, 0, short << 2, [0, 1, 4][usize::from(mode.width())]]);
        out.extend_from_slice(&[mode.mcs() << 4 | mode.streams(), 0, 0, 0, 0, 0, 0, 0]);
    }
    let length = out.len() as u16;
    out[2..4].copy_from_slice(&length.to_le_bytes());
    out.extend_from_slice(mpdu);
    out.extend_from_slice(&crc32(mpdu).to_le_bytes());
    out
}

const CRC: [u32; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let (mut value, mut bit) = (i as u32, 0);
        while bit < 8 {
            value = if value & 1 == 1 { value >> 1 ^ 0xedb8_8320 } else { value >> 1 };
            bit += 1;
        }
        table[i] = value;
        i += 1;
    }
    table
};

/// CRC of the frame check sequence (IEEE 802.11-2020, 9.2.4.8).
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| crc >> 8 ^ CRC[usize::from(crc as u8 ^ byte)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::RadioId;
    use crate::unit::{BitRate, Span};
    use crate::wlan::Mode;

    #[test]
    fn the_crc_is_that_of_the_check_value() {
        // The check value of CRC-32/ISO-HDLC.
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn an_acknowledgement_by_hand() {
        let ack = Frame { kind: FrameKind::Ack, to: RadioId(1), duration: Span(0), ..Frame::NONE };
        let mpdu = frame(&ack, mac(NodeId(1), 0), mac(NodeId(2), 0), None);
        assert_eq!(mpdu, [0xd4, 0, 0, 0, 2, 0, 0, 0, 1, 0]);
        let out = on_air(Time(5_000_999), &ack, (1, false), (&mpdu, None), false);
        #[rustfmt::skip]
        let header = [
            0, 0, 22, 0, 15, 0, 0, 0, 0x88, 0x13, 0, 0, 0, 0, 0, 0, 0x10, 2, 0x6c, 0x09, 0xa0, 0,
        ];
        assert_eq!(out[..22], header);
        assert_eq!(out[32..], crc32(&mpdu).to_le_bytes());
        let damaged = on_air(Time(5_000_999), &ack, (1, false), (&mpdu, None), true);
        assert_eq!((damaged[16], &damaged[17..]), (0x50, &out[17..]));
    }

    #[test]
    fn a_data_frame_by_hand() {
        let mode = Mode::checked(BitRate::mbps(11));
        let data =
            Frame { kind: FrameKind::Data, duration: Span(213_001), seq: 0x123, retry: true, mode, ..Frame::NONE };
        let mpdu = frame(&data, BROADCAST, mac(NodeId(0x0a_0b_0c), 1), Some((IPV4, &[0x45])));
        #[rustfmt::skip]
        let expected = [
            0x08, 0x08, 214, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0x0a, 0x0b, 0x0c, 1,
            2, 0xff, 0xff, 0xff, 0xff, 0xff, 0x30, 0x12, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0, 0x45,
        ];
        assert_eq!(mpdu, expected);
        assert_eq!(on_air(Time(0), &data, (6, false), (&mpdu, None), false)[17..20], [22, 0x85, 0x09]);
    }

    #[test]
    fn channels_lie_in_two_bands() {
        assert_eq!([1, 13, 14, 36].map(frequency), [2412, 2472, 2484, 5180]);
    }
}
