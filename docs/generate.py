"""Writes docs/settings.md and chappe/typing.py from the schema, and descriptions of columns from docs/results.md.

``python docs/generate.py`` writes all three.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chappe

PAGE = Path(__file__).parent / "settings.md"
TYPING = Path(__file__).parent.parent / "python" / "chappe" / "typing.py"
RESULTS = PAGE.with_name("results.md")
COLUMNS = PAGE.parent.parent / "python" / "chappe" / "columns.json"

HEAD = """# Settings

Every setting with its type, its default and its meaning. `docs/generate.py` writes this page from `chappe schema`; do
not edit it. [models.md](models.md) explains the values of settings that are words, [scenarios.md](scenarios.md) the
syntax of scenarios.

The name of a setting is its dotted path: in a file (`tcp.window = 8`, or `window = 8` under `[tcp]`), on the command
line (`--set tcp.window=8`), in Python (`{"tcp.window": 8}`) and in messages. `N` is a number from 0 on: the position in
a list. Two settings have no usable default: `run.stop`, and `flow.N.to` of each flow. If values contradict each other,
`chappe check` explains the conflict.
"""


def _split(description: str) -> tuple[str, str]:
    """A description and what the type of the setting adds to it in brackets at the end."""
    text = " ".join(description.split())
    found = re.fullmatch(r"(.*) \(((?:an? |such as |\"always\").*)\)", text)
    return (found[1], found[2]) if found else (text, "")


def _short(unit: str) -> str:
    """The name of a kind of quantity: "duration" of "a duration such as "20 us""."""
    found = re.fullmatch(r"an? (.*?) such as [^;]*(?:; (.*))?", unit)
    if not found:
        return unit
    name, limit = found[1], found[2] or ""
    return f"{name}: {limit}" if limit[:1].isdigit() else f"{name} {limit}".strip()


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


def _range(schema: dict[str, Any]) -> str:
    """The limits of a number."""
    if "minimum" in schema and "maximum" in schema:
        return f"from {_number(schema['minimum'])} to {_number(schema['maximum'])}"
    words = [
        f"{word} {_number(schema[key])}"
        for key, word in [
            ("minimum", "at least"),
            ("exclusiveMinimum", "above"),
            ("maximum", "at most"),
            ("exclusiveMaximum", "below"),
        ]
        if key in schema
    ]
    return " and ".join(words)


def _type(schema: dict[str, Any]) -> str:
    """Form of a value in a scenario."""
    if "enum" in schema:
        return ", ".join(f"`{word}`" for word in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if "anyOf" in schema:
        kinds = [s for s in schema["anyOf"] if "const" not in s] + [s for s in schema["anyOf"] if "const" in s]
        return " or ".join(_type(s) for s in kinds)
    if "description" in schema:
        return _short(schema["description"])
    kind = schema["type"]
    if kind == "integer":
        low, high = schema.get("minimum", 0), schema.get("maximum", 2**32 - 1)
        return f"whole number, {low} to {high}" if high < 2**32 - 1 else f"whole number from {low} on"
    if kind == "number":
        return f"{kind} {_range(schema)}".strip()
    if kind == "array":
        return "list of positions" if schema["items"].get("type") == "array" else "list"
    return {"boolean": "`true`, `false`", "object": "table", "string": "text"}[kind]


def _is_overlay(schema: dict[str, Any]) -> bool:
    """True if these are settings that are laid over others: a group without defaults."""
    return "properties" in schema and not _has_defaults(schema)


def _has_defaults(schema: dict[str, Any]) -> bool:
    inner = [*schema.get("properties", {}).values(), *filter(None, [schema.get("items")])]
    return "default" in schema or any(map(_has_defaults, inner))


def _meaning(schema: dict[str, Any]) -> tuple[str, str]:
    """Type and meaning of a setting."""
    meaning, unit = _split(schema["description"])
    if _is_overlay(schema):
        return "table", meaning.split(". (")[0] + "."
    return _short(unit) or _type({k: v for k, v in schema.items() if k != "description"}), meaning


def _is_list_of_groups(schema: dict[str, Any]) -> bool:
    return schema.get("type") == "array" and "properties" in schema["items"]


def _groups(name: str, schema: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, dict[str, Any]]]]:
    """Every group of settings: its name, its meaning, its settings."""
    inner = schema["items"] if _is_list_of_groups(schema) else schema
    name = f"{name}.N" if inner is not schema else name
    properties: dict[str, dict[str, Any]] = inner["properties"]
    nested = {
        k: s for k, s in properties.items() if _is_list_of_groups(s) or ("properties" in s and not _is_overlay(s))
    }
    settings = {k: s for k, s in properties.items() if k not in nested}
    if settings:
        text = " ".join(inner["description"].split())
        # "What it is to its owner. (What it says of itself.)"
        own = re.fullmatch(r".*?\.( No effect if [^.]*(?:\.\w[^.]*)*\.)? \((.*)\)", text)
        yield name, own[2] + (own[1] or "") if own else text, settings
    for key, inner_schema in nested.items():
        yield from _groups(f"{name}.{key}" if name else key, inner_schema)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _default(schema: dict[str, Any]) -> str:
    if "default" not in schema:
        return ""
    value = schema["default"]
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _quantities(schema: Any) -> Iterator[str]:
    """The entry of the schema for every kind of quantity."""
    if isinstance(schema, dict):
        unit = _split(schema["description"])[1] if isinstance(schema.get("description"), str) else ""
        if _short(unit) != unit:
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
        yield f"| {_short(unit)} | {unit.split(' such as ')[1]} |"
    yield '| list of positions | `[["0 m", "0 m"], ["200 m", "0 m"]]`: x and y of each node |'


def _reference() -> Iterator[str]:
    for name, meaning, settings in _groups("", chappe.schema()):
        yield f"\n## {f'`{name}`' if name else 'At the top'}\n"
        yield f"{meaning}\n"
        yield "| setting | type | default | meaning |"
        yield "|---|---|---|---|"
        for key, schema in settings.items():
            kind, text = _meaning(schema)
            path = f"{name}.{key}" if name else key
            yield f"| `{path}` | {_cell(kind)} | {_default(schema)} | {_cell(text)} |"


def _shelves() -> Iterator[str]:
    yield "\n## Parts to choose from\n"
    yield "Every setting that selects a part, with all parts, as printed by `chappe list`.\n"
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
    return "\n".join([HEAD.rstrip(), *_values(), *_reference(), *_shelves(), *_presets()]) + "\n"


TYPING_HEAD = '''"""Types for editors and type checkers. docs/generate.py writes this module.

``Settings`` completes and checks dotted names of settings and their words::

    settings: chappe.typing.Settings = {"tcp.variant": "vegas", "topology.hops": 7}
    scenario = chappe.Scenario.chain().with_settings(settings)
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from chappe.measures import Direction
from chappe.scenario import MobilityFormat, ScenarioLike
from chappe.study.facts import Transient

__all__ = ["Direction", "MobilityFormat", "ScenarioLike", "Settings", "Transient"]

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


def columns() -> str:
    """Descriptions of the columns of all tables by table and column, as JSON, from the page of results."""
    described: dict[str, dict[str, str]] = {}
    for section in re.split(r"^###? ", RESULTS.read_text(encoding="utf-8"), flags=re.MULTILINE):
        heading = re.match(r"`(\w+)`\n", section)
        if heading:
            # Tables of words, which follow, have another head.
            table = section.partition("| column | meaning |\n")[2].partition("\n\n")[0]
            described[heading[1]] = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", table, flags=re.MULTILINE))
    for texts in described.values():
        for column, text in texts.items():
            texts[column] = _resolved(described, column, text)
    return json.dumps(described, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _resolved(described: dict[str, dict[str, str]], column: str, text: str) -> str:
    """A description with that of another table in place of "As in `flows`"."""
    found = re.fullmatch(r"As in `(\w+)`(?:, (.*?))?(?: \[.*\])?\.?", text)
    if found is None or column not in described[found[1]]:
        return text
    whole = _resolved(described, column, described[found[1]][column])
    return f"{found[2][0].upper()}{found[2][1:]}: {whole}" if found[2] else whole


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    TYPING.write_text(typing_module(), encoding="utf-8")
    COLUMNS.write_text(columns(), encoding="utf-8")
