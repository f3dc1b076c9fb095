//! Captures of nodes, passed to a function during a run.

use chappe_core::sim::Sim;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::HashMap;

/// Bytes in memory that are worth a write.
const ENOUGH: usize = 1 << 20;

/// Destination of captures.
#[derive(Default)]
pub struct Captures {
    /// Function that takes the number of a node, a position in its file, and the bytes from there on. After an
    /// interrupt it is called again with the same position.
    write: Option<Py<PyAny>>,
    /// Bytes written so far, by node.
    written: HashMap<u32, u64>,
}

impl Captures {
    pub fn new(write: Option<Py<PyAny>>) -> Captures {
        Captures { write, written: HashMap::new() }
    }

    /// Returns true if captures are written.
    pub fn wanted(&self) -> bool {
        self.write.is_some()
    }

    /// Writes what is complete, once it is worth it, or all of it.
    pub fn take(&mut self, py: Python<'_>, sim: &mut Sim, all: bool) -> PyResult<()> {
        let (Some(write), Some(captures)) = (&self.write, sim.captures()) else { return Ok(()) };
        if !all && captures.output().map(|(_, bytes)| bytes.len()).sum::<usize>() < ENOUGH {
            return Ok(());
        }
        for (node, bytes) in captures.output() {
            let written = self.written.entry(node.0).or_default();
            write.call1(py, (node.0, *written, PyBytes::new(py, bytes)))?;
            *written += bytes.len() as u64;
            bytes.clear();
        }
        Ok(())
    }
}
