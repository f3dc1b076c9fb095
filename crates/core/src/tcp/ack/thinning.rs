//! Dynamic ACK thinning: the further a connection has come, the more segments one acknowledgement covers.
//!
//! Altman and Jimenez, "Novel Delayed ACK Techniques for Improving TCP Performance in Multihop Wireless Networks"
//! (PWC 2003), as ElRakabawy, Lindemann and Vernon (DSN 2005, section 3.2) describe it. The paper puts n = S1 into
//! two rows of its table; here it belongs to the first.

use super::interface::{AckWhen, Arrived};
use super::registry::Acknowledging;
use crate::packet::Fin;
use crate::setting::limit::{HOUR, at_most};
use crate::settings;
use crate::unit::Span;

settings! {
    /// Dynamic ACK thinning. The segment that arrives has the number n; the SYN, if there is one, has the number 0.
    pub struct Config {
        /// S1: up to this number every segment is acknowledged, from then on every second.
        pub s1: u32 = 2 => at_most(1_000_000),
        /// S2: from this number on, every third segment is acknowledged.
        pub s2: u32 = 5 => at_most(1_000_000),
        /// S3: from this number on, every fourth segment is acknowledged.
        pub s3: u32 = 9 => at_most(1_000_000),
        /// Longest time that an acknowledgement is held, counted from the first unacknowledged segment.
        pub timeout: Span = Span::ms(100) => at_most(HOUR),
        /// Also delays duplicate acknowledgements; otherwise a segment that is out of order, fills a gap or arrives
        /// again is acknowledged at once (RFC 5681, 4.2).
        pub thin_dup_acks: bool = false,
    }
}

/// Acknowledges every d-th segment, d = 1, 2, 3, 4.
#[derive(Clone, Debug)]
pub struct Thinning {
    cfg: Config,
}

impl Thinning {
    pub(super) fn new(cfg: &Config) -> Thinning {
        Thinning { cfg: cfg.clone() }
    }

    /// The settings, to be changed during a run.
    pub fn config(&mut self) -> &mut Config {
        &mut self.cfg
    }

    /// d for a segment with this number.
    fn segments(&self, n: u32) -> u32 {
        let Config { s1, s2, s3, .. } = self.cfg;
        match n {
            _ if n <= s1 => 1,
            _ if n < s2 => 2,
            _ if n < s3 => 3,
            _ => 4,
        }
    }
}

impl Acknowledging for Thinning {
    fn on_segment(&mut self, arrived: &Arrived) -> AckWhen {
        let ordinary = arrived.in_order && !arrived.fills_gap;
        let held = if self.cfg.thin_dup_acks { arrived.unacknowledged } else { arrived.held };
        // A FIN is acknowledged at once (RFC 9293, 3.10.7.4).
        let may_wait = (ordinary || self.cfg.thin_dup_acks) && arrived.fin == Fin::No;
        if may_wait && held < self.segments(arrived.seq) { AckWhen::Within(self.cfg.timeout) } else { AckWhen::Now }
    }
}
