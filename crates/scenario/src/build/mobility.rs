//! Movement patterns of the nodes of a scenario.

use super::super::schema::Config;
use chappe_core::mobility::{Kind, Plan};
use std::collections::HashMap;

/// Movement patterns of the nodes of a topology of this size.
pub fn plan(cfg: &Config, nodes: usize, seed: u64) -> Plan {
    let (profiles, profile_of) = (vec![cfg.mobility.clone()], vec![0; nodes]);
    let area = (cfg.topology.width, cfg.topology.height);
    let mut plan = Plan { profiles, profile_of, area, seed: cfg.mobility.seed.unwrap_or(seed) };
    let mut after: HashMap<(u32, usize), u32> = HashMap::new();
    for (row, own) in cfg.node.0.iter().enumerate().filter(|(_, own)| !own.mobility.is_empty()) {
        for &(first, last) in &own.nodes.0 {
            let end = nodes.min(last as usize + 1);
            for profile in plan.profile_of.get_mut(first as usize..end).into_iter().flatten() {
                let profiles = &mut plan.profiles;
                *profile = *after.entry((*profile, row)).or_insert_with(|| {
                    profiles.push(own.mobility.over(&profiles[*profile as usize]));
                    profiles.len() as u32 - 1
                });
            }
        }
    }
    plan
}

/// Returns true if nodes move, by themselves or by an event.
pub fn moves(cfg: &Config) -> bool {
    let by_itself = cfg.mobility.model != Kind::Still
        || cfg.node.0.iter().any(|own| own.mobility.over(&cfg.mobility).model != Kind::Still);
    cfg.has_radios() && (by_itself || cfg.event.0.iter().any(|e| e.moves()))
}
