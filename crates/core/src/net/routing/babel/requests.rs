//! Messages that are sent again: retractions, and requests that no update has satisfied; requests passed on.

use crate::packet::NodeId;
use crate::unit::{Span, Time};

/// Time until the first repetition; each further one takes twice as long.
const FIRST: Span = Span::secs(2);
/// Repetitions.
const MOST: u8 = 3;
/// Time after which a request is forgotten.
const FORGOTTEN: Span = Span::secs(65);

/// A message that is sent again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    /// An update for a prefix.
    Update,
    /// A request of a sequence number.
    Request {
        /// Router-id of the origin.
        router: NodeId,
        /// Number that is requested.
        seqno: u16,
    },
}

/// An update or a request that is outstanding.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    prefix: NodeId,
    what: What,
    /// Time at which it was sent first.
    at: Time,
    /// Time from then to the next repetition.
    delay: Span,
    /// Repetitions that are left.
    left: u8,
}

impl Outstanding {
    fn due(&self) -> Time {
        if self.left == 0 { Time::NEVER } else { self.at + self.delay }
    }
}

/// All that is outstanding; at most one update and one request for each prefix.
#[derive(Clone, Debug)]
pub(super) struct Requests(Vec<Outstanding>);

impl Default for Requests {
    fn default() -> Requests {
        Requests(Vec::with_capacity(32))
    }
}

/// Returns true if a sequence number is newer (RFC 8966, section 3.2.1).
pub(super) fn is_newer(seqno: u16, than: u16) -> bool {
    seqno.wrapping_sub(than).cast_signed() > 0
}

impl Requests {
    /// Notes what was sent; `again`: it is to be repeated.
    pub(super) fn record(&mut self, prefix: NodeId, what: What, again: bool, now: Time) {
        let same_kind = |w: What| (w == What::Update) == (what == What::Update);
        let left = if again { MOST } else { 0 };
        let fresh = Outstanding { prefix, what, at: now, delay: FIRST, left };
        match self.0.iter_mut().find(|o| o.prefix == prefix && same_kind(o.what)) {
            Some(o) => *o = Outstanding { left: left.max(o.left), ..fresh },
            None => self.0.push(fresh),
        }
    }

    /// Takes a repetition that is due.
    pub(super) fn take_due(&mut self, now: Time) -> Option<(NodeId, What)> {
        let o = self.0.iter_mut().find(|o| o.due() <= now)?;
        o.delay = o.delay * 2;
        o.left -= 1;
        let found = (o.prefix, o.what);
        if o.left == 0 && o.what == What::Update {
            self.0.retain(|o| (o.prefix, o.what) != found);
        }
        Some(found)
    }

    /// Time of the next repetition.
    pub(super) fn due(&self) -> Time {
        self.0.iter().map(Outstanding::due).min().unwrap_or(Time::NEVER)
    }

    /// An update for this prefix satisfies the request of it.
    pub(super) fn satisfy(&mut self, prefix: NodeId, router: NodeId, seqno: u16) {
        self.0.retain(|o| o.prefix != prefix || !is_satisfied(o.what, router, seqno));
    }

    /// An update satisfies a request that somebody waits for.
    pub(super) fn waits_for(&self, prefix: NodeId, router: NodeId, seqno: u16) -> bool {
        self.0.iter().any(|o| o.prefix == prefix && is_satisfied(o.what, router, seqno))
    }

    /// The same request, or one for a newer number, was sent before.
    pub(super) fn is_redundant(&self, prefix: NodeId, router: NodeId, seqno: u16) -> bool {
        self.0.iter().any(|o| {
            o.prefix == prefix
                && matches!(o.what, What::Request { router: r, seqno: s } if r == router && !is_newer(seqno, s))
        })
    }

    /// Forgets old requests.
    pub(super) fn forget(&mut self, now: Time) {
        self.0.retain(|o| now.since(o.at) < FORGOTTEN);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

fn is_satisfied(what: What, router: NodeId, seqno: u16) -> bool {
    matches!(what, What::Request { router: r, seqno: s } if r != router || !is_newer(s, seqno))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_come_after_2_4_and_8_s() {
        let at = |s| Time::ZERO + Span::secs(s);
        let (to, what) = (NodeId(3), What::Request { router: NodeId(3), seqno: 5 });
        let mut r = Requests::default();
        r.record(to, what, true, at(10));
        let mut times = vec![];
        while r.due() < Time::NEVER {
            times.push(r.due());
            assert_eq!(r.take_due(r.due()), Some((to, what)));
        }
        assert_eq!(times, [at(12), at(14), at(18)]);
        assert!(r.is_redundant(to, NodeId(3), 5) && !r.is_redundant(to, NodeId(3), 6));
        assert!(!r.waits_for(to, NodeId(3), 4) && r.waits_for(to, NodeId(3), 5));
        r.satisfy(to, NodeId(3), 4);
        assert!(r.waits_for(to, NodeId(3), 6));
        r.forget(at(75));
        assert!(!r.waits_for(to, NodeId(3), 6));
    }

    #[test]
    fn sequence_numbers_wrap() {
        assert!(is_newer(1, 65_535) && !is_newer(65_535, 1) && !is_newer(7, 7));
    }
}
