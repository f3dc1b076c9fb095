//! All measurements of a run, for comparison to the last bit.

use chappe_core::record::Recorder;
use chappe_core::record::observe::columns::{Rows, Values};
use chappe_core::record::table::{Column, Table};
use chappe_core::run::End;
use chappe_core::sim::Sim;
use chappe_core::unit::Time;
use std::collections::BTreeMap;

/// A column: bits of its numbers, or words.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    Bits(Vec<u64>),
    Count(Vec<u64>),
    Word(Vec<String>),
}

impl Cells {
    fn len(&self) -> usize {
        match self {
            Cells::Bits(v) | Cells::Count(v) => v.len(),
            Cells::Word(v) => v.len(),
        }
    }

    fn show(&self, row: usize) -> String {
        match self {
            Cells::Bits(v) => v.get(row).map_or("nothing".into(), |x| format!("{:?}", f64::from_bits(*x))),
            Cells::Count(v) => v.get(row).map_or("nothing".into(), u64::to_string),
            Cells::Word(v) => v.get(row).map_or("nothing".into(), String::clone),
        }
    }

    /// Counts, and numbers of nodes.
    pub fn counts(&self) -> &[u64] {
        match self {
            Cells::Count(v) => v,
            _ => panic!("no counts"),
        }
    }

    /// Numbers.
    pub fn floats(&self) -> Vec<f64> {
        match self {
            Cells::Bits(v) => v.iter().map(|x| f64::from_bits(*x)).collect(),
            _ => panic!("no numbers"),
        }
    }

    /// Words.
    pub fn words(&self) -> &[String] {
        match self {
            Cells::Word(v) => v,
            _ => panic!("no words"),
        }
    }

    fn retain(&mut self, kept: &[bool]) {
        let mut rows = kept.iter();
        let mut next = || *rows.next().expect("a row");
        match self {
            Cells::Bits(v) | Cells::Count(v) => v.retain(|_| next()),
            Cells::Word(v) => v.retain(|_| next()),
        }
    }

    fn append(&mut self, more: Cells) {
        match (self, more) {
            (Cells::Bits(own), Cells::Bits(more)) | (Cells::Count(own), Cells::Count(more)) => own.extend(more),
            (Cells::Word(own), Cells::Word(more)) => own.extend(more),
            _ => panic!("a column changes its type"),
        }
    }
}

/// Columns by their names.
pub type Columns = Vec<(String, Cells)>;

/// Tables of a run.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    pub end: Option<End>,
    pub now: Option<Time>,
    pub tables: BTreeMap<&'static str, Columns>,
    /// Packets that wait at the end in front of each radio: node, channel, number.
    pub waiting: Vec<[u64; 3]>,
}

impl Measured {
    /// Takes out the rows recorded so far.
    pub fn drain(&mut self, sim: &mut Sim) {
        for (table, rows) in sim.tables() {
            let names = rows.columns().iter().map(|c| c.0.to_owned());
            let columns: Columns = names.zip(rows.values().into_iter().map(cells)).collect();
            rows.clear();
            match self.tables.get_mut(table.word()) {
                None => _ = self.tables.insert(table.word(), columns),
                Some(own) => own.iter_mut().zip(columns).for_each(|(own, more)| own.1.append(more.1)),
            }
        }
    }

    /// Takes all measurements of a run that has ended.
    pub fn finish(mut self, sim: &mut Sim) -> Measured {
        self.drain(sim);
        (self.end, self.now) = (sim.end(), Some(sim.now()));
        let stations = sim.stations();
        let column = |name: &str| {
            let place = stations.columns().iter().position(|c| c.0 == name).expect("a column");
            cells(stations.values()[place]).counts().to_vec()
        };
        let (node, channel, packets) = (column("node"), column("channel"), column("packets"));
        self.waiting = (0..node.len()).map(|i| [node[i], channel[i], packets[i]]).collect();
        self.tables.extend(totals(sim.recorder()));
        self
    }

    /// Column of a table.
    pub fn column(&self, table: &str, name: &str) -> &Cells {
        let found = self.tables.get(table).and_then(|t| t.iter().find(|c| c.0 == name));
        &found.unwrap_or_else(|| panic!("no column {name} in {table}")).1
    }

    /// Number of rows of a table.
    pub fn rows(&self, table: &str) -> usize {
        self.tables.get(table).and_then(|t| t.first()).map_or(0, |c| c.1.len())
    }

    /// Without the rows of some nodes, and without the tables that count something of all nodes.
    pub fn without_nodes(mut self, nodes: &[u64]) -> Measured {
        let of_all = ["batches", "packet_outcomes"];
        self.tables.retain(|table, _| !of_all.contains(table));
        for columns in self.tables.values_mut() {
            let Some((_, whose)) = columns.iter().find(|c| c.0 == "node") else { continue };
            let kept: Vec<bool> = whose.counts().iter().map(|n| !nodes.contains(n)).collect();
            columns.iter_mut().for_each(|c| c.1.retain(&kept));
        }
        self
    }

    /// First difference from another run, in tables that both have.
    pub fn differs(&self, other: &Measured, is_left_out: impl Fn(&str, &str) -> bool) -> Option<String> {
        if (self.end, self.now) != (other.end, other.now) {
            return Some(format!("{:?} at {:?} and {:?} at {:?}", self.end, self.now, other.end, other.now));
        }
        for (table, columns) in &self.tables {
            let Some(others) = other.tables.get(table) else { continue };
            for ((name, a), (_, b)) in columns.iter().zip(others).filter(|c| !is_left_out(table, &c.0.0)) {
                if a != b {
                    let rows = a.len().max(b.len());
                    let row = (0..rows).find(|&i| a.show(i) != b.show(i)).unwrap_or_default();
                    let count = (0..rows).filter(|&i| a.show(i) != b.show(i)).count();
                    let (a, b) = (a.show(row), b.show(row));
                    return Some(format!("{table}.{name}: {a} and {b} in row {row}, {count} of {rows} rows differ"));
                }
            }
        }
        None
    }
}

fn cells(values: Values<'_>) -> Cells {
    match values {
        Values::Float(v) => Cells::Bits(v.iter().map(|x| x.to_bits()).collect()),
        Values::Long(v) => Cells::Count(v.to_vec()),
        Values::Int(v) => Cells::Count(v.iter().map(|&x| if x == u32::MAX { u64::MAX } else { x.into() }).collect()),
        Values::Flag(v) => Cells::Count(v.iter().map(|&x| x.into()).collect()),
        Values::Word(v, words) => {
            Cells::Word(v.iter().map(|&x| words.get(x as usize).copied().unwrap_or("").to_owned()).collect())
        }
    }
}

fn columns(table: Table) -> Columns {
    let cells = |column| match column {
        Column::Float(v) => Cells::Bits(v.into_iter().map(f64::to_bits).collect()),
        Column::Int(v) => Cells::Count(v),
        Column::Text(v) => Cells::Word(v),
        Column::Bool(v) => Cells::Count(v.into_iter().map(u64::from).collect()),
    };
    table.columns.into_iter().map(|(name, column)| (name, cells(column))).collect()
}

/// All tables of a run that has ended.
fn totals(r: &Recorder) -> [(&'static str, Columns); 12] {
    [
        ("flows", r.flows()),
        ("nodes", r.nodes()),
        ("batches", r.batches()),
        ("flow_batches", r.flow_batches()),
        ("samples", r.samples()),
        ("packet_outcomes", r.packet_outcomes()),
        ("airtime", r.airtime()),
        ("rates", r.rates()),
        ("batteries", r.batteries()),
        ("short_flows", r.short_flows()),
        ("wired_links", r.wired_links()),
        ("wired_link_batches", r.wired_link_batches()),
    ]
    .map(|(name, table)| (name, columns(table)))
}
