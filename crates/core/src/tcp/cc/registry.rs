//! Registry of window rules: each is one file with a [`WindowRule`], and one line in the list of `mod.rs`.

use super::interface::{Ack, Congestion, Window};
use crate::packet::Seq;
use crate::unit::Span;

/// A window rule. Its methods are called through the enum that the list declares, without virtual calls.
pub(super) trait WindowRule: Sized {
    /// Requests the round-trip time of each segment, which needs a table of send times.
    const WANTS_SEGMENT_RTT: bool = false;
    /// `tcp.growth_per` decides by how many steps the window grows.
    const GROWS_BY_STEPS: bool = true;
    /// `tcp.growth_when` decides if a window that is not used grows.
    const ASKS_FOR_USE: bool = true;
    /// Is told of acknowledgements that find the window unused, too.
    const GROWS_UNUSED: bool = false;
    /// Reads [`Congestion::remainder`], in which `tcp.ecn.beta` decides how much a mark leaves.
    const READS_REMAINDER: bool = true;
    /// The window of an idle sender stays as it is with `tcp.after_idle` = `decay`.
    const KEEPS_WINDOW_WHEN_IDLE: bool = false;
    /// Needs to know the times in which the window was not used.
    const HEEDS_UNUSED: bool = false;
    /// Windows for which a send buffer of Linux has room (`tcp.send_buffer` = `auto`).
    const WINDOWS_IN_BUFFER: u64 = 2;

    /// The window at the start.
    fn start(&self, _w: &mut Window) {}

    /// Handles every acknowledgement, of any kind, before loss recovery does.
    fn on_every_ack(&mut self, _ack: &Ack, _w: &mut Window) {}

    /// Grows the window by this many steps when new data are acknowledged outside of a recovery.
    fn on_ack(&mut self, ack: &Ack, steps: u32, w: &mut Window) {
        if !ack.ece {
            (0..steps).for_each(|_| self.grow(w));
        }
    }

    /// Grows the window by one step, for rules that need nothing of the acknowledgement.
    fn grow(&mut self, _w: &mut Window) {}

    /// The application, the receiver or a broken route has kept the sender from using the window for this long.
    fn on_unused(&mut self, _span: Span) {}

    /// Reacts to a loss or a congestion mark.
    fn on_congestion(&mut self, congestion: &Congestion, w: &mut Window);

    /// Restarts sending at this segment after a timeout, as if nothing from there on had been sent.
    fn on_rewind(&mut self, _nxt: Seq) {}

    /// Ends a recovery after duplicate acknowledgements.
    fn on_recovery_end(&mut self, _w: &mut Window) {}

    /// The window with which a recovery ends that limits it (RFC 6582, 3.2 step 3).
    fn after_recovery(&self, w: &Window) -> f64 {
        w.ssthresh
    }

    /// Time from one new segment to the next, the inverse of a rate; `None`: segments are sent as soon as the window
    /// allows. The answer may change from call to call.
    fn pace(&self) -> Option<Span> {
        None
    }

    /// Returns true if a timeout doubles the retransmission timeout (RFC 6298, 5.5).
    fn backs_off_rto(&self) -> bool {
        true
    }
}

/// Declares the window rules of a list: their words, the rule of a connection, and the calls of its methods.
macro_rules! declare {
    ($cfg:ident: $(
        $(#[doc = $doc:literal])*
        $Part:ident = $word:literal: $new:expr
        $(, settings $group:ident: $module:ident = $about:literal $(, shared with $Other:ident)?, else $why:literal)?;
    )*) => {
        $crate::dispatch::parts! {
            words {
                /// Window rules.
                Rule;
                /// `tcp.growth_per` decides by how many steps the window grows.
                grows_by_steps: bool = GROWS_BY_STEPS;
                /// `tcp.growth_when` decides if a window that is not used grows.
                asks_for_use: bool = ASKS_FOR_USE;
                /// `tcp.ecn.beta` may decide how much of the window a mark leaves.
                reads_remainder: bool = READS_REMAINDER;
            }
            settings {}
            enum {
                /// The window rule of a connection.
                #[derive(Clone, Debug)]
                pub CongestionControl;
                /// The window grows only as far as it is used, if the settings say so.
                asks_for_use: bool = ASKS_FOR_USE;
                /// Is told of acknowledgements that find the window unused, too.
                grows_unused: bool = GROWS_UNUSED;
                /// Requests the round-trip time of each segment, which needs a table of send times.
                wants_segment_rtt: bool = WANTS_SEGMENT_RTT;
                /// The window of an idle sender stays as it is with `tcp.after_idle` = `decay`.
                keeps_window_when_idle: bool = KEEPS_WINDOW_WHEN_IDLE;
                /// Needs to know the times in which the window was not used.
                heeds_unused: bool = HEEDS_UNUSED;
                /// Windows for which a send buffer of Linux has room (`tcp.send_buffer` = `auto`).
                windows_in_buffer: u64 = WINDOWS_IN_BUFFER;
            }
            dispatch {
                /// The window at the start.
                pub fn start(&self, w: &mut Window);

                /// Handles every acknowledgement, of any kind, before loss recovery does.
                pub fn on_every_ack(&mut self, ack: &Ack, w: &mut Window);

                /// Grows the window by this many steps when new data are acknowledged outside of a recovery.
                pub fn on_ack(&mut self, ack: &Ack, steps: u32, w: &mut Window);

                /// The application, the receiver or a broken route has kept the sender from using the window for this long.
                pub fn on_unused(&mut self, span: Span);

                /// Reacts to a loss or a congestion mark.
                pub fn on_congestion(&mut self, congestion: &Congestion, w: &mut Window);

                /// Restarts sending at this segment after a timeout, as if nothing from there on had been sent.
                pub fn on_rewind(&mut self, nxt: Seq);

                /// Ends a recovery after duplicate acknowledgements.
                pub fn on_recovery_end(&mut self, w: &mut Window);

                /// The window with which a recovery ends that limits it.
                pub fn after_recovery(&self, w: &Window) -> f64;

                /// Time from one new segment to the next; `None`: segments are sent as soon as the window allows.
                pub fn pace(&self) -> Option<Span>;

                /// Returns true if a timeout doubles the retransmission timeout (RFC 6298, 5.5).
                pub fn backs_off_rto(&self) -> bool;
            }
            $( $(#[doc = $doc])* $Part($Part): $Part = $word; )*
        }
    };
}
pub(super) use declare;
