//! Parts of a text that cannot be read, from which other mistakes follow.

use super::source::within;
use chappe_core::setting::{Origin, Problem, Report};

/// Parts of the text that are not valid TOML: sources and places.
pub struct Unreadable(Vec<(usize, usize)>);

impl Unreadable {
    /// The unreadable parts that were reported.
    pub fn of(report: &Report) -> Unreadable {
        let of_text = report.problems.iter().filter(|p| p.path.is_empty());
        Unreadable(of_text.filter_map(|p| p.origin).map(|o| (o.source, o.start)).collect())
    }

    /// Adds the problems found by a check of the settings, unless they follow from reported ones.
    pub fn add_findings(&self, report: &mut Report, found: Report) {
        // A default in place of an unreadable value needs no second message.
        let already_reported = |p: &Problem, report: &Report| {
            let related = |q: &Problem| !q.path.is_empty() && (within(&p.path, &q.path) || within(&q.path, &p.path));
            report.problems.iter().any(related)
        };
        for p in found.problems {
            // A missing value may be in a part that could not be read.
            let missing = p.origin.is_none() && !self.0.is_empty();
            if !missing && !already_reported(&p, report) && !report.problems.contains(&p) {
                report.push(p);
            }
        }
        report.more += found.more;
        // A cut-off text touches an unreadable part, so its value is not the intended value.
        let touched =
            |o: Origin| self.0.iter().any(|(source, at)| o.source == *source && (o.start..=o.end).contains(at));
        report.problems.retain(|p| p.path.is_empty() || !p.origin.is_some_and(touched));
        // In reading order; problems without a position come last.
        report.problems.sort_by_key(|p| p.origin.map_or((usize::MAX, 0), |o| (o.source, o.start)));
    }
}
