//! Queues of mac80211, alone and in whole runs. Expected values are calculated from the rules of Linux 6.18.

use chappe_core::packet::{Kind, PacketId, RadioId, Reason};
use chappe_core::record::Recorder;
use chappe_core::rng::{Purpose, Stream};
use chappe_core::sim::Sim;
use chappe_core::unit::{Bytes, Span, Time};
use chappe_core::wlan::edca::AccessCategory;
use chappe_core::wlan::edca::mac80211::{Config, Queues, Waiting, expected_airtime};
use chappe_core::wlan::{Mode, Out, Timing};
use chappe_scenario::{NoFiles, Scenario};

const A: RadioId = RadioId(1);
const B: RadioId = RadioId(2);
const C: RadioId = RadioId(3);
const BE: AccessCategory = AccessCategory::BestEffort;

/// Queues, with their settings, and what they have said.
struct Bench {
    queues: Queues,
    cfg: Config,
    timing: Timing,
    now: Time,
    next: u32,
    out: Vec<Out>,
}

impl Bench {
    fn new(cfg: Config) -> Bench {
        let scenario = Scenario::from_toml(
            "bench",
            "extends = \"802.11n\"\nrun.stop = \"1 s\"\ntopology.spacing = \"20 m\"",
            &[],
            &NoFiles,
        )
        .expect("a scenario");
        let timing = Timing::new(&scenario.config().wlan);
        let queues = Queues::new(Stream::new(1, Purpose::Queue, 0));
        Bench { queues, cfg, timing, now: Time::ZERO, next: 0, out: vec![] }
    }

    /// Packets of a flow for a station come; they are numbered from 0 on.
    fn push(&mut self, to: RadioId, flow: u64, packets: u32, bytes: u32, ect: bool) {
        for _ in 0..packets {
            let w = Waiting { packet: PacketId(self.next), kind: Kind::Data, msdu: bytes, ect, came: self.now };
            self.next += 1;
            self.queues.push((to, 0), w, flow, (&self.cfg, &self.timing), &mut self.out);
        }
    }

    /// Number of the next packet for a station, which is expected to take a millisecond.
    fn pop(&mut self, to: RadioId) -> Option<u32> {
        let (w, _) = self.queues.pop((to, 0), &self.cfg, |_| Span::ms(1), self.now, &mut self.out)?;
        Some(w.packet.0)
    }

    fn pop_all(&mut self, to: RadioId) -> usize {
        std::iter::from_fn(|| self.pop(to)).count()
    }

    /// The station whose turn it is; a frame for it takes this time, and it comes back for its next turn.
    fn turn(&mut self, airtime: impl Fn(RadioId) -> Span) -> RadioId {
        let (to, tid) = self.queues.next(BE, &self.cfg, |_, _| Some(false)).expect("packets wait");
        self.queues.charge((to, tid), airtime(to), self.now, &self.cfg);
        self.queues.put_back((to, tid), false, self.now, &self.cfg);
        to
    }

    fn dropped(&self) -> Vec<(u32, Reason)> {
        let dropped = |out: &Out| match *out {
            Out::Dropped { packet, reason } => Some((packet.0, reason)),
            _ => None,
        };
        self.out.iter().filter_map(dropped).collect()
    }

    fn marked(&self) -> usize {
        self.out.iter().filter(|out| matches!(out, Out::Marked { .. })).count()
    }
}

fn without_limits() -> Config {
    Config { airtime_limits: false, ..Config::default() }
}

/// 12 ms for a station while less than 24 ms are pending in all, otherwise 5 ms; 50 ms of broadcasts.
#[test]
fn a_driver_gets_packets_up_to_the_airtime_limits() {
    let mut b = Bench::new(Config::default());
    [A, B, C, RadioId::BROADCAST].into_iter().for_each(|to| b.push(to, to.0.into(), 100, 1500, false));
    assert_eq!([A, B, C].map(|to| b.pop_all(to)), [12, 12, 5]);
    assert_eq!(b.pop_all(RadioId::BROADCAST), 50);
    let give_back = |b: &mut Bench, to, packets| {
        (0..packets).for_each(|_| b.queues.give_back((to, 0), Span::ms(1), &b.cfg));
    };
    give_back(&mut b, A, 7);
    assert_eq!(b.pop_all(A), 2, "of 29 ms 7 have come back, and 24 are pending again");
    give_back(&mut b, B, 12);
    assert_eq!(b.pop_all(A), 5, "12 ms are pending, 7 of them of A");
    let mut b = Bench::new(without_limits());
    b.push(A, 1, 100, 1500, false);
    assert_eq!(b.pop_all(A), 100);
}

/// Stations take turns by the airtime of frames to them and from them, whatever is sent how often.
#[test]
fn stations_pay_for_frames_to_them_and_from_them() {
    let share = |fair: bool| {
        let mut b = Bench::new(Config { airtime_fairness: fair, ..without_limits() });
        [A, B, C].into_iter().for_each(|to| b.push(to, to.0.into(), 1, 1500, false));
        let mut airtime = [0u64; 3];
        for _ in 0..6000 {
            // B needs ten times as long, and C sends as much as it gets.
            let of = |to| Span::us(if to == B { 3000 } else { 300 });
            let to = b.turn(of);
            airtime[to.0 as usize - 1] += of(to).0;
            if to == C {
                b.queues.charge((C, 0), Span::us(300), b.now, &b.cfg);
                airtime[2] += Span::us(300).0;
            }
        }
        airtime.map(|a| a as f64 / airtime.iter().sum::<u64>() as f64)
    };
    assert!(share(true).iter().all(|s| (s - 1.0 / 3.0).abs() < 0.01), "{:?}", share(true));
    assert_eq!(share(false).map(|s| (s * 39.0).round()), [3.0, 30.0, 6.0]);
}

/// A round has 256 us: of 1,000 us a station pays in four rounds.
#[test]
fn a_station_waits_until_it_has_paid() {
    let mut b = Bench::new(without_limits());
    b.push(A, 1, 1, 1500, false);
    b.push(B, 2, 1, 1500, false);
    let of = |to| Span::us(if to == A { 1000 } else { 256 });
    // B came last and goes first until it owes airtime; a deficit of 0 does not count.
    let turns: Vec<_> = (0..9).map(|_| b.turn(of).0).collect();
    assert_eq!(turns, [2, 2, 1, 2, 2, 2, 1, 2, 2], "{turns:?}");
}

/// A station pays for what it sends only up to 100 ms after something waited for it.
#[test]
fn a_station_that_gets_nothing_owes_nothing() {
    let after_10_s_of_frames_from_a = |waits_at_first: bool| {
        let mut b = Bench::new(without_limits());
        if waits_at_first {
            b.push(A, 1, 1, 1500, false);
        }
        for _ in 0..10_000 {
            b.now += Span::ms(1);
            b.queues.charge((A, 0), Span::ms(1), b.now, &b.cfg);
        }
        b.push(A, 1, 1, 1500, false);
        b.push(B, 2, 1, 1500, false);
        b
    };
    let mut b = after_10_s_of_frames_from_a(false);
    let turns: Vec<_> = (0..6).map(|_| b.turn(|_| Span::us(300)).0).collect();
    assert_eq!(turns, [2, 1, 2, 1, 2, 1]);
    // It owes 100 ms less 256 us, which it pays in 390 rounds; B has two turns in its first one.
    let mut b = after_10_s_of_frames_from_a(true);
    let before = (0..).take_while(|_| b.turn(|_| Span::us(256)) == B).count();
    assert_eq!(before, 2 + 390);
}

/// A new flow goes first for one quantum.
#[test]
fn a_sparse_flow_goes_first() {
    let mut b = Bench::new(without_limits());
    b.push(A, 1, 20, 1500, false);
    assert_eq!([b.pop(A), b.pop(A)], [Some(0), Some(1)]);
    b.push(A, 2, 1, 100, false);
    assert_eq!([b.pop(A), b.pop(A)], [Some(20), Some(2)]);
}

/// Half of the packets of the flow with the most bytes, at most 32, are dropped at its head.
#[test]
fn the_fattest_flow_loses_packets_at_the_limits() {
    let mut b = Bench::new(Config { limit: 10, ..without_limits() });
    b.push(A, 1, 2, 100, false);
    b.push(B, 2, 8, 1000, false);
    b.push(A, 1, 1, 100, false);
    assert_eq!(b.dropped(), [2, 3, 4, 5].map(|p| (p, Reason::MacQueueFull)));
    assert_eq!((b.pop(B), b.pop_all(A), b.queues.len()), (Some(6), 3, 3));
    let mut b = Bench::new(Config { limit_memory: Some(Bytes(16 << 20)), ..without_limits() });
    b.push(A, 1, 8193, 40, false);
    assert_eq!(b.dropped().len(), 32);
    // 4 MiB without VHT, at 2280 B for 1448 B of payload, an MSDU of 1508 B.
    let mut b = Bench::new(without_limits());
    b.push(A, 1, 1839, 1508, false);
    assert_eq!(b.dropped().len(), 0);
    b.push(A, 1, 1, 1508, false);
    assert_eq!(b.dropped().len(), 32);
}

/// A bucket belongs to one queue at a time; the packets of others have the flow of their queue.
#[test]
fn queues_share_no_bucket() {
    let mut b = Bench::new(Config { flows: 1, ..without_limits() });
    b.push(A, 1, 3, 1500, false);
    b.push(B, 1, 3, 1500, false);
    b.push(B, 2, 1, 1500, false);
    assert_eq!((b.pop_all(A), b.pop_all(B)), (3, 4));
    b.push(B, 1, 1, 1500, false);
    b.push(A, 1, 1, 1500, false);
    assert_eq!((b.pop(B), b.pop(A)), (Some(7), Some(8)));
}

/// Once packets have waited 20 ms for 100 ms, those of a flow are marked or dropped when the driver takes them.
#[test]
fn codel_marks_or_drops_what_the_driver_takes() {
    for ect in [false, true] {
        let mut b = Bench::new(without_limits());
        b.push(A, 1, 1000, 1500, ect);
        let mut first = None;
        while b.now < Time::ZERO + Span::ms(300) {
            b.pop(A);
            let acted = b.marked() + b.dropped().len();
            first = first.or((acted > 0).then_some(b.now));
            b.now += Span::ms(1);
        }
        assert_eq!(first, Some(Time::ZERO + Span::ms(120)));
        // The next ones follow after 100 ms, and after 71 ms.
        assert_eq!(b.marked() + b.dropped().len(), 3);
        assert_eq!(b.marked() > 0, ect);
        assert!(b.dropped().iter().all(|d| d.1 == Reason::MacAqm));
    }
}

/// A device that was switched off does not know how long packets had waited before.
#[test]
fn codel_begins_anew_after_power_off() {
    let mut b = Bench::new(without_limits());
    b.push(A, 1, 3, 1500, false);
    b.now += Span::ms(30);
    assert_eq!(b.pop(A), Some(0));
    b.queues.clear(|_| ());
    b.now += Span::ms(100);
    b.push(A, 1, 3, 1500, false);
    b.now += Span::ms(25);
    assert_eq!((b.pop(A), b.dropped()), (Some(3), vec![]));
}

/// Bytes at the rate, a share of 40 us of preamble, in steps of 4 us.
#[test]
fn airtime_is_expected_by_rate() {
    let timing = Bench::new(Config::default()).timing;
    let expected = |mcs, category| {
        let mode = Mode::high_throughput(mcs, 1, 0, false);
        expected_airtime((A, mode), category, 1538, &timing).0 / 1000
    };
    // 189.3 + 40/16, 473.2 + 40/4, 1892.9 + 40/2.
    assert_eq!([7, 3, 0].map(|mcs| expected(mcs, BE)), [188, 480, 1912]);
    assert_eq!(expected(7, AccessCategory::Voice), 228);
    assert_eq!(expected_airtime((RadioId::BROADCAST, Mode::LOWEST), BE, 100, &timing), timing.broadcast(100));
}

/// An access point and stations around it, with these settings.
fn around(stations: usize, wlan: &str, flows: &str, seed: u64) -> Recorder {
    let place = |i: usize| {
        let angle = i as f64 * std::f64::consts::TAU / stations as f64;
        format!("[\"{:.2} m\", \"{:.2} m\"]", 10.0 * angle.cos(), 10.0 * angle.sin())
    };
    let places: Vec<_> = (0..stations).map(place).collect();
    let text = format!(
        "extends = [\"802.11n\", \"linux\"]\nrun = {{ stop = \"6 s\", batches = 5, warmup_batches = 1 }}\n\
         topology = {{ kind = \"list\", positions = [[\"0 m\", \"0 m\"], {}] }}\nrouting.protocol = \"shortest_path\"\n\
         wlan = {{ {wlan} }}\ncbr = {{ payload = \"1472 B\", interval = \"150 us\" }}\nflow = [{flows}]",
        places.join(", ")
    );
    let scenario = Scenario::from_toml("around", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = Sim::new(&scenario.setup(Some(seed)));
    sim.run();
    sim.into_recorder()
}

/// Goodput of each flow \[bit/s\].
fn goodput(r: &Recorder) -> Vec<f64> {
    r.flows().numbers("goodput_bps").expect("a column")
}

/// With equal airtime each of four stations has a quarter of what it has alone: 5.838 Mbit/s at MCS 0 and 59.75 Mbit/s
/// at MCS 7 (`timeline::edca`). First in, first out, each has as much as the slowest: 18.1 Mbit/s in all.
#[test]
fn a_slow_station_takes_no_more_airtime_than_others() {
    let flows: Vec<_> = (1..5).map(|i| format!("{{ src = 0, dst = {i}, app = \"cbr\" }}")).collect();
    let rates = "ppdu.mcs = 7, link_rate = [{ src = 0, dst = 1, mcs = 0 }]";
    let of = |queues| goodput(&around(4, &format!("{rates}, {queues}"), &flows.join(", "), 1));
    let fair = of("queues = \"mac80211\"");
    for (i, &bps) in fair.iter().enumerate() {
        let share = bps / if i == 0 { 5.838e6 } else { 59.75e6 };
        assert!((share - 0.25).abs() < 0.05 * 0.25, "station {i} has {share} of the airtime");
    }
    let (fair, fifo): (f64, f64) = (fair.iter().sum(), of("queues = \"fifo\"").iter().sum());
    assert!(fair > 2.2 * fifo, "{fair} and {fifo} bit/s");
}

/// Over one hop: CUBIC sends as much as an acknowledgement allows at once, BBR a few segments in each millisecond.
#[test]
fn few_acknowledgements_follow_aggregates() {
    let acks_per_segment = |control: &str, gro: bool| {
        let text = format!(
            "extends = \"linux-mesh\"\nrun = {{ stop = \"4 s\", batches = 4, warmup_batches = 1 }}\n\
             topology = {{ hops = 1, spacing = \"60 m\" }}\nrouting.protocol = \"shortest_path\"\n\
             tcp = {{ congestion_control = \"{control}\", gro = {gro} }}"
        );
        let scenario = Scenario::from_toml("one hop", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
        let mut sim = Sim::new(&scenario.setup(Some(1)));
        sim.run();
        let of = |column| sim.recorder().flows().numbers(column).expect("a column")[0];
        of("tcp_acks_received") / of("packets_delivered")
    };
    for control in ["cubic", "bbr"] {
        assert!((acks_per_segment(control, false) - 0.5).abs() < 0.01, "{control}: every second segment");
    }
    let [cubic, bbr] = ["cubic", "bbr"].map(|control| acks_per_segment(control, true));
    assert!((0.05..0.15).contains(&cubic) && (0.2..0.35).contains(&bbr), "{cubic} {bbr}");
}

/// Four transfers at MCS 0 wait for the aggregates of each other, and for little else.
#[test]
fn an_access_point_at_the_lowest_rate_answers_soon() {
    let flows: Vec<_> = (1..5).map(|i| format!("{{ src = 0, dst = {i} }}")).collect();
    let r = around(4, "ppdu.mcs = 0, queues = \"mac80211\"", &flows.join(", "), 1);
    let delays = r.flows().numbers("mean_delay_s").expect("a column");
    assert!(delays.iter().all(|&d| d < 0.04), "{delays:?}");
    // Before: four queues of one order, and 128 packets at 6.5 Mbit/s.
    let total: f64 = goodput(&r).iter().sum();
    assert!(total > 5e6, "{total} bit/s");
}
