//! Tables recorded during a run: stored in memory, or passed to a sink chunk by chunk.

use crate::arrow::Rowset;
use chappe_core::run::RecordedTable;
use chappe_core::sim::Sim;
use pyo3::prelude::*;

/// Number of rows in a chunk.
const CHUNK: usize = 1 << 16;
/// Largest number of steps between two checks of the rows: each adds some rows.
pub const MOST_STEPS: u64 = 1 << 14;

/// Destination of the rows of a run.
#[derive(Default)]
pub struct Recorded {
    /// Function that takes the name of a table and some of its rows.
    sink: Option<Py<PyAny>>,
    kept: Vec<(RecordedTable, Py<Rowset>)>,
    memory: u64,
}

impl Recorded {
    pub fn new(sink: Option<Py<PyAny>>) -> Recorded {
        Recorded { sink, kept: Vec::new(), memory: 0 }
    }

    /// Takes rows out of the tables: full chunks, or all rows at the end of a run.
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

    /// Rows of a copy of the run, which stores further rows.
    pub fn copy(&self, py: Python<'_>) -> Recorded {
        Recorded { sink: None, kept: self.kept(py), memory: self.memory }
    }

    /// Memory of the stored rows \[B\].
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// Rows stored so far.
    pub fn kept(&self, py: Python<'_>) -> Vec<(RecordedTable, Py<Rowset>)> {
        self.kept.iter().map(|(table, rows)| (*table, rows.clone_ref(py))).collect()
    }

    /// Stored rows.
    pub fn into_kept(self) -> Vec<(RecordedTable, Py<Rowset>)> {
        self.kept
    }
}
