//! Frames of QoS stations: QoS data, block acknowledgement and its requests, action frames (IEEE 802.11-2020, 9.3.1.7,
//! 9.3.1.8, 9.3.2.1 and 9.6.4).

use super::wifi::{self, BSSID, Mac};
use crate::wlan::edca::{Mpdu, Psdu};
use crate::wlan::{Frame, FrameKind};

/// QoS data, in the first byte of a frame.
const QOS_DATA: u8 = 0x88;
/// Ack policy of QoS control: none. That of other data means an ACK, or in an A-MPDU a block acknowledgement.
const NO_ACK: u16 = 1 << 5;
/// QoS control: the body is an A-MSDU.
const A_MSDU: u16 = 1 << 7;
/// Control of a block acknowledgement: its bitmap is compressed.
const COMPRESSED: u16 = 1 << 2;
/// Category of action frames: block acknowledgement.
const BLOCK_ACK: u8 = 3;
/// Parameters of an agreement: A-MSDUs are permitted, and the policy is immediate.
const A_MSDU_PERMITTED: u16 = 1;
const IMMEDIATE: u16 = 1 << 1;

/// A receiver and a transmitter address.
pub type Ends = (Mac, Mac);

/// An MPDU with QoS data; `payloads`: EtherType and contents of each packet in it.
pub fn data(frame: &Frame, (to, from): Ends, psdu: &Psdu, mpdu: &Mpdu, payloads: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut out = wifi::begin(QOS_DATA, mpdu.retry, frame, to);
    out.extend_from_slice(&from);
    out.extend_from_slice(&BSSID);
    out.extend_from_slice(&(mpdu.seq << 4).to_le_bytes());
    let policy = if frame.to.is_broadcast() { NO_ACK } else { 0 };
    let several = payloads.len() > 1;
    let control = u16::from(psdu.tid) | policy | if several { A_MSDU } else { 0 };
    out.extend_from_slice(&control.to_le_bytes());
    for (i, (ether_type, contents)) in payloads.iter().enumerate() {
        if several {
            // All subframes but the last end at a multiple of 4 B.
            let begin = out.len() + 14;
            out.extend_from_slice(&to);
            out.extend_from_slice(&from);
            out.extend_from_slice(&(8 + contents.len() as u16).to_be_bytes());
            wifi::llc(&mut out, *ether_type, contents);
            let length = out.len() - begin + 14;
            if i + 1 < payloads.len() {
                out.resize(begin - 14 + length.next_multiple_of(4), 0);
            }
        } else {
            wifi::llc(&mut out, *ether_type, contents);
        }
    }
    out
}

/// A frame without packets; `window`: buffer size of agreements.
pub fn control(frame: &Frame, (to, from): Ends, psdu: &Psdu, window: u16) -> Vec<u8> {
    let mut out = wifi::frame(frame, to, from, None);
    let tid = u16::from(psdu.tid);
    match frame.kind {
        FrameKind::BlockAckReq | FrameKind::BlockAck => {
            out.extend_from_slice(&(COMPRESSED | tid << 12).to_le_bytes());
            out.extend_from_slice(&(psdu.start << 4).to_le_bytes());
            if frame.kind == FrameKind::BlockAck {
                out.extend_from_slice(&psdu.bitmap.to_le_bytes());
            }
        }
        FrameKind::Action => {
            let parameters = A_MSDU_PERMITTED | IMMEDIATE | tid << 2 | window << 6;
            // The dialog token is the TID and never 0; a response begins with a status of 0, success.
            out.extend_from_slice(&[BLOCK_ACK, u8::from(psdu.responds), psdu.tid + 1]);
            out.extend_from_slice(&[0, 0][..if psdu.responds { 2 } else { 0 }]);
            out.extend_from_slice(&parameters.to_le_bytes());
            // No timeout of the agreement; a request ends with the first sequence number.
            out.extend_from_slice(&[0, 0]);
            if !psdu.responds {
                out.extend_from_slice(&(psdu.start << 4).to_le_bytes());
            }
        }
        _ => {}
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{NodeId, RadioId};
    use crate::wlan::edca::{ADDBA_BYTES, BLOCK_ACK_BYTES, BLOCK_ACK_REQUEST_BYTES};

    #[test]
    fn control_frames_have_their_sizes() {
        let ends = (wifi::mac(NodeId(1), 0), wifi::mac(NodeId(2), 0));
        let psdu = Psdu { tid: 5, start: 0x123, bitmap: 0b1011, ..Psdu::default() };
        let of = |kind, responds| {
            let frame = Frame { kind, to: RadioId(1), from: RadioId(2), ..Frame::NONE };
            control(&frame, ends, &Psdu { responds, ..psdu.clone() }, 64)
        };
        let with_fcs = |bytes: &Vec<u8>| bytes.len() as u32 + 4;
        let ack = of(FrameKind::BlockAck, false);
        assert_eq!(with_fcs(&ack), BLOCK_ACK_BYTES);
        assert_eq!(ack[16..], [0x04, 0x50, 0x30, 0x12, 0b1011, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(with_fcs(&of(FrameKind::BlockAckReq, false)), BLOCK_ACK_REQUEST_BYTES);
        let (request, response) = (of(FrameKind::Action, false), of(FrameKind::Action, true));
        assert_eq!([with_fcs(&request), with_fcs(&response)], [ADDBA_BYTES; 2]);
        // Parameters: 64 << 6 | 5 << 2 | 3.
        assert_eq!(request[24..], [3, 0, 6, 0x17, 0x10, 0, 0, 0x30, 0x12]);
        assert_eq!(response[24..], [3, 1, 6, 0, 0, 0x17, 0x10, 0, 0]);
    }
}
