//! Answers of a kernel to programs that write in pieces, and to short transfers from SYN to FIN
//! (`crates/core/tests/kernel/writes.py`), repeated by the preset `linux`.

use super::{Load, Path, Row, compare, number, run, settings};
use chappe_core::packet::Seq;
use chappe_core::tcp::{Config, Nagle, SendBuffer};
use chappe_core::unit::{BitRate, Span, Time};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::str::FromStr;
use std::sync::LazyLock;

const ANSWERS: &str = include_str!("../../../data/linux_writes.txt");

/// An answer of the kernel.
struct Answer<'a> {
    name: &'a str,
    cfg: Config,
    path: Path,
    load: Load,
    /// Time of the SYN on the clock of the timers.
    begin: Time,
    /// Difference of times between the kernel's own runs \[ms\].
    scatter: f64,
    lost: BTreeSet<usize>,
    lost_acks: BTreeSet<usize>,
    rows: Vec<Row>,
}

fn read<T: FromStr>(word: &str) -> T {
    word.parse().unwrap_or_else(|_| panic!("{word}"))
}

fn answers() -> Vec<Answer<'static>> {
    let (mut lines, mut answers) = (ANSWERS.lines(), vec![]);
    while let Some(line) = lines.next() {
        let Some(head) = line.strip_prefix("= ") else { continue };
        let words: Vec<&str> = head.split(' ').collect();
        let [
            name,
            control,
            rtt,
            rate,
            queue,
            bytes,
            write,
            nagle,
            waits,
            closes,
            close_wait,
            tick,
            min_rtt,
            scatter,
            lost,
        ] = words[..]
        else {
            panic!("{head}")
        };
        let cfg = settings(control);
        let cfg = Config {
            nagle: if nagle == "1" { cfg.nagle } else { Nagle::Off },
            send_buffer: if waits == "1" { cfg.send_buffer } else { SendBuffer::Unlimited },
            fin: closes == "1",
            close_wait: Some(Span::ms(read(close_wait))),
            ..cfg
        };
        let (rate, delay) = (BitRate(read::<u64>(rate) * 1000), Span((read::<f64>(rtt) * 5e5) as u64));
        let alone = delay * 2 + rate.airtime(60);
        let syn = Span((read::<u64>(min_rtt) * 1000).saturating_sub(alone.0));
        let (acks, data): (Vec<&str>, Vec<&str>) =
            lost.split(',').filter(|range| *range != "-").partition(|range| range.starts_with('a'));
        let numbers = |ranges: Vec<&str>| {
            let ends = ranges.into_iter().map(|range| {
                let range = range.trim_start_matches('a');
                range.split_once('-').unwrap_or((range, range))
            });
            ends.flat_map(|(first, last)| read::<usize>(first)..=read(last)).collect()
        };
        answers.push(Answer {
            name,
            cfg,
            path: Path { rate, delay, syn, queue: read(queue), lost_syns: [0; 2] },
            load: Load::Pieces(read(bytes), read(write)),
            begin: Time(read::<u64>(tick) * 1000),
            scatter: read(scatter),
            lost: numbers(data),
            lost_acks: numbers(acks),
            rows: packets(lines.next().expect("packets")),
        });
    }
    answers
}

/// Reads packets as `writes.py` writes them.
fn packets(mut text: &str) -> Vec<Row> {
    let (mut tenths, mut nxt, mut una, mut rows) = (0_u64, 0_u64, 0_i64, Vec::<Row>::new());
    while !text.is_empty() {
        if text.starts_with(|c: char| c.is_ascii_digit()) {
            tenths += number::<u64>(&mut text);
        }
        let (kind, rest) = text.split_at(1);
        text = rest;
        let first = if kind == "r" { number::<u64>(&mut text) } else { nxt };
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
        let sized = digits > 0 && text[digits..].starts_with(';');
        let mut what = match kind {
            "n" | "r" => {
                let size = if sized { number(&mut text) } else { 1448 };
                nxt = nxt.max(first + size);
                let flags: String = text.chars().take_while(|c| "pf".contains(*c)).collect();
                text = &text[flags.len()..];
                format!("{first}+{size}{flags}")
            }
            "k" => "k".to_owned(),
            _ => {
                una += match kind {
                    "a" => 1448,
                    "b" => 2896,
                    _ => number(&mut text),
                };
                let fin = if let Some(rest) = text.strip_prefix('f') {
                    text = rest;
                    "f"
                } else {
                    ""
                };
                format!("a{una}{fin}")
            }
        };
        while let Some(rest) = text.strip_prefix('s') {
            let (range, rest) = rest.split_once(';').expect("a block");
            text = rest;
            let at = range[1..].find('-').expect("two edges") + 1;
            let [left, right] = [&range[..at], &range[at + 1..]].map(|edge| una + read::<i64>(edge));
            what += &format!(" {left}-{right}");
        }
        let lost = text.starts_with('x');
        text = text.strip_prefix('x').unwrap_or(text);
        rows.push(Row { ms: tenths as f64 / 10.0, what, lost, window: 0 });
    }
    rows
}

/// Packets that the preset sends.
fn repeat(answer: &Answer) -> Vec<Row> {
    let mut lost = |segment: Option<Seq>, number: usize| {
        if segment.is_some() { &answer.lost } else { &answer.lost_acks }.contains(&number)
    };
    let times = (answer.begin, answer.begin + Span((answer.rows[0].ms * 1e6) as u64));
    run(&answer.cfg, &answer.path, answer.load, times, &mut lost).0
}

/// The first difference from the kernel, if any.
fn difference(answer: &Answer) -> Option<String> {
    let ours = repeat(answer);
    let [data, acks] = [true, false].map(|forward| compare(&ours, &answer.rows, forward));
    let shift = data.1.max(acks.1);
    let late = || (shift > answer.scatter.max(MOST_MS)).then(|| format!("times, by {shift:.1} ms"));
    data.0.or(acks.0).or_else(late)
}

/// Largest difference of times allowed \[ms\], if those of the kernel's own runs do not differ by more.
const MOST_MS: f64 = 5.0;

/// Scripts that differ, with the reason.
const DIFFER: &[(&str, &str)] = &[
    ("buffer-reno-12", "not known: the kernel's buffer has room for a window of 62 segments, after 63 were in use"),
    ("buffer-cubic-100", "a kernel joins segments that are reported in SACK blocks, so that they take less memory"),
    ("close-reno-5-60", TICKS),
    ("close-cubic-1-60", TICKS),
    ("close-bbr-5-300", TICKS),
    ("fin-cubic-1-300-1", TICKS),
    ("random-reno-1000", LATE),
    ("random-reno-1500", LATE),
    ("random-cubic-1500", LATE),
    ("fin-cubic-1-0-4", "the order is the same; timers that are far away expire every 32 ms, by clocks of two ends"),
];

/// Reason for times of flows that last seconds.
const LATE: &str = "the order is the same; each acknowledgement that waits for its timer comes up to a tick later in the kernel, \
    and the flow lasts 0.1 to 0.3 % longer";

/// Reason for times of acknowledgements of a FIN, which wait for a timer of 40 ms that ticks every 4 ms.
const TICKS: &str = "the order is the same; in nine more runs of three such scripts the kernel acknowledges the FIN after 40.2 to \
    47.6 ms, here after 40 to 44 ms";

/// Text of the page before the scripts that differ.
const ABOUT: &str = "\n## Writes, and lives of short transfers\n\n\
    These scripts (`crates/core/tests/kernel/writes.py`) cover:\n\n\
    - writes of 100 to 65,536 B, with and without Nagle's algorithm (`TCP_NODELAY`), with an unlimited send buffer or that of the\n\
    \u{20} kernel; writes of 2,000 to 65,536 B over 1,100 segments, beyond the quick acknowledgements, and with losses\n\
    - transfers of 1 to 100 segments from the SYN to both FINs, with no, one or two losses (`life`); receivers that close 0 to 300 ms\n\
    \u{20} after the sender (`close`); receivers whose FIN is lost once, twice or four times (`fin`)\n\
    - 1,000 and 1,500 segments with random losses of 2 and 1 % (`random`)\n\n\
    The kernel ran each script three times. A script agrees if bytes, flags (PSH, FIN) and SACK blocks of each packet and the\n\
    order in both directions are identical, and times differ by at most 5 ms or the differences between the kernel's own runs.\n\n\
    | scripts | the kernel repeats itself | agree |\n\
    |---|---|---|\n";

static JUDGED: LazyLock<(String, Vec<String>)> = LazyLock::new(|| {
    let (mut page, mut others, mut wrong) = (ABOUT.to_owned(), String::new(), vec![]);
    let answers = answers();
    let mut agree = 0;
    for answer in &answers {
        let (found, known) = (difference(answer), DIFFER.iter().find(|d| d.0 == answer.name));
        agree += usize::from(found.is_none());
        if found.is_some() != known.is_some() {
            wrong.push(format!("{}: {found:?}", answer.name));
        }
        if let (Some(found), Some((name, reason))) = (found, known) {
            writeln!(others, "| `{name}` | {found} | {reason} |").expect("text");
        }
    }
    let all = answers.len() + ANSWERS.lines().filter(|l| l.starts_with('!')).count();
    writeln!(page, "| {all} | {} | {agree} |\n", answers.len()).expect("text");
    page += "Scripts that do not agree, with the first difference (the kernel's packet follows *for*, `p` is PSH):\n\n";
    page += "| script | difference | cause |\n|---|---|---|\n";
    (page + &others, wrong)
});

/// The section of the page.
pub fn section() -> &'static str {
    &JUDGED.0
}

#[test]
fn writes_are_cut_pushed_and_acknowledged_as_in_the_kernel() {
    assert!(JUDGED.1.is_empty(), "{:#?}", JUDGED.1);
}
