"""Atomic writing of files."""

import csv
import io
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

_UNKNOWN = ("nan", "inf", "-inf")
"""Numbers without a value, as text."""


def write_file(path: Path, data: bytes) -> None:
    """Writes a file whole or not at all."""
    unfinished = path.with_name(f"{path.name}.tmp")
    try:
        with unfinished.open("wb") as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Writes rows as a CSV file; numbers that are not known are empty cells."""
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(header)
    out.writerows(["" if str(cell) in _UNKNOWN else cell for cell in row] for row in rows)
    write_file(path, text.getvalue().encode("utf-8"))


def reason(error: OSError) -> str:
    """Message of the operating system, as the end of a sentence."""
    return (error.strerror or str(error)).lower()
