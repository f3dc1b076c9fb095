//! Segments in the node of the sender: the limit of packets in its queue, and drops there.

use super::{Connection, Cut};
use crate::packet::{DataSegment, Seq};
use crate::tcp::cc::interface::Signal;
use crate::tcp::config::{LocalDrop, SmallQueue};
use crate::tcp::sender::writes::OVERHEAD;
use crate::unit::{Span, Time};
use std::num::NonZeroU64;

/// Share of a second whose data may wait in the node, as a shift (Linux: `sk_pacing_shift`), and with an 802.11 radio.
const SHIFTS: (u8, u8) = (10, 7);

/// Largest GSO packet (Linux: `GSO_LEGACY_MAX_SIZE`) \[B\], and the fewest segments in one.
const GSO_BYTES: u64 = 65_536;
const GSO_SEGMENTS: u64 = 2;

/// Largest memory of the packets of a sender that does not pace (Linux 6.18: `tcp_limit_output_bytes`) \[B\].
const LIMIT_OUTPUT_BYTES: u64 = 4 << 20;

impl Connection {
    /// Returns true if the node of the sender may take another packet of the connection.
    #[inline]
    pub fn has_room_at_node(&self) -> bool {
        self.has_room(0)
    }

    /// Returns true if the node of the sender may take a retransmission: Linux allows twice as much for it.
    pub(in crate::tcp) fn has_room_to_resend(&self) -> bool {
        self.has_room(1)
    }

    #[inline]
    fn has_room(&self, shift: u8) -> bool {
        match self.cfg.small_queue {
            None => true,
            Some(SmallQueue::Packets(most)) => self.queued < most,
            Some(SmallQueue::Auto | SmallQueue::AnyDevice) => self.has_memory_at_node(shift),
        }
    }

    /// Returns true if the packets in the node take less memory than two packets, or than the data that the pacing rate
    /// sends in 1/1024 s, with a radio in 1/128 s; `shift` doubles that. A sender that does not pace has a rate, too:
    /// twice that of its window in the first half of slow start, and 1.2 times that later.
    fn has_memory_at_node(&self, shift: u8) -> bool {
        // With at most one outstanding segment, unneeded retransmissions delay no other segment.
        if self.queued < 2 || self.outstanding() < 2 {
            return true;
        }
        let memory = u64::from(self.cfg.mss.0) + OVERHEAD;
        let limit = (2 * memory).max(self.data_at_once());
        let limit = if self.pacing_rate.is_none() { limit.min(LIMIT_OUTPUT_BYTES) } else { limit };
        u64::from(self.queued) * memory < limit << shift
    }

    /// Data that the pacing rate sends in 1/1024 s, with a radio in 1/128 s \[B\].
    fn data_at_once(&self) -> u64 {
        let segments = self.window.cwnd.max(f64::from(self.outstanding()));
        let gain = if self.window.cwnd < self.window.ssthresh / 2.0 { 2.0 } else { 1.2 };
        let of_window = |srtt: Span| (gain * segments * f64::from(self.cfg.mss.0) / srtt.as_secs()) as u64;
        let rate = self.pacing_rate.map(NonZeroU64::get).or_else(|| self.rto.srtt().map(of_window)).unwrap_or_default();
        let by_radio = self.own_node.as_ref().is_some_and(|node| node.by_radio);
        let is_wifi = by_radio && self.cfg.small_queue != Some(SmallQueue::AnyDevice);
        rate >> if is_wifi { SHIFTS.1 } else { SHIFTS.0 }
    }

    /// Number of segments in a GSO packet of Linux: the data of that time, at least two segments.
    pub fn segments_at_once(&self) -> u32 {
        (self.data_at_once().min(GSO_BYTES) / u64::from(self.cfg.mss.0)).max(GSO_SEGMENTS) as u32
    }

    /// A packet of the connection is passed to an 802.11 radio, whose driver lets more data wait, so that frames are
    /// aggregated (Linux: `tx_sk_pacing_shift` of mac80211). No other outlet sets it back.
    pub(in crate::tcp) fn on_radio(&mut self) {
        self.own_node.get_or_insert_default().by_radio = true;
    }

    /// Sets the pacing rate of the loss recovery \[B/s\]; 0: none.
    #[inline]
    pub(in crate::tcp) fn set_pacing_rate(&mut self, rate: u64) {
        self.pacing_rate = NonZeroU64::new(rate);
    }

    /// Counts a packet that is passed to the network layer: a segment, or a header alone with [`Seq::MAX`].
    #[inline]
    pub(super) fn count_queued(&mut self, seq: Seq) {
        self.queued += u32::from(self.cfg.small_queue.is_some());
        if let Some(node) = self.own_node.as_mut().filter(|node| node.heeds_copies && seq < Seq::MAX) {
            node.copies.push_back(seq);
        }
    }

    /// The node tells which packets have left it: segments whose last copies have not are not sent again.
    pub(in crate::tcp) fn heed_copies(&mut self) {
        if self.cfg.is_rack_tlp() {
            self.own_node.get_or_insert_default().heeds_copies = true;
        }
    }

    /// Returns true if a segment must not be sent again because its last copy has not left the node (Linux). Sending
    /// then resumes when a packet leaves.
    pub(in crate::tcp) fn holds_copy(&mut self, seq: Seq) -> bool {
        let Some(node) = &mut self.own_node else { return false };
        let holds = node.copies.contains(&seq);
        node.awaits_copy |= holds;
        holds
    }

    /// Packets of the connection that have not left the node, if their number is limited.
    pub fn queued(&self) -> u32 {
        self.queued
    }

    /// A packet of the connection has left the node or was dropped there, perhaps because the queue refused it.
    pub(in crate::tcp) fn on_left(&mut self, seq: Seq, refused: bool) {
        debug_assert!(self.queued > 0 || self.cfg.small_queue.is_none(), "a packet leaves that was not there");
        let mut held = !self.has_room_at_node();
        if let Some(node) = &mut self.own_node {
            if node.copies.pop_front_if(|copy| *copy == seq).is_none()
                && let Some(i) = node.copies.iter().position(|copy| *copy == seq)
            {
                node.copies.remove(i);
            }
            held |= std::mem::take(&mut node.awaits_copy);
        }
        self.queued = self.queued.saturating_sub(1);
        if held && refused {
            self.start_over();
        } else if held {
            self.resumes_at = self.now;
        }
    }

    /// Sets the timer to send again if nothing is outstanding, because no acknowledgement will then arrive.
    pub(in crate::tcp) fn start_over(&mut self) {
        if self.una == self.max && self.una < self.available {
            self.starts_over = true;
            if self.timer == Time::NEVER {
                self.restart_timer();
            }
        }
    }

    /// Returns true if sending resumes now, once for each time that it was held back.
    pub(in crate::tcp) fn takes_up(&mut self) -> bool {
        let due = self.resumes_at <= self.now;
        if due {
            self.resumes_at = Time::NEVER;
        }
        due
    }

    /// Returns true if a drop by the full queue of the node is noticed, and no loss.
    fn notices_drop(&self, segment: &DataSegment) -> bool {
        self.cfg.local_drop != LocalDrop::Lost && segment.control.is_none() && !segment.syn
    }

    /// Returns true if such a drop cuts the window: once for all drops and losses of a window of data.
    pub(in crate::tcp) fn is_cut_by_drop(&self, segment: &DataSegment) -> bool {
        self.notices_drop(segment) && (self.last_cut == Cut::Never || self.una > self.recover)
    }

    /// Cuts the window for such a drop.
    pub(in crate::tcp) fn cut_for_drop(&mut self) {
        let before = self.window.cwnd;
        self.recover = self.max;
        self.cut_to_share(Signal::Ecn, 0.5);
        self.window.cwnd = self.window.cwnd.max(self.window.ssthresh).min(before);
    }

    /// The queue of the node was full and has dropped a segment. New segments count as not yet sent if all segments
    /// sent after them were dropped, too.
    pub(in crate::tcp) fn on_local_drop(&mut self, segment: &DataSegment) {
        if !self.notices_drop(segment) || segment.retransmission {
            return;
        }
        let node = self.own_node.get_or_insert_default();
        let (from, end) = node.refused;
        let joins = from < end && segment.seq == end;
        let refused = (if joins { from } else { segment.seq }, segment.seq + 1);
        node.refused = refused;
        if refused.1 == self.max && refused.0 >= self.una {
            node.refused = (0, 0);
            self.take_back(refused.0);
        }
    }

    /// Withdraws the segments from this one on, which never left the node.
    fn take_back(&mut self, from: Seq) {
        self.pushed = self.pushed.checked_shr(self.max - from).unwrap_or(0);
        self.max = from;
        self.nxt = self.nxt.min(self.max);
        self.recover = self.recover.min(self.max);
        self.limited = self.limited.min(self.max - self.una);
        self.timed = self.timed.filter(|t| t.0 < self.max);
        self.cc.on_rewind(self.nxt);
        self.start_over();
    }

    /// After an expiration of the timer: tells if it was running only because the queue had refused all outstanding
    /// segments, which are then sent again.
    pub(in crate::tcp) fn starts_over(&mut self) -> bool {
        std::mem::take(&mut self.starts_over) && self.una == self.max
    }
}
