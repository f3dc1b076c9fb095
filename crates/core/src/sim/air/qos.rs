//! State of the engine for QoS stations.

use super::mac::Mac;
use crate::packet::{PacketId, RadioId};
use crate::radio::{Ended, ReceptionSink};
use crate::sim::timer_numbers::Timer;
use crate::sim::timers::Timers;
use crate::unit::Time;
use crate::wlan::edca::Psdu;
use std::mem::take;

/// A packet that waits in the reordering buffer of a radio.
#[derive(Clone, Copy, Debug)]
struct Stored {
    from: RadioId,
    tid: u8,
    seq: u16,
    packet: PacketId,
}

/// Frames, verdicts and buffers of QoS stations.
#[derive(Clone, Debug, Default)]
pub struct Qos {
    /// Contents of the last frame of each radio.
    pub psdus: Vec<Psdu>,
    /// Reordering buffer of each radio.
    stored: Vec<Vec<Stored>>,
    /// For each entry of a PSDU, true if it has arrived.
    pub arrived: Vec<bool>,
    /// Ends of a frame at receivers.
    pub ended: Vec<(RadioId, Ended)>,
    /// Packets read at radios that they are not for.
    pub overheard: Vec<(RadioId, PacketId)>,
}

/// Start of a frame at QoS stations.
pub struct QosFrameStart<'a> {
    pub macs: &'a mut [Mac],
    pub timers: &'a mut Timers,
    /// Instant at which the packet came that the sender sends without backoff.
    pub immediate: Option<Time>,
}

impl ReceptionSink for QosFrameStart<'_> {
    fn busy(&mut self, r: RadioId, from: Time) {
        let Mac { qos: Some(station), rules, .. } = &mut self.macs[r.index()] else { return };
        if station.on_busy(from, self.immediate, &rules.timing, &rules.dcf) {
            self.timers.set(Timer::Mac(r), station.deadline());
        }
    }

    fn captured(&mut self, r: RadioId, from: Time, until: Time) {
        let Mac { qos: Some(station), rules, .. } = &mut self.macs[r.index()] else { return };
        station.on_captured(from, until, &rules.timing, &rules.dcf);
    }
}

impl Qos {
    /// State for this number of radios.
    pub fn new(radios: usize) -> Box<Qos> {
        let psdus = vec![Psdu::default(); radios];
        Box::new(Qos { psdus, stored: vec![Vec::new(); radios], ..Qos::default() })
    }

    /// Keeps a packet for its turn.
    pub fn store(&mut self, r: RadioId, (from, tid, seq): (RadioId, u8, u16), packet: PacketId) {
        self.stored[r.index()].push(Stored { from, tid, seq, packet });
    }

    /// Takes out the next packet that was stored under a number.
    pub fn release(&mut self, r: RadioId, key: (RadioId, u8, u16)) -> Option<PacketId> {
        let stored = &mut self.stored[r.index()];
        let i = stored.iter().position(|s| (s.from, s.tid, s.seq) == key)?;
        Some(stored.remove(i).packet)
    }

    /// Takes out all packets that wait at a radio.
    pub fn clear(&mut self, r: RadioId) -> impl Iterator<Item = PacketId> + use<> {
        take(&mut self.stored[r.index()]).into_iter().map(|s| s.packet)
    }

    /// Number of packets in reordering buffers.
    pub fn packets_held(&self) -> usize {
        self.stored.iter().map(Vec::len).sum()
    }
}
