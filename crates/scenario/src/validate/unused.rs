//! Unused settings: values set in a scenario that have no effect.
//!
//! Layers declare with their settings which values of a group make others unused (`used when`, `used within`, `where` of
//! [`settings!`](chappe_core::settings)). This module covers conditions beyond a layer: groups without a user, and common
//! settings that each user overrides.

use super::super::build::flows::{Flow, connections};
use super::super::build::layout::Layout;
use super::super::build::mobility;
use super::super::read::source::Sources;
use super::super::schema::nodes::Own;
use super::super::schema::{Config, Direction, Overrides};
use super::Checker;
use chappe_core::app::arrivals::{Distribution, Size};
use chappe_core::app::on_off::Messages;
use chappe_core::net::middlebox::Kind;
use chappe_core::net::queue;
use chappe_core::net::routing::gateways::Choice;
use chappe_core::run::Profile;
use chappe_core::setting::{self, Node, Setting, Value, join};
use chappe_core::unit::Bytes;
use chappe_core::{app, radio, tcp, topology};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Condition beyond a layer: a group (ending in a dot) or a setting, the reason why it has no effect, and the test for
/// it.
type CrossLayer = (&'static str, &'static str, fn(&Config, &Node) -> bool);

/// Conditions in other groups that leave settings without effect. The first that applies is reported.
const CROSS_LAYER: &[CrossLayer] = &[
    ("net.link_red.", "no node has a radio", |c, _| c.has_radios()),
    ("net.neighborhood_red.", "no node has a radio", |c, _| c.has_radios()),
    ("arp.", "under `routing.protocol` there is no ARP over the radio", |c, _| !c.routing.protocol.is_below_ip()),
    ("radio.energy.", "`run.airtime` is false, and no node has a battery", |c, _| c.run.airtime || has_batteries(c)),
    ("topology.seed", "nothing is drawn at random from it", |c, _| {
        c.topology.kind == topology::Kind::Random
            || (c.traffic.flows > 0 && c.traffic.seed.is_none())
            || (c.radio.unused("shadowing_seed").is_none() && c.radio.shadowing_seed.is_none())
    }),
    ("radio.sinr.error_rates_file", "no frame is sent at a rate of 802.11a", |c, _| c.wlan.has_ofdm()),
    ("radio.sinr.error_rates_table", "no frame is sent at a rate of 802.11a", |c, _| c.wlan.has_ofdm()),
    ("radio.sinr.ofdm", "no frame is sent at a rate of 802.11a", |c, _| c.wlan.has_ofdm()),
    ("routing.gateways", "no node has both a radio and a wire", |c, _| has_gateways(c)),
    ("routing.batman_adv.gw_sel_class", "`routing.gateways` is not \"announced\"", |c, _| announces_gateways(c)),
    ("routing.batman_adv.dhcp_lease", "`routing.gateways` is not \"announced\"", |c, _| announces_gateways(c)),
    ("topology.connected", "nodes move", |c, _| !mobility::moves(c)),
    ("mobility.ns2.", "no node moves", |c, _| mobility::moves(c)),
    ("traffic.min_hops", "nodes move", |c, _| !mobility::moves(c)),
    ("traffic.max_hops", "nodes move", |c, _| !mobility::moves(c)),
    ("traffic.app", "there are no such flows", has_traffic),
    ("traffic.start", "there are no such flows", has_traffic),
    ("traffic.stagger", "there are no such flows", has_traffic),
    ("traffic.stop", "there are no such flows", has_traffic),
    ("traffic.duration", "there are no such flows", has_traffic),
    ("traffic.tcp.", "there are no such flows", has_traffic),
];

/// Adds the conditions to the schema of a scenario.
pub fn describe(schema: &mut Json) {
    for (path, why, _) in CROSS_LAYER {
        setting::add_reason(schema, path.trim_end_matches('.'), why);
    }
}

/// Returns true if any node has a battery.
fn has_batteries(cfg: &Config) -> bool {
    let of_a_node = |own: &Own| own.radio.over(&cfg.radio).energy.battery;
    cfg.radio.energy.battery.is_some() || cfg.node.0.iter().any(|own| of_a_node(own).is_some())
}

/// Returns true if gateways are announced.
fn announces_gateways(cfg: &Config) -> bool {
    cfg.routing.gateways == Choice::Announced
}

/// Returns true if any node has a radio and a wire.
fn has_gateways(cfg: &Config) -> bool {
    let has_radio = |node: u32| u64::from(node) < cfg.topology.nodes();
    cfg.wired_link.0.iter().any(|link| has_radio(link.src) || link.dst.is_some_and(has_radio))
}

/// Returns true if any node aggregates frames.
fn has_aggregates(cfg: &Config) -> bool {
    cfg.has_radios()
        && (cfg.wlan.has_block_ack() || cfg.node.0.iter().any(|own| own.wlan.over(&cfg.wlan).has_block_ack()))
}

/// Returns true if flows are drawn or were read from a file, whose flows are already listed.
fn has_traffic(cfg: &Config, tree: &Node) -> bool {
    cfg.traffic.flows > 0 || tree.at("traffic.file").is_some()
}

/// User of a common setting: whether it overrides the setting, and the reason why the setting would have no effect on
/// it.
type User = (bool, Option<&'static str>);

/// Reason why a setting has no effect on any user.
fn among(users: impl IntoIterator<Item = User>, nobody: &'static str) -> Option<&'static str> {
    let (mut all_own, mut why) = (false, None);
    for (own, unused) in users {
        match (own, unused) {
            (false, None) => return None,
            (true, _) => all_own = true,
            (false, unused) => why = why.or(unused),
        }
    }
    why.or(all_own.then_some("all have settings of their own")).or(Some(nobody))
}

/// Settings of absolute power, which matter if radios differ in them.
const POWERS: &[&str] = &["transmit_power", "antenna_gain", "system_loss", "frequency", "antenna_height"];

/// Returns true if data of several segments end with one that is not full.
fn leaves_rest(bytes: Bytes, tcp: &tcp::Config) -> bool {
    bytes > tcp.mss && !bytes.0.is_multiple_of(tcp.mss.0)
}

/// The same of data of a random size.
fn may_leave_rest(size: &Size, tcp: &tcp::Config) -> bool {
    size.distribution != Distribution::Fixed || leaves_rest(size.mean, tcp)
}

/// A queue, with its settings and those that it overrides.
struct Queue<'a> {
    cfg: queue::Config,
    own: Vec<&'a Overrides<queue::Config>>,
    back: Option<&'a Overrides<Direction>>,
    link: usize,
    /// The MAC behind it has queues of its own, which take every packet at once.
    is_passed: bool,
}

/// A TCP connection, or the second half of a split one.
struct Connection<'a> {
    /// Flow of the connection; `None` for a short flow.
    flow: Option<usize>,
    /// Overridden settings.
    own: &'a Overrides<tcp::Config>,
    /// Flow generator of the connection.
    arrivals: Option<usize>,
    /// Entry of `flow` of the connection; `None` for a random flow and a short flow.
    entry: Option<usize>,
    /// Middlebox at which the second half begins.
    split: Option<usize>,
    /// True if the application writes in pieces.
    writes: bool,
    /// True if a segment that is not full may end a write of several.
    ends_short: bool,
    /// True if segments have the PSH flag: those that end a write.
    pushes: bool,
    cfg: tcp::Config,
}

/// Users of common settings.
struct Users<'a> {
    cfg: &'a Config,
    tree: &'a Node,
    layout: &'a Layout,
    connections: Vec<Connection<'a>>,
    /// Both directions of each link.
    directions: Vec<[Direction; 2]>,
    /// True if any queue can mark packets.
    marks: bool,
}

impl<'a> Users<'a> {
    fn new(cfg: &'a Config, tree: &'a Node, layout: &'a Layout) -> Users<'a> {
        let mut connections = vec![];
        let mut plain = vec![];
        for (flow, f) in layout.flows.iter().enumerate().filter(|(_, f)| f.is_tcp(cfg)) {
            let split = layout.split_at.get(flow).copied().flatten();
            let entry = layout.entry_of(flow);
            // Takes one flow for all flows without settings of their own that write alike, one for each entry of
            // `flow`, and one for all random flows.
            let first = entry.map_or(layout.entries.last().map_or(0, |range| range.end), |i| layout.entries[i].start);
            let (is_first, is_plain) = (flow == first, f.tcp.is_empty());
            let (is_bulk, bulk) = (f.app == app::Kind::Bulk, f.bulk.over(&cfg.bulk));
            let writes = is_bulk && bulk.write_size.is_some();
            let pushes = !is_bulk || writes || bulk.segments.is_some() || bulk.bytes.is_some();
            let first = f.tcp.over(&cfg.tcp);
            // Nagle's algorithm does not hold a FIN, which goes with the last segment of a file.
            let is_closed = split.is_none() && first.ends_with_fin();
            let ends_short = match f.app {
                app::Kind::Bulk => bulk.bytes.is_some_and(|bytes| leaves_rest(bytes, &first)) && !is_closed,
                app::Kind::Requests => may_leave_rest(&f.requests.over(&cfg.requests).size, &first),
                app::Kind::OnOff => f.on_off.over(&cfg.on_off).framing == Messages::Stream,
                app::Kind::Cbr | app::Kind::External => false,
            };
            let is_known = is_plain && plain.contains(&(writes, pushes, ends_short));
            if split.is_none() && (!is_first || is_known) {
                continue;
            }
            if is_plain {
                plain.push((writes, pushes, ends_short));
            }
            let of = |split, cfg| Connection {
                flow: Some(flow),
                own: &f.tcp,
                arrivals: None,
                entry,
                split,
                writes,
                ends_short,
                // The node that splits a connection writes segment by segment.
                pushes: pushes || split.is_some(),
                cfg,
            };
            if let Some(i) = split {
                let second = cfg.middlebox.0[i].split.over(&cfg.split).tcp.over(&first);
                connections.push(of(split, second));
            }
            connections.push(of(None, first));
        }
        for (i, a) in cfg.arrival_process.0.iter().enumerate() {
            let flow_tcp = a.tcp.over(&cfg.tcp);
            connections.push(Connection {
                flow: None,
                own: &a.tcp,
                arrivals: Some(i),
                entry: None,
                split: None,
                writes: false,
                ends_short: may_leave_rest(&a.size, &flow_tcp) && !flow_tcp.ends_with_fin(),
                pushes: true,
                cfg: flow_tcp,
            });
        }
        let common = cfg.common_direction();
        let directions = cfg.wired_link.0.iter().map(|l| Config::directions_of(l, &common)).collect();
        let mut users = Users { cfg, tree, layout, connections, directions, marks: false };
        let managed = cfg.net.link_red.enabled || cfg.net.neighborhood_red.enabled;
        let marks = |q: &queue::Config| q.ecn && manages(q);
        let in_mac = |p: &Profile| p.wlan.has_mac80211() && p.wlan.mac80211.ecn;
        users.marks = users.queues().any(|q| !q.is_passed && marks(&q.cfg))
            || users.profiles().iter().any(in_mac)
            || (users.has_radios() && managed && cfg.queue.ecn);
        users
    }

    fn has_radios(&self) -> bool {
        !self.layout.positions.is_empty()
    }

    /// Profiles of nodes with a radio. A setting counts as used if any node uses it.
    fn profiles(&self) -> &'a [Profile] {
        if self.has_radios() { &self.layout.interfaces.profiles } else { &[] }
    }

    /// Reason for a setting of radios, MACs or interface queues.
    fn node(&self, group: &str, rest: &str) -> Option<&'static str> {
        let profiles = self.profiles();
        let worked_out = self.cfg.radio.propagation != radio::Propagation::Links;
        if group == "radio" && profiles.len() > 1 && worked_out && POWERS.contains(&rest) {
            return None;
        }
        let user = |p: &Profile| match group {
            "radio" => (false, p.radio.unused(rest)),
            "wlan" => (false, p.wlan.unused(rest)),
            "queue" => (false, p.queue.unused(rest)),
            _ => (false, None),
        };
        among(profiles.iter().map(user), "no node has a radio")
    }

    /// Reason for a setting of mobility.
    fn mobility(&self, rest: &str) -> Option<&'static str> {
        let plan = mobility::plan(self.cfg, self.layout.positions.len(), 0);
        let users = (0..)
            .zip(&plan.profiles)
            .filter(|(i, _)| plan.profile_of.contains(i))
            .map(|(_, p)| (false, p.unused(rest)));
        among(users, "no node has a radio")
    }

    /// All queues that use the group `queue`.
    fn queues(&self) -> impl Iterator<Item = Queue<'a>> + '_ {
        let radio = |p: &Profile| Queue {
            cfg: p.queue.clone(),
            own: vec![],
            back: None,
            link: 0,
            is_passed: p.wlan.has_mac80211(),
        };
        let wired_links =
            self.cfg.wired_link.0.iter().zip(&self.directions).enumerate().flat_map(|(link, (l, [there, back]))| {
                let own = vec![&self.cfg.wired.queue, &l.queue];
                let there = Queue { cfg: there.queue.clone(), own: own.clone(), back: None, link, is_passed: false };
                let back = l.duplex.then(|| Queue {
                    cfg: back.queue.clone(),
                    own,
                    back: Some(&l.back),
                    link,
                    is_passed: false,
                });
                std::iter::once(there).chain(back)
            });
        self.profiles().iter().map(radio).chain(wired_links)
    }

    /// Reason for a queue setting at this `depth`: 0 `queue`, 1 `wired.queue`, 2 a link's queue.
    fn queue(&self, depth: usize, link: Option<usize>, rest: &str) -> Option<&'static str> {
        let users = self.queues().filter(|q| q.own.len() >= depth && link.is_none_or(|l| q.link == l && depth == 2));
        let routing = &self.cfg.routing;
        let messages = routing.ecn && routing.protocol.learns_routes();
        // The driver of an external flow decides about each datagram.
        let driven = self.layout.flows.iter().any(|f| f.app == app::Kind::External);
        let marked = messages || driven || self.connections.iter().any(|c| c.cfg.ecn.enabled);
        let managed = self.cfg.net.link_red.enabled || self.cfg.net.neighborhood_red.enabled;
        let user = |q: Queue<'_>| {
            let own =
                q.own.iter().skip(depth).any(|o| o.has(rest)) || q.back.is_some_and(|b| b.has(&join("queue", rest)));
            let is_wire = !q.own.is_empty();
            let unused = match rest {
                "ecn" | "mark_threshold" if !marked => {
                    Some("nothing is ECN-capable: `tcp.ecn.enabled` and `routing.ecn` are false")
                }
                "purge" if is_wire => Some("point-to-point links lose no neighbors"),
                "purge" if !self.cfg.routing.protocol.learns_routes() => Some(NO_LOSS),
                "purge" if !self.cfg.routing.protocol.purges() => {
                    Some("`routing.protocol` takes nothing out of queues")
                }
                rest if q.is_passed && rest != "purge" => Some("packets wait in the MAC: `wlan.queues` is `mac80211`"),
                "ecn" if !manages(&q.cfg) && (is_wire || !managed) => Some("no queue management is in use"),
                _ => q.cfg.unused(rest),
            };
            (own, unused)
        };
        among(users.map(user), if depth == 0 { "there are no queues" } else { "there are no links" })
    }

    /// Reason for a setting of TCP on connections for which `own` returns a value: true if they override it.
    fn tcp(&self, rest: &str, own: impl Fn(&Connection<'_>) -> Option<bool>) -> Option<&'static str> {
        let notified = self.cfg.middlebox.0.iter().any(|m| m.kind == Kind::Eln);
        let user = |c: &Connection<'_>| {
            let unused = match rest {
                "ecn.enabled" if !self.marks => Some(NO_MARKS),
                "ecn.acks" if c.cfg.ecn.enabled && !self.marks => Some(NO_MARKS),
                rest if rest.starts_with("elfn.") && !self.cfg.routing.protocol.learns_routes() => Some(NO_LOSS),
                "nagle" if !c.writes && !c.ends_short => Some("no flow sends a short segment"),
                "send_buffer" if !c.writes => Some("no flow writes in pieces (`bulk.write_size`)"),
                "delayed_ack.fin_at_once" if !c.cfg.ends_with_fin() => Some(tcp::NO_FIN),
                "delayed_ack.push_at_once" if !c.pushes => Some("no flow ends or writes in pieces (`bulk.write_size`)"),
                rest if rest.starts_with("eln.") && !notified => Some("no middlebox notifies of losses"),
                rest => c.cfg.unused(rest),
            };
            Some((own(c)?, unused))
        };
        among(self.connections.iter().filter_map(user), "no flow is over TCP")
    }

    /// Reason for a setting of bursts on a flow.
    fn bursts(&self, flow: &Flow, rest: &str) -> Option<&'static str> {
        let heard_anyway = (self.cfg.routing.protocol.hears_of_all() && rest == "breaks_links")
            .then_some("`routing.protocol` is not `aodv`");
        heard_anyway.or_else(|| flow.on_off.over(&self.cfg.on_off).unused(rest))
    }

    /// Returns true if the second half overrides this setting.
    fn split_has(&self, c: &Connection<'_>, rest: &str) -> bool {
        c.split.is_some_and(|i| {
            let m = &self.cfg.middlebox.0[i];
            self.cfg.split.tcp.has(rest) || m.split.has(&join("tcp", rest))
        })
    }

    fn middleboxes(&self, kind: Kind, own: impl Fn(usize) -> User, nobody: &'static str) -> Option<&'static str> {
        let all = self.cfg.middlebox.0.iter().enumerate().filter(|(_, m)| m.kind == kind);
        among(all.map(|(i, _)| own(i)), nobody)
    }

    /// Reason for a common setting of all links.
    fn wired(&self, rest: &str) -> Option<&'static str> {
        let links = self.cfg.wired_link.0.iter().zip(&self.directions);
        let nobody = "there are no links";
        match rest.split_once('.').unwrap_or((rest, "")) {
            ("queue", rest) => self.queue(1, None, rest),
            ("error", rest) => {
                let users = links.flat_map(|(l, both)| {
                    let own = |back: bool| l.error.has(rest) || (back && l.back.has(&join("error", rest)));
                    [(own(false), both[0].error.unused(rest)), (own(true), both[1].error.unused(rest))]
                });
                among(users, nobody)
            }
            ("rate", _) => among(links.map(|(l, _)| (l.rate.is_some(), None)), nobody),
            ("delay", _) => among(links.map(|(l, _)| (l.delay.is_some(), None)), nobody),
            _ => among(
                links.map(|(l, both)| {
                    let none = both.iter().all(|d| d.error.model == chappe_core::error_model::Kind::None);
                    (l.error_place.is_some(), none.then_some("the error model is `none`"))
                }),
                nobody,
            ),
        }
    }

    /// Reason for a setting of one link.
    fn link(&self, i: usize, rest: &str) -> Option<&'static str> {
        let (link, [there, back]) = (self.cfg.wired_link.0.get(i)?, self.directions.get(i)?);
        let one_way = link.unused(rest);
        match rest.split_once('.').unwrap_or((rest, "")) {
            ("queue", rest) => self.queue(2, Some(i), rest),
            ("error", rest) => {
                let own = !link.duplex || link.back.has(&join("error", rest));
                among([(false, there.error.unused(rest)), (own, back.error.unused(rest))], "")
            }
            ("back", _) if one_way.is_some() => one_way,
            ("back", rest) => back.unused(rest),
            _ => None,
        }
    }

    /// Reason why the setting at this path has no effect.
    fn unused(&self, path: &str) -> Option<&'static str> {
        let (cfg, flows) = (self.cfg, &self.layout.flows);
        let first = |entry: usize| self.layout.entries.get(entry).and_then(|range| flows.get(range.start));
        let (group, rest) = path.split_once('.')?;
        let (number, deeper) = rest.split_once('.').unwrap_or((rest, ""));
        let (part, own) = deeper.split_once('.').unwrap_or((deeper, ""));
        let number = number.parse::<usize>();
        let no_box = "there is no such middlebox";
        match (group, number) {
            ("tcp", _) if rest == "gro" && !has_aggregates(cfg) => Some("no frame is aggregated"),
            ("tcp", _) => self.tcp(rest, |c| Some(c.own.has(rest) || self.split_has(c, rest))),
            ("bulk", _) => {
                let users = flows.iter().filter(|f| f.app == app::Kind::Bulk);
                among(users.map(|f| (f.bulk.has(rest), None)), "no flow is a file transfer")
            }
            ("cbr", _) => {
                let users = flows.iter().filter(|f| f.app == app::Kind::Cbr);
                among(users.map(|f| (f.cbr.has(rest), None)), "no flow has the application `cbr`")
            }
            ("on_off", _) => {
                let users = flows.iter().filter(|f| f.app == app::Kind::OnOff);
                among(users.map(|f| (f.on_off.has(rest), self.bursts(f, rest))), "no flow has the application `on_off`")
            }
            ("requests", _) => {
                let users = flows.iter().filter(|f| f.app == app::Kind::Requests);
                let of = |f: &Flow| (f.requests.has(rest), f.requests.over(&cfg.requests).unused(rest));
                among(users.map(of), "no flow has the application `requests`")
            }
            ("quic", _) => {
                let users = flows.iter().filter(|f| f.app == app::Kind::External);
                let of = |f: &Flow| (f.quic.has(rest), f.quic.over(&cfg.quic).unused(rest));
                among(users.map(of), "no flow has the application `external`")
            }
            ("flow", Ok(i)) if part == "quic" => {
                let is_back = |n: usize| connections(cfg, flows).iter().any(|c| c.1 == Some(n));
                let only_back = self.layout.entries.get(i).is_some_and(|entry| entry.clone().all(is_back));
                let back =
                    only_back.then_some("the flow is the way back of a connection, whose client has the settings");
                back.or_else(|| cfg.unused(path)).or_else(|| first(i).and_then(|f| f.quic.over(&cfg.quic).unused(own)))
            }
            ("flow", Ok(i)) if part == "requests" => {
                cfg.unused(path).or_else(|| first(i).and_then(|f| f.requests.over(&cfg.requests).unused(own)))
            }
            ("flow", Ok(i)) if part == "on_off" => {
                cfg.unused(path).or_else(|| first(i).and_then(|f| self.bursts(f, own)))
            }
            ("flow", Ok(_)) if part == "dscp" && cfg.wlan.is_dcf() => Some("`wlan.access` is not `edca`"),
            ("flow", Ok(i)) if part == "tcp" => {
                let udp = first(i).filter(|f| !f.is_tcp(cfg)).map(|_| "the flow is not over TCP");
                udp.or_else(|| self.tcp(own, |c| (c.entry == Some(i)).then(|| self.split_has(c, own))))
            }
            ("traffic", _) if rest.starts_with("tcp.") && has_traffic(cfg, self.tree) => {
                // Flows of a file have become entries with these settings.
                let of_traffic = |c: &Connection<'_>| c.flow.is_some_and(|f| flows[f].tcp == cfg.traffic.tcp);
                cfg.unused(path).or_else(|| self.tcp(deeper, |c| of_traffic(c).then(|| self.split_has(c, deeper))))
            }
            ("routing", _) if rest == "ecn" => cfg.unused(path).or((!self.marks).then_some(NO_MARKS)),
            ("arrival_process", Ok(i)) if part == "tcp" => self.tcp(own, |c| (c.arrivals == Some(i)).then_some(false)),
            ("queue", _) => self.queue(0, None, rest),
            ("node", Ok(_)) if part == "mobility" => self.mobility(own),
            ("node", Ok(_)) => self.node(part, own),
            ("wired", _) => self.wired(rest),
            ("wired_link", Ok(i)) => self.link(i, deeper),
            ("snoop", _) => {
                let one = |i: usize| {
                    let m = &cfg.middlebox.0[i].snoop;
                    (m.has(rest), m.over(&cfg.snoop).unused(rest))
                };
                self.middleboxes(Kind::Snoop, one, no_box)
            }
            ("eln", _) => self.middleboxes(Kind::Eln, |i| (cfg.middlebox.0[i].eln.has(rest), None), no_box),
            ("split", _) => match rest.strip_prefix("tcp.") {
                Some(rest) => self.tcp(rest, |c| Some(cfg.middlebox.0[c.split?].split.has(&join("tcp", rest)))),
                None => self.middleboxes(Kind::Split, |i| (cfg.middlebox.0[i].split.has(rest), None), no_box),
            },
            ("middlebox", Ok(i)) => cfg.unused(path).or_else(|| {
                let m = cfg.middlebox.0.get(i)?;
                match (part, own.strip_prefix("tcp.")) {
                    ("snoop", _) => m.snoop.over(&cfg.snoop).unused(own),
                    ("split", Some(rest)) => self.tcp(rest, |c| (c.split == Some(i)).then_some(false)),
                    _ => None,
                }
            }),
            _ => {
                let fits = |b: &&CrossLayer| path == b.0 || (b.0.ends_with('.') && path.starts_with(b.0));
                let beyond = CROSS_LAYER.iter().filter(fits).find(|b| !b.2(cfg, self.tree));
                beyond.map(|b| b.1).or_else(|| match group {
                    "radio" | "wlan" => self.node(group, rest),
                    "mobility" => self.mobility(rest),
                    _ => cfg.unused(path),
                })
            }
        }
    }
}

/// Returns true if packets are dropped or marked before the queue is full.
fn manages(queue: &queue::Config) -> bool {
    queue.discipline.is_managed() || queue.discipline.marks_by_length() && queue.mark_threshold.is_some()
}

/// Reason why ECN has no effect.
const NO_MARKS: &str = "no queue marks packets";

/// Reason why reactions to a lost route have no effect.
const NO_LOSS: &str = "`routing.protocol` never loses a route";

/// Groups that are lists.
const LISTS: [&str; 5] = ["flow", "wired_link", "middlebox", "node", "arrival_process"];

/// Reports the names of values set by the scenario itself: files that it extends are meant for many scenarios.
fn written(node: &Node, path: &str, sources: &Sources, report: &mut impl FnMut(String)) {
    match &node.value {
        Value::Table(t) => t.entries().iter().for_each(|(key, _, n)| written(n, &join(path, key), sources, report)),
        Value::List(l) if LISTS.contains(&path) && !l.is_empty() => {
            l.iter().enumerate().for_each(|(i, n)| written(n, &join(path, &i.to_string()), sources, report));
        }
        _ if sources.is_own(node) => report(path.to_owned()),
        _ => {}
    }
}

/// Name of a setting without effect, and the reason.
pub type Unused = (String, &'static str);

impl Checker<'_> {
    /// Finds settings without effect that the scenario itself sets.
    pub(super) fn unused_settings(&mut self, layout: &Layout) {
        let users = Users::new(self.cfg, self.tree, layout);
        let mut all = 0;
        written(self.tree, "", self.sources, &mut |path| {
            all += 1;
            if let Some(why) = users.unused(&path) {
                self.findings.unused.push((path, why));
            }
        });
        self.findings.is_complete = all >= fewest_leaves() && all >= leaves(&self.cfg.write());
    }
}

/// Those of these settings that are set, in the scenario or in one that it extends, and have an effect.
pub fn used<'a>(cfg: &Config, tree: &Node, layout: &Layout, paths: &'a [String]) -> Vec<&'a String> {
    let users = Users::new(cfg, tree, layout);
    paths.iter().filter(|path| tree.at(path).is_some() && users.unused(path).is_none()).collect()
}

/// Messages about settings without effect, one for each reason, with the first setting.
pub fn no_effect<W: AsRef<str>>(unused: &[(String, W)]) -> Vec<(&str, String)> {
    let mut reasons = BTreeMap::<&str, Vec<&str>>::new();
    unused.iter().for_each(|(path, why)| reasons.entry(why.as_ref()).or_default().push(path));
    let say = |(why, paths): (&str, Vec<&'_ str>)| {
        let named = paths.iter().take(NAMED).map(|p| format!("`{p}`")).collect::<Vec<_>>().join(", ");
        let more = match paths.len().saturating_sub(NAMED) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        let have = if paths.len() == 1 { "has" } else { "have" };
        format!("{named}{more} {have} no effect, because {why}")
    };
    reasons.into_iter().map(|(why, paths)| (paths[0], say((why, paths)))).collect()
}

/// Largest number of settings named by a warning.
const NAMED: usize = 3;

/// Number of settings of a scenario without entries of its own. It spares most scenarios from being written out, which
/// takes as long as to read them.
fn fewest_leaves() -> usize {
    static FEWEST: OnceLock<usize> = OnceLock::new();
    *FEWEST.get_or_init(|| leaves(&Config::default().write()))
}

/// Number of settings in a tree of groups.
fn leaves(json: &Json) -> usize {
    match json {
        Json::Object(o) => o.values().map(leaves).sum(),
        _ => 1,
    }
}
