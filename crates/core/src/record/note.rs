//! Notes of events on the air, in the queues, at the senders and in the routing tables. The engine writes them,
//! observers read them.

use crate::mobility::segment::MovementSegment;
use crate::net::routing::Router;
use crate::packet::{FlowId, NodeId, Packet, PacketPool, RadioId, Step};
use crate::radio::{Channel, Verdict};
use crate::record::loss::Cause;
use crate::tcp::Sender;
use crate::unit::Position;
use crate::wlan::Frame;
use crate::wlan::edca::{AccessCategory, Psdu};

/// Identifies the queue of a radio or of a point-to-point link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum QueueId {
    /// Queue in front of a radio; of this category in front of a QoS station.
    Radio(RadioId, Option<AccessCategory>),
    /// Queue in front of the transmitter of a point-to-point link.
    Link {
        /// Node that sends over the link.
        from: NodeId,
        /// Node at the other end of the link.
        to: NodeId,
    },
}

/// An event of a run.
#[derive(Clone, Copy, Debug)]
pub enum Note<'a> {
    /// A frame goes on the air.
    FrameBegins {
        /// Frame on the air.
        frame: &'a Frame,
        /// Size of the frame \[B\].
        bytes: u32,
        /// Packet in the frame, with its number where packets are numbered.
        packet: Option<(&'a Packet, Option<u64>)>,
        /// Contents of the frame of a QoS station.
        psdu: Option<&'a Psdu>,
        /// Pool with the lists and headers of packets.
        pool: &'a PacketPool,
    },
    /// A frame has ended at a radio that was locked on it.
    FrameHeard {
        /// Radio that receives the frame.
        radio: RadioId,
        /// Frame that has ended.
        frame: &'a Frame,
        /// Outcome of the frame at the radio.
        verdict: Verdict,
        /// For each entry of the contents of a QoS station's data frame, true if the radio has decoded its MPDU.
        arrived: &'a [bool],
    },
    /// The end of a frame has reached all receivers.
    FrameOver {
        /// Frame that has ended.
        frame: &'a Frame,
        /// Cause of the loss, if the frame was lost at its intended receiver.
        lost: Option<Cause>,
        /// Channel, which knows the receivers in range of each radio.
        channel: &'a Channel,
    },
    /// A short flow of a generator begins, before its first packet.
    ShortFlow {
        /// Number of the flow in its packets, which flows before may have had.
        flow: FlowId,
        /// Number of the generator.
        generator: u32,
        /// Source node.
        from: NodeId,
        /// Destination node.
        to: NodeId,
    },
    /// An event of a packet.
    Packet(&'a Step),
    /// The MAC, or the routing protocol after it, gives up a packet.
    GivenUp {
        /// Number of the packet, where packets are numbered.
        number: Option<u64>,
        /// Cause of the last failed attempt.
        cause: Cause,
    },
    /// A point-to-point link begins to transmit a packet.
    Departure {
        /// Node that sends over the link.
        from: NodeId,
        /// Node at the other end of the link.
        to: NodeId,
        /// Packet that departs.
        packet: &'a Packet,
        /// Number of the packet, where packets are numbered.
        number: Option<u64>,
        /// Pool with the lists and headers of packets.
        pool: &'a PacketPool,
    },
    /// A packet has arrived over a point-to-point link.
    Arrival {
        /// Node that sends over the link.
        from: NodeId,
        /// Node at the other end of the link.
        to: NodeId,
        /// Packet that has arrived.
        packet: &'a Packet,
        /// Number of the packet, where packets are numbered.
        number: Option<u64>,
        /// Pool with the lists and headers of packets.
        pool: &'a PacketPool,
    },
    /// A TCP sender was called.
    Sender {
        /// Number of the flow.
        flow: u32,
        /// Node of the sender.
        node: NodeId,
        /// State of the sender.
        sender: &'a Sender,
    },
    /// A queue may have changed.
    Queue {
        /// Identity of the queue.
        id: QueueId,
        /// Packets waiting in the queue.
        packets: u32,
        /// Bytes waiting in the queue.
        bytes: u64,
    },
    /// A router was called.
    Router {
        /// Node of the router.
        node: NodeId,
        /// State of the router.
        router: &'a Router,
    },
    /// Energy left in a battery: at each sample, and when the battery is empty.
    Battery {
        /// Node of the battery.
        node: NodeId,
        /// Energy left \[J\].
        left: f64,
    },
    /// A node begins a movement segment: at the beginning of the run, and where it turns, stops or begins to move.
    Movement {
        /// Node of the segment.
        node: NodeId,
        /// Straight path or rest that begins.
        segment: &'a MovementSegment,
        /// Destination of the segment.
        to: Position,
    },
    /// The run is over.
    End,
}

/// Subjects of notes; an observer gets only notes on the subjects that the observer reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Frames on the air.
    Frame,
    /// Packets, their journeys over point-to-point links, and the short flows to which they belong.
    Packet,
    /// TCP senders.
    Sender,
    /// Queues.
    Queue,
    /// Routers.
    Router,
    /// Batteries.
    Battery,
    /// Movements.
    Movement,
    /// The end of the run.
    End,
}

impl Subject {
    /// All subjects.
    pub const ALL: [Subject; 8] = [
        Subject::Frame,
        Subject::Packet,
        Subject::Sender,
        Subject::Queue,
        Subject::Router,
        Subject::Battery,
        Subject::Movement,
        Subject::End,
    ];
}

impl Note<'_> {
    /// Subject of the note.
    #[inline]
    pub fn subject(&self) -> Subject {
        match self {
            Note::FrameBegins { .. } | Note::FrameHeard { .. } | Note::FrameOver { .. } => Subject::Frame,
            Note::Packet(_)
            | Note::ShortFlow { .. }
            | Note::GivenUp { .. }
            | Note::Departure { .. }
            | Note::Arrival { .. } => Subject::Packet,
            Note::Sender { .. } => Subject::Sender,
            Note::Queue { .. } => Subject::Queue,
            Note::Router { .. } => Subject::Router,
            Note::Battery { .. } => Subject::Battery,
            Note::Movement { .. } => Subject::Movement,
            Note::End => Subject::End,
        }
    }
}
