//! Snoop (Balakrishnan, Seshan and Katz, ACM Wireless Networks 1(4), 1995): the node before a lossy link caches
//! segments until they are acknowledged, retransmits lost ones, and filters the duplicate acknowledgements that would
//! make the source do so. Deviations of ns-2.35's Snoop are settings.

use super::registry::OnPath;
use super::{Counters, Cx, Verdict};
use crate::packet::{Packet, Seq};
use crate::setting::limit::{HOUR, above, at_most, range};
use crate::unit::{Span, Time};
use crate::{keywords, settings};
use std::collections::VecDeque;

keywords! {
    /// Number of duplicate acknowledgements expected after a local retransmission.
    pub enum Expected {
        /// One for each segment forwarded after the lost one and before its retransmission, less those that have
        /// arrived.
        SentAfter = "sent_after",
        /// The number of cached segments, less two; the lost one does not count once it was retransmitted (ns-2).
        Kept = "kept",
    }
}

keywords! {
    /// Smoothing of the mean local round-trip time.
    pub enum Smoothing {
        /// A new measurement has the weight `rtt_weight`.
        New = "new",
        /// The old mean has the weight `rtt_weight`, a new measurement the rest (ns-2).
        Old = "old",
    }
}

settings! {
    /// Snoop: local retransmissions at a node on the path.
    pub struct Config {
        /// Largest number of cached segments per flow; further segments are only forwarded.
        pub cache_segments: u32 = 100 => range(1, 1_000_000),
        /// Number of free places that the interface queue needs for a segment to be cached; with fewer, congestion is
        /// left to the source.
        pub free_slots: u32 = 0 => at_most(1_000_000),
        /// Number of unexpected duplicate acknowledgements that are forwarded before the next one causes a local
        /// retransmission.
        pub pass_duplicates: u32 = 0 => at_most(1_000_000),
        /// Counts the duplicates of `pass_duplicates` over all flows together (ns-2).
        pub pass_shared: bool = false,
        /// Number of duplicate acknowledgements expected after a local retransmission, which are filtered.
        pub expected: Expected = Expected::SentAfter,
        /// Largest number of local retransmissions of a segment because of duplicate acknowledgements; "unlimited": up
        /// to `max_retransmissions`.
        pub duplicate_retransmissions: Option<u32> | "unlimited" = None => at_most(1000),
        /// Largest number of local retransmissions of a segment. Further ones are left to the source.
        pub max_retransmissions: u32 = 10 => at_most(1000),
        /// Puts local retransmissions at the head of the interface queue.
        pub priority: bool = true,
        /// Weight in the averages of the local round-trip time and its deviation.
        pub rtt_weight: f64 = 0.125 => above(0.0).below(1.0),
        /// Value with the weight `rtt_weight` in the average round-trip time.
        pub rtt_weight_of: Smoothing = Smoothing::New,
        /// Takes no round-trip time from acknowledgements that cover a retransmitted segment.
        pub skip_retransmitted: bool = true,
        /// Local round-trip time before the first measurement.
        pub initial_srtt: Span = Span::ms(100) => at_most(HOUR),
        /// Deviation of the local round-trip time before the first measurement.
        pub initial_rttvar: Span = Span::ms(250) => at_most(HOUR),
        /// Smallest local timeout; above it, the timeout is the mean plus four deviations.
        pub min_timeout: Span = Span::ms(100) => range(Span::us(1), HOUR),
        /// Doubles the timeout at each expiry for the same segment.
        pub backoff: bool = true,
        /// Consumes a segment that was already acknowledged, and answers it with the last acknowledgement.
        pub answer_acknowledged: bool = true,
        /// Consumes acknowledgements older than the last one.
        pub drop_old_acks: bool = true,
    }
}

/// A segment in the cache, and its transmission.
#[derive(Clone, Debug)]
struct Kept {
    packet: Packet,
    seq: Seq,
    /// Time of the last forwarding or retransmission.
    sent: Time,
    /// Number of local retransmissions.
    repeats: u32,
    /// True if the source has retransmitted it.
    by_source: bool,
}

#[derive(Clone, Debug)]
struct Flow {
    alive: bool,
    kept: VecDeque<Kept>,
    /// Highest segment seen.
    highest: Option<Seq>,
    /// Next segment expected by the receiver.
    next: Seq,
    last_ack: Option<Packet>,
    /// Duplicates of the last acknowledgement so far.
    duplicates: u32,
    /// Duplicates still expected; negative if unknown.
    expected: i64,
    /// True if the first cached segment was retransmitted since the last new acknowledgement.
    repeated: bool,
    /// Unexpected duplicates forwarded.
    passed: u32,
    /// Timer expiries since the last new acknowledgement.
    expired: u32,
    /// Mean and deviation of the round-trip time [ns].
    srtt: f64,
    rttvar: f64,
    timer: Time,
    counters: Counters,
}

impl Flow {
    fn new(cfg: &Config) -> Flow {
        Flow {
            alive: false,
            kept: VecDeque::new(),
            highest: None,
            next: 0,
            last_ack: None,
            duplicates: 0,
            expected: 0,
            repeated: false,
            passed: 0,
            expired: 0,
            srtt: cfg.initial_srtt.0 as f64,
            rttvar: cfg.initial_rttvar.0 as f64,
            timer: Time::NEVER,
            counters: Counters::default(),
        }
    }

    /// The connection begins; estimates of the link are kept.
    fn begin(&mut self, cfg: &Config) {
        if self.kept.capacity() == 0 {
            self.kept.reserve(cfg.cache_segments.min(1024) as usize);
        }
        self.alive = true;
        self.kept.clear();
        self.highest = None;
        self.next = 0;
        self.last_ack = None;
        self.expect_nothing();
        self.timer = Time::NEVER;
    }

    fn expect_nothing(&mut self) {
        self.duplicates = 0;
        self.expected = 0;
        self.repeated = false;
        self.expired = 0;
    }

    fn timeout(&self, cfg: &Config) -> Span {
        // Rounded up, so that with any deviation an acknowledgement as late as the mean is in time.
        let plain = Span((self.srtt + 4.0 * self.rttvar).ceil() as u64).max(cfg.min_timeout);
        if cfg.backoff { plain * (1 << self.expired.min(10)) } else { plain }
    }

    fn measure(&mut self, rtt: Span, cfg: &Config) {
        let (rtt, gain) = (rtt.0 as f64, cfg.rtt_weight);
        let of_new = match cfg.rtt_weight_of {
            Smoothing::New => gain,
            Smoothing::Old => 1.0 - gain,
        };
        self.srtt = (1.0 - of_new) * self.srtt + of_new * rtt;
        self.rttvar = gain * (rtt - self.srtt).abs() + (1.0 - gain) * self.rttvar;
    }

    /// Caches a segment; returns true if it came out of order or again.
    fn keep(&mut self, packet: &Packet, seq: Seq, now: Time, cfg: &Config) -> bool {
        let late = self.highest.is_some_and(|h| seq < h);
        let i = self.kept.partition_point(|k| k.seq < seq);
        if let Some(k) = self.kept.get_mut(i).filter(|k| k.seq == seq) {
            (k.by_source, k.repeats, k.sent) = (true, 0, now);
            if cfg.expected == Expected::SentAfter && i == 0 {
                // The source counts duplicates from now on.
                self.expected = 0;
            }
            return true;
        }
        self.kept.insert(i, Kept { packet: *packet, seq, sent: now, repeats: 0, by_source: late });
        if late {
            self.repeated = false;
        } else {
            self.highest = Some(seq);
        }
        late
    }

    /// Retransmits the first segment; returns false if that is not allowed.
    fn repeat(&mut self, cfg: &Config, cx: &mut Cx<'_>) -> bool {
        let Some(first) = self.kept.front_mut().filter(|k| k.repeats < cfg.max_retransmissions) else { return false };
        first.sent = cx.now;
        first.repeats += 1;
        cx.made.push(Packet { urgent: cfg.priority, ..first.packet });
        self.counters.retransmissions += 1;
        self.timer = cx.now + self.timeout(cfg);
        true
    }
}

/// Snoop agent at a node.
#[derive(Clone, Debug)]
pub struct Snoop {
    cfg: Config,
    flows: Vec<Flow>,
    /// Unexpected duplicates forwarded, over all flows.
    passed: u32,
    due: Time,
}

impl OnPath for Snoop {
    type Config = Config;

    fn new(cfg: &Config, flows: usize) -> Snoop {
        Snoop { cfg: cfg.clone(), flows: vec![Flow::new(cfg); flows], passed: 0, due: Time::NEVER }
    }

    fn kept(cfg: &Config) -> u32 {
        cfg.cache_segments
    }

    fn on_data(&mut self, f: usize, packet: &Packet, seq: Seq, cx: &mut Cx<'_>) -> Verdict {
        let (flow, cfg) = (&mut self.flows[f], &self.cfg);
        if !flow.alive || seq == 0 {
            flow.begin(cfg);
        }
        if flow.kept.len() >= cfg.cache_segments as usize {
            flow.highest = flow.highest.max(Some(seq));
            return Verdict::Pass;
        }
        if seq < flow.next {
            if cfg.answer_acknowledged
                && let Some(ack) = flow.last_ack
            {
                cx.made.push(ack);
                return Verdict::Absorb;
            }
        } else if cx.free_slots >= cfg.free_slots as usize && flow.keep(packet, seq, cx.now, cfg) {
            flow.timer = Time::NEVER;
        }
        if flow.timer == Time::NEVER && !flow.kept.is_empty() {
            flow.timer = cx.now + flow.timeout(cfg);
        }
        self.set_due();
        Verdict::Pass
    }

    fn on_ack(&mut self, f: usize, packet: &mut Packet, next: Seq, cx: &mut Cx<'_>) -> Verdict {
        let (flow, cfg) = (&mut self.flows[f], &self.cfg);
        let pass = if next < flow.next {
            !cfg.drop_old_acks
        } else if next > flow.next {
            Snoop::on_new_ack(flow, next, cfg, cx.now);
            true
        } else {
            !Snoop::on_duplicate(flow, &mut self.passed, cfg, cx)
        };
        if next >= flow.next {
            flow.last_ack = Some(*packet);
        }
        if !pass {
            flow.counters.acks_suppressed += 1;
        }
        self.set_due();
        if pass { Verdict::Pass } else { Verdict::Absorb }
    }

    fn deadline(&self) -> Time {
        self.due
    }

    fn on_deadline(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now;
        for flow in self.flows.iter_mut().filter(|f| f.timer <= now) {
            flow.timer = Time::NEVER;
            if flow.kept.front().is_some_and(|k| k.seq == flow.next) {
                flow.expired += 1;
                if flow.repeat(&self.cfg, cx) {
                    flow.repeated = true;
                    flow.counters.timeouts += 1;
                }
            }
        }
        self.set_due();
    }

    fn counters(&self, flow: usize) -> Counters {
        self.flows[flow].counters
    }
}

impl Snoop {
    fn on_new_ack(flow: &mut Flow, next: Seq, cfg: &Config, now: Time) {
        let (mut newest, mut repeated) = (None, false);
        while let Some(k) = flow.kept.pop_front_if(|k| k.seq < next) {
            newest = Some(k.sent);
            repeated |= k.repeats > 0 || k.by_source;
        }
        flow.next = next;
        flow.expect_nothing();
        flow.timer = if flow.kept.is_empty() { Time::NEVER } else { now + flow.timeout(cfg) };
        if let Some(sent) = newest.filter(|&sent| sent < now && !(repeated && cfg.skip_retransmitted)) {
            flow.measure(now.since(sent), cfg);
        }
    }

    /// Handles a duplicate acknowledgement; returns true if it is filtered.
    fn on_duplicate(flow: &mut Flow, shared: &mut u32, cfg: &Config, cx: &mut Cx<'_>) -> bool {
        flow.duplicates += 1;
        let Some((seq, by_source, repeats)) = flow.kept.front().map(|k| (k.seq, k.by_source, k.repeats)) else {
            return false;
        };
        if seq > flow.next {
            // The segment was lost before this node: congestion.
            return false;
        }
        if flow.expected > 0 {
            flow.expected -= 1;
            return true;
        }
        if flow.expected < 0 {
            return flow.expected == -1 && repeats < 2 && flow.repeat(cfg, cx);
        }
        let passed = if cfg.pass_shared { shared } else { &mut flow.passed };
        if *passed < cfg.pass_duplicates {
            *passed += 1;
            return false;
        }
        *passed = 0;
        if by_source {
            return false;
        }
        let kept = flow.kept.len() as i64;
        flow.expected = match cfg.expected {
            Expected::SentAfter => (kept - 1 - i64::from(flow.duplicates)).max(0),
            // Number of places in a ring, which is full when its ends meet.
            Expected::Kept => (kept - i64::from(flow.repeated)) % i64::from(cfg.cache_segments) - 2,
        };
        flow.repeated = true;
        cfg.duplicate_retransmissions.is_none_or(|most| repeats < most) && flow.repeat(cfg, cx)
    }

    fn set_due(&mut self) {
        self.due = self.flows.iter().map(|f| f.timer).min().unwrap_or(Time::NEVER);
    }
}
