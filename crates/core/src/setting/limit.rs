//! Limits: the valid range declared with a setting.

use super::absent;
use super::report::MUST;
use super::{Node, Report, Scalar, Setting, Value};
use crate::unit::{Bytes, Span};
use serde_json::Value as Json;
use std::fmt::Display;
use std::ops::Bound;

/// Longest run, 100 days: all deadlines in it can be told apart.
pub const LONGEST: Span = Span::secs(100 * 86_400);

/// Longest duration of settings that a run adds up or multiplies often: sums stay far below the end of `Time`.
pub const HOUR: Span = Span::secs(3600);

/// Largest IP packet (RFC 791, 3.1), and limit of all its parts.
pub const LARGEST_PACKET: Bytes = Bytes(65_535);

/// Valid range of a setting.
#[derive(Clone, Debug)]
pub struct Limit<T: 'static> {
    low: Bound<T>,
    high: Bound<T>,
    only: &'static [T],
}

/// At least `low`.
pub fn at_least<T>(low: T) -> Limit<T> {
    Limit { low: Bound::Included(low), high: Bound::Unbounded, only: &[] }
}

/// Above `low`.
pub fn above<T>(low: T) -> Limit<T> {
    Limit { low: Bound::Excluded(low), high: Bound::Unbounded, only: &[] }
}

/// At most `high`.
pub fn at_most<T>(high: T) -> Limit<T> {
    Limit { low: Bound::Unbounded, high: Bound::Included(high), only: &[] }
}

/// From `low` to `high`, both included.
pub fn range<T>(low: T, high: T) -> Limit<T> {
    at_least(low).at_most(high)
}

/// One of these values.
pub fn one_of<T>(only: &'static [T]) -> Limit<T> {
    Limit { low: Bound::Unbounded, high: Bound::Unbounded, only }
}

impl<T> Limit<T> {
    /// Adds an upper limit.
    pub fn at_most(self, high: T) -> Limit<T> {
        Limit { high: Bound::Included(high), ..self }
    }

    /// Adds an exclusive upper limit.
    pub fn below(self, high: T) -> Limit<T> {
        Limit { high: Bound::Excluded(high), ..self }
    }
}

/// A value that can have a limit: a number or a quantity.
pub trait Limited: Scalar + PartialOrd + Display {}

impl<T: Scalar + PartialOrd + Display> Limited for T {}

impl<T: PartialOrd + Display> Limit<T> {
    /// Returns true if the limit allows a value, and reports one that it does not allow; `or` adds a word that it does.
    pub(super) fn check(&self, value: &T, or: &str, node: &Node, path: &str, report: &mut Report) -> bool {
        let allows = self.allows(value);
        if !allows {
            let elsewhere = absent::number(path, &value.to_string()).map_or_else(String::new, |m| format!(": {m}"));
            report.add(path, node.origin, format!("`{path}` is {value}"), Some(self.must() + or + &elsewhere));
        }
        allows
    }

    /// Expectation of a value that cannot be read: the range if it has a lower end and the value is below 0, or both
    /// ends and the value fits nowhere.
    pub(super) fn narrowed(&self, expected: String, node: &Node) -> String {
        let is_below_0 = expected.starts_with(MUST) || matches!(node.value, Value::Int(i) if i < 0);
        let is_large = matches!(node.value, Value::Large(_)) && !matches!(self.high, Bound::Unbounded);
        if (is_below_0 || is_large) && !matches!(self.low, Bound::Unbounded) { self.must() } else { expected }
    }

    fn must(&self) -> String {
        format!("{MUST} {}", self.words())
    }

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

    /// Limit in words: "at least 1", "from 1 to 3", "above 0 and at most 1", "1, 2 or 3".
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

    /// Adds the limit to the schema of a type: as numbers for plain numbers, as words in the name of a quantity.
    pub(super) fn describe(&self, schema: &mut Json) {
        if let Some(Json::String(quantity)) = schema.get_mut("description") {
            *quantity = format!("{quantity}; {}", self.words());
        }
        if schema["type"] != "integer" && schema["type"] != "number" {
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

/// Applies the value written at `path` if the limit allows it; otherwise the setting stays as it is.
pub fn apply_within<T: Limited>(setting: &mut T, limit: &Limit<T>, node: &Node, path: &str, report: &mut Report) {
    match T::read(node) {
        Ok(value) => {
            if limit.check(&value, "", node, path, report) {
                *setting = value;
            }
        }
        Err(expected) => report.unreadable(path, node, limit.narrowed(expected, node)),
    }
}

/// Schema of a setting with a limit.
pub fn schema_within<T: Limited>(setting: &T, limit: &Limit<T>) -> Json {
    let mut schema = setting.schema();
    limit.describe(&mut schema);
    schema
}
