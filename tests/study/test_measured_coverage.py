"""Measured coverage of intervals and equal settings that studies call different: programs and their tables."""

import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from command import program


def test_coverage_is_measured_and_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module = program("benches/intervals/coverage")
    page = module.PAGE.read_text(encoding="utf-8")
    monkeypatch.setattr(module, "POINTS", {("newreno", 110): 100})
    monkeypatch.setattr(module, "PAGE", tmp_path / "studies.md")
    module.PAGE.write_text(page, encoding="utf-8")
    module.main(["--quick", "--out", str(tmp_path / "runs"), "--write"])
    printed = capsys.readouterr().out
    written = module.PAGE.read_text(encoding="utf-8")
    assert [len(line.split("|")) for line in printed.splitlines() if line] == [11] * (5 + len(module.CASES))
    for table in printed.strip().split("\n\n"):
        assert table in written
    # The page has the rows of the command, and nothing but its tables differs.
    for name in module.CASES:
        assert f"| {name} |" in page
        assert f"| {name} |" in printed
    assert "| newreno, 110 |" in written
    tables = re.compile(r"(?s)(<!-- coverage: \w+ -->\n).*?(?=\n<!-- end -->)")
    assert len(tables.findall(page)) == 2
    assert tables.sub("", written) == tables.sub("", page)
    again = tmp_path / "runs/newreno-110.parquet"
    before = again.stat().st_mtime_ns
    module.main(["--quick", "--out", str(tmp_path / "runs")])
    assert again.stat().st_mtime_ns == before
    assert capsys.readouterr().out == printed


@pytest.fixture
def equal() -> ModuleType:
    return program("benches/intervals/equal_settings")


@pytest.mark.parametrize("way", ["compare, 10 rows", "rank, 10 x 3", "search, 32 values"])
@pytest.mark.parametrize("name", ["normal, deviation 10 %", "stalls in 30 % of runs", "collapse of 10 % of runs"])
def test_equal_settings_are_rarely_called_different(equal: ModuleType, name: str, way: str) -> None:
    """At most 8 of 40 studies: more have a probability of 0.05 % if 5 % call any two settings different."""
    rng = np.random.default_rng(11)
    draw, _ = equal.DRAWN[name]
    assert sum(equal.WAYS[way](rng, draw, 5) for _ in range(40)) <= 8


@pytest.mark.parametrize("n", [5, 14, 30])
@pytest.mark.parametrize(
    "name", ["30 % of runs stall", "lognormal, sigma 1", "20 % of runs at a sixth", "70 % of runs have none"]
)
def test_equal_means_of_other_shapes_rarely_differ_without_a_doubt(equal: ModuleType, name: str, n: int) -> None:
    """At most 7 % of comparisons, of which 300 have more than 35 in one of a thousand tests."""
    found = equal.apart(equal.SHAPES[name], n, 300)
    assert found.unmarked <= 35 / 300
    assert found.unmarked <= found.told <= found.welch
    if n == 30:
        assert found.told <= 35 / 300


@pytest.mark.parametrize("name", ["20 % of runs at a sixth", "counts: 20 % of runs have five"])
def test_wrong_intervals_of_rare_states_are_marked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ten runs 11 % do not show a state of one run in five: all are marked. Of twenty, fewer than 7 % are not."""
    module = program("benches/intervals/coverage")
    monkeypatch.setattr(module, "NUMBERS", (10, 20))
    monkeypatch.setattr(module, "CASES", {name: module.CASES[name]})
    ((_, (ten, twenty)),) = module.drawn(300)
    assert ten.held < 0.95
    assert ten.silent == 0
    assert twenty.silent <= 0.07


def test_stopping_costs_coverage_where_states_are_rare(equal: ModuleType) -> None:
    drawn = {name: equal.stopped(*equal.DRAWN[name], 10, 0.05, 60) for name in equal.DRAWN}
    normal, collapse = drawn["normal, deviation 10 %"], drawn["collapse of 10 % of runs"]
    assert normal.covered.mean >= 0.85
    assert abs(normal.bias) < 0.01
    assert 10 <= normal.runs < 30
    # Nine of ten runs of a study that has met no collapse are the same.
    assert collapse.covered.mean < 0.85
    assert collapse.bias > 0.01


def test_the_tables_of_equal_settings_are_on_the_page(
    equal: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = equal.PAGE.read_text(encoding="utf-8")
    monkeypatch.setattr(equal, "PAGE", tmp_path / "studies.md")
    monkeypatch.setattr(equal, "STUDIES", 20)
    monkeypatch.setattr(equal, "PAIRS", 20)
    equal.PAGE.write_text(page, encoding="utf-8")
    equal.main(["--quick", "--write"])
    written = equal.PAGE.read_text(encoding="utf-8")
    for line in capsys.readouterr().out.splitlines():
        assert line in written or line.endswith(":")
    # Rates differ with so few studies; everything else is the same.
    assert re.sub(r"[-+]?\d+(\.\d+)?", "", written) == re.sub(r"[-+]?\d+(\.\d+)?", "", page)
