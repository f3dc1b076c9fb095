"""The command ``chappe`` as a separate process, and programs of the repository as modules."""

import argparse
import importlib.util
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

from chappe.cli import options

REPOSITORY = Path(__file__).resolve().parent.parent
CHAPPE = (sys.executable, "-m", "chappe.cli")

PATIENCE_S = 120
"""Timeout of a command [s], far above its normal duration."""


def environment(**changes: str) -> dict[str, str]:
    """This process's environment, without what changes how a command writes and what `make` tells its own."""
    left_out = ("NO_COLOR", "FORCE_COLOR", "PYTHONUNBUFFERED", "COLUMNS", "MAKEFLAGS", "MFLAGS", "MAKELEVEL")
    kept = {k: v for k, v in os.environ.items() if k not in left_out}
    return {**kept, "TERM": "xterm-256color", **changes}


def chappe(*arguments: object, cwd: Path, env: Mapping[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    """Runs a command and captures its output."""
    return subprocess.run(
        [*CHAPPE, *map(str, arguments)],
        cwd=cwd,
        env=dict(env or environment()),
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
    )


def start(*arguments: object, cwd: Path) -> "subprocess.Popen[str]":
    """Starts a command with piped output."""
    return subprocess.Popen(
        [*CHAPPE, *map(str, arguments)],
        cwd=cwd,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """Parses arguments of ``chappe``, without running the command."""
    try:
        return options.parser().parsed(arguments)
    except SystemExit as e:
        raise AssertionError(f"chappe {shlex.join(arguments)} is not a command") from e


def program(name: str) -> ModuleType:
    """A program of the repository, by its path without ``.py``."""
    path = REPOSITORY / f"{name}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder, with their bytes."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
