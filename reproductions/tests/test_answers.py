"""Answers of additions: on pages, in files, and what they are computed from."""

import math
from pathlib import Path
from typing import Any

import chappe_papers
import pytest
from chappe.stats import Estimate
from chappe.stats.quantiles import Quantile
from chappe_papers import summary
from chappe_papers.elrakabawy2005.extras import correlation, hidden_counts, how_much
from chappe_papers.pages import answers, page
from chappe_papers.pages.answers import FURTHER, LEADING, Answer
from chappe_papers.paper import Paper
from chappe_papers.runs.estimates import Estimates
from chappe_papers.zhou2004 import fairness
from chappe_papers.zhou2004.design import FULL, GOODPUT, UNFAIRNESS
from command import REPOSITORY

FIRST = Answer("some", "a", LEADING, "Why?", "Because of 3.", "a.csv")
SECOND = Answer("some", "b", FURTHER, "How?", 'With "b", always.', "b.csv")


def test_answers_are_replaced_on_a_published_page() -> None:
    published = f"# A title\n\n{page.ABOUT}\n\n- A conclusion.\n\n## Claims\n\nText.\n\n## Figures\n\nOne.\n"
    text = answers.replaced(published, page.ABOUT, [FIRST, SECOND], "some/")
    assert "**Why?** Because of 3. Shown by `chappe paper some --extra a` ([all numbers](some/a.csv)).\n\n- A" in text
    assert "Text.\n\n## Beyond the paper\n\n- **How?** With" in text
    assert "([all numbers](some/b.csv)).\n\n## Figures\n" in text
    assert answers.replaced(text, page.ABOUT, [FIRST, SECOND], "some/") == text
    assert answers.replaced(text, page.ABOUT, [], "some/") == published


def test_answers_of_an_addition_replace_its_own() -> None:
    again = Answer("some", "a", LEADING, "Why?", "Because of 4.", "a.csv")
    assert answers.merged([SECOND, FIRST], [again], ("a", "b")) == [again, SECOND]


@pytest.mark.parametrize(
    ("share", "half", "word"),
    [(0.8, 0.2, "mostly"), (0.56, 0.94, "not decided"), (0.47, 0.26, "in part"), (0.12, 0.02, "hardly"),
     (0.14, 0.15, "not decided"), (0.9, 0.5, "in part"), (-0.2, 0.1, "hardly")],
)  # fmt: skip
def test_an_explanation_is_as_sure_as_its_interval(share: float, half: float, word: str) -> None:
    assert how_much(Estimate(share, (half / 1.96) ** 2, math.inf)) == word


def test_answers_are_read_as_they_were_written(tmp_path: Path) -> None:
    answers.write(tmp_path / answers.FILE, [FIRST, SECOND])
    assert answers.read(tmp_path / answers.FILE) == [FIRST, SECOND]
    assert answers.read(tmp_path / "missing.csv") == []


@pytest.mark.parametrize("paper", chappe_papers.PAPERS, ids=lambda p: p.name)
def test_answers_of_the_package_are_on_the_page(paper: Paper) -> None:
    known = summary.answered(paper)
    docs = REPOSITORY / "reproductions" / "docs"
    text = (docs / "papers" / f"{paper.name}.md").read_text(encoding="utf-8")
    assert answers.replaced(text, page.ABOUT, known, f"{paper.name}/") == text
    assert [a.extra for a in known] == [name for name in paper.extras for a in known if a.extra == name]
    for a in known:
        assert (docs / "papers" / paper.name / a.table).is_file()
    findings = (docs / "findings.md").read_text(encoding="utf-8")
    assert all(a.text in findings for a in known if a.place == LEADING)


def test_the_advice_on_fairness_rests_on_its_answer() -> None:
    paper = chappe_papers.find("zhou2004")
    assert paper is not None
    [answer] = [a for a in summary.answered(paper) if a.extra == "fairness"]
    assert answer.text.startswith("Yes: ")
    assert any("`--extra fairness`" in line for line in paper.advice.ours)


def test_a_page_shows_answers_in_their_places(tmp_path: Path) -> None:
    rest: dict[str, Any] = {
        "findings": [],
        "key": None,
        "differences": [],
        "unexplained": "",
        "sections": [],
        "readings": [],
    }
    content = page.Page(title="A title", note="A note.", counts={}, figures=[], sheets=[], files=[], method=[],
                        facts={"date": "2026-01-01"}, scenario="", answers=[FIRST, SECOND], **rest)  # fmt: skip
    page.write_markdown(tmp_path / "paper.md", content)
    text = (tmp_path / "paper.md").read_text(encoding="utf-8")
    assert text.index("**Why?**") < text.index("A note.") < text.index("**How?**")
    page.write(tmp_path / "index.html", content)
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert html.index("<strong>Why?</strong>") < html.index("A note.") < html.index("<strong>How?</strong>")


# ---- what answers are computed from ----


@pytest.mark.parametrize(
    ("hops", "of_data", "with_acks"),
    [(5, 0, 0), (6, 0, 1), (7, 1, 2), (8, 2, 3), (12, 6, 7)],
)
def test_hidden_senders_of_a_chain(hops: int, of_data: int, with_acks: int) -> None:
    """A node disturbs another three hops away: the middle nodes have two such, the last node sends acknowledgements."""
    assert hidden_counts(hops, acks=False).count(2) == of_data
    assert hidden_counts(hops, acks=True).count(2) == with_acks
    assert max(hidden_counts(hops, acks=True)) <= 2


def test_a_correlation_within_groups() -> None:
    """Groups differ in their means, and the values in each fall as the others rise."""
    groups = [[(10.0**g * math.exp(-x), g + x + 0.1 * (x == 1)) for x in range(4)] for g in range(5)]
    r, low, high = correlation(groups)
    assert -1 < low < r < high < -0.9
    assert correlation([[(math.exp(x), y) for x, y in ((0, 0), (0, 1), (1, 0), (1, 1))]] * 4)[0] == pytest.approx(0.0)


@pytest.mark.parametrize(("with_snoop", "word"), [(0.02, "Yes: "), (0.3, "No: ")])
def test_the_answer_on_fairness_follows_from_the_runs(with_snoop: float, word: str) -> None:
    values = {
        p: {
            GOODPUT: Estimate(380e3, 1e6, 9),
            UNFAIRNESS: Quantile.at([with_snoop if "fq" in p.reading and p.mechanism == "snoop" else 0.5] * 10),
        }
        for p in fairness.FAIRNESS.points(FULL)
    }
    [(_, text)] = fairness.answers(Estimates(values, FULL.x))
    assert text.startswith(word)
    assert "FQ-CoDel alone does not bring every variant below this value, even without loss." in text
