"""Fault injection at steps that change the disk, reproducible on any machine."""

import math
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from chappe.study.store import parts

Fault = Callable[[], object]


def kill() -> None:
    """Ends the process like ``kill -9``."""
    os.kill(os.getpid(), signal.SIGKILL)


def interrupt() -> None:
    """Ctrl-C, which the main thread receives a little later, after the current step of another thread."""
    os.kill(os.getpid(), signal.SIGINT)


class Steps:
    """Counts the steps that change the disk, and injects a fault at the n-th step.

    Attributes:
        made: Names of the steps so far.
    """

    def __init__(self, put: Callable[[Any, str, Any], object], at: int, fault: Fault, *, once: bool = False):
        """Wraps the functions that change the disk.

        Args:
            put: Function like ``setattr`` or ``monkeypatch.setattr``.
            at: Number of the step, from 1.
            fault: Replaces this step and all later steps; precedes them if it returns.
            once: True for this step only.
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
            # An interrupt does not damage written data.
            if number == self._at and first is not None and self._fault is not interrupt:
                first(*arguments)
            if self._at <= number <= self._last:
                self._fault()
            return does(*arguments, **named)

        return step


def _half_written(file: int) -> None:
    """Simulates bytes that did not reach the disk."""
    os.ftruncate(file, os.fstat(file).st_size // 2)


def _half_deleted(path: Path, **_: Any) -> None:
    """Simulates partly deleted files."""
    for file in sorted(path.glob("*"))[:3]:
        os.unlink(file)
