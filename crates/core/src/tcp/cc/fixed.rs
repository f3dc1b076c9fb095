//! A window that never changes, like a perfect guess of the best window.

use super::interface::{Congestion, Window};
use super::registry::WindowRule;
use crate::setting::limit::range;
use crate::settings;

settings! {
    /// A constant window.
    pub struct Config {
        /// The window \[segments\].
        pub window: u32 = 4 => range(1, 1_000_000),
    }
}

/// A window rule without growth or cuts.
#[derive(Clone, Debug)]
pub struct Fixed {
    window: f64,
}

impl Fixed {
    pub(super) fn new(cfg: &Config) -> Fixed {
        Fixed { window: f64::from(cfg.window) }
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
}
