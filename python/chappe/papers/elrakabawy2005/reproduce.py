"""The paper as a command: runs what is wanted, draws, tabulates, and judges the claims."""

from collections.abc import Iterable
from pathlib import Path

from chappe.papers import charts
from chappe.papers.elrakabawy2005 import lab, ns2, searches
from chappe.papers.elrakabawy2005.charts import CHARTS, figure
from chappe.papers.elrakabawy2005.claims import CLAIMS
from chappe.papers.elrakabawy2005.experiments import stages
from chappe.papers.elrakabawy2005.points import text
from chappe.papers.elrakabawy2005.tables import SHEETS
from chappe.papers.kept import Kept
from chappe.papers.paper import Claim, Paper, Wanted
from chappe.papers.written import About, Clock, judged, write

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


def lead(length: lab.Length, quick: bool) -> str:
    """What a reader must know of the numbers."""
    note = (
        "Shortened runs: intervals are wide, and rare events such as timeouts of Vegas are counted on few packets. "
        "Leave --quick out for runs of full length."
        if quick
        else "Runs of full length."
    )
    long = f"{length.long_packets:,} over more than {lab.LONG} hops, " if length.long_packets != length.packets else ""
    return (
        f"{note} Runs over chains and in the main grid deliver {length.packets:,} packets, {long}those of paced UDP "
        f"and of the best window over several chains {length.udp_packets:,}, those in the random topologies of ns-2 "
        f"{length.random_packets:,}, those in the other layouts and in drawn placements {length.further_packets:,}, "
        f"those of searches {length.search_packets:,}; the first eleventh or sixth is discarded. Intervals are "
        "Student-t intervals of 95 %: ours over independent runs, or over the batches of all runs where every run is "
        "like every other; those of ns-2.35 over the batches of one long run. Shares of runs have Wilson intervals. "
        "A claim holds when all its checks do, and does not when all that the intervals decide fail; it holds partly "
        "when some do, and is not decidable when the intervals leave all of them open."
    )


def run(names: Iterable[str], length: lab.Length, runs: Kept) -> lab.Lab:
    """Runs experiments, with progress over all of them."""
    wanted = stages(names)
    rehearsal, expected = lab.Rehearsal(length, runs, HOPS), []
    for stage in wanted:
        before = rehearsal.weight
        stage(rehearsal)
        expected.append(rehearsal.weight - before)
    done = lab.Lab(length, runs, HOPS)
    with runs.progress(sum(expected)):
        for stage, weight in zip(wanted, expected, strict=True):
            with runs.stage(weight):
                stage(done)
    return done


def reproduce(paper: Paper, folder: Path, *, wanted: Wanted, quick: bool, jobs: int | None) -> int:
    """Runs what is wanted, prints and writes figures and tables, checks the claims."""
    length = QUICK if quick else FULL
    clock = Clock()
    figures, tables, claims = _parts(wanted)
    wanted_parts = [CHARTS[n].needs for n in figures] + [SHEETS[n].needs for n in tables]
    needed = {e for own in wanted_parts for e in own} | {e for c in claims for e in needs(c)}
    print(f"{paper.title}\n", flush=True)
    with lab.kept(folder, jobs) as runs:
        done = run(needed, length, runs)
    ours, reference = done.table(), ns2.table()
    sheets = [charts.sheet(f"table{n}", f"Table {n}: {SHEETS[n].title}", SHEETS[n], ours, reference, folder)
              for n in tables]  # fmt: skip
    drawn = [figure(n, ours, reference, HOPS, folder) for n in figures]
    searches.write(done, folder)
    about = About(paper.title, lead(length, quick), text(), _seeds(done))
    write(about, drawn, sheets, judged(claims, ours, reference), runs, clock, folder, jobs)
    return 0


def _seeds(done: lab.Lab) -> str:
    length = done.length
    doubted = f"; of the others, {len(done.doubted)} points whose first runs were doubtful: 1 to {length.many}"
    return (
        f"1 to {length.seeds}; paced UDP, grids, random topologies in files, Vegas with ACK thinning at more than 2 "
        f"Mbit/s: 1 to {length.many}"
        f"{doubted if done.doubted else ''}; around the cliff of Figure 10: 1 to {length.cliff}; "
        f"{length.draws} drawn placements and searches with seed 1"
    )
