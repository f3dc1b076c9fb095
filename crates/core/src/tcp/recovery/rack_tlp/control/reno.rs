//! Reno's window rule in whole segments (RFC 5681, 3.1), counted by acknowledged segments (RFC 3465).

use super::interface::Window;

/// The window rule of Reno.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Reno;

impl Reno {
    /// Half of the window, at least two segments.
    pub fn ssthresh(&self, w: &Window) -> u32 {
        (w.cwnd / 2).max(2)
    }
}
