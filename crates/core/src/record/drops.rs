//! Dropped packets of each flow, by reason.

use super::loss::Cause;
use crate::packet::{Packet, Reason};
use std::collections::BTreeMap;

/// Counts of a flow: by reason, and of packets that the MAC gave up by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct OfFlow {
    reasons: [u32; Reason::ALL.len()],
    causes: [u32; Cause::ALL.len()],
}

/// Dropped packets of the flows of the scenario, of those created in the measured part of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drops {
    /// Number of flows of the scenario; short flows have higher numbers.
    flows: usize,
    /// Flows that have lost packets.
    losers: BTreeMap<usize, OfFlow>,
}

impl Drops {
    /// No drops of this number of flows.
    pub fn new(flows: usize) -> Drops {
        Drops { flows, losers: BTreeMap::new() }
    }

    fn of_mut(&mut self, packet: &Packet) -> Option<&mut OfFlow> {
        let flow = packet.flow.index();
        (packet.measured && flow < self.flows).then(|| self.losers.entry(flow).or_default())
    }

    /// Counts a packet that is dropped.
    pub fn count(&mut self, packet: &Packet, reason: Reason) {
        if let Some(of_flow) = self.of_mut(packet) {
            of_flow.reasons[reason as usize] += 1;
        }
    }

    /// Counts the cause for which the MAC gives up a packet.
    pub fn count_cause(&mut self, packet: &Packet, cause: Cause) {
        if let Some(of_flow) = self.of_mut(packet) {
            of_flow.causes[cause as usize] += 1;
        }
    }

    /// Counts all packets so far as packets of the warm-up.
    pub fn begin_measured(&mut self) {
        self.losers.clear();
    }

    /// Number of packets of a flow that were dropped.
    pub fn total(&self, flow: usize) -> u64 {
        self.losers.get(&flow).map_or(0, |of| of.reasons.iter().map(|&n| u64::from(n)).sum())
    }

    /// Most frequent reason of a flow, the first of several, and the most frequent cause if the MAC gave the packets
    /// up.
    pub fn main(&self, flow: usize) -> Option<(Reason, Option<Cause>)> {
        let of = self.losers.get(&flow)?;
        let (n, (reason, ..)) = of.reasons.iter().zip(Reason::ALL).rev().max_by_key(|(n, _)| **n)?;
        let (given_up, (cause, ..)) = of.causes.iter().zip(Cause::ALL).rev().max_by_key(|(n, _)| **n)?;
        (*n > 0).then_some((*reason, (*reason == Reason::RetryLimit && *given_up > 0).then_some(*cause)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Body, Datagram, FlowId, NodeId};
    use crate::unit::Time;

    #[test]
    fn each_flow_has_its_own_reason() {
        let packet = |flow, measured| Packet {
            flow: FlowId(flow),
            measured,
            ..Packet::new(Body::Datagram(Datagram::default()), 100, NodeId(0), NodeId(1), Time::ZERO)
        };
        let mut drops = Drops::new(2);
        drops.count(&packet(0, true), Reason::QueueFull);
        for cause in [Cause::Damaged, Cause::SwitchedOff, Cause::SwitchedOff] {
            drops.count_cause(&packet(1, true), cause);
            drops.count(&packet(1, true), Reason::RetryLimit);
        }
        drops.count(&packet(1, true), Reason::NodeOff);
        for other in [packet(1, false), packet(2, true), packet(FlowId::NONE.0, true)] {
            drops.count(&other, Reason::Aqm);
        }
        assert_eq!([0, 1, 2].map(|flow| drops.total(flow)), [1, 4, 0]);
        assert_eq!(drops.main(0), Some((Reason::QueueFull, None)));
        assert_eq!(drops.main(1), Some((Reason::RetryLimit, Some(Cause::SwitchedOff))));
        drops.begin_measured();
        assert_eq!((drops.total(1), drops.main(1)), (0, None));
    }
}
