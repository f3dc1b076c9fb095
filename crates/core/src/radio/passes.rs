//! Receivers in range of a moving radio where all radios are alike: found in passes without branches, because neither
//! range nor the kind of a receiver can be predicted.

use super::in_range::ReceiverInRange;
use super::propagation::Model;
use crate::packet::RadioId;
use crate::unit::{Metres, Position};

/// Radios near a sender; each list has the same length, of which `count` entries are in use.
#[derive(Clone, Debug, Default)]
pub(super) struct Passes {
    count: usize,
    numbers: Vec<u32>,
    /// Squares of the distances \[m²\].
    squares: Vec<f64>,
    /// Distances [m].
    distances: Vec<f64>,
    /// Propagation delays \[ns\], to be rounded down.
    delays: Vec<f64>,
    /// Received powers \[W\].
    powers: Vec<f64>,
}

impl Passes {
    /// Collects the radios nearby that are found and not farther than the square root of `farthest`; returns their
    /// number.
    pub(super) fn collect(
        &mut self,
        own: RadioId,
        position: Position,
        near: impl Iterator<Item = (RadioId, Position, bool)>,
        farthest: f64,
    ) -> usize {
        let mut count = 0;
        for (to, there, found) in near {
            if count == self.numbers.len() {
                self.numbers.push(0);
                self.squares.push(0.0);
            }
            let squared = position.squared_distance(there);
            (self.numbers[count], self.squares[count]) = (to.0, squared);
            count += usize::from(found & (squared <= farthest) & (to != own));
        }
        for each in [&mut self.distances, &mut self.delays, &mut self.powers] {
            each.resize(self.numbers.len(), 0.0);
        }
        self.count = count;
        count
    }

    /// Writes the radios that can decode a frame to the begin of `decoding`, which has room for all, and those that
    /// only sense it to `sensing`. Returns the number of the former, the latter, and the longest propagation delay.
    pub(super) fn split<'a>(
        &mut self,
        model: &Model,
        decoding: &mut [ReceiverInRange],
        sensing: &'a mut Vec<ReceiverInRange>,
    ) -> (usize, &'a [ReceiverInRange], u32) {
        let n = self.count;
        let (distances, delays, powers) = (&mut self.distances[..n], &mut self.delays[..n], &mut self.powers[..n]);
        model.two_ray(&self.squares[..n], distances, powers);
        for (delay, &distance) in delays.iter_mut().zip(&*distances) {
            *delay = Metres(distance).rounded_light_delay();
        }
        let (weakest_decoded, weakest_sensed) = model.thresholds();
        let nothing = ReceiverInRange { to: 0, delay: 0, power: 0.0 };
        sensing.resize(n, nothing);
        let (mut decoded, mut sensed, mut farthest) = (0, 0, 0);
        for ((&to, &delay), &power) in self.numbers.iter().zip(&*delays).zip(&*powers) {
            let receiver = ReceiverInRange { to, delay: delay as u32, power: power as f32 };
            let (is_sensed, is_decoded) = (power >= weakest_sensed, power >= weakest_decoded);
            (decoding[decoded], sensing[sensed]) = (receiver, receiver);
            decoded += usize::from(is_sensed & is_decoded);
            sensed += usize::from(is_sensed & !is_decoded);
            farthest = farthest.max(if is_sensed { receiver.delay } else { 0 });
        }
        (decoded, &sensing[..sensed], farthest)
    }
}
