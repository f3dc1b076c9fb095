//! Measurements: totals, batches, samples, and the tables that contain them.

pub mod capture;
pub mod drops;
pub mod look;
pub mod loss;
pub mod note;
pub mod observe;
pub mod rates;
pub mod recorder;
pub mod short_flows;
pub mod table;
pub mod totals;
pub mod trace;
pub mod uses;

pub use recorder::Recorder;
pub use table::{Column, Table};
