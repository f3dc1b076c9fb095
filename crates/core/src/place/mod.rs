//! Topologies.

pub mod topology;
