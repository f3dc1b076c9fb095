"""Verdicts recomputed from the published claims.csv alone: all of them, and the rules one by one."""

import csv
import itertools
import math
import re
import runpy
import sys
from pathlib import Path
from typing import Any

import chappe_papers
import pytest
from chappe.stats import Estimate
from chappe_papers import summary
from chappe_papers.judging.judge import Form, Observation, below, fewer, less, more
from chappe_papers.judging.words import word_of
from chappe_papers.paper import Paper
from chappe_papers.statistics.quotients import Quotient, error_of
from command import REPOSITORY

FOLDER = REPOSITORY / "reproductions" / "experiments" / "verdicts"
PROGRAM = FOLDER / "recompute.py"
PUBLISHED = REPOSITORY / "reproductions" / "docs" / "papers"
R: dict[str, Any] = runpy.run_path(str(PROGRAM))


def published() -> list[dict[str, str]]:
    """All published points."""
    files = sorted(PUBLISHED.glob("*/claims.csv"))
    return [row for file in files for row in csv.DictReader(file.read_text(encoding="utf-8").splitlines())]


def test_published_verdicts_come_out_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert R["main"]([]) == 0, capsys.readouterr().out
    claims = sum(len(p.claims) for p in chappe_papers.PAPERS)
    out = capsys.readouterr().out
    assert out.endswith(f"{claims} claims, 0 differ.\n")
    # Most points are tested, the others are counted.
    points, given = (sum(map(int, re.findall(pattern, out, re.M))) for pattern in (r"of (\d+) ", r"(\d+)$"))
    assert given < points / 4


@pytest.mark.parametrize(
    ("is_now", "was"),
    [("opposite", "confirmed"), ("no effect", "as the paper says"), (",undecided,", ",smaller,"), ("mixed", "depends")],
)
def test_a_file_that_says_otherwise_is_told(
    is_now: str, was: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (PUBLISHED / "ahmed2006" / "claims.csv").read_text(encoding="utf-8")
    assert was in text
    (tmp_path / "claims.csv").write_text(text.replace(was, is_now), encoding="utf-8")
    assert R["main"]([str(tmp_path)]) == 1
    assert "differ: P" in capsys.readouterr().out


def test_a_file_without_standard_errors_is_refused(tmp_path: Path) -> None:
    header = (PUBLISHED / "ahmed2006" / "claims.csv").read_text(encoding="utf-8").splitlines()[0]
    (tmp_path / "claims.csv").write_text(header.replace("standard_error,", "") + "\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"claims\.csv has no standard_error"):
        R["main"]([str(tmp_path)])


def test_it_imports_nothing_of_chappe() -> None:
    modules = re.findall(r"^(?:import|from) (\w+)", PROGRAM.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(modules) <= {"argparse", "csv", "math", "sys", "collections", "dataclasses", "pathlib", "numpy", "scipy"}


@pytest.mark.parametrize("skewness", [0.0, 0.3, -0.8])
@pytest.mark.parametrize(("a", "b"), [(1.3, 1.0), (1.04, 1.0), (0.8, 0.9)])
def test_probabilities_of_a_quotient_follow_from_its_error(a: float, b: float, skewness: float) -> None:
    """Welch's test of a - v b, for any v, from effect, error with its slope and curvature, and degrees of freedom."""
    one, other = Estimate(a, 0.02**2, 9, skewness=skewness), Estimate(b, 0.03**2, 7, skewness=0.1)
    for o in (more("", one, other), less("", one, other)):
        assert isinstance(o, Observation)
        assert isinstance(o.effect, Quotient)
        e = error_of(o.effect)
        numbers = (o.effect.mean, e.standard, e.slope, e.curvature, e.df)
        p = R["Point"]("", "", "", *numbers, (math.nan, math.nan), 0.0, o.test, o.limits, "", e.skewness)
        for v in (0.7, 1.0, 1.05, 1.5):
            assert p.variance_at(v) == pytest.approx((0.02**2 + v**2 * 0.03**2) / b**2, rel=1e-6)
        assert p.p == pytest.approx((o.p_supports, o.p_contradicts), rel=1e-6, abs=1e-12)


def test_intervals_end_at_what_a_quantity_can_be() -> None:
    """Measures and their ratios are not negative, and not more than all of it can be missing; differences may be."""
    few, many = Estimate(0.1, 0.5**2, 4), Estimate(10.0, 1.0, 4)
    assert more("", few, many).interval[0] == 0
    assert fewer("", few, many).interval[1] == 1
    assert below("", few, 1).interval[0] == 0
    assert below("", few, 1, form=Form(signed=True)).interval[0] < 0
    signed = ("P1-T1-10", "P1-T2-2")
    points = [r for r in published() if r["answer"] and r["low_95"] and r["claim"] not in signed]
    assert len(points) > 1000
    for r in points:
        assert float(r["low_95"]) >= float(r["zero"]), r
        is_share = r["unit"] == "%" and r["zero"] == "0"
        assert not is_share or not r["high_95"] or float(r["high_95"]) <= 100, r


def test_words_are_those_of_the_rule() -> None:
    for n in range(1, 9):
        for agree, opposite, none in itertools.product(range(n + 1), repeat=3):
            if agree + opposite + none <= n:
                assert R["word"](agree, opposite, none, n) == word_of(agree, opposite, none, n).value


def test_holm() -> None:
    """The example of three tests: 3 x .01, 2 x .02, and not below the one before."""
    assert R["holm"]([0.02, 0.01, 0.03]) == pytest.approx([0.04, 0.03, 0.04])
    assert math.isnan(R["holm"]([math.nan, 0.01])[0])


def test_known_skewness_leaves_a_verdict_among_those_that_were_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    """The verdicts of all claims with known skewness, beside those that they may have without it."""
    monkeypatch.syspath_prepend(str(FOLDER))
    s = runpy.run_path(str(FOLDER / "skewness.py"))
    rules = s["recompute"]
    claims: dict[str, list[dict[str, str]]] = {}
    for r in published():
        claims.setdefault(r["claim"], []).append(r)
    moved = []
    for rows in [rows for rows in claims.values() if any(r["skewness"] for r in rows)]:
        alpha = float(rows[0]["level_percent"]) / 100

        def verdict_of(rows: list[dict[str, str]], alpha: float = alpha) -> str:
            points = rules.points([r for r in rows if r["answer"]])
            differs = rules.differs(points, alpha)
            said = rows[0]["size"] in rules.SIZES if differs is None else differs
            return str(rules.verdict_of(points, rules.decisions(points, alpha), said, ""))

        unknown = [r | {"skewness": ""} for r in rows]
        with_it, possible = verdict_of(rows), s["verdicts"](unknown)
        assert {with_it, verdict_of(unknown)} <= possible, rows[0]["claim"]
        if with_it != verdict_of(unknown):
            moved.append(rows[0]["claim"])
    assert {"P4-F1-2", "P0-F5-2", "P0-F8-1"} <= set(moved)
    sys.modules.pop("recompute", None)


def test_no_skewness_that_is_not_known_could_change_a_verdict(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    assert runpy.run_path(str(FOLDER / "skewness.py"))["main"]([]) == 0
    assert capsys.readouterr().out == "160 claims, 160 cannot change, 0 could.\n"
    sys.modules.pop("recompute", None)


def test_a_point_with_skewness_is_judged_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gain of three errors: certain without skewness, open with a t of half its size; with some it is known."""
    monkeypatch.syspath_prepend(str(FOLDER))
    s = runpy.run_path(str(FOLDER / "skewness.py"))
    row = dict.fromkeys(published()[0], "")
    row |= {"level_percent": "5", "test": "more", "effect": "30", "standard_error": "10", "degrees_of_freedom": "9"}
    row |= {"from": "0", "to": "0", "zero": "0", "answer": "as the paper says"}
    assert s["verdicts"]([row]) == {"confirmed", "undecided"}
    assert s["verdicts"]([row | {"effect": "90"}]) == {"confirmed"}
    assert s["verdicts"]([row | {"skewness": "0.5"}]) == {"confirmed"}
    # The tail of the longer side is where a gain would be missing.
    assert s["verdicts"]([row | {"skewness": "-0.5"}]) == {"undecided"}
    sys.modules.pop("recompute", None)


@pytest.mark.parametrize("paper", chappe_papers.PAPERS, ids=lambda p: p.name)
def test_counting_the_published_points_again_changes_nothing(paper: Paper, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the rule of the package and the statements of its claims, which numbers that chose follow from."""
    monkeypatch.syspath_prepend(str(FOLDER))
    recorded = runpy.run_path(str(FOLDER / "recorded.py"))
    rows = recorded["published"](paper)
    shipped = summary.shipped(paper)
    for name, answer in recorded["answers"](paper).items():
        own = [r for r in rows[name] if r["answer"]]
        assert [d.decision.value for d in answer.decided] == [r["answer"] for r in own], name
        assert (answer.verdict.value, answer.reported) == (rows[name][0]["verdict"], shipped.claims[name].verdict)
    for f in paper.findings:
        judged = f.judged(recorded["answers"](paper))
        assert judged.verdict == next(s.verdict for s in shipped.findings if s.says == f.says)
    sys.modules.pop("recorded", None)


def test_doubts_follow_from_runs_and_skewness() -> None:
    """Of tests by t, in the words of studies; what is not known is not guessed."""
    rows = [r for r in published() if r["answer"]]
    tested = [r for r in rows if r["doubt"]]
    assert len(tested) > len(rows) / 2
    for r in rows:
        if not r["doubt"] or not r["runs"]:
            assert r["doubt"] in ("", "unknown", "few runs", "few runs, no spread"), r
            continue
        is_few, skewness = int(r["runs"]) < 14, float(r["skewness"] or 0)
        is_skewed = not is_few and skewness**2 > 1 / 14
        words = {
            "few runs": is_few,
            "skewed high": is_skewed and skewness > 0,
            "skewed low": is_skewed and skewness < 0,
            "no spread": float(r["standard_error"]) == 0,
        }
        known = ", ".join(word for word, applies in words.items() if applies)
        assert r["doubt"] == (known or "unknown"), r
        assert known or not r["skewness"], r


def test_readings_are_asked_about_the_claims_of_which_they_change_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of Su: two about RTS, with the planned runs, as the main reading has by the page."""
    monkeypatch.syspath_prepend(str(FOLDER))
    readings = runpy.run_path(str(FOLDER / "readings.py"))
    [su] = [p for p in chappe_papers.PAPERS if p.name == "su2008"]
    asked = [(a.claim.id, a.times) for a in readings["asked"](su) if a.title.startswith("An unanswered RTS")]
    assert asked == [("P2-F6-4", 1), ("P2-F6-6", 1)]
    # Six runs of a reading, ten of the main one, at four times the planned ones.
    [ahmed] = [p for p in chappe_papers.PAPERS if p.name == "ahmed2006"]
    assert {a.times for a in readings["asked"](ahmed) if a.claim.id == "P4-F3-2" and a.title == "2 Mbit/s"} == {7}
    sys.modules.pop("recorded", None)


@pytest.mark.parametrize(("runs", "df"), [(3, 29), (3, 2), (10, 9), (24, 23)])
def test_degrees_of_freedom_tell_the_number_of_runs(runs: int, df: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of Welch's formula, with ten batches of three runs on the other side, or with ten runs."""
    monkeypatch.syspath_prepend(str(FOLDER))
    planned = runpy.run_path(str(FOLDER / "planned.py"))
    length = chappe_papers.find("elrakabawy2005").design.full  # type: ignore[union-attr]
    for other, other_runs in ((29, 3), (9, 10)):
        a, b = Estimate(1.3, 0.02**2, df), Estimate(1.0, 0.03**2, other)
        for o in (more("", a, b), fewer("", b, a)):
            e = error_of(o.effect)
            row = {"effect": o.effect.mean * o.form.scale + o.form.offset, "zero": o.form.offset, "error_curvature":
                   e.curvature, "standard_error": e.standard * o.form.scale, "degrees_of_freedom": e.df}  # fmt: skip
            found = planned["_by_error"]({name: f"{v:.12g}" for name, v in row.items()}, 1, length)
            assert found == min(runs, other_runs)
    for name in ("recorded", "planned"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("paper", chappe_papers.PAPERS, ids=lambda p: p.name)
def test_what_a_claim_depends_on_is_shown(paper: Paper) -> None:
    """Both effects, of published tables, or the verdicts of published readings; and nothing else is listed."""
    hanging = {c.id: c.hangs for c in paper.all_claims if c.hangs}
    path = PUBLISHED / paper.name / summary.UNKNOWNS
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines())) if hanging else []
    assert {r["claim"]: r["unknown"] for r in rows} == hanging
    for r in rows:
        assert all(r.values()), r
        assert r["main"] != r["other"], r
        if re.match(r"\w+\.csv", r["source"]):
            assert (PUBLISHED / paper.name / r["source"].split(",")[0].split(";")[0]).is_file()
    if hanging:
        assert path.read_text(encoding="utf-8") == paper.folder.joinpath(summary.UNKNOWNS).read_text(encoding="utf-8")
