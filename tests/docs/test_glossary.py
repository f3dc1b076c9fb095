"""Public names are made of the terms of the glossary and of the plain words in words.txt, and of no others."""

import argparse
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chappe
from chappe.cli.options import parser

ROOT = Path(__file__).parents[2]


def _settings(schema: dict[str, Any], path: str = "") -> Iterator[str]:
    inner = schema["items"] if schema.get("type") == "array" and "properties" in schema["items"] else schema
    for name, below in inner.get("properties", {}).items():
        yield f"{path}.{name}"
        yield from _settings(below, f"{path}.{name}")


def _options(of: argparse.ArgumentParser) -> Iterator[str]:
    for action in of._actions:
        yield from action.option_strings
        yield action.dest
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield name
                yield from _options(below)


def _arguments() -> Iterator[str]:
    for name in chappe.__all__:
        thing = getattr(chappe, name)
        if not inspect.isclass(thing):
            yield name
        members = inspect.getmembers(thing, callable) if inspect.isclass(thing) else [(name, thing)]
        for member, function in members:
            if not member.startswith("_") and (inspect.isfunction(function) or inspect.ismethod(function)):
                yield member
                yield from set(inspect.signature(function).parameters) - {"self"}


def names() -> set[str]:
    """All public names: settings and their words, tables, columns, measures, commands, options, arguments."""
    described = json.loads((ROOT / "python/chappe/descriptions.json").read_text(encoding="utf-8"))
    tables = {name for table, about in described["tables"].items() for name in (table, *about["columns"])}
    words = {word for of in described["words"].values() for word in of}
    return {*_settings(chappe.schema()), *words, *tables, *described["measures"], *_options(parser()), *_arguments()}


def parts(name: str) -> set[str]:
    """Words of a name, in lower case, without numbers."""
    return {part for part in re.split(r"[^a-z0-9]+", name.lower()) if part and not part[0].isdigit()}


def singulars(word: str) -> set[str]:
    """The word, and those of which it may be the plural."""
    found = {word}
    for ending, singular in (("ies", "y"), ("es", ""), ("s", "")):
        if word.endswith(ending):
            found.add(word.removesuffix(ending) + singular)
    return found


def test_names_are_made_of_terms_and_plain_words_and_all_of_these_are_used() -> None:
    page = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    terms = re.findall(r"`([a-z0-9]+)`", " ".join(re.findall(r"^\| (`.*?`) \|", page, re.M)))
    known = [*terms, *(ROOT / "tests/words.txt").read_text(encoding="utf-8").split()]
    assert len(known) == len(set(known)), "a word is there twice"
    used: dict[str, str] = {part: name for name in sorted(names()) for part in parts(name)}
    missing = {part: name for part, name in used.items() if not singulars(part) & set(known)}
    assert missing == {}, "take a known word, or add a term to docs/glossary.md or a plain word to tests/words.txt"
    in_use = {word for part in used for word in singulars(part)}
    assert [word for word in known if word not in in_use] == []
