"""Commands of other distributions, found by their entry points in the group ``chappe.commands``.

The name of an entry point is that of the command; the entry point refers to a :class:`Command`.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from typing import NamedTuple

GROUP = "chappe.commands"

ELSEWHERE = {"paper": "chappe-papers", "validate": "chappe-papers"}
"""Commands that Chappe's other distributions have."""


class Command(NamedTuple):
    """A command.

    Attributes:
        help: What it does, in a line.
        add_arguments: Adds its options and arguments to a parser.
        run: Runs it and returns an exit code.
    """

    help: str
    add_arguments: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], int]


def installed() -> Iterator[tuple[str, Command]]:
    """Commands of other distributions with their names, in alphabetical order."""
    # Its import takes longer than most commands take to be read.
    from importlib.metadata import entry_points

    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            yield point.name, point.load()
        except ImportError:
            # A distribution that was left behind, or belongs to another version of Chappe.
            continue


def where(name: str) -> str:
    """Advice to install the distribution of a command; empty for words that are no such command."""
    if name not in ELSEWHERE:
        return ""
    return (
        f"the command {name!r} is in the package {ELSEWHERE[name]}, which is not installed for this version of Chappe: "
        "`pip install ./reproductions` in Chappe's repository installs it"
    )
