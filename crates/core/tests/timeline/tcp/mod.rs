//! TCP: sender and receiver, alone or joined by a path with scripted losses.

mod delayed;
mod door;
mod ecn;
mod elfn;
mod every_variant;
mod linux;
mod own_node;
mod pacing;
mod thinning;
mod vectors;
mod windows;

use chappe_core::packet::{AckSegment, DataSegment, Ecn, SackBlocks, Seq};
use chappe_core::tcp::ack::Policy;
use chappe_core::tcp::cc::vegas::Growth;
use chappe_core::tcp::config::recoveries::{Answer, FlightSizeAt, Probe, Resend};
use chappe_core::tcp::config::variants::Variant;
use chappe_core::tcp::{Config, InitialWindow, Out, Receiver, Sender};
use chappe_core::unit::{BitRate, Span, Time};
use chappe_scenario::{NoFiles, Scenario};
use std::collections::VecDeque;

const VECTORS: &str = include_str!("../tcp.vectors");

// ---- settings ----

/// Profiles of the vectors: presets with their changes.
const PROFILES: &[(&str, &str)] = &[
    ("N2", "extends = \"ns2-2.35\""),
    (
        "N2E",
        r#"
        extends = "ns2-2.35"
        tcp.receive_window = 28
        tcp.ssthresh_base = "whole_window"
        tcp.limited_transmit = false
        tcp.rto = { initial = "6 s", min = "1 s" }
        tcp.fast_recovery = { partial_ack_timer = "slow_but_steady", partial_window_deflation = false }
        "#,
    ),
    // Vegas with its defects corrected, but for the segments without header.
    (
        "N2F",
        r#"
        extends = "ns2-2.35"
        [tcp.vegas.ns2]
        send_time_sentinels = false
        inflation_stays = false
        backoff_on_fast_retransmit = false
        timeout_when_idle = false
        clearing_stops_at_wrap = false
        base_rtt_grows = false
        rounded_difference = false
        mark_survives_timeout = false
        restart_at_two = false
        "#,
    ),
    ("RFC", "extends = \"standard\"\ntcp.ack_policy = \"every\""),
    ("L26", "extends = \"linux-2.6.16\""),
];

fn settings(profile: &str, variant: &str) -> Config {
    let text = PROFILES.iter().find(|p| p.0 == profile).unwrap_or_else(|| panic!("no profile {profile}")).1;
    let common = [("run.stop", "\"1 s\""), ("tcp.mss", "\"1000 B\""), ("tcp.variant", variant)];
    let common = common.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let scenario = Scenario::from_toml(profile, text, &common, &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    scenario.config().tcp.clone()
}

// ---- a path ----

struct Link {
    rate: BitRate,
    delay: Span,
    free: Time,
}

impl Link {
    fn carry(&mut self, at: Time, bytes: u32) -> Time {
        self.free = self.free.max(at) + self.rate.airtime(bytes);
        self.free + self.delay
    }
}

/// Links from sender to receiver; acknowledgements come back over links like them.
fn links(path: &str) -> Vec<Link> {
    let link = |rate, delay| Link { rate: BitRate(rate), delay, free: Time::ZERO };
    match path {
        "p1" => vec![link(10_000_000, Span::ms(50))],
        "ff" => vec![link(8_000_000, Span::us(100)), link(800_000, Span::ms(100))],
        "p2" => vec![link(100_000_000, Span::us(10)), link(10_000_000, Span::ms(50))],
        "vg" => vec![link(800_000, Span::ms(20))],
        "p3" => vec![link(10_000_000, Span::ms(40))],
        other => panic!("no path {other}"),
    }
}

// ---- a run ----

#[derive(Debug, Clone, Default)]
struct Event {
    time: f64,
    /// Cumulative acknowledgement; a timeout when there is none.
    ack: Option<i64>,
    /// It echoes a mark.
    ece: bool,
    dup_acks: u32,
    cwnd: f64,
    ssthresh: f64,
    backoff: u32,
    sends: Vec<String>,
    idle: bool,
}

struct Run {
    cfg: Config,
    forward: Vec<Link>,
    back: Vec<Link>,
    sender: Sender,
    receiver: Receiver,
    data: VecDeque<(Time, DataSegment, Ecn)>,
    acks: VecDeque<(Time, AckSegment)>,
    lost: Vec<Seq>,
    lost_from: Option<Seq>,
    /// Probes still to be lost.
    lost_probes: u32,
    dropped: Vec<u32>,
    /// Segments that are marked when they pass for the first time, and packets that are, by their order.
    marked: Vec<Seq>,
    marked_packets: Vec<u32>,
    carried: u32,
    /// Duplicate acknowledgements carry loss notifications.
    eln: bool,
    events: Vec<Event>,
}

impl Run {
    /// Puts the sender's outputs on the path, and notes the event.
    fn note(&mut self, now: Time, ack: Option<(i64, bool)>, idle: bool) {
        let mut sends = vec![];
        let out: Vec<Out> = self.sender.drain().collect();
        for o in out {
            let Out::Segment(s) = o else { panic!("a sender sends segments") };
            let number = s.seq.to_string() + if s.retransmission { "r" } else { "" };
            let mut name = if s.is_probe() { "P".to_owned() } else { number };
            if s.cwr && !s.syn {
                name.push('w');
            }
            let bytes = self.cfg.segment_bytes(s.syn || s.is_probe());
            let last = self.forward.len() - 1;
            let mut at = now;
            for link in &mut self.forward[..last] {
                at = link.carry(at, bytes);
            }
            let nth = self.carried;
            self.carried += 1;
            let listed = self.lost.iter().position(|&l| l == s.seq && !s.is_probe());
            let lost_probe = s.is_probe() && self.lost_probes > 0;
            self.lost_probes -= u32::from(lost_probe);
            let beyond = self.lost_from.is_some_and(|f| s.seq >= f);
            let lost = self.dropped.contains(&nth) || beyond || listed.is_some() || lost_probe;
            if let Some(i) = listed {
                self.lost.remove(i);
            }
            if lost {
                // "rX" marks a retransmission that is lost again, "PX" a probe that is lost.
                if s.retransmission || s.is_probe() {
                    name.push('X');
                }
                // Losses occur before the last link and take no time there.
            } else {
                at = self.forward[last].carry(at, bytes);
                let mut ecn = if s.ect { Ecn::Ect } else { Ecn::NotEct };
                let listed = self.marked.iter().position(|&m| m == s.seq);
                if s.ect && (listed.is_some() || self.marked_packets.contains(&nth)) {
                    ecn = Ecn::Ce;
                    listed.map(|i| self.marked.remove(i));
                }
                self.data.push_back((at, s, ecn));
            }
            sends.push(name);
        }
        let conn = self.sender.connection();
        self.events.push(Event {
            time: now.as_secs(),
            ack: ack.map(|a| a.0),
            ece: ack.is_some_and(|a| a.1),
            dup_acks: conn.dup_acks(),
            cwnd: conn.window().cwnd,
            ssthresh: conn.window().ssthresh,
            backoff: conn.rto().backoff(),
            sends,
            idle,
        });
    }

    fn run(&mut self, start: Time, data: Option<u32>, until: Time) {
        self.sender.write(data, start);
        self.note(start, None, false);
        loop {
            let arrival = self.data.front().map_or(Time::NEVER, |d| d.0);
            let ack = self.acks.front().map_or(Time::NEVER, |a| a.0);
            let now = arrival.min(ack).min(self.sender.deadline()).min(self.receiver.deadline());
            if now > until || now == Time::NEVER {
                return;
            }
            let mut out = vec![];
            if now == self.receiver.deadline() {
                // Of what is due at one instant ns-2 takes first what was set first.
                self.receiver.on_deadline(now, &mut out);
            } else if now == arrival {
                let (_, segment, ecn) = self.data.pop_front().expect("due");
                self.receiver.on_segment(&segment, 1, ecn, now, &mut out);
            } else if now == ack {
                let (_, mut a) = self.acks.pop_front().expect("due");
                a.eln = self.eln && a.next == self.sender.connection().una();
                self.sender.on_ack(&a, 1, now);
                self.note(now, Some((i64::from(a.next) - 1, a.ece)), false);
            } else {
                let outstanding = self.sender.connection().una() < self.sender.connection().max();
                self.sender.on_deadline(now);
                self.note(now, None, !outstanding);
            }
            for o in out {
                if let Out::Ack(a) = o {
                    let bytes = self.cfg.ack_size.0 + self.cfg.sack_block_size.0 * a.sack.len() as u32;
                    let at = self.back.iter_mut().rev().fold(now, |at, link| link.carry(at, bytes));
                    self.acks.push_back((at, a));
                }
            }
        }
    }
}

// ---- vectors ----

/// The word of a setting.
fn growth(word: &str) -> Growth {
    [Growth::UsedBefore, Growth::UsedAfter, Growth::Always].into_iter().find(|g| g.word() == word).expect("a word")
}

fn numbers(text: &str) -> Vec<u32> {
    text.split(',')
        .flat_map(|part| {
            let (a, b) = part.split_once('-').unwrap_or((part, part));
            a.parse::<u32>().expect("a number")..=b.parse::<u32>().expect("a number")
        })
        .collect()
}

struct Vector<'a> {
    id: &'a str,
    header: &'a str,
    lines: Vec<&'a str>,
}

fn vectors() -> Vec<Vector<'static>> {
    let mut all: Vec<Vector<'static>> = vec![];
    for line in VECTORS.lines().map(|l| l.split('#').next().unwrap_or("").trim()).filter(|l| !l.is_empty()) {
        if let Some(rest) = line.strip_prefix('[') {
            let (id, header) = rest.split_once(']').expect("[id] header");
            all.push(Vector { id, header: header.trim(), lines: vec![] });
        } else {
            all.last_mut().expect("a vector begins with its id").lines.push(line);
        }
    }
    all
}

fn run(v: &Vector<'_>) -> (Vec<Event>, Sender) {
    let mut words = v.header.split_whitespace();
    let profile = words.next().expect("a profile");
    let mut cfg = settings(profile, words.next().expect("a variant"));
    let (mut data, mut lost, mut lost_from, mut dropped) = (None, vec![], None, vec![]);
    let mut lost_probes = 0;
    let (mut marked, mut marked_packets) = (vec![], vec![]);
    let (mut path, mut until, mut phase, mut eln) = ("p1", 20.0, Span::ZERO, false);
    for word in words {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        match key {
            "data" => data = Some(value.parse().expect("a number")),
            "lost" => match value.strip_suffix("..") {
                Some(from) => lost_from = Some(from.parse().expect("a number")),
                None => lost = numbers(value),
            },
            "lostp" => lost_probes = value.parse().expect("a number"),
            "drop" => dropped = numbers(value),
            "ecn" => cfg.ecn.enabled = true,
            "beta" => cfg.ecn.beta = Some(value.parse().expect("a number")),
            "mark" => marked = numbers(value),
            "markp" => marked_packets = numbers(value),
            "window" => cfg.receive_window = value.parse().expect("a number"),
            "max_cwnd" => cfg.max_cwnd = Some(value.parse().expect("a number")),
            "iw" => cfg.initial_window = InitialWindow::Segments(value.parse().expect("a number")),
            "ssthresh" => cfg.initial_ssthresh = Some(value.parse().expect("a number")),
            "nosyn" => cfg.syn = false,
            "eln" => eln = true,
            "holes" => cfg.e_newreno.resend = Resend::Holes,
            "first_segment" => cfg.e_newreno.probe = Probe::FirstSegment,
            "probe_answer" => cfg.e_newreno.answer = Answer::Probe,
            "at_answer" => cfg.e_newreno.flight_size = FlightSizeAt::Answer,
            "ends_backoff" => cfg.e_newreno.answer_ends_backoff = true,
            "probe_interval" => {
                cfg.e_newreno.probe_interval = Some(Span::ms(value.parse().expect("a number of milliseconds")));
            }
            "growth" => cfg.vegas.growth = growth(value),
            "ack" if value == "every" => cfg.ack_policy = Policy::Every,
            "ack" if value == "thinning" => cfg.ack_policy = Policy::Thinning,
            "ack" => {
                cfg.ack_policy = Policy::Delayed;
                if let Some(ms) = value.strip_prefix("delayed-") {
                    cfg.delayed_ack.timeout = Span::ms(ms.parse().expect("a number of milliseconds"));
                }
            }
            "path" => path = value,
            "phase" => phase = Span(value.parse().expect("a number of nanoseconds")),
            "until" => until = value.parse().expect("a time"),
            other => panic!("no key {other}"),
        }
    }
    let start = if path == "ff" { Time::ZERO + Span::secs(1) } else { Time::ZERO };
    let until = if path == "ff" { 6.0 } else { until };
    let mut run = Run {
        forward: links(path),
        back: links(path),
        sender: Sender::new(&cfg, phase),
        receiver: Receiver::new(&cfg),
        cfg,
        data: VecDeque::new(),
        acks: VecDeque::new(),
        lost,
        lost_from,
        lost_probes,
        dropped,
        marked,
        marked_packets,
        carried: 0,
        eln,
        events: vec![],
    };
    if v.id == "C60" {
        // The eleventh segment is there only when the eighth is reported.
        rfc6675_vector(&mut run);
    } else {
        run.run(start, data, Time::ZERO + Span::from_secs(until));
    }
    (run.events, run.sender)
}

/// C60: ten segments out, the first two lost; SACKs one segment at a time; new data with the last.
fn rfc6675_vector(run: &mut Run) {
    run.sender.write(Some(10), Time::ZERO);
    run.note(Time::ZERO, None, false);
    for right in 3..=8 {
        let mut sack = SackBlocks::default();
        sack.push(2, right);
        if right == 8 {
            run.sender.write(Some(1), Time::ZERO + Span::ms(100));
        }
        let now = Time::ZERO + Span::ms(100);
        run.sender.on_ack(&AckSegment { hops: 1, sack, window: 64, ..AckSegment::default() }, 1, now);
        run.note(now, Some((-1, false)), false);
        let e = run.events.last_mut().expect("noted");
        e.dup_acks = right - 2;
    }
}

// ---- a sender alone ----

/// Every variant with the settings of a profile.
fn variants(profile: &str) -> impl Iterator<Item = (&'static str, Config)> + use<'_> {
    Variant::WORDS.iter().map(move |&(word, _)| (word, settings(profile, &format!("\"{word}\""))))
}

/// Numbers of the segments sent.
fn said(sender: &mut Sender) -> Vec<Seq> {
    sender.drain().map(|o| if let Out::Segment(s) = o { s.seq } else { panic!("a sender sends segments") }).collect()
}

/// An acknowledgement over three hops.
fn ack(next: Seq, window: u32, now: Time) -> AckSegment {
    AckSegment { next, window, hops: 3, echo: Time(now.0.saturating_sub(100_000_000)), ..AckSegment::default() }
}

/// Advances until the sender has outputs, and returns them.
fn wait(sender: &mut Sender, now: &mut Time) -> Vec<Seq> {
    loop {
        assert!(sender.deadline() != Time::NEVER, "it waits forever");
        *now = sender.deadline();
        sender.on_deadline(*now);
        let said = said(sender);
        if !said.is_empty() || sender.gave_up().is_some() {
            return said;
        }
    }
}

/// A sender whose segments up to this one have been acknowledged at once, one by one.
fn sent(cfg: &Config, segments: u32) -> (Sender, Time) {
    let mut s = Sender::new(cfg, Span::ZERO);
    let mut now = Time::ZERO;
    s.write(Some(segments), now);
    let last = segments + u32::from(cfg.starts_with_syn());
    while s.connection().una() < last {
        let next = s.connection().una() + 1;
        if s.connection().max() < next {
            wait(&mut s, &mut now);
        }
        now += Span::ms(10);
        s.on_ack(&ack(next, cfg.receive_window, now), 3, now);
        said(&mut s);
    }
    (s, now)
}
