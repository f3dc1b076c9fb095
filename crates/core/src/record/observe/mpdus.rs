//! Every packet in a data frame of a QoS station, which may be an A-MPDU.

use super::Whose;
use super::columns::table;
use crate::packet::{NodeId, PacketPool, RadioId};
use crate::record::note::Note;
use crate::run::Setup;
use crate::unit::Time;
use crate::wlan::edca::{Mpdu, Psdu};
use crate::wlan::{Frame, FrameKind};

table! {
    /// A packet in a data frame: the contents of an MPDU, or an MSDU of one.
    pub struct Row in Kept {
        /// Beginning of the transmission, `time_s` of the frame in `frames` \[s\].
        time_s: Time,
        /// Sending node.
        src: NodeId,
        /// Intended receiver; null: broadcast.
        dst: Option<NodeId>,
        /// Channel number.
        channel: u32,
        /// Number of the packet, as in `packets`.
        packet: Option<u64>,
        /// Sequence number of the MPDU; the packets of an A-MSDU share it.
        mac_sequence: u32,
        /// Size of the MPDU, with MAC header and FCS \[B\].
        bytes: u32,
        /// Retry bit of the MPDU.
        retry: bool,
        /// The intended receiver has decoded the MPDU; false for a broadcast.
        received: bool,
    }
}

/// Writes the rows of a frame when its end has reached all receivers.
#[derive(Clone, Debug)]
pub struct Mpdus {
    radios: Whose,
    /// Rows of the frames on the air, by sender.
    on_air: Vec<(RadioId, Vec<Row>)>,
    /// Rows written so far.
    pub(super) rows: Kept,
}

impl Mpdus {
    pub(super) fn new(setup: &Setup) -> Mpdus {
        Mpdus { radios: Whose::new(setup), on_air: Vec::new(), rows: Kept::default() }
    }

    pub(super) fn on(&mut self, at: Time, note: &Note<'_>) {
        match *note {
            Note::FrameBegins { frame, psdu: Some(psdu), pool, .. } if frame.kind == FrameKind::Data => {
                self.begins(at, frame, psdu, pool);
            }
            Note::FrameHeard { radio, frame, arrived, .. } if frame.to == radio => {
                let of_frame = self.on_air.iter_mut().find(|f| f.0 == frame.from);
                let rows = of_frame.into_iter().flat_map(|f| &mut f.1);
                rows.zip(arrived).for_each(|(row, &arrived)| row.received = arrived);
            }
            Note::FrameOver { frame, .. } => {
                if let Some(i) = self.on_air.iter().position(|f| f.0 == frame.from) {
                    self.on_air.swap_remove(i).1.into_iter().for_each(|row| self.rows.push(row));
                }
            }
            Note::End => self.on_air.drain(..).flat_map(|f| f.1).for_each(|row| self.rows.push(row)),
            _ => {}
        }
    }

    fn begins(&mut self, at: Time, frame: &Frame, psdu: &Psdu, pool: &PacketPool) {
        let radios = &self.radios;
        let row = |mpdu: &Mpdu| Row {
            time_s: at,
            src: radios.node(frame.from),
            dst: (!frame.to.is_broadcast()).then(|| radios.node(frame.to)),
            channel: radios.channel(frame.from),
            packet: pool.number(mpdu.packet),
            mac_sequence: mpdu.seq.into(),
            bytes: mpdu.bytes,
            retry: mpdu.retry,
            received: false,
        };
        self.on_air.push((frame.from, psdu.mpdus.iter().map(row).collect()));
    }
}
