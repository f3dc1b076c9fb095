//! Small random scenarios with all features. Words and values come from the schema and the registries of the core, so
//! that a new part is drawn as well.

use super::chance::Chance;
use super::values::{Setting, Settings};
use chappe_core::wlan::{Mode, RATES};
use chappe_scenario::{CHANGEABLE, presets};
use serde_json::{Map, Value as Json, json};
use std::fmt::Write as _;

/// A random scenario.
#[derive(Clone, Debug)]
pub struct Drawn {
    pub scenario: Json,
    /// True if nothing is lost and there is enough time, so that its transfers complete.
    pub is_perfect: bool,
}

/// Draws a scenario.
pub fn draw(settings: &Settings, chance: &mut Chance) -> Drawn {
    let is_perfect = chance.one_in(8);
    let mut draw = Draw { settings, chance, json: json!({}), radios: 0, wired: 0, reach: 250.0, sums: false, stop: 0 };
    if is_perfect {
        draw.perfect()
    } else {
        draw.anything()
    }
    Drawn { scenario: draw.json, is_perfect }
}

/// Returns true if the stations of a preset have HT or VHT.
fn has_ht(preset: &str) -> bool {
    preset.starts_with("802.11n") || preset == "802.11ac"
}

/// Sets a value at a path; numbers are indices of lists, which exist or are appended.
pub fn put(json: &mut Json, path: &[String], value: Json) {
    let Some((step, rest)) = path.split_first() else { return *json = value };
    if let (Ok(number), Json::Array(list)) = (step.parse::<usize>(), &mut *json) {
        let number = number.min(list.len());
        if number == list.len() {
            list.push(json!({}));
        }
        return put(&mut list[number], rest, value);
    }
    if !json.is_object() {
        *json = json!({});
    }
    let inner = json.as_object_mut().expect("a group").entry(step.clone()).or_insert_with(|| json!({}));
    put(inner, rest, value);
}

struct Draw<'a> {
    settings: &'a Settings,
    chance: &'a mut Chance,
    json: Json,
    /// Number of nodes with and without a radio.
    radios: usize,
    wired: usize,
    /// Approximate decoding range \[m\].
    reach: f64,
    /// Interference is cumulative.
    sums: bool,
    /// End of the run \[ms\].
    stop: usize,
}

impl Draw<'_> {
    fn set(&mut self, name: &str, value: impl Into<Json>) {
        let path: Vec<String> = name.split('.').map(str::to_owned).collect();
        put(&mut self.json, &path, value.into());
    }

    fn word(&mut self, name: &str) -> String {
        let words = self.settings.words(name);
        self.chance.pick(&words).clone()
    }

    fn set_word(&mut self, name: &str) -> String {
        let word = self.word(name);
        self.set(name, word.clone());
        word
    }

    fn ms(&mut self, low: usize, high: usize) -> String {
        format!("{} ms", self.chance.from(low, high))
    }

    fn nodes(&self) -> usize {
        self.radios + self.wired
    }

    /// An instant of the run.
    fn instant(&mut self) -> String {
        match self.chance.below(4) {
            0 => format!("{} ms", self.chance.from(0, self.stop / 100) * 100),
            1 => format!("{} us", self.chance.from(0, self.stop * 1000)),
            _ => format!("{} ms", self.chance.from(0, self.stop)),
        }
    }

    // ---- anything ----

    fn anything(&mut self) {
        self.run();
        let (with_radio, with_wires) = *self.chance.pick(&[(true, false), (true, false), (true, true), (false, true)]);
        let preset = self.preset();
        if with_radio {
            self.radio(&preset);
            self.places();
            // Deviations of ns-2 are those of its DCF, and the rate control of `ivynet` is for single frames.
            let may_be_qos = !preset.starts_with("ns2") && preset != "ivynet" && self.chance.one_in(6);
            if has_ht(&preset) || may_be_qos {
                self.qos(&preset);
            } else {
                self.mac(preset == "802.11a" || preset == "802.11g");
            }
        } else {
            self.set("topology.kind", "none");
        }
        if with_wires {
            self.wires();
        }
        self.network();
        self.tcp();
        self.flows();
        self.middleboxes();
        self.profiles();
        for _ in 0..self.chance.below(9) {
            self.any_setting();
        }
        self.events();
    }

    fn run(&mut self) {
        let most = if self.chance.one_in(12) { 300 } else { 20 };
        self.stop = self.chance.from(1, most) * 100;
        if self.chance.one_in(6) {
            let segments = self.chance.from(5, 60);
            self.set("run.stop", format!("{segments} delivered"));
        } else {
            self.set("run.stop", format!("{} ms", self.stop));
        }
        self.set("run.time_limit", format!("{} ms", 2000.max(self.stop)));
        self.set("run.max_memory", "300 MB");
        let batches = self.chance.from(1, 5);
        self.set("run.batches", batches);
        let discarded = self.chance.below(batches);
        self.set("run.warmup_batches", discarded);
        let seed = self.chance.below(1 << 30);
        self.set("run.seed", seed);
        if self.chance.one_in(3) {
            let sample = self.ms(3, 200);
            self.set("run.sample_interval", sample);
        }
        let airtime = self.chance.one_in(4);
        self.set("run.airtime", airtime);
        let words = self.settings.words("run.record");
        let record: Vec<String> = words.into_iter().filter(|_| self.chance.one_in(6)).collect();
        self.set("run.record", record);
    }

    fn preset(&mut self) -> String {
        let preset = self.chance.word(presets::WORDS).to_owned();
        match self.chance.below(4) {
            0 => return String::new(),
            1 => self.set("extends", vec!["standard".to_owned(), preset.clone()]),
            _ => self.set("extends", preset.clone()),
        }
        preset
    }

    fn radio(&mut self, preset: &str) {
        let loss = |loss: usize| json!({ "exponent": 3, "distance": "60 m", "loss": format!("{loss} dB") });
        let style = if preset == "ivynet" { 8 } else { self.chance.below(10) };
        match style {
            0..=3 => {}
            4 => {
                self.reach = *self.chance.pick(&[50.0, 250.0, 800.0, 3000.0, 20_000.0]);
                let propagation = self.chance.pick(&["two_ray", "friis", "range"]).to_owned();
                self.set("radio.propagation", propagation);
                self.set("radio.receive_threshold", "range");
                self.set("radio.sense_threshold", "sense_range");
                self.set("radio.range", format!("{} m", self.reach));
                let sensed = self.reach * (1.0 + 1.5 * self.chance.share());
                self.set("radio.sense_range", format!("{sensed} m"));
                if self.reach > 600.0 && self.chance.one_in(2) {
                    // Light takes 3.3 us for a kilometer.
                    let delay = (self.reach / 290.0).ceil() as usize;
                    self.set("wlan.max_propagation", format!("{delay} us"));
                    let slot = 20 + delay * self.chance.below(3);
                    self.set("wlan.slot_time", format!("{slot} us"));
                }
                if self.chance.one_in(4) {
                    let range = format!("{} m", self.reach * 0.9);
                    self.set("radio.sensitivity", json!([{ "rate": "11 Mbit/s", "range": range }]));
                }
            }
            5 => {
                self.reach = 110.0;
                self.set("radio.propagation", "log_distance");
                self.set("radio.log_distance", json!({ "exponent": 2.5, "distance": "20 m", "loss": "60 dB" }));
                self.set("radio.receive_threshold", "1e-9 W");
                self.set("radio.sense_threshold", "2e-10 W");
                let shadowing = format!("{} dB", self.chance.below(4));
                self.set("radio.shadowing", shadowing);
            }
            6 | 7 => {
                self.sums = true;
                let decibel = self.chance.from(76, 86);
                self.set("radio.propagation", "log_distance");
                self.set("radio.log_distance", loss(decibel));
                self.set("radio.transmit_power", "24.5 dBm");
                self.set("radio.reception", "sinr");
                self.set_word("radio.sinr.fading");
                if self.chance.one_in(2) {
                    let relock = format!("{} dB", self.chance.below(8));
                    self.set("radio.sinr.relock", relock);
                }
            }
            8 => {
                (self.reach, self.sums) = (11.0, true);
                if preset != "ivynet" {
                    self.set("radio.propagation", "log_distance");
                    let loss = json!({ "exponent": 2.2, "distance": "10 m", "loss": "81.6 dB" });
                    self.set("radio.log_distance", loss);
                    self.set("radio.transmit_power", "0 dBm");
                    self.set("radio.reception", "sinr");
                }
                self.set_word("radio.sinr.fading");
            }
            _ => {
                // The table follows when the number of nodes is known.
                self.set("radio.propagation", "links");
                self.sums = self.chance.one_in(2);
                if self.sums {
                    self.set("radio.reception", "sinr");
                } else {
                    self.set("radio.receive_threshold", "-80 dBm");
                    self.set("radio.sense_threshold", "-95 dBm");
                }
            }
        }
        if self.chance.one_in(6) {
            self.set("radio.channels", vec![1, 6]);
        }
        if self.chance.one_in(4) {
            let joules = 0.02 + 3.0 * self.chance.share();
            self.set("radio.energy.battery", format!("{joules} J"));
            self.set_word("radio.energy.accounting");
            self.set("radio.energy.sleep", "0.1 W");
        }
        if self.chance.one_in(4) {
            self.error("wlan.error");
            self.set_word("wlan.error.frames");
            self.set_word("wlan.error.layer");
        }
    }

    fn error(&mut self, at: &str) {
        let model = self.word("wired.error.model");
        self.set(&format!("{at}.model"), model);
        let unit = self.word("wired.error.unit");
        self.set(&format!("{at}.unit"), unit.clone());
        let least = if unit == "packet" { 2.0 } else { 5.0 };
        let rate = f64::powf(10.0, -(self.chance.share() * least + (least - 2.0)));
        self.set(&format!("{at}.rate"), rate);
    }

    fn length(&mut self, share: f64) -> String {
        format!("{:.3} m", self.reach * share)
    }

    /// Distance between neighbors, as a share of the range.
    fn near(&mut self) -> f64 {
        *self.chance.pick(&[0.02, 0.3, 0.5, 0.8, 0.9, 0.99])
    }

    fn places(&mut self) {
        let table = self.json["radio"]["propagation"] == "links";
        let mut kind = self.word("topology.kind");
        if kind == "none" || table || kind == "file" && self.reach != 250.0 {
            kind = "list".into();
        }
        self.set("topology.kind", kind.clone());
        let share = self.near();
        match kind.as_str() {
            "chain" => {
                self.radios = self.chance.from(2, 6);
                let spacing = self.length(share);
                self.set("topology.hops", self.radios - 1);
                self.set("topology.spacing", spacing);
            }
            "grid" => {
                let (rows, columns) = (self.chance.from(1, 3), self.chance.from(2, 3));
                let spacing = self.length(share);
                self.set("topology.spacing", spacing);
                self.set("topology.rows", rows);
                self.set("topology.columns", columns);
                self.radios = rows * columns;
                if rows == 3 && self.chance.one_in(3) {
                    self.set("topology.omit", json!([[1, 1]]));
                    self.radios -= 1;
                }
            }
            "random" => {
                self.radios = self.chance.from(2, 8);
                self.set("topology.nodes", self.radios);
                let wide = 0.4 + 0.8 * self.chance.share();
                let (width, height) = (self.length(wide), self.length(wide));
                self.set("topology.width", width);
                self.set("topology.height", height);
                let (seed, connected) = (self.chance.below(1000), self.chance.one_in(2));
                self.set("topology.seed", seed);
                self.set("topology.connected", connected);
            }
            "file" => {
                self.radios = 3;
                self.set("topology.file", "nodes.csv");
            }
            "motion" => {
                self.radios = 4;
                self.set("mobility.model", "file");
                let ways = self.ways();
                self.set("mobility.table", ways);
            }
            _ => {
                self.radios = self.chance.from(2, 6);
                // Each position is near an earlier one.
                let mut places = vec![(0.0, 0.0)];
                while places.len() < self.radios {
                    let (x, y) = *self.chance.pick(&places);
                    let (angle, far) = (self.chance.share() * 6.3, share * self.reach);
                    places.push((x + far * angle.cos(), y + far * angle.sin()));
                }
                let text = |x: f64| format!("{x:.2} m");
                self.set(
                    "topology.positions",
                    places.iter().map(|p| json!([text(p.0), text(p.1)])).collect::<Vec<_>>(),
                );
            }
        }
        if table {
            let table = self.table();
            self.set("radio.links_table", table);
        } else if kind != "motion" && self.chance.one_in(4) {
            self.motion();
        }
    }

    /// A table of links: consecutive nodes have good links, others possibly.
    fn table(&mut self) -> String {
        let mut text = format!("from,to,{}\n", if self.sums { "loss_db" } else { "signal_dbm" });
        for (a, b) in (0..self.radios).flat_map(|a| (0..self.radios).map(move |b| (a, b))).filter(|(a, b)| a != b) {
            let far = if a.abs_diff(b) == 1 { self.chance.from(0, 15) } else { self.chance.from(10, 40) };
            if a.abs_diff(b) > 1 && self.chance.one_in(3) || a > b && self.chance.one_in(20) {
                continue;
            }
            let level = if self.sums { 100 + far as i32 } else { -60 - far as i32 };
            writeln!(text, "{a},{b},{level}").expect("a text");
        }
        text
    }

    fn motion(&mut self) {
        let kind = self.set_word("mobility.model");
        if kind == "random_waypoint" {
            let area = self.length(1.2);
            self.set("mobility.width", area.clone());
            self.set("mobility.height", area);
            let speed = 1.0 + self.reach * self.chance.share();
            self.set("mobility.min_speed", format!("{} m/s", speed / 2.0));
            self.set("mobility.max_speed", format!("{speed} m/s"));
            let pause = self.ms(0, 300);
            self.set("mobility.pause", pause);
            self.set_word("mobility.initial");
        } else if kind == "file" {
            let ways = self.ways();
            self.set("mobility.table", ways);
        }
        if self.chance.one_in(3) {
            let known_for = self.ms(0, 1000);
            self.set("mobility.ns2.neighbor_list_interval", known_for);
        }
        if self.chance.one_in(2) {
            self.set("mobility.ns2.decides_ties", true);
        }
    }

    /// Movements of at most four nodes, in a table.
    fn ways(&mut self) -> String {
        let mut text = "time_s,node,x_m,y_m,dest_x_m,dest_y_m,speed_mps\n".to_owned();
        for node in 0..self.radios.min(4) {
            let mut at = 0.0;
            for _ in 0..self.chance.from(1, 3) {
                let mut place = || format!("{:.1}", self.reach * self.chance.share());
                let (x, y, to_x, to_y) = (place(), place(), place(), place());
                let speed = (1.0 + self.reach * self.chance.share()).round();
                writeln!(text, "{at:.1},{node},{x},{y},{to_x},{to_y},{speed}").expect("a text");
                at += 0.1 + self.chance.share();
            }
        }
        text
    }

    fn mac(&mut self, is_ofdm: bool) {
        let is_ofdm = is_ofdm || self.chance.one_in(8);
        let of_phy = |r: &&_| Mode::of(**r).is_some_and(Mode::is_ofdm) == is_ofdm;
        let rates: Vec<String> = RATES.iter().filter(of_phy).map(ToString::to_string).collect();
        let mut some = |n: usize| -> Vec<String> { (0..n).map(|_| self.chance.pick(&rates).clone()).collect() };
        let (data, basic, answers, few) = (some(1), some(1), some(2), some(3));
        if is_ofdm || self.chance.one_in(2) {
            self.set("wlan.data_rate", data[0].clone());
            let slowest = rates[0].clone();
            let basic = if self.chance.one_in(4) { basic[0].clone() } else { slowest };
            self.set("wlan.basic_rate", basic);
            let answers = if self.chance.one_in(3) { answers } else { vec![] };
            self.set("wlan.response_rates", answers);
        }
        if self.chance.one_in(3) {
            let algorithm = self.set_word("wlan.rate_control.algorithm");
            if algorithm == "ideal" && !self.sums || algorithm.starts_with("minstrel_ht") {
                self.set("wlan.rate_control.algorithm", "fixed");
            } else if self.chance.one_in(3) {
                self.set("wlan.rate_control.rates", few);
            }
        }
        match self.chance.below(5) {
            0 => self.set("wlan.rts_threshold", "always"),
            1 => self.set("wlan.rts_threshold", "never"),
            2 => self.set("wlan.rts_threshold", "500 B"),
            _ => {}
        }
        if self.chance.one_in(10) && self.radios > 1 {
            let rate = data[0].clone();
            self.set("wlan.link_rate", json!([{ "src": 0, "dst": 1, "rate": rate }]));
        }
    }

    /// Stations of 802.11n and 802.11ac, or with EDCA alone.
    fn qos(&mut self, preset: &str) {
        self.set("wlan.access", "edca");
        let of_preset = has_ht(preset);
        if !of_preset {
            let ppdu = self.set_word("wlan.ppdu.format");
            let ofdm = ppdu != "non_ht" || self.chance.one_in(2);
            self.set("wlan.data_rate", if ofdm { "24 Mbit/s" } else { "11 Mbit/s" });
            self.set("wlan.basic_rate", if ofdm { "6 Mbit/s" } else { "1 Mbit/s" });
            self.set("wlan.response_rates", Json::Array(vec![]));
            self.set("wlan.header_size", "30 B");
            self.set("radio.sinr.bandwidth", if ofdm { "20 MHz" } else { "22 MHz" });
        } else if self.chance.one_in(3) {
            self.set("radio.reception", "pairwise");
            self.sums = false;
        }
        if of_preset && self.chance.one_in(3) {
            self.set("wlan.ppdu.channel_width", "40 MHz");
            self.set("radio.sinr.bandwidth", "40 MHz");
            let gap = format!("{} us", self.chance.from(100, 5000));
            self.set("wlan.secondary_channel.gap", gap);
        }
        if self.chance.one_in(6) {
            let least = self.chance.below(9);
            let table = format!("mcs,snr_db,bit_error_rate\n0,{least},0.01\n0,20,0\n4,9,0.001\n4,22,0.0001\n");
            self.set("radio.sinr.error_rates_table", table);
        }
        if self.chance.one_in(3) {
            self.set("wlan.queues", "mac80211");
            let (packets, flows) = (self.chance.from(1, 60), self.chance.from(1, 8));
            self.set("wlan.mac80211.limit", packets);
            self.set("wlan.mac80211.flows", flows);
        }
        let mcs = self.chance.below(10);
        self.set("wlan.ppdu.mcs", mcs);
        if self.chance.one_in(3) {
            let mpdus = self.chance.from(1, 12);
            self.set("wlan.aggregation.max_mpdus", mpdus);
        }
        if self.chance.one_in(3) {
            let bytes = self.chance.from(0, 8000);
            self.set("wlan.aggregation.amsdu_size", format!("{bytes} B"));
        }
        let threshold = self.chance.pick(&["always", "never", "3000 B"]).to_owned();
        self.set("wlan.rts_threshold", threshold);
        if self.chance.one_in(3) {
            let limit = format!("{} us", self.chance.from(0, 4000));
            self.set("wlan.edca.best_effort.txop_limit", limit);
        }
        if self.chance.one_in(3) {
            let algorithm = self.chance.pick(&["arf", "aarf", "ideal", "minstrel_ht", "minstrel_ht_ns3"]).to_owned();
            let sends_ht = of_preset || self.json["wlan"]["ppdu"]["format"] != "non_ht";
            if (algorithm != "ideal" || self.sums) && (!algorithm.starts_with("minstrel_ht") || sends_ht) {
                self.set("wlan.rate_control.algorithm", algorithm);
            }
        }
        for _ in 0..self.chance.below(5) {
            let group = *self.chance.pick(&["edca", "aggregation", "block_ack", "ppdu", "secondary_channel"]);
            let within = |s: &&Setting| s.path.get(1).is_some_and(|g| g == group);
            let all: Vec<_> = self.settings.of("wlan").into_iter().filter(within).collect();
            let setting = *self.chance.pick(&all);
            if let Some(value) = self.settings.value(setting, self.chance) {
                put(&mut self.json, &setting.path, value);
            }
        }
    }

    fn wires(&mut self) {
        self.wired = self.chance.from(if self.radios == 0 { 2 } else { 1 }, 4);
        self.set("topology.wired_nodes", self.wired);
        let mut links = vec![];
        let first = self.radios.max(1);
        let in_a_row = self.chance.one_in(2);
        for to in first..self.nodes() {
            let from = match () {
                () if to == first => self.chance.below(first),
                () if in_a_row => to - 1,
                () => self.chance.from(first - 1, to - 1),
            };
            let both = !self.chance.one_in(6);
            let mut link = self.link(from, to, both);
            if both && self.chance.one_in(3) {
                let back = self.link(from, to, both);
                let back =
                    back.as_object().expect("a group").iter().filter(|(k, _)| ["rate", "delay"].contains(&k.as_str()));
                link["back"] = Json::Object(back.map(|(k, v)| (k.clone(), v.clone())).collect());
            }
            links.push(link);
            if !both {
                links.push(self.link(to, from, both));
            }
        }
        self.set("wired_link", links);
        for i in 0..self.json["wired_link"].as_array().map_or(0, Vec::len) {
            if self.chance.one_in(4) {
                self.error(&format!("wired_link.{i}.error"));
                let place = self.word("wired.error_place");
                self.set(&format!("wired_link.{i}.error_place"), place);
            }
            if self.chance.one_in(3) {
                let discipline = self.word("queue.discipline");
                self.set(&format!("wired_link.{i}.queue.discipline"), discipline);
                let limit = self.chance.from(1, 20);
                self.set(&format!("wired_link.{i}.queue.limit"), limit);
            }
        }
    }

    fn link(&mut self, from: usize, to: usize, both: bool) -> Json {
        let mut link = json!({ "src": from, "dst": to, "duplex": both });
        if self.chance.one_in(2) {
            link["rate"] = json!(self.chance.pick(&["64 kbit/s", "1 Mbit/s", "3 Mbit/s", "100 Mbit/s"]));
            link["delay"] = json!(self.chance.pick(&["0 s", "1 us", "1 ms", "7.3 ms", "60 ms"]));
        }
        link
    }

    fn network(&mut self) {
        let protocol = self.word("routing.protocol");
        let chain = self.json["topology"]["kind"] == "chain" && self.wired == 0;
        match protocol.as_str() {
            "fixed" if chain => {
                let n = self.radios;
                let pairs = (0..n).flat_map(|at| (0..n).map(move |to| (at, to))).filter(|(at, to)| at != to);
                let via = |at: usize, to: usize| if to > at { at + 1 } else { at - 1 };
                let routes: Vec<Json> =
                    pairs.map(|(at, to)| json!({ "node": at, "dst": to, "next_hop": via(at, to) })).collect();
                self.set("routing.fixed.routes", routes);
                self.set("routing.protocol", protocol);
            }
            "fixed" => {}
            _ => self.set("routing.protocol", protocol),
        }
        if self.chance.one_in(2) {
            self.set_word("queue.discipline");
            let limit = self.chance.from(1, 30);
            self.set("queue.limit", limit);
            let ecn = self.chance.one_in(2);
            self.set("queue.ecn", ecn);
        }
        let (arp, link_red, neighborhood_red) = (self.chance.one_in(4), self.chance.one_in(8), self.chance.one_in(8));
        if arp {
            self.set("arp.enabled", true);
        }
        if self.radios > 0 && link_red {
            self.set("net.link_red.enabled", true);
        }
        if self.radios > 0 && neighborhood_red {
            self.set("net.neighborhood_red.enabled", true);
        }
    }

    fn tcp(&mut self) {
        self.set_word("tcp.variant");
        if self.chance.one_in(2) {
            self.set_word("tcp.ack_policy");
        }
        let window = self.chance.from(1, 40);
        self.set("tcp.receive_window", window);
        for (name, often) in
            [("tcp.ecn.enabled", 4), ("tcp.elfn.enabled", 8), ("tcp.hop_limit.enabled", 8), ("tcp.syn", 4)]
        {
            if self.chance.one_in(often) {
                self.set(name, true);
            }
        }
        if self.chance.one_in(6) {
            let least = self.ms(1, 200);
            self.set("tcp.rto.min", least);
        }
        if self.chance.one_in(6) {
            let small = self.chance.from(1, 4);
            self.set("tcp.small_queue", small);
            self.set_word("tcp.local_drop");
        }
    }

    fn ends(&mut self) -> (usize, usize) {
        let from = self.chance.below(self.nodes());
        let to = (from + self.chance.from(1, self.nodes() - 1)) % self.nodes();
        (from, to)
    }

    fn flows(&mut self) {
        let mut flows = vec![];
        for _ in 0..self.chance.from(1, 4) {
            let (from, to) = self.ends();
            let mut flow = json!({ "src": from, "dst": to, "app": self.word("flow.N.app") });
            if self.chance.one_in(2) {
                flow["start"] = json!(self.instant());
            }
            if self.json["wlan"]["access"] == "edca" && self.chance.one_in(2) {
                flow["dscp"] = json!(self.chance.below(64));
            }
            match self.chance.below(8) {
                0 => flow["start"] = json!("event"),
                1 => flow["stop"] = json!(self.instant()),
                2 => flow["tcp"] = json!({ "variant": self.word("tcp.variant") }),
                3 => flow["bulk"] = json!({ "segments": self.chance.from(1, 30) }),
                4 => flow["on_off"] = json!({ "transport": self.word("on_off.transport") }),
                _ => {}
            }
            flows.push(flow);
        }
        if self.chance.one_in(8) {
            let (from, last) = self.ends();
            let (app, stagger) = (self.word("flow.N.app"), self.ms(0, 100));
            flows.push(json!({ "src": from, "dst": format!("0-{last}"), "app": app, "stagger": stagger }));
        }
        self.set("flow", flows);
        let interval = self.ms(3, 150);
        self.set("cbr.interval", interval);
        let (on, off) = (self.ms(20, 300), self.ms(20, 300));
        let messages = self.word("on_off.framing");
        self.set("on_off", json!({ "on": on, "off": off, "rate": "300 kbit/s", "framing": messages }));
        let think = self.ms(0, 200);
        self.set("requests", json!({ "think": think, "size": { "mean": "6000 B" } }));
        if self.chance.one_in(4) {
            let segments = self.chance.from(1, 40);
            self.set("bulk.segments", segments);
        }
        if self.chance.one_in(6) {
            let distribution = self.word("arrival_process.N.size.distribution");
            let rate = 1.0 + 30.0 * self.chance.share();
            let mut arrivals = json!({ "rate": rate, "size": { "distribution": distribution, "mean": "6000 B" } });
            if self.chance.one_in(2) {
                let (from, to) = self.ends();
                (arrivals["src"], arrivals["dst"]) = (json!(from), json!(to));
            }
            self.set("arrival_process", vec![arrivals]);
        }
        if self.radios > 2 && self.chance.one_in(8) {
            if self.chance.one_in(3) {
                self.set("traffic.file", "flows.csv");
            } else {
                self.set("traffic.flows", 1);
            }
            let stagger = self.ms(0, 300);
            self.set("traffic.stagger", stagger);
            self.set_word("traffic.app");
        }
    }

    fn middleboxes(&mut self) {
        if self.nodes() < 3 || !self.chance.one_in(4) {
            return;
        }
        let boxes: Vec<Json> = (0..self.chance.from(1, 2))
            .map(|_| {
                let node = self.chance.below(self.nodes());
                json!({ "kind": self.word("middlebox.N.kind"), "node": node })
            })
            .collect();
        self.set("middlebox", boxes);
    }

    fn profiles(&mut self) {
        if self.radios > 0 && self.chance.one_in(4) {
            let first = self.chance.below(self.radios);
            let last = self.chance.from(first, self.radios - 1);
            self.set("node", json!([{ "nodes": format!("{first}-{last}") }]));
            for _ in 0..self.chance.from(1, 3) {
                self.setting_of("node");
            }
        }
    }

    /// Changes one of the scenario's settings.
    fn any_setting(&mut self) {
        let mut groups = vec!["net", "queue", "routing", "routing", "tcp", "tcp", "bulk", "cbr", "on_off", "requests"];
        if self.radios > 0 {
            groups.extend(["radio", "wlan", "wlan", "wlan", "mobility", "arp"]);
        }
        if self.wired > 0 {
            groups.extend(["wired", "wired_link", "wired_link"]);
        }
        groups.extend(["flow", "arrival_process", "middlebox"].iter().filter(|g| self.json.get(g).is_some()));
        if self.json.get("middlebox").is_some() {
            groups.extend(["snoop", "eln", "split"]);
        }
        let group = *self.chance.pick(&groups);
        self.setting_of(group);
    }

    fn setting_of(&mut self, group: &str) {
        let mut all = self.settings.of(group);
        if group == "routing" {
            let protocol = self.json["routing"]["protocol"].as_str().unwrap_or("aodv").to_owned();
            all.retain(|s| s.path.len() < 3 || s.path[1] == protocol);
        }
        let setting = *self.chance.pick(&all);
        let Some(value) = self.settings.value(setting, self.chance) else { return };
        let mut path = setting.path.clone();
        for i in 0..path.len() {
            if path[i] == "N" {
                let there = self.json.pointer(&format!("/{}", path[..i].join("/"))).and_then(Json::as_array);
                match there.map_or(0, Vec::len) {
                    // Changes only existing values.
                    0 => return,
                    n => path[i] = self.chance.below(n).to_string(),
                }
            }
        }
        put(&mut self.json, &path, value);
    }

    fn events(&mut self) {
        if !self.chance.one_in(3) {
            return;
        }
        let flows = self.json["flow"].as_array().map_or(0, Vec::len);
        let links = self.json["wired_link"].as_array().map_or(0, Vec::len);
        let mut events = vec![];
        for _ in 0..self.chance.from(1, 5) {
            let (node, flow) = (self.chance.below(self.nodes()), self.chance.below(flows));
            let mut event = match self.chance.below(9) {
                kind @ 0..=3 => {
                    let mut event = json!({ if kind < 2 { "node_down" } else { "node_up" }: node });
                    if self.json["radio"].get("channels").is_some() && self.chance.one_in(2) {
                        event["channel"] = json!(1);
                    }
                    event
                }
                4 => json!({ "action": "flow_start", "flow": flow }),
                5 => json!({ "action": "flow_stop", "flow": flow }),
                7 if links > 0 => {
                    let action = if self.chance.one_in(2) { "wired_link_down" } else { "wired_link_up" };
                    json!({ "action": action, "wired_link": self.chance.below(links) })
                }
                6 if self.radios > 0 => {
                    let node = self.chance.below(self.radios);
                    let place = json!([self.length(0.5), self.length(0.7)]);
                    match self.chance.one_in(2) {
                        true => json!({ "action": "node_move", "node": node, "position": place }),
                        false => {
                            json!({ "action": "node_move", "node": node, "destination": place, "speed": format!("{} m/s", self.reach) })
                        }
                    }
                }
                _ => {
                    let name = *self.chance.pick(&CHANGEABLE);
                    let of_link = name.starts_with("wired_link.");
                    let of_node = name.starts_with("node.");
                    let nodes = self.json["node"].as_array().map_or(0, Vec::len);
                    if of_link && links == 0 || of_node && nodes == 0 {
                        continue;
                    }
                    let number = match name {
                        _ if of_link => self.chance.below(links),
                        _ if of_node => self.chance.below(nodes),
                        _ => flow,
                    };
                    let to = match name.rsplit('.').next() {
                        Some("interval") | Some("delay") => json!(self.ms(1, 50)),
                        Some("receive_window" | "max_cwnd" | "window" | "segments" | "limit") => {
                            json!(self.chance.from(1, 30))
                        }
                        _ if name.ends_with("error.rate") => json!(self.chance.share() * self.chance.share()),
                        _ => json!(self.chance.pick(&["100 kbit/s", "2 Mbit/s", "20 Mbit/s"])),
                    };
                    json!({ "action": "set", "setting": name.replace('N', &number.to_string()), "value": to })
                }
            };
            event["at"] = json!(self.instant());
            events.push(event);
        }
        // A node that went off and on within a frame.
        if self.radios > 0 && self.chance.one_in(4) {
            let node = self.chance.below(self.radios);
            let at = self.chance.from(0, self.stop * 1000);
            let up = at + self.chance.from(1, 3000);
            events.push(json!({ "at": format!("{at} us"), "action": "node_down", "node": node }));
            events.push(json!({ "at": format!("{up} us"), "action": "node_up", "node": node }));
        }
        self.set("event", events);
    }

    // ---- transfers that complete ----

    fn perfect(&mut self) {
        self.run();
        self.set("run.stop", "300 s");
        self.set("run.time_limit", "300 s");
        self.set("run.sample_interval", "never");
        let preset = self.chance.word(presets::WORDS).to_owned();
        self.set("extends", preset.clone());
        if self.chance.one_in(2) {
            self.set("topology.kind", "none");
            self.wired = self.chance.from(2, 4);
            self.set("topology.wired_nodes", self.wired);
            let links: Vec<Json> = (1..self.wired).map(|to| self.link(to - 1, to, true)).collect();
            self.set("wired_link", links);
        } else {
            self.radios = self.chance.from(2, 4);
            self.set("topology.hops", self.radios - 1);
            // Within reach of the rates of the preset.
            match preset.as_str() {
                "ivynet" => {}
                _ if has_ht(&preset) => self.set("topology.spacing", "20 m"),
                _ => self.set("topology.spacing", "200 m"),
            }
            let protocol = self.word("routing.protocol");
            self.set("routing.protocol", if protocol == "fixed" { "shortest_path".into() } else { protocol });
        }
        self.tcp();
        // With a timer shorter than the round trip a sender gives up.
        self.json["tcp"].as_object_mut().and_then(|tcp: &mut Map<String, Json>| tcp.remove("rto"));
        let n = self.nodes();
        self.set("flow", json!([{ "src": 0, "dst": n - 1 }, { "src": n - 1, "dst": 0, "start": "10 ms" }]));
        let segments = self.chance.from(1, 40);
        self.set("bulk.segments", segments);
        for _ in 0..self.chance.below(6) {
            let choices: Vec<_> = self.settings.of("tcp").into_iter().filter(|s| s.is_choice()).collect();
            let setting = *self.chance.pick(&choices);
            if let Some(value) = self.settings.value(setting, self.chance) {
                put(&mut self.json, &setting.path, value);
            }
        }
    }
}
