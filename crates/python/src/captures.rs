//! Captures of nodes, passed to a function during a run.

use chappe_core::sim::Sim;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Bytes in memory that are worth a write.
const ENOUGH: usize = 1 << 20;

/// Destination of captures.
#[derive(Default)]
pub struct Captures {
    /// Function that takes the number of a node and the next bytes of its file.
    write: Option<Py<PyAny>>,
}

impl Captures {
    pub fn new(write: Option<Py<PyAny>>) -> Captures {
        Captures { write }
    }

    /// Tells if captures are written.
    pub fn wanted(&self) -> bool {
        self.write.is_some()
    }

    /// Writes what is complete, once it is worth it, or all of it.
    pub fn take(&self, py: Python<'_>, sim: &mut Sim, all: bool) -> PyResult<()> {
        let (Some(write), Some(captures)) = (&self.write, sim.captures()) else { return Ok(()) };
        if !all && captures.output().map(|(_, bytes)| bytes.len()).sum::<usize>() < ENOUGH {
            return Ok(());
        }
        for (node, bytes) in captures.output() {
            write.call1(py, (node.0, PyBytes::new(py, bytes)))?;
            bytes.clear();
        }
        Ok(())
    }
}
