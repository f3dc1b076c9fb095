"""Errors for people."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from chappe.words import plain

_SHOWN = 20
"""The most problems that are shown; whoever has more has made one mistake many times."""


_WIDE = 200
"""More of a line of a file is not shown."""


class Problem(NamedTuple):
    """One thing that is wrong with a scenario."""

    path: str
    """Dotted name of the setting, such as ``tcp.window``; empty when the scenario as a whole is meant."""
    message: str
    """What is wrong."""
    help: str | None
    """A way out."""
    file: str | None
    """The file in which it stands, or ``--set``; ``None`` for a dict."""
    line: int | None
    """Line, from 1."""
    column: int | None
    """Column, from 1."""


class ScenarioError(ValueError):
    """A scenario that cannot be run. ``str(error)`` shows all its problems with their places.

    Attributes:
        problems: Every problem, up to a thousand.
        more: How many more there are.
        coloured: The text with colours for a terminal.
    """

    problems: list[Problem]
    more: int
    coloured: str

    def __init__(self, text: str, coloured: str, problems: str, more: int = 0):
        super().__init__(text, coloured, problems, more)
        self.coloured = coloured
        self.more = more
        self.problems = [Problem(**p) for p in json.loads(problems)]

    def __str__(self) -> str:
        return str(self.args[0])


class StudyError(ValueError):
    """A study that cannot be run. ``str(error)`` shows all its problems with their places.

    Attributes:
        problems: Every problem.
        more: How many more there are in the scenario that it names.
    """

    def __init__(self, problems: Sequence[Problem], others: Sequence[ScenarioError] = (), lines: Sequence[str] = ()):
        """Takes the problems of the study, errors of the scenario that it names, and the lines of its file."""
        super().__init__(problems, others, lines)
        self.problems = [*problems, *(p for e in others for p in e.problems)]
        self.more = sum(e.more for e in others)

    def __str__(self) -> str:
        problems, others, lines = self.args
        shown = [_render(p, lines) for p in problems[:_SHOWN]]
        if len(problems) > _SHOWN:
            shown.append(f"... and {len(problems) - _SHOWN:,} more")
        return "\n\n".join([*shown, *(str(e).rstrip() for e in others)])


class StoreError(Exception):
    """The folder of a study cannot be used or written.

    Attributes:
        code: Exit code of the command line: 2 when nothing was run, 1 when runs were lost.
    """

    def __init__(self, message: str, code: int = 2):
        super().__init__(message, code)
        self.code = code

    def __str__(self) -> str:
        return str(self.args[0])


class RunsError(Exception):
    """Runs failed without which nothing can be said."""


class WorkWarning(UserWarning):
    """A study that takes more than an hour."""


class ClusterError(Exception):
    """A cluster cannot be used."""


def _render(p: Problem, source: Sequence[str]) -> str:
    lines = [f"error: {plain(p.message)}"]
    margin = ""
    if p.file is not None:
        lines.append(f" --> {plain(p.file)}" + (f":{p.line}" if p.line is not None else ""))
        if p.line is not None and p.line <= len(source):
            margin = " " * len(str(p.line))
            text = plain(source[p.line - 1].rstrip()[:_WIDE])
            lines += [f"{margin} |", f"{p.line} | {text}", f"{margin} |"]
    elif p.path and p.path not in p.message:
        lines.append(f" --> {plain(p.path)}")
    if p.help is not None:
        lines.append(f"{margin or ' '} = help: {plain(p.help)}")
    return "\n".join(lines)


def reason(error: OSError) -> str:
    """What the system said, as the end of a sentence."""
    return (error.strerror or str(error)).lower()
