"""Tables that are written while a run goes on: rows of the core as data frames, and as Parquet files."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import polars as pl

from chappe import _core, tables

RECORDED = ("frames", "packets", "cwnd", "queue", "routes", "energy", "positions")
"""Names of the tables that ``run.record`` may name."""


def frame(rows: _core.Rowset) -> pl.DataFrame:
    """Rows of the core as a data frame; numbers are not copied."""
    words = {name: pl.Enum(known) for name, known in rows.words()}
    return pl.Series(rows).struct.unnest().cast(words)  # type: ignore[arg-type]  # polars takes what exports Arrow


def joined(chunks: Iterable[_core.Rowset]) -> pl.DataFrame:
    """Chunks of one table as a data frame."""
    return pl.concat([frame(rows) for rows in chunks], rechunk=False)


class Stream:
    """Writes chunks of tables as they come, and in the end one file for each table: memory does not grow."""

    def __init__(self, path: Callable[[str], Path], names: Sequence[str]):
        """Begins with nothing.

        Args:
            path: Says where a file of a name is written.
            names: The tables.
        """
        self._path = path
        self._chunks: dict[str, list[Path]] = {name: [] for name in names}

    def __call__(self, table: str, rows: _core.Rowset) -> None:
        """Takes some rows of a table."""
        chunks = self._chunks[table]
        path = self._path(f"{table}-{len(chunks)}.parquet")
        tables.write(frame(rows), path)
        chunks.append(path)

    def join(self) -> None:
        """Makes one file of the chunks of each table."""
        for table, chunks in self._chunks.items():
            whole = self._path(f"{table}.parquet")
            if len(chunks) == 1:
                chunks[0].replace(whole)
                continue
            tables.join(chunks, whole)
            for chunk in chunks:
                chunk.unlink()
