//! The network allocation vector: virtual carrier sense (IEEE 802.11-2020, 10.3.2.4).

use super::{Config, Frame, FrameKind, Timing};
use crate::unit::Time;
use std::hint::select_unpredictable;

/// For how long others have reserved the medium.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nav {
    until: Time,
    /// A reservation made by an RTS falls back to the one before it when no frame has started by `reset_at`; one that
    /// stands only as long as nothing is heard has this at its end.
    reset_at: Time,
    fallback: Time,
}

impl Nav {
    /// Reserves until this instant, if that is later than the reservation that stands.
    #[inline]
    pub fn reserve(&mut self, until: Time) {
        // No branch: nobody can predict it.
        let later = until > self.until;
        self.until = self.until.max(until);
        self.reset_at = select_unpredictable(later, Time::ZERO, self.reset_at);
    }

    /// The same because of an RTS, which is void when no frame starts by `reset_at`.
    #[inline]
    pub fn reserve_by_rts(&mut self, until: Time, reset_at: Time) {
        if until > self.until {
            self.fallback = self.until;
            self.until = until;
            self.reset_at = reset_at;
        }
    }

    /// The same until something is heard.
    pub fn reserve_while_silent(&mut self, until: Time) {
        self.reserve_by_rts(until, until);
    }

    /// A frame for another station was read.
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

    /// A signal begins: a reservation by RTS stands when its PHY-RXSTART, after preamble and header, comes in time.
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

    /// Whether the start of a frame would confirm or void a reservation.
    #[inline]
    pub fn awaits_frame(&self) -> bool {
        self.reset_at > Time::ZERO
    }

    /// Until when the medium is reserved if nothing more is heard.
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
    fn the_later_reservation_stands() {
        let mut nav = Nav::default();
        nav.reserve(Time(500));
        nav.reserve(Time(300));
        assert_eq!(nav.until(), Time(500));
    }

    #[test]
    fn what_stands_while_nothing_is_heard_falls_back_when_something_is() {
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
    fn an_rts_without_a_frame_after_it_reserves_nothing() {
        let mut nav = Nav::default();
        nav.reserve_by_rts(Time(7_000_000), Time(600_000));
        assert_eq!(nav.until(), Time(600_000), "as long as nothing is heard");
        nav.on_busy(Time(10_000), &timing());
        assert_eq!(nav.until(), Time(7_000_000), "the CTS or the data came");
    }

    #[test]
    fn the_start_of_a_frame_is_indicated_after_its_preamble_and_header() {
        // 192 us after the signal: what begins 193 us before the end of the wait is in time, what begins 191 us before is not.
        for (before, until) in [(193, Time(7_000_000)), (191, Time(600_000))] {
            let mut nav = Nav::default();
            nav.reserve_by_rts(Time(7_000_000), Time(600_000));
            nav.on_busy(Time(600_000 - before * 1000), &timing());
            assert_eq!(nav.until(), until, "{before} us before");
        }
    }
}
