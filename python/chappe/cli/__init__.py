"""The command ``chappe``."""

import argparse
import contextlib
import io
import os
import sys
from collections.abc import Sequence

from chappe._common import interrupts as _interrupts
from chappe._common.words import plain, tell
from chappe.cli.inputs import BAD_INPUT, CommandError, CommandLineError
from chappe.cli.options import parser
from chappe.errors import ClusterError, LimitError, RunError, ScenarioError, StorageError, StudyError
from chappe.printing.problems import refusal

# Commands import statistics and figures themselves: these take longer to load than most commands take to run.


def _prepare_streams() -> None:
    """Lets terminals without "±" show a question mark."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _prepare_numpy() -> None:
    """Lets NumPy start without threads: they spin longer than most runs take, and no command has linear algebra.

    An environment that sets the number of threads keeps that number.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code: 0, 1 (cannot be done), 2 (bad input) or 130 (interrupted)."""
    _prepare_streams()
    _prepare_numpy()
    is_process = argv is None
    is_done = False
    try:
        try:
            if is_process:
                _interrupts.during()
            code = _done(argv)
            is_done = True
            return code
        finally:
            sys.stdout.flush()
            if is_process:
                _interrupts.after(is_done=is_done)
    except KeyboardInterrupt:
        # CPython kills itself with SIGINT at exit if the interrupt came while it executed a string, as imports of
        # dataclasses do, even if it was caught. The next string makes it forget the interrupt.
        exec("")
        tell("\nInterrupted.")
        return _interrupts.INTERRUPTED
    except OSError as e:
        if not isinstance(e, BrokenPipeError):
            tell(f"error: cannot write the output: {plain(e.strerror or e).lower()}")
        # Python would report the error again at exit.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _done(argv: Sequence[str] | None) -> int:
    """Runs a command, and prints the reason of a failure."""
    words = sys.argv[1:] if argv is None else argv
    args = parser(words).parsed(words)
    try:
        return int(args.do(args))
    except CommandLineError as e:
        return max([_print_error(found, args) for found in e.found])
    except (ScenarioError, LimitError, StudyError, CommandError, StorageError, ClusterError, RunError) as e:
        return _print_error(e, args)


def _print_error(e: Exception, args: argparse.Namespace) -> int:
    """Prints the reason of a failure, and returns its exit code."""
    if isinstance(e, (ScenarioError, LimitError, StudyError)):
        # A command with several files has the name in the problem.
        found = (p.file for p in e.problems if p.file) if "files" in args else iter(())
        refusal(
            e,
            getattr(args, "file", getattr(args, "folder", None)) or next(found, "a scenario of the paper"),
        )
        return BAD_INPUT
    tell(f"error: {plain(e)}")
    return e.code if isinstance(e, (CommandError, StorageError, ClusterError)) else 1
