//! Tables: columns whose names end in their unit.

use crate::count::Field;
use serde_json::{Value as Json, json};

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// 64-bit floating-point numbers.
    Float(Vec<f64>),
    /// 64-bit counts.
    Int(Vec<u64>),
    /// Words or names.
    Text(Vec<String>),
    /// Truth values.
    Bool(Vec<bool>),
}

impl Column {
    /// Number of values, which is that of the table's rows.
    pub fn len(&self) -> usize {
        match self {
            Column::Float(v) => v.len(),
            Column::Int(v) => v.len(),
            Column::Text(v) => v.len(),
            Column::Bool(v) => v.len(),
        }
    }

    /// Returns true if there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A table of named columns.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Table {
    /// Name and values of each column.
    pub columns: Vec<(String, Column)>,
}

impl Table {
    /// Value of a column of counts that does not exist.
    pub const MISSING: u64 = u64::MAX;

    /// The table as a JSON object of columns; a number that is not finite, or a count that is missing, is null.
    pub fn to_json(&self) -> Json {
        let values = |column: &Column| match column {
            Column::Float(v) => json!(v),
            Column::Int(v) => json!(v.iter().map(|&x| (x != Table::MISSING).then_some(x)).collect::<Vec<_>>()),
            Column::Text(v) => json!(v),
            Column::Bool(v) => json!(v),
        };
        Json::Object(self.columns.iter().map(|(name, column)| (name.clone(), values(column))).collect())
    }

    /// Adds a column of numbers.
    pub fn float(&mut self, name: &str, values: impl IntoIterator<Item = f64>) -> &mut Table {
        self.columns.push((name.into(), Column::Float(values.into_iter().collect())));
        self
    }

    /// Adds a column of counts.
    pub fn int(&mut self, name: &str, values: impl IntoIterator<Item = u64>) -> &mut Table {
        self.columns.push((name.into(), Column::Int(values.into_iter().collect())));
        self
    }

    /// Adds a column for each counter; a row has the values of all.
    pub fn counters<'a>(
        &mut self,
        fields: impl IntoIterator<Item = &'a Field>,
        rows: impl Iterator<Item = impl IntoIterator<Item = u64>>,
    ) {
        let mut columns: Vec<(&str, Vec<u64>)> = fields.into_iter().map(|f| (f.0, Vec::new())).collect();
        for row in rows {
            columns.iter_mut().zip(row).for_each(|(column, value)| column.1.push(value));
        }
        self.columns.extend(columns.into_iter().map(|(name, values)| (name.into(), Column::Int(values))));
    }

    /// Adds a column of words.
    pub fn text(&mut self, name: &str, values: impl IntoIterator<Item = impl Into<String>>) -> &mut Table {
        self.columns.push((name.into(), Column::Text(values.into_iter().map(Into::into).collect())));
        self
    }

    /// Adds a column of truth values.
    pub fn bool(&mut self, name: &str, values: impl IntoIterator<Item = bool>) -> &mut Table {
        self.columns.push((name.into(), Column::Bool(values.into_iter().collect())));
        self
    }

    /// Column with this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|c| c.0 == name).map(|c| &c.1)
    }

    /// Numeric column with this name; converts counts to numbers, a missing one to NaN.
    pub fn numbers(&self, name: &str) -> Option<Vec<f64>> {
        match self.column(name)? {
            Column::Float(v) => Some(v.clone()),
            Column::Int(v) => Some(v.iter().map(|&x| if x == Table::MISSING { f64::NAN } else { x as f64 }).collect()),
            _ => None,
        }
    }

    /// Column of counts with this name.
    pub fn counts(&self, name: &str) -> Option<&[u64]> {
        match self.column(name)? {
            Column::Int(v) => Some(v),
            _ => None,
        }
    }

    /// Number of rows of every column.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |c| c.1.len())
    }
}
