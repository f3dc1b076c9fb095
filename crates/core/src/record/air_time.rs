//! What the time of every node is used for. Every instant of a run belongs to exactly one use, so that they sum to its
//! length.
//!
//! Own frames and the signals of others are intervals that are told when they begin. What else keeps a station from
//! sending is its contention state, which is read before the station is called: it has not changed since the call
//! before.

use crate::packet::{Body, Kind, RadioId, Slab};
use crate::radio::intervals::Intervals;
use crate::radio::{Verdict, energy};
use crate::unit::{Span, Time};
use crate::wlan::nav::Nav;
use crate::wlan::{Config, Contention, Frame, Timing};

macro_rules! uses {
    ($( $(#[doc = $doc:literal])* $Variant:ident = $word:literal, )*) => {
        /// Uses of time. Where several hold at once, the first counts.
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
    /// Nothing of these.
    Idle = "idle",
}

impl Use {
    /// What a frame is sent for.
    fn of(frame: &Frame, slab: &Slab) -> Use {
        let Some(packet) = frame.packet else { return Use::Control };
        let body = &slab[packet].body;
        let again = frame.retry || matches!(body, Body::Data(segment) if segment.retransmission);
        match body.kind() {
            Kind::Data if again => Use::RetransmittedData,
            Kind::Data => Use::Data,
            Kind::Ack => Use::TcpAcks,
            Kind::Routing | Kind::Arp => Use::Routing,
        }
    }
}

/// What the time of a node was used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    uses: [u64; Use::ALL.len()],
    /// The part of the time off in which the battery was empty \[ns\].
    empty: u64,
}

impl Budget {
    /// The time of one use.
    pub fn get(&self, used: Use) -> Span {
        Span(self.uses[used as usize])
    }

    /// The time of several uses that stand beside each other.
    fn of(&self, uses: std::ops::RangeInclusive<Use>) -> Span {
        Span(self.uses[*uses.start() as usize..=*uses.end() as usize].iter().sum())
    }

    /// What was added since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Budget) -> Budget {
        Budget { uses: std::array::from_fn(|i| self.uses[i] - earlier.uses[i]), empty: self.empty - earlier.empty }
    }

    /// Adds another budget.
    pub fn add(&mut self, other: &Budget) {
        self.uses.iter_mut().zip(other.uses).for_each(|(sum, own)| *sum += own);
        self.empty += other.empty;
    }

    /// The energy that it costs \[J\]: nothing from the instant on at which the battery is empty.
    pub fn energy(&self, powers: &energy::Config) -> f64 {
        powers.joules(
            self.of(Use::Data..=Use::Collided),
            self.of(Use::Reception..=Use::CarrierSense),
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

#[derive(Clone, Debug)]
struct Node {
    budget: Budget,
    /// The time up to which all is booked, and the last use.
    booked: Time,
    last: Use,
    /// The last own frame: its use, from when until when, and whether the station that it was for has read it.
    sends: Use,
    sends_from: Time,
    sends_until: Time,
    arrived: bool,
    /// Signals of others that have not been booked to their ends: in order, without overlaps.
    signals: Intervals,
    /// The end of the last frame that was read.
    read_until: Time,
    /// Reservations by frames alone.
    nav: Nav,
    /// The end of the last frame or signal.
    quiet_from: Time,
    /// Whether it is switched off.
    off: bool,
    /// Whether its battery is empty.
    empty: bool,
}

impl Node {
    /// Books the time up to an instant; `contention` is the state of its station since the last one.
    fn settle(&mut self, to: Time, contention: Contention, eifs: Span) {
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

    /// The use of the time from now on, and until when it holds.
    fn holds(&mut self, contention: Contention, eifs: Span) -> (Use, Time) {
        let at = self.booked;
        if self.off {
            return (Use::Off, Time::NEVER);
        }
        if at < self.sends_until {
            return (self.sends, self.sends_until);
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
pub struct Listener<'a> {
    /// Its number.
    pub radio: RadioId,
    /// When the frame arrives there.
    pub from: Time,
    /// Whether the medium is free there until it arrives.
    pub free: bool,
    /// The contention state of its station.
    pub contention: Contention,
    /// Times of that station.
    pub timing: &'a Timing,
}

/// The budgets of all radios. Methods for single frames are `cold`, so that runs without budgets are not slowed down.
#[derive(Clone, Debug)]
pub struct AirTime {
    nodes: Vec<Node>,
    /// When the budgets were last taken; what becomes known later changes nothing before that.
    asked: Time,
}

impl AirTime {
    /// The budgets of this number of radios at the start of a run.
    pub fn new(nodes: usize) -> AirTime {
        let node = Node {
            budget: Budget::default(),
            booked: Time::ZERO,
            last: Use::Idle,
            sends: Use::Control,
            sends_from: Time::ZERO,
            sends_until: Time::ZERO,
            arrived: false,
            signals: Intervals::default(),
            read_until: Time::ZERO,
            nav: Nav::default(),
            quiet_from: Time::ZERO,
            off: false,
            empty: false,
        };
        AirTime { nodes: vec![node; nodes], asked: Time::ZERO }
    }

    /// Books the time of a radio up to an instant. Every call of its station comes after this.
    #[cold]
    pub fn settle(&mut self, n: RadioId, to: Time, contention: Contention, timing: &Timing) {
        self.nodes[n.index()].settle(to, contention, timing.eifs);
    }

    /// A node sends a frame; its time has been booked.
    #[cold]
    pub fn on_transmit<'a>(
        &mut self,
        at: Time,
        n: RadioId,
        frame: &Frame,
        slab: &Slab,
        audience: impl Iterator<Item = Listener<'a>>,
    ) {
        let node = &mut self.nodes[n.index()];
        (node.sends, node.arrived) = (Use::of(frame, slab), frame.to.is_broadcast());
        (node.sends_from, node.sends_until) = (at.max(node.booked), at + frame.airtime);
        for Listener { radio, from, free, contention, timing } in audience {
            let node = &mut self.nodes[radio.index()];
            if free {
                node.nav.on_busy(from, timing);
            } else {
                // What the station makes of it, the NAV of a frame that is captured over, begins now.
                node.settle(at, contention, timing.eifs);
            }
            node.signals.add(from, from + frame.airtime);
        }
    }

    /// A frame has ended at a node that was locked on it; its time has been booked.
    #[cold]
    pub fn on_end(&mut self, at: Time, n: RadioId, frame: &Frame, verdict: Verdict, timing: &Timing, rules: &Config) {
        if verdict != Verdict::Decoded {
            return;
        }
        let node = &mut self.nodes[n.index()];
        let from = Time(at.0 - frame.airtime.0).max(node.read_until).max(self.asked);
        node.budget.rebook(Use::CarrierSense, Use::Reception, at.since(from));
        (node.last, node.read_until) = (Use::Reception, at);
        if frame.to == n {
            self.nodes[frame.from.index()].arrived = true;
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

    /// The battery of a node is empty from now on, for good; its time has been booked, and it is off or will be.
    #[cold]
    pub fn on_empty(&mut self, n: RadioId) {
        self.nodes[n.index()].empty = true;
    }

    /// All have heard the end of a node's frame.
    #[cold]
    pub fn on_over(&mut self, n: RadioId) {
        let node = &mut self.nodes[n.index()];
        if !node.arrived {
            let booked = node.booked.min(node.sends_until).since(node.sends_from.max(self.asked));
            node.budget.rebook(node.sends, Use::Collided, booked);
            node.sends = Use::Collided;
        }
    }

    /// The budgets up to now; `contention` gives the state of each station, and its EIFS.
    pub fn up_to(&mut self, now: Time, contention: impl Iterator<Item = (Contention, Span)>) -> Vec<Budget> {
        self.asked = now;
        let budget = |(node, (contention, eifs)): (&mut Node, (Contention, Span))| {
            node.settle(now, contention, eifs);
            let mut budget = node.budget;
            // The end of a frame may be told a propagation delay before it comes.
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

    /// A frame with a datagram from node 0 to node 1, on the air from 10 to 110 us, and heard 1 us later.
    fn on_air() -> (AirTime, Frame, Timing, Config) {
        let mut slab = Slab::default();
        let body = Body::Datagram(Datagram { seq: 0 });
        let packet = Packet { flow: FlowId(0), ..Packet::new(body, 100, NodeId(0), NodeId(1), Time::ZERO) };
        let packet = Some(slab.create(packet));
        let (from, to, airtime) = (RadioId(0), RadioId(1), Span::us(100));
        let frame = Frame { kind: FrameKind::Data, from, to, airtime, packet, ..Frame::NONE };
        let (rules, mut air) = (Config::default(), AirTime::new(2));
        let timing = Timing::new(&rules);
        air.settle(from, Time(10_000), FREE, &timing);
        let listener = Listener { radio: to, from: Time(11_000), free: true, contention: FREE, timing: &timing };
        air.on_transmit(Time(10_000), from, &frame, &slab, [listener].into_iter());
        (air, frame, timing, rules)
    }

    fn times(budget: &Budget) -> Vec<(Use, u64)> {
        Use::ALL.iter().map(|u| (u.0, budget.get(u.0).0)).filter(|u| u.1 > 0).collect()
    }

    #[test]
    fn an_end_that_is_told_early_is_not_booked_before_it_comes() {
        let (mut air, frame, timing, rules) = on_air();
        let (end, told) = (Time(111_000), Time(110_500));
        air.settle(RadioId(1), end, FREE, &timing);
        air.on_end(end, RadioId(1), &frame, Verdict::Decoded, &timing, &rules);
        let first = air.up_to(told, [(FREE, timing.eifs); 2].into_iter());
        assert_eq!(times(&first[1]), [(Use::Reception, 99_500), (Use::Idle, 11_000)]);
        air.on_over(RadioId(0));
        let second = air.up_to(Time(200_000), [(FREE, timing.eifs); 2].into_iter());
        assert_eq!(times(&second[1].since(&first[1])), [(Use::Reception, 500), (Use::Idle, 89_000)]);
        assert_eq!(times(&second[0]), [(Use::Data, 100_000), (Use::Idle, 100_000)]);
    }

    #[test]
    fn what_becomes_known_after_it_was_asked_for_changes_nothing_before() {
        let (mut air, frame, timing, rules) = on_air();
        let first = air.up_to(Time(50_000), [(FREE, timing.eifs); 2].into_iter());
        assert_eq!(times(&first[1]), [(Use::CarrierSense, 39_000), (Use::Idle, 11_000)]);
        air.settle(RadioId(1), Time(111_000), FREE, &timing);
        air.on_end(Time(111_000), RadioId(1), &frame, Verdict::Decoded, &timing, &rules);
        let second = air.up_to(Time(111_000), [(FREE, timing.eifs); 2].into_iter());
        assert_eq!(times(&second[1].since(&first[1])), [(Use::Reception, 61_000)]);
        // The same of a frame that nobody could read.
        let (mut air, _, timing, _) = on_air();
        let first = air.up_to(Time(50_000), [(FREE, timing.eifs); 2].into_iter());
        air.on_over(RadioId(0));
        let second = air.up_to(Time(111_000), [(FREE, timing.eifs); 2].into_iter());
        assert_eq!(times(&first[0]), [(Use::Data, 40_000), (Use::Idle, 10_000)]);
        assert_eq!(times(&second[0].since(&first[0])), [(Use::Collided, 60_000), (Use::Idle, 1_000)]);
    }
}
