//! Access categories and their backoffs: one EDCAF each (IEEE 802.11-2020, 10.23.2).

use super::{Config, Parameters};
use crate::keywords;
use crate::rng::Stream;
use crate::unit::{Span, Time};
use crate::wlan::dcf::SAME_INSTANT;

/// Access categories, from the lowest priority on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum AccessCategory {
    /// AC_BK.
    Background,
    /// AC_BE.
    BestEffort,
    /// AC_VI.
    Video,
    /// AC_VO.
    Voice,
}

/// All categories, from the lowest priority on.
pub const CATEGORIES: [AccessCategory; 4] =
    [AccessCategory::Background, AccessCategory::BestEffort, AccessCategory::Video, AccessCategory::Voice];

impl AccessCategory {
    /// Category of a user priority, which is also the TID (table 10-1).
    pub fn of(tid: u8) -> AccessCategory {
        match tid {
            1 | 2 => AccessCategory::Background,
            4 | 5 => AccessCategory::Video,
            6 | 7 => AccessCategory::Voice,
            _ => AccessCategory::BestEffort,
        }
    }

    /// Name of the category, as in settings.
    pub const fn word(self) -> &'static str {
        match self {
            AccessCategory::Background => "background",
            AccessCategory::BestEffort => "best_effort",
            AccessCategory::Video => "video",
            AccessCategory::Voice => "voice",
        }
    }

    /// Parameters of the category.
    pub fn parameters(self, cfg: &Config) -> &Parameters {
        match self {
            AccessCategory::Background => &cfg.background,
            AccessCategory::BestEffort => &cfg.best_effort,
            AccessCategory::Video => &cfg.video,
            AccessCategory::Voice => &cfg.voice,
        }
    }
}

keywords! {
    /// Rules that map the DSCP of a packet to its user priority.
    pub enum UserPriorities {
        /// The upper three bits of the DSCP.
        Precedence = "precedence",
        /// The priorities of RFC 8325 for the classes that RFC 8325 names, as in Linux 6.18 (`cfg80211_classify8021d`):
        /// EF and VA are voice, CS3 and AF3x video, AF2x, AF1x and CS2 best effort.
        Rfc8325 = "rfc8325",
    }
}

impl UserPriorities {
    /// User priority of a DSCP.
    pub fn of(self, dscp: u8) -> u8 {
        match (self, dscp) {
            (UserPriorities::Rfc8325, 10 | 12 | 14 | 16) => 0,
            (UserPriorities::Rfc8325, 18 | 20 | 22) => 3,
            (UserPriorities::Rfc8325, 24 | 26 | 28 | 30) => 4,
            (UserPriorities::Rfc8325, 44 | 46) => 6,
            (UserPriorities::Rfc8325, 48) => 7,
            _ => dscp >> 3,
        }
    }
}

/// Backoff of a category.
///
/// At each slot boundary - the first is AIFS after the medium has turned idle - an EDCAF does one thing: it transmits
/// if its counter is zero, or else counts down (10.23.2.4). A counter that another station interrupts at a boundary has
/// counted there, too, so that each interruption costs a step that the DCF does not count.
#[derive(Clone, Debug)]
pub struct Backoff {
    /// Contention window, CW.
    pub cw: u32,
    /// Remaining slots.
    pub slots: u32,
    /// A backoff is pending, running or frozen.
    pub contending: bool,
    /// Instant at which the packet came, if its access needs no backoff: the medium stays idle until the next
    /// boundary.
    pub immediate: Option<Time>,
    /// First slot boundary.
    counting_from: Time,
    /// Boundary at which the counter is zero; NEVER while frozen.
    pub access: Time,
}

impl Backoff {
    pub fn new(cw_min: u32) -> Backoff {
        Backoff {
            cw: cw_min,
            slots: 0,
            contending: false,
            immediate: None,
            counting_from: Time::ZERO,
            access: Time::NEVER,
        }
    }

    /// Draws a backoff, which is frozen at first.
    pub fn draw(&mut self, rng: &mut Stream) {
        self.slots = rng.below(self.cw + 1);
        (self.contending, self.immediate, self.access) = (true, None, Time::NEVER);
    }

    /// Doubles the contention window.
    pub fn widen(&mut self, cw_max: u32) {
        self.cw = (2 * self.cw + 1).min(cw_max).max(self.cw);
    }

    /// Lets the counter run from now on; `first`: boundary AIFS after the medium turned idle.
    pub fn run(&mut self, first: Time, now: Time, slot: Span) {
        let late = now.0.saturating_sub(first.0).div_ceil(slot.0);
        self.counting_from = first + slot * late;
        self.access = self.counting_from + slot * u64::from(self.slots);
    }

    /// The medium turns busy at this instant: a counter that has reached a boundary keeps the steps it has made.
    pub fn freeze(&mut self, at: Time, slot: Span, rng: &mut Stream) {
        if self.access == Time::NEVER {
            return;
        }
        if self.immediate.is_some() {
            // The frame came to an idle medium, and finds it busy at its boundary.
            self.draw(rng);
        } else if at.0 + SAME_INSTANT >= self.counting_from.0 {
            let boundaries = (at.0 + SAME_INSTANT - self.counting_from.0) / slot.0 + 1;
            self.slots -= self.slots.min(boundaries as u32);
        }
        self.access = Time::NEVER;
    }

    /// Slots left at an instant.
    pub fn left(&self, now: Time, slot: Span) -> u32 {
        if self.access == Time::NEVER || now < self.counting_from {
            return self.slots;
        }
        self.slots.saturating_sub(((now.0 - self.counting_from.0) / slot.0 + 1) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    #[test]
    fn an_interruption_costs_the_step_of_its_boundary() {
        // Seen in ns-3: draw 14, interrupted after 0, 0, 1, 0, 1, 0, 3 slots, sent at AIFS + 2 slots.
        let (slot, aifs, mut rng) = (Span::us(9), Span::us(43), Stream::new(1, Purpose::Backoff, 0));
        let mut backoff = Backoff::new(15);
        (backoff.slots, backoff.contending) = (14, true);
        let mut idle = Time::ZERO;
        for slots in [0, 0, 1, 0, 1, 0, 3] {
            backoff.run(idle + aifs, idle, slot);
            let busy = idle + aifs + slot * slots;
            assert!(busy < backoff.access);
            backoff.freeze(busy, slot, &mut rng);
            idle = busy + Span::us(300);
        }
        backoff.run(idle + aifs, idle, slot);
        assert_eq!(backoff.access, idle + aifs + slot * 2);
        // An interruption before AIFS has passed costs nothing.
        backoff.freeze(idle + Span::us(34), slot, &mut rng);
        assert_eq!(backoff.slots, 2);
    }

    #[test]
    fn an_idle_medium_is_entered_at_a_boundary() {
        // From `timelines.txt`: packets that came at odd times left at 1852 us (BE) and 1816 us (VI).
        for (aifs, at, wanted) in [(43, 1_843_001, 1_852_000), (34, 1_807_500, 1_816_000), (43, 1_852_000, 1_852_000)] {
            let mut backoff = Backoff::new(15);
            backoff.run(Time::ZERO + Span::us(aifs), Time(at), Span::us(9));
            assert_eq!(backoff.access, Time(wanted));
        }
    }

    #[test]
    fn a_dscp_has_a_category() {
        use AccessCategory::{Background, BestEffort, Video, Voice};
        let of =
            |rule: UserPriorities| [0, 8, 10, 16, 18, 24, 34, 46, 48].map(|dscp| AccessCategory::of(rule.of(dscp)));
        let [be, bk, vi, vo] = [BestEffort, Background, Video, Voice];
        assert_eq!(of(UserPriorities::Precedence), [be, bk, bk, bk, bk, be, vi, vi, vo]);
        assert_eq!(of(UserPriorities::Rfc8325), [be, bk, be, be, be, vi, vi, vo, vo]);
    }

    #[test]
    fn priorities_map_to_categories() {
        use AccessCategory::{Background, BestEffort, Video, Voice};
        let all: Vec<_> = (0..8).map(AccessCategory::of).collect();
        assert_eq!(all, [BestEffort, Background, Background, BestEffort, Video, Video, Voice, Voice]);
    }
}
