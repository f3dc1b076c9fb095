"""Tables recorded during a run, as data frames and Parquet files."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import polars as pl

from chappe import _core
from chappe._growing import Growing

RECORDED = ("frames", "mpdus", "heard", "packets", "cwnd", "queue", "routes", "energy", "positions")
"""Tables that ``run.record`` accepts."""


def frame(rows: _core.Rowset) -> pl.DataFrame:
    """Rows of the core as a data frame, without copying numbers."""
    words = {name: pl.Enum(values) for name, values in rows.words()}
    return pl.Series(rows).struct.unnest().cast(words)  # type: ignore[arg-type]  # polars takes what exports Arrow


def joined(chunks: Iterable[_core.Rowset]) -> pl.DataFrame:
    """Chunks of one table as a data frame."""
    return pl.concat([frame(rows) for rows in chunks], rechunk=False)


class Stream:
    """Writes chunks of tables during a run into one file per table, in constant memory."""

    def __init__(self, path: Callable[[str], Path], metadata: Mapping[str, Mapping[str, str]]):
        """Starts without chunks.

        Args:
            path: Function from the name of a file to its path.
            metadata: Metadata of the file of each table.
        """
        self._path = path
        self._metadata = metadata
        self._files: dict[str, Growing] = {}

    def __call__(self, table: str, rows: _core.Rowset) -> None:
        """Writes a chunk of a table."""
        if table not in self._files:
            self._files[table] = Growing(self._path(f"{table}.parquet"), self._metadata[table])
        self._files[table].append(frame(rows))

    def join(self) -> None:
        """Completes the file of each table."""
        for file in self._files.values():
            file.close()
