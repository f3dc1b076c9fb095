//! State of the sender as observers read it.

use super::RackTlp;
use super::state::State;
use crate::tcp::recovery::view::{BbrView, RackView, RecoveryState};

impl RackTlp {
    /// State for observers.
    pub(super) fn seen(&self) -> RackView {
        let recovery = match self.state {
            State::Open => RecoveryState::Open,
            State::Disorder => RecoveryState::Disorder,
            State::Reducing => RecoveryState::Cwr,
            State::Recovery if self.by_time => RecoveryState::ByTime,
            State::Recovery => RecoveryState::ByCount,
            State::Loss if self.frto => RecoveryState::LossInDoubt,
            State::Loss => RecoveryState::Loss,
        };
        let bbr = self.control.seen_bbr().map(|(state, pacing_gain)| BbrView {
            state,
            pacing_gain,
            pacing_rate: (self.pacing.rate > 0).then_some(8 * self.pacing.rate),
        });
        RackView {
            state: recovery,
            reordering_window: self.rack.window,
            reordering: self.rack.reordering,
            lost: self.queue.lost(),
            sacked: self.queue.sacked(),
            undone: self.undo.undone(),
            bbr,
        }
    }
}
