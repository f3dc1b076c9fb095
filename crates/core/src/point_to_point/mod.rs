//! Point-to-point links: one direction, from the packet that leaves the queue to its arrival.
//!
//! A [`Link`] sends one packet after the other at its rate; each arrives a constant delay after its last bit was sent.
//! Packets in flight form a ring in the order of arrival, so a link needs one deadline. The queue in front of the link,
//! errors on the way and the nodes at its ends are modeled elsewhere.
//!
//! If nothing can change the order in which packets wait, and nobody asks when their transmissions begin, packets are
//! [scheduled](Link::schedule) as they come: the ring holds those that wait, too, and no timer is needed at the ends of
//! transmissions.

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

/// A packet that waits for the transmitter, is in it, or is in flight. One that waits is sent as soon as the last bit of
/// the packet before it has been sent.
#[derive(Clone, Copy, Debug)]
struct Carried {
    ends: Time,
    arrives: Time,
    packet: PacketId,
    bytes: u32,
}

/// Transmitter and medium of one direction of a link.
#[derive(Clone, Debug)]
pub struct Link {
    cfg: Config,
    /// End of the current transmission, if a packet of the queue can follow; NEVER when idle.
    free_at: Time,
    /// Packets with their arrival times.
    carried: VecDeque<Carried>,
    /// Number of packets whose transmissions are known to have begun.
    begun: usize,
    /// Of all packets up to now, those that wait with them.
    counters: Counters,
    /// Time between the arrivals of scheduled packets and the beginnings of their transmissions \[ns\].
    waits_ns: u64,
}

impl Link {
    /// Creates an idle link with room for the packets that fit into its delay.
    pub fn new(cfg: Config) -> Link {
        let room = cfg.delay.0 / cfg.rate.airtime(SMALL).0.max(1) + 2;
        Link {
            cfg,
            free_at: Time::NEVER,
            carried: VecDeque::with_capacity(room.min(MOST_ROOM) as usize),
            begun: 0,
            counters: Counters::default(),
            waits_ns: 0,
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

    /// Returns true if no packet of the queue is being sent.
    #[inline]
    pub fn is_free(&self) -> bool {
        self.free_at == Time::NEVER
    }

    /// Sends a packet of the queue.
    ///
    /// # Panics
    /// If the transmitter is busy.
    pub fn transmit(&mut self, packet: PacketId, bytes: u32, now: Time) {
        assert!(self.is_free(), "a packet is sent while another one is");
        self.free_at = self.push(packet, bytes, now);
    }

    /// Sends a packet after those that wait. Returns true if it is the only one that is carried.
    #[inline]
    pub fn schedule(&mut self, packet: PacketId, bytes: u32, now: Time) -> bool {
        let begins = self.carried.back().map_or(now, |last| last.ends.max(now));
        self.waits_ns += begins.since(now).0;
        self.push(packet, bytes, begins);
        self.carried.len() == 1
    }

    /// Puts a packet behind all others. Returns the end of its transmission.
    #[inline]
    fn push(&mut self, packet: PacketId, bytes: u32, begins: Time) -> Time {
        let airtime = self.airtime(bytes);
        let ends = begins + airtime;
        self.counters.packets += 1;
        self.counters.bytes += u64::from(bytes);
        self.counters.busy_ns += airtime.0;
        let before = self.carried.back().map_or(Time::ZERO, |last| last.arrives);
        self.carried.push_back(Carried { ends, arrives: before.max(ends + self.cfg.delay), packet, bytes });
        ends
    }

    /// At least 1 ns: a packet that took no time could loop forever at one instant.
    #[inline]
    fn airtime(&self, bytes: u32) -> Span {
        self.cfg.rate.airtime(bytes).max(Span(1))
    }

    /// Number of scheduled packets that wait.
    #[inline]
    pub fn waiting(&mut self, now: Time) -> usize {
        self.begun = self.begun.max(1);
        while self.begun < self.carried.len() && self.begins(self.begun) <= now {
            self.begun += 1;
        }
        self.carried.len().saturating_sub(self.begun)
    }

    /// Number of scheduled packets that wait, for those who only look.
    pub fn waiting_at(&self, now: Time) -> usize {
        (self.begun.max(1)..self.carried.len()).rev().take_while(|&place| self.begins(place) > now).count()
    }

    /// Begin of the transmission of a packet behind another one.
    #[inline]
    fn begins(&self, place: usize) -> Time {
        self.carried[place - 1].ends
    }

    /// Packets that wait, with the beginnings of their transmissions.
    fn those_waiting(&self, now: Time) -> impl Iterator<Item = (Time, &Carried)> {
        let first = self.carried.len() - self.waiting_at(now);
        (first..self.carried.len()).map(|place| (self.begins(place), &self.carried[place]))
    }

    /// Integral of the number of scheduled packets that wait, up to now [packets ns].
    pub fn waited_ns(&self, now: Time) -> u64 {
        self.waits_ns - self.still_to_wait(now)
    }

    /// Time that packets will still wait \[ns\].
    fn still_to_wait(&self, now: Time) -> u64 {
        self.those_waiting(now).map(|(begins, _)| begins.since(now).0).sum()
    }

    /// Takes out the packets that wait.
    fn take_waiting(&mut self, now: Time) -> Vec<Carried> {
        self.waits_ns -= self.still_to_wait(now);
        self.counters = self.begun_by(now);
        let first = self.carried.len() - self.waiting_at(now);
        self.begun = self.begun.min(first);
        self.carried.drain(first..).collect()
    }

    /// Switches the sender off: cuts the packet being sent, after scheduled ones that wait; packets in flight still
    /// arrive. Packets that are cut are passed on in the order in which they came, the one being sent at the end.
    pub fn cut(&mut self, now: Time, mut lost: impl FnMut(PacketId)) {
        self.take_waiting(now).iter().for_each(|c| lost(c.packet));
        self.free_at = Time::NEVER;
        if let Some(sent) = self.carried.pop_back_if(|c| c.ends > now) {
            self.begun = self.begun.min(self.carried.len());
            self.counters.busy_ns -= sent.ends.since(now).0;
            lost(sent.packet);
        }
    }

    /// Takes out the packets in flight, which the cut of the medium loses, after the sender is [cut](Link::cut).
    pub fn take_in_flight(&mut self) -> Vec<PacketId> {
        self.begun = 0;
        self.carried.drain(..).map(|c| c.packet).collect()
    }

    /// Changes rate and delay from the next packet on. No packet overtakes another.
    pub fn set(&mut self, cfg: Config, now: Time) {
        let waiting = self.take_waiting(now);
        self.cfg = cfg;
        for c in waiting {
            let begins = self.carried.back().expect("packets wait for one that is sent").ends;
            self.waits_ns += begins.since(now).0;
            self.push(c.packet, c.bytes, begins);
        }
    }

    /// Current rate and delay.
    pub fn config(&self) -> Config {
        self.cfg
    }

    /// Next arrival, or end of the current transmission if a packet of the queue can follow.
    #[inline]
    pub fn deadline(&self) -> Time {
        let arrival = self.carried.front().map_or(Time::NEVER, |c| c.arrives);
        arrival.min(self.free_at)
    }

    /// Next packet that has arrived by now.
    #[inline]
    pub fn arrived(&mut self, now: Time) -> Option<PacketId> {
        let packet = self.carried.front().filter(|c| c.arrives <= now)?.packet;
        self.begun = self.begun.saturating_sub(1);
        self.carried.pop_front();
        Some(packet)
    }

    /// Number of packets that wait after they were scheduled, in the transmitter and in flight.
    pub fn len(&self) -> usize {
        self.carried.len()
    }

    /// Returns true if the link is empty.
    pub fn is_empty(&self) -> bool {
        self.carried.is_empty()
    }

    /// Counters of the packets whose transmissions have begun by now.
    fn begun_by(&self, now: Time) -> Counters {
        let mut counters = self.counters;
        for (begins, c) in self.those_waiting(now) {
            counters.packets -= 1;
            counters.bytes -= u64::from(c.bytes);
            counters.busy_ns -= c.ends.since(begins).0;
        }
        counters
    }

    /// Counters up to now; of the packet in the transmitter only the time so far.
    pub fn counters(&self, now: Time) -> Counters {
        let begun = self.begun_by(now);
        let last = (self.carried.len() - self.waiting_at(now)).checked_sub(1).map(|i| self.carried[i].ends);
        let still = last.filter(|&ends| ends > now).map_or(0, |ends| ends.since(now).0);
        Counters { busy_ns: begun.busy_ns - still, ..begun }
    }
}
