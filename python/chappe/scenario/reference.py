"""Settings of the JSON Schema as people read them: type, range, default and meaning."""

import re
from collections.abc import Iterator
from typing import Any


def is_everyday(schema: dict[str, Any]) -> bool:
    """Returns true for an everyday setting; all others are expert settings."""
    return schema.get("x-level") == "everyday"


def split(description: str) -> tuple[str, str]:
    """A description and what the type of the setting adds to it in brackets at the end."""
    text = " ".join(description.split())
    found = re.fullmatch(r"(.*) \(((?:an? |such as |\"always\").*)\)", text)
    return (found[1], found[2]) if found else (text, "")


def short(unit: str) -> str:
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
        return short(schema["description"])
    kind = schema["type"]
    if kind == "integer":
        low, high = schema.get("minimum", 0), schema.get("maximum", 2**32 - 1)
        return f"whole number, {low} to {high}" if high < 2**32 - 1 else f"whole number from {low} on"
    if kind == "number":
        return f"{kind} {_range(schema)}".strip()
    if kind == "array":
        return "list of places" if schema["items"].get("type") == "array" else "list"
    if isinstance(kind, list):
        return "number or name of a node"
    return {"boolean": "`true`, `false`", "object": "table", "string": "text"}[kind]


def _is_overlay(schema: dict[str, Any]) -> bool:
    """True if these are settings that are laid over others: a group without defaults."""
    return "properties" in schema and not _has_defaults(schema)


def _has_defaults(schema: dict[str, Any]) -> bool:
    inner = [*schema.get("properties", {}).values(), *filter(None, [schema.get("items")])]
    return "default" in schema or any(map(_has_defaults, inner))


def meaning(schema: dict[str, Any]) -> tuple[str, str]:
    """Type and meaning of a setting."""
    meaning, unit = split(schema["description"])
    if _is_overlay(schema):
        return "table", meaning.split(". (")[0] + "."
    return short(unit) or _type({k: v for k, v in schema.items() if k != "description"}), meaning


def _is_list_ofgroups(schema: dict[str, Any]) -> bool:
    return schema.get("type") == "array" and "properties" in schema["items"]


def groups(name: str, schema: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, dict[str, Any]]]]:
    """Every group of settings: its name, its meaning, its settings."""
    inner = schema["items"] if _is_list_ofgroups(schema) else schema
    name = f"{name}.N" if inner is not schema else name
    properties: dict[str, dict[str, Any]] = inner["properties"]
    nested = {k: s for k, s in properties.items() if _is_list_ofgroups(s) or ("properties" in s and not _is_overlay(s))}
    settings = {k: s for k, s in properties.items() if k not in nested}
    if settings:
        text = " ".join(inner["description"].split())
        # "What it is to its owner. (What it says of itself.)"
        own = re.fullmatch(r".*?\.( No effect if [^.]*(?:\.\w[^.]*)*\.)? \((.*)\)", text)
        yield name, own[2] + (own[1] or "") if own else text, settings
    for key, inner_schema in nested.items():
        yield from groups(f"{name}.{key}" if name else key, inner_schema)


def default(schema: dict[str, Any]) -> str:
    """Default of a setting in backquotes, or "required"; empty for other settings without a default."""
    if "default" not in schema:
        return "required" if schema.get("x-required") else ""
    value = schema["default"]
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"
