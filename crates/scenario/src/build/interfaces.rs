//! Radios of a scenario, with the settings of single nodes.

use super::super::schema::Config;
use super::super::schema::nodes::Own;
use chappe_core::packet::NodeId;
use chappe_core::run::{Interfaces, Profile, RadioSetup};
use chappe_core::wlan::Mode;
use std::collections::HashMap;

impl Own {
    /// Returns true if only motion or the name differs.
    fn only_moves(&self) -> bool {
        let others = self.radio.is_empty() && self.wlan.is_empty() && self.queue.is_empty();
        others && (!self.mobility.is_empty() || self.name.is_some())
    }

    /// Returns true if nothing but the name differs.
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
    let row = |r: &chappe_core::wlan::LinkRate| {
        let mode = match r.mcs {
            Some(mcs) => cfg.wlan.ppdu.mode(mcs, r.streams),
            None => Mode::of(r.rate)?,
        };
        Some((NodeId(r.src?), NodeId(r.dst?), mode))
    };
    all.link_modes = cfg.wlan.link_rate.0.iter().filter_map(row).collect();
    all.link_modes.sort_by_key(|m| (m.0, m.1));
    all
}
