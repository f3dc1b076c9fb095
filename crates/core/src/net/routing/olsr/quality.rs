//! Link qualities: the shares of OLSR packets that arrive, and their costs, as the algorithm `etx_ff` of olsrd computes
//! them in integers.

use crate::unit::{Span, Time};

/// Slots of a second that the window has, and with how many it starts.
const WINDOW: usize = 32;
const FIRST_WINDOW: usize = 4;
/// Length of a slot.
pub(super) const SLOT: Span = Span::secs(1);
/// A larger gap of sequence numbers is a restart of the neighbor, and not a loss.
const LARGEST_GAP: u16 = 256;
/// Quality of a link on which everything arrives.
pub(super) const PERFECT: u8 = 255;
/// Link qualities below this one are those of a broken link.
const LOWEST: u8 = 25;
/// Cost of a perfect link.
pub(super) const UNIT: u32 = 1024;
/// Cost of a broken link.
pub(super) const BROKEN: u32 = 1 << 22;

/// Cost of a link by its quality and that which the neighbor reports: ETX in units of 1/1024.
pub(super) fn cost(lq: u8, nlq: u8) -> u32 {
    if lq.min(nlq) < LOWEST {
        return BROKEN;
    }
    255 * 255 * UNIT / (u32::from(lq) * u32::from(nlq))
}

/// Returns the new quality if it differs enough from the one in use, by more than a tenth, to replace it.
pub(super) fn replaced(used: u8, new: u8) -> u8 {
    if new == PERFECT || u32::from(used.abs_diff(new)) * 10 > u32::from(used) { new } else { used }
}

/// Packets of a neighbor in the last seconds: those received, and those sent by their sequence numbers.
#[derive(Clone, Debug)]
pub(super) struct Window {
    received: [u16; WINDOW],
    sent: [u16; WINDOW],
    length: usize,
    at: usize,
}

impl Window {
    pub(super) fn new() -> Window {
        Window { received: [0; WINDOW], sent: [0; WINDOW], length: FIRST_WINDOW, at: 0 }
    }

    /// A packet has arrived whose number is `gap` higher than that of the last one.
    pub(super) fn on_packet(&mut self, gap: u16) {
        let gap = if gap > LARGEST_GAP { 1 } else { gap };
        self.received[self.at] += 1;
        self.sent[self.at] += gap;
    }

    /// A slot ends: the quality, if `missed` HELLOs with this interval did not arrive since the last one.
    pub(super) fn end_slot(&mut self, missed: u64, interval: Span) -> u8 {
        let sum = |slots: &[u16]| slots.iter().map(|&n| u64::from(n)).sum::<u64>();
        let (received, sent) = (sum(&self.received[..self.length]), sum(&self.sent[..self.length]));
        self.length = (self.length + 1).min(WINDOW);
        self.at = (self.at + 1) % self.length;
        (self.received[self.at], self.sent[self.at]) = (0, 0);
        let silent = if missed > 1 { (missed * interval.0 / SLOT.0).min(WINDOW as u64) } else { 0 };
        let received = received * (WINDOW as u64 - silent) / WINDOW as u64;
        let ratio = (u64::from(UNIT) * received).checked_div(sent).unwrap_or(0);
        ((ratio * u64::from(PERFECT)) >> 10) as u8
    }
}

/// HELLOs that should have arrived since the last one, if half an interval more is granted.
pub(super) fn missed(last: Time, interval: Span, now: Time) -> u64 {
    let late = now.since(last).0.saturating_sub(interval.0 / 2);
    late / interval.0.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_of_olsrd() {
        let expected = [
            (255, 255, 1024),
            (191, 255, 1367),
            (191, 191, 1825),
            (127, 127, 4128),
            (25, 25, 106_536),
            (24, 255, 4_194_304),
        ];
        for (lq, nlq, c) in expected {
            assert_eq!(cost(lq, nlq), c, "{lq}, {nlq}");
        }
    }

    #[test]
    fn a_quality_counts_if_it_differs_by_more_than_a_tenth() {
        assert_eq!([replaced(200, 180), replaced(200, 179), replaced(200, 221)], [200, 179, 221]);
        assert_eq!([replaced(250, 255), replaced(0, 1), replaced(0, 0)], [255, 1, 0]);
    }

    #[test]
    fn three_of_four_packets_are_a_quality_of_191() {
        let mut w = Window::new();
        // One packet a second; every fourth is lost.
        let mut found = vec![];
        for second in 0..64 {
            match second % 4 {
                3 => {}
                0 => w.on_packet(2),
                _ => w.on_packet(1),
            }
            found.push(w.end_slot(0, Span::secs(2)));
        }
        assert_eq!(found[63], 191);
        // A restart of the neighbor is no loss of 60,000 packets.
        let mut w = Window::new();
        w.on_packet(60_000);
        assert_eq!(w.end_slot(0, Span::secs(2)), 255);
        assert_eq!(Window::new().end_slot(0, Span::secs(2)), 0, "nothing was heard");
    }

    #[test]
    fn the_quality_of_a_silent_neighbor_fades() {
        let at = |s: u64| Time::ZERO + Span::secs(s);
        let missed: Vec<u64> = [0, 2, 3, 5, 9, 18].map(|s| missed(at(0), Span::secs(2), at(s))).to_vec();
        assert_eq!(missed, [0, 0, 1, 2, 4, 8]);
        let mut w = Window::new();
        for _ in 0..32 {
            w.on_packet(1);
            w.end_slot(0, Span::secs(2));
        }
        // Of 31 packets 31 (32 - 4 x 2) / 32 = 23 count, then 15; a single HELLO may just be late.
        assert_eq!([1, 4, 8, 16, 20].map(|n| w.clone().end_slot(n, Span::secs(2))), [255, 189, 123, 0, 0]);
    }
}
