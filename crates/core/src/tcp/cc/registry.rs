//! Registry of window rules: each is one file with a [`WindowRule`], and one line in the list of `mod.rs`.

use super::interface::{Ack, Congestion, Window};
use crate::packet::Seq;
use crate::unit::Span;

/// A window rule. Its methods are called through the enum that the list declares, without virtual calls.
pub(super) trait WindowRule: Sized {
    /// The rule wants the round-trip time of each segment, which needs a table of send times.
    const WANTS_SEGMENT_RTT: bool = false;
    /// `tcp.growth_per` decides by how many steps the window grows.
    const GROWS_BY_STEPS: bool = true;
    /// `tcp.growth_when` decides if a window that is not used grows.
    const ASKS_FOR_USE: bool = true;

    /// The window at the start.
    fn start(&self, _w: &mut Window) {}

    /// Every acknowledgement that arrives, whatever it tells, before loss recovery sees it.
    fn on_every_ack(&mut self, _ack: &Ack, _w: &mut Window) {}

    /// New data were acknowledged outside of a recovery: the window may grow by so many steps.
    fn on_ack(&mut self, ack: &Ack, steps: u32, w: &mut Window) {
        if !ack.ece {
            (0..steps).for_each(|_| self.grow(w));
        }
    }

    /// One step, of a rule that asks no more of an acknowledgement.
    fn grow(&mut self, _w: &mut Window) {}

    /// A loss or a congestion mark was found.
    fn on_congestion(&mut self, found: &Congestion, w: &mut Window);

    /// After a timeout sending goes on at this segment, as if nothing from there on had been sent.
    fn on_rewind(&mut self, _nxt: Seq) {}

    /// A recovery after duplicate acknowledgements is over.
    fn on_recovery_end(&mut self, _w: &mut Window) {}

    /// The time from one new segment to the next; `None`: they go out as soon as the window allows. A rule may answer with
    /// a pace, with another one each time, or with none any more. A rate is the gap 1/rate.
    fn pace(&self) -> Option<Span> {
        None
    }

    /// A timeout backs the retransmission timeout off (RFC 6298, 5.5).
    fn backs_off_rto(&self) -> bool {
        true
    }
}

/// Declares the window rules of a list: their names, the rule of a connection, and the calls of its methods.
macro_rules! declare {
    ($cfg:ident: $(
        $(#[doc = $doc:literal])*
        $Part:ident = $new:expr
        $(, settings $group:ident: $module:ident = $about:literal $(, shared with $Other:ident)?, else $why:literal)?;
    )*) => {
        /// Window rules.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Rule {
            $( $(#[doc = $doc])* $Part, )*
        }

        impl Rule {
            /// `tcp.growth_per` decides by how many steps the window grows.
            pub fn grows_by_steps(self) -> bool {
                match self { $( Rule::$Part => $Part::GROWS_BY_STEPS, )* }
            }

            /// `tcp.growth_when` decides if a window that is not used grows.
            pub fn asks_for_use(self) -> bool {
                match self { $( Rule::$Part => $Part::ASKS_FOR_USE, )* }
            }
        }

        /// The window rule of a connection.
        #[derive(Clone, Debug)]
        pub enum CongestionControl {
            $( $(#[doc = $doc])* $Part($Part), )*
        }

        impl CongestionControl {
            /// The window grows only as far as it is used, if the settings say so.
            pub fn asks_for_use(&self) -> bool {
                match self { $( CongestionControl::$Part(_) => $Part::ASKS_FOR_USE, )* }
            }

            /// The rule wants the round-trip time of each segment, which needs a table of send times.
            pub fn wants_segment_rtt(&self) -> bool {
                match self { $( CongestionControl::$Part(_) => $Part::WANTS_SEGMENT_RTT, )* }
            }
        }

        $crate::dispatch! { CongestionControl [$($Part)*]
            /// The window at the start.
            pub fn start(&self, w: &mut Window);

            /// Every acknowledgement that arrives, whatever it tells, before loss recovery sees it.
            pub fn on_every_ack(&mut self, ack: &Ack, w: &mut Window);

            /// New data were acknowledged outside of a recovery: the window may grow by so many steps.
            pub fn on_ack(&mut self, ack: &Ack, steps: u32, w: &mut Window);

            /// A loss or a congestion mark was found.
            pub fn on_congestion(&mut self, found: &Congestion, w: &mut Window);

            /// After a timeout sending goes on at this segment, as if nothing from there on had been sent.
            pub fn on_rewind(&mut self, nxt: Seq);

            /// A recovery after duplicate acknowledgements is over.
            pub fn on_recovery_end(&mut self, w: &mut Window);

            /// The time from one new segment to the next; `None`: they go out as soon as the window allows.
            pub fn pace(&self) -> Option<Span>;

            /// A timeout backs the retransmission timeout off (RFC 6298, 5.5).
            pub fn backs_off_rto(&self) -> bool;
        }
    };
}
pub(super) use declare;
