//! The sending end of a connection.

pub mod elfn;
pub mod eln;
pub mod pacer;
pub mod rto;
pub mod scoreboard;
pub mod send_times;
pub(super) mod writes;

use super::Out;
use super::cc::CongestionControl;
use super::cc::controller::Decision;
use super::cc::interface::AckKind;
use super::config::recoveries::Answer;
use super::config::{Config, IdleRule};
use super::connection::Connection;
use super::counters::Counters;
use super::recovery::Recovery;
use super::recovery::view::RackView;
use crate::packet::{AckSegment, DataSegment, Flag, FlowId, Seq};
use crate::rng::Stream;
use crate::unit::{BitRate, Span, Time};
use eln::Eln;
use send_times::SendTimes;

/// Phase of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// cwnd is below ssthresh.
    SlowStart,
    /// cwnd is at ssthresh or above.
    CongestionAvoidance,
    /// Loss recovery after duplicate acknowledgements.
    Recovery,
    /// Everything that the application has provided is acknowledged.
    ApplicationLimited,
    /// Data wait, because the receiver's window is used up (Linux: `tcpi_rwnd_limited`).
    ReceiverLimited,
    /// The application waits for room in the send buffer, and all that it has written is sent (Linux:
    /// `tcpi_sndbuf_limited`).
    SendBufferLimited,
}

/// State of a sender for observers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Congestion window \[segments\].
    pub cwnd: f64,
    /// Slow-start threshold \[segments\].
    pub ssthresh: f64,
    /// Smoothed round-trip time, once there is one.
    pub srtt: Option<Span>,
    /// Retransmission timeout in force.
    pub rto: Span,
    /// Segments sent and not acknowledged.
    pub outstanding: u32,
    /// Phase of the sender.
    pub phase: Phase,
}

/// A TCP sender. Its actions are appended to a list, which [`drain`](Sender::drain) empties.
#[derive(Clone, Debug)]
pub struct Sender {
    connection: Connection,
    recovery: Recovery,
    eln: Eln,
}

impl Sender {
    /// A sender without data. `phase` is the phase of the clock of its retransmission timer.
    pub fn new(cfg: &Config, phase: Span) -> Sender {
        let (recovery, cc) = (Recovery::new(cfg.method(), cfg), CongestionControl::new(cfg.rule(), cfg));
        Sender::of_parts(cfg, recovery, cc, phase)
    }

    /// A sender of a flow, at a node that [tells](Sender::on_left) which of its packets have left.
    pub fn at_node(cfg: &Config, phase: Span, flow: FlowId) -> Sender {
        let mut sender = Sender::new(cfg, phase);
        sender.connection.heed_copies();
        sender.connection.belong_to(flow);
        sender
    }

    /// Lets a congestion control that probes at random times draw them from this stream.
    pub fn draw_from(&mut self, stream: impl FnOnce() -> Stream) {
        if let Recovery::RackTlp(recovery) = &mut self.recovery {
            recovery.draw_from(stream);
        }
    }

    /// A sender of these parts, whatever the settings say.
    pub fn of_parts(cfg: &Config, recovery: Recovery, cc: CongestionControl, phase: Span) -> Sender {
        let send_times = match recovery.send_times(cfg.receive_window) {
            Some(table) => table,
            None if cc.wants_segment_rtt() => SendTimes::new(cfg.receive_window),
            None => SendTimes::default(),
        };
        Sender { connection: Connection::new(cfg, cc, send_times, phase), recovery, eln: Eln::default() }
    }

    /// The application provides no more data. Segments that have not been sent by now are withdrawn.
    pub fn close(&mut self, now: Time) {
        self.connection.set_now(now);
        self.connection.close();
    }

    /// Changes the limit of the window that the receiver may offer.
    pub fn set_window(&mut self, segments: u32) {
        self.connection.set_window_limit(segments);
    }

    /// Segments that the application has provided so far, the SYN not counted; `None`: without end.
    pub fn written(&self) -> Option<Seq> {
        self.connection.provided()
    }

    /// The application provides this many more segments; `None`: without end.
    pub fn write(&mut self, segments: Option<u32>, now: Time) {
        self.write_whole(segments, false, now);
    }

    /// The same, and tells if the last of them is not full, so that it may wait (`tcp.nagle`).
    pub fn write_whole(&mut self, segments: Option<u32>, ends_short: bool, now: Time) {
        let conn = &mut self.connection;
        conn.set_now(now);
        if conn.gave_up().is_some() || conn.is_finished() {
            return;
        }
        conn.integrate_window();
        conn.provide(segments);
        if ends_short {
            conn.note_short_end();
        }
        match conn.cfg().after_idle {
            IdleRule::Restart if conn.was_idle() => conn.limit_to_initial_window(),
            IdleRule::Decay if conn.was_idle() => conn.decay_window(),
            _ => {}
        }
        if !conn.stands_by() && !self.recovery.is_probing() {
            self.recovery.on_write(conn);
        }
        conn.watch_window();
        conn.integrate_window();
    }

    /// The application writes this many bytes, `None` without end, in pieces of `size` bytes: the first one when the
    /// connection is established, each of the others when the one before is written and the send buffer has room.
    pub fn write_in_pieces(&mut self, bytes: Option<u64>, size: u32, now: Time) {
        let conn = &mut self.connection;
        if conn.gave_up().is_some() || conn.is_finished() {
            return;
        }
        conn.plan_writes(bytes, size);
        self.write(Some(0), now);
        self.take_pieces();
        self.connection.integrate_window();
    }

    /// The application writes as much as the send buffer takes.
    #[cold]
    fn take_pieces(&mut self) {
        let conn = &mut self.connection;
        if conn.awaits_syn() || conn.max() == 0 && conn.cfg().starts_with_syn() || conn.gave_up().is_some() {
            return;
        }
        let sends = !conn.stands_by() && !self.recovery.is_probing();
        loop {
            let has_sent_all = conn.has_sent_all();
            if !conn.take_piece() {
                break;
            }
            if sends && has_sent_all {
                self.recovery.on_write(conn);
            } else if sends {
                self.recovery.go_on(conn);
            }
        }
        conn.watch_window();
    }

    /// The application closes its end after all that it has written: a FIN follows, with `tcp.fin`. Nothing that is
    /// written later is taken. Returns true if there is something to send or to wait for.
    pub fn finish(&mut self, now: Time) -> bool {
        let conn = &mut self.connection;
        conn.set_now(now);
        if conn.gave_up().is_some() || !conn.finish() {
            return false;
        }
        if !conn.stands_by() && !self.recovery.is_probing() {
            self.recovery.on_write(conn);
        }
        conn.watch_window();
        conn.integrate_window();
        true
    }

    /// Time from which the FIN was acknowledged and, with `tcp.close_wait`, the receiver's FIN had arrived.
    pub fn closed(&self) -> Option<Time> {
        self.connection.closed()
    }

    /// Routing has found the route to the receiver broken. With ELFN a sender that waits for an acknowledgement enters
    /// standby.
    pub fn on_route_lost(&mut self, now: Time) {
        let conn = &mut self.connection;
        let waits = conn.outstanding() > 0 && !conn.awaits_syn() && conn.gave_up().is_none();
        if conn.cfg().elfn.enabled && waits && !conn.stands_by() {
            conn.set_now(now);
            conn.stand_by(conn.cfg().elfn.probe_interval);
        }
    }

    /// A queue on the way has marked or dropped a segment, and tells so.
    pub fn on_source_quench(&mut self, seq: Seq, now: Time) {
        let conn = &mut self.connection;
        conn.set_now(now);
        conn.integrate_window();
        if conn.on_source_quench(seq) {
            self.cut_for_ece();
        }
        self.connection.integrate_window();
    }

    /// The acknowledgement that arrives next was sent at this time. Needed for the round-trip times of the receiver
    /// (`tcp.receive_buffer`).
    #[inline]
    pub fn note_sent(&mut self, sent: Time) {
        self.connection.note_sent(sent);
    }

    /// An acknowledgement arrives that has made this many hops.
    pub fn on_ack(&mut self, ack: &AckSegment, hops: u8, now: Time) {
        let conn = &mut self.connection;
        conn.set_now(now);
        if conn.gave_up().is_some() {
            return;
        }
        conn.integrate_window();
        conn.take_path(ack, hops);
        if conn.cfg().door.enabled {
            conn.detect_reordering(ack);
        }
        let kind = conn.kind_of(ack);
        let current = conn.is_current(ack);
        if current && conn.on_ece(ack) {
            self.cut_for_ece();
        }
        let conn = &mut self.connection;
        conn.tell_rule(ack, kind, hops, self.recovery.is_going_on(conn));
        if current {
            self.on_current_ack(ack, kind);
            self.connection.note_end();
            if self.connection.writes_more() {
                self.take_pieces();
            }
            if self.connection.is_to_finish() {
                self.finish(now);
            }
        }
        if ack.flag == Flag::Fin {
            self.connection.acknowledge_fin();
        }
        self.connection.integrate_window();
    }

    /// Reacts to a congestion mark.
    #[cold]
    fn cut_for_ece(&mut self) {
        if !self.recovery.reduces_window(true, &mut self.connection) {
            self.connection.cut_for_ece();
        }
    }

    fn on_current_ack(&mut self, ack: &AckSegment, kind: AckKind) {
        let conn = &mut self.connection;
        if let Some(probed) = conn.first_probe() {
            let answers = conn.cfg().elfn.answer == Answer::Any || ack.echo >= probed || ack.next == conn.max();
            if !answers {
                return conn.take_in_standby(ack);
            }
            conn.end_standby();
        }
        let shut_out = conn.is_shut_out();
        conn.take_offer(ack);
        if kind == AckKind::Other && !self.recovery.takes_every_ack() {
            // An update of the window, or the answer to a probe.
            if shut_out {
                conn.end_probing();
            }
            conn.send_allowed();
        } else if !self.eln.on_ack(ack, &mut self.recovery, conn) {
            self.recovery.on_ack(ack, conn);
            self.eln.after_recovery(conn);
        }
        conn.watch_window();
    }

    /// Time of the next call.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.connection.deadline()
    }

    /// The packet of this segment has left the node of the sender, or was dropped there; [`Seq::MAX`]: it was a header
    /// alone. A sender that was held back resumes: its [deadline](Sender::deadline) is now, unless the full queue has
    /// refused the packet.
    pub fn on_left(&mut self, seq: Seq, refused: bool, now: Time) {
        let conn = &mut self.connection;
        conn.set_now(now);
        conn.on_left(seq, refused);
    }

    /// A packet of this connection is passed to an 802.11 radio of its node.
    pub fn on_radio(&mut self) {
        self.connection.on_radio();
    }

    /// The queue of the sender's node was full and has dropped a segment (`tcp.local_drop`). Nothing is sent for it.
    pub fn on_local_drop(&mut self, segment: &DataSegment, now: Time) {
        let conn = &mut self.connection;
        conn.set_now(now);
        conn.integrate_window();
        if conn.is_cut_by_drop(segment) && !self.recovery.reduces_window(false, conn) {
            conn.cut_for_drop();
        }
        conn.on_local_drop(segment);
        conn.integrate_window();
    }

    /// Changes the limit of the congestion window.
    pub fn set_max_cwnd(&mut self, segments: u32, now: Time) {
        let conn = &mut self.connection;
        conn.set_now(now);
        conn.integrate_window();
        conn.set_max_cwnd(segments);
        conn.integrate_window();
    }

    /// Changes the constant window of the rule `fixed`; a larger window sends at once.
    pub fn set_fixed_window(&mut self, segments: u32, now: Time) {
        self.change_window(now, |conn| conn.change_fixed(|rule| rule.set_window(segments)));
    }

    /// Changes the pacing rate of the rule `fixed`.
    pub fn set_pacing_rate(&mut self, rate: Option<BitRate>, now: Time) {
        self.change_window(now, |conn| conn.change_fixed(|rule| rule.set_pacing_rate(rate)));
    }

    /// Returns true if the program that drives the run decides the window, and no rule of Chappe.
    pub fn takes_decisions(&mut self) -> bool {
        self.connection.takes_decisions()
    }

    /// The program that drives the run decides the window, which acts at once.
    pub fn decide(&mut self, decision: &Decision, now: Time) {
        self.change_window(now, |conn| conn.decide(decision));
    }

    /// Changes the window of a connection, which goes on with it at once.
    fn change_window(&mut self, now: Time, change: impl FnOnce(&mut Connection)) {
        let conn = &mut self.connection;
        conn.set_now(now);
        conn.integrate_window();
        change(conn);
        let has_begun = conn.max() > 0 && !conn.awaits_syn();
        if has_begun && !conn.stands_by() && !self.recovery.is_probing() && conn.gave_up().is_none() {
            self.recovery.go_on(conn);
        }
        conn.integrate_window();
    }

    /// The retransmission timer expires, a paced segment is due, or the node has room again.
    pub fn on_deadline(&mut self, now: Time) {
        let conn = &mut self.connection;
        conn.set_now(now);
        if conn.takes_up() && !conn.stands_by() && !self.recovery.is_probing() && conn.gave_up().is_none() {
            self.recovery.go_on(conn);
        }
        if conn.is_paced_due() {
            self.recovery.on_pace(conn);
        }
        if now < conn.timer() {
            return conn.begin_window();
        }
        conn.integrate_window();
        self.on_timer();
        self.connection.integrate_window();
    }

    /// The retransmission timer expires.
    fn on_timer(&mut self) {
        let conn = &mut self.connection;
        if conn.stands_by() {
            conn.probe_in_standby();
            return;
        }
        let awaits = conn.outstanding() > 0 || conn.is_shut_out();
        if self.recovery.owns_timer() && awaits && !conn.awaits_syn() {
            return self.recovery.on_timer(conn);
        }
        if conn.awaits_answer() && conn.give_up() {
            return;
        }
        if conn.is_shut_out() && conn.outstanding() <= 1 {
            conn.probe();
            return;
        }
        conn.stop_timer();
        if conn.starts_over() {
            self.recovery.go_on(conn);
            return conn.start_over();
        }
        if conn.outstanding() == 0 && !self.recovery.times_out_when_idle() {
            conn.collapse_when_idle();
            conn.send_allowed();
            return;
        }
        if self.recovery.probes_at_timeout(conn) {
            return;
        }
        conn.time_out(self.eln.keeps_ssthresh(&conn.cfg().eln));
        self.recovery.on_timeout(conn);
        conn.send_allowed();
        if conn.is_shut_out() {
            conn.send_first();
        }
    }

    /// Takes the actions since the last call.
    pub fn drain(&mut self) -> std::vec::Drain<'_, Out> {
        self.connection.drain()
    }

    /// Counters; the time average of the window is taken up to `now`.
    pub fn counters(&mut self, now: Time) -> &Counters {
        let conn = &mut self.connection;
        conn.set_now(conn.now().max(now));
        conn.integrate_window();
        conn.counters()
    }

    /// Memory that grows with the outstanding segments \[B\].
    pub fn memory(&self) -> usize {
        self.connection.memory() + self.recovery.memory()
    }

    /// Returns true if data are outstanding and, unless an answer comes, only a retransmission timeout will act.
    pub fn awaits_timeout(&self) -> bool {
        let conn = &self.connection;
        conn.outstanding() > 0
            && self.phase() != Phase::ApplicationLimited
            && !conn.stands_by()
            && !conn.is_shut_out()
            && conn.timer() < Time::NEVER
            && conn.deadline() == conn.timer()
            && self.recovery.awaits_timeout()
    }

    /// Expirations of the retransmission timer so far.
    pub fn timeouts(&self) -> u64 {
        self.connection.counters().timeouts
    }

    /// Time at which the connection was given up.
    pub fn gave_up(&self) -> Option<Time> {
        self.connection.gave_up()
    }

    /// Segments that are acknowledged, all up to the first that is not; SYN and FIN not counted.
    pub fn acknowledged(&self) -> u64 {
        self.connection.acknowledged()
    }

    /// Segments sent so far that had been sent before.
    pub fn retransmissions(&self) -> u64 {
        self.connection.counters().retransmissions
    }

    /// Phase of the sender.
    pub fn phase(&self) -> Phase {
        let conn = &self.connection;
        let window = conn.window();
        if conn.una() >= conn.available() || conn.gave_up().is_some() {
            Phase::ApplicationLimited
        } else if self.recovery.is_going_on(conn) {
            Phase::Recovery
        } else if conn.is_receiver_limited() {
            Phase::ReceiverLimited
        } else if conn.is_send_buffer_limited() {
            Phase::SendBufferLimited
        } else if window.cwnd < window.ssthresh {
            Phase::SlowStart
        } else {
            Phase::CongestionAvoidance
        }
    }

    /// Congestion state for observers.
    pub fn view(&self) -> View {
        let conn = &self.connection;
        let (window, rto) = (conn.window(), conn.rto());
        View {
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
            srtt: rto.smoothed(),
            rto: rto.timeout(),
            outstanding: conn.outstanding(),
            phase: self.phase(),
        }
    }

    /// Loss recovery, pacing and BBR of a sender of Linux for observers; `None`: another loss recovery.
    pub fn rack_view(&self) -> Option<RackView> {
        self.recovery.view()
    }

    /// Variables of the connection.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Loss recovery of the connection, for tests.
    #[cfg(test)]
    pub(super) fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// Returns true if all data of the application have been acknowledged.
    pub fn is_done(&self) -> bool {
        self.connection.available() > 0 && self.connection.una() >= self.connection.available()
    }
}
