//! Properties that hold for every scenario.

use super::alike;
use super::chance::Chance;
use super::tables::{Cells, Measured};
use super::{Failure, Folder};
use chappe_core::radio::energy::Accounting;
use chappe_core::record::uses::airtime::Use;
use chappe_core::record::uses::flow::USES;
use chappe_core::run::RecordedTable;
use chappe_core::run::{Change, Command, End, Setup, Transport};
use chappe_core::sim::{Halt, Sim};
use chappe_core::unit::{Span, Time};
use chappe_scenario::{NoFiles, Scenario};
use serde_json::Value as Json;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// Outcome of a scenario without a failed check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// The scenario was rejected.
    Refused,
    /// The scenario was accepted, but did not end in the time of a case.
    Long,
    /// All checks were made.
    Whole,
}

/// Limits of a run: number of expired timers, and memory \[B\].
const MOST_SLOTS: u64 = 300_000;
const MOST_MEMORY: u64 = 200_000_000;
/// Tolerance for sums of times and energies, which are rounded.
const ROUNDING: f64 = 1e-6;

/// Observers of a run.
#[derive(Clone, Debug)]
struct Observers {
    record: Vec<RecordedTable>,
    airtime: bool,
    sample: Option<Span>,
    trace: bool,
}

impl Observers {
    fn all(setup: &Setup) -> Observers {
        Observers { record: RecordedTable::ALL.to_vec(), airtime: true, sample: setup.sample, trace: false }
    }

    fn none() -> Observers {
        Observers { record: vec![], airtime: false, sample: None, trace: false }
    }

    fn some(setup: &Setup, chance: &mut Chance) -> Observers {
        Observers {
            record: RecordedTable::ALL.iter().copied().filter(|_| chance.one_in(3)).collect(),
            airtime: chance.one_in(2),
            sample: setup.sample.filter(|_| chance.one_in(2)),
            trace: chance.one_in(3),
        }
    }

    fn of(&self, setup: &Setup) -> Setup {
        Setup { record: self.record.clone(), airtime: self.airtime, sample: self.sample, ..setup.clone() }
    }

    /// Returns true if only one of the two runs has a column.
    fn asked(&self, other: &Observers, table: &str, column: &str) -> bool {
        match (table, column) {
            ("airtime", _) | ("batches", "energy_j") => self.airtime != other.airtime,
            ("samples" | "energy", _) => self.sample != other.sample,
            _ => false,
        }
    }
}

fn fail<T>(check: &'static str, what: impl Into<String>) -> Result<T, Failure> {
    Err(Failure { check, what: what.into() })
}

fn same(check: &'static str, difference: Option<String>) -> Result<(), Failure> {
    difference.map_or(Ok(()), |what| fail(check, what))
}

/// Runs to the end; `None` beyond the limit.
fn run(setup: &Setup, observers: &Observers, most_slots: u64) -> Option<Measured> {
    let mut sim = Sim::new(&observers.of(setup));
    if observers.trace {
        sim.trace();
    }
    let mut slots = 0;
    while sim.advance(4096).is_none() {
        slots += 4096;
        if slots > most_slots || sim.grown() > MOST_MEMORY {
            return None;
        }
    }
    Some(Measured::default().finish(&mut sim))
}

/// Runs a scenario in several ways.
pub fn check(scenario: &Scenario, is_perfect: bool, chance: &mut Chance) -> Result<Held, Failure> {
    let again = written_again(scenario)?;
    scenario.links();
    let setup = scenario.setup(None);
    let (none, all) = (Observers::none(), Observers::all(&setup));
    let Some(alone) = run(&setup, &none, MOST_SLOTS) else { return Ok(Held::Long) };
    let to_end = |setup: &Setup, observers: &Observers| {
        let found = run(setup, observers, 8 * MOST_SLOTS);
        found.map_or_else(|| fail("end", "a run that came to its end does not when it is made otherwise"), Ok)
    };
    outcomes_are_one_each(&alone)?;
    uses_of_time_sum_up(&alone)?;
    flows_deliver_what_was_sent(&alone)?;
    if is_perfect {
        transfers_complete(scenario, &alone)?;
    }

    let watched = to_end(&setup, &all)?;
    same("observers", alone.differs(&watched, |t, c| none.asked(&all, t, c)))?;
    let some = Observers::some(&setup, chance);
    same("observers", to_end(&setup, &some)?.differs(&watched, |t, c| some.asked(&all, t, c)))?;
    rates_hold(&setup, &watched)?;
    frames_are_apart(&setup, &watched)?;
    mpdus_have_answers(&watched)?;
    neighbors_deliver_once_and_in_order(&setup, &watched)?;
    nothing_in_the_own_node_is_sent_again(&setup, &watched)?;
    airtime_sums_up(&watched)?;
    batteries_only_empty(&watched)?;
    rows_come_in_order(&watched)?;
    queues_add_up(&watched)?;
    delays_are_those_of_the_flows(&setup, &watched)?;

    same("settings in effect", to_end(&again.setup(None), &all)?.differs(&watched, |_, _| false))?;
    let driven = drive(&setup, &all, chance)?;
    same("driven", driven.differs(&watched, |_, _| false))?;
    if !setup.events.is_empty()
        && let Some(commanded) = command(&setup, &all)?
    {
        same("commands", commanded.differs(&watched, |_, _| false))?;
    }
    order_has_no_meaning(scenario, &alone, chance)?;
    lone_nodes_change_nothing(&setup, &alone)?;
    batches_sum_up(&setup, &watched, to_end)?;
    Ok(Held::Whole)
}

/// Links, settings of nodes, middleboxes and events give the same results in another order.
fn order_has_no_meaning(scenario: &Scenario, alone: &Measured, chance: &mut Chance) -> Result<(), Failure> {
    let check = "order of entries";
    let Some(other) = alike::in_another_order(&scenario.effective(), chance) else { return Ok(()) };
    let other = match Scenario::from_json(&other, &Json::Null, &Folder) {
        Ok(other) => other.setup(None),
        Err(e) => return fail(check, format!("it is refused: {e}")),
    };
    let Some(found) = run(&other, &Observers::none(), 8 * MOST_SLOTS) else { return fail(check, "it does not end") };
    // These tables have the order of the links.
    same(check, alone.differs(&found, |table, _| table.starts_with("wired_link")))
}

/// Nodes that are alone take no random number of others.
fn lone_nodes_change_nothing(setup: &Setup, alone: &Measured) -> Result<(), Failure> {
    let check = "lone nodes";
    let Some((other, node)) = alike::with_lone_nodes(setup) else { return Ok(()) };
    let Some(found) = run(&other, &Observers::none(), 8 * MOST_SLOTS) else { return fail(check, "it does not end") };
    if [alone.end, found.end].contains(&Some(End::Idle)) {
        // Their timers alone go on.
        return Ok(());
    }
    let last = u64::from(node) + u64::from(other.wired);
    let found = found.without_nodes(&[node.into(), last]);
    let is_number = |name: &str| ["node", "src", "dst", "peer"].contains(&name);
    same(check, alone.clone().without_nodes(&[]).differs(&found, |_, name| is_number(name)))
}

/// The effective settings and the written values give the same scenario again.
fn written_again(scenario: &Scenario) -> Result<Scenario, Failure> {
    let check = "settings in effect";
    scenario.render_warnings(&[], false);
    let (effective, written) = (scenario.effective(), scenario.effective_toml());
    let again = match Scenario::from_toml("effective.toml", &written, &[], &NoFiles) {
        Ok(again) => again,
        Err(e) => return fail(check, format!("they are refused: {e}")),
    };
    if again.effective() != effective || again.effective_toml() != written {
        return fail(check, "they mean something else");
    }
    match Scenario::from_json(&scenario.written(), &Json::Null, &Folder) {
        Ok(json) if json.effective() == effective => Ok(again),
        Ok(_) => fail(check, "what was written means something else"),
        Err(e) => fail(check, format!("what was written is refused: {e}")),
    }
}

/// Every packet has exactly one outcome.
fn outcomes_are_one_each(m: &Measured) -> Result<(), Failure> {
    let table = &m.tables["packet_outcomes"];
    for row in 0..m.rows("packet_outcomes") {
        let sum = |is_meant: &dyn Fn(&str) -> bool| -> u64 {
            table.iter().filter(|c| is_meant(&c.0)).map(|c| c.1.counts()[row]).sum()
        };
        let is_birth = |name: &str| ["created", "injected", "copied"].contains(&name);
        let is_cause = |name: &str| name.starts_with("retry_limit_");
        let (born, causes) = (sum(&is_birth), sum(&is_cause));
        let ended = sum(&|name| !["packet_class", "measured"].contains(&name) && !is_birth(name) && !is_cause(name));
        let given_up = sum(&|name| name == "dropped_retry_limit");
        if born != ended || causes != given_up {
            return fail(
                "packet_outcomes",
                format!("row {row}: {born} born, {ended} ended; {given_up} given up, {causes} causes"),
            );
        }
    }
    Ok(())
}

/// Every instant of a TCP flow has exactly one use.
fn uses_of_time_sum_up(m: &Measured) -> Result<(), Failure> {
    let (transport, measured) = (m.column("flows", "transport").words(), m.column("flows", "measured_s").floats());
    for (flow, lasts) in measured.into_iter().enumerate().filter(|f| transport[f.0] != "udp") {
        let uses = USES.iter().map(|u| m.column("flows", &format!("{}_s", u.0)).floats()[flow]);
        let used: f64 = uses.sum();
        if (used - lasts).abs() > ROUNDING {
            return fail("flow time", format!("flow {flow}: {used} s of {lasts} s"));
        }
    }
    Ok(())
}

/// Sum of a counter of a flow over all batches, including discarded ones.
fn of_flow(m: &Measured, flow: usize, name: &str) -> u64 {
    m.column("flow_batches", name).counts().iter().skip(flow).step_by(m.rows("flows")).sum()
}

/// Nothing is delivered that was not sent, and nothing twice.
fn flows_deliver_what_was_sent(m: &Measured) -> Result<(), Failure> {
    for flow in 0..m.rows("flows") {
        let [sent, again, delivered] =
            ["packets_sent", "retransmissions", "packets_delivered"].map(|name| of_flow(m, flow, name));
        if sent < again || delivered > sent - again {
            return fail(
                "delivered",
                format!("flow {flow}: {delivered} delivered, {sent} sent, {again} of them again"),
            );
        }
    }
    Ok(())
}

/// No flow is faster than its link.
fn rates_hold(setup: &Setup, m: &Measured) -> Result<(), Failure> {
    let changed = |link: u32, back: bool| {
        let rate = move |event: &(Time, Command)| match event.1 {
            Command::Set(Change::LinkRate(l, b, rate)) if (l, b) == (link, back) => Some(rate.0),
            _ => None,
        };
        setup.events.iter().filter_map(rate).max().unwrap_or(0)
    };
    let rates: Vec<f64> =
        setup.links.iter().map(|l| l.point_to_point.rate.0.max(changed(l.link, l.back)) as f64).collect();
    // No packet is longer, with all headers.
    let packet = 8.0 * 2.0 * 65_535.0;
    let seconds: Vec<f64> = {
        let (from, to) = (m.column("batches", "started_at_s").floats(), m.column("batches", "ended_at_s").floats());
        from.iter().zip(to).map(|(from, to)| to - from).collect()
    };
    if !rates.is_empty() {
        let used = m.column("wired_link_batches", "utilization").floats();
        let bytes = m.column("wired_link_batches", "bytes_sent").counts();
        for (i, (used, &bytes)) in used.into_iter().zip(bytes).enumerate() {
            // A packet may have begun in the previous batch.
            let most = rates[i % rates.len()] * seconds[i / rates.len()] + packet;
            if used > 1.0 + 1e-9 || bytes as f64 * 8.0 > most {
                return fail("rates", format!("row {i} of wired_link_batches: {bytes} B, {used} of the time"));
            }
        }
    }
    // A node receives over one of its interfaces, possibly since the previous batch.
    let air = m.column("frames", "rate_bps").counts().iter().max().map_or(0.0, |&r| r as f64);
    let destinations = m.column("flows", "dst").counts();
    for (i, throughput) in m.column("flow_batches", "throughput_bps").floats().into_iter().enumerate() {
        let (to, lasts) = (destinations[i % destinations.len()], seconds[i / destinations.len()]);
        let radios = setup.interfaces.radios.iter().filter(|r| u64::from(r.node.0) == to).map(|_| air);
        let wires = setup.links.iter().zip(&rates).filter(|l| u64::from(l.0.to.0) == to).map(|l| *l.1);
        let most: f64 = radios.chain(wires).map(|rate| rate + packet / lasts).sum();
        if throughput > most {
            return fail("rates", format!("row {i} of flow_batches: {throughput} bit/s of at most {most}"));
        }
    }
    Ok(())
}

/// Returns true if an event switches a station off.
fn is_cut(event: &(Time, Command)) -> bool {
    matches!(event.1, Command::NodeDown(_) | Command::RadioDown(_))
}

/// A radio sends one frame at a time, and each frame has a valid outcome.
fn frames_are_apart(setup: &Setup, m: &Measured) -> Result<(), Failure> {
    let column = |name: &str| m.column("frames", name);
    let (at, lasts) = (column("time_s").floats(), column("airtime_s").floats());
    let (sender, channel) = (column("src").counts(), column("channel").counts());
    let (receiver, decoded) = (column("dst").counts(), column("decoded_by").counts());
    let outcome = column("outcome").words();
    let mut order: Vec<usize> = (0..at.len()).collect();
    order.sort_by(|&a, &b| (sender[a], channel[a]).cmp(&(sender[b], channel[b])).then(at[a].total_cmp(&at[b])));
    let whole = !setup.events.iter().any(is_cut);
    for pair in order.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let same = (sender[a], channel[a]) == (sender[b], channel[b]);
        if whole && same && at[b] < at[a] + lasts[a] - 1e-9 {
            return fail("frames", format!("node {} sends at {} s and at {} s", sender[a], at[a], at[b]));
        }
    }
    let end = m.now.unwrap_or(Time::ZERO).as_secs();
    for row in 0..at.len() {
        let is_broadcast = receiver[row] == u64::MAX;
        let fits = match outcome[row].as_str() {
            // Light takes a tenth of a second for 30,000 km.
            "" => at[row] + lasts[row] + 0.1 >= end,
            "broadcast" => is_broadcast,
            "received" => !is_broadcast && decoded[row] == 1,
            _ => !is_broadcast && decoded[row] == 0,
        };
        if !fits {
            let what = format!("at {} s: {:?}, decoded by {}", at[row], outcome[row], decoded[row]);
            return fail("frames", what);
        }
    }
    Ok(())
}

/// Each MPDU is in a frame, and an aggregate has several; an answer can be missing at the end alone. An aggregate whose
/// block acknowledgement is missing may have arrived, as that of a request shows.
fn mpdus_have_answers(m: &Measured) -> Result<(), Failure> {
    let column = |name: &str| m.column("batches", name).counts().iter().sum::<u64>();
    let [frames, failed, aggregates, mpdus, lost] =
        ["data_frames_sent", "data_frames_failed", "aggregates_sent", "mpdus_sent", "mpdus_failed"].map(column);
    // A batch ends within a frame: its MPDUs are lost in the next one.
    let stations = m.rows("nodes") as u64;
    let fits =
        mpdus == 0 || frames + aggregates <= mpdus && failed <= lost + aggregates && lost <= mpdus + 64 * stations;
    if !fits || aggregates > frames {
        let what = format!("{mpdus} in {frames} frames and {aggregates} aggregates, {lost} in {failed} frames lost");
        return fail("mpdus", what);
    }
    Ok(())
}

/// A packet that a node has handed once to its MAC for a neighbor reaches the network layer there at most once, and
/// the packets of a flow in the order in which they were handed over. A station that was off has forgotten what it had
/// received.
fn neighbors_deliver_once_and_in_order(setup: &Setup, m: &Measured) -> Result<(), Failure> {
    if setup.events.iter().any(is_cut) {
        return Ok(());
    }
    let column = |name: &str| m.column("packets", name);
    let (event, kind) = (column("event").words(), column("packet_type").words());
    let (packet, flow) = (column("packet").counts(), column("flow").counts());
    let (node, next, dst) = (column("node").counts(), column("next_hop").counts(), column("dst").counts());
    // For each packet and receiver: number of hand-overs, the last sender, and its place among them.
    let mut handed: HashMap<(u64, u64), (u32, u64, usize)> = HashMap::new();
    let mut last: HashMap<(u64, u64, u64), usize> = HashMap::new();
    for row in 0..event.len() {
        if !["tcp_data", "tcp_ack", "udp"].contains(&kind[row].as_str()) {
            continue;
        }
        match event[row].as_str() {
            "dequeued" => {
                let of = handed.entry((packet[row], next[row])).or_insert((0, node[row], row));
                *of = (of.0 + 1, node[row], row);
            }
            "delivered" if dst[row] == node[row] => {
                let Some(&(count, from, place)) = handed.get(&(packet[row], node[row])) else { continue };
                let before = last.entry((from, node[row], flow[row])).or_insert(0);
                if count == 1 && place <= *before {
                    let what =
                        format!("packet {} of flow {} from node {from} to {}", packet[row], flow[row], node[row]);
                    return fail("order", format!("{what}: a second time, or behind a later one"));
                }
                *before = place.max(*before);
            }
            _ => {}
        }
    }
    Ok(())
}

/// A sender of Linux sends no segment again while its last copy is in its own node. Over wires a packet leaves some
/// time after it was dequeued, which is no row.
fn nothing_in_the_own_node_is_sent_again(setup: &Setup, m: &Measured) -> Result<(), Failure> {
    let heeds = |t: &Transport| matches!(t, Transport::Tcp(cfg) if cfg.is_rack_tlp() && !cfg.elfn.enabled);
    let sources: HashMap<u64, u64> =
        (0..).zip(&setup.flows).filter(|(_, f)| heeds(&f.transport)).map(|(i, f)| (i, u64::from(f.from.0))).collect();
    let column = |name: &str| m.column("packets", name);
    let (event, kind) = (column("event").words(), column("packet_type").words());
    let [packet, flow, node, sequence] = ["packet", "flow", "node", "sequence"].map(|name| column(name).counts());
    let mut inside: HashMap<(u64, u64), u64> = HashMap::new();
    for row in 0..event.len() {
        if kind[row] != "tcp_data" || sources.get(&flow[row]) != Some(&node[row]) {
            continue;
        }
        let key = (flow[row], sequence[row]);
        let leaves = match event[row].as_str() {
            "created" => {
                if let Some(before) = inside.insert(key, packet[row]) {
                    let what = format!("segment {} of flow {}: packet {} and", sequence[row], flow[row], packet[row]);
                    return fail("own node", format!("{what} packet {before}, which has not left"));
                }
                false
            }
            "dequeued" => !setup.links.is_empty(),
            word => ["relayed", "dropped", "delivered"].contains(&word),
        };
        if leaves && inside.get(&key) == Some(&packet[row]) {
            inside.remove(&key);
        }
    }
    Ok(())
}

/// Every instant of a radio has exactly one use.
fn airtime_sums_up(m: &Measured) -> Result<(), Failure> {
    let lasts = m.column("flows", "measured_s").floats();
    let Some(&lasts) = lasts.first() else { return Ok(()) };
    for radio in 0..m.rows("airtime") {
        let uses = Use::ALL.iter().map(|u| m.column("airtime", &format!("{}_s", u.1)).floats()[radio]);
        let (used, energy) = (uses.sum::<f64>(), m.column("airtime", "energy_j").floats()[radio]);
        if (used - lasts).abs() > ROUNDING || energy < 0.0 {
            return fail("airtime", format!("radio {radio}: {used} s of {lasts} s, {energy} J"));
        }
    }
    Ok(())
}

/// A battery has at most its capacity and is never recharged.
fn batteries_only_empty(m: &Measured) -> Result<(), Failure> {
    if m.rows("batteries") > 0 {
        let column = |name: &str| m.column("batteries", name).floats();
        let (capacity, left, empty) = (column("capacity_j"), column("remaining_j"), column("emptied_at_s"));
        for node in 0..capacity.len() {
            let (capacity, left, empty) = (capacity[node], left[node], empty[node]);
            if left < 0.0 || left > capacity || !empty.is_nan() && left > 0.0 {
                return fail("batteries", format!("node {node}: {left} J of {capacity} J, empty at {empty} s"));
            }
        }
    }
    let (node, left) = (m.column("energy", "node").counts(), m.column("energy", "remaining_j").floats());
    let mut last: Vec<f64> = vec![];
    for (&node, left) in node.iter().zip(left) {
        let node = node as usize;
        last.resize(last.len().max(node + 1), f64::INFINITY);
        if left > last[node] {
            return fail("batteries", format!("node {node}: {left} J after {} J", last[node]));
        }
        last[node] = left;
    }
    Ok(())
}

/// Batteries lose the energy that their radios draw, in a run that is measured from its beginning.
fn batteries_pay_for_air_time(setup: &Setup, m: &Measured) -> Result<(), Failure> {
    if m.rows("batteries") == 0 {
        return Ok(());
    }
    let column = |name: &str| m.column("batteries", name).floats();
    let (capacity, left) = (column("capacity_j"), column("remaining_j"));
    let (whose, energy) = (m.column("airtime", "node").counts(), m.column("airtime", "energy_j").floats());
    for node in 0..capacity.len() {
        let radio = setup.interfaces.radios.iter().find(|r| r.node.0 as usize == node).expect("it has a radio");
        let powers = &setup.interfaces.profiles[radio.profile as usize].radio.energy;
        if powers.accounting == Accounting::FirstBit || capacity[node].is_infinite() {
            continue;
        }
        let cost: f64 = whose.iter().zip(&energy).filter(|e| *e.0 as usize == node).map(|e| e.1).sum();
        let paid = capacity[node] - left[node];
        // The rest of a large battery is rounded at each step, and the nanosecond of depletion counts fully.
        let most = [powers.transmit, powers.receive, powers.idle, powers.sleep].map(|p| p.0).into_iter().sum::<f64>();
        if (paid - cost).abs() > ROUNDING * (1.0 + cost) + capacity[node] * 1e-12 + most * 2e-9 {
            return fail("batteries", format!("node {node}: {paid} J lost, the time of its radios costs {cost} J"));
        }
    }
    Ok(())
}

/// Rows are in the order of time, up to the delays between nodes, but for those written at the end of their frame; the
/// rows of a packet at a node are exactly so.
fn rows_come_in_order(m: &Measured) -> Result<(), Failure> {
    let is_late =
        |t: &RecordedTable| matches!(t, RecordedTable::Frames | RecordedTable::Mpdus | RecordedTable::Positions);
    for table in RecordedTable::ALL.iter().filter(|t| !is_late(t)) {
        let times = m.column(table.word(), "time_s").floats();
        // Light takes a millisecond for 300 km.
        if let Some(i) = times.windows(2).position(|t| t[1] < t[0] - 1e-3) {
            return fail("order", format!("{}: {} s after {} s", table.word(), times[i + 1], times[i]));
        }
    }
    let whose = m.column("packets", "node").counts().iter().zip(m.column("packets", "packet").counts());
    let mut last: HashMap<(u64, u64), f64> = HashMap::new();
    for ((&node, &packet), at) in whose.zip(m.column("packets", "time_s").floats()) {
        let before = last.insert((node, packet), at).unwrap_or(0.0);
        if at < before {
            return fail("order", format!("packet {packet} at node {node}: {at} s after {before} s"));
        }
    }
    Ok(())
}

/// Of the queues in the table those of a radio hold in the end what its station shows, and those of a link have their
/// mean length.
fn queues_add_up(m: &Measured) -> Result<(), Failure> {
    let column = |name: &str| m.column("queue", name).counts();
    let (node, channel, to, packets) = (column("node"), column("channel"), column("wired_dst"), column("packets"));
    let (category, at) = (m.column("queue", "access_category").words(), m.column("queue", "time_s").floats());
    let end = m.now.unwrap_or(Time::ZERO).as_secs();
    let mut last: HashMap<(u64, u64, &str, u64), (f64, u64)> = HashMap::new();
    let mut areas: HashMap<(u64, u64), f64> = HashMap::new();
    for row in 0..at.len() {
        let queue = (node[row], channel[row], category[row].as_str(), to[row]);
        let (since, length) = last.insert(queue, (at[row], packets[row])).unwrap_or((at[row], 0));
        *areas.entry((node[row], to[row])).or_default() += length as f64 * (at[row] - since);
    }
    for [node, channel, waiting] in &m.waiting {
        let queues = last.iter().filter(|(q, _)| (q.0, q.1) == (*node, *channel));
        let sum: u64 = queues.map(|(_, (_, packets))| packets).sum();
        if sum != *waiting {
            return fail("queue", format!("node {node}, channel {channel}: {sum} of {waiting} packets wait"));
        }
    }
    last.iter()
        .for_each(|(q, (since, length))| *areas.entry((q.0, q.3)).or_default() += *length as f64 * (end - since));
    if m.rows("wired_link_batches") == 0 {
        return Ok(());
    }
    let lasts: Vec<f64> = {
        let (from, to) = (m.column("batches", "started_at_s").floats(), m.column("batches", "ended_at_s").floats());
        from.iter().zip(to).map(|(from, to)| to - from).collect()
    };
    let of_links = |name: &str| m.column("wired_link_batches", name);
    let (from, to, mean) =
        (of_links("src").counts(), of_links("dst").counts(), of_links("mean_queue_packets").floats());
    let links = m.rows("wired_link_batches") / lasts.len();
    for link in 0..links {
        let counted: f64 = (link..mean.len()).step_by(links).map(|row| mean[row] * lasts[row / links]).sum();
        let area = areas.get(&(from[link], to[link])).copied().unwrap_or(0.0);
        if (counted - area).abs() > ROUNDING * (1.0 + counted) {
            return fail("queue", format!("link {link}: {area} packet seconds, {counted} by its counters"));
        }
    }
    Ok(())
}

/// Delays of the first arrivals in the table of packets are those that receivers have measured, from a transmission of
/// the source on. Receivers with little room measure later copies of segments that they could not take: of these
/// receivers only flows count of which no segment has arrived twice.
fn delays_are_those_of_the_flows(setup: &Setup, m: &Measured) -> Result<(), Failure> {
    let column = |name: &str| m.column("packets", name);
    let (event, kind) = (column("event").words(), column("packet_type").words());
    let (flow, sequence, src) = (column("flow").counts(), column("sequence").counts(), column("src").counts());
    let (node, dst) = (column("node").counts(), column("dst").counts());
    let (at, sent) = (column("time_s").floats(), column("sent_at_s").floats());
    let mut first: HashMap<(u64, u64), f64> = HashMap::new();
    let mut sends: HashSet<(u64, u64)> = HashSet::new();
    let mut with_copies: HashSet<u64> = HashSet::new();
    for row in 0..event.len() {
        let Some(of) = setup.flows.get(flow[row] as usize).filter(|_| kind[row] != "tcp_ack" && !sent[row].is_nan())
        else {
            continue;
        };
        if event[row] == "created" && src[row] == u64::from(of.from.0) {
            sends.insert((flow[row], sent[row].to_bits()));
        }
        if event[row] == "delivered" && node[row] == dst[row] && node[row] == u64::from(of.to.0) {
            match first.entry((flow[row], sequence[row])) {
                Entry::Vacant(vacant) => _ = vacant.insert(at[row] - sent[row]),
                Entry::Occupied(_) => _ = with_copies.insert(flow[row]),
            }
            let has_syn = |t: &Transport| matches!(t, Transport::Tcp(cfg) if cfg.starts_with_syn());
            // A node that splits a connection may have to open the second half by itself.
            if has_syn(&of.transport) && !sends.contains(&(flow[row], sent[row].to_bits())) {
                return fail("delays", format!("flow {}: nothing was sent at {} s", flow[row], sent[row]));
            }
        }
    }
    for (f, of) in setup.flows.iter().enumerate() {
        let has_little_room =
            |t: &Transport| matches!(t, Transport::Tcp(cfg) if cfg.receive_buffer.enabled || cfg.reader.limits());
        let second = of.split.as_ref().map(|s| Transport::Tcp(s.tcp.clone()));
        let has_little_room = has_little_room(&of.transport) || second.is_some_and(|t| has_little_room(&t));
        if has_little_room && with_copies.contains(&(f as u64)) {
            continue;
        }
        let delays: Vec<f64> = first.iter().filter(|d| d.0.0 == f as u64).map(|d| *d.1).collect();
        let means = m.column("flow_batches", "mean_delay_s").floats();
        let counts = m.column("flow_batches", "delay_samples").counts();
        let rows = (f..counts.len()).step_by(setup.flows.len()).filter(|&row| counts[row] > 0);
        let counted: f64 = rows.map(|row| means[row] * counts[row] as f64).sum();
        let (number, sum) = (of_flow(m, f, "delay_samples"), delays.iter().sum::<f64>());
        // Times at a node are put in order, by propagation delays at most.
        if number != delays.len() as u64 || (sum - counted).abs() > 1e-5 * number as f64 {
            let what = format!("flow {f}: {} delays, {sum} s; by its counters {number}, {counted} s", delays.len());
            return fail("delays", what);
        }
    }
    Ok(())
}

/// Files arrive completely.
fn transfers_complete(scenario: &Scenario, m: &Measured) -> Result<(), Failure> {
    let segments: u64 = scenario.config().bulk.segments.expect("files that end").into();
    for (flow, gave_up) in m.column("flows", "aborted_at_s").floats().into_iter().enumerate() {
        // ns-2 sends one segment too many when an acknowledgement of nothing new begins the transfer.
        let delivered = of_flow(m, flow, "packets_delivered");
        if delivered < segments || !gave_up.is_nan() {
            return fail("complete", format!("flow {flow}: {delivered} of {segments} segments, gave up: {gave_up} s"));
        }
    }
    Ok(())
}

/// The same run, driven in steps of all kinds, queried and copied in between.
fn drive(setup: &Setup, observers: &Observers, chance: &mut Chance) -> Result<Measured, Failure> {
    let mut sim = Sim::new(&observers.of(setup));
    let mut found = Measured::default();
    let (mut steps, mut progress) = (0, 0.0);
    while sim.end().is_none() {
        steps += 1;
        if !(progress..=1.0).contains(&sim.progress()) {
            return fail("driven", format!("its progress is {} after {progress}", sim.progress()));
        }
        progress = sim.progress();
        if steps > 100_000 {
            return fail("driven", format!("it does not come to its end: {:?}", sim.now()));
        }
        match chance.below(8) {
            0 => _ = sim.so_far(),
            1 => found.drain(&mut sim),
            2 => sim = sim.clone(),
            3 => _ = sim.advance(chance.from(1, 3000) as u64),
            4 => _ = sim.advance_until(sim.now() + Span(1 << chance.from(0, 20)), chance.from(1, 2000) as u64),
            _ => _ = sim.until(sim.now() + Span((1 << chance.from(10, 33)) + chance.below(1000) as u64)),
        }
    }
    Ok(found.finish(&mut sim))
}

/// The same run with its events as commands; `None` if it became idle before the last of them, which it did not know.
fn command(setup: &Setup, observers: &Observers) -> Result<Option<Measured>, Failure> {
    let mut events = setup.events.clone();
    events.sort_by_key(|e| e.0);
    let mut sim = Sim::new(&observers.of(&Setup { events: vec![], ..setup.clone() }));
    for (at, command) in events {
        match sim.until(at) {
            Halt::Reached => sim.apply(&command),
            Halt::End(End::Idle) => return Ok(None),
            Halt::End(_) => break,
            Halt::Events => unreachable!("no driver sends"),
        }
    }
    while sim.advance(1 << 20).is_none() {}
    Ok(Some(Measured::default().finish(&mut sim)))
}

/// Outcomes of packets of the warm-up and of the measured part add up to those of a run without warm-up.
fn parts_sum_up(whole: &Measured, watched: &Measured) -> Result<(), Failure> {
    let classes = |m: &Measured| m.column("packet_outcomes", "packet_class").words().to_vec();
    let of_parts = classes(watched);
    for (name, all) in &whole.tables["packet_outcomes"] {
        let Cells::Count(all) = all else { continue };
        if name == "measured" {
            continue;
        }
        let parts = watched.column("packet_outcomes", name).counts();
        for (class, all) in classes(whole).iter().zip(all) {
            let sum: u64 = of_parts.iter().zip(parts).filter(|(of, _)| *of == class).map(|(_, n)| n).sum();
            let difference = (sum != *all).then(|| format!("packet_outcomes.{name} of {class}: {sum} and {all}"));
            same("batches", difference)?;
        }
    }
    Ok(())
}

/// A run divided into batches equals the undivided one: counts and times of the batches sum up to it.
fn batches_sum_up(
    setup: &Setup,
    watched: &Measured,
    to_end: impl Fn(&Setup, &Observers) -> Result<Measured, Failure>,
) -> Result<(), Failure> {
    let one = Setup { batches: 1, discard: 0, ..setup.clone() };
    let whole = to_end(&one, &Observers { airtime: true, ..Observers::none() })?;
    batteries_pay_for_air_time(setup, &whole)?;
    let is_left_out = |table: &str, name: &str| name == "measured" || !["short_flows", "batteries"].contains(&table);
    same("batches", whole.differs(watched, is_left_out))?;
    parts_sum_up(&whole, watched)?;
    let rows = [("flow_batches", watched.rows("flows")), ("wired_link_batches", setup.links.len()), ("batches", 1)];
    for (table, rows) in rows {
        for (name, all) in &whole.tables[table] {
            let is_number = ["batch", "used", "finished", "flow", "link", "src", "dst", "started_at_s", "ended_at_s"];
            if is_number.contains(&name.as_str()) || name.starts_with("mean_") || name == "jain_index" {
                continue;
            }
            let parts = watched.column(table, name);
            for row in 0..rows {
                // A run that continues after its last batch has an unfinished one in addition.
                let difference = match all {
                    Cells::Count(_) => {
                        let sum = |c: &Cells| -> u64 { c.counts().iter().skip(row).step_by(rows).sum() };
                        (sum(parts) != sum(all)).then(|| format!("{} and {}", sum(parts), sum(all)))
                    }
                    Cells::Bits(_) if name.ends_with("_s") => {
                        let sum = |c: &Cells| -> f64 { c.floats().iter().skip(row).step_by(rows).sum() };
                        let differ = (sum(parts) - sum(all)).abs() > ROUNDING;
                        differ.then(|| format!("{} and {}", sum(parts), sum(all)))
                    }
                    _ => None,
                };
                same("batches", difference.map(|d| format!("{table}.{name}, row {row}: {d}")))?;
            }
        }
    }
    Ok(())
}
