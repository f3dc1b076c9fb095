//! Times of acknowledgements from a receiver that delays them, against ns-2.

use chappe_core::packet::{DataSegment, Ecn};
use chappe_core::tcp::ack::Policy;
use chappe_core::tcp::{Config, Out, Receiver};
use chappe_core::unit::{Span, Time};
use chappe_scenario::{NoFiles, Scenario};

/// Of a trace of ns-2.35: segments that arrive and acknowledgements that leave, by `delayed_acks.tcl`.
const TRACE: &str = include_str!("../../data/delayed_acks.txt");

/// Time \[us\] and number of the events of a kind.
fn events<'a>(variant: &'a str, kind: &'a str) -> impl Iterator<Item = (u64, u32)> + 'a {
    TRACE.lines().map(|l| l.split(' ').collect::<Vec<_>>()).filter(move |w| (w[0], w[2]) == (variant, kind)).map(|w| {
        let seconds: f64 = w[1].parse().expect("a time");
        ((seconds * 1e6).round() as u64, w[3].parse().expect("a number"))
    })
}

/// Acknowledgements for the segments of the trace.
fn acknowledged(variant: &str, cfg: &Config) -> Vec<(u64, u32)> {
    let mut r = Receiver::new(&Config { syn: variant != "vegas", ack_policy: Policy::Delayed, ..cfg.clone() });
    let mut acks = vec![];
    let mut take = |out: &mut Vec<Out>, now: Time| {
        acks.extend(out.drain(..).filter_map(|o| match o {
            Out::Ack(a) => Some((now.0 / 1000, a.next - 1)),
            _ => None,
        }));
    };
    let mut out = vec![];
    for (us, seq) in events(variant, "data").chain([(u64::MAX / 1000, 0)]) {
        let now = Time(1000 * us);
        while r.deadline() < now {
            let at = r.deadline();
            r.on_deadline(at, &mut out);
            take(&mut out, at);
        }
        if us < u64::MAX / 1000 {
            let syn = seq == 0 && variant != "vegas";
            let segment = DataSegment { seq, sent: now, born: now, syn, ..DataSegment::default() };
            r.on_segment(&segment, 1, Ecn::NotEct, now, &mut out);
            take(&mut out, now);
        }
    }
    acks
}

fn preset(name: &str) -> Config {
    let text = format!("extends = \"{name}\"\nrun.stop = \"1 s\"");
    Scenario::from_toml("test", &text, &[], &NoFiles).expect("a scenario").config().tcp.clone()
}

#[test]
fn acknowledgements_are_delayed_as_in_ns2() {
    // Among them: the first segment without a SYN; second copies of the last segment in order, alone, with another one
    // held, and below segments that have arrived.
    for variant in ["newreno", "vegas", "tahoe", "reno"] {
        let theirs: Vec<_> = events(variant, "ack").collect();
        let ours = acknowledged(variant, &preset("ns2-2.35"));
        assert!(theirs.len() > 10);
        assert_eq!(ours[..theirs.len()], theirs, "{variant}");
    }
}

#[test]
fn a_second_copy_is_acknowledged_at_once_after_the_standard() {
    // RFC 5681, 4.2. The second copy of segment 3 comes at 546.24 ms.
    let mut cfg = preset("standard");
    cfg.delayed_ack.timeout = Span::ms(100);
    let acks = acknowledged("newreno", &cfg);
    assert!(acks.contains(&(546_240, 3)) && !acks.contains(&(646_240, 3)), "{acks:?}");
    // Without a SYN the first segment is one like any other.
    assert_eq!(acknowledged("vegas", &cfg)[0], (46_320, 1));
}
