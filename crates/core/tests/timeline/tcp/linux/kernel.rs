//! Answers of a kernel to scripts that were drawn (`crates/core/tests/kernel/ask.py`), repeated by the preset `linux`.

use super::{Path, Row, compare, run, settings};
use chappe_core::packet::Seq;
use chappe_core::unit::{BitRate, Span, Time};
use std::collections::{BTreeMap, BTreeSet};

const ANSWERS: &str = include_str!("../../../data/linux_answers.txt");

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
    /// Difference of times between the kernel's own runs \[ms\].
    scatter: f64,
    lost: BTreeSet<usize>,
    lost_acks: BTreeSet<usize>,
    rows: Vec<Row>,
}

/// Reads a number at the beginning of a text.
fn number<T: std::str::FromStr + Default>(text: &mut &str) -> T {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    *text = rest.strip_prefix(';').unwrap_or(rest);
    digits.parse().unwrap_or_default()
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
        rows.push(Row { ms: tenths as f64 / 10.0, what, lost });
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
        let [name, control, rtt, queue, segments, tick, scatter, lost] = words[..] else { panic!("{head}") };
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
            scatter: scatter.parse().expect("milliseconds"),
            lost: data,
            lost_acks: acks,
            rows: packets(lines.next().expect("packets")),
        });
    }
    answers
}

/// What the preset does with a script.
fn repeat(answer: &Answer) -> Vec<Row> {
    let mut losses = BTreeMap::<Seq, u32>::new();
    let mut lost = |segment: Option<Seq>, number: usize| {
        let Some(segment) = segment else { return answer.lost_acks.contains(&number) };
        let so_far = losses.entry(segment).or_default();
        let gone = answer.lost.contains(&number) && *so_far < MOST_LOSSES;
        *so_far += u32::from(gone);
        gone
    };
    let path = Path { rate: BitRate(10_000_000), delay: answer.delay, queue: answer.queue };
    let start = Span((answer.rows[0].ms * 1e6) as u64);
    let times = (answer.begin, answer.begin + start);
    run(&settings(answer.control), &path, answer.segments, times, &mut lost).0
}

#[test]
fn the_kernel_answers_as_we_do() {
    let file = std::env::var("CHAPPE_KERNEL").ok();
    let text = file.map_or(ANSWERS.to_owned(), |f| std::fs::read_to_string(f).expect("answers"));
    let mut counts = BTreeMap::<&str, (u32, u32)>::new();
    let only = std::env::var("ONLY").ok();
    for answer in &answers(&text) {
        if only.as_ref().is_some_and(|o| o != answer.name) {
            continue;
        }
        let ours = repeat(answer);
        let [data, acks] = [true, false].map(|forward| compare(&ours, &answer.rows, forward));
        let count = counts.entry(answer.control).or_default();
        count.1 += 1;
        if data.0.is_none() && acks.0.is_none() {
            count.0 += 1;
        }
        println!("{} {:?} {:?} shift {:.1} {:.1} scatter {}", answer.name, data.0, acks.0, data.1, acks.1, answer.scatter);
        if only.is_some() {
            for (a, b) in [(true, "data"), (false, "acks")] {
                println!("{b}");
                let (o, t) = (super::of(&ours, a), super::of(&answer.rows, a));
                for i in 0..o.len().max(t.len()) {
                    let name = |r: Option<&&Row>| r.map_or("nothing".into(), |r| format!("{:9.2} {}{}", r.ms, r.what, if r.lost {" x"} else {""}));
                    println!("{:4} {:50} {:50}", i + 1, name(o.get(i)), name(t.get(i)));
                }
            }
        }
    }
    println!("{counts:?}");
}
