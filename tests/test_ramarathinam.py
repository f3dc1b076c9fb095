"""Ramarathinam and Labrador 2003 as a paper: runs, results of ns-2, and the command."""

import csv
import statistics
from importlib.resources import files
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from chappe import cli
from chappe.order import Quantile
from chappe.stats import difference
from chappe.study._axes import settings_without_seed
from chappe_papers.judge import GAIN, ONE_RUN, Verdict
from chappe_papers.ramarathinam2003 import PAPER
from chappe_papers.ramarathinam2003.claims import FINDINGS, LOADS, TABLE_I, TABLE_II, spread
from chappe_papers.ramarathinam2003.design import DESIGN, LAST, LIFE, SEGMENTS, Length
from chappe_papers.ramarathinam2003.extras import EXTRAS
from chappe_papers.ramarathinam2003.figures import FIGURES, TABLES
from chappe_papers.ramarathinam2003.points import COMBINATIONS, CURVE, READINGS, ROUTINGS, VARIANTS, Point, scenario
from scipy.special import stdtr
from scipy.stats import levene


def test_the_paper_is_complete() -> None:
    assert len(COMBINATIONS) == 12
    assert {p[:2] for p in COMBINATIONS} == set(TABLE_I) == set(TABLE_II)
    assert all(len(row) == len(LOADS) for row in TABLE_I.values())
    assert DESIGN.full.seeds >= ONE_RUN, "single runs of the paper are compared with single runs of Chappe"
    assert set(PAPER.figures) == set(FIGURES)
    assert set(PAPER.tables) == set(TABLES)
    assert set(PAPER.extras) == set(EXTRAS)


def test_numbers_of_the_paper_in_findings_are_those_of_its_table() -> None:
    """Compares the quantity of the paper with ours: ratios between combinations, or between loads."""

    def said(ratios: list[float]) -> str:
        return GAIN.text(min(ratios), max(ratios))

    short = {p: min(row[:3]) / max(row[:3]) for p, row in TABLE_I.items()}
    even = [short["reno", "dsr"] / e for p, e in short.items() if p != ("reno", "dsr")]
    beside = [
        TABLE_I["sack", r][n] / TABLE_I[v, r][n] for r in ROUTINGS for n in range(4) for v in VARIANTS if v != "sack"
    ]
    proactive = [TABLE_I[v, "dsdv"][n] / TABLE_I[v, r][n] for v in VARIANTS for n in range(4) for r in ("aodv", "dsr")]
    light = [TABLE_I["tahoe", "aodv"][0] / row[0] for p, row in TABLE_I.items() if p != ("tahoe", "aodv")]
    heavy = [row[2] / row[0] for row in TABLE_I.values()]
    printed = [f.paper for f in FINDINGS[:5]]
    assert printed == [
        f"{said(even)} in Table I",
        f"{said(beside)} in Table I",
        f"{said(proactive)} in Table I",
        f"{said(heavy)} in Table I",
        f"{said(light)} with Tahoe-AODV, light",
    ]


@pytest.mark.parametrize("reading", READINGS)
def test_a_reading_is_another_scenario_that_can_be_run(reading: str) -> None:
    for routing in ROUTINGS:
        main, other = (scenario(Point("reno", routing, r)) for r in ("main", reading))
        same = settings_without_seed(main) == settings_without_seed(other)
        # DSR always uses the queue of ns-2.
        assert same == ((reading, routing) == ("cmu_queue", "dsr"))


def test_every_number_of_ns2_is_the_median_of_its_runs() -> None:
    text = files("chappe_papers.ramarathinam2003").joinpath("reference.csv").read_text(encoding="utf-8")
    runs: dict[Point, list[dict[str, str]]] = {}
    for row in csv.DictReader(text.splitlines()):
        runs.setdefault(Point(row["variant"], row["routing"], row["reading"] or "main"), []).append(row)
    assert sum(map(len, runs.values())) == 32
    table = DESIGN.ns2()
    for point, of_point in runs.items():
        for name in (*SEGMENTS.values(), *LAST.values(), *LIFE.values()):
            assert table.take(point, name).mean == statistics.median(float(r[name]) for r in of_point)
        assert table.take(point, "agent_packets").mean == pytest.approx(
            statistics.mean(float(r["agent_packets"]) for r in of_point), rel=1e-12
        )
    cells = {row[0]: row for row in TABLES[1].rows(table, table)}
    assert cells["Reno AODV"][1:3] == ["200", "286 (252-589)"]
    assert cells["NewReno AODV"][2] == "-", "ns-2 was not run with it"


def test_spread_is_compared_as_brown_and_forsythe_do() -> None:
    """With equally many runs, the statistic is the square of Student's t of the distances."""
    draw = np.random.default_rng(1)
    a, b = (draw.normal(300, sigma, 40) for sigma in (40, 60))
    x, y = (spread(Quantile.at(v.tolist())) for v in (a, b))
    d = difference(x, y)
    told = levene(a / np.median(a), b / np.median(b), center="median")
    assert d.mean**2 / d.variance == pytest.approx(told.statistic, rel=1e-9)
    assert 2 * stdtr(d.df, -abs(d.mean) / d.variance**0.5) == pytest.approx(told.pvalue, rel=0.05)


def test_additions_have_ns2_numbers() -> None:
    table = DESIGN.ns2()
    sheets = {name: sheet.rows(table, table) for e in EXTRAS.values() for name, sheet in e.sheets.items()}
    assert all(sheet.shown for e in EXTRAS.values() for sheet in e.sheets.values())
    assert sheets["readings"][0] == ["the paper", "466.3 to 470.0", "465.7 to 468.8", "200 to 500", "250 to 370",
                                     "150 to 300", "800 to 1,400"]  # fmt: skip
    titles = [row[0] for row in sheets["readings"][2:]]
    assert titles == ["the main reading", *(title for title, _ in READINGS.values())]
    tahoe = next(row for row in sheets["queue"] if row[0] == "Tahoe")
    assert float(tahoe[3]) == 390, "ns-2's one run of DSDV over the queue of DSR"
    assert [row[0] for row in sheets["overhead"]] == list(ROUTINGS.values())


def test_curves_end_where_transfers_end(tmp_path: Path) -> None:
    with DESIGN.run_cache(tmp_path, 2) as runs:
        point = Point("sack", "aodv", CURVE)
        rows = DESIGN.measured({point: (scenario(point), [1])}, runs)[point]
    for load, name in SEGMENTS.items():
        values = [rows[c][0] for c in rows.columns if c.startswith(f"{load}_at_")]
        assert len(values) == {"internet": 50}.get(load, 20)
        assert values == sorted(values)
        assert values[-1] == rows[name][0] > 0


def test_a_part_of_it_by_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(DESIGN, "quick", Length(1, 1))
    command = ["paper", PAPER.name, "--quick", "--jobs", "2"]
    assert cli.main([*command, "--out", str(tmp_path), "--claim", "P1-E-3"]) == 0
    output = capsys.readouterr().out
    assert "Without its updates DSDV would send fewer packets than DSR" in output
    assert Verdict.OPEN.value in output, "one run decides nothing"
    assert pl.read_csv(tmp_path / "claims.csv").height == 4
    assert cli.main([*command, "--out", str(tmp_path / "figure"), "--figure", "2"]) == 0
    uploads = pl.read_csv(tmp_path / "figure" / "figure2.csv").filter(
        pl.col("time_s").is_in([25, 100, 225, 250, 350, 475])
    )
    assert uploads["transfers"].to_list() == [1, 4, 9, 10, 6, 1]
