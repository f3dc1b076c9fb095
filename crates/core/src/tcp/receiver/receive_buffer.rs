//! The buffer of a receiver, and the window that it advertises: the free space, with silly windows avoided (RFC 9293,
//! 3.8.6.2.2). With `tcp.receive_buffer` the space is computed as Linux does, in bytes of memory: the window begins
//! small, grows with the segments that arrive, and the buffer grows with what the application reads in a round-trip
//! time (dynamic right-sizing; Fisk and Feng, "Dynamic Right-Sizing in TCP", 2001). The rules were derived from the
//! behavior of a kernel whose receiver reports `rcv_ssthresh`, buffer and round-trip time (`TCP_INFO`).

use crate::setting::limit::range;
use crate::settings;
use crate::unit::{Bytes, Span, Time};
use std::collections::BTreeMap;

settings! {
    /// Buffer of the receiver in bytes of memory, with the auto-tuning of Linux.
    pub struct Config if enabled, else "`tcp.receive_buffer.enabled` is false" {
        /// Advertises the free space of a buffer in bytes, at most `tcp.receive_window`; otherwise the buffer holds
        /// `tcp.receive_window` segments.
        pub enabled: bool = false,
        /// Size of the buffer at the start, at least two segments (Linux: second number of `tcp_rmem`, or twice
        /// `SO_RCVBUF`).
        pub initial: Bytes = Bytes(131_072) => range(Bytes(2304), Bytes(1_000_000_000)),
        /// Size up to which auto-tuning grows the buffer (Linux: third number of `tcp_rmem`). If it is not above the
        /// initial size, the buffer is fixed.
        pub max: Bytes = Bytes(6_291_456) => range(Bytes(2304), Bytes(1_000_000_000)),
        /// Memory of a segment in the buffer, bookkeeping included (Linux: `truesize`, which depends on the device;
        /// 2304 B for packets of 1500 B from a TUN device).
        pub segment_memory: Bytes = Bytes(2304) => range(Bytes(1), Bytes(65_536)),
    }
}

/// Share of the memory that is payload before a segment has arrived, in 256ths.
const RATIO_BEFORE: i64 = 128;

/// Largest window that can be advertised without scaling \[B\].
const LARGEST_UNSCALED: i64 = 65_535;

/// Buffer of a receiver. Sizes are in bytes.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct ReceiveBuffer {
    mss: i64,
    /// Memory of a segment.
    memory: i64,
    size: i64,
    /// True for a size in bytes of memory, which grows up to `max`.
    of_memory: bool,
    max: i64,
    /// Payload that a byte of memory holds, in 256ths.
    ratio: i64,
    /// Unit in which the window is advertised: a power of two.
    unit: i64,
    /// Largest window that can be advertised in this unit.
    largest: i64,
    /// Largest window that the size allows.
    clamp: i64,
    /// Largest window that the segments so far allow (Linux: `rcv_ssthresh`).
    threshold: i64,
    /// A segment has arrived.
    begun: bool,
    /// Last advertised window, and its right edge.
    window: i64,
    edge: i64,
    /// Bytes that have arrived in order, and those of them that the application has read, as if each segment were full:
    /// the window counts segments.
    arrived: i64,
    read: i64,
    /// Short segments that are not read: the end of each, counted as if all segments were full, and the missing bytes.
    short: BTreeMap<i64, i64>,
    /// Payload that has arrived in order and is not read.
    unread: i64,
    /// Segments above a hole.
    ahead: u32,
    /// Time of the last segment, and the retransmission timeout without the round-trip time.
    last: Time,
    least_timeout: Span,
    tuning: Tuning,
}

/// Measurement of the data that the application reads in a round-trip time.
#[derive(Clone, Debug)]
struct Tuning {
    /// Largest amount read in a round-trip time.
    most: i64,
    /// Amount read when the current round-trip time began, and that time.
    mark: i64,
    since: Time,
    /// Estimate of the round-trip time, and the echo of its last sample \[ms\].
    rtt: Option<Span>,
    echo_ms: u64,
}

impl ReceiveBuffer {
    /// An empty buffer for segments with this payload, the window of a receiver without a size of memory, and the least
    /// retransmission timeout.
    pub fn new(cfg: &Config, mss: Bytes, receive_window: u32, least_timeout: Span) -> ReceiveBuffer {
        let mss = i64::from(mss.0);
        let segments = i64::from(receive_window) * mss;
        let mut buffer = ReceiveBuffer {
            mss,
            memory: mss,
            size: segments,
            of_memory: cfg.enabled,
            max: segments,
            ratio: 256,
            unit: 1,
            largest: i64::MAX,
            clamp: segments,
            threshold: segments,
            begun: false,
            window: segments,
            edge: segments,
            arrived: 0,
            read: 0,
            short: BTreeMap::new(),
            unread: 0,
            ahead: 0,
            last: Time::NEVER,
            least_timeout,
            tuning: Tuning { most: 0, mark: 0, since: Time::ZERO, rtt: None, echo_ms: 0 },
        };
        if cfg.enabled {
            buffer.take_memory(cfg);
        }
        buffer
    }

    /// Sets the size in bytes of memory.
    fn take_memory(&mut self, cfg: &Config) {
        let mss = self.mss;
        (self.memory, self.ratio) = (i64::from(cfg.segment_memory.0).max(mss), RATIO_BEFORE);
        (self.size, self.max) = (i64::from(cfg.initial.0).max(2 * self.memory), i64::from(cfg.max.0));
        let full = self.payload_of(self.size);
        let largest = if self.max > self.size { self.max } else { full };
        self.unit = 1 << (largest.max(1).ilog2().saturating_sub(15)).min(14);
        self.largest = LARGEST_UNSCALED * self.unit;
        self.window = (full.min(LARGEST_UNSCALED) / mss).max(1) * mss;
        self.edge = self.window;
        self.clamp = (full - mss).max(2 * mss);
        self.threshold = self.window.min(self.clamp);
        self.tuning.most = self.window.min(10 * mss);
    }

    /// Returns true if the size is one in bytes of memory (`tcp.receive_buffer`).
    pub fn is_of_memory(&self) -> bool {
        self.of_memory
    }

    /// Window that is advertised first \[segments\].
    pub fn first_offer(&self) -> u32 {
        (self.window / self.mss) as u32
    }

    /// Payload for which there is space in this memory.
    fn payload_of(&self, memory: i64) -> i64 {
        (memory * self.ratio) >> 8
    }

    /// Space for payload.
    fn free(&self) -> i64 {
        let held = self.arrived / self.mss - self.read / self.mss + i64::from(self.ahead);
        self.payload_of(self.size - held * self.memory)
    }

    /// Changes the size of a buffer of segments.
    pub fn set_segments(&mut self, segments: u32) {
        if !self.of_memory {
            self.size = i64::from(segments) * self.mss;
            (self.clamp, self.threshold) = (self.size, self.size);
        }
    }

    /// Notes the time of a segment. Returns the last advertised window \[segments\], if no segment had come for longer
    /// than a retransmission timeout.
    pub fn note(&mut self, now: Time) -> Option<u32> {
        let timeout = self.least_timeout + self.tuning.rtt.unwrap_or(Span::ZERO);
        let idle = self.last != Time::NEVER && now.since(self.last) > timeout;
        self.last = now;
        idle.then_some((self.window / self.mss) as u32)
    }

    /// Returns true if less than half of the buffer is free.
    pub fn is_scarce(&self) -> bool {
        self.free() < self.full() / 2
    }

    fn full(&self) -> i64 {
        self.clamp.min(self.payload_of(self.size))
    }

    /// Window for the free space, regardless of the right edge advertised before; 0 in place of a small window.
    fn window(&self) -> i64 {
        let (full, mut free) = (self.full(), self.free());
        let mss = self.mss.min(full);
        if free < full / 2 {
            free -= free.rem_euclid(self.unit);
            if free < full / 16 || free < mss {
                return 0;
            }
        }
        free = free.min(self.threshold);
        if self.unit > 1 {
            return rounded_up(free, self.unit);
        }
        if self.window <= free - mss || self.window > free { free / mss * mss } else { self.window }
    }

    /// Free part of the last advertised window: bytes up to the right edge.
    fn left(&self) -> i64 {
        self.edge - self.arrived
    }

    /// Advertises the window, in whole segments. The right edge never moves back (RFC 9293, 3.8.6).
    pub fn offer(&mut self) -> u32 {
        if self.of_memory && !self.begun {
            return self.first_offer();
        }
        let (new, left) = (self.window(), self.left());
        let window = if new < left { rounded_up(left, self.unit) } else { new };
        self.window = window.min(self.largest);
        self.edge = self.arrived + self.window;
        (self.window / self.mss) as u32
    }

    /// Returns true if a segment, counted from the first with data, is within the advertised window.
    pub fn has_room_for(&self, segment: u32) -> bool {
        (i64::from(segment) + 1) * self.mss <= self.edge
    }

    /// Returns true if the window would be at least the last advertised window.
    pub fn keeps_window(&self) -> bool {
        self.window() >= self.window
    }

    /// Returns true if the free space justifies an acknowledgement: at most half of the largest window is left, and the
    /// new window is at least twice the rest.
    pub fn is_worth_update(&self) -> bool {
        let left = self.left();
        2 * left <= self.clamp && {
            let new = self.window();
            new > 0 && new >= 2 * left
        }
    }

    /// A segment, counted from the first with data, has arrived, and is shorter than a full one by `missing` bytes.
    pub fn note_short(&mut self, segment: u32, missing: u32) {
        let end = (i64::from(segment) + 1) * self.mss;
        // A copy of a segment that has arrived changes nothing.
        if end > self.arrived {
            self.short.insert(end, i64::from(missing));
        }
    }

    /// Segments have arrived: in order since the last call, and above a hole in total. Returns true if the window grows
    /// with them.
    pub fn take(&mut self, in_order: u32, ahead: u32, now: Time) -> bool {
        if !self.begun && self.of_memory {
            self.begin(now);
        }
        let before = self.arrived;
        self.arrived += i64::from(in_order) * self.mss;
        let missing: i64 = self.short.range(before..=self.arrived).filter(|s| *s.0 > before).map(|s| s.1).sum();
        self.unread += self.arrived - before - missing;
        self.ahead = ahead;
        let room = self.clamp.min(self.free()) - self.threshold;
        let grows = self.of_memory && room > 0;
        if grows {
            self.threshold += room.min(2 * self.mss);
        }
        grows
    }

    /// The first segment shows how much of the memory is payload.
    fn begin(&mut self, now: Time) {
        self.begun = true;
        self.ratio = (self.mss * 256 / self.memory).max(1);
        self.clamp = self.payload_of(self.size);
        self.threshold = self.threshold.max(self.window.min(self.clamp));
        self.tuning.most = self.tuning.most.min(self.clamp);
        self.tuning.since = now;
    }

    /// Measures the round-trip time by the echo of a segment. A longer time counts only if the application has read
    /// everything: otherwise it contains the wait for the application.
    pub fn measure(&mut self, echo: Time, now: Time) {
        let (echo_ms, now_ms) = (echo.0 / 1_000_000, now.0 / 1_000_000);
        if !self.of_memory || echo == Time::ZERO || echo_ms == self.tuning.echo_ms {
            return;
        }
        self.tuning.echo_ms = echo_ms;
        let sample = Span::ms(now_ms.saturating_sub(echo_ms).max(1));
        let before = self.tuning.rtt.unwrap_or(sample);
        if sample <= before {
            self.tuning.rtt = Some(sample);
        } else if self.arrived == self.read {
            self.tuning.rtt = Some(Span(before.0 - before.0 / 8 + sample.0 / 8));
        }
    }

    /// Bytes that the application has not read.
    pub fn unread(&self) -> u64 {
        self.unread as u64
    }

    /// The application reads bytes. Returns the segments that it has read completely by that.
    pub fn read(&mut self, bytes: u64, now: Time) -> u32 {
        let before = self.read / self.mss;
        let end = self.end_of_read(bytes as i64);
        self.unread -= bytes as i64;
        // The size is adapted when the first segment is read.
        self.read = end.min((before + 1) * self.mss);
        self.adapt(now);
        self.read = end;
        (end / self.mss - before) as u32
    }

    /// Position up to which the application has read after these bytes; a short segment is then read as if it were
    /// full.
    fn end_of_read(&mut self, mut bytes: i64) -> i64 {
        let mut end = self.read;
        while let Some(short) = self.short.first_entry()
            && end + bytes >= short.key() - short.get()
        {
            bytes -= short.key() - short.get() - end;
            end = short.remove_entry().0;
        }
        end + bytes
    }

    /// Grows the buffer if the application reads more in a round-trip time than ever before.
    fn adapt(&mut self, now: Time) {
        let t = &mut self.tuning;
        if self.max <= self.size || t.rtt.is_none_or(|rtt| now.since(t.since) < rtt) {
            return;
        }
        let copied = self.read - t.mark;
        (t.mark, t.since) = (self.read, now);
        if copied <= t.most {
            return;
        }
        let before = std::mem::replace(&mut t.most, copied);
        // Doubles the amount, so that the sender may double its rate, and adds more the faster the amount has grown.
        let window = 2 * copied;
        let window = window + 2 * (window * (copied - before) / before) + i64::from(self.ahead) * self.mss;
        let size = (window * 256 / self.ratio).min(self.max);
        if size > self.size {
            self.size = size;
            self.clamp = self.payload_of(size);
        }
    }
}

/// The next multiple of the unit of windows.
fn rounded_up(bytes: i64, unit: i64) -> i64 {
    (bytes + unit - 1) / unit * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_application_reads_the_bytes_of_short_segments() {
        let mut buffer = ReceiveBuffer::new(&Config::default(), Bytes(1000), 8, Span::ms(200));
        // Segments of 1000, 200 and 300 B, the last one ahead of the second, and a copy of it.
        buffer.take(1, 0, Time::ZERO);
        buffer.note_short(2, 700);
        buffer.take(0, 1, Time::ZERO);
        assert_eq!(buffer.unread(), 1000);
        buffer.note_short(2, 700);
        buffer.note_short(1, 800);
        buffer.take(2, 0, Time::ZERO);
        assert_eq!(buffer.unread(), 1500);
        let read = [900, 299, 1, 300].map(|bytes| (buffer.read(bytes, Time::ZERO), buffer.unread()));
        assert_eq!(read, [(0, 600), (1, 301), (1, 300), (1, 0)]);
        buffer.note_short(1, 800);
        assert_eq!((buffer.short.len(), buffer.read), (0, 3000));
    }
}
