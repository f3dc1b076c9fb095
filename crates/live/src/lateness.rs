//! Distribution of the lateness of deliveries.

use chappe_core::unit::Span;

/// Bits that a count keeps of its values: quantiles are at most 1/64 too large.
const BITS: u32 = 6;

/// Lateness of deliveries: the instant at which a packet is in the hands of the kernel, minus that of its delivery.
#[derive(Clone, Debug, Default)]
pub struct Lateness {
    /// Number of deliveries by their rounded lateness.
    counts: Vec<u64>,
    total: u64,
    largest: Span,
}

/// Place of the count of a value.
fn place(ns: u64) -> usize {
    let shift = (u64::BITS - ns.leading_zeros()).saturating_sub(BITS + 1);
    ((u64::from(shift) << BITS) + (ns >> shift)) as usize
}

/// Largest value with this place.
fn largest_at(place: usize) -> u64 {
    let shift = (place >> BITS).saturating_sub(1) as u32;
    let kept = place as u64 - (u64::from(shift) << BITS);
    ((kept + 1) << shift).wrapping_sub(1)
}

impl Lateness {
    /// Counts a delivery.
    pub fn add(&mut self, lateness: Span) {
        let place = place(lateness.0);
        if place >= self.counts.len() {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] += 1;
        self.total += 1;
        self.largest = self.largest.max(lateness);
    }

    /// Number of deliveries.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The largest lateness.
    pub fn largest(&self) -> Span {
        self.largest
    }

    /// The lateness that this share of the deliveries does not exceed; 0 without deliveries.
    pub fn quantile(&self, share: f64) -> Span {
        let rank = (share * self.total as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        let found = self.counts.iter().position(|count| {
            seen += count;
            seen >= rank
        });
        found.map_or(Span::ZERO, |place| Span(largest_at(place)).min(self.largest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_cover_all_values_without_gaps() {
        for ns in (0..100_000).chain([u64::MAX / 2, u64::MAX]) {
            let at = place(ns);
            assert!(largest_at(at) >= ns && (at == 0 || largest_at(at - 1) < ns), "{ns}");
            assert!(largest_at(at) - ns <= ns >> BITS, "{ns}");
        }
    }

    #[test]
    fn quantiles_are_those_of_the_values() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.quantile(0.99), Span::ZERO);
        for us in 1..=100 {
            lateness.add(Span::us(us));
        }
        let within = |share, us: u64| {
            let found = lateness.quantile(share).0;
            (us * 1000..=us * 1016).contains(&found)
        };
        assert!(within(0.5, 50) && within(0.99, 99) && within(0.01, 1));
        assert_eq!((lateness.quantile(1.0), lateness.largest(), lateness.total()), (Span::us(100), Span::us(100), 100));
    }
}
