//! QUIC over external flows. The simulator has none: the program `chappe-quic` reads these settings.

use chappe_core::setting::limit::{LONGEST, at_most, range};
use chappe_core::unit::{Bytes, Span};
use chappe_core::{keywords, settings};

keywords! {
    /// Congestion controls of QUIC, those of the library quinn-proto.
    pub enum CongestionControl {
        /// The library's CUBIC, without HyStart.
        Cubic = "cubic",
        /// The library's NewReno.
        NewReno = "newreno",
        /// The library's BBR, version 1 after Chromium.
        Bbr = "bbr",
    }
}

keywords! {
    /// Work of a client of QUIC.
    pub enum Traffic {
        /// Sends to the server without end.
        Upload = "upload",
        /// Asks the server for data without end.
        Download = "download",
        /// Asks the server for a response, and again after each.
        Requests = "requests",
    }
}

settings! {
    /// QUIC between the ends of two external flows, one in each direction.
    pub struct Config {
        /// Congestion control of both ends; "none": the flow is not QUIC, its driver makes the datagrams.
        pub congestion_control: Option<CongestionControl> | "none" = None,
        /// Work of the client, which is the source of the first of the two flows.
        pub traffic: Traffic = Traffic::Upload
            ; used when Config::is_on, else OFF,
        /// Number of streams.
        pub streams: u32 = 1 => range(1, 10_000)
            ; used when |c| c.is_on() && c.traffic != Traffic::Requests, else "each request has a stream of its own",
        /// Size of a response.
        pub response: Bytes = Bytes(20_000) => range(Bytes(1), Bytes(1_000_000_000))
            ; used when |c| c.is_on() && c.traffic == Traffic::Requests, else "`quic.traffic` is not `requests`",
        /// Time from the end of a response to the next request.
        pub think: Span = Span::ZERO => at_most(LONGEST)
            ; used when |c| c.is_on() && c.traffic == Traffic::Requests, else "`quic.traffic` is not `requests`",
    }
}

/// Reason why settings have no effect.
const OFF: &str = "`quic.congestion_control` is `none`";

impl Config {
    /// Returns true for a flow of QUIC.
    pub fn is_on(&self) -> bool {
        self.congestion_control.is_some()
    }
}
