//! Moving nodes: their current movement segments, the ends of these, and the neighbors that may be in range.
//!
//! The cost of a query does not grow with the number of nodes. Ends of segments and crossings of cell borders are
//! deadlines; the candidates in range of a node are a list that is built on demand from the cells around it, and holds
//! until two nodes can have come nearer to each other by a tenth of the reach.

use super::cells::Cells;
use super::courses::{Course, Courses};
use super::near::Lists;
use super::segment::MovementSegment;
use super::track::Track;
use super::waypoint::Model;
use super::{Config, Kind, Start};
use crate::packet::{NodeId, RadioId};
use crate::rng::{Purpose, Stream};
use crate::unit::{Meters, Position, Span, Speed, Time};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::hint::select_unpredictable;

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
    pub profile_of: Vec<u32>,
    /// Area of destinations for settings that name none: width, height.
    pub area: (Meters, Meters),
    /// Seed of random destinations, speeds and pauses.
    pub seed: u64,
}

impl Plan {
    /// Returns true if any node moves by itself.
    pub fn moves(&self) -> bool {
        self.profile_of.iter().any(|&p| self.profiles[p as usize].model != Kind::Still)
    }

    fn courses(&self) -> &Courses {
        &self.profiles[0].table
    }

    /// Initial state of a node that is at `position` in the topology.
    fn initial_node(&self, n: u32, position: Position) -> MobileNode {
        let cfg = &self.profiles[self.profile_of[n as usize] as usize];
        match cfg.model {
            Kind::Still => MobileNode::rest(position),
            Kind::File => {
                let courses = self.courses().of(n);
                let begins = courses.first().map_or(Time::NEVER, |c| c.at);
                let from = courses.first().map_or(position, |c| c.from);
                MobileNode {
                    source: Source::Courses { next: 0 },
                    segment: MovementSegment::rest(from, Time::ZERO, begins),
                    to: from,
                }
            }
            Kind::RandomWaypoint => {
                let model = Model::new(cfg, self.area);
                let mut rng = Stream::new(self.seed, Purpose::Mobility, n.into());
                let initial = model.initial_state(cfg.initial, position, &mut rng);
                let to = initial.heading.map_or(initial.position, |h| h.0);
                MobileNode {
                    source: Source::RandomWaypoint(Box::new(RandomWaypoint { model, rng })),
                    segment: initial.segment(),
                    to,
                }
            }
        }
    }

    /// Initial positions of nodes with these positions in the topology.
    pub fn starts(&self, positions: &[Position]) -> Vec<Position> {
        let of_topology = |cfg: &Config| match cfg.model {
            Kind::Still => true,
            Kind::RandomWaypoint => cfg.initial == Start::Topology,
            Kind::File => false,
        };
        let start = |(n, &position): (usize, &Position)| match of_topology(&self.profiles[self.profile_of[n] as usize])
        {
            true => position,
            false => self.initial_node(n as u32, position).segment.from,
        };
        positions.iter().enumerate().map(start).collect()
    }

    /// Movements of all nodes up to an instant.
    pub fn courses_until(&self, positions: &[Position], until: Time) -> Courses {
        let mut all = vec![];
        for (n, &position) in (0..).zip(positions) {
            let mut node = self.initial_node(n, position);
            loop {
                let MovementSegment { begins, from, speed, .. } = node.segment;
                all.push(Course { at: begins, node: n, from, to: if speed.0 > 0.0 { node.to } else { from }, speed });
                if node.segment.ends > until {
                    break;
                }
                node.next_segment(self.courses().of(n));
            }
        }
        Courses::new(all)
    }
}

/// Random waypoint movement of a node.
#[derive(Clone, Debug)]
struct RandomWaypoint {
    model: Model,
    rng: Stream,
}

/// Source of a node's movement segments.
#[derive(Clone, Debug)]
enum Source {
    /// The node rests forever after its segment.
    None,
    /// Segments between random waypoints.
    RandomWaypoint(Box<RandomWaypoint>),
    /// Segments from a file; `next` is the index of the next course.
    Courses { next: usize },
}

/// A moving node: its segment, and the source of the next ones.
#[derive(Clone, Debug)]
struct MobileNode {
    source: Source,
    segment: MovementSegment,
    /// End of the segment.
    to: Position,
}

impl MobileNode {
    fn rest(position: Position) -> MobileNode {
        MobileNode {
            source: Source::None,
            segment: MovementSegment::rest(position, Time::ZERO, Time::NEVER),
            to: position,
        }
    }

    /// Begins the next segment.
    fn next_segment(&mut self, courses: &[Course]) {
        let MobileNode { source, segment, to } = self;
        let (now, rested) = (segment.ends, !segment.moves());
        match source {
            Source::None => *segment = MovementSegment::rest(*to, now, Time::NEVER),
            Source::RandomWaypoint(movement) => {
                let pause = movement.model.pause;
                if !rested && pause > Span::ZERO {
                    *segment = MovementSegment::rest(*to, now, now + pause);
                } else {
                    let (next, speed) = movement.model.draw(&mut movement.rng);
                    *segment = MovementSegment::straight(*to, next, speed, now);
                    *to = next;
                    if !segment.moves() {
                        // The destination equals the position: draws again after a while.
                        segment.ends = now + Span::secs(1);
                    }
                }
            }
            Source::Courses { next } => {
                let at = |i: usize| courses.get(i).map_or(Time::NEVER, |c| c.at);
                if at(*next) <= now {
                    let course = &courses[*next];
                    *next += 1;
                    (*segment, *to) = (course.segment(), if course.speed.0 > 0.0 { course.to } else { course.from });
                } else {
                    *segment = MovementSegment::rest(*to, now, Time::NEVER);
                }
                segment.ends = segment.ends.min(at(*next));
            }
        }
    }
}

/// All nodes of a run.
#[derive(Clone, Debug)]
pub struct MobileNodes {
    /// Track of each node, for queries of positions, and an unused one.
    tracks: Vec<Track>,
    nodes: Vec<MobileNode>,
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
    candidates: Vec<NodeId>,
    known_for: Span,
    decides_ties: bool,
}

impl MobileNodes {
    /// Nodes of a plan at these positions in the topology, with this number of radios and this range.
    pub fn new(plan: &Plan, positions: &[Position], radios: usize, reach: Meters) -> MobileNodes {
        let nodes: Vec<MobileNode> =
            (0..).zip(positions).map(|(n, &position)| plan.initial_node(n, position)).collect();
        let positions: Vec<Position> = nodes.iter().map(|m| m.segment.from).collect();
        let unread = MovementSegment::rest(Position::default(), Time::ZERO, Time::NEVER);
        let tracks = nodes.iter().map(|m| &m.segment).chain([&unread]).map(Track::new).collect();
        let courses = plan.courses().clone();
        let models = || {
            nodes.iter().filter_map(|m| if let Source::RandomWaypoint(w) = &m.source { Some(&w.model) } else { None })
        };
        let fastest = models().map(|m| m.fastest.0).chain(courses.all().iter().map(|c| c.speed.0)).fold(0.0, f64::max);
        let areas = models().flat_map(|m| [Position::default(), Position { x: m.width, y: m.height }]);
        let listed = courses.all().iter().flat_map(|c| [c.from, c.to]);
        let all = || positions.iter().copied().chain(areas.clone()).chain(listed.clone());
        let pick = |of: fn(f64, f64) -> f64| {
            let both = |a: Position, b: Position| Position { x: of(a.x, b.x), y: of(a.y, b.y) };
            all().reduce(both).unwrap_or_default()
        };
        let reach = reach.0;
        let cells = Cells::new(pick(f64::min), pick(f64::max), reach.max(1.0), &positions);
        let n = positions.len();
        let mut mobile_nodes = MobileNodes {
            deadlines: vec![Time::NEVER; n],
            order: BinaryHeap::with_capacity(n + 1),
            cells,
            lists: Lists::new(n, radios, SLACK * reach),
            reach,
            fastest,
            jumped: 0.0,
            candidates: Vec::with_capacity(64),
            known_for: plan.profiles[0].ns2.neighbor_list_interval,
            decides_ties: plan.profiles[0].ns2.decides_ties,
            tracks,
            nodes,
            courses,
        };
        for n in 0..n {
            mobile_nodes.update(n, Time::ZERO);
        }
        mobile_nodes
    }

    /// Next call of [`on_deadline`](Self::on_deadline).
    pub fn deadline(&self) -> Time {
        self.order.peek().map_or(Time::NEVER, |next| next.0.0)
    }

    /// Handles ends of segments and crossings of cell borders. Reports to `tell` each node that has begun a segment,
    /// with the destination.
    pub fn on_deadline(&mut self, now: Time, mut tell: impl FnMut(NodeId, &MovementSegment, Position)) {
        while let Some(&Reverse((at, node))) = self.order.peek().filter(|next| next.0.0 <= now) {
            self.order.pop();
            let n = node as usize;
            if self.deadlines[n] == at && self.update(n, now) {
                tell(NodeId(node), &self.nodes[n].segment, self.nodes[n].to);
            }
        }
    }

    /// Advances a node to `now`; returns true if it has begun a segment.
    fn update(&mut self, n: usize, now: Time) -> bool {
        let node = &mut self.nodes[n];
        let courses = self.courses.of(n as u32);
        let mut begun = false;
        while node.segment.ends <= now {
            let position = node.segment.at(node.segment.ends);
            node.next_segment(courses);
            let jump = position.distance(node.segment.from).0;
            // A smaller difference is rounding.
            if jump > 1e-6 {
                self.jumped += jump;
            }
            begun = true;
        }
        let segment = node.segment;
        self.tracks[n].follow(&segment);
        self.cells.update(n as u32, segment.at(now));
        let (low, high) = self.cells.corners(n as u32);
        // Checks again soon if rounding leaves the node on the near side of the border.
        let leaves = segment.leaves(low, high).max(now + Span::us(1)).min(segment.ends);
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
        self.tracks[n.index()].exact(at).position
    }

    /// Returns true if motion decides ties between a signal that arrives and a backoff slot that ends.
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
    pub fn segment(&self, n: NodeId) -> &MovementSegment {
        &self.nodes[n.index()].segment
    }

    /// Destination of a node's segment.
    pub fn destination(&self, n: NodeId) -> Position {
        self.nodes[n.index()].to
    }

    /// Collects the nodes that may be in range of a radio, for [`near`](Self::near). Returns false if none of them can
    /// have moved since the last call for that radio.
    pub fn look_around(&mut self, n: NodeId, r: RadioId, at: Time) -> bool {
        let changed = !self.lists.holds(n, at, self.fastest, self.jumped) && self.make_list(n, at);
        if !changed && self.lists.is_quiet(r, at, self.jumped) {
            return false;
        }
        let mut all = std::iter::once(&n).chain(self.lists.of(n)).map(|m| self.segment(*m));
        let quiet = all.try_fold(Time::NEVER, |until, s| (!s.moves()).then(|| until.min(s.ends)));
        self.lists.note_quiet(r, quiet.unwrap_or(Time::ZERO), self.jumped);
        true
    }

    /// Builds the candidate list of a node; returns true if its members have changed.
    fn make_list(&mut self, n: NodeId, at: Time) -> bool {
        let position = self.position(n, at);
        let distance = (1.0 + SLACK) * self.reach + MARGIN;
        let MobileNodes { candidates, cells, tracks, lists, jumped, .. } = self;
        let is_near = |m: &NodeId| {
            let p = tracks[m.index()].exact(at).position;
            (p.x - position.x).powi(2) + (p.y - position.y).powi(2) <= distance * distance
        };
        candidates.clear();
        candidates.extend(cells.around(position, distance + MARGIN).map(NodeId).filter(|m| *m != n && is_near(m)));
        candidates.sort_unstable();
        lists.renew(n, candidates, at, *jumped)
    }

    /// Nodes that may be in range of the radio of the last [`look_around`](Self::look_around), in the order of their
    /// numbers. Records the positions of the nodes that the sender finds.
    #[inline]
    pub fn near(&mut self, n: NodeId, at: Time) -> Near<'_> {
        let known_for = (self.known_for > Span::ZERO).then_some(self.known_for);
        let position = known_for.map_or_else(Position::default, |known_for| {
            let track = &mut self.tracks[n.index()];
            let position = track.known(at, known_for);
            track.recorded = track.exact(at);
            position
        });
        Near {
            candidates: self.lists.of(n).iter(),
            tracks: &mut self.tracks,
            at,
            known_for,
            position,
            side: self.reach + BEYOND,
        }
    }

    /// Places a node at a position, where it stays; ends its scenario motion.
    pub fn put(&mut self, n: NodeId, position: Position, now: Time) {
        self.jumped += self.position(n, now).distance(position).0;
        self.replace_movement(n, MovementSegment::rest(position, now, Time::NEVER), position, now);
    }

    /// Sends a node to a position, where it stays; ends its scenario motion.
    pub fn send(&mut self, n: NodeId, to: Position, speed: Speed, now: Time) {
        let segment = MovementSegment::straight(self.position(n, now), to, speed, now);
        self.fastest = self.fastest.max(speed.0);
        let to = if segment.moves() { to } else { segment.from };
        self.replace_movement(n, segment, to, now);
    }

    fn replace_movement(&mut self, n: NodeId, segment: MovementSegment, to: Position, now: Time) {
        self.nodes[n.index()] = MobileNode { source: Source::None, segment, to };
        self.update(n.index(), now);
        // Invalidates all radios whose surroundings did not move.
        self.jumped = self.jumped.next_up();
    }

    /// Memory of growing lists \[B\].
    pub fn memory(&self) -> usize {
        self.lists.memory()
    }
}

/// First radios of the candidates of a node, their positions, and a flag: the node finds the radio. With `known_for`, a
/// node finds the radios whose recorded positions are in the square around it. The iterator has no branch on that,
/// because the branch would be unpredictable.
pub struct Near<'a> {
    candidates: std::slice::Iter<'a, NodeId>,
    tracks: &'a mut [Track],
    at: Time,
    /// Longest age of positions; `None`: all candidates are found.
    known_for: Option<Span>,
    /// Recorded position of the node.
    position: Position,
    /// Half the side of the square [m].
    side: f64,
}

impl Iterator for Near<'_> {
    type Item = (RadioId, Position, bool);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let m = *self.candidates.next()?;
        let track = &mut self.tracks[m.index()];
        let exact = track.exact(self.at);
        let mut found = true;
        if let Some(known_for) = self.known_for {
            let known = track.known(self.at, known_for);
            let (x, y) = (known.x - self.position.x, known.y - self.position.y);
            found = (x.abs() <= self.side) & (y.abs() <= self.side);
            let recorded = select_unpredictable(found, m.index(), self.tracks.len() - 1);
            self.tracks[recorded].recorded = exact;
        }
        Some((RadioId(m.0), exact.position, found))
    }
}
