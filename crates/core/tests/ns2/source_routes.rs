//! Source routes in random networks: no route of DSR names a node twice (RFC 4728, 8.2.2).

use crate::packet::{NodeId, PacketPool};
use crate::run::Command;
use crate::scenario::{NoFiles, Scenario};
use crate::sim::{Halt, Sim};
use crate::unit::{Span, Time};
use proptest::prelude::*;

/// The first route in the header of a packet, or in a reply, with this property. Evaluated after every event of long
/// runs: no iterators, which are slow without optimization.
fn way(pool: &PacketPool, is_it: impl Fn(&[NodeId]) -> bool) -> Option<&[NodeId]> {
    for h in pool.headers() {
        if is_it(&h.route) {
            return Some(&h.route);
        }
        if is_it(&h.reply) {
            return Some(&h.reply);
        }
    }
    None
}

/// Of nodes below 64.
fn names_twice(way: &[NodeId]) -> bool {
    let mut named = 0u64;
    for node in way {
        let bit = 1 << node.0;
        if named & bit != 0 {
            return true;
        }
        named |= bit;
    }
    false
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_source_route_names_a_node_twice(
        steps in prop::collection::vec((any::<prop::sample::Index>(), 0..340i32, 0..340i32), 7),
        preset in prop::sample::select(vec!["standard", "ns2-2.35"]),
        flow_state: bool,
        losses in prop::sample::select(vec![0.0, 0.3]),
        times in prop::collection::vec((0u64..15_000, 0u32..8, 1u64..9_000), 0..8),
        seed in any::<u32>(),
    ) {
        // Each node is in reach of one before it.
        let mut places = vec![(2000, 2000)];
        for (near, dx, dy) in steps {
            let (x, y) = *near.get(&places);
            places.push((x + dx - 170, y + dy - 170));
        }
        let places: Vec<String> = places.iter().map(|p| format!("[\"{} m\", \"{} m\"]", p.0, p.1)).collect();
        let flows: Vec<String> = (1..8).map(|to| format!("{{ src = {}, dst = {to}, app = \"cbr\" }}", to / 3)).collect();
        let text = format!(
            "extends = \"{preset}\"\nrun.stop = \"20 s\"\nrouting = {{ protocol = \"dsr\", dsr.flow_state = {flow_state} }}\n\
             wlan.error = {{ model = \"uniform\", rate = {losses} }}\ncbr.interval = \"200 ms\"\n\
             topology = {{ kind = \"list\", positions = [{}] }}\nflow = [{}]",
            places.join(", "),
            flows.join(", ")
        );
        let scenario = Scenario::from_toml("test", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
        let mut sim = Sim::new(&scenario.setup(Some(u64::from(seed))));
        let mut commands = vec![];
        for (ms, n, for_ms) in times {
            commands.push((ms, Command::NodeDown(NodeId(n))));
            commands.push((ms + for_ms, Command::NodeUp(NodeId(n))));
        }
        commands.sort_by_key(|c| c.0);
        let mut commands = commands.into_iter().peekable();
        loop {
            let at = commands.peek().map_or(Time(u64::MAX - 1), |c| Time::ZERO + Span::ms(c.0));
            match sim.advance_until(at, 1) {
                Some(Halt::End(_)) => break,
                Some(Halt::Reached) => sim.apply(&commands.next().expect("it was waited for").1),
                Some(Halt::Events) => unreachable!("no flow is external"),
                None => {}
            }
            let found = way(sim.pool(), names_twice);
            prop_assert!(found.is_none(), "{found:?} at {:?}", sim.now());
        }
    }
}

/// The property is not empty: there are routes over other nodes, and one that turns back would be found.
#[test]
fn routes_with_relays_are_checked() {
    let text = "run.stop = \"2 s\"\ntopology.hops = 3\nrouting.protocol = \"dsr\"\nflow = [{ dst = 3, app = \"cbr\" }]";
    let scenario = Scenario::from_toml("test", text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = Sim::new(&scenario.setup(None));
    let mut any = false;
    while sim.advance_until(Time(u64::MAX - 1), 1).is_none() {
        any |= way(sim.pool(), |way| way.len() == 4).is_some();
    }
    assert!(any);
    assert!(names_twice(&[0, 1, 0].map(NodeId)) && !names_twice(&[0, 1, 2].map(NodeId)));
}
