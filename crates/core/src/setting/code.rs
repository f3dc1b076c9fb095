//! Kinds of warnings about scenarios.

use crate::keywords;

keywords! {
    /// Kind of a warning about a scenario.
    pub enum Code {
        /// A setting or a part of a file has no effect.
        UnusedSetting = "unused_setting",
        /// There are no flows.
        NoFlows = "no_flows",
        /// The window of a flow waits for a program that drives the run.
        NoDriver = "no_driver",
        /// A flow starts after the end of the run.
        LateFlow = "late_flow",
        /// A flow has no start, and no event starts it.
        UnstartedFlow = "unstarted_flow",
        /// An event comes after the end of the run.
        LateEvent = "late_event",
        /// The run ends by `run.time_limit` before `run.stop`.
        EarlyEnd = "early_end",
        /// Batches are too short for a measurement.
        ShortBatches = "short_batches",
        /// The run takes long.
        LongRun = "long_run",
        /// Nodes are at the same position.
        EqualPositions = "equal_positions",
        /// A node has neither a radio nor a wired link.
        UnwiredNode = "unwired_node",
        /// Radio links go one way, or are listed one way.
        OneWayLinks = "one_way_links",
        /// Links with lost frames and no signal lose hardly any without fading.
        LossesWithoutFading = "losses_without_fading",
        /// All links are equal by the metric of routes.
        EqualLinks = "equal_links",
        /// Nodes are so far apart that answers come late.
        LateAnswers = "late_answers",
        /// A flow needs more hops than its packets may make.
        TooManyHops = "too_many_hops",
        /// Packets are larger than the MTU.
        LargePackets = "large_packets",
        /// Nodes move, and routes do not change.
        StaticRoutes = "static_routes",
        /// A signal is noticed after more than a slot.
        LateCarrierSense = "late_carrier_sense",
        /// A frame at the rate of a link cannot be decoded.
        UndecodableRate = "undecodable_rate",
        /// Packets may bypass the node that splits their connection.
        BypassedSplit = "bypassed_split",
        /// Segments take less memory of a receiver than their payload.
        SmallMemory = "small_memory",
        /// Reads of an application are larger than the receive window.
        LargeReads = "large_reads",
        /// The receive window is smaller than the rate of a path times its delay.
        SmallWindow = "small_window",
    }
}
