"""docs/results.md describes every column of every table, and no other columns."""

import re
from pathlib import Path

import chappe
from chappe.measures import MEASURES
from chappe.results import TABLES

DOCS = Path(__file__).parent.parent / "docs"
PAGE = (DOCS / "results.md").read_text(encoding="utf-8")


def _described(heading: str) -> list[str]:
    """Names in the first column of the tables under a heading."""
    section = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    text = next(s for s in section if s.startswith(heading + "\n"))
    return re.findall(r"^\| `([^`]+)` \|", text, flags=re.MULTILINE)


def test_every_column_is_described() -> None:
    scenario = chappe.Scenario.chain(2, {"run.sample_interval": "1 s"}, stop="110 delivered")
    results = chappe.run(scenario)
    for name in TABLES:
        assert _described(f"`{name}`") == getattr(results, name).columns, name


def test_every_measure_is_described() -> None:
    assert _described("The summary") == [m.name for m in MEASURES]


def test_all_output_files_are_described(tmp_path: Path) -> None:
    results = chappe.run(chappe.Scenario.chain(2, stop="110 delivered"))
    assert _described("What `--json` prints") == [*results.to_dict(), "why"]
    results.save(tmp_path)
    written = {"TABLE.parquet" if f.suffix == ".parquet" else f.name for f in tmp_path.iterdir()}
    assert set(_described("What `--out` writes")) == written
