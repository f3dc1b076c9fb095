"""Ctrl-C of a command before and after its work: it ends with exit code 130, without a traceback.

The package takes longer to import than many commands take to run. A command is known by the words with which Python
was started: programs that import the package keep their handler. This module comes first, and imports hardly anything.
"""

import _signal  # type: ignore[import-not-found]  # `signal` takes longer to load than what precedes the handler
import os
import sys
from contextlib import suppress

INTERRUPTED = 130
"""Exit code after Ctrl-C."""

_MODULES = ("chappe", "chappe.cli")
"""Modules that are run as commands."""


def _is_command() -> bool:
    """True if Python was started for a command: as ``chappe``, or with ``-m``."""
    words = sys.orig_argv[1:]
    for n, word in enumerate(words):
        if word == "-m":
            return n + 1 < len(words) and words[n + 1] in _MODULES
        if not word.startswith("-"):
            return os.path.basename(word) == "chappe"
        if word.startswith("-c"):
            return False
    return False


def _leave(_: int, __: object) -> None:
    """Ends the process at once: nothing has begun, or all is done."""
    os.write(2, b"\nInterrupted.\n")
    os._exit(INTERRUPTED)


def _handle(handler: object) -> None:
    """Sets the handler of Ctrl-C, unless the process ignores Ctrl-C or has a handler of its own."""
    if _signal.getsignal(_signal.SIGINT) in (_signal.default_int_handler, _leave):
        with suppress(ValueError):  # a thread has no handlers
            _signal.signal(_signal.SIGINT, handler)


def during() -> None:
    """Raises :class:`KeyboardInterrupt`, as Python does."""
    _handle(_signal.default_int_handler)


def after(*, is_done: bool) -> None:
    """Ignores interrupts when all is done, for Python would be killed while it ends; otherwise ends the process."""
    _handle(_signal.SIG_IGN if is_done else _leave)


# The rest of the package is imported after this.
if _is_command():
    _handle(_leave)
