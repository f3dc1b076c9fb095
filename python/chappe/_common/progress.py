"""Progress bars for long work, on terminals and in notebooks only."""

import importlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any

from chappe._common.arguments import quoted
from chappe._common.words import plain

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

Progress = bool | Callable[[float], object]
"""True for a progress bar, or a function of the completed share, from 0 to 1."""

PATIENCE_S = 2.0
"""Delay before a bar appears [s]."""


_PAUSE_S = 0.2
"""Time between two pictures of a bar in a notebook [s]."""

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
    if (in_notebook := _notebook()) is not None and not _quiet:
        with _notebook_bar(title, in_notebook) as shown_there:
            yield shown_there
        return
    begun = time.monotonic()
    shown: RichProgress | None = None

    def update(share: float) -> None:
        nonlocal shown
        if _quiet or not sys.stderr.isatty():
            return
        if shown is None and time.monotonic() - begun > PATIENCE_S:
            shown = _of_rich(plain(title))
            shown.start()
        if shown is not None:
            shown.update(shown.task_ids[0], completed=share)

    try:
        yield update
    finally:
        if shown is not None:
            shown.stop()


def _of_rich(title: str) -> "RichProgress":
    """A bar on standard error, not shown yet."""
    # rich takes long to load, and most runs end before a bar appears.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    progress.add_task(title, total=1.0)
    return progress


def _notebook() -> Any:
    """Module of IPython that displays, in the kernel of a notebook; ``None`` elsewhere."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return None if getattr(shell, "kernel", None) is None else importlib.import_module("IPython.display")


@contextmanager
def _notebook_bar(title: str, display: Any) -> Iterator[Callable[[float], None]]:
    """A progress bar in the output of a cell, as HTML without scripts; it is taken away at the end."""
    begun = last = time.monotonic()
    handle: Any = None

    def update(share: float) -> None:
        nonlocal handle, last
        now = time.monotonic()
        if now - begun < PATIENCE_S or now - last < _PAUSE_S:
            return
        last = now
        left = (now - begun) * (1 - share) / share if share > 0 else 0.0
        text = f"{escape(plain(title))} {100 * share:.0f} %, {left:,.0f} s left"
        shown = display.HTML(f'<progress value="{share:.3f}" max="1" aria-label="{text}"></progress> {text}')
        if handle is None:
            handle = display.display(shown, display_id=True)
        else:
            handle.update(shown)

    try:
        yield update
    finally:
        if handle is not None:
            handle.update(display.HTML(""))


@contextmanager
def followed(progress: Progress, title: str) -> Iterator[Callable[[float], object] | None]:
    """Yields the function that takes the completed share of a run; ``None`` without progress.

    Raises:
        TypeError: If `progress` is neither a truth value nor a function.
    """
    if callable(progress):
        yield progress
    elif progress is True:
        with bar(title) as update:
            yield update
    elif progress is False:
        yield None
    else:
        raise TypeError(f"progress must be a function of the completed share, or true or false, not {quoted(progress)}")
