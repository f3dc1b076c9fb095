"""Ramarathinam and Labrador 2003 as a paper: runs, results of ns-2, and the command."""

import csv
import statistics
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from chappe import cli
from chappe.study.design.axes import settings_without_seed
from chappe_papers.judging.judge import GAIN, ONE_RUN, Observation, judge
from chappe_papers.judging.words import Verdict
from chappe_papers.ramarathinam2003 import PAPER, likelihood
from chappe_papers.ramarathinam2003.claims import (
    AHEAD_OF_SACK,
    CLAIMS,
    CONSISTENT,
    FINDINGS,
    FINE,
    PLACES,
    TIME,
    VERSIONS,
)
from chappe_papers.ramarathinam2003.consistency import Medians, ahead, at_most, ranks, versions_ahead
from chappe_papers.ramarathinam2003.design import DESIGN, LAST, LIFE, SEGMENTS, Length
from chappe_papers.ramarathinam2003.extras import EXTRAS
from chappe_papers.ramarathinam2003.figures import FIGURES, TABLES
from chappe_papers.ramarathinam2003.points import (
    COMBINATIONS,
    CURVE,
    MAIN,
    NS2_RATE,
    RATE,
    RATES,
    READINGS,
    ROUTINGS,
    UDP_KBPS,
    VARIANTS,
    Point,
    scenario,
)
from chappe_papers.ramarathinam2003.printed import LOADS, TABLE_I, TABLE_II, distance_from_uniform, exchange_p
from chappe_papers.ramarathinam2003.single_runs import SingleRuns
from chappe_papers.runs.estimates import Estimates


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

    proactive = [TABLE_I[v, "dsdv"][n] / TABLE_I[v, r][n] for v in VARIANTS for n in range(4) for r in ("aodv", "dsr")]
    light = [TABLE_I["tahoe", "aodv"][0] / row[0] for p, row in TABLE_I.items() if p != ("tahoe", "aodv")]
    heavy = [row[2] / row[0] for row in TABLE_I.values()]
    last = [
        row[n] / TABLE_II["tahoe", "aodv"][n] for p, row in TABLE_II.items() for n in (0, 1) if p != ("tahoe", "aodv")
    ]
    times = [time for row in TABLE_II.values() for time in row]
    assert [f.paper for f in FINDINGS[2:7]] == [
        said(proactive),
        said(heavy),
        said(light),
        FINE.text(min(last), max(last)),
        TIME.text(min(times), max(times)),
    ]


def test_numbers_that_chose_the_reading_judge_nothing() -> None:
    claim = next(c for c in CLAIMS.all if c.id == "P1-T2-3")
    runs = {name: SingleRuns.at([460.0 + n for n in range(40)]) for name in LAST.values()}
    data = Estimates(dict.fromkeys(COMBINATIONS, runs))
    answer = claim.judged(data)
    assert answer.observations
    assert answer.verdict is Verdict.CHOSE
    assert answer.counts == "0/0/24"
    assert answer.size is None
    # Differences between our own times are judged.
    assert [c.id for c in CLAIMS.all if any(o.chose for o in c.observations(data))] == ["P1-T2-3"]


def test_datagrams_beside_transfers() -> None:
    """The mesh alone is UDP, and at the highest rate it asks for most of the channel."""
    s = scenario(Point("reno", "dsr", f"udp_{UDP_KBPS[-1]}"))
    assert [flow["app"] for flow in s.settings["flow"]] == ["bulk"] * 4 + ["on_off"]
    assert s.settings["on_off"]["transport"] == "udp"
    assert 90 * 0.2 * UDP_KBPS[-1] / 1e3 > 0.8 * RATE


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
        runs.setdefault(Point(row["variant"], row["routing"], row["reading"] or MAIN, NS2_RATE), []).append(row)
    assert sum(map(len, runs.values())) == 32
    table = DESIGN.ns2()
    for point, of_point in runs.items():
        for name in (*SEGMENTS.values(), *LAST.values(), *LIFE.values()):
            assert table.take(point, name).mean == statistics.median(float(r[name]) for r in of_point)
        assert table.take(point, "agent_packets").mean == pytest.approx(
            statistics.mean(float(r["agent_packets"]) for r in of_point), rel=1e-12
        )
    cells = {row[0]: row for row in TABLES[1].rows(table, table)}
    assert cells["Reno AODV"][1:5] == ["200", "-", "286 (252-589)", "286 (252-589)"]
    assert cells["NewReno AODV"][4] == "-", "ns-2 was not run with it"


def drawn(draw: np.random.Generator, runs: int, gain: float = 1.0, load: int | None = None) -> np.ndarray:
    """Segments of some runs at each load, skewed as those of transfers are; values of one run depend on each other."""
    common = draw.normal(0, 0.2, (runs, 1))
    segments = np.round(300 * np.exp(common + draw.normal(0, 0.3, (runs, len(LOADS)))))
    segments[:, slice(None) if load is None else load] *= gain
    return np.asarray(segments)


def test_distance_from_uniform_is_that_of_anderson_and_darling() -> None:
    """Their example values: one place in the middle has 2 ln 2 - 1, and the distance grows to either side."""
    assert distance_from_uniform(np.array([0.5])) == pytest.approx(2 * np.log(2) - 1, rel=1e-12)
    u = np.random.default_rng(1).uniform(size=(4_000, 48))
    # Percentage points of the limiting distribution (Marsaglia and Marsaglia 2004).
    assert np.mean(distance_from_uniform(u) > 2.492) == pytest.approx(0.05, abs=0.012)


@pytest.mark.parametrize(
    ("gain", "load", "low", "high"), [(1.0, None, 1, 13), (0.59, 0, 60, 100), (0.7, None, 95, 100)]
)
def test_the_test_of_table_1_has_its_level_and_power(gain: float, load: int | None, low: int, high: int) -> None:
    """Of 100 sets of drawn runs it rejects some five whose paper has runs like ours, though loads depend on each other.

    More than 13 of 100 have a probability of 0.05 %. It detects one load that differs as much as the light one.
    """
    draw = np.random.default_rng(2)
    rejected = 0
    for _ in range(100):
        ours = [drawn(draw, 19) for _ in COMBINATIONS]
        theirs = [drawn(draw, 1, gain, load)[0] for _ in COMBINATIONS]
        rejected += exchange_p(theirs, ours, draws=199)[1] < 0.05
    assert low <= rejected <= high


def test_ranks_of_table_1() -> None:
    """Reno with DSR has the best mean rank of Table I, SACK the ranks that the text gives."""
    printed = np.array([TABLE_I[p[:2]] for p in COMBINATIONS], dtype=float)
    by_point = dict(zip(COMBINATIONS, ranks(printed), strict=True))
    assert by_point[CONSISTENT].tolist() == [4, 1, 2, 5], "of three and of five equal ones the middle"
    means = {p: r.mean() for p, r in by_point.items()}
    assert min(means, key=lambda p: means[p]) == CONSISTENT
    assert dict(zip(LOADS, versions_ahead(printed, COMBINATIONS, "sack"), strict=True)) == AHEAD_OF_SACK
    behind = [m - means[CONSISTENT] for p, m in means.items() if p != CONSISTENT]
    assert FINDINGS[0].paper == PLACES.text(min(behind), max(behind))
    assert FINDINGS[1].paper == VERSIONS.text(min(AHEAD_OF_SACK.values()), max(AHEAD_OF_SACK.values()))


def statements(draw: np.random.Generator, gain: float) -> tuple[list[Observation], list[Observation]]:
    """Checks of the claims of ranks on drawn runs: Reno with DSR, or all of SACK, have more by a factor."""

    def medians(better: set[Point]) -> Medians:
        runs = {p: drawn(draw, 10, gain if p in better else 1.0) for p in COMBINATIONS}
        return Medians.of_runs(runs, draws=599)

    behind = medians({CONSISTENT}).behind(CONSISTENT)
    others = medians({p for p in COMBINATIONS if p.variant == "sack"}).ahead_of("sack")
    return (
        [ahead(str(p), e) for p, e in behind.items()],
        [at_most(load, e, 0) for load, e in others.items()],
    )


def test_claims_of_ranks_have_their_level_and_power() -> None:
    """Of combinations that are equal they decide nothing, in 19 of 20 cases and more; of better ones they tell."""
    draw = np.random.default_rng(3)
    equal = [judge(s) for _ in range(20) for s in statements(draw, 1.0)]
    assert sum(a.supports + a.contradicts > 0 for a in equal) <= 0.05 * len(equal)
    better = [judge(s).verdict for _ in range(5) for s in statements(draw, 3.0)]
    assert better.count(Verdict.CONFIRMED) >= 0.9 * len(better)


def test_density_of_a_further_run() -> None:
    """It is that of the runs, and of a number far from all of them that of any time in one of n + 1 cases."""
    runs = np.random.default_rng(4).normal(466, 0.5, 40)
    times = np.arange(0, 500, 0.01)
    density = np.exp([likelihood.log_density(runs, t) for t in times[::20]])
    assert density.sum() * 0.2 == pytest.approx(1, rel=0.01)
    assert np.exp(likelihood.log_density(runs, 440)) == pytest.approx(1 / 41 / 500, rel=1e-9)
    assert np.exp(likelihood.log_density(runs, 466)) == pytest.approx(1 / 0.5 / np.sqrt(2 * np.pi), rel=0.25)


def of_drawn(
    draw: np.random.Generator, means: Mapping[likelihood.Reading, float]
) -> dict[likelihood.Reading, np.ndarray]:
    """Likelihoods of a paper whose last packets come at 467 s, under readings with other means."""
    theirs = draw.normal(467, 0.5, len(COMBINATIONS))
    return {
        r: np.array([likelihood.log_density(draw.normal(mean, 0.5, 10), one) for one in theirs])
        for r, mean in means.items()
    }


def test_the_main_reading_is_the_most_likely_one() -> None:
    """The rate is found; another reading with the same times, which has more departures from ns-2, is not chosen."""
    draw = np.random.default_rng(5)
    means = dict(zip(((MAIN, r) for r in RATES), (440, 453, 467, 476), strict=True))
    also = means | {("seats", RATE): 467, ("from_5s", RATE): 470}
    for _ in range(20):
        assert likelihood.chosen(of_drawn(draw, also)) == (MAIN, RATE)
    assert likelihood.chosen(of_drawn(draw, means | {(MAIN, NS2_RATE): 467})) == (MAIN, NS2_RATE)
    assert likelihood.chosen(of_drawn(draw, means | {(MAIN, RATE): 460, ("seats", RATE): 467})) == ("seats", RATE)


def test_a_reading_with_more_runs_is_not_more_likely() -> None:
    draw = np.random.default_rng(7)
    times = {p: draw.normal(467, 0.5, 4 * likelihood.RUNS) for p in COMBINATIONS}
    few, many = (
        Estimates({p: dict.fromkeys(LAST.values(), SingleRuns.at(t[:n])) for p, t in times.items()})
        for n in (likelihood.RUNS, None)
    )
    of_few, of_many = (likelihood.likelihoods(data, (MAIN, RATE)) for data in (few, many))
    assert len(of_few) == len(COMBINATIONS)
    assert of_few.tolist() == of_many.tolist()


def test_equal_readings_are_rarely_told_apart() -> None:
    draw = np.random.default_rng(6)
    alike = {(MAIN, NS2_RATE): 467, (MAIN, RATE): 467}
    wrong = sum(min(likelihood.distinguished(of_drawn(draw, alike)).values()) < 0.05 for _ in range(100))
    # More than 13 of 100 have a probability of 0.05 %.
    assert wrong <= 13


def test_additions_have_ns2_numbers() -> None:
    table = DESIGN.ns2()
    sheets = {name: sheet.rows(table, table) for e in EXTRAS.values() for name, sheet in e.sheets.items()}
    assert all(sheet.shown for e in EXTRAS.values() for sheet in e.sheets.values())
    assert sheets["readings"][0] == ["the paper", "466.3 to 470.0", "465.7 to 468.8", "200 to 500", "250 to 370",
                                     "150 to 300", "800 to 1,400"]  # fmt: skip
    titles = [row[0] for row in sheets["readings"][2:]]
    assert titles == ["1 Mbit/s", "2 Mbit/s", "5.5 Mbit/s, the main reading", "11 Mbit/s",
                      *(title for title, _ in READINGS.values())]  # fmt: skip
    tahoe = next(row for row in sheets["queue"] if row[0] == "Tahoe, 2 Mbit/s")
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
