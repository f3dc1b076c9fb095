//! Error rates of frames from a file.

use super::file_or_text::ERROR_RATES;
use super::source::Files;
use crate::radio::Reception;
use crate::radio::error_rate::ErrorRates;
use crate::scenario::build::layout;
use crate::scenario::schema::Config;
use crate::setting::{Node, Report, Scalar};

/// Reads the file of error rates into the scenario, which then no longer depends on it.
pub fn read_file(cfg: &mut Config, tree: &mut Node, from: &str, files: &dyn Files, report: &mut Report) {
    let sinr = &mut cfg.radio.sinr;
    if cfg.radio.reception != Reception::Sinr {
        return;
    }
    let Some(name) = sinr.error_rates_file.clone() else { return };
    let setting = ERROR_RATES.name(ERROR_RATES.file);
    if let Some(rates) = layout::read_file(tree, &setting, &name, from, files, report, ErrorRates::read_csv) {
        ERROR_RATES.put(tree, Node::from_json(&rates.written()));
        (sinr.error_rates_table, sinr.error_rates_file) = (rates, None);
    }
}
