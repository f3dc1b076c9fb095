"""Tables that are written while a run goes on: rows of the core as data frames, and as Parquet files."""

import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType

import polars as pl

from chappe import _core

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
    """Writes chunks of tables into a folder as they come, and in the end one file for each table.

    What has come lies in files of a folder that is removed in the end, also when a run fails: memory does not grow.
    """

    def __init__(self, folder: Path, tables: Sequence[str]):
        self.folder = folder
        self.tables = tables
        self._parts: dict[str, list[Path]] = {name: [] for name in tables}
        self._scratch = tempfile.TemporaryDirectory(prefix=".parts-", dir=folder)

    def __call__(self, table: str, rows: _core.Rowset) -> None:
        """Takes some rows of a table."""
        parts = self._parts[table]
        path = Path(self._scratch.name, f"{table}-{len(parts)}.parquet")
        frame(rows).write_parquet(path)
        parts.append(path)

    def file(self, table: str) -> Path:
        """The file of a table."""
        return self.folder / f"{table}.parquet"

    def join(self) -> None:
        """Makes one file of the chunks of each table."""
        for table, parts in self._parts.items():
            whole = parts[0]
            if len(parts) > 1:
                whole = Path(self._scratch.name, f"{table}.parquet")
                pl.scan_parquet(parts).sink_parquet(whole)
            os.replace(whole, self.file(table))

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, trace: TracebackType | None) -> None:
        self._scratch.cleanup()
