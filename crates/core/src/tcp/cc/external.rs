//! A window rule of the program that drives the run.

use super::controller::{Decision, Event, View, ask};
use super::interface::{Ack, AckKind, Congestion, Signal, Window};
use super::registry::WindowRule;
use crate::packet::FlowId;
use crate::unit::{Bytes, Span};
use std::sync::Arc;

/// Smallest pacing rate \[bit/s\]: a byte each second. Recoveries that pace in whole bytes take 0 for no pacing.
const MIN_PACING_BPS: f64 = 8.0;

/// The window rule of a connection whose window a program decides. The run has no code of the program: only the number
/// of its controller, and what was decided last. In a box, so that connections with other rules stay small.
#[derive(Clone, Debug)]
pub struct External(Box<State>);

#[derive(Clone, Debug)]
struct State {
    name: Arc<str>,
    /// Number of the controller, once it was asked.
    controller: Option<u32>,
    /// Window that was decided last \[segments\].
    decided: Option<f64>,
    /// Pacing rate \[bit/s\]; infinite: segments are not paced.
    pacing_bps: f64,
    view: View,
}

impl External {
    pub(super) fn new(name: Arc<str>, mss: Bytes) -> External {
        let view = View::new(mss.0);
        External(Box::new(State { name, controller: None, decided: None, pacing_bps: f64::INFINITY, view }))
    }

    /// Names the flow of the connection.
    pub(in crate::tcp) fn belong_to(&mut self, flow: FlowId) {
        self.0.view.flow = flow;
    }

    /// Notes the delivery rate that the loss recovery has measured \[bit/s\].
    pub(in crate::tcp) fn note_rate(&mut self, rate_bps: Option<f64>) {
        self.0.view.delivery_rate_bps = rate_bps;
    }

    /// The window with the fraction that was decided, which a loss recovery in whole segments has dropped.
    pub(in crate::tcp) fn fractional(&self, cwnd: f64) -> f64 {
        self.0.decided.filter(|decided| decided.floor() == cwnd).unwrap_or(cwnd)
    }

    /// Forgets this fraction.
    pub(in crate::tcp) fn drop_fraction(&mut self) {
        self.0.decided = self.0.decided.map(f64::floor);
    }

    /// Sets the window and the pacing rate that are decided.
    pub(in crate::tcp) fn take(&mut self, decision: &Decision, w: &mut Window) {
        self.0.take(decision, w);
    }
}

impl State {
    /// Asks the program. Without one the window remains that which was decided last.
    fn ask(&mut self, event: Event, w: &Window) -> Decision {
        self.view.window = *w;
        let answer = ask(&mut self.controller, &self.name, &self.view, event);
        answer.unwrap_or(Decision { cwnd: self.decided, ..Decision::KEEP })
    }

    fn take(&mut self, decision: &Decision, w: &mut Window) {
        if let Some(cwnd) = decision.cwnd {
            w.cwnd = cwnd.max(1.0);
            self.decided = Some(w.cwnd);
        }
        if let Some(ssthresh) = decision.ssthresh {
            w.ssthresh = ssthresh.max(1.0);
        }
        self.pacing_bps = decision.pacing_bps.map_or(self.pacing_bps, |rate| rate.max(MIN_PACING_BPS));
    }
}

impl WindowRule for External {
    const GROWS_BY_STEPS: bool = false;
    const GROWS_UNUSED: bool = true;
    const READS_REMAINDER: bool = false;

    fn on_every_ack(&mut self, ack: &Ack, _: &mut Window) {
        let view = &mut self.0.view;
        (view.now, view.delivered, view.in_flight, view.srtt) = (ack.now, ack.delivered, ack.in_flight, ack.srtt);
        if ack.kind != AckKind::Other {
            view.rtt = Some(ack.round_trip);
            view.min_rtt = Some(view.min_rtt.map_or(ack.round_trip, |min| min.min(ack.round_trip)));
        }
    }

    fn on_ack(&mut self, ack: &Ack, _: u32, w: &mut Window) {
        if ack.kind == AckKind::Handshake || ack.ece {
            return;
        }
        let view = &mut self.0.view;
        (view.acked, view.in_flight, view.srtt, view.used) = (ack.newly, ack.in_flight, ack.srtt, ack.used);
        let decision = self.0.ask(Event::Ack, w);
        self.take(&decision, w);
    }

    fn on_congestion(&mut self, c: &Congestion, w: &mut Window) {
        let view = &mut self.0.view;
        (view.now, view.acked, view.in_flight) = (c.now, 0, c.in_use as u32);
        let decision = self.0.ask(Event::Congestion(c.signal), w);
        let before = w.cwnd;
        self.take(&decision, w);
        match (decision.cwnd, decision.ssthresh) {
            (Some(_), Some(_)) => {}
            (_, None) => w.ssthresh = w.cwnd,
            (None, Some(_)) => {
                w.cwnd = match c.signal {
                    Signal::FastRetransmit => w.ssthresh,
                    Signal::Timeout => c.loss_window,
                    Signal::Ecn => w.ssthresh.min(before),
                }
            }
        }
    }

    fn on_recovery_end(&mut self, w: &mut Window) {
        self.0.view.acked = 0;
        let decision = self.0.ask(Event::RecoveryEnd, w);
        self.take(&decision, w);
    }

    fn pace(&self) -> Option<Span> {
        let gap_ns = f64::from(self.0.view.mss) * 8e9 / self.0.pacing_bps;
        (gap_ns > 0.0).then_some(Span(gap_ns as u64))
    }
}
