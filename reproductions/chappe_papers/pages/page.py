"""Page of a paper: conclusions, findings, reasons, claims, figures and method."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import jinja2
from chappe.cli.inputs import write_file

from chappe_papers.pages import answers
from chappe_papers.pages.answers import FURTHER, LEADING, Answer

Rows = Sequence[Sequence[str]]

WIDEST = 160
"""Longest row of a table [characters]."""

ABOUT = (
    "Chappe simulates TCP over wireless networks packet by packet. This page tests the claims of a paper in such"
    " simulations."
)

COUNTED = (
    '"9/0/4, +12 to +104 %; few runs 7" means: nine points agree with the paper, none contradicts it, four are '
    "undecided or calibration; the effects of the first sub-claim range from +12 to +104 %; seven of the decided "
    'points have fewer than 14 runs, which do not show all that may happen; "few runs" alone: all of them.'
)
"""Legend of the cells of claims."""

HANGING = (
    "These verdicts depend on details that the paper leaves open (`unknowns.csv` has the effects of both readings):"
)
"""Introduces the list of details that the paper leaves open."""

NUMBERS = "[findings.md](../findings.md) names the quantity in each row and gives reasons for the verdicts."
"""Points at the page with more about the conclusions."""

ADVICE = "What should I do?"
"""Heading of the advice."""

DRAWN = "In figures, stars and gray bands show numbers of the paper; gray rings mark values from fewer than five runs."
"""Legend of the figures."""


@dataclass(frozen=True)
class DrawnFigure:
    """A figure with its numbers: HTML embeds ``svg`` unchanged, Markdown shows the file ``png``."""

    png: str
    title: str
    unit: str
    svg: str
    header: Sequence[str]
    rows: Rows


@dataclass(frozen=True)
class WrittenSheet:
    """A table in the file ``csv``; Markdown prints the table only if ``shown``, and links to the file otherwise."""

    csv: str
    title: str
    header: Sequence[str]
    rows: Rows
    shown: bool = False


@dataclass(frozen=True)
class JudgedFinding:
    """A conclusion of a paper with its verdict.

    Attributes:
        says: The conclusion.
        paper: The number of the paper.
        ours: Ours, of the same quantity in the same unit.
        verdict: The verdict in a word.
        why: The reason; empty if it is unknown, or the conclusion confirmed.
        claims: Names of the claims it rests on.
        of: The quantity of both numbers, with its unit if they have none.
    """

    says: str
    paper: str
    ours: str
    verdict: str
    why: str
    claims: str
    of: str = ""

    @property
    def numbers(self) -> str:
        """The quantity, with the number of the paper and ours."""
        return f"{self.of + ': ' if self.of else ''}paper {self.paper}; here {self.ours}"


@dataclass(frozen=True)
class Unknown:
    """A detail that a paper leaves open and that reverses claims.

    Attributes:
        name: Name of the detail.
        claims: Names of the claims.
        shown: Effects in both readings, of the first claim.
    """

    name: str
    claims: str
    shown: str


@dataclass(frozen=True)
class Difference:
    """Reason why claims differ from the paper: text in Markdown, and a command that demonstrates the reason."""

    title: str
    claims: str
    text: str
    command: str


@dataclass(frozen=True)
class Section:
    """Claims of a section of the paper, and the figures that show them."""

    title: str
    claims: Sequence["JudgedClaim"]
    figures: Sequence[DrawnFigure] = ()


class Part(NamedTuple):
    """A sub-claim: its name, the numbers of its points, and its verdict."""

    name: str
    counts: str
    verdict: str


@dataclass(frozen=True)
class JudgedClaim:
    """A claim of a paper: results of the paper, of Chappe and of ns-2, the verdict, the sub-claims, and doubts."""

    id: str
    paper: str
    ours: str
    ns2: str
    verdict: str
    parts: Sequence[Part] = ()
    doubt: str = ""


@dataclass(frozen=True)
class Page:
    """Content of the page."""

    title: str
    note: str
    """Note that readers must see first: runs are short, or of full length."""
    counts: Mapping[str, int]
    findings: Sequence[JudgedFinding]
    key: DrawnFigure | None
    differences: Sequence[Difference]
    unexplained: str
    sections: Sequence[Section]
    readings: Sequence[str]
    """Results of other readings of the paper, in paragraphs."""
    figures: Sequence[DrawnFigure]
    sheets: Sequence[WrittenSheet]
    files: Sequence[str]
    """Names of further output files."""
    method: Sequence[str]
    facts: Mapping[str, str]
    scenario: str
    lead: str = ""
    """Warning to readers, before all verdicts."""
    robust: Sequence[str] = ()
    """Decided conclusions that no open detail reverses, with their verdicts."""
    unknowns: Sequence[Unknown] = ()
    """Details that the paper leaves open and that reverse claims."""
    advice: Sequence[str] = ()
    """The recommendation of the paper, and ours, in a list."""
    advice_note: str = ""
    """Of short runs: that advice needs runs of full length."""
    published: Mapping[str, str] = field(default_factory=dict)
    """Of short runs: published verdicts by conclusion and by name of a claim."""
    published_counts: Mapping[str, int] = field(default_factory=dict)
    """Of short runs: number of claims by published verdict."""
    answers: Sequence[Answer] = ()
    """Answers of additions."""

    @property
    def counted(self) -> str:
        """Number of claims by verdict; of short runs after those published."""
        own = counted(self.counts)
        if not self.published_counts:
            return own
        return f"{counted(self.published_counts)} (published, from runs of full length); here, from short runs: {own}"

    def beside(self, name: str) -> str:
        """Published verdict of a conclusion or claim; empty on pages of runs of full length."""
        return f"published: {self.published[name]}" if name in self.published else ""

    def numbers(self, f: JudgedFinding) -> str:
        """The published verdict of a conclusion, its quantity, and both numbers."""
        return "; ".join(filter(None, (self.beside(f.says), f.numbers)))


def counted(counts: Mapping[str, int]) -> str:
    """Number of claims by verdict: ``11 confirmed; 2 confirmed, effect size differs; 3 undecided``."""
    return "; ".join(f"{n} {verdict}" for verdict, n in counts.items())


def tight(text: str) -> str:
    """The text with no-break spaces between numbers and their units."""
    return re.sub(r"(?<=\d) (?=%|±|[kM]bit/s|ms\b)|(?<=±) ", "\u00a0", text)


def kind(verdict: str) -> str:
    """CSS class of a verdict: whether it confirms, contradicts, or does neither."""
    if verdict.startswith(("opposite", "no effect")):
        return "contradicted"
    return verdict if verdict == "confirmed" else "partly"


def write(path: Path, page: Page) -> None:
    """Writes the page; the same content gives the same bytes."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("chappe_papers", "pages"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(tight=tight, kind=kind, marked=_marked, doubted=doubted)
    leading = [a for a in page.answers if a.place == LEADING]
    further = [a for a in page.answers if a.place == FURTHER]
    text = environment.get_template("page.html.j2").render(
        page=page, leading=leading, further=further, about=ABOUT, legend=(COUNTED, DRAWN), advice=ADVICE
    )
    write_file(path, text.encode("utf-8"))


def _marked(text: str) -> list[tuple[bool, str]]:
    """Pieces of a text with backticks, each with a flag that marks code."""
    return [(n % 2 == 1, piece) for n, piece in enumerate(text.split("`"))]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |"


def table(header: Sequence[str], rows: Rows) -> list[str]:
    """A table in Markdown, followed by an empty line."""
    return [_row(header), "|" + "---|" * len(header), *map(_row, rows), ""]


def conclusions(page: Page) -> list[str]:
    """The conclusions, one line each: statement, verdict, both numbers, reason and claims."""
    reasons_of = [f": {f.why}" if f.why else "" for f in page.findings]
    return [
        f"- {f.says}: {f.verdict} ({page.numbers(f)}){why}. [{f.claims}]"
        for f, why in zip(page.findings, reasons_of, strict=True)
    ]


def first_screen(page: Page) -> list[str]:
    """The robust conclusions, the open details on which claims depend, and a table of all conclusions."""
    lines = [page.lead, ""] if page.lead else []
    said = [f"**Robust**: {'; '.join(page.robust)}."] if page.robust else []
    said += [HANGING] if page.unknowns else []
    lines += [" ".join(said), ""] if said else []
    if page.unknowns:
        lines += [*(f"- **{u.name}** ({u.claims}): {u.shown}." for u in page.unknowns), ""]
    rows = [(f.says, f.paper, f.ours, f"**{f.verdict}**") for f in page.findings]
    # A long condition is in the table of the claims.
    fit = [(*r[:3], r[3] if len(_row(r)) <= WIDEST else f"**{word(r[3])}**") for r in rows]
    if fit:
        lines += table(("the paper concludes", "paper", "here", "verdict"), fit)
    return lines


def word(verdict: str) -> str:
    """A verdict without its condition."""
    return re.split(r": | on | above ", verdict.strip("*"))[0]


def reasons(differences: Sequence[Difference], unexplained: str) -> list[str]:
    """Reasons why claims differ from the paper, each with the command that shows it."""
    lines = ["## Why the results differ", ""] if differences or unexplained else []
    for d in differences:
        shown = f" Shown by `{d.command}`." if d.command else ""
        lines += [f"**{d.title}** ({d.claims}). {d.text}{shown}", ""]
    if unexplained:
        lines += [f"**Not explained**: {unexplained}.", ""]
    return lines


def claims_line(numbers: str) -> str:
    """The numbers of claims by verdict, and the legends."""
    return f"Claims: {numbers}. [What the words mean](../papers.md#verdicts). {COUNTED} {DRAWN}"


def doubted(ours: str, doubt: str) -> str:
    """Our answer with the doubts about it."""
    return "; ".join(filter(None, (ours, doubt)))


def claims_table(claims: Sequence[JudgedClaim]) -> list[str]:
    """The claims of a section, each followed by its sub-claims.

    A condition or doubts for which its row has no place have the next one.
    """
    rows = []
    for c in claims:

        def row(doubt: str, verdict: str, c: JudgedClaim = c) -> tuple[str, ...]:
            return c.id, c.paper, doubted(c.ours, doubt), c.ns2, f"**{verdict}**"

        short = word(c.verdict)
        ways = ((c.doubt, c.verdict), (c.doubt, short), ("", c.verdict), ("", short))
        doubt, verdict = next((way for way in ways if len(_row(row(*way))) <= WIDEST), ways[-1])
        rows.append(row(doubt, verdict))
        left = ("", "", "" if doubt else c.doubt, "", "" if verdict == c.verdict else c.verdict)
        rows += [left] if any(left) else []
        rows += [("", p.name, p.counts, "", p.verdict) for p in c.parts]
    return table(("claim", "the paper says", "here", "ns-2", "verdict"), rows)


def write_markdown(path: Path, page: Page) -> None:
    """Writes the page as Markdown, next to the figures."""
    lines = [f"# {page.title}", "", ABOUT, "", *answers.leading(page.answers)]
    told = f"{page.note} {NUMBERS}" if page.findings else page.note
    lines += [*first_screen(page), told, ""]
    if page.counts:
        lines += [claims_line(page.counted), ""]
    if page.key is not None:
        lines += [f"![{page.key.title}]({page.key.png})", ""]
    lines += reasons(page.differences, page.unexplained)
    if page.sections:
        lines += ["## Claims", ""]
    for s in page.sections:
        lines += [f"### {s.title}", ""]
        lines += claims_table(s.claims)
        if published := [f"{c.id} {page.published[c.id]}" for c in s.claims if c.id in page.published]:
            lines += [f"Published: {'; '.join(published)}.", ""]
        if s.figures:
            lines += [*(f"![{f.title}]({f.png})" for f in s.figures), ""]
    lines += answers.further(page.answers)
    if page.readings:
        lines += ["## Other readings", "", *(line for text in page.readings for line in (text, ""))]
    if page.figures:
        lines += ["## Figures", "", *(f"![{f.title}]({f.png})" for f in page.figures), ""]
    # An answer has the link to its table.
    linked = {a.table for a in page.answers}
    files = [f"[{s.title}]({s.csv})" for s in page.sheets if s.csv not in linked]
    files += [", ".join(f"[{f}]({f})" for f in page.files)] if page.files else []
    if files:
        lines += ["## Tables", "", *(f"- {f}" for f in files), ""]
    for sheet in page.sheets:
        if sheet.shown:
            lines += [f"### {sheet.title}", "", *table(sheet.header, sheet.rows)]
    lines += ["## Method", "", *(line for text in page.method for line in (text, ""))]
    lines += [", ".join(f"{name}: {value}" for name, value in page.facts.items()) + ".", ""]
    if page.advice or page.advice_note:
        lines += [f"## {ADVICE}", "", *([page.advice_note, ""] if page.advice_note else [])]
        lines += [*(f"- {line}" for line in page.advice), ""]
    write_file(path, ("\n".join(lines).rstrip() + "\n").encode("utf-8"))
