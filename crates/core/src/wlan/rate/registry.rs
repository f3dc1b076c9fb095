//! Registry of rate control: each algorithm is one file with a [`RateRule`], and one line in the list of `mod.rs`.

use super::charge::Times;
use super::{Chain, Config, Frame};
use crate::rng::Stream;
use crate::unit::Time;
use crate::wlan::Mode;

/// Inputs of an algorithm.
pub(super) struct Cx<'a> {
    pub(super) cfg: &'a Config,
    /// Rates to choose from.
    pub(super) modes: &'a [Mode],
    /// Times of frames at each rate.
    pub(super) times: &'a Times,
    pub(super) rng: &'a mut Stream,
    pub(super) now: Time,
}

/// State of an algorithm for a neighbor. Its methods are called through the enum that the list declares, without
/// virtual calls.
pub(super) trait RateRule: Sized {
    /// Rates are chosen at all.
    const CHOOSES: bool = true;
    /// All attempts are planned when a frame begins.
    const HAS_CHAIN: bool = false;
    /// The attempts are at aggregates, and the rates those of every number of streams.
    const OVER_AGGREGATES: bool = false;
    /// RTS precedes attempts that are not at the first rate of the chain.
    const RTS_WHEN_SLOWER: bool = false;
    /// The station is informed of the signal-to-noise ratio with which its frames arrive.
    const KNOWS_SIGNALS: bool = false;

    /// Share of bits that may be lost, if the ratio of signal to noise for it is asked for.
    fn bit_errors(_cfg: &Config) -> Option<f64> {
        None
    }

    /// The attempts at a frame; without a chain only the rate of the first counts.
    fn plan(&mut self, frame: &Frame, cx: &mut Cx<'_>) -> Chain;

    /// An attempt has failed.
    fn on_failure(&mut self, frame: &mut Frame, _cx: &Cx<'_>) {
        frame.count();
    }

    /// An attempt has succeeded, and with it the frame.
    fn on_success(&mut self, frame: &mut Frame, cx: &Cx<'_>) {
        frame.count();
        self.report(frame, true, cx);
    }

    /// The frame is over, after a success or because it was given up.
    fn report(&mut self, _frame: &Frame, _success: bool, _cx: &Cx<'_>) {}

    /// The next attempt is to be preceded by RTS and CTS.
    fn asks_for_rts(&self) -> bool {
        false
    }

    /// Largest A-MSDU to the neighbor \[B\].
    fn amsdu_size(&self) -> u32 {
        u32::MAX
    }

    /// A frame has arrived with this ratio of signal to noise. `least`: what each rate needs.
    fn arrived(&mut self, _ratio: f64, _least: &[f64]) {}
}

/// Declares the algorithms: the word of each in a scenario, the settings of rate control with those of each algorithm,
/// the estimates for a neighbor, and the calls of its methods. A line has the way in which the state is held, its
/// type, the word, an expression that makes the state with `cx`, and settings (`settings arf: arf::Config`), perhaps
/// shared with another algorithm.
macro_rules! algorithms {
    (
        $cx:ident:
        settings { $($fields:tt)* }
        $(
            $(#[doc = $doc:literal])*
            $Part:ident($Held:ty): $Type:ty = $word:literal: $new:expr
            $(, settings $group:ident: $Group:ty = $about:literal $(, shared with $other:literal)?)?;
        )*
    ) => {
        $crate::dispatch::parts! {
            words {
                /// Rate control.
                Algorithm;
                /// Rates are chosen at all.
                chooses_rates: bool = CHOOSES;
                /// All attempts are planned when a frame begins.
                has_chain: bool = HAS_CHAIN;
                /// The attempts are at aggregates, and the rates those of every number of streams.
                over_aggregates: bool = OVER_AGGREGATES;
                /// RTS precedes attempts that are not at the first rate of the chain.
                sends_rts_when_slower: bool = RTS_WHEN_SLOWER;
                /// The station is informed of the signal-to-noise ratio with which its frames arrive.
                knows_signals: bool = KNOWS_SIGNALS;
            }
            settings {
                /// Rate control.
                Config by algorithm = "wlan.rate_control.algorithm" { $($fields)* }

                fn bit_errors(&self) -> Option<f64>;
            }
            enum {
                /// State for a neighbor.
                #[derive(Clone, Debug)]
                State;
            }
            dispatch {
                fn plan(&mut self, frame: &Frame, cx: &mut Cx<'_>) -> Chain;

                fn on_failure(&mut self, frame: &mut Frame, cx: &Cx<'_>);

                fn on_success(&mut self, frame: &mut Frame, cx: &Cx<'_>);

                fn report(&mut self, frame: &Frame, success: bool, cx: &Cx<'_>);

                fn asks_for_rts(&self) -> bool;

                fn amsdu_size(&self) -> u32;

                fn arrived(&mut self, ratio: f64, least: &[f64]);
            }
            $(
                $(#[doc = $doc])*
                $Part($Held): $Type = $word
                $(, settings $group: $Group = $about $(, shared with $other)?)?;
            )*
        }

        impl State {
            fn new($cx: &mut Cx<'_>) -> State {
                match $cx.cfg.algorithm { $( Algorithm::$Part => State::$Part(<$Held>::from($new)), )* }
            }
        }
    };
}
pub(super) use algorithms;
