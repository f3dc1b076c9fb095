"""The pages on settings agree with the schema."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chappe

DOCS = Path(__file__).parents[2] / "docs"


def _has_defaults(schema: dict[str, Any]) -> bool:
    inner = [*schema.get("properties", {}).values(), *filter(None, [schema.get("items")])]
    return "default" in schema or any(map(_has_defaults, inner))


def _settings(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    inner = schema["items"] if schema.get("type") == "array" else schema
    # Groups of overrides have no defaults, and share the explanations of the overridden settings.
    if "properties" not in inner or not _has_defaults(inner):
        yield path, schema
        return
    here = path if inner is schema else f"{path}.N"
    for name, below in inner["properties"].items():
        yield from _settings(below, f"{here}.{name}" if here else name)


def test_every_setting_is_on_the_page() -> None:
    page = (DOCS / "settings.md").read_text(encoding="utf-8")
    names = [name for name, _ in _settings(chappe.schema())]
    assert len(names) > 100
    assert [name for name in names if f"| `{name}` |" not in page] == []


def test_the_page_begins_with_the_settings_of_every_day() -> None:
    settings = dict(_settings(chappe.schema()))
    # Groups of overrides are no settings of their own.
    levels = {name: schema.get("x-level") for name, schema in settings.items() if "properties" not in schema}
    assert set(levels.values()) == {"everyday", "expert"}
    everyday = [name for name, level in levels.items() if level == "everyday"]
    assert 40 <= len(everyday) <= 80
    first = re.split(r"^## ", (DOCS / "settings.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1]
    assert re.findall(r"^\| `([\w.]+)` \|", first, flags=re.MULTILINE) == everyday


def test_every_word_of_a_setting_is_explained() -> None:
    page = "\n".join(p.read_text(encoding="utf-8") for p in [DOCS / "models.md", *DOCS.glob("models/*.md")])
    words = [(name, word) for name, schema in _settings(chappe.schema()) for word in _words(schema)]
    assert len(words) > 40
    assert [f"{name} = {word}" for name, word in words if f"| `{name}` | `{word}` |" not in page] == []


def _words(schema: dict[str, Any]) -> Iterator[str]:
    yield from schema.get("enum", [])
    for alternative in schema.get("anyOf", []):
        yield from _words(alternative)
