//! Reading: the texts of a scenario, and the files that it names.

pub mod error;
pub mod file_or_text;
pub mod files;
pub mod names;
pub mod source;
pub mod unreadable;
