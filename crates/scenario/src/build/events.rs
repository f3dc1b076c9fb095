//! Events of a scenario: the commands that they are in a run.

use super::super::schema::events::{Action, arguments};
use super::super::schema::nodes::NodeSet;
use super::super::schema::{Config, Event};
use super::layout::Layout;
use chappe_core::packet::{FlowId, NodeId, RadioId};
use chappe_core::radio::Propagation;
use chappe_core::run::{Change, Command, LinkSetup};
use chappe_core::setting::limit::HOUR;
use chappe_core::setting::{Node, Scalar, Value, and_known, suggest};
use chappe_core::tcp::ack::Policy;
use chappe_core::tcp::cc::Rule;
use chappe_core::unit::{BitRate, Position, Span, Time};
use chappe_core::{app, error_model, topology};
use std::fmt::Display;

/// Reason why nodes must be fixed.
pub const STAY: &str = "measured links are valid for static nodes only, and a node moves";
/// Advice on moving nodes with measured links.
pub const LET_STAY: &str = "keep all nodes static, or choose another `radio.propagation`";
/// Settings that may change during a run.
pub const CHANGEABLE: [&str; 21] = [
    "flow.N.cbr.interval",
    "flow.N.tcp.receive_window",
    "flow.N.tcp.max_cwnd",
    "flow.N.tcp.fixed.window",
    "flow.N.tcp.fixed.pacing_rate",
    "flow.N.tcp.delayed_ack.segments",
    "flow.N.tcp.ack_thinning.s1",
    "flow.N.tcp.ack_thinning.s2",
    "flow.N.tcp.ack_thinning.s3",
    "flow.N.tcp.ack_thinning.timeout",
    "queue.limit",
    "node.N.queue.limit",
    "wired_link.N.rate",
    "wired_link.N.delay",
    "wired_link.N.error.rate",
    "wired_link.N.queue.limit",
    "wired_link.N.back.rate",
    "wired_link.N.back.delay",
    "wired_link.N.back.error.rate",
    "wired_link.N.back.queue.limit",
    "wlan.error.rate",
];

/// Problem of an event: the name within it, the message, a suggested correction.
pub type Wrong = (&'static str, String, String);

/// Commands of an event.
pub fn commands(cfg: &Config, layout: &Layout, event: &Event) -> Result<Vec<Command>, Wrong> {
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
            "wired_link" => "the number of a link",
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
        Action::WiredLinkDown => Command::LinkDown(link(cfg, event.wired_link.ok_or_else(missing)?)?),
        Action::WiredLinkUp => Command::LinkUp(link(cfg, event.wired_link.ok_or_else(missing)?)?),
        Action::NodeMove => moved(cfg, event.node.ok_or_else(missing)?, event)?,
        Action::FlowStart => Command::FlowStart(own_flow(layout, event.flow.ok_or_else(missing)?)?),
        Action::FlowStop => Command::FlowStop(own_flow(layout, event.flow.ok_or_else(missing)?)?),
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

/// Number of a point-to-point link that there is.
fn link(cfg: &Config, link: u32) -> Result<u32, Wrong> {
    let help = match cfg.wired_link.0.len() {
        0 => "no `wired_link` is listed".to_owned(),
        n => format!("they are numbered from 0 to {}", n - 1),
    };
    let exists = (link as usize) < cfg.wired_link.0.len();
    if exists { Ok(link) } else { Err(("wired_link", format!("there is no wired link {link}"), help)) }
}

/// Command that moves a node.
fn moved(cfg: &Config, n: u32, event: &Event) -> Result<Command, Wrong> {
    let nodes = cfg.topology.nodes();
    if u64::from(n) >= nodes {
        let help = format!("those with a radio are numbered from 0 to {}", nodes.saturating_sub(1));
        return Err(("node", format!("there is no node {n} with a radio"), help));
    }
    if cfg.radio.propagation == Propagation::Links {
        return Err(("action", STAY.into(), LET_STAY.into()));
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
        (None, Some(_), None) => Err(("destination", "the speed is missing".into(), either())),
        (None, None, _) => Err(("", "the position or destination is missing".into(), either())),
        (Some(_), _, _) => {
            Err(("position", "a node that `position` moves at once has no destination or speed".into(), either()))
        }
    }
}

/// Flow whose application can be started and stopped.
fn own_flow(layout: &Layout, f: u32) -> Result<FlowId, Wrong> {
    let flow = layout.flows.get(f as usize);
    if flow.is_some_and(|flow| flow.app == app::Kind::External) {
        let message = format!("flow {f} is external: its driver decides when it sends");
        return Err(("flow", message, "choose a flow with another application".into()));
    }
    if flow.is_some() {
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
    let positive = || {
        let number: u32 = read(value)?;
        let help = || "it must be from 1 to 1000000".to_owned();
        if (1..=1_000_000).contains(&number) {
            Ok(number)
        } else {
            Err(("value", format!("`{name}` is {number}"), help()))
        }
    };
    let over_tcp = |n: &str| {
        let n = number("flow", n, layout.flows.len())?;
        let message = || format!("`{name}` has no effect: flow {n} goes over UDP");
        if layout.flows[n as usize].is_tcp(cfg) {
            Ok(n)
        } else {
            Err(("setting", message(), "choose a flow over TCP".into()))
        }
    };
    let has = |set: &NodeSet, n: NodeId| set.0.iter().any(|range| (range.0..=range.1).contains(&n.0));
    let tcp_of = |n: u32| layout.flows[n as usize].tcp.over(&cfg.tcp);
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
                return Err(("value", format!("`{name}` is zero"), "it must be longer than 0 s".into()));
            }
            vec![Change::Interval(FlowId(n), interval)]
        }
        ["flow", n, "tcp", "receive_window"] => {
            let n = over_tcp(n)?;
            if layout.split_at.get(n as usize).is_some_and(Option::is_some) {
                let message = format!("the connection of flow {n} is split, and its window is that of the buffer");
                return Err(("setting", message, "this window cannot change during a run".into()));
            }
            vec![Change::Window(FlowId(n), positive()?)]
        }
        ["flow", n, "tcp", "max_cwnd"] => vec![Change::MaxCwnd(FlowId(over_tcp(n)?), positive()?)],
        ["flow", n, "tcp", "fixed", setting @ ("window" | "pacing_rate")] => {
            let n = over_tcp(n)?;
            let rule = tcp_of(n).rule();
            if rule != Rule::Fixed {
                let message = format!("`{name}` has no effect: the window of flow {n} follows `{}`", rule.word());
                return Err((
                    "setting",
                    message,
                    "set `tcp.congestion_control = \"fixed\"`: only such a window is set from outside".into(),
                ));
            }
            if *setting == "window" {
                vec![Change::FixedWindow(FlowId(n), positive()?)]
            } else if value.value == Value::Text("unlimited".into()) {
                vec![Change::PacingRate(FlowId(n), None)]
            } else {
                vec![Change::PacingRate(FlowId(n), Some(read(value)?))]
            }
        }
        ["flow", n, "tcp", "delayed_ack", "segments"] => {
            let n = over_tcp(n)?;
            let policy = tcp_of(n).ack_policy;
            if policy != Policy::Delayed {
                let message = format!("`{name}` has no effect: the receiver of flow {n} is `{}`", policy.word());
                return Err(("setting", message, "only a receiver that is `delayed` counts segments".into()));
            }
            vec![Change::AckedSegments(FlowId(n), positive()?)]
        }
        ["flow", n, "tcp", "ack_thinning", setting @ ("s1" | "s2" | "s3" | "timeout")] => {
            let n = over_tcp(n)?;
            let policy = tcp_of(n).ack_policy;
            if policy != Policy::Thinning {
                let message = format!("`{name}` has no effect: the receiver of flow {n} is `{}`", policy.word());
                return Err(("setting", message, "only a receiver that is `thinning` has it".into()));
            }
            match ["s1", "s2", "s3"].iter().position(|step| step == setting) {
                Some(step) => vec![Change::ThinningStep(FlowId(n), step, up_to(name, value, 1_000_000)?)],
                None => vec![Change::ThinningTimeout(FlowId(n), up_to(name, value, HOUR)?)],
            }
        }
        ["queue", "limit"] => {
            let limit = positive()?;
            let own = |n: NodeId| cfg.node.0.iter().any(|own| has(&own.nodes, n) && own.queue.has("limit"));
            let radios = radios_with_queues(layout).filter(|r| !own(r.1)).map(|r| Change::QueueLimit(r.0, limit));
            let of_link = |d: &LinkSetup| {
                let link = &cfg.wired_link.0[d.link as usize];
                let own = link.queue.has("limit") || d.back && link.back.has("queue.limit");
                (!cfg.wired.queue.has("limit") && !own).then_some(Change::LinkQueueLimit(d.link, d.back, limit))
            };
            at_least_one(name, radios.chain(cfg.directions().iter().filter_map(of_link)).collect())?
        }
        ["node", n, "queue", "limit"] => {
            let n = number("node", n, cfg.node.0.len())? as usize;
            let limit = positive()?;
            let later =
                |node: NodeId| cfg.node.0[n + 1..].iter().any(|own| has(&own.nodes, node) && own.queue.has("limit"));
            let radios = radios_with_queues(layout);
            let mine = radios.filter(|r| has(&cfg.node.0[n].nodes, r.1) && !later(r.1));
            at_least_one(name, mine.map(|r| Change::QueueLimit(r.0, limit)).collect())?
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
                    let delay: Span = up_to(name, value, HOUR)?;
                    Box::new(move |back| Change::LinkDelay(n, back, delay))
                }
                ["queue", "limit"] => {
                    let limit = positive()?;
                    Box::new(move |back| Change::LinkQueueLimit(n, back, limit))
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

/// Radios behind queues, with their nodes.
fn radios_with_queues(layout: &Layout) -> impl Iterator<Item = (RadioId, NodeId)> {
    let profiles = &layout.interfaces.profiles;
    let radios = (0..).map(RadioId).zip(&layout.interfaces.radios);
    // Queues of mac80211 take the place of those of the nodes.
    radios.filter(|(_, r)| !profiles[r.profile as usize].wlan.has_mac80211()).map(|(id, r)| (id, r.node))
}

fn at_least_one(name: &str, changes: Vec<Change>) -> Result<Vec<Change>, Wrong> {
    let message = || format!("`{name}` has no effect: no queue has this limit");
    if changes.is_empty() {
        Err(("setting", message(), "other settings apply to all queues".into()))
    } else {
        Ok(changes)
    }
}

fn is_of_link(setting: &[&str]) -> bool {
    let setting = setting.strip_prefix(&["back"]).unwrap_or(setting);
    matches!(setting, ["rate"] | ["delay"] | ["error", "rate"] | ["queue", "limit"])
}

/// New value of a setting.
fn read<T: Scalar>(value: &Node) -> Result<T, Wrong> {
    T::read(value).map_err(|expected| ("value", format!("`value` cannot be {}", value.text()), expected))
}

/// New value of a setting with a largest one.
fn up_to<T: Scalar + PartialOrd + Display>(name: &str, value: &Node, most: T) -> Result<T, Wrong> {
    let new: T = read(value)?;
    if new <= most {
        Ok(new)
    } else {
        Err(("value", format!("`{name}` is {new}"), format!("it must be at most {most}")))
    }
}

/// Reason why a flow cannot start again.
pub fn after_fin(flow: FlowId, began: Time) -> String {
    format!(
        "flow {} has started at {began}; its connection ends with a FIN (`tcp.fin`) and takes no data after the FIN",
        flow.0
    )
}
