"""Progress bars for long work, on terminals only."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from chappe._words import plain

PATIENCE_S = 2.0
"""Delay before a bar appears [s]."""


_quiet = False
"""True while no bar may appear."""


@contextmanager
def hidden(quiet: bool = True) -> Iterator[None]:
    """Shows no progress bars, if ``quiet`` is true."""
    global _quiet
    before, _quiet = _quiet, quiet or _quiet
    try:
        yield
    finally:
        _quiet = before


@contextmanager
def bar(title: str) -> Iterator[Callable[[float], None]]:
    """A progress bar on standard error; yields a function that takes the completed share, from 0 to 1."""
    console = Console(stderr=True)
    begun = time.monotonic()
    shown: Progress | None = None
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())

    def update(share: float) -> None:
        nonlocal shown
        if _quiet or not sys.stderr.isatty():
            return
        if shown is None and time.monotonic() - begun > PATIENCE_S:
            shown = Progress(*columns, console=console, transient=True)
            shown.add_task(plain(title), total=1.0)
            shown.start()
        if shown is not None:
            shown.update(shown.task_ids[0], completed=share)

    try:
        yield update
    finally:
        if shown is not None:
            shown.stop()
