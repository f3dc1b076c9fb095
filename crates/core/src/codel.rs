//! CoDel: controlled delay (RFC 8289). Once the sojourn time of packets has exceeded a target for an interval, packets
//! are dropped at the head, more often the longer this lasts.

use crate::packet::PacketId;
use crate::setting::limit::{HOUR, LARGEST_PACKET, above, at_most};
use crate::settings;
use crate::unit::{Bytes, Span, Time};

settings! {
    /// CoDel.
    pub struct Config {
        /// TARGET: acceptable sojourn time.
        pub target: Span = Span::ms(5) => above(Span::ZERO).at_most(HOUR),
        /// INTERVAL: time for which the sojourn time may exceed TARGET before a packet is dropped; about the longest
        /// round-trip time.
        pub interval: Span = Span::ms(100) => above(Span::ZERO).at_most(HOUR),
        /// Backlog up to which nothing is dropped: one full packet of the link.
        pub mtu: Bytes = Bytes(1514) => at_most(LARGEST_PACKET),
    }
}

/// Queue from which CoDel takes packets.
pub trait Managed {
    /// Takes the oldest packet, and tells when it came.
    fn pop(&mut self) -> Option<(PacketId, Time)>;
    /// Number of waiting bytes.
    fn bytes(&self) -> u64;
    /// Marks a packet that was taken, in place of dropping it; returns false if it is to be dropped.
    fn mark(&mut self, packet: PacketId) -> bool;
    /// Drops a packet that was taken.
    fn discard(&mut self, packet: PacketId);
}

/// Control law of CoDel, with the variable names of RFC 8289, section 5.
#[derive(Clone, Copy, Debug)]
pub struct Control {
    first_above_time: Option<Time>,
    drop_next: Time,
    count: u32,
    lastcount: u32,
    dropping: bool,
}

impl Control {
    /// Nothing has waited yet.
    pub const NEW: Control =
        Control { first_above_time: None, drop_next: Time::ZERO, count: 0, lastcount: 0, dropping: false };

    /// Takes the next packet, and drops or marks packets by the control law.
    pub fn pop(&mut self, queue: &mut impl Managed, cfg: &Config, now: Time) -> Option<PacketId> {
        let Some((mut packet, ok_to_drop)) = self.dodequeue(queue, cfg, now) else {
            self.dropping = false;
            return None;
        };
        if self.dropping {
            self.dropping = ok_to_drop;
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                if queue.mark(packet) {
                    self.drop_next = self.control_law(self.drop_next, cfg);
                    break;
                }
                queue.discard(packet);
                let next = self.dodequeue(queue, cfg, now);
                self.dropping = next.is_some_and(|n| n.1);
                packet = next?.0;
                if self.dropping {
                    self.drop_next = self.control_law(self.drop_next, cfg);
                }
            }
        } else if ok_to_drop {
            self.dropping = true;
            // Starts from the last drop rate that controlled the queue, if that is recent.
            let delta = self.count.saturating_sub(self.lastcount);
            let recent = now.since(self.drop_next) < cfg.interval * 16;
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.lastcount = self.count;
            self.drop_next = self.control_law(now, cfg);
            if !queue.mark(packet) {
                queue.discard(packet);
                packet = self.dodequeue(queue, cfg, now)?.0;
            }
        }
        Some(packet)
    }

    /// Next packet; true if it may be dropped.
    fn dodequeue(&mut self, queue: &mut impl Managed, cfg: &Config, now: Time) -> Option<(PacketId, bool)> {
        let Some((packet, came)) = queue.pop() else {
            self.first_above_time = None;
            return None;
        };
        let mut ok_to_drop = false;
        if now.since(came) < cfg.target || queue.bytes() <= u64::from(cfg.mtu.0) {
            self.first_above_time = None;
        } else {
            match self.first_above_time {
                None => self.first_above_time = Some(now + cfg.interval),
                Some(time) => ok_to_drop = now >= time,
            }
        }
        Some((packet, ok_to_drop))
    }

    fn control_law(&self, t: Time, cfg: &Config) -> Time {
        t + Span((cfg.interval.0 as f64 / f64::from(self.count).sqrt()).round() as u64)
    }
}
