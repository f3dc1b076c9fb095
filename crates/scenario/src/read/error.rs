//! Error messages: every problem with its position, the expected form, and a suggested correction.

use super::source::Sources;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use chappe_core::setting::{Origin, Problem, printable, shortened};
use serde_json::{Value as Json, json};
use std::fmt;
use std::ops::Range;

/// Limit on shown problems. More than this many are one mistake made many times.
const SHOWN: usize = 20;
/// Length of the excerpt of a source text [B].
const READABLE: usize = 10_000;

/// All problems of a scenario.
#[derive(Clone, Debug)]
pub struct Errors {
    /// Problems, up to a thousand.
    pub problems: Vec<Problem>,
    /// Number of further problems.
    pub more: usize,
    /// Source texts of the scenario.
    pub sources: Sources,
}

/// Finds line and column of positions, both from 1. Visits each text once for positions in ascending order.
#[derive(Default)]
struct Lines {
    source: usize,
    at: usize,
    line: usize,
    column: usize,
}

impl Lines {
    /// Line and column of the start of a position, and the name of its text.
    fn find<'a>(&mut self, sources: &'a Sources, o: Origin) -> Option<(&'a str, usize, usize)> {
        let (name, text) = sources.texts.get(o.source)?;
        if !text.is_char_boundary(o.start) {
            return None;
        }
        if self.line == 0 || self.source != o.source || self.at > o.start {
            *self = Lines { source: o.source, at: 0, line: 1, column: 1 };
        }
        let between = &text[self.at..o.start];
        match between.rfind('\n') {
            Some(last) => {
                self.line += between.matches('\n').count();
                self.column = 1 + between[last + 1..].chars().count();
            }
            None => self.column += between.chars().count(),
        }
        self.at = o.start;
        Some((name, self.line, self.column))
    }
}

/// Lines that show a position, and its range in them; only the first line of a long range.
fn lines(text: &str, o: Origin) -> Option<(&str, Range<usize>)> {
    if o.start > o.end || !text.is_char_boundary(o.start) || !text.is_char_boundary(o.end) {
        return None;
    }
    let line_end = |at: usize| text[at..].find('\n').map_or(text.len(), |n| at + n);
    let begin = text[..o.start].rfind('\n').map_or(0, |n| n + 1);
    let end = if o.end - begin > READABLE { o.end.min(line_end(o.start)) } else { o.end };
    let shown = &text[begin..line_end(end)];
    (shown.len() <= READABLE).then_some((shown, o.start - begin..end - begin))
}

/// A source text with all terminal control characters replaced; positions of bytes stay.
fn legible(text: &str) -> String {
    let shown = |c| match c {
        '\u{80}'..='\u{9f}' | '\u{61c}' => '\u{bf}',
        '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    text.chars().map(shown).collect()
}

/// Renders errors or warnings as text; `more` is the number of problems that were not stored.
pub fn render(level: &Level<'static>, problems: &[Problem], more: usize, sources: &Sources, color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut lines_of_sources = Lines::default();
    let one = |p: &Problem| {
        let title = level.clone().primary_title(printable(&p.message).into_owned());
        let path = printable(&shortened(&p.path)).into_owned();
        let position = p.origin.and_then(|o| Some((o, lines_of_sources.find(sources, o)?)));
        let readable = position.and_then(|(o, line)| Some((line, lines(&sources.texts[o.source].1, o)?)));
        let mut group = match (readable, position) {
            (Some(((name, line, _), (text, span))), _) => {
                let mark = AnnotationKind::Primary.span(span).label(path);
                let snippet = Snippet::source(legible(text)).line_start(line).path(printable(name).into_owned());
                title.element(snippet.annotation(mark))
            }
            (None, position) => {
                let at = if p.path.is_empty() { "in the scenario".to_owned() } else { format!("at `{path}`") };
                let suffix = position.map(|(_, (name, line, column))| format!(", {}:{line}:{column}", printable(name)));
                title.element(Level::NOTE.message(at + &suffix.unwrap_or_default()))
            }
        };
        if let Some(help) = &p.help {
            group = group.element(Level::HELP.message(printable(help).into_owned()));
        }
        renderer.render(&[group])
    };
    let mut shown: Vec<String> = problems.iter().take(SHOWN).map(one).collect();
    let more = problems.len() - shown.len() + more;
    if more > 0 {
        shown.push(format!("... and {} more", grouped(more)));
    }
    shown.join("\n\n")
}

/// Formats a number with commas: 39,980.
fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let parts: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|c| std::str::from_utf8(c).expect("digits")).collect();
    parts.join(",")
}

impl Errors {
    /// Text for a terminal.
    pub fn render(&self, color: bool) -> String {
        render(&Level::ERROR, &self.problems, self.more, &self.sources, color)
    }

    /// JSON with path, message, help, and position of each problem.
    pub fn to_json(&self) -> Json {
        let mut lines_of_sources = Lines::default();
        let one = |p: &Problem| {
            let position = p.origin.and_then(|o| lines_of_sources.find(&self.sources, o));
            json!({
                "path": p.path,
                "message": printable(&p.message),
                "help": p.help.as_deref().map(printable),
                "file": position.map(|x| x.0),
                "line": position.map(|x| x.1),
                "column": position.map(|x| x.2),
            })
        };
        Json::Array(self.problems.iter().map(one).collect())
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Errors {}
