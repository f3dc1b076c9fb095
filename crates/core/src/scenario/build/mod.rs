//! Building: the network and the events of a run from the settings of a scenario.

pub mod events;
pub mod layout;
pub mod mobility;
pub mod wired_links;
