//! Events of a scenario: their commands, and their validation. A program that drives a run uses the same form.

use super::layout::Layout;
use crate::packet::{FlowId, NodeId, RadioId};
use crate::radio::Propagation;
use crate::run::{Change, Command};
use crate::scenario::Scenario;
use crate::scenario::read::error::Errors;
use crate::scenario::read::source::Sources;
use crate::scenario::schema::{self, Any, Config, Event};
use crate::scenario::validate::Checker;
use crate::scenario::validate::links;
use crate::setting::{Code, Node, Problem, Report, Scalar, Setting, Value, and_known, join, suggest};
use crate::unit::{BitRate, Position, Span, Time};
use crate::{app, error_model, keywords, topology};
use serde_json::{Map, Value as Json, json};

/// Settings that may change during a run.
pub const CHANGEABLE: [&str; 10] = [
    "flow.N.cbr.interval",
    "flow.N.tcp.receive_window",
    "flow.N.tcp.max_cwnd",
    "wired_link.N.rate",
    "wired_link.N.delay",
    "wired_link.N.error.rate",
    "wired_link.N.back.rate",
    "wired_link.N.back.delay",
    "wired_link.N.back.error.rate",
    "wlan.error.rate",
];

/// Problem of an event: the name within it, the message, a suggested correction.
type Wrong = (&'static str, String, String);

keywords! {
    /// Kind of the change that an event makes.
    pub enum Action {
        /// Switches a node off, or one of its radios.
        NodeDown = "node_down",
        /// Switches a node on again, or one of its radios.
        NodeUp = "node_up",
        /// Moves a node, to `position` at once or to `destination` with `speed`; it stays there for the rest of the
        /// run, whatever `mobility` says.
        NodeMove = "node_move",
        /// Starts the application of a flow, or restarts it.
        FlowStart = "flow_start",
        /// Stops the application of a flow.
        FlowStop = "flow_stop",
        /// Changes a setting.
        Set = "set",
    }
}

impl Action {
    /// Settings of an event with this action; the first one is required.
    fn takes(self) -> &'static [&'static str] {
        match self {
            Action::NodeDown | Action::NodeUp => &["node", "channel"],
            Action::NodeMove => &["node", "position", "destination", "speed"],
            Action::FlowStart | Action::FlowStop => &["flow"],
            Action::Set => &["setting", "value"],
        }
    }
}

impl Event {
    /// Returns true if the event moves a node.
    pub(in crate::scenario) fn moves(&self) -> bool {
        self.action == Some(Action::NodeMove)
    }
}

/// Settings of an event that belong to some actions only, and true for each that is set.
fn arguments(event: &Event) -> [(&'static str, bool); 8] {
    [
        ("node", event.node.is_some()),
        ("channel", event.channel.is_some()),
        ("position", event.position.is_some()),
        ("destination", event.destination.is_some()),
        ("speed", event.speed.is_some()),
        ("flow", event.flow.is_some()),
        ("setting", event.setting.is_some()),
        ("value", event.value.0.is_some()),
    ]
}

/// Adds to the schema of a scenario which settings of an event belong to which action.
pub(in crate::scenario) fn describe(schema: &mut Json) {
    let given = json!({ "not": { "const": "none" } });
    let settings = schema["properties"]["event"]["items"]["properties"].clone();
    let all: Vec<&str> = arguments(&Event::default()).map(|a| a.0).into();
    let of_action = |action: &Action| {
        let takes = action.takes();
        let others = all.iter().filter(|name| !takes.contains(name));
        let absent = |name: &str| json!({ "const": settings[name]["anyOf"][0]["const"].as_str().unwrap_or("none") });
        let mut properties: Map<String, Json> = others.map(|name| ((*name).to_owned(), absent(name))).collect();
        properties.insert(takes[0].to_owned(), given.clone());
        let mut then = json!({ "required": [takes[0]], "properties": properties });
        match action {
            Action::Set => {
                then["required"] = json!(takes);
                then["properties"]["value"] = given.clone();
            }
            Action::NodeMove => {
                let absent = json!({ "const": "none" });
                then["oneOf"] = json!([
                    {
                        "required": ["position"],
                        "properties": { "position": given, "destination": absent, "speed": absent },
                    },
                    {
                        "required": ["destination", "speed"],
                        "properties": { "destination": given, "speed": given, "position": absent },
                    },
                ]);
            }
            _ => {}
        }
        json!({ "if": { "properties": { "action": { "const": action.word() } }, "required": ["action"] }, "then": then })
    };
    let event = &mut schema["properties"]["event"]["items"];
    event["required"] = json!(["at", "action"]);
    event["allOf"] = Action::ALL.iter().map(of_action).collect();
}

/// Commands of an event.
fn commands(cfg: &Config, layout: &Layout, event: &Event) -> Result<Vec<Command>, Wrong> {
    let Some(action) = event.action else {
        let all: Vec<&str> = Action::ALL.iter().map(|a| a.word()).collect();
        return Err(("", "no action is named".into(), format!("set `action` to one of {}", all.join(", "))));
    };
    let (word, takes) = (action.word(), action.takes());
    if let Some((name, _)) = arguments(event).into_iter().find(|(name, given)| *given && !takes.contains(name)) {
        let help = format!("`{word}` takes {}", takes.iter().map(|t| format!("`{t}`")).collect::<Vec<_>>().join(", "));
        return Err((name, format!("`{name}` does not belong to `{word}`"), help));
    }
    let missing = || {
        let what = match takes[0] {
            "setting" => "the name of a setting",
            "flow" => "the number of a flow",
            _ => "the number of a node",
        };
        ("", format!("`{word}` needs `{}`", takes[0]), format!("set `{}` to {what}", takes[0]))
    };
    let node = || {
        let (n, nodes) = (event.node.ok_or_else(missing)?, cfg.nodes());
        let help = format!("nodes are numbered from 0 to {}", nodes.saturating_sub(1));
        if u64::from(n) < nodes { Ok(NodeId(n)) } else { Err(("node", format!("there is no node {n}"), help)) }
    };
    let command = match action {
        Action::NodeDown => {
            let n = node()?;
            radio(layout, n, event.channel)?.map_or(Command::NodeDown(n), Command::RadioDown)
        }
        Action::NodeUp => {
            let n = node()?;
            radio(layout, n, event.channel)?.map_or(Command::NodeUp(n), Command::RadioUp)
        }
        Action::NodeMove => moved(cfg, event.node.ok_or_else(missing)?, event)?,
        Action::FlowStart => Command::FlowStart(flow(layout, event.flow.ok_or_else(missing)?)?),
        Action::FlowStop => Command::FlowStop(flow(layout, event.flow.ok_or_else(missing)?)?),
        Action::Set => return changes(cfg, layout, event.setting.as_deref().ok_or_else(missing)?, event),
    };
    Ok(vec![command])
}

/// Radio of a node on a channel; `None` if no channel is named.
fn radio(layout: &Layout, n: NodeId, channel: Option<u16>) -> Result<Option<RadioId>, Wrong> {
    let Some(channel) = channel else { return Ok(None) };
    let own = || layout.interfaces.radios.iter().zip((0..).map(RadioId)).filter(|(r, _)| r.node == n);
    let radio = own().find(|(r, _)| r.channel == channel).map(|(_, id)| Some(id));
    radio.ok_or_else(|| {
        let all: Vec<String> = own().map(|(r, _)| r.channel.to_string()).collect();
        let help = if all.is_empty() { "it has no radio".to_owned() } else { format!("it is on {}", all.join(", ")) };
        ("channel", format!("node {} has no radio on channel {channel}", n.0), help)
    })
}

/// Command that moves a node.
fn moved(cfg: &Config, n: u32, event: &Event) -> Result<Command, Wrong> {
    let nodes = cfg.topology.nodes();
    if u64::from(n) >= nodes {
        let help = format!("those with a radio are numbered from 0 to {}", nodes.saturating_sub(1));
        return Err(("node", format!("there is no node {n} with a radio"), help));
    }
    if cfg.radio.propagation == Propagation::Links {
        return Err(("action", links::STAY.into(), links::LET_STAY.into()));
    }
    let far = |p: &Position| !(p.x.abs() < topology::FAR.0 && p.y.abs() < topology::FAR.0);
    for (name, place) in [("position", event.position), ("destination", event.destination)] {
        if place.as_ref().is_some_and(far) {
            return Err((name, "the place is too far away".into(), "places must be within 10000 km".into()));
        }
    }
    let either = || "set `position`, or `destination` and `speed`".to_owned();
    match (event.position, event.destination, event.speed) {
        (Some(place), None, None) => Ok(Command::NodePut(NodeId(n), place)),
        (None, Some(to), Some(speed)) => Ok(Command::NodeSend(NodeId(n), to, speed)),
        (None, Some(_), None) => Err(("destination", "it is not said how fast".into(), either())),
        (None, None, _) => Err(("", "it is not said where to".into(), either())),
        (Some(_), _, _) => Err(("position", "whoever is at a place at once does not walk".into(), either())),
    }
}

fn flow(layout: &Layout, f: u32) -> Result<FlowId, Wrong> {
    if (f as usize) < layout.flows.len() {
        return Ok(FlowId(f));
    }
    let help = match layout.flows.len() {
        0 => "there are no flows".to_owned(),
        n => format!("flows are numbered from 0 to {}", n - 1),
    };
    Err(("flow", format!("there is no flow {f}"), help))
}

/// Commands that change a setting.
fn changes(cfg: &Config, layout: &Layout, name: &str, event: &Event) -> Result<Vec<Command>, Wrong> {
    let Some(value) = &event.value.0 else {
        return Err(("setting", format!("`{name}` gets no value"), "write it as `value`".into()));
    };
    let steps: Vec<&str> = name.split('.').collect();
    let number = |group: &str, text: &str, there: usize| match text.parse::<u32>() {
        Ok(n) if (n as usize) < there => Ok(n),
        _ => {
            let message = format!("there is no {} {text}", group.replace('_', " "));
            let known = || format!("they are numbered from 0 to {}", there - 1);
            Err(("setting", message, if there == 0 { format!("no `{group}` is listed") } else { known() }))
        }
    };
    let probability = || {
        let help = || "a probability goes from 0 to 1".to_owned();
        let rate: f64 = read(value)?;
        if (0.0..=1.0).contains(&rate) { Ok(rate) } else { Err(("value", format!("`{name}` is {rate}"), help())) }
    };
    let needs_uniform = |model: error_model::Kind| {
        let message = format!("`{name}` has no effect: the error model is `{}`", model.word());
        let help = "only the model `uniform` has a rate".to_owned();
        if model == error_model::Kind::Uniform { Ok(()) } else { Err(("setting", message, help)) }
    };
    let changes = match steps.as_slice() {
        ["flow", n, "cbr", "interval"] => {
            let n = number("flow", n, layout.flows.len())?;
            let app = layout.flows[n as usize].app;
            if app != app::Kind::Cbr {
                let message = format!("`{name}` has no effect: flow {n} is `{}`", app.word());
                return Err(("setting", message, "choose a flow that is `cbr`".into()));
            }
            let interval: Span = read(value)?;
            if interval == Span::ZERO {
                return Err(("value", format!("`{name}` is no time at all"), "it must be longer than 0 s".into()));
            }
            vec![Change::Interval(FlowId(n), interval)]
        }
        ["flow", n, "tcp", "receive_window"] => {
            let n = number("flow", n, layout.flows.len())?;
            if !layout.flows[n as usize].is_tcp(cfg) {
                let message = format!("`{name}` has no effect: flow {n} goes over UDP");
                return Err(("setting", message, "choose a flow over TCP".into()));
            }
            if layout.split_at.get(n as usize).is_some_and(Option::is_some) {
                let message = format!("the connection of flow {n} is split, and its window is that of the buffer");
                return Err(("setting", message, "this window cannot change during a run".into()));
            }
            let window: u32 = read(value)?;
            if !(1..=1_000_000).contains(&window) {
                let help = "it must be from 1 to 1000000".to_owned();
                return Err(("value", format!("`{name}` is {window}"), help));
            }
            vec![Change::Window(FlowId(n), window)]
        }
        ["flow", n, "tcp", "max_cwnd"] => {
            let n = number("flow", n, layout.flows.len())?;
            if !layout.flows[n as usize].is_tcp(cfg) {
                let message = format!("`{name}` has no effect: flow {n} goes over UDP");
                return Err(("setting", message, "choose a flow over TCP".into()));
            }
            let segments: u32 = read(value)?;
            if !(1..=1_000_000).contains(&segments) {
                let help = "it must be from 1 to 1000000".to_owned();
                return Err(("value", format!("`{name}` is {segments}"), help));
            }
            vec![Change::MaxCwnd(FlowId(n), segments)]
        }
        ["wired_link", n, rest @ ..] if is_of_link(rest) => {
            let n = number("wired_link", n, cfg.wired_link.0.len())?;
            let (only_back, setting) =
                rest.split_first().filter(|s| *s.0 == "back").map_or((false, rest), |s| (true, s.1));
            let link = &cfg.wired_link.0[n as usize];
            if only_back && !link.duplex {
                let message = format!("link {n} goes one way, and has no `back`");
                return Err(("setting", message, format!("set `wired_link.{n}.duplex = true`")));
            }
            // Values set in `back` are not changed by values common to both directions.
            let own = |key: &str| link.back.has(key);
            let directions: &[bool] = match (only_back, link.duplex && !own(&setting.join("."))) {
                (true, _) => &[true],
                (false, true) => &[false, true],
                (false, false) => &[false],
            };
            let change: Box<dyn Fn(bool) -> Change> = match setting {
                ["rate"] => {
                    let rate: BitRate = read(value)?;
                    Box::new(move |back| Change::LinkRate(n, back, rate))
                }
                ["delay"] => {
                    let delay: Span = read(value)?;
                    if delay > Span::secs(3600) {
                        return Err(("value", format!("{delay} is too long"), "it must be at most 1 h".into()));
                    }
                    Box::new(move |back| Change::LinkDelay(n, back, delay))
                }
                _ => {
                    let rate = probability()?;
                    let all = cfg.directions();
                    for d in all.iter().filter(|d| d.link == n && directions.contains(&d.back)) {
                        needs_uniform(d.error.model)?;
                    }
                    Box::new(move |back| Change::LinkErrorRate(n, back, rate))
                }
            };
            directions.iter().map(|&back| change(back)).collect()
        }
        ["wlan", "error", "rate"] => {
            let rate = probability()?;
            needs_uniform(cfg.wlan.error.model)?;
            vec![Change::ReceiverErrorRate(rate)]
        }
        _ => {
            let general =
                steps.iter().map(|s| if s.parse::<u32>().is_ok() { "N" } else { s }).collect::<Vec<_>>().join(".");
            let changeable = format!("these may: {}", CHANGEABLE.join(", "));
            let help = suggest(&general, &CHANGEABLE).map_or(changeable.clone(), |s| and_known(&s, &changeable));
            return Err(("setting", format!("`{name}` cannot change during a run"), help));
        }
    };
    Ok(changes.into_iter().map(Command::Set).collect())
}

fn is_of_link(setting: &[&str]) -> bool {
    let setting = setting.strip_prefix(&["back"]).unwrap_or(setting);
    matches!(setting, ["rate"] | ["delay"] | ["error", "rate"])
}

/// New value of a setting.
fn read<T: Scalar>(value: &Node) -> Result<T, Wrong> {
    T::read(value).map_err(|expected| ("value", format!("`value` cannot be {}", value.text()), expected))
}

impl Checker<'_> {
    /// Validates the events, and adds their commands to the layout.
    pub(in crate::scenario) fn events(&mut self, layout: &mut Layout) {
        for (i, event) in self.cfg.event.0.iter().enumerate() {
            let at = format!("event.{i}");
            let Some(time) = event.at else {
                self.error(&at, format!("event {i} has no time"), &format!("set `{at}.at`, such as \"3 s\""));
                continue;
            };
            match commands(self.cfg, layout, event) {
                Ok(commands) => {
                    self.start_after_fin(i, &commands, time, layout);
                    layout.events.extend(commands.into_iter().map(|c| (time, c)));
                }
                Err((name, message, help)) => {
                    let path = if name.is_empty() { at.clone() } else { join(&at, name) };
                    self.error(&path, format!("event {i}: {message}"), &help);
                }
            }
        }
    }

    /// Refuses an event that starts a flow again whose connection ends with a FIN: it takes no more data.
    fn start_after_fin(&mut self, i: usize, commands: &[Command], time: Time, layout: &Layout) {
        let [Command::FlowStart(f)] = commands else { return };
        let flow = &layout.flows[f.index()];
        let others = self.cfg.event.0.iter().enumerate().filter(|(k, e)| {
            let before = e.at.is_some_and(|at| at < time || (at == time && *k < i));
            before && e.action == Some(Action::FlowStart) && e.flow == Some(f.0)
        });
        let began = flow.start.filter(|at| *at < time).or(others.filter_map(|(_, e)| e.at).min());
        if let Some(began) = began
            && flow.is_tcp(self.cfg)
            && flow.tcp.over(&self.cfg.tcp).ends_with_fin()
        {
            let message = format!("event {i}: {}", after_fin(*f, began));
            let help = format!("list another flow that starts at {time}, or set `flow.{}.tcp.fin = false`", f.0);
            self.error(&format!("event.{i}.flow"), message, &help);
        }
    }

    /// Warns of events after the end of the run.
    pub(in crate::scenario) fn late_events(&mut self, end: Time) {
        let late = self.cfg.event.0.iter().enumerate().find(|(_, e)| e.at.is_some_and(|at| at >= end));
        if let Some((i, at)) = late.and_then(|(i, e)| Some((i, e.at?))) {
            let message = format!("event {i} comes at {at}, and the run ends at {end}");
            let help = "move it to an earlier time, or make the run longer";
            self.warn(Code::LateEvent, &format!("event.{i}.at"), message, help);
        }
    }
}

/// Reason why a flow cannot start again.
fn after_fin(flow: FlowId, began: Time) -> String {
    format!(
        "flow {} has started at {began}; its connection ends with a FIN (`tcp.fin`) and takes no data after the FIN",
        flow.0
    )
}

/// Problems of an event of a program that drives a run.
fn of_program(problems: Vec<Problem>) -> Errors {
    Errors { problems, more: 0, sources: Sources::default() }
}

impl Scenario {
    /// Refuses commands of a program that restart a flow whose connection ends with a FIN. `began` is the time at
    /// which a flow has begun, if it has.
    ///
    /// # Errors
    /// The problem of the first of these commands.
    pub fn check_start(&self, commands: &[Command], began: impl Fn(FlowId) -> Option<Time>) -> Result<(), Errors> {
        let cfg = self.config();
        let again = commands.iter().find_map(|command| match command {
            Command::FlowStart(f) => {
                let flow = &self.layout().flows[f.index()];
                let ends = flow.is_tcp(cfg) && flow.tcp.over(&cfg.tcp).ends_with_fin();
                Some((*f, began(*f).filter(|_| ends)?))
            }
            _ => None,
        });
        again.map_or(Ok(()), |(flow, began)| {
            let help = Some(format!("start another flow, or set `flow.{}.tcp.fin = false`", flow.0));
            let message = after_fin(flow, began);
            Err(of_program(vec![Problem { code: None, path: "flow".into(), origin: None, message, help }]))
        })
    }

    /// Commands for an event without a time, as given by a program that drives a run of this scenario.
    ///
    /// # Errors
    /// All problems of the event.
    pub fn commands(&self, json: &Json) -> Result<Vec<Command>, Errors> {
        let (mut event, mut report) = (Event::default(), Report::default());
        let node = schema::node(json, "event.0");
        event.apply(&node, "", &mut report);
        if let Value::Table(t) = &node.value
            && t.get("at").is_some()
        {
            let help = "call `run_until` first to advance to another time".to_owned();
            report.add("at", None, "`apply` acts at the present time and takes no `at`", Some(help));
        }
        if !report.problems.is_empty() {
            return Err(of_program(report.problems));
        }
        commands(self.config(), self.layout(), &event).map_err(|(path, message, help)| {
            of_program(vec![Problem { code: None, path: path.into(), origin: None, message, help: Some(help) }])
        })
    }
}

impl Setting for Any {
    fn apply(&mut self, node: &Node, _: &str, _: &mut Report) {
        self.0 = (node.value != Value::Text("none".into())).then(|| node.clone());
    }

    fn write(&self) -> Json {
        self.0.as_ref().map_or_else(|| "none".into(), crate::scenario::schema::to_json)
    }

    fn schema(&self) -> Json {
        let kind = "a number, or text such as \"2 Mbit/s\"";
        serde_json::json!({ "type": ["string", "number"], "description": kind, "default": "none" })
    }

    fn show(&self, path: &str, to: &mut dyn FnMut(&str, Option<&'static str>)) {
        to(path, None);
    }
}
