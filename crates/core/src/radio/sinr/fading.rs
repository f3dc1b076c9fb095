//! Fading: variation of the power of a signal from frame to frame.

use crate::radio::transmitter::ReceiverInRange;
use crate::rng::Stream;
use std::f64::consts::LN_2;

/// Steps per octave.
const STEPS: usize = 256;
/// Bits of a binary64 number below those that select the step.
const SHIFT: u32 = 52 - STEPS.ilog2();

/// Powers of a signal with Rayleigh fading at the receivers in range.
#[derive(Clone, Debug)]
pub(super) struct Faded {
    /// Logarithms at the steps from 1 to 2. Linear interpolation gives a power to 2e-6 of the mean, and a weak one to a
    /// thousandth of itself.
    steps: [f64; STEPS + 1],
    pub(super) powers: Vec<f64>,
}

impl Faded {
    pub(super) fn new() -> Faded {
        let step = |i| libm::log(1.0 + i as f64 / STEPS as f64);
        Faded { steps: std::array::from_fn(step), powers: Vec::new() }
    }

    /// Draws the powers of all receivers at once, so that the processor can overlap the computations.
    #[inline(never)]
    pub(super) fn draw(&mut self, in_range: &[ReceiverInRange], rngs: &mut [Stream]) {
        let Faded { steps, powers } = self;
        powers.clear();
        powers.extend(in_range.iter().map(|l| rngs[l.to as usize].uniform()));
        for (power, l) in powers.iter_mut().zip(in_range) {
            // From (0, 1], so that the logarithm is finite.
            *power = f64::from(l.power) * -ln(steps, 1.0 - *power);
        }
    }
}

/// Natural logarithm of a number from (0, 1], to 2e-6.
#[inline]
fn ln(steps: &[f64; STEPS + 1], x: f64) -> f64 {
    let bits = x.to_bits();
    let octave = (bits >> 52) as i32 - 0x3ff;
    let step = (bits >> SHIFT) as usize % STEPS;
    let share = (bits & ((1 << SHIFT) - 1)) as f64 / (1u64 << SHIFT) as f64;
    f64::from(octave) * LN_2 + steps[step] + share * (steps[step + 1] - steps[step])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    #[test]
    fn powers_are_distributed_exponentially() {
        let receiver = ReceiverInRange { to: 0, delay: 0, power: 2.0 };
        let mut rngs = [Stream::new(1, Purpose::Reception, 0)];
        let mut faded = Faded::new();
        faded.draw(&[receiver; 100_000], &mut rngs);
        let share = |least: f64| faded.powers.iter().filter(|&&p| p >= least).count() as f64 / 1e5;
        // Tolerance: four standard deviations of a share of 100,000 draws.
        for least in [0.0, 0.02, 0.2, 1.0, 2.0, 6.0] {
            let wanted = libm::exp(-least / 2.0);
            assert!((share(least) - wanted).abs() <= 4.0 * libm::sqrt(wanted * (1.0 - wanted) / 1e5), "{least}");
        }
    }

    #[test]
    fn logarithms_are_accurate_to_millionths() {
        let (faded, mut rng) = (Faded::new(), Stream::new(2, Purpose::Reception, 0));
        let off = |x: f64| (ln(&faded.steps, x) - libm::log(x)).abs();
        assert!((0..100_000).all(|_| off(1.0 - rng.uniform()) < 2e-6));
        assert!((0..=53).all(|i| off(0.5f64.powi(i)) < 1e-12));
    }
}
