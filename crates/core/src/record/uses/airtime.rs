//! Airtime of every node. Every instant of a run belongs to exactly one use, so that the uses sum to its length.
//!
//! Own frames and the signals of others are intervals, reported when they begin. Other reasons that keep a station from
//! sending are its contention state, which is read before each call of the station, because it has not changed since
//! the previous call.

use crate::packet::{Body, Kind, PacketId, PacketPool, RadioId};
use crate::radio::energy::intervals::Intervals;
use crate::radio::{Verdict, energy};
use crate::unit::{Span, Time};
use crate::wlan::edca::Psdu;
use crate::wlan::nav::Nav;
use crate::wlan::{Config, Contention, Frame, Timing};

macro_rules! uses {
    ($( $(#[doc = $doc:literal])* $Variant:ident = $word:literal, )*) => {
        /// Uses of airtime. Where several apply at once, the first counts.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Use { $( $(#[doc = $doc])* $Variant, )* }

        impl Use {
            /// Every use with its name in tables and its meaning.
            pub const ALL: &'static [(Use, &'static str, &'static str)] =
                &[ $( (Use::$Variant, $word, concat!("", $($doc),*)), )* ];
        }
    };
}

uses! {
    /// The node was switched off.
    Off = "off",
    /// Own data frames with a packet that is sent for the first time, by its source and by this node.
    Data = "data",
    /// Own data frames with a packet that its source or this node had sent before.
    RetransmittedData = "retransmitted_data",
    /// Own data frames with a TCP acknowledgement.
    TcpAcks = "tcp_acks",
    /// Own RTS, CTS and ACK frames.
    Control = "control",
    /// Own data frames with a routing or an ARP message.
    Routing = "routing",
    /// Own frames that the station they were for could not read.
    Collided = "collided",
    /// Frames of others that could be read, for whomever they were.
    Reception = "reception",
    /// Signals of others that could not be read.
    CarrierSense = "carrier_sense",
    /// Reserved by a frame for another station.
    Nav = "nav",
    /// Reserved because a frame could not be read.
    Eifs = "eifs",
    /// Nothing of these, and the station has something to send, to answer or to wait for.
    Backoff = "backoff",
    /// None of the other uses.
    Idle = "idle",
}

impl Use {
    /// Use of a frame with this packet at its sender; `retry`: its Retry bit.
    fn of(packet: Option<PacketId>, retry: bool, pool: &PacketPool) -> Use {
        let Some(packet) = packet else { return Use::Control };
        let body = &pool[packet].body;
        let again = retry || matches!(body, Body::Data(segment) if segment.retransmission);
        match body.kind() {
            Kind::Data if again => Use::RetransmittedData,
            Kind::Data => Use::Data,
            Kind::Ack => Use::TcpAcks,
            Kind::Routing | Kind::Arp => Use::Routing,
        }
    }
}

/// Time of a node by use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    uses: [u64; Use::ALL.len()],
    /// Time switched off with an empty battery \[ns\].
    empty: u64,
}

impl Budget {
    /// Time of one use.
    pub fn get(&self, used: Use) -> Span {
        Span(self.uses[used as usize])
    }

    /// Total time of consecutive uses.
    fn of(&self, uses: std::ops::RangeInclusive<Use>) -> Span {
        Span(self.uses[*uses.start() as usize..=*uses.end() as usize].iter().sum())
    }

    /// Time of own frames.
    pub fn sending(&self) -> Span {
        self.of(Use::Data..=Use::Collided)
    }

    /// Time of signals of others outside of own frames.
    pub fn sensing(&self) -> Span {
        self.of(Use::Reception..=Use::CarrierSense)
    }

    /// Differences from a budget taken earlier.
    #[must_use]
    pub fn since(&self, earlier: &Budget) -> Budget {
        Budget { uses: std::array::from_fn(|i| self.uses[i] - earlier.uses[i]), empty: self.empty - earlier.empty }
    }

    /// Adds the times of another budget.
    pub fn add(&mut self, other: &Budget) {
        self.uses.iter_mut().zip(other.uses).for_each(|(sum, own)| *sum += own);
        self.empty += other.empty;
    }

    /// Energy drawn in this time \[J\]; zero from the instant on at which the battery is empty.
    pub fn energy(&self, powers: &energy::Config) -> f64 {
        powers.joules(
            self.sending(),
            self.sensing(),
            self.of(Use::Nav..=Use::Idle),
            self.get(Use::Off) - Span(self.empty),
        )
    }

    fn book(&mut self, used: Use, time: Span) {
        self.uses[used as usize] += time.0;
    }

    fn rebook(&mut self, from: Use, to: Use, time: Span) {
        self.uses[from as usize] -= time.0;
        self.uses[to as usize] += time.0;
    }
}

/// A part of an own frame: an MPDU, or the whole frame.
#[derive(Clone, Copy, Debug)]
struct Part {
    used: Use,
    until: Time,
    /// The station that it is for has decoded it.
    arrived: bool,
}

#[derive(Clone, Debug)]
struct Node {
    budget: Budget,
    /// End of the booked time, and the last use.
    booked: Time,
    last: Use,
    /// Last own frame: its begin and end, and its parts.
    sends_from: Time,
    sends_until: Time,
    parts: Vec<Part>,
    /// Signals of others not yet booked to their ends: sorted, without overlaps.
    signals: Intervals,
    /// End of the last decoded frame.
    read_until: Time,
    /// NAV set by frames alone.
    nav: Nav,
    /// End of the last frame or signal.
    quiet_from: Time,
    /// True while switched off.
    off: bool,
    /// True once the battery is empty.
    empty: bool,
}

impl Node {
    /// Books the time up to an instant; `contention` is the station's state since the last booking.
    fn book_until(&mut self, to: Time, contention: Contention, eifs: Span) {
        while self.booked < to {
            let (used, until) = self.holds(contention, eifs);
            let until = until.min(to);
            self.budget.book(used, until - self.booked);
            if self.empty {
                self.budget.empty += (until - self.booked).0;
            }
            (self.booked, self.last) = (until, used);
            if used <= Use::CarrierSense {
                self.quiet_from = until;
            }
        }
    }

    /// Use of the time from now on, and the end of that use.
    fn holds(&mut self, contention: Contention, eifs: Span) -> (Use, Time) {
        let at = self.booked;
        if self.off {
            return (Use::Off, Time::NEVER);
        }
        if at < self.sends_until {
            let part = self.parts.iter().find(|p| at < p.until).or(self.parts.last());
            return part.map_or((Use::Control, self.sends_until), |p| (p.used, p.until.min(self.sends_until)));
        }
        let next = match self.signals.at(at) {
            (true, until) => return (Use::CarrierSense, until),
            (false, next) => next,
        };
        let reserved = contention.reserved;
        let error_until = if contention.after_error { reserved.max(self.quiet_from + eifs) } else { reserved };
        let (used, until) = if at < self.nav.until() {
            (Use::Nav, self.nav.until())
        } else if at < error_until {
            (Use::Eifs, error_until)
        } else {
            (if contention.engaged { Use::Backoff } else { Use::Idle }, Time::NEVER)
        };
        (used, until.min(next))
    }
}

/// A radio that senses a frame.
#[derive(Clone, Copy, Debug)]
pub struct Receiver<'a> {
    /// Number of the radio.
    pub radio: RadioId,
    /// Arrival of the frame at the radio.
    pub from: Time,
    /// True if the medium is free there until the frame arrives.
    pub free: bool,
    /// Contention state of the station.
    pub contention: Contention,
    /// Interframe spaces and times on air of the station.
    pub timing: &'a Timing,
}

/// Airtime of all radios. Methods called for single frames are `cold`, so that runs without this accounting are not
/// slowed down.
#[derive(Clone, Debug)]
pub struct Airtime {
    nodes: Vec<Node>,
    /// Instant of the last query; later input does not change the time before it.
    asked: Time,
}

impl Airtime {
    /// Airtime of this number of radios at the start of a run.
    pub fn new(nodes: usize) -> Airtime {
        let node = Node {
            budget: Budget::default(),
            booked: Time::ZERO,
            last: Use::Idle,
            sends_from: Time::ZERO,
            sends_until: Time::ZERO,
            parts: Vec::new(),
            signals: Intervals::default(),
            read_until: Time::ZERO,
            nav: Nav::default(),
            quiet_from: Time::ZERO,
            off: false,
            empty: false,
        };
        Airtime { nodes: vec![node; nodes], asked: Time::ZERO }
    }

    /// Books the time of a radio up to an instant. Must be called before each call of its station.
    #[cold]
    pub fn book_until(&mut self, n: RadioId, to: Time, contention: Contention, timing: &Timing) {
        self.nodes[n.index()].book_until(to, contention, timing.eifs);
    }

    /// A node sends a frame; its time has been booked.
    #[cold]
    pub fn on_transmit<'a>(
        &mut self,
        at: Time,
        n: RadioId,
        (frame, psdu): (&Frame, Option<&Psdu>),
        pool: &PacketPool,
        in_range: impl Iterator<Item = Receiver<'a>>,
    ) {
        let node = &mut self.nodes[n.index()];
        (node.sends_from, node.sends_until) = (at.max(node.booked), at + frame.airtime);
        let (until, arrived) = (node.sends_until, frame.to.is_broadcast());
        node.parts.clear();
        // Of an aggregate, each packet has the time of its MPDU; the preamble belongs to the first one.
        for mpdu in psdu.filter(|_| frame.packet.is_some()).into_iter().flat_map(|psdu| &psdu.mpdus) {
            node.parts.push(Part {
                used: Use::of(Some(mpdu.packet), mpdu.retry, pool),
                until: at + mpdu.until,
                arrived,
            });
        }
        match node.parts.last_mut() {
            Some(last) => last.until = until,
            None => node.parts.push(Part { used: Use::of(frame.packet, frame.retry, pool), until, arrived }),
        }
        for Receiver { radio, from, free, contention, timing } in in_range {
            let node = &mut self.nodes[radio.index()];
            if free {
                node.nav.on_busy(from, timing);
            } else {
                // A NAV that the station sets because of the frame, if it was captured over, begins now.
                node.book_until(at, contention, timing.eifs);
            }
            node.signals.add(from, from + frame.airtime);
        }
    }

    /// A frame has ended at a receiver that was locked on it; its time has been booked. `arrived`: for each packet in a
    /// frame of a QoS station, true if it was decoded.
    #[cold]
    pub fn on_end(
        &mut self,
        at: Time,
        n: RadioId,
        frame: &Frame,
        (verdict, arrived): (Verdict, &[bool]),
        timing: &Timing,
        rules: &Config,
    ) {
        if verdict != Verdict::Decoded {
            return;
        }
        let node = &mut self.nodes[n.index()];
        let from = Time(at.0 - frame.airtime.0).max(node.read_until).max(self.asked);
        node.budget.rebook(Use::CarrierSense, Use::Reception, at.since(from));
        (node.last, node.read_until) = (Use::Reception, at);
        if frame.to == n {
            let parts = &mut self.nodes[frame.from.index()].parts;
            let decoded = |i: usize| arrived.get(i).copied().unwrap_or(true);
            parts.iter_mut().enumerate().for_each(|(i, part)| part.arrived = decoded(i));
        } else if !frame.to.is_broadcast() {
            node.nav.on_frame(frame, at, timing, rules);
        }
    }

    /// A node is switched off, or on again; its time has been booked.
    #[cold]
    pub fn switch(&mut self, n: RadioId, now: Time, off: bool) {
        let node = &mut self.nodes[n.index()];
        node.off = off;
        node.sends_until = node.sends_until.min(now);
        node.nav = Nav::default();
    }

    /// The battery of a node is empty for good; its time has been booked, and the node is or will be switched off.
    #[cold]
    pub fn on_empty(&mut self, n: RadioId) {
        self.nodes[n.index()].empty = true;
    }

    /// The end of a node's frame has reached all receivers.
    #[cold]
    pub fn on_over(&mut self, n: RadioId) {
        let node = &mut self.nodes[n.index()];
        let (mut from, until) = (node.sends_from.max(self.asked), node.booked.min(node.sends_until));
        for part in &mut node.parts {
            let to = part.until.min(until);
            if !part.arrived && from < to {
                node.budget.rebook(part.used, Use::Collided, to.since(from));
            }
            if !part.arrived {
                part.used = Use::Collided;
            }
            from = from.max(to);
        }
    }

    /// Airtime up to now; `contention` yields the state of each station, and its EIFS.
    pub fn up_to(&mut self, now: Time, contention: impl Iterator<Item = (Contention, Span)>) -> Vec<Budget> {
        self.asked = now;
        let budget = |(node, (contention, eifs)): (&mut Node, (Contention, Span))| {
            node.book_until(now, contention, eifs);
            let mut budget = node.budget;
            // The end of a frame may be reported a propagation delay before it occurs.
            budget.uses[node.last as usize] -= node.booked.since(now).0;
            budget
        };
        self.nodes.iter_mut().zip(contention).map(budget).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Datagram, FlowId, NodeId, Packet};
    use crate::wlan::FrameKind;

    const FREE: Contention = Contention { reserved: Time::ZERO, after_error: false, engaged: false };

    /// A datagram frame from node 0 to node 1, on the air from 10 to 110 us, and received 1 us later.
    fn on_air() -> (Airtime, Frame, Timing, Config) {
        let mut pool = PacketPool::default();
        let body = Body::Datagram(Datagram::default());
        let packet = Packet { flow: FlowId(0), ..Packet::new(body, 100, NodeId(0), NodeId(1), Time::ZERO) };
        let packet = Some(pool.create(packet));
        let (from, to, airtime) = (RadioId(0), RadioId(1), Span::us(100));
        let frame = Frame { kind: FrameKind::Data, from, to, airtime, packet, ..Frame::NONE };
        let (rules, mut air) = (Config::default(), Airtime::new(2));
        let timing = Timing::new(&rules);
        air.book_until(from, Time(10_000), FREE, &timing);
        let receiver = Receiver { radio: to, from: Time(11_000), free: true, contention: FREE, timing: &timing };
        air.on_transmit(Time(10_000), from, (&frame, None), &pool, [receiver].into_iter());
        (air, frame, timing, rules)
    }

    fn times(budget: &Budget) -> Vec<(Use, u64)> {
        Use::ALL.iter().map(|u| (u.0, budget.get(u.0).0)).filter(|u| u.1 > 0).collect()
    }

    #[test]
    fn early_reported_end_is_not_booked_before_it_occurs() {
        let (mut air, frame, timing, rules) = on_air();
        let (end, reported) = (Time(111_000), Time(110_500));
        air.book_until(RadioId(1), end, FREE, &timing);
        air.on_end(end, RadioId(1), &frame, (Verdict::Decoded, &[]), &timing, &rules);
        let first = air.up_to(reported, [(FREE, timing.eifs); 2].into_iter());
        assert_eq!(times(&first[1]), [(Use::Reception, 99_500), (Use::Idle, 11_000)]);
        air.on_over(RadioId(0));
        let second = air.up_to(Time(200_000), [(FREE, timing.eifs); 2].into_iter());
        assert_eq!(times(&second[1].since(&first[1])), [(Use::Reception, 500), (Use::Idle, 89_000)]);
        assert_eq!(times(&second[0]), [(Use::Data, 100_000), (Use::Idle, 100_000)]);
    }

    #[test]
    fn later_input_does_not_change_queried_time() {
        let (mut air, frame, timing, rules) = on_air();
        let first = air.up_to(Time(50_000), [(FREE, timing.eifs); 2].into_iter());
        assert_eq!(times(&first[1]), [(Use::CarrierSense, 39_000), (Use::Idle, 11_000)]);
        air.book_until(RadioId(1), Time(111_000), FREE, &timing);
        air.on_end(Time(111_000), RadioId(1), &frame, (Verdict::Decoded, &[]), &timing, &rules);
        let second = air.up_to(Time(111_000), [(FREE, timing.eifs); 2].into_iter());
        assert_eq!(times(&second[1].since(&first[1])), [(Use::Reception, 61_000)]);
        // Repeats this with a frame that no station could decode.
        let (mut air, _, timing, _) = on_air();
        let first = air.up_to(Time(50_000), [(FREE, timing.eifs); 2].into_iter());
        air.on_over(RadioId(0));
        let second = air.up_to(Time(111_000), [(FREE, timing.eifs); 2].into_iter());
        assert_eq!(times(&first[0]), [(Use::Data, 40_000), (Use::Idle, 10_000)]);
        assert_eq!(times(&second[0].since(&first[0])), [(Use::Collided, 60_000), (Use::Idle, 1_000)]);
    }
}
