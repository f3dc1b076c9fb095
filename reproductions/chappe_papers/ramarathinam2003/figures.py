"""The figures and tables."""

from collections.abc import Sequence

from chappe import plot
from chappe.plot import Mark
from chappe.stats import Estimate

from chappe_papers.pages.figures import Chart, Legend, Panel, Picture, Rows, Sheet, panel
from chappe_papers.ramarathinam2003.design import LAST, MEASURES, SEGMENTS
from chappe_papers.ramarathinam2003.points import (
    CMU_QUEUE,
    CURVE,
    NS2_RATE,
    READINGS,
    ROUTINGS,
    SPANS,
    VARIANTS,
    Point,
    base,
)
from chappe_papers.ramarathinam2003.printed import LOADS, TABLE_I, TABLE_II
from chappe_papers.runs.estimates import Estimates

LEGEND = Legend(ROUTINGS, {r: n for n, r in enumerate(ROUTINGS)})
"""Routing protocols in legends, and one color for each."""

ALL_VARIANTS = (*VARIANTS, "vegas")
_TITLES = {"light": "light load", "moderate": "moderate load", "heavy": "heavy load", "internet": "to the Internet"}


def _classroom(title: str, _: Estimates) -> Picture:
    """Figure 1: who sits where."""
    places = base().settings["topology"]["positions"]
    meters = [tuple(float(x.removesuffix(" m")) for x in p) for p in places]
    nodes = [(x, -y, "professor" if n == 0 else str(n)) for n, (x, y) in enumerate(meters)]
    rows = [[str(n), f"{x:g}", f"{y:g}"] for n, (x, y) in enumerate(meters)]
    return Picture(title, plot.network(nodes, [], title=title), "places", ["node", "x_m", "y_m"], rows)


def uploads(at: float) -> int:
    """Number of students that send to the Internet at a time [s]: each for 250 s, starting every 25 s."""
    return sum(25 * k <= at < 25 * k + 250 for k in range(1, 11))


def _staircase(title: str, _: Estimates) -> Picture:
    """Figure 2: transfers at the same time."""
    # Each step twice, so that it stands upright.
    times = [t for step in range(25, 501, 25) for t in (step - 25.0, step - 0.001)]
    numbers = [uploads(t) for t in times]
    curve = plot.Curve("transfers", times, numbers, [(0.0, 0.0)] * len(times), 0)
    drawn = plot.lines([curve], x_label="time [s]", y_label="transfers to the Internet", title=title)
    rows = [[f"{t:g}", str(uploads(t))] for t in range(0, 500, 25)]
    return Picture(title, drawn, "transfers", ["time_s", "transfers"], rows)


def _over_time(variant: str, load: str) -> Chart:
    """The segment that the student's transfer has reached, with each routing protocol."""
    begin, end = SPANS[load]

    def panels(_x: Sequence[int]) -> list[Panel]:
        best = {"light": 500, "moderate": 370, "heavy": 300, "internet": 1400}[load]
        axes = panel(range(begin + 5, end + 1, 5), lambda r, t: (Point(variant, r, CURVE), f"{load}_at_{t:g}"),
                    MEASURES[SEGMENTS[load]], marks=(Mark((best, best), end),))  # fmt: skip
        return [axes]

    title = f"segments of student 4 over time with {VARIANTS[variant]}, {_TITLES[load]}, means of runs"
    return Chart(title, "time_s", "time [s]", tuple(ROUTINGS), panels, left=begin)


def _versions(load: str) -> Panel:
    marks = tuple(
        Mark(
            (row[LOADS.index(load)],) * 2,
            list(VARIANTS).index(v) + 0.28 * (list(ROUTINGS).index(r) - 1),
            "the paper, a run",
        )
        for (v, r), row in TABLE_I.items()
    )
    return panel(range(len(VARIANTS)), lambda r, i: (Point(tuple(VARIANTS)[int(i)], r), SEGMENTS[load]),
                 MEASURES[SEGMENTS[load]], _TITLES[load], load, names=tuple(VARIANTS.values()), marks=marks,
                 x_label="")  # fmt: skip


FIGURES: dict[int, Chart] = {
    1: Chart("the classroom", picture=_classroom),
    2: Chart("transfers to the Internet at the same time", picture=_staircase),
    3: _over_time("tahoe", "light"),
    4: _over_time("reno", "moderate"),
    5: _over_time("reno", "heavy"),
    6: _over_time("sack", "internet"),
}
"""The figures by number."""

KEY = Chart(
    "segments reached in the four transfers, medians, with the single runs of the paper",
    "variant", "version of TCP", tuple(ROUTINGS), lambda _: [_versions(load) for load in LOADS], left=None,
)  # fmt: skip
"""The figure that says most, with the numbers of the paper."""


def _cell(e: Estimate | None, places: int) -> str:
    """A median, and where single runs lie: from the smallest to the largest."""
    ordered = getattr(e, "ordered", ())
    if e is None or not ordered:
        return "-"
    low, mid, high = (f"{v:.{places}f}" for v in (ordered[0], e.mean, ordered[-1]))
    return f"{mid} ({low}-{high})"


def _rows(
    ours: Estimates,
    ns2: Estimates,
    measures: Sequence[str],
    printed: dict[tuple[str, str], Sequence[float]],
    places: int,
    others: Sequence[Point],
) -> Rows:
    """The combinations, and some of them in another reading."""
    rows = []
    for p in (*(Point(v, r) for v in ALL_VARIANTS for r in ROUTINGS), *others):
        reading = f", {READINGS[p.reading][0]}" if p.reading in READINGS else ""
        row = [f"{VARIANTS.get(p.variant, 'Vegas')} {ROUTINGS[p.routing]}{reading}"]
        for i, m in enumerate(measures):
            reported = None if reading else printed.get(p[:2])
            slower = p._replace(rate_mbps=NS2_RATE)
            row += [
                f"{reported[i]:.{places}f}" if reported else "-",
                _cell(ours.get(p, m), places),
                _cell(ours.get(slower, m), places),
                _cell(ns2.get(slower, m), places),
            ]
        rows.append(row)
    return rows


def _header(columns: Sequence[str]) -> tuple[str, ...]:
    whose = (": paper", ", here", f", here at {NS2_RATE:g} Mbit/s", f", ns-2 at {NS2_RATE:g} Mbit/s")
    return ("", *(f"{c}{who}" for c in columns for who in whose))


_QUEUED = tuple(Point(v, "dsdv", CMU_QUEUE) for v in VARIANTS)
"""DSDV over the queue that DSR has in ns-2, in addition to Table I."""

TABLES: dict[int, Sheet] = {
    1: Sheet(
        "Segments that the transfers of student 4 reach, median (smallest to largest run)",
        _header(LOADS),
        lambda ours, ns2: _rows(ours, ns2, [SEGMENTS[load] for load in LOADS], dict(TABLE_I), 0, _QUEUED),
    ),
    2: Sheet(
        "Time of the last packet [s], median (smallest to largest run); the paper's times have chosen the data rate",
        _header([f"node {n}" for n in LAST]),
        lambda ours, ns2: _rows(ours, ns2, list(LAST.values()), dict(TABLE_II), 1, ()),
    ),
}
"""The tables by number."""
