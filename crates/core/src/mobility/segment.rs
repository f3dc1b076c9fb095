//! Movement segment: the straight path of a node at constant speed, or a rest.

use crate::unit::{Position, Speed, Time};

/// Position of a node between two instants, as a linear function of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MovementSegment {
    /// Begin of the segment.
    pub begins: Time,
    /// End of the segment; `NEVER`: a permanent rest.
    pub ends: Time,
    /// Position at the begin.
    pub from: Position,
    /// Velocity along both axes [m/s].
    velocity: (f64, f64),
    /// Speed of the node; 0: it rests.
    pub speed: Speed,
}

/// Position of a node as a linear function of time, from the begin of a segment on.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// Begin of the segment.
    pub begins: Time,
    /// Position at the begin.
    pub from: Position,
    /// Velocity along both axes [m/s].
    velocity: (f64, f64),
}

impl Line {
    /// Position at an instant.
    #[inline]
    pub fn at(&self, at: Time) -> Position {
        // No run lasts 2^63 ns, and a signed number is converted by one instruction.
        let s = at.since(self.begins).0 as i64 as f64 * 1e-9;
        Position { x: self.from.x + self.velocity.0 * s, y: self.from.y + self.velocity.1 * s }
    }
}

impl MovementSegment {
    /// A rest at a position.
    pub fn rest(position: Position, begins: Time, ends: Time) -> MovementSegment {
        MovementSegment { begins, ends, from: position, velocity: (0.0, 0.0), speed: Speed(0.0) }
    }

    /// A straight path. It ends in the first nanosecond at which the node has arrived; without a distance, or at no
    /// speed, it is a permanent rest.
    pub fn straight(from: Position, to: Position, speed: Speed, begins: Time) -> MovementSegment {
        let distance = from.distance(to).0;
        let ns = distance / speed.0 * 1e9;
        if distance == 0.0 || speed.0 <= 0.0 || ns >= 9e18 {
            return MovementSegment::rest(from, begins, Time::NEVER);
        }
        let each = |from: f64, to: f64| (to - from) / distance * speed.0;
        let ends = Time(begins.0.saturating_add(ns.ceil() as u64));
        MovementSegment { begins, ends, from, velocity: (each(from.x, to.x), each(from.y, to.y)), speed }
    }

    /// Position of the node at an instant of the segment.
    #[inline]
    pub fn at(&self, at: Time) -> Position {
        self.line().at(at)
    }

    /// Position as a function of time.
    #[inline]
    pub fn line(&self) -> Line {
        Line { begins: self.begins, from: self.from, velocity: self.velocity }
    }

    /// Returns true if the node moves.
    #[inline]
    pub fn moves(&self) -> bool {
        self.speed.0 > 0.0
    }

    /// Instant at which the node leaves a rectangle around it, or the end of the segment if that is earlier.
    pub fn leaves(&self, low: Position, high: Position) -> Time {
        let axis = |from: f64, v: f64, low: f64, high: f64| match v {
            v if v > 0.0 => (high - from) / v,
            v if v < 0.0 => (low - from) / v,
            _ => f64::INFINITY,
        };
        let s =
            axis(self.from.x, self.velocity.0, low.x, high.x).min(axis(self.from.y, self.velocity.1, low.y, high.y));
        let ns = s.max(0.0) * 1e9;
        if ns < 9e18 { Time(self.begins.0.saturating_add(ns.ceil() as u64)).min(self.ends) } else { self.ends }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segment_is_a_linear_function_of_time() {
        let (a, b) = (Position { x: 100.0, y: 200.0 }, Position { x: 130.0, y: 160.0 });
        let segment = MovementSegment::straight(a, b, Speed(10.0), Time(7));
        assert_eq!(segment.ends, Time(5_000_000_007), "50 m at 10 m/s");
        assert_eq!((segment.at(Time(7)), segment.at(Time(3))), (a, a));
        let half = segment.at(Time(2_500_000_007));
        assert!((half.x - 115.0).abs() < 1e-9 && (half.y - 180.0).abs() < 1e-9, "{half:?}");
        let end = segment.at(segment.ends);
        assert!((end.x - b.x).abs() < 1e-9 && (end.y - b.y).abs() < 1e-9, "{end:?}");
        assert_eq!(segment.speed, Speed(10.0));
    }

    #[test]
    fn segment_without_distance_or_speed_is_a_rest() {
        let a = Position { x: 1.0, y: 2.0 };
        for segment in [
            MovementSegment::straight(a, a, Speed(5.0), Time(3)),
            MovementSegment::straight(a, Position::default(), Speed(0.0), Time(3)),
        ] {
            assert_eq!(segment, MovementSegment::rest(a, Time(3), Time::NEVER));
            assert!(!segment.moves());
        }
    }

    #[test]
    fn segment_leaves_a_cell_at_its_border() {
        let (low, high) = (Position::default(), Position { x: 100.0, y: 100.0 });
        let segment = MovementSegment::straight(
            Position { x: 50.0, y: 20.0 },
            Position { x: 50.0, y: 520.0 },
            Speed(20.0),
            Time(0),
        );
        assert_eq!(segment.leaves(low, high), Time(4_000_000_000));
        let inside = MovementSegment::straight(
            Position { x: 50.0, y: 20.0 },
            Position { x: 40.0, y: 20.0 },
            Speed(20.0),
            Time(0),
        );
        assert_eq!(inside.leaves(low, high), inside.ends);
        assert_eq!(MovementSegment::rest(low, Time(5), Time(9)).leaves(low, high), Time(9));
    }
}
