//! Counters of a run at one instant, and their differences.

use super::drops::Drops;
use super::loss::Losses;
use super::rates::Rates;
use super::uses::airtime::Budget;
use super::uses::flow::USES;
use super::uses::route::RouteCounters;
use crate::count::Field;
use crate::counters;
use crate::net::routing::gateways;
use crate::net::{middlebox, routing};
use crate::packet::{Kind, Ledgers};
use crate::tcp::{self, Sender};
use crate::unit::Time;
use crate::{radio, wlan};

counters! {
    /// Counters of the radios of a node.
    pub struct RadioTotals {
        /// RTS frames sent.
        rts_frames_sent,
        /// CTS frames sent.
        cts_frames_sent,
        /// Unicast data frames sent.
        data_frames_sent,
        /// ACK and block acknowledgement frames sent.
        ack_frames_sent,
        /// Broadcast frames sent.
        broadcast_frames_sent,
        /// RTS frames that no CTS answered.
        rts_frames_failed,
        /// Unicast data frames that no ACK or block acknowledgement answered.
        data_frames_failed,
        /// A-MPDUs sent, which are data frames, too.
        aggregates_sent,
        /// MPDUs sent in unicast data frames by QoS stations, retries included.
        mpdus_sent,
        /// MPDUs of these whose attempt has failed: no ACK came, or no block acknowledgement listed them.
        mpdus_failed,
        /// Block acknowledgement requests sent.
        block_ack_requests_sent,
        /// Action frames sent: requests for agreements of block acknowledgement, responses, and ends of agreements.
        action_frames_sent,
        /// CF-End frames sent.
        cf_ends_sent,
        /// RTS frames received and not answered because the medium or the NAV was busy.
        cts_suppressed,
        /// CTS frames that no data followed.
        cts_without_data,
        /// Data frames received a second time.
        mac_duplicates,
        /// Data packets (TCP data, UDP) handed to the MAC.
        mac_data_packets,
        /// TCP acknowledgements handed to the MAC.
        mac_tcp_acks,
        /// Other unicast packets handed to the MAC.
        mac_other_packets,
        /// Data packets that the MAC gave up.
        mac_data_given_up,
        /// TCP acknowledgements that the MAC gave up.
        mac_tcp_acks_given_up,
        /// Other unicast packets that the MAC gave up.
        mac_other_given_up,
        /// Packets given up after too many RTS frames, the others after too many data frames.
        given_up_after_rts,
        /// Later frames that were too weak to disturb the one being received.
        captures,
        /// Overlaps in which both frames were lost.
        collisions,
        /// Packets that queues, or what follows them before the MAC, marked with CE.
        ecn_marks,
        /// Nodes found to have come within reach of its frames, or to have left it, whenever it sent one.
        neighbor_changes,
    }
}

impl RadioTotals {
    /// Counters of a radio: of its station, its receiver, and the queues in front of it.
    pub fn new(
        mac: &wlan::dcf::Counters,
        qos: &wlan::edca::QosCounters,
        radio: &radio::Counters,
        ecn_marks: u64,
        neighbor_changes: u64,
    ) -> RadioTotals {
        let data = |a: &[u64; 4]| a[Kind::Data as usize];
        let ack = |a: &[u64; 4]| a[Kind::Ack as usize];
        let other = |a: &[u64; 4]| a[Kind::Routing as usize] + a[Kind::Arp as usize];
        let (rts, frames) = (&mac.gave_up_rts, &mac.gave_up_data);
        RadioTotals {
            rts_frames_sent: mac.rts_frames_sent,
            cts_frames_sent: mac.cts_frames_sent,
            data_frames_sent: mac.data_frames_sent,
            ack_frames_sent: mac.ack_frames_sent,
            broadcast_frames_sent: mac.broadcast_frames_sent,
            rts_frames_failed: mac.rts_frames_failed,
            data_frames_failed: mac.data_frames_failed,
            aggregates_sent: qos.aggregates_sent,
            mpdus_sent: qos.mpdus_sent,
            mpdus_failed: qos.mpdus_failed,
            block_ack_requests_sent: qos.block_ack_requests_sent,
            action_frames_sent: qos.action_frames_sent,
            cf_ends_sent: qos.cf_ends_sent,
            cts_suppressed: mac.cts_suppressed,
            cts_without_data: mac.cts_without_data,
            mac_duplicates: mac.duplicates,
            mac_data_packets: data(&mac.accepted),
            mac_tcp_acks: ack(&mac.accepted),
            mac_other_packets: other(&mac.accepted),
            mac_data_given_up: data(rts) + data(frames),
            mac_tcp_acks_given_up: ack(rts) + ack(frames),
            mac_other_given_up: other(rts) + other(frames),
            given_up_after_rts: rts.iter().sum(),
            captures: radio.captures,
            collisions: radio.collisions,
            ecn_marks,
            neighbor_changes,
        }
    }

    /// Frames put on the air.
    pub fn frames(&self) -> u64 {
        self.rts_frames_sent
            + self.cts_frames_sent
            + self.data_frames_sent
            + self.ack_frames_sent
            + self.broadcast_frames_sent
            + self.block_ack_requests_sent
            + self.action_frames_sent
            + self.cf_ends_sent
    }

    /// Unicast packets handed to the MAC.
    pub fn mac_packets(&self) -> u64 {
        self.mac_data_packets + self.mac_tcp_acks + self.mac_other_packets
    }

    /// Unicast packets that the MAC gave up.
    pub fn mac_given_up(&self) -> u64 {
        self.mac_data_given_up + self.mac_tcp_acks_given_up + self.mac_other_given_up
    }

    /// Packets given up, divided by those handed to the MAC. NaN if none was handed to it: a packet given up then had
    /// come before.
    pub fn link_drop_probability(&self) -> f64 {
        if self.mac_packets() == 0 { f64::NAN } else { self.mac_given_up() as f64 / self.mac_packets() as f64 }
    }
}

/// Counters of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NodeTotals {
    /// Counters of its radios, and of the queues in front of radios and links.
    pub radio: RadioTotals,
    /// Counters of its router.
    pub routing: routing::Counted,
}

impl NodeTotals {
    /// Every counter with its meaning.
    pub fn fields() -> impl Iterator<Item = &'static Field> {
        RadioTotals::FIELDS.iter().chain(&routing::COLUMNS)
    }

    /// All values, in the order of the fields.
    pub fn values(&self) -> impl Iterator<Item = u64> {
        self.radio.values().into_iter().chain(self.routing.values())
    }

    /// Differences from totals taken earlier.
    #[must_use]
    pub fn since(&self, earlier: &NodeTotals) -> NodeTotals {
        NodeTotals { radio: self.radio.since(&earlier.radio), routing: self.routing.since(&earlier.routing) }
    }

    /// Adds the counters of another.
    pub fn add(&mut self, other: &NodeTotals) {
        self.radio.add(&other.radio);
        self.routing.add(&other.routing);
    }
}

counters! {
    /// Counters of the middleboxes of a flow.
    pub struct LocalTotals {
        /// Segments that middleboxes sent again.
        local_retransmissions: tcp,
        /// Those of them that a timer caused.
        local_timeouts: tcp,
        /// Acknowledgements that middleboxes kept back.
        acks_suppressed: tcp,
        /// Acknowledgements that middleboxes gave a loss notification.
        eln_marks: tcp,
    }
}

impl LocalTotals {
    /// Sums the counters of middleboxes, and those of the sender of the second half of a split connection.
    pub fn new(boxes: &middlebox::Counters, second: Option<&Sender>) -> LocalTotals {
        LocalTotals {
            local_retransmissions: boxes.retransmissions + second.map_or(0, Sender::retransmissions),
            local_timeouts: boxes.timeouts + second.map_or(0, Sender::timeouts),
            acks_suppressed: boxes.acks_suppressed,
            eln_marks: boxes.eln_marks,
        }
    }
}

/// Counters of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowTotals {
    /// Bytes of data packets that arrived, headers and duplicates included.
    pub received_bytes: u64,
    /// Counters of both ends.
    pub counters: tcp::Counters,
    /// Sums of both ends.
    pub sums: tcp::Sums,
    /// Counters of middleboxes for the flow.
    pub local: LocalTotals,
    /// Integral of the window over the time for which the window was observed [segments ns].
    pub window_integral: f64,
    /// Time of a TCP flow by use \[ns\], in the order of [`USES`].
    pub uses_ns: [u64; USES.len()],
    /// Routes of its source.
    pub routes: RouteCounters,
    /// Time at which its connection, or the second half of it, was given up; a state, not a counter.
    pub gave_up: Option<Time>,
    /// Time of the flow's last start; a state, not a counter.
    pub began: Option<Time>,
    /// Time at which all data since that start were delivered, and no more were to come; a state, not a counter.
    pub completed: Option<Time>,
    /// Time at which the FIN of its connection was acknowledged; a state, not a counter.
    pub closed: Option<Time>,
}

impl FlowTotals {
    /// Differences from totals taken earlier.
    #[must_use]
    pub fn since(&self, e: &FlowTotals) -> FlowTotals {
        FlowTotals {
            received_bytes: self.received_bytes - e.received_bytes,
            counters: self.counters.since(&e.counters),
            sums: self.sums.since(&e.sums),
            local: self.local.since(&e.local),
            window_integral: self.window_integral - e.window_integral,
            uses_ns: std::array::from_fn(|i| self.uses_ns[i] - e.uses_ns[i]),
            routes: self.routes.since(&e.routes),
            gave_up: self.gave_up,
            began: self.began,
            completed: self.completed,
            closed: self.closed,
        }
    }

    /// Adds the counters of another flow.
    pub fn add(&mut self, o: &FlowTotals) {
        self.received_bytes += o.received_bytes;
        self.counters.add(&o.counters);
        self.sums.add(&o.sums);
        self.local.add(&o.local);
        self.window_integral += o.window_integral;
        self.routes.add(&o.routes);
        for (sum, own) in self.uses_ns.iter_mut().zip(o.uses_ns) {
            *sum += own;
        }
    }

    /// Time from the start to the delivery of all data \[s\]; NaN if this has not occurred.
    pub fn completion(&self) -> f64 {
        self.completed.zip(self.began).map_or(f64::NAN, |(end, start)| end.since(start).as_secs())
    }

    /// Time from the start to the acknowledgement of the FIN \[s\]; NaN if this has not occurred.
    pub fn closing(&self) -> f64 {
        // An application that begins again after the end of its connection sends nothing.
        let times = self.closed.zip(self.began).filter(|(end, start)| end >= start);
        times.map_or(f64::NAN, |(end, start)| end.since(start).as_secs())
    }

    /// Mean round-trip time \[s\]; NaN without measurements.
    pub fn mean_rtt(&self) -> f64 {
        self.sums.rtt_ns as f64 / self.sums.rtt_samples as f64 / 1e9
    }

    /// Mean one-way delay \[s\]; NaN without measurements.
    pub fn mean_delay(&self) -> f64 {
        self.sums.delay_ns as f64 / self.sums.delay_samples as f64 / 1e9
    }

    /// Mean one-way delay of all copies that arrived \[s\]; NaN if none did.
    pub fn mean_copy_delay(&self) -> f64 {
        self.sums.copies_delay_ns as f64 / self.counters.copies_received as f64 / 1e9
    }

    /// Mean number of hops of all copies that arrived; NaN if none did.
    pub fn mean_hops(&self) -> f64 {
        self.sums.copies_hops as f64 / self.counters.copies_received as f64
    }

    /// Time with a route per break \[s\]; NaN without breaks.
    pub fn mean_route_life(&self) -> f64 {
        let r = &self.routes;
        if r.route_breaks == 0 { f64::NAN } else { r.route_ns as f64 / 1e9 / r.route_breaks as f64 }
    }

    /// Time average of the window \[segments\]; NaN if it was not observed.
    pub fn mean_window(&self) -> f64 {
        self.window_integral / self.sums.window_ns as f64
    }
}

counters! {
    /// Counters of one direction of a point-to-point link.
    pub struct LinkTotals {
        /// Packets that arrived to be sent.
        packets_offered,
        /// Packets whose transmission has begun.
        packets_sent,
        /// Bytes of these packets.
        bytes_sent,
        /// Packets dropped because the queue was full.
        dropped_queue_full,
        /// Packets dropped by active queue management.
        dropped_aqm,
        /// Packets damaged by the error model, or lost because the link was down.
        dropped_link_error,
        /// Packets that the queue marked with CE.
        ecn_marks,
        /// Busy time of the transmitter \[ns\].
        busy_ns,
        /// Integral of the number of waiting packets over time [packets ns].
        queue_ns,
    }
}

impl LinkTotals {
    /// Share of this duration in which the transmitter was busy.
    pub fn utilization(&self, seconds: f64) -> f64 {
        self.busy_ns as f64 / 1e9 / seconds
    }

    /// Time average of the number of waiting packets.
    pub fn mean_queue(&self, seconds: f64) -> f64 {
        self.queue_ns as f64 / 1e9 / seconds
    }
}

/// Battery of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatteryTotals {
    /// Energy at the start \[J\]; infinite for an unlimited battery.
    pub capacity: f64,
    /// Energy left in the battery \[J\].
    pub left: f64,
    /// Instant at which the battery was empty; `NEVER` before.
    pub empty_at: Time,
    /// Last begin of a transmission of a packet by the node.
    pub last_sent: Time,
    /// Last reception of a packet addressed to the node.
    pub last_received: Time,
}

/// All counters at one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Totals {
    /// Instant of the counters.
    pub at: Time,
    /// Counters of each flow.
    pub flows: Vec<FlowTotals>,
    /// Sum over all short flows of flow generators.
    pub short_flows: FlowTotals,
    /// Counters of each node.
    pub nodes: Vec<NodeTotals>,
    /// Airtime of each radio; empty when airtime is not accounted.
    pub air: Vec<Budget>,
    /// Battery of each node with a radio; empty if no node has a battery.
    pub batteries: Vec<BatteryTotals>,
    /// Gateways of each flow; empty if they do not change during the run.
    pub gateways: Vec<Option<gateways::Use>>,
    /// Counters of each direction of a point-to-point link.
    pub links: Vec<LinkTotals>,
    /// Counters by rate; empty with fixed rates, and at borders of batches where they are no longer needed.
    pub rates: Rates,
    /// Packets created, delivered and dropped.
    pub ledgers: Ledgers,
    /// Packets that the MAC gave up and that were dropped for it, by cause.
    pub losses: Losses,
    /// Dropped packets of each flow.
    pub drops: Drops,
}

impl Totals {
    /// Sum of the counters of all nodes.
    pub fn network(&self) -> NodeTotals {
        let mut sum = NodeTotals::default();
        for n in &self.nodes {
            sum.add(n);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_drop_probability_is_nan_without_packets() {
        let mut t = RadioTotals { mac_data_given_up: 1, ..RadioTotals::default() };
        assert!(t.link_drop_probability().is_nan());
        t.mac_tcp_acks = 4;
        assert_eq!(t.link_drop_probability(), 0.25);
    }
}
