//! Semantic checks: values that parse but contradict each other.

mod arrivals;
mod carried;
pub mod cost;
mod far;
pub mod links;
pub mod middleboxes;
mod one_way;
mod queues;
mod receivers;
mod sizes;
pub mod unused;
mod warnings;
mod windows;

use crate::net::routing::fixed::{Routes, Search};
use crate::net::routing::{self, Protocol};
use crate::packet::NodeId;
use crate::radio::propagation::Model;
use crate::radio::{self, Channel};
use crate::run::Stop;
use crate::run::graph::Graph;
use crate::scenario::build::layout::{self, Layout};
use crate::scenario::build::mobility;
use crate::scenario::read::source::Sources;
use crate::scenario::schema::Config;
use crate::setting::{Code, Node, Problem, Report, absent, count, is_or_are, join};
use crate::tcp::{self, pairs};
use crate::topology;
use crate::unit::{BitRate, Position, Time};
use crate::wlan::{self, Mode, RATES};
use carried::{Reason, Slower, name};
use cost::{Cost, Tally};
use unused::Unused;

/// Errors that make a run meaningless, and warnings.
#[derive(Debug, Default)]
pub struct Findings {
    /// Problems that make a run meaningless.
    pub errors: Report,
    /// Problems that do not prevent a run.
    pub warnings: Report,
    /// Estimated cost of the run.
    pub cost: Cost,
    /// Settings without effect that the scenario itself sets.
    pub unused: Vec<Unused>,
    /// True if the scenario itself sets all settings.
    pub is_complete: bool,
}

pub(in crate::scenario) struct Checker<'a> {
    pub(in crate::scenario) cfg: &'a Config,
    /// Number of nodes.
    pub(in crate::scenario) nodes: u64,
    pub(in crate::scenario) tree: &'a Node,
    sources: &'a Sources,
    pub(in crate::scenario) tally: Tally,
    pub(in crate::scenario) findings: Findings,
}

/// Validates settings, and builds the layout of a valid scenario. `tree` holds the positions of values in `sources`.
pub fn check(cfg: &Config, tree: &Node, sources: &Sources) -> (Findings, Layout) {
    let (tally, findings) = (Tally::default(), Findings::default());
    let mut c = Checker { cfg, nodes: cfg.nodes(), tree, sources, tally, findings };
    c.run();
    c.radio("", &cfg.radio);
    c.wlan("", &cfg.wlan);
    c.mobility("", &cfg.mobility);
    c.own_settings();
    c.network();
    c.error_model("wlan.error", &cfg.wlan.error.model());
    c.wired_links();
    let few = c.flows();
    c.arrivals();
    let placed = c.topology() && few;
    let radio_makes_sense = !c
        .findings
        .errors
        .problems
        .iter()
        .any(|p| ["radio.", "wlan.", "node.", "mobility."].iter().any(|group| p.path.starts_with(group)));
    let mut layout = Layout::empty(cfg);
    if placed && radio_makes_sense {
        let Some(laid_out) = layout::layout(cfg, tree, &mut c.tally, &mut c.findings.errors) else {
            return (c.findings, layout);
        };
        layout = laid_out;
        if layout.flows.is_empty() && cfg.arrival_process.0.is_empty() && c.findings.errors.problems.is_empty() {
            let help = "list them as `flow`, or set `traffic.flows`";
            c.warn(Code::NoFlows, "flow", "there are no flows: nothing will be sent", help);
        }
        let channel = Channel::new(&layout.interfaces.on_air(&layout.positions));
        let nodes = layout.positions.len() + cfg.topology.wired_nodes as usize;
        let graph = Graph::new(&channel, &layout.interfaces, nodes, cfg.wired_links().into_iter());
        c.reachability(&layout, &graph);
        c.ways_of_arrivals(&layout, &graph);
        c.middleboxes(&mut layout, &graph);
        c.source_routes(&layout);
        c.events(&mut layout);
        c.cost();
        if c.findings.errors.problems.is_empty() {
            c.far(&layout, &graph);
            c.heard_one_way(&layout, &channel);
            c.small_windows(&layout, &graph);
            c.warnings(&layout);
            c.unused_settings(&layout, sources);
        }
    }
    (c.findings, layout)
}

impl Checker<'_> {
    fn problem(&self, path: &str, message: String, help: &str) -> Problem {
        let origin = self.tree.at(path).and_then(|n| n.origin);
        Problem { code: None, path: path.into(), origin, message, help: (!help.is_empty()).then(|| help.to_owned()) }
    }

    /// Returns true if the scenario or one of its presets sets this value.
    pub(in crate::scenario) fn is_written(&self, path: &str) -> bool {
        self.tree.at(path).is_some()
    }

    /// Returns true if the scenario itself sets this value, not a preset or a file that it extends.
    pub(in crate::scenario) fn is_own(&self, path: &str) -> bool {
        self.tree.at(path).is_some_and(|node| self.sources.is_own(node))
    }

    pub(in crate::scenario) fn error(&mut self, path: &str, message: impl Into<String>, help: &str) {
        let p = self.problem(path, message.into(), help);
        self.findings.errors.push(p);
    }

    /// Reports a mistake of a default value at another setting that is written.
    fn error_at(&mut self, place: &str, path: &str, message: String, help: &str) {
        let origin = self.problem(place, String::new(), "").origin;
        let p = self.problem(path, message, help);
        self.findings.errors.push(Problem { origin, ..p });
    }

    pub(in crate::scenario) fn warn(&mut self, code: Code, path: &str, message: impl Into<String>, help: &str) {
        let p = self.problem(path, message.into(), help);
        self.findings.warnings.push(Problem { code: Some(code), ..p });
    }

    fn too_few(&mut self, path: &str, nodes: impl Into<u64> + Copy) {
        let message = format!("there {} {}", is_or_are(nodes), count(nodes, "node"));
        self.error(path, message, "a network has at least two nodes");
    }

    fn run(&mut self) {
        let run = &self.cfg.run;
        match run.stop {
            Stop::At(Time::ZERO) => self.error(
                "run.stop",
                "`run.stop` does not say when the run ends",
                "write a number of packets such as \"110000 delivered\" or a time such as \"1000 s\"",
            ),
            Stop::Delivered(n) if n < u64::from(run.batches) => self.error(
                "run.stop",
                format!("{} cannot be divided into {}", count(n, "packet"), count(run.batches, "batch")),
                "deliver more packets, or use fewer batches (`run.batches`)",
            ),
            _ => {}
        }
        if run.warmup_batches >= run.batches {
            let message = format!("of {} all are discarded", count(run.batches, "batch"));
            self.error("run.warmup_batches", message, "`run.warmup_batches` must be smaller than `run.batches`");
        }
    }

    /// Validates the radio settings of all nodes, or of those in the group at `of`.
    pub(in crate::scenario) fn radio(&mut self, of: &str, r: &radio::Config) {
        let before = self.findings.errors.problems.len();
        self.channels(of, r);
        if self.findings.errors.problems.len() > before {
            return;
        }
        if r.propagation == radio::Propagation::Links {
            return self.measured_links(of, r);
        }
        if r.reception == radio::Reception::Sinr {
            if r.propagation == radio::Propagation::Range {
                let message = "powers add up, but this propagation model gives all signals in range the same power";
                let help = "choose a propagation model in which power falls with distance, such as \"log_distance\"";
                self.error(&self.owner(of, "radio.propagation"), message, help);
            }
            return;
        }
        let model = Model::new(r);
        let (decode, sense) = (model.decode_range().0, model.audible_range().0);
        // Ranges are found to the millimeter.
        if sense + 0.01 < decode {
            let name = match (r.sense_threshold, r.receive_threshold) {
                (Some(_), _) => "radio.sense_threshold",
                (None, Some(_)) => "radio.receive_threshold",
                (None, None) => "radio.sense_range",
            };
            self.error(
                &self.owner(of, name),
                format!("the carrier-sense range of {sense:.0} m is below the reception range of {decode:.0} m"),
                "a station must sense every frame that it can decode; raise `radio.sense_range` or lower `radio.range`",
            );
        }
        self.sensitivity(of, r, decode);
    }

    fn channels(&mut self, of: &str, r: &radio::Config) {
        let path = self.owner(of, "radio.channels");
        if r.channels.is_empty() {
            self.error(&path, "a radio has no channel", "list at least one, e.g. [1]");
        }
        let twice = r.channels.iter().enumerate().find(|(i, c)| r.channels[..*i].contains(c));
        if let Some((_, channel)) = twice {
            self.error(
                &path,
                format!("channel {channel} is listed twice"),
                "a node has one radio on each of its channels",
            );
        }
    }

    fn sensitivity(&mut self, of: &str, r: &radio::Config, decode_range: f64) {
        let group = self.owner(of, "radio.sensitivity");
        for (i, row) in r.sensitivity.0.iter().enumerate() {
            let at = format!("{group}.{i}");
            self.is_rate(&join(&at, "rate"), row.rate);
            let threshold = match (row.range, row.receive_threshold) {
                (Some(_), None) => None,
                (None, Some(watts)) => Some(watts),
                _ => {
                    let help = format!("set one of them: how far {} reach, or the weakest signal", row.rate);
                    self.error(&at, format!("`{at}` has not one of `range` and `receive_threshold`"), &help);
                    continue;
                }
            };
            let model = Model::new(&radio::Config {
                receive_threshold: threshold,
                range: row.range.unwrap_or(r.range),
                ..r.clone()
            });
            let range = model.decode_range().0;
            if range > decode_range + 0.01 {
                let message = format!("{} reach {range:.0} m, farther than any frame ({decode_range:.0} m)", row.rate);
                self.error(
                    &at,
                    message,
                    "`radio.range` or `radio.receive_threshold` is for the rate that reaches farthest",
                );
            }
        }
    }

    pub(in crate::scenario) fn is_rate(&mut self, path: &str, rate: BitRate) {
        if !RATES.contains(&rate) {
            self.error(
                path,
                format!("{rate} is not a rate of 802.11a or 802.11b"),
                "these are 1, 2, 5.5 and 11 Mbit/s, and 6, 9, 12, 18, 24, 36, 48 and 54 Mbit/s",
            );
        }
    }

    /// Validates the MAC settings of all nodes, or of those in the group at `of`.
    pub(in crate::scenario) fn wlan(&mut self, of: &str, w: &wlan::Config) {
        self.msdu(of, w.llc_size.0);
        let cw_max = self.owner(of, "wlan.cw_max");
        if w.is_dcf() && w.cw_max < w.cw_min {
            let message = format!("the largest contention window {} is below the smallest, {}", w.cw_max, w.cw_min);
            self.error(&cw_max, message, "`wlan.cw_max` must be at least `wlan.cw_min`");
        }
        self.qos(of, w);
        if w.cca_time > w.slot_time {
            let path = self.owner(of, "wlan.cca_time");
            let message = format!(
                "a signal is noticed after {}, more than a slot of {}: stations send into it",
                w.cca_time, w.slot_time
            );
            self.warn(
                Code::LateCarrierSense,
                &path,
                message,
                "aCCATime is a part of aSlotTime: set `wlan.cca_time` to less than `wlan.slot_time`",
            );
        }
        let sums = self.cfg.radio.reception == radio::Reception::Sinr;
        if w.rate_control.algorithm.knows_signals() && !sums {
            self.error(
                &self.owner(of, "wlan.rate_control.algorithm"),
                "ideal rate control needs the signal-to-noise ratio of SINR reception",
                "add `radio.reception = \"sinr\"`",
            );
        }
        for (list, rates) in [("response_rates", &w.response_rates), ("rate_control.rates", &w.rate_control.rates)] {
            for (i, &rate) in rates.iter().enumerate() {
                self.is_rate(&format!("{}.{i}", self.owner(of, &format!("wlan.{list}"))), rate);
            }
        }
        let ofdm = |rate| Mode::of(rate).map(Mode::is_ofdm);
        let own = if w.ppdu.is_ht() { Some(true) } else { ofdm(w.data_rate) };
        let is_foreign = |r: &BitRate| ofdm(*r).is_some_and(|o| Some(o) != own);
        let links = w.link_rate.0.iter().enumerate().filter(|(_, l)| l.mcs.is_none());
        let links = links.map(|(i, l)| (format!("wlan.link_rate.{i}.rate"), l.rate));
        let responses = w.response_rates.iter().map(|&rate| ("wlan.response_rates".to_owned(), rate));
        let others = std::iter::once(("wlan.basic_rate".to_owned(), w.basic_rate)).chain(links).chain(responses);
        let mut foreign: Vec<_> = others.filter(|o| is_foreign(&o.1)).take(1).collect();
        if w.rate_control.algorithm.chooses_rates() {
            let chosen = &w.rate_control.rates;
            foreign.extend(chosen.iter().copied().find(is_foreign).map(|r| ("wlan.rate_control.rates".to_owned(), r)));
            if chosen.len() > wlan::rate::MOST_RATES {
                self.error(
                    &self.owner(of, "wlan.rate_control.rates"),
                    format!("{} rates to choose from", chosen.len()),
                    &format!("name at most {}", wlan::rate::MOST_RATES),
                );
            }
        }
        for (setting, other) in foreign {
            let phy = |rate| if ofdm(rate) == Some(true) { "802.11a" } else { "802.11b" };
            let (owner, data) = (self.owner(of, &setting), self.owner(of, "wlan.data_rate"));
            // Shows the mistake at a value that is written.
            let place = if self.is_own(&owner) || !self.is_own(&data) { &owner } else { &data };
            self.error_at(
                place,
                &owner,
                format!(
                    "`wlan.data_rate` is {}, of {}, and `{setting}` has {other}, of {}",
                    w.data_rate,
                    phy(w.data_rate),
                    phy(other)
                ),
                "take all rates from one of them; `extends = \"802.11a\"` has the times and the other rates of 802.11a",
            );
        }
        if u64::from(w.header_size.0) + u64::from(w.llc_size.0) > 256 {
            self.error(&self.owner(of, "wlan.header_size"), "more than 256 B of headers around a packet", "");
        }
    }

    /// Validates EDCA, HT and VHT, and what is not simulated with them.
    fn qos(&mut self, of: &str, w: &wlan::Config) {
        let ppdu = &w.ppdu;
        let place = self.owner(of, "wlan.ppdu.mcs");
        if ppdu.is_ht() {
            if w.is_dcf() {
                let format = self.owner(of, "wlan.ppdu.format");
                self.error(&format, "stations with HT or VHT are QoS stations", "add `wlan.access = \"edca\"`");
            }
            if !Mode::of(w.basic_rate).is_some_and(Mode::is_ofdm) {
                self.error(
                    &self.owner(of, "wlan.ppdu.format"),
                    format!(
                        "with HT and VHT other frames are OFDM, and `wlan.basic_rate` is {}, no rate of 802.11a",
                        w.basic_rate
                    ),
                    "set `wlan.basic_rate = \"6 Mbit/s\"`, or extend `802.11n` or `802.11ac`",
                );
            }
            let streams = |mcs| ppdu.has(mcs);
            let links = w.link_rate.0.iter().enumerate();
            let links = links.filter_map(|(i, l)| Some((format!("wlan.link_rate.{i}.mcs"), l.mcs?)));
            let all: Vec<_> = std::iter::once((place, ppdu.mcs)).chain(links).collect();
            for (place, mcs) in all.into_iter().filter(|of| !streams(of.1)) {
                let message = format!("this format has no MCS {mcs} in a channel of {}", ppdu.channel_width);
                let known = "HT has MCS 0 to 7 for a stream, in 20 and 40 MHz; VHT has 0 to 8, and 9 from 40 MHz on";
                let is_ht = ppdu.format == wlan::ppdu::Format::HtMixed;
                let meant = absent::mcs(mcs).filter(|_| is_ht).map_or_else(String::new, |m| format!(": {m}"));
                self.error(&place, message, &format!("{known}{meant}"));
            }
            if let Some(i) = w.link_rate.0.iter().position(|l| l.mcs.is_none()) {
                self.error(&format!("wlan.link_rate.{i}"), "a link of HT or VHT has an MCS", "set `mcs`");
            }
            if ppdu.format == wlan::ppdu::Format::HtMixed && w.aggregation.max_size.0 > 65_535 {
                let path = self.owner(of, "wlan.aggregation.max_size");
                self.error(&path, "an A-MPDU of HT has at most 65535 B", "");
            }
            if w.protection.is_some() && w.rts_threshold != wlan::RtsThreshold(u32::MAX) {
                let path = self.owner(of, "wlan.protection");
                let message = "its CTS takes the place of RTS and CTS, which `wlan.rts_threshold` asks for";
                self.error(&path, message, "set one of them to \"never\" or \"none\"");
            }
            let radio = &self.cfg.radio;
            if radio.reception == radio::Reception::Sinr && radio.sinr.bandwidth != ppdu.channel_width {
                self.error(
                    "radio.sinr.bandwidth",
                    format!(
                        "noise is received in {}, and the channel has {}",
                        radio.sinr.bandwidth, ppdu.channel_width
                    ),
                    &format!("set `radio.sinr.bandwidth = \"{}\"`", ppdu.channel_width),
                );
            }
        } else if let Some(i) = w.link_rate.0.iter().position(|l| l.mcs.is_some()) {
            let path = format!("wlan.link_rate.{i}.mcs");
            self.error(&path, "only links of HT and VHT have an MCS", "set `wlan.ppdu.format`, or `rate` instead");
        }
        if w.is_dcf() {
            return;
        }
        for (category, p) in ["best_effort", "background", "video", "voice"].iter().zip([
            &w.edca.best_effort,
            &w.edca.background,
            &w.edca.video,
            &w.edca.voice,
        ]) {
            if p.cw_max < p.cw_min {
                let path = self.owner(of, &format!("wlan.edca.{category}.cw_max"));
                self.error(
                    &path,
                    format!("the largest contention window {} is below the smallest, {}", p.cw_max, p.cw_min),
                    &format!("`wlan.edca.{category}.cw_max` must be at least `cw_min`"),
                );
            }
        }
        let eifs = w.eifs;
        if !matches!(eifs, wlan::EifsRule::InsteadOfDifs | wlan::EifsRule::Difs) {
            let path = self.owner(of, "wlan.eifs");
            self.error(&path, "stations with EDCA do not have this rule", "`instead_of_difs` or `difs`");
        }
        let control = &w.rate_control;
        if control.algorithm.has_chain() {
            let path = self.owner(of, "wlan.rate_control.algorithm");
            let help = "choose `fixed`, `arf`, `aarf` or `ideal`";
            self.error(&path, "it plans the attempts at single frames, not at aggregates", help);
        }
        if control.algorithm.chooses_rates() && ppdu.is_ht() && !control.rates.is_empty() {
            let path = self.owner(of, "wlan.rate_control.rates");
            let message = "rate control over MCS chooses from all MCS with `wlan.ppdu.streams`";
            self.error(&path, message, "leave it out");
        }
        let net = &self.cfg.net;
        for (path, on) in [
            ("net.link_red.enabled", net.link_red.enabled),
            ("net.neighborhood_red.enabled", net.neighborhood_red.enabled),
        ] {
            if on {
                self.error(path, "it counts frames of the DCF, not of EDCA", "set `wlan.access = \"dcf\"`");
            }
        }
        if self.cfg.mobility.ns2.decides_ties {
            self.error("mobility.ns2.decides_ties", "ties are those of the DCF", "set `wlan.access = \"dcf\"`");
        }
    }

    fn network(&mut self) {
        let cfg = self.cfg;
        self.queue("queue", &cfg.queue);
        self.link_red(&cfg.net.link_red);
        self.neighborhood_red(&cfg.net.neighborhood_red);
    }

    /// Returns true if interference is cumulative and the only differences in range are those between rates.
    fn one_range_for_all(&self) -> bool {
        let cfg = self.cfg;
        let one_rate = cfg.wlan.link_rate.0.is_empty() && cfg.node.0.is_empty();
        cfg.radio.reception == radio::Reception::Sinr && one_rate && cfg.radio.channels.len() < 2
    }

    /// Decoding range of the default radio [m], and the rate of data frames that reach as far.
    fn reach(&self) -> (f64, Mode) {
        let (radio, wlan) = (&self.cfg.radio, &self.cfg.wlan);
        let model = Model::new(radio);
        let range = |mode: Mode| match radio.reception {
            radio::Reception::Sinr => model.range_of_power(radio::sinr::weakest(&radio.sinr, mode.coding())).0,
            radio::Reception::Pairwise => model.decode_range().0,
        };
        let modes = wlan.data_modes().into_iter().map(|mode| (range(mode), mode));
        modes.max_by(|a, b| a.0.total_cmp(&b.0)).expect("data have a mode")
    }

    /// Returns true if neighbors of a chain or a grid are out of decoding range.
    fn too_far_apart(&self) -> bool {
        let t = &self.cfg.topology;
        let spaced = matches!(t.kind, topology::Kind::Chain | topology::Kind::Grid);
        spaced && self.cfg.radio.propagation != radio::Propagation::Links && t.spacing.0 > self.reach().0
    }

    /// Decoding range as text.
    fn how_far(&self) -> String {
        let (radio, (reach, mode)) = (&self.cfg.radio, self.reach());
        let apart = match self.too_far_apart() {
            true => format!(", and neighbors are {} apart", self.cfg.topology.spacing),
            false => String::new(),
        };
        if radio.reception != radio::Reception::Sinr {
            return format!("frames are decoded up to {reach:.0} m{apart}");
        }
        let shadowing = if radio.shadowing.0 > 1.0 { "without shadowing " } else { "" };
        let chosen = self.cfg.wlan.rate_control.algorithm.chooses_rates();
        let slowest = if chosen { ", the slowest rate that may be chosen," } else { "" };
        format!("{shadowing}frames at {}{slowest} are decoded up to {reach:.0} m{apart}", name(mode))
    }

    /// Setting that explains an unreachable destination: the destination itself or, if that is a default, the setting
    /// that keeps neighbors too far apart.
    fn cause<'p>(&self, destination: &'p str) -> &'p str {
        if self.is_written(destination) || !self.too_far_apart() {
            return destination;
        }
        let causes = ["topology.spacing", "radio.range", "radio.receive_threshold"];
        causes.into_iter().find(|path| self.is_written(path)).unwrap_or(destination)
    }

    /// Rejects rates of links over which no frame at that rate can be decoded.
    fn link_rates(&mut self, graph: &Graph<'_>) {
        for (i, row) in self.cfg.wlan.link_rate.0.iter().enumerate() {
            let (Some(from), Some(to)) = (row.src, row.dst) else { continue };
            if !graph.over_the_air(NodeId(from)).any(|n| n.0 == to) {
                let message =
                    format!("node {to} cannot decode frames of node {from} at {}, or send ACKs back", row.rate);
                let help = "they are too far apart, or on different channels";
                self.warn(Code::UndecodableRate, &format!("wlan.link_rate.{i}"), message, help);
            }
        }
    }

    /// Returns true if the positions of the nodes can be computed.
    fn topology(&mut self) -> bool {
        let (t, run) = (&self.cfg.topology, &self.cfg.run);
        let before = self.findings.errors.problems.len();
        match t.kind {
            topology::Kind::Grid => {
                for (i, &cell) in t.omit.iter().enumerate().filter(|(_, c)| !t.has(**c)) {
                    let message = format!("the grid has no column {} in row {}", cell.column, cell.row);
                    let help = format!("columns go from 0 to {}, rows from 0 to {}", t.columns - 1, t.rows - 1);
                    self.error(&format!("topology.omit.{i}"), message, &help);
                }
                if t.nodes() < 2 {
                    self.too_few("topology.rows", t.nodes());
                }
            }
            topology::Kind::File => {
                if t.file.is_none() {
                    let help = "set `topology.file` to a CSV file with the columns x_m, y_m";
                    self.error("topology.file", "no file is named", help);
                }
                return false;
            }
            topology::Kind::Motion => {
                self.courses();
                // The file was reported, so the number of nodes is unknown.
                if t.positions.is_empty() {
                    return false;
                }
                if t.positions.len() < 2 {
                    self.too_few("topology.kind", t.positions.len() as u64);
                }
            }
            topology::Kind::List if t.positions.len() < 2 => {
                self.too_few("topology.positions", t.positions.len() as u64);
            }
            topology::Kind::List => {
                let far = |p: &Position| !(p.x.abs() < topology::FAR.0 && p.y.abs() < topology::FAR.0);
                if let Some(i) = t.positions.iter().position(far) {
                    let message = format!("node {i} is too far away");
                    self.error("topology.positions", message, "places must be within 10000 km");
                }
            }
            topology::Kind::None if self.cfg.topology.wired_nodes < 2 => {
                let (are, without) =
                    (is_or_are(self.cfg.topology.wired_nodes), count(self.cfg.topology.wired_nodes, "node"));
                let message = format!("no node has a radio, and there {are} {without} without");
                self.error("topology.wired_nodes", message, "a network has at least two nodes");
            }
            topology::Kind::Chain | topology::Kind::Random | topology::Kind::None => {}
        }
        if t.kind != topology::Kind::Motion {
            self.courses();
        }
        let traffic = &self.cfg.traffic;
        let (low, high) = (traffic.min_hops, traffic.max_hops.unwrap_or(u32::MAX));
        let nodes = self.nodes;
        if nodes > u64::from(run.max_nodes) {
            let wired = self.cfg.topology.wired_nodes;
            let path = cost::setting_of_nodes(self.cfg);
            let whose = match path {
                "topology.wired_nodes" => format!("there are {nodes} nodes, {wired} of them without a radio"),
                _ => format!("the topology has {nodes} nodes"),
            };
            let message = format!("{whose}, and at most {} are allowed", run.max_nodes);
            self.error(path, message, "if you need that many, raise `run.max_nodes`");
        }
        if high < low {
            let message = format!("the most hops, {high}, are fewer than the fewest, {low}");
            self.error("traffic.max_hops", message, "`traffic.max_hops` must be at least `traffic.min_hops`");
        }
        self.findings.errors.problems.len() == before
    }

    pub(in crate::scenario) fn node_exists(&mut self, path: &str, node: u32) {
        let nodes = self.nodes;
        if u64::from(node) >= nodes && nodes > 0 {
            let help = format!("nodes are numbered from 0 to {}", nodes - 1);
            self.error(path, format!("there is no node {node}"), &help);
        }
    }

    /// Estimates the cost of the run.
    fn cost(&mut self) {
        if let Some((setting, message)) = cost::too_large(self.cfg, &self.tally) {
            self.error(setting, message, cost::RAISE);
        }
        self.findings.cost = cost::cost(self.cfg, &self.tally);
        if self.findings.cost.seconds > cost::LONG {
            let message = format!("a run takes about {}", cost::in_hours(self.findings.cost.seconds));
            let help = "stop it earlier (`run.stop`, `run.time_limit`), or be patient";
            self.warn(Code::LongRun, "run.stop", message, help);
        }
    }

    /// Setting of a flow or a node if it has one, else the common setting.
    pub(in crate::scenario) fn owner(&self, flow: &str, setting: &str) -> String {
        let flow_setting = join(flow, setting);
        if self.is_written(&flow_setting) { flow_setting } else { setting.to_owned() }
    }

    pub(in crate::scenario) fn tcp(&mut self, flow: &str, t: &tcp::Config) {
        self.segment_fits(flow, t);
        if t.rto.max < t.rto.min {
            let message = format!("the largest timeout {} is below the smallest, {}", t.rto.max, t.rto.min);
            self.error(&self.owner(flow, "tcp.rto.max"), message, "`tcp.rto.max` must be at least `tcp.rto.min`");
        }
        let v = &t.vegas;
        if v.beta < v.alpha {
            let path = self.owner(flow, "tcp.vegas.beta");
            self.error(&path, format!("beta = {} is below alpha = {}", v.beta, v.alpha), "it must be at least alpha");
        }
        self.parts_of_tcp(flow, t);
        self.receiver(flow, t);
    }

    /// Checks that the congestion control works with the loss recovery.
    fn parts_of_tcp(&mut self, flow: &str, t: &tcp::Config) {
        let (method, rule) = (t.method(), t.rule());
        let Some(reason) = pairs::conflict(method, rule) else { return };
        // Shows the mistake at the setting that lies over the others.
        let layers = [flow, if flow.ends_with("split") { "split" } else { "" }, ""];
        let settings = ["tcp.congestion_control", "tcp.loss_recovery", "tcp.variant"];
        let places = layers.iter().flat_map(|of| settings.iter().map(move |name| join(of, name)));
        let path = places.into_iter().find(|place| self.is_written(place)).unwrap_or_default();
        let (rule, method) = (rule.word(), method.word());
        let words: Vec<String> =
            pairs::recoveries_of(t.rule()).iter().map(|method| format!("\"{}\"", method.word())).collect();
        let message =
            format!("the congestion control `{rule}` does not work with the loss recovery `{method}`: {reason}");
        let help = format!(
            "`{rule}` works with `tcp.loss_recovery` = {}; the word \"variant\" takes a part from `tcp.variant`",
            words.join(", ")
        );
        self.error(&path, message, &help);
    }

    /// Checks that each destination can be reached from its source.
    fn reachability(&mut self, layout: &Layout, graph: &Graph<'_>) {
        let cfg = self.cfg;
        let positions = &layout.positions;
        self.unwired(graph);
        self.link_rates(graph);
        let n = graph.nodes();
        let moves = mobility::moves(cfg);
        if moves && !cfg.routing.protocol.learns_routes() {
            let message = format!("nodes move, and `{}` keeps the initial routes", cfg.routing.protocol.word());
            self.warn(
                Code::StaticRoutes,
                "routing.protocol",
                message,
                "choose a protocol that finds routes during the run, such as `aodv`",
            );
        }
        let listed = Routes::listed(n, &cfg.routing.fixed.routes.0);
        let (mut search, mut slower) = (Search::new(n), None);
        for (i, flow) in layout.flows.iter().enumerate() {
            let (from, to) = (NodeId(flow.src), NodeId(flow.dst));
            if from == to || from.index().max(to.index()) >= n {
                continue;
            }
            let path = layout.entry_of(i).map_or("traffic.flows".to_owned(), |entry| format!("flow.{entry}.dst"));
            let hops = match cfg.routing.protocol {
                Protocol::Fixed => listed.hops(from, to).unwrap_or(u32::MAX),
                _ => search.hops(from, to, |v| graph.predecessors(v)),
            };
            // Routes between moving nodes change, unless a point-to-point link must be found from the beginning.
            if moves && cfg.wired_link.0.is_empty() && cfg.routing.protocol != Protocol::Fixed {
                self.tally.hops += u64::from(if hops == u32::MAX { 1 } else { hops });
                continue;
            }
            if hops == u32::MAX {
                let bare = |n: NodeId| n.index() >= positions.len();
                let alone = [("src", from), ("dst", to)].into_iter().find(|(_, n)| bare(*n) && !graph.is_wired(*n));
                if let Some((end, n)) = alone {
                    let message = format!("node {} has no radio, and no link leads there", n.0);
                    let path = join(&layout.origin_of(i), end);
                    self.error(&path, message, "list its links as `wired_link`, or choose another node");
                    continue;
                }
                let slower = slower.get_or_insert_with(|| Slower::new(&cfg.wlan, &layout.interfaces, graph));
                let reason = self.unreached(layout, graph, slower, (from, to));
                let message = format!("node {} cannot be reached from node {}{}", to.0, from.0, reason.message);
                self.error_at(self.cause(&path), &path, message, &reason.help);
                continue;
            }
            let needs_way_back = flow.is_tcp(cfg) && cfg.routing.protocol != Protocol::Fixed;
            if needs_way_back && search.hops(to, from, |v| graph.predecessors(v)) == u32::MAX {
                let slower = slower.get_or_insert_with(|| Slower::new(&cfg.wlan, &layout.interfaces, graph));
                let help = "a link on the path works in one direction only; TCP needs both directions";
                let (rate, help) = match slower.reason(graph, to, from) {
                    Some(reason) => (reason.message, format!("{help}; {}", reason.help)),
                    None => (String::new(), help.to_owned()),
                };
                let message = format!("acknowledgements cannot return from node {} to node {}{rate}", to.0, from.0);
                self.error(&path, message, &help);
                continue;
            }
            self.tally.hops += u64::from(hops);
            let (setting, limit) = cfg.routing.reach(cfg.net.ttl);
            let mut hops = hops;
            if hops > u32::from(limit) && cfg.routing.protocol.learns_routes() {
                hops = graph.longest_radio_stretch(from, to, hops);
            }
            if hops > u32::from(limit) {
                let message =
                    format!("flow {i} needs {hops} hops but packets live for {limit}: nothing will be delivered");
                self.warn(Code::TooManyHops, &path, message, &format!("set `{setting}` to at least {hops}"));
            }
        }
        if cfg.routing.protocol == routing::Protocol::Fixed {
            for (i, r) in cfg.routing.fixed.routes.0.iter().enumerate() {
                // With cumulative interference a link that loses most frames still counts.
                let any = moves || cfg.radio.reception == radio::Reception::Sinr;
                let near = |via: u32| any || graph.carries(NodeId(r.node), NodeId(via));
                if u64::from(r.node) >= n as u64 || u64::from(r.next_hop) >= n as u64 || !near(r.next_hop) {
                    let message =
                        format!("route {i} goes from node {} to {}, which is no neighbor", r.node, r.next_hop);
                    self.error(&format!("routing.fixed.routes.{i}"), message, "");
                }
            }
        }
    }

    /// Reason for which a destination cannot be reached, and the change that mends it.
    fn unreached(
        &self,
        layout: &Layout,
        graph: &Graph<'_>,
        slower: &Slower<'_>,
        (from, to): (NodeId, NodeId),
    ) -> Reason {
        let cfg = self.cfg;
        let because = |help: &str| Reason { message: String::new(), help: help.to_owned() };
        if cfg.routing.protocol == Protocol::Fixed {
            return because("`routing.fixed.routes` do not lead there");
        }
        if let Some(reason) = self.one_way_reason(layout, graph, slower, (from, to)) {
            return reason;
        }
        let measured = cfg.radio.propagation == radio::Propagation::Links;
        if let Some(reason) = slower.reason(graph, from, to) {
            let help = match measured {
                true => reason.help,
                false => format!("{}; {}, or move nodes closer", self.how_far(), reason.help),
            };
            return Reason { help, ..reason };
        }
        if from.index().max(to.index()) >= layout.positions.len() {
            return because("no links lead there; list more of them, or choose another destination");
        }
        if measured {
            let chosen = cfg.wlan.rate_control.algorithm.chooses_rates();
            let rate = if chosen { "a rate that may be chosen" } else { "their rate" };
            return because(&format!(
                "no links in `radio.links_table` lead there over which data frames can be decoded at {rate}, and ACKs \
                 come back"
            ));
        }
        if !(layout.interfaces.is_uniform() || self.one_range_for_all()) {
            return because(
                "a neighbor has a radio on the same channel, decodes data frames at the rate of the link, and its ACKs \
                 are decoded: look at `radio.channels`, `radio.sensitivity`, `wlan.link_rate` and `node`",
            );
        }
        because(&format!("{}; move nodes closer or choose another destination", self.how_far()))
    }
}
