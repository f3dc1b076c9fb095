//! Errors at the receivers of frames.

use crate::error_model::{ErrorModel, FrameErrors, Frames, Kind, Layer};
use crate::packet::{Packet, PacketPool, RadioId};
use crate::radio::Verdict;
use crate::rng::{Purpose, Stream};
use crate::wlan::{Frame, Timing};

/// Error model of each receiver, with the settings shared by all.
#[derive(Clone, Debug)]
pub struct Receivers {
    models: Vec<ErrorModel>,
    frames: Frames,
    layer: Layer,
    extra: u32,
}

impl Receivers {
    /// Creates the error models of radios with these keys; `None` without errors.
    pub fn new(cfg: &FrameErrors, keys: &[u64], seed: u64) -> Option<Box<Receivers>> {
        let config = cfg.model();
        let model = |&key: &u64| ErrorModel::new(&config, Stream::new(seed, Purpose::FrameErrors, key));
        (cfg.model != Kind::None).then(|| {
            Box::new(Receivers {
                models: keys.iter().map(model).collect(),
                frames: cfg.frames,
                layer: cfg.layer,
                extra: cfg.extra_size.0,
            })
        })
    }

    /// Changes the error rate of all receivers.
    pub fn set_rate(&mut self, rate: f64) {
        self.models.iter_mut().for_each(|model| model.set_rate(rate));
    }

    /// Size of a frame, if it is subject to errors below the MAC \[B\].
    pub fn exposed(&self, frame: &Frame, timing: &Timing, pool: &PacketPool) -> Option<u32> {
        self.exposes(frame).then(|| timing.bytes_of(frame.kind, frame.packet.map_or(0, |p| pool[p].bytes)) + self.extra)
    }

    /// Returns true if a frame is subject to errors below the MAC.
    pub fn exposes(&self, frame: &Frame) -> bool {
        self.layer == Layer::Phy && (self.frames == Frames::All || frame.is_unicast_data())
    }

    /// Bytes that count in addition to those of a frame.
    pub fn extra(&self) -> u32 {
        self.extra
    }

    /// Returns true if an error model damages a frame of this size \[B\]. Draws no random number for a frame that is
    /// lost anyway.
    pub fn damages(&mut self, r: RadioId, bytes: u32, verdict: Verdict) -> bool {
        verdict == Verdict::Decoded && self.models[r.index()].damages(bytes)
    }

    /// Verdict on a frame at a receiver, given the `verdict` without errors.
    pub fn judge(
        &mut self,
        r: RadioId,
        frame: &Frame,
        verdict: Verdict,
        timing: &Timing,
        pool: &PacketPool,
    ) -> Verdict {
        let exposed = self.exposed(frame, timing, pool);
        if exposed.is_some_and(|bytes| self.damages(r, bytes, verdict)) { Verdict::Damaged } else { verdict }
    }

    /// Returns true if a packet that the MAC has received is damaged above the MAC.
    pub fn damages_above_mac(&mut self, r: RadioId, p: &Packet, timing: &Timing) -> bool {
        let exposed = self.layer == Layer::Net && (self.frames == Frames::All || !p.next_hop.is_broadcast());
        let bytes = timing.frame_bytes(p.bytes) + self.extra;
        exposed && self.models[r.index()].damages(bytes)
    }
}
