"""Pages of papers: formatting of numbers, and publication in the documentation."""

import dataclasses
import re
import runpy
from pathlib import Path
from typing import Any

import chappe_papers
import pytest
from chappe import text as show
from chappe.stats import Estimate
from chappe_papers import reproduce, summary
from chappe_papers.judging.advice import Outcome
from chappe_papers.judging.judge import Observation, judge
from chappe_papers.judging.words import Verdict
from chappe_papers.pages import page
from chappe_papers.paper import Paper
from command import REPOSITORY
from epochs import assert_is_told
from PIL import Image

DOCS = REPOSITORY / "reproductions" / "docs"

# ---- formatting of numbers ----


def test_lines_do_not_break_between_numbers_and_units() -> None:
    assert page.tight("95 % of 3 ± 2 kbit/s at 11 Mbit/s, 4 hops") == (
        "95\u00a0% of 3\u00a0±\u00a02\u00a0kbit/s at 11\u00a0Mbit/s, 4 hops"
    )


@pytest.mark.parametrize(
    ("mean", "half_width", "text"),
    [
        (110.94, 3.21, "110.9 ± 3.2"),
        (1538.7, 12.0, "1,539 ± 12"),
        (0.29974, 9.5e-5, "0.299740 ± 0.000095"),
        (0.333333, 1.1e-7, "0.3333"),
        (324.444, 4e-14, "324.4"),
        (5.0, float("nan"), "5.000"),
        (float("nan"), 1.0, "-"),
        (0.0, 0.0, "0"),
    ],
)
def test_a_mean_with_its_error(mean: float, half_width: float, text: str) -> None:
    assert show.with_error(mean, half_width) == text


# ---- publication ----


def publish(results: Path, docs: Path) -> None:
    program: dict[str, Any] = runpy.run_path(str(DOCS / "publish.py"))
    program["publish"](results, docs)


def content(note: str) -> page.Page:
    figure = page.DrawnFigure(
        "figure6.png", "Figure 6: goodput", "kbit/s", "<svg/>", ["hops", "ours"], [["4", "1 | 2"]]
    )
    sheet = page.WrittenSheet("table3.csv", "Table 3: fairness", ["rate"], [["2"]])
    rest: dict[str, Any] = {"differences": [], "unexplained": "", "sections": [], "readings": [], "files": []}
    return page.Page("A title", note, {}, [], None, figures=[figure], sheets=[sheet], method=["As said."],
                     facts={"date": "2026-01-01"}, scenario="", **rest)  # fmt: skip


def test_no_link_is_inside_of_a_button(tmp_path: Path) -> None:
    """A summary opens its part: a link in it is out of reach of screen readers."""
    page.write(tmp_path / "index.html", content("Runs."))
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert 'href="table3.csv"' in text
    assert not re.search(r"<summary>(?:(?!</summary>).)*<a ", text, re.DOTALL)


@pytest.mark.parametrize(
    ("name", "validation"), [("elrakabawy2005", "validation.md"), ("some2005", "validation-some2005.md")]
)
def test_output_becomes_a_page(name: str, validation: str, tmp_path: Path) -> None:
    results, docs = tmp_path / name, tmp_path / "docs"
    results.mkdir()
    (docs / "papers").mkdir(parents=True)
    Image.new("RGB", (2000, 1000), (255, 255, 255)).save(results / "figure6.png")
    (results / "table3.csv").write_text("rate\n2\n")
    page.write_markdown(results / "paper.md", content("Runs of the paper's length."))
    (results / "validation.md").write_text("# Validation\n")
    publish(results, docs)
    text = (docs / f"papers/{name}.md").read_text(encoding="utf-8")
    assert text.startswith(f"# A title\n\n{page.ABOUT}\n\nRuns of the paper's length.\n")
    assert f"![Figure 6: goodput]({name}/figure6.png)" in text
    assert f"[Table 3: fairness]({name}/table3.csv)" in text
    assert (docs / f"papers/{name}/table3.csv").read_text() == "rate\n2\n"
    with Image.open(docs / f"papers/{name}/figure6.png") as picture:
        assert picture.size == (900, 450)
    assert (docs / validation).read_text() == "# Validation\n"


def test_short_runs_are_not_published(tmp_path: Path) -> None:
    page.write_markdown(tmp_path / "paper.md", content(reproduce.SHORT))
    with pytest.raises(SystemExit, match="of short runs"):
        publish(tmp_path, tmp_path)


PUBLISHED = [DOCS / "papers" / f"{p.name}.md" for p in chappe_papers.PAPERS]
WORDS = "|".join(v.value for v in Verdict)


@pytest.mark.parametrize("published", PUBLISHED, ids=lambda p: str(p.stem))
def test_a_published_page_belongs_to_the_claims_and_the_engine(published: Path) -> None:
    paper = chappe_papers.find(published.stem)
    assert paper is not None
    text = published.read_text(encoding="utf-8")
    judged = re.findall(rf"^\| (P\d-[\w-]+) \|.*\| \*\*(?:{WORDS})\b[^*|]*\*\* \|$", text, re.M)
    assert tuple(sorted(judged)) == tuple(sorted(paper.claims))
    assert_is_told(published)
    assert f"](papers/{published.name})" in (DOCS / "papers.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("published", PUBLISHED, ids=lambda p: str(p.stem))
def test_a_published_page_can_be_read(published: Path) -> None:
    """Robust conclusions and open details come before the table; 300 lines, no row wider than 160 characters.

    Conditions and sub-claims are rows of the tables of claims: no paragraph stands between a table and its figures.
    """
    paper = chappe_papers.find(published.stem)
    assert paper is not None
    lines = published.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 300
    claims = lines[lines.index("## Claims") : lines.index("## Method")]
    claims = claims[: next(n for n, line in enumerate(claims[1:], 1) if line.startswith("## "))]
    assert [line for line in claims if not line.startswith(("#", "|", "![")) and line] == []
    assert max(len(line) for line in lines if line.startswith("|")) <= page.WIDEST
    first = lines[: lines.index("|---|---|---|---|") + 12]
    assert len(first) <= 30
    assert [line.split(" | ")[0].removeprefix("| ") for line in first if "| **" in line] == [
        f.says for f in paper.findings
    ]
    hanging = dict.fromkeys(c.hangs for c in paper.all_claims if c.hangs)
    assert {re.match(r"- \*\*(.+?)\*\*", line)[1] for line in first if line.startswith("- **")} == set(hanging)  # type: ignore[index]


def test_reasons_of_failing_sub_claims_are_on_the_page() -> None:
    """An undecided claim of which a sub-claim fails has its note among the reasons; without such a sub-claim not."""
    yes, no, unknown = (
        Observation("", Estimate(1.0, 1e-6, 9), supports, contradicts)
        for supports, contradicts in ((0.0, 1.0), (1.0, 0.0), (1.0, 1.0))
    )
    part, open_ = no.called("at hidden terminals"), unknown.called("of full queues")
    [paper] = [p for p in chappe_papers.PAPERS if p.name == "elrakabawy2005"]
    for told, observations in ((True, [part, open_]), (False, [unknown, open_]), (False, [yes])):
        reasons, unexplained = reproduce.why(paper, {"P0-W-1": judge(observations)})
        assert [r.claims for r in reasons] == ["P0-W-1"] * told
        assert unexplained == ""


def test_what_came_of_the_papers_is_shipped_and_on_all_pages() -> None:
    """The same findings in the package, in ``docs/findings.md``, in the README and on the page of the paper."""
    assert (DOCS / "findings.md").read_text(encoding="utf-8") == summary.page(chappe_papers.PAPERS)
    assert summary.in_short(chappe_papers.PAPERS) in (REPOSITORY / "README.md").read_text(encoding="utf-8")
    for paper in chappe_papers.PAPERS:
        shipped = summary.shipped(paper)
        text = (DOCS / "papers" / f"{paper.name}.md").read_text(encoding="utf-8").replace("\u00a0", " ")
        assert f"Claims: {shipped.counted}. " in text
        for r in shipped.findings:
            assert f"| {r.says} | {r.paper} | {r.ours} | **{page.word(r.verdict)}" in text


@pytest.mark.parametrize("paper", chappe_papers.PAPERS, ids=lambda p: p.name)
def test_a_conclusion_has_numbers_of_one_quantity(paper: Paper) -> None:
    for f in summary.shipped(paper).findings:
        # A noun names the quantity, or follows our number.
        assert f.of or re.search("[a-z]{4}", f.ours), f.says
        unit = next((u for u in ("%", "times") if u in f.ours), "")
        assert unit in f.paper or "no number" in f.paper or "except" in f.paper, f.says


@pytest.mark.parametrize("paper", chappe_papers.PAPERS, ids=lambda p: p.name)
def test_conclusions_follow_their_leading_claims(paper: Paper) -> None:
    shipped = summary.shipped(paper)
    for f in shipped.findings:
        lead, own = (Verdict.of(v) for v in (shipped.verdicts[f.claims.split(", ")[0]], f.verdict))
        assert not (own.confirms and not lead.confirms), f.says
        assert not (own.fails and lead.confirms), f.says
        assert f.why == "" or own is not Verdict.CONFIRMED, f.says


def test_reasons_are_those_of_a_verdict(tmp_path: Path) -> None:
    findings = [page.JudgedFinding("more", "+5 %", "+6 %", "confirmed", "it sends less", "S-1", "gain")]
    claims = {"S-1": Outcome("confirmed", "+6 %"), "S-2": Outcome("opposite", "-1 %"), "S-3": Outcome("opposite", "0")}
    summary.write(tmp_path / summary.FILE, findings, claims)
    shipped = summary.Shipped(findings, claims)
    assert shipped.counted == "1 confirmed; 2 opposite"
    assert shipped.explains("more", "confirmed")
    assert shipped.explains("S-2", "opposite")
    assert not shipped.explains("more", "undecided")
    assert not shipped.explains("S-2", "undecided")
    # Without runs of full length, reasons apply to any verdict.
    assert summary.Shipped().explains("more", "undecided")
    lines = (tmp_path / summary.FILE).read_text(encoding="utf-8").splitlines()
    assert lines[1:3] == ["more,+5 %,+6 %,confirmed,it sends less,S-1,gain", "a claim,,+6 %,confirmed,,S-1,"]
    without = content("Short runs: ")
    shown = page.conclusions(dataclasses.replace(without, findings=[dataclasses.replace(findings[0], why="")]))
    assert shown == ["- more: confirmed (gain: paper +5 %; here +6 %). [S-1]"]


@pytest.mark.parametrize("paper", chappe_papers.PAPERS, ids=lambda p: p.name)
def test_notes_explain_claims_that_there_are(paper: Paper) -> None:
    for note in reproduce.notes(paper):
        assert note.text
        assert set(note.claims.split(", ")) <= set(paper.claims), note.title
        if note.command.startswith("python reproductions/"):
            assert (REPOSITORY / note.command.split()[1]).is_file(), note.command
