//! Explicit loss notification: the reaction of a sender to an acknowledgement saying that the segment expected next was
//! lost by a link and not by congestion (Balakrishnan and Katz, Globecom 1998).

use crate::packet::{AckSegment, Seq};
use crate::tcp::config::recoveries::{ElnConfig, ElnRule};
use crate::tcp::connection::Connection;
use crate::tcp::recovery::Recovery;
use crate::unit::Span;

/// Memory of notifications at the sender.
#[derive(Clone, Debug, Default)]
pub struct Eln {
    /// The last acknowledgement carried one.
    notified: bool,
    /// The last segment that one has caused to be sent again, 0 when none.
    last: Seq,
    /// Duplicates with a notification since the last new acknowledgement, where the recovery does not count them.
    duplicates: u32,
}

impl Eln {
    /// Returns true if a timeout now leaves ssthresh as it is.
    pub fn keeps_ssthresh(&self, cfg: &ElnConfig) -> bool {
        cfg.rule == ElnRule::EachRoundTrip && cfg.keep_ssthresh && self.notified
    }

    /// Processes an acknowledgement. Returns true if it must not be passed to the recovery.
    pub fn on_ack(&mut self, ack: &AckSegment, recovery: &mut Recovery, conn: &mut Connection) -> bool {
        let duplicate = ack.next == conn.una();
        self.notified = ack.eln && !conn.cfg().is_rack_tlp();
        if !duplicate {
            self.duplicates = 0;
            conn.end_credit();
        }
        if !self.notified || !duplicate {
            return false;
        }
        match conn.cfg().eln.rule {
            ElnRule::Ignore => false,
            ElnRule::Once => {
                self.retransmit_once(recovery, conn);
                true
            }
            ElnRule::EachRoundTrip if recovery.is_going_on(conn) => false,
            ElnRule::EachRoundTrip => {
                recovery.take_blocks(&ack.sack, conn);
                conn.credit_one();
                Eln::repair(conn);
                conn.send_allowed();
                true
            }
        }
    }

    /// Follows the recovery's processing of the acknowledgement: repairs a loss that the recovery has not repaired.
    pub fn after_recovery(&self, conn: &mut Connection) {
        if self.notified && conn.cfg().eln.rule == ElnRule::EachRoundTrip {
            Eln::repair(conn);
        }
    }

    /// Behavior of ns-2's tcp_eln: the first duplicate counts, and only when the segment lies beyond the one after the
    /// last that was sent again for a notification.
    fn retransmit_once(&mut self, recovery: &Recovery, conn: &mut Connection) {
        let count = if recovery.counts_duplicates_itself() {
            self.duplicates += 1;
            self.duplicates
        } else {
            conn.count_duplicate()
        };
        let una = conn.una();
        if count == 1 && una > self.last + 1 {
            self.last = una;
            conn.send(una);
        } else {
            conn.send_allowed();
        }
    }

    /// Sends the first missing segment again, unless that was done within the last round trip.
    fn repair(conn: &mut Connection) {
        let una = conn.una();
        let round_trip = conn.rto().smoothed().unwrap_or(Span::ZERO);
        if una >= conn.max() || conn.was_resent_within(una, round_trip) {
            return;
        }
        conn.cancel_measurement();
        conn.send(una);
        conn.restart_timer();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::config::variants::Variant;
    use crate::tcp::{Config as Tcp, InitialWindow, Out, Sender};
    use crate::unit::Time;

    struct Bench {
        sender: Sender,
        now: Time,
    }

    impl Bench {
        /// A sender with segments 0 to 9 out, and a round-trip time of 100 ms.
        fn new(variant: Variant, eln: ElnConfig) -> Bench {
            let cfg = Tcp {
                variant,
                eln,
                syn: false,
                receive_window: 10,
                initial_window: InitialWindow::Segments(10),
                initial_ssthresh: Some(10),
                timestamps: true,
                ..Tcp::default()
            };
            let mut sender = Sender::new(&cfg, Span::ZERO);
            sender.write(None, Time::ZERO);
            sender.drain();
            let mut bench = Bench { sender, now: Time::ZERO + Span::ms(100) };
            bench.ack(1, false);
            assert_eq!(bench.sender.connection().rto().smoothed(), Some(Span::ms(100)));
            bench
        }

        /// The segments that an acknowledgement releases.
        fn ack(&mut self, next: Seq, eln: bool) -> Vec<Seq> {
            let echo = Time(self.now.0 - 100_000_000);
            let ack = AckSegment { next, echo, hops: 1, window: 10, eln, ..AckSegment::default() };
            self.sender.on_ack(&ack, 1, self.now);
            self.sent()
        }

        fn sent(&mut self) -> Vec<Seq> {
            let seq = |o: Out| if let Out::Segment(s) = o { s.seq } else { panic!("{o:?}") };
            self.sender.drain().map(seq).collect()
        }

        fn window(&self) -> (f64, f64) {
            let w = self.sender.connection().window();
            (w.cwnd, w.ssthresh)
        }
    }

    #[test]
    fn a_loss_is_repaired_once_per_round_trip_until_it_is_repaired() {
        for variant in [Variant::Tahoe, Variant::Reno, Variant::NewReno, Variant::Sack, Variant::Vegas] {
            let mut b = Bench::new(variant, ElnConfig::default());
            let window = b.window();
            let mut again = vec![];
            for ms in [0, 30, 99, 100, 150, 199, 200] {
                b.now = Time::ZERO + Span::ms(110 + ms);
                if b.ack(1, true).contains(&1) {
                    again.push(ms);
                }
            }
            assert_eq!(again, [0, 100, 200], "{variant:?}");
            assert_eq!(b.window(), window, "{variant:?}");
            assert_eq!(b.sender.counters(b.now).fast_retransmits, 0);
            // A notification of a further hole, in a new acknowledgement.
            assert!(b.ack(3, true).contains(&3), "{variant:?}");
        }
    }

    #[test]
    fn each_duplicate_sends_a_new_segment_within_the_receive_window() {
        let mut b = Bench::new(Variant::NewReno, ElnConfig::default());
        b.sender.drain();
        // Segments 1 to 10 are out and fill the window of the receiver.
        assert_eq!(b.ack(1, true), [1]);
        assert!(b.ack(1, true).is_empty());
        // With a smaller congestion window there is room for some.
        let mut b = Bench::new(Variant::NewReno, ElnConfig::default());
        b.ack(1, false);
        b.now = b.sender.deadline();
        b.sender.on_deadline(b.now);
        assert_eq!((b.sent(), b.window().0), (vec![1], 1.0));
        b.ack(8, false);
        assert_eq!(b.ack(8, true), [8, 10]);
    }

    #[test]
    fn a_timeout_after_a_notification_keeps_ssthresh() {
        for (keep_ssthresh, expected) in [(true, 10.0), (false, 5.0)] {
            let mut b = Bench::new(Variant::NewReno, ElnConfig { keep_ssthresh, ..ElnConfig::default() });
            b.ack(1, true);
            b.now = b.sender.deadline();
            b.sender.on_deadline(b.now);
            assert_eq!(b.window(), (1.0, expected));
            assert_eq!(b.sender.connection().rto().backoff(), 2);
        }
    }

    #[test]
    fn ns2_repairs_a_loss_once_and_never_the_one_right_after_it() {
        let mut b = Bench::new(Variant::Reno, ElnConfig { rule: ElnRule::Once, ..ElnConfig::default() });
        assert!(b.ack(1, true).is_empty(), "1 follows the segment that stands for none");
        b.ack(2, false);
        assert_eq!(b.ack(2, true), [2]);
        b.now += Span::secs(1);
        assert!(b.ack(2, true).is_empty());
        b.ack(3, false);
        assert!(b.ack(3, true).is_empty(), "3 follows 2");
        b.ack(5, false);
        assert_eq!(b.ack(5, true), [5]);
        let mut deaf = Bench::new(Variant::Reno, ElnConfig { rule: ElnRule::Ignore, ..ElnConfig::default() });
        assert_eq!([deaf.ack(1, true), deaf.ack(1, true), deaf.ack(1, true)].concat(), [1], "a fast retransmit");
    }
}
