"""Columns and settings can be written as they are: in SQL, in Python and in TOML."""

import keyword
from collections.abc import Iterator
from typing import Any

import chappe
import polars as pl


def settings(schema: dict[str, Any]) -> Iterator[str]:
    """Parts of the names of all settings."""
    items = schema.get("items", {})
    inner = items if schema.get("type") == "array" and "properties" in items else schema
    for name, below in inner.get("properties", {}).items():
        yield name
        yield from settings(below)


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


def test_no_name_is_a_reserved_word() -> None:
    there = tables()
    columns = {name for table in there.values() for name in table.columns}
    reserved = {*keyword.kwlist, "true", "false", "inf", "nan"}
    names = {*settings(chappe.schema()), *columns, *there}
    assert not {name.lower() for name in names} & {word.lower() for word in reserved}
    for table in there.values():
        context = pl.SQLContext(t=table.head(1))
        for name in table.columns:
            assert context.execute(f"SELECT {name} FROM t WHERE {name} IS NOT NULL", eager=True).columns == [name]
