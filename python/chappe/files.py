"""Files that are written whole or not at all."""

import os
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
