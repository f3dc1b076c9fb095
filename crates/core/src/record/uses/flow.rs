//! Time use of a TCP flow. Every instant of a run belongs to exactly one use, so that the uses sum to its length.

use crate::tcp::Phase;
use crate::unit::Time;

/// Uses of time with their names in tables and their meanings.
pub const USES: [(&str, &str); 8] = [
    ("slow_start", "cwnd is below ssthresh"),
    ("congestion_avoidance", "cwnd is at ssthresh or above"),
    ("recovery", "loss recovery after duplicate acknowledgements"),
    ("timeout_wait", "nothing happens until the retransmission timer expires"),
    ("route_wait", "packets wait at the source for a route"),
    ("application_limited", "the application has nothing to send, or has not begun"),
    ("receiver_limited", "data wait, because the receiver's window is used up"),
    ("send_buffer_limited", "the application waits for room in the send buffer, and all that it has written is sent"),
];

const TIMEOUT_WAIT: usize = 3;
const ROUTE_WAIT: usize = 4;

/// Index of a phase in [`USES`].
fn index(phase: Phase) -> usize {
    match phase {
        Phase::SlowStart => 0,
        Phase::CongestionAvoidance => 1,
        Phase::Recovery => 2,
        Phase::ApplicationLimited => 5,
        Phase::ReceiverLimited => 6,
        Phase::SendBufferLimited => 7,
    }
}

/// Time use of a flow, from event to event of its sender.
#[derive(Clone, Copy, Debug)]
pub struct FlowTime {
    /// Times so far [ns], in the order of [`USES`].
    uses: [u64; USES.len()],
    since: Time,
    phase: Phase,
    /// Begin of the current wait for a route, and the total of other such waits since the last event [ns].
    route_since: Option<Time>,
    route_waited: u64,
}

impl Default for FlowTime {
    fn default() -> FlowTime {
        FlowTime {
            uses: [0; USES.len()],
            since: Time::ZERO,
            phase: Phase::ApplicationLimited,
            route_since: None,
            route_waited: 0,
        }
    }
}

/// Correction of time that turns out to be waiting for a timeout, but was counted otherwise at borders of batches.
#[derive(Clone, Copy, Debug)]
pub struct Rebooking {
    /// Begin of the wait.
    pub since: Time,
    /// Use to which the time was booked, and the total of that use before \[ns\].
    used: usize,
    before: u64,
}

impl Rebooking {
    /// Corrects the times of a flow as recorded at an instant.
    pub fn correct(&self, at: Time, uses: &mut [u64; USES.len()]) {
        if at > self.since {
            let waited = uses[self.used] - self.before;
            uses[self.used] -= waited;
            uses[TIMEOUT_WAIT] += waited;
        }
    }
}

impl FlowTime {
    /// Time use of a flow that begins now.
    pub fn beginning(now: Time) -> FlowTime {
        FlowTime { since: now, ..FlowTime::default() }
    }

    /// An event at the sender, which has been in `phase` since the previous event.
    pub fn on_event(&mut self, now: Time, phase: Phase) {
        self.uses = self.up_to(now);
        self.begin(now, phase);
    }

    /// The retransmission timer has expired: the flow has waited for it since the last event.
    #[cold]
    pub fn on_timeout(&mut self, now: Time, phase: Phase) -> Rebooking {
        let rebooking = self.waits();
        let mut uses = self.up_to(now);
        rebooking.correct(now, &mut uses);
        self.uses = uses;
        self.begin(now, phase);
        rebooking
    }

    fn begin(&mut self, now: Time, phase: Phase) {
        self.route_waited = 0;
        self.route_since = self.route_since.map(|_| now);
        (self.since, self.phase) = (now, phase);
    }

    /// Correction for the case that the flow is only waiting for a timeout.
    pub fn waits(&self) -> Rebooking {
        let used = index(self.phase);
        Rebooking { since: self.since, used, before: self.uses[used] }
    }

    /// Sets if packets of the flow wait at the source for a route.
    pub fn on_route(&mut self, now: Time, waiting: bool) {
        match (self.route_since, waiting) {
            (None, true) => self.route_since = Some(now),
            (Some(since), false) => {
                self.route_waited += now.since(since).0;
                self.route_since = None;
            }
            _ => {}
        }
    }

    /// Times up to now \[ns\], in the order of [`USES`], if the sender stays in its phase.
    pub fn up_to(&self, now: Time) -> [u64; USES.len()] {
        let waited = self.route_waited + self.route_since.map_or(0, |since| now.since(since).0);
        let mut uses = self.uses;
        uses[ROUTE_WAIT] += waited;
        uses[index(self.phase)] += now.since(self.since).0 - waited;
        uses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instant_has_one_use() {
        let mut t = FlowTime::default();
        t.on_event(Time(10), Phase::SlowStart);
        t.on_route(Time(12), true);
        t.on_route(Time(15), false);
        t.on_event(Time(30), Phase::CongestionAvoidance);
        let mut border = t.up_to(Time(40));
        assert_eq!(border, [17, 10, 0, 0, 3, 10, 0, 0]);
        // The time up to 40 was waiting, too; the time up to 30 was not.
        let rebooking = t.on_timeout(Time(50), Phase::SlowStart);
        rebooking.correct(Time(40), &mut border);
        assert_eq!(border, [17, 0, 0, 10, 3, 10, 0, 0]);
        rebooking.correct(Time(30), &mut border);
        assert_eq!(border, [17, 0, 0, 10, 3, 10, 0, 0]);
        t.on_route(Time(55), true);
        assert_eq!(t.up_to(Time(60)), [22, 0, 0, 20, 8, 10, 0, 0]);
        t.on_event(Time(65), Phase::Recovery);
        t.on_route(Time(66), false);
        assert_eq!(t.up_to(Time(70)), [22, 0, 4, 20, 14, 10, 0, 0]);
        assert_eq!(t.up_to(Time(70)).iter().sum::<u64>(), 70);
    }
}
