//! Topologies: initial positions of the nodes.

use crate::rng::Stream;
use crate::setting::limit::{above, at_most, range};
use crate::setting::{Listed, Node, Scalar, Value};
use crate::unit::{Meters, Position};
use crate::{keywords, settings};
use serde_json::{Value as Json, json};

keywords! {
    /// Kinds of topology.
    pub enum Kind {
        /// Nodes on a line at equal distances.
        Chain = "chain",
        /// Rows and columns at equal distances; some positions may stay empty.
        Grid = "grid",
        /// Positions drawn uniformly in a rectangle.
        Random = "random",
        /// Positions listed in the scenario.
        List = "list",
        /// Positions from a CSV file with the columns x_m and y_m, in the order of its column node if it has one.
        File = "file",
        /// Initial positions from a file of movements (`mobility.file`).
        Motion = "motion",
        /// No radios: all links are point-to-point links.
        None = "none",
    }
}

/// Position in a grid: column and row, both from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Column, from 0; x grows with it.
    pub column: u32,
    /// Row, from 0; y grows with it.
    pub row: u32,
}

impl Scalar for Cell {
    fn read(node: &Node) -> Result<Cell, String> {
        let expected = || "expected column and row such as [1, 3]".to_owned();
        match &node.value {
            Value::List(l) => match l.as_slice() {
                [column, row] => Ok(Cell {
                    column: u32::read(column).map_err(|_| expected())?,
                    row: u32::read(row).map_err(|_| expected())?,
                }),
                _ => Err(expected()),
            },
            _ => Err(expected()),
        }
    }

    fn written(&self) -> Json {
        json!([self.column, self.row])
    }

    fn describe() -> Json {
        json!({ "type": "array", "items": u32::describe(), "minItems": 2, "maxItems": 2 })
    }
}

impl Listed for Cell {
    fn example() -> Json {
        Cell { column: 1, row: 3 }.written()
    }
}

/// Upper limit of all lengths.
pub const FAR: Meters = Meters(1e7);

settings! {
    /// Topology of the nodes with a radio.
    pub struct Config {
        /// Kind of topology of the nodes that have a radio.
        pub(everyday) kind: Kind = Kind::Chain,
        /// Hops of a chain, which has one node more.
        pub(everyday) hops: u32 = 7 => range(1, 1_000_000_000)
            ; used when |c| c.kind == Kind::Chain, else "`topology.kind` is not `chain`",
        /// Distance between neighbors of a chain or a grid.
        pub(everyday) spacing: Meters = Meters(200.0) => above(Meters(0.0)).at_most(Meters(1e7))
            ; used when |c| matches!(c.kind, Kind::Chain | Kind::Grid),
            else "`topology.kind` is neither `chain` nor `grid`",
        /// Rows of a grid. Its nodes are numbered row by row.
        pub(everyday) rows: u32 = 5 => range(1, 1_000_000_000)
            ; used when |c| c.kind == Kind::Grid, else "`topology.kind` is not `grid`",
        /// Columns of a grid.
        pub(everyday) columns: u32 = 5 => range(1, 1_000_000_000)
            ; used when |c| c.kind == Kind::Grid, else "`topology.kind` is not `grid`",
        /// Positions of a grid that stay empty: column and row, both from 0.
        pub(everyday) omit: Vec<Cell> = Vec::new()
            ; used when |c| c.kind == Kind::Grid, else "`topology.kind` is not `grid`",
        /// Nodes of a random topology.
        pub(everyday) nodes: u32 = 120 => range(2, 1_000_000_000)
            ; used when |c| c.kind == Kind::Random, else "`topology.kind` is not `random`",
        /// Width of the area of a random topology.
        pub(everyday) width: Meters = Meters(2500.0) => above(Meters(0.0)).below(FAR)
            ; used when |c| c.kind == Kind::Random, else "`topology.kind` is not `random`",
        /// Height of the area of a random topology.
        pub(everyday) height: Meters = Meters(1000.0) => above(Meters(0.0)).below(FAR)
            ; used when |c| c.kind == Kind::Random, else "`topology.kind` is not `random`",
        /// Seed of random positions, flows and shadowing. Default: fixed, so all runs share one map. "run": each run
        /// draws its own map from its seed.
        pub(everyday) seed: Option<u64> | "run" = Some(1),
        /// Redraws a random topology until every node can reach every other.
        pub(everyday) connected: bool = true
            ; used when |c| c.kind == Kind::Random, else "`topology.kind` is not `random`",
        /// Positions of a listed topology.
        pub(everyday) positions: Vec<Position> = Vec::new()
            ; used when |c| c.kind == Kind::List, else "`topology.kind` is not `list`",
        /// CSV file with the positions: columns x_m, y_m, and optionally node and name.
        pub(everyday) file: Option<String> | "none" = None
            ; used when |c| c.kind == Kind::File, else "`topology.kind` is not `file`",
        /// Number of nodes without a radio. They are numbered after those with a radio.
        pub(everyday) wired_nodes: u32 = 0 => at_most(1_000_000_000),
    }
}

impl Config {
    /// Number of nodes with a radio.
    pub fn nodes(&self) -> u64 {
        match self.kind {
            Kind::Chain => u64::from(self.hops) + 1,
            Kind::Grid => u64::from(self.rows) * u64::from(self.columns) - self.empty().len() as u64,
            Kind::Random => u64::from(self.nodes),
            Kind::List | Kind::File | Kind::Motion => self.positions.len() as u64,
            Kind::None => 0,
        }
    }

    /// Returns true if the grid has this position.
    pub fn has(&self, c: Cell) -> bool {
        c.column < self.columns && c.row < self.rows
    }

    /// Indices of the empty positions of the grid, in order.
    fn empty(&self) -> Vec<u64> {
        let mut empty: Vec<u64> = self.omit.iter().filter(|c| self.has(**c)).map(|c| self.index(*c)).collect();
        empty.sort_unstable();
        empty.dedup();
        empty
    }

    fn index(&self, c: Cell) -> u64 {
        u64::from(c.row) * u64::from(self.columns) + u64::from(c.column)
    }

    /// Positions of the nodes; those of a random topology are drawn from `rng`.
    pub fn node_positions(&self, rng: &mut Stream) -> Vec<Position> {
        let spacing = self.spacing.0;
        let at = |column: u32, row: u32| Position { x: f64::from(column) * spacing, y: f64::from(row) * spacing };
        match self.kind {
            Kind::Chain => (0..=self.hops).map(|i| at(i, 0)).collect(),
            Kind::Grid => {
                let cells = (0..self.rows).flat_map(|row| (0..self.columns).map(move |column| Cell { column, row }));
                let empty = self.empty();
                let kept = |c: &Cell| empty.binary_search(&self.index(*c)).is_err();
                cells.filter(kept).map(|c| at(c.column, c.row)).collect()
            }
            Kind::Random => {
                let (width, height) = (self.width.0, self.height.0);
                (0..self.nodes).map(|_| Position { x: rng.uniform() * width, y: rng.uniform() * height }).collect()
            }
            Kind::List | Kind::File | Kind::Motion => self.positions.clone(),
            Kind::None => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    fn positions(cfg: &Config) -> Vec<(f64, f64)> {
        cfg.node_positions(&mut Stream::new(1, Purpose::Topology, 0)).iter().map(|p| (p.x, p.y)).collect()
    }

    #[test]
    fn grid_is_numbered_row_by_row_without_its_empty_positions() {
        let cfg = Config {
            kind: Kind::Grid,
            rows: 2,
            columns: 3,
            spacing: Meters(10.0),
            omit: vec![Cell { column: 1, row: 0 }, Cell { column: 1, row: 0 }, Cell { column: 7, row: 0 }],
            ..Config::default()
        };
        assert_eq!(positions(&cfg), [(0.0, 0.0), (20.0, 0.0), (0.0, 10.0), (10.0, 10.0), (20.0, 10.0)]);
        assert_eq!(cfg.nodes(), 5);
    }

    #[test]
    fn random_positions_fill_the_area_evenly() {
        let cfg = Config { kind: Kind::Random, nodes: 4000, ..Config::default() };
        let all = positions(&cfg);
        assert!(all.iter().all(|p| (0.0..2500.0).contains(&p.0) && (0.0..1000.0).contains(&p.1)));
        // Each quarter is binomial with a standard deviation of 27.
        for (left, low) in [(true, true), (true, false), (false, true), (false, false)] {
            let count = all.iter().filter(|p| (p.0 < 1250.0) == left && (p.1 < 500.0) == low).count();
            assert!(count.abs_diff(1000) < 110, "{count}");
        }
    }
}
