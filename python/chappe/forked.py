"""Processes that were forked from one that had used polars: they lack its threads, and would wait for them for ever."""

import os
import re
import sys
from pathlib import Path

_THREADS = Path("/proc/self/task")
_WORKER = re.compile(r"polars-\d+")


class _Process:
    """This process.

    Attributes:
        lacks_threads: Whether it was forked from one that had used polars.
    """

    lacks_threads = False
    _about_to_lack = False

    def before_fork(self) -> None:
        self._about_to_lack = self.lacks_threads or ("polars" in sys.modules and _has_workers())

    def in_child(self) -> None:
        self.lacks_threads = self._about_to_lack


def _has_workers() -> bool:
    """Tells if polars has been used: it starts threads when it needs them. Unreadable threads count as a yes."""
    try:
        names = [(thread / "comm").read_text() for thread in _THREADS.iterdir()]
    except OSError:
        return True
    return any(map(_WORKER.match, names))


_process = _Process()
os.register_at_fork(before=_process.before_fork, after_in_child=_process.in_child)


def refuse() -> None:
    """Refuses what needs polars in a process in which it cannot work.

    Raises:
        RuntimeError: In a process that was forked from one that had used polars.
    """
    if _process.lacks_threads:
        raise RuntimeError(
            "this process was forked from one that had used polars, whose threads it lacks: whatever computes with "
            "tables, reads or writes them would wait for ever. Start processes with "
            'multiprocessing.get_context("spawn"), or let a study make its runs at the same time with `jobs`'
        )
