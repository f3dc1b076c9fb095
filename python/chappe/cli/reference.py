"""Commands about names: ``explain`` and ``completion``."""

import argparse
from typing import Any

from chappe.cli.inputs import CommandError, print_json
from chappe.printing import problems as show
from chappe.scenario.scenario import parts, schema


def explain(args: argparse.Namespace) -> int:
    """``chappe explain``."""
    if args.all and args.name is None:
        raise CommandError("--all is for a group of settings: name it, such as tcp")
    if args.schema:
        print_json(schema())
    elif args.word is not None:
        _list_models(args.word, args.json)
    elif args.name is not None:
        _explain_name(args.name, args.json, is_whole=args.all)
    else:
        raise CommandError("name what to explain, such as tcp.receive_window, or use --list or --schema")
    return 0


def _list_models(word: str, as_json: bool) -> None:
    """Lists the models, or the models and words of settings with a word in their names or settings."""
    shelves = parts()
    if word:
        from chappe.scenario.explain import words

        shelves = [*_with_word(shelves, word.lower()), *_with_word(words(), word.lower(), in_names=False)]
    if not shelves:
        raise CommandError(
            f"no model and no word has {word!r} in its name or its setting: `chappe explain --list` lists all models"
        )
    if as_json:
        print_json(shelves)
    else:
        show.parts(shelves)


def _with_word(shelves: list[dict[str, Any]], word: str, *, in_names: bool = True) -> list[dict[str, Any]]:
    """Registries with the word in their settings, or names, and the models with the word in their names."""
    found = []
    for shelf in shelves:
        if word in shelf["setting"] or (in_names and word in shelf["name"].lower()):
            found.append(shelf)
        elif own := [p for p in shelf["parts"] if word in p["keyword"]]:
            found.append({**shelf, "parts": own})
    return found


def _explain_name(name: str, as_json: bool, *, is_whole: bool) -> None:
    """Prints all meanings of a name."""
    from chappe.scenario.explain import explain, suggestions

    found = explain(name)
    if not found:
        near = suggestions(name)
        known = f"did you mean {' or '.join(near)}?" if near else "`chappe explain --list` lists the models"
        raise CommandError(f"nothing is named {name!r}: {known}")
    if as_json:
        print_json([e._asdict() for e in found])
    else:
        show.explanations(found, is_whole=is_whole)


def completion(args: argparse.Namespace) -> int:
    """``chappe completion``."""
    from chappe.cli.completion import script

    print(script(args.parser_of_all, args.shell))
    return 0
