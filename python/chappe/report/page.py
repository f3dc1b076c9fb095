"""The page of a paper: figures, numbers, claims."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2


@dataclass(frozen=True)
class Figure:
    """A figure with the numbers behind it; ``svg`` is put into the page as it is."""

    title: str
    unit: str
    svg: str
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
    figures: Sequence[Figure]
    claims: Sequence[Claim]
    scenario: str
    facts: Mapping[str, str]


def write(path: Path, page: Page) -> None:
    """Writes the page; the same content gives the same bytes."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("chappe.report", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    path.write_text(environment.get_template("page.html.j2").render(page=page), encoding="utf-8")
