//! The secondary channel of a wide channel: other networks in it, and the access to both (IEEE 802.11-2020, 10.23.2.5).

use crate::rng::Stream;
use crate::setting::limit::range;
use crate::unit::{Span, Time};
use crate::{keywords, settings};

keywords! {
    /// Reaction of a station that may begin a TXOP but finds its secondary channel busy within the PIFS before.
    pub enum WhenBusy {
        /// Uses the primary channel only: the data of the TXOP are sent in 20 MHz.
        Narrow = "narrow",
        /// Draws another backoff from the same window and waits for both channels.
        BackOff = "back_off",
    }
}

settings! {
    /// Other networks in the secondary channel of a channel of 40 or 80 MHz.
    pub struct Config {
        /// Mean time between the frames of other networks in the secondary channel, exponentially distributed. It
        /// begins at the end of their last frame, or of a TXOP for which they wait. "never": there are no other
        /// networks.
        pub gap: Option<Span> | "never" = None => range(Span::us(10), Span::secs(100)),
        /// Duration of a frame of other networks.
        pub frame_time: Span = Span::ms(1) => range(Span::us(10), Span::secs(1))
            ; used when |c| c.gap.is_some(), else "`wlan.secondary_channel.gap` is \"never\"",
        /// Reaction of a station that finds its secondary channel busy.
        pub when_busy: WhenBusy = WhenBusy::Narrow
            ; used when |c| c.gap.is_some(), else "`wlan.secondary_channel.gap` is \"never\"",
    }
}

/// The networks that one station senses in its secondary channel: one frame after another, each computed when the
/// station asks.
#[derive(Clone, Debug)]
pub struct Secondary {
    gap: Span,
    frame_time: Span,
    /// The first frame that ends after all instants asked for so far.
    from: Time,
    until: Time,
    rng: Stream,
}

impl Secondary {
    /// Networks in the secondary channel of a station; `None` if there are none.
    pub fn new(cfg: &Config, rng: Stream) -> Option<Secondary> {
        let mut others =
            Secondary { gap: cfg.gap?, frame_time: cfg.frame_time, from: Time::ZERO, until: Time::ZERO, rng };
        others.send_after(Time::ZERO);
        Some(others)
    }

    /// Returns true if the channel is idle in the time between these instants, which move forward from call to call.
    pub fn is_idle(&mut self, from: Time, until: Time) -> bool {
        while self.until <= from {
            self.send_after(self.until);
        }
        until <= self.from
    }

    /// A TXOP in the whole channel, which is idle, lasts up to this instant. The others sense it and wait.
    pub fn wait(&mut self, until: Time) {
        if self.from < until {
            self.send_after(until);
        }
    }

    /// The next frame of the others comes a gap after an instant.
    fn send_after(&mut self, idle: Time) {
        self.from = idle + Span((self.gap.0 as f64 * self.rng.exponential()) as u64);
        self.until = self.from + self.frame_time;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    #[test]
    fn others_hold_their_share_of_the_time_and_wait_for_wide_frames() {
        let cfg = Config { gap: Some(Span::us(300)), frame_time: Span::us(100), ..Config::default() };
        let mut others = Secondary::new(&cfg, Stream::new(1, Purpose::SecondaryChannel, 0)).expect("there are others");
        let at = |us: u64| Time(us * 1000);
        let busy = (0..1_000_000).step_by(10).filter(|&us| !others.is_idle(at(us), at(us + 1))).count();
        // A quarter of the time, and a microsecond before each frame.
        assert!((0.24..0.26).contains(&(busy as f64 / 100_000.0)), "{busy}");
        // Nothing begins while a TXOP lasts.
        assert!((1_000_000..).step_by(10).take(500).any(|us| others.is_idle(at(us), at(us + 1))));
        let start = others.from;
        let ready = Time(start.0 - 1);
        others.wait(start + Span::ms(5));
        assert!(others.is_idle(ready, start + Span::ms(5)) && others.from >= start + Span::ms(5));
        assert!(Secondary::new(&Config::default(), Stream::new(1, Purpose::SecondaryChannel, 0)).is_none());
    }
}
