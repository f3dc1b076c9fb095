//! State of a connection at its sender: sequence variables, window, timers, counters. The files of this folder handle
//! its events: acknowledgements, losses, ECEs, the queue of its node, timers, sending.
//!
//! Loss recoveries read and change the state with methods; names are those of RFC 9293 where it has one.

mod acks;
mod door;
mod ecn;
mod handshake;
mod losses;
mod node;
mod sending;
mod timers;
mod writing;

use super::Out;
use super::cc::CongestionControl;
use super::cc::interface::{Ack, Window};
use super::config::Config;
use super::counters::{Counters, Sums};
use super::door::Door;
use super::ecn::Sending;
use super::sender::pacer::Pacer;
use super::sender::rto::Rto;
use super::sender::send_times::SendTimes;
use super::sender::writes::Written;
use crate::packet::{Fin, Seq};
use crate::unit::{Span, Time};
use std::collections::VecDeque;
use std::num::NonZeroU64;

/// Cause of the last cut of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The window has not been cut so far.
    Never,
    /// Duplicate acknowledgements; recovery is going on.
    DupAcks,
    /// Duplicate acknowledgements; recovery is over.
    Recovered,
    /// Expiration of the retransmission timer.
    Timeout,
    /// A congestion mark that the receiver has echoed.
    Ecn,
}

/// Share of the window in use in the last round trip; for [`GrowthWhen::Used`](crate::tcp::GrowthWhen).
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    /// Largest number of outstanding segments in the round trip.
    most: u32,
    /// The whole window was outstanding.
    full: bool,
    /// The round is over when this is acknowledged.
    end: Seq,
}

/// State of the own node that only some senders keep.
#[derive(Clone, Debug, Default)]
struct OwnNode {
    /// New segments that the queue has dropped: the first, and one past the last.
    refused: (Seq, Seq),
    /// The node tells which packets have left it, and the recovery heeds them.
    heeds_copies: bool,
    /// Segments whose last copies have not left the node, in the order of their transmission.
    copies: VecDeque<Seq>,
    /// A retransmission waits for its last copy to leave the node.
    awaits_copy: bool,
    /// Packets of the connection have been passed to an 802.11 radio.
    by_radio: bool,
}

impl OwnNode {
    /// Memory \[B\].
    fn memory(&self) -> usize {
        size_of::<OwnNode>() + self.copies.capacity() * size_of::<Seq>()
    }
}

/// Stands for no round-trip time.
const NO_SAMPLE: Span = Span(u64::MAX);

/// The sending half of a connection.
#[derive(Clone, Debug)]
pub struct Connection {
    cfg: Config,
    /// The connection begins with a SYN.
    syn: bool,
    never_ect: bool,
    now: Time,
    /// SND.UNA: the first segment that is not acknowledged.
    una: Seq,
    /// SND.NXT: the next segment to send.
    nxt: Seq,
    /// One past the highest segment sent.
    max: Seq,
    /// One past the last segment that the application has provided.
    available: Seq,
    /// Data that are written in pieces, or whole ones that end with short segments; boxed, because most flows have
    /// none.
    written: Option<Box<Written>>,
    /// PSH flags of the last 64 segments that were sent, the last one in the lowest bit.
    pushed: u64,
    /// The window that the receiver offers, `tcp.receive_window` at most.
    offered: u32,
    /// The segment with the FIN; [`Seq::MAX`]: there is none yet.
    fin: (Seq, Fin),
    /// The application has closed its end before the SYN was acknowledged.
    to_finish: bool,
    /// Time from which the FIN was acknowledged and, with `tcp.close_wait`, the receiver's FIN had arrived; NEVER
    /// before that.
    closed: Time,
    /// The FIN of the receiver has arrived.
    receiver_closed: bool,

    // ---- window ----
    cc: CongestionControl,
    window: Window,
    /// Segments by which fast recovery inflates the window.
    inflation: u32,
    /// Segments that duplicate acknowledgements with a loss notification have shown to have left the network.
    credit: u32,
    /// Segments sent by limited transmit since the last new acknowledgement.
    limited: u32,
    /// Initial window by `tcp.initial_window` \[segments\], or 1 after a lost SYN.
    initial_window: f64,
    /// Limit of the window from the length of the path \[segments\].
    hop_limit: Option<u32>,
    last_cut: Cut,
    usage: Usage,
    /// Recovery point: everything below had been sent when the last recovery began.
    recover: Seq,
    ecn: Sending,
    /// State of DOOR; boxed, because most senders do without.
    door: Option<Box<Door>>,

    // ---- acknowledgements ----
    /// Last acknowledgement that arrived.
    last_ack: Ack,
    /// Time at which the receiver sent the last acknowledgement.
    last_ack_sent: Time,
    /// Duplicates in a row, as the loss recovery counts them.
    dup_acks: u32,
    /// Duplicates since the last new acknowledgement.
    duplicates: u32,
    /// Segments that are known to have arrived.
    delivered: u32,

    // ---- timers and measurements ----
    rto: Rto,
    /// Expiry of the retransmission timer.
    timer: Time,
    /// Segments and probes that had been sent when the timer last expired with data outstanding.
    sent_before: u64,
    /// Timeouts since the last answer of the other end.
    unanswered: u32,
    /// Time at which the connection was given up; NEVER before that.
    gave_up: Time,
    /// The segment whose round trip is measured, and the time at which it was sent.
    timed: Option<(Seq, Time)>,
    /// Round-trip time measured since the last one that was passed to the window rule; otherwise [`NO_SAMPLE`].
    sampled: Span,
    /// The smallest round-trip time measured; [`NO_SAMPLE`] before one.
    min_rtt: Span,
    send_times: SendTimes,
    first_sent: Time,
    first_syn_sent: Time,
    last_sent: Time,
    /// The last retransmitted segment, and the time of the retransmission; NEVER before one.
    resent: (Seq, Time),
    pacer: Pacer,

    /// Standby, because the route to the receiver is broken: only probes are sent until an acknowledgement arrives
    /// (ELFN). Time of the first probe; NEVER before that.
    standby: Option<Time>,

    // ---- the queue of the own node ----
    /// Packets that have not left the node, while `tcp.small_queue` limits them.
    queued: u32,
    /// State of the own node; boxed, because most senders keep none.
    own_node: Option<Box<OwnNode>>,
    /// Pacing rate of the loss recovery \[B/s\].
    pacing_rate: Option<NonZeroU64>,
    /// Time at which sending resumes, because a packet has left; [`Time::NEVER`]: sending is not held back.
    resumes_at: Time,
    /// Nothing is outstanding, because the queue has refused all segments: they are sent again when the timer expires.
    starts_over: bool,

    // ---- books ----
    counters: Counters,
    sums: Sums,
    /// Integral of min(cwnd, window) over time \[segments ns\].
    window_integral: f64,
    /// End of `window_integral`, and the window since then.
    integrated: (Time, f64),
    out: Vec<Out>,
}

impl Connection {
    /// A connection without data. `phase` is the phase of the clock of its retransmission timer.
    pub fn new(cfg: &Config, cc: CongestionControl, send_times: SendTimes, phase: Span) -> Connection {
        let initial_window = f64::from(cfg.initial_window.segments(cfg.mss));
        let syn = cfg.starts_with_syn();
        let mut window = Window {
            cwnd: if cfg.syn { 1.0 } else { initial_window },
            ssthresh: f64::from(cfg.initial_ssthresh.unwrap_or(cfg.receive_window)),
        };
        if !syn {
            cc.start(&mut window);
        }
        Connection {
            syn,
            never_ect: cfg.never_ect(),
            now: Time::ZERO,
            una: 0,
            nxt: 0,
            max: 0,
            available: 0,
            written: None,
            offered: cfg.receive_window,
            fin: (Seq::MAX, Fin::No),
            to_finish: false,
            closed: Time::NEVER,
            receiver_closed: false,
            pushed: 0,
            cc,
            window,
            inflation: 0,
            credit: 0,
            limited: 0,
            initial_window,
            hop_limit: None,
            last_cut: Cut::Never,
            usage: Usage::default(),
            recover: 1,
            ecn: Sending::new(&cfg.ecn, syn),
            door: cfg.door.enabled.then(Box::default),
            last_ack: Ack::default(),
            last_ack_sent: Time::ZERO,
            dup_acks: 0,
            duplicates: 0,
            delivered: 0,
            rto: Rto::new(&cfg.rto, phase),
            timer: Time::NEVER,
            sent_before: 0,
            unanswered: 0,
            gave_up: Time::NEVER,
            timed: None,
            sampled: NO_SAMPLE,
            min_rtt: NO_SAMPLE,
            send_times,
            first_sent: Time::ZERO,
            first_syn_sent: Time::ZERO,
            last_sent: Time::ZERO,
            resent: (0, Time::NEVER),
            pacer: Pacer::default(),
            queued: 0,
            standby: None,
            own_node: None,
            pacing_rate: None,
            resumes_at: Time::NEVER,
            starts_over: false,
            counters: Counters::default(),
            sums: Sums::default(),
            window_integral: 0.0,
            integrated: (Time::NEVER, 0.0),
            out: Vec::new(),
            cfg: cfg.clone(),
        }
    }

    /// Time from which the FIN was acknowledged and, with `tcp.close_wait`, the receiver's FIN had arrived.
    pub fn closed(&self) -> Option<Time> {
        (self.closed != Time::NEVER).then_some(self.closed)
    }

    /// Settings of the connection.
    pub fn cfg(&self) -> &Config {
        &self.cfg
    }

    /// Time of the current input.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Sets the time of the current input.
    pub(in crate::tcp) fn set_now(&mut self, now: Time) {
        self.now = now;
    }

    /// SND.UNA: the first segment that is not acknowledged.
    pub fn una(&self) -> Seq {
        self.una
    }

    /// SND.NXT: the next segment to send.
    pub fn nxt(&self) -> Seq {
        self.nxt
    }

    /// One past the highest segment sent.
    pub fn max(&self) -> Seq {
        self.max
    }

    /// One past the last segment that the application has provided.
    pub fn available(&self) -> Seq {
        self.available
    }

    /// The window that the receiver offers, `tcp.receive_window` at most.
    pub fn offered(&self) -> u32 {
        self.offered
    }

    /// Segments sent and not acknowledged.
    pub fn outstanding(&self) -> u32 {
        self.max - self.una
    }

    /// Segments sent and not acknowledged, those that limited transmit has sent left out (RFC 5681: FlightSize).
    pub fn flight_size(&self) -> u32 {
        self.outstanding().saturating_sub(self.limited)
    }

    /// The congestion window and ssthresh.
    pub fn window(&self) -> Window {
        self.window
    }

    /// Segments that may be outstanding: min(cwnd + inflation, receiver's window), in whole segments.
    pub fn usable_window(&self) -> u32 {
        (self.window.cwnd as u32).saturating_add(self.inflation).saturating_add(self.credit).min(self.offered)
    }

    /// Segments by which fast recovery inflates the window.
    pub fn inflation(&self) -> u32 {
        self.inflation
    }

    /// Cause of the last cut of the window.
    pub fn last_cut(&self) -> Cut {
        self.last_cut
    }

    /// Recovery point: everything below had been sent when the last recovery began.
    pub fn recover(&self) -> Seq {
        self.recover
    }

    /// Duplicate acknowledgements in a row, as the loss recovery counts them.
    pub fn dup_acks(&self) -> u32 {
        self.dup_acks
    }

    /// Last acknowledgement that arrived, as window rules see it.
    pub fn last_ack(&self) -> &Ack {
        &self.last_ack
    }

    /// Estimator of the retransmission timeout.
    pub fn rto(&self) -> &Rto {
        &self.rto
    }

    /// Expiry of the retransmission timer.
    pub fn timer(&self) -> Time {
        self.timer
    }

    /// Time at which the connection was given up.
    pub fn gave_up(&self) -> Option<Time> {
        (self.gave_up != Time::NEVER).then_some(self.gave_up)
    }

    /// Send times of the outstanding segments.
    pub fn send_times(&self) -> &SendTimes {
        &self.send_times
    }

    /// Time since the first segment was sent.
    pub fn since_first_sent(&self) -> Span {
        self.now.since(self.first_sent)
    }

    /// Returns true if this segment is the last retransmitted one, and was sent less than `span` ago.
    pub fn was_resent_within(&self, seq: Seq, span: Span) -> bool {
        let (last, at) = self.resent;
        last == seq && at <= self.now && self.now.since(at) < span
    }

    /// Returns true if the SYN is not yet acknowledged.
    pub fn awaits_syn(&self) -> bool {
        self.una == 0 && self.syn
    }

    /// Returns true if the receiver's window is closed although there are data to send (RFC 9293, 3.8.6.1).
    pub fn is_shut_out(&self) -> bool {
        self.offered == 0 && self.una < self.available
    }

    /// Returns true if data wait, because the receiver's window is used up.
    #[inline]
    pub fn is_receiver_limited(&self) -> bool {
        self.outstanding() >= self.offered && self.max < self.available
    }

    /// Returns true if the application waits for room in the send buffer, and all that it has written is sent, although
    /// the congestion window allows more.
    pub fn is_send_buffer_limited(&self) -> bool {
        self.max == self.available && self.writes_more() && self.outstanding() < self.window.cwnd as u32
    }

    /// Counters of the sender.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Sums; the observed time of the window ends with the last event.
    pub fn sums(&self) -> &Sums {
        &self.sums
    }

    /// The smallest round-trip time measured by the retransmission timer; `None`: nothing was measured.
    pub fn min_rtt(&self) -> Option<Span> {
        (self.min_rtt != NO_SAMPLE).then_some(self.min_rtt)
    }

    /// Integral of min(cwnd, window) over the observed time \[segments ns\].
    pub fn window_integral(&self) -> f64 {
        self.window_integral
    }

    /// Returns true if the sender sends less than its window allows, because the application has provided no more, the
    /// receiver's window is smaller (RFC 9438, 5.8: application-limited), or it stands by.
    fn leaves_window_unused(&self) -> bool {
        let window = (self.window.cwnd as u32).saturating_add(self.inflation).saturating_add(self.credit);
        let beyond = |segments: u32| self.nxt >= self.una.saturating_add(segments);
        let limited = self.nxt >= self.available || beyond(self.offered) || self.holds_small(self.nxt);
        self.stands_by() || (!beyond(window) && limited)
    }

    /// Adds the window since the last call to the time average, and tells the window rule if it was not used.
    pub(in crate::tcp) fn integrate_window(&mut self) {
        let (since, window) = self.integrated;
        if since != Time::NEVER {
            let span = self.now.since(since);
            self.window_integral += window * span.0 as f64;
            self.sums.window_ns += span.0;
            if self.cc.heeds_unused() && span > Span::ZERO && self.leaves_window_unused() {
                self.cc.on_unused(span);
            }
        }
        let started = self.max > 0;
        let window = self.window.cwnd.min(f64::from(self.offered));
        self.integrated = (if started { self.now } else { Time::NEVER }, window);
    }

    /// Begins the time average of the window if the first segment has just been sent.
    pub(in crate::tcp) fn begin_window(&mut self) {
        if self.integrated.0 == Time::NEVER {
            self.integrate_window();
        }
    }

    /// Memory that grows with the outstanding segments \[B\].
    pub(in crate::tcp) fn memory(&self) -> usize {
        let written = self.written.as_ref().map_or(0, |w| w.records());
        let own_node = self.own_node.as_ref().map_or(0, |node| node.memory());
        let door = self.door.as_ref().map_or(0, |_| size_of::<Door>());
        written + own_node + door + self.send_times.memory() + self.out.capacity() * size_of::<Out>()
    }

    /// Removes and returns the actions since the last call.
    pub(in crate::tcp) fn drain(&mut self) -> std::vec::Drain<'_, Out> {
        self.out.drain(..)
    }
}
