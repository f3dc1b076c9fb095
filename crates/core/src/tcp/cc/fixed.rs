//! A window that never changes: what a perfect guess of the best window would do.

use super::interface::Window;
use crate::setting::limit::range;
use crate::settings;

settings! {
    /// A window that never changes.
    pub struct Config {
        /// The window \[segments\].
        pub window: u32 = 4 => range(1, 1_000_000),
    }
}

/// The constant window.
#[derive(Clone, Debug)]
pub struct Fixed {
    window: f64,
}

impl Fixed {
    pub(super) fn new(cfg: &Config) -> Fixed {
        Fixed { window: f64::from(cfg.window) }
    }

    pub(super) fn hold(&self, w: &mut Window) {
        w.cwnd = self.window;
        w.ssthresh = self.window;
    }
}
