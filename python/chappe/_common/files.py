"""Atomic writing of files, the end of Parquet files, and removal of folders that stay empty."""

import os
from collections.abc import Iterable
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import IO

UNFINISHED = ".tmp"
"""Suffix of unfinished files."""


def write_file(path: Path, data: bytes, unfinished: Path | None = None) -> None:
    """Writes a file atomically: whole or not at all.

    Args:
        path: The file.
        data: Its content.
        unfinished: Name that the file has until it is whole; by default its own with :data:`UNFINISHED`.
    """
    unfinished = unfinished or path.parent / f"{path.name}{UNFINISHED}"
    try:
        with unfinished.open("wb") as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise


def footer(file: IO[bytes]) -> tuple[int, bytes]:
    """Place at which the metadata of a Parquet file begin, and the file from there on; empty for other files."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - 8, 0))
    end = file.read()
    length = int.from_bytes(end[:4], "little") + 8
    if len(end) < 8 or not end.endswith(b"PAR1") or length > size:
        return size, b""
    begin = file.seek(size - length)
    return begin, file.read()


def make_folder(folder: Path) -> list[Path]:
    """Creates a folder and its missing parents.

    Returns:
        The new folders, innermost first, for :func:`take_away`.
    """
    missing = list(takewhile(lambda p: not p.exists(), (folder, *folder.parents)))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        take_away(missing)
        raise
    return missing


def take_away(folders: Iterable[Path]) -> None:
    """Removes the folders that are empty, in the given order (innermost first)."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()
