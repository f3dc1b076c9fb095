//! The FIN of a receiver, whose application closes its end after the source has closed its own (RFC 9293, 3.6: the
//! states CLOSE-WAIT and LAST-ACK).

use crate::tcp::config::Config;
use crate::tcp::config::recoveries::RackTlpConfig;
use crate::tcp::recovery::Clock;
use crate::tcp::sender::rto::Rto;
use crate::unit::{Span, Time};

/// State of the receiver's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The source may send more data.
    Established,
    /// The source has closed its end, and the application has read everything (CLOSE-WAIT); once the FIN was sent,
    /// LAST-ACK.
    Closing,
    /// The FIN is acknowledged, or was given up.
    Closed,
}

/// The receiver's end of a connection that both ends close.
#[derive(Clone, Debug)]
pub(super) struct Closing {
    /// Time that the application takes from the end of the data to closing its end.
    wait: Span,
    state: State,
    rto: Rto,
    /// Settings of the timers of RACK-TLP, if the connection has these.
    rack_tlp: Option<RackTlpConfig>,
    /// Transmissions of the FIN.
    sent: u32,
    /// Transmissions of the FIN after which the receiver gives up.
    most: Option<u32>,
    /// Time of the SYN-ACK, if it was sent once and nothing has answered it.
    syn_ack: Option<Time>,
    /// Time at which the FIN is due.
    deadline: Time,
}

impl Closing {
    /// The end of a receiver with these settings; `None`: it is never closed.
    pub(super) fn of(cfg: &Config) -> Option<Box<Closing>> {
        let wait = cfg.close_wait.filter(|_| cfg.ends_with_fin())?;
        Some(Box::new(Closing {
            wait,
            state: State::Established,
            rto: Rto::new(&cfg.rto, Span::ZERO),
            rack_tlp: cfg.is_rack_tlp().then(|| cfg.rack_tlp.clone()),
            sent: 0,
            most: cfg.max_timeouts.map(|n| n + 1),
            syn_ack: None,
            deadline: Time::NEVER,
        }))
    }

    /// Time at which the FIN is due, for the first time or again.
    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }

    /// Returns true if the FIN may still be sent.
    pub(super) fn is_under_way(&self) -> bool {
        self.state == State::Closing
    }

    /// A SYN-ACK is sent. One that is sent again measures nothing (Karn's rule).
    pub(super) fn note_syn_ack(&mut self, again: bool, now: Time) {
        self.syn_ack = (!again).then_some(now);
    }

    /// A segment arrives after the SYN: the first one ends the measurement of a round trip.
    pub(super) fn note_segment(&mut self, now: Time) {
        if let Some(sent) = self.syn_ack.take() {
            self.rto.sample(sent, now);
        }
    }

    /// The application has read everything up to the FIN of the source.
    pub(super) fn begin(&mut self, now: Time) {
        if self.state == State::Established {
            self.state = State::Closing;
            self.deadline = now + self.wait;
        }
    }

    /// The source has acknowledged the FIN.
    pub(super) fn end(&mut self) {
        self.state = State::Closed;
        self.deadline = Time::NEVER;
    }

    /// Returns true if the FIN is sent now. The next transmission then follows after a timeout; with RACK-TLP the first
    /// one is a tail loss probe, which may come earlier and does not back off.
    pub(super) fn take(&mut self, now: Time) -> bool {
        if self.deadline > now {
            return false;
        }
        if self.most.is_some_and(|most| self.sent >= most) {
            self.end();
            return false;
        }
        let probe = self.rack_tlp.as_ref().filter(|r| r.tail_loss_probe).and(self.rto.probe_timeout());
        if self.sent > u32::from(probe.is_some()) {
            self.rto.back_off();
        }
        self.sent += 1;
        self.deadline = match &self.rack_tlp {
            Some(r) => {
                let timeout = self.rto.timeout_in_ticks(r.tick);
                let wait = probe.filter(|_| self.sent == 1).map_or(timeout, |probe| probe.min(timeout));
                Clock::new(r.tick).expiry(now, wait)
            }
            None => now + self.rto.timeout(),
        };
        true
    }
}
