"""Files that are written whole or not at all, and folders that do not stay when nothing comes into them."""

import csv
import io
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

UNFINISHED = ".tmp"
"""Ending of what is being written."""


def write_file(path: Path, data: bytes) -> None:
    """Writes a file whole or not at all."""
    unfinished = path.with_name(path.name + UNFINISHED)
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
    """Writes rows as a CSV file, whole or not at all."""
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(header)
    out.writerows(rows)
    write_file(path, text.getvalue().encode("utf-8"))


def make_folder(folder: Path) -> list[Path]:
    """Makes a folder and those above it, as far as they are missing.

    Returns:
        Those that were made, the innermost first, as :func:`take_away` wants them.
    """
    missing = list(takewhile(lambda p: not p.exists(), (folder, *folder.parents)))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        take_away(missing)
        raise
    return missing


def take_away(made: Iterable[Path]) -> None:
    """Removes folders, the innermost first, as far as there is nothing in them."""
    with suppress(OSError):
        for folder in made:
            folder.rmdir()
