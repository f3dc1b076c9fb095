"""Results at a glance: what became of the conclusions of each paper, from its last run of full length."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, fields
from importlib.resources import files
from pathlib import Path

from chappe import show
from chappe.papers.judge import Verdict
from chappe.papers.paper import Paper
from chappe.report.page import Finding, table

FILE = "findings.csv"
"""Of a paper, in its folder of results and, of runs of full length, in its package."""

_COLUMNS = tuple(f.name for f in fields(Finding))
_COUNTED = "claims by verdict"


def write(path: Path, found: Iterable[Finding], counts: Mapping[str, int]) -> None:
    """Writes the findings of a paper, and how many of its claims have which verdict."""
    with path.open("w", encoding="utf-8", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(_COLUMNS)
        out.writerows(map(astuple, found))
        out.writerow((_COUNTED, "", "", ", ".join(f"{n} {v}" for v, n in counts.items()), "", ""))


def shipped(paper: Paper) -> tuple[list[Finding], str]:
    """The findings of a paper from its last run of full length, and its claims by verdict; none if there was none."""
    path = files(paper.package or f"chappe.papers.{paper.name}").joinpath(FILE)
    if not path.is_file():
        return [], ""
    rows = [Finding(**r) for r in csv.DictReader(path.read_text(encoding="utf-8").splitlines())]
    return [r for r in rows if r.says != _COUNTED], next((r.verdict for r in rows if r.says == _COUNTED), "")


def print_all(papers: Sequence[Paper]) -> None:
    """Prints the papers that can be reproduced, and what became of their conclusions."""
    t = show.table("Paper", "figures", "tables", "~title")
    for p in papers:
        parts = (f"{min(numbers)}-{max(numbers)}" if numbers else "-" for numbers in (p.figures, p.tables))
        t.add_row(p.name, *parts, p.title)
    show.write(t)
    for p in papers:
        rows, counted = shipped(p)
        if rows:
            t = show.table("~the paper concludes", "paper", "here", "verdict", title=f"{p.name}: {counted}")
            for r in rows:
                t.add_row(r.says, r.paper, r.ours, r.verdict)
            show.write(t)


def page(papers: Sequence[Paper]) -> str:
    """``docs/findings.md``."""
    lines = [
        "# Results at a glance",
        "",
        "What became of the conclusions of each paper in runs of full length. [papers.md](papers.md#verdicts) says what"
        " the words mean; `chappe paper` prints the same in short.",
        "",
    ]
    for p in papers:
        rows, counted = shipped(p)
        lines += [f"## {p.title.split(':')[0]} {p.title[-4:]}", "", f"Set-up: {p.setup}. Claims: {counted}.", ""]
        lines += table(
            ("the paper concludes", "paper", "here", "verdict", "why"),
            [(r.says, r.paper, r.ours, f"**{r.verdict}**", r.why) for r in rows],
        )
        lines += [f"[The whole page](papers/{p.name}.md), `chappe paper {p.name}`.", ""]
    return "\n".join(lines).rstrip() + "\n"


def in_short(papers: Sequence[Paper]) -> str:
    """The table of the README."""
    rows = []
    for p in papers:
        found, counted = shipped(p)
        n = sum(Verdict(r.verdict).confirms for r in found)
        rows.append((f"[{p.name}](docs/papers/{p.name}.md)", p.setup, f"{n} of {len(found)}", counted))
    return "\n".join(table(("paper", "set-up", "conclusions confirmed", "claims"), rows))
