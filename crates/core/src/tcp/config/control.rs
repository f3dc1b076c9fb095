//! Value of `tcp.congestion_control`: a rule of Chappe, or the name of a rule of the program that drives the run.

use crate::setting::{Node, Scalar, Value};
use crate::tcp::cc::Rule;
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// Form of the name of a rule in Python.
const NAME: &str = r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$";

/// Congestion control of a connection. As small as a pointer, because every connection has its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Control(Arc<Choice>);

#[derive(Debug, PartialEq, Eq)]
enum Choice {
    /// A rule of Chappe.
    Rule(Rule),
    /// A rule of the program, by its name.
    Program(Arc<str>),
}

impl Control {
    /// A rule of Chappe.
    pub fn of(rule: Rule) -> Control {
        Control(Arc::new(Choice::Rule(rule)))
    }

    /// The rule of Chappe; `External` for one of the program.
    pub fn rule(&self) -> Rule {
        match *self.0 {
            Choice::Rule(rule) => rule,
            Choice::Program(_) => Rule::External,
        }
    }

    /// Returns true if the program decides the window without a rule by whose name it is asked.
    pub fn is_nameless(&self) -> bool {
        matches!(*self.0, Choice::Rule(Rule::External))
    }

    /// Name of a rule of the program: a class in a module of Python, `module:Class`, or any such name that a program in
    /// Rust knows.
    pub fn name(&self) -> Option<&Arc<str>> {
        match &*self.0 {
            Choice::Rule(_) => None,
            Choice::Program(name) => Some(name),
        }
    }
}

/// Returns true for a dotted name.
fn is_dotted(name: &str) -> bool {
    let is_word = |word: &str| {
        let mut chars = word.chars();
        chars.next().is_some_and(|c| c.is_alphabetic() || c == '_') && chars.all(|c| c.is_alphanumeric() || c == '_')
    };
    name.split('.').all(is_word)
}

impl Scalar for Control {
    fn read(node: &Node) -> Result<Control, String> {
        if let Value::Text(text) = &node.value
            && let Some((module, class)) = text.split_once(':')
        {
            return if is_dotted(module) && is_dotted(class) {
                Ok(Control(Arc::new(Choice::Program(text.as_str().into()))))
            } else {
                Err("expected a module and a class of Python: \"module:Class\"".into())
            };
        }
        Rule::read(node).map(Control::of).map_err(|known| known + ", or \"module:Class\" for a rule in Python")
    }

    fn written(&self) -> Json {
        match &*self.0 {
            Choice::Rule(rule) => rule.written(),
            Choice::Program(name) => json!(**name),
        }
    }

    fn describe() -> Json {
        json!({ "anyOf": [Rule::describe(), { "type": "string", "pattern": NAME }] })
    }
}
