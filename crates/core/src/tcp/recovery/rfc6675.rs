//! Conservative SACK-based loss recovery (RFC 6675).

use super::{begin, may_begin, ordinary_ack};
use crate::packet::{AckSegment, Seq};
use crate::tcp::cc::CongestionControl;
use crate::tcp::core::{Core, Cut};

/// RFC 6675.
#[derive(Clone, Debug, Default)]
pub struct Rfc6675 {
    recovering: bool,
    /// RecoveryPoint: what had been sent when recovery began. An ECE may have cut the window since.
    point: Seq,
    /// RescueRxt has been used in this recovery.
    rescued: bool,
}

impl Rfc6675 {
    pub(super) fn is_going_on(&self) -> bool {
        self.recovering
    }

    pub(super) fn on_timeout(&mut self, core: &mut Core) {
        self.recovering = false;
        core.board.clear();
    }

    pub(super) fn on_ack(&mut self, ack: &AckSegment, core: &mut Core, cc: &mut CongestionControl) {
        let threshold = core.cfg.dup_threshold;
        let new = ack.next > core.una;
        let news = core.board.update(ack.next.max(core.una), core.max, &ack.sack);
        if self.recovering {
            if ack.next >= self.point {
                self.recovering = false;
                if core.last_cut == Cut::DupAcks {
                    core.last_cut = Cut::Recovered;
                }
                core.advance(ack.next, ack.echo);
                core.board.clear();
                core.send_allowed(core.cfg.max_burst);
                return;
            }
            if new {
                core.una = ack.next;
                core.nxt = core.nxt.max(ack.next);
                core.skip_measurement();
                core.restart_timer();
            }
            self.send(core);
        } else if new {
            ordinary_ack(ack, core, cc);
            core.send_allowed(core.cfg.max_burst);
        } else if news {
            core.dup_acks += 1;
            let lost = core.dup_acks >= threshold || core.board.is_lost(core.una);
            if lost && may_begin(core) {
                begin(core, cc);
                self.recovering = true;
                self.point = core.recover;
                self.rescued = false;
                core.board.mark_retransmitted(core.una);
                core.send(core.una);
                self.send(core);
            } else if core.dup_acks < threshold {
                core.send_limited();
            }
        }
    }

    /// Section 5, step 4.3 and (C): as long as cwnd - pipe >= 1 SMSS, NextSeg.
    fn send(&mut self, core: &mut Core) {
        let window = core.window.cwnd as u32;
        while core.board.pipe(core.una, core.max) < window {
            let Some(seq) = self.next_segment(core) else { return };
            core.send(seq);
            core.nxt = core.nxt.max(seq + 1);
        }
    }

    /// NextSeg, section 4.
    fn next_segment(&mut self, core: &mut Core) -> Option<Seq> {
        let hole = core.board.next_hole(core.una);
        // (1) the lowest missing segment, if it is lost; (2) new data; (3) the lowest missing segment
        let lost = hole.filter(|&s| core.board.is_lost(s));
        let new = (core.max < core.available && core.max < core.una + core.offered).then_some(core.max);
        if let Some(seq) = lost.or(new).or(hole) {
            if seq < core.max {
                core.board.mark_retransmitted(seq);
            }
            return Some(seq);
        }
        // (4) once per recovery the last segment, when everything known to be missing has been sent again. "HighRxt MUST
        // NOT be updated": what is found to be missing below it is sent again, too.
        let last = core.max - 1;
        let rescue = !self.rescued && core.board.retransmitted() > core.una && !core.board.sacked().contains(last);
        self.rescued |= rescue;
        rescue.then_some(last)
    }
}

#[cfg(test)]
mod tests {
    use crate::packet::Ecn;
    use crate::tcp::recovery::{SackConfig, SackRule};
    use crate::tcp::variants::Variant;
    use crate::tcp::{Config, InitialWindow, Out, Receiver, Sender};
    use crate::unit::{Span, Time};
    use std::collections::VecDeque;

    /// A window of which every third segment is lost, once, when all of it has arrived.
    fn repaired(rule: SackRule, window: u32) -> Sender {
        let cfg = Config {
            variant: Variant::Sack,
            sack: SackConfig { rule },
            syn: false,
            window,
            initial_window: InitialWindow::Segments(window),
            ..Config::default()
        };
        let (mut sender, mut receiver) = (Sender::new(&cfg, Span::ZERO), Receiver::new(&cfg));
        let mut now = Time::ZERO;
        let mut path = VecDeque::new();
        let mut out = vec![];
        sender.write(Some(window), now);
        path.extend(sender.drain());
        while !sender.is_done() {
            match path.pop_front() {
                Some(Out::Segment(s)) if s.retransmission || s.seq % 3 != 0 => {
                    receiver.on_segment(&s, 1, Ecn::NotEct, now, &mut out);
                    path.extend(out.drain(..));
                }
                Some(Out::Ack(ack)) => {
                    now += Span::us(1);
                    sender.on_ack(&ack, 1, now);
                    path.extend(sender.drain());
                }
                Some(_) => {}
                None => panic!("{rule:?}: nothing is on its way, and {} of {window} have arrived", receiver.next()),
            }
        }
        sender
    }

    #[test]
    fn a_window_with_thousands_of_holes_is_not_walked_over() {
        for window in [401, 4001, 40_001] {
            // A binary search looks at log2 of the ranges and one; there are five searches per event at most.
            let search = u64::from((window / 3u32).ilog2() + 2);
            for rule in [SackRule::Rfc6675, SackRule::Sack1] {
                let mut sender = repaired(rule, window);
                let counters = *sender.counters(Time::ZERO);
                let events = counters.acks_received + counters.segments_sent;
                let looks = sender.core().board.sacked().looks();
                assert!(looks <= 5 * search * events, "{rule:?}, {window}: {looks} looks for {events} events");
            }
        }
    }

    #[test]
    fn what_is_missing_below_a_rescue_retransmission_is_sent_again() {
        // The last segment is lost and sent again before its turn; holes below it are reported later.
        let mut sender = repaired(SackRule::Rfc6675, 400);
        assert_eq!((sender.retransmissions(), sender.counters(Time::ZERO).fast_retransmits), (134, 1));
    }
}
