//! Notes of what happens on the air, in the queues, at the senders and in the routing tables. The corridor makes them,
//! observers read them.

use crate::motion::leg::Leg;
use crate::net::queue::Queue;
use crate::net::routing::Router;
use crate::packet::{NodeId, Packet, RadioId, Step};
use crate::radio::Verdict;
use crate::record::loss::Cause;
use crate::tcp::Sender;
use crate::unit::Position;
use crate::wlan::Frame;

/// Which queue it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum QueueId {
    /// In front of a radio.
    Radio(RadioId),
    /// In front of a wire.
    Wire {
        /// The node that sends.
        from: NodeId,
        /// The node that receives.
        to: NodeId,
    },
}

/// Something that has happened.
#[derive(Clone, Copy, Debug)]
pub enum Note<'a> {
    /// A frame goes on the air.
    FrameBegins {
        /// The frame.
        frame: &'a Frame,
        /// Its size \[B\].
        bytes: u32,
        /// The packet in it, with its number where packets are numbered.
        packet: Option<(&'a Packet, Option<u64>)>,
    },
    /// A frame has ended at a radio that was locked on it.
    FrameHeard {
        /// Where.
        radio: RadioId,
        /// The frame.
        frame: &'a Frame,
        /// What became of it there.
        verdict: Verdict,
    },
    /// All have heard the end of a frame.
    FrameOver {
        /// The frame.
        frame: &'a Frame,
        /// Why it was lost at the node that it was for, if it was lost there.
        lost: Option<Cause>,
    },
    /// Something has happened to a packet.
    Packet(&'a Step),
    /// The MAC, or the routing protocol after it, gives a packet up.
    GivenUp {
        /// The number of the packet.
        number: Option<u64>,
        /// What became of the last attempt.
        cause: Cause,
    },
    /// A packet has come over a wire.
    Arrival {
        /// From where.
        from: NodeId,
        /// Where.
        to: NodeId,
        /// The packet.
        packet: &'a Packet,
    },
    /// A TCP sender was called.
    Sender {
        /// Number of the flow.
        flow: u32,
        /// Where the sender is.
        node: NodeId,
        /// The sender.
        sender: &'a Sender,
    },
    /// A queue may have changed.
    Queue {
        /// Which one.
        id: QueueId,
        /// The queue.
        queue: &'a Queue,
        /// The bytes that wait in it.
        bytes: u64,
    },
    /// A router was called.
    Router {
        /// Whose.
        node: NodeId,
        /// The router.
        router: &'a Router,
    },
    /// The energy that is left in a battery: at each sample, and when it is empty.
    Battery {
        /// Whose.
        node: NodeId,
        /// What is left \[J\].
        left: f64,
    },
    /// A node begins a leg: at the beginning of the run, where it turns, stops or begins to move.
    Leg {
        /// Whose.
        node: NodeId,
        /// The leg.
        leg: &'a Leg,
        /// Where it leads.
        to: Position,
    },
    /// The run is over.
    End,
}
