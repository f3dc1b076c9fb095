//! Errors at the receivers of frames.

use crate::error_model::{ErrorModel, Frames, Kind, Layer, Receiver};
use crate::packet::{Packet, PacketPool, RadioId};
use crate::radio::Verdict;
use crate::rng::{Purpose, Stream};
use crate::wlan::{Frame, FrameKind, Timing};

/// The error model of every receiver.
#[derive(Clone, Debug)]
pub struct Receivers {
    models: Vec<ErrorModel>,
    frames: Frames,
    layer: Layer,
    extra: u32,
}

impl Receivers {
    /// `None` where there are no errors.
    pub fn new(cfg: &Receiver, radios: usize, seed: u64) -> Option<Box<Receivers>> {
        let model = |i| ErrorModel::new(&cfg.error, Stream::new(seed, Purpose::FrameErrors, i));
        (cfg.error.model != Kind::None).then(|| {
            Box::new(Receivers {
                models: (0..radios as u64).map(model).collect(),
                frames: cfg.frames,
                layer: cfg.layer,
                extra: cfg.extra.0,
            })
        })
    }

    /// Another rate of errors at all receivers.
    pub fn set_rate(&mut self, rate: f64) {
        self.models.iter_mut().for_each(|model| model.set_rate(rate));
    }

    /// The size of a frame, if the error model works below the MAC and on such frames \[B\].
    pub fn exposed(&self, frame: &Frame, timing: &Timing, pool: &PacketPool) -> Option<u32> {
        let single = frame.kind == FrameKind::Data && !frame.to.is_broadcast();
        let exposed = self.layer == Layer::Phy && (self.frames == Frames::All || single);
        exposed.then(|| timing.bytes_of(frame.kind, frame.packet.map_or(0, |p| pool[p].bytes)) + self.extra)
    }

    /// Tells if an error model damages a frame of this size \[B\]; a frame that is lost anyway is not asked for.
    pub fn damages(&mut self, r: RadioId, bytes: u32, verdict: Verdict) -> bool {
        verdict == Verdict::Decoded && self.models[r.index()].damages(bytes)
    }

    /// Verdict on a frame at a receiver that would give it this `verdict` if there were no errors.
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

    /// Tells if a packet that the MAC has received is damaged above the MAC. `timing`: of its station.
    pub fn damages_above_mac(&mut self, r: RadioId, p: &Packet, timing: &Timing) -> bool {
        let exposed = self.layer == Layer::Net && (self.frames == Frames::All || !p.next_hop.is_broadcast());
        let bytes = timing.frame_bytes(p.bytes) + self.extra;
        exposed && self.models[r.index()].damages(bytes)
    }
}
