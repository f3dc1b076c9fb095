"""docs/studies.md describes all settings and columns of a study, and no others."""

import json
import re
from pathlib import Path

import chappe
from chappe import cli
from chappe.measures import KNOWN, MEASURES, column
from chappe.printing import studies as show
from chappe.study import file
from command import REPOSITORY

PAGE = (REPOSITORY / "docs" / "studies.md").read_text(encoding="utf-8")
CHAIN = chappe.Scenario.chain(2, stop="110 delivered")


def described(heading: str) -> list[str]:
    """Names in the first column of the table with this heading."""
    (table,) = re.findall(rf"^\| {re.escape(heading)} \| meaning \|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    return re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)


def test_settings() -> None:
    assert sorted(described("setting of a study")) == sorted(file.GROUPS[""])
    assert sorted(described("setting of a search")) == sorted(file.GROUPS["search"])
    for name in file.GROUPS["precision"]:
        assert f"`{name}`" in PAGE or f"{name} = " in PAGE


def test_columns(tmp_path: Path) -> None:
    swept = chappe.sweep(CHAIN, {"tcp.receive_window": [1, 2]}, seeds=3, out=tmp_path / "sweep")
    assert described("column of the summary") == swept.summary().columns[1:]
    compared = swept.compare("goodput_bps", {"tcp.receive_window": 1}, {"tcp.receive_window": 2})
    assert described("column of a comparison") == compared.columns
    # Of many columns, polars prints the first and the last four.
    for table, estimate in ((swept.summary(), "estimate"), (compared, "difference")):
        assert all(name in str(table) for name in (estimate, "ci_low", "ci_high"))
    assert described("column of a ranking") == swept.rank("goodput_bps", "tcp.receive_window").columns[1:]
    measures = [name for m in MEASURES for name in (m.name, column(m.name, "ci_low"), column(m.name, "ci_high"))]
    names = described("column of `runs.parquet`")
    assert [*names[:2], "tcp.receive_window", *names[2:], *measures] == swept.runs.columns
    totals = swept.table("totals")
    in_front = ["run", "point", "tcp.receive_window", "seed"]
    assert [*in_front, *described("column of `totals.parquet`")[1:]] == totals.columns
    assert not [name for name in swept.runs.columns if name.endswith(("_over", "_under", "_half_width"))]
    searched = chappe.search(CHAIN, "tcp.receive_window", low=1, high=4, seeds=2)
    assert described("column of a curve") == searched.curve().columns[1:]
    assert described("key of `--json`") == list(json.loads(show.as_json(searched, ["goodput_bps"])))


def test_named_expressions_are_described() -> None:
    assert described("measure") == list(KNOWN)


def test_files(tmp_path: Path) -> None:
    (tmp_path / "chain.toml").write_text(CHAIN.to_toml(), encoding="utf-8")
    folder = tmp_path / "study"
    axis = "tcp.receive_window=1,2"
    assert cli.main(["sweep", str(tmp_path / "chain.toml"), "--axis", axis, "--out", str(folder), "-q"]) == 0
    written = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
    rows = re.findall(r"^\| `(\S+\.(?:json|parquet))` \|", PAGE, re.MULTILINE)
    assert {re.sub(r"/\w+\.parquet", "/TABLE.parquet", name) for name in written} == set(rows)
