"""Figures 6 to 9: NewReno and Vegas over chains of 2 to 40 hops."""

import csv
import time
from pathlib import Path
from typing import NamedTuple

from chappe import RESULTS_EPOCH, __version__, plot, show
from chappe.papers.elrakabawy2005 import chain
from chappe.papers.elrakabawy2005.claims import CLAIMS
from chappe.papers.paper import Paper, Verdict, judge
from chappe.report import page
from chappe.stats import Estimate
from chappe.study import measure

HOPS = (2, 4, 5, 6, 7, 8, 10, 12, 16, 20, 32, 40)
CURVES = (("newreno", "NewReno"), ("vegas2", "Vegas"))

_MEASURES = {m.name: m for m in chain.MEASURES}
FIGURES = {
    6: ("goodput_kbps", "Goodput"),
    7: ("retransmitted_pkts_per_10000", "Retransmissions"),
    8: ("mean_window_pkts", "Mean window"),
    9: ("false_route_failures_per_10000", "False route failures"),
}
"""Measure and name of each figure."""


class Length(NamedTuple):
    """How much is run."""

    packets: int
    seeds: int


FULL = Length(110_000, 5)
QUICK = Length(22_000, 5)


def _values(e: Estimate | None) -> str:
    return "-" if e is None else show.with_error(e.mean, e.half_width())


def _figure(number: int, ours: chain.Table, ns2: chain.Table, folder: Path) -> page.Figure:
    """Draws and writes a figure, and prints its numbers."""
    name, title = FIGURES[number]
    m = _MEASURES[name]
    curves = []
    for group, (variant, label) in enumerate(CURVES):
        for table, who, reference in ((ours, "", False), (ns2, " (ns-2.35)", True)):
            known = [(h, e) for h in HOPS if (e := table.get(variant, h, name)) is not None]
            curves.append(
                plot.Curve(
                    label + who,
                    [h for h, _ in known],
                    [e.mean for _, e in known],
                    [e.half_width() for _, e in known],
                    group,
                    reference,
                )
            )
    drawn = plot.lines(
        curves,
        x_label="hops",
        y_label=m.label,
        title=f"Figure {number}: {title.lower()} over chains at 2 Mbit/s",
        ticks=(2, 4, 8, 12, 16, 20, 32, 40),
    )
    plot.save(drawn, folder, f"figure{number}")
    header = ["hops"] + [f"{label}, {who}" for _, label in CURVES for who in ("ns-2", "ours")]
    rows = [[str(h), *(_values(t.get(v, h, name)) for v, _ in CURVES for t in (ns2, ours))] for h in HOPS]
    with (folder / f"figure{number}.csv").open("w", encoding="utf-8", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["hops", "variant", "source", name, "half_width_95"])
        for h in HOPS:
            for variant, _ in CURVES:
                for table, source in ((ours, "chappe"), (ns2, "ns-2.35")):
                    e = table.get(variant, h, name)
                    if e is not None:
                        out.writerow([h, variant, source, repr(e.mean), repr(e.half_width())])
    svg = (folder / f"figure{number}.svg").read_text(encoding="utf-8")
    printed = show.table(">hops", *(f">{h}" for h in header[1:]), title=f"Figure {number}: {title} - {m.label}")
    for row in rows:
        printed.add_row(*row)
    show.write(printed)
    return page.Figure(f"Figure {number}: {title.lower()}", m.label, svg[svg.index("<svg") :], header, rows)


def _claims(figures: list[int], ours: chain.Table, ns2: chain.Table) -> list[page.Claim]:
    """Checks and prints the claims on these figures."""
    found = []
    for claim in CLAIMS:
        if claim.figure not in figures:
            continue
        looks = [claim.look(t) for t in (ns2, ours)]
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


def reproduce(paper: Paper, folder: Path, *, figure: int | None, quick: bool, jobs: int | None) -> int:
    """Runs the chains, prints and writes the figures, checks the claims."""
    length = QUICK if quick else FULL
    begun = time.monotonic()
    points = [chain.Point(variant, h) for h in HOPS for variant, _ in CURVES]
    seeds = range(1, length.seeds + 1)
    print(
        f"{paper.title}\n{len(points)} chains, {length.seeds} seeds each, "
        f"{length.packets:,} packets delivered in each run.\n",
        flush=True,
    )
    scenarios = {p: chain.scenario(p, f"{length.packets} delivered") for p in points}
    runs = measure(scenarios, seeds, jobs=jobs, title=f"{len(points) * length.seeds} runs")
    ours = chain.Table({p: chain.our_estimates(r) for p, r in runs.items()})
    ns2 = chain.ns2_table()
    figures = [figure] if figure is not None else list(FIGURES)
    drawn = [_figure(n, ours, ns2, folder) for n in figures]
    claims = _claims(figures, ours, ns2)
    cost = time.monotonic() - begun
    note = (
        "Shortened runs: intervals are wide, and rare events such as timeouts of Vegas are counted on few packets. "
        "Leave --quick out for runs of the paper's length."
        if quick
        else "Runs of the paper's length."
    )
    page.write(
        folder / "index.html",
        page.Page(
            title=paper.title,
            lead=(
                f"{len(points)} chains of 2 to 40 hops, {length.seeds} seeds each, {length.packets:,} packets "
                "delivered in each run, the first eleventh of which is discarded. Intervals are Student-t intervals of "
                f"95 %: ours over the seeds, those of ns-2.35 over the ten batches of one long run. {note}"
            ),
            figures=drawn,
            claims=claims,
            scenario=chain.text(),
            facts={
                "Chappe": f"{__version__}, results epoch {RESULTS_EPOCH}",
                "Seeds": f"1 to {length.seeds}",
                "Frames simulated": f"{sum(int(r['frames'].sum()) for r in runs.values()):,}",
                "Packets dropped from full queues": f"{sum(int(r['queue_drops'].sum()) for r in runs.values()):,}",
            },
        ),
    )
    print(f"{note}\nWritten to {folder}: index.html, and each figure as PDF, SVG, PNG and CSV. {cost:.0f} s.")
    return 0
