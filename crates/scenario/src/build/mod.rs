//! Building: the setup of a run from the settings of a scenario.

pub mod events;
pub mod flows;
pub mod interfaces;
pub mod layout;
pub mod mobility;
pub mod setup;
pub mod wired_links;
