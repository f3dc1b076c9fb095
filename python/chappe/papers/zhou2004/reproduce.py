"""The paper as a command: runs what is wanted, draws, tabulates, and judges the claims."""

from pathlib import Path

from chappe.papers import charts
from chappe.papers.kept import Kept
from chappe.papers.paper import Claim, Paper, Table, Wanted
from chappe.papers.written import About, Clock, judged, write
from chappe.papers.zhou2004 import lab, ns2
from chappe.papers.zhou2004.charts import CHARTS, figure, points
from chappe.papers.zhou2004.claims import CLAIMS
from chappe.papers.zhou2004.extras import BESIDE, EXTRAS, closest, needed, with_formulas
from chappe.papers.zhou2004.points import Point, text

FULL, QUICK = lab.FULL, lab.QUICK


def _parts(wanted: Wanted) -> tuple[list[int], list[Claim], list[str]]:
    """Figures, claims and additions that are wanted."""
    if wanted.figure is not None:
        return [wanted.figure], [c for c in CLAIMS if wanted.figure in c.figures], []
    if wanted.claim is not None:
        return [], [c for c in CLAIMS if c.id == wanted.claim], []
    if wanted.extra is not None:
        return [], [], [wanted.extra]
    return list(CHARTS), list(CLAIMS), list(EXTRAS)


def lead(length: lab.Length, quick: bool) -> str:
    """What a reader must know of the numbers."""
    note = (
        f"Shortened runs: {length.seeds} of each point, few error rates; intervals are wide. Leave --quick out for all."
        if quick
        else f"{length.seeds} runs of each point."
    )
    return (
        f"{note} A run lasts 100 s. Figures and verdicts are those of TCP, Snoop and ELN as ns-2.35 has them; the "
        "table of readings says what other readings of the paper give. Stock ns-2.35 ignores notifications in Vegas "
        "and SACK: with them there is nothing of ns-2 to compare these with. Intervals are Student-t intervals of 95 % "
        "over independent runs. A claim holds when all its checks do, and does not when all that the intervals decide "
        "fail; it holds partly when some do, and is not decidable when the intervals leave all of them open."
    )


def run(all_runs: list[Point], compared: list[Point], length: lab.Length, runs: Kept) -> Table:
    """Runs points: those that are only compared as often as the length says."""
    seeds = dict.fromkeys(compared, length.compared) | dict.fromkeys(all_runs, length.seeds)
    found = lab.run({p: range(1, n + 1) for p, n in seeds.items()}, runs)
    return lab.table(found)


def reproduce(paper: Paper, folder: Path, *, wanted: Wanted, quick: bool, jobs: int | None) -> int:
    """Runs what is wanted, prints and writes figures and tables, checks the claims."""
    length = QUICK if quick else FULL
    clock = Clock()
    figures, claims, extras = _parts(wanted)
    charts_needed = {*figures, *(n for c in claims for n in c.figures)}
    all_runs, compared = needed(extras, length)
    all_runs += [p for n in sorted(charts_needed) for p in points(CHARTS[n], length.rates)]
    print(f"{paper.title}\n", flush=True)
    with lab.kept(folder, jobs) as runs:
        ours = with_formulas(run(all_runs, compared, length, runs))
    reference = ns2.table()
    drawn = [figure(n, ours, reference, length.rates, folder) for n in figures]
    sheets = []
    for name in extras:
        extra = EXTRAS[name]
        chart = extra.chart(length)
        title = BESIDE + chart.title
        panels = chart.panels(length.rates)
        drawn.append(charts.figure(name, title, chart, panels, extra.legend, ours, reference, folder))
        sheets += [charts.sheet(n, BESIDE + s.title, s, ours, reference, folder) for n, s in extra.sheets.items()]
    seeds = f"1 to {length.seeds}" + (f"; of readings that are compared 1 to {length.compared}" if quick else "")
    said = f"{lead(length, quick)} {closest(ours)}" if "readings" in extras else lead(length, quick)
    about = About(paper.title, said, text(), seeds)
    write(about, drawn, sheets, judged(claims, ours, reference), runs, clock, folder, jobs)
    return 0
