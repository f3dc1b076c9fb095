//! Files that a scenario names: positions, flows, movements, links, error rates. Their content becomes part of it.

use super::super::schema::flows::{Ends, FlowEntry};
use super::super::schema::{Config, Traffic};
use super::file_or_text::{ERROR_RATES, LINKS};
use super::names::{ENDS, Names};
use super::source::{Files, Sources};
use chappe_core::mobility::{self, Courses, formats};
use chappe_core::radio::error_rate::ErrorRates;
use chappe_core::radio::propagation::links::Links;
use chappe_core::radio::{Propagation, Reception};
use chappe_core::setting::csv::{Csv, Misread, Row};
use chappe_core::setting::foreign::Wanted;
use chappe_core::setting::limit::LONGEST;
use chappe_core::setting::{Code, Many, Node, Report, Scalar, Setting, Value};
use chappe_core::topology::Kind;
use chappe_core::unit::{Position, Time};
use serde_json::json;

/// Upper limit of coordinates in tables of positions \[m\].
const FARTHEST: f64 = 1e9;

/// Access to the files that a scenario names, and what they need.
pub struct Access<'a> {
    /// Texts that name the files.
    pub sources: &'a Sources,
    /// The files.
    pub files: &'a dyn Files,
    /// Names of the nodes, which tables may have in the place of numbers.
    pub names: &'a Names,
}

/// Reads all files that a scenario refers to, with the names of its nodes, and gives warnings about them.
pub fn read(cfg: &mut Config, tree: &mut Node, from: &Access<'_>, report: &mut Report) -> Report {
    let mut warnings = read_positions_and_flows(cfg, tree, from, report);
    warnings.append(read_movements(cfg, tree, from, report));
    read_links(cfg, tree, from, report);
    read_error_rates(cfg, tree, from, report);
    warnings
}

/// Message about flows with a stop time and a duration.
pub fn stops_twice(at: &str) -> String {
    format!("`{at}.stop` and `{at}.duration` both say when the application stops")
}

/// Advice on flows with a stop time and a duration.
pub const STOP_ONCE: &str = "leave one of them out, or set the stop time to \"never\" or the duration to \"unlimited\"";

/// Reads the files of nodes and flows into the scenario, which then no longer depends on them. The flows follow those
/// that are listed.
fn read_positions_and_flows(cfg: &mut Config, tree: &mut Node, from: &Access<'_>, report: &mut Report) -> Report {
    let mut warnings = Report::default();
    if cfg.topology.kind == Kind::File
        && let Some(name) = cfg.topology.file.clone()
        && let Some(positions) = content(tree, "topology.file", &name, from, report, read_positions)
    {
        cfg.topology.positions = positions;
        (cfg.topology.kind, cfg.topology.file) = (Kind::List, None);
        put(tree, "topology", "kind", Node::from_json(&json!("list")));
        put(tree, "topology", "positions", Node::from_json(&cfg.topology.positions.write()));
        if let Value::Table(t) = &mut tree.value
            && let Some((_, Node { value: Value::Table(topology), .. })) = t.entry("topology")
        {
            topology.remove("file");
        }
    }
    let read = |text: &str| read_flows(&from.names.in_table(text, &ENDS)?, &cfg.traffic);
    if cfg.traffic.file.is_some() && cfg.traffic.stop.is_some() && cfg.traffic.duration.is_some() {
        // One mistake, and not one of each line.
        let origin = tree.at("traffic.duration").and_then(|n| n.origin);
        report.add("traffic.duration", origin, stops_twice("traffic"), Some(STOP_ONCE.to_owned()));
    } else if let Some(name) = cfg.traffic.file.clone()
        && let Some((flows, timed)) = content(tree, "traffic.file", &name, from, report, read)
    {
        for path in ["traffic.start", "traffic.stagger"] {
            if timed && let Some(node) = tree.at(path) {
                let message = format!(
                    "`{path}` has no effect on the flows of `{name}`: its column `started_at_s` says when they start"
                );
                let help = Some("leave one of them out".to_owned());
                warnings.warn(Code::UnusedSetting, path, node.origin, message, help);
            }
        }
        cfg.flow.0.extend(flows);
        cfg.traffic.file = None;
        if let Value::Table(t) = &mut tree.value {
            // Without defaults, which would be settings without effect.
            let flows = cfg.flow.changes(&Many::default()).unwrap_or_else(|| json!([]));
            t.insert("flow".to_owned(), None, Node::from_json(&flows));
        }
        put(tree, "traffic", "file", Node::from_json(&json!("none")));
    }
    warnings
}

/// Content of the file named by a setting; reports a failure and returns `None`.
fn content<T>(
    tree: &Node,
    path: &str,
    name: &str,
    from: &Access<'_>,
    report: &mut Report,
    read: impl FnOnce(&str) -> Result<T, Misread>,
) -> Option<T> {
    match from
        .files
        .read(name, from.sources.named_by(tree.at(path)))
        .map_err(Misread::from)
        .and_then(|(_, text)| read(&text))
    {
        Ok(rows) => Some(rows),
        Err(Misread { why, help }) => {
            let origin = tree.at(path).and_then(|n| n.origin);
            report.add(path, origin, format!("cannot read `{name}`: {why}"), help);
            None
        }
    }
}

/// Positions in a CSV text, in the order of the column `node` if there is one.
fn read_positions(text: &str) -> Result<Vec<Position>, Misread> {
    let csv = Csv::read(text, Wanted::Positions)?;
    let number = |row: &Row<'_>, name: &str| {
        let field = row.get(csv.column(name).unwrap_or_default());
        let fits = field.parse().ok().filter(|x: &f64| x.abs() < FARTHEST);
        fits.ok_or_else(|| row.misses(name))
    };
    let position = |row: &Row<'_>| Ok(Position { x: number(row, "x_m")?, y: number(row, "y_m")? });
    let positions = csv.rows().iter().map(position).collect::<Result<_, Misread>>()?;
    csv.in_order("node", positions)
}

/// Flows in a CSV text, in the order of the column `flow` if there is one, and true if it contains start times. The
/// column `min_hops`, the length of the shortest paths, is allowed and ignored.
fn read_flows(text: &str, traffic: &Traffic) -> Result<(Vec<FlowEntry>, bool), Misread> {
    let csv = Csv::read(text, Wanted::Flows)?;
    let timed = csv.column("started_at_s");
    let node = |row: &Row<'_>, name: &str| {
        let field = row.get(csv.column(name).unwrap_or_default());
        field.parse::<u32>().map_err(|_| row.misses(name))
    };
    let flow = |row: &Row<'_>| {
        let start = match timed.map(|column| row.get(column)) {
            // An empty field: an event starts the flow.
            Some("") => None,
            Some(s) => Some(seconds(s).ok_or_else(|| row.misses("started_at_s"))?),
            None => Some(Time::ZERO),
        };
        let (src, dst) = (Ends::one(node(row, "src")?), Some(Ends::one(node(row, "dst")?)));
        Ok(FlowEntry { src, dst, start, ..traffic.entry() })
    };
    let flows = csv.rows().iter().map(flow).collect::<Result<_, Misread>>()?;
    let mut flows: Vec<FlowEntry> = csv.in_order("flow", flows)?;
    if timed.is_none() {
        for (flow, i) in flows.iter_mut().zip(0u64..) {
            flow.start = Some(traffic.start_of(i));
        }
    }
    Ok((flows, timed.is_some()))
}

/// An instant given in seconds in a table.
fn seconds(text: &str) -> Option<Time> {
    let s: f64 = text.parse().ok()?;
    (0.0..=LONGEST.as_secs()).contains(&s).then(|| Time((s * 1e9).round() as u64))
}

/// Sets a value in a group of the tree.
fn put(tree: &mut Node, group: &str, key: &str, value: Node) {
    if let Value::Table(t) = &mut tree.value
        && let Some((_, Node { value: Value::Table(group), .. })) = t.entry(group)
    {
        group.insert(key.to_owned(), None, value);
    }
}

/// Returns true if any node follows a movement file.
pub fn follows_file(cfg: &Config) -> bool {
    cfg.mobility.model == mobility::Kind::File
        || cfg.node.0.iter().any(|own| own.mobility.over(&cfg.mobility).model == mobility::Kind::File)
}

/// Reads the movement file into the scenario, which then no longer depends on it. Returns warnings about the file.
fn read_movements(cfg: &mut Config, tree: &mut Node, from: &Access<'_>, report: &mut Report) -> Report {
    let mut warnings = Report::default();
    if follows_file(cfg)
        && let Some(name) = cfg.mobility.file.clone()
    {
        let mut messages = vec![];
        let origin = tree.at("mobility.file").and_then(|n| n.origin);
        let read = |text: &str| {
            let courses = formats::read(&from.names.in_table(text, &["node"])?, &mut messages)?;
            no_position(cfg, &courses).map_or(Ok(courses), Err)
        };
        if let Some(courses) = content(tree, "mobility.file", &name, from, report, read) {
            (cfg.mobility.table, cfg.mobility.file) = (courses, None);
            put(tree, "mobility", "table", Node::from_json(&cfg.mobility.table.write()));
            if let Value::Table(t) = &mut tree.value
                && let Some((_, Node { value: Value::Table(mobility), .. })) = t.entry("mobility")
            {
                mobility.remove("file");
            }
            for message in messages {
                let message = format!("`{name}`: {message}");
                warnings.warn(Code::UnusedSetting, "mobility.file", origin, message, None);
            }
        }
    }
    if cfg.topology.kind == Kind::Motion && no_position(cfg, &cfg.mobility.table).is_none() {
        let courses = &cfg.mobility.table;
        cfg.topology.positions = (0..courses.nodes()).filter_map(|n| courses.start(n)).collect();
    }
    warnings
}

/// Error message about nodes without an initial position in the courses.
pub fn no_position(cfg: &Config, courses: &Courses) -> Option<Misread> {
    let (first, all) = courses.missing();
    if all == 0 || cfg.topology.kind != Kind::Motion {
        return None;
    }
    let named: Vec<String> = first.iter().map(u32::to_string).collect();
    let who = match all - first.len() as u64 {
        0 if all == 1 => format!("node {}", named[0]),
        0 => format!("nodes {}", named.join(", ")),
        more => format!("nodes {} and {more} more", named.join(", ")),
    };
    let why = format!("it has no position of {who}, and goes up to node {}", courses.nodes() - 1);
    let help = "give each node a place, or number them from 0 without gaps".to_owned();
    Some(Misread { why, help: Some(help) })
}

/// Reads the file of links into the scenario, which then no longer depends on it.
fn read_links(cfg: &mut Config, tree: &mut Node, from: &Access<'_>, report: &mut Report) {
    if cfg.radio.propagation != Propagation::Links {
        return;
    }
    let Some(name) = cfg.radio.links_file.clone() else { return };
    let nodes = cfg.topology.nodes();
    let read = |text: &str| {
        let links = Links::read_csv(&from.names.in_table(text, &ENDS)?)?;
        beyond(&links, nodes).map_or(Ok(links), |why| Err(why.into()))
    };
    if let Some(links) = content(tree, "radio.links_file", &name, from, report, read) {
        (cfg.radio.links_table, cfg.radio.links_file) = (links, None);
        LINKS.put(tree, Node::from_json(&cfg.radio.links_table.write()));
    }
}

/// Message about links to a node that the topology does not have.
pub fn beyond(links: &Links, nodes: u64) -> Option<String> {
    let (line, node) = links.find(|node| u64::from(node) >= nodes)?;
    (nodes > 0).then(|| format!("line {line} names node {node}, and nodes are numbered from 0 to {}", nodes - 1))
}

/// Reads the file of error rates into the scenario, which then no longer depends on it.
fn read_error_rates(cfg: &mut Config, tree: &mut Node, from: &Access<'_>, report: &mut Report) {
    let sinr = &mut cfg.radio.sinr;
    if cfg.radio.reception != Reception::Sinr {
        return;
    }
    let Some(name) = sinr.error_rates_file.clone() else { return };
    let setting = ERROR_RATES.name(ERROR_RATES.file);
    if let Some(rates) = content(tree, &setting, &name, from, report, ErrorRates::read_csv) {
        ERROR_RATES.put(tree, Node::from_json(&rates.written()));
        (sinr.error_rates_table, sinr.error_rates_file) = (rates, None);
    }
}
