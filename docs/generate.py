"""Writes docs/settings.md from the schema, and the file of descriptions for ``chappe explain`` from other pages.

Called as ``python docs/generate.py``. The settings are those of the installed package; tables and columns are those of
docs/results.md, words those of docs/models.md.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chappe
from chappe.explain import DESCRIPTIONS
from chappe.reference import default, groups, meaning, short, split

DOCS = Path(__file__).parent
PAGE = DOCS / "settings.md"
DESCRIBED = Path(chappe.__file__).parent / DESCRIPTIONS

HEAD = """# Settings

Every setting with its type, its default and its meaning. `docs/generate.py` writes this page from `chappe schema`; do
not edit it. What the words of a setting mean is said in [models.md](models.md), how a scenario is written in
[scenarios.md](scenarios.md).

The name of a setting is its dotted path: in a file (`tcp.window = 8`, or `window = 8` under `[tcp]`), on the command
line (`--set tcp.window=8`), in Python (`{"tcp.window": 8}`) and in messages. `N` is a number from 0 on: the place in a
list. Two settings have no usable default: `run.stop`, and `flow.N.to` of each flow. Where settings limit each other,
`chappe check` says how.
"""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _quantities(schema: Any) -> Iterator[str]:
    """The entry of the schema for every kind of quantity."""
    if isinstance(schema, dict):
        unit = split(schema["description"])[1] if isinstance(schema.get("description"), str) else ""
        if short(unit) != unit:
            yield unit
        schema = list(schema.values())
    if isinstance(schema, list):
        for inner in schema:
            yield from _quantities(inner)


def _values() -> Iterator[str]:
    yield "\n## How values are written\n"
    yield "| type | written as |"
    yield "|---|---|"
    for unit in sorted({unit.partition(";")[0] for unit in _quantities(chappe.schema())}):
        yield f"| {short(unit)} | {unit.split(' such as ')[1]} |"
    yield '| list of places | `[["0 m", "0 m"], ["200 m", "0 m"]]`: x and y of each node |'


def _reference() -> Iterator[str]:
    for name, about, settings in groups("", chappe.schema()):
        yield f"\n## {f'`{name}`' if name else 'At the top'}\n"
        yield f"{about}\n"
        yield "| setting | type | default | meaning |"
        yield "|---|---|---|---|"
        for key, schema in settings.items():
            kind, text = meaning(schema)
            path = f"{name}.{key}" if name else key
            yield f"| `{path}` | {_cell(kind)} | {default(schema)} | {_cell(text)} |"


def _shelves() -> Iterator[str]:
    yield "\n## Parts to choose from\n"
    yield "What `chappe list` prints: every setting that chooses a part, with its parts.\n"
    yield "| setting | part | what it is |"
    yield "|---|---|---|"
    for shelf in chappe.parts():
        for part in shelf["parts"]:
            yield f"| `{shelf['setting']}` | `{part['keyword']}` | {_cell(part['description'])} |"


def _presets() -> Iterator[str]:
    """The settings in which presets differ."""
    names = [p["keyword"] for shelf in chappe.parts() if shelf["setting"] == "extends" for p in shelf["parts"]]
    flat = {n: chappe.Scenario({"extends": n, "run": {"stop": "1 s"}}).flat() for n in names}
    yield "\n## What the presets set\n"
    yield "Settings in which at least two presets differ; all others have their default in every preset.\n"
    yield f"| setting | {' | '.join(f'`{n}`' for n in names)} |"
    yield f"|---|{'---|' * len(names)}"
    for setting in flat[names[0]]:
        values = [flat[n][setting] for n in names]
        if any(v != values[0] for v in values):
            written = [f"`{str(v).lower() if isinstance(v, bool) else v}`" for v in values]
            yield f"| `{setting}` | {' | '.join(written)} |"


def page() -> str:
    """The text of the page."""
    return "\n".join([HEAD.rstrip(), *_values(), *_reference(), *_shelves(), *_presets()]) + "\n"


def _rows(text: str, head: str) -> Iterator[list[str]]:
    """Cells of the rows of tables with this head."""
    for table in re.findall(rf"^{re.escape(head)}.*\n\|[-:|]+\|\n((?:\|.*\|\n)+)", text, re.MULTILINE):
        for row in table.splitlines():
            cells = re.split(r"(?<!\\)\|", row)[1:-1]
            yield [re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", c.strip().replace("\\|", "|")) for c in cells]


def _described(text: str, head: str) -> dict[str, str]:
    return {name.strip("`"): about for name, about in _rows(text, head)}


def _tables(text: str) -> dict[str, dict[str, object]]:
    """First paragraph and columns of each table."""
    found: dict[str, dict[str, object]] = {}
    for section in re.split(r"^#{2,3} ", text, flags=re.MULTILINE)[1:]:
        named = re.match(r"`(\w+)`\n\n(.*?)\n\n", section, re.DOTALL)
        if named and (columns := _described(section, "| column | meaning |")):
            found[named[1]] = {"about": " ".join(named[2].split()), "columns": columns}
    return found


def _words(text: str) -> dict[str, dict[str, str]]:
    """Meanings of words by setting."""
    found: dict[str, dict[str, str]] = {}
    for head in ("| setting | word |", "| setting | value | meaning |"):
        for setting, word, *about in _rows(text, head):
            found.setdefault(setting.strip("`"), {})[word.strip("`")] = "; ".join(about)
    return found


def descriptions() -> str:
    """The text of the file of descriptions."""
    results = (DOCS / "results.md").read_text(encoding="utf-8")
    models = (DOCS / "models.md").read_text(encoding="utf-8")
    found = {
        "tables": _tables(results),
        "measures": _described(results, "| measure | meaning |"),
        "words": _words(models),
    }
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    DESCRIBED.write_text(descriptions(), encoding="utf-8")
