"""The page of a paper: conclusions first, then findings, reasons, claims, figures, and how it was made."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2
from chappe.files import write_file

Rows = Sequence[Sequence[str]]

WIDEST = 160
"""Characters that a row of a table has at most."""

COUNTED = (
    "How many points of a claim are as the paper says / contrary / open, and the effects at those of the first thing "
    "that it says, from the smallest to the largest."
)
"""What stands in the cells of claims."""

ABOVE = "The reasons stand in the lines above."
"""Of the table of findings, which has no room for them."""


@dataclass(frozen=True)
class Figure:
    """A figure with the numbers behind it; ``svg`` is put into the page as it is, Markdown shows the file ``png``."""

    png: str
    title: str
    unit: str
    svg: str
    header: Sequence[str]
    rows: Rows


@dataclass(frozen=True)
class Sheet:
    """A table in the file ``csv``; unless it is ``shown``, the Markdown has a link to the file only."""

    csv: str
    title: str
    header: Sequence[str]
    rows: Rows
    shown: bool = False


@dataclass(frozen=True)
class Finding:
    """A conclusion of a paper and what became of it; ``why`` is empty where nothing is known of that."""

    says: str
    paper: str
    ours: str
    verdict: str
    why: str
    claims: str


@dataclass(frozen=True)
class Difference:
    """Why claims do not come out as the paper says: text in Markdown, and the command that shows it."""

    title: str
    claims: str
    text: str
    command: str


@dataclass(frozen=True)
class Section:
    """The claims of a section of the paper, each with what it says, ours, ns-2's, and the verdict; and remarks."""

    title: str
    claims: Sequence["Claim"]
    remarks: Sequence[str]


@dataclass(frozen=True)
class Claim:
    """A claim of a paper and what was found."""

    id: str
    paper: str
    ours: str
    ns2: str
    verdict: str


@dataclass(frozen=True)
class Page:
    """What the page shows."""

    title: str
    note: str
    """What a reader must know first: that runs are short, or that they are of full length."""
    counts: Mapping[str, int]
    findings: Sequence[Finding]
    key: Figure | None
    differences: Sequence[Difference]
    unexplained: str
    sections: Sequence[Section]
    readings: Sequence[str]
    """What other readings of the paper give, in paragraphs."""
    figures: Sequence[Figure]
    sheets: Sequence[Sheet]
    files: Sequence[str]
    """Names of further files that are written."""
    method: Sequence[str]
    facts: Mapping[str, str]
    scenario: str

    @property
    def counted(self) -> str:
        """How many claims have which verdict."""
        return ", ".join(f"{n} {verdict}" for verdict, n in self.counts.items())


def tight(text: str) -> str:
    """The text with spaces at which no line ends: between a number and what belongs to it."""
    return re.sub(r"(?<=\d) (?=%|±|[kM]bit/s|ms\b)|(?<=±) ", "\u00a0", text)


def kind(verdict: str) -> str:
    """The class of a verdict in the page: its first word, and whether there is a reservation."""
    return "partly" if verdict.startswith(("confirmed ", "confirmed,")) else verdict.split(",")[0]


def write(path: Path, page: Page) -> None:
    """Writes the page; the same content gives the same bytes."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("chappe_papers", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(tight=tight, kind=kind, marked=_marked)
    text = environment.get_template("page.html.j2").render(page=page, counted=COUNTED, above=ABOVE)
    write_file(path, text.encode("utf-8"))


def _marked(text: str) -> list[tuple[bool, str]]:
    """A text of notes in pieces: whether it is code, and the piece."""
    return [(n % 2 == 1, piece) for n, piece in enumerate(text.split("`"))]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |"


def table(header: Sequence[str], rows: Rows) -> list[str]:
    """A table in Markdown, and an empty line."""
    return [_row(header), "|" + "---|" * len(header), *map(_row, rows), ""]


def conclusions(page: Page, bold: str = "") -> list[str]:
    """The conclusions in a line each: what the paper says, the verdict, both numbers, and the reason.

    Args:
        page: Whose they are.
        bold: Put around the verdict.
    """
    said = [(f, f": {f.why}" if f.why else "") for f in page.findings]
    return [f"- {f.says}: {bold}{f.verdict}{bold} (paper {f.paper}; here {f.ours}){why}." for f, why in said]


def write_markdown(path: Path, page: Page) -> None:
    """Writes the same as Markdown, beside the figures."""
    lines = [f"# {page.title}", ""]
    lines += conclusions(page, "**")
    lines += ["", page.note, ""] if page.findings else [page.note, ""]
    if page.counts:
        lines += [f"Claims: {page.counted}. [What the words mean](../papers.md#verdicts).", ""]
    if page.findings:
        lines += ["## Findings", ""]
        rows = [(f.says, f.paper, f.ours, f"**{f.verdict}**", f.claims) for f in page.findings]
        lines += [ABOVE, "", *table(("the paper concludes", "paper", "here", "verdict", "claims"), rows)]
    if page.key is not None:
        lines += [f"![{page.key.title}]({page.key.png})", ""]
    if page.differences or page.unexplained:
        lines += ["## Why it differs", ""]
    for d in page.differences:
        shown = f" Shown by `{d.command}`." if d.command else ""
        lines += [f"**{d.title}** ({d.claims}). {d.text}{shown}", ""]
    if page.unexplained:
        lines += [f"**Not explained**: {page.unexplained}.", ""]
    if page.sections:
        lines += ["## Claims", "", COUNTED, ""]
    for s in page.sections:
        lines += [f"### {s.title}", ""]
        lines += table(
            ("claim", "the paper says", "here", "ns-2", "verdict"),
            [(c.id, c.paper, c.ours, c.ns2, f"**{c.verdict}**") for c in s.claims],
        )
        if s.remarks:
            lines += [" ".join(s.remarks), ""]
    if page.readings:
        lines += ["## Other readings", "", *(line for text in page.readings for line in (text, ""))]
    if page.figures:
        lines += ["## Figures", "", *(f"![{f.title}]({f.png})" for f in page.figures), ""]
    files = [f"[{s.title}]({s.csv})" for s in page.sheets] + [f"[{f}]({f})" for f in page.files]
    if files:
        lines += ["## Tables", "", *(f"- {f}" for f in files), ""]
    for sheet in page.sheets:
        if sheet.shown:
            lines += [f"### {sheet.title}", "", *table(sheet.header, sheet.rows)]
    lines += ["## Method", "", *(line for text in page.method for line in (text, ""))]
    lines += [", ".join(f"{name}: {value}" for name, value in page.facts.items()) + ".", ""]
    write_file(path, ("\n".join(lines).rstrip() + "\n").encode("utf-8"))
