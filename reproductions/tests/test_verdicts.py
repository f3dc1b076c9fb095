"""The page of verdicts before and now is that of the published claims."""

import runpy
from typing import Any

import chappe_papers
import pytest
from chappe_papers import summary
from chappe_papers.judging.words import Verdict
from command import REPOSITORY

FOLDER = REPOSITORY / "reproductions" / "experiments" / "verdicts"
with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(str(FOLDER))
    PROGRAM: dict[str, Any] = runpy.run_path(str(FOLDER / "verdicts.py"))
PAGE = (REPOSITORY / "reproductions" / "docs" / "papers" / "verdicts.md").read_text(encoding="utf-8")


def test_the_page_is_made_of_the_published_claims() -> None:
    assert PROGRAM["page"]() == PAGE, "python reproductions/experiments/verdicts/verdicts.py writes it anew"
    shipped = {p.name: summary.shipped(p) for p in chappe_papers.PAPERS}
    verdicts = {n: {c: points[0]["verdict"] for c, points in of.items()} for n, of in PROGRAM["published"]().items()}
    assert verdicts == {n: {c: Verdict.of(o.verdict).value for c, o in s.claims.items()} for n, s in shipped.items()}
    undecided = sum(v == Verdict.OPEN.value for of in verdicts.values() for v in of.values())
    assert f" {undecided} are undecided." in PAGE


def test_all_claims_have_a_verdict_before() -> None:
    before = {r["claim"]: r for r in PROGRAM["rows"](PROGRAM["BEFORE"])}
    assert {c for p in chappe_papers.PAPERS for c in p.claims} <= set(before)
    words = {*(v.value for v in Verdict), *PROGRAM["SAME"], "confirmed, not everywhere", ""}
    assert {r[day] for r in before.values() for day in ("on_24_november", "on_28_november")} <= words
    # Of those of 24 November it is known by what they had moved.
    assert all(
        r["moved_by"]
        or not r["on_24_november"]
        or r["on_24_november"] == r["on_28_november"]
        or not r["on_28_november"]
        for r in before.values()
    )


@pytest.mark.parametrize(
    ("before", "now", "answers", "level", "reason"),
    [
        ("", "confirmed", ["as the paper says"], "1.25", "new"),
        ("confirmed", "confirmed", ["as the paper says"], "1.25", ""),
        ("contradicted", "no effect", ["no effect"], "1.25", "word"),
        ("contradicted", "undecided", ["no effect", "open", "open"], "1.25", "rule"),
        ("contradicted", "depends", ["no effect"], "1.25", "reading"),
        ("confirmed, effect size differs", "calibration", ["calibration"], "1.25", "calibration"),
        ("confirmed, effect size differs", "confirmed", ["calibration", "as the paper says"], "1.25", "calibration"),
        ("undecided", "mixed", ["as the paper says", "opposite"], "5", "runs"),
    ],
)
def test_a_reason_belongs_to_a_move(before: str, now: str, answers: list[str], level: str, reason: str) -> None:
    points = [{"verdict": now, "answer": a, "hangs_on": "the queue", "level_percent": level} for a in answers]
    assert PROGRAM["moved_by"](before, points) == reason


@pytest.mark.parametrize(("skewness", "now", "reason"), [("-1", "undecided", "skewness"), ("0", "opposite", "runs")])
def test_a_claim_that_was_judged_again_moves_by_skewness_or_by_runs(skewness: str, now: str, reason: str) -> None:
    """A fall of three errors, or a gain that by Student's t alone is one, and with a tail below is not certain."""
    row = dict.fromkeys(next(iter(PROGRAM["published"]()["su2008"].values()))[0], "")
    effect = "30" if now == "undecided" else "-30"
    row |= {"claim": "S-1", "verdict": now, "level_percent": "1.25", "test": "more", "effect": effect, "from": "0"}
    row |= {"standard_error": "8", "degrees_of_freedom": "9", "to": "0", "zero": "0", "skewness": skewness}
    row |= {"answer": "open" if now == "undecided" else "opposite"}
    assert PROGRAM["moved_by"]("confirmed", [row], "confirmed") == reason
    assert PROGRAM["moved_by"]("confirmed", [row], now) == "rule"


def test_papers_md_links_to_it() -> None:
    assert "](papers/verdicts.md)" in (REPOSITORY / "reproductions" / "docs" / "papers.md").read_text(encoding="utf-8")
