//! QUIC over the simulated network: clients and servers of the library quinn-proto at the nodes of external flows.
//!
//! A connection is a pair of flows with `app = "external"`, one in each direction. [`Driver`] runs both of its ends in
//! the time of the run: it hands them the datagrams that arrive, sends what they transmit, and calls them when their
//! timers expire, and at no other time, because results of the library depend on how often it is asked.
//!
//! ```
//! use chappe_core::sim::Sim;
//! use chappe_core::unit::Time;
//! use chappe_quic::{CongestionControl, Driver, Traffic, transport};
//! use chappe_scenario::{NoFiles, Scenario};
//!
//! let text = r#"
//!     run.stop = "3 s"
//!     topology.hops = 2
//!     flow = [{ src = 0, dst = 2, app = "external" }, { src = 2, dst = 0, app = "external" }]
//! "#;
//! let setup = Scenario::from_toml("quic.toml", text, &[], &NoFiles)?.setup(Some(1));
//! let (mut sim, mut driver) = (Sim::new(&setup), Driver::new(&setup));
//! let connection = driver.connect(&mut sim, 0, Traffic::Upload { streams: 1 }, || transport(CongestionControl::Cubic))?;
//! driver.until(&mut sim, Time::NEVER);
//! assert!(driver.report(connection).server.bytes_read > 100_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod application;
mod bbr;
mod crypto;
mod driver;
mod peer;
mod results;

pub use application::Traffic;
pub use chappe_scenario::schema::quic::CongestionControl;
pub use driver::{Driver, Refusal, Report};
pub use peer::End;
pub use quinn_proto;
pub use results::results;

use quinn_proto::TransportConfig;
use quinn_proto::congestion::{CubicConfig, NewRenoConfig};
use std::sync::Arc;

/// Library and version. A name such as CUBIC means something else in each library.
pub const STACK: &str = "quinn-proto 0.11.19";

/// The defaults of the library with one of its congestion controls.
///
/// Another one implements [`quinn_proto::congestion::Controller`] and its factory, which
/// [`TransportConfig::congestion_controller_factory`] takes.
pub fn transport(control: CongestionControl) -> TransportConfig {
    let mut transport = TransportConfig::default();
    match control {
        CongestionControl::Cubic => transport.congestion_controller_factory(Arc::new(CubicConfig::default())),
        CongestionControl::NewReno => transport.congestion_controller_factory(Arc::new(NewRenoConfig::default())),
        CongestionControl::Bbr => transport.congestion_controller_factory(Arc::new(bbr::Factory::default())),
    };
    transport
}
