"""Claims that another reading of a paper reverses, at all points of the reading.

``python reproductions/experiments/verdicts/readings.py`` asks every reading of each paper about all claims whose points
it changes, compares them with the published points of the main reading, and writes ``readings_claims.csv`` and the list
of other readings on the pages. Each reading has its planned runs, in ``results/readings``; what they reverse is asked
again with as many runs as the main reading has, and only what those reverse, too, is written. Then ``unknowns.py``
takes the effects from there. Arguments are names of papers; without any it takes all.
"""

import argparse
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import chappe_papers
import recorded
from chappe_papers.judging.claims import Claim
from chappe_papers.judging.readings import COLUMNS, Change, Reversal, reversals
from chappe_papers.pages.files import write_csv
from chappe_papers.paper import Paper
from chappe_papers.runs import runner

DOCS = Path(__file__).parents[2] / "docs" / "papers"

PAPERS = ("ahmed2006", "ramarathinam2003", "su2008", "zhou2004")
"""Papers whose readings have no published tables of their own."""


class Asked(NamedTuple):
    """A reading that is asked about a claim."""

    title: str
    change: Change
    claim: Claim
    points: Sequence[Any]
    """Points of the reading."""
    times: int
    """Runs that are as many as those of the main reading, relative to the planned ones."""


def asked(paper: Paper) -> list[Asked]:
    """The readings of a paper with the claims of which they change points."""
    design, length = paper.design, paper.design.full
    further = recorded.further((DOCS / f"{paper.name}.md").read_text(encoding="utf-8"))
    found = []
    for title, change in paper.readings.items():
        for c in paper.all_claims:
            pairs = [(p, q) for p in c.needs(length.x) if (q := change(p)) is not None]
            if any(design.same(p) != design.same(q) for p, q in pairs):
                more = max(design.seeds(p, length) / design.seeds(q, length) for p, q in pairs)
                times = math.ceil(further.get(c.id, 1) * more)
                found.append(Asked(title, change, c, [q for _, q in pairs], times))
    return found


def reversed_(paper: Paper, jobs: int | None) -> list[Reversal]:
    """What the readings of a paper reverse."""
    design, published = paper.design, recorded.answers(paper)

    def judged(which: Sequence[Asked], times: int) -> list[Reversal]:
        wanted = list(dict.fromkeys(q for a in which for q in a.points))
        with design.run_cache(Path("results") / "readings" / paper.name, jobs) as cache:
            data = runner.run(design, wanted, design.full, cache, times).table(wanted)
        return [r for a in which for r in reversals([a.claim], data, {a.title: a.change}, published)]

    everything = asked(paper)
    found = []
    for first in judged(everything, 1):
        [a] = [a for a in everything if (a.title, a.claim.id) == (first.reading, first.claim)]
        print(f"{first.reading}: {first.said}", flush=True)
        again = judged([a], a.times) if a.times > 1 else [first]
        print(f"  {a.times} times the runs: {again[0].said if again else 'no reversal'}", flush=True)
        found += again
    return found


def write(paper: Paper, found: Sequence[Reversal]) -> None:
    """Writes the table and the list of a page."""
    rows = [[r.reading, r.claim, r.main.verdict.value, r.main.effects, r.other.verdict.value, r.other.effects]
            for r in found]  # fmt: skip
    write_csv(DOCS / paper.name / "readings_claims.csv", COLUMNS, rows)
    page = DOCS / f"{paper.name}.md"
    text = page.read_text(encoding="utf-8")
    for title in paper.readings:
        said = "; ".join(r.said for r in found if r.reading == title) or "reverses nothing"
        text = re.sub(rf"^\*\*{re.escape(title)}\*\*: .*\.$", lambda _, t=title, s=said: f"**{t}**: {s}.", text,
                      flags=re.MULTILINE)  # fmt: skip
    page.write_text(text, encoding="utf-8")


def main() -> None:
    """Makes the runs, and writes tables and pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("papers", nargs="*", default=PAPERS, choices=PAPERS, metavar="NAME", help="a paper")
    parser.add_argument("--jobs", type=int, help="runs at the same time")
    chosen = parser.parse_args()
    for paper in (p for p in chappe_papers.PAPERS if p.name in chosen.papers):
        found = reversed_(paper, chosen.jobs)
        print(f"{paper.name}: {len(found)} reversals", flush=True)
        write(paper, found)


if __name__ == "__main__":
    main()
