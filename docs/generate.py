"""Writes settings.md and chappe/typing.py from the schema, and chappe/descriptions.json from other pages.

``make`` calls it after the package is built, because the schema is compiled: the settings are those of the installed
package. Tables and columns are those of docs/results.md, measures those of that page and of docs/studies.md, words
those of the pages of models. Git ignores what it writes.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chappe
from chappe.results.storage.recorded import NODES
from chappe.scenario.explain import DESCRIPTIONS
from chappe.scenario.reference import default, groups, is_everyday, meaning, short, split

DOCS = Path(__file__).parent
PAGE = DOCS / "settings.md"
DESCRIBED = Path(chappe.__file__).parent / DESCRIPTIONS
TYPING = DESCRIBED.with_name("typing.py")

HEAD = """# Settings

Every setting with its type, its default and its meaning. [models.md](models.md) explains the values of settings that
are words, [scenarios.md](scenarios.md) the syntax of scenarios.

The name of a setting is its dotted path: in a file (`tcp.receive_window = 8`, or `receive_window = 8` under `[tcp]`),
on the command line (`--set tcp.receive_window=8`), in Python (`{"tcp.receive_window": 8}`) and in messages. `N` is a
number from 0 on: the position in a list. `run.stop` is required, and so is `flow.N.dst` of a flow. If values contradict
each other, `chappe check` explains the conflict.
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
    yield '| list of positions | `[["0 m", "0 m"], ["200 m", "0 m"]]`: x and y of each node |'


def _row(path: str, schema: dict[str, Any]) -> str:
    kind, text = meaning(schema)
    return f"| `{path}` | {_cell(kind)} | {default(schema)} | {_cell(text)} |"


def _everyday() -> Iterator[str]:
    yield "\n## Everyday settings\n"
    yield "Most scenarios need no others. The sections below have all settings, group by group.\n"
    yield "| setting | type | default | meaning |"
    yield "|---|---|---|---|"
    for name, _, settings in groups("", chappe.schema()):
        yield from (_row(f"{name}.{key}".lstrip("."), s) for key, s in settings.items() if is_everyday(s))


def _reference() -> Iterator[str]:
    for name, about, settings in groups("", chappe.schema()):
        yield f"\n## {f'`{name}`' if name else 'At the top'}\n"
        yield f"{about}\n"
        yield "| setting | type | default | meaning |"
        yield "|---|---|---|---|"
        for key, schema in settings.items():
            yield _row(f"{name}.{key}".lstrip("."), schema)


def _shelves() -> Iterator[str]:
    yield "\n## Parts to choose from\n"
    yield "Every setting that selects a part, with all parts, as printed by `chappe explain --list`.\n"
    yield "| setting | part | description |"
    yield "|---|---|---|"
    for shelf in chappe.parts():
        for part in shelf["parts"]:
            yield f"| `{shelf['setting']}` | `{part['keyword']}` | {_cell(part['description'])} |"


def _presets() -> Iterator[str]:
    """The settings in which presets differ."""
    names = [p["keyword"] for shelf in chappe.parts() if shelf["setting"] == "extends" for p in shelf["parts"]]
    flat = {n: dict(chappe.Scenario({"extends": n, "run": {"stop": "1 s"}})) for n in names}
    yield "\n## What the presets set\n"
    yield "Settings in which at least two presets differ; all other settings have their default in every preset.\n"
    yield f"| setting | {' | '.join(f'`{n}`' for n in names)} |"
    yield f"|---|{'---|' * len(names)}"
    for setting in flat[names[0]]:
        values = [flat[n][setting] for n in names]
        if any(v != values[0] for v in values):
            written = [f"`{str(v).lower() if isinstance(v, bool) else v}`" for v in values]
            yield f"| `{setting}` | {' | '.join(written)} |"


def page() -> str:
    """The text of the page."""
    return "\n".join([HEAD.rstrip(), *_everyday(), *_values(), *_reference(), *_shelves(), *_presets()]) + "\n"


TYPING_HEAD = '''"""Types for editors and type checkers. docs/generate.py writes this module.

``Settings`` completes and checks dotted names of settings and their words::

    settings: chappe.typing.Settings = {"tcp.variant": "vegas", "topology.hops": 7}
    scenario = chappe.Scenario.chain().with_settings(settings)
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from chappe.measures import Direction
from chappe.scenario.scenario import MobilityFormat, ScenarioLike
from chappe.expressions.run_measures import Warmup

__all__ = ["Direction", "MobilityFormat", "ScenarioLike", "Settings", "Warmup"]

'''


def _annotation(schema: dict[str, Any]) -> str:
    """Type of the values of a setting, as Python."""
    if "enum" in schema or "const" in schema:
        words = ", ".join(json.dumps(word) for word in schema.get("enum", [schema.get("const")]))
        return f"Literal[{words}]"
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(map(_annotation, schema["anyOf"])))
    if isinstance(schema.get("type"), list):
        return " | ".join(_annotation({"type": kind}) for kind in schema["type"])
    if schema.get("type") == "array":
        return f"Sequence[{_annotation(schema.get('items', {}))}]"
    kinds = {"string": "str", "boolean": "bool", "integer": "int", "number": "float", "object": "Mapping[str, Any]"}
    return kinds.get(schema.get("type", ""), "Any")


def _typed(name: str, schema: dict[str, Any]) -> Iterator[str]:
    """Fields of the settings of a group, and of the group itself."""
    if name:
        yield f"{json.dumps(name)}: {_annotation(schema)},"
    for key, inner in schema.get("properties", {}).items():
        yield from _typed(f"{name}.{key}" if name else key, inner)


def typing_module() -> str:
    """The text of the module ``chappe.typing``."""
    fields = "\n        ".join(_typed("", chappe.schema()))
    settings = f'Settings = TypedDict(\n    "Settings",\n    {{\n        {fields}\n    }},\n    total=False,\n)\n'
    return f'{TYPING_HEAD}{settings}"""Settings by dotted name, or by group."""\n'


def _rows(text: str, head: str) -> Iterator[list[str]]:
    """Cells of the rows of tables with this head."""
    for table in re.findall(rf"^{re.escape(head)}.*\n\|[-:|]+\|\n((?:\|.*\|\n)+)", text, re.MULTILINE):
        for row in table.splitlines():
            cells = re.split(r"(?<!\\)\|", row)[1:-1]
            yield [re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", c.strip().replace("\\|", "|")) for c in cells]


def _described(text: str, head: str) -> dict[str, str]:
    return {name.strip("`"): about for name, about in _rows(text, head)}


def _tables(text: str) -> dict[str, dict[str, Any]]:
    """First paragraph, columns, and columns of names of nodes of each table."""
    found: dict[str, dict[str, Any]] = {}
    for section in re.split(r"^#{2,3} ", text, flags=re.MULTILINE)[1:]:
        # "`flows`", or "QUIC in `flows`" with further columns.
        named = re.match(r"(?:\w+ in )?`(\w+)`\n\n(.*?)\n\n", section, re.DOTALL)
        if named and (columns := _described(section, "| column | meaning |")):
            about = {"about": " ".join(named[2].split()), "columns": {}}
            found.setdefault(named[1], about)["columns"] |= columns
    for table in found.values():
        table["columns"] = dict(_ranges(found, table["columns"]))
    columns_of = {name: table["columns"] for name, table in found.items()}
    for columns in columns_of.values():
        for column, text in columns.items():
            columns[column] = _resolved(columns_of, column, text)
    for name, table in found.items():
        # Nodes themselves have the column `name`.
        of_nodes = [column for column in NODES if column in table["columns"] and name != "nodes"]
        table["names"] = {f"{node}_name": f"Name of the node `{node}`. null: it has none." for node in of_nodes}
    return found


def _ranges(tables: dict[str, dict[str, Any]], columns: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Columns, for a row such as "`a` to `b` | As in `flows`" all those of the other table from a to b."""
    for name, text in columns.items():
        if (found := re.fullmatch(r"(\w+)` to `(\w+)", name)) and (other := re.match(r"As in `(\w+)`", text)):
            names = list(tables[other[1]]["columns"])
            yield from ((between, text) for between in names[names.index(found[1]) : names.index(found[2]) + 1])
        else:
            yield name, text


def _resolved(described: dict[str, dict[str, str]], column: str, text: str) -> str:
    """A description with that of another table in place of "As in `flows`"."""
    found = re.fullmatch(r"As in `(\w+)`(?:, (.*?))?(?: \[.*\])?\.?", text)
    if found is None or column not in described[found[1]]:
        return text
    whole = _resolved(described, column, described[found[1]][column])
    return f"{found[2][0].upper()}{found[2][1:]}: {whole}" if found[2] else whole


def _words(text: str) -> dict[str, dict[str, str]]:
    """Meanings of words by setting."""
    found: dict[str, dict[str, str]] = {}
    for head in ("| setting | word |", "| setting | value | meaning |"):
        for setting, word, *about in _rows(text, head):
            found.setdefault(setting.strip("`"), {})[word.strip("`")] = "; ".join(about)
    return found


def descriptions() -> str:
    """The text of the file of descriptions."""
    results, studies = ((DOCS / page).read_text(encoding="utf-8") for page in ("results.md", "studies.md"))
    models = "\n".join(p.read_text(encoding="utf-8") for p in [DOCS / "models.md", *sorted(DOCS.glob("models/*.md"))])
    found = {
        "tables": _tables(results),
        "measures": _described(results + studies, "| measure | meaning |"),
        "words": _words(models),
    }
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    TYPING.write_text(typing_module(), encoding="utf-8")
    DESCRIBED.write_text(descriptions(), encoding="utf-8")
