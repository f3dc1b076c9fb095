//! Radios of a scenario, with the settings of single nodes.

use super::super::schema::Config;
use super::super::schema::nodes::Own;
use chappe_core::net::routing::metric::{PROBE_BYTES, TEST_BYTES};
use chappe_core::packet::NodeId;
use chappe_core::radio::Propagation;
use chappe_core::radio::sinr::power_of_delivery;
use chappe_core::run::{Interfaces, Profile, RadioSetup};
use chappe_core::unit::{BitRate, Position};
use chappe_core::wlan::{self, Mode, mode};
use std::collections::HashMap;

impl Own {
    /// Returns true if only motion, the name or the gateway differs.
    fn only_moves(&self) -> bool {
        let others = self.radio.is_empty() && self.wlan.is_empty() && self.queue.is_empty();
        others && (!self.mobility.is_empty() || self.name.is_some() || self.gateway.is_some())
    }

    /// Returns true if nothing but the name or the gateway differs.
    pub fn is_name(&self) -> bool {
        self.only_moves() && self.mobility.is_empty()
    }

    /// Profile of these nodes, given their profile so far.
    pub fn over(&self, common: &Profile) -> Profile {
        Profile {
            radio: self.radio.over(&common.radio),
            wlan: self.wlan.over(&common.wlan),
            queue: self.queue.over(&common.queue),
        }
    }
}

/// Radios of a scenario whose topology has this number of nodes.
pub fn interfaces(cfg: &Config, nodes: usize) -> Interfaces {
    let common = Profile { radio: cfg.radio.clone(), wlan: cfg.wlan.clone(), queue: cfg.queue.clone() };
    let seed = cfg.radio.shadowing_seed.unwrap_or_else(|| cfg.topology_seed());
    let mut all = Interfaces { seed, ..Interfaces::alike(nodes, common) };
    // A profile is determined by the groups of a node: extends the previous profile by each group.
    let mut after: HashMap<(u32, usize), u32> = HashMap::new();
    for (row, own) in cfg.node.0.iter().enumerate().filter(|(_, own)| !own.only_moves()) {
        for &(first, last) in &own.nodes.0 {
            let end = nodes.min(last as usize + 1);
            for radio in all.radios.get_mut(first as usize..end).into_iter().flatten() {
                let profiles = &mut all.profiles;
                radio.profile = *after.entry((radio.profile, row)).or_insert_with(|| {
                    profiles.push(own.over(&profiles[radio.profile as usize]));
                    profiles.len() as u32 - 1
                });
            }
        }
    }
    for node in 0..nodes {
        let profile = all.radios[node].profile;
        let mut channels = all.profiles[profile as usize].radio.channels.iter();
        all.radios[node].channel = channels.next().copied().unwrap_or_default();
        let further = channels.map(|&channel| RadioSetup { node: NodeId(node as u32), channel, profile });
        all.radios.extend(further);
    }
    let row = |r: &wlan::LinkRate| {
        let mode = match r.mcs {
            Some(mcs) => cfg.wlan.ppdu.mode(mcs, r.streams),
            None => Mode::of(r.rate)?,
        };
        Some((NodeId(r.src?), NodeId(r.dst?), mode))
    };
    all.link_modes = cfg.wlan.link_rate.0.iter().filter_map(row).collect();
    all.link_modes.sort_by_key(|m| (m.0, m.1));
    measured_links(cfg, &mut all);
    all
}

/// Completes the table of links: powers for links of which lost frames alone are known, and for directions that were
/// not measured.
fn measured_links(cfg: &Config, all: &mut Interfaces) {
    let r = &cfg.radio;
    if r.propagation != Propagation::Links {
        return;
    }
    let profile = |node: u32| all.radios.get(node as usize).map(|radio| &all.profiles[radio.profile as usize]);
    let mut links = r.links_table.clone();
    if links.iter().any(|l| l.gain.is_none()) {
        let nowhere = vec![Position::default(); all.radios.iter().map(|r| r.node.index() + 1).max().unwrap_or(0)];
        let Some(power) = power_of_delivery(&all.on_air(&nowhere)) else { return };
        links = links.resolved(|link, loss| {
            let wlan = profile(link.from).map_or(&cfg.wlan, |p| &p.wlan);
            let (mode, bytes) = frames_of(wlan, loss.rate).unwrap_or((Mode::LOWEST, PROBE_BYTES));
            let arrives = 1.0 - loss.share.clamp(LEAST_SHARE, 1.0 - LEAST_SHARE);
            let watts = power(mode.column(), bytes + wlan.header_size.0 + wlan.llc_size.0, arrives);
            30.0 + 10.0 * libm::log10(watts)
        });
    }
    if r.links_symmetric {
        let dbm = |node: u32| 10.0 * libm::log10(profile(node).map_or(r, |p| &p.radio).transmit_power.0);
        links = links.symmetric(|a, b| dbm(a) - dbm(b));
    }
    all.profiles[0].radio.links_table = links;
}

/// Smallest share of frames, lost or delivered, that a table tells apart from none.
const LEAST_SHARE: f64 = 1.0 / 256.0;

/// Mode and size of the frames whose losses are counted: broadcasts as large as probes of ETX, or data at this rate.
/// `None`: there is no such rate.
pub fn frames_of(wlan: &wlan::Config, rate: Option<BitRate>) -> Option<(Mode, u32)> {
    match rate {
        None => Some((Mode::of(wlan.basic_rate)?, PROBE_BYTES)),
        Some(rate) => {
            let mut modes = mode::of_channel(&wlan.ppdu).filter(|m| !m.is_ht() || wlan.ppdu.has_mode(*m));
            modes.find(|m| m.rate() == rate).map(|mode| (mode, TEST_BYTES))
        }
    }
}

/// Radios of a run with this seed: signals of measured links are drawn.
pub fn of_run(all: &Interfaces, seed: u64) -> Interfaces {
    let mut all = all.clone();
    let radio = &mut all.profiles[0].radio;
    if radio.propagation == Propagation::Links && radio.links_table.is_uncertain(radio.links_sd) {
        radio.links_table = radio.links_table.drawn(radio.links_sd, seed);
    }
    all
}
