"""What the command of a paper leaves: claims that are judged, the page, what it cost."""

import datetime
import os
import resource
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from chappe import RESULTS_EPOCH, __version__, show
from chappe.papers.kept import FOLDER, Kept
from chappe.papers.paper import Claim, Table, Verdict, judge
from chappe.report import page


class Clock:
    """Measures what a command costs, from when it is made."""

    def __init__(self) -> None:
        self._begun, self._spent = time.monotonic(), _spent()

    def cost(self, jobs: int | None) -> str:
        """CPU time and duration, for people."""
        took = f"{_time(time.monotonic() - self._begun)} with {jobs or os.cpu_count()} runs at a time"
        return f"{_time(_spent() - self._spent)} of CPU time, {took}"


def _spent() -> float:
    """CPU time of this process [s]."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _time(seconds: float) -> str:
    return f"{seconds / 60:.1f} min" if seconds >= 60 else f"{seconds:.0f} s"


def judged(claims: Sequence[Claim], ours: Table, reference: Table) -> list[page.Claim]:
    """Checks and prints claims."""
    found = []
    for claim in claims:
        looks = [claim.look(t) for t in (reference, ours)]
        verdict = judge(looks[1][1]) if looks[1] is not None else Verdict.OPEN
        said = [look[0] if look is not None else "no such runs" for look in looks]
        found.append(page.Claim(claim.id, claim.says, said[0], said[1], verdict.value))
    for c in found:
        t = show.table("", "~", title=f"{c.id}: {c.verdict}")
        t.show_header = False
        for who, what in (("  paper says", c.paper), ("  ns-2 says", c.ns2), ("  we measure", c.ours)):
            t.add_row(who, what)
        show.write(t)
    return found


def _counts(claims: Sequence[page.Claim]) -> dict[str, int]:
    counted = Counter(c.verdict for c in claims)
    return {v.value: counted[v.value] for v in Verdict if counted[v.value]}


@dataclass(frozen=True)
class About:
    """What a page says beside figures, tables and claims.

    Attributes:
        title: Of the paper.
        lead: What a reader must know of the numbers.
        scenario: The scenario file on which those of the paper are built.
        seeds: How many runs there are.
    """

    title: str
    lead: str
    scenario: str
    seeds: str


def write(
    about: About,
    figures: Sequence[page.Figure],
    sheets: Sequence[page.Sheet],
    claims: Sequence[page.Claim],
    runs: Kept,
    clock: Clock,
    folder: Path,
    jobs: int | None,
) -> None:
    """Writes ``index.html`` and ``paper.md``, and prints where, and what it has cost."""
    counts = _counts(claims)
    content = page.Page(
        title=about.title,
        lead=about.lead,
        counts=counts,
        figures=figures,
        sheets=sheets,
        claims=claims,
        scenario=about.scenario,
        facts={
            "Chappe": f"{__version__}, results epoch {RESULTS_EPOCH}",
            "Seeds": about.seeds,
            "Runs": f"{len(runs.frames):,}",
            # There are none where no node has a radio.
            **({"Frames simulated": f"{frames:,}"} if (frames := sum(runs.frames.values())) else {}),
        },
    )
    page.write(folder / "index.html", content)
    there = "" if runs.made == len(runs.frames) else ", the others were there"
    made = f"{runs.made:,} of {len(runs.frames):,} were made{there}"
    dated = {
        "Runs": made,
        "Date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "Cost": clock.cost(jobs),
    }
    page.write_markdown(folder / "paper.md", page.with_facts(content, dated))
    show.say(f"Claims: {', '.join(f'{n} {v}' for v, n in counts.items()) or 'none'}.")
    show.say(f"Written to {folder}: index.html, paper.md, and each figure as PDF, SVG, PNG and CSV, each table as CSV.")
    show.say(f"Runs: {made}. They are kept in {folder / FOLDER}.")
    show.say(f"Cost: {dated['Cost']}.")
