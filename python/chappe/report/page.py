"""The page of a paper: figures, numbers, claims."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import jinja2


@dataclass(frozen=True)
class Figure:
    """A figure with the numbers behind it; ``svg`` is put into the page as it is, Markdown shows the file ``png``."""

    png: str
    title: str
    unit: str
    svg: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Sheet:
    """A table."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Claim:
    """A claim of a paper and what was found."""

    id: str
    paper: str
    ns2: str
    ours: str
    verdict: str


@dataclass(frozen=True)
class Page:
    """What the page shows."""

    title: str
    lead: str
    counts: Mapping[str, int]
    figures: Sequence[Figure]
    sheets: Sequence[Sheet]
    claims: Sequence[Claim]
    scenario: str
    facts: Mapping[str, str]


def tight(text: str) -> str:
    """The text with spaces at which no line ends: between a number and what belongs to it."""
    return re.sub(r"(?<=\d) (?=%|±|[kM]bit/s|ms\b)|(?<=±) ", "\u00a0", text)


def write(path: Path, page: Page) -> None:
    """Writes the page; the same content gives the same bytes."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("chappe.report", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["tight"] = tight
    path.write_text(environment.get_template("page.html.j2").render(page=page), encoding="utf-8")


def with_facts(page: Page, more: Mapping[str, str]) -> Page:
    """The same page with further facts."""
    return replace(page, facts={**page.facts, **more})


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |"


def _lines(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [_row(header), "|" + "---|" * len(header), *map(_row, rows), ""]


def write_markdown(path: Path, page: Page) -> None:
    """Writes the same as Markdown, beside the figures."""
    lines = [f"# {page.title}", "", page.lead, "", "## Claims", ""]
    lines += [", ".join(f"{n} {verdict}" for verdict, n in page.counts.items()) + ".", ""]
    header = ("claim", "the paper says", "ns-2 says", "we measure", "verdict")
    lines += _lines(header, [(c.id, c.paper, c.ns2, c.ours, f"**{c.verdict}**") for c in page.claims])
    if page.sheets:
        lines += ["## Tables", ""]
    for s in page.sheets:
        lines += [f"### {s.title}", "", *_lines(s.header, s.rows)]
    if page.figures:
        lines += ["## Figures", ""]
    for f in page.figures:
        lines += [f"### {f.title}", "", f"![{f.title}]({f.png})", "", f"{f.unit}.", "", *_lines(f.header, f.rows)]
    lines += ["## How it was run", "", *_lines(("", ""), list(page.facts.items()))]
    path.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
