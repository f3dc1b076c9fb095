//! HyStart++ (RFC 9406): when round-trip times have grown, slow start goes on at a quarter of its pace (conservative slow
//! start, CSS); it ends after five round trips of that, or is resumed if round-trip times fall. Names are those of the RFC.

use super::interface::Input;
use crate::packet::Seq;
use crate::unit::Span;

// RFC 9406, 4.3.
const MIN_RTT_THRESH: Span = Span::ms(4);
const MAX_RTT_THRESH: Span = Span::ms(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: u32 = 4;
const CSS_ROUNDS: u32 = 5;
/// Segments of an acknowledgement that count, for a sender that does not pace.
const L: u32 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    SlowStart,
    /// Conservative slow start: cssBaselineMinRtt, and the rounds that have ended.
    Css {
        baseline: Span,
        rounds: u32,
    },
    /// The first slow start has ended; later ones are those of RFC 5681.
    Over,
}

/// State of HyStart++.
#[derive(Clone, Debug)]
pub(super) struct HyStartPlusPlus {
    phase: Phase,
    /// windowEnd: the round is over when everything below is acknowledged; `None` until its first acknowledgement.
    window_end: Option<Seq>,
    /// lastRoundMinRTT.
    last_round_min: Option<Span>,
    /// currentRoundMinRTT.
    current_round_min: Option<Span>,
    /// rttSampleCount.
    samples: u32,
    /// Segments acknowledged in CSS that do not yet count.
    credit: u32,
}

impl HyStartPlusPlus {
    /// The state at the beginning of a connection.
    pub fn new() -> HyStartPlusPlus {
        HyStartPlusPlus {
            phase: Phase::SlowStart,
            window_end: None,
            last_round_min: None,
            current_round_min: None,
            samples: 0,
            credit: 0,
        }
    }

    /// A loss or a mark, or a timeout: slow start ends.
    pub fn end(&mut self) {
        self.phase = Phase::Over;
    }

    /// Growth of the window for acknowledged segments \[segments\].
    pub fn growth(&mut self, acked: u32) -> u32 {
        match self.phase {
            Phase::SlowStart => acked.min(L),
            Phase::Css { .. } => {
                self.credit += acked.min(L);
                let growth = self.credit / CSS_GROWTH_DIVISOR;
                self.credit %= CSS_GROWTH_DIVISOR;
                growth
            }
            Phase::Over => acked,
        }
    }

    /// Takes an acknowledgement in slow start, after the window has grown. Returns true if slow start ends.
    pub fn take(&mut self, input: &Input) -> bool {
        let (una, nxt) = input.range;
        let end = *self.window_end.get_or_insert(nxt);
        if let Some(rtt) = input.rtt {
            self.current_round_min = Some(self.current_round_min.map_or(rtt, |min| min.min(rtt)));
            self.samples += 1;
        }
        if self.samples >= N_RTT_SAMPLE
            && let Some(min) = self.current_round_min
        {
            self.judge(min);
        }
        una >= end && self.end_round()
    }

    /// Enters CSS, or leaves it because the delay was spurious.
    fn judge(&mut self, min: Span) {
        match (self.phase, self.last_round_min) {
            (Phase::SlowStart, Some(last)) => {
                let threshold = MIN_RTT_THRESH.max((last / MIN_RTT_DIVISOR).min(MAX_RTT_THRESH));
                if min >= last + threshold {
                    self.phase = Phase::Css { baseline: min, rounds: 0 };
                }
            }
            (Phase::Css { baseline, .. }, _) if min < baseline => self.phase = Phase::SlowStart,
            _ => {}
        }
    }

    /// Ends a round. Returns true if slow start ends with it: the round in which CSS began counts.
    fn end_round(&mut self) -> bool {
        self.window_end = None;
        self.last_round_min = self.current_round_min.take();
        self.samples = 0;
        if let Phase::Css { rounds, .. } = &mut self.phase {
            *rounds += 1;
            if *rounds >= CSS_ROUNDS {
                self.phase = Phase::Over;
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Time;

    /// A sender whose windows are acknowledged segment by segment.
    struct Flow {
        rule: HyStartPlusPlus,
        cwnd: u32,
        una: Seq,
        ended: bool,
    }

    impl Flow {
        fn new(cwnd: u32) -> Flow {
            Flow { rule: HyStartPlusPlus::new(), cwnd, una: 0, ended: false }
        }

        /// A round trip with these round-trip times \[0.1 ms\], the last one for the rest; the window after it.
        fn round(&mut self, tenths: &[u64]) -> u32 {
            let end = self.una + self.cwnd;
            let mut nxt = end;
            for i in 0.. {
                if self.una == end {
                    break;
                }
                self.una += 1;
                let rtt = tenths.get(i).or(tenths.last()).map(|t| Span::us(t * 100));
                let input = Input { now: Time::ZERO, range: (self.una, nxt), delivered: 1, rtt };
                self.cwnd += self.rule.growth(1);
                self.ended |= self.rule.take(&input);
                nxt = self.una + self.cwnd;
            }
            self.cwnd
        }

        fn in_css(&self) -> bool {
            matches!(self.rule.phase, Phase::Css { .. })
        }
    }

    /// Worked by hand from RFC 9406, 4.2: 100 ms, then 113 ms, more than 100 + max(4, min(100 / 8, 16)) = 112.5 ms. Seven
    /// samples are too few; from the ninth acknowledgement of the second round on, a quarter counts. That round is the
    /// first of five.
    #[test]
    fn css_grows_by_a_quarter_for_five_rounds_and_ends_slow_start() {
        let mut flow = Flow::new(10);
        assert_eq!((flow.round(&[1000]), flow.in_css()), (20, false));
        // 8 + 12 / 4; 31 / 4 with 3 left; 41 / 4 with 1 left; 49 / 4; 61 / 4.
        assert_eq!((flow.round(&[1130]), flow.in_css()), (31, true));
        let windows = [0; 4].map(|_| {
            assert!(!flow.ended);
            flow.round(&[1130])
        });
        assert_eq!((windows, flow.ended), ([38, 48, 60, 75], true));
        // Later slow starts are those of RFC 5681.
        assert_eq!(flow.rule.growth(12), 12);
    }

    /// RttThresh is an eighth of the smallest round-trip time, between MIN_RTT_THRESH and MAX_RTT_THRESH.
    #[test]
    fn the_threshold_lies_between_four_and_sixteen_milliseconds() {
        for (last, enough) in [(200, 240), (320, 360), (1000, 1125), (1280, 1440), (4000, 4160)] {
            for (rtt, css) in [(enough - 1, false), (enough, true)] {
                let mut flow = Flow::new(10);
                flow.round(&[last]);
                flow.round(&[rtt]);
                assert_eq!(flow.in_css(), css, "{last} then {rtt}");
            }
        }
    }

    /// The smallest of a round counts, after N_RTT_SAMPLE samples, and the round before must have had one.
    #[test]
    fn a_round_needs_eight_samples() {
        let mut flow = Flow::new(7);
        flow.round(&[1000]);
        flow.cwnd = 7;
        flow.round(&[1500]);
        assert!(!flow.in_css(), "seven samples");
        let mut flow = Flow::new(8);
        flow.round(&[1000]);
        flow.cwnd = 8;
        flow.round(&[1500, 1500, 1500, 1500, 1500, 1500, 1500, 1100]);
        assert!(!flow.in_css(), "the eighth is smaller");
        let mut flow = Flow::new(8);
        flow.round(&[]);
        flow.round(&[1500]);
        assert!(!flow.in_css(), "there was no sample");
    }

    /// RFC 9406, 4.2: if the smallest round-trip time of a round of CSS falls below cssBaselineMinRtt, slow start goes on,
    /// HyStart++ included.
    #[test]
    fn slow_start_is_resumed_when_round_trip_times_fall() {
        let mut flow = Flow::new(10);
        flow.round(&[1000]);
        flow.round(&[1130]);
        // Seven acknowledgements, then 24 that count: 31 + 8 / 4 + 23.
        assert_eq!((flow.round(&[1129]), flow.in_css()), (31 + 2 + 23, false));
        flow.round(&[1400]);
        assert!(flow.in_css(), "113 + 14 ms are exceeded");
        for _ in 0..4 {
            assert!(!flow.ended, "rounds are counted anew");
            flow.round(&[1400]);
        }
        assert!(flow.ended);
    }

    /// An acknowledgement of many segments counts as L of them, and a loss ends HyStart++.
    #[test]
    fn an_acknowledgement_counts_as_eight_segments_at_most() {
        let mut flow = Flow::new(10);
        assert_eq!(flow.rule.growth(12), 8);
        flow.round(&[1000]);
        flow.round(&[1130]);
        assert!(flow.in_css());
        assert_eq!(flow.rule.growth(12), 2);
        flow.rule.end();
        assert_eq!(flow.rule.growth(12), 12);
        flow.round(&[1500]);
        assert!(!flow.ended);
    }
}
