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
from chappe_papers.judging.judge import Observation, less, more
from chappe_papers.judging.words import word_of
from chappe_papers.paper import Paper
from chappe_papers.statistics.quotients import Quotient, standard_error
from command import REPOSITORY

FOLDER = REPOSITORY / "reproductions" / "experiments" / "verdicts"
PROGRAM = FOLDER / "recompute.py"
PUBLISHED = REPOSITORY / "reproductions" / "docs" / "papers"
R: dict[str, Any] = runpy.run_path(str(PROGRAM))


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
def test_probabilities_of_a_quotient_follow_from_its_interval(a: float, b: float, skewness: float) -> None:
    """Welch's test of a - v b, for any v, from effect, error, degrees of freedom and both ends of the interval."""
    one, other = Estimate(a, 0.02**2, 9, skewness=skewness), Estimate(b, 0.03**2, 7, skewness=0.1)
    for o in (more("", one, other), less("", one, other)):
        assert isinstance(o, Observation)
        assert isinstance(o.effect, Quotient)
        error, df, skew = standard_error(o.effect)
        numbers = (o.effect.mean, *o.effect.interval(), error, df)
        p = R["Point"]("", "", "", *numbers, (math.nan, math.nan), 0.0, o.test, o.limits, "", skew)
        for v in (0.7, 1.0, 1.05, 1.5):
            assert p.variance_at(v) == pytest.approx((0.02**2 + v**2 * 0.03**2) / b**2, rel=1e-6)
        assert p.p == pytest.approx((o.p_supports, o.p_contradicts), rel=1e-6, abs=1e-12)


def test_words_are_those_of_the_rule() -> None:
    for n in range(1, 9):
        for agree, opposite, none in itertools.product(range(n + 1), repeat=3):
            if agree + opposite + none <= n:
                assert R["word"](agree, opposite, none, n) == word_of(agree, opposite, none, n).value


def test_holm() -> None:
    """The example of three tests: 3 x .01, 2 x .02, and not below the one before."""
    assert R["holm"]([0.02, 0.01, 0.03]) == pytest.approx([0.04, 0.03, 0.04])
    assert math.isnan(R["holm"]([math.nan, 0.01])[0])


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
