"""Errors and warnings: all of them are exported from ``chappe``."""

from collections.abc import Sequence
from typing import NamedTuple

from chappe._common.words import plain

_SHOWN = 20
"""Problems printed at most; the rest are usually repetitions."""


_WIDE = 200
"""Characters printed at most of a line of a file."""


class Problem(NamedTuple):
    """A problem of a scenario or study."""

    path: str
    """Dotted name of the setting, such as ``tcp.receive_window``; empty for the scenario as a whole."""
    message: str
    """Description of the problem."""
    help: str | None
    """Suggestion for a repair."""
    file: str | None
    """File of the setting, or ``--set``; ``None`` for a dict."""
    line: int | None
    """Line number, from 1."""
    column: int | None
    """Column number, from 1."""


class ChappeError(Exception):
    """Base of all errors of Chappe."""


class ChappeWarning(UserWarning):
    """Base of all warnings of Chappe."""


class _CoreError(ChappeError):
    """An error of the core, with the problems that it found."""

    problems: list[Problem]
    more: int
    colored: str

    def __init__(self, problems: Sequence[Problem], text: str | None = None, colored: str | None = None, more: int = 0):
        """Takes the problems, their text with and without terminal colors, and the number of further problems."""
        text = "\n\n".join(_render(p, ()) for p in problems) if text is None else text
        super().__init__(problems, text, colored, more)
        self.colored = text if colored is None else colored
        self.more = more
        self.problems = [Problem(*p) for p in problems]

    def __str__(self) -> str:
        return str(self.args[1])


class ScenarioError(_CoreError, ValueError):
    """A scenario that cannot be run. ``str(error)`` lists all problems with their places.

    Attributes:
        problems: All problems, up to a thousand.
        more: Number of further problems.
        colored: The text with terminal colors.
    """


class LimitError(_CoreError, RuntimeError):
    """A run has reached a limit, such as ``run.max_memory``, and was ended.

    Attributes:
        problems: The limit, as a problem of its setting.
        more: Always 0.
        colored: The text with terminal colors.
    """


class StudyError(ChappeError, ValueError):
    """A study that cannot be run. ``str(error)`` lists all problems with their places.

    Attributes:
        problems: All problems.
        more: Number of further problems in the scenario of the study.
    """

    def __init__(
        self, problems: Sequence[Problem], scenario_errors: Sequence[ScenarioError] = (), lines: Sequence[str] = ()
    ):
        """Takes problems of the study, errors of its scenario, and the lines of the study file."""
        super().__init__(problems, scenario_errors, lines)
        self.problems = [*problems, *(p for e in scenario_errors for p in e.problems)]
        self.more = sum(e.more for e in scenario_errors)

    def __str__(self) -> str:
        problems, scenario_errors, lines = self.args
        shown = [_render(p, lines) for p in problems[:_SHOWN]]
        if len(problems) > _SHOWN:
            shown.append(f"... and {len(problems) - _SHOWN:,} more")
        return "\n\n".join([*shown, *(str(e).rstrip() for e in scenario_errors)])


class StorageError(ChappeError):
    """The folder of a study cannot be read or written.

    Attributes:
        code: Exit code of the command: 2 if nothing was run, 1 if runs were lost.
    """

    def __init__(self, message: str, code: int = 2):
        super().__init__(message, code)
        self.code = code

    def __str__(self) -> str:
        return str(self.args[0])


class RunError(ChappeError, RuntimeError):
    """A run has failed, has ended, or is being driven by another thread."""


class ClusterError(ChappeError):
    """A cluster cannot be used.

    Attributes:
        code: Exit code of the command: 2 if nothing was run, 1 if runs were lost.
    """

    def __init__(self, message: str, code: int = 2):
        super().__init__(message, code)
        self.code = code

    def __str__(self) -> str:
        return str(self.args[0])


class WorkWarning(ChappeWarning):
    """A study that takes more than an hour."""


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
    """Message of the operating system, as the end of a sentence."""
    return (error.strerror or str(error)).lower()
