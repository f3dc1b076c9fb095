//! Problems of a scenario, and the wording of messages.

use super::absent;
use super::code::Code;
use super::tree::{Node, Origin, Table, Value};
use std::borrow::Cow;

/// One problem of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Kind of a warning; `None` for an error.
    pub code: Option<Code>,
    /// Dotted name of the setting, e.g. `tcp.vegas.alpha`; empty if there is none.
    pub path: String,
    /// Position in the source text.
    pub origin: Option<Origin>,
    /// Description of the problem.
    pub message: String,
    /// Correction that the message suggests.
    pub help: Option<String>,
}

/// Limit on stored problems. More than this many are one mistake made many times.
const KEPT: usize = 1000;

/// First word of an expectation that names one entry of a list.
pub(super) const ENTRY: &str = "entry";

/// First words of an expectation that gives the valid range.
pub(super) const MUST: &str = "it must be";

/// Largest number of suggested settings.
const MEANT: usize = 3;

/// All problems found so far.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Problems in the order in which they were found; those after the first thousand are only counted.
    pub problems: Vec<Problem>,
    /// Number of problems that were only counted.
    pub more: usize,
    /// Finds the dotted names of settings by their last word.
    pub named: Option<fn(&str) -> Vec<String>>,
}

impl Report {
    /// Adds a problem at a path and a position.
    pub fn add(&mut self, path: &str, origin: Option<Origin>, message: impl Into<String>, help: Option<String>) {
        self.push(Problem { code: None, path: path.into(), origin, message: message.into(), help });
    }

    /// Adds a warning at a path and a position.
    pub fn warn(&mut self, code: Code, path: &str, origin: Option<Origin>, message: String, help: Option<String>) {
        self.push(Problem { code: Some(code), path: path.into(), origin, message, help });
    }

    /// Adds a problem, or counts it beyond the limit.
    pub fn push(&mut self, problem: Problem) {
        if self.is_full() {
            self.more += 1;
        } else {
            self.problems.push(problem);
        }
    }

    /// Adds a value that cannot be read, and the expected values.
    pub fn unreadable(&mut self, path: &str, node: &Node, expected: String) {
        let message = if expected.starts_with(ENTRY) {
            format!("`{path}` has an entry that cannot be read")
        } else {
            format!("`{path}` cannot be {}", node.text())
        };
        self.add(path, node.origin, message, Some(expected));
    }

    /// Adds the problems of another report.
    pub fn append(&mut self, other: Report) {
        other.problems.into_iter().for_each(|p| self.push(p));
        self.more += other.more;
    }

    /// Returns true if further problems are only counted.
    fn is_full(&self) -> bool {
        self.problems.len() >= KEPT
    }

    /// The node as a table with only these keys; reports all other keys.
    pub fn table<'a>(&mut self, node: &'a Node, path: &str, keys: &[&str]) -> Option<&'a Table> {
        let Value::Table(table) = &node.value else {
            let message = format!("{} must be a table, not {}", name_of(path), node.text());
            self.add(path, node.origin, message, Some(format!("its settings are: {}", keys.join(", "))));
            return None;
        };
        for (key, at, _) in table.entries() {
            if keys.contains(&key.as_str()) {
                continue;
            }
            if self.is_full() {
                self.more += 1;
            } else {
                let help = self.meant(key, path, keys);
                let place = if path.is_empty() { "a scenario".to_owned() } else { format!("`{path}`") };
                self.add(&join(path, key), *at, format!("{place} has no setting `{}`", shortened(key)), Some(help));
            }
        }
        Some(table)
    }

    /// Suggestion for a setting that the group at `path` does not have.
    fn meant(&self, key: &str, path: &str, keys: &[&str]) -> String {
        let mean = |names: &[String]| format!("did you mean {}?", names.join(" or "));
        let quoted = |name: &str| format!("`{name}`");
        let is_part = |k: &&&str| k.split('_').any(|word| word.eq_ignore_ascii_case(key));
        let parts: Vec<String> = keys.iter().filter(is_part).map(|k| quoted(&join(path, k))).take(MEANT).collect();
        let near = suggest(key, keys);
        let typo = |k: &&str| strsim::damerau_levenshtein(&key.to_lowercase(), k) <= 1;
        if let Some(said) = absent::absent(key, keys) {
            return said;
        } else if !parts.is_empty() {
            return mean(&parts);
        } else if let (Some(near), true) = (&near, keys.iter().any(typo)) {
            return near.clone();
        }
        // A name of other programs is hardly one of a flow here: a `duration` is `run.stop`, not that of a flow.
        let foreign = absent::setting(key);
        let same = self.named.map_or_else(Vec::new, |f| f(key));
        let of_flows = |n: &str| n.contains(".N.") || n.starts_with("traffic.");
        let same = same.iter().map(String::as_str).filter(|n| foreign.is_none_or(|f| f != *n && !of_flows(n)));
        let elsewhere: Vec<String> = foreign.into_iter().chain(same).map(quoted).collect();
        if (1..=MEANT).contains(&elsewhere.len()) {
            return mean(&elsewhere);
        }
        foreign
            .map(|name| mean(&[quoted(name)]))
            .or(near)
            .unwrap_or_else(|| format!("known settings: {}", keys.join(", ")))
    }
}

/// Escapes characters that a terminal would obey or hide as `\u{1b}`: control characters, line breaks, marks of the
/// writing direction, characters without width.
pub fn printable(text: &str) -> Cow<'_, str> {
    let obeyed = |c: char| {
        c.is_control()
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
            || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    };
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| if obeyed(c) { c.escape_unicode().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(shown).collect())
}

/// A count with its noun: `1 node`, `2 nodes`, `2 batches`, `2 entries`.
pub fn count(n: impl Into<u64>, thing: &str) -> String {
    let n = n.into();
    match thing.strip_suffix('y') {
        _ if n == 1 => format!("1 {thing}"),
        Some(stem) => format!("{n} {stem}ies"),
        None if thing.ends_with("ch") => format!("{n} {thing}es"),
        None => format!("{n} {thing}s"),
    }
}

/// `is` or `are`, to agree with a count.
pub fn is_or_are(n: impl Into<u64>) -> &'static str {
    if n.into() == 1 { "is" } else { "are" }
}

/// Name in messages of the setting at this path.
fn name_of(path: &str) -> String {
    if path.is_empty() { "a scenario".into() } else { format!("`{path}`") }
}

/// Joins `a.b` and `c` to `a.b.c`.
pub fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.into() } else { [path, ".", key].concat() }
}

/// Longest word that messages show in full.
const LONG: usize = 80;

/// A text, cut if it is too long for a message.
pub fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONG) {
        Some((end, _)) => format!("{}...", &text[..end]).into(),
        None => text.into(),
    }
}

/// A hint, followed by the known words.
pub fn and_known(hint: &str, known: &str) -> String {
    let gap = if hint.ends_with('?') { "" } else { ";" };
    format!("{hint}{gap} {known}")
}

/// Suggestion "did you mean ...?" if a known word is similar, or a message that the part is not modeled.
pub fn suggest(written: &str, known: &[&str]) -> Option<String> {
    if written.len() > LONG {
        return None;
    }
    if let Some(said) = absent::absent(written, known) {
        return Some(said);
    }
    let distance = |k: &&&str| strsim::damerau_levenshtein(&written.to_lowercase(), &k.to_lowercase());
    let best = known.iter().min_by_key(|k| distance(k))?;
    (distance(&best) <= 1 + written.chars().count() / 3).then(|| format!("did you mean `{best}`?"))
}
