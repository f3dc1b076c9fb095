//! Links of a node to its neighbors, and what it knows of each neighbor (RFC 3626, sections 4.2, 4.3 and 7).
//!
//! A node has one address, so that a link and a neighbor are the same: the neighbor tuple, the MPR selector tuple and
//! the mark of a multipoint relay are in the entry of the link.

use super::config::Hysteresis;
use super::quality::{self, Window};
use crate::packet::NodeId;
use crate::unit::{Span, Time};

/// Link types (RFC 3626, section 18.5).
pub(super) const ASYM_LINK: u8 = 1;
pub(super) const SYM_LINK: u8 = 2;
pub(super) const LOST_LINK: u8 = 3;
/// Neighbor types (section 18.6).
const NOT_NEIGH: u8 = 0;
pub(super) const SYM_NEIGH: u8 = 1;
pub(super) const MPR_NEIGH: u8 = 2;

/// Link type and neighbor type of a link code; `None` if they contradict each other (section 6.1.1).
pub(super) fn types(code: u8) -> Option<(u8, u8)> {
    let (link, neighbor) = (code & 3, code >> 2);
    (neighbor <= MPR_NEIGH && !(link == SYM_LINK && neighbor == NOT_NEIGH)).then_some((link, neighbor))
}

/// A link.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) neighbor: NodeId,
    /// L_SYM_time: end of the time in which the link goes both ways.
    pub(super) sym_until: Time,
    /// L_ASYM_time: end of the time in which the neighbor is heard.
    pub(super) asym_until: Time,
    /// L_time: end of the entry.
    pub(super) until: Time,
    /// MS_time: end of the time in which the neighbor has this node as a relay.
    pub(super) selector_until: Time,
    pub(super) willingness: u8,
    /// The link went both ways when the router last looked.
    pub(super) is_symmetric: bool,
    /// The neighbor was an MPR selector when the router last looked.
    pub(super) is_selector: bool,
    /// The neighbor is a relay of this node.
    pub(super) is_mpr: bool,
    /// Number of the last packet.
    number: u16,
    /// Time of the last HELLO, and the time that its sender lets pass between two.
    hello_at: Time,
    hello_interval: Span,
    /// L_link_quality, L_link_pending and L_LOST_LINK_time of the hysteresis; the HELLOs missed that it has counted.
    share: f64,
    is_pending: bool,
    lost_until: Time,
    counted: u64,
    window: Window,
    /// Qualities in use, and the cost that follows.
    pub(super) lq: u8,
    pub(super) nlq: u8,
    pub(super) cost: u32,
}

impl Link {
    /// A link over which a first HELLO comes, in the packet with this number.
    fn new(neighbor: NodeId, number: u16, hysteresis: &Hysteresis, has_quality: bool) -> Link {
        let mut window = Window::new();
        window.on_packet(1);
        Link {
            neighbor,
            sym_until: Time::ZERO,
            asym_until: Time::ZERO,
            until: Time::ZERO,
            selector_until: Time::ZERO,
            willingness: 0,
            is_symmetric: false,
            is_selector: false,
            is_mpr: false,
            number,
            hello_at: Time::ZERO,
            hello_interval: Span::ZERO,
            share: hysteresis.scaling,
            is_pending: hysteresis.enabled && hysteresis.scaling <= hysteresis.threshold_high,
            lost_until: Time::ZERO,
            counted: 0,
            window,
            lq: 0,
            nlq: 0,
            cost: if has_quality { quality::BROKEN } else { quality::UNIT },
        }
    }

    /// The link goes both ways, and the hysteresis lets it be used.
    pub(super) fn goes_both_ways(&self, now: Time) -> bool {
        self.sym_until > now && !self.is_pending && self.lost_until <= now
    }

    /// Link code of a HELLO; `None`: the link is not to be announced (sections 6.2 and 14.2).
    pub(super) fn code(&self, now: Time) -> Option<u8> {
        let link = if self.lost_until > now {
            LOST_LINK
        } else if self.is_pending {
            return None;
        } else if self.sym_until > now {
            SYM_LINK
        } else if self.asym_until > now {
            ASYM_LINK
        } else {
            LOST_LINK
        };
        let neighbor = match (self.is_symmetric, self.is_mpr) {
            (false, _) => NOT_NEIGH,
            (true, false) => SYM_NEIGH,
            (true, true) => MPR_NEIGH,
        };
        Some(neighbor << 2 | link)
    }

    /// Packets of the neighbor since the last one that was heard, with the one that arrives now; none if that is a copy
    /// that came over another radio.
    fn gap(&mut self, number: u16) -> u16 {
        let gap = number.wrapping_sub(self.number);
        self.number = number;
        gap
    }

    /// A packet with this number arrives.
    pub(super) fn on_packet(&mut self, number: u16, hysteresis: &Hysteresis, hold: Span, now: Time) {
        let gap = self.gap(number);
        if gap == 0 {
            return;
        }
        self.window.on_packet(gap);
        if hysteresis.enabled {
            (1..gap.min(32)).for_each(|_| self.share *= 1.0 - hysteresis.scaling);
            self.share += hysteresis.scaling * (1.0 - self.share);
            self.judge(hysteresis, hold, now);
        }
    }

    /// The hysteresis decides if the link is used (section 14.3).
    fn judge(&mut self, hysteresis: &Hysteresis, hold: Span, now: Time) {
        if self.share > hysteresis.threshold_high {
            (self.is_pending, self.lost_until) = (false, Time::ZERO);
        } else if self.share < hysteresis.threshold_low {
            if !self.is_pending {
                self.lost_until = self.until.min(now + hold);
            }
            self.is_pending = true;
        }
    }

    /// A HELLO arrives; `code`: what it says of the link to this node (section 7.1.1).
    pub(super) fn on_hello(&mut self, code: Option<u8>, (validity, interval): (Span, Span), hold: Span, now: Time) {
        self.asym_until = now + validity;
        match code.map(|c| c & 3) {
            Some(LOST_LINK) => self.sym_until = Time::ZERO,
            Some(SYM_LINK | ASYM_LINK) => {
                self.sym_until = now + validity;
                self.until = self.sym_until + hold;
            }
            _ => {}
        }
        self.until = self.until.max(self.asym_until);
        (self.hello_at, self.hello_interval, self.counted) = (now, interval, 0);
    }

    /// The neighbor says how much of this node's packets it receives; returns true if the cost changes.
    pub(super) fn on_report(&mut self, nlq: u8) -> bool {
        self.nlq = quality::replaced(self.nlq, nlq);
        self.find_cost()
    }

    /// A slot of the window ends; returns true if the cost changes.
    pub(super) fn end_slot(&mut self, now: Time) -> bool {
        let missed = quality::missed(self.hello_at, self.hello_interval, now);
        self.lq = quality::replaced(self.lq, self.window.end_slot(missed, self.hello_interval));
        self.find_cost()
    }

    fn find_cost(&mut self) -> bool {
        let before = std::mem::replace(&mut self.cost, quality::cost(self.lq, self.nlq));
        before != self.cost
    }

    /// Counts HELLOs that did not come as losses; a later gap of numbers does not count them again.
    pub(super) fn count_missed(&mut self, hysteresis: &Hysteresis, hold: Span, now: Time) {
        let missed = quality::missed(self.hello_at, self.hello_interval, now);
        while self.counted < missed {
            self.counted += 1;
            self.number = self.number.wrapping_add(1);
            self.share *= 1.0 - hysteresis.scaling;
            self.judge(hysteresis, hold, now);
        }
    }

    /// Time at which the next HELLO counts as missed.
    fn misses_at(&self) -> Time {
        self.hello_at + self.hello_interval * (self.counted + 1) + Span(self.hello_interval.0 / 2)
    }

    /// The link is lost: the MAC has given up a packet (section 13).
    pub(super) fn lose(&mut self, hold: Span, now: Time) {
        (self.sym_until, self.asym_until) = (Time::ZERO, Time::ZERO);
        self.until = now + hold;
    }

    /// Next time at which the state of the link changes by itself.
    pub(super) fn changes_at(&self, hysteresis: &Hysteresis, now: Time) -> Time {
        let missed = if hysteresis.enabled { self.misses_at() } else { Time::NEVER };
        let times = [self.sym_until, self.until, self.selector_until, self.lost_until, missed];
        times.into_iter().filter(|&t| t > now).min().unwrap_or(Time::NEVER)
    }
}

/// Links, sorted by neighbor.
#[derive(Clone, Debug, Default)]
pub(super) struct Links(pub(super) Vec<Link>);

impl Links {
    fn index(&self, neighbor: NodeId) -> Result<usize, usize> {
        self.0.binary_search_by_key(&neighbor, |l| l.neighbor)
    }

    pub(super) fn get(&self, neighbor: NodeId) -> Option<&Link> {
        self.index(neighbor).ok().map(|i| &self.0[i])
    }

    pub(super) fn get_mut(&mut self, neighbor: NodeId) -> Option<&mut Link> {
        self.index(neighbor).ok().map(|i| &mut self.0[i])
    }

    /// The link to a neighbor, with a new entry if there is none.
    pub(super) fn entry(
        &mut self,
        neighbor: NodeId,
        number: u16,
        hysteresis: &Hysteresis,
        has_quality: bool,
    ) -> &mut Link {
        let i = self.index(neighbor).unwrap_or_else(|i| {
            self.0.insert(i, Link::new(neighbor, number, hysteresis, has_quality));
            i
        });
        &mut self.0[i]
    }

    /// Returns true if a neighbor was symmetric when the router last looked.
    pub(super) fn is_symmetric(&self, neighbor: NodeId) -> bool {
        self.get(neighbor).is_some_and(|l| l.is_symmetric)
    }

    /// Links that went both ways when the router last looked.
    pub(super) fn symmetric(&self) -> impl Iterator<Item = &Link> {
        self.0.iter().filter(|l| l.is_symmetric)
    }
}
