//! The world of the nodes: their positions at the beginning of a frame, and the energy left in their batteries.
//!
//! The receivers in range of a sender are recomputed from all positions at the first bit of its frame, unless no node
//! near the sender has moved since its previous frame. A network without motion needs no recomputation.

mod batteries;

use super::network::ports::Ports;
use super::watch::Watch;
use crate::mobility::segment::MovementSegment;
use crate::mobility::{MobileNodes, Plan};
use crate::packet::{NodeId, RadioId};
use crate::radio::{self, Channel, Radios};
use crate::record::note::Note;
use crate::run::Setup;
use crate::unit::{Position, Time};
pub(super) use batteries::Batteries;
use std::sync::Arc;

/// Data needed from the first movement of a node on.
#[derive(Debug)]
pub(super) struct Terrain {
    plan: Plan,
    positions: Vec<Position>,
    radios: Radios,
}

/// Positions and energy of the nodes.
#[derive(Clone, Debug)]
pub(super) struct World {
    /// Positions of the nodes, if any of them moves or has moved.
    pub(super) mobile_nodes: Option<Box<MobileNodes>>,
    terrain: Arc<Terrain>,
    /// The batteries of the nodes, if any node has one.
    pub(super) batteries: Option<Box<Batteries>>,
}

impl World {
    /// State at the start of a run: no node has moved, all batteries are full.
    pub(super) fn new(setup: &Setup) -> World {
        let radios = setup.interfaces.on_air(&setup.positions);
        let terrain = Terrain { plan: setup.mobility.clone(), positions: setup.positions.clone(), radios };
        World { mobile_nodes: None, terrain: Arc::new(terrain), batteries: Batteries::new(setup) }
    }

    /// Returns true if the scenario moves nodes.
    pub(super) fn moves(&self) -> bool {
        self.terrain.plan.moves()
    }

    /// Allows nodes to move from now on. Returns the radios with their sites if no node could move before.
    pub(super) fn begin_motion(&mut self) -> Option<&Radios> {
        if self.mobile_nodes.is_some() || self.terrain.positions.is_empty() {
            return None;
        }
        let Terrain { plan, positions, radios } = &*self.terrain;
        self.mobile_nodes = Some(Box::new(MobileNodes::new(plan, positions, radios.sites.len(), radio::reach(radios))));
        Some(radios)
    }

    /// The next instant at which a segment ends, or a node leaves its cell.
    #[inline(never)]
    pub(super) fn deadline(&self) -> Time {
        self.mobile_nodes.as_ref().map_or(Time::NEVER, |c| c.deadline())
    }

    /// Begins the next movement segments where the current ones have ended.
    pub(super) fn on_deadline(&mut self, now: Time, watch: &mut Watch) {
        let Some(mobile_nodes) = self.mobile_nodes.as_mut().filter(|c| c.deadline() <= now) else { return };
        mobile_nodes
            .on_deadline(now, |node, segment, to| watch.note(segment.begins, &Note::Movement { node, segment, to }));
    }

    /// Notes the segments of all nodes, or of one of them.
    pub(super) fn note_movements(&self, now: Time, only: Option<NodeId>, watch: &mut Watch) {
        let Some(observers) = &mut watch.observers else { return };
        for (n, &position) in
            (0..).map(NodeId).zip(&self.terrain.positions).filter(|(n, _)| only.is_none_or(|o| o == *n))
        {
            let still = MovementSegment::rest(position, now, Time::NEVER);
            let (segment, to) =
                self.mobile_nodes.as_ref().map_or((&still, position), |c| (c.segment(n), c.destination(n)));
            observers.on(now, &Note::Movement { node: n, segment, to });
        }
    }

    /// Updates the receivers in range of a radio that is about to send.
    #[inline(never)]
    pub(super) fn look_around(&mut self, r: RadioId, at: Time, ports: &Ports, channel: &mut Channel) {
        let Some(mobile_nodes) = &mut self.mobile_nodes else { return };
        let n = ports.node(r);
        if mobile_nodes.look_around(n, r, at) {
            let position = mobile_nodes.position(n, at);
            let near = mobile_nodes.near(n, at);
            if ports.has_additional() {
                let radios = |(first, position, found)| ports.of(ports.node(first)).map(move |r| (r, position, found));
                channel.refill(r, position, near.flat_map(radios));
            } else {
                channel.refill(r, position, near);
            }
        }
    }

    /// Position of a node with a radio.
    pub(super) fn position(&self, n: NodeId, at: Time) -> Position {
        self.mobile_nodes.as_ref().map_or_else(|| self.terrain.positions[n.index()], |c| c.position(n, at))
    }

    /// The radios at their positions of an instant.
    pub(super) fn radios(&self, at: Time) -> Radios {
        let mut radios = self.terrain.radios.clone();
        for site in &mut radios.sites {
            site.position = self.position(NodeId(site.node), at);
        }
        radios
    }

    /// Channel of a radio.
    pub(super) fn channel(&self, r: RadioId) -> u16 {
        self.terrain.radios.sites[r.index()].channel
    }

    /// Returns true if the battery of a node was found empty.
    pub(super) fn has_run_down(&self, n: NodeId) -> bool {
        self.batteries.as_deref().is_some_and(|b| b.is_empty(n))
    }

    /// Notes the energy left in the batteries, for observers that sample it.
    pub(super) fn note_batteries(&self, now: Time, watch: &mut Watch) {
        let (Some(batteries), Some(observers)) = (&self.batteries, &mut watch.observers) else { return };
        for (battery, n) in batteries.totals(now).iter().zip(0..) {
            observers.on(now, &Note::Battery { node: NodeId(n), left: battery.left });
        }
    }
}
