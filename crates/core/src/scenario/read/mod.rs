//! Reading: the texts of a scenario and of the files that it names.

pub mod error;
pub mod error_rates;
pub mod file_or_text;
pub mod source;
