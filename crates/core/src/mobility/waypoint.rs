//! Random waypoint: a node moves straight to a point drawn uniformly in a rectangle, at a speed drawn uniformly from an
//! interval, pauses there, and repeats (Johnson and Maltz 1996).
//!
//! Slow segments last longer, so they take a larger share of the time than of the segments. In the stationary state the
//! density of the speed of a moving node is therefore proportional to 1/speed, with mean (max - min) / ln(max / min).
//! If nodes begin with uniform speeds, the mean falls to that value during the run (Yoon, Liu, Noble, INFOCOM 2003),
//! and to 0 if the minimum speed is 0. Moving nodes are denser in the middle than at the border (Bettstetter, Resta,
//! Santi, IEEE TMC 2(3), 2003). Navidi and Camp (IEEE TMC 3(1), 2004) derive the distribution of the first segment that
//! puts a run into the stationary state from its beginning.

use super::segment::MovementSegment;
use super::{Config, Start};
use crate::rng::Stream;
use crate::unit::{Meters, Position, Span, Speed, Time};

/// Parameters of random waypoint: area, speeds, pauses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// Width of the area \[m\].
    pub width: f64,
    /// Height of the area \[m\].
    pub height: f64,
    /// Lower limit of speeds.
    pub slowest: Speed,
    /// Upper limit of speeds.
    pub fastest: Speed,
    /// Pause at a destination.
    pub pause: Span,
}

/// Initial state of a node: first segment, and pause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InitialState {
    /// Position at time 0.
    pub position: Position,
    /// Destination and speed of the first segment; `None`: the node pauses.
    pub heading: Option<(Position, Speed)>,
    /// Length of the first pause of a node that begins with one.
    pub pause: Span,
}

impl Model {
    /// Model for these settings, with this default area.
    pub fn new(cfg: &Config, (width, height): (Meters, Meters)) -> Model {
        Model {
            width: cfg.width.unwrap_or(width).0,
            height: cfg.height.unwrap_or(height).0,
            slowest: cfg.min_speed,
            fastest: cfg.max_speed,
            pause: cfg.pause,
        }
    }

    /// Mean length of a segment between two points drawn uniformly in the rectangle (Ghosh 1951) \[m\].
    pub fn mean_length(&self) -> f64 {
        let (a, b) = (self.width, self.height);
        let (a2, b2) = (a * a, b * b);
        let d = (a2 + b2).sqrt();
        let cubic = a2 * a / b2 + b2 * b / a2 + d * (3.0 - a2 / b2 - b2 / a2);
        let arcosh = |x: f64| libm::acosh(x);
        cubic / 15.0 + (b2 / a * arcosh(d / b) + a2 / b * arcosh(d / a)) / 6.0
    }

    /// Mean duration of a segment \[s\]; infinite if the minimum speed is 0.
    pub fn mean_time(&self) -> f64 {
        self.mean_length() / self.mean_speed()
    }

    /// Mean speed of moving nodes in the stationary state \[m/s\].
    pub fn mean_speed(&self) -> f64 {
        let (v0, v1) = (self.slowest.0, self.fastest.0);
        if v0 == v1 { v1 } else { (v1 - v0) / libm::log(v1 / v0) }
    }

    /// Share of pausing nodes in the stationary state.
    pub fn share_of_pauses(&self) -> f64 {
        let pause = self.pause.as_secs();
        pause / (pause + self.mean_time())
    }

    fn point(&self, rng: &mut Stream) -> Position {
        let x = rng.uniform() * self.width;
        Position { x, y: rng.uniform() * self.height }
    }

    /// Speed of a new segment, from (slowest, fastest].
    fn speed(&self, rng: &mut Stream) -> Speed {
        Speed(self.fastest.0 - rng.uniform() * (self.fastest.0 - self.slowest.0))
    }

    /// Destination and speed of a new segment.
    pub fn draw(&self, rng: &mut Stream) -> (Position, Speed) {
        let to = self.point(rng);
        (to, self.speed(rng))
    }

    /// Initial state of a node with this position in the topology.
    pub fn initial_state(&self, start: Start, position: Position, rng: &mut Stream) -> InitialState {
        match start {
            Start::Stationary => self.stationary(rng),
            Start::Uniform => InitialState { position: self.point(rng), heading: None, pause: self.pause },
            Start::Topology => InitialState { position, heading: None, pause: self.pause },
        }
    }

    /// Draws the stationary state: sections 3 and 4 of Navidi and Camp.
    fn stationary(&self, rng: &mut Stream) -> InitialState {
        if rng.uniform() < self.share_of_pauses() {
            let position = self.point(rng);
            // The residual time of a constant pause is uniform.
            let pause = Span((rng.uniform() * self.pause.0 as f64) as u64);
            return InitialState { position, heading: None, pause };
        }
        let (v0, v1) = (self.slowest.0, self.fastest.0);
        let u = rng.uniform();
        // Speeds have a density proportional to 1/speed.
        let speed = Speed(if v0 == v1 { v1 } else { libm::pow(v1, u) / libm::pow(v0, u - 1.0) });
        let diagonal = libm::hypot(self.width, self.height);
        let (a, b) = loop {
            // A segment is met with a probability proportional to its length.
            let (a, b) = (self.point(rng), self.point(rng));
            if rng.uniform() * diagonal <= a.distance(b).0 {
                break (a, b);
            }
        };
        let u = rng.uniform();
        let position = Position { x: u * a.x + (1.0 - u) * b.x, y: u * a.y + (1.0 - u) * b.y };
        InitialState { position, heading: Some((b, speed)), pause: Span::ZERO }
    }
}

impl InitialState {
    /// Movement segment that begins at time 0.
    pub fn segment(&self) -> MovementSegment {
        match self.heading {
            Some((to, speed)) => MovementSegment::straight(self.position, to, speed, Time::ZERO),
            None => MovementSegment::rest(self.position, Time::ZERO, Time::ZERO + self.pause),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(width: f64, height: f64, slowest: f64, fastest: f64) -> Model {
        Model { width, height, slowest: Speed(slowest), fastest: Speed(fastest), pause: Span::ZERO }
    }

    #[test]
    fn mean_lengths_and_speeds_match_the_formulas() {
        // Ghosh 1951: mean distance in the unit square 0.5214; other values from the same formula.
        for (width, height, mean) in
            [(1.0, 1.0, 0.5214), (1200.0, 800.0, 526.83), (2500.0, 1000.0, 956.32), (1500.0, 300.0, 524.64)]
        {
            let length = model(width, height, 1.0, 1.0).mean_length();
            assert!((length / mean - 1.0).abs() < 2e-5, "{width} x {height}: {length}");
        }
        for (slowest, fastest, mean) in [(0.1, 5.0, 1.25), (0.1, 10.0, 2.15), (0.1, 20.0, 3.76), (1.0, 20.0, 6.34)] {
            let speed = model(1200.0, 800.0, slowest, fastest).mean_speed();
            assert!((speed - mean).abs() < 0.005, "{slowest} to {fastest} m/s: {speed}");
        }
        // setdest of ns-2 (version 2) prints 6.19 m/s for this case, pauses included.
        let with_pauses = Model { pause: Span::secs(2), ..model(1200.0, 800.0, 1.0, 20.0) };
        let mean = with_pauses.mean_length() / (with_pauses.mean_time() + 2.0);
        assert!((mean - 6.19).abs() < 0.005, "{mean}");
    }
}
