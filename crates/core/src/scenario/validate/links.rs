//! Measured links: file and validation.

use super::Checker;
use crate::radio::links::Links;
use crate::radio::{self, Propagation, Reception};
use crate::scenario::build::layout;
use crate::scenario::build::mobility;
use crate::scenario::read::file_or_text::LINKS;
use crate::scenario::read::source::Files;
use crate::scenario::schema::{Config, word};
use crate::setting::{Code, Node, Report, Setting, count, join};

/// Advice on links with one direction only.
const SYMMETRIC: &str = "add their rows, or set `radio.links_symmetric = true` if they are the same in both directions";
/// Reason why nodes must be fixed.
pub const STAY: &str = "measured links are valid for static nodes only, and a node moves";
/// Advice on moving nodes with measured links.
pub const LET_STAY: &str = "keep all nodes static, or choose another `radio.propagation`";

/// Reads the file of links into the scenario, which then no longer depends on it.
pub fn read_file(cfg: &mut Config, tree: &mut Node, from: &str, files: &dyn Files, report: &mut Report) {
    if cfg.radio.propagation != Propagation::Links {
        return;
    }
    let Some(name) = cfg.radio.links_file.clone() else { return };
    let nodes = cfg.topology.nodes();
    let read = |text: &str| {
        let links = Links::read_csv(text)?;
        beyond(&links, nodes).map_or(Ok(links), |why| Err(why.into()))
    };
    if let Some(links) = layout::read_file(tree, "radio.links_file", &name, from, files, report, read) {
        (cfg.radio.links_table, cfg.radio.links_file) = (links, None);
        LINKS.put(tree, Node::from_json(&cfg.radio.links_table.write()));
    }
}

/// Message about links to a node that the topology does not have.
fn beyond(links: &Links, nodes: u64) -> Option<String> {
    let (line, node) = links.find(|node| u64::from(node) >= nodes)?;
    (nodes > 0).then(|| format!("line {line} names node {node}, and nodes are numbered from 0 to {}", nodes - 1))
}

/// Meaning of links with one direction only.
pub fn no_row_back(links: usize) -> String {
    let (has, them) = if links == 1 { ("has", "it") } else { ("have", "them") };
    format!("{} {has} no row back: no ACK can return over {them}", count(links as u64, "link"))
}

impl Checker<'_> {
    /// Number of links with one direction only.
    pub(in crate::scenario) fn one_way_links(&self) -> usize {
        self.cfg.radio.measured().map_or(0, |links| links.one_way().count())
    }

    /// Validates measured links; `of` is the group of the nodes' settings.
    pub(in crate::scenario) fn measured_links(&mut self, of: &str, r: &radio::Config) {
        if of.is_empty() {
            let links = &r.links_table;
            if links.is_empty() {
                // The setting of which a value that cannot be read was reported.
                let name = if r.links_file.is_some() { "radio.links_file" } else { "radio.links_table" };
                let help = "set `radio.links_file` to a CSV file with the columns src, dst, and signal_dbm or loss_db";
                self.error(name, "there is no table of links", help);
            } else if let Some(why) = beyond(links, self.cfg.topology.nodes()) {
                self.error("radio.links_table", format!("in `radio.links_table` {why}"), "");
            }
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
        let help = "a signal that was measured is compared with a power: set it, e.g. to \"-64 dBm\"";
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
