//! Changes of a scenario that change no result: another order of entries whose places have no meaning, and nodes that
//! nobody hears.

use super::chance::Chance;
use chappe_core::mobility;
use chappe_core::packet::{NodeId, RadioId};
use chappe_core::run::{Command, RadioSetup, Setup};
use chappe_core::unit::Position;
use serde_json::{Value as Json, json};

/// Entries of a list of the scenario.
fn entries<'a>(scenario: &'a mut Json, list: &str) -> Option<&'a mut Vec<Json>> {
    scenario.get_mut(list)?.as_array_mut().filter(|l| !l.is_empty())
}

/// Exchanges neighbors of a list again and again, if `may` says that their order has no meaning.
fn exchange<T>(list: &mut [T], chance: &mut Chance, may: impl Fn(&T, &T) -> bool) {
    for _ in 0..list.len() * list.len() {
        let i = chance.below(list.len());
        if i > 0 && may(&list[i - 1], &list[i]) {
            list.swap(i - 1, i);
        }
    }
}

/// The scenario with its links, settings of nodes, middleboxes and events in another order; `None` if it has nothing
/// to exchange.
pub fn in_another_order(scenario: &Json, chance: &mut Chance) -> Option<Json> {
    let mut other = scenario.clone();
    if let Some(links) = entries(&mut other, "wired_link") {
        let mut order: Vec<usize> = (0..links.len()).collect();
        exchange(&mut order, chance, |_, _| true);
        *links = order.iter().map(|&i| links[i].clone()).collect();
        // Events name links by their numbers.
        let place = |number: &str| order.iter().position(|i| i.to_string() == number).expect("a link");
        for event in entries(&mut other, "event").into_iter().flatten() {
            if let Some(number) = event["wired_link"].as_u64() {
                event["wired_link"] = json!(place(&number.to_string()));
            }
            let Some(of_link) = event["setting"].as_str().and_then(|s| s.strip_prefix("wired_link.")) else { continue };
            let (number, setting) = of_link.split_once('.').expect("a number and a setting");
            event["setting"] = json!(format!("wired_link.{}.{setting}", place(number)));
        }
    }
    if let Some(nodes) = entries(&mut other, "node") {
        // An entry for each node. Later entries for the same node override earlier ones.
        *nodes = nodes.iter().flat_map(one_by_one).collect();
        exchange(nodes, chance, |a, b| a["nodes"] != b["nodes"]);
    }
    if let Some(boxes) = entries(&mut other, "middlebox") {
        // Packets pass those of one node in the order of the scenario.
        exchange(boxes, chance, |a, b| a.get("node").unwrap_or(&json!(0)) != b.get("node").unwrap_or(&json!(0)));
    }
    if let Some(events) = entries(&mut other, "event") {
        exchange(events, chance, are_independent);
    }
    (other != *scenario).then_some(other)
}

/// Entries for each node of an entry for several.
fn one_by_one(entry: &Json) -> Vec<Json> {
    let ends = entry["nodes"].as_str().and_then(|text| text.split_once('-'));
    let Some([first, last]) = ends.map(|(a, b)| [a, b].map(|n| n.trim().parse::<u32>())) else {
        return vec![entry.clone()];
    };
    let (Ok(first), Ok(last)) = (first, last) else { return vec![entry.clone()] };
    let of = |n: u32| {
        let mut one = entry.clone();
        one["nodes"] = json!(n.to_string());
        one
    };
    (first..=last).map(of).collect()
}

/// Returns true if the order of two events has no meaning: they come at different times, or concern different nodes.
fn are_independent(a: &Json, b: &Json) -> bool {
    let instant = |event: &Json| {
        let (number, unit) = event["at"].as_str()?.split_once(' ')?;
        let scale = match unit {
            "s" => 1e6,
            "ms" => 1e3,
            "us" => 1.0,
            _ => return None,
        };
        Some((number.parse::<f64>().ok()? * scale).round())
    };
    let node = |event: &Json| match event["action"].as_str() {
        Some("node_down" | "node_up" | "node_move") => event["node"].as_u64(),
        _ => None,
    };
    let differ = |a: Option<f64>, b: Option<f64>| a.zip(b).is_some_and(|(a, b)| a != b);
    differ(instant(a), instant(b)) || node(a).zip(node(b)).is_some_and(|(a, b)| a != b)
}

/// The setup with one more node with radios, as many as a node of the scenario has, and one more without a link, far
/// away from all others; with the number of the first. `None` if they would take part: ends of short flows are drawn
/// among all nodes.
pub fn with_lone_nodes(setup: &Setup) -> Option<(Setup, u32)> {
    let radios = &setup.interfaces.radios;
    let n = setup.positions.len() as u32;
    if n == 0 || setup.arrivals.iter().any(|a| a.from.is_none() || a.to.is_none()) {
        return None;
    }
    let mut other = setup.clone();
    other.wired += 1;
    let far = setup.positions.iter().fold(0.0, |far: f64, p| far.max(p.x.abs()).max(p.y.abs())) + 1e9;
    other.positions.push(Position { x: far, y: far });
    other.mobility.profile_of.push(other.mobility.profiles.len() as u32);
    other.mobility.profiles.push(mobility::Config::default());
    // The first radio of a node has its number; additional ones follow, node by node.
    let like = radios.last()?.node;
    let own: Vec<RadioSetup> =
        radios.iter().filter(|r| r.node == like).map(|r| RadioSetup { node: NodeId(n), ..*r }).collect();
    other.interfaces.radios.insert(n as usize, own[0]);
    other.interfaces.radios.extend(&own[1..]);
    // Nodes without a radio follow those with one.
    let move_node = |node: &mut NodeId| node.0 += u32::from(node.0 >= n);
    let move_radio = |radio: &mut RadioId| radio.0 += u32::from(radio.0 >= n);
    for link in &mut other.links {
        move_node(&mut link.from);
        move_node(&mut link.to);
    }
    for flow in &mut other.flows {
        move_node(&mut flow.from);
        move_node(&mut flow.to);
        flow.split.iter_mut().for_each(|s| move_node(&mut s.node));
    }
    for arrivals in &mut other.arrivals {
        arrivals.from.iter_mut().chain(&mut arrivals.to).for_each(move_node);
    }
    other.middleboxes.iter_mut().for_each(|b| move_node(&mut b.node));
    for (_, command) in &mut other.events {
        match command {
            Command::NodeDown(node) | Command::NodeUp(node) => move_node(node),
            Command::RadioDown(radio) | Command::RadioUp(radio) => move_radio(radio),
            _ => {}
        }
    }
    for route in &mut other.routing.fixed.routes.0 {
        for node in [&mut route.node, &mut route.dst, &mut route.next_hop] {
            *node += u32::from(*node >= n);
        }
    }
    Some((other, n))
}
