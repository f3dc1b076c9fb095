"""Explanations of names: settings, groups of settings, words, tables, columns and measures."""

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from chappe.scenario.reference import default, groups, is_everyday, meaning
from chappe.scenario.scenario import Scenario, parts, schema

DESCRIPTIONS = "descriptions.json"
"""Descriptions of tables, columns, measures and words: a file of the package, written from docs by docs/generate.py."""

_SUGGESTED = 5
"""Names that are suggested at most."""

_NO_EFFECT = re.compile(r"\s*No effect if [^.]*(?:\.\w[^.]*)*\.")


class Explanation(NamedTuple):
    """Explanation of a name in one of its senses."""

    kind: str
    """``"setting"``, ``"group"``, ``"word"``, ``"table"``, ``"column"`` or ``"measure"``."""
    name: str
    """Full name, such as ``tcp.receive_window``, ``tcp.variant=vegas`` or ``flows.goodput_bps``."""
    text: str
    facts: dict[str, Any]
    """Further facts by name, such as ``type``, ``default``, ``unit``."""


def explain(name: str) -> list[Explanation]:
    """Explanations of a name in all its senses; empty for an unknown name."""
    setting, _, word = name.partition("=")
    if word:
        return [e for e in _words(word) if e.name == f"{_numbered(setting)}={word}"]
    return [*_settings(name), *_words(name), *_tables(name), *_measures(name), *_columns(name)]


def suggestions(name: str) -> list[str]:
    """Known names that are similar to an unknown one."""
    names = known()
    last = [n for n in names if n.rpartition(".")[2] == name or n.rpartition("=")[2] == name]
    near = difflib.get_close_matches(name, names, _SUGGESTED, 0.75)
    return (last or near)[:_SUGGESTED]


def known() -> list[str]:
    """All names that have an explanation, each once."""
    described = _descriptions()
    names = [*setting_names(), *(name for name, _, _ in _groups() if name)]
    names += [word for words in _words_by_setting().values() for word in words]
    names += [*described["tables"], *described["measures"]]
    names += [column for table in described["tables"].values() for column in table["columns"]]
    return list(dict.fromkeys(names))


def setting_names() -> list[str]:
    """Dotted names of all settings; ``N`` is the place in a list."""
    return [f"{name}.{key}".lstrip(".") for name, _, settings in _groups() for key in settings]


def words() -> list[dict[str, Any]]:
    """The words of settings that select no part, in the form of :func:`chappe.parts`."""
    shelved = {shelf["setting"] for shelf in parts()}
    return [
        {
            "name": _about(setting),
            "setting": setting,
            "parts": [{"keyword": w, "description": t} for w, t in of.items()],
        }
        for setting, of in _words_by_setting().items()
        if setting not in shelved
    ]


def measure_names() -> list[str]:
    """Names of all measures."""
    return list(_descriptions()["measures"])


@cache
def _schema() -> dict[str, Any]:
    return schema()


@cache
def _groups() -> list[tuple[str, str, dict[str, dict[str, Any]]]]:
    return list(groups("", _schema()))


@cache
def _descriptions() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(files("chappe").joinpath(DESCRIPTIONS).read_text(encoding="utf-8"))
    return read


def _numbered(name: str) -> str:
    """Name of a setting with ``N`` for places in lists."""
    return re.sub(r"(?<=\.)\d+(?=\.|$)", "N", name)


def _found(name: str) -> list[dict[str, Any]]:
    """Schemas from the outermost group to the setting of a name; empty for an unknown name."""
    node, way = _schema(), []
    for part in _numbered(name).split("."):
        if "items" in node:
            node = node["items"]
            if part == "N":
                continue
        if part not in node.get("properties", {}):
            return []
        node = node["properties"][part]
        way.append(node)
    return way


def _settings(name: str) -> Iterator[Explanation]:
    way = _found(name)
    if not way:
        return
    path = _numbered(name)
    inside = {
        f"{group}.{key}": is_everyday(setting)
        for group, _, settings in _groups()
        if group in (path, f"{path}.N")
        for key, setting in settings.items()
    }
    type_, text = meaning(way[-1])
    limits = [found.strip() for s in way for found in _NO_EFFECT.findall(" ".join(s["description"].split()))]
    text = _NO_EFFECT.sub("", text).strip()
    if inside:
        own = next(about for group, about, _ in _groups() if group in (path, f"{path}.N"))
        everyday = [name for name, is_common in inside.items() if is_common]
        expert = [name for name, is_common in inside.items() if not is_common]
        facts = _given(effect=limits, everyday=everyday, expert=expert, groups=_subgroups(path))
        yield Explanation("group", path, _NO_EFFECT.sub("", own).strip(), facts)
        return
    facts = _given(
        type=type_.replace("`", ""),
        unit="".join(re.findall(r"\[([^\]]+)\]", text)[:1]),
        default=default(way[-1]).strip("`"),
        level=way[-1].get("x-level"),
        presets=_presets(path),
        effect=limits,
        words={word: text for word, text in _words_by_setting().get(path, {}).items() if text},
    )
    yield Explanation("setting", path, text, facts)


def _subgroups(path: str) -> dict[str, str]:
    """Groups directly below a group, each with its first sentence."""
    below = re.compile(rf"{re.escape(path)}(\.N)?\.(?!N$)[^.]+(\.N)?")
    named = {group: _NO_EFFECT.sub("", " ".join(about.split())) for group, about, _ in _groups()}
    return {group: re.split(r"(?<=\.) ", about.strip())[0] for group, about in named.items() if below.fullmatch(group)}


def _given(**facts: Any) -> dict[str, Any]:
    """Facts that are not empty."""
    return {name: fact for name, fact in facts.items() if fact}


def _presets(path: str) -> dict[str, Any]:
    """Values of a setting in the presets that differ from ``standard``."""
    found: dict[str, Any] = {}
    for preset, settings in _effective().items():
        value: Any = settings
        for part in path.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        found[preset] = value
    return {preset: value for preset, value in found.items() if value != found["standard"]}


@cache
def _effective() -> dict[str, dict[str, Any]]:
    """Effective settings of each preset."""
    names = [p["keyword"] for shelf in parts() if shelf["setting"] == "extends" for p in shelf["parts"]]
    return {name: Scenario({"extends": name, "run.stop": "1 s"}).settings for name in names}


@cache
def _words_by_setting() -> dict[str, dict[str, str]]:
    """Meanings of the words of each setting."""
    found: dict[str, dict[str, str]] = {}
    for group, _, settings in _groups():
        for key, of_setting in settings.items():
            if words := dict.fromkeys(_words_of(of_setting), ""):
                found[f"{group}.{key}".lstrip(".")] = words
    for setting, described in _descriptions()["words"].items():
        found.setdefault(setting, {}).update(described)
    for shelf in parts():
        found.setdefault(shelf["setting"], {}).update({p["keyword"]: p["description"] for p in shelf["parts"]})
    return found


def _words_of(of_setting: Mapping[str, Any]) -> Iterator[str]:
    yield from of_setting.get("enum", [])
    if isinstance(of_setting.get("const"), str):
        yield of_setting["const"]
    for alternative in [*of_setting.get("anyOf", []), *filter(None, [of_setting.get("items")])]:
        yield from _words_of(alternative)


def _words(word: str) -> Iterator[Explanation]:
    for setting, words in _words_by_setting().items():
        if word in words:
            text = words[word] or _about(setting)
            yield Explanation("word", f"{setting}={word}", text, {})


def _about(setting: str) -> str:
    """Meaning of a setting, for words without a description."""
    way = _found(setting)
    return meaning(way[-1])[1] if way else ""


def _tables(name: str) -> Iterator[Explanation]:
    if table := _descriptions()["tables"].get(name):
        yield Explanation("table", name, table["about"], {"columns": table["columns"]})


def _measures(name: str) -> Iterator[Explanation]:
    if text := _descriptions()["measures"].get(name):
        yield Explanation("measure", name, text, _given(unit="".join(re.findall(r"\[([^\]]+)\]", text)[:1])))


def _columns(name: str) -> Iterator[Explanation]:
    table_name, _, column = name.rpartition(".")
    for table, described in _descriptions()["tables"].items():
        columns = described["names"] | described["columns"]
        if table_name in ("", table) and column in columns:
            text = columns[column]
            unit = _given(unit="".join(re.findall(r"\[([^\]]+)\]", text)[:1]))
            yield Explanation("column", f"{table}.{column}", text, unit)
