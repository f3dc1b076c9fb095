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
/// A slot, or the head of a bucket: part of a ring.
#[derive(Clone, Copy, Debug)]
struct Link {
    at: Time,
    next: u32,
    previous: u32,
}

/// Deadlines of thousands of slots.
#[derive(Clone, Debug)]
pub(super) struct Wheel {
    /// All slots, and after them the heads of the buckets. What is in no bucket is a ring by itself, so that taking out
    /// and putting in are the same stores whatever the case: a branch would be mispredicted half of the time.
    links: Vec<Link>,
    slots: usize,
    /// Which buckets hold something.
    used: Vec<u64>,
    /// Which of these words are not zero, or were not when last looked at.
    used_words: Vec<u64>,
    /// Time of a bucket [bits of ns].
    bucket_bits: u32,
    /// The piece of time up to which everything is over; what is due earlier all the same lies in its bucket.
    now: u64,
    far: Tree,
    /// Which slots are in the tree.
    is_far: Vec<bool>,
}

impl Wheel {
    pub(super) fn new(slots: usize) -> Wheel {
        // At least 4096, so that a word of `used_words` is full.
        let bits = slots.next_power_of_two().trailing_zeros().clamp(12, REACH_BITS);
        let alone = |i: usize| Link { at: Time::NEVER, next: i as u32, previous: i as u32 };
        Wheel {
            links: (0..slots + (1 << bits)).map(alone).collect(),
            slots,
            used: vec![0; (1 << bits) / 64],
            used_words: vec![0; (1 << bits) / 4096],
            bucket_bits: REACH_BITS - bits,
            now: 0,
            far: Tree::new(slots),
            is_far: vec![false; slots],
        }
    }

    fn buckets(&self) -> usize {
        64 * self.used.len()
    }

    #[inline]
    pub(super) fn set(&mut self, slot: usize, at: Time) {
        self.take_out(slot);
        let piece = (at.0 >> self.bucket_bits).max(self.now);
        let near = piece - self.now < self.buckets() as u64;
        self.put_in(slot, at, piece as usize & (self.buckets() - 1), near);
        let far = !near && at != Time::NEVER;
        if far || self.is_far[slot] {
            self.set_far(slot, if far { at } else { Time::NEVER });
        }
    }

    /// Clears the deadline of a slot.
    #[inline]
    pub(super) fn clear(&mut self, slot: usize) {
        self.take_out(slot);
        self.links[slot] = Link { at: Time::NEVER, next: slot as u32, previous: slot as u32 };
        if self.is_far[slot] {
            self.set_far(slot, Time::NEVER);
        }
    }

    #[cold]
    fn set_far(&mut self, slot: usize, at: Time) {
        self.far.set(slot, at);
        self.is_far[slot] = at != Time::NEVER;
    }

    pub(super) fn get(&self, slot: usize) -> Time {
        self.links[slot].at
    }

    #[inline]
    fn take_out(&mut self, slot: usize) {
        let Link { next, previous, .. } = self.links[slot];
        self.links[next as usize].previous = previous;
        self.links[previous as usize].next = next;
        // Both are the head when it was the last.
        let last = next == previous && next as usize >= self.slots;
        let bucket = (next as usize).wrapping_sub(self.slots) & (self.buckets() - 1);
        self.used[bucket / 64] &= !(u64::from(last) << (bucket % 64));
    }

    #[inline]
    fn put_in(&mut self, slot: usize, at: Time, bucket: usize, near: bool) {
        let head = if near { self.slots + bucket } else { slot };
        self.links[slot] = Link { at, next: slot as u32, previous: slot as u32 };
        let next = self.links[head].next;
        self.links[next as usize].previous = slot as u32;
        self.links[head].next = slot as u32;
        (self.links[slot].next, self.links[slot].previous) = (next, head as u32);
        self.used[bucket / 64] |= u64::from(near) << (bucket % 64);
        self.used_words[bucket / 4096] |= u64::from(near) << (bucket / 64 % 64);
    }

    /// The slot that is due first.
    #[inline]
    fn first_near(&mut self) -> Option<(usize, Time)> {
        let from = self.now as usize & (self.buckets() - 1);
        let bucket = self.first_used(from).or_else(|| self.first_used(0))?;
        let head = self.slots + bucket;
        let mut slot = self.links[head].next as usize;
        let (mut first, mut first_at) = (slot, self.links[slot].at);
        loop {
            slot = self.links[slot].next as usize;
            if slot == head {
                return Some((first, first_at));
            }
            let at = self.links[slot].at;
            let earlier = at < first_at || at == first_at && slot < first;
            (first, first_at) = if earlier { (slot, at) } else { (first, first_at) };
        }
    }

    /// The first bucket from here on that holds something.
    #[inline]
    fn first_used(&mut self, from: usize) -> Option<usize> {
        let word = self.used[from / 64] >> (from % 64);
        if word != 0 {
            return Some(from + word.trailing_zeros() as usize);
        }
        let mut i = from / 64 + 1;
        while i < self.used.len() {
            let words = self.used_words[i / 64] >> (i % 64);
            if words == 0 {
                i = (i / 64 + 1) * 64;
                continue;
            }
            i += words.trailing_zeros() as usize;
            if self.used[i] != 0 {
                return Some(64 * i + self.used[i].trailing_zeros() as usize);
            }
            self.used_words[i / 64] &= !(1 << (i % 64));
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
