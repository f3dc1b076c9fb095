//! Commands to a running simulation: scheduled events of a scenario, and calls of a program that drives it.

use crate::packet::{FlowId, NodeId, RadioId};
use crate::unit::{BitRate, Position, Span, Speed};

/// A command to a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command {
    /// A node is switched off.
    NodeDown(NodeId),
    /// A node is switched on.
    NodeUp(NodeId),
    /// A radio is switched off; its node stays on.
    RadioDown(RadioId),
    /// A radio is switched on.
    RadioUp(RadioId),
    /// A point-to-point link is cut, by its number.
    LinkDown(u32),
    /// A point-to-point link is joined again.
    LinkUp(u32),
    /// The application of a flow is started: before its start, or once more after its stop.
    FlowStart(FlowId),
    /// The application of a flow is stopped.
    FlowStop(FlowId),
    /// A node is placed at a position, and stays there.
    NodePut(NodeId, Position),
    /// A node walks straight from its position to another one, and stays there.
    NodeSend(NodeId, Position, Speed),
    /// Changes a setting during the run.
    Set(Change),
}

/// A setting that may change during a run, with its new value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// Interval between datagrams of a flow.
    Interval(FlowId, Span),
    /// Receive window of a flow \[segments\].
    Window(FlowId, u32),
    /// Upper limit of the congestion window of a flow \[segments\].
    MaxCwnd(FlowId, u32),
    /// Constant window of a flow \[segments\].
    FixedWindow(FlowId, u32),
    /// Rate at which the constant window of a flow sends; `None`: as soon as it allows.
    PacingRate(FlowId, Option<BitRate>),
    /// Segments of a flow that one delayed acknowledgement may cover.
    AckedSegments(FlowId, u32),
    /// S1, S2 or S3 of the ACK thinning of a flow, by its number 0, 1 or 2.
    ThinningStep(FlowId, usize, u32),
    /// Longest time that a thinned acknowledgement of a flow is held.
    ThinningTimeout(FlowId, Span),
    /// Limit of the queues in front of a radio \[packets\].
    QueueLimit(RadioId, u32),
    /// Limit of the queue in front of one direction of a link \[packets\].
    LinkQueueLimit(u32, bool, u32),
    /// Rate of one direction of a link: number of the link, and true for its second direction.
    LinkRate(u32, bool, BitRate),
    /// Propagation delay of one direction of a link.
    LinkDelay(u32, bool, Span),
    /// Error rate of one direction of a link.
    LinkErrorRate(u32, bool, f64),
    /// Error rate of all receivers.
    ReceiverErrorRate(f64),
}
