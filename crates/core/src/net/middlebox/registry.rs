//! Registry of middleboxes: each is one file with an [`OnPath`], and one line in the list of `mod.rs`.

use super::{Counters, Cx, Verdict};
use crate::packet::{Packet, Seq};
use crate::unit::Time;

/// A middlebox on the path of flows, which are numbered from 0. Its methods are called through the enum that the list
/// declares, without virtual calls.
pub trait OnPath {
    /// Settings of the middlebox.
    type Config;

    /// A middlebox for this number of flows.
    fn new(cfg: &Self::Config, flows: usize) -> Self;

    /// Segments of a flow that a middlebox with these settings keeps at most.
    fn kept(cfg: &Self::Config) -> u32;

    /// Data of a flow are passed on; probes, which carry none, are not shown.
    fn on_data(&mut self, flow: usize, packet: &Packet, seq: Seq, cx: &mut Cx<'_>) -> Verdict;

    /// An acknowledgement of a flow is passed on.
    fn on_ack(&mut self, flow: usize, packet: &mut Packet, next: Seq, cx: &mut Cx<'_>) -> Verdict;

    /// Data of a flow were dropped: `here`, by this node, or farther on; by a `link`, or because of congestion.
    fn on_dropped(&mut self, _flow: usize, _seq: Seq, _here: bool, _by_link: bool) {}

    /// Time of the next call.
    fn deadline(&self) -> Time {
        Time::NEVER
    }

    /// Its deadline has come.
    fn on_deadline(&mut self, _cx: &mut Cx<'_>) {}

    /// Counters of a flow.
    fn counters(&self, flow: usize) -> Counters;
}

/// Declares the middleboxes of a list: their settings, the middlebox of a node, and the calls of its methods.
macro_rules! middleboxes {
    ($( $(#[doc = $doc:literal])* $Part:ident: $Config:ty; )*) => {
        /// Settings of a middlebox.
        #[derive(Clone, Debug)]
        pub enum Settings {
            $( $(#[doc = $doc])* $Part($Config), )*
        }

        impl Settings {
            /// Segments of a flow that the middlebox keeps at most.
            pub fn kept(&self) -> u32 {
                match self { $( Settings::$Part(cfg) => <$Part as OnPath>::kept(cfg), )* }
            }
        }

        /// Function of a middlebox.
        #[derive(Clone, Debug)]
        pub enum Part {
            $( $(#[doc = $doc])* $Part($Part), )*
        }

        impl Part {
            /// A middlebox for this number of flows.
            pub fn new(settings: &Settings, flows: usize) -> Part {
                match settings { $( Settings::$Part(cfg) => Part::$Part(<$Part as OnPath>::new(cfg, flows)), )* }
            }
        }

        $crate::dispatch! { Part [$($Part)*]
            fn on_data(&mut self, flow: usize, packet: &Packet, seq: Seq, cx: &mut Cx<'_>) -> Verdict;

            fn on_ack(&mut self, flow: usize, packet: &mut Packet, next: Seq, cx: &mut Cx<'_>) -> Verdict;

            fn on_dropped(&mut self, flow: usize, seq: Seq, here: bool, by_link: bool);

            fn deadline(&self) -> Time;

            fn on_deadline(&mut self, cx: &mut Cx<'_>);

            fn counters(&self, flow: usize) -> Counters;
        }
    };
}
pub(super) use middleboxes;
