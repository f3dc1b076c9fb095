//! The receiving end of a block acknowledgement agreement: its scoreboard and its reordering buffer (IEEE 802.11-2020,
//! 10.25.6).

use crate::packet::RadioId;
use crate::unit::{Span, Time};

/// Sequence numbers are counted modulo this.
pub const NUMBERS: u16 = 4096;

/// Distance from one sequence number to a later one.
pub fn ahead(from: u16, to: u16) -> u16 {
    to.wrapping_sub(from) % NUMBERS
}

/// Fate of an MPDU that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It arrived before, or its turn is over.
    Duplicate,
    /// It is passed up at once.
    Next,
    /// It waits in the reordering buffer.
    Stored,
}

/// State of an agreement at its recipient.
#[derive(Clone, Debug)]
pub struct Recipient {
    /// Originator.
    pub from: RadioId,
    /// Traffic identifier.
    pub tid: u8,
    window: u16,
    /// Scoreboard: WinStartR, and the received numbers from there on.
    scored_from: u16,
    scored: u64,
    /// Reordering buffer: WinStartB, and the stored numbers from there on.
    start: u16,
    stored: u64,
    /// Instant at which the buffer stops waiting for its first missing number.
    pub release_at: Time,
}

fn shifted(bits: u64, by: u16) -> u64 {
    if by >= 64 { 0 } else { bits >> by }
}

impl Recipient {
    /// Agreement whose first number is `start`.
    pub fn new(from: RadioId, tid: u8, window: u16, start: u16) -> Recipient {
        Recipient { from, tid, window, scored_from: start, scored: 0, start, stored: 0, release_at: Time::NEVER }
    }

    /// Start and bitmap of a block acknowledgement.
    pub fn board(&self) -> (u16, u64) {
        (self.scored_from, self.scored)
    }

    /// An MPDU arrives. `passed` gets the stored numbers that are passed up, in order: before the MPDU those that are
    /// `false` there, after it the others.
    pub fn on_mpdu(&mut self, seq: u16, passed: &mut Vec<(u16, bool)>) -> Arrival {
        self.score(seq);
        let offset = ahead(self.start, seq);
        if offset >= NUMBERS / 2 {
            return Arrival::Duplicate;
        }
        if offset >= self.window {
            // The window moves: its holes are skipped for good.
            self.skip(offset - (self.window - 1), false, passed);
        }
        let bit = 1 << ahead(self.start, seq);
        if self.stored & bit != 0 {
            return Arrival::Duplicate;
        }
        if bit != 1 {
            self.stored |= bit;
            return Arrival::Stored;
        }
        self.advance(1);
        self.run(true, passed);
        Arrival::Next
    }

    /// A request for a block acknowledgement arrives: numbers before `start` will not come any more.
    pub fn on_request(&mut self, start: u16, passed: &mut Vec<(u16, bool)>) {
        let offset = ahead(self.scored_from, start);
        if offset < NUMBERS / 2 {
            self.scored = shifted(self.scored, offset);
            self.scored_from = start;
        }
        let offset = ahead(self.start, start);
        if offset < NUMBERS / 2 {
            self.skip(offset, true, passed);
            self.run(true, passed);
        }
    }

    /// The wait for the first missing number is over.
    pub fn on_deadline(&mut self, passed: &mut Vec<(u16, bool)>) {
        self.advance(self.stored.trailing_zeros() as u16);
        self.run(true, passed);
    }

    /// Sets the deadline after a change: it runs from the instant at which the first missing number was found missing.
    pub fn wait(&mut self, moved: bool, now: Time, release_after: Option<Span>) {
        if self.stored == 0 {
            self.release_at = Time::NEVER;
        } else if moved || self.release_at == Time::NEVER {
            self.release_at = release_after.map_or(Time::NEVER, |wait| now + wait);
        }
    }

    /// First number that was not passed up.
    pub fn start(&self) -> u16 {
        self.start
    }

    /// Empties the reordering buffer.
    pub fn forget_stored(&mut self) {
        (self.stored, self.release_at) = (0, Time::NEVER);
    }

    fn score(&mut self, seq: u16) {
        let offset = ahead(self.scored_from, seq);
        if offset < self.window {
            self.scored |= 1 << offset;
        } else if offset < NUMBERS / 2 {
            let by = offset - (self.window - 1);
            self.scored = shifted(self.scored, by) | 1 << (self.window - 1);
            self.scored_from = (self.scored_from + by) % NUMBERS;
        }
    }

    fn advance(&mut self, by: u16) {
        self.stored = shifted(self.stored, by);
        self.start = (self.start + by) % NUMBERS;
    }

    /// Passes up the stored MPDUs among the first numbers, and moves beyond them.
    fn skip(&mut self, count: u16, after: bool, passed: &mut Vec<(u16, bool)>) {
        for i in 0..count.min(64) {
            if self.stored >> i & 1 == 1 {
                passed.push(((self.start + i) % NUMBERS, after));
            }
        }
        self.advance(count);
    }

    /// Passes up the stored MPDUs up to the first hole.
    fn run(&mut self, after: bool, passed: &mut Vec<(u16, bool)>) {
        let count = self.stored.trailing_ones() as u16;
        self.skip(count, after, passed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipient() -> Recipient {
        Recipient::new(RadioId(1), 0, 64, 0)
    }

    /// Numbers that an MPDU releases, itself included.
    fn arrive(r: &mut Recipient, seq: u16) -> Vec<u16> {
        let mut passed = vec![];
        let arrival = r.on_mpdu(seq, &mut passed);
        let (mut before, mut after) = (vec![], vec![]);
        passed.iter().for_each(|&(seq, late)| if late { after.push(seq) } else { before.push(seq) });
        before.extend((arrival == Arrival::Next).then_some(seq));
        before.extend(after);
        before
    }

    #[test]
    fn two_of_eight_lost_hold_back_the_rest() {
        // Timeline 11 of the sheet: 9 and 10 of 8 to 15 are lost.
        let mut r = Recipient::new(RadioId(1), 0, 64, 8);
        let passed: Vec<Vec<u16>> = [8, 11, 12, 13, 14, 15].map(|seq| arrive(&mut r, seq)).into();
        assert_eq!(passed.concat(), [8]);
        assert_eq!(r.board(), (8, 0b1111_1001));
        assert_eq!(r.stored.count_ones(), 5);
        assert_eq!(arrive(&mut r, 9), [9]);
        assert_eq!(arrive(&mut r, 10), [10, 11, 12, 13, 14, 15]);
        assert_eq!(r.start(), 16);
        assert_eq!(arrive(&mut r, 12), [0; 0], "a duplicate");
    }

    #[test]
    fn a_number_beyond_the_window_gives_up_the_holes() {
        // Timeline 13: holes 0 and 1, 2 to 63 stored, 65 arrives.
        let mut r = recipient();
        (2..64).for_each(|seq| assert!(arrive(&mut r, seq).is_empty()));
        assert_eq!(arrive(&mut r, 65), [0; 0]);
        assert_eq!((r.start(), r.stored.count_ones()), (2, 63), "2 to 63 wait behind no hole any more");
    }

    #[test]
    fn a_request_moves_both_windows() {
        let mut r = recipient();
        [1, 2, 4].iter().for_each(|&seq| assert!(arrive(&mut r, seq).is_empty()));
        let mut passed = vec![];
        r.on_request(1, &mut passed);
        assert_eq!(passed, [(1, true), (2, true)]);
        assert_eq!((r.board(), r.start()), ((1, 0b1011), 3));
        r.on_request(0, &mut passed);
        assert_eq!(r.start(), 3, "an old request changes nothing");
    }

    #[test]
    fn the_release_timer_gives_up_the_first_hole() {
        let (mut r, wait) = (recipient(), Some(Span::ms(100)));
        arrive(&mut r, 1);
        r.wait(false, Time(5), wait);
        arrive(&mut r, 3);
        r.wait(false, Time(9), wait);
        assert_eq!(r.release_at, Time(100_000_005), "it runs since the hole was found");
        let mut passed = vec![];
        r.on_deadline(&mut passed);
        assert_eq!((passed, r.start()), (vec![(1, true)], 2));
        r.wait(true, Time(100_000_005), wait);
        assert_eq!(r.release_at, Time(200_000_005));
        assert_eq!(arrive(&mut r, 2), [2, 3]);
        r.wait(true, Time(100_000_006), wait);
        assert_eq!(r.release_at, Time::NEVER);
    }

    #[test]
    fn whatever_arrives_is_passed_up_once_and_in_order() {
        let mut rng = crate::rng::Stream::new(7, crate::rng::Purpose::Backoff, 0);
        for window in [1, 2, 8, 64] {
            let mut r = Recipient::new(RadioId(1), 0, window, 4000);
            let (mut next, mut last, mut count) = (0u32, None, 0);
            for _ in 0..5000 {
                // Numbers around a start that moves on; sometimes a request or the timer skips some.
                next += rng.below(3);
                let seq = ((4000 + next + rng.below(2 * u32::from(window))) % 4096) as u16;
                let mut passed = vec![];
                let (mut before, mut after) = (vec![], vec![]);
                match rng.below(12) {
                    0 => r.on_request(seq, &mut passed),
                    1 if r.stored != 0 => r.on_deadline(&mut passed),
                    _ => after.extend((r.on_mpdu(seq, &mut passed) == Arrival::Next).then_some(seq)),
                }
                passed.iter().for_each(|&(seq, late)| if late { after.push(seq) } else { before.push(seq) });
                for seq in before.into_iter().chain(after) {
                    if let Some(last) = last {
                        assert!((1..NUMBERS / 2).contains(&ahead(last, seq)), "{seq} after {last}");
                    }
                    (last, count) = (Some(seq), count + 1);
                }
            }
            assert!(count > 1000, "window {window}: {count}");
        }
    }

    #[test]
    fn numbers_wrap_around() {
        let mut r = Recipient::new(RadioId(1), 0, 64, 4094);
        assert_eq!(arrive(&mut r, 4095), [0; 0]);
        assert_eq!(arrive(&mut r, 0), [0; 0]);
        assert_eq!(arrive(&mut r, 4094), [4094, 4095, 0]);
        assert_eq!(r.board(), (4094, 0b111));
    }
}
