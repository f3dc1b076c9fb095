"""The minimal paper of CONTRIBUTING works with the shared code."""

import csv
import re
from pathlib import Path

import chappe_papers
import pytest
from chappe import plot
from chappe_papers import summary
from chappe_papers.judging.advice import Outcome
from chappe_papers.pages import page
from chappe_papers.paper import Paper, Wanted
from command import REPOSITORY, contents
from markdown import blocks
from small_paper import PAPER


@pytest.fixture(autouse=True)
def _only_svg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plot, "FORMATS", ("svg",))


def test_the_whole_paper(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert PAPER.reproduce(tmp_path, wanted=Wanted(), quick=False, jobs=1) == 0
    printed = capsys.readouterr().out
    assert "- Vegas has a higher goodput: confirmed (goodput: paper more; here +" in printed
    assert "- NewReno has twice as much: opposite (paper twice; here -" in printed
    assert "Claims: 1 confirmed; 1 opposite." in printed
    assert printed.index("Claims: ") < printed.index(f"Written to {tmp_path}")
    written = {name for name in contents(tmp_path) if not name.startswith("runs/")}
    files = {f"{name}.{kind}" for name in ("figure1", "key") for kind in ("csv", "svg")}
    assert written == {*files, "claims.csv", "findings.csv", "index.html", "paper.md"}
    text = (tmp_path / "paper.md").read_text(encoding="utf-8")
    lines = text.splitlines()
    assert lines[2] == page.ABOUT
    assert lines[4] == '**Robust**: "Vegas has a higher goodput": confirmed; "NewReno has twice as much": opposite.'
    assert lines[6] == "| the paper concludes | paper | here | verdict |"
    assert re.fullmatch(r"\| Vegas has a higher goodput \| more \| \+.*% \| \*\*confirmed\*\* \|", lines[8])
    assert re.fullmatch(r"\| NewReno has twice as much \| twice \| -.*% \| \*\*opposite\*\* \|", lines[9])
    order = (page.COUNTED, "![goodput](key.png)", "## Why the results differ", "## Claims", "### 1", "| S-1 |",
             "![Figure 1: goodput](figure1.png)", "### 2", "| S-2 |", "## Other readings", "## Method",
             f"## {page.ADVICE}")  # fmt: skip
    places = [text.index(heading) for heading in order]
    assert places == sorted(places)
    assert "## Figures" not in text
    assert "**Short chains have no hidden terminals** (S-2). Nothing is lost there" in text
    assert "Shown by `chappe run scenarios/chain.toml`." in text
    assert "**NewReno alone**: S-1: no effect, +0 %; main reading: confirmed, +" in text
    assert max(len(line) for line in lines if line.startswith("|")) <= page.WIDEST
    assert list(blocks(tmp_path / "paper.md")) == []
    rows = list(csv.DictReader((tmp_path / "claims.csv").read_text(encoding="utf-8").splitlines()))
    assert [(r["claim"], r["where"], r["answer"]) for r in rows] == [
        ("S-1", "1 hops", "as the paper says"),
        ("S-1", "2 hops", "as the paper says"),
        ("S-2", "2 hops", "opposite"),
    ]
    assert float(rows[1]["ns2_effect"]) == pytest.approx(100 * (639285 / 628963 - 1), rel=1e-4)
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert html.count(page.DRAWN) == html.count(page.ABOUT) == text.count(page.COUNTED) == text.count(page.DRAWN) == 1
    assert html.index('id="S-1"') < html.index("Figure 1: goodput") < html.index('id="S-2"')
    assert "published" not in html
    for anchor in re.findall(r'href="#([\w-]+)"', html):
        assert f'id="{anchor}"' in html, anchor


def test_a_claim_alone_needs_its_own_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert PAPER.reproduce(tmp_path, wanted=Wanted(claim="S-2"), quick=True, jobs=1) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^S-2: ", printed, re.MULTILINE)
    assert "S-1" not in printed
    assert "Runs: 6 of 6 were made." in printed


def test_short_runs_say_so_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert PAPER.reproduce(tmp_path, wanted=Wanted(), quick=True, jobs=1) == 0
    lines = (tmp_path / "paper.md").read_text(encoding="utf-8").splitlines()
    assert sum("Short runs leave claims undecided. " in line for line in lines) == 1
    assert "at most 1 % of cases" in "\n".join(lines)
    capsys.readouterr()


def test_short_runs_show_published_verdicts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs of full length contradict the first conclusion, so that its reason of today is not shown either."""
    full = summary.Shipped(
        [page.JudgedFinding("Vegas has a higher goodput", "more", "-1 %", "opposite", "", "S-1")],
        {"S-1": Outcome("opposite", "-1 %"), "S-2": Outcome("opposite", "-50 %")},
    )
    monkeypatch.setattr(summary, "shipped", lambda _: full)
    assert PAPER.reproduce(tmp_path, wanted=Wanted(), quick=True, jobs=1) == 0
    printed = capsys.readouterr().out
    assert re.search(
        r"^- Vegas has a higher goodput: \w+ \(published: opposite; goodput: paper more; here ", printed, re.M
    )
    counts = "Claims: 2 opposite (published, from runs of full length); here, from short runs: "
    text = (tmp_path / "paper.md").read_text(encoding="utf-8")
    assert counts in printed
    assert counts in text
    assert "Published: S-1 opposite." in text
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "Claims, published from runs of full length: " in html
    assert html.count("(published: opposite") == 3


@pytest.mark.parametrize("paper", chappe_papers.PAPERS, ids=lambda p: p.name)
def test_what_contributing_says_a_paper_is_made_of(paper: Paper) -> None:
    folder = Path(chappe_papers.__file__).parent / paper.name
    text = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split("## How to add a paper")[1].split("## How to add another part")[0]
    named = set(re.findall(r"`(\w+\.(?:py|toml|csv|md))`", section.split("`reproductions/tests/small_paper`")[0]))
    optional = {"extras.py", "validate.py", "reference.csv"}
    if not any(claim.hangs for claim in paper.all_claims):
        optional.add("unknowns.csv")
    assert named - optional <= {f.name for f in folder.iterdir()}
    claims = (REPOSITORY / "reproductions/tests/small_paper/claims.py").read_text(encoding="utf-8")
    shown = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert shown is not None
    assert shown[1] in claims
