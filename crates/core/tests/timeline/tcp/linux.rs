//! Timelines of Linux 6.18 over an exact link, packet for packet: a link of 10 Mbit/s and 40 ms, of whose packets a
//! script loses some. `tests/data/linux_timelines.txt` holds what a kernel did.

mod closing;
mod kernel;
mod lives;
mod own_queue;
mod readers;
mod rfcs;
mod senders;
mod syns;
mod vectors;
mod writes;

use chappe_core::packet::{AckSegment, DataSegment, Ecn, Fin, Flag, Seq};
use chappe_core::tcp::{Config, Out, Receiver, Sender};
use chappe_core::unit::{BitRate, Span, Time};
use chappe_scenario::{NoFiles, Scenario};
use std::collections::VecDeque;
use std::fmt::Write;

const TIMELINES: &str = include_str!("../../data/linux_timelines.txt");

/// Text of the page before its first table.
const ABOUT: &str = "\
    The timelines are compared with those of Linux 6.18 over the same link: 10 Mbit/s, 20 ms each way, a queue of 1,000\n\
    packets, 300 segments. A script loses one packet (`one`, the 100th), 3, 10 or 25 packets from there on, the `first`, the\n\
    last one or ten (`tail1`, `tail10`), or the 20th packet from the receiver (`ack1`). *Order* is that of data packets, and of\n\
    acknowledgements with their SACK blocks. *Difference* is the largest difference of times in both directions, *bound* the\n\
    largest allowed one. For `first` with cubic it is 6 ms: in the reference, some segments wait up to 5 ms for the writing\n\
    program, but not in three more runs of the kernel. Except in the section *Receivers*, both receivers have a buffer of 8 MiB\n\
    (`SO_RCVBUFFORCE`): no auto-tuning, a window of at least 2,172 segments, 740 quick acknowledgements. By default the buffer\n\
    of the preset grows, as in `tuned`. `cargo test -p chappe-tests` runs the cases and writes this page when\n\
    `CHAPPE_WRITE_DOCS` is set.\n\n\
    | case | congestion control | packets | order of data | order of acknowledgements | difference | bound |\n\
    |---|---|---|---|---|---|---|\n";

/// Settings of a congestion control of Linux.
pub fn preset(control: &str) -> Config {
    let text = format!("extends = \"linux\"\n[run]\nstop = \"1 s\"\n[tcp]\ncongestion_control = \"{control}\"");
    let scenario = Scenario::from_toml("timeline.toml", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    // Senders of these tests have no node whose queue they fill.
    Config { small_queue: None, ..scenario.config().tcp.clone() }
}

/// The same, of a receiver with a buffer of 8 MiB (`SO_RCVBUFFORCE`), as the kernels have that were asked: its window
/// is so large at once that the first 740 segments are acknowledged one by one.
pub fn settings(control: &str) -> Config {
    let mut cfg = Config { receive_window: 2172, ..preset(control) };
    cfg.receive_buffer.enabled = false;
    cfg.delayed_ack.quick_acks = 740;
    cfg
}

/// A packet at the entrance of the link: a data segment, or an acknowledgement with its blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub ms: f64,
    pub what: String,
    pub lost: bool,
    /// Window of an acknowledgement \[segments\]; 0 where it is not known.
    pub window: u32,
}

impl Row {
    /// Returns true if the packet is a SYN or the answer to one.
    fn is_of_handshake(&self) -> bool {
        matches!(&*self.what, "s" | "as")
    }
}

pub struct Case {
    pub name: &'static str,
    pub control: &'static str,
    pub rows: Vec<Row>,
}

/// Timelines of a kernel: the words that describe each, and its packets.
fn timelines(text: &'static str) -> Vec<(Vec<&'static str>, Vec<Row>)> {
    let mut timelines: Vec<(_, Vec<Row>)> = vec![];
    for line in text.lines().filter(|line| !line.starts_with('!')) {
        let (first, rest) = line.split_once(' ').expect("two words");
        if first == "=" {
            timelines.push((rest.split(' ').collect(), vec![]));
            continue;
        }
        let (what, lost) = rest.strip_suffix(" x").map_or((rest, false), |what| (what, true));
        let row = Row { ms: first.parse().expect("a time"), what: what.to_owned(), lost, window: 0 };
        timelines.last_mut().expect("a description").1.push(row);
    }
    timelines
}

/// Timelines that are described by a name and a control.
pub fn cases(text: &'static str) -> Vec<Case> {
    timelines(text).into_iter().map(|(words, rows)| Case { name: words[0], control: words[1], rows }).collect()
}

/// Reads a number at the beginning of a text.
pub fn number<T: std::str::FromStr + Default>(text: &mut &str) -> T {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    *text = rest.strip_prefix(';').unwrap_or(rest);
    digits.parse().unwrap_or_default()
}

/// A path: a server with a queue towards the receiver, a delay back.
pub struct Path {
    pub rate: BitRate,
    /// Each way.
    pub delay: Span,
    /// Additional delay of the SYN.
    pub syn: Span,
    /// Packets that may wait, without the one in service.
    pub queue: usize,
    /// First SYNs that are lost, and first SYNs whose answers are lost.
    pub lost_syns: [usize; 2],
}

/// Data that an application writes.
#[derive(Clone, Copy)]
pub enum Load {
    /// This many full segments at once; rows have their numbers.
    Segments(u32),
    /// This many bytes, in pieces of as many as the second number says; rows have bytes.
    Pieces(u64, u32),
}

enum Event {
    Data(DataSegment),
    /// With the time at which it was sent.
    Ack(Time, AckSegment),
}

/// Bytes before each segment; the SYN is segment 0.
#[derive(Default)]
struct Bytes(Vec<u64>);

impl Bytes {
    /// Bytes before a segment. Segments that were not sent follow those that were.
    fn before(&self, seq: Seq) -> u64 {
        self.0.get(seq as usize).or(self.0.last()).copied().unwrap_or_default()
    }

    /// Payload of a segment, and its description.
    fn take(&mut self, s: &DataSegment) -> (u64, String) {
        let size = if s.fin == Fin::Bare { 0 } else { 1448 - u64::from(s.missing) };
        self.0.resize(self.0.len().max(2), 0);
        if s.seq as usize + 1 == self.0.len() {
            // A FIN takes a number.
            self.0.push(self.before(s.seq) + size + u64::from(s.fin != Fin::No));
        }
        let flags = [if s.push { "p" } else { "" }, if s.fin == Fin::No { "" } else { "f" }].concat();
        (size, format!("{}+{size}{flags}", self.before(s.seq)))
    }
}

/// Packets of sender and receiver from `begin` on with `load` written at `start`. `lost` tells if a data packet of a
/// segment or an acknowledgement with this number is lost.
pub fn run(
    cfg: &Config,
    path: &Path,
    load: Load,
    (begin, start): (Time, Time),
    lost: &mut dyn FnMut(Option<Seq>, usize) -> bool,
) -> (Vec<Row>, Sender) {
    let (mut sender, mut receiver) = (Sender::new(cfg, Span::ZERO), Receiver::new(cfg));
    let mut now = begin;
    let (mut forward, mut reverse): (VecDeque<_>, VecDeque<_>) = Default::default();
    let mut starts: VecDeque<Time> = VecDeque::new();
    let (mut free, mut rows, mut written, mut bytes) = (Time::ZERO, vec![], false, Bytes::default());
    let in_bytes = matches!(load, Load::Pieces(..));
    let (mut data, mut acks, mut syns) = (0, 0, 0);
    let mut out = vec![];
    sender.write(Some(0), now);
    loop {
        for said in sender.drain() {
            let Out::Segment(s) = said else { continue };
            data += usize::from(!s.has_no_payload());
            while starts.front().is_some_and(|t| *t <= now) {
                starts.pop_front();
            }
            syns += usize::from(s.syn);
            let gone = if s.syn { syns <= path.lost_syns[0] } else { !s.has_no_payload() && lost(Some(s.seq), data) };
            let (payload, what) = match (s.syn || s.is_probe(), s.is_fin_ack()) {
                (true, _) => (8, if s.syn { "s" } else { "p" }.to_owned()),
                (_, true) => (0, "k".to_owned()),
                _ => bytes.take(&s),
            };
            let full = starts.len() >= path.queue && free > now;
            if !gone && !full {
                let sent = free.max(now);
                starts.push_back(sent);
                free = sent + path.rate.airtime(52 + payload as u32);
                let syn = if s.syn { path.syn } else { Span::ZERO };
                forward.push_back((free + path.delay + syn, Event::Data(s)));
            }
            let what = if in_bytes || s.syn || s.is_probe() { what } else { s.seq.to_string() };
            rows.push(Row { ms: now.since(begin).0 as f64 / 1e6, what, lost: gone || full, window: 0 });
        }
        for said in out.drain(..) {
            let Out::Ack(ack) = said else { continue };
            acks += 1;
            let answers = ack.flag == Flag::Syn;
            let gone = lost(None, acks) || answers && syns <= path.lost_syns[1];
            let mut what = format!("a{}", if in_bytes { bytes.before(ack.next) } else { u64::from(ack.next - 1) });
            what += if ack.flag == Flag::Fin { "f" } else { "" };
            if answers {
                what = "as".to_owned();
            }
            for (left, right) in ack.sack.iter() {
                let [first, last] = [left, right].map(|edge| bytes.before(edge));
                let (first, last) = if in_bytes { (first, last) } else { (u64::from(left), u64::from(right - 1)) };
                write!(what, " {first}-{last}").expect("text");
            }
            rows.push(Row { ms: now.since(begin).0 as f64 / 1e6, what, lost: gone, window: ack.window });
            if !gone {
                reverse.push_back((now + path.delay, Event::Ack(now, ack)));
            }
        }
        let heads = [forward.front(), reverse.front()].into_iter().flatten().map(|e| e.0);
        let write = if written { Time::NEVER } else { start };
        let next = heads.chain([sender.deadline(), receiver.deadline(), write]).min().unwrap_or(Time::NEVER);
        if next == Time::NEVER || next > begin + Span::secs(60) || (written && is_over(&sender, cfg)) {
            return (rows, sender);
        }
        now = next;
        // A packet takes a little longer than its delay, and timers that expire at the same tick are first.
        if sender.deadline() <= now {
            sender.on_deadline(now);
        } else if forward.front().is_some_and(|e| e.0 <= now) {
            if let Some((_, Event::Data(s))) = forward.pop_front() {
                receiver.on_segment(&s, 1, Ecn::NotEct, now, &mut out);
            }
        } else if reverse.front().is_some_and(|e| e.0 <= now) {
            if let Some((_, Event::Ack(sent, a))) = reverse.pop_front() {
                sender.note_sent(sent);
                sender.on_ack(&a, 1, now);
            }
        } else if !written && start <= now {
            written = true;
            match load {
                Load::Segments(segments) => sender.write(Some(segments), now),
                Load::Pieces(bytes, size) => sender.write_in_pieces(Some(bytes), size, now),
            }
            sender.finish(now);
        } else {
            receiver.on_deadline(now, &mut out);
        }
    }
}

/// Everything is acknowledged, and with `tcp.fin` the FIN of the receiver has arrived.
fn is_over(sender: &Sender, cfg: &Config) -> bool {
    sender.is_done() && sender.written().is_some() && (!cfg.fin || sender.closed().is_some())
}

/// Packets of one direction.
fn of(rows: &[Row], forward: bool) -> Vec<&Row> {
    rows.iter().filter(|r| !r.is_of_handshake() && r.what.starts_with('a') != forward).collect()
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

/// The path of a timeline, and the time of its first segment. The delay is what the first acknowledgement shows, so
/// that it has what kernel and emulator take to wake up; a packet takes 1.2 ms to send.
pub fn path(rows: &[Row], queue: usize) -> (Path, Span) {
    let first = [true, false].map(|forward| of(rows, forward)[0].ms);
    let delay = Span(((first[1] - first[0] - 1.2) * 1e6) as u64);
    (
        Path { rate: BitRate(10_000_000), delay, syn: Span::ZERO, queue, lost_syns: [0; 2] },
        Span((first[0] * 1e6) as u64),
    )
}

/// Runs a case; its scripted losses are those of the kernel's timeline. It begins `phase` after a tick of the timers.
pub fn repeat(case: &Case, phase: Span) -> Vec<Row> {
    let mut lost = |segment: Option<Seq>, number: usize| {
        // The first packet of the receiver is its SYN-ACK.
        let index = if segment.is_some() { number - 1 } else { number.wrapping_sub(2) };
        of(&case.rows, segment.is_some()).get(index).is_some_and(|r| r.lost)
    };
    let (path, start) = path(&case.rows, 1000);
    let begin = Time::ZERO + phase;
    let start = begin + start;
    run(&settings(case.control), &path, Load::Segments(300), (begin, start), &mut lost).0
}

/// Largest difference of times allowed \[ms\]. The kernel's own runs differ by up to 5 ms, in tail cases by 18 ms,
/// because its timers tick every 4 ms, or every 32 ms if they are far away.
fn bound(case: &Case) -> f64 {
    match (case.name, case.control) {
        (name, _) if name.starts_with("tail") => 20.0,
        // In the reference some segments wait up to 5 ms for the program that writes. In three more runs of the kernel
        // they follow the segment before at once, as they do here.
        ("first", "cubic") => 6.0,
        (_, "bbr") => 10.0,
        _ => 5.0,
    }
}

/// Scripts that the kernel repeats, and those of them that agree, from the tables of sections.
fn totals(sections: [&str; 2]) -> (usize, usize) {
    // Rows of scripts have their number, that of scripts which the kernel repeats, and that of those which agree.
    let counts = |line: &str| line.split('|').filter_map(|cell| cell.trim().parse().ok()).collect::<Vec<usize>>();
    let rows = sections.iter().flat_map(|section| section.lines().map(counts)).filter(|row| row.len() == 3);
    rows.fold((0, 0), |sums, row| (sums.0 + row[1], sums.1 + row[2]))
}

/// First lines of the page, from its sections: how much agrees.
fn answer(timelines: usize, drawn: &str, written: &str, receivers: &str, flows: &str) -> String {
    let (repeated, agree) = totals([drawn, written]);
    let receivers = receivers.lines().filter(|line| line.starts_with("| `")).count();
    let [same, others] = ["| agrees |", "| differs"].map(|word| flows.matches(word).count());
    format!(
        "# Linux, packet for packet\n\n\
        **The preset `linux` repeats all {timelines} timelines of a kernel with scripted losses packet for packet, and those of {receivers}\n\
        receivers. It agrees with {agree} of {repeated} further scripts, and in {same} of {} comparisons of the goodput of long flows.\n\
        {}**\n\n\
        Each section lists the differences, with their causes where they are known.\n\n\
        {}\n\n",
        same + others,
        crate::linux_flows::shares_told(),
        crate::linux_flows::COMPARED
    )
}

#[test]
fn every_timeline_has_the_kernels_order_of_packets_and_its_times() {
    let mut page = ABOUT.to_owned();
    let (mut wrong, timelines) = (vec![], cases(TIMELINES));
    let number = timelines.len();
    for case in timelines {
        let ours = repeat(&case, Span::ZERO);
        let [data, acks] = [true, false].map(|forward| compare(&ours, &case.rows, forward));
        let (shift, bound) = (data.1.max(acks.1), bound(&case));
        let word = |found: &Option<String>| found.clone().unwrap_or("identical".to_owned());
        let (name, control, rows) = (case.name, case.control, case.rows.len());
        let verdicts = format!("{} | {}", word(&data.0), word(&acks.0));
        writeln!(page, "| `{name}` | {control} | {rows} | {verdicts} | {shift:.1} ms | {bound} ms |").expect("text");
        if data.0.is_some() || acks.0.is_some() || shift > bound {
            wrong.push(format!("{name} {control}: {verdicts}, {shift:.2} ms"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let Some(drawn) = kernel::section() else { return };
    let (written, receivers, flows) = (writes::section(), &readers::section().0, crate::linux_flows::section());
    let first = answer(number, drawn, written, receivers, flows);
    let syns = &syns::section().0;
    let page = [&first, &page, drawn, written, syns, receivers, crate::linux_bbr::section(), flows].concat();
    let repository = std::path::Path::new(crate::CORE).join("../..");
    let path = repository.join("reproductions/docs/validation-linux.md");
    if std::env::var_os("CHAPPE_WRITE_DOCS").is_some() {
        std::fs::write(&path, &page).expect("it can be written");
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    let models = std::fs::read_to_string(repository.join("docs/linux.md")).expect("a page");
    let (repeated, agree) = totals([drawn, written]);
    let words = models.split_whitespace().collect::<Vec<_>>().join(" ");
    let shares = format!("| {} are shared as in the kernel's runs |", crate::linux_flows::shares_inside());
    for told in [format!("| {agree} of {repeated} agree |"), shares] {
        assert!(words.contains(&told), "docs/linux.md does not say {told}");
    }
    assert!(there == page, "validation-linux.md is not current: run the tests with CHAPPE_WRITE_DOCS=1");
}
