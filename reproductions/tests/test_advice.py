"""Advice of papers: it follows from published verdicts, and says what it rests on."""

import re
from pathlib import Path

import chappe_papers
import pytest
from chappe_papers import reproduce, summary
from chappe_papers.judging.advice import Advice, Outcome
from chappe_papers.pages import page
from chappe_papers.paper import Paper, Wanted
from small_paper import PAPER

TEXT = """
paper: More.
- Do it ({S-1 holds}),
  and nothing else ({S-2 fails}).
"""
OUTCOMES = {"S-1": Outcome("confirmed, effect size differs", "+4 %"), "S-2": Outcome("opposite", "-1 %")}


def test_verdicts_and_effects_are_filled_in() -> None:
    assert Advice.read(TEXT).claims == ["S-1", "S-2"]
    assert Advice.read(TEXT).lines(OUTCOMES) == [
        "The paper: More.",
        "Do it (S-1 confirmed, effect size differs, +4 %), and nothing else (S-2 opposite, -1 %).",
    ]


@pytest.mark.parametrize(
    ("needs", "verdict", "is_given"),
    [
        ("holds", "confirmed, effect size differs", True),
        ("holds", "depends", False),
        ("fails", "opposite", True),
        ("fails", "undecided", False),
        ("unproven", "undecided", True),
        ("unproven", "no effect above 5 % (Chappe's)", True),
        ("unproven", "confirmed", False),
    ],
)
def test_a_line_needs_its_verdicts(needs: str, verdict: str, is_given: bool) -> None:
    [line] = Advice("", [f"Do it ({{S-1 {needs}}})."]).lines({"S-1": Outcome(verdict, "2")})[1:]
    expected = f"Do it (S-1 {verdict}, 2)." if is_given else f"No advice until it is reviewed: S-1 is {verdict}."
    assert line == expected


def test_a_claim_that_was_not_judged_gives_no_advice() -> None:
    assert Advice.read(TEXT).lines({})[1] == "No advice: S-1 was not judged."


@pytest.mark.parametrize("paper", chappe_papers.PAPERS, ids=lambda p: p.name)
def test_published_advice_follows_from_published_verdicts(paper: Paper) -> None:
    lines = paper.advice.lines(summary.shipped(paper).claims)
    assert 3 <= len(lines) <= 5
    assert len(lines[0]) > len("The paper: ")
    assert [line for line in lines if line.startswith("No advice") or "{" in line] == []
    for ours in paper.advice.ours:
        assert re.search(r"\{P\d-", ours), ours


@pytest.mark.parametrize("quick", [False, True])
def test_the_last_section_of_a_page(quick: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    PAPER.reproduce(tmp_path, wanted=Wanted(), quick=quick, jobs=1)
    capsys.readouterr()
    sections = (tmp_path / "paper.md").read_text(encoding="utf-8").split("\n## ")
    title, *lines = sections[-1].strip().splitlines()
    assert title == page.ADVICE
    if quick:
        # No runs of full length are published.
        assert lines == ["", reproduce.NO_ADVICE.format("small")]
    else:
        assert lines[1] == "- The paper: Use Vegas."
        assert lines[2].startswith("- Use Vegas over short chains (S-1 confirmed, +")
        assert " of NewReno's goodput (S-2 opposite, -" in lines[2]
    assert 'id="advice"' in (tmp_path / "index.html").read_text(encoding="utf-8")
