"""Tables as files with literal names, because polars would expand `~`, `[`, `*` and `?`; missing values."""

import hashlib
import io
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import polars as pl
import polars.selectors as cs

from chappe._common.files import footer

TYPES = {"float": pl.Float64, "int": pl.Int64, "text": pl.String, "bool": pl.Boolean}
"""Types of columns by their names in the core."""


def frame(columns: Mapping[str, tuple[str, Sequence[Any]]]) -> pl.DataFrame:
    """Data frame of a table of the core, which is a dict from column names to types and values."""
    return pl.DataFrame([pl.Series(n, values, dtype=TYPES[kind]) for n, (kind, values) in columns.items()])


def read(path: Path) -> pl.DataFrame:
    """Reads a table from a Parquet file.

    Raises:
        OSError: If the file cannot be read, or has changed since it was written. Files of other programs do not
            tell.
        polars.exceptions.PolarsError: If it is no Parquet file.
    """
    with path.open("rb") as file, _as_the_system_says(path):
        seal = _seal(file)
        if seal is not None and _digest(file, seal[0]) != seal[1]:
            raise OSError("it has changed since it was written")
        file.seek(0)
        return pl.read_parquet(file)


def known(table: pl.DataFrame) -> pl.DataFrame:
    """Table with null in place of NaN and infinity, which are values that do not exist."""
    # Columns without either are not copied: tables of many runs are large.
    numbers = [c.name for c in table.select(cs.float()) if not c.is_finite().all()]
    return table.with_columns(pl.when(pl.col(numbers).is_finite()).then(pl.col(numbers)).name.keep())


def write(table: pl.DataFrame, path: Path, metadata: Mapping[str, str] | None = None) -> None:
    """Writes a table as a Parquet file, with metadata of the file."""
    with _written(path) as file:
        table.write_parquet(file, metadata=with_seal(metadata or {}))
    seal_file(path)


def write_arrow(table: pl.DataFrame, path: Path) -> None:
    """Writes a table as an Arrow file."""
    with _written(path) as file:
        table.write_ipc(file, compression="uncompressed")


def join(
    files: Sequence[Path], rest: Sequence[pl.DataFrame], whole: Path, metadata: Mapping[str, str] | None = None
) -> None:
    """Joins Arrow files and tables that follow them into one Parquet file with metadata, in constant memory."""
    with _written(whole) as file, _as_the_system_says(whole):
        # Absolute paths contain no leading `~` and no protocol.
        pieces = [pl.scan_ipc(piece.absolute(), glob=False, hive_partitioning=False) for piece in files]
        rows = pl.concat([*pieces, *(piece.lazy() for piece in rest)])
        rows.sink_parquet(file, metadata=with_seal(metadata or {}), engine="streaming")
    seal_file(whole)


_SEAL, _OPEN = "chappe.sha256", "0" * 64
"""Metadata of a Parquet file for its SHA-256, and their value when the SHA-256 is computed."""

_SEALED = re.compile(re.escape(_SEAL).encode() + rb"\x18\x40([0-9a-f]{64})")
"""SHA-256 in the metadata of a file, in the compact protocol of Thrift: a text of 64 bytes is the next field."""


def with_seal(metadata: Mapping[str, str]) -> dict[str, str]:
    """Metadata of a file that :func:`seal_file` or :func:`sealed` will complete."""
    return {**metadata, _SEAL: _OPEN}


def seal_file(path: Path) -> None:
    """Writes the SHA-256 of a Parquet file into its metadata, so that any changed bit is found."""
    with path.open("r+b") as file:
        if (seal := _seal(file)) is not None:
            digest = _digest(file, seal[0])
            file.seek(seal[0])
            file.write(digest.encode())


def sealed(data: bytes) -> bytes:
    """A Parquet file with its SHA-256."""
    file = io.BytesIO(data)
    if (seal := _seal(file)) is None:
        return data
    at = seal[0]
    return data[:at] + _digest(file, at).encode() + data[at + len(_OPEN) :]


def _seal(file: IO[bytes]) -> tuple[int, str] | None:
    """Place of the SHA-256 in a Parquet file, and its value; ``None`` if it has none."""
    begin, end = footer(file)
    found = list(_SEALED.finditer(end))[-1:]
    return (begin + found[0].start(1), found[0][1].decode()) if found else None


def _digest(file: IO[bytes], at: int) -> str:
    """SHA-256 of a file, with :data:`_OPEN` at a place."""
    file.seek(0)
    digest = hashlib.sha256()
    left = at
    while left and (piece := file.read(min(left, 1 << 20))):
        digest.update(piece)
        left -= len(piece)
    digest.update(_OPEN.encode())
    file.seek(at + len(_OPEN))
    while piece := file.read(1 << 20):
        digest.update(piece)
    return digest.hexdigest()


class _File(io.RawIOBase):
    """A file that remembers the first error of writing.

    Attributes:
        error: First error of the operating system.
    """

    def __init__(self, file: IO[bytes]):
        super().__init__()
        self.error: OSError | None = None
        self._file = file

    def writable(self) -> bool:
        """Returns true, for polars."""
        return True

    def write(self, data: Any) -> int:
        """Writes all of a buffer of bytes."""
        with self._remembered():
            return self._file.write(data)

    def close(self) -> None:
        """Writes buffered data and closes the file."""
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
    """Yields a file for polars to write, and raises the error of the operating system on failure.

    polars loses the reason if writing fails in the footer of a Parquet file, such as on a full disk.
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
    """Restores class and number of operating system errors, which polars reports as failed computations."""
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as e:
        match = re.search(r"\(os error (\d+)\)", str(e))
        if match is None:
            raise
        raise OSError(int(match[1]), os.strerror(int(match[1])), str(path)) from None
