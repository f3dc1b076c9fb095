//! Short flows of generators. Each short flow in progress has an entry in the list of flows, after the
//! flows of the scenario; free entries are reused. A finished short flow leaves a small record, so memory follows the
//! short flows in progress.

use super::Flows;
use super::flow::{Ends, Flow, SHORT_FLOW, TcpEnds};
use super::transfer::Transfer;
use crate::app::{Application, Source, bulk};
use crate::packet::{FlowId, NodeId};
use crate::record::Recorder;
use crate::record::short_flows::Record;
use crate::record::totals::FlowTotals;
use crate::record::uses::flow::FlowTime;
use crate::record::uses::route::RouteTime;
use crate::rng::{Purpose, Stream};
use crate::sim::network::Network;
use crate::sim::network::boxes::Boxes;
use crate::tcp::{Receiver, Sender};
use crate::unit::{Bytes, Span, Time};

impl Flows {
    /// Starts a short flow of generator `k`. Returns its index in the list of flows.
    pub fn begin_transfer(&mut self, k: usize, now: Time, net: &Network, recorder: &mut Recorder) -> usize {
        let nodes = net.nodes.len() as u32;
        let origin = &mut self.generator.origins[k];
        let bytes = Bytes(origin.arrivals.on_deadline());
        let (from, to) = origin.draw_ends(nodes);
        let f = match self.generator.take_free(now) {
            Some(f) => f,
            None => self.new_entry(k),
        };
        let record =
            Record { origin: Some(k as u32), from: from.0, to: to.0, start: now, bytes: bytes.0, ..Record::NEW };
        let number = recorder.short_flows.begin(record);
        self.generator.records[f - self.generator.first] = number;
        let origin = &self.generator.origins[k];
        let mut phase = Stream::new(self.generator.seed, Purpose::TransferPhase, u64::from(number));
        let phase = Span((phase.uniform() * origin.tcp.rto.tick.0 as f64) as u64);
        let whole = bulk::Config { bytes: Some(bytes), ..bulk::Config::default() };
        let file = bulk::Bulk::new(&whole, Time::NEVER, origin.tcp.mss);
        let flow = &mut self.list[f];
        (flow.from, flow.to, flow.first_to) = (from, to, net.links.end_of_radio(from, to));
        (flow.since, flow.received_bytes, flow.time) = (now, 0, FlowTime::beginning(now));
        flow.routes = RouteTime::default();
        flow.transfer = Transfer::new(origin.tcp.mss);
        flow.transfer.begin(now);
        if let Ends::Tcp(ends) = &mut flow.ends {
            let tcp = &*origin.tcp;
            **ends = TcpEnds { sender: Sender::at_node(tcp, phase, FlowId(f as u32)), receiver: Receiver::new(tcp) };
            let (seed, index) = (self.generator.seed, SHORT_FLOW | u64::from(number));
            ends.sender.draw_from(|| Stream::new(seed, Purpose::BandwidthProbes, index));
            ends.sender.write_whole(file.segments(), file.missing() > 0, now);
            flow.transfer.on_written(ends.sender.written(), file.missing());
            ends.sender.finish(now);
            flow.time.on_event(now, ends.sender.phase());
        }
        f
    }

    /// Appends an entry to the list of flows.
    fn new_entry(&mut self, k: usize) -> usize {
        let f = self.list.len();
        let tcp = &self.generator.origins[k].tcp;
        self.list.push(Flow {
            from: NodeId(0),
            to: NodeId(0),
            first_to: NodeId(0),
            ends: Ends::Tcp(Box::new(TcpEnds {
                sender: Sender::at_node(tcp, Span::ZERO, FlowId(f as u32)),
                receiver: Receiver::new(tcp),
            })),
            app: Application::new(
                Source::Bulk(bulk::Bulk::new(&bulk::Config::default(), Time::NEVER, tcp.mss)),
                Time::NEVER,
            ),
            split: None,
            transfer: Transfer::new(tcp.mss),
            time: FlowTime::default(),
            routes: RouteTime::default(),
            since: Time::NEVER,
            received_bytes: 0,
            breaks_links: true,
            dscp: 0,
        });
        self.generator.records.push(0);
        f
    }

    /// Frees the entry of a short flow whose sender has all acknowledgements, or has given up.
    #[cold]
    pub fn free_entry(&mut self, f: usize, now: Time, boxes: &Boxes, recorder: &mut Recorder) {
        let totals = self.totals_of(f, now, boxes);
        self.note_transfer(f, &totals, recorder);
        self.generator.over.add(&totals);
        let flow = &mut self.list[f];
        flow.since = Time::NEVER;
        if flow.routes.lacks_route() {
            flow.routes.end(now);
            self.routeless.retain(|&other| other != f as u32);
        }
        self.generator.free.push((f as u32, now));
    }

    /// Returns true if a flow is a short flow whose sender has finished or given up, and whose receiver has read everything.
    #[inline]
    pub fn is_done_with(&self, f: usize) -> bool {
        let flow = &self.list[f];
        f >= self.generator.first
            && flow.since != Time::NEVER
            && match &flow.ends {
                Ends::Tcp(ends) => {
                    ends.sender.gave_up().is_some()
                        || (ends.sender.is_done() && !ends.receiver.has_unread() && !ends.receiver.is_closing())
                }
                _ => false,
            }
    }

    fn note_transfer(&self, f: usize, totals: &FlowTotals, recorder: &mut Recorder) {
        let record = recorder.short_flows.get_mut(self.generator.records[f - self.generator.first]);
        (record.completed, record.closed) = (totals.completed, totals.closed);
        (record.retransmissions, record.timeouts) =
            (totals.counters.retransmissions as u32, totals.counters.timeouts as u32);
    }

    /// Counters of all short flows.
    pub fn short_flow_totals(&mut self, now: Time, boxes: &Boxes, recorder: &mut Recorder) -> FlowTotals {
        for flow in &self.list[..self.generator.first] {
            flow.note_messages(&mut recorder.short_flows);
        }
        let mut sum = self.generator.over;
        for f in self.generator.first..self.list.len() {
            if self.list[f].since != Time::NEVER {
                let totals = self.totals_of(f, now, boxes);
                self.note_transfer(f, &totals, recorder);
                sum.add(&totals);
            }
        }
        // No table lists the time of short flows by use.
        FlowTotals { uses_ns: Default::default(), ..sum }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Reason;
    use crate::run::End;
    use crate::scenario::{NoFiles, Scenario};
    use crate::sim::Sim;

    fn ran(text: &str) -> Sim {
        let scenario = Scenario::from_toml("test", text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
        let mut sim = Sim::new(&scenario.setup(None));
        assert_ne!(sim.run(), End::Limit);
        sim
    }

    /// Completion times in the order of the short flows [s].
    fn times(recorder: &Recorder) -> Vec<f64> {
        recorder.short_flows().numbers("completion_time_s").expect("a column")
    }

    /// Two nodes and a link of 10 Mbit/s with nearly no delay; the mean of the sizes in kB.
    fn wired_link(load: f64, distribution: &str, mean: u32, count: u32) -> String {
        // A mean short flow of 100 kB takes 80 ms and headers.
        let rate = load / (f64::from(mean) * 8e-4 * 1500.0 / 1460.0);
        format!(
            r#"
            run = {{ stop = "100000000 delivered", batches = 1, warmup_batches = 0 }}
            topology.kind = "none"
            topology.wired_nodes = 2
            wired = {{ rate = "10 Mbit/s", delay = "10 us", queue = {{ discipline = "droptail", limit = 100000 }} }}
            wired_link = [{{ src = 0, dst = 1 }}]
            tcp = {{ receive_window = 4, ack_policy = "every", rto = {{ initial = "60 s", min = "60 s" }} }}
            arrival_process = [{{ src = 0, dst = 1, rate = {rate}, count = {count}, size = {{ distribution = "{distribution}", mean = "{mean} kB" }} }}]
            "#
        )
    }

    #[test]
    fn ten_thousand_transfers_need_entries_for_those_under_way_only() {
        let sim = ran(&wired_link(0.5, "exponential", 20, 10_000));
        let records = sim.watch.recorder.short_flows.records();
        assert_eq!(records.len(), 10_000);
        assert!(records.iter().all(|r| r.completed.is_some()), "all are complete");
        assert_eq!(sim.flows.list.len(), sim.flows.generator.free.len(), "all entries are free");
        assert!(sim.flows.list.len() < 40, "{} entries", sim.flows.list.len());
        let bytes: u64 = records.iter().map(|r| u64::from(r.bytes)).sum();
        assert_eq!(sim.watch.recorder.batches().counts("bytes_delivered"), Some(&[bytes][..]));
        // The mean of 10,000 exponential sizes has the standard error 1 %.
        assert!((bytes as f64 / 2e8 - 1.0).abs() < 0.05, "{bytes} B");
    }

    /// Times that jobs take which come at these times and share a server equally: (when, work).
    fn processor_sharing(jobs: &[(f64, f64)]) -> Vec<f64> {
        let (mut now, mut next, mut took) = (0.0, 0, vec![0.0; jobs.len()]);
        let mut left: Vec<(usize, f64)> = vec![];
        while next < jobs.len() || !left.is_empty() {
            let least = left.iter().map(|l| l.1).fold(f64::INFINITY, f64::min);
            let end = if left.is_empty() { f64::INFINITY } else { now + least * left.len() as f64 };
            let arrival = jobs.get(next).map_or(f64::INFINITY, |j| j.0);
            let until = end.min(arrival);
            let share = if left.is_empty() { 0.0 } else { (until - now) / left.len() as f64 };
            left.iter_mut().for_each(|l| l.1 -= share);
            now = until;
            if arrival <= end {
                left.push((next, jobs[next].1));
                next += 1;
            } else {
                left.iter().filter(|l| l.1 < 1e-12).for_each(|l| took[l.0] = now - jobs[l.0].0);
                left.retain(|l| l.1 >= 1e-12);
            }
        }
        took
    }

    #[test]
    fn transfers_share_a_link_as_jobs_share_a_processor() {
        assert_eq!(processor_sharing(&[(1.0, 2.0), (2.0, 0.5), (9.0, 1.0)]), [2.5, 1.0, 1.0]);
        for (load, distribution) in [(0.3, "exponential"), (0.6, "exponential"), (0.6, "pareto"), (0.6, "fixed")] {
            let sim = ran(&wired_link(load, distribution, 100, 1500));
            // Each segment has 40 B of headers.
            let work = |bytes: u32| f64::from(bytes + 40 * bytes.div_ceil(1460)) * 8.0 / 1e7;
            let jobs: Vec<(f64, f64)> =
                sim.watch.recorder.short_flows.records().iter().map(|r| (r.start.as_secs(), work(r.bytes))).collect();
            let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
            let (found, expected) = (mean(&times(&sim.watch.recorder)), mean(&processor_sharing(&jobs)));
            // Windows of 4 segments share the link nearly segment by segment.
            assert!((found / expected - 1.0).abs() < 0.05, "{load}, {distribution}: {found} s instead of {expected} s");
        }
    }

    #[test]
    fn a_lone_transfer_takes_as_long_as_a_flow() {
        // As in tests/transfers.rs: 1 Mbit/s, 10 ms, a round of one segment, then two, of which the last is short.
        let text = r#"
            run = { stop = "10 s", batches = 1, warmup_batches = 0 }
            topology.kind = "none"
            topology.wired_nodes = 2
            wired = { rate = "1 Mbit/s", delay = "10 ms" }
            wired_link = [{ src = 0, dst = 1 }]
            tcp = { initial_window = 1, ack_policy = "every" }
            [[arrival_process]]
            dst = 1
            count = 1
            size = { distribution = "fixed", mean = "4 kB" }
        "#;
        let found = times(&ran(text).watch.recorder);
        // The rest of 1080 B waits until the segments before are acknowledged (`tcp.nagle`).
        assert!((found[0] - (0.02064 + 2.0 * 0.03232 + 0.00896 + 0.01)).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn late_segments_of_a_transfer_do_not_disturb_the_next() {
        // The retransmission timer is shorter than a round trip: copies are under way when all is acknowledged.
        let text = |rto: &str| {
            format!(
                r#"
                run = {{ stop = "60 s", batches = 1, warmup_batches = 0 }}
                topology.kind = "none"
                topology.wired_nodes = 3
                wired = {{ rate = "10 Mbit/s", delay = "50 ms" }}
                wired_link = [{{ src = 0, dst = 1 }}, {{ src = 1, dst = 2 }}]
                tcp = {{ receive_window = 8, ack_policy = "every", syn = false, rto = {{ initial = "{rto}", min = "{rto}" }} }}
                arrival_process = [{{ rate = 20.0, size = {{ mean = "3 kB" }} }}]
                "#
            )
        };
        let sim = ran(&text("60 ms"));
        let over = sim.pool.ledger().dropped_total(Reason::FlowOver);
        assert!(over > 100, "{over} packets came late");
        let (hasty, patient) = (sim.watch.recorder.short_flows.records().to_vec(), ran(&text("3 s")));
        assert_eq!(patient.pool.ledger().dropped_total(Reason::FlowOver), 0);
        // The same short flows come, whatever TCP does.
        let same = hasty.iter().zip(patient.watch.recorder.short_flows.records());
        assert!(same.clone().all(|(a, b)| (a.start, a.bytes, a.from, a.to) == (b.start, b.bytes, b.from, b.to)));
        assert!(hasty.len() > 1000 && hasty.iter().filter(|r| r.completed.is_none()).count() < 40);
        // All pairs of ends are drawn: 6 of them, each with the probability 1/6.
        for (from, to) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
            let share = hasty.iter().filter(|r| (r.from, r.to) == (from, to)).count() as f64 / hasty.len() as f64;
            assert!((share - 1.0 / 6.0).abs() < 5.0 * (5.0 / 36.0 / hasty.len() as f64).sqrt(), "{from} {to}: {share}");
        }
    }

    #[test]
    fn transfers_come_beside_flows_over_the_radio() {
        let text = |more: &str| {
            format!(
                "run = {{ stop = \"30 s\", batches = 3, warmup_batches = 0 }}\ntopology.hops = 2\n\
                 flow = [{{ src = 0, dst = 2, app = \"cbr\" }}]\n{more}"
            )
        };
        let sim = ran(&text("arrival_process = [{ rate = 2.0, size = { mean = \"10 kB\" } }]"));
        let batches = sim.watch.recorder.batches();
        let all: u64 = batches.counts("packets_delivered").expect("a column").iter().sum();
        let of_flow = sim.watch.recorder.flows().counts("packets_delivered").expect("a column")[0];
        let records = sim.watch.recorder.short_flows.records();
        let complete = records.iter().filter(|r| r.completed.is_some());
        let segments: u64 = complete.map(|r| u64::from(r.bytes.div_ceil(1460))).sum();
        assert!(segments > 200 && all >= of_flow + segments, "{all} packets, {of_flow} of the flow, {segments}");
        assert!(all <= of_flow + records.iter().map(|r| u64::from(r.bytes.div_ceil(1460))).sum::<u64>());
    }
}
