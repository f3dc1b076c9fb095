//! Where time goes: airtime of nodes, time use and routes of flows.

pub mod airtime;
pub mod flow;
pub mod route;
