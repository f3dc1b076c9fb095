"""docs/results.md describes every column of every table, and no other columns."""

import keyword
import re
from pathlib import Path

import chappe
import polars as pl
from chappe.measures import MEASURES
from chappe.results.storage.columns import TABLES
from chappe.results.storage.recorded import RECORDED
from chappe.scenario.explain import explain

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "results.md").read_text(encoding="utf-8")


def _described(heading: str) -> list[str]:
    """Names in the first column of the tables under a heading; a row may stand for several, `a` to `b`."""
    section = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    text = next(s for s in section if s.startswith(heading + "\n"))
    names: list[str] = []
    for first, last, other in re.findall(
        r"^\| `([^`]+)`(?: to `(\w+)`)? \|(?: As in (`\w+`))?", text, flags=re.MULTILINE
    ):
        others = _described(other) if last else [first]
        names += others[others.index(first) : others.index(last or first) + 1]
    return names


def test_every_column_is_described() -> None:
    scenario = chappe.Scenario.chain(2, {"run.sample_interval": "1 s"}, stop="110 delivered")
    results = chappe.run(scenario)
    for name in TABLES:
        assert _described(f"`{name}`") == getattr(results, name).columns, name


def test_columns_of_some_runs_are_explained() -> None:
    names = {"flow.0.name": "home", "flow.0.group": "homes", "node": [{"nodes": 1, "name": "mill"}]}
    scenario = chappe.Scenario.load(DOCS.parent / "scenarios" / "two-gateways.toml")
    results = chappe.run(scenario.with_settings({**names, "run.stop": "10 s"}))
    further = results.flows.columns[len(_described("`flows`")) :]
    assert {"gateway", "gateway_name", "name", "group", "src_name"} < set(further)
    assert [name for name in further if not any(e.kind == "column" for e in explain(f"flows.{name}"))] == []


def test_every_measure_is_described() -> None:
    assert _described("The summary") == [m.name for m in MEASURES]


def test_better_directions_of_measures_are_described() -> None:
    section = PAGE.partition("\n## The summary\n")[2].partition("\n## ")[0]
    said = dict(re.findall(r"^\| `(\w+)` \| .*?(?: (More|Less) is better\.)? \|$", section, flags=re.MULTILINE))
    words = {"maximize": "More", "minimize": "Less", None: ""}
    assert {m.name: words[m.direction] for m in MEASURES} == said


def test_all_output_files_are_described(tmp_path: Path) -> None:
    results = chappe.run(chappe.Scenario.chain(2, stop="110 delivered"))
    assert _described("What `--json` prints") == [*results.to_dict(), "why"]
    results.save(tmp_path)
    written = {"TABLE.parquet" if f.suffix == ".parquet" else f.name for f in tmp_path.iterdir()}
    assert set(_described("What `--out` writes")) == written


def test_columns_are_names_in_python_and_sql() -> None:
    """A column can be an argument of `filter` and a name in SQL without quotes."""
    recorded = {"run.record": list(RECORDED), "run.sample_interval": "1 s", "run.airtime": True}
    results = chappe.run(chappe.Scenario.chain(2, recorded, stop="110 delivered"))
    for name, table in results.tables.items():
        assert not [c for c in table.columns if keyword.iskeyword(c)], name
        with pl.SQLContext({name: table}) as sql:
            assert sql.execute(f"SELECT {', '.join(table.columns)} FROM {name}").collect().equals(table), name
