"""Commands about names: ``list``, ``explain``, ``schema`` and ``completion``."""

import argparse
from typing import Any

from chappe.cli.inputs import CommandError, print_json
from chappe.cli.text import problems as show
from chappe.scenario.scenario import parts, schema


def list_models(args: argparse.Namespace) -> int:
    """``chappe list``."""
    shelves = parts()
    if args.word is not None:
        shelves = _with_word(shelves, args.word.lower())
        if not shelves:
            raise CommandError(f"no model has {args.word!r} in its name or its setting: `chappe list` lists all models")
    if args.json:
        print_json(shelves)
    else:
        show.parts(shelves)
    return 0


def _with_word(shelves: list[dict[str, Any]], word: str) -> list[dict[str, Any]]:
    """Registries with the word in their names, and the models with the word in their names."""
    found = []
    for shelf in shelves:
        if word in shelf["name"].lower() or word in shelf["setting"]:
            found.append(shelf)
        elif own := [p for p in shelf["parts"] if word in p["keyword"]]:
            found.append({**shelf, "parts": own})
    return found


def explain_name(args: argparse.Namespace) -> int:
    """``chappe explain``."""
    from chappe.scenario.explain import explain, suggestions

    found = explain(args.name)
    if not found:
        near = suggestions(args.name)
        known = f"did you mean {' or '.join(near)}?" if near else "`chappe list` lists the models"
        raise CommandError(f"nothing is named {args.name!r}: {known}")
    if args.json:
        print_json([e._asdict() for e in found])
    else:
        show.explanations(found, is_whole=args.all)
    return 0


def print_schema(_: argparse.Namespace) -> int:
    """``chappe schema``."""
    print_json(schema())
    return 0


def completion(args: argparse.Namespace) -> int:
    """``chappe completion``."""
    from chappe.cli.completion import script

    print(script(args.parser_of_all, args.shell))
    return 0
