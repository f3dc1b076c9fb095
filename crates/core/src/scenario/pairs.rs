//! Flows between many pairs of nodes: from each source to each destination.

use super::check::Checker;
use super::nodes::NodeSet;
use super::schema::{Flow, Overrides};
use crate::app::{self, bulk, cbr, on_off};
use crate::setting::join;
use crate::setting::limit::{LONGEST, above, at_most};
use crate::unit::{Span, Time};
use crate::{settings, tcp};

settings! {
    /// Flows from each of some nodes to each of others, sorted by source, then by destination. A node sends nothing to
    /// itself.
    pub struct Pairs {
        /// Source nodes.
        pub src: NodeSet = NodeSet::default(),
        /// Destination nodes.
        pub dst: NodeSet = NodeSet::default(),
        /// Application of these flows.
        pub app: app::Kind = app::Kind::Bulk,
        /// Start of the first flow; "none": each flow waits for an event that begins it.
        pub start: Option<Time> = Some(Time::ZERO) => at_most(Time::ZERO + LONGEST),
        /// Time between the starts of consecutive flows.
        pub stagger: Span = Span::ZERO => at_most(LONGEST)
            ; used when |c| c.start.is_some(), else "the flows do not start by themselves",
        /// Time from the start of each application to its stop; "none": unlimited.
        pub duration: Option<Span> = None => above(Span::ZERO).at_most(LONGEST)
            ; used when |c| c.start.is_some(), else "the flows do not start by themselves",
        /// TCP settings of these flows that differ from `tcp`.
        pub tcp: Overrides<tcp::Config> = Overrides::default()
            ; used when |c| c.app != app::Kind::Cbr, else "the flow is not over TCP",
        /// File-transfer settings of these flows that differ from `bulk`.
        pub bulk: Overrides<bulk::Config> = Overrides::default()
            ; used when |c| c.app == app::Kind::Bulk, else "the application of the flow is not `bulk`",
        /// CBR settings of these flows that differ from `cbr`.
        pub cbr: Overrides<cbr::Config> = Overrides::default()
            ; used when |c| c.app == app::Kind::Cbr, else "the application of the flow is not `cbr`",
        /// On/off settings of these flows that differ from `on_off`.
        pub on_off: Overrides<on_off::Config> = Overrides::default()
            ; used when |c| c.app == app::Kind::OnOff, else "the application of the flow is not `on_off`",
    }
}

/// Number of elements of a set.
fn size(set: &NodeSet) -> u64 {
    set.ranges().iter().map(|&(first, last)| u64::from(last) - u64::from(first) + 1).sum()
}

/// Numbers of a set, ascending.
fn numbers(set: &NodeSet) -> impl Iterator<Item = u32> {
    set.ranges().into_iter().flat_map(|(first, last)| first..=last)
}

impl Pairs {
    /// Number of flows of all pairs.
    pub fn count(&self) -> u64 {
        let (from, to) = (self.src.ranges(), self.dst.ranges());
        let common = |a: &(u32, u32), b: &(u32, u32)| (u64::from(a.1.min(b.1)) + 1).saturating_sub(a.0.max(b.0).into());
        let both: u64 = from.iter().map(|a| to.iter().map(|b| common(a, b)).sum::<u64>()).sum();
        size(&self.src).saturating_mul(size(&self.dst)).saturating_sub(both)
    }

    /// Flow without ends and times.
    pub fn flow(&self) -> Flow {
        Flow {
            app: self.app,
            start: None,
            tcp: self.tcp.clone(),
            bulk: self.bulk.clone(),
            cbr: self.cbr.clone(),
            on_off: self.on_off.clone(),
            ..Flow::default()
        }
    }

    /// All flows of the entry.
    pub fn flows(&self) -> impl Iterator<Item = Flow> + '_ {
        let ends = numbers(&self.src).flat_map(|from| numbers(&self.dst).map(move |to| (from, to)));
        ends.filter(|(from, to)| from != to).zip(0u64..).map(|((from, to), i)| {
            let later = |t: Time, by: u64| Time(t.0.saturating_add(by));
            let start = self.start.map(|first| later(first, self.stagger.0.saturating_mul(i)));
            let stop = start.zip(self.duration).map(|(start, lasts)| later(start, lasts.0));
            Flow { src: from, dst: Some(to), start, stop, ..self.flow() }
        })
    }
}

impl Checker<'_> {
    pub(super) fn pairs(&mut self, i: usize, pairs: &Pairs) {
        let at = format!("pairs.{i}");
        for (end, way, set) in [("src", "from", &pairs.src), ("dst", "to", &pairs.dst)] {
            match set.0.iter().map(|r| r.1).max() {
                Some(last) => self.node_exists(&join(&at, end), last),
                None => {
                    let help = format!("set `{at}.{end}` to nodes, e.g. \"3-7\"");
                    self.error(&at, format!("`{at}` does not say {way} which nodes its flows go"), &help);
                }
            }
        }
        if pairs.count() == 0 && !pairs.src.0.is_empty() && !pairs.dst.0.is_empty() {
            let message = format!("the only source of `{at}` is its only destination");
            self.error(&join(&at, "dst"), message, "choose another node");
        }
        let flow = pairs.flow();
        self.application(&at, &flow);
        self.count(&flow, pairs.count());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(from: &[(u32, u32)], to: &[(u32, u32)]) -> Pairs {
        Pairs { src: NodeSet(from.to_vec()), dst: NodeSet(to.to_vec()), ..Pairs::default() }
    }

    #[test]
    fn every_source_sends_to_every_other_destination_once() {
        for (from, to) in [
            (&[(1, 3)][..], &[(0, 0)][..]),
            (&[(1, 10)], &[(1, 10)]),
            (&[(3, 5), (1, 1), (4, 6)], &[(0, 4), (9, 9), (2, 3)]),
            (&[(2, 2)], &[(2, 2)]),
        ] {
            let pairs = pairs(from, to);
            let within = |set: &[(u32, u32)], n: u32| set.iter().any(|r| (r.0..=r.1).contains(&n));
            let all: Vec<(u32, u32)> = (0..12).flat_map(|a| (0..12).map(move |b| (a, b))).collect();
            let expected: Vec<_> =
                all.into_iter().filter(|p| within(from, p.0) && within(to, p.1) && p.0 != p.1).collect();
            let ends: Vec<_> = pairs.flows().map(|f| (f.src, f.dst.expect("an end"))).collect();
            assert_eq!(ends, expected);
            assert_eq!(pairs.count(), expected.len() as u64);
        }
        assert!(pairs(&[(0, u32::MAX)], &[(0, u32::MAX)]).count() > 1 << 62);
    }

    #[test]
    fn flows_start_one_after_another_and_last_as_long() {
        let times =
            Pairs { start: Some(Time(5)), stagger: Span(10), duration: Some(Span(7)), ..pairs(&[(1, 3)], &[(0, 0)]) };
        let spans: Vec<_> = times.flows().map(|f| (f.start, f.stop)).collect();
        assert_eq!(spans, [5, 15, 25].map(|t| (Some(Time(t)), Some(Time(t + 7)))));
        let told = Pairs { start: None, ..times };
        assert!(told.flows().all(|f| (f.start, f.stop) == (None, None)));
    }
}
