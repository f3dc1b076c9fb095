//! Delayed acknowledgements (RFC 9293, 3.8.6.3; RFC 5681, 4.2). The timeout is that of 4.4BSD, and of ns-3: standards
//! only limit it.

use super::interface::{AckWhen, Arrived, BufferState};
use super::registry::Acknowledging;
use crate::packet::Fin;
use crate::setting::limit::{HOUR, at_most, range};
use crate::settings;
use crate::unit::Span;

settings! {
    /// Delayed acknowledgements.
    pub struct Config {
        /// Number of segments that one acknowledgement may cover.
        pub segments: u32 = 2 => range(1, 1_000_000),
        /// Longest time that an acknowledgement is held; below 500 ms (RFC 9293, 3.8.6.3).
        pub timeout: Span = Span::ms(200) => at_most(HOUR),
        /// Tick of the timer clock (Linux with HZ 250: 4 ms); 0 s: the timer is exact. With a tick, a segment that
        /// arrives when less than a quarter of the timeout is left is acknowledged at once.
        pub tick: Span = Span::ZERO => at_most(Span::secs(1)),
        /// Acknowledges the SYN at once.
        pub syn_at_once: bool = true,
        /// Acknowledges a FIN at once (RFC 9293, 3.10.7.4); otherwise like any segment, except that a FIN without data
        /// gets no quick acknowledgement (Linux).
        pub fin_at_once: bool = true,
        /// Quick acknowledgements: number of segments at the start of a connection that are acknowledged one by one,
        /// at most half of the receive window (Linux: 16).
        pub quick_acks: u32 = 0 => at_most(1_000_000),
        /// Acknowledges a segment with the PSH flag at once (Linux, if the application reads at once and sends
        /// nothing).
        pub push_at_once: bool = false,
        /// Peculiarities of ns-2.
        pub ns2: Ns2 = Ns2::default(),
    }
}

settings! {
    /// Delayed acknowledgements of ns-2.
    pub struct Ns2 {
        /// Acknowledges the first segment at once, even if it is not a SYN.
        pub first_at_once: bool = false,
        /// Delays the acknowledgement of a duplicate of the last segment in order, as if it were new, unless segments
        /// above it have arrived.
        pub hold_last_copy: bool = false,
    }
}

/// Acknowledges when enough segments have come, or after a timeout.
#[derive(Clone, Debug)]
pub struct Delayed {
    cfg: Config,
    /// Segments that are still to be acknowledged one by one.
    quick: u32,
}

impl Delayed {
    /// The policy of a receiver with a window \[segments\].
    pub(super) fn new(cfg: &Config, window: u32) -> Delayed {
        Delayed { cfg: cfg.clone(), quick: cfg.quick_acks.min(window / 2) }
    }

    /// Changes the number of segments that one acknowledgement may cover.
    pub fn set_segments(&mut self, segments: u32) {
        self.cfg.segments = segments;
    }
}

impl Delayed {
    /// Acknowledges segments one by one after a pause and while the window grows, but not while the buffer is scarce
    /// (Linux).
    #[cold]
    fn heed(&mut self, buffer: &BufferState) {
        if let Some(window) = buffer.after_idle {
            self.quick = self.quick.max(self.cfg.quick_acks.min(window / 2));
        }
        if buffer.scarce {
            self.quick = 0;
        } else if buffer.grows && self.cfg.quick_acks > 0 {
            // At least one, for this segment: its sender is told of the larger window at once. This segment makes the
            // odd number even again, so that segments are acknowledged one by one as long as the window grows, and
            // those at the start of a connection are not used up meanwhile, as a kernel does.
            self.quick |= 1;
        }
    }
}

impl Acknowledging for Delayed {
    fn on_segment(&mut self, arrived: &Arrived) -> AckWhen {
        // RFC 5681, 4.2: out-of-order segments, and those that fill a gap, are acknowledged at once.
        let Ns2 { first_at_once, hold_last_copy } = self.cfg.ns2;
        let expected = arrived.in_order || arrived.last_again && hold_last_copy;
        let mut ordinary = expected && !arrived.fills_gap && !(arrived.syn && self.cfg.syn_at_once);
        ordinary &= !(arrived.seq == 0 && first_at_once);
        ordinary &= !(arrived.push && self.cfg.push_at_once);
        ordinary &= !(arrived.fin != Fin::No && self.cfg.fin_at_once);
        // More than those in order only if copies are held, too.
        let mut waits = arrived.unacknowledged < self.cfg.segments;
        if let Some(buffer) = arrived.buffer.filter(|_| !arrived.syn) {
            self.heed(&buffer);
            // A sender need not be told at once of a window that shrinks.
            waits |= !buffer.keeps_window;
        }
        if self.quick > 0 && !arrived.syn && arrived.fin != Fin::Bare {
            self.quick -= 1;
            ordinary = false;
        }
        let Config { timeout, tick, .. } = self.cfg;
        match (ordinary && waits, tick) {
            (false, _) => AckWhen::Now,
            (true, Span::ZERO) => AckWhen::Within(timeout),
            (true, tick) => AckWhen::WithinTicks { span: timeout, tick },
        }
    }

    fn due_when_read(&self) -> u32 {
        self.cfg.segments
    }
}
