"""The paths of the paper: fifty of one grid of 96 routers, of one flow or four; drawings of four rows, of four paths.

Routers of a path are chosen so that only neighbors hear each other at 11 Mbit/s (IV.A of the paper).
"""

import random
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import count, islice
from typing import Any

import polars as pl
from chappe import Scenario

from chappe_papers.su2008.points import COLUMNS, HOP_M, ROW_M, ROWS, Point, scenario

GRID_COLUMNS = 24
GRID_SEED = 1
"""By it the shadowing of the grid is drawn, and its paths."""

_ELEVEN = 11_000_000


class Paths:
    """Paths by number, from 1 on.

    Args:
        changes: Settings of the network that differ.
        row_m: Distance of the rows of the layout with four [m].
        grid_seed: By it the shadowing of the grid is drawn, and its paths. 0: paths lie along the first of four rows,
            as those did on which four numbers of the paper were searched for.
    """

    def __init__(self, changes: Mapping[str, Any] | None = None, row_m: float = ROW_M, grid_seed: int = GRID_SEED):
        self._straight = grid_seed == 0
        self._rows = scenario(Point("rows"), dict(changes or {}), row_m)
        self._drawings = self.drawings()
        self._seeds: list[int] = []
        self.links = _grid(grid_seed).with_settings(dict(changes or {})).links
        """Links between the routers of the grid."""
        self._walks = walks(self.links, grid_seed)
        self._found: list[tuple[int, ...]] = []

    def on(self, number: int, point: Point, own: Scenario) -> Scenario:
        """The scenario of a point on a path."""
        if self._straight or point.layout == "rows":
            return own.with_settings({"topology.seed": self.drawing(number)})
        return own.with_settings({"radio.propagation": "links", "radio.links_table": self.text(number)})

    def path(self, number: int) -> tuple[int, ...]:
        """The routers of a path of the grid, in its order."""
        self._found += islice(self._walks, max(0, number - len(self._found)))
        return self._found[number - 1]

    def text(self, number: int) -> str:
        """The links between the routers of a path, numbered along it, as ``radio.links_table`` takes them."""
        at = {node: n for n, node in enumerate(self.path(number))}
        links = self.links.filter(pl.col("src").is_in(list(at)) & pl.col("dst").is_in(list(at)))
        numbers = links.select(pl.col("src", "dst").replace_strict(at, return_dtype=pl.Int64), "signal_dbm")
        return numbers.sort("src", "dst").write_csv()

    def drawing(self, number: int) -> int:
        """The seed of the shadowing of four rows."""
        self._seeds += islice(self._drawings, max(0, number - len(self._seeds)))
        return self._seeds[number - 1]

    def drawings(self) -> Iterator[int]:
        """The seeds of the shadowing that are taken, in order, see :meth:`fits`."""
        return (seed for seed in count(1) if self.fits(seed))

    def fits(self, seed: int) -> bool:
        """True if in a drawing of the rows all neighbors in a row hear each other at 11 Mbit/s, and nobody else."""
        links = self._rows.with_settings({"topology.seed": seed}).links
        of_row = links.filter(pl.col("src") // COLUMNS == pl.col("dst") // COLUMNS)
        near = (pl.col("src") - pl.col("dst")).abs() == 1
        fast = pl.col("rate_bps").fill_null(0) == _ELEVEN
        neighbors = of_row.filter(near & fast).height == 2 * ROWS * (COLUMNS - 1)
        return neighbors and of_row.filter(fast & ~near).is_empty()


@cache
def paths() -> Paths:
    """Paths of the paper's page."""
    return Paths()


def walks(links: pl.DataFrame, seed: int) -> Iterator[tuple[int, ...]]:
    """Random paths, none twice: from a router to one that it hears at 11 Mbit/s, and that none before it does.

    Args:
        links: The links, see :attr:`~chappe.Scenario.links`.
        seed: Of the choices.
    """
    fast = set(links.filter(pl.col("rate_bps") == _ELEVEN).select("src", "dst").iter_rows())
    nodes = sorted({a for a, _ in fast})
    hears = {a: {b for b in nodes if (a, b) in fast or (b, a) in fast} for a in nodes}
    both = {a: {b for b in nodes if (a, b) in fast and (b, a) in fast} for a in nodes}
    # random() alone is promised to give the same in every version of Python.
    rng = random.Random(seed)
    seen = set()
    while True:
        path = [nodes[int(rng.random() * len(nodes))]]
        while len(path) < COLUMNS:
            taken = set(path).union(*(hears[before] for before in path[:-1]))
            free = sorted(both[path[-1]] - taken)
            if not free:
                break
            path.append(free[int(rng.random() * len(free))])
        if len(path) == COLUMNS and tuple(path) not in seen:
            seen.add(tuple(path))
            yield tuple(path)


def _grid(seed: int) -> Scenario:
    """The testbed: 4 x 24 routers."""
    place = {"kind": "grid", "rows": ROWS, "columns": GRID_COLUMNS, "spacing": f"{HOP_M} m", "seed": seed}
    flow = {"src": 0, "dst": 1}
    return Scenario({"extends": "ivynet", "run": {"stop": "1 s"}, "topology": place, "flow": [flow]})
