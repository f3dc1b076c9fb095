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
    /// Packets with their arrival times. Those from `begun` on wait.
    carried: VecDeque<Carried>,
    /// Number of packets whose transmission had begun when it was last asked for.
    begun: usize,
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
        self.begin();
    }

    /// Sends a packet after those that wait. Returns true if it is the only one that is carried.
    #[inline]
    pub fn schedule(&mut self, packet: PacketId, bytes: u32, now: Time) -> bool {
        self.count_begun(now);
        match self.carried.back().map(|last| last.ends).filter(|&ends| ends > now) {
            Some(begins) => {
                self.waits_ns += begins.since(now).0;
                self.push(packet, bytes, begins);
            }
            None => {
                self.push(packet, bytes, now);
                self.begin();
            }
        }
        self.carried.len() == 1
    }

    /// Puts a packet behind all others. Returns the end of its transmission.
    #[inline]
    fn push(&mut self, packet: PacketId, bytes: u32, begins: Time) -> Time {
        let ends = begins + self.airtime(bytes);
        let before = self.carried.back().map_or(Time::ZERO, |last| last.arrives);
        self.carried.push_back(Carried { ends, arrives: before.max(ends + self.cfg.delay), packet, bytes });
        ends
    }

    /// At least 1 ns: a packet that took no time could loop forever at one instant.
    #[inline]
    fn airtime(&self, bytes: u32) -> Span {
        self.cfg.rate.airtime(bytes).max(Span(1))
    }

    /// Counts the next packet as one whose transmission has begun.
    #[inline]
    fn begin(&mut self) {
        let bytes = self.carried[self.begun].bytes;
        self.counters.packets += 1;
        self.counters.bytes += u64::from(bytes);
        self.counters.busy_ns += self.airtime(bytes).0;
        self.begun += 1;
    }

    /// Begin of the transmission of a packet that waits.
    #[inline]
    fn begins(&self, place: usize) -> Time {
        self.carried[place - 1].ends
    }

    /// Counts the packets whose transmissions have begun by now.
    #[inline]
    fn count_begun(&mut self, now: Time) {
        while self.begun < self.carried.len() && self.begins(self.begun) <= now {
            self.begin();
        }
    }

    /// Number of scheduled packets that wait.
    #[inline]
    pub fn waiting(&mut self, now: Time) -> usize {
        self.count_begun(now);
        self.carried.len() - self.begun
    }

    /// Number of scheduled packets that wait, for those who only look.
    pub fn waiting_at(&self, now: Time) -> usize {
        (self.begun..self.carried.len()).rev().take_while(|&place| self.begins(place) > now).count()
    }

    /// Integral of the number of scheduled packets that wait, up to now [packets ns].
    pub fn waited_ns(&mut self, now: Time) -> u64 {
        self.count_begun(now);
        self.waits_ns - self.still_to_wait(now)
    }

    /// Time that packets will still wait \[ns\].
    fn still_to_wait(&self, now: Time) -> u64 {
        (self.begun..self.carried.len()).map(|place| self.begins(place).since(now).0).sum()
    }

    /// Switches the sender off: cuts the packet being sent, after scheduled ones that wait; packets in flight still
    /// arrive. Packets that are cut are passed on in the order in which they came, the one being sent at the end.
    pub fn cut(&mut self, now: Time, mut lost: impl FnMut(PacketId)) {
        self.count_begun(now);
        self.waits_ns -= self.still_to_wait(now);
        self.carried.drain(self.begun..).for_each(|c| lost(c.packet));
        self.free_at = Time::NEVER;
        if let Some(sent) = self.carried.pop_back_if(|c| c.ends > now) {
            self.begun -= 1;
            self.counters.busy_ns -= sent.ends.since(now).0;
            lost(sent.packet);
        }
    }

    /// Takes out the packets in flight, which the cut of the medium loses, after the sender is [cut](Link::cut).
    pub fn take_in_flight(&mut self) -> Vec<PacketId> {
        debug_assert_eq!(self.begun, self.carried.len(), "no packet waits");
        self.begun = 0;
        self.carried.drain(..).map(|c| c.packet).collect()
    }

    /// Changes rate and delay from the next packet on. No packet overtakes another.
    pub fn set(&mut self, cfg: Config, now: Time) {
        self.count_begun(now);
        self.waits_ns -= self.still_to_wait(now);
        self.cfg = cfg;
        let waiting: Vec<Carried> = self.carried.drain(self.begun..).collect();
        for c in waiting {
            let begins = self.carried.back().expect("packets wait for one that is sent").ends;
            self.push(c.packet, c.bytes, begins);
        }
        self.waits_ns += self.still_to_wait(now);
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
        if self.begun == 1 {
            // The next packet begins when this one ends.
            self.count_begun(now);
        }
        self.begun -= 1;
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

    /// Counters up to now; of the packet in the transmitter only the time so far.
    pub fn counters(&mut self, now: Time) -> Counters {
        self.count_begun(now);
        let last = self.begun.checked_sub(1).map(|i| self.carried[i].ends).filter(|&ends| ends > now);
        let still = last.map_or(0, |ends| ends.since(now).0);
        Counters { busy_ns: self.counters.busy_ns - still, ..self.counters }
    }
}
