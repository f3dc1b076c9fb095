//! Receivers in range of a moving radio where all radios are alike: found in passes without branches, because neither
//! range nor the kind of a receiver can be predicted.

use crate::packet::RadioId;
use crate::radio::propagation::Model;
use crate::radio::transmitter::ReceiverInRange;
use crate::unit::{Meters, Position};

/// Radios near a sender; each list has room for all radios, and `count` entries are in use.
#[derive(Clone, Debug)]
pub(in crate::radio) struct Passes {
    count: usize,
    numbers: Vec<u32>,
    /// Distances [m].
    distances: Vec<f64>,
    /// Propagation delays \[ns\], to be rounded down.
    delays: Vec<f64>,
    /// Received powers \[W\].
    powers: Vec<f64>,
    /// Receivers that can decode a frame, and those that only sense it.
    decoding: Vec<ReceiverInRange>,
    sensing: Vec<ReceiverInRange>,
}

impl Passes {
    /// Room for this number of radios.
    pub(in crate::radio) fn new(radios: usize) -> Passes {
        let (zeros, nobody) = (vec![0.0; radios], vec![ReceiverInRange { to: 0, delay: 0, power: 0.0 }; radios]);
        Passes {
            count: 0,
            numbers: vec![0; radios],
            distances: zeros.clone(),
            delays: zeros.clone(),
            powers: zeros,
            decoding: nobody.clone(),
            sensing: nobody,
        }
    }

    /// Collects the radios nearby that are found and not farther than the square root of `farthest`; returns their
    /// number.
    pub(in crate::radio) fn collect(
        &mut self,
        own: RadioId,
        position: Position,
        near: impl Iterator<Item = (RadioId, Position, bool)>,
        farthest: f64,
    ) -> usize {
        let numbers = &mut self.numbers[..];
        let distances = &mut self.distances[..numbers.len()];
        let mut count = 0;
        for (to, there, found) in near {
            let squared = position.squared_distance(there);
            (numbers[count], distances[count]) = (to.0, squared.sqrt());
            count += usize::from(found & (squared <= farthest) & (to != own));
        }
        self.count = count;
        count
    }

    /// Splits the collected radios into those that can decode a frame and those that only sense it. Returns both, and
    /// the longest propagation delay.
    pub(in crate::radio) fn split(&mut self, model: &Model) -> (&[ReceiverInRange], &[ReceiverInRange], u32) {
        let n = self.count;
        let Passes { numbers, distances, delays, powers, decoding, sensing, .. } = self;
        let (distances, delays, powers) = (&distances[..n], &mut delays[..n], &mut powers[..n]);
        model.two_ray(distances, powers);
        for (delay, &distance) in delays.iter_mut().zip(distances) {
            *delay = Meters(distance).rounded_light_delay();
        }
        let ((weakest_decoded, weakest_sensed), crossover) = (model.thresholds(), model.crossover());
        let (decoding, sensing) = (&mut decoding[..n], &mut sensing[..n]);
        let (mut decoded, mut sensed, mut farthest) = (0, 0, 0);
        for (((&to, &distance), &delay), &power) in numbers[..n].iter().zip(distances).zip(&*delays).zip(&*powers) {
            let power = if distance <= crossover { model.near_power(distance) } else { power };
            // Rare: only radios within the margin of the range.
            if power < weakest_sensed {
                continue;
            }
            let receiver = ReceiverInRange { to, delay: delay as u32, power: power as f32 };
            (decoding[decoded], sensing[sensed]) = (receiver, receiver);
            let is_decoded = power >= weakest_decoded;
            decoded += usize::from(is_decoded);
            sensed += usize::from(!is_decoded);
            farthest = farthest.max(receiver.delay);
        }
        (&decoding[..decoded], &sensing[..sensed], farthest)
    }
}
