"""The table of abstracts and conclusions names claims, findings and additions that exist."""

import re

import chappe_papers
import pytest
from chappe_papers.paper import Paper
from command import REPOSITORY

PAGE = REPOSITORY / "reproductions" / "docs" / "papers" / "abstracts.md"
SECTIONS = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
NO_STATEMENT, NOBODY = "not a statement about results", "**nobody judges it yet**"


def section(paper: Paper) -> str:
    [own] = [s for s in SECTIONS if s.startswith(f"{paper.title.split(':')[0]} {paper.title[-4:]}\n")]
    return own


@pytest.mark.parametrize("paper", chappe_papers.PAPERS, ids=lambda p: p.name)
def test_what_judges_a_sentence_exists(paper: Paper) -> None:
    text = section(paper)
    assert set(re.findall(r"`(P\d-[\w-]+)`", text)) <= set(paper.claims)
    assert set(re.findall(r'finding "(.+?)"', text)) <= {f.says for f in paper.findings}
    assert set(re.findall(r"addition `(\w+)`", text)) <= set(paper.extras)


@pytest.mark.parametrize("paper", chappe_papers.PAPERS, ids=lambda p: p.name)
def test_every_sentence_is_judged_or_said_not_to_be(paper: Paper) -> None:
    rows = [line.strip("| ").split(" | ") for line in section(paper).splitlines() if re.match(r"\| [A-Z]", line)]
    assert len(rows) > 10
    for where, words, by in rows:
        assert by == NO_STATEMENT or NOBODY in by or re.search(r'`P\d|finding "|addition `', by), (where, words)
    for part in {row[0].split(",")[0] for row in rows}:
        ranges = [re.findall(r"\d+", row[0]) for row in rows if row[0].startswith(part)]
        counted = {n for first, *last in ranges for n in range(int(first), int((last or [first])[0]) + 1)}
        assert counted == set(range(1, max(counted) + 1)), part


@pytest.mark.parametrize("page", ["papers.md", "findings.md"])
def test_other_pages_link_to_it(page: str) -> None:
    assert "](papers/abstracts.md)" in (REPOSITORY / "reproductions" / "docs" / page).read_text(encoding="utf-8")
