//! Counters of flows.

use super::Flows;
use super::flow::{Ends, Flow, TcpEnds};
use crate::record::totals::{FlowTotals, LocalTotals};
use crate::sim::network::boxes::Boxes;
use crate::tcp::{self, Sender};
use crate::unit::Time;

impl Flows {
    /// Current values of the counters of a flow.
    pub fn totals_of(&mut self, f: usize, now: Time, boxes: &Boxes) -> FlowTotals {
        let flow = &mut self.list[f];
        let common = FlowTotals {
            received_bytes: flow.received_bytes,
            routes: flow.routes.up_to(now),
            began: flow.transfer.began(),
            completed: flow.transfer.completed(),
            ..FlowTotals::default()
        };
        let mut totals = match &mut flow.ends {
            Ends::Tcp(ends) => {
                let TcpEnds { sender, receiver } = &mut **ends;
                let mut counters = *sender.counters(now);
                counters.add(receiver.counters());
                counters.packets_acked = sender.acknowledged();
                let mut sums = *sender.connection().sums();
                sums.add(receiver.sums());
                let second = flow.split.as_ref().map(|s| s.halves.sender());
                FlowTotals {
                    closed: sender.closed(),
                    counters,
                    sums,
                    local: LocalTotals::new(&boxes.counters(f), second),
                    window_integral: sender.connection().window_integral(),
                    uses_ns: flow.time.up_to(now),
                    gave_up: [Some(&*sender), second].into_iter().flatten().filter_map(Sender::gave_up).min(),
                    ..common
                }
            }
            Ends::Udp { sent, sink } => {
                let s = sink.counters();
                let counters = tcp::Counters {
                    packets_delivered: s.delivered,
                    packets_sent: *sent,
                    duplicates_received: s.duplicates,
                    copies_received: s.delivered + s.duplicates,
                    ..tcp::Counters::default()
                };
                let sums = tcp::Sums {
                    delay_samples: s.delivered,
                    delay_ns: s.delay_sum,
                    copies_delay_ns: s.copies_delay_sum,
                    copies_hops: s.hops_sum,
                    ..tcp::Sums::default()
                };
                FlowTotals { counters, sums, ..common }
            }
        };
        totals.counters.bytes_delivered = flow.transfer.bytes(totals.counters.packets_delivered);
        totals
    }

    /// Returns true if the next event of a flow is a retransmission timeout, given that no packet of the flow is in
    /// transit and no middlebox has a timer set.
    pub fn waits_for_timeout(&self, f: usize) -> bool {
        let Flow { ends: Ends::Tcp(ends), app, split, .. } = &self.list[f] else { return false };
        let timer = ends.sender.deadline();
        ends.sender.awaits_timeout()
            && timer < app.deadline()
            && ends.receiver.deadline() == Time::NEVER
            && split.as_ref().is_none_or(|s| s.halves.deadline() == Time::NEVER)
    }
}
