"""Claims that another reading of a paper reverses, at all points of the reading, with as many runs as the main one.

``python reproductions/experiments/verdicts/readings.py`` makes the runs of some claims in all other readings of their
papers, in ``results/readings``, compares them with the published points of the main reading, and writes
``readings_claims.csv`` and the list of other readings on the pages. Then ``unknowns.py`` takes the effects from there.
Arguments are names of papers; without any it takes all.
"""

import csv
import re
import sys
from pathlib import Path

import chappe_papers
import recorded
from chappe_papers.judging.readings import COLUMNS, reversals
from chappe_papers.pages.files import write_csv
from chappe_papers.paper import Paper
from chappe_papers.runs import runner

DOCS = Path(__file__).parents[2] / "docs" / "papers"

_ALL = {p.name: p.claims for p in chappe_papers.PAPERS}

CLAIMS = {
    "ahmed2006": ("P4-F4-4",),
    "ramarathinam2003": _ALL["ramarathinam2003"],
    "su2008": ("P2-T2-1", "P2-T7-2"),
    "zhou2004": ("P3-F2-2", "P3-F2-3", "P3-F2-5"),
}
"""Claims of each paper; others were reversed by no reading, or by one with published tables of its own."""

ONLY = {"ramarathinam2003": ("the professor's first transfers begin at 5 s",)}
"""Readings of a paper whose runs are made, where these are not all."""

ENOUGH = {"P2-T2-1": 1} | dict.fromkeys(CLAIMS["ramarathinam2003"], 1)
"""Runs of another reading, relative to those planned, where fewer than those of the main reading decide."""


def reversed_(paper: Paper) -> list[list[str]]:
    """The rows of a paper."""
    design, length = paper.design, paper.design.full
    readings = {title: change for title, change in paper.readings.items() if title in ONLY.get(paper.name, (title,))}
    times = recorded.further((DOCS / f"{paper.name}.md").read_text(encoding="utf-8")) | ENOUGH
    published = recorded.answers(paper)
    found = []
    for claim in (c for c in paper.all_claims if c.id in CLAIMS[paper.name]):
        points = list(claim.needs(length.x))
        others = (q for change in readings.values() for q in map(change, points) if q is not None)
        wanted = list(dict.fromkeys(others))
        with design.run_cache(Path("results") / "readings" / paper.name, None) as cache:
            data = runner.run(design, wanted, length, cache, times.get(claim.id, 1)).table(wanted)
        found += reversals([claim], data, readings, published)
    return [
        [r.reading, r.claim, r.main.verdict.value, r.main.effects, r.other.verdict.value, r.other.effects]
        for r in found
    ]


def write(paper: Paper, rows: list[list[str]]) -> None:
    """Writes the table and the list of a page; rows and entries of other claims stay."""
    path = DOCS / paper.name / "readings_claims.csv"
    before = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))[1:] if path.is_file() else []
    titles = ONLY.get(paper.name, tuple(paper.readings))
    kept = [*rows, *(row for row in before if row[0] not in titles or row[1] not in CLAIMS[paper.name])]
    if kept:
        write_csv(path, COLUMNS, kept)
    else:
        path.unlink(missing_ok=True)
    page = DOCS / f"{paper.name}.md"
    text = page.read_text(encoding="utf-8")
    for title in titles:
        said = [f"{claim}: {verdict}, {effects}; main reading: {main}, {of_main}"
                for reading, claim, main, of_main, verdict, effects in rows if reading == title]  # fmt: skip
        entry = rf"^\*\*{re.escape(title)}\*\*: (.*)\.$"
        [found] = re.findall(entry, text, flags=re.MULTILINE)
        said += [
            s for s in re.split(r"; (?=P\d-)", found) if s.startswith("P") and s.split(":")[0] not in CLAIMS[paper.name]
        ]
        text = re.sub(entry, lambda _, t=title, s=said: f"**{t}**: {'; '.join(s) or 'reverses nothing'}.", text,
                      flags=re.MULTILINE)  # fmt: skip
    page.write_text(text, encoding="utf-8")


def main() -> None:
    """Makes the runs, and writes tables and pages."""
    chosen = sys.argv[1:] or list(CLAIMS)
    for paper in chappe_papers.PAPERS:
        if paper.name in chosen:
            rows = reversed_(paper)
            print(*rows or [f"{paper.name}: reverses nothing"], sep="\n", flush=True)
            write(paper, rows)


if __name__ == "__main__":
    main()
