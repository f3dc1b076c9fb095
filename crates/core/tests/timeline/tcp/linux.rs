//! Timelines of Linux 6.18 over an exact link, packet for packet: a link of 10 Mbit/s and 40 ms, of whose packets a
//! script loses some. `tests/data/linux_timelines.txt` holds what a kernel did.

use chappe_core::packet::{AckSegment, DataSegment, Ecn};
use chappe_core::scenario::{NoFiles, Scenario};
use chappe_core::tcp::{Config, Out, Receiver, Sender};
use chappe_core::unit::{BitRate, Span, Time};
use std::collections::VecDeque;
use std::fmt::Write;

const TIMELINES: &str = include_str!("../../data/linux_timelines.txt");

/// Settings of a congestion control of Linux.
pub fn settings(control: &str) -> Config {
    let text = format!("extends = \"linux\"\n[run]\nstop = \"1 s\"\n[tcp]\ncongestion_control = \"{control}\"");
    let scenario = Scenario::from_toml("linux", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    scenario.config().tcp.clone()
}

/// A packet at the entrance of the link: a data segment, or an acknowledgement with its blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub ms: f64,
    pub what: String,
    pub lost: bool,
}

pub struct Case {
    pub name: &'static str,
    pub control: &'static str,
    pub rows: Vec<Row>,
}

/// The timelines of the kernel.
pub fn cases(text: &'static str) -> Vec<Case> {
    let mut cases: Vec<Case> = vec![];
    for line in text.lines() {
        if let Some(head) = line.strip_prefix("= ") {
            let (name, control) = head.split_once(' ').expect("a case and a control");
            cases.push(Case { name, control, rows: vec![] });
            continue;
        }
        let (ms, what) = line.split_once(' ').expect("a time and a packet");
        let (what, lost) = what.strip_suffix(" x").map_or((what, false), |w| (w, true));
        let row = Row { ms: ms.parse().expect("a time"), what: what.to_owned(), lost };
        cases.last_mut().expect("a case").rows.push(row);
    }
    cases
}

/// A path: a server with a queue towards the receiver, a delay back.
pub struct Path {
    pub rate: BitRate,
    /// Each way.
    pub delay: Span,
    /// Packets that may wait beside the one in service.
    pub queue: usize,
}

enum Event {
    Data(DataSegment),
    Ack(AckSegment),
}

/// What sender and receiver do with `segments` written at `start`. Data packets and acknowledgements with these numbers
/// are lost.
pub fn run(
    cfg: &Config,
    path: &Path,
    segments: u32,
    start: Time,
    lost: &dyn Fn(bool, usize) -> bool,
) -> (Vec<Row>, Sender) {
    let (mut sender, mut receiver) = (Sender::new(cfg, Span::ZERO), Receiver::new(cfg));
    let mut now = Time::ZERO;
    let (mut forward, mut reverse): (VecDeque<(Time, Event)>, VecDeque<(Time, Event)>) = Default::default();
    let mut starts: VecDeque<Time> = VecDeque::new();
    let (mut free, mut rows, mut written) = (Time::ZERO, vec![], false);
    let (mut data, mut acks) = (0, 0);
    let mut out = vec![];
    sender.write(Some(0), now);
    loop {
        for said in sender.drain() {
            let Out::Segment(s) = said else { continue };
            data += usize::from(!s.syn);
            while starts.front().is_some_and(|t| *t <= now) {
                starts.pop_front();
            }
            let gone = !s.syn && lost(true, data);
            let full = starts.len() >= path.queue && free > now;
            if !gone && !full {
                let begin = free.max(now);
                starts.push_back(begin);
                free = begin + path.rate.airtime(if s.syn { 60 } else { 1500 });
                forward.push_back((free + path.delay, Event::Data(s)));
            }
            if !s.syn {
                rows.push(Row { ms: now.0 as f64 / 1e6, what: s.seq.to_string(), lost: gone || full });
            }
        }
        for said in out.drain(..) {
            let Out::Ack(ack) = said else { continue };
            acks += 1;
            let gone = lost(false, acks);
            if !ack.syn {
                let mut what = format!("a{}", ack.next - 1);
                for (left, right) in ack.sack.iter() {
                    write!(what, " {left}-{}", right - 1).expect("text");
                }
                rows.push(Row { ms: now.0 as f64 / 1e6, what, lost: gone });
            }
            if !gone {
                reverse.push_back((now + path.delay, Event::Ack(ack)));
            }
        }
        let heads = [forward.front(), reverse.front()].into_iter().flatten().map(|e| e.0);
        let write = if written { Time::NEVER } else { start };
        let next = heads.chain([sender.deadline(), receiver.deadline(), write]).min().unwrap_or(Time::NEVER);
        if next == Time::NEVER || next > Time::ZERO + Span::secs(60) || (written && sender.is_done()) {
            return (rows, sender);
        }
        now = next;
        if forward.front().is_some_and(|e| e.0 <= now) {
            if let Some((_, Event::Data(s))) = forward.pop_front() {
                receiver.on_segment(&s, 1, Ecn::NotEct, now, &mut out);
            }
        } else if reverse.front().is_some_and(|e| e.0 <= now) {
            if let Some((_, Event::Ack(a))) = reverse.pop_front() {
                sender.on_ack(&a, 1, now);
            }
        } else if !written && start <= now {
            written = true;
            sender.write(Some(segments), now);
        } else if receiver.deadline() <= now {
            receiver.on_deadline(&mut out);
        } else {
            sender.on_deadline(now);
        }
    }
}

/// Packets of one direction.
fn of(rows: &[Row], forward: bool) -> Vec<&Row> {
    rows.iter().filter(|r| r.what.starts_with('a') != forward).collect()
}

/// First difference of the order of packets in a direction, and the largest difference of times [ms].
pub fn compare(ours: &[Row], theirs: &[Row], forward: bool) -> (Option<String>, f64) {
    let (ours, theirs) = (of(ours, forward), of(theirs, forward));
    let mut shift: f64 = 0.0;
    for i in 0..ours.len().max(theirs.len()) {
        match (ours.get(i), theirs.get(i)) {
            (Some(a), Some(b)) if a.what == b.what => shift = shift.max((a.ms - b.ms).abs()),
            (a, b) => {
                let name = |r: Option<&&Row>| r.map_or("nothing".into(), |r| format!("{} at {:.2} ms", r.what, r.ms));
                return (Some(format!("packet {}: {} for {}", i + 1, name(a), name(b))), shift);
            }
        }
    }
    (None, shift)
}

/// Runs a case; its scripted losses are those of the kernel's timeline.
pub fn repeat(case: &Case) -> Vec<Row> {
    let lost = |forward: bool, number: usize| {
        // The first packet of the receiver is its SYN-ACK.
        let index = if forward { number - 1 } else { number.wrapping_sub(2) };
        of(&case.rows, forward).get(index).is_some_and(|r| r.lost)
    };
    let path = Path { rate: BitRate(10_000_000), delay: Span::ms(20), queue: 1000 };
    let start = Time((case.rows[0].ms * 1e6) as u64);
    run(&settings(case.control), &path, 300, start, &lost).0
}
