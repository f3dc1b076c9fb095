//! Short record of each short flow of the flow generators, and of each response to a request.

use super::table::Table;
use crate::unit::Time;

/// Record of a short flow, or of a response to a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// Number of the flow generator; `None`: a response.
    pub origin: Option<u32>,
    /// Number of the flow of a response.
    pub flow: Option<u32>,
    /// Source node.
    pub from: u32,
    /// Destination node.
    pub to: u32,
    /// Size of the short flow \[B\].
    pub bytes: u32,
    /// Start of the short flow.
    pub start: Time,
    /// Time at which the last byte was delivered.
    pub completed: Option<Time>,
    /// Time at which its FIN was acknowledged.
    pub closed: Option<Time>,
    /// Number of segments sent again.
    pub retransmissions: u32,
    /// Number of expirations of the retransmission timer.
    pub timeouts: u32,
}

impl Record {
    /// A short flow that has just started.
    pub const NEW: Record = Record {
        origin: None,
        flow: None,
        from: 0,
        to: 0,
        bytes: 0,
        start: Time::ZERO,
        completed: None,
        closed: None,
        retransmissions: 0,
        timeouts: 0,
    };
}

/// All short flows in the order of their start.
#[derive(Clone, Debug, Default)]
pub struct ShortFlows(Vec<Record>);

impl ShortFlows {
    /// Starts a short flow and returns its number.
    pub fn begin(&mut self, record: Record) -> u32 {
        self.0.push(record);
        self.0.len() as u32 - 1
    }

    /// Short flow with this number.
    pub fn get_mut(&mut self, number: u32) -> &mut Record {
        &mut self.0[number as usize]
    }

    /// Records in the order of their start.
    pub fn records(&self) -> &[Record] {
        &self.0
    }

    /// Memory of the records with their rows in the table \[B\].
    pub fn memory(&self) -> usize {
        // Twelve columns: a Rust vector, a Python list, Python numbers, a data frame.
        self.0.capacity() * size_of::<Record>() + self.0.len() * 12 * 56
    }

    /// One row per short flow; `measured_from` is the begin of the measured part of the run.
    pub fn table(&self, measured_from: Time) -> Table {
        let all = &self.0;
        let mut t = Table::default();
        t.int("short_flow", 0..all.len() as u64);
        let number = |n: Option<u32>| n.map_or(Table::MISSING, u64::from);
        t.int("arrival_process", all.iter().map(|r| number(r.origin)));
        t.int("flow", all.iter().map(|r| number(r.flow)));
        t.int("src", all.iter().map(|r| u64::from(r.from)));
        t.int("dst", all.iter().map(|r| u64::from(r.to)));
        t.float("started_at_s", all.iter().map(|r| r.start.as_secs()));
        t.bool("measured", all.iter().map(|r| r.start >= measured_from));
        t.int("bytes", all.iter().map(|r| u64::from(r.bytes)));
        let took = |r: &Record, end: Option<Time>| end.map_or(f64::NAN, |end| end.since(r.start).as_secs());
        t.float("completion_time_s", all.iter().map(|r| took(r, r.completed)));
        t.float("close_time_s", all.iter().map(|r| took(r, r.closed)));
        t.int("retransmissions", all.iter().map(|r| u64::from(r.retransmissions)));
        t.int("timeouts", all.iter().map(|r| u64::from(r.timeouts)));
        t
    }
}
