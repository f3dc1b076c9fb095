//! MACs: validation of their settings.

use super::Checker;
use chappe_core::radio;
use chappe_core::setting::{Code, absent};
use chappe_core::unit::BitRate;
use chappe_core::wlan::{self, Mode};

impl Checker<'_> {
    /// Validates the MAC settings of all nodes, or of those in the group at `of`.
    pub(super) fn wlan(&mut self, of: &str, w: &wlan::Config) {
        self.msdu(of, w.llc_size.0);
        let cw_max = self.owner(of, "wlan.cw_max");
        if w.is_dcf() && w.cw_max < w.cw_min {
            let message = format!("the largest contention window {} is below the smallest, {}", w.cw_max, w.cw_min);
            self.error(&cw_max, message, "`wlan.cw_max` must be at least `wlan.cw_min`");
        }
        self.qos(of, w);
        let is_protected = w.protection.is_some() && w.has_ofdm_data();
        if is_protected && w.rts_threshold != wlan::RtsThreshold(u32::MAX) {
            let path = self.owner(of, "wlan.protection");
            let message = "the CTS-to-self replaces RTS and CTS, which `wlan.rts_threshold` requires";
            self.error(&path, message, "set `wlan.rts_threshold` to \"never\" or `wlan.protection` to \"none\"");
        }
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
        if w.rate_control.algorithm.over_aggregates() && !w.ppdu.is_ht() {
            self.error(
                &self.owner(of, "wlan.rate_control.algorithm"),
                "Minstrel-HT chooses from the MCS of 802.11n and 802.11ac, and `wlan.ppdu.format` is `non_ht`",
                "extend `802.11n` or `802.11ac`, or choose `minstrel`",
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

    /// Validates EDCA, HT and VHT, and settings that are not simulated with them.
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
                        "HT and VHT need OFDM for all other frames, and `wlan.basic_rate` is {}, not a rate of 802.11a",
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
            let radio = &self.cfg.radio;
            if radio.reception == radio::Reception::Sinr && radio.sinr.bandwidth != ppdu.channel_width {
                self.error(
                    "radio.sinr.bandwidth",
                    format!(
                        "the noise bandwidth is {}, and the channel width is {}",
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
            self.error(&path, "stations with EDCA do not have this rule", "choose `instead_of_difs` or `difs`");
        }
        let control = &w.rate_control;
        if control.algorithm.has_chain() && !control.algorithm.over_aggregates() {
            let path = self.owner(of, "wlan.rate_control.algorithm");
            let help = "choose `fixed`, `arf`, `aarf`, `ideal`, `minstrel_ht` or `minstrel_ht_ns3`";
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
            self.error("mobility.ns2.decides_ties", "it decides ties of the DCF only", "set `wlan.access = \"dcf\"`");
        }
    }
}
