//! Senders against an adversarial peer: duplicates, old and impossible acknowledgements, invented SACK blocks, windows
//! that open and close. The sender keeps its invariants, and once the peer is honest the file arrives.

use chappe_core::packet::{AckSegment, DataSegment, Flag, SackBlocks, Seq};
use chappe_core::tcp::cc::interface::AckKind;
use chappe_core::tcp::cc::{CongestionControl, Rule};
use chappe_core::tcp::config::recoveries::{Answer, SackRule};
use chappe_core::tcp::config::variants::{Method, Variant};
use chappe_core::tcp::recovery::Recovery;
use chappe_core::tcp::{Config, DupAcks, IdleRule, InitialWindow, Out, Sender};
use chappe_core::unit::{Span, Time};
use chappe_scenario::{NoFiles, Scenario, presets};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use std::collections::{BTreeSet, VecDeque};
use std::sync::LazyLock;

type Checked = Result<(), TestCaseError>;

/// TCP settings of every preset with every variant, or with every congestion control of Linux.
static SETTINGS: LazyLock<Vec<(String, Config)>> = LazyLock::new(|| {
    let settings = |preset: &str, part: &str, word: &str| {
        let text = format!("extends = \"{preset}\"\nrun.stop = \"1 s\"\ntcp.{part} = \"{word}\"");
        let scenario = Scenario::from_toml("test", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
        // These senders have no node whose queue they fill.
        let cfg = Config { small_queue: None, ..scenario.config().tcp.clone() };
        (format!("{word} of {preset}"), cfg)
    };
    let of_preset = |preset: &&str| match *preset {
        // As often as another preset.
        "linux" => {
            let controls = ["reno", "cubic", "bbr", "bbr3"].into_iter().cycle().take(Variant::WORDS.len());
            controls.map(|word| settings(preset, "congestion_control", word)).collect::<Vec<_>>()
        }
        _ => Variant::WORDS.iter().map(|v| settings(preset, "variant", v.0)).collect::<Vec<_>>(),
    };
    presets::WORDS.iter().map(|w| w.0).collect::<Vec<_>>().iter().flat_map(of_preset).collect()
});

/// Settings of a sender under test.
#[derive(Clone)]
struct Setting {
    name: String,
    cfg: Config,
    /// Window rule, of the variant or of another one.
    rule: Rule,
}

impl std::fmt::Debug for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

/// Random settings, with small windows and some other changes.
fn settings() -> impl Strategy<Value = Setting> {
    let idle = prop::sample::select(vec![IdleRule::Keep, IdleRule::Restart, IdleRule::Timer]);
    let of_window = (1..40u32, 1..12u32, 0..4u32, idle);
    let parts = (0..SETTINGS.len(), prop::option::weighted(0.3, 0..SETTINGS.len()));
    (parts, of_window, prop::collection::vec(any::<bool>(), 6)).prop_map(
        |((i, other), (window, iw, burst, idle), switches)| {
            let [rfc6675, timestamps, ecn, limited, syn, invents] = switches[..] else { panic!("six switches") };
            let (name, mut cfg) = SETTINGS[i].clone();
            cfg.receive_window = window;
            cfg.initial_window = InitialWindow::Segments(iw);
            cfg.max_burst = (burst > 0).then_some(burst);
            cfg.after_idle = idle;
            cfg.sack.rule = if rfc6675 { SackRule::Rfc6675 } else { SackRule::Sack1 };
            cfg.timestamps = timestamps;
            cfg.ecn.enabled = ecn;
            cfg.limited_transmit = limited;
            cfg.syn = syn;
            cfg.elfn.enabled = true;
            cfg.elfn.answer = if syn { Answer::Probe } else { Answer::Any };
            cfg.door.enabled = timestamps;
            if !invents {
                cfg.dup_acks = DupAcks::Rfc5681;
                cfg.vegas.ns2.send_time_sentinels = false;
            }
            let rule = match cfg.method() {
                Method::RackTlp => cfg.rule(),
                _ => SETTINGS[other.unwrap_or(i)].1.variant.parts().1,
            };
            let name = format!(
                "{name}, {rule:?}'s window rule, window {window}, initially {iw}, burst {burst}, idle {idle:?}, RFC 6675 {rfc6675}, \
                 timestamps {timestamps}, ECN {ecn}, limited transmit {limited}, SYN {syn}, invents data {invents}"
            );
            Setting { name, cfg, rule }
        },
    )
}

/// Number in an acknowledgement.
#[derive(Clone, Debug)]
enum Next {
    Old(u32),
    Duplicate,
    Forward(u32),
    All,
    Beyond(u32),
}

/// An input from the peer or the application.
#[derive(Clone, Debug)]
enum Step {
    /// `times` acknowledgements with this number, this window and blocks at these distances from SND.UNA.
    Acks { times: u32, next: Next, window: u32, blocks: Vec<(i64, i64)>, ece: bool, eln: bool, age: u32 },
    /// Silence until the sender's next deadline.
    Timer,
    /// Silence for this time \[ms\].
    Wait(u32),
    /// More data.
    Write(u32),
    /// Routing reports a broken route to the peer.
    RouteLost,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let next = prop_oneof![
        1 => (1..9u32).prop_map(Next::Old),
        5 => Just(Next::Duplicate),
        4 => (1..6u32).prop_map(Next::Forward),
        2 => Just(Next::All),
        1 => prop_oneof![1..4u32, Just(u32::MAX / 2)].prop_map(Next::Beyond),
    ];
    let window = prop_oneof![3 => Just(64u32), 2 => 0..4u32, 1 => 0..100u32];
    let edge = prop_oneof![9 => -4i64..50, 1 => Just(i64::from(u32::MAX))];
    let blocks = prop::collection::vec((edge.clone(), edge), 0..4);
    let acks = (1..5u32, next, window, blocks, any::<(bool, bool, bool)>(), 0..3000u32).prop_map(
        |(times, next, window, blocks, (sack, ece, eln), age)| {
            let blocks = if sack { blocks } else { vec![] };
            Step::Acks { times, next, window, blocks, ece, eln, age }
        },
    );
    let step = prop_oneof![
        8 => acks,
        2 => Just(Step::Timer),
        1 => (1..2000u32).prop_map(Step::Wait),
        1 => (1..9u32).prop_map(Step::Write),
        1 => Just(Step::RouteLost),
    ];
    prop::collection::vec(step, 1..60)
}

/// A sender, with its inputs and outputs.
struct Drive {
    cfg: Config,
    sender: Sender,
    now: Time,
    /// One past the last segment that the application has provided.
    written: Seq,
    /// Timer expiries since the last event that keeps the connection alive.
    unanswered: u32,
    said: Vec<DataSegment>,
}

impl Drive {
    fn new(Setting { cfg, rule, .. }: Setting, data: u32) -> Drive {
        let written = u32::from(cfg.starts_with_syn());
        let recovery = Recovery::new(cfg.method(), &cfg);
        let sender = Sender::of_parts(&cfg, recovery, CongestionControl::new(rule, &cfg), Span::ZERO);
        let mut drive = Drive { cfg, sender, now: Time::ZERO, written, unanswered: 0, said: vec![] };
        drive.write(data).expect("the first segments");
        drive
    }

    /// Returns true if the sender has a deviation of ns-2 by which it sends segments that nobody has provided.
    fn invents_data(&self) -> bool {
        let vegas = self.cfg.method() == Method::Vegas && self.cfg.vegas.ns2.send_time_sentinels;
        self.cfg.dup_acks == DupAcks::Number || vegas
    }

    /// Calls the sender and checks its outputs.
    fn call(&mut self, what: impl FnOnce(&mut Sender, Time)) -> Checked {
        let (una, max) = (self.sender.connection().una(), self.sender.connection().max());
        what(&mut self.sender, self.now);
        self.said.clear();
        for out in self.sender.drain() {
            let Out::Segment(s) = out else { return Err(TestCaseError::fail("a sender sends segments")) };
            self.said.push(s);
        }
        let conn = self.sender.connection();
        prop_assert!(
            conn.una() <= conn.nxt() && conn.nxt() <= conn.max(),
            "{} {} {}",
            conn.una(),
            conn.nxt(),
            conn.max()
        );
        prop_assert!(conn.una() >= una && conn.max() >= max, "SND.UNA or SND.MAX went back");
        prop_assert!(conn.window().cwnd >= 0.0 && conn.window().cwnd.is_finite(), "cwnd is {}", conn.window().cwnd);
        prop_assert!(conn.window().ssthresh > 0.0 && conn.window().ssthresh.is_finite());
        let invents_data = self.invents_data();
        let mut top = max;
        for s in &self.said {
            if s.is_probe() {
                prop_assert_eq!((s.seq, s.retransmission), (conn.una().saturating_sub(1), false));
                continue;
            }
            prop_assert!(s.seq >= una && s.seq <= top, "{} is outside of {una}..={top}", s.seq);
            prop_assert_eq!(s.retransmission, s.seq < top);
            prop_assert!(s.seq < self.written || invents_data, "{} of {} segments", s.seq, self.written);
            // RFC 9293, 3.8.6.1: into a closed window a probe may go.
            let allowed = (conn.una() + conn.offered()).max(una + 1).max(max);
            prop_assert!(s.seq < allowed || invents_data, "{} is outside of the window up to {allowed}", s.seq);
            let handshake = conn.una() == 0 && self.cfg.starts_with_syn();
            prop_assert!(s.seq == 0 || !handshake || invents_data, "{} before the SYN is acknowledged", s.seq);
            top = top.max(s.seq + 1);
        }
        prop_assert_eq!(conn.max(), top);
        let waits = conn.una() < self.written && conn.gave_up().is_none();
        prop_assert!(!waits || self.sender.deadline() != Time::NEVER, "it waits forever at {} s", self.now.as_secs());
        Ok(())
    }

    fn write(&mut self, segments: u32) -> Checked {
        self.written += segments;
        self.call(|s, now| s.write(Some(segments), now))
    }

    fn ack(&mut self, ack: &AckSegment) -> Checked {
        let (una, max) = (self.sender.connection().una(), self.sender.connection().max());
        let closed = self.sender.connection().offered() == 0;
        if ack.next <= max && (ack.next > una || (ack.next == una && closed)) {
            self.unanswered = 0;
        }
        let delivered = self.sender.connection().last_ack().delivered;
        self.call(|s, now| s.on_ack(ack, 3, now))?;
        // Input of a window rule.
        let told = self.sender.connection().last_ack();
        prop_assert_eq!((told.now, told.newly), (self.now, told.una - una));
        prop_assert!(told.newly == 0 || matches!(told.kind, AckKind::NewData | AckKind::Handshake), "{:?}", told);
        prop_assert!(told.una <= told.delivered && told.delivered <= max && told.delivered >= delivered, "{:?}", told);
        prop_assert!(told.in_flight <= max - told.una, "{:?}", told);
        Ok(())
    }

    /// Advances to the sender's deadline.
    fn timer(&mut self) -> Checked {
        let deadline = self.sender.deadline();
        if deadline == Time::NEVER {
            return Ok(());
        }
        self.now = deadline.max(self.now);
        let conn = self.sender.connection();
        let mut expires = conn.timer() <= self.now;
        let outstanding = conn.una() < conn.max().min(self.written);
        let counted = |s: &Sender| s.connection().counters().timeouts + s.connection().counters().probes_sent;
        let before = counted(&self.sender);
        self.call(|s, now| s.on_deadline(now))?;
        if self.cfg.is_rack_tlp() {
            // Its timer for reordering may find nothing to do.
            expires &= counted(&self.sender) > before || self.sender.gave_up().is_some();
        }
        self.unanswered += u32::from(expires);
        if self.sender.gave_up().is_some() {
            let most = self.cfg.max_timeouts.expect("a limit");
            prop_assert!(self.unanswered > most, "given up after {} timeouts", self.unanswered);
        } else if expires && outstanding && self.said.is_empty() {
            // RFC 6298, 5.4: "Retransmit the earliest segment that has not been acknowledged". A paced sender does so
            // when its clock ticks; the timer may expire again before.
            prop_assert!(self.sender.connection().paced_at() != Time::NEVER, "nothing is retransmitted");
            return self.timer();
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Checked {
        match step {
            Step::Write(segments) => self.write(*segments),
            Step::RouteLost => self.call(|s, now| s.on_route_lost(now)),
            Step::Timer => self.timer(),
            Step::Wait(ms) => {
                let until = self.now + Span::ms(u64::from(*ms));
                while self.sender.deadline() <= until {
                    self.timer()?;
                }
                self.now = until;
                Ok(())
            }
            Step::Acks { times, next, window, blocks, ece, eln, age } => {
                for _ in 0..*times {
                    let conn = self.sender.connection();
                    let (una, max) = (conn.una(), conn.max());
                    let next = match *next {
                        Next::Old(n) => una.saturating_sub(n),
                        Next::Duplicate => una,
                        Next::Forward(n) => (una + n).min(max),
                        Next::All => max,
                        Next::Beyond(n) => max + n,
                    };
                    let mut sack = SackBlocks::default();
                    let at = |distance: i64| (i64::from(una) + distance).clamp(0, i64::from(u32::MAX)) as Seq;
                    blocks.iter().for_each(|b| sack.push(at(b.0), at(b.1)));
                    let echo = Time(self.now.0.saturating_sub(u64::from(*age) * 1_000_000));
                    let (ece, eln) = (*ece, *eln);
                    self.ack(&AckSegment { next, echo, hops: 3, window: *window, eln, sack, flag: Flag::No, ece })?;
                }
                Ok(())
            }
        }
    }

    /// From now on the peer is honest and nothing is lost; outstanding segments never arrived. A sender may give up as
    /// long as it has sent nothing since.
    fn become_honest(&mut self) -> Checked {
        let mut has_sent = false;
        let mut next = self.sender.connection().una();
        let mut ahead = BTreeSet::new();
        let mut answers: VecDeque<(Time, AckSegment)> = VecDeque::new();
        let mut events = 0;
        while self.sender.connection().una() < self.written {
            events += 1;
            prop_assert!(events < 5000, "no end: {} of {} at {} s", next, self.written, self.now.as_secs());
            match answers.front() {
                Some(&(at, ack)) if at <= self.sender.deadline() => {
                    answers.pop_front();
                    self.now = at;
                    self.ack(&ack)?;
                }
                _ => self.timer()?,
            }
            has_sent |= !self.said.is_empty();
            if self.sender.gave_up().is_some() {
                prop_assert!(!has_sent, "given up although it was answered");
                return Ok(());
            }
            for s in &self.said {
                if s.seq >= next && !s.is_probe() {
                    ahead.insert(s.seq);
                }
                while ahead.remove(&next) {
                    next += 1;
                }
                let mut sack = SackBlocks::default();
                if self.cfg.sack_permitted() && ahead.contains(&s.seq) {
                    sack.push(s.seq, (s.seq..).find(|q| !ahead.contains(q)).expect("an end"));
                }
                let window = self.cfg.receive_window;
                let ack = AckSegment { next, echo: self.now, hops: 3, window, sack, ..AckSegment::default() };
                answers.push_back((self.now + Span::ms(30), ack));
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6000, ..ProptestConfig::default() })]
    #[test]
    fn sender_survives_any_peer_and_file_arrives(
        setting in settings(), data in 1..60u32, steps in steps(),
    ) {
        let mut drive = Drive::new(setting, data);
        for step in &steps {
            drive.step(step)?;
            if drive.sender.gave_up().is_some() {
                return Ok(());
            }
        }
        drive.become_honest()?;
    }
}
