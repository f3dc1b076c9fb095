"""Shortened comparison of DSR between mobile nodes with ns-2: columns, output and files."""

import csv
import math
import re
from pathlib import Path

import pytest
from chappe import cli
from chappe.stats import Estimate
from chappe_papers.validation.dsr.cases import WALKS, reference, scenario
from chappe_papers.validation.dsr.compare import VALIDATION, Column, Ratio, answer, mean
from command import REPOSITORY
from epochs import assert_is_told


def test_scenarios_of_the_ns2_runs() -> None:
    newreno = reference("newreno")
    assert list(newreno) == list(WALKS["newreno"])
    assert [len(rows) for rows in newreno.values()] == [8, 8, 8]
    first = newreno["walk1"][0]
    # First line of the file: 425 sent and 117 forwarded, 14, 15, 16 and 15 timeouts.
    assert (first["routing"], first["tcp_timeouts"], first["data_arp_failure"]) == (542, 60, 46)
    assert (first["no_route"], first["data_waited"]) == (0, 45)
    # Seed 7 of the third movement pattern: 6 packets salvaged too often, which ns-2 counts apart from lost links.
    assert newreno["walk3"][6]["data_link_failure"] == 6
    vegas = reference("vegas")
    assert [len(rows) for rows in vegas.values()] == [40, 40, 40]
    assert set(vegas["vegas1"][0]) == set(first)


def test_settings_of_a_walk() -> None:
    for case, nodes in (("newreno", 15), ("vegas", 18)):
        walks = [scenario(case, walk) for walk in WALKS[case]]
        for s in walks:
            assert all(warning.code == "large_packets" for warning in s.warnings)
            assert s.settings["mobility"]["table"].count("\n") > 50
            assert (len(s.nodes), len(s.settings["flow"])) == (nodes, 5)
            assert s.settings["tcp"]["variant"] == case
        assert walks[0] != walks[1] != walks[2]


def test_means_over_walks() -> None:
    walks = [[{"x": 1.0}, {"x": 3.0}], [{"x": 10.0}, {"x": 10.0}, {"x": math.nan}]]
    e = mean(walks, "x")
    # Means of 2 and 10; variances of these means of 1 and 0, by 2 squared.
    assert (e.mean, e.variance, e.df) == (6, 0.25, 1)


def test_criterion_for_columns() -> None:
    def agrees(ours: float, ns2: float, variance: float = 0.0) -> bool:
        return Ratio(Estimate(ours, variance, 100), Estimate(ns2, variance, 100)).agrees

    assert [agrees(x, 100) for x in (89.9, 90.1, 109.9, 110.1)] == [False, True, True, False]
    assert agrees(80, 100, 30.0)
    assert not agrees(80, 100, 3.0)


def test_columns_of_which_one_simulator_has_none() -> None:
    def agrees(some_of_ours: int, some_of_ns2: int) -> bool:
        ours, ns2 = Estimate(some_of_ours / 120, 0.0, 100), Estimate(some_of_ns2 / 24, 0.0, 20)
        return Ratio(ours, ns2, ((some_of_ours, 120), (some_of_ns2, 24))).agrees

    # Fisher's exact test: 15 and 18 of 120 against 0 of 24 have p = 0.076 and 0.043; 1 and 2 of 24 against 0 of 120
    # have p = 0.17 and 0.027.
    assert [agrees(n, 0) for n in (15, 18)] == [True, False]
    assert [agrees(0, n) for n in (1, 2)] == [True, False]


def test_the_answer_counts_empty_and_wide_columns() -> None:
    none = Ratio(Estimate(0, 0.0, 100), Estimate(0, 0.0, 20), ((0, 120), (0, 24)))
    near = Ratio(Estimate(100, 1.0, 100), Estimate(100, 1.0, 20))
    wide = Ratio(Estimate(100, 400.0, 100), Estimate(100, 400.0, 20))
    far = Ratio(Estimate(50, 1.0, 100), Estimate(100, 1.0, 20))
    columns = [Column(name, {}, r) for name, r in (("a", none), ("b", near), ("c", wide), ("d", far))]
    assert answer(columns) == (
        "2 of 3 columns agree, 1 of them with intervals of more than ± 20 %. These do not (ours divided by that of "
        "ns-2): `d` 0.50. Columns that are 0 in every run of both: 1."
    )
    assert answer(columns[1:2]) == "1 of 1 columns agree, 0 of them with intervals of more than ± 20 %."


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(VALIDATION, "seeds", (1, 2))
    assert cli.main(["validate", "dsr", "--out", str(tmp_path)]) == 0
    output = capsys.readouterr().out
    assert re.search(r"\d+ of \d+ columns agree, \d+ of them", output)
    text = (tmp_path / "validation.md").read_text(encoding="utf-8")
    assert "## Vegas flows among 18 nodes" in text
    rows = list(csv.DictReader((tmp_path / "validation.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 2 * 45 * 4
    acked = next(r for r in rows if r["case"] == "newreno" and r["column"] == "tcp_acked" and r["walk"] == "all")
    assert acked["agrees"] == "True"
    assert float(acked["ratio"]) == pytest.approx(float(acked["ours"]) / float(acked["ns2"]))
    with VALIDATION.run_cache(tmp_path, 1) as runs:
        assert len(VALIDATION.run(runs)["newreno"]["walk3"]) == 2
        assert runs.made == 0


def test_the_page_is_of_all_columns() -> None:
    text = (REPOSITORY / "reproductions" / "docs" / "validation-dsr.md").read_text(encoding="utf-8")
    assert all(f"\n| `{name}` | " in text for name in reference("newreno")["walk1"][0])
    assert_is_told(REPOSITORY / "reproductions" / "docs" / "validation-dsr.md")
