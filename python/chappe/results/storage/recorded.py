"""Tables recorded during a run, as data frames and Parquet files."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import polars as pl

from chappe import _core
from chappe.results.storage import tables

RECORDED = ("frames", "mpdus", "heard", "packets", "cwnd", "queue", "routes", "energy", "positions")
"""Tables that ``run.record`` accepts."""


NODES = ("node", "next_hop", "src", "dst", "wired_dst", "airtime_neighbor")
"""Columns of nodes, which have names."""


def frame(rows: _core.Rowset, names: Mapping[int, str]) -> pl.DataFrame:
    """Rows of the core as a data frame, without copying numbers.

    Args:
        rows: The rows.
        names: Names of the nodes that have one, by number. If there are any, each column of nodes is followed at the
            end of the table by one of their names.
    """
    made = pl.Series(rows).struct.unnest()
    # One by one: to cast several columns polars asks its threads, which a forked process lacks.
    for name, values in rows.words():
        made.replace_column(made.get_column_index(name), made[name].cast(pl.Enum(values)))
    if names:
        of_node = pl.Series([names.get(n) for n in range(max(names) + 2)], dtype=pl.Enum(list(names.values())))
        for column in NODES:
            if column in made.columns:
                # Numbers beyond the last name have the null at the end.
                called = of_node.gather(made[column].clip(0, max(names) + 1)).alias(f"{column}_name")
                made.insert_column(made.width, called)
    return made


def joined(chunks: Iterable[_core.Rowset], names: Mapping[int, str]) -> pl.DataFrame:
    """Chunks of one table as a data frame, with the names of nodes as in :func:`frame`."""
    return pl.concat([frame(rows, names) for rows in chunks], rechunk=False)


HELD_B = 16 << 20
"""Memory of the chunks that a stream holds [B]; the tables of short runs fit in."""


class Stream:
    """Collects chunks of tables during a run and writes one file per table at its end, in constant memory.

    Chunks beyond :data:`HELD_B` wait as Arrow files, which take a fraction of the time of Parquet files: each row is
    encoded once.
    """

    def __init__(
        self, path: Callable[[str], Path], metadata: Mapping[str, Mapping[str, str]], names: Mapping[int, str]
    ):
        """Starts without chunks.

        Args:
            path: Function from the name of a file to its path.
            metadata: Metadata of the file of each table.
            names: Names of the nodes that have one, by number.
        """
        self._path = path
        self._metadata = metadata
        self._names = names
        self._held: dict[str, list[pl.DataFrame]] = {name: [] for name in metadata}
        self._waiting: dict[str, list[Path]] = {name: [] for name in metadata}
        self._size = 0.0

    def __call__(self, table: str, rows: _core.Rowset) -> None:
        """Takes a chunk of a table."""
        chunk = frame(rows, self._names)
        self._held[table].append(chunk)
        self._size += chunk.estimated_size()
        if self._size > HELD_B:
            for name in self._held:
                self._put_aside(name)
            self._size = 0.0

    def _put_aside(self, table: str) -> None:
        """Writes the chunks of a table that are held."""
        if chunks := self._held[table]:
            waiting = self._waiting[table]
            path = self._path(f"{table}-{len(waiting)}.arrow")
            tables.write_arrow(pl.concat(chunks, rechunk=False), path)
            waiting.append(path)
            chunks.clear()

    def join(self) -> None:
        """Writes the file of each table."""
        for table, chunks in self._held.items():
            waiting = self._waiting[table]
            tables.join(waiting, chunks, self._path(f"{table}.parquet"), self._metadata[table])
            chunks.clear()
            for path in waiting:
                path.unlink()
