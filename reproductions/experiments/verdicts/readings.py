"""Claims that another reading of a paper reverses, at all points of the reading.

``python reproductions/experiments/verdicts/readings.py`` asks every reading of each paper about all claims whose points
it changes, compares them with the published points of the main reading, and writes ``readings_claims.csv`` and the list
of other readings on the pages. Each reading has its planned runs, in ``results/readings``; what they reverse is asked
again with as many runs as the main reading has, at most eight times the planned ones, and what they leave undecided
with four times the runs where the published verdict depends on an unknown. The rest of what they do not decide is named
as undecided. Then ``unknowns.py`` takes the effects from there. Arguments are names of papers; without any all.
"""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import chappe_papers
import recorded
from chappe_papers.judging.claims import Claim
from chappe_papers.judging.readings import COLUMNS, Change, Compared, compared, paragraph, rows
from chappe_papers.pages.files import write_csv
from chappe_papers.paper import Paper
from chappe_papers.runs import runner

DOCS = Path(__file__).parents[2] / "docs" / "papers"

PAPERS = ("ahmed2006", "ramarathinam2003", "su2008", "zhou2004")
"""Papers whose readings have no published tables of their own."""

MOST = 8
"""Runs of a reading that reverses a claim at most, relative to the planned ones."""

UNDECIDED = 4
"""Runs of a reading that leaves a claim undecided whose verdict depends on an unknown, relative to the planned ones."""


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


def answers(paper: Paper, jobs: int | None) -> list[Compared]:
    """All claims in all readings of a paper."""
    design, published = paper.design, recorded.answers(paper)

    def judged(which: Sequence[Asked], times: int) -> list[Compared]:
        wanted = list(dict.fromkeys(q for a in which for q in a.points))
        with design.run_cache(Path("results") / "readings" / paper.name, jobs) as cache:
            data = runner.run(design, wanted, design.full, cache, times).table(wanted)
        return [c for a in which for c in compared([a.claim], data, {a.title: a.change}, published)]

    def last(a: Asked, first: Compared) -> Compared:
        times = min(a.times, MOST) if first.is_reversed else UNDECIDED if first.is_undecided and a.claim.hangs else 1
        if times == 1:
            return first
        [again] = judged([a], times)
        print(f"{a.title}: {first.said}\n  {times} times the runs: {again.said}", flush=True)
        return again

    everything = asked(paper)
    return [last(a, first) for a, first in zip(everything, judged(everything, 1), strict=True)]


def write(paper: Paper, found: Sequence[Compared]) -> None:
    """Writes the table and the list of a page."""
    write_csv(DOCS / paper.name / "readings_claims.csv", COLUMNS, rows(found))
    page = DOCS / f"{paper.name}.md"
    before, head, after = page.read_text(encoding="utf-8").partition("## Other readings\n\n")
    section, end, rest = after.partition("\n\n## ")
    of_readings = tuple(f"**{title}**:" for title in paper.readings)
    kept = [text for text in section.split("\n\n") if not text.startswith(of_readings)]
    said = [paragraph(title, found) for title in paper.readings]
    page.write_text(before + head + "\n\n".join([*kept, *said]) + end + rest, encoding="utf-8")


def main() -> None:
    """Makes the runs, and writes tables and pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("papers", nargs="*", default=PAPERS, choices=PAPERS, metavar="NAME", help="a paper")
    parser.add_argument("--jobs", type=int, help="runs at the same time")
    chosen = parser.parse_args()
    for paper in (p for p in chappe_papers.PAPERS if p.name in chosen.papers):
        found = answers(paper, chosen.jobs)
        print(f"{paper.name}: {len(rows(found))} reversals", flush=True)
        write(paper, found)


if __name__ == "__main__":
    main()
