//! Connections of a kernel whose SYNs, or the answers to them, are lost or late (`crates/core/tests/kernel/syns.py`).

use super::{Load, Path, Row, compare, run, settings, timelines};
use chappe_core::packet::Seq;
use chappe_core::unit::{BitRate, Span, Time};

const ANSWERS: &str = include_str!("../../../data/linux_syns.txt");

struct Answer {
    name: &'static str,
    segments: u32,
    /// Time of the first SYN on the clock of the timers.
    begin: Time,
    rows: Vec<Row>,
}

fn answers() -> Vec<Answer> {
    let answer = |(words, rows): (Vec<&'static str>, _)| {
        let number = |i: usize| words[i].parse::<u64>().expect("a number");
        Answer { name: words[0], segments: number(1) as u32, begin: Time(number(2) * 1000), rows }
    };
    timelines(ANSWERS).into_iter().map(answer).collect()
}

/// Times of the SYNs \[ms\].
fn syns(rows: &[Row]) -> Vec<f64> {
    rows.iter().filter(|r| r.what == "s").map(|r| r.ms).collect()
}

impl Answer {
    fn lost(&self, what: &str) -> usize {
        self.rows.iter().filter(|r| r.lost && r.what == what).count()
    }

    /// Delay of each way \[ms\], from the first answer.
    fn delay(&self) -> f64 {
        let at = self.rows.iter().position(|r| r.what == "as").expect("an answer");
        let syn = self.rows[..at].iter().rfind(|r| r.what == "s" && !r.lost).expect("a SYN");
        if self.name.starts_with("late") { self.rows[at].ms } else { self.rows[at].ms - syn.ms }
    }

    /// Our packets, without SACK blocks.
    fn ours(&self) -> Vec<Row> {
        let data: Vec<bool> = self.rows.iter().filter(|r| r.what.parse::<Seq>().is_ok()).map(|r| r.lost).collect();
        let mut lost = |segment: Option<Seq>, number: usize| segment.is_some() && data.get(number - 1) == Some(&true);
        let delay = Span((self.delay() * 1e6) as u64 - 48_000);
        let lost_syns = [self.lost("s"), self.lost("as")];
        let path = Path { rate: BitRate(10_000_000), delay, syn: Span::ZERO, queue: 1000, lost_syns };
        // Timers of seconds expire every 32 ms or less often in a kernel, so that its SYNs are up to that much later.
        // Data begin at the same point of the clock.
        let mut later = |begin| {
            let rows = run(&settings("cubic"), &path, Load::Segments(self.segments), (begin, begin), &mut lost).0;
            let first = |rows: &[Row]| rows.iter().find(|r| r.what == "1").map_or(0.0, |r| r.ms);
            (first(&self.rows) - first(&rows), rows)
        };
        let (ms, _) = later(self.begin);
        let mut rows = later(self.begin + Span((ms.max(0.0) * 1e6) as u64)).1;
        rows.iter_mut().for_each(|r| r.what = r.what.split(' ').next().unwrap_or_default().to_owned());
        rows
    }
}

/// Packets with times since the first segment with data.
fn since_data(rows: &[Row]) -> Vec<Row> {
    let first = rows.iter().find(|r| r.what == "1").expect("data").ms;
    rows.iter().map(|r| Row { ms: r.ms - first, ..r.clone() }).collect()
}

#[test]
fn syns_are_repeated_when_a_kernel_repeats_them() {
    for answer in answers() {
        let (ours, theirs) = (syns(&answer.ours()), syns(&answer.rows));
        assert_eq!(ours.len(), theirs.len(), "{}: {ours:?} for {theirs:?}", answer.name);
        for (i, (a, b)) in ours.iter().zip(&theirs).enumerate() {
            // A timer of 1 s expires up to 32 ms late, one of 4 s 256 ms.
            let wait = if i == 0 { 0.0 } else { ours[i] - ours[i - 1] };
            let late = (b - if i == 0 { 0.0 } else { theirs[i - 1] }) - wait;
            let most = if wait > 2047.0 { 256.0 } else { 36.0 };
            assert!((0.0..=most).contains(&late), "{}: SYN {i} at {a} for {b} ms", answer.name);
        }
    }
}

/// Largest difference of times allowed \[ms\]: with losses timers decide, which expire every 32 ms if they are far
/// away.
fn bound(name: &str) -> f64 {
    if name.ends_with("data") { 36.0 } else { 5.0 }
}

/// Text of the section before its table.
const ABOUT: &str = "\n## Lost SYNs\n\n\
    Connections over 10 Mbit/s and 40 ms whose first SYNs (`syn`) or SYN-ACKs (`answer`) are lost. In `data` the first four\n\
    segments are lost, too, to cause timeouts; `late` has a round-trip time of 1.5 or 2.5 s and no loss. *First flight* is the\n\
    initial window. *Order* is that of data and acknowledgements; *difference* is that of times since the first segment. In a\n\
    kernel, one-second timers expire up to 32 ms late. Reference: `crates/core/tests/kernel/syns.py`.\n\n\
    | case | SYNs of the kernel \\[s\\] | ours | first flight | order | difference | bound |\n\
    |---|---|---|---|---|---|---|\n";

/// The section of the page, and the cases that differ.
pub fn section() -> (String, Vec<String>) {
    let (mut page, mut wrong) = (ABOUT.to_owned(), vec![]);
    for answer in answers() {
        let (ours, theirs) = (since_data(&answer.ours()), since_data(&answer.rows));
        let [data, acks] = [true, false].map(|forward| compare(&ours, &theirs, forward));
        let (shift, bound) = (data.1.max(acks.1), bound(answer.name));
        let order = data.0.or(acks.0);
        let is_wrong = order.is_some() || shift > bound;
        let times = |rows: &[Row], digits: usize| {
            let times = syns(rows).into_iter().map(|ms| format!("{:.digits$}", (ms - syns(rows)[0]) / 1e3));
            times.collect::<Vec<_>>().join(", ")
        };
        let begun = theirs.iter().skip_while(|r| r.what != "1").take_while(|r| !r.what.starts_with('a'));
        let flight = begun.filter(|r| r.what.parse::<Seq>().is_ok() && r.ms < 1.0).count();
        let row = format!(
            "| `{}` | {} | {} | {flight} | {} | {shift:.1} ms | {bound} ms |\n",
            answer.name,
            times(&theirs, 2),
            times(&ours, 0),
            order.unwrap_or("identical".to_owned()),
        );
        page += &row;
        if is_wrong {
            wrong.push(row);
        }
    }
    (page, wrong)
}

#[test]
fn windows_and_timeouts_after_lost_syns_match_a_kernel() {
    let (_, wrong) = section();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
