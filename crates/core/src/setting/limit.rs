//! What a value may be: the range that is declared with a setting.

use super::{Node, Report, Setting};
use crate::unit::Span;
use serde_json::{Value as Json, json};
use std::fmt::Display;
use std::ops::Bound;

/// The longest run, 100 days: all deadlines up to there can be told apart.
pub const LONGEST: Span = Span::secs(100 * 86_400);

/// The longest time of settings of which a run adds up or multiplies many: the sum stays far below the end of `Time`.
pub const HOUR: Span = Span::secs(3600);

/// What the value of a setting may be.
#[derive(Clone, Debug)]
pub struct Limit<T: 'static> {
    low: Bound<T>,
    high: Bound<T>,
    only: &'static [T],
}

/// This and more.
pub fn at_least<T>(low: T) -> Limit<T> {
    Limit { low: Bound::Included(low), high: Bound::Unbounded, only: &[] }
}

/// More than this.
pub fn above<T>(low: T) -> Limit<T> {
    Limit { low: Bound::Excluded(low), high: Bound::Unbounded, only: &[] }
}

/// This and less.
pub fn at_most<T>(high: T) -> Limit<T> {
    Limit { low: Bound::Unbounded, high: Bound::Included(high), only: &[] }
}

/// From here to there, both included.
pub fn range<T>(low: T, high: T) -> Limit<T> {
    at_least(low).at_most(high)
}

/// One of these.
pub fn one_of<T>(only: &'static [T]) -> Limit<T> {
    Limit { low: Bound::Unbounded, high: Bound::Unbounded, only }
}

impl<T> Limit<T> {
    /// And at most this.
    pub fn at_most(self, high: T) -> Limit<T> {
        Limit { high: Bound::Included(high), ..self }
    }

    /// And less than this.
    pub fn below(self, high: T) -> Limit<T> {
        Limit { high: Bound::Excluded(high), ..self }
    }
}

/// A setting that can have a limit: a number or a quantity, or "none" in its place.
pub trait Limited: Setting + Clone {
    /// What is compared.
    type Value: PartialOrd + Display + 'static;
    /// The value, if there is one.
    fn value(&self) -> Option<&Self::Value>;
}

impl<T: PartialOrd + Display> Limit<T> {
    fn allows(&self, value: &T) -> bool {
        let low = match &self.low {
            Bound::Included(low) => value >= low,
            Bound::Excluded(low) => value > low,
            Bound::Unbounded => true,
        };
        let high = match &self.high {
            Bound::Included(high) => value <= high,
            Bound::Excluded(high) => value < high,
            Bound::Unbounded => true,
        };
        low && high && (self.only.is_empty() || self.only.contains(value))
    }

    /// What a value must be: "at least 1", "from 1 to 3", "above 0 and at most 1", "1, 2 or 3".
    fn words(&self) -> String {
        if let Some((last, others)) = self.only.split_last() {
            let others: Vec<String> = others.iter().map(T::to_string).collect();
            return format!("{} or {last}", others.join(", "));
        }
        if let (Bound::Included(low), Bound::Included(high)) = (&self.low, &self.high) {
            return format!("from {low} to {high}");
        }
        let low = match &self.low {
            Bound::Included(low) => Some(format!("at least {low}")),
            Bound::Excluded(low) => Some(format!("above {low}")),
            Bound::Unbounded => None,
        };
        let high = match &self.high {
            Bound::Included(high) => Some(format!("at most {high}")),
            Bound::Excluded(high) => Some(format!("below {high}")),
            Bound::Unbounded => None,
        };
        [low, high].into_iter().flatten().collect::<Vec<_>>().join(" and ")
    }

    /// Adds the limit to the schema of a type: as numbers where numbers can be written, as words to the name of a
    /// quantity.
    fn describe(&self, schema: &mut Json) {
        if let Some(Json::Array(kinds)) = schema.get_mut("anyOf") {
            kinds.iter_mut().filter(|k| k.get("const").is_none()).for_each(|k| self.describe(k));
            return;
        }
        if let Some(Json::String(quantity)) = schema.get_mut("description") {
            *quantity = format!("{quantity}; {}", self.words());
        }
        let may_be =
            |kind: &str| schema["type"] == kind || schema["type"].as_array().is_some_and(|t| t.contains(&json!(kind)));
        if !(may_be("integer") || may_be("number")) {
            return;
        }
        let number = |value: &T| serde_json::from_str::<Json>(&value.to_string()).expect("a number");
        for (bound, included, excluded) in
            [(&self.low, "minimum", "exclusiveMinimum"), (&self.high, "maximum", "exclusiveMaximum")]
        {
            match bound {
                Bound::Included(value) => schema[included] = number(value),
                Bound::Excluded(value) => schema[excluded] = number(value),
                Bound::Unbounded => {}
            }
        }
    }
}

/// Takes over what is written at `path`, if the limit allows it; otherwise the value stays as it is.
pub fn apply_within<S: Limited>(
    setting: &mut S,
    limit: &Limit<S::Value>,
    node: &Node,
    path: &str,
    report: &mut Report,
) {
    let mut new = setting.clone();
    new.apply(node, path, report);
    match new.value() {
        Some(value) if !limit.allows(value) => {
            report.add(
                path,
                node.origin,
                format!("`{path}` is {value}"),
                Some(format!("it must be {}", limit.words())),
            );
        }
        _ => *setting = new,
    }
}

/// The schema of a setting that has a limit.
pub fn schema_within<S: Limited>(setting: &S, limit: &Limit<S::Value>) -> Json {
    let mut schema = setting.schema();
    limit.describe(&mut schema);
    schema
}
