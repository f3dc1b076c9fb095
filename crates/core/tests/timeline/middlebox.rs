//! Middleboxes: on a path with a lossy link, and Snoop alone.

use chappe_core::net::middlebox::snoop::{self, Snoop};
use chappe_core::net::middlebox::{Cx, Middlebox, OnPath, Settings, Verdict};
use chappe_core::packet::{AckSegment, Body, DataSegment, Ecn, FlowId, NodeId, Packet, Seq};
use chappe_core::tcp::{Config, Out, Receiver, Sender};
use chappe_core::unit::{BitRate, Span, Time};
use chappe_scenario::{NoFiles, Scenario};

/// Next arrival of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
enum At {
    Near,
    Far,
    Receiver,
    BackAtFar,
    BackAtNear,
    Source,
}

/// Source - 10 Mbit/s, 40 ms - near node - lossy link, 10 ms - far node, receiver.
struct Path {
    sender: Sender,
    receiver: Receiver,
    cfg: Config,
    /// At the near and the far node.
    boxes: [Option<Middlebox>; 2],
    rate: BitRate,
    /// Time to cross each LAN on both sides of the lossy link, which ns-2's Snoop needs.
    lan: Span,
    /// Packets in flight: arrival time, order of sending, position, packet.
    packets: Vec<(Time, u64, At, Packet)>,
    sent: u64,
    /// Time at which each link is free.
    free: [Time; 6],
    /// Segments that the lossy link loses, once each; packets that it loses, by their number.
    lost: Vec<Seq>,
    dropped: Vec<u32>,
    carried: u32,
    now: Time,
    /// Inputs of the source: segment acknowledged, duplicates, cwnd, segments sent (retransmissions are negative).
    log: Vec<(Seq, u32, f64, Vec<i64>)>,
    /// Segments sent by the source, with times [s].
    sends: Vec<(f64, Seq)>,
    /// Segments that arrive at the receiver.
    arrived: Vec<Seq>,
}

impl Path {
    /// A path with Snoop at the near node, if at all, and loss notifications at the far one.
    fn of(text: &str, with_snoop: bool, with_eln: bool) -> Path {
        let text = format!("run.stop = \"1 s\"\ntcp.mss = \"1000 B\"\ntcp.ack_policy = \"every\"\n{text}");
        let scenario = Scenario::from_toml("test", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
        let c = scenario.config();
        let middlebox = |settings| Some(Middlebox::new(&settings, vec![true]));
        let near = if with_snoop { middlebox(Settings::Snoop(c.snoop.clone())) } else { None };
        let far = if with_eln { middlebox(Settings::Eln(c.eln.clone())) } else { None };
        Path {
            sender: Sender::new(&c.tcp, Span::ZERO),
            receiver: Receiver::new(&c.tcp),
            cfg: c.tcp.clone(),
            boxes: [near, far],
            rate: BitRate::mbps(10),
            lan: Span::ZERO,
            packets: vec![],
            sent: 0,
            free: [Time::ZERO; 6],
            lost: vec![],
            dropped: vec![],
            carried: 0,
            now: Time::ZERO,
            log: vec![],
            sends: vec![],
            arrived: vec![],
        }
    }

    /// Snoop alone, or nothing, and segments that are lost.
    fn new(preset: &str, with_snoop: bool, lost: &[Seq]) -> Path {
        let text = format!("extends = \"{preset}\"\ntcp.receive_window = 20");
        Path { lost: lost.to_vec(), ..Path::of(&text, with_snoop, false) }
    }

    fn carry(&mut self, to: At, packet: Packet) {
        let (rate, delay, lan) = match to {
            At::Near | At::Source => (BitRate::mbps(10), Span::ms(40), Span::ZERO),
            At::Far | At::BackAtNear => (self.rate, Span::ms(10), self.lan),
            At::Receiver | At::BackAtFar => (BitRate(0), Span::ZERO, Span::ZERO),
        };
        let on_link = if rate.0 == 0 { Span::ZERO } else { rate.airtime(packet.bytes) };
        let free = &mut self.free[to as usize];
        *free = (*free).max(self.now + lan) + on_link;
        let at = *free + delay + lan;
        if to == At::Far {
            self.carried += 1;
            let listed = |s: &Seq| matches!(packet.body, Body::Data(d) if d.seq == *s);
            let nth = self.carried - 1;
            if let Some(i) = self.lost.iter().position(listed) {
                self.lost.remove(i);
                return;
            }
            if self.dropped.contains(&nth) {
                return;
            }
        }
        self.packets.push((at, self.sent, to, packet));
        self.sent += 1;
    }

    fn packet(&self, body: Body, bytes: u32) -> Packet {
        Packet { born: self.now, bytes, ..Node::packet(0, body) }
    }

    fn send_out(&mut self) -> Vec<i64> {
        let out: Vec<Out> = self.sender.drain().collect();
        let segment = |o: &Out| if let Out::Segment(s) = o { *s } else { panic!("{o:?}") };
        let segments: Vec<DataSegment> = out.iter().map(segment).collect();
        for s in &segments {
            self.sends.push((self.now.as_secs(), s.seq));
            self.carry(At::Near, self.packet(Body::Data(*s), self.cfg.segment_bytes(s.syn)));
        }
        segments.iter().map(|s| if s.retransmission { -i64::from(s.seq) } else { i64::from(s.seq) }).collect()
    }

    /// A node forwards a packet, and sends the packets that it creates.
    fn through(&mut self, far: bool, mut packet: Option<Packet>) {
        let mut made = vec![];
        if let Some(m) = &mut self.boxes[usize::from(far)] {
            let cx = &mut Cx { now: self.now, free_slots: 50, made: &mut made };
            match &mut packet {
                Some(p) => {
                    if m.on_packet(p, cx) == Verdict::Absorb {
                        packet = None;
                    }
                }
                None => m.on_deadline(cx),
            }
        }
        for p in packet.into_iter().chain(made) {
            let to = match (far, p.body) {
                (false, Body::Data(_)) => At::Far,
                (true, Body::Data(_)) => At::Receiver,
                (true, _) => At::BackAtNear,
                (false, _) => At::Source,
            };
            self.carry(to, p);
        }
    }

    fn on_ack(&mut self, ack: &AckSegment) {
        self.sender.on_ack(ack, 2, self.now);
        let conn = self.sender.connection();
        let entry = (ack.next - 1, conn.dup_acks(), (conn.window().cwnd * 10.0).floor() / 10.0);
        let sends = self.send_out();
        self.log.push((entry.0, entry.1, entry.2, sends));
    }

    fn on_data(&mut self, segment: &DataSegment) {
        self.arrived.push(segment.seq);
        let mut out = vec![];
        self.receiver.on_segment(segment, 2, Ecn::NotEct, self.now, &mut out);
        for o in out {
            if let Out::Ack(a) = o {
                let bytes = self.cfg.ack_size.0 + self.cfg.sack_block_size.0 * a.sack.len() as u32;
                self.carry(At::BackAtFar, self.packet(Body::Ack(a), bytes));
            }
        }
    }

    fn run(&mut self, until: Span) {
        self.sender.write(None, Time::ZERO);
        self.send_out();
        loop {
            let next = self.packets.iter().enumerate().min_by_key(|(_, p)| (p.0, p.1)).map(|(i, p)| (i, p.0));
            let arrival = next.map_or(Time::NEVER, |n| n.1);
            let timer = self.sender.deadline();
            let local = self.boxes[0].as_ref().map_or(Time::NEVER, Middlebox::deadline);
            self.now = arrival.min(timer).min(local);
            if self.now > Time::ZERO + until {
                return;
            }
            if self.now == local {
                self.through(false, None);
            } else if self.now == timer {
                self.sender.on_deadline(self.now);
                self.send_out();
            } else if let Some((i, _)) = next {
                let (_, _, at, packet) = self.packets.remove(i);
                match (at, packet.body) {
                    (At::Near | At::BackAtNear, _) => self.through(false, Some(packet)),
                    (At::Far | At::BackAtFar, _) => self.through(true, Some(packet)),
                    (At::Receiver, Body::Data(s)) => self.on_data(&s),
                    (At::Source, Body::Ack(a)) => self.on_ack(&a),
                    (_, body) => panic!("{body:?} at {at:?}"),
                }
            }
        }
    }

    /// Actions of the source from the first acknowledgement of a segment on.
    fn heard_from(&self, acked: Seq) -> &[(Seq, u32, f64, Vec<i64>)] {
        let i = self.log.iter().position(|l| l.0 == acked).expect("it is acknowledged");
        &self.log[i..]
    }

    fn counters(&self) -> chappe_core::net::middlebox::Counters {
        self.boxes[0].as_ref().expect("there is one").counters(0)
    }
}

#[test]
fn c94_a_loss_behind_snoop_as_in_ns2() {
    let mut p = Path::new("ns2-2.35", true, &[7]);
    p.run(Span::ms(500));
    let seen = p.heard_from(6);
    assert_eq!(seen[0], (6, 0, 8.0, vec![13, 14]));
    // One duplicate is let through.
    assert_eq!(seen[1], (6, 1, 8.0, vec![15]));
    assert_eq!(seen[2], (14, 0, 9.0, (16..=23).collect()));
    assert_eq!((p.counters().retransmissions, p.counters().timeouts), (1, 0));
    assert_eq!(p.sender.counters(p.now).retransmissions, 0);
}

#[test]
fn without_snoop_the_window_is_halved() {
    let mut p = Path::new("ns2-2.35", false, &[7]);
    p.run(Span::ms(500));
    let seen = p.heard_from(6);
    let duplicates: Vec<_> = seen[1..4].iter().map(|l| (l.1, l.3.clone())).collect();
    assert_eq!(duplicates, [(1, vec![15]), (2, vec![16]), (3, vec![-7])]);
    assert_eq!(p.sender.connection().window().ssthresh, 4.0);
}

#[test]
fn a_loss_behind_snoop_as_its_authors_describe_it() {
    let mut p = Path::new("standard", true, &[7]);
    p.run(Span::ms(700));
    let seen = p.heard_from(6);
    assert!(seen[1].0 > 6, "no duplicate comes through: {:?}", seen[1]);
    // The lost segment and what had been sent after it, but for the first duplicate: of these come one each.
    assert_eq!((p.counters().retransmissions, p.counters().timeouts), (1, 0));
    assert_eq!(p.sender.counters(p.now).retransmissions, 0);
    assert_eq!(p.arrived.iter().filter(|&&s| s == 7).count(), 1);
    assert!(p.counters().acks_suppressed > 3);
}

#[test]
fn a_local_retransmission_that_is_lost_is_repeated() {
    // By duplicates of segments sent later; ns-2 leaves it to the timers.
    let mut p = Path::new("standard", true, &[7, 7]);
    p.run(Span::secs(2));
    assert!(p.counters().retransmissions >= 2);
    assert!(p.log.last().expect("a log").0 > 30);
    let mut p = Path::new("ns2-2.35", true, &[7, 7]);
    p.run(Span::secs(2));
    assert!(p.sender.counters(p.now).timeouts > 0, "the local timer is still too long");
}

#[test]
fn source_retransmission_ends_local_recovery() {
    // The segment and all local retransmissions are lost: after its timeout the source repairs the loss.
    for preset in ["standard", "ns2-2.35"] {
        let mut p = Path::new(preset, true, &[7; 3]);
        p.run(Span::secs(6));
        assert!(p.log.last().expect("a log").0 > 100, "{preset}: {:?}", p.log.last());
    }
}

#[test]
fn sources_match_ns2_under_packet_loss() {
    let mut wrong = vec![];
    let cases = include_str!("../data/middlebox_random_losses.txt");
    for (i, line) in cases.lines().filter(|l| !l.starts_with('#')).enumerate() {
        let words: Vec<&str> = line.split(' ').collect();
        let [variant, mechanism, window, dropped, theirs @ ..] = words.as_slice() else { panic!("cannot read {line}") };
        let text = format!("extends = \"ns2-2.35\"\ntcp.variant = \"{variant}\"\ntcp.receive_window = {window}");
        let mut p = Path::of(&text, *mechanism != "eln", *mechanism != "snoop");
        (p.rate, p.lan) = (BitRate::mbps(2), Span::us(4));
        // ns-2 draws the phase of a sender's clock, an agent of Vegas twice.
        let phase = if *variant == "vegas" { 142_047 } else { 5_558_807 };
        p.sender = Sender::new(&p.cfg, Span(phase));
        p.dropped = dropped.split(',').map(|n| n.parse().expect("a number")).collect();
        p.run(Span::secs(3));
        let theirs = theirs.iter().map(|s| s.split_once(':').expect("time:segment"));
        let theirs: Vec<(f64, Seq)> =
            theirs.map(|(t, s)| (t.parse().expect("a time"), s.parse().expect("a number"))).collect();
        let same = |((t, a), (u, b)): &(&(f64, Seq), &(f64, Seq))| a == b && (t - u).abs() < 0.0002;
        let met = p.sends.iter().zip(&theirs).take_while(same).count();
        if met < theirs.len() {
            let (ours, theirs) = (p.sends.get(met), theirs.get(met));
            wrong.push(format!(
                "run {i} ({variant} {mechanism}, window {window}): send {met}: {ours:?}, ns-2 {theirs:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

// ---- one Snoop alone ----

const MS: u64 = 1_000_000;

struct Node {
    snoop: Snoop,
    free_slots: usize,
}

impl Node {
    fn new(cfg: &snoop::Config, flows: usize) -> Node {
        Node { snoop: Snoop::new(cfg, flows), free_slots: 50 }
    }

    fn ns2() -> snoop::Config {
        let text = "extends = \"snoop-ns2\"\nrun.stop = \"1 s\"";
        Scenario::from_toml("test", text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}")).config().snoop.clone()
    }

    fn packet(flow: usize, body: Body) -> Packet {
        let node = NodeId(0);
        Packet { flow: FlowId(flow as u32), ttl: 9, ..Packet::new(body, 40, node, node, Time::ZERO) }
    }

    /// Outcome of a packet, and created packets: segments, or acknowledgements as negative numbers.
    fn call(&mut self, ms: u64, f: impl FnOnce(&mut Snoop, &mut Cx<'_>) -> Verdict) -> (bool, Vec<i64>) {
        let mut made = vec![];
        let verdict = f(&mut self.snoop, &mut Cx { now: Time(ms * MS), free_slots: self.free_slots, made: &mut made });
        let number = |p: &Packet| match p.body {
            Body::Data(s) => i64::from(s.seq),
            Body::Ack(a) => -i64::from(a.next),
            _ => panic!("{p:?}"),
        };
        (verdict == Verdict::Pass, made.iter().map(number).collect())
    }

    fn data(&mut self, ms: u64, flow: usize, seq: Seq) -> (bool, Vec<i64>) {
        let segment = DataSegment { seq, syn: seq == 0, ..DataSegment::default() };
        let packet = Node::packet(flow, Body::Data(segment));
        self.call(ms, |s, cx| s.on_data(flow, &packet, seq, cx))
    }

    fn ack(&mut self, ms: u64, flow: usize, next: Seq) -> (bool, Vec<i64>) {
        let sack = chappe_core::packet::SackBlocks::default();
        let ack = AckSegment { next, hops: 1, window: 64, sack, ..AckSegment::default() };
        let mut packet = Node::packet(flow, Body::Ack(ack));
        self.call(ms, |s, cx| s.on_ack(flow, &mut packet, next, cx))
    }

    fn timer(&mut self) -> (u64, Vec<i64>) {
        let at = self.snoop.deadline().0 / MS;
        let (_, made) = self.call(at, |s, cx| {
            s.on_deadline(cx);
            Verdict::Pass
        });
        (at, made)
    }

    /// Segments 0 to `last`, acknowledged up to before `next`.
    fn started(cfg: &snoop::Config, last: Seq, next: Seq) -> Node {
        let mut n = Node::new(cfg, 1);
        for seq in 0..=last {
            n.data(1, 0, seq);
        }
        n.ack(1, 0, next);
        n
    }
}

const PASS: (bool, Vec<i64>) = (true, vec![]);
const SUPPRESS: (bool, Vec<i64>) = (false, vec![]);

fn resend(seq: i64) -> (bool, Vec<i64>) {
    (false, vec![seq])
}

/// Local timeouts [ms] after these numbers of round-trip times of 21 ms.
fn timeouts(cfg: &snoop::Config, after: &[u32]) -> Vec<f64> {
    let mut n = Node::new(cfg, 1);
    let mut found = vec![];
    for k in 0..=20 {
        // The deadline set with a segment shows the timeout.
        let now = 1000 * u64::from(k + 1);
        n.data(now, 0, k + 1);
        if after.contains(&k) {
            found.push((n.snoop.deadline().0 - now * MS) as f64 / 1e6);
        }
        n.ack(now + 21, 0, k + 2);
    }
    found
}

#[test]
fn timers_of_the_swapped_weights_of_ns2() {
    let expected = [911.0, 793.0, 537.0, 286.0, 157.0, 100.0];
    for (ours, theirs) in timeouts(&Node::ns2(), &[1, 2, 5, 10, 15, 20]).into_iter().zip(expected) {
        assert!((ours - theirs).abs() < 0.5, "{ours} instead of {theirs}");
    }
}

/// With weight g = 1/8 for what is new and d = 100 - 21 ms, after n measurements the mean is 21 + d (7/8)^n and the
/// deviation (7/8)^n (250 + n d / 8).
#[test]
fn timers_of_the_usual_weights() {
    let after = [1, 2, 5, 10, 15, 20];
    let expected = |n: u32| {
        let left = 0.875f64.powi(n as i32);
        21.0 + 79.0 * left + 4.0 * left * (250.0 + f64::from(n) * 79.0 / 8.0)
    };
    assert!((expected(1) - 999.6875).abs() < 1e-9);
    for (ours, n) in timeouts(&snoop::Config::default(), &after).into_iter().zip(after) {
        assert!((ours - expected(n)).abs() < 1e-3, "{ours} instead of {} after {n}", expected(n));
    }
}

#[test]
fn expected_duplicates_are_kept_back_and_further_ones_are_not() {
    // 3 is lost, 4 to 9 bring six duplicates. ns-2 lets the first one through and expects the number kept, less two.
    let mut n = Node::started(&Node::ns2(), 9, 3);
    assert_eq!(n.ack(2, 0, 3), PASS);
    assert_eq!(n.ack(2, 0, 3), resend(3));
    assert_eq!([n.ack(2, 0, 3), n.ack(2, 0, 3), n.ack(2, 0, 3), n.ack(2, 0, 3)], [SUPPRESS; 4]);
    // A segment sent after the retransmission brings another, which was still expected; then one comes through.
    n.data(3, 0, 10);
    assert_eq!(n.ack(4, 0, 3), SUPPRESS);
    assert_eq!(n.ack(4, 0, 3), PASS);
    assert_eq!(n.ack(4, 0, 3), PASS, "it has been sent again once");
    assert_eq!(n.ack(5, 0, 11), PASS);

    // The authors: the first one causes the retransmission, and one that a later segment brings the next.
    let mut n = Node::started(&snoop::Config::default(), 9, 3);
    assert_eq!(n.ack(2, 0, 3), resend(3));
    assert_eq!([n.ack(2, 0, 3), n.ack(2, 0, 3), n.ack(2, 0, 3), n.ack(2, 0, 3), n.ack(2, 0, 3)], [SUPPRESS; 5]);
    n.data(3, 0, 10);
    assert_eq!(n.ack(4, 0, 3), resend(3));
    assert_eq!(n.ack(5, 0, 11), PASS);
    assert_eq!(n.snoop.counters(0).acks_suppressed, 7);
}

#[test]
fn one_counter_for_all_flows_lets_fewer_duplicates_through() {
    for (pass_shared, second) in [(true, resend(3)), (false, PASS)] {
        let mut n = Node::new(&snoop::Config { pass_shared, ..Node::ns2() }, 2);
        for flow in 0..2 {
            (0..=9).for_each(|seq| assert_eq!(n.data(1, flow, seq), PASS));
            assert_eq!(n.ack(1, flow, 3), PASS);
        }
        assert_eq!(n.ack(2, 0, 3), PASS);
        assert_eq!(n.ack(2, 1, 3), second);
    }
}

#[test]
fn segment_lost_before_snoop_is_left_to_the_source() {
    let mut n = Node::new(&snoop::Config::default(), 1);
    [0, 1, 2, 4, 5].into_iter().for_each(|seq| assert_eq!(n.data(1, 0, seq), PASS));
    n.ack(1, 0, 3);
    assert_eq!([n.ack(2, 0, 3), n.ack(2, 0, 3)], [PASS; 2]);
    // The source sends it again; its duplicates are counted by the source.
    assert_eq!(n.data(3, 0, 3), PASS);
    assert_eq!([n.ack(4, 0, 3), n.ack(4, 0, 3)], [PASS; 2]);
    assert_eq!(n.snoop.counters(0).retransmissions, 0);
}

#[test]
fn a_segment_sent_again_by_the_source_is_new_to_snoop() {
    let mut n = Node::started(&snoop::Config::default(), 9, 3);
    assert_eq!(n.ack(2, 0, 3), resend(3));
    assert_eq!(n.data(3, 0, 3), PASS);
    assert_eq!(n.ack(4, 0, 3), PASS, "the source counts duplicates from here on");
}

#[test]
fn the_timer_repeats_the_first_segment() {
    let mut n = Node::started(&snoop::Config { max_retransmissions: 3, ..snoop::Config::default() }, 9, 3);
    let first = n.timer();
    assert_eq!(first.1, [3]);
    let (second, third) = (n.timer(), n.timer());
    assert_eq!((second.1, third.1), (vec![3], vec![3]));
    assert_eq!(third.0 - second.0, 2 * (second.0 - first.0), "twice the time after each");
    assert!(n.timer().1.is_empty());
    assert_eq!(n.snoop.deadline(), Time::NEVER);
    assert_eq!(n.snoop.counters(0).timeouts, 3);
    let mut n = Node::started(&Node::ns2(), 9, 3);
    let times: Vec<u64> = (0..4).map(|_| n.timer().0).collect();
    assert!(times.windows(2).all(|w| w[1] - w[0] == times[1] - times[0]), "ns-2 does not back off: {times:?}");
}

#[test]
fn cache_never_exceeds_its_size() {
    for (cfg, free_slots, kept) in [
        (snoop::Config { cache_segments: 4, ..snoop::Config::default() }, 50, true),
        (snoop::Config { free_slots: 2, ..snoop::Config::default() }, 1, false),
        (snoop::Config { free_slots: 2, ..snoop::Config::default() }, 2, true),
    ] {
        let mut n = Node::new(&cfg, 1);
        n.free_slots = free_slots;
        (0..=9).for_each(|seq| assert_eq!(n.data(1, 0, seq), PASS));
        assert_eq!(n.ack(1, 0, 1), PASS);
        assert_eq!(n.ack(2, 0, 1) == resend(1), kept, "{cfg:?}");
        // Segments that were not cached cannot be retransmitted.
        n.ack(3, 0, 5);
        assert_eq!(n.ack(3, 0, 5) == resend(5), kept && cfg.cache_segments > 4);
    }
}

#[test]
fn old_segments_and_acknowledgements_are_consumed() {
    // An acknowledged segment is answered; an old acknowledgement is consumed. ns-2 forwards both.
    let mut n = Node::started(&snoop::Config::default(), 9, 3);
    assert_eq!(n.data(2, 0, 2), (false, vec![-3]));
    assert_eq!(n.ack(2, 0, 2), SUPPRESS);
    let mut n = Node::started(&Node::ns2(), 9, 3);
    assert_eq!((n.data(2, 0, 2), n.ack(2, 0, 2)), (PASS, PASS));
    // A connection begins anew with its first segment.
    assert_eq!((n.data(3, 0, 0), n.ack(3, 0, 1)), (PASS, PASS));
}
