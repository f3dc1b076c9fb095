"""The paper as a command: runs what is wanted, draws, tabulates, and judges the claims."""

import datetime
import time
from collections import Counter
from pathlib import Path

from chappe import RESULTS_EPOCH, __version__, show
from chappe.papers.elrakabawy2005 import lab, ns2
from chappe.papers.elrakabawy2005.charts import CHARTS, figure
from chappe.papers.elrakabawy2005.claims import CLAIMS
from chappe.papers.elrakabawy2005.experiments import EXPERIMENTS
from chappe.papers.elrakabawy2005.points import text
from chappe.papers.elrakabawy2005.tables import SHEETS, sheet
from chappe.papers.paper import Claim, Paper, Table, Verdict, Wanted, judge
from chappe.report import page

HOPS = (4, 5, 6, 7, 8, 10, 12, 16, 20, 32, 40)
FULL, QUICK = lab.FULL, lab.QUICK


def _parts(wanted: Wanted) -> tuple[list[int], list[int], list[Claim]]:
    """Figures, tables and claims that are wanted."""
    if wanted.figure is not None:
        return [wanted.figure], [], [c for c in CLAIMS if wanted.figure in c.figures]
    if wanted.table is not None:
        return [], [wanted.table], [c for c in CLAIMS if wanted.table in c.tables]
    if wanted.claim is not None:
        return [], [], [c for c in CLAIMS if c.id == wanted.claim]
    return list(CHARTS), list(SHEETS), list(CLAIMS)


def needs(claim: Claim) -> set[str]:
    """The experiments that a claim needs."""
    own = set(claim.needs)
    for n in claim.figures:
        own |= set(CHARTS[n].needs)
    for n in claim.tables:
        own |= set(SHEETS[n].needs)
    return own


def _judged(claims: list[Claim], ours: Table, reference: Table) -> list[page.Claim]:
    """Checks and prints claims."""
    found = []
    for claim in claims:
        looks = [claim.look(t) for t in (reference, ours)]
        verdict = judge(looks[1][1]) if looks[1] is not None else Verdict.OPEN
        said = [look[0] if look is not None else "no such runs" for look in looks]
        found.append(page.Claim(claim.id, claim.says, said[0], said[1], verdict.value))
    for c in found:
        t = show.table("", "", title=f"{c.id}: {c.verdict}")
        t.show_header = False
        for who, what in (("  paper says", c.paper), ("  ns-2 says", c.ns2), ("  we measure", c.ours)):
            t.add_row(who, what)
        show.write(t)
    return found


def _counts(claims: list[page.Claim]) -> dict[str, int]:
    counted = Counter(c.verdict for c in claims)
    return {v.value: counted[v.value] for v in Verdict if counted[v.value]}


def _lead(length: lab.Length, quick: bool) -> str:
    note = (
        "Shortened runs: intervals are wide, and rare events such as timeouts of Vegas are counted on few packets. "
        "Leave --quick out for runs of the paper's length."
        if quick
        else "Runs of the paper's length."
    )
    return (
        f"{note} Runs over chains and grids deliver {length.packets:,} packets, those in random topologies "
        f"{length.random_packets:,}, the first eleventh or sixth of which is discarded. Intervals are Student-t "
        "intervals of 95 %: ours over independent runs, those of ns-2.35 over the batches of one long run. A claim "
        "holds when all its checks do, and does not when all that the intervals decide fail; it holds partly when some "
        "do, and is not decidable when the intervals leave all of them open."
    )


def reproduce(paper: Paper, folder: Path, *, wanted: Wanted, quick: bool, jobs: int | None) -> int:
    """Runs what is wanted, prints and writes figures and tables, checks the claims."""
    length = QUICK if quick else FULL
    begun = time.monotonic()
    figures, tables, claims = _parts(wanted)
    wanted_parts = [CHARTS[n].needs for n in figures] + [SHEETS[n].needs for n in tables]
    needed = {e for own in wanted_parts for e in own} | {e for c in claims for e in needs(c)}
    print(f"{paper.title}\n", flush=True)
    done = lab.Lab(length, jobs, HOPS)
    for name, run in EXPERIMENTS.items():
        if name in needed:
            run(done)
    ours, reference = done.table(), ns2.table()
    sheets = [sheet(n, ours, reference, folder) for n in tables]
    drawn = [figure(n, ours, reference, HOPS, folder) for n in figures]
    judged = _judged(claims, ours, reference)
    counts = _counts(judged)
    content = page.Page(
        title=paper.title,
        lead=_lead(length, quick),
        counts=counts,
        figures=drawn,
        sheets=sheets,
        claims=judged,
        scenario=text(),
        facts={
            "Chappe": f"{__version__}, results epoch {RESULTS_EPOCH}",
            "Seeds": f"1 to {length.seeds}; 7 hops and the grid: 1 to {length.many}; chains of more than {lab.LONG} "
            f"hops: 1 to {length.few}; around the cliff of Figure 10: 1 to {length.cliff}; {length.draws} drawn "
            "placements with seed 1",
            **lab.facts(done),
        },
    )
    page.write(folder / "index.html", content)
    cost = time.monotonic() - begun
    dated = {"Date": datetime.datetime.now(datetime.UTC).date().isoformat(), "Time": f"{cost / 60:.1f} minutes"}
    page.write_markdown(folder / "paper.md", page.with_facts(content, dated))
    print(f"Claims: {', '.join(f'{n} {v}' for v, n in counts.items()) or 'none'}.")
    print(f"Written to {folder}: index.html, paper.md, and each figure as PDF, SVG, PNG and CSV, each table as CSV.")
    print(f"{done.count:,} runs, {done.frames:,} frames, {cost:.0f} s.")
    return 0
