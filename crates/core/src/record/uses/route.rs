//! Route availability of a flow: time with and without a route to its destination, and number of route breaks, from the
//! start of the flow until all data are delivered.

use crate::counters;
use crate::unit::Time;

counters! {
    /// Counters of the routes of a flow.
    pub struct RouteCounters {
        /// Number of times that the source learned that its route was broken.
        route_breaks,
        /// For how long, while the flow went on, the source had a route \[ns\].
        route_ns,
        /// For how long, while the flow went on, the source had no route \[ns\].
        no_route_ns,
    }
}

/// Existence of a route, and the time since when it lasts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// The flow has not begun, or is over.
    #[default]
    Idle,
    Has(Time),
    Lacks(Time),
}

/// Route availability of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct RouteTime {
    state: State,
    counters: RouteCounters,
}

impl RouteTime {
    /// The flow starts, or starts again.
    pub fn begin(&mut self, now: Time, has_route: bool) {
        if self.state == State::Idle {
            self.turn(now, has_route);
        }
    }

    /// All data were delivered.
    pub fn end(&mut self, now: Time) {
        self.counters = self.up_to(now);
        self.state = State::Idle;
    }

    /// Returns true if the flow is active and its source has no route.
    pub fn lacks_route(&self) -> bool {
        matches!(self.state, State::Lacks(_))
    }

    /// The route is broken, and the source knows it; `has_other` if another route is available.
    pub fn on_break(&mut self, now: Time, has_other: bool) {
        if matches!(self.state, State::Has(_)) {
            self.counters.route_breaks += 1;
            self.turn(now, has_other);
        }
    }

    /// Updates if there is a route now. The loss of a route is no break here: an unused route has expired.
    pub fn on_look(&mut self, now: Time, has_route: bool) {
        if self.state != State::Idle {
            self.turn(now, has_route);
        }
    }

    fn turn(&mut self, now: Time, has_route: bool) {
        self.counters = self.up_to(now);
        self.state = if has_route { State::Has(now) } else { State::Lacks(now) };
    }

    /// Counters up to now.
    pub fn up_to(&self, now: Time) -> RouteCounters {
        let mut counters = self.counters;
        match self.state {
            State::Idle => {}
            State::Has(since) => counters.route_ns += now.since(since).0,
            State::Lacks(since) => counters.no_route_ns += now.since(since).0,
        }
        counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn up_to(t: &RouteTime, now: Time) -> (u64, u64, u64) {
        let c = t.up_to(now);
        (c.route_breaks, c.route_ns, c.no_route_ns)
    }

    #[test]
    fn route_time_follows_breaks_and_repairs() {
        let mut t = RouteTime::default();
        t.on_break(Time(1), false);
        t.on_look(Time(2), true);
        assert_eq!(up_to(&t, Time(5)), (0, 0, 0), "it has not begun");
        t.begin(Time(5), false);
        assert!(t.lacks_route());
        t.on_look(Time(9), true);
        assert_eq!(up_to(&t, Time(10)), (0, 1, 4), "the first search is no break");
        t.on_break(Time(20), false);
        t.on_break(Time(22), false);
        t.on_look(Time(25), false);
        assert_eq!(up_to(&t, Time(26)), (1, 11, 10), "it breaks once until there is another");
        t.on_look(Time(30), true);
        t.on_break(Time(50), true);
        assert!(!t.lacks_route(), "there is another one");
        t.on_look(Time(60), false);
        assert_eq!(up_to(&t, Time(61)), (2, 41, 15), "it was not used for long");
        t.end(Time(62));
        assert_eq!((up_to(&t, Time(99)), t.lacks_route()), ((2, 41, 16), false), "it is over");
        t.begin(Time(100), true);
        t.begin(Time(101), true);
        assert_eq!(up_to(&t, Time(110)), (2, 51, 16));
    }
}
