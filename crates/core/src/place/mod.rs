//! Where the nodes are.

pub mod topology;
