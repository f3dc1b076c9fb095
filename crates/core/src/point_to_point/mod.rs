//! Point-to-point links: one direction, from the packet that leaves the queue to its arrival.
//!
//! A [`Link`] sends one packet after the other at its rate; each arrives a constant delay after its last bit was sent.
//! Packets in flight form a ring in the order of arrival, so a link needs one deadline. The queue in front of the link,
//! errors on the way and the nodes at its ends are modeled elsewhere.

use crate::packet::PacketId;
use crate::unit::{BitRate, Span, Time};
use std::collections::VecDeque;

/// Packets for which a long, fast link reserves room; the ring grows beyond that.
const MOST_ROOM: u64 = 4096;
/// Size of the smallest common packets: TCP acknowledgements [B].
const SMALL: u32 = 40;

/// Rate and delay of one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Rate of the transmitter.
    pub rate: BitRate,
    /// Propagation delay, from the last bit sent to the arrival of the packet.
    pub delay: Span,
}

/// Counters of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets whose transmission has begun.
    pub packets: u64,
    /// Bytes of these packets.
    pub bytes: u64,
    /// Busy time of the transmitter \[ns\].
    pub busy_ns: u64,
}

/// Transmitter and medium of one direction of a link.
#[derive(Clone, Debug)]
pub struct Link {
    cfg: Config,
    /// End of the current transmission; NEVER when idle.
    free_at: Time,
    /// Packets in flight with their arrival times.
    in_flight: VecDeque<(Time, PacketId)>,
    counters: Counters,
}

impl Link {
    /// Creates an idle link with room for the packets that fit into its delay.
    pub fn new(cfg: Config) -> Link {
        let room = cfg.delay.0 / cfg.rate.airtime(SMALL).0.max(1) + 2;
        Link {
            cfg,
            free_at: Time::NEVER,
            in_flight: VecDeque::with_capacity(room.min(MOST_ROOM) as usize),
            counters: Counters::default(),
        }
    }

    /// Ends the current transmission if its last bit has been sent by now. Returns true if so.
    #[inline]
    pub fn finish(&mut self, now: Time) -> bool {
        let ends = self.free_at <= now;
        if ends {
            self.free_at = Time::NEVER;
        }
        ends
    }

    /// Returns true if no packet is being sent.
    #[inline]
    pub fn is_free(&self) -> bool {
        self.free_at == Time::NEVER
    }

    /// Sends a packet.
    ///
    /// # Panics
    /// If the transmitter is busy.
    pub fn transmit(&mut self, packet: PacketId, bytes: u32, now: Time) {
        assert!(self.is_free(), "a packet is sent while another one is");
        // At least 1 ns: a packet that took no time could loop forever at one instant.
        let airtime = self.cfg.rate.airtime(bytes).max(Span(1));
        self.free_at = now + airtime;
        let arrival = self.free_at + self.cfg.delay;
        let before = self.in_flight.back().map_or(arrival, |last| last.0);
        self.in_flight.push_back((arrival.max(before), packet));
        self.counters.packets += 1;
        self.counters.bytes += u64::from(bytes);
        self.counters.busy_ns += airtime.0;
    }

    /// Switches the sender off: cuts the packet being sent; packets in flight still arrive.
    pub fn cut(&mut self, now: Time) -> Option<PacketId> {
        if self.finish(now) || self.is_free() {
            return None;
        }
        self.counters.busy_ns -= self.free_at.since(now).0;
        self.free_at = Time::NEVER;
        self.in_flight.pop_back().map(|p| p.1)
    }

    /// Takes out the packets in flight, which the cut of the medium loses.
    pub fn take_in_flight(&mut self) -> Vec<PacketId> {
        self.in_flight.drain(..).map(|p| p.1).collect()
    }

    /// Changes rate and delay from the next packet on. No packet overtakes another.
    pub fn set(&mut self, cfg: Config) {
        self.cfg = cfg;
    }

    /// Current rate and delay.
    pub fn config(&self) -> Config {
        self.cfg
    }

    /// Next arrival, or end of the current transmission.
    pub fn deadline(&self) -> Time {
        let arrival = self.in_flight.front().map_or(Time::NEVER, |p| p.0);
        arrival.min(self.free_at)
    }

    /// Next packet that has arrived by now.
    pub fn arrived(&mut self, now: Time) -> Option<PacketId> {
        self.in_flight.pop_front_if(|p| p.0 <= now).map(|p| p.1)
    }

    /// Number of packets in the transmitter and in flight.
    pub fn len(&self) -> usize {
        self.in_flight.len()
    }

    /// Returns true if the link is empty.
    pub fn is_empty(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// Counters up to now; of the packet in the transmitter only the time so far.
    pub fn counters(&self, now: Time) -> Counters {
        let still = if self.free_at == Time::NEVER { 0 } else { self.free_at.since(now).0 };
        Counters { busy_ns: self.counters.busy_ns - still, ..self.counters }
    }
}
