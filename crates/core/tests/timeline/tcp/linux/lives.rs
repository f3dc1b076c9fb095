//! Senders of the preset `linux` with less data than their window allows: growth of a window that is not used, windows of
//! idle senders, closed windows.

use super::super::{ack, said};
use super::settings;
use chappe_core::packet::Seq;
use chappe_core::tcp::{Config, IdleRule, Out, Sender};
use chappe_core::unit::{Span, Time};

fn ms(ms: f64) -> Time {
    Time::ZERO + Span::from_secs(ms / 1e3)
}

/// A sender whose SYN was acknowledged at 100 ms.
fn connected(control: &str) -> Sender {
    connected_with(&settings(control))
}

fn connected_with(cfg: &Config) -> Sender {
    let mut s = Sender::new(cfg, Span::ZERO);
    s.write(Some(0), ms(0.0));
    assert_eq!(said(&mut s), [0]);
    s.on_ack(&ack(1, 2172, ms(100.0)), 1, ms(100.0));
    s
}

fn window(s: &Sender) -> (u32, u32) {
    let w = s.connection().window();
    (w.cwnd as u32, w.ssthresh as u32)
}

/// Windows after acknowledgements of this many segments, with this many of an initial window of 10 outstanding.
fn windows(outstanding: u32, acked: &[Seq]) -> Vec<u32> {
    let mut s = connected("cubic");
    s.write(Some(outstanding), ms(100.0));
    assert_eq!(said(&mut s).len() as u32, outstanding);
    let next = acked.iter().scan(1, |next, acked| {
        *next += acked;
        Some(*next)
    });
    let window = |next| {
        s.on_ack(&ack(next, 2172, ms(200.0)), 1, ms(200.0));
        window(&s).0
    };
    next.map(window).collect()
}

#[test]
fn c16_half_of_the_window_in_use_does_not_grow_it() {
    assert_eq!(windows(5, &[2, 2, 1]), [10, 10, 10]);
}

#[test]
fn c17_a_window_grows_to_twice_of_what_was_in_use() {
    assert_eq!(windows(6, &[2, 2, 2]), [12, 12, 12]);
}

#[test]
fn c18_a_window_nearly_in_use_grows_to_twice_of_that() {
    assert_eq!(windows(9, &[2, 2, 2, 2, 1]), [12, 14, 16, 18, 18]);
}

#[test]
fn c19_a_window_in_use_grows_by_what_is_acknowledged() {
    assert_eq!(windows(10, &[2, 2, 2, 2, 2]), [12, 14, 16, 18, 20]);
}

/// A sender whose window has grown to 36 segments: 26 were sent from 100 to 216 ms, and acknowledged.
fn grown(control: &str) -> Sender {
    grown_with(&settings(control))
}

fn grown_with(cfg: &Config) -> Sender {
    let mut s = connected_with(cfg);
    s.write(Some(26), ms(100.0));
    assert_eq!(said(&mut s).len(), 10);
    for n in 2..=27 {
        // Ten acknowledgements from 200 ms on, and sixteen from 300 ms on.
        let at = ms(if n <= 11 { 198.8 + 1.2 * f64::from(n - 1) } else { 298.8 + 1.2 * f64::from(n - 11) });
        s.on_ack(&ack(n, 2172, at), 1, at);
        said(&mut s);
    }
    assert!(s.is_done());
    s
}

#[test]
fn c10_the_window_of_a_sender_idle_for_two_seconds_is_the_initial_one() {
    let mut s = grown("cubic");
    assert_eq!(window(&s).0, 36);
    s.write(Some(20), ms(2318.0));
    assert_eq!((window(&s).0, said(&mut s).len()), (10, 10));
}

/// The kernel does so, asked with `crates/core/tests/kernel/link.py`: after 26 segments, of which the last are sent 115 ms
/// after the first, a window of 36 is 18 with data at 500 ms, and 10 with data at 750 ms; its timeout is 308 ms.
#[test]
fn an_idle_window_halves_per_timeout_down_to_the_initial_one() {
    for control in ["reno", "cubic"] {
        // (Idle time in retransmission timeouts, window)
        for (idle, cwnd) in [(0.99, 36), (1.01, 18), (1.99, 18), (2.01, 10), (9.0, 10)] {
            let mut s = grown(control);
            // The ninth acknowledgement releases the last two segments.
            s.write(Some(4), ms(208.4 + idle * s.view().rto.as_secs() * 1e3));
            assert_eq!(window(&s), (cwnd, 1_000_000), "{control}, {idle}");
        }
    }
}

#[test]
fn slow_start_leads_back_to_three_quarters_of_an_idle_window() {
    let cfg = Config { initial_ssthresh: Some(12), ..settings("reno") };
    let mut s = Sender::new(&cfg, Span::ZERO);
    s.write(Some(0), ms(0.0));
    let (mut now, mut next) = (ms(0.0), 1);
    while window(&s).0 < 22 {
        now += Span::ms(100);
        s.on_ack(&ack(next, 2172, now), 1, now);
        let cwnd = window(&s).0;
        s.write(Some(cwnd), now);
        next += said(&mut s).iter().filter(|seq| **seq > 0).count() as u32;
    }
    now += Span::ms(100);
    s.on_ack(&ack(next, 2172, now), 1, now);
    assert_eq!(window(&s), (23, 12));
    s.write(Some(1), now + Span::secs(2));
    assert_eq!(window(&s), (10, 11 + 5), "a half and a quarter of 23, in whole segments");
}

#[test]
fn the_window_of_bbr_does_not_depend_on_idle_times() {
    let mut s = connected("bbr");
    let mut now = ms(100.0);
    s.write(Some(10), now);
    let mut next = 1;
    while !s.is_done() {
        for seq in said(&mut s) {
            next = next.max(seq + 1);
        }
        now = now.max(s.deadline().min(now + Span::ms(50))) + Span::ms(50);
        s.on_ack(&ack(next, 2172, now), 1, now);
        s.on_deadline(now);
    }
    let before = window(&s);
    s.write(Some(1), now + Span::secs(3));
    assert_eq!(window(&s), before);
}

/// With an RTT of 100 ms the timeout is 300 ms: each probe waits twice as long as the one before.
#[test]
fn c11_a_closed_window_is_probed_with_headers_and_opens_at_once() {
    for (rule, sent) in [(IdleRule::Keep, 36), (IdleRule::Decay, 10)] {
        closed_window(rule, sent);
    }
}

/// Probes into a closed window, and segments that are sent when the window opens. Asked (`pause` in
/// `crates/core/tests/kernel/readers.py`), the kernel counts from the answer to a probe, and the window of a sender that was
/// idle has decayed when it opens.
fn closed_window(rule: IdleRule, sent: Seq) {
    let mut s = grown_with(&Config { after_idle: rule, ..settings("cubic") });
    let closed = ms(500.0);
    s.on_ack(&ack(27, 0, closed), 1, closed);
    s.write(Some(40), closed);
    assert!(said(&mut s).is_empty(), "the window is closed");
    let timeout = s.view().rto.as_secs();
    let mut begin = closed.as_secs();
    for n in 0..3 {
        let at = s.deadline();
        s.on_deadline(at);
        let sent: Vec<_> = s.drain().collect();
        let [Out::Segment(probe)] = sent[..] else { panic!("{sent:?}") };
        assert_eq!((probe.seq, probe.is_probe()), (26, true), "no data, with the last number that is acknowledged");
        // Timers tick every 4 ms, and those that are far away expire up to an eighth later.
        let waited = (at.as_secs() - begin) / timeout;
        let expected = f64::from(1 << n);
        assert!(expected <= waited && waited < 1.2 * expected, "probe {n} after {waited} timeouts");
        begin = at.as_secs() + 0.1;
        let answered = at + Span::ms(100);
        s.on_ack(&ack(27, 0, answered), 1, answered);
        assert!(said(&mut s).is_empty() && window(&s).0 == 36, "the window stays");
    }
    let opened = ms(begin * 1e3 + 50.0);
    s.on_ack(&ack(27, 2172, opened), 1, opened);
    assert_eq!(said(&mut s), (27..27 + sent).collect::<Vec<Seq>>(), "{rule:?}");
}
