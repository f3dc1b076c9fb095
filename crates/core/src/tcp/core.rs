//! What every sender has: sequence variables, window, retransmission timer, books. Loss recoveries work on it.

use super::cc::{Acked, CongestionControl, Signal, Window};
use super::pacing::Pacer;
use super::rto::Rto;
use super::scoreboard::Scoreboard;
use super::variants::Variant;
use super::{Config, DupAcks, Halving, Out, ecn};
use crate::packet::{AckSegment, DataSegment, Seq};
use crate::unit::{Span, Time};

/// Why the window was last cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// It never was.
    Never,
    /// Duplicate acknowledgements; recovery is going on.
    DupAcks,
    /// Duplicate acknowledgements; recovery is over.
    Recovered,
    /// A timeout.
    Timeout,
    /// A mark that the receiver has echoed.
    Ecn,
}

/// Counters of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counters {
    /// Segments sent, the SYN and retransmissions included.
    pub segments_sent: u64,
    /// Segments that had been sent before.
    pub retransmissions: u64,
    /// Expirations of the retransmission timer with data outstanding.
    pub timeouts: u64,
    /// Retransmissions after duplicate acknowledgements that began a recovery.
    pub fast_retransmits: u64,
    /// Cuts of the window because of ECE.
    pub ecn_cuts: u64,
    /// Acknowledgements received.
    pub acks_received: u64,
    /// Round-trip times measured.
    pub rtt_samples: u64,
    /// Their sum \[ns\].
    pub rtt_sum: u64,
    /// Integral of min(cwnd, window) over time [segments ns].
    pub window_integral: f64,
    /// How long the window has been observed \[ns\].
    pub window_time: u64,
}

/// When outstanding segments were sent and how often, as far as Vegas wants to know.
#[derive(Clone, Debug, Default)]
pub struct SentTimes {
    slots: Vec<(Option<Time>, u32)>,
}

impl SentTimes {
    fn slot(&mut self, seq: Seq) -> &mut (Option<Time>, u32) {
        let n = self.slots.len();
        &mut self.slots[seq as usize % n]
    }

    /// Makes room for so many outstanding segments; those from `una` to `max` are.
    pub fn make_room(&mut self, segments: usize, una: Seq, max: Seq) {
        if self.slots.is_empty() || segments <= self.slots.len() {
            return;
        }
        let mut grown = SentTimes { slots: vec![(None, 0); segments] };
        for seq in una..max {
            *grown.slot(seq) = self.get(seq);
        }
        *self = grown;
    }

    /// When a segment was last sent and how often it was; cleared entries say never.
    pub fn get(&self, seq: Seq) -> (Option<Time>, u32) {
        self.slots[seq as usize % self.slots.len()]
    }

    /// Clears the entries of segments `from..to`. With the bug, clearing stops where the table wraps round.
    pub fn clear(&mut self, from: Seq, to: Seq, stops_at_wrap: bool) {
        let n = self.slots.len() as Seq;
        let last = to.wrapping_sub(1) % n;
        for seq in from..to {
            if stops_at_wrap && seq % n > last {
                return;
            }
            *self.slot(seq) = (None, 0);
        }
    }
}

/// The common part of a sender. Fields are named as in RFC 9293 where it has a name for them.
#[derive(Clone, Debug)]
pub struct Core {
    /// Settings of the connection.
    pub cfg: Config,
    /// Now.
    pub now: Time,
    /// SND.UNA: the first segment that is not acknowledged.
    pub una: Seq,
    /// SND.NXT: the next segment to send.
    pub nxt: Seq,
    /// One past the highest segment sent.
    pub max: Seq,
    /// One past the last segment that the application has provided.
    pub available: Seq,
    /// Segments that the last new acknowledgement has acknowledged.
    pub acked: u32,
    /// Duplicate acknowledgements in a row.
    pub dup_acks: u32,
    /// Congestion window.
    pub window: Window,
    /// Segments by which fast recovery inflates the window.
    pub inflation: u32,
    /// Segments that duplicate acknowledgements with a loss notification have shown to have left the network.
    pub credit: u32,
    /// Window that the receiver offers, `tcp.window` at most.
    pub offered: u32,
    /// The last retransmission and when it was made.
    pub resent: Option<(Seq, Time)>,
    /// What had been sent when the last recovery began: everything below this.
    pub recover: Seq,
    /// Why the window was last cut.
    pub last_cut: Cut,
    /// Retransmission timeout.
    pub rto: Rto,
    /// When the retransmission timer expires.
    pub timer: Time,
    /// Timeouts since the other end was last heard.
    pub unanswered: u32,
    /// When the connection was given up.
    pub gave_up: Option<Time>,
    /// Selective acknowledgements.
    pub board: Scoreboard,
    /// Send times, for Vegas.
    pub sent: SentTimes,
    /// When the first segment was sent.
    pub since: Time,
    /// When a segment was last sent.
    pub last_sent: Time,
    /// The window that `initial_window` stands for, or 1 after a lost SYN.
    pub initial_window: f64,
    /// Books.
    pub counters: Counters,
    /// The limit of the window that the length of the path gives \[segments\].
    pub hop_limit: Option<u32>,
    /// When the next new segment may be sent, if they are paced.
    pub pacer: Option<Pacer>,
    /// ECN.
    pub ecn: ecn::Sending,
    /// What to say.
    pub out: Vec<Out>,
    /// The round-trip time that was measured since the window rule was last told of one.
    pub sampled: Option<Span>,
    /// The segment whose round trip is measured, and when it was sent.
    timed: Option<(Seq, Time)>,
    /// Segments sent by limited transmit since the last new acknowledgement.
    limited: u32,
    /// Until when `window_integral` has been taken, and the window since then.
    integrated: (Time, f64),
}

impl Core {
    /// A sender with no data yet. `records_times`: whether Vegas wants the send times.
    pub fn new(cfg: &Config, phase: Span, records_times: bool) -> Core {
        let initial_window = f64::from(cfg.initial_window.segments(cfg.segment));
        let syn = cfg.starts_with_syn() || cfg.syn;
        Core {
            now: Time::ZERO,
            una: 0,
            nxt: 0,
            max: 0,
            available: 0,
            acked: 0,
            dup_acks: 0,
            window: Window {
                cwnd: if syn { 1.0 } else { initial_window },
                ssthresh: f64::from(cfg.initial_ssthresh.unwrap_or(cfg.window)),
            },
            inflation: 0,
            credit: 0,
            offered: cfg.window,
            resent: None,
            recover: 1,
            last_cut: Cut::Never,
            rto: Rto::new(&cfg.rto, phase),
            timer: Time::NEVER,
            unanswered: 0,
            gave_up: None,
            board: Scoreboard::new(cfg.window as usize / 2 + 2, cfg.dup_threshold),
            sent: SentTimes { slots: if records_times { vec![(None, 0); cfg.window.max(1) as usize] } else { vec![] } },
            since: Time::ZERO,
            last_sent: Time::ZERO,
            initial_window,
            counters: Counters::default(),
            hop_limit: None,
            pacer: (cfg.variant == Variant::AdaptivePacing).then(|| Pacer::new(&cfg.ap, cfg.segment)),
            ecn: ecn::Sending::new(cfg),
            out: Vec::with_capacity(2 * cfg.window.min(1024) as usize + 8),
            sampled: None,
            timed: None,
            limited: 0,
            integrated: (Time::NEVER, 0.0),
            cfg: cfg.clone(),
        }
    }

    // ---- window ----

    /// Segments that may be outstanding: min(cwnd + inflation, receiver's window), in whole segments.
    pub fn usable_window(&self) -> u32 {
        (self.window.cwnd as u32).saturating_add(self.inflation).saturating_add(self.credit).min(self.offered)
    }

    /// Segments sent and not acknowledged, what limited transmit sent left out (RFC 5681: FlightSize).
    pub fn flight_size(&self) -> u32 {
        (self.max - self.una).saturating_sub(self.limited)
    }

    /// A share of what is in use, by the rule of the scenario.
    fn in_use(&self, share: f64) -> f64 {
        match self.cfg.halving {
            Halving::FlightSize => f64::from(self.flight_size()) * share,
            Halving::Window => (self.window.cwnd + f64::from(self.inflation)).min(f64::from(self.offered)) * share,
            Halving::WholeWindow => (f64::from(self.usable_window()) * share).floor(),
        }
    }

    /// Cuts the window.
    pub fn cut(&mut self, signal: Signal, cc: &mut CongestionControl) {
        cc.on_congestion(signal, self.in_use(self.share_after(signal)), &mut self.window);
        self.ecn.cut = true;
        self.last_cut = match signal {
            Signal::FastRetransmit => Cut::DupAcks,
            Signal::Timeout => Cut::Timeout,
            Signal::Ecn => Cut::Ecn,
        };
    }

    /// Lets the window rule grow the window.
    pub fn grow(&mut self, rtt: Option<Span>, cc: &mut CongestionControl) {
        let ack = Acked {
            now: self.now,
            una: self.una,
            nxt: self.nxt,
            acked: self.acked,
            rtt,
            since: self.since,
            ece: self.ecn.echoed,
        };
        cc.on_ack(&ack, &mut self.window);
        if let Some(max) = self.cfg.max_cwnd.into_iter().chain(self.hop_limit).min()
            && self.window.cwnd.floor() > f64::from(max)
        {
            self.window.cwnd = f64::from(max);
        }
    }

    /// The first acknowledgement opens the initial window.
    pub fn open_initial_window(&mut self, cc: &CongestionControl) {
        self.window.cwnd = self.initial_window;
        cc.start(&mut self.window);
    }

    /// Takes the window since the last call into the time average.
    pub fn integrate_window(&mut self) {
        let (since, window) = self.integrated;
        if since != Time::NEVER {
            let span = self.now.since(since).0;
            self.counters.window_integral += window * span as f64;
            self.counters.window_time += span;
        }
        let started = self.max > 0;
        let window = self.window.cwnd.min(f64::from(self.offered));
        self.integrated = (if started { self.now } else { Time::NEVER }, window);
    }

    // ---- acknowledgements ----

    /// Whether the SYN is not yet acknowledged.
    pub fn awaits_syn(&self) -> bool {
        self.una == 0 && self.cfg.starts_with_syn()
    }

    /// Whether an acknowledgement of nothing new is a duplicate. None carries data, a SYN or a FIN.
    pub fn is_duplicate(&self, ack: &AckSegment) -> bool {
        match self.cfg.dup_acks {
            DupAcks::Number => true,
            DupAcks::Rfc5681 => {
                // RFC 6675, 2: one with SACK blocks is judged by what they say, not by its window.
                let repeats = !ack.sack.is_empty() || ack.window.min(self.cfg.window) == self.offered;
                self.una < self.max && !self.awaits_syn() && repeats
            }
        }
    }

    /// Takes in a new cumulative acknowledgement: measures, restarts the timer.
    pub fn advance(&mut self, next: Seq, echo: Time) {
        self.dup_acks = 0;
        self.limited = 0;
        self.unanswered = 0;
        let syn_timed_out = self.awaits_syn() && self.counters.timeouts > 0;
        self.acked = next - self.una;
        self.una = next;
        self.nxt = self.nxt.max(next);
        if self.cfg.timestamps {
            self.timed = None;
            self.measure(echo);
        } else {
            self.end_measurement();
        }
        if syn_timed_out {
            self.rto.begin_data();
        }
        self.restart_timer_if_needed();
    }

    /// Ends the measurement of a round trip if its segment is acknowledged.
    fn end_measurement(&mut self) {
        if let Some((_, at)) = self.timed.filter(|t| self.una > t.0) {
            self.timed = None;
            self.measure(at);
        }
    }

    fn measure(&mut self, sent: Time) {
        let backoff = self.rto.backoff();
        self.rto.sample(sent, self.now);
        if self.ecn.keeps_backoff() {
            self.rto.restore_backoff(backoff);
        }
        let rtt = self.now.since(sent);
        self.sampled = Some(rtt);
        self.counters.rtt_samples += 1;
        self.counters.rtt_sum += rtt.0;
    }

    /// An acknowledgement of a partial window: the measurement ends without a result, and so does backing off.
    pub fn skip_measurement(&mut self) {
        if self.timed.is_some_and(|t| self.una > t.0) {
            self.timed = None;
            self.rto.clear_backoff();
        }
    }

    /// Gives up the measurement under way (Karn's rule).
    pub fn cancel_measurement(&mut self) {
        self.timed = None;
    }

    // ---- timer ----

    /// Starts the retransmission timer anew.
    pub fn restart_timer(&mut self) {
        self.timer = self.now + self.rto.timeout();
    }

    /// After a new acknowledgement (RFC 6298 5.2, 5.3).
    pub fn restart_timer_if_needed(&mut self) {
        // ns-2's timer runs on when nothing is outstanding, and restarts slow start. A window that an ECE has closed opens
        // when it expires.
        if self.una < self.max || self.cfg.idle == super::IdleRule::Timer || self.is_closed_by_mark() {
            self.restart_timer();
        } else {
            self.timer = Time::NEVER;
        }
    }

    /// The timer has expired once more without an answer; whether the connection is given up for it.
    pub fn give_up(&mut self) -> bool {
        let gives_up = self.cfg.max_timeouts.is_some_and(|most| self.unanswered >= most);
        self.unanswered += 1;
        if gives_up {
            self.gave_up = Some(self.now);
            self.timer = Time::NEVER;
            if let Some(pacer) = &mut self.pacer {
                pacer.pause();
            }
        }
        gives_up
    }

    // ---- sending ----

    /// Sends a segment.
    pub fn send(&mut self, seq: Seq) {
        let nothing_outstanding = self.una == self.max;
        let retransmission = seq < self.max;
        let syn = seq == 0 && self.cfg.starts_with_syn();
        let mut segment =
            DataSegment { seq, sent: self.now, born: self.now, retransmission, syn, ..DataSegment::default() };
        if self.cfg.ecn.enabled {
            self.flag(&mut segment);
        }
        self.out.push(Out::Segment(segment));
        self.counters.segments_sent += 1;
        self.last_sent = self.now;
        if !self.sent.slots.is_empty() {
            let now = self.now;
            let slot = self.sent.slot(seq);
            *slot = (Some(now), slot.1 + 1);
        }
        if retransmission {
            self.counters.retransmissions += 1;
            self.resent = Some((seq, self.now));
        } else {
            self.max = seq + 1;
            if self.timed.is_none() && !self.cfg.timestamps {
                self.timed = Some((seq, self.now));
            }
        }
        if self.timer == Time::NEVER || nothing_outstanding {
            self.restart_timer();
        }
    }

    /// Whether the window allows another segment.
    fn may_send(&self) -> bool {
        let open = self.nxt < self.una.saturating_add(self.usable_window()) && self.nxt < self.available;
        open && !self.ecn.waiting
    }

    /// Whether the receiver has no room although there is something to send (RFC 9293, 3.8.6.1).
    pub fn is_shut_out(&self) -> bool {
        self.offered == 0 && self.una < self.available
    }

    /// Sends a probe into a closed window, and the next one after twice the time.
    pub fn probe(&mut self) {
        self.rto.back_off();
        self.send_first();
        self.cancel_measurement();
        self.restart_timer();
    }

    /// Sends the first unacknowledged segment whatever the window of the receiver, who may have shrunk it below what is
    /// outstanding (RFC 9293, 3.8.6: "If the window shrinks to zero, the TCP implementation MUST probe it").
    pub fn send_first(&mut self) {
        self.send(self.una);
        self.nxt = self.una + 1;
    }

    /// A receiver without room has answered, so that the connection lives. What found no room is sent again when there
    /// is some.
    pub fn end_probing(&mut self) {
        self.unanswered = 0;
        if self.nxt == self.una + 1 {
            self.nxt = self.una;
        }
    }

    /// A sender that is shut out sends a probe when the timer expires.
    pub fn watch_window(&mut self) {
        if self.timer == Time::NEVER && self.is_shut_out() {
            self.restart_timer();
        }
    }

    /// Sends what the window allows, at most so many segments; a paced sender does so one by one later.
    pub fn send_allowed(&mut self, burst: Option<u32>) {
        if self.nxt == 0 {
            self.since = self.now;
        }
        if self.may_send()
            && let Some(pacer) = &mut self.pacer
        {
            pacer.arm(self.now);
            return;
        }
        let mut left = burst.unwrap_or(u32::MAX);
        while left > 0 && self.may_send() {
            self.send(self.nxt);
            self.nxt += 1;
            left -= 1;
        }
    }

    /// The next paced segment is due.
    pub fn send_paced(&mut self) {
        let Some(pacer) = &mut self.pacer else { return };
        pacer.on_tick(self.now);
        if self.may_send() {
            self.send(self.nxt);
            self.nxt += 1;
        }
        if self.may_send()
            && let Some(pacer) = &mut self.pacer
        {
            pacer.arm(self.now);
        }
    }

    /// Limited transmit (RFC 3042): a new segment on the first and second duplicate acknowledgement.
    pub fn send_limited(&mut self) {
        if !self.cfg.limited_transmit || self.nxt >= self.available || self.pacer.is_some() {
            return;
        }
        let beyond_una = f64::from(self.nxt - self.una);
        let allowed = self.window.cwnd + f64::from(self.dup_acks) - 1.0;
        if self.nxt - self.una < self.offered && beyond_una <= allowed {
            if self.nxt >= self.max {
                self.limited += 1;
            }
            self.send(self.nxt);
            self.nxt += 1;
        }
    }
}
