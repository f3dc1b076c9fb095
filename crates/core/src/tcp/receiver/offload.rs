//! Generic receive offload: segments that arrive together reach TCP as one (Linux 6.18, `tcp_gro_receive`).

use crate::packet::{DataSegment, Ecn, Fin, Seq};
use crate::tcp::ack::interface::Arrived;
use crate::tcp::config::Config;
use crate::unit::Time;

/// Size that a joined packet stays below \[B\] (`GRO_LEGACY_MAX_SIZE`).
const TOO_LARGE: u32 = 65_536;

/// Segments that arrive together, such as those of an aggregate: what one poll of a network device brings.
#[derive(Clone, Debug)]
pub(super) struct Offload {
    /// Largest number of segments that are joined.
    most: u32,
    timestamps: bool,
    joined: Option<Joined>,
}

/// Segments that were joined.
#[derive(Clone, Debug)]
struct Joined {
    /// Instant of their arrival.
    at: Time,
    /// Fields of their headers that have to agree: timestamps \[ms\], ECN, ECE, hops.
    header: (u64, u64, Ecn, bool, u8),
    count: u32,
    /// Last number.
    last: Seq,
    /// Arrival of the joined segments, for TCP.
    arrived: Arrived,
}

impl Offload {
    /// Offload of a receiver with these settings; `None`: each segment reaches TCP by itself.
    pub(super) fn of(cfg: &Config) -> Option<Box<Offload>> {
        let most = (TOO_LARGE - 1).saturating_sub(cfg.header_size.0) / cfg.mss.0;
        cfg.gro.then(|| Box::new(Offload { most, timestamps: cfg.timestamps, joined: None }))
    }

    /// Instant at which the segments that have arrived reach TCP.
    pub(super) fn deadline(&self) -> Time {
        self.joined.as_ref().map_or(Time::NEVER, |joined| joined.at)
    }

    fn header(&self, segment: &DataSegment, hops: u8, ecn: Ecn) -> (u64, u64, Ecn, bool, u8) {
        let ms = |at: Time| if self.timestamps { at.0 / 1_000_000 } else { 0 };
        (ms(segment.sent), ms(segment.echo), ecn, segment.ece, hops)
    }

    /// Returns true if a segment, the next one expected or not, follows those that were joined.
    pub(super) fn precedes(&self, segment: &DataSegment, (hops, ecn): (u8, Ecn), in_order: bool, now: Time) -> bool {
        let flags = segment.control.is_some() || segment.fin == Fin::Bare || segment.cwr;
        self.joined.as_ref().is_some_and(|joined| {
            (joined.at, joined.last + 1, joined.arrived.in_order) == (now, segment.seq, in_order)
                && joined.header == self.header(segment, hops, ecn)
                && !flags
        })
    }

    /// Joins a segment to those before it. Returns true if no other one follows: the segment is short or has one of the
    /// flags PSH, FIN and SYN, or there is no more room.
    pub(super) fn join(&mut self, arrived: Arrived, segment: &DataSegment, (hops, ecn): (u8, Ecn), now: Time) -> bool {
        let header = self.header(segment, hops, ecn);
        let first = Joined { at: now, header, count: 0, last: segment.seq, arrived };
        let joined = self.joined.get_or_insert(first);
        let before = joined.arrived;
        (joined.count, joined.last) = (joined.count + 1, segment.seq);
        joined.arrived = Arrived { fills_gap: before.fills_gap || arrived.fills_gap, ..arrived };
        if let (Some(before), Some(buffer)) = (before.buffer, &mut joined.arrived.buffer) {
            buffer.grows |= before.grows;
            buffer.after_idle = before.after_idle.or(buffer.after_idle);
        }
        let is_last = segment.push || segment.fin != Fin::No || segment.syn || segment.missing > 0;
        is_last || joined.count >= self.most
    }

    /// Returns the arrival of the joined segments, and holds none any more; `None` if none were joined.
    pub(super) fn take(&mut self) -> Option<Arrived> {
        self.joined.take().map(|joined| joined.arrived)
    }
}
