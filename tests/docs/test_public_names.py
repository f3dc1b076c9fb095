"""Public names follow the rules of CONTRIBUTING.md."""

import inspect
import json
import keyword
import re
from collections.abc import Iterator
from typing import Any

import chappe
import polars as pl
import pytest
from chappe.results.storage.metadata import UNITS
from command import REPOSITORY
from test_glossary import parts

DESCRIBED = json.loads((REPOSITORY / "python/chappe/descriptions.json").read_text(encoding="utf-8"))

PURE = {"index", "gain", "probability", "hops", "correlation", "autocorrelation", "share", "utilization"}
"""Last words of columns of numbers without a unit."""

PER_CENT = {"sampling", "smoothing", "ewma_level", "lookaround_rate"}
"""Settings in whole percent, as drivers name them: "Names that were weighed" of CONTRIBUTING.md."""

NEGATIONS = {"no", "not", "non", "never", "without", "disable", "disabled", "quiet"}


def settings() -> Iterator[tuple[str, dict[str, Any]]]:
    """Settings by generic name, and their schemas."""

    def below(schema: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
        items = schema.get("items", {})
        inner = items if schema.get("type") == "array" and "properties" in items else schema
        for name, of in inner.get("properties", {}).items():
            yield from below(of, f"{path}.{name}".strip("."))
        if "properties" not in inner:
            yield path, schema

    yield from below(chappe.schema(), "")


@pytest.fixture(scope="module")
def tables() -> dict[str, pl.DataFrame]:
    """Tables of a run and of a study."""
    scenario = chappe.Scenario.chain(2, {"run.airtime": True, "run.sample_interval": "100 ms"}, stop="110 delivered")
    every = ["frames", "packets", "cwnd", "queue", "routes", "energy", "positions"]
    run = chappe.run(scenario.with_settings({"run.record": every}))
    study = chappe.sweep(scenario, {"tcp.receive_window": [2, 4]}, seeds=2)
    compared = study.compare("goodput_bps", {"tcp.receive_window": 2}, {"tcp.receive_window": 4})
    return {
        **{name: run.table(name) for name in run.tables},
        "results summary": run.summary(),
        "runs": study.runs.drop(study.axes),
        "totals": study.table("totals").drop(study.axes),
        "run_info": study.table("run_info").drop(study.axes),
        "summary": study.summary().drop(study.axes),
        "comparison": compared,
    }


def test_booleans_are_positive() -> None:
    """Names in groups `ns2` say what only ns-2 does, or does not."""
    switches = [name for name, schema in settings() if schema.get("type") == "boolean" and ".ns2." not in name]
    assert len(switches) > 100
    assert [name for name in switches if parts(name.rpartition(".")[2]) & NEGATIONS] == []
    assert [name for name in switches if name.startswith("enabled") or "_enabled" in name] == []


def test_columns_have_their_unit_at_the_end(tables: dict[str, pl.DataFrame]) -> None:
    """A column of fractions ends in its unit, or in a word of a pure number; a unit stands nowhere else."""
    counts = r"(packets|segments|slots|frames)$|_per_\d+$|_per_packet$|_of_batches$"
    for table in set(tables) & set(DESCRIBED["tables"]) | {"runs", "run_info"}:
        for name, dtype in tables[table].schema.items():
            last = name.rpartition("_")[2]
            if dtype.is_float() and not name.endswith(("_ci_low", "_ci_high")):
                assert last in UNITS or last in PURE or re.search(counts, name), (table, name)
            assert not set(name.split("_")[:-1]) & (UNITS.keys() - {"bytes", "segments"}), (table, name)


def test_settings_have_their_unit_in_the_value() -> None:
    """A bare number counts what its name says, and is no time, size, length, rate or power."""
    units = r"\[(ns|us|ms|s|B|bytes|bit/s|Mbit/s|m|m/s|dB|dBm|W|J|Hz|%)\]"
    bare = [(name, of) for name, of in settings() if of.get("type") in ("number", "integer")]
    assert len(bare) > 200
    wrong = {name.rpartition(".")[2] for name, of in bare if re.search(units, of.get("description", ""))}
    assert wrong == PER_CENT


def test_no_name_is_a_reserved_word(tables: dict[str, pl.DataFrame]) -> None:
    words = {part for name, _ in settings() for part in name.split(".")}
    columns = {name for table in tables.values() for name in table.columns}
    reserved = {*keyword.kwlist, "true", "false", "inf", "nan"}
    assert not {name.lower() for name in words | columns | set(tables)} & {word.lower() for word in reserved}
    for table in tables.values():
        context = pl.SQLContext(t=table.head(1))
        for name in table.columns:
            assert context.execute(f"SELECT {name} FROM t WHERE {name} IS NOT NULL", eager=True).columns == [name]


SEVERAL = {
    "Scenario.chain": "the settings of the chain",
    "Scenario.load": "the settings that change the file",
    "Simulation.set": "the name and its value",
    "Study.compare": "the measure and the two settings",
    "Study.plot": "the x and the y axis",
    "Study.rank": "the measure and the axis",
    "search": "the scenario and the setting",
    "sweep": "the scenario and the axes",
}
"""Functions with several arguments by position, and what those after the first are."""


def test_all_but_the_subject_of_a_function_is_given_by_name() -> None:
    found = set()
    for name in chappe.__all__:
        thing = getattr(chappe, name)
        members = inspect.getmembers(thing, inspect.isroutine) if inspect.isclass(thing) else [(name, thing)]
        for member, function in members:
            if member.startswith("_") or not callable(function):
                continue
            try:
                arguments = inspect.signature(function).parameters.values()
            except ValueError:
                continue
            by_position = [a for a in arguments if a.kind == a.POSITIONAL_OR_KEYWORD and a.name != "self"]
            if len(by_position) > 1 and getattr(function, "__module__", None) in MODULES:
                found.add(name if member == name else f"{name}.{member}")
    assert found == set(SEVERAL)


MODULES = {
    "chappe.results.simulation",
    "chappe.results.results",
    "chappe.scenario.scenario",
    "chappe.study.execution.sweep",
    "chappe.study.study",
}
