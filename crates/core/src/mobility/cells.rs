//! Grid of cells with the nodes in each of them: finds the nodes near a position without visiting all.

use crate::unit::Position;

/// No node, or the end of a list.
const NONE: u32 = u32::MAX;
/// Limit on the number of cells per node; more would not speed up anything.
const CELLS_PER_NODE: usize = 4;

/// Column and row of a cell.
pub type Cell = (u32, u32);

/// A grid. Positions outside it belong to the cells at its border.
#[derive(Clone, Debug)]
pub struct Cells {
    origin: Position,
    width: f64,
    columns: u32,
    rows: u32,
    /// First node in each cell.
    first: Vec<u32>,
    /// Predecessor and successor of each node in the list of its cell.
    before: Vec<u32>,
    after: Vec<u32>,
    /// Cell of each node.
    cell_of: Vec<Cell>,
}

impl Cells {
    /// A grid for nodes at these positions that will mostly stay in a rectangle. Cells are at least `width` wide.
    pub fn new(low: Position, high: Position, width: f64, positions: &[Position]) -> Cells {
        let count = |from: f64, to: f64, width: f64| ((to - from) / width).floor() as usize + 1;
        let most = CELLS_PER_NODE * positions.len() + 16;
        let mut width = width;
        while count(low.x, high.x, width).saturating_mul(count(low.y, high.y, width)) > most {
            width *= 2.0;
        }
        let (columns, rows) = (count(low.x, high.x, width), count(low.y, high.y, width));
        let mut cells = Cells {
            origin: low,
            width,
            columns: columns as u32,
            rows: rows as u32,
            first: vec![NONE; columns * rows],
            before: vec![NONE; positions.len()],
            after: vec![NONE; positions.len()],
            cell_of: vec![(0, 0); positions.len()],
        };
        for (position, node) in positions.iter().zip(0..) {
            cells.insert(node, cells.cell(*position));
        }
        cells
    }

    /// Cell of a position.
    pub fn cell(&self, p: Position) -> Cell {
        let index = |x: f64, low: f64, cells: u32| ((x - low) / self.width).clamp(0.0, f64::from(cells - 1)) as u32;
        (index(p.x, self.origin.x, self.columns), index(p.y, self.origin.y, self.rows))
    }

    /// Corners of the cell of a node. Cells at the border are unbounded on that side.
    pub fn corners(&self, node: u32) -> (Position, Position) {
        let (column, row) = self.cell_of[node as usize];
        let low = |cell: u32, origin: f64| match cell {
            0 => f64::NEG_INFINITY,
            cell => origin + f64::from(cell) * self.width,
        };
        let high = |cell: u32, origin: f64, cells: u32| match cell {
            cell if cell + 1 == cells => f64::INFINITY,
            cell => origin + f64::from(cell + 1) * self.width,
        };
        let Position { x, y } = self.origin;
        (
            Position { x: low(column, x), y: low(row, y) },
            Position { x: high(column, x, self.columns), y: high(row, y, self.rows) },
        )
    }

    fn index(&self, (column, row): Cell) -> usize {
        (row * self.columns + column) as usize
    }

    fn insert(&mut self, node: u32, cell: Cell) {
        let index = self.index(cell);
        let head = std::mem::replace(&mut self.first[index], node);
        (self.before[node as usize], self.after[node as usize]) = (NONE, head);
        if head != NONE {
            self.before[head as usize] = node;
        }
        self.cell_of[node as usize] = cell;
    }

    /// Updates the position of a node.
    pub fn update(&mut self, node: u32, p: Position) {
        let cell = self.cell(p);
        let cell_before = self.cell_of[node as usize];
        if cell == cell_before {
            return;
        }
        let (before, after) = (self.before[node as usize], self.after[node as usize]);
        if before == NONE {
            let index = self.index(cell_before);
            self.first[index] = after;
        } else {
            self.after[before as usize] = after;
        }
        if after != NONE {
            self.before[after as usize] = before;
        }
        self.insert(node, cell);
    }

    /// Nodes in all cells within a distance of a position \[m\]; may include some farther away.
    pub fn around(&self, p: Position, distance: f64) -> impl Iterator<Item = u32> + '_ {
        let low = self.cell(Position { x: p.x - distance, y: p.y - distance });
        let high = self.cell(Position { x: p.x + distance, y: p.y + distance });
        let cells = (low.1..=high.1).flat_map(move |row| (low.0..=high.0).map(move |column| (column, row)));
        cells.flat_map(move |cell| {
            let existing = |node: u32| (node != NONE).then_some(node);
            std::iter::successors(existing(self.first[self.index(cell)]), move |&node| {
                existing(self.after[node as usize])
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    #[test]
    fn all_near_nodes_are_found_as_nodes_move() {
        let mut rng = Stream::new(1, Purpose::Mobility, 0);
        // A fifth of the positions lie outside the grid.
        let mut draw = || Position { x: rng.uniform() * 1250.0 - 125.0, y: rng.uniform() * 900.0 - 50.0 };
        let mut positions: Vec<Position> = (0..200).map(|_| draw()).collect();
        let mut cells = Cells::new(Position::default(), Position { x: 1000.0, y: 800.0 }, 100.0, &positions);
        for step in 0..2000 {
            let node = step % 200;
            positions[node] = draw();
            cells.update(node as u32, positions[node]);
            let (low, high) = cells.corners(node as u32);
            let p = positions[node];
            assert!(low.x <= p.x && p.x <= high.x && low.y <= p.y && p.y <= high.y);
            let mut nodes: Vec<u32> = cells.around(p, 150.0).collect();
            nodes.sort_unstable();
            assert!(nodes.windows(2).all(|w| w[0] != w[1]), "each is found once");
            let near = (0..200u32).filter(|&i| positions[i as usize].distance(p).0 <= 150.0);
            assert!(near.into_iter().all(|i| nodes.binary_search(&i).is_ok()));
            assert!(nodes.len() < 60, "{} of 200", nodes.len());
        }
    }

    #[test]
    fn number_of_cells_is_bounded_by_the_nodes() {
        let positions = [Position { x: -1e7, y: 0.0 }, Position { x: 1e7, y: 1e7 }];
        let cells = Cells::new(positions[0], positions[1], 1.0, &positions);
        assert!(cells.first.len() <= 24, "{}", cells.first.len());
    }
}
