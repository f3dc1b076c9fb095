//! A flow: its application, the ends of its connection, and the progress of its data.

use super::transfer::{Message, Transfer};
use crate::app::Application;
use crate::app::sink::Sink;
use crate::packet::{FlowId, NodeId};
use crate::record::short_flows::ShortFlows;
use crate::record::uses::flow::FlowTime;
use crate::record::uses::route::RouteTime;
use crate::rng::{Purpose, Stream};
use crate::run::{FlowSetup, Transport};
use crate::tcp::{self, Receiver, Sender, Split};
use crate::unit::{Span, Time};

/// Node at which a connection is split, with the ends of both halves there.
#[derive(Clone, Debug)]
pub struct SplitAt {
    pub node: NodeId,
    pub halves: Split,
    /// Settings of the second half.
    pub tcp: Box<tcp::Config>,
}

/// The two ends of a TCP connection.
#[derive(Clone, Debug)]
pub struct TcpEnds {
    pub sender: Sender,
    pub receiver: Receiver,
}

/// The two ends of a flow.
#[derive(Clone, Debug)]
pub enum Ends {
    Tcp(Box<TcpEnds>),
    Udp {
        /// Number of datagrams sent by the application.
        sent: u64,
        sink: Box<Sink>,
    },
}

/// Numbers of the streams of second halves of split connections; those of short flows follow [`SHORT_FLOW`].
const SECOND_HALF: u64 = 1 << 32;
/// Numbers of the streams of short flows.
pub(super) const SHORT_FLOW: u64 = 2 << 32;

#[derive(Clone, Debug)]
pub struct Flow {
    pub from: NodeId,
    pub to: NodeId,
    /// Node at which packets of the flow leave the radio of the source.
    pub first_to: NodeId,
    pub ends: Ends,
    pub app: Application,
    /// Node that splits the connection, if any.
    pub split: Option<Box<SplitAt>>,
    pub transfer: Transfer,
    /// Start of this use of the entry: older packets belong to an earlier short flow with the same entry.
    pub since: Time,
    pub time: FlowTime,
    pub routes: RouteTime,
    /// Bytes of data packets that reached the destination, headers and duplicates included.
    pub received_bytes: u64,
    /// AODV takes a neighbor for lost when the MAC gives up data of this flow.
    pub breaks_links: bool,
    /// Differentiated services codepoint of its packets.
    pub dscp: u8,
}

impl Flow {
    pub fn new(setup: &FlowSetup, first_to: NodeId, seed: u64, index: usize) -> Flow {
        let mut split = None;
        let ends = match &setup.transport {
            Transport::Tcp(cfg) => {
                let id = FlowId(index as u32);
                let mut phase = Stream::new(seed, Purpose::ClockPhase, index as u64);
                let mut phase = |cfg: &tcp::Config| Span((phase.uniform() * cfg.rto.tick.0 as f64) as u64);
                let mut sender = Sender::at_node(cfg, phase(cfg), id);
                sender.draw_from(|| Stream::new(seed, Purpose::BandwidthProbes, index as u64));
                let mut last = cfg;
                if let Some(s) = &setup.split {
                    let mut halves = Split::new(cfg, &s.tcp, s.buffer, phase(&s.tcp), id);
                    halves.draw_from(|| Stream::new(seed, Purpose::BandwidthProbes, SECOND_HALF | index as u64));
                    split = Some(Box::new(SplitAt { node: s.node, halves, tcp: s.tcp.clone() }));
                    last = &s.tcp;
                }
                Ends::Tcp(Box::new(TcpEnds { sender, receiver: Receiver::new(last) }))
            }
            Transport::Udp => Ends::Udp { sent: 0, sink: Box::default() },
        };
        Flow {
            from: setup.from,
            to: setup.to,
            first_to,
            ends,
            app: setup.app.clone(),
            split,
            transfer: Transfer::new(setup.payload),
            since: Time::ZERO,
            time: FlowTime::default(),
            routes: RouteTime::default(),
            received_bytes: 0,
            breaks_links: setup.breaks_links,
            dscp: setup.dscp,
        }
    }

    /// Memory that TCP keeps for outstanding segments \[B\].
    pub fn memory_of_window(&self) -> usize {
        let split = self.split.as_ref().map_or(0, |s| s.halves.sender().memory());
        match &self.ends {
            Ends::Tcp(ends) => ends.sender.memory() + ends.receiver.memory() + split,
            Ends::Udp { .. } => 0,
        }
    }

    /// Number of packets that the application has written; `None` if unlimited.
    pub fn written(&self) -> Option<u64> {
        match &self.ends {
            Ends::Tcp(ends) => ends.sender.written().map(u64::from),
            Ends::Udp { sent, .. } => Some(*sent),
        }
    }

    fn delivered(&self) -> u64 {
        match &self.ends {
            Ends::Tcp(ends) => ends.receiver.counters().packets_delivered,
            Ends::Udp { sink, .. } => sink.counters().delivered,
        }
    }

    /// Returns true if all data that the flow will ever send have been delivered.
    fn is_complete(&self) -> bool {
        let delivered = self.delivered();
        self.app.is_over() && delivered > 0 && self.written() == Some(delivered)
    }

    /// Packets have been delivered.
    #[inline]
    pub fn on_delivery(&mut self, now: Time, records: &mut ShortFlows) {
        let delivered = self.delivered();
        self.transfer.delivered_at = now;
        if self.transfer.looks {
            self.pass(delivered, now, records);
        }
        if self.transfer.completed == Time::NEVER && self.is_complete() {
            self.transfer.completed = now;
            self.routes.end(now);
        }
    }

    /// Accounts for short segments and messages among the packets that have been delivered by now.
    #[cold]
    fn pass(&mut self, delivered: u64, now: Time, records: &mut ShortFlows) {
        let acknowledged = match &self.ends {
            Ends::Tcp(ends) => {
                let second = self.split.as_ref().map_or(u64::MAX, |s| s.halves.sender().connection().acknowledged());
                ends.sender.connection().acknowledged().min(second)
            }
            Ends::Udp { .. } => u64::MAX,
        };
        self.transfer.pass_short(delivered, acknowledged);
        while let Some(message) = self.transfer.next_message(delivered) {
            records.get_mut(message.record).completed = Some(now);
            self.note_message(&message, records);
        }
        self.transfer.looks =
            self.transfer.passed < self.transfer.short.len() || self.transfer.messages().next().is_some();
    }

    /// Counts retransmissions and timeouts in the records of messages that are under way.
    pub fn note_messages(&self, records: &mut ShortFlows) {
        self.transfer.messages().for_each(|message| self.note_message(message, records));
    }

    fn note_message(&self, message: &Message, records: &mut ShortFlows) {
        let Ends::Tcp(ends) = &self.ends else { return };
        let (record, before) = (records.get_mut(message.record), message.before);
        record.retransmissions = (ends.sender.retransmissions() - before.0) as u32;
        record.timeouts = (ends.sender.timeouts() - before.1) as u32;
    }

    /// The application has ended. With `takes_back`, TCP discards the data that it has not sent.
    pub fn on_end_of_application(&mut self, takes_back: bool, now: Time) {
        if let (Ends::Tcp(ends), true) = (&mut self.ends, takes_back) {
            ends.sender.close(now);
            self.transfer.on_closed(ends.sender.written().unwrap_or(0));
            self.time.on_event(now, ends.sender.phase());
        }
        if self.transfer.completed == Time::NEVER && self.is_complete() {
            self.transfer.completed = self.transfer.delivered_at;
            self.routes.end(now);
        }
    }
}
