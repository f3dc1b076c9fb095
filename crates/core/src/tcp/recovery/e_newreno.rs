//! Enhanced NewReno (Ahmed, Zaidi and Sharif, "Enhancing TCP Performance in Mobile Ad hoc Networks", 2006): after a
//! timeout the sender sends only probes. After an answer it continues in congestion avoidance, with ssthresh =
//! max(FlightSize / 2, 2) and cwnd = ssthresh + 3, without slow start. Details that the paper leaves open are settings.

use super::newreno::NewReno;
use super::registry::LossRecovery;
use super::reno::is_inflated;
use crate::packet::AckSegment;
use crate::tcp::config::recoveries::{Answer, FlightSizeAt, Probe, Resend};
use crate::tcp::connection::Connection;
use crate::unit::Time;

/// State while probes are sent.
#[derive(Clone, Copy, Debug)]
struct Probing {
    /// Segments outstanding at the first timeout.
    flight: u32,
    /// Send time of the last probe.
    sent: Time,
}

/// State of Enhanced NewReno.
#[derive(Clone, Debug, Default)]
pub struct ENewReno {
    newreno: NewReno,
    probing: Option<Probing>,
}

impl LossRecovery for ENewReno {
    fn is_going_on(&self, conn: &Connection) -> bool {
        is_inflated(conn)
    }

    fn is_probing(&self) -> bool {
        self.probing.is_some()
    }

    /// The retransmission timer has expired. Whether that is answered with a probe: a SYN is sent again as ever, and so
    /// is what finds no room at the receiver.
    fn probes_at_timeout(&mut self, conn: &mut Connection) -> bool {
        if conn.awaits_syn() || conn.is_shut_out() {
            return false;
        }
        let cfg = &conn.cfg().e_newreno;
        let (probe, interval) = (cfg.probe, cfg.probe_interval);
        let flight = self.probing.map_or(conn.outstanding(), |p| p.flight);
        self.probing = Some(Probing { flight, sent: conn.now() });
        self.newreno.on_timeout(conn);
        conn.set_dup_acks(0);
        conn.time_out_with_probe(interval);
        match probe {
            Probe::Header => conn.send_header(),
            Probe::FirstSegment => conn.send_as_probe(conn.una()),
        }
        true
    }

    /// The retransmission timer has expired, and no probe is sent.
    fn on_timeout(&mut self, _conn: &Connection) {
        *self = ENewReno::default();
    }

    fn on_ack(&mut self, ack: &AckSegment, conn: &mut Connection) {
        let Some(probing) = self.probing else { return self.newreno.on_ack(ack, conn) };
        let answers = match conn.cfg().e_newreno.answer {
            Answer::Any => true,
            // Answers to older segments were under way when the last probe was sent.
            Answer::Probe => ack.echo >= probing.sent || ack.next == conn.max(),
        };
        if answers {
            self.probing = None;
            resume(probing.flight, ack, conn);
        } else if ack.next > conn.una() {
            conn.take_partial(ack);
        }
    }
}

/// Sets the window by equations (1) and (2) of the paper, and sends segments again by `resend`.
fn resume(flight: u32, ack: &AckSegment, conn: &mut Connection) {
    let cfg = &conn.cfg().e_newreno;
    let (extra, resend, ends_backoff, at) = (cfg.extra, cfg.resend, cfg.answer_ends_backoff, cfg.flight_size);
    if ack.next > conn.una() {
        conn.advance(ack);
    }
    if ends_backoff {
        conn.end_backoff();
    }
    let flight = if at == FlightSizeAt::Answer { conn.outstanding() } else { flight };
    let ssthresh = (f64::from(flight) / 2.0).max(2.0);
    if resend == Resend::Holes && conn.outstanding() > 0 {
        conn.resume_with_recovery(ssthresh, extra);
        conn.send(conn.una());
    } else {
        conn.resume_from_una(ssthresh, ssthresh + f64::from(extra));
    }
    conn.send_allowed();
}
