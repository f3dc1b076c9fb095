//! Counters of flows.

use super::{Ends, Flow, Flows};
use crate::record::totals::{FlowTotals, LocalTotals};
use crate::sim::network::boxes::Boxes;
use crate::tcp::Sender;
use crate::unit::Time;

impl Flows {
    /// The counters of a flow as they stand.
    pub fn totals_of(&mut self, f: usize, now: Time, boxes: &Boxes) -> FlowTotals {
        let flow = &mut self.list[f];
        let (route_breaks, route_ns, no_route_ns) = flow.routes.up_to(now);
        match &mut flow.ends {
            Ends::Tcp(ends) => {
                let (s, r) = (*ends.0.counters(now), ends.1.counters());
                FlowTotals {
                    delivered_packets: r.delivered,
                    delivered_bytes: flow.transfer.bytes(r.delivered),
                    received_bytes: flow.received_bytes,
                    packets_sent: s.segments_sent,
                    retransmissions: s.retransmissions,
                    probes: s.probes,
                    timeouts: s.timeouts,
                    timeouts_after_ecn_cut: s.timeouts_after_ecn_cut,
                    fast_retransmits: s.fast_retransmits,
                    ecn_cuts: s.ecn_cuts,
                    marks_received: r.marked,
                    acked_packets: ends.0.acknowledged(),
                    acks_received: s.acks_received,
                    duplicates_received: r.duplicates,
                    local: LocalTotals::new(&boxes.counters(f), flow.split.as_ref().map(|s| s.halves.sender())),
                    rtt_samples: s.rtt_samples,
                    rtt_ns: s.rtt_sum,
                    delay_samples: r.delay_samples,
                    delay_ns: r.delay_sum,
                    copies_received: r.segments_received,
                    copies_delay_ns: r.copies_delay_sum,
                    copies_hops: r.hops_sum,
                    window_ns: s.window_time,
                    window_integral: s.window_integral,
                    uses_ns: flow.time.up_to(now),
                    route_breaks,
                    route_ns,
                    no_route_ns,
                    gave_up: [Some(&ends.0), flow.split.as_ref().map(|s| s.halves.sender())]
                        .into_iter()
                        .flatten()
                        .filter_map(Sender::gave_up)
                        .min(),
                    began: flow.transfer.began(),
                    completed: flow.transfer.completed(),
                }
            }
            Ends::Udp { sent, sink } => {
                let s = sink.counters();
                FlowTotals {
                    delivered_packets: s.delivered,
                    delivered_bytes: flow.transfer.bytes(s.delivered),
                    received_bytes: flow.received_bytes,
                    packets_sent: *sent,
                    duplicates_received: s.duplicates,
                    delay_samples: s.delivered,
                    delay_ns: s.delay_sum,
                    copies_received: s.delivered + s.duplicates,
                    copies_delay_ns: s.copies_delay_sum,
                    copies_hops: s.hops_sum,
                    route_breaks,
                    route_ns,
                    no_route_ns,
                    began: flow.transfer.began(),
                    completed: flow.transfer.completed(),
                    ..FlowTotals::default()
                }
            }
        }
    }

    /// Tells if only a timeout is left to happen to a flow of which no packet is under way, and no middlebox acts.
    pub fn waits_for_timeout(&self, f: usize) -> bool {
        let Flow { ends: Ends::Tcp(ends), app, split, .. } = &self.list[f] else { return false };
        let timer = ends.0.deadline();
        ends.0.awaits_timeout()
            && timer < app.deadline()
            && ends.1.deadline() == Time::NEVER
            && split.as_ref().is_none_or(|s| s.halves.deadline() == Time::NEVER)
    }
}
