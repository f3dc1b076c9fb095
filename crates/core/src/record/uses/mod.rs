//! Uses of time: airtime of nodes, time use and route availability of flows.

pub mod airtime;
pub mod flow;
pub mod route;
