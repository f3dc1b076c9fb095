"""Tables recorded during a run, as data frames and Parquet files."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import polars as pl

from chappe import _core
from chappe import _tables as tables

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
    """Writes chunks of tables during a run and joins them into one file per table, in constant memory."""

    def __init__(self, path: Callable[[str], Path], metadata: Mapping[str, Mapping[str, str]]):
        """Starts without chunks.

        Args:
            path: Function from the name of a file to its path.
            metadata: Metadata of the file of each table.
        """
        self._path = path
        self._metadata = metadata
        self._chunks: dict[str, list[Path]] = {name: [] for name in metadata}

    def __call__(self, table: str, rows: _core.Rowset) -> None:
        """Writes a chunk of a table."""
        chunks = self._chunks[table]
        path = self._path(f"{table}-{len(chunks)}.parquet")
        tables.write(frame(rows), path, self._metadata[table])
        chunks.append(path)

    def join(self) -> None:
        """Joins the chunks of each table into one file."""
        for table, chunks in self._chunks.items():
            whole = self._path(f"{table}.parquet")
            if len(chunks) == 1:
                chunks[0].replace(whole)
                continue
            tables.join(chunks, whole, self._metadata[table])
            for chunk in chunks:
                chunk.unlink()
