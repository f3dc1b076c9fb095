//! Entries of `flow`, each for one flow or for a flow between every two of many nodes.

use super::nodes::NodeSet;
use super::{Config, Overrides, Traffic, quic};
use chappe_core::app::{self, bulk, cbr, on_off, requests};
use chappe_core::setting::limit::{LONGEST, above, at_most};
use chappe_core::setting::{Node, Scalar, Value};
use chappe_core::unit::{Span, Time};
use chappe_core::{settings, tcp};
use serde_json::{Value as Json, json};

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
    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        self.0.ranges().into_iter().flat_map(|(first, last)| first..=last)
    }

    /// Largest number of a node.
    pub fn last(&self) -> u32 {
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
        CHOICES.contains(&text)
            || app::Kind::WORDS.iter().any(word)
            || tcp::config::variants::Variant::WORDS.iter().any(word)
    }
}

impl Scalar for Label {
    fn read(node: &Node) -> Result<Label, String> {
        let form =
            || "expected a name that begins with a letter and has letters, digits, `_` and `-`, such as \"voice\"";
        let Value::Text(text) = &node.value else { return Err(form().into()) };
        if Label::is_taken(text) {
            return Err(format!("\"{text}\" already stands for a choice of flows, expected another name"));
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
        pub(everyday) src: Ends = Ends::one(0),
        /// Number of the destination node, or several nodes.
        pub(everyday) dst: Option<Ends> | "none" = None,
        /// Name of the flow, for the choice of flows: `--flows voice`.
        pub(everyday) name: Option<Label> | "none" = None,
        /// Group of the flow, which several flows may share: `--flows web` chooses all of them.
        pub(everyday) group: Option<Label> | "none" = None,
        /// Differentiated services codepoint of its packets (RFC 2474). Its upper three bits are the user priority,
        /// which determines the access category of EDCA: 0 and 3 best effort, 1 and 2 background, 4 and 5 video, 6 and
        /// 7 voice.
        pub dscp: u32 = 0 => at_most(63),
        /// Application of the flow.
        pub(everyday) app: app::Kind = app::Kind::Bulk,
        /// Start of the flow, or of the first flow between several nodes; "event": each flow waits for an event that
        /// starts it.
        pub(everyday) start: Option<Time> | "event" = Some(Time::ZERO) => at_most(Time::ZERO + LONGEST)
            ; used when |c| c.app != app::Kind::External, else "the driver of an external flow decides when it sends",
        /// Stop time of the application, after which it sends nothing new.
        pub(everyday) stop: Option<Time> | "never" = None => at_most(Time::ZERO + LONGEST)
            ; used when |c| c.app != app::Kind::External, else "the driver of an external flow decides when it sends",
        /// Time between the starts of consecutive flows of the entry.
        pub stagger: Span = Span::ZERO => at_most(LONGEST)
            ; used when |c| c.starts_by_itself() && c.count() > 1,
            else "there is only one flow, or the flows do not start by themselves",
        /// Time from the start of each application to its stop, instead of `stop`.
        pub(everyday) duration: Option<Span> | "unlimited" = None => above(Span::ZERO).at_most(LONGEST)
            ; used when |c| c.starts_by_itself(), else "the flows do not start by themselves",
        /// TCP settings of this flow that differ from `tcp`.
        pub tcp: Overrides<tcp::Config> = Overrides::default()
            ; used when |c| !matches!(c.app, app::Kind::Cbr | app::Kind::External), else "the flow is not over TCP",
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
        /// Settings of QUIC between the ends of this flow that differ from `quic`.
        pub quic: Overrides<quic::Config> = Overrides::default()
            ; used when |c| c.app == app::Kind::External, else "the application of the flow is not `external`",
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

    /// Returns true if no event and no driver is needed to start the flows.
    fn starts_by_itself(&self) -> bool {
        self.start.is_some() && self.app != app::Kind::External
    }

    /// Start of the last flow.
    pub fn last_start(&self) -> Option<Time> {
        self.start.map(|first| later(first, self.stagger.0.saturating_mul(self.count().saturating_sub(1))))
    }
}

/// The instant this many nanoseconds later.
pub fn later(t: Time, by: u64) -> Time {
    Time(t.0.saturating_add(by))
}

/// Stop time of an application with this start and duration.
pub fn end_of(start: Option<Time>, duration: Option<Span>) -> Option<Time> {
    start.zip(duration).map(|(start, lasts)| later(start, lasts.0))
}

impl Traffic {
    /// Entry for a flow that is drawn or read from a file, without ends and start.
    pub fn entry(&self) -> FlowEntry {
        FlowEntry {
            app: self.app,
            stop: self.stop,
            duration: self.duration,
            tcp: self.tcp.clone(),
            ..FlowEntry::default()
        }
    }

    /// Start of the flow with this place among those that are drawn or read from a file.
    pub fn start_of(&self, i: u64) -> Time {
        later(self.start, self.stagger.0.saturating_mul(i))
    }
}

impl Config {
    /// Number of flows of all entries of `flow`.
    pub fn listed_flows(&self) -> u64 {
        self.flow.0.iter().map(FlowEntry::count).fold(0, u64::saturating_add)
    }
}
