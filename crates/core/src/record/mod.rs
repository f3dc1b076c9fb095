//! Measurements: totals, batches, samples, and the tables that contain them.

pub mod air_time;
pub mod flow_time;
pub mod loss;
pub mod note;
pub mod observe;
pub mod rates;
pub mod recorder;
pub mod route_time;
pub mod table;
pub mod totals;
pub mod trace;
pub mod transfers;

pub use recorder::Recorder;
pub use table::{Column, Table};
