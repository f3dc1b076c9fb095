"""Scripts with which shells complete commands, options, names and files."""

import argparse
from collections.abc import Iterator
from typing import Any

import shtab

from chappe.scenario.explain import known, measure_names, setting_names


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Completion script.

    Args:
        parser: Parser of all commands.
        shell: ``"bash"``, ``"zsh"`` or ``"fish"``.
    """
    settings = _words("settings", setting_names())
    completed = {
        "DIR": shtab.DIRECTORY,
        "FILE": shtab.FILE,
        "PATH": shtab.FILE,
        "NAME=VALUE": settings,
        "NAME=VALUES": settings,
    }
    # shtab reads `complete` of an action, which argparse does not declare.
    for action in _actions(parser):
        if action.dest == "name":
            action.complete = _words("names", known())  # type: ignore[attr-defined]
        elif action.dest == "measures":
            action.complete = _words("measures", measure_names())  # type: ignore[attr-defined]
        elif isinstance(action.metavar, str) and action.metavar in completed:
            action.complete = completed[action.metavar]  # type: ignore[attr-defined]
    text: str = shtab.complete(parser, shell=shell)
    return text


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from _actions(inner)


def _words(name: str, words: Any) -> dict[str, Any]:
    """Completion by a list of words that the script has."""
    listed = " ".join(words)
    return {
        "bash": f"_chappe_{name}",
        "zsh": f"({listed})",
        "fish": f"(string split ' ' -- '{listed}')",
        "preamble": {"bash": f"_chappe_{name}() {{\n  compgen -W '{listed}' -- \"$1\"\n}}\n"},
    }
