//! Route cache: whole routes, as they were learned (RFC 4728, section 4.1, "path cache").

use crate::packet::{BrokenLink, NodeId};
use crate::unit::{Span, Time};

/// A route from this node; empty: a free entry.
#[derive(Clone, Debug)]
struct Path {
    nodes: Vec<NodeId>,
    expires: Time,
}

/// A list of routes with a capacity; when it is full the oldest is replaced.
#[derive(Clone, Debug)]
struct Paths {
    paths: Vec<Path>,
    room: usize,
    oldest: usize,
}

impl Paths {
    fn new(room: usize) -> Paths {
        Paths { paths: Vec::new(), room, oldest: 0 }
    }

    /// Adds a route: in place of one that it extends, in a free entry, or in place of the oldest. Expired routes leave
    /// free entries.
    fn add(&mut self, way: &[NodeId], expires: Time, now: Time) {
        self.paths.iter_mut().filter(|p| p.expires <= now).for_each(|p| p.nodes.clear());
        if let Some(same) = self.paths.iter_mut().find(|p| p.nodes.starts_with(way)) {
            if same.nodes.len() == way.len() {
                same.expires = expires;
            }
            return;
        }
        if self.paths.is_empty() {
            // Allocates all entries at once: in large networks many nodes never learn a route.
            self.paths = (0..self.room).map(|_| Path { nodes: Vec::with_capacity(16), expires }).collect();
        }
        // An empty entry is a prefix of any route.
        let prefix = self.paths.iter().position(|p| way.starts_with(&p.nodes));
        let index = prefix.unwrap_or_else(|| {
            self.oldest = (self.oldest + 1) % self.room;
            (self.oldest + self.room - 1) % self.room
        });
        let path = &mut self.paths[index];
        path.nodes.clear();
        path.nodes.extend_from_slice(way);
        path.expires = expires;
    }

    /// Shortest route to a destination: its index, and its number of nodes.
    fn find(&self, to: NodeId, now: Time) -> Option<(usize, usize)> {
        let live = self.paths.iter().enumerate().filter(|(_, p)| p.expires > now);
        let ways = live.filter_map(|(i, p)| Some((i, p.nodes.iter().position(|&n| n == to)? + 1)));
        ways.min_by_key(|w| w.1)
    }

    fn cut(&mut self, link: BrokenLink) {
        for path in &mut self.paths {
            if let Some(i) = path.nodes.windows(2).position(|w| w == [link.from, link.to]) {
                path.nodes.truncate(if i == 0 { 0 } else { i + 1 });
            }
        }
    }
}

/// Memory of a route of typical length [B].
pub const PATH: usize = size_of::<Path>() + 16 * size_of::<NodeId>();

/// Routes known to a node: those requested, and those seen in packets of others.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    own: Paths,
    seen: Paths,
    timeout: Option<Span>,
    moving: Vec<NodeId>,
}

impl Cache {
    pub(super) fn new(own: usize, seen: usize, timeout: Option<Span>) -> Cache {
        Cache { own: Paths::new(own), seen: Paths::new(seen), timeout, moving: Vec::with_capacity(16) }
    }

    /// Adds a route from this node, `asked` if it comes from a reply or from the path of a request.
    pub(super) fn add(&mut self, way: &[NodeId], asked: bool, now: Time) {
        let repeats = |i: usize| way[..i].contains(&way[i]);
        if way.len() < 2 || (1..way.len()).any(repeats) {
            return;
        }
        let expires = self.expiry(now);
        if asked { self.own.add(way, expires, now) } else { self.seen.add(way, expires, now) }
    }

    /// Expiry of a route that is learned or used now.
    fn expiry(&self, now: Time) -> Time {
        self.timeout.map_or(Time::NEVER, |t| now + t)
    }

    /// Shortest route to a destination. A route used by this node itself counts as requested from now on, and its
    /// lifetime starts again (RFC 4728, 4.1: unused routes are deleted after some time).
    pub(super) fn find(&mut self, to: NodeId, for_own: bool, now: Time) -> Option<&[NodeId]> {
        let (own, seen) = (self.own.find(to, now), self.seen.find(to, now));
        let expires = self.expiry(now);
        match (own, seen) {
            (None, None) => None,
            (Some((i, n)), seen) if seen.is_none_or(|s| n <= s.1) => {
                let path = &mut self.own.paths[i];
                if for_own {
                    path.expires = expires;
                }
                Some(&path.nodes[..n])
            }
            (_, seen) => {
                let (i, n) = seen?;
                if for_own {
                    let path = &mut self.seen.paths[i];
                    self.moving.clear();
                    self.moving.extend_from_slice(&path.nodes);
                    path.nodes.clear();
                    self.own.add(&self.moving, expires, now);
                    Some(&self.moving[..n])
                } else {
                    Some(&self.seen.paths[i].nodes[..n])
                }
            }
        }
    }

    /// Removes all routes over this link.
    pub(super) fn cut(&mut self, link: BrokenLink) {
        self.own.cut(link);
        self.seen.cut(link);
    }

    /// Returns true if a route uses this link.
    pub(super) fn has(&self, link: BrokenLink) -> bool {
        let all = self.own.paths.iter().chain(&self.seen.paths);
        all.flat_map(|p| p.nodes.windows(2)).any(|w| w == [link.from, link.to])
    }

    /// All routes that have not expired.
    pub(super) fn ways(&self, now: Time) -> impl Iterator<Item = &[NodeId]> {
        let all = self.own.paths.iter().chain(&self.seen.paths);
        all.filter(move |p| p.expires > now).map(|p| &p.nodes[..])
    }

    /// Approximate memory [B].
    pub(super) fn memory(&self) -> usize {
        (self.own.paths.len() + self.seen.paths.len()) * PATH
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(ids: &[u32]) -> Vec<NodeId> {
        ids.iter().map(|&n| NodeId(n)).collect()
    }

    fn cache() -> Cache {
        let mut c = Cache::new(2, 2, None);
        c.add(&nodes(&[0, 1, 2, 3]), true, Time::ZERO);
        c.add(&nodes(&[0, 4, 3]), false, Time::ZERO);
        c
    }

    fn way(c: &mut Cache, to: u32) -> Option<Vec<NodeId>> {
        c.find(NodeId(to), true, Time::ZERO).map(<[NodeId]>::to_vec)
    }

    #[test]
    fn shortest_route_wins_and_requested_one_at_equal_length() {
        let mut c = cache();
        assert_eq!(way(&mut c, 3), Some(nodes(&[0, 4, 3])));
        assert_eq!(way(&mut c, 2), Some(nodes(&[0, 1, 2])));
        c.add(&nodes(&[0, 5, 2]), false, Time::ZERO);
        assert_eq!(way(&mut c, 2), Some(nodes(&[0, 1, 2])));
        assert_eq!(way(&mut c, 9), None);
    }

    #[test]
    fn a_broken_link_cuts_one_direction() {
        let mut c = cache();
        let has = |c: &Cache, from, to| c.has(BrokenLink { from: NodeId(from), to: NodeId(to) });
        assert!(has(&c, 1, 2) && !has(&c, 2, 1));
        c.cut(BrokenLink { from: NodeId(2), to: NodeId(1) });
        c.cut(BrokenLink { from: NodeId(4), to: NodeId(3) });
        assert_eq!(way(&mut c, 3), Some(nodes(&[0, 1, 2, 3])));
        c.cut(BrokenLink { from: NodeId(1), to: NodeId(2) });
        assert!(!has(&c, 1, 2), "it is known to be broken");
        assert_eq!((way(&mut c, 3), way(&mut c, 1)), (None, Some(nodes(&[0, 1]))));
        c.cut(BrokenLink { from: NodeId(0), to: NodeId(1) });
        assert_eq!(way(&mut c, 1), None);
    }

    #[test]
    fn oldest_route_is_replaced_and_loops_are_rejected() {
        let mut c = cache();
        c.add(&nodes(&[0, 5]), true, Time::ZERO);
        c.add(&nodes(&[0, 6]), true, Time::ZERO);
        assert_eq!(way(&mut c, 2), None, "the first of two");
        c.add(&nodes(&[0, 7, 0, 8]), true, Time::ZERO);
        assert_eq!(way(&mut c, 8), None);
    }

    #[test]
    fn unused_route_expires_and_frees_its_entry() {
        let at = |s| Time::ZERO + Span::secs(s);
        let mut c = Cache::new(2, 2, Some(Span::secs(300)));
        c.add(&nodes(&[0, 1, 2, 3]), true, at(0));
        assert!(c.find(NodeId(3), true, at(299)).is_some());
        assert!(c.find(NodeId(3), false, at(598)).is_some(), "it was used at 299 s");
        assert_eq!(c.find(NodeId(3), true, at(599)), None);
        c.add(&nodes(&[0, 1, 2]), true, at(600));
        assert_eq!(c.find(NodeId(2), true, at(601)), Some(&nodes(&[0, 1, 2])[..]));
        // A route seen in other packets is used; without use it would have expired.
        c.add(&nodes(&[0, 4, 5, 6]), true, at(0));
        c.add(&nodes(&[0, 4, 5]), false, at(700));
        assert_eq!(c.find(NodeId(5), true, at(701)), Some(&nodes(&[0, 4, 5])[..]));
    }
}
