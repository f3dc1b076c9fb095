//! An acknowledgement for each segment.

use super::interface::{AckWhen, Arrived};
use super::registry::Acknowledging;

/// Acknowledges every segment at once.
#[derive(Clone, Debug)]
pub struct Every;

impl Acknowledging for Every {
    fn on_segment(&mut self, _arrived: &Arrived) -> AckWhen {
        AckWhen::Now
    }
}
