//! Settings that are one word, number, text or list: reader, writer and description of each type.

use super::report::{ENTRY, MUST};
use super::{Listed, Node, Scalar, Value};
use crate::unit::{Meters, Position, Quantity};
use serde_json::{Value as Json, json};
use std::fmt::Display;

impl Scalar for bool {
    fn read(node: &Node) -> Result<bool, String> {
        match node.value {
            Value::Bool(b) => Ok(b),
            _ => Err("expected true or false".into()),
        }
    }
    fn written(&self) -> Json {
        json!(self)
    }
    fn describe() -> Json {
        json!({ "type": "boolean" })
    }
}

/// Largest integer in TOML.
const LARGEST: u64 = i64::MAX as u64;

macro_rules! whole_number {
    ($($t:ty),*) => { $(
        impl Scalar for $t {
            fn read(node: &Node) -> Result<$t, String> {
                let range = || format!("expected a whole number from 0 to {}", LARGEST.min(<$t>::MAX.into()));
                match node.value {
                    Value::Int(i) => <$t>::try_from(i).map_err(|_| range()),
                    Value::Float(f) if f.fract() == 0.0 && f >= 0.0 && f < LARGEST as f64 && f <= <$t>::MAX as f64 => Ok(f as $t),
                    Value::Float(f) if f.fract() == 0.0 => Err(range()),
                    Value::Large(_) => Err(range()),
                    _ => Err("expected a whole number".into()),
                }
            }
            fn written(&self) -> Json {
                json!(self)
            }
            fn describe() -> Json {
                json!({ "type": "integer", "minimum": 0, "maximum": LARGEST.min(<$t>::MAX.into()) })
            }
        }

        impl Listed for $t {
            fn example() -> Json {
                json!(1)
            }
        }
    )* };
}
whole_number!(u8, u16, u32, u64);

impl Scalar for f64 {
    fn read(node: &Node) -> Result<f64, String> {
        match node.value {
            Value::Int(i) => Ok(i as f64),
            Value::Large(ref digits) => {
                digits.parse().ok().filter(|f: &f64| f.is_finite()).ok_or("expected a finite number".into())
            }
            Value::Float(f) if f.is_finite() => Ok(f),
            Value::Float(_) => Err("expected a finite number".into()),
            _ => Err("expected a number".into()),
        }
    }
    fn written(&self) -> Json {
        json!(self)
    }
    fn describe() -> Json {
        json!({ "type": "number" })
    }
}

impl Scalar for String {
    fn read(node: &Node) -> Result<String, String> {
        match &node.value {
            Value::Text(t) => Ok(t.clone()),
            _ => Err("expected text".into()),
        }
    }
    fn written(&self) -> Json {
        json!(self)
    }
    fn describe() -> Json {
        json!({ "type": "string" })
    }
}

impl<Q: Quantity + Display + Clone> Scalar for Q {
    fn read(node: &Node) -> Result<Q, String> {
        let expected = || format!("expected {}", Q::EXPECTED);
        match &node.value {
            Value::Text(t) => Q::parse(t).ok_or_else(|| match Q::raised(t) {
                Some(above) => format!("{MUST} {above}"),
                None => Q::meant(t).map_or_else(expected, |m| format!("did you mean \"{m}\"? {}", expected())),
            }),
            Value::Int(i) => Err(Q::without_unit(*i as f64)),
            Value::Large(digits) => Err(digits.parse().map_or_else(|_| expected(), Q::without_unit)),
            Value::Float(f) if f.is_finite() => Err(Q::without_unit(*f)),
            _ => Err(expected()),
        }
    }
    fn written(&self) -> Json {
        json!(self.to_string())
    }
    fn describe() -> Json {
        json!({ "type": "string", "description": Q::EXPECTED })
    }
}

impl<Q: Quantity + Display + Clone> Listed for Q {
    fn example() -> Json {
        // The first text in quotes.
        json!(Q::EXPECTED.split('"').nth(1))
    }
}

impl Scalar for Position {
    fn read(node: &Node) -> Result<Position, String> {
        let expected = || "expected two lengths such as [\"200 m\", \"0 m\"]".to_owned();
        match &node.value {
            Value::List(l) => match l.as_slice() {
                [x, y] => Ok(Position { x: Meters::read(x)?.0, y: Meters::read(y)?.0 }),
                _ => Err(expected()),
            },
            _ => Err(expected()),
        }
    }
    fn written(&self) -> Json {
        json!([Meters(self.x).to_string(), Meters(self.y).to_string()])
    }
    fn describe() -> Json {
        json!({ "type": "array", "items": Meters::describe(), "minItems": 2, "maxItems": 2 })
    }
}

impl Listed for Position {
    fn example() -> Json {
        Position { x: 200.0, y: 0.0 }.written()
    }
}

/// Largest number of wrong entries of a list that a message names.
const ENTRIES: usize = 3;

impl<T: Listed> Scalar for Vec<T> {
    fn read(node: &Node) -> Result<Vec<T>, String> {
        match &node.value {
            Value::List(l) => {
                let (mut read, mut wrong) = (Vec::new(), Vec::new());
                for (i, n) in l.iter().enumerate() {
                    match T::read(n) {
                        Ok(value) => read.push(value),
                        Err(e) => wrong.push(format!("{ENTRY} {i} is {}: {e}", n.text())),
                    }
                }
                let more = wrong.len().saturating_sub(ENTRIES);
                wrong.truncate(ENTRIES);
                match (wrong.is_empty(), more) {
                    (true, _) => Ok(read),
                    (false, 0) => Err(wrong.join("; ")),
                    (false, more) => Err(format!("{}; and {more} more", wrong.join("; "))),
                }
            }
            _ => {
                let entry = T::read(node).map_or_else(|_| T::example(), |alone| alone.written());
                Err(format!("expected a list, such as [{}]", entry.to_string().replace(',', ", ")))
            }
        }
    }
    fn written(&self) -> Json {
        Json::Array(self.iter().map(Scalar::written).collect())
    }
    fn describe() -> Json {
        json!({ "type": "array", "items": T::describe() })
    }
}
