//! No rate control: a station sends at the rate of its settings, or of the link.

use super::registry::{Cx, RateRule};
use super::{Chain, Frame};

/// Nothing is known of a neighbor.
#[derive(Clone, Debug)]
pub(super) struct Fixed;

impl RateRule for Fixed {
    const CHOOSES: bool = false;

    fn plan(&mut self, _frame: &Frame, _cx: &mut Cx<'_>) -> Chain {
        Chain::default()
    }
}
