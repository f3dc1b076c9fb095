//! Tables that are written while a run goes on: kept in memory, or handed on chunk by chunk.

use crate::arrow::Rowset;
use chappe_core::run::RecordedTable;
use chappe_core::sim::Sim;
use pyo3::prelude::*;

/// Rows that are handed on together.
const CHUNK: usize = 1 << 16;
/// Slots that come due between two looks at the rows, at most: some rows come with each.
pub const MOST_SLOTS: u64 = 1 << 14;

/// Where the rows of a run go.
#[derive(Default)]
pub struct Recorded {
    /// Takes the name of a table and some of its rows.
    sink: Option<Py<PyAny>>,
    kept: Vec<(RecordedTable, Py<Rowset>)>,
    memory: u64,
}

impl Recorded {
    pub fn new(sink: Option<Py<PyAny>>) -> Recorded {
        Recorded { sink, kept: Vec::new(), memory: 0 }
    }

    /// Takes rows out of the tables: those of full chunks, or all at the end of a run.
    pub fn take(&mut self, py: Python<'_>, sim: &mut Sim, all: bool) -> PyResult<()> {
        for (table, rows) in sim.tables() {
            if rows.len() < CHUNK && !all {
                continue;
            }
            let chunk = Rowset::of(rows)?;
            rows.clear();
            match &self.sink {
                Some(sink) => drop(sink.call1(py, (table.word(), chunk))?),
                None => {
                    self.memory += chunk.memory();
                    self.kept.push((table, Py::new(py, chunk)?));
                }
            }
        }
        Ok(())
    }

    /// Memory of what is kept \[B\].
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// What was kept so far.
    pub fn kept(&self, py: Python<'_>) -> Vec<(RecordedTable, Py<Rowset>)> {
        self.kept.iter().map(|(table, rows)| (*table, rows.clone_ref(py))).collect()
    }

    /// What was kept.
    pub fn into_kept(self) -> Vec<(RecordedTable, Py<Rowset>)> {
        self.kept
    }
}
