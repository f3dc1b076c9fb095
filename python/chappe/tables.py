"""Tables as files. A name is what it says: in names that polars opens itself it expands `~`, `[`, `*` and `?`."""

import io
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import polars as pl

from chappe.files import write_file

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def read(path: Path) -> pl.DataFrame:
    """A table from its Parquet file."""
    with path.open("rb") as file, _as_the_system_says(path):
        return pl.read_parquet(file)


def write(table: pl.DataFrame, path: Path) -> None:
    """Writes a table as a Parquet file."""
    with _written(path) as file:
        table.write_parquet(file)


def write_csv(table: pl.DataFrame, path: Path) -> None:
    """Writes a table as a CSV file, whole or not at all."""
    write_file(path, table.write_csv().encode("utf-8"))


def join(pieces: Sequence[Path], whole: Path) -> None:
    """Makes one Parquet file of several, which need not fit into memory together, nor be open at the same time."""
    with _written(whole) as file, _as_the_system_says(whole):
        # A name that begins with a slash has no `~` in front and no protocol.
        rows = pl.scan_parquet([piece.absolute() for piece in pieces], glob=False, hive_partitioning=False)
        rows.sink_parquet(file)


class _File(io.RawIOBase):
    """A file that remembers why it could not be written.

    Attributes:
        error: What the system said first.
    """

    def __init__(self, file: IO[bytes]):
        super().__init__()
        self.error: OSError | None = None
        self._file = file

    def writable(self) -> bool:
        """Tells polars that it may write."""
        return True

    def write(self, data: "ReadableBuffer") -> int:
        """Writes all of the bytes."""
        with self._remembered():
            return self._file.write(data)

    def close(self) -> None:
        """Writes what is left."""
        try:
            with self._remembered():
                self._file.close()
        finally:
            super().close()

    @contextmanager
    def _remembered(self) -> Iterator[None]:
        try:
            yield
        except OSError as e:
            self.error = self.error or e
            raise


@contextmanager
def _written(path: Path) -> Iterator[IO[bytes]]:
    """A file for polars to write. Its failure is told as the system said it.

    Words of polars about a full disk depend on where that happens: in the footer of Parquet the reason is lost.
    """
    file = _File(path.open("wb"))
    try:
        with file:
            yield cast(IO[bytes], file)
    except (OSError, pl.exceptions.PolarsError):
        if file.error is None:
            raise
    if (why := file.error) is not None:
        raise OSError(why.errno, why.strerror, str(path))


@contextmanager
def _as_the_system_says(path: Path) -> Iterator[None]:
    """Gives an error of the system its class and number again: polars calls it a failed computation."""
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as e:
        found = re.search(r"\(os error (\d+)\)", str(e))
        if found is None:
            raise
        raise OSError(int(found[1]), os.strerror(int(found[1])), str(path)) from None
