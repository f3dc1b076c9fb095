"""Ahmed et al. 2006 as a paper: runs, movement patterns, results of ns-2, comparison, and the command."""

import csv
import itertools
import math
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

import chappe
import polars as pl
import pytest
from chappe import cli
from chappe.stats import Estimate, student_p
from chappe_papers.ahmed2006 import PAPER
from chappe_papers.ahmed2006.claims import ALL as CLAIMS
from chappe_papers.ahmed2006.claims import READINGS as CHANGES
from chappe_papers.ahmed2006.design import DELAY, DESIGN, LOST, MEASURES, THROUGHPUT, WHY, Length
from chappe_papers.ahmed2006.extras import EXTRAS
from chappe_papers.ahmed2006.figures import FIGURES
from chappe_papers.ahmed2006.points import (
    LOSSES,
    NODES,
    READINGS,
    SPEEDS,
    STILL,
    TCPS,
    VARIANTS,
    Point,
    courses,
    same,
    scenario,
    sinks,
)
from chappe_papers.ahmed2006.validate import Row, beyond_chance, together, walk_by_walk
from chappe_papers.judging.words import Verdict
from chappe_papers.runs.estimates import Estimates
from chappe_papers.statistics.pairs import Paired

SHORT = Length((0.0, 10.0), (10.0,), seeds=2, compared=1, stop="4 s")

# ---- runs ----


def test_the_paper_is_complete() -> None:
    assert set(PAPER.figures) == set(FIGURES)
    assert set(PAPER.extras) == set(EXTRAS)
    assert set(CHANGES) == {title for title, _ in READINGS.values()} | {TCPS["e_holes"][0]}
    assert set(VARIANTS) <= set(TCPS)
    assert all(TCPS[v][0] == title for v, title in VARIANTS.items())


@pytest.mark.parametrize("reading", ["main", *READINGS])
def test_every_reading_is_a_scenario(reading: str) -> None:
    for variant in VARIANTS:
        for loss in LOSSES:
            s = scenario(same(Point(variant, 10.0, loss, reading)))
            assert s.warnings == [], (variant, loss)
            assert s.settings["wlan"]["error"]["rate"] == loss / 100
    assert scenario(Point("newreno")).settings["mobility"]["max_speed"] == STILL.replace("0.000001", "1e-6") or STILL


@pytest.mark.parametrize("variant", TCPS)
def test_every_version_of_tcp_is_a_scenario(variant: str) -> None:
    assert scenario(Point(variant, 10.0, 1.0)).warnings == []


def test_readings_that_change_nothing_are_not_run_again() -> None:
    assert same(Point("newreno", 10.0, 0.0, "loss_above")) == Point("newreno", 10.0)
    assert same(Point("newreno", 10.0, 1.0, "loss_above")).reading == "loss_above"
    assert same(Point("sack", 10.0, 1.0, "threshold")) == Point("sack", 10.0, 1.0)
    assert same(Point("ecn", 10.0, 1.0, "threshold")).reading == "threshold"


def test_walks_of_ns2_are_continuous_at_the_given_speed() -> None:
    for motion in range(1, 6):
        assert sorted(sinks(motion)) == list(range(NODES))
        assert all(to != node for node, to in enumerate(sinks(motion)))
        first = {}
        for speed in (0.0, 5.0, 10.0, 20.0, 25.0):
            legs: dict[int, list[dict[str, float]]] = {n: [] for n in range(NODES)}
            for row in csv.DictReader(courses(motion, speed).splitlines()):
                legs[int(row["node"])].append({name: float(v) for name, v in row.items()})
            first[speed] = [(of_node[0]["x_m"], of_node[0]["y_m"]) for of_node in legs.values()]
            for of_node in legs.values() if speed else ():
                for a, b in itertools.pairwise(of_node):
                    assert (a["dest_x_m"], a["dest_y_m"]) == (b["x_m"], b["y_m"])
                    way = math.hypot(a["dest_x_m"] - a["x_m"], a["dest_y_m"] - a["y_m"])
                    assert b["time_s"] - a["time_s"] == pytest.approx(way / speed, abs=1.1e-6)
                last = of_node[-1]
                left = math.hypot(last["dest_x_m"] - last["x_m"], last["dest_y_m"] - last["y_m"]) / speed
                assert last["time_s"] + left > 499.9, "it walks to the end of the run"
        assert all(first[speed] == first[0.0] for speed in first)


# ---- ns-2 ----


def test_every_number_of_ns2_is_the_mean_over_its_walks() -> None:
    text = files("chappe_papers.ahmed2006").joinpath("reference.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) == 222
    of_ecn = [r for r in rows if (r["variant"], r["speed"], r["loss"], r["reading"]) == ("ecn", "10", "0", "")]
    e = DESIGN.ns2().take(Point("ecn", 10.0), THROUGHPUT)
    assert isinstance(e, Paired)
    assert [unit for unit, _ in e.values] == [1, 2, 3, 4, 5]
    assert e.mean == pytest.approx(sum(float(r["received_packets"]) for r in of_ecn) / 5 / 500)
    lost = DESIGN.ns2().take(Point("newreno", 0.0), LOST)
    assert lost.mean == pytest.approx(0.0085, abs=5e-5), "as its README prints it"


def test_claims_that_ns2_can_answer() -> None:
    [loss] = [c.judged(DESIGN.ns2()) for c in CLAIMS if c.id == "P4-F2-2"]
    assert loss.counts == "5/0/5", "with RED less is lost; five walks do not show it at all points"
    assert all(o.effect.mean < 0.8 for o in loss.observations)
    assert not CLAIMS[0].judged(DESIGN.ns2()).observations, "ns-2 has no Westwood that uses its estimate"


# ---- comparison of runs ----


def test_walks_are_compared_one_by_one() -> None:
    """One run of ns-2 and four of Chappe per movement pattern, calculated by hand."""
    theirs = {1: 10.0, 2: 100.0}
    ours = {1: [11.0, 12.0, 13.0, 12.0], 2: [101.0, 103.0, 102.0, 98.0]}
    apart = walk_by_walk(theirs, ours)
    assert apart.mean == pytest.approx((2.0 + 1.0) / 2)
    one, other = (2 / 3) * (1 + 1 / 4), (14 / 3) * (1 + 1 / 4)
    assert apart.variance == pytest.approx((one + other) / 4)
    assert apart.df == pytest.approx((one + other) ** 2 / (one**2 / 3 + other**2 / 3))
    assert 0.2 < student_p(apart) < 0.4
    assert student_p(Estimate(0.0, 0.0, 3)) == 1.0
    # Four equal differences have the probability of the sign test.
    assert student_p(Estimate(1.0, 0.0, 3)) == 0.125


def test_pooled_rows_decide_where_single_rows_do_not() -> None:
    measure = MEASURES["mean_hops"]

    def row(apart: float, part: str) -> Row:
        means = Estimate(100.0, 0.0, 0), Estimate(100.0 + apart, 0.0, 0)
        return Row("a row", part, None, "mean_hops", measure, *means, apart=Estimate(apart, 25.0, 10))

    # Each row differs by 8 of 100, with a standard error of 5: p = 0.14. Nine rows have a standard error of 5 / 3.
    nine = [row(8.0, "far") for _ in range(9)]
    assert student_p(nine[0].apart) > 0.1
    all_of_them = together(nine)
    assert (all_of_them.mean, all_of_them.variance, all_of_them.df) == pytest.approx((0.08, 9 * 25 / 900**2, 90))
    near = [row(0.0, "near") for _ in range(9)]
    assert [part for part, _, _ in beyond_chance([*nine, *near])] == ["far"]


def made_up(gains: Mapping[str, float]) -> Estimates:
    """Ten movement patterns that differ much more than TCP variants; the variants differ by the given gains."""
    values = {}
    for v in VARIANTS:
        for s in SPEEDS:
            for loss in LOSSES:
                gain = gains.get(v, 1.0) * gains.get(f"{v} {s:g}", 1.0)
                by_walk = {w: (100 + 40 * w) * gain * (1 + 0.01 * ((7 * w + 3 * len(v)) % 5 - 2)) for w in range(10)}
                names = (THROUGHPUT, LOST, DELAY, *WHY)
                values[Point(v, s, loss)] = {n: Paired.at(by_walk) for n in names}
    return Estimates(values, SPEEDS)


@pytest.mark.parametrize(
    ("name", "gains", "expected"),
    [
        ("P4-F1-3", {"e_newreno": 1.21}, Verdict.CONFIRMED),
        ("P4-F1-3", {"e_newreno": 1.5}, Verdict.SIZE),
        ("P4-F1-3", {"e_newreno": 0.9}, Verdict.OPPOSITE),
        ("P4-F1-1", {"westwood": 1.1}, Verdict.CONFIRMED),
        ("P4-F1-1", {"westwood": 0.9}, Verdict.OPPOSITE),
        ("P4-F1-5", {"ecn": 1.07}, Verdict.CONFIRMED),
        ("P4-F1-5", {"ecn": 1.3}, Verdict.SIZE),
        ("P4-F4-4", {"westwood 15": 1.1, "ecn 20": 1.1}, Verdict.CONFIRMED),
        ("P4-F4-4", {"newreno": 1.1}, Verdict.OPPOSITE),
        ("P4-W-3", {"sack": 1.2}, Verdict.CONFIRMED),
        ("P4-W-1", {"e_newreno": 0.5}, Verdict.CONFIRMED),
    ],
)
def test_verdicts(name: str, gains: Mapping[str, float], expected: Verdict) -> None:
    assert next(c for c in CLAIMS if c.id == name).judged(made_up(gains)).alone.verdict is expected


# ---- the command ----


def test_measures_of_a_run_agree_with_its_tables() -> None:
    results = chappe.run(scenario(Point("ecn", 10.0, 1.0)).with_settings({"run.stop": "10 s"}), seed=1)
    taken = DESIGN.of_run({name: getattr(results, name) for name in ("flows", "packet_outcomes", "nodes")})
    assert set(MEASURES) | set(WHY) <= set(taken)
    flows = results.flows
    assert taken[THROUGHPUT] == pytest.approx(float(flows["copies_received"].sum()) / 10)
    assert taken["mean_hops"] >= 1
    assert 0 < taken["slow_start"] + taken["avoidance"] <= 1


def test_a_part_of_it_by_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(DESIGN, "quick", SHORT)
    command = ["paper", PAPER.name, "--quick", "--jobs", "2"]
    assert cli.main([*command, "--out", str(tmp_path), "--claim", "P4-F1-6"]) == 0
    output = capsys.readouterr().out
    assert "E-NewReno has more throughput than each" in output
    assert Verdict.OPEN.value in output, "two short runs decide nothing"
    assert pl.read_csv(tmp_path / "claims.csv").height == 8
    assert cli.main([*command, "--out", str(tmp_path), "--figure", "1"]) == 0
    figure = pl.read_csv(tmp_path / "figure1.csv")
    assert set(figure.filter(source="chappe")["variant"]) == set(VARIANTS)
    assert set(figure.filter(source="ns-2.35")["variant"]) == {"newreno", "sack", "ecn"}
