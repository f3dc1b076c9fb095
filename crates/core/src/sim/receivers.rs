//! Errors at the receivers of frames.

use super::Sim;
use crate::error_model::{ErrorModel, Frames, Kind, Layer, Receiver};
use crate::packet::{PacketId, RadioId, Reason, Slab};
use crate::radio::Verdict;
use crate::rng::{Purpose, Stream};
use crate::unit::Time;
use crate::wlan::{Frame, FrameKind, Timing};

/// The error model of every receiver.
#[derive(Clone, Debug)]
pub(super) struct Receivers {
    models: Vec<ErrorModel>,
    frames: Frames,
    layer: Layer,
    extra: u32,
}

impl Receivers {
    /// `None` where there are no errors.
    pub(super) fn new(cfg: &Receiver, radios: usize, seed: u64) -> Option<Box<Receivers>> {
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
    pub(super) fn set_rate(&mut self, rate: f64) {
        self.models.iter_mut().for_each(|model| model.set_rate(rate));
    }

    /// The size of a frame, if the error model works below the MAC and on such frames \[B\].
    pub(super) fn exposed(&self, frame: &Frame, timing: &Timing, slab: &Slab) -> Option<u32> {
        let single = frame.kind == FrameKind::Data && !frame.to.is_broadcast();
        let exposed = self.layer == Layer::Phy && (self.frames == Frames::All || single);
        exposed.then(|| timing.bytes_of(frame.kind, frame.packet.map_or(0, |p| slab[p].bytes)) + self.extra)
    }

    /// Whether an error model damages a frame of this size \[B\]; a frame that is lost anyway is not asked for.
    pub(super) fn damages(&mut self, r: RadioId, bytes: u32, verdict: Verdict) -> bool {
        verdict == Verdict::Decoded && self.models[r.index()].damages(bytes)
    }
}

impl Sim {
    /// What becomes of a frame at a receiver that could decode it.
    pub(super) fn with_errors(&mut self, r: RadioId, frame: &Frame, verdict: Verdict) -> Verdict {
        let Some(receivers) = &mut self.receivers else { return verdict };
        let exposed = receivers.exposed(frame, &self.macs[frame.from.index()].rules.timing, &self.slab);
        if exposed.is_some_and(|bytes| receivers.damages(r, bytes, verdict)) { Verdict::Damaged } else { verdict }
    }

    /// Whether a packet that the MAC has received is damaged above it; if so, it is dropped. No random number is drawn
    /// for messages that the router ignores, because not all of them come here.
    pub(super) fn is_lost_above_mac(&mut self, r: RadioId, at: Time, packet: PacketId) -> bool {
        let Some(receivers) = &mut self.receivers else { return false };
        let n = self.ports.node(r);
        if self.nodes[n.index()].router.ignores(packet, &self.slab, at + self.net.link_delay) {
            return false;
        }
        let p = &self.slab[packet];
        let exposed = receivers.layer == Layer::Net && (receivers.frames == Frames::All || !p.next_hop.is_broadcast());
        let bytes = self.macs[r.index()].rules.timing.frame_bytes(p.bytes) + receivers.extra;
        let lost = exposed && receivers.models[r.index()].damages(bytes);
        if lost {
            self.drop_packet(n, packet, Reason::LinkError);
        }
        lost
    }
}
