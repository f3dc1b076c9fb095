//! Radios: validation of their settings, and of measured links.

use super::super::build::events::{LET_STAY, STAY};
use super::super::build::interfaces::frames_of;
use super::super::build::mobility;
use super::super::read::files::beyond;
use super::super::schema::word;
use super::Checker;
use chappe_core::radio::propagation::Model;
use chappe_core::radio::sinr::Fading;
use chappe_core::radio::{self, Reception};
use chappe_core::setting::{Code, count, join};
use chappe_core::unit::BitRate;
use chappe_core::wlan::RATES;

/// Advice on links with one direction only.
const SYMMETRIC: &str = "add their rows, or set `radio.links_symmetric = true` if they are the same in both directions";

/// Meaning of links with one direction only.
pub fn no_row_back(links: usize) -> String {
    let (has, them) = if links == 1 { ("has", "it") } else { ("have", "them") };
    format!("{} {has} no row back: no ACK can return over {them}", count(links as u64, "link"))
}

impl Checker<'_> {
    /// Validates the radio settings of all nodes, or of those in the group at `of`.
    pub(super) fn radio(&mut self, of: &str, r: &radio::Config) {
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
                    let help = format!("set one of them: the distance that {} reach, or the weakest signal", row.rate);
                    self.error(&at, format!("`{at}` needs one of `range` and `receive_threshold`"), &help);
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

    pub(super) fn is_rate(&mut self, path: &str, rate: BitRate) {
        if !RATES.contains(&rate) {
            self.error(
                path,
                format!("{rate} is not a rate of 802.11a or 802.11b"),
                "these are 1, 2, 5.5 and 11 Mbit/s, and 6, 9, 12, 18, 24, 36, 48 and 54 Mbit/s",
            );
        }
    }

    /// Number of links with one direction only.
    pub(super) fn one_way_links(&self) -> usize {
        self.cfg.radio.measured().map_or(0, |links| links.one_way().count())
    }

    /// Validates links of which lost frames alone are known: the model of reception gives their power.
    fn frame_losses(&mut self, r: &radio::Config) {
        let Some(first) = r.links_table.iter().find(|l| l.gain.is_none()) else { return };
        if r.reception != Reception::Sinr {
            let message = format!("in `radio.links_table` line {} has lost frames and no signal", first.line);
            let help = "set `radio.reception = \"sinr\"`, in which a signal follows from the share of lost frames";
            return self.error("radio.links_table", message, help);
        }
        let unknown = r.links_table.iter().filter(|l| l.gain.is_none()).find_map(|l| {
            let rate = l.loss?.rate?;
            frames_of(&self.cfg.wlan, Some(rate)).is_none().then_some((l.line, rate))
        });
        if let Some((line, rate)) = unknown {
            let message = format!("in `radio.links_table` line {line} has frames at {rate}, at which no frame is sent");
            let help = "name a rate of the radios in `frame_loss_bps`, or leave it empty for broadcasts";
            return self.error("radio.links_table", message, help);
        }
        if r.sinr.fading == Fading::None {
            let message = "links with lost frames and no signal have hardly any losses: without fading nearly all \
                           frames arrive from the weakest signal on that is received";
            let help = "set `radio.sinr.fading = \"rayleigh\"`, with which frames are lost as they were measured";
            self.warn(Code::LossesWithoutFading, "radio.links_table", message, help);
        }
    }

    /// Validates measured links; `of` is the group of the nodes' settings.
    pub(super) fn measured_links(&mut self, of: &str, r: &radio::Config) {
        if of.is_empty() {
            let links = &r.links_table;
            if links.is_empty() {
                // The setting of which a value that cannot be read was reported.
                let name = if r.links_file.is_some() { "radio.links_file" } else { "radio.links_table" };
                let help = "set `radio.links_file` to a CSV file with the columns src, dst, and signal_dbm, loss_db or \
                            frame_loss";
                self.error(name, "there is no table of links", help);
            } else if let Some(why) = beyond(links, self.cfg.topology.nodes()) {
                self.error("radio.links_table", format!("in `radio.links_table` {why}"), "");
            }
            self.frame_losses(r);
            if self.one_way_links() > 0 {
                self.warn(Code::OneWayLinks, "radio.links_table", no_row_back(self.one_way_links()), SYMMETRIC);
            }
            if mobility::moves(self.cfg) {
                self.error("radio.propagation", STAY, LET_STAY);
            }
        }
        if r.reception == Reception::Sinr {
            return;
        }
        let help = "a measured signal is compared with a power: set it, e.g. to \"-64 dBm\"";
        for (name, threshold) in
            [("radio.receive_threshold", r.receive_threshold), ("radio.sense_threshold", r.sense_threshold)]
        {
            if threshold.is_none() {
                let message = format!("`{name}` is \"{}\", and links have no range", word(name));
                self.error(&self.owner(of, name), message, help);
            }
        }
        let (Some(decoded), Some(sensed)) = (r.receive_threshold, r.sense_threshold) else { return };
        if sensed.0 > decoded.0 {
            let message = "a signal that can be decoded is not even sensed";
            let help = "`radio.sense_threshold` must be at most `radio.receive_threshold`";
            self.error(&self.owner(of, "radio.sense_threshold"), message, help);
        }
        let group = self.owner(of, "radio.sensitivity");
        for (i, row) in r.sensitivity.0.iter().enumerate() {
            let at = format!("{group}.{i}");
            self.is_rate(&join(&at, "rate"), row.rate);
            if row.range.is_some() || row.receive_threshold.is_none() {
                self.error(&at, "links have no range", "set `receive_threshold` instead of `range`");
            }
        }
    }
}
