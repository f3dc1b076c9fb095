//! Moving nodes: their current segments of motion, the ends of these, and the neighbours that may be in range.
//!
//! The cost of a query does not grow with the number of nodes. Ends of segments and crossings of cell borders are
//! deadlines; the candidates in range of a node are a list that is built on demand from the cells around it, and holds
//! until two nodes can have come nearer to each other by a tenth of the reach.

use super::cells::Cells;
use super::courses::{Course, Courses};
use super::leg::Leg;
use super::near::Lists;
use super::waypoint::Model;
use super::{Config, Kind, Start};
use crate::packet::{NodeId, RadioId};
use crate::rng::{Purpose, Stream};
use crate::unit::{Metres, Position, Span, Speed, Time};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Margin of candidate lists, as a share of the reach.
const SLACK: f64 = 0.1;
/// Margin for positions rounded to a nanosecond of motion, and more [m].
const MARGIN: f64 = 1.0;
/// Margin of ns-2 beyond the carrier-sense range (`distCST_ + 5`) [m].
const BEYOND: f64 = 5.0;

/// Motion of the nodes of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Distinct motion settings; the first one is that of nodes without settings of their own.
    pub profiles: Vec<Config>,
    /// Profile of each node.
    pub of: Vec<u32>,
    /// Area of random walks whose settings name none: width, height.
    pub area: (Metres, Metres),
    /// Seed of random walks.
    pub seed: u64,
}

impl Plan {
    /// Tells if any node moves by itself.
    pub fn moves(&self) -> bool {
        self.of.iter().any(|&p| self.profiles[p as usize].kind != Kind::Still)
    }

    fn courses(&self) -> &Courses {
        &self.profiles[0].courses
    }

    /// Start of a node that is at `place` in the topology.
    fn begin(&self, n: u32, place: Position) -> Mover {
        let cfg = &self.profiles[self.of[n as usize] as usize];
        match cfg.kind {
            Kind::Still => Mover::rest(place),
            Kind::File => {
                let courses = self.courses().of(n);
                let begins = courses.first().map_or(Time::NEVER, |c| c.at);
                let from = courses.first().map_or(place, |c| c.from);
                Mover { source: Source::Courses { next: 0 }, leg: Leg::rest(from, Time::ZERO, begins), to: from }
            }
            Kind::RandomWaypoint => {
                let model = Model::new(cfg, self.area);
                let mut rng = Stream::new(self.seed, Purpose::Motion, n.into());
                let beginning = model.begin(cfg.start, place, &mut rng);
                let to = beginning.walk.map_or(beginning.place, |w| w.0);
                Mover { source: Source::Walk(Box::new(Walk { model, rng })), leg: beginning.leg(), to }
            }
        }
    }

    /// Initial positions of nodes with these positions in the topology.
    pub fn starts(&self, places: &[Position]) -> Vec<Position> {
        let of_topology = |cfg: &Config| match cfg.kind {
            Kind::Still => true,
            Kind::RandomWaypoint => cfg.start == Start::Topology,
            Kind::File => false,
        };
        let start = |(n, &place): (usize, &Position)| match of_topology(&self.profiles[self.of[n] as usize]) {
            true => place,
            false => self.begin(n as u32, place).leg.from,
        };
        places.iter().enumerate().map(start).collect()
    }

    /// Movements of all nodes up to an instant.
    pub fn courses_until(&self, places: &[Position], until: Time) -> Courses {
        let mut all = vec![];
        for (n, &place) in (0..).zip(places) {
            let mut mover = self.begin(n, place);
            loop {
                let Leg { begins, from, speed, .. } = mover.leg;
                all.push(Course { at: begins, node: n, from, to: if speed.0 > 0.0 { mover.to } else { from }, speed });
                if mover.leg.ends > until {
                    break;
                }
                mover.go_on(self.courses().of(n));
            }
        }
        Courses::new(all)
    }
}

/// A random walk.
#[derive(Clone, Debug)]
struct Walk {
    model: Model,
    rng: Stream,
}

/// Source of a node's segments of motion.
#[derive(Clone, Debug)]
enum Source {
    /// No further segments.
    None,
    /// Segments drawn from a random walk.
    Walk(Box<Walk>),
    /// Segments from a file; `next` is the index of the next course.
    Courses { next: usize },
}

/// A moving node: its segment, and the source of the next ones.
#[derive(Clone, Debug)]
struct Mover {
    source: Source,
    leg: Leg,
    /// End of the segment.
    to: Position,
}

impl Mover {
    fn rest(place: Position) -> Mover {
        Mover { source: Source::None, leg: Leg::rest(place, Time::ZERO, Time::NEVER), to: place }
    }

    /// Begins the next segment.
    fn go_on(&mut self, courses: &[Course]) {
        let Mover { source, leg, to } = self;
        let (now, rested) = (leg.ends, !leg.moves());
        match source {
            Source::None => *leg = Leg::rest(*to, now, Time::NEVER),
            Source::Walk(walk) => {
                let pause = walk.model.pause;
                if !rested && pause > Span::ZERO {
                    *leg = Leg::rest(*to, now, now + pause);
                } else {
                    let (next, speed) = walk.model.walk(&mut walk.rng);
                    *leg = Leg::walk(*to, next, speed, now);
                    *to = next;
                    if !leg.moves() {
                        // The destination equals the position: draws again after a while.
                        leg.ends = now + Span::secs(1);
                    }
                }
            }
            Source::Courses { next } => {
                let at = |i: usize| courses.get(i).map_or(Time::NEVER, |c| c.at);
                if at(*next) <= now {
                    let course = &courses[*next];
                    *next += 1;
                    (*leg, *to) = (course.leg(), if course.speed.0 > 0.0 { course.to } else { course.from });
                } else {
                    *leg = Leg::rest(*to, now, Time::NEVER);
                }
                leg.ends = leg.ends.min(at(*next));
            }
        }
    }
}

/// All nodes of a run.
#[derive(Clone, Debug)]
pub struct Crowd {
    /// Current segment of each node, for queries of positions.
    legs: Vec<Leg>,
    movers: Vec<Mover>,
    courses: Courses,
    /// End of each node's segment, or crossing of its cell's border.
    deadlines: Vec<Time>,
    /// Deadlines in order; an entry that is not its node's current deadline is stale.
    order: BinaryHeap<Reverse<(Time, u32)>>,
    cells: Cells,
    lists: Lists,
    /// Carrier-sense range [m].
    reach: f64,
    /// Highest speed of any node [m/s].
    fastest: f64,
    /// Total length of all jumps [m].
    jumped: f64,
    found: Vec<NodeId>,
    known_for: Span,
    decides_ties: bool,
    /// Instant at which each node's position was last recorded, for `known_for`.
    known: Vec<Time>,
}

impl Crowd {
    /// Nodes of a plan at these positions in the topology, with this number of radios and this range.
    pub fn new(plan: &Plan, places: &[Position], radios: usize, reach: Metres) -> Crowd {
        let movers: Vec<Mover> = (0..).zip(places).map(|(n, &place)| plan.begin(n, place)).collect();
        let legs: Vec<Leg> = movers.iter().map(|m| m.leg).collect();
        let places: Vec<Position> = legs.iter().map(|l| l.from).collect();
        let courses = plan.courses().clone();
        let walks =
            || movers.iter().filter_map(|m| if let Source::Walk(w) = &m.source { Some(&w.model) } else { None });
        let fastest = walks().map(|m| m.fastest.0).chain(courses.all().iter().map(|c| c.speed.0)).fold(0.0, f64::max);
        let areas = walks().flat_map(|m| [Position::default(), Position { x: m.width, y: m.height }]);
        let listed = courses.all().iter().flat_map(|c| [c.from, c.to]);
        let all = || places.iter().copied().chain(areas.clone()).chain(listed.clone());
        let pick = |of: fn(f64, f64) -> f64| {
            let both = |a: Position, b: Position| Position { x: of(a.x, b.x), y: of(a.y, b.y) };
            all().reduce(both).unwrap_or_default()
        };
        let reach = reach.0;
        let cells = Cells::new(pick(f64::min), pick(f64::max), reach.max(1.0), &places);
        let n = places.len();
        let mut crowd = Crowd {
            deadlines: vec![Time::NEVER; n],
            order: BinaryHeap::with_capacity(n + 1),
            cells,
            lists: Lists::new(n, radios, SLACK * reach),
            reach,
            fastest,
            jumped: 0.0,
            found: Vec::with_capacity(64),
            known_for: plan.profiles[0].known_for,
            decides_ties: plan.profiles[0].decides_ties,
            known: if plan.profiles[0].known_for > Span::ZERO { vec![Time::ZERO; n] } else { Vec::new() },
            legs,
            movers,
            courses,
        };
        for n in 0..n {
            crowd.settle(n, Time::ZERO);
        }
        crowd
    }

    /// Next call of [`on_deadline`](Self::on_deadline).
    pub fn deadline(&self) -> Time {
        self.order.peek().map_or(Time::NEVER, |next| next.0.0)
    }

    /// Handles ends of segments and crossings of cell borders. Reports to `tell` each node that has begun a segment,
    /// with the destination.
    pub fn on_deadline(&mut self, now: Time, mut tell: impl FnMut(NodeId, &Leg, Position)) {
        while let Some(&Reverse((at, node))) = self.order.peek().filter(|next| next.0.0 <= now) {
            self.order.pop();
            let n = node as usize;
            if self.deadlines[n] == at && self.settle(n, now) {
                tell(NodeId(node), &self.legs[n], self.movers[n].to);
            }
        }
    }

    /// Advances a node to `now`; returns true if it has begun a segment.
    fn settle(&mut self, n: usize, now: Time) -> bool {
        let mover = &mut self.movers[n];
        let courses = self.courses.of(n as u32);
        let mut begun = false;
        while mover.leg.ends <= now {
            let place = mover.leg.at(mover.leg.ends);
            mover.go_on(courses);
            let jump = place.distance(mover.leg.from).0;
            // A smaller difference is rounding.
            if jump > 1e-6 {
                self.jumped += jump;
            }
            begun = true;
        }
        let leg = mover.leg;
        self.legs[n] = leg;
        self.cells.place(n as u32, leg.at(now));
        let (low, high) = self.cells.corners(n as u32);
        // Checks again soon if rounding leaves the node on the near side of the border.
        let leaves = leg.leaves(low, high).max(now + Span::us(1)).min(leg.ends);
        if leaves != self.deadlines[n] {
            self.deadlines[n] = leaves;
            if leaves != Time::NEVER {
                self.order.push(Reverse((leaves, n as u32)));
            }
        }
        begun
    }

    /// Position of a node at an instant.
    #[inline]
    pub fn position(&self, n: NodeId, at: Time) -> Position {
        self.legs[n.index()].at(at)
    }

    /// Tells if motion decides ties between a signal that arrives and a back-off slot that ends.
    pub fn decides_ties(&self) -> bool {
        self.decides_ties
    }

    /// Change of the distance between two nodes in the last millisecond: less, greater or equal.
    pub fn drift(&self, a: NodeId, b: NodeId, at: Time) -> Ordering {
        let distance = |at| {
            let (p, q) = (self.position(a, at), self.position(b, at));
            (p.x - q.x).powi(2) + (p.y - q.y).powi(2)
        };
        distance(at).total_cmp(&distance(Time(at.0.saturating_sub(1_000_000))))
    }

    /// Current segment of a node.
    pub fn leg(&self, n: NodeId) -> &Leg {
        &self.legs[n.index()]
    }

    /// Destination of a node's segment.
    pub fn destination(&self, n: NodeId) -> Position {
        self.movers[n.index()].to
    }

    /// Collects the nodes that may be in range of a radio, for [`near`](Self::near). Returns false if none of them can
    /// have moved since the last call for that radio.
    pub fn look_around(&mut self, n: NodeId, r: RadioId, at: Time) -> bool {
        let changed = !self.lists.holds(n, at, self.fastest, self.jumped) && self.make_list(n, at);
        if !changed && self.lists.is_quiet(r, at, self.jumped) {
            return false;
        }
        let all = std::iter::once(&n).chain(self.lists.of(n)).map(|m| &self.legs[m.index()]);
        let until = all.map(|leg| if leg.moves() { None } else { Some(leg.ends) });
        let quiet = until.reduce(|a, b| a.zip(b).map(|(a, b)| a.min(b))).flatten();
        self.lists.note_quiet(r, quiet.unwrap_or(Time::ZERO), self.jumped);
        if self.known_for > Span::ZERO {
            self.look_around_by_known_places(n, at);
        }
        true
    }

    /// Builds the candidate list of a node; returns true if its members have changed.
    fn make_list(&mut self, n: NodeId, at: Time) -> bool {
        let place = self.position(n, at);
        let distance = (1.0 + SLACK) * self.reach + MARGIN;
        let Crowd { found, cells, legs, lists, jumped, .. } = self;
        let is_near = |m: &NodeId| {
            let p = legs[m.index()].at(at);
            (p.x - place.x).powi(2) + (p.y - place.y).powi(2) <= distance * distance
        };
        found.clear();
        found.extend(cells.around(place, distance + MARGIN).map(NodeId).filter(|m| *m != n && is_near(m)));
        found.sort_unstable();
        lists.renew(n, found, at, *jumped)
    }

    /// Restricts the candidates to the square around a node, by positions of limited age. Updates the recorded
    /// positions of these candidates.
    fn look_around_by_known_places(&mut self, n: NodeId, at: Time) {
        let side = self.reach + BEYOND;
        let position = self.known_place(n, at);
        let mut candidates = std::mem::take(&mut self.found);
        candidates.clear();
        candidates.extend(self.lists.of(n).iter().filter(|m| {
            let p = self.known_place(**m, at);
            (p.x - position.x).abs() <= side && (p.y - position.y).abs() <= side
        }));
        for m in candidates.iter().chain(&[n]) {
            self.known[m.index()] = at;
        }
        self.found = candidates;
    }

    /// Recorded position of a node, from the last exact query, the begin of its segment, or the last multiple of
    /// `known_for` after it.
    fn known_place(&self, n: NodeId, at: Time) -> Position {
        let leg = &self.legs[n.index()];
        let last = self.known[n.index()].max(leg.begins);
        let age = at.since(last);
        leg.at(last + Span(age.0 / self.known_for.0 * self.known_for.0))
    }

    /// Nodes that may be in range of the radio of the last `look_around`, in the order of their numbers, with their
    /// positions.
    pub fn near(&self, n: NodeId, at: Time) -> impl Iterator<Item = (NodeId, Position)> + '_ {
        let all = if self.known_for > Span::ZERO { &self.found } else { self.lists.of(n) };
        all.iter().map(move |&m| (m, self.legs[m.index()].at(at)))
    }

    /// Places a node at a position, where it stays; ends its scenario motion.
    pub fn put(&mut self, n: NodeId, place: Position, now: Time) {
        self.jumped += self.position(n, now).distance(place).0;
        self.lead(n, Leg::rest(place, now, Time::NEVER), place, now);
    }

    /// Sends a node to a position, where it stays; ends its scenario motion.
    pub fn send(&mut self, n: NodeId, to: Position, speed: Speed, now: Time) {
        let leg = Leg::walk(self.position(n, now), to, speed, now);
        self.fastest = self.fastest.max(speed.0);
        let to = if leg.moves() { to } else { leg.from };
        self.lead(n, leg, to, now);
    }

    fn lead(&mut self, n: NodeId, leg: Leg, to: Position, now: Time) {
        self.movers[n.index()] = Mover { source: Source::None, leg, to };
        self.settle(n.index(), now);
        // Invalidates all radios whose surroundings did not move.
        self.jumped = self.jumped.next_up();
    }

    /// Memory of growing lists \[B\].
    pub fn memory(&self) -> usize {
        self.lists.memory()
    }
}
