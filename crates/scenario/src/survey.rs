//! A survey beside the model: what stations tell of measured links, and what the model gives for them.

use super::Scenario;
use super::build::interfaces::frames_of;
use chappe_core::packet::RadioId;
use chappe_core::radio::propagation::links::{Link, Survey};
use chappe_core::radio::{Channel, Propagation};
use chappe_core::run::quality::Qualities;
use chappe_core::wlan::Mode;
use serde_json::{Value as Json, json};

impl Scenario {
    /// The directions of measured links of which more than the signal is known, in the order of the table of links: what
    /// was measured, and what the model gives while nothing else is on the air, before uncertain signals are drawn.
    pub fn survey_json(&self) -> Json {
        let (cfg, interfaces) = (&self.config, &self.layout.interfaces);
        if cfg.radio.propagation != Propagation::Links {
            return json!([]);
        }
        let channel = Channel::new(&interfaces.on_air(&self.layout.positions));
        let qualities = Qualities::new(&channel, interfaces);
        let of = |node: u32| {
            let all = interfaces.radios.iter().zip(0..);
            all.filter(move |(r, _)| r.node.0 == node).map(|(r, i)| (r.channel, RadioId(i)))
        };
        let row = |l: &Link| {
            if l.survey == Survey::default() && l.loss.is_none() {
                return None;
            }
            let on_same = |(channel, r)| of(l.to).find(|peer| peer.0 == channel).map(|peer| (r, peer.1));
            let (r, peer) = of(l.from).find_map(on_same)?;
            let power = channel.signals(r).find(|signal| signal.0 == peer).map(|signal| f64::from(signal.1));
            let best = qualities.best(r, peer);
            let lost = |(mode, bytes): (Mode, u32)| 1.0 - qualities.delivery(r, peer, mode, bytes);
            let frames = l.loss.and_then(|loss| frames_of(&interfaces.profile(r).wlan, loss.rate));
            Some(json!({
                "src": l.from,
                "dst": l.to,
                "signal_dbm": power.map(|watts| 30.0 + 10.0 * libm::log10(watts)),
                "frame_loss_bps": l.loss.and_then(|loss| loss.rate).map(|rate| rate.0),
                "measured_bitrate_bps": l.survey.bitrate,
                "modeled_bitrate_bps": best.map(|(mode, _)| mode.rate().0),
                "measured_retry_share": l.survey.retries,
                "modeled_retry_share": best.map(|(_, arrives)| 1.0 - arrives),
                "measured_throughput_bps": l.survey.throughput,
                "modeled_throughput_bps": best.and_then(|(mode, _)| qualities.expected_throughput(r, peer, mode)),
                "measured_frame_loss": l.loss.map(|loss| loss.share),
                "modeled_frame_loss": frames.map(lost),
            }))
        };
        Json::Array(cfg.radio.links_table.iter().filter_map(row).collect())
    }
}
