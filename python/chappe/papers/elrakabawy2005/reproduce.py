"""The paper as a command: runs what is wanted, draws, tabulates, and judges the claims."""

import datetime
import os
import resource
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from chappe import RESULTS_EPOCH, __version__, show
from chappe.papers.elrakabawy2005 import lab, ns2
from chappe.papers.elrakabawy2005.charts import CHARTS, figure
from chappe.papers.elrakabawy2005.claims import CLAIMS
from chappe.papers.elrakabawy2005.experiments import EXPERIMENTS
from chappe.papers.elrakabawy2005.points import text
from chappe.papers.elrakabawy2005.tables import SHEETS, sheet
from chappe.papers.kept import FOLDER, Kept
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


def lead(length: lab.Length, quick: bool) -> str:
    """What a reader must know of the numbers."""
    note = (
        "Shortened runs: intervals are wide, and rare events such as timeouts of Vegas are counted on few packets. "
        "Leave --quick out for runs of the paper's length."
        if quick
        else "Runs of the paper's length."
    )
    long = f"{length.long_packets:,} over more than {lab.LONG} hops, " if length.long_packets != length.packets else ""
    return (
        f"{note} Runs over chains and grids deliver {length.packets:,} packets, {long}those of paced UDP "
        f"{length.udp_packets:,}, those in random topologies {length.random_packets:,}, the first eleventh or sixth of "
        "which is discarded. Intervals are Student-t intervals of 95 %: ours over independent runs, those of ns-2.35 "
        "over the batches of one long run. A claim holds when all its checks do, and does not when all that the "
        "intervals decide fail; it holds partly when some do, and is not decidable when the intervals leave all of "
        "them open."
    )


def run(names: Iterable[str], length: lab.Length, runs: Kept) -> lab.Lab:
    """Runs experiments, with progress over all of them."""
    wanted = {name: experiment for name, experiment in EXPERIMENTS.items() if name in set(names)}
    rehearsal, expected = lab.Rehearsal(length, runs, HOPS), {}
    for name, experiment in wanted.items():
        before = rehearsal.weight
        experiment(rehearsal)
        expected[name] = rehearsal.weight - before
    done = lab.Lab(length, runs, HOPS)
    with runs.progress(sum(expected.values())):
        for name, experiment in wanted.items():
            with runs.stage(expected[name]):
                experiment(done)
    return done


def _spent() -> float:
    """CPU time of this process [s]."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _time(seconds: float) -> str:
    return f"{seconds / 60:.1f} min" if seconds >= 60 else f"{seconds:.0f} s"


def reproduce(paper: Paper, folder: Path, *, wanted: Wanted, quick: bool, jobs: int | None) -> int:
    """Runs what is wanted, prints and writes figures and tables, checks the claims."""
    length = QUICK if quick else FULL
    begun, spent = time.monotonic(), _spent()
    figures, tables, claims = _parts(wanted)
    wanted_parts = [CHARTS[n].needs for n in figures] + [SHEETS[n].needs for n in tables]
    needed = {e for own in wanted_parts for e in own} | {e for c in claims for e in needs(c)}
    print(f"{paper.title}\n", flush=True)
    with lab.kept(folder, jobs) as runs:
        done = run(needed, length, runs)
    ours, reference = done.table(), ns2.table()
    sheets = [sheet(n, ours, reference, folder) for n in tables]
    drawn = [figure(n, ours, reference, HOPS, folder) for n in figures]
    judged = _judged(claims, ours, reference)
    counts = _counts(judged)
    content = page.Page(
        title=paper.title,
        lead=lead(length, quick),
        counts=counts,
        figures=drawn,
        sheets=sheets,
        claims=judged,
        scenario=text(),
        facts={
            "Chappe": f"{__version__}, results epoch {RESULTS_EPOCH}",
            "Seeds": _seeds(done),
            "Runs": f"{len(runs.frames):,}",
            "Frames simulated": f"{sum(runs.frames.values()):,}",
        },
    )
    page.write(folder / "index.html", content)
    took = f"{_time(time.monotonic() - begun)} with {jobs or os.cpu_count()} runs at a time"
    there = "" if runs.made == len(runs.frames) else ", the others were there"
    made = f"{runs.made:,} of {len(runs.frames):,} were made{there}"
    dated = {
        "Runs": made,
        "Date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "Cost": f"{_time(_spent() - spent)} of CPU time, {took}",
    }
    page.write_markdown(folder / "paper.md", page.with_facts(content, dated))
    print(f"Claims: {', '.join(f'{n} {v}' for v, n in counts.items()) or 'none'}.")
    print(f"Written to {folder}: index.html, paper.md, and each figure as PDF, SVG, PNG and CSV, each table as CSV.")
    print(f"Runs: {made}. They are kept in {folder / FOLDER}.\nCost: {dated['Cost']}.")
    return 0


def _seeds(done: lab.Lab) -> str:
    length = done.length
    doubted = f"; of the others, {len(done.doubted)} points whose first runs were doubtful: 1 to {length.many}"
    return (
        f"1 to {length.seeds}; Vegas, paced UDP, grids and random topologies in files: 1 to {length.many}"
        f"{doubted if done.doubted else ''}; around the cliff of Figure 10: 1 to {length.cliff}; "
        f"{length.draws} drawn placements with seed 1; in searches: 1 to {length.searched}"
    )
