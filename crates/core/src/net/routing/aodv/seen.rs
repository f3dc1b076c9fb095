//! Route requests seen by a node (RFC 3561, section 6.5): each is answered or forwarded once.

use crate::packet::NodeId;
use crate::unit::Time;

/// A hash table with open addressing; expired entries stay until the table is full.
///
/// Most requests are new, so most searches end at a free bucket. A mark tells without the bucket if the bucket is free.
/// The marks have a sixteenth of the size of the buckets, and stay in near caches.
#[derive(Clone, Debug)]
// The fields that each search reads are next to each other.
#[repr(C)]
pub(super) struct Seen {
    /// For each bucket, eight bits of the hash of its request; zero: free.
    marks: Vec<u8>,
    /// Originator, number of the request, and expiry.
    buckets: Vec<(NodeId, u32, Time)>,
    used: usize,
    /// Second table of the same size, for removing expired entries.
    spare: Vec<(NodeId, u32, Time)>,
}

const FREE: (NodeId, u32, Time) = (NodeId::BROADCAST, 0, Time::ZERO);

impl Seen {
    pub(super) fn new() -> Seen {
        Seen { marks: vec![0; 16], buckets: vec![FREE; 16], used: 0, spare: Vec::with_capacity(16) }
    }

    /// Memory of the tables [B].
    pub(super) fn memory(&self) -> usize {
        2 * self.buckets.capacity() * size_of_val(&FREE) + self.marks.capacity()
    }

    /// Bucket of a request, or the free bucket for the request, and its mark.
    fn bucket(&self, originator: NodeId, id: u32) -> (usize, u8) {
        let mask = self.marks.len() - 1;
        // Fibonacci hashing: neighboring numbers end up far apart.
        let key = (u64::from(originator.0) << 32 | u64::from(id)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let (mut i, mark) = ((key >> 32) as usize & mask, (key >> 56) as u8 | 1);
        let other = |i: usize| (self.buckets[i].0, self.buckets[i].1) != (originator, id);
        while self.marks[i] != 0 && (self.marks[i] != mark || other(i)) {
            i = (i + 1) & mask;
        }
        (i, mark)
    }

    /// Records a request; returns true if it was seen before and has not expired. Requests with an expiry up to
    /// `forgotten` have expired.
    pub(super) fn saw(&mut self, originator: NodeId, id: u32, until: Time, forgotten: Time) -> bool {
        let (i, mark) = self.bucket(originator, id);
        if self.marks[i] == 0 {
            self.used += 1;
            self.marks[i] = mark;
        } else if self.buckets[i].2 > forgotten {
            return true;
        }
        self.buckets[i] = (originator, id, until);
        if 4 * self.used > 3 * self.buckets.len() {
            self.make_room(forgotten);
        }
        false
    }

    fn make_room(&mut self, forgotten: Time) {
        let kept = self.buckets.iter().filter(|p| p.2 > forgotten).count();
        let room = if 2 * kept > self.buckets.len() { 2 * self.buckets.len() } else { self.buckets.len() };
        self.spare.clear();
        self.spare.resize(room, FREE);
        std::mem::swap(&mut self.buckets, &mut self.spare);
        self.marks.clear();
        self.marks.resize(room, 0);
        self.used = kept;
        for k in 0..self.spare.len() {
            let p = self.spare[k];
            if p.2 > forgotten {
                let (i, mark) = self.bucket(p.0, p.1);
                (self.marks[i], self.buckets[i]) = (mark, p);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_seen_once_until_it_is_forgotten() {
        let mut seen = Seen::new();
        assert!(!seen.saw(NodeId(1), 1, Time(10), Time(0)));
        assert!(seen.saw(NodeId(1), 1, Time(20), Time(9)), "its time does not start anew");
        assert!(!seen.saw(NodeId(1), 1, Time(30), Time(10)));
    }

    #[test]
    fn many_requests_are_kept_apart() {
        let mut seen = Seen::new();
        for i in 0..3000 {
            assert!(!seen.saw(NodeId(i % 7), i, Time(u64::from(i) + 1000), Time(u64::from(i))));
            let recent = i.saturating_sub(900);
            assert!(seen.saw(NodeId(recent % 7), recent, Time(1), Time(u64::from(i))));
        }
        assert!(seen.buckets.len() <= 4096, "{}", seen.buckets.len());
    }
}
