//! Answers of a kernel to scripts that were drawn (`crates/core/tests/kernel/ask.py`), repeated by the preset `linux`.

use super::{Load, Path, Row, compare, number, of, run, settings};
use chappe_core::packet::Seq;
use chappe_core::unit::{BitRate, Span, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::LazyLock;

const ANSWERS: &str = include_str!("../../../data/linux_answers.txt");

/// Text of the page before its tables.
const ABOUT: &str = "\n## Scripts drawn at random\n\n\
    A hundred random scripts per congestion control (`crates/core/tests/kernel/ask.py`): RTT 5 to 200 ms, a queue of 5 to 1,000\n\
    packets, 50 to 500 segments, one to five losses of segments, bursts, acknowledgements or the tail. The kernel ran each\n\
    script three times; a script counts if packet order, SACK blocks and losses were identical in all three runs. It *agrees*\n\
    if the order in both directions is identical, and times differ by at most the bounds of the table above (20 ms if a timer\n\
    expired) or the differences between the kernel's own runs. `make check-kernel` repeats this with the kernel of the machine\n\
    (as root; a quarter of an hour), with new timer ticks.\n\n\
    | congestion control | scripts | the kernel repeats itself | agree | share |\n\
    |---|---|---|---|---|\n";

/// Text before the scripts that differ.
const ABOUT_OTHERS: &str = "\nScripts that do not agree, with the first difference (the kernel's packet follows *for*) and its cause:\n\n\
    | script | difference | cause |\n\
    |---|---|---|\n";

/// Tick of the kernel's timers \[us\].
const TICK_US: i64 = 4000;

/// Losses of a segment by a script, at most.
const MOST_LOSSES: u32 = 2;

/// An answer of the kernel.
struct Answer<'a> {
    name: &'a str,
    control: &'a str,
    /// Of each way.
    delay: Span,
    queue: usize,
    segments: u32,
    /// Time of the SYN on the clock of the timers.
    begin: Time,
    /// Smallest round-trip time that the kernel has measured.
    min_rtt: Span,
    /// Difference of times between the kernel's own runs \[ms\].
    scatter: f64,
    lost: BTreeSet<usize>,
    lost_acks: BTreeSet<usize>,
    rows: Vec<Row>,
}

/// Reads packets as `ask.py` writes them.
fn packets(mut text: &str) -> Vec<Row> {
    let (mut tenths, mut nxt, mut una, mut rows) = (0_u64, 1, 0, Vec::<Row>::new());
    while !text.is_empty() {
        if text.starts_with(|c: char| c.is_ascii_digit()) {
            tenths += number::<u64>(&mut text);
        }
        let (kind, rest) = text.split_at(1);
        text = rest;
        let segment: Option<u32> = match kind {
            "n" => Some(nxt),
            "r" => Some(number(&mut text)),
            _ => None,
        };
        let mut what = segment.map_or(String::new(), |s| s.to_string());
        nxt = nxt.max(segment.map_or(0, |s| s + 1));
        match kind {
            "a" => una += 1,
            "b" => una += 2,
            "c" => una = number(&mut text),
            _ => {}
        }
        if segment.is_none() {
            what = format!("a{una}");
            while let Some(rest) = text.strip_prefix('s') {
                text = rest;
                let (range, rest) = text.split_once(';').expect("a block");
                text = rest;
                let (left, right) = edges(range);
                what += &format!(" {}-{}", i64::from(una) + left, i64::from(una) + right);
            }
        }
        let lost = text.starts_with('x');
        text = text.strip_prefix('x').unwrap_or(text);
        rows.push(Row { ms: tenths as f64 / 10.0, what, lost, window: 0 });
    }
    rows
}

/// The edges of a SACK block, which may be negative.
fn edges(range: &str) -> (i64, i64) {
    let at = range[1..].find('-').expect("two edges") + 1;
    (range[..at].parse().expect("an edge"), range[at + 1..].parse().expect("an edge"))
}

fn answers(text: &str) -> Vec<Answer<'_>> {
    let (mut lines, mut answers) = (text.lines(), vec![]);
    while let Some(line) = lines.next() {
        let Some(head) = line.strip_prefix("= ") else { continue };
        let words: Vec<&str> = head.split(' ').collect();
        let [name, control, rtt, queue, segments, tick, min_rtt, scatter, lost] = words[..] else { panic!("{head}") };
        let (mut data, mut acks) = (BTreeSet::new(), BTreeSet::new());
        for range in lost.split(',') {
            let (list, range) = range.strip_prefix('a').map_or((&mut data, range), |r| (&mut acks, r));
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            list.extend(first.parse::<usize>().expect("a number")..=last.parse().expect("a number"));
        }
        answers.push(Answer {
            name,
            control,
            delay: Span((rtt.parse::<f64>().expect("milliseconds") * 5e5) as u64),
            queue: queue.parse().expect("a queue"),
            segments: segments.parse().expect("segments"),
            begin: Time(tick.parse::<u64>().expect("microseconds") * 1000),
            min_rtt: Span(min_rtt.parse::<u64>().expect("microseconds") * 1000),
            scatter: scatter.parse().expect("milliseconds"),
            lost: data,
            lost_acks: acks,
            rows: packets(lines.next().expect("packets")),
        });
    }
    answers
}

/// Share of a control's scripts that must agree.
fn least(control: &str) -> f64 {
    if control == "bbr" { 0.7 } else { 0.9 }
}

/// Largest difference of times allowed \[ms\]: that of the 27 timelines, or what the kernel's own runs differ by.
fn bound(answer: &Answer, timers: bool) -> f64 {
    let bound: f64 = match answer.control {
        _ if timers => 20.0,
        "bbr" => 10.0,
        _ => 5.0,
    };
    bound.max(answer.scatter)
}

/// A change of a script within what kernel and emulator take, to see if that makes a difference.
#[derive(Clone, Copy, Debug, Default)]
struct Nudge {
    /// Of the clock of the timers \[us\].
    clock: i64,
    /// Of the delay of each way \[us\].
    delay: i64,
    /// Of the time that the SYN takes \[us\].
    syn: i64,
}

/// Packets that the preset sends for a script; true if a timer expired.
fn repeat(answer: &Answer, nudge: Nudge) -> (Vec<Row>, bool) {
    let mut losses = BTreeMap::<Seq, u32>::new();
    let mut lost = |segment: Option<Seq>, number: usize| {
        let Some(segment) = segment else { return answer.lost_acks.contains(&number) };
        let so_far = losses.entry(segment).or_default();
        let gone = answer.lost.contains(&number) && *so_far < MOST_LOSSES;
        *so_far += u32::from(gone);
        gone
    };
    let delay = Span(answer.delay.0.saturating_add_signed(nudge.delay * 1000));
    let rate = BitRate(10_000_000);
    let alone = answer.delay * 2 + rate.airtime(60);
    let syn = Span(answer.min_rtt.0.saturating_sub(alone.0).saturating_add_signed(nudge.syn * 1000));
    let path = Path { rate, delay, syn, queue: answer.queue, lost_syns: [0; 2] };
    let begin = Time(answer.begin.0.saturating_add_signed(nudge.clock * 1000));
    let times = (begin, begin + Span((answer.rows[0].ms * 1e6) as u64));
    let (rows, mut sender) = run(&settings(answer.control), &path, Load::Segments(answer.segments), times, &mut lost);
    let counters = sender.counters(begin);
    (rows, counters.timeouts + counters.probes_sent > 0)
}

/// The first difference from the kernel, if any. A processor that sees a tick before the kernel has counted it runs its
/// timers one tick later, in some runs and not in others (`crates/core/tests/kernel/link.py`); either clock may be that
/// of the answer.
fn difference(answer: &Answer, nudge: Nudge) -> Option<String> {
    let late = Nudge { clock: nudge.clock - TICK_US, ..nudge };
    let found = difference_with(answer, nudge)?;
    difference_with(answer, late).map(|_| found)
}

fn difference_with(answer: &Answer, nudge: Nudge) -> Option<String> {
    let (ours, timers) = repeat(answer, nudge);
    let [data, acks] = [true, false].map(|forward| compare(&ours, &answer.rows, forward));
    if let Some(found) = data.0.or(acks.0) {
        return Some(found);
    }
    let shift = data.1.max(acks.1);
    (shift > bound(answer, timers)).then(|| format!("times, by {shift:.1} ms"))
}

/// The reason for a difference, found by experiment.
fn cause(answer: &Answer) -> String {
    let agrees = |nudge| difference(answer, nudge).is_none();
    for us in [50, -50, 100, -100, 200, -200] {
        if agrees(Nudge { clock: us, ..Nudge::default() }) {
            return format!(
                "none if the ticks of the timers are {us} us earlier: an acknowledgement comes with a tick"
            );
        }
        for nudge in [Nudge { delay: us, ..Nudge::default() }, Nudge { syn: us, ..Nudge::default() }] {
            if agrees(nudge) {
                let of = if nudge.syn == 0 { "a delay" } else { "a round-trip time of the SYN" };
                return format!("none with {of} of {us} us more, which kernel and emulator take to wake up");
            }
        }
    }
    let (ours, _) = repeat(answer, Nudge::default());
    let fates = of(&ours, true).into_iter().zip(of(&answer.rows, true));
    match fates.enumerate().find(|(_, (a, b))| a != b && (a.what != b.what || a.lost != b.lost)) {
        Some((_, (a, b))) if a.what == b.what => {
            format!("segment {} finds the queue full or not, as {:.1} ms decide", a.what, (a.ms - b.ms).abs())
        }
        _ => "not known".to_owned(),
    }
}

/// Compares all answers; the rows of the page, and what is wrong.
fn judge(text: &str) -> (String, Vec<String>) {
    let all = answers(text);
    let (mut table, mut others, mut wrong) = (String::new(), String::new(), vec![]);
    for control in ["reno", "cubic", "bbr"] {
        let differ = text.lines().filter(|l| l.starts_with(&format!("! {control}-"))).count();
        let (mut agree, mut count) = (0, 0);
        for answer in all.iter().filter(|a| a.control == control) {
            count += 1;
            match difference(answer, Nudge::default()) {
                None => agree += 1,
                Some(found) => writeln!(others, "| `{}` | {found} | {} |", answer.name, cause(answer)).expect("text"),
            }
        }
        let share = f64::from(agree) / f64::from(count);
        writeln!(table, "| {control} | {} | {count} | {agree} | {:.0} % |", count + differ as u32, 100.0 * share)
            .expect("text");
        if share < least(control) {
            wrong.push(format!("{control}: {agree} of {count} agree"));
        }
    }
    (format!("{ABOUT}{table}{ABOUT_OTHERS}{others}"), wrong)
}

/// File of answers to judge in place of those that are kept (`make check-kernel`).
fn asked() -> Option<std::ffi::OsString> {
    std::env::var_os("CHAPPE_KERNEL")
}

/// The section of the page, and what is wrong.
static JUDGED: LazyLock<(String, Vec<String>)> = LazyLock::new(|| match asked() {
    Some(file) => judge(&std::fs::read_to_string(file).expect("answers")),
    None => judge(ANSWERS),
});

/// The section of the page, from the answers that are kept.
pub fn section() -> Option<&'static str> {
    asked().is_none().then_some(&JUDGED.0)
}

#[test]
fn the_preset_does_what_the_kernel_does_with_scripts_drawn_at_random() {
    let (section, wrong) = &*JUDGED;
    if let Some(file) = asked() {
        std::fs::write(std::path::Path::new(&file).with_extension("md"), section).expect("it can be written");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
