//! Metrics of links, by which `shortest_path` compares routes: what a daemon would measure, computed from the radio
//! model before the run.

use super::batman_adv::quality::{self, MAX, WINDOW};
use super::fixed::Routes;
use crate::keywords;
use crate::packet::NodeId;
use crate::unit::BitRate;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

keywords! {
    /// Metrics of routes.
    pub enum Metric {
        /// Number of hops.
        Hops = "hops",
        /// Expected transmission count of broadcasts (De Couto et al., MobiCom 2003): 1/(df dr).
        Etx = "etx",
        /// Expected transmission time of 1,024 B at the rate of data (Draves et al., MobiCom 2004): ETX times size over
        /// rate.
        Ett = "ett",
        /// Airtime of IEEE 802.11s (802.11-2020, 14.9): a test frame of 1,024 B at the rate of data, with its errors.
        Airtime = "airtime",
        /// Airtime as Linux computes it for 802.11s, in integers and with another overhead.
        LinuxAirtime = "linux_airtime",
        /// Cost of Babel over wireless links: ETX in units of 1/256 (RFC 8966, appendix A.2.2, as babeld rounds it).
        Babel = "babel",
        /// Transmit quality of batman-adv IV, with its default hop penalty of 30.
        Tq = "tq",
    }
}

/// Size of the broadcast that probes a link, without the MAC header (De Couto et al.) \[B\].
pub const PROBE_BYTES: u32 = 134;
/// Size of the test frame of airtime and ETT, without the MAC header \[B\].
pub const TEST_BYTES: u32 = 1024;
/// Its length \[bit\].
const TEST_BITS: f64 = 8.0 * TEST_BYTES as f64;
/// Overhead of the standard's airtime: channel access and preambles of 802.11a \[us\].
const ACCESS_US: f64 = 185.0;
/// Unit of the standard's airtime: 0.01 TU \[us\].
const UNIT_US: f64 = 10.24;
/// Hop penalty of batman-adv since 2014.
const HOP_PENALTY: u8 = 30;
/// Costs of Babel: a perfect wireless link, a wire, and a link that is not used.
const BABEL_WIRELESS: u64 = 256;
const BABEL_WIRE: f64 = 96.0;
const BABEL_INFINITY: u64 = 65_535;

/// Qualities of a link in one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Probability that a broadcast arrives.
    pub forward: f64,
    /// Probability that a broadcast of the other end arrives.
    pub backward: f64,
    /// Rate of data.
    pub rate: BitRate,
    /// Probability that the test frame is lost at that rate.
    pub failing: f64,
    /// A wire instead of a radio link.
    pub is_wire: bool,
}

impl Link {
    /// A wire of a rate, which loses nothing.
    pub fn wire(rate: BitRate) -> Link {
        Link { forward: 1.0, backward: 1.0, rate, failing: 0.0, is_wire: true }
    }

    fn etx(&self) -> f64 {
        1.0 / (self.forward * self.backward)
    }

    fn test_us(&self) -> f64 {
        TEST_BITS * 1e6 / self.rate.0 as f64
    }

    /// Metric of Linux: its arithmetic in integers.
    fn linux_airtime(&self) -> Option<f64> {
        let rate = (self.rate.0 / 100_000).max(1);
        let failing = (256.0 * self.failing) as u64;
        let time = 256 + 10 * 8192 * 256 / rate;
        (failing < 256).then(|| (time * (65_536 / (256 - failing)) / 65_536) as f64)
    }

    fn babel(&self) -> Option<f64> {
        if self.is_wire {
            return Some(BABEL_WIRE);
        }
        let cost = |delivered: f64| (BABEL_WIRELESS as f64 / delivered.max(1e-9)) as u64;
        let (there, back) = (cost(self.forward), cost(self.backward));
        (there.max(back) < BABEL_INFINITY).then(|| ((there * back + 128) >> 8) as f64)
    }

    /// Transmit quality of the link alone.
    fn tq(&self) -> u8 {
        let of_window = |share: f64| (f64::from(WINDOW) * share).round() as u32;
        quality::over(MAX, of_window(self.forward * self.backward), of_window(self.backward), 0)
    }
}

impl Metric {
    /// Cost of a path that begins with a link, if the rest of `hops` hops costs `rest`; less is better. `None`: the
    /// link is not used.
    pub fn over(self, link: &Link, rest: f64, hops: u32) -> Option<f64> {
        let cost = match self {
            Metric::Hops => 1.0,
            Metric::Etx => link.etx(),
            Metric::Ett => link.etx() * link.test_us(),
            Metric::Airtime => (ACCESS_US + link.test_us()) / (1.0 - link.failing) / UNIT_US,
            Metric::LinuxAirtime => link.linux_airtime()?,
            Metric::Babel => link.babel()?,
            Metric::Tq => {
                let lowered = |tq| quality::lowered(tq, HOP_PENALTY);
                let told = match (MAX - rest as u8, hops) {
                    (tq, 0) => tq,
                    // Once for the hop, once because it leaves by the radio by which it came.
                    (tq, _) if link.is_wire => lowered(tq),
                    (tq, _) => lowered(lowered(tq)),
                };
                // A path with the lowest quality stays in use, and hops decide.
                let tq = (u32::from(told) * u32::from(link.tq()) / u32::from(MAX)).max(u32::from(link.tq() > 0));
                return (tq > 0).then(|| f64::from(u32::from(MAX) - tq));
            }
        };
        cost.is_finite().then_some(rest + cost)
    }
}

/// Links of a network with their qualities, by the node at which they end.
#[derive(Clone, Debug, Default)]
pub struct Links(Vec<(NodeId, NodeId, Link)>);

impl Links {
    /// Links from, to.
    pub fn new(links: impl Iterator<Item = (NodeId, NodeId, Link)>) -> Links {
        let mut all: Vec<_> = links.map(|(from, to, link)| (to, from, link)).collect();
        all.sort_by_key(|l| (l.0, l.1));
        Links(all)
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if all links have the same quality for a metric.
    pub fn are_equal(&self, metric: Metric) -> bool {
        let mut costs = self.0.iter().map(|(_, _, link)| metric.over(link, 0.0, 0));
        let first = costs.next();
        costs.all(|cost| Some(cost) == first)
    }

    fn into(&self, to: NodeId) -> &[(NodeId, NodeId, Link)] {
        let start = self.0.partition_point(|l| l.0 < to);
        let count = self.0[start..].partition_point(|l| l.0 == to);
        &self.0[start..start + count]
    }

    /// Next hop of every node on its cheapest path to a node; among equal ones the path with fewer hops, then the next
    /// hop with the lower number. `carries`: a link from, to that is a wire or not leads to the node.
    fn cheapest(
        &self,
        metric: Metric,
        nodes: usize,
        to: NodeId,
        carries: impl Fn(NodeId, NodeId, bool) -> bool,
    ) -> Vec<NodeId> {
        // Cost as the bits of a number that is not negative, which have the order of these numbers; hops; next hop.
        let mut best = vec![(u64::MAX, u32::MAX, NodeId::BROADCAST); nodes];
        best[to.index()] = (0, 0, NodeId::BROADCAST);
        let mut reached = BinaryHeap::from([Reverse((0, 0, to))]);
        while let Some(Reverse((cost, hops, at))) = reached.pop() {
            if (cost, hops) != (best[at.index()].0, best[at.index()].1) {
                continue;
            }
            for (_, from, link) in self.into(at).iter().filter(|l| carries(l.1, at, l.2.is_wire)) {
                let Some(more) = metric.over(link, f64::from_bits(cost), hops) else { continue };
                let found = (more.to_bits(), hops + 1, at);
                if found < best[from.index()] {
                    best[from.index()] = found;
                    reached.push(Reverse((found.0, found.1, *from)));
                }
            }
        }
        best.into_iter().map(|b| b.2).collect()
    }

    /// Routes with the lowest cost to these destinations, over some of the links. `carries`: a link from, to that is a
    /// wire or not leads to a destination.
    pub fn routes(
        &self,
        metric: Metric,
        nodes: usize,
        destinations: impl IntoIterator<Item = NodeId>,
        carries: impl Fn(NodeId, NodeId, bool, NodeId) -> bool,
    ) -> Routes {
        let mut next = BTreeMap::new();
        for to in destinations {
            let leads = |from, at, is_wire| carries(from, at, is_wire, to);
            next.entry(to).or_insert_with(|| self.cheapest(metric, nodes, to, leads));
        }
        Routes::new(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A symmetric link: rate \[Mbit/s\], and probability that a frame arrives.
    fn link(mbps: u64, arrives: f64) -> Link {
        let rate = BitRate::mbps(mbps);
        Link { forward: arrives, backward: arrives, rate, failing: 1.0 - arrives, is_wire: false }
    }

    fn path(metric: Metric, links: &[Link]) -> f64 {
        let add = |(cost, hops), link: &Link| (metric.over(link, cost, hops).expect("the link is used"), hops + 1);
        links.iter().fold((0.0, 0), add).0
    }

    #[test]
    fn four_routes_cost_what_the_daemons_compute() {
        let routes = [vec![link(6, 0.45)], vec![link(6, 0.99); 2], vec![link(54, 0.95); 3], vec![link(36, 0.92); 2]];
        let expected = [
            (Metric::Hops, [1.0, 2.0, 3.0, 2.0]),
            (Metric::Etx, [4.94, 2.04, 3.32, 2.36]),
            (Metric::Ett, [6742.0, 2786.0, 504.0, 538.0]),
            (Metric::Airtime, [336.0, 306.0, 104.0, 88.0]),
            (Metric::LinuxAirtime, [3010.0, 2754.0, 477.0, 494.0]),
            (Metric::Babel, [1260.0, 520.0, 849.0, 604.0]),
            (Metric::Tq, [255.0 - 95.0, 255.0 - 198.0, 255.0 - 130.0, 255.0 - 164.0]),
        ];
        for (metric, costs) in expected {
            for (route, cost) in routes.iter().zip(costs) {
                let found = path(metric, route);
                let digit = if cost < 10.0 { 0.005 } else { 0.5 };
                assert!((found - cost).abs() <= digit, "{metric:?}, {} hops: {found}, not {cost}", route.len());
            }
        }
    }

    #[test]
    fn single_links_cost_what_the_daemons_compute() {
        let one_way = |forward, backward| Link { forward, backward, ..link(54, 1.0) };
        assert!((path(Metric::Etx, &[one_way(0.9, 0.8)]) - 1.389).abs() < 5e-4);
        assert_eq!(path(Metric::Babel, &[one_way(1.0, 0.75)]), 341.0);
        assert_eq!(path(Metric::Babel, &[Link::wire(BitRate::mbps(100))]), 96.0);
        assert_eq!(path(Metric::LinuxAirtime, &[link(54, 1.0)]), 152.0);
        assert_eq!(path(Metric::LinuxAirtime, &[link(54, 0.8)]), 190.0);
        assert_eq!(path(Metric::LinuxAirtime, &[link(6, 1.0)]), 1366.0);
        // Own messages echoed and messages heard, of 64.
        let tq = |echoed: f64, heard: f64| 255.0 - path(Metric::Tq, &[one_way(echoed / heard, heard / 64.0)]);
        for (echoed, heard, quality) in
            [(64.0, 64.0, 255.0), (46.0, 58.0, 202.0), (32.0, 32.0, 224.0), (8.0, 8.0, 85.0)]
        {
            assert_eq!(tq(echoed, heard), quality);
        }
    }

    #[test]
    fn transmit_quality_falls_by_the_hop_penalty() {
        let quality = |hops| 255.0 - path(Metric::Tq, &vec![link(54, 1.0); hops]);
        assert_eq!([1, 2, 3, 4, 5, 6].map(quality), [255.0, 198.0, 153.0, 119.0, 92.0, 71.0]);
        assert_eq!(quality(100), 1.0);
        assert!(Metric::Tq.over(&link(54, 0.0), 0.0, 0).is_none());
    }

    #[test]
    fn the_cheapest_route_is_taken_and_the_order_of_links_is_irrelevant() {
        // Four routes from node 0 to node 4: direct, by 1, by 2 and 3, and by 5.
        let hops = [(0, 4, link(6, 0.45)), (0, 1, link(6, 0.99)), (1, 4, link(6, 0.99)), (0, 2, link(54, 0.95))];
        let more = [(2, 3, link(54, 0.95)), (3, 4, link(54, 0.95)), (0, 5, link(36, 0.92)), (5, 4, link(36, 0.92))];
        let mut all: Vec<_> = hops.into_iter().chain(more).map(|(a, b, l)| (NodeId(a), NodeId(b), l)).collect();
        let first = [(Metric::Hops, 4), (Metric::Etx, 1), (Metric::Ett, 2), (Metric::Airtime, 5), (Metric::Tq, 1)];
        for _ in 0..2 {
            for (metric, via) in first {
                let routes = Links::new(all.iter().copied()).routes(metric, 6, [NodeId(4)], |_, _, _, _| true);
                assert_eq!(routes.via(NodeId(0), NodeId(4)), Some(NodeId(via)), "{metric:?}");
                assert_eq!(routes.via(NodeId(4), NodeId(0)), None);
            }
            all.reverse();
        }
    }
}
