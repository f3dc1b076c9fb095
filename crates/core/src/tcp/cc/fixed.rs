//! A window that changes only on command, like a perfect guess of the best window, and perhaps a constant rate.

use super::interface::{Congestion, Window};
use super::registry::WindowRule;
use crate::setting::Shared;
use crate::setting::limit::range;
use crate::settings;
use crate::unit::{BitRate, Bytes, Span};

settings! {
    /// A constant window.
    pub struct Settings {
        /// The window \[segments\].
        pub window: u32 = 4 => range(1, 1_000_000),
        /// Rate at which new segments follow each other, counted in payload; "unlimited": they are sent as soon as the
        /// window allows.
        pub pacing_rate: Option<BitRate> | "unlimited" = None => range(BitRate(1), BitRate(1_000_000_000_000)),
    }
}

/// Settings of a constant window.
pub type Config = Shared<Settings>;

/// A window rule without growth or cuts.
#[derive(Clone, Debug)]
pub struct Fixed {
    window: f64,
    gap: Option<Span>,
    mss: Bytes,
}

impl Fixed {
    pub(super) fn new(cfg: &Config, mss: Bytes) -> Fixed {
        let mut rule = Fixed { window: f64::from(cfg.window), gap: None, mss };
        rule.set_pacing_rate(cfg.pacing_rate);
        rule
    }

    /// Changes the window \[segments\].
    pub fn set_window(&mut self, segments: u32) {
        self.window = f64::from(segments);
    }

    /// Changes the pacing rate.
    pub fn set_pacing_rate(&mut self, rate: Option<BitRate>) {
        self.gap = rate.map(|rate| rate.airtime(self.mss.0));
    }

    fn hold(&self, w: &mut Window) {
        w.cwnd = self.window;
        w.ssthresh = self.window;
    }
}

impl WindowRule for Fixed {
    const GROWS_BY_STEPS: bool = false;
    const ASKS_FOR_USE: bool = false;
    const READS_REMAINDER: bool = false;
    const KEEPS_WINDOW_WHEN_IDLE: bool = true;

    fn start(&self, w: &mut Window) {
        self.hold(w);
    }

    fn grow(&mut self, w: &mut Window) {
        self.hold(w);
    }

    fn on_congestion(&mut self, _: &Congestion, w: &mut Window) {
        self.hold(w);
    }

    fn pace(&self) -> Option<Span> {
        self.gap
    }
}
