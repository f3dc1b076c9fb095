//! Many deadlines, of which those that are near lie in buckets by their time.
//!
//! With thousands of nodes most deadlines are those of stations and of frames on the air: set anew all the time, and
//! due within a few milliseconds. So time is cut into short pieces, and each piece of the next 34 ms has a bucket: the
//! list of the slots that are due then. To set a deadline is to take the slot out of one list and to put it into
//! another, and what is due first is in the first list that is not empty, which a bit map finds. There are about as
//! many buckets as slots, so that lists stay short. What is due later lies in a tree of minima and stays there.

use super::tree::Tree;
use crate::unit::Time;

/// The time that all buckets cover [bits of ns].
const REACH_BITS: u32 = 25;
/// No slot.
const NONE: u32 = u32::MAX;
/// In no bucket: never to be called.
const OUT: u32 = u32::MAX;
/// In no bucket but in the tree.
const FAR: u32 = u32::MAX - 1;

/// The place of a slot.
#[derive(Clone, Copy, Debug)]
struct Link {
    at: Time,
    next: u32,
    previous: u32,
    /// Its bucket.
    bucket: u32,
}

/// Deadlines of thousands of slots.
#[derive(Clone, Debug)]
pub(super) struct Wheel {
    links: Vec<Link>,
    /// The first slot of each bucket.
    heads: Vec<u32>,
    /// Which buckets hold something, and which of these words are not zero.
    used: Vec<u64>,
    used_words: Vec<u64>,
    /// Time of a bucket [bits of ns].
    bucket_bits: u32,
    /// The piece of time up to which everything is over; what is due earlier all the same lies in its bucket.
    now: u64,
    far: Tree,
}

impl Wheel {
    pub(super) fn new(slots: usize) -> Wheel {
        // At least 4096, so that a word of `used_words` is full.
        let bits = slots.next_power_of_two().trailing_zeros().clamp(12, REACH_BITS);
        Wheel {
            links: vec![Link { at: Time::NEVER, next: NONE, previous: NONE, bucket: OUT }; slots],
            heads: vec![NONE; 1 << bits],
            used: vec![0; (1 << bits) / 64],
            used_words: vec![0; (1 << bits) / 4096],
            bucket_bits: REACH_BITS - bits,
            now: 0,
            far: Tree::new(slots),
        }
    }

    #[inline]
    pub(super) fn set(&mut self, slot: usize, at: Time) {
        let piece = (at.0 >> self.bucket_bits).max(self.now);
        let near = piece - self.now < self.heads.len() as u64;
        let bucket = if near {
            (piece as usize & (self.heads.len() - 1)) as u32
        } else if at == Time::NEVER {
            OUT
        } else {
            FAR
        };
        let link = &mut self.links[slot];
        link.at = at;
        let before = std::mem::replace(&mut link.bucket, bucket);
        if bucket == FAR || before == FAR {
            self.far.set(slot, if bucket == FAR { at } else { Time::NEVER });
        }
        if before != bucket {
            if before < FAR {
                self.take_out(slot, before as usize);
            }
            if bucket < FAR {
                self.put_in(slot, bucket as usize);
            }
        }
    }

    #[inline]
    fn take_out(&mut self, slot: usize, bucket: usize) {
        let Link { next, previous, .. } = self.links[slot];
        if next != NONE {
            self.links[next as usize].previous = previous;
        }
        if previous != NONE {
            self.links[previous as usize].next = next;
            return;
        }
        self.heads[bucket] = next;
        if next == NONE {
            let word = &mut self.used[bucket / 64];
            *word &= !(1 << (bucket % 64));
            if *word == 0 {
                self.used_words[bucket / 4096] &= !(1 << (bucket / 64 % 64));
            }
        }
    }

    #[inline]
    fn put_in(&mut self, slot: usize, bucket: usize) {
        let next = std::mem::replace(&mut self.heads[bucket], slot as u32);
        let link = &mut self.links[slot];
        (link.next, link.previous) = (next, NONE);
        if next != NONE {
            self.links[next as usize].previous = slot as u32;
        } else {
            self.used[bucket / 64] |= 1 << (bucket % 64);
            self.used_words[bucket / 4096] |= 1 << (bucket / 64 % 64);
        }
    }

    /// The slot that is due first.
    #[inline]
    fn first_near(&self) -> Option<(usize, Time)> {
        let from = self.now as usize & (self.heads.len() - 1);
        let bucket = self.first_used(from).or_else(|| self.first_used(0))?;
        let mut first = (Time::NEVER, NONE);
        let mut slot = self.heads[bucket];
        while slot != NONE {
            let link = &self.links[slot as usize];
            first = first.min((link.at, slot));
            slot = link.next;
        }
        Some((first.1 as usize, first.0))
    }

    /// The first bucket from here on that holds something.
    #[inline]
    fn first_used(&self, from: usize) -> Option<usize> {
        let word = self.used[from / 64] >> (from % 64);
        if word != 0 {
            return Some(from + word.trailing_zeros() as usize);
        }
        let mut i = from / 64 + 1;
        while i < self.used.len() {
            let words = self.used_words[i / 64] >> (i % 64);
            if words != 0 {
                let word = i + words.trailing_zeros() as usize;
                return Some(64 * word + self.used[word].trailing_zeros() as usize);
            }
            i = (i / 64 + 1) * 64;
        }
        None
    }

    /// The slot that is due first, if that is before another actor that would have this slot is due.
    #[inline]
    pub(super) fn next_before(&mut self, slot: usize, at: Time) -> Option<(usize, Time)> {
        let near = self.first_near().unwrap_or((slot, at));
        let next = if near.1 < at { near.1 } else { at };
        let (s, t) = match self.far.next_until(next) {
            Some(far) if (far.1, far.0) < (near.1, near.0) => far,
            _ => near,
        };
        if (t, s) >= (at, slot) {
            return None;
        }
        // Only now: what is due in between may still be set.
        self.now = self.now.max(t.0 >> self.bucket_bits);
        Some((s, t))
    }
}
