//! BBR version 3 over an exact link: a flow alone, an acknowledgement for each packet, 1,000 packets/s and 41 ms unless
//! said otherwise. A packet is lost when three later ones are acknowledged, and lost data are sent in new packets.
//!
//! Expected values were computed by an independent program from the text of the draft, with its random parts fixed as
//! those of a sender without random numbers are (no round, 2.5 s). Lengths of states agree; Startup ends a round earlier
//! here (V1: 406 instead of 486 ms), which moves all later times, so that times are compared from a state on.

use super::*;
use crate::tcp::recovery::rack_tlp::rate::Sample;
use std::collections::{BTreeMap, VecDeque};

const MSS: u32 = 1448;

/// A packet in the network.
struct Packet {
    sent: Time,
    mark: Mark,
    send_elapsed: Span,
}

/// The link and the sender.
struct Path {
    bbr: Bbr3,
    w: Window,
    pacing: Pacing,
    limited: bool,
    limit_until: u64,
    now: Time,
    /// Service time of a packet, and from this time on another.
    service: Span,
    slower: Option<(Time, Span)>,
    propagation: Span,
    buffer: usize,
    /// Every packet of this many is lost on the way.
    loses: Option<u64>,
    /// Acknowledgements are released at multiples of this time.
    slots: Option<Span>,
    departures: VecDeque<Time>,
    acks: VecDeque<(Time, u64)>,
    packets: BTreeMap<u64, Packet>,
    next: u64,
    next_send: Time,
    delivered: u64,
    delivered_time: Time,
    first_sent: Time,
    lost: u64,
    in_flight: u32,
    round_end: u64,
    /// Largest window outside of Startup and Drain.
    widest: u32,
    /// Changes: time, what, and the numbers after the acknowledgement.
    log: Vec<Entry>,
}

/// The sender after a change of its state.
#[derive(Clone, Copy, Debug)]
struct Entry {
    at: f64,
    state: BbrState,
    cwnd: f64,
    in_flight: u32,
    max_bw: f64,
    bw_lo: f64,
    lo: f64,
    hi: f64,
    extra: f64,
}

impl Path {
    fn new(per_second: u64, propagation: Span, buffer: usize) -> Path {
        let (mut bbr, mut pacing) = (Bbr3::new(), Pacing::default());
        let service = Span(1_000_000_000 / per_second);
        bbr.start(Time::ZERO, Some(propagation + service), 0, 10, MSS, &mut pacing);
        Path {
            bbr,
            w: Window { cwnd: 10, ssthresh: 0, credit: 0, clamp: u32::MAX },
            pacing,
            limited: false,
            limit_until: 0,
            now: Time::ZERO,
            service,
            slower: None,
            propagation,
            buffer,
            loses: None,
            slots: None,
            departures: VecDeque::new(),
            acks: VecDeque::new(),
            packets: BTreeMap::new(),
            next: 0,
            next_send: Time::ZERO,
            delivered: 0,
            delivered_time: Time::ZERO,
            first_sent: Time::ZERO,
            lost: 0,
            in_flight: 0,
            round_end: 0,
            widest: 0,
            log: Vec::new(),
        }
    }

    fn send(&mut self) {
        if self.in_flight == 0 {
            self.first_sent = self.now;
            self.delivered_time = self.now;
        }
        self.in_flight += 1;
        let mark = Mark {
            delivered: self.delivered,
            delivered_time: self.delivered_time,
            first_sent: self.first_sent,
            app_limited: self.limit_until > self.delivered,
            in_flight: self.in_flight,
            lost: self.lost as u32,
        };
        let send_elapsed = self.now.since(self.first_sent);
        self.packets.insert(self.next, Packet { sent: self.now, mark, send_elapsed });
        while self.departures.front().is_some_and(|at| *at <= self.now) {
            self.departures.pop_front();
        }
        let lost = self.loses.is_some_and(|every| (self.next + 1).is_multiple_of(every));
        if self.departures.len() <= self.buffer && !lost {
            let begin = self.departures.back().copied().unwrap_or(self.now);
            let service = self.slower.filter(|(from, _)| begin >= *from).map_or(self.service, |s| s.1);
            let leaves = begin + service;
            self.departures.push_back(leaves);
            let mut arrives = leaves + self.propagation;
            if let Some(slot) = self.slots {
                arrives = Time(arrives.0.div_ceil(slot.0) * slot.0);
            }
            self.acks.push_back((arrives, self.next));
        }
        self.next += 1;
        let gap = Span((1e9 / self.bbr.pacing_rate) as u64);
        self.next_send = self.next_send.max(self.now) + gap;
    }

    fn can_send(&self) -> bool {
        self.in_flight < self.w.cwnd
    }

    /// The next acknowledgement.
    fn acknowledge(&mut self) {
        let (_, id) = self.acks.pop_front().expect("one arrives");
        let packet = self.packets.remove(&id).expect("it was sent");
        self.delivered += 1;
        self.in_flight -= 1;
        self.first_sent = packet.sent;
        let rtt = Some(self.now.since(packet.sent));
        let mut sample = Sample { prior: Some(packet.mark), send_elapsed: packet.send_elapsed, ..Sample::default() };
        self.delivered_time = self.now;
        let prior = packet.mark;
        sample.delivered = self.delivered - prior.delivered;
        sample.interval = Some(sample.send_elapsed.max(self.now.since(prior.delivered_time)));
        let gone: Vec<u64> = self.packets.range(..id.saturating_sub(2)).map(|p| *p.0).collect();
        let lost_segments: Vec<(Seq, Mark)> =
            gone.iter().map(|id| (*id as Seq, self.packets.remove(id).expect("it was sent").mark)).collect();
        self.lost += lost_segments.len() as u64;
        self.in_flight -= lost_segments.len() as u32;
        let input = Bbr3Input {
            ack: BbrInput {
                now: self.now,
                sample: &sample,
                delivered: (self.delivered, 1),
                losses: lost_segments.len() as u32,
                rtt,
                in_flight: (self.in_flight, self.in_flight),
                state: if self.lost > 0 { State::Recovery } else { State::Open },
                mss: MSS,
            },
            lost: self.lost,
            lost_segments: &lost_segments,
            cwnd_limited: self.limited,
            sack: true,
        };
        let before = (self.bbr.state, self.bbr.model.bw_shortterm, self.bbr.model.inflight_shortterm);
        let hi = self.bbr.model.inflight_longterm;
        let mut limit = false;
        self.bbr.on_ack(&input, &mut self.w, &mut self.pacing, &mut limit);
        if self.bbr.is_in_probe_bw() && self.bbr.state != BbrState::ProbeBwDown {
            self.widest = self.widest.max(self.w.cwnd);
        }
        if limit {
            self.limit_until = (self.delivered + u64::from(self.in_flight)).max(1);
        }
        if prior.delivered >= self.round_end {
            self.round_end = self.delivered;
            self.limited = false;
        }
        let m = &self.bbr.model;
        let after = (self.bbr.state, m.bw_shortterm, m.inflight_shortterm);
        if before != after || hi != m.inflight_longterm {
            self.log.push(Entry {
                at: self.now.0 as f64 / 1e9,
                state: self.bbr.state,
                cwnd: self.bbr.cwnd,
                in_flight: self.in_flight,
                max_bw: m.max_bw(),
                bw_lo: m.bw_shortterm,
                lo: m.inflight_shortterm,
                hi: m.inflight_longterm,
                extra: m.extra_acked.max(),
            });
        }
    }

    fn run(&mut self, end: Time) {
        loop {
            let ack = self.acks.front().map_or(Time::NEVER, |a| a.0);
            let send = if self.can_send() { self.next_send.max(self.now) } else { Time::NEVER };
            let at = ack.min(send);
            if at > end {
                return;
            }
            self.now = at;
            if ack <= send {
                self.acknowledge();
            } else {
                self.send();
            }
            self.limited |= !self.can_send();
        }
    }

    /// Entries at which the state changed.
    fn states(&self) -> Vec<Entry> {
        let mut was = BbrState::Startup;
        self.log.iter().filter(|e| std::mem::replace(&mut was, e.state) != e.state).copied().collect()
    }
}

use BbrState::{
    Drain, ProbeBwCruise as Cruise, ProbeBwDown as Down, ProbeBwRefill as Refill, ProbeBwUp as Up, ProbeRtt,
};

fn run(mut path: Path, seconds: u64) -> Path {
    path.run(Time::ZERO + Span::secs(seconds));
    path
}

/// Times from one state to the next \[0.1 ms\].
fn lengths(states: &[Entry]) -> Vec<(BbrState, i64)> {
    states.windows(2).map(|pair| (pair[0].state, ((pair[1].at - pair[0].at) * 1e4).round() as i64)).collect()
}

fn path(buffer: usize) -> Path {
    Path::new(1000, Span::ms(40), buffer)
}

/// A deep buffer (V1). Bandwidth is probed after 41 rounds, as many as segments fit into the pipe.
#[test]
fn a_cycle_alone_on_a_link_with_a_deep_buffer() {
    let path = run(path(200), 11);
    let states = path.states();
    let expected = [(Drain, 900), (Cruise, 16_984), (Refill, 414), (Up, 1554), (Down, 3300)];
    assert_eq!(lengths(&states)[..5], expected);
    assert_eq!((states[1].cwnd, states[1].max_bw), (83.0, 1000.0));
    let probe = states.iter().position(|e| e.state == ProbeRtt).expect("a probe");
    assert_eq!(((states[probe].at - 5.041).abs() * 1e3) as u32, 0, "{}", states[probe].at);
    assert_eq!(lengths(&states)[probe], (ProbeRtt, 2262));
    assert_eq!((states[probe + 1].state, states[probe + 1].in_flight), (Cruise, 19));
    assert_eq!(path.lost, 0);
}

/// A shallow buffer (V2): losses end Startup, and set the long-term limit; outside of probes they set the others.
#[test]
fn losses_bound_what_is_in_flight() {
    let path = run(path(10), 11);
    let states = path.states();
    assert_eq!((states[0].state, states[0].hi), (Drain, 51.0));
    assert_eq!(lengths(&states)[0], (Drain, 350));
    let first = path.log.iter().find(|e| e.lo < f64::INFINITY).expect("a loss");
    assert_eq!((first.lo, first.bw_lo, first.cwnd), (51.0, 1000.0, 51.0 - 0.15 * 51.0));
    let down = states.iter().find(|e| e.state == Down).expect("a probe");
    assert_eq!((down.hi * 10.0).round() / 10.0, 52.0);
}

/// Half the rate from 4 s on (V3).
#[test]
fn the_rate_follows_a_slower_link() {
    let mut path = path(50);
    path.slower = Some((Time::ZERO + Span::secs(4), Span::ms(2)));
    let path = run(path, 6);
    let begin = path.log.iter().position(|e| e.lo < f64::INFINITY).expect("a loss");
    let log = &path.log[begin..];
    assert!((log[0].at - 4.390).abs() < 1e-3, "{}", log[0].at);
    let after = |at: f64| {
        let later = log.iter().find(|e| ((e.at - log[0].at) - at).abs() < 1e-4);
        later.map(|e| (e.state, e.bw_lo, e.lo, (e.hi * 10.0).round() / 10.0))
    };
    let none = f64::INFINITY;
    assert_eq!(after(0.0), Some((Cruise, 700.0, 71.0, none)));
    assert_eq!(after(0.002), Some((Refill, none, none, none)));
    assert_eq!(after(0.184), Some((Down, none, none, 72.4)));
    assert_eq!(after(0.326), Some((Down, 700.0, 71.0, 72.4)));
    assert_eq!(after(0.468), Some((Down, 500.0, 71.0, 72.4)));
    assert_eq!(after(0.652).map(|e| e.0), Some(ProbeRtt));
    assert_eq!(path.lost, 49);
    assert_eq!(run(path, 11).bbr.model.max_bw(), 500.0);
}

/// Acknowledgements at multiples of 20 ms (V4).
#[test]
fn aggregated_acknowledgements_widen_the_window() {
    let mut path = path(200);
    path.slots = Some(Span::ms(20));
    let path = run(path, 11);
    assert_eq!(path.bbr.model.extra_acked.max(), 20.0);
    let cruises = || path.log.iter().filter(|e| e.state == Cruise);
    assert!(cruises().count() > 1 && cruises().all(|e| e.extra == 20.0));
}

/// Every hundredth packet lost (V5): each loss event that ends a round takes a hundredth of the rate.
#[test]
fn random_losses_take_their_share_of_the_rate() {
    let mut path = path(200);
    path.loses = Some(100);
    let path = run(path, 20);
    let refill = path.log.iter().position(|e| e.state == Refill).expect("a probe");
    let rates: Vec<f64> = path.log[..refill].iter().map(|e| (e.bw_lo * 10.0).round() / 10.0).collect();
    let begin = rates.iter().position(|r| *r == 990.0).expect("the first");
    assert_eq!(rates[begin..], [990.0, 980.1, 970.3, 960.6, 951.0, 941.5, 932.1, 922.8]);
}

/// A round trip of 201 ms (V6): the clock ends CRUISE, 2.5 s after DOWN.
#[test]
fn the_clock_ends_cruise_on_a_long_path() {
    let path = run(Path::new(1000, Span::ms(200), 400), 9);
    let states = path.states();
    let at = |state| states.iter().find(|e| e.state == state).map_or(0.0, |e| e.at);
    let probe = states.iter().position(|e| e.state == ProbeRtt).expect("a probe");
    assert!((at(ProbeRtt) - 5.202).abs() < 1e-3 && (at(Refill) - 8.0037).abs() < 1e-3, "{states:?}");
    assert_eq!(lengths(&states)[probe], (ProbeRtt, 3010));
    assert_eq!(lengths(&states)[probe + 1], (Cruise, 25_010), "the first acknowledgement after 2.5 s");
}

/// 50 packets/s and 30 ms (V7): three send quanta of two segments, and two more in UP.
#[test]
fn the_window_has_room_for_offload() {
    let path = run(Path::new(50, Span::ms(10), 200), 5);
    let states = path.states();
    let in_cruise: Vec<f64> = states.iter().filter(|e| e.state == Cruise).map(|e| e.cwnd).collect();
    assert!(in_cruise.len() > 3 && in_cruise.iter().all(|w| *w == 6.0), "{in_cruise:?}");
    let downs = states.windows(2).filter(|p| p[0].state == Up && p[1].state == Down);
    assert!(downs.count() > 3);
    assert_eq!(path.widest, 8);
    assert!(path.delivered as f64 / 5.0 > 49.0);
}

/// More than 2 % are too many (V8).
#[test]
fn two_percent_are_too_many() {
    for (in_flight, most) in [(100.0, 2.0), (1000.0, 20.0), (49.0, 0.0)] {
        assert!(!is_too_high(most, in_flight, true) && is_too_high(most + 1.0, in_flight, true), "{in_flight}");
    }
    assert!(!is_too_high(1.0, 50.0, true));
    assert!(is_too_high(1.0, 1000.0, false), "without SACK any loss counts");
}

/// Segments in flight when losses crossed the threshold (V9), for single packets.
#[test]
fn the_flight_at_the_loss_is_interpolated() {
    let rounded = |tx, lost| (inflight_at_loss(tx, lost) * 100.0_f64).round() / 100.0;
    assert_eq!([rounded(100.0, 3.0), rounded(50.0, 2.0)], [98.98, 48.98]);
}

/// Headroom (V10).
#[test]
fn some_of_the_flight_is_left_to_others() {
    for (hi, left) in [(10.0, 8.5), (20.0, 17.0), (51.0, 43.35), (100.0, 85.0), (5.0, 4.0), (4.0, 4.0)] {
        let mut model = Model::default();
        model.inflight_longterm = hi;
        assert_eq!((model.inflight_with_headroom() * 100.0).round() / 100.0, left, "{hi}");
    }
}

/// An echoed mark sets the limits of the next probe's time as a loss does; marks in two rounds in a row end Startup.
#[test]
fn an_echoed_mark_counts_as_a_loss() {
    let mut path = run(path(200), 1);
    assert_eq!((path.bbr.state, path.bbr.model.inflight_shortterm), (Cruise, f64::INFINITY));
    path.bbr.on_echo();
    path.run(path.now + Span::ms(100));
    let model = &path.bbr.model;
    // The rate delivered in CRUISE is the paced one, 99 % of the link.
    assert!(model.inflight_shortterm < 83.0 && model.bw_shortterm.round() == 990.0, "{model:?}");

    let mut path = self::path(200);
    for ms in [150, 200, 250, 300] {
        path.run(Time::ZERO + Span::ms(ms));
        assert!(ms > 200 || path.bbr.state == BbrState::Startup);
        path.bbr.on_echo();
    }
    path.run(Time::ZERO + Span::ms(380));
    assert!(path.bbr.state != BbrState::Startup && path.bbr.model.inflight_longterm < f64::INFINITY);
}
