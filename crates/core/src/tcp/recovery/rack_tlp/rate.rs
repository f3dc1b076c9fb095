//! Delivery rate (draft-cheng-iccrg-delivery-rate-estimation): segments delivered over the time in which they were sent,
//! or acknowledged, whichever is longer.

use super::queue::{Mark, Segment};
use crate::packet::Seq;
use crate::unit::{Span, Time};

/// State of the estimator of a connection. Variables have the names of the draft.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rate {
    /// C.delivered: segments delivered.
    pub delivered: u64,
    /// C.delivered_time: time of the last delivery.
    pub delivered_time: Time,
    /// C.first_sent_time: send time of the segment that was delivered last.
    first_sent: Time,
    /// C.app_limited: end of what was sent by a sender without enough data; 0: none.
    app_limited: u64,
}

/// A rate sample. Variables have the names of the draft.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    /// P.delivered of the segment that was sent last; `None`: no segment was delivered.
    pub prior: Option<Mark>,
    /// Send time and number of that segment.
    pub last: (Time, Seq),
    /// Time in which the segments were sent.
    pub send_elapsed: Span,
    /// RS.delivered: segments delivered.
    pub delivered: u64,
    /// RS.interval; `None`: the sample is not valid.
    pub interval: Option<Span>,
}

impl Sample {
    /// Returns true if the sample is a lower limit, because the sender had not enough data.
    pub fn is_app_limited(&self) -> bool {
        self.prior.is_some_and(|p| p.app_limited)
    }

    /// RS.tx_in_flight: segments in flight when that segment was sent.
    pub fn tx_in_flight(&self) -> f64 {
        self.prior.map_or(0.0, |p| f64::from(p.in_flight))
    }
}

impl Rate {
    /// The record of a segment that is sent now; `idle`: nothing is outstanding. `in_flight`: with it; `lost`: segments
    /// marked lost so far.
    pub fn mark(&mut self, now: Time, idle: bool, in_flight: u32, lost: u64) -> Mark {
        if idle {
            self.first_sent = now;
            self.delivered_time = now;
        }
        Mark {
            delivered: self.delivered,
            delivered_time: self.delivered_time,
            first_sent: self.first_sent,
            app_limited: self.app_limited > 0,
            in_flight,
            lost: lost as u32,
        }
    }

    /// Takes a segment that is delivered for the first time.
    pub fn deliver(&mut self, seq: Seq, segment: &Segment, sample: &mut Sample) {
        self.delivered += 1;
        if sample.prior.is_none() || (segment.sent, seq) > sample.last {
            sample.prior = Some(segment.mark);
            sample.last = (segment.sent, seq);
            self.first_sent = segment.sent;
            sample.send_elapsed = segment.sent.since(segment.mark.first_sent);
        }
    }

    /// Completes the sample of an acknowledgement.
    pub fn complete(&mut self, sample: &mut Sample, min_rtt: Option<Span>, now: Time) {
        if self.app_limited > 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        let Some(prior) = sample.prior else { return };
        self.delivered_time = now;
        sample.delivered = self.delivered - prior.delivered;
        let interval = sample.send_elapsed.max(now.since(prior.delivered_time));
        sample.interval = (interval > Span::ZERO && min_rtt.is_none_or(|min| interval >= min)).then_some(interval);
    }

    /// Returns true if the sender had less to send than the window allowed.
    pub fn is_app_limited(&self) -> bool {
        self.app_limited > 0
    }

    /// The sender has less to send than the window allows.
    pub fn limit_by_application(&mut self, in_flight: u32) {
        self.app_limited = (self.delivered + u64::from(in_flight)).max(1);
    }
}
