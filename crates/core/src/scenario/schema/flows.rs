//! Flows: entries of `flow`, each for one flow or for a flow between every two of many nodes; their validation.

use super::nodes::NodeSet;
use super::{Config, Overrides, Traffic};
use crate::app::{self, bulk, cbr, on_off, requests};
use crate::scenario::validate::Checker;
use crate::scenario::validate::cost;
use crate::setting::limit::{LONGEST, above, at_most};
use crate::setting::{Node, Scalar, Value, join};
use crate::unit::{Bytes, Span, Time};
use crate::{settings, tcp};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// Nodes at one end of flows: one node, or a set of nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Ends(pub NodeSet);

impl Ends {
    /// One node.
    pub fn one(node: u32) -> Ends {
        Ends(NodeSet(vec![(node, node)]))
    }

    /// Number of nodes.
    fn count(&self) -> u64 {
        self.0.ranges().iter().map(|&(first, last)| u64::from(last) - u64::from(first) + 1).sum()
    }

    /// Numbers of the nodes, ascending.
    fn numbers(&self) -> impl Iterator<Item = u32> {
        self.0.ranges().into_iter().flat_map(|(first, last)| first..=last)
    }

    /// Largest number of a node.
    fn last(&self) -> u32 {
        self.0.0.iter().map(|r| r.1).max().unwrap_or_default()
    }
}

impl Scalar for Ends {
    fn read(node: &Node) -> Result<Ends, String> {
        NodeSet::read(node).map(Ends)
    }

    fn written(&self) -> Json {
        match self.0.0[..] {
            [(first, last)] if first == last => json!(first),
            _ => self.0.written(),
        }
    }

    fn describe() -> Json {
        NodeSet::describe()
    }
}

/// Name of a flow or of a group of flows, by which measures choose it.
#[derive(Clone, Debug, PartialEq)]
pub struct Label(pub String);

/// Words with which the choice of flows begins, or which say in general which flows are meant.
const CHOICES: [&str; 8] = ["tcp", "udp", "all", "worst", "each", "of", "flow", "none"];

impl Label {
    /// Longest name, in characters.
    const LONGEST: usize = 60;

    /// True for a word that chooses flows without a name: a transport, an application, a TCP variant.
    fn is_taken(text: &str) -> bool {
        let word = |(word, _): &(&str, &str)| *word == text;
        CHOICES.contains(&text) || app::Kind::WORDS.iter().any(word) || tcp::variants::Variant::WORDS.iter().any(word)
    }
}

impl Scalar for Label {
    fn read(node: &Node) -> Result<Label, String> {
        let form =
            || "expected a name that begins with a letter and has letters, digits, `_` and `-`, such as \"voice\"";
        let Value::Text(text) = &node.value else { return Err(form().into()) };
        if Label::is_taken(text) {
            return Err(format!("\"{text}\" already chooses flows by what they are, expected a name of its own"));
        }
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let is_name = text.starts_with(char::is_alphabetic) && text.chars().all(is_part);
        if is_name && text.chars().count() <= Label::LONGEST { Ok(Label(text.clone())) } else { Err(form().into()) }
    }

    fn written(&self) -> Json {
        json!(self.0)
    }

    fn describe() -> Json {
        json!({ "type": "string", "description": "such as \"voice\"" })
    }
}

settings! {
    /// A flow from one node to another, or with sets of nodes a flow from each source to each other destination, sorted
    /// by source, then by destination. Flows are numbered in this order, entry by entry.
    pub struct FlowEntry {
        /// Number of the source node, or several nodes.
        pub src: Ends = Ends::one(0),
        /// Number of the destination node, or several nodes.
        pub dst: Option<Ends> | "none" = None,
        /// Name of the flow, by which measures choose it: `--flows voice`.
        pub name: Option<Label> | "none" = None,
        /// Group of the flow, which several flows can have in common: `--flows web` chooses all of them.
        pub group: Option<Label> | "none" = None,
        /// Differentiated services codepoint of its packets (RFC 2474). Its upper three bits are the user priority, and
        /// by this the access category of EDCA: 0 and 3 best effort, 1 and 2 background, 4 and 5 video, 6 and 7 voice.
        pub dscp: u32 = 0 => at_most(63),
        /// Application of the flow.
        pub app: app::Kind = app::Kind::Bulk,
        /// Start of the flow, of the first one between several nodes; "event": each flow waits for an event that starts
        /// it.
        pub start: Option<Time> | "event" = Some(Time::ZERO) => at_most(Time::ZERO + LONGEST),
        /// Stop time of the application, after which it sends nothing new.
        pub stop: Option<Time> | "never" = None => at_most(Time::ZERO + LONGEST),
        /// Time between the starts of consecutive flows of the entry.
        pub stagger: Span = Span::ZERO => at_most(LONGEST)
            ; used when |c| c.start.is_some() && c.count() > 1,
            else "there is only one flow, or the flows do not start by themselves",
        /// Time from the start of each application to its stop, instead of `stop`.
        pub duration: Option<Span> | "unlimited" = None => above(Span::ZERO).at_most(LONGEST)
            ; used when |c| c.start.is_some(), else "the flows do not start by themselves",
        /// TCP settings of this flow that differ from `tcp`.
        pub tcp: Overrides<tcp::Config> = Overrides::default()
            ; used when |c| c.app != app::Kind::Cbr, else "the flow is not over TCP",
        /// File-transfer settings of this flow that differ from `bulk`.
        pub bulk: Overrides<bulk::Config> = Overrides::default()
            ; used when |c| c.app == app::Kind::Bulk, else "the application of the flow is not `bulk`",
        /// CBR settings of this flow that differ from `cbr`.
        pub cbr: Overrides<cbr::Config> = Overrides::default()
            ; used when |c| c.app == app::Kind::Cbr, else "the application of the flow is not `cbr`",
        /// On/off settings of this flow that differ from `on_off`.
        pub on_off: Overrides<on_off::Config> = Overrides::default()
            ; used when |c| c.app == app::Kind::OnOff, else "the application of the flow is not `on_off`",
        /// Settings of requests and responses of this flow that differ from `requests`.
        pub requests: Overrides<requests::Config> = Overrides::default()
            ; used when |c| c.app == app::Kind::Requests, else "the application of the flow is not `requests`",
    }
}

impl FlowEntry {
    /// Number of flows of the entry.
    pub fn count(&self) -> u64 {
        let Some(dst) = &self.dst else { return 0 };
        let (from, to) = (self.src.0.ranges(), dst.0.ranges());
        let common = |a: &(u32, u32), b: &(u32, u32)| (u64::from(a.1.min(b.1)) + 1).saturating_sub(a.0.max(b.0).into());
        let both: u64 = from.iter().map(|a| to.iter().map(|b| common(a, b)).sum::<u64>()).sum();
        self.src.count().saturating_mul(dst.count()).saturating_sub(both)
    }

    /// Flow with the settings of the entry, without ends and times.
    pub(in crate::scenario) fn common(&self) -> Flow {
        Flow {
            src: 0,
            dst: 0,
            name: self.name.clone(),
            group: self.group.clone(),
            start: None,
            stop: None,
            dscp: self.dscp as u8,
            app: self.app,
            tcp: self.tcp.clone(),
            bulk: self.bulk.clone(),
            cbr: self.cbr.clone(),
            on_off: self.on_off.clone(),
            requests: self.requests.clone(),
        }
    }

    /// All flows of the entry.
    pub fn flows(&self) -> impl Iterator<Item = Flow> + '_ {
        let destinations = || self.dst.iter().flat_map(Ends::numbers);
        let ends = self.src.numbers().flat_map(move |from| destinations().map(move |to| (from, to)));
        ends.filter(|(from, to)| from != to).zip(0u64..).map(|((src, dst), i)| {
            let start = self.start.map(|first| later(first, self.stagger.0.saturating_mul(i)));
            let stop = self.stop.or(end_of(start, self.duration));
            Flow { src, dst, start, stop, ..self.common() }
        })
    }

    /// Start of the last flow.
    fn last_start(&self) -> Option<Time> {
        self.start.map(|first| later(first, self.stagger.0.saturating_mul(self.count().saturating_sub(1))))
    }
}

fn later(t: Time, by: u64) -> Time {
    Time(t.0.saturating_add(by))
}

/// Stop time of an application with this start and duration.
fn end_of(start: Option<Time>, duration: Option<Span>) -> Option<Time> {
    start.zip(duration).map(|(start, lasts)| later(start, lasts.0))
}

/// One flow.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Source node.
    pub src: u32,
    /// Destination node.
    pub dst: u32,
    /// Name by which measures choose the flow.
    pub name: Option<Label>,
    /// Group of flows by which measures choose it.
    pub group: Option<Label>,
    /// Differentiated services codepoint.
    pub dscp: u8,
    /// Application.
    pub app: app::Kind,
    /// Start; `None`: an event starts it.
    pub start: Option<Time>,
    /// Stop time of the application.
    pub stop: Option<Time>,
    /// TCP settings that differ from the common ones.
    pub tcp: Overrides<tcp::Config>,
    /// File-transfer settings that differ from the common ones.
    pub bulk: Overrides<bulk::Config>,
    /// CBR settings that differ from the common ones.
    pub cbr: Overrides<cbr::Config>,
    /// On/off settings that differ from the common ones.
    pub on_off: Overrides<on_off::Config>,
    /// Settings of requests and responses that differ from the common ones.
    pub requests: Overrides<requests::Config>,
}

impl Flow {
    /// Returns true if the flow uses TCP.
    pub fn is_tcp(&self, cfg: &Config) -> bool {
        match self.app {
            app::Kind::Bulk | app::Kind::Requests => true,
            app::Kind::Cbr => false,
            app::Kind::OnOff => self.on_off.over(&cfg.on_off).transport == on_off::Transport::Tcp,
        }
    }

    /// Payload of a packet: of a segment, or of a datagram.
    pub fn payload(&self, cfg: &Config) -> Bytes {
        match self.app {
            _ if self.is_tcp(cfg) => self.tcp.over(&cfg.tcp).mss,
            app::Kind::OnOff => self.on_off.over(&cfg.on_off).payload,
            app::Kind::Bulk | app::Kind::Cbr | app::Kind::Requests => self.cbr.over(&cfg.cbr).payload,
        }
    }
}

/// Message about flows with a stop time and a duration.
pub(in crate::scenario) fn stops_twice(at: &str) -> String {
    format!("`{at}.stop` and `{at}.duration` both say when the application stops")
}

/// Advice on flows with a stop time and a duration.
pub(in crate::scenario) const STOP_ONCE: &str =
    "leave one of them out, or set the stop time to \"never\" or the duration to \"unlimited\"";

impl Checker<'_> {
    /// Validates the flows; returns false if there are too many.
    pub(in crate::scenario) fn flows(&mut self) -> bool {
        let cfg = self.cfg;
        let (listed, drawn) = (cfg.listed_flows(), u64::from(cfg.traffic.flows));
        let (all, limit) = (listed.saturating_add(drawn), cfg.run.max_flows);
        if all > u64::from(limit) {
            let path = if drawn > listed { "traffic.flows" } else { "flow" };
            let message = format!("there are {all} flows, and at most {limit} are allowed");
            self.error(path, message, "if you need that many, raise `run.max_flows`");
            return false;
        }
        for (i, entry) in cfg.flow.0.iter().enumerate() {
            self.entry(i, entry);
        }
        self.names();
        self.traffic(drawn);
        true
    }

    /// Checks that a name means one flow, and is the name of no group.
    fn names(&mut self) {
        let entries = &self.cfg.flow.0;
        let groups: BTreeMap<&str, usize> =
            entries.iter().enumerate().rev().filter_map(|(i, e)| Some((e.group.as_ref()?.0.as_str(), i))).collect();
        let mut named: BTreeMap<&str, usize> = BTreeMap::new();
        for (i, entry) in entries.iter().enumerate() {
            let Some(Label(name)) = &entry.name else { continue };
            let path = format!("flow.{i}.name");
            if entry.count() > 1 {
                let message = format!("`flow.{i}` has {} flows, and `name` names one", entry.count());
                self.error(&path, message, &format!("give all of them a group: group = \"{name}\""));
            }
            if let Some(first) = named.get(name.as_str()) {
                let message = format!("`flow.{i}` has the name of `flow.{first}`: \"{name}\"");
                self.error(&path, message, "choose another name, or give both flows the same group");
            } else if let Some(first) = groups.get(name.as_str()) {
                let message = format!("`flow.{i}` has the name of the group of `flow.{first}`: \"{name}\"");
                self.error(&path, message, "choose another name, or leave it out if the flow belongs to the group");
            }
            named.entry(name).or_insert(i);
        }
    }

    /// Validates an entry of `flow`.
    fn entry(&mut self, i: usize, entry: &FlowEntry) {
        let at = format!("flow.{i}");
        let Some(dst) = &entry.dst else {
            let help = format!("set `{at}.dst` to a node, or to several nodes, e.g. \"3-7\"");
            self.error(&at, format!("`{at}` has no destination"), &help);
            return;
        };
        self.node_exists(&join(&at, "src"), entry.src.last());
        self.node_exists(&join(&at, "dst"), dst.last());
        if entry.count() == 0 {
            let message = format!("`{at}` goes from node {} to itself", entry.src.last());
            self.error(&join(&at, "dst"), message, "choose another node");
        }
        let name = if entry.count() > 1 { format!("the last flow of `{at}`") } else { format!("`{at}`") };
        self.times(&at, &name, entry.last_start(), entry.stop, entry.duration);
        let flow = entry.common();
        self.application(&at, &flow);
        let stop = entry.stop.or(end_of(entry.last_start(), entry.duration));
        self.count(&Flow { stop, ..flow }, entry.count());
    }

    /// Validates flows that are drawn, and adds their number to the cost.
    fn traffic(&mut self, drawn: u64) {
        let traffic = &self.cfg.traffic;
        let flow = traffic.entry().common();
        if drawn > 0 {
            let last = traffic.start_of(drawn - 1);
            self.times("traffic", "the last flow of `traffic`", Some(last), traffic.stop, traffic.duration);
            self.application("traffic", &flow);
            let stop = traffic.stop.or(end_of(Some(last), traffic.duration));
            self.count(&Flow { stop, ..flow }, drawn);
        }
    }

    /// Validates the times of the flows in the group at `at`, the last of which is called `name`.
    fn times(&mut self, at: &str, name: &str, last: Option<Time>, stop: Option<Time>, duration: Option<Span>) {
        let Some(stop) = stop else { return };
        if duration.is_some() {
            self.error(&join(at, "duration"), stops_twice(at), STOP_ONCE);
        }
        if let Some(start) = last.filter(|&start| stop <= start) {
            let message = format!("{name} stops at {stop}, and starts at {start}");
            self.error(&join(at, "stop"), message, "a flow stops after it has started");
        }
    }

    /// Validates the application of a flow, or of the flows in the group at `at`.
    fn application(&mut self, at: &str, flow: &Flow) {
        let cfg = self.cfg;
        if flow.is_tcp(cfg) {
            self.tcp(at, &flow.tcp.over(&cfg.tcp));
        }
        match flow.app {
            app::Kind::Bulk => {
                let bulk = flow.bulk.over(&cfg.bulk);
                if bulk.segments.is_some() && bulk.bytes.is_some() {
                    let path = self.owner(at, "bulk.bytes");
                    let message = "`bulk.segments` and `bulk.bytes` both say how much is sent";
                    self.error(&path, message, "leave one of them out, or set it to \"unlimited\"");
                }
            }
            app::Kind::Cbr => {
                let cbr = flow.cbr.over(&cfg.cbr);
                self.fits(&self.owner(at, "cbr.payload"), cbr.payload.0, cbr.header_size.0);
            }
            app::Kind::OnOff if flow.is_tcp(cfg) => {}
            app::Kind::Requests => {}
            app::Kind::OnOff => {
                let on_off = flow.on_off.over(&cfg.on_off);
                self.fits(&self.owner(at, "on_off.payload"), on_off.payload.0, on_off.header_size.0);
            }
        }
    }

    /// Adds a number of such flows to the cost.
    fn count(&mut self, flow: &Flow, flows: u64) {
        let cfg = self.cfg;
        let tcp = flow.tcp.over(&cfg.tcp);
        let end = flow.stop.map_or(Span(u64::MAX), |stop| stop.since(Time::ZERO));
        // An event starts a flow again, or sends more.
        let has_end = cfg.event.0.is_empty();
        let time = if has_end { end.min(cost::longest(cfg)) } else { cost::longest(cfg) };
        self.tally.active = self.tally.active.max(time);
        match flow.app {
            app::Kind::Bulk => {
                self.tally.tcp(&tcp, flows);
                self.tally.bulk(&flow.bulk.over(&cfg.bulk), tcp.mss, flows);
            }
            app::Kind::Cbr => self.tally.cbr(&flow.cbr.over(&cfg.cbr), flows, time),
            app::Kind::Requests => self.tally.requests(&flow.requests.over(&cfg.requests), &tcp, flows, time),
            app::Kind::OnOff => self.tally.on_off(&flow.on_off.over(&cfg.on_off), &tcp, flows, time),
        }
        if !has_end {
            self.tally.has_no_end();
        }
    }
}

impl Traffic {
    /// Entry for a flow that is drawn or read from a file, without ends and start.
    pub(in crate::scenario) fn entry(&self) -> FlowEntry {
        FlowEntry {
            app: self.app,
            stop: self.stop,
            duration: self.duration,
            tcp: self.tcp.clone(),
            ..FlowEntry::default()
        }
    }

    /// Start of the flow with this place among those that are drawn or read from a file.
    pub(in crate::scenario) fn start_of(&self, i: u64) -> Time {
        later(self.start, self.stagger.0.saturating_mul(i))
    }
}

impl Config {
    /// Number of flows of all entries of `flow`.
    pub(in crate::scenario) fn listed_flows(&self) -> u64 {
        self.flow.0.iter().map(FlowEntry::count).fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(from: &[(u32, u32)], to: &[(u32, u32)]) -> FlowEntry {
        let ends = |set: &[(u32, u32)]| Ends(NodeSet(set.to_vec()));
        FlowEntry { src: ends(from), dst: Some(ends(to)), ..FlowEntry::default() }
    }

    #[test]
    fn every_source_sends_to_every_other_destination_once() {
        for (from, to) in [
            (&[(1, 3)][..], &[(0, 0)][..]),
            (&[(1, 10)], &[(1, 10)]),
            (&[(3, 5), (1, 1), (4, 6)], &[(0, 4), (9, 9), (2, 3)]),
            (&[(2, 2)], &[(2, 2)]),
        ] {
            let entry = entry(from, to);
            let within = |set: &[(u32, u32)], n: u32| set.iter().any(|r| (r.0..=r.1).contains(&n));
            let all: Vec<(u32, u32)> = (0..12).flat_map(|a| (0..12).map(move |b| (a, b))).collect();
            let expected: Vec<_> =
                all.into_iter().filter(|p| within(from, p.0) && within(to, p.1) && p.0 != p.1).collect();
            let ends: Vec<_> = entry.flows().map(|f| (f.src, f.dst)).collect();
            assert_eq!(ends, expected);
            assert_eq!(entry.count(), expected.len() as u64);
        }
        assert!(entry(&[(0, u32::MAX)], &[(0, u32::MAX)]).count() > 1 << 62);
    }

    #[test]
    fn flows_start_one_after_another_and_last_as_long() {
        let times = FlowEntry {
            start: Some(Time(5)),
            stagger: Span(10),
            duration: Some(Span(7)),
            ..entry(&[(1, 3)], &[(0, 0)])
        };
        let spans: Vec<_> = times.flows().map(|f| (f.start, f.stop)).collect();
        assert_eq!(spans, [5, 15, 25].map(|t| (Some(Time(t)), Some(Time(t + 7)))));
        assert_eq!(times.last_start(), Some(Time(25)));
        let together = FlowEntry { duration: None, stop: Some(Time(90)), ..times.clone() };
        assert!(together.flows().all(|f| f.stop == Some(Time(90))));
        let told = FlowEntry { start: None, ..times };
        assert!(told.flows().all(|f| (f.start, f.stop) == (None, None)));
    }
}
