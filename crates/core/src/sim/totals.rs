//! All counters of a run.

use super::Sim;
use crate::net::queue::Queue;
use crate::packet::RadioId;
use crate::record::rates::Rates;
use crate::record::totals::{NodeTotals, RadioTotals, Totals};
use crate::wlan::edca::QosCounters;

impl Sim {
    /// Current values of all counters.
    pub(super) fn totals(&mut self) -> Totals {
        let now = self.now;
        let flows = (0..self.flows.generator.first).map(|f| self.flows.totals_of(f, now, &self.net.boxes)).collect();
        let short_flows = self.flows.short_flow_totals(now, &self.net.boxes, &mut self.watch.recorder);
        let mut nodes: Vec<NodeTotals> = self
            .net
            .nodes
            .iter()
            .map(|node| NodeTotals { routing: node.router.counted(), ..NodeTotals::default() })
            .collect();
        for (mac, r) in self.air.macs.iter().zip((0..).map(RadioId)) {
            let radio = self.air.channel.counters(r);
            let at_radio = RadioTotals::new(
                mac.counters(),
                &mac.qos.as_ref().map_or_else(QosCounters::default, |qos| *qos.qos_counters()),
                radio,
                self.net.ports.all_of(r).map(Queue::marks).sum(),
                self.air.channel.neighbor_changes(r),
            );
            nodes[self.net.ports.node(r).index()].radio.add(&at_radio);
        }
        self.net.links.add_marks(&mut nodes);
        if let Some(admission) = &self.net.admission {
            admission.add_marks(&mut nodes, &self.net.ports);
        }
        let links = self.net.links.totals(now);
        let contention = self.air.macs.iter().map(|m| (m.contention(), m.rules.timing.eifs));
        let air = self.watch.airtime.as_mut().map_or_else(Vec::new, |air| air.up_to(now, contention));
        let batteries = self.world.batteries.as_ref().map_or_else(Vec::new, |b| b.totals(now));
        let stations = self.air.macs.iter().zip((0..).map(RadioId));
        let rates = stations.flat_map(|(m, r)| m.tallies().map(move |(to, mode, kind, n)| (r, to, kind, mode, n)));
        let rates = Rates::new(rates);
        let ledgers = self.pool.ledgers().clone();
        let drops = self.watch.drops.clone();
        Totals {
            at: now,
            flows,
            short_flows,
            nodes,
            air,
            batteries,
            links,
            rates,
            ledgers,
            losses: self.watch.losses,
            drops,
        }
    }

    /// At the end of a run, books the time since the last event of each flow that waits for its retransmission timer as
    /// such a wait.
    pub(super) fn book_open_waits(&mut self) {
        let inside = self.pool.flows_inside(self.flows.generator.first);
        for (f, inside) in inside.into_iter().enumerate() {
            if !inside && self.net.boxes.are_quiet() && self.flows.waits_for_timeout(f) {
                let rebooking = self.flows.list[f].time.waits();
                self.watch.recorder.rebook(f, &rebooking);
            }
        }
    }
}
