//! BBR, versions 1 and 3: rate and window are set by the loss recovery `rack_tlp`, which alone measures delivery rates.

use super::interface::{Congestion, Window};
use super::registry::WindowRule;

/// The window rule of BBR, as far as a connection calls it.
#[derive(Clone, Debug)]
pub struct Bbr;

impl WindowRule for Bbr {
    const GROWS_BY_STEPS: bool = false;
    const ASKS_FOR_USE: bool = false;
    const READS_REMAINDER: bool = false;
    const KEEPS_WINDOW_WHEN_IDLE: bool = true;
    const WINDOWS_IN_BUFFER: u64 = 3;

    /// A lost SYN.
    fn on_congestion(&mut self, congestion: &Congestion, w: &mut Window) {
        w.cwnd = congestion.loss_window.min(w.cwnd);
    }
}
