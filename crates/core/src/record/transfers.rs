//! What is kept of each transfer that has come: a small record.

use super::table::Table;
use crate::unit::Time;

/// A transfer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// Number of the arrivals that it belongs to.
    pub origin: u32,
    /// Source.
    pub from: u32,
    /// Destination.
    pub to: u32,
    /// Size \[B\].
    pub bytes: u32,
    /// When it began.
    pub start: Time,
    /// When its last byte was delivered.
    pub completed: Option<Time>,
    /// Segments sent that had been sent before.
    pub retransmissions: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
}

impl Record {
    /// One that has just begun.
    pub const NEW: Record = Record {
        origin: 0,
        from: 0,
        to: 0,
        bytes: 0,
        start: Time::ZERO,
        completed: None,
        retransmissions: 0,
        timeouts: 0,
    };
}

/// All transfers, in the order in which they began.
#[derive(Clone, Debug, Default)]
pub struct Transfers(Vec<Record>);

impl Transfers {
    /// A transfer begins; its number.
    pub fn begin(&mut self, record: Record) -> u32 {
        self.0.push(record);
        self.0.len() as u32 - 1
    }

    /// A transfer by its number.
    pub fn get_mut(&mut self, number: u32) -> &mut Record {
        &mut self.0[number as usize]
    }

    /// All of them.
    pub fn records(&self) -> &[Record] {
        &self.0
    }

    /// Memory of the records with their rows in the table \[B\].
    pub fn memory(&self) -> usize {
        // Nine columns: a list of Rust, one of Python, numbers of Python, a data frame.
        self.0.capacity() * size_of::<Record>() + self.0.len() * 9 * 56
    }

    /// One row per transfer.
    pub fn table(&self) -> Table {
        let all = &self.0;
        let mut t = Table::default();
        t.int("transfer", 0..all.len() as u64);
        t.int("arrivals", all.iter().map(|r| u64::from(r.origin)));
        t.int("from", all.iter().map(|r| u64::from(r.from)));
        t.int("to", all.iter().map(|r| u64::from(r.to)));
        t.float("start_s", all.iter().map(|r| r.start.as_secs()));
        t.int("bytes", all.iter().map(|r| u64::from(r.bytes)));
        let took = |r: &Record| r.completed.map_or(f64::NAN, |end| end.since(r.start).as_secs());
        t.float("completion_s", all.iter().map(took));
        t.int("retransmissions", all.iter().map(|r| u64::from(r.retransmissions)));
        t.int("timeouts", all.iter().map(|r| u64::from(r.timeouts)));
        t
    }
}
