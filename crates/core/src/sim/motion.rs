//! The border of motion and radio: where nodes are when a frame begins.
//!
//! Before a frame goes on the air its audience is worked out from where everybody is at its first bit, unless nobody near
//! has moved since the last one. A network of which no node ever moves has no part of this.

use super::Sim;
use crate::motion::leg::Leg;
use crate::motion::{Crowd, Plan};
use crate::packet::{NodeId, RadioId};
use crate::radio::{self, Radios};
use crate::record::note::Note;
use crate::run::Setup;
use crate::unit::{Position, Speed, Time};
use std::sync::Arc;

/// What is needed when the first node moves.
#[derive(Debug)]
pub(super) struct Stage {
    plan: Plan,
    places: Vec<Position>,
    radios: Radios,
}

impl Stage {
    pub(super) fn new(setup: &Setup) -> Arc<Stage> {
        let radios = setup.interfaces.on_air(&setup.places);
        Arc::new(Stage { plan: setup.motion.clone(), places: setup.places.clone(), radios })
    }

    pub(super) fn moves(&self) -> bool {
        self.plan.moves()
    }
}

impl Sim {
    /// From now on nodes may move.
    pub(super) fn begin_motion(&mut self) {
        if self.crowd.is_none() && !self.stage.places.is_empty() {
            let Stage { plan, places, radios } = &*self.stage;
            let reach = radio::reach(radios);
            self.crowd = Some(Box::new(Crowd::new(plan, places, radios.sites.len(), reach)));
            self.channel.begin_moving(radios);
            self.ports.begin_moving(radios);
            // What is done for observers is done for frames of nodes that move.
            self.watched = true;
        }
    }

    /// When a leg ends, or a node leaves its cell.
    #[inline(never)]
    pub(super) fn motion_deadline(&self) -> Time {
        self.crowd.as_ref().map_or(Time::NEVER, |c| c.deadline())
    }

    /// Legs have ended.
    pub(super) fn on_motion(&mut self) {
        let Sim { crowd: Some(crowd), observers, now, .. } = self else { return };
        if crowd.deadline() > *now {
            return;
        }
        crowd.on_deadline(*now, |node, leg, to| {
            if let Some(observers) = observers {
                observers.on(leg.begins, &Note::Leg { node, leg, to });
            }
        });
    }

    /// Notes the legs of all nodes, or of one of them.
    pub(super) fn note_legs(&mut self, only: Option<NodeId>) {
        let Some(observers) = &mut self.observers else { return };
        for (n, &place) in (0..).map(NodeId).zip(&self.stage.places).filter(|(n, _)| only.is_none_or(|o| o == *n)) {
            let still = Leg::rest(place, self.now, Time::NEVER);
            let (leg, to) = self.crowd.as_ref().map_or((&still, place), |c| (c.leg(n), c.destination(n)));
            observers.on(self.now, &Note::Leg { node: n, leg, to });
        }
    }

    /// Works out who hears a radio that is about to send.
    #[inline(never)]
    pub(super) fn look_around(&mut self, r: RadioId, at: Time) {
        let Sim { crowd: Some(crowd), channel, ports, .. } = self else { return };
        let n = ports.node(r);
        if crowd.look_around(n, r, at) {
            let radios = |(m, place): (NodeId, Position)| ports.of(m).map(move |r| (r, place));
            let place = crowd.position(n, at);
            if ports.has_further() {
                channel.refill(r, place, crowd.near(n, at).flat_map(radios));
            } else {
                channel.refill(r, place, crowd.near(n, at).map(|(m, place)| (RadioId(m.0), place)));
            }
        }
    }

    /// A node is put at a place.
    pub(super) fn put_node(&mut self, n: NodeId, place: Position) {
        self.direct(n, |crowd, now| crowd.put(n, place, now));
    }

    /// A node is sent to a place.
    pub(super) fn send_node(&mut self, n: NodeId, to: Position, speed: Speed) {
        self.direct(n, |crowd, now| crowd.send(n, to, speed, now));
    }

    fn direct(&mut self, n: NodeId, command: impl FnOnce(&mut Crowd, Time)) {
        self.begin_motion();
        if let Some(crowd) = &mut self.crowd {
            command(crowd, self.now);
        }
        self.note_legs(Some(n));
    }
}
