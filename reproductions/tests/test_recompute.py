"""Verdicts recomputed from claims.csv alone: the recorded ones of short runs, and the rules one by one."""

import itertools
import math
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from chappe.stats import Estimate
from chappe_papers.judging.judge import Observation, less, more, word_of
from chappe_papers.statistics.quotients import Quotient, standard_error
from command import REPOSITORY

PROGRAM = REPOSITORY / "reproductions" / "experiments" / "verdicts" / "recompute.py"
RECORDED = REPOSITORY / "reproductions" / "tests" / "recompute"
R: dict[str, Any] = runpy.run_path(str(PROGRAM))


def point(effect: Quotient) -> Any:
    low, high = effect.interval()
    error, df, skewness = standard_error(effect)
    return R["Point"]("", "", "", effect.mean, low, high, error, df, None, False, "", skewness)


def test_recorded_verdicts_come_out_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert R["main"](["--quick", str(RECORDED)]) == 0
    assert capsys.readouterr().out.endswith(f"{len(R['RULES'])} claims, 0 differ.\n")


@pytest.mark.parametrize(
    ("is_now", "was"), [("refuted", "confirmed"), ("contrary", "as the paper says"), (",larger,", ",undecided,")]
)
def test_a_file_that_says_otherwise_is_told(
    is_now: str, was: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (RECORDED / "claims.csv").read_text(encoding="utf-8")
    assert was in text
    (tmp_path / "claims.csv").write_text(text.replace(was, is_now), encoding="utf-8")
    assert R["main"](["--quick", str(tmp_path)]) == 1
    assert "differ: P" in capsys.readouterr().out


def test_a_file_without_standard_errors_is_refused(tmp_path: Path) -> None:
    header = (RECORDED / "claims.csv").read_text(encoding="utf-8").splitlines()[0]
    (tmp_path / "claims.csv").write_text(header.replace("standard_error,", "") + "\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"claims\.csv has no standard_error"):
        R["main"]([str(tmp_path)])


def test_it_imports_nothing_of_chappe() -> None:
    modules = re.findall(r"^(?:import|from) (\w+)", PROGRAM.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(modules) <= {
        "argparse",
        "math",
        "sys",
        "collections",
        "dataclasses",
        "pathlib",
        "numpy",
        "polars",
        "scipy",
    }


def test_twelve_claims_of_four_papers() -> None:
    assert len(R["RULES"]) == 12
    assert len({name[:2] for name in R["RULES"]}) >= 4


@pytest.mark.parametrize("skewness", [0.0, 0.3, -0.8])
@pytest.mark.parametrize(("a", "b"), [(1.3, 1.0), (1.04, 1.0), (0.8, 0.9)])
def test_probabilities_of_a_quotient_follow_from_its_interval(a: float, b: float, skewness: float) -> None:
    """Welch's test of a - v b, for any v, from effect, error, degrees of freedom and both ends of the interval."""
    one, other = Estimate(a, 0.02**2, 9, skewness=skewness), Estimate(b, 0.03**2, 7, skewness=0.1)
    p = point(Quotient.between(one, other))
    for v in (0.7, 1.0, 1.05, 1.5):
        assert p.variance_at(v) == pytest.approx((0.02**2 + v**2 * 0.03**2) / b**2, rel=1e-6)
    for rule, test in ((more("", one, other), R["more"](0.05)), (less("", one, other), R["less"](0.05))):
        assert isinstance(rule, Observation)
        assert test(p) == pytest.approx((rule.p_supports, rule.p_contradicts), rel=1e-6, abs=1e-12)


def test_words_are_those_of_the_table() -> None:
    for n, is_short in itertools.product(range(1, 13), (False, True)):
        for yes in range(n + 1):
            for no in range(n + 1 - yes):
                assert R["word"](yes, no, n, is_short) == word_of(yes, no, n, is_short).value


def test_holm() -> None:
    """The example of three tests: 3 x .01, 2 x .02, and not below the one before."""
    assert R["holm"]([0.02, 0.01, 0.03]) == pytest.approx([0.04, 0.03, 0.04])
    assert math.isnan(R["holm"]([math.nan, 0.01])[0])
