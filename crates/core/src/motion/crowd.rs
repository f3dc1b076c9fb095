//! All nodes: their legs, when these end, and who may be near whom.
//!
//! The cost of a question does not grow with the number of nodes. Legs end, and nodes cross borders of cells, at deadlines;
//! who may be near a node is a list that is made from the cells around it when somebody asks, and holds until two nodes
//! can have come nearer to each other by a tenth of the reach.

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

/// A list of who may be near also has those who are farther away by this share of the reach.
const SLACK: f64 = 0.1;
/// What a place may be wrong by where it is known to a nanosecond only, and more [m].
const MARGIN: f64 = 1.0;
/// ns-2 looks this much farther than a signal reaches (`distCST_ + 5`) [m].
const BEYOND: f64 = 5.0;

/// How the nodes of a run move.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The motions that there are; the first one is that of nodes without settings of their own.
    pub profiles: Vec<Config>,
    /// The motion of each node.
    pub of: Vec<u32>,
    /// The area of random walks whose settings name none: width, height.
    pub area: (Metres, Metres),
    /// Seed of random walks.
    pub seed: u64,
}

impl Plan {
    /// Whether any node moves by itself.
    pub fn moves(&self) -> bool {
        self.of.iter().any(|&p| self.profiles[p as usize].kind != Kind::Still)
    }

    fn courses(&self) -> &Courses {
        &self.profiles[0].courses
    }

    /// How a node begins that is at `place` in the topology.
    fn begin(&self, n: u32, place: Position) -> Mover {
        let cfg = &self.profiles[self.of[n as usize] as usize];
        match cfg.kind {
            Kind::Still => Mover::rest(place),
            Kind::File => {
                let own = self.courses().of(n);
                let begins = own.first().map_or(Time::NEVER, |c| c.at);
                let from = own.first().map_or(place, |c| c.from);
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

    /// Where nodes are at the beginning that have these places in the topology.
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

    /// The ways of all nodes up to an instant.
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

/// Where the legs of a node come from.
#[derive(Clone, Debug)]
enum Source {
    /// There are no more.
    None,
    /// They are drawn.
    Walk(Box<Walk>),
    /// They are listed; the number of the next one.
    Courses { next: usize },
}

/// A node: its leg, and what comes after it.
#[derive(Clone, Debug)]
struct Mover {
    source: Source,
    leg: Leg,
    /// Where the leg ends.
    to: Position,
}

impl Mover {
    fn rest(place: Position) -> Mover {
        Mover { source: Source::None, leg: Leg::rest(place, Time::ZERO, Time::NEVER), to: place }
    }

    /// The next leg.
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
                        // It was drawn where it is: it draws again after a while.
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
    /// The leg of each node, for those who ask where it is.
    legs: Vec<Leg>,
    movers: Vec<Mover>,
    courses: Courses,
    /// When the leg of each node ends, or it leaves its cell.
    deadlines: Vec<Time>,
    /// The same in order; entries that are not their node's deadline any more mean nothing.
    order: BinaryHeap<Reverse<(Time, u32)>>,
    cells: Cells,
    lists: Lists,
    /// How far a signal reaches [m].
    reach: f64,
    /// Nobody is faster [m/s].
    fastest: f64,
    /// The length of all jumps [m].
    jumped: f64,
    found: Vec<NodeId>,
    known_for: Span,
    decides_ties: bool,
    /// When the place of each node was last taken down, where it is known for a while.
    known: Vec<Time>,
}

impl Crowd {
    /// The nodes of a plan that have these places in the topology, with this number of radios, which reach so far.
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

    /// When [`on_deadline`](Self::on_deadline) wants to be called.
    pub fn deadline(&self) -> Time {
        self.order.peek().map_or(Time::NEVER, |next| next.0.0)
    }

    /// Legs have ended, or borders of cells are crossed. Tells which nodes have begun a leg, and where to.
    pub fn on_deadline(&mut self, now: Time, mut tell: impl FnMut(NodeId, &Leg, Position)) {
        while let Some(&Reverse((at, node))) = self.order.peek().filter(|next| next.0.0 <= now) {
            self.order.pop();
            let n = node as usize;
            if self.deadlines[n] == at && self.settle(n, now) {
                tell(NodeId(node), &self.legs[n], self.movers[n].to);
            }
        }
    }

    /// Brings a node up to now; whether it has begun a leg.
    fn settle(&mut self, n: usize, now: Time) -> bool {
        let mover = &mut self.movers[n];
        let courses = self.courses.of(n as u32);
        let mut begun = false;
        while mover.leg.ends <= now {
            let place = mover.leg.at(mover.leg.ends);
            mover.go_on(courses);
            let jump = place.distance(mover.leg.from).0;
            // Less is rounding.
            if jump > 1e-6 {
                self.jumped += jump;
            }
            begun = true;
        }
        let leg = mover.leg;
        self.legs[n] = leg;
        self.cells.place(n as u32, leg.at(now));
        let (low, high) = self.cells.corners(n as u32);
        // Where rounding leaves it on the near side of the border it is looked at again.
        let leaves = leg.leaves(low, high).max(now + Span::us(1)).min(leg.ends);
        if leaves != self.deadlines[n] {
            self.deadlines[n] = leaves;
            if leaves != Time::NEVER {
                self.order.push(Reverse((leaves, n as u32)));
            }
        }
        begun
    }

    /// Where a node is.
    #[inline]
    pub fn position(&self, n: NodeId, at: Time) -> Position {
        self.legs[n.index()].at(at)
    }

    /// Ties between a signal that arrives and a slot of a back-off that ends are decided by motion.
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

    /// The leg of a node.
    pub fn leg(&self, n: NodeId) -> &Leg {
        &self.legs[n.index()]
    }

    /// Where the leg of a node leads.
    pub fn destination(&self, n: NodeId) -> Position {
        self.movers[n.index()].to
    }

    /// Looks for those who may hear a radio of a node; [`near`](Self::near) tells who they are. Whether anybody may have
    /// moved since this was last asked for that radio.
    pub fn look_around(&mut self, n: NodeId, r: RadioId, at: Time) -> bool {
        let others = !self.lists.holds(n, at, self.fastest, self.jumped) && self.make_list(n, at);
        if !others && self.lists.is_quiet(r, at, self.jumped) {
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

    /// A list of all who may be near a node for a while; whether there are others in it than before.
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

    /// Of those who may be near a node the ones in the square around it, by places that are as old as they may be. The
    /// exact ones of these are known then.
    fn look_around_by_known_places(&mut self, n: NodeId, at: Time) {
        let side = self.reach + BEYOND;
        let own = self.known_place(n, at);
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        found.extend(self.lists.of(n).iter().filter(|m| {
            let p = self.known_place(**m, at);
            (p.x - own.x).abs() <= side && (p.y - own.y).abs() <= side
        }));
        for m in found.iter().chain(&[n]) {
            self.known[m.index()] = at;
        }
        self.found = found;
    }

    /// The place of a node as it was last taken down: when somebody looked exactly, when it began its leg, or every
    /// `known_for` after that.
    fn known_place(&self, n: NodeId, at: Time) -> Position {
        let leg = &self.legs[n.index()];
        let last = self.known[n.index()].max(leg.begins);
        let age = at.since(last);
        leg.at(last + Span(age.0 / self.known_for.0 * self.known_for.0))
    }

    /// Those who may hear the radio for which it was last looked around, in the order of their numbers, with their places.
    pub fn near(&self, n: NodeId, at: Time) -> impl Iterator<Item = (NodeId, Position)> + '_ {
        let all = if self.known_for > Span::ZERO { &self.found } else { self.lists.of(n) };
        all.iter().map(move |&m| (m, self.legs[m.index()].at(at)))
    }

    /// A node is put at a place, where it stays: what the scenario says of its motion counts no more.
    pub fn put(&mut self, n: NodeId, place: Position, now: Time) {
        self.jumped += self.position(n, now).distance(place).0;
        self.lead(n, Leg::rest(place, now, Time::NEVER), place, now);
    }

    /// A node is sent to a place, where it stays: what the scenario says of its motion counts no more.
    pub fn send(&mut self, n: NodeId, to: Position, speed: Speed, now: Time) {
        let leg = Leg::walk(self.position(n, now), to, speed, now);
        self.fastest = self.fastest.max(speed.0);
        let to = if leg.moves() { to } else { leg.from };
        self.lead(n, leg, to, now);
    }

    fn lead(&mut self, n: NodeId, leg: Leg, to: Position, now: Time) {
        self.movers[n.index()] = Mover { source: Source::None, leg, to };
        self.settle(n.index(), now);
        // What was quiet may not be any more.
        self.jumped = self.jumped.next_up();
    }

    /// Memory of what grows \[B\].
    pub fn memory(&self) -> usize {
        self.lists.memory()
    }
}
