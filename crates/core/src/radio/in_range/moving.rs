//! Moving radios: the receivers in range of a radio are recomputed when it begins to send.
//!
//! The receivers of a sender keep their part of the list of all receivers while a frame is on the air. A sender whose
//! receivers outgrow their part gets a new one of twice the size at the end of the list.

use super::passes::Passes;
use crate::packet::RadioId;
use crate::radio::config::Propagation;
use crate::radio::propagation::shadowing::Shadowing;
use crate::radio::propagation::{End, Model};
use crate::radio::sites::Radios;
use crate::radio::transmitter::{ReceiverInRange, Transmitter};
use crate::unit::{Meters, Position, Span};

/// Inputs for computing receivers in range, besides positions.
#[derive(Clone, Debug)]
pub(in crate::radio) struct Moving {
    /// Model from each profile to each other profile, with the square of a distance beyond which nothing is sensed
    /// \[m²\].
    models: Vec<(Model, f64)>,
    ends: Vec<End>,
    shadowing: Shadowing,
    radios: Radios,
    /// The rate decides who can decode a frame.
    in_modes: bool,
    /// Capacity of each radio's part of the list of receivers.
    capacity: Vec<u32>,
    /// Passes over radios that are alike, if all are.
    passes: Option<Passes>,
    /// Receivers that only sense the frame.
    sensing: Vec<ReceiverInRange>,
    /// Receivers that could decode the previous frame.
    before: Vec<ReceiverInRange>,
    /// Number of times that a radio entered or left the decoding range of each sender.
    changes: Vec<u64>,
}

/// Lists of the channel that change when the receivers of a radio are recomputed.
pub(in crate::radio) struct Lists<'a> {
    pub(in crate::radio) in_range: &'a mut Vec<ReceiverInRange>,
    pub(in crate::radio) waiting: &'a mut Vec<u32>,
    pub(in crate::radio) modes: &'a mut Vec<u32>,
    /// The radio whose receivers they are.
    pub(in crate::radio) transmitter: &'a mut Transmitter,
}

/// Margin of ranges, which are found to the millimeter.
const ROUNDING: f64 = 1e-3;

/// Longest carrier-sense range of these radios.
pub fn reach(radios: &Radios) -> Meters {
    let common = &radios.profiles[0];
    let ends: Vec<End> = radios.profiles.iter().map(|p| End::new(p, common)).collect();
    let best = End::best(&ends);
    let most = Shadowing::new(common, radios.seed).most();
    Meters(Model::between(common, &best, &best).range_of(most).0 + ROUNDING)
}

/// Number of receivers in one list but not the other; both are sorted by number.
#[inline(never)]
fn apart(before: &[ReceiverInRange], now: &[ReceiverInRange]) -> u64 {
    if before.len() == now.len() && before.iter().zip(now).all(|(a, b)| a.to == b.to) {
        return 0;
    }
    let mut left = before;
    let mut both = 0;
    for l in now {
        while let [first, rest @ ..] = left
            && first.to <= l.to
        {
            both += u64::from(first.to == l.to);
            left = rest;
        }
    }
    (before.len() + now.len()) as u64 - 2 * both
}

impl Moving {
    pub(in crate::radio) fn new(radios: &Radios, transmitters: &[Transmitter]) -> Moving {
        let common = &radios.profiles[0];
        let ends: Vec<End> =
            radios.profiles.iter().map(|p| End::new(p, common).with_needs(p, radios.distinguished())).collect();
        let in_modes = radios.differ_by_rate();
        let shadowing = Shadowing::new(common, radios.seed);
        let pairs = ends.iter().flat_map(|from| ends.iter().map(move |to| (from, to)));
        let model = |(from, to): (&End, &End)| {
            let model = Model::between(common, from, to);
            let reach = model.range_of(shadowing.most()).0 + ROUNDING;
            (model, reach * reach)
        };
        let first = radios.sites.first().map(|site| site.channel);
        let alike = ends.len() == 1
            && !in_modes
            && common.propagation == Propagation::TwoRay
            && shadowing.most() == 1.0
            && radios.sites.iter().all(|site| Some(site.channel) == first);
        Moving {
            models: pairs.map(model).collect(),
            passes: alike.then(|| Passes::new(radios.sites.len())),
            ends,
            shadowing,
            in_modes,
            radios: radios.clone(),
            capacity: transmitters.iter().map(|a| a.end - a.start).collect(),
            sensing: Vec::with_capacity(64),
            before: Vec::with_capacity(64),
            changes: vec![0; transmitters.len()],
        }
    }

    /// Returns true if radios differ by rate in who can decode their frames.
    pub(in crate::radio) fn differs_by_rate(&self) -> bool {
        self.in_modes
    }

    /// Number of times that a radio entered or left the decoding range of a sender.
    pub(in crate::radio) fn changes(&self, radio: RadioId) -> u64 {
        self.changes[radio.index()]
    }

    /// A radio is about to send at a position: finds its receivers among the radios nearby with their current
    /// positions, which come in the order of their numbers; those with `false` are left out.
    pub(in crate::radio) fn refill(
        &mut self,
        radio: RadioId,
        position: Position,
        near: impl Iterator<Item = (RadioId, Position, bool)>,
        lists: &mut Lists<'_>,
    ) {
        let Lists { in_range, waiting, modes, transmitter } = lists;
        let Moving { models, ends, shadowing, radios, in_modes, passes, capacity, sensing, before, changes } = self;
        let own_site = &radios.sites[radio.index()];
        let models = &models[own_site.profile as usize * ends.len()..];
        let capacity = &mut capacity[radio.index()];
        let (mut next, mut farthest) = (transmitter.start as usize, 0);
        if let Some(passes) = passes {
            let (model, farthest_sensed) = &models[0];
            let count = passes.collect(radio, position, near, *farthest_sensed);
            let (decoding, sensing, farthest) = passes.split(model);
            changes[radio.index()] += apart(&in_range[next..transmitter.sensing as usize], decoding);
            if count > *capacity as usize {
                let start = in_range.len();
                *capacity = 2 * count as u32 + 8;
                in_range.resize(start + *capacity as usize, ReceiverInRange { to: 0, delay: 0, power: 0.0 });
                waiting.resize(in_range.len(), 0);
                transmitter.start = start as u32;
            }
            let own = &mut in_range[transmitter.start as usize..][..decoding.len() + sensing.len()];
            own[..decoding.len()].copy_from_slice(decoding);
            own[decoding.len()..].copy_from_slice(sensing);
            transmitter.sensing = transmitter.start + decoding.len() as u32;
            transmitter.end = transmitter.sensing + sensing.len() as u32;
            transmitter.farthest = Span(farthest.into());
            return;
        }
        sensing.clear();
        before.clear();
        before.extend_from_slice(&in_range[next..transmitter.sensing as usize]);
        let mut count = 0;
        for (to, there, found) in near {
            let site = &radios.sites[to.index()];
            if !found || site.channel != own_site.channel || to == radio {
                continue;
            }
            let squared = position.squared_distance(there);
            let (model, farthest_sensed) = &models[site.profile as usize];
            if squared > *farthest_sensed {
                continue;
            }
            let distance = Meters(squared.sqrt());
            let Some(s) = model.shadowed(distance, shadowing.gain(own_site.key, site.key)) else { continue };
            let receiver = ReceiverInRange { to: to.0, delay: distance.light_delay().0 as u32, power: s.power as f32 };
            farthest = farthest.max(receiver.delay);
            count += 1;
            if count > *capacity {
                // Receivers written so far move to the new part.
                let (from, start) = (transmitter.start as usize, in_range.len());
                *capacity = 2 * count + 8;
                let room = start + *capacity as usize;
                in_range.resize(room, receiver);
                waiting.resize(room, 0);
                in_range.copy_within(from..next, start);
                if *in_modes {
                    modes.resize(room, 0);
                    modes.copy_within(from..next, start);
                }
                (transmitter.start, next) = (start as u32, start + (next - from));
            }
            if s.decodable {
                in_range[next] = receiver;
                if *in_modes {
                    let end = &ends[site.profile as usize];
                    modes[next] = end.modes(s.power, distance, radios.profiles[0].propagation);
                }
                next += 1;
            } else {
                sensing.push(receiver);
            }
        }
        changes[radio.index()] += apart(before, &in_range[transmitter.start as usize..next]);
        let end = next + sensing.len();
        in_range[next..end].copy_from_slice(sensing);
        if *in_modes {
            modes[next..end].fill(0);
        }
        transmitter.sensing = next as u32;
        transmitter.end = end as u32;
        transmitter.farthest = Span(farthest.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::{Channel, Config, Reception, Sensitivity, Site};
    use crate::rng::{Purpose, Stream};
    use crate::setting::Many;
    use crate::unit::{BitRate, Ratio, SignalPower};
    use std::collections::HashSet;

    fn positions(rng: &mut Stream, n: usize) -> Vec<Position> {
        (0..n).map(|_| Position { x: rng.uniform() * 1500.0, y: rng.uniform() * 1000.0 }).collect()
    }

    /// All receivers of a sender, with everything known of each.
    fn in_range(c: &Channel, radio: usize) -> Vec<(u32, u32, u32, bool, u32)> {
        let a = &c.transmitters[radio];
        let row = |i: usize| {
            let l = &c.in_range[i];
            (l.to, l.delay, l.power.to_bits(), i < a.sensing as usize, c.modes.get(i).copied().unwrap_or(0))
        };
        (a.start as usize..a.end as usize).map(row).collect()
    }

    #[test]
    fn recomputed_receivers_equal_those_of_fixed_radios() {
        let mut rng = Stream::new(4, Purpose::Mobility, 0);
        let slow = Sensitivity { rate: BitRate::mbps(11), range: Some(Meters(120.0)), ..Sensitivity::default() };
        let weak = Config { transmit_power: SignalPower(0.05), ..Config::default() };
        let keen = Config { receive_threshold: Some(SignalPower(1e-11)), ..weak.clone() };
        for profiles in [
            vec![Config::default()],
            vec![Config { propagation: Propagation::Range, ..Config::default() }],
            vec![Config { sensitivity: Many(vec![slow]), ..Config::default() }, weak],
            vec![Config::default(), keen],
            vec![Config { shadowing: Ratio::db(4.0), ..Config::default() }],
            vec![Config { reception: Reception::Sinr, propagation: Propagation::Friis, ..Config::default() }],
        ] {
            let several = profiles.len();
            let radios = |positions: &[Position]| Radios {
                profiles: profiles.clone(),
                sites: (0..)
                    .zip(positions)
                    .map(|(i, &position)| Site {
                        position,
                        node: i as u32,
                        key: i as u64,
                        channel: (i % 7 / 6) as u16,
                        profile: (i % several) as u32,
                    })
                    .collect(),
                rates: vec![BitRate::mbps(1), BitRate::mbps(11)],
                codings: vec![BitRate::mbps(1), BitRate::mbps(11)],
                narrow_rates: Vec::new(),
                whole: 2,
                plcp: vec![Span::us(192); 2],
                seed: 0,
            };
            let start = positions(&mut rng, 60);
            let mut moving = Channel::new(&radios(&start));
            moving.begin_moving(&radios(&start));
            for _ in 0..30 {
                // Nodes gather and part, so that lists of receivers outgrow their part.
                let spread = rng.uniform();
                let now: Vec<Position> =
                    positions(&mut rng, 60).iter().map(|p| Position { x: p.x * spread, y: p.y * spread }).collect();
                let still = Channel::new(&radios(&now));
                for i in 0..60 {
                    let neighbors = |c: &Channel| c.neighbors(RadioId(i)).map(|r| r.0).collect::<HashSet<_>>();
                    let (before, counted) = (neighbors(&moving), moving.neighbor_changes(RadioId(i)));
                    let apart = before.symmetric_difference(&neighbors(&still)).count() as u64;
                    let all = (0..60).map(|j| (RadioId(j), now[j as usize], true));
                    moving.refill(RadioId(i), now[i as usize], all);
                    assert_eq!(in_range(&moving, i as usize), in_range(&still, i as usize));
                    assert_eq!(moving.neighbor_changes(RadioId(i)) - counted, apart);
                    assert_eq!(moving.transmitters[i as usize].farthest, still.transmitters[i as usize].farthest);
                }
            }
            let starts = |c: &Channel| c.transmitters.iter().map(|a| (a.start, a.end)).collect::<Vec<_>>();
            let mut sorted = starts(&moving);
            sorted.sort_unstable();
            assert!(sorted.windows(2).all(|w| w[0].1 <= w[1].0), "no two parts overlap");
        }
    }

    #[test]
    fn the_reach_is_that_of_the_best_radio() {
        let reach = reach(&Radios::alike(&Config::default(), &[])).0;
        assert!((reach - 550.0).abs() < 0.01, "{reach}");
    }
}
