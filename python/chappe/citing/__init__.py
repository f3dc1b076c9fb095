"""References as BibTeX: Chappe itself, and the papers, standards and RFCs behind the models that a scenario uses."""

import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from chappe import RESULTS_EPOCH, __version__
from chappe.citing.build import commit
from chappe.scenario.scenario import Scenario

TITLE = "{Chappe}: a laboratory for {TCP} over wireless networks"
AUTHOR = "{The Chappe developers}"
"""Title and author of CITATION.cff."""

_FOR_US = ("type", "of", "source", "rfc")
"""Keys of a reference that are no fields of BibTeX."""

_AND = " and "

_CONTROL, _RECOVERY, _VARIANT = "tcp.congestion_control", "tcp.loss_recovery", "tcp.variant"


@cache
def references() -> dict[str, dict[str, Any]]:
    """All references by key, with their fields, the words that follow them (`of`) and where the fields stand."""
    return tomllib.loads(files("chappe.citing").joinpath("references.toml").read_text(encoding="utf-8"))


def cited(scenarios: Iterable[Scenario], presets: Iterable[str] = ()) -> list[str]:
    """Keys of the references behind the models of scenarios.

    Args:
        scenarios: The scenarios.
        presets: Names of presets that they extend: of these a scenario has the settings only.
    """
    words = [*map(used_words, scenarios), {f"extends={name}" for name in presets}]
    return [
        key
        for key, reference in references().items()
        if any(has.issuperset(term.split(_AND)) for term in reference["of"] for has in words)
    ]


def used_words(scenario: Scenario) -> set[str]:
    """Words that have an effect in a scenario, as ``"queue.discipline=codel"``, and ``"TCP"``, ``"radio"`` and others.

    Variants, congestion controls and loss recoveries are those of the flows.
    """
    whole = Scenario._from_text("", scenario._core.effective_toml(), [])  # settings without effect are told if written
    written = dict(_written(whole.settings))
    has = {
        f"{_general(name)}={written[name]}"
        for name in whole._core.used(list(written))
        if _general(name) not in (_VARIANT, _CONTROL, _RECOVERY)
    }
    for transport in scenario.transports:
        kind, _, name = transport.partition(" ")
        has.add(kind)
        if kind != "TCP":
            continue
        control, is_pair, recovery = name.partition("+")
        has |= {f"{_CONTROL}={control}", f"{_RECOVERY}={recovery}"} if is_pair else {f"{_VARIANT}={name}"}
    if scenario["topology.kind"] != "none":
        has.add("radio")
    return has


def _general(name: str) -> str:
    """Name of a setting of any place in a list; settings of TCP of a flow are those of TCP."""
    general = re.sub(r"\.\d+(?=\.)", ".N", name)
    return general.removeprefix("flow.N.") if general.startswith("flow.N.tcp.") else general


def _written(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Names and values of words and switches of settings."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _written(inner, f"{name}.{key}".lstrip("."))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _written(inner, f"{name}.{place}")
    elif isinstance(value, bool):
        yield name, str(value).lower()
    elif isinstance(value, str):
        yield name, value


def bibtex(keys: Iterable[str] = ()) -> str:
    """Entries of BibTeX: Chappe, with version, results epoch and the commit of the build, and references by key."""
    made = commit()
    note = f"Version {__version__}, results epoch {RESULTS_EPOCH}" + (f", commit {made}" if made else "")
    own = {"author": AUTHOR, "title": TITLE, "note": note}
    return "\n".join([_entry("misc", "chappe", own), *(_of(key) for key in keys)])


def _of(key: str) -> str:
    """Entry of a reference."""
    reference = references()[key]
    fields = {name: value for name, value in reference.items() if name not in _FOR_US}
    if "rfc" in reference:
        fields["howpublished"] = f"RFC {reference['rfc']}"
    if "author" not in fields:
        fields["key"] = key  # by which BibTeX sorts
    return _entry(reference["type"], key, fields)


def _entry(kind: str, key: str, fields: dict[str, Any]) -> str:
    """An entry. Months are words of BibTeX, without braces."""
    lines = [f"  {name} = {value if name == 'month' else f'{{{value}}}'},\n" for name, value in fields.items()]
    return f"@{kind}{{{key},\n{''.join(lines)}}}\n"
