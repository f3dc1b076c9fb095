"""Faults at steps that change the disk: the same step in every run of a test, on any machine."""

import math
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from chappe.study import parts

Fault = Callable[[], object]


def kill() -> None:
    """Ends this process as ``kill -9`` does."""
    os.kill(os.getpid(), signal.SIGKILL)


def interrupt() -> None:
    """Ctrl-C, which the main thread hears a little later: a step in another thread is made all the same."""
    os.kill(os.getpid(), signal.SIGINT)


class Steps:
    """Counts the steps that change the disk, and lets the n-th of them end in a fault.

    Attributes:
        made: The steps that there have been, by name.
    """

    def __init__(self, put: Callable[[Any, str, Any], object], at: int, fault: Fault, *, once: bool = False):
        """Replaces what changes the disk.

        Args:
            put: Sets an attribute of an object, as ``setattr`` or ``monkeypatch.setattr``.
            at: The step, from 1.
            fault: Happens instead of this step and of all later ones, or before them if it returns.
            once: At this step only.
        """
        self.made: list[str] = []
        self._at = at
        self._fault = fault
        self._last = at if once else math.inf
        self._one_at_a_time = threading.Lock()
        for name in ("rename", "replace", "mkdir", "unlink"):
            put(Path, name, self._wrapped(name, getattr(Path, name)))
        put(os, "fsync", self._wrapped("fsync", os.fsync, _half_written))
        put(parts, "remove", self._wrapped("remove", parts.remove, _half_deleted))

    def _wrapped(
        self, name: str, does: Callable[..., Any], first: Callable[..., object] | None = None
    ) -> Callable[..., Any]:
        def step(*arguments: Any, **named: Any) -> Any:
            with self._one_at_a_time:
                self.made.append(name)
                number = len(self.made)
            # An interrupt leaves whole what has been written.
            if number == self._at and first is not None and self._fault is not interrupt:
                first(*arguments)
            if self._at <= number <= self._last:
                self._fault()
            return does(*arguments, **named)

        return step


def _half_written(file: int) -> None:
    """Some of the bytes have not reached the disk."""
    os.ftruncate(file, os.fstat(file).st_size // 2)


def _half_deleted(path: Path, **_: Any) -> None:
    """Some of the files are deleted already."""
    for file in sorted(path.glob("*"))[:3]:
        os.unlink(file)
