//! Receivers of a kernel whose application reads slowly, whose buffer is small, or whose buffer grows
//! (`crates/core/tests/kernel/readers.py`), repeated packet for packet, with their windows.

use super::{Load, Row, compare, of, path, preset, run, timelines};
use chappe_core::tcp::Config;
use chappe_core::unit::{BitRate, Bytes, Span, Time};

const ANSWERS: &str = include_str!("../../../data/linux_readers.txt");

struct Answer {
    name: &'static str,
    cfg: Config,
    segments: u32,
    /// Time of the SYN on the clock of the timers.
    begin: Time,
    rows: Vec<Row>,
}

fn answers() -> Vec<Answer> {
    let answer = |(words, mut rows): (Vec<&'static str>, Vec<Row>)| {
        let number = |i: usize| words[i].parse::<f64>().expect("a number");
        let mut cfg = preset("cubic");
        cfg.delayed_ack.tick = Span::ms(4);
        // The link clears PSH.
        cfg.delayed_ack.push_at_once = false;
        if number(2) > 0.0 {
            // The kernel sets aside twice of what is asked.
            let size = Bytes(2 * number(2) as u32);
            (cfg.receive_buffer.initial, cfg.receive_buffer.max) = (size, size);
        }
        if number(3) > 0.0 {
            cfg.reader.rate = Some(BitRate(number(3) as u64));
        }
        cfg.reader.read_size = Bytes(number(4) as u32);
        cfg.reader.pause = Span((number(5) * 1e9) as u64);
        for row in &mut rows {
            if let Some((what, window)) = row.what.split_once(' ') {
                (row.window, row.what) = (window.parse::<u32>().expect("a window") / 1448, what.to_owned());
            }
        }
        Answer { name: words[0], cfg, segments: number(1) as u32, begin: Time(number(6) as u64 * 1000), rows }
    };
    timelines(ANSWERS).into_iter().map(answer).collect()
}

impl Answer {
    /// Packets after the handshake.
    fn packets(&self) -> Vec<Row> {
        self.rows.iter().filter(|r| r.what != "a0").cloned().collect()
    }

    fn ours(&self) -> Vec<Row> {
        let (path, start) = path(&self.packets(), 1000);
        run(&self.cfg, &path, Load::Segments(self.segments), (self.begin, self.begin + start), &mut |_, _| false).0
    }
}

/// Text of the section before its table.
const ABOUT: &str = "\n## Receivers\n\n\
    Receivers whose buffer or application limits the window (`tcp.receive_buffer`, `tcp.reader`), over 10 Mbit/s and 40 ms. The\n\
    buffer grows (`tuned`, 1,000 segments), is fixed (`small`, `tiny`: SO_RCVBUF of 20,000 and 4,000 B), is read at 1 Mbit/s\n\
    (`slow`, `small_slow`), or is not read before 3 s (`small_pause`, `pause` with 60,000 B), which causes window probes. The link\n\
    clears the flag PSH. *Order* is that of packets in both directions; *windows* are those of all acknowledgements, in whole\n\
    segments. `slow` may differ by two timer ticks, because its kernel sometimes holds an acknowledgement for 48 ms instead of 40.\n\
    Reference: `crates/core/tests/kernel/readers.py`; packets and windows were identical in at least two of five kernel runs.\n\n\
    | case | packets | order | windows | difference | bound |\n\
    |---|---|---|---|---|---|\n";

/// Largest difference of times allowed \[ms\].
fn bound(name: &str) -> f64 {
    if name == "slow" { 10.0 } else { 5.0 }
}

/// The section of the page, and the cases that differ.
pub fn section() -> (String, Vec<String>) {
    let (mut page, mut wrong) = (ABOUT.to_owned(), vec![]);
    for answer in answers() {
        let (ours, theirs) = (answer.ours(), answer.packets());
        let [data, acks] = [true, false].map(|forward| compare(&ours, &theirs, forward));
        let mut windows = of(&ours, false).into_iter().zip(of(&theirs, false));
        let differs = windows.find(|(a, b)| a.window != b.window).map(|(a, b)| format!("{a:?} for {b:?}"));
        let (shift, bound) = (data.1.max(acks.1), bound(answer.name));
        let is_wrong = data.0.is_some() || acks.0.is_some() || differs.is_some() || shift > bound;
        let word = |found: Option<String>| found.unwrap_or("identical".to_owned());
        let (order, windows) = (word(data.0.or(acks.0)), word(differs));
        let row =
            format!("| `{}` | {} | {order} | {windows} | {shift:.1} ms | {bound} ms |\n", answer.name, theirs.len());
        page += &row;
        if is_wrong {
            wrong.push(row);
        }
    }
    (page, wrong)
}

#[test]
fn receivers_tell_the_windows_of_the_kernel() {
    let (_, wrong) = section();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
