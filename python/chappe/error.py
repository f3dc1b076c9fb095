"""Errors for people."""

import json
from typing import NamedTuple


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
