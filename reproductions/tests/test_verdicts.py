"""The page of verdicts before and now is that of the published claims."""

import runpy
from typing import Any

import chappe_papers
from chappe_papers import summary
from chappe_papers.judging.judge import Verdict
from command import REPOSITORY

PROGRAM: dict[str, Any] = runpy.run_path(str(REPOSITORY / "reproductions" / "experiments" / "verdicts" / "verdicts.py"))
PAGE = (REPOSITORY / "reproductions" / "docs" / "papers" / "verdicts.md").read_text(encoding="utf-8")


def test_the_page_is_made_of_the_published_claims() -> None:
    assert PROGRAM["page"]() == PAGE, "python reproductions/experiments/verdicts/verdicts.py writes it anew"
    shipped = {p.name: summary.shipped(p) for p in chappe_papers.PAPERS}
    assert PROGRAM["published"]() == {n: {c: o.verdict for c, o in s.claims.items()} for n, s in shipped.items()}
    verdicts = [o.verdict for s in shipped.values() for o in s.claims.values()]
    undecided = sum(v in (Verdict.OPEN.value, Verdict.ALIKE.value) for v in verdicts)
    assert f"**{undecided} of {len(verdicts)} claims are undecided, or indistinguishable**" in PAGE


def test_all_verdicts_before_have_todays_words() -> None:
    before = PROGRAM["rows"](PROGRAM["BEFORE"])
    words = {v.value for v in Verdict}
    assert {r["verdict"] for r in before} <= words
    assert {r["moved_to"] for r in before} <= {*words, ""}
    assert all(bool(r["moved_to"]) == bool(r["moved_by"]) and r["moved_to"] != r["verdict"] for r in before)


def test_a_reason_belongs_to_a_move() -> None:
    old = {"verdict": "undecided", "moved_to": "refuted", "moved_by": "runs"}
    moved = PROGRAM["moved_by"]
    assert [moved(old, "refuted"), moved(old, "undecided"), moved(old, "depends"), moved(None, "refuted")] == [
        "runs",
        "",
        PROGRAM["LATER"],
        "added since",
    ]


def test_papers_md_links_to_it() -> None:
    assert "](papers/verdicts.md)" in (REPOSITORY / "reproductions" / "docs" / "papers.md").read_text(encoding="utf-8")
