//! Commands to a run while it goes on: the events of a scenario at their times, and those of a program that drives it.

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
    /// The application of a flow begins to send: before its start, or once more after its end.
    FlowBegin(FlowId),
    /// The application of a flow ends.
    FlowEnd(FlowId),
    /// A node is put at a place, and stays there.
    NodePut(NodeId, Position),
    /// A node walks straight to a place from where it is, and stays there.
    NodeSend(NodeId, Position, Speed),
    /// A setting changes.
    Set(Change),
}

/// A setting that may change during a run, with its new value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// Time from one datagram of a flow to the next.
    Interval(FlowId, Span),
    /// Window that the receiver of a flow offers \[segments\].
    Window(FlowId, u32),
    /// Largest congestion window of a flow \[segments\].
    MaxCwnd(FlowId, u32),
    /// Rate of a direction of a link: its number, and whether it is the second one.
    LinkRate(u32, bool, BitRate),
    /// Propagation delay of a direction of a link.
    LinkDelay(u32, bool, Span),
    /// Error rate of a direction of a link.
    LinkErrorRate(u32, bool, f64),
    /// Error rate of all receivers.
    ReceiverErrorRate(f64),
}
