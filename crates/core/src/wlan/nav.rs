//! The network allocation vector: virtual carrier sense (IEEE 802.11-2020, 10.3.2.4).

use super::{Config, Frame, FrameKind, Timing};
use crate::unit::Time;
use std::hint::select_unpredictable;

/// Network allocation vector of a station.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nav {
    until: Time,
    /// Instant at which a reservation made by an RTS falls back to the earlier one unless a frame has started. For a
    /// reservation that holds only during silence this is its end.
    reset_at: Time,
    fallback: Time,
}

impl Nav {
    /// Reserves the medium until this instant, if that is later than the current reservation.
    #[inline]
    pub fn reserve(&mut self, until: Time) {
        // Branch-free, because the outcome is unpredictable.
        let later = until > self.until;
        self.until = self.until.max(until);
        self.reset_at = select_unpredictable(later, Time::ZERO, self.reset_at);
    }

    /// Reserves the medium because of an RTS; void when no frame starts by `reset_at`.
    #[inline]
    pub fn reserve_by_rts(&mut self, until: Time, reset_at: Time) {
        if until > self.until {
            self.fallback = self.until;
            self.until = until;
            self.reset_at = reset_at;
        }
    }

    /// Reserves the medium until this instant or the next signal.
    pub fn reserve_while_silent(&mut self, until: Time) {
        self.reserve_by_rts(until, until);
    }

    /// Updates the NAV from a decoded frame for another station.
    #[inline]
    pub fn on_frame(&mut self, frame: &Frame, now: Time, timing: &Timing, rules: &Config) {
        let until = now + frame.duration;
        if rules.nav_reset && frame.kind == FrameKind::Rts {
            let wait = timing.sifs * 2 + timing.cts + timing.rx_start_delay + timing.slot * 2;
            self.reserve_by_rts(until, now + wait);
        } else {
            self.reserve(until);
        }
    }

    /// A signal begins: a reservation by RTS holds if its PHY-RXSTART, after preamble and header, comes in time.
    #[inline]
    pub fn on_busy(&mut self, at: Time, timing: &Timing) {
        if self.reset_at > Time::ZERO {
            if self.reset_at == self.until {
                self.until = self.fallback;
            } else if at + timing.rx_start_delay > self.reset_at {
                self.until = self.fallback.max(self.reset_at);
            }
            self.reset_at = Time::ZERO;
        }
    }

    /// Returns true if the start of a frame would confirm or void a reservation.
    #[inline]
    pub fn awaits_frame(&self) -> bool {
        self.reset_at > Time::ZERO
    }

    /// End of the reservation if no further signal arrives.
    #[inline]
    pub fn until(&self) -> Time {
        if self.reset_at > Time::ZERO { self.fallback.max(self.reset_at).min(self.until) } else { self.until }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing() -> Timing {
        Timing::new(&Config::default())
    }

    #[test]
    fn later_reservation_wins() {
        let mut nav = Nav::default();
        nav.reserve(Time(500));
        nav.reserve(Time(300));
        assert_eq!(nav.until(), Time(500));
    }

    #[test]
    fn reservation_during_silence_ends_with_the_next_signal() {
        let mut nav = Nav::default();
        nav.reserve(Time(100));
        nav.reserve_while_silent(Time(300));
        assert_eq!(nav.until(), Time(300));
        assert!(nav.awaits_frame());
        nav.on_busy(Time(200), &timing());
        assert_eq!(nav.until(), Time(100));
        nav.reserve_while_silent(Time(50));
        assert!(!nav.awaits_frame(), "it is over before another one");
    }

    #[test]
    fn rts_without_a_following_frame_reserves_nothing() {
        let mut nav = Nav::default();
        nav.reserve_by_rts(Time(7_000_000), Time(600_000));
        assert_eq!(nav.until(), Time(600_000), "as long as no signal arrives");
        nav.on_busy(Time(10_000), &timing());
        assert_eq!(nav.until(), Time(7_000_000), "the CTS or the data came");
    }

    #[test]
    fn the_start_of_a_frame_is_indicated_after_its_preamble_and_header() {
        // PHY-RXSTART comes 192 us after the signal: a signal 193 us before the end of the wait is in time, one 191 us
        // before is not.
        for (before, until) in [(193, Time(7_000_000)), (191, Time(600_000))] {
            let mut nav = Nav::default();
            nav.reserve_by_rts(Time(7_000_000), Time(600_000));
            nav.on_busy(Time(600_000 - before * 1000), &timing());
            assert_eq!(nav.until(), until, "{before} us before");
        }
    }
}
