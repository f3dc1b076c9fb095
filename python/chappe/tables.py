"""Tables as files. A name is what it says: in names that polars opens itself it expands `~`, `[`, `*` and `?`."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl


def read(path: Path) -> pl.DataFrame:
    """A table from its Parquet file."""
    with path.open("rb") as file, _as_the_system_says(path):
        return pl.read_parquet(file)


def write(table: pl.DataFrame, path: Path) -> None:
    """Writes a table as a Parquet file."""
    with path.open("wb") as file, _as_the_system_says(path):
        table.write_parquet(file)


def write_csv(table: pl.DataFrame, path: Path) -> None:
    """Writes a table as a CSV file."""
    with path.open("wb") as file, _as_the_system_says(path):
        table.write_csv(file)


def join(pieces: Sequence[Path], whole: Path) -> None:
    """Makes one Parquet file of several, which need not fit into memory together, nor be open at the same time."""
    with _as_the_system_says(whole):
        # A name that begins with a slash has no `~` in front and no protocol.
        rows = pl.scan_parquet([piece.absolute() for piece in pieces], glob=False, hive_partitioning=False)
        rows.sink_parquet(whole.absolute())


@contextmanager
def _as_the_system_says(path: Path) -> Iterator[None]:
    """Gives an error of the system its class and number again: polars calls a full disk a failed computation."""
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as e:
        found = re.search(r"\(os error (\d+)\)", str(e))
        if found is None:
            raise
        raise OSError(int(found[1]), os.strerror(int(found[1])), str(path)) from None
