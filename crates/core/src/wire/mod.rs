//! Point-to-point links: one direction of a wire, from the packet that leaves the queue to its arrival.
//!
//! A [`Link`] sends one packet after the other at its rate; each arrives a constant delay after its last bit was sent.
//! Whatever is on its way is a ring, in the order of arrival, so that a link needs one deadline. The queue in front of
//! it, errors on the way and the nodes at its ends are not its concern.

use crate::packet::PacketId;
use crate::unit::{BitRate, Span, Time};
use std::collections::VecDeque;

/// Packets for which a long, fast link makes room at once; it grows when there are more.
const MOST_ROOM: u64 = 4096;
/// The smallest packets that are common: TCP acknowledgements [B].
const SMALL: u32 = 40;

/// What a direction of a wire is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Rate of the transmitter.
    pub rate: BitRate,
    /// Time from the last bit sent to the arrival of the packet.
    pub delay: Span,
}

/// Counters of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets whose transmission has begun.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How long the transmitter has been busy \[ns\].
    pub busy_ns: u64,
}

/// Transmitter and wire of one direction.
#[derive(Clone, Debug)]
pub struct Link {
    cfg: Config,
    /// When the transmitter will be free; NEVER while it is.
    free_at: Time,
    /// Packets on their way, with the instants of their arrivals.
    in_flight: VecDeque<(Time, PacketId)>,
    counters: Counters,
}

impl Link {
    /// An idle link.
    pub fn new(cfg: Config) -> Link {
        let room = cfg.delay.0 / cfg.rate.airtime(SMALL).0.max(1) + 2;
        Link {
            cfg,
            free_at: Time::NEVER,
            in_flight: VecDeque::with_capacity(room.min(MOST_ROOM) as usize),
            counters: Counters::default(),
        }
    }

    /// Whether a packet may be sent now.
    pub fn is_free(&mut self, now: Time) -> bool {
        if self.free_at <= now {
            self.free_at = Time::NEVER;
        }
        self.free_at == Time::NEVER
    }

    /// Sends a packet.
    ///
    /// # Panics
    /// If the transmitter is busy.
    pub fn transmit(&mut self, packet: PacketId, bytes: u32, now: Time) {
        assert!(self.is_free(now), "a packet is sent while another one is");
        // A packet that took no time could go round for ever at one instant.
        let airtime = self.cfg.rate.airtime(bytes).max(Span(1));
        self.free_at = now + airtime;
        let arrival = self.free_at + self.cfg.delay;
        let before = self.in_flight.back().map_or(arrival, |last| last.0);
        self.in_flight.push_back((arrival.max(before), packet));
        self.counters.packets += 1;
        self.counters.bytes += u64::from(bytes);
        self.counters.busy_ns += airtime.0;
    }

    /// The sender is switched off: what is being sent is cut, what is on the wire arrives.
    pub fn cut(&mut self, now: Time) -> Option<PacketId> {
        if self.is_free(now) {
            return None;
        }
        self.counters.busy_ns -= self.free_at.since(now).0;
        self.free_at = Time::NEVER;
        self.in_flight.pop_back().map(|p| p.1)
    }

    /// Other settings, from the next packet on. No packet overtakes another.
    pub fn set(&mut self, cfg: Config) {
        self.cfg = cfg;
    }

    /// Its settings.
    pub fn config(&self) -> Config {
        self.cfg
    }

    /// When the link wants to be called: at the next arrival, or when the transmitter is free.
    pub fn deadline(&self) -> Time {
        let arrival = self.in_flight.front().map_or(Time::NEVER, |p| p.0);
        arrival.min(self.free_at)
    }

    /// The next packet that has arrived by now.
    pub fn arrived(&mut self, now: Time) -> Option<PacketId> {
        self.in_flight.pop_front_if(|p| p.0 <= now).map(|p| p.1)
    }

    /// Packets in the transmitter and on the wire.
    pub fn len(&self) -> usize {
        self.in_flight.len()
    }

    /// Whether the link is empty.
    pub fn is_empty(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// Counters as they stand; of the packet in the transmitter only the time up to now has been used.
    pub fn counters(&self, now: Time) -> Counters {
        let still = if self.free_at == Time::NEVER { 0 } else { self.free_at.since(now).0 };
        Counters { busy_ns: self.counters.busy_ns - still, ..self.counters }
    }
}
