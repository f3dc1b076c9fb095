//! Errors for people: every problem with its place, what was expected, and a way out.

use super::source::Sources;
use crate::setting::{Origin, Problem};
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use serde_json::{Value as Json, json};
use std::fmt;

/// Everything that is wrong with a scenario.
#[derive(Clone, Debug)]
pub struct Errors {
    /// The problems.
    pub problems: Vec<Problem>,
    /// The texts in which they stand.
    pub sources: Sources,
}

/// Line and column of a byte, from 1.
fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at.min(text.len())).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (line, column)
}

/// Whether the bytes of a place are within the text and between characters.
fn valid(text: &str, o: Origin) -> bool {
    o.start <= o.end && text.is_char_boundary(o.start) && text.is_char_boundary(o.end)
}

/// One list of problems as text, errors or warnings.
pub fn render(level: &Level<'static>, problems: &[Problem], sources: &Sources, colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let one = |p: &Problem| {
        let text = p.origin.and_then(|o| sources.texts.get(o.source).filter(|s| valid(&s.1, o)).map(|s| (o, s)));
        let mut group = match text {
            Some((o, (name, text))) => {
                let mark = AnnotationKind::Primary.span(o.start..o.end).label(p.path.as_str());
                let snippet = Snippet::source(text.as_str()).path(name.as_str()).annotation(mark);
                level.clone().primary_title(p.message.as_str()).element(snippet)
            }
            None => {
                let at = if p.path.is_empty() { "in the scenario".into() } else { format!("at `{}`", p.path) };
                level.clone().primary_title(p.message.as_str()).element(Level::NOTE.message(at))
            }
        };
        if let Some(help) = &p.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        renderer.render(&[group])
    };
    problems.iter().map(one).collect::<Vec<_>>().join("\n\n")
}

impl Errors {
    /// As text for a terminal.
    pub fn render(&self, colour: bool) -> String {
        render(&Level::ERROR, &self.problems, &self.sources, colour)
    }

    /// As data: path, message, help, and where it stands.
    pub fn to_json(&self) -> Json {
        problems_to_json(&self.problems, &self.sources)
    }
}

/// Problems as data.
pub fn problems_to_json(problems: &[Problem], sources: &Sources) -> Json {
    let one = |p: &Problem| {
        let place = p.origin.and_then(|o| {
            let (name, text) = sources.texts.get(o.source)?;
            let (line, column) = line_and_column(text, o.start);
            Some((name.clone(), line, column))
        });
        json!({
            "path": p.path,
            "message": p.message,
            "help": p.help,
            "file": place.as_ref().map(|x| x.0.clone()),
            "line": place.as_ref().map(|x| x.1),
            "column": place.as_ref().map(|x| x.2),
        })
    };
    Json::Array(problems.iter().map(one).collect())
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Errors {}
