//! State of a paused run for a driver that looks often. Read-only; costs nothing unless taken.

use super::Sim;
use super::flows::{Ends, Flow};
use crate::net::queue::Queue;
use crate::packet::RadioId;
use crate::record::look::{FlowState, RadioState, SenderState, State};
use crate::tcp::{Counters, Sums};
use crate::wlan::edca::CATEGORIES;

impl Sim {
    /// Counters and states of the flows of the scenario and of all radios now.
    pub fn look(&self) -> State {
        let contention = self.air.macs.iter().map(|m| (m.contention(), m.rules.timing.eifs));
        // The accounts of the run must not learn of the look.
        let airtime = self.watch.airtime.clone().map(|mut airtime| airtime.up_to(self.now, contention));
        let radio = |(r, mac): (RadioId, &super::air::mac::Mac)| RadioState {
            node: self.net.ports.node(r).0,
            queue: self.net.ports.all_of(r).map(Queue::len).sum::<usize>()
                + CATEGORIES.map(|category| mac.waiting(category).0).iter().sum::<usize>(),
            airtime: airtime.as_ref().map(|budgets| budgets[r.index()]),
        };
        State {
            at: self.now,
            flows: self.flows.list[..self.flows.generator.first]
                .iter()
                .enumerate()
                .map(|(f, flow)| self.flow_state(f, flow))
                .collect(),
            radios: (0..).map(RadioId).zip(&self.air.macs).map(radio).collect(),
        }
    }

    fn flow_state(&self, f: usize, flow: &Flow) -> FlowState {
        let (mut counters, mut sums, mut state) = (Counters::default(), Sums::default(), None);
        match &flow.ends {
            Ends::Tcp(ends) => {
                let conn = ends.sender.connection();
                counters = *conn.counters();
                counters.add(ends.receiver.counters());
                sums = *conn.sums();
                sums.add(ends.receiver.sums());
                state = Some(SenderState {
                    cwnd: conn.window().cwnd,
                    outstanding: conn.outstanding(),
                    srtt: conn.rto().smoothed(),
                    min_rtt: conn.min_rtt(),
                });
            }
            Ends::Udp { sent, sink } => {
                let sink = sink.counters();
                (counters.packets_sent, counters.packets_delivered) = (*sent, sink.delivered);
                (sums.delay_samples, sums.delay_ns) = (sink.delivered, sink.delay_sum);
            }
        }
        counters.bytes_delivered = flow.transfer.bytes(counters.packets_delivered);
        FlowState {
            counters,
            sums,
            packets_dropped: self.watch.drops.total(f),
            source_queue: self.net.queued_at(flow.from, self.now),
            sender: state,
        }
    }
}
