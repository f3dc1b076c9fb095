"""Detection of processes forked after polars was used: they lack its threads, and polars would hang."""

import os
import re
import sys
from pathlib import Path

_THREADS = Path("/proc/self/task")
_WORKER = re.compile(r"polars-\d+")


class _Process:
    """State of the current process.

    Attributes:
        lacks_threads: True if the process was forked from one that had used polars.
    """

    lacks_threads = False
    _about_to_lack = False

    def before_fork(self) -> None:
        self._about_to_lack = self.lacks_threads or ("polars" in sys.modules and _has_workers())

    def in_child(self) -> None:
        self.lacks_threads = self._about_to_lack


def _has_workers() -> bool:
    """Returns true if polars has started its threads, or if the threads cannot be listed."""
    try:
        names = [(thread / "comm").read_text() for thread in _THREADS.iterdir()]
    except OSError:
        return True
    return any(map(_WORKER.match, names))


_process = _Process()
os.register_at_fork(before=_process.before_fork, after_in_child=_process.in_child)


def refuse() -> None:
    """Refuses an operation that needs polars in a process where polars would hang.

    Raises:
        RuntimeError: In a process forked after polars was used.
    """
    if _process.lacks_threads:
        raise RuntimeError(
            "this process was forked from one that had used polars and lacks the threads of polars: any operation on "
            "tables would wait forever. Start processes with "
            'multiprocessing.get_context("spawn"), or let a study run in parallel with `jobs`'
        )
