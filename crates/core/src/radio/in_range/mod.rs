//! Receivers in range of each radio, with power, delay and decodable rates. Computed once, with a grid of cells.

pub(super) mod moving;
pub(super) mod passes;

use super::propagation::shadowing::Shadowing;
use super::propagation::{End, Model};
use super::sites::{Radios, Site};
use super::transmitter::{Aim, ReceiverInRange, Transmitter};
use crate::unit::{Position, Span};

/// A cell of a grid: column and row.
type Cell = (i64, i64);

/// Cell that holds a position, for cells of this width.
fn cell_of(p: Position, width: f64) -> Cell {
    ((p.x / width).floor() as i64, (p.y / width).floor() as i64)
}

/// Grid with cells as wide as the longest carrier-sense range: the width, and each radio's cell, sorted.
fn grid(radios: &Radios) -> (f64, Vec<(Cell, u32)>) {
    let common = &radios.profiles[0];
    let ends: Vec<End> = radios.profiles.iter().map(|p| End::new(p, common)).collect();
    let best = End::best(&ends);
    let shadowing = Shadowing::new(common, radios.seed);
    let width = Model::between(common, &best, &best).range_of(shadowing.most()).0.max(1e-3);
    let mut cells: Vec<(Cell, u32)> =
        radios.sites.iter().zip(0u32..).map(|(s, i)| (cell_of(s.position, width), i)).collect();
    cells.sort_unstable();
    (width, cells)
}

/// Receivers in range of each radio in the order of their numbers, and the rates they can decode, where rates differ in
/// range.
pub(super) fn find_in_range(radios: &Radios) -> (Vec<ReceiverInRange>, Vec<Transmitter>, Vec<u32>) {
    let (sites, common) = (&radios.sites, &radios.profiles[0]);
    let links = common.measured();
    let (cell, cells) = if links.is_some() { Default::default() } else { grid(radios) };
    let mut of_nodes: Vec<(u32, u32)> = sites.iter().zip(0..).map(|(s, i)| (s.node, i)).collect();
    of_nodes.sort_unstable();
    let ends: Vec<End> =
        radios.profiles.iter().map(|p| End::new(p, common).with_needs(p, radios.distinguished())).collect();
    let shadowing = Shadowing::new(common, radios.seed);
    let in_modes = radios.differ_by_rate();
    let (mut all, mut sensing, mut modes) = (Vec::new(), Vec::new(), Vec::new());
    let mut transmitters = Vec::with_capacity(sites.len());
    let mut near = Vec::new();
    // Most radios in neighboring cells are out of range: this cheap test rejects them before anything is computed
    // exactly. The range is known to the millimeter.
    let farthest = cell + 1.0;
    let may_sense = |a: &Site, b: &Site| {
        let (a, b, same) = (a.position, b.position, a.channel == b.channel);
        same && (a.x - b.x).powi(2) + (a.y - b.y).powi(2) <= farthest * farthest
    };
    for (site, i) in sites.iter().zip(0u32..) {
        near.clear();
        if let Some(links) = &links {
            for link in links.of(site.node) {
                let start = of_nodes.partition_point(|n| n.0 < link.to);
                let links = of_nodes[start..].iter().take_while(|n| n.0 == link.to);
                near.extend(links.map(|n| n.1).filter(|&j| sites[j as usize].channel == site.channel));
            }
        } else {
            let (cx, cy) = cell_of(site.position, cell);
            for x in cx - 1..=cx + 1 {
                // Cells of one column are neighbors in the sorted list.
                let start = cells.partition_point(|c| c.0 < (x, cy - 1));
                let column = cells[start..].iter().take_while(|c| c.0 <= (x, cy + 1));
                near.extend(column.map(|c| c.1).filter(|&j| j != i && may_sense(site, &sites[j as usize])));
            }
        }
        near.sort_unstable();
        let start = all.len() as u32;
        let mut farthest = 0;
        for &j in &near {
            let other = &sites[j as usize];
            let distance = site.position.distance(other.position);
            let end = &ends[other.profile as usize];
            let model = Model::between(common, &ends[site.profile as usize], end);
            let signal = match &links {
                Some(links) => links.gain(site.node, other.node).and_then(|gain| model.measured(gain, distance)),
                None => model.shadowed(distance, shadowing.gain(site.key, other.key)),
            };
            if let Some(s) = signal {
                let receiver = ReceiverInRange { to: j, delay: distance.light_delay().0 as u32, power: s.power as f32 };
                farthest = farthest.max(receiver.delay);
                if !s.decodable {
                    sensing.push(receiver);
                    continue;
                }
                all.push(receiver);
                if in_modes {
                    modes.push(end.modes(s.power, distance, common.propagation));
                }
            }
        }
        let first_sensing = all.len() as u32;
        let transmitter = Transmitter {
            start,
            sensing: first_sensing,
            end: first_sensing + sensing.len() as u32,
            waiting: 0,
            farthest: Span(farthest.into()),
            aim: Aim::NONE,
        };
        transmitters.push(transmitter);
        all.append(&mut sensing);
        if in_modes {
            modes.resize(all.len(), 0);
        }
    }
    (all, transmitters, modes)
}

/// Upper bound for the number of pairs of radios in which one senses the other.
pub fn most_pairs_in_range(radios: &Radios) -> u64 {
    if let Some(links) = radios.profiles[0].measured() {
        // Each radio of a node may sense one radio of the other node.
        let most = radios.profiles.iter().map(|p| p.channels.len() as u64).max().unwrap_or(1);
        return links.len() as u64 * most;
    }
    let cells: Vec<Cell> = grid(radios).1.into_iter().map(|c| c.0).collect();
    let between = |a: Cell, b: Cell| cells.partition_point(|&c| c <= b) - cells.partition_point(|&c| c < a);
    let around = |(x, y): Cell| (x - 1..=x + 1).map(|x| between((x, y - 1), (x, y + 1))).sum::<usize>();
    let of_cell = |own: &[Cell]| own.len() as u64 * (around(own[0]) as u64 - 1);
    cells.chunk_by(|a, b| a == b).map(of_cell).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::Config;

    #[test]
    fn grid_finds_the_same_receivers_as_a_full_search() {
        let mut s = crate::rng::Stream::new(1, crate::rng::Purpose::Topology, 0);
        let positions: Vec<Position> =
            (0..300).map(|_| Position { x: s.uniform() * 4000.0 - 2000.0, y: s.uniform() * 1500.0 }).collect();
        let (in_range, transmitters, _) = find_in_range(&Radios::alike(&Config::default(), &positions));
        let model = Model::new(&Config::default());
        for i in 0..positions.len() {
            let full: Vec<u32> = (0..positions.len())
                .filter(|&j| j != i && model.signal(positions[i].distance(positions[j])).is_some())
                .map(|j| j as u32)
                .collect();
            let transmitter = transmitters[i];
            let sensed_by = &in_range[transmitter.start as usize..transmitter.end as usize];
            let mut from_grid: Vec<u32> = sensed_by.iter().map(|l| l.to).collect();
            from_grid.sort_unstable();
            assert_eq!(from_grid, full);
        }
    }
}
