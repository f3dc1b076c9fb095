"""The tables: parameters, delays over four hops, Jain's index."""

from collections.abc import Callable, Mapping, Sequence

from chappe.papers.charts import Rows, Sheet, cell
from chappe.papers.elrakabawy2005.charts import PLACES
from chappe.papers.elrakabawy2005.points import DRAWN, GRIDS, LISTED, RATES, Point, scenario
from chappe.papers.elrakabawy2005.udp import delay_point
from chappe.papers.paper import Table

ORDER = ("vegas2", "newreno", "vegas2_thin", "newreno_thin")
"""Columns of Tables 3 and 4."""

_HEADS = ("Vegas", "NewReno", "Vegas, ACK thinning", "NewReno, ACK thinning")

GRID_JAIN = {
    2.0: ("0.54 [0.53:0.55]", "0.32 [0.31:0.33]", "0.69 [0.68:0.70]", "0.40 [0.38:0.42]"),
    5.5: ("0.64 [0.60:0.68]", "0.43 [0.40:0.46]", "0.87 [0.84:0.90]", "0.56 [0.52:0.60]"),
    11.0: ("0.73 [0.69:0.77]", "0.52 [0.48:0.56]", "0.94 [0.90:0.98]", "0.63 [0.60:0.66]"),
}
"""Table 3 as printed."""

RANDOM_JAIN = {
    2.0: ("0.43 [0.41:0.45]", "0.22 [0.20:0.24]", "0.62 [0.60:0.64]", "0.40 [0.38:0.42]"),
    5.5: ("0.80 [0.77:0.83]", "0.68 [0.64:0.72]", "0.87 [0.85:0.89]", "0.70 [0.67:0.73]"),
    11.0: ("0.87 [0.84:0.90]", "0.72 [0.70:0.74]", "0.90 [0.88:0.92]", "0.74 [0.71:0.77]"),
}
"""Table 4 as printed."""

DELAY_MS = {2.0: 29, 5.5: 12, 11.0: 8}
"""Table 2 as printed; its head says 5 Mbit/s where the text says 5.5."""


def _parameters(_: Table, __: Table) -> Rows:
    s = scenario(Point("vegas2", 7), "110000 delivered").settings["tcp"]
    vegas = s["vegas"]
    return [
        ["Wmax", "maximum window advertised by the receiver", "64", str(s["window"])],
        ["Winit", "initial window, and after a timeout", "1", f"{s['initial_window']}, {s['loss_window']}"],
        ["alpha = beta", "Vegas throughput threshold (packets)", "2", f"{vegas['alpha']:g}, {vegas['beta']:g}"],
        ["gamma", "Vegas threshold for leaving slow start", "alpha", f"{vegas['gamma']:g}"],
    ]


def _delays(ours: Table, ns2: Table) -> Rows:
    rows = []
    for rate in RATES:
        row = [f"{rate:g} Mbit/s", str(DELAY_MS[rate])]
        for table, plcp, basic in ((ns2, "long", 1), (ours, "long", 1), (ours, "short", 1), (ours, "short", 2)):
            found = [table.get(delay_point(4, rate, plcp, basic), f"delay_{which}_ms") for which in ("min", "mean")]
            row += ["-" if e is None else f"{e.mean:.2f}" for e in found]
        rows.append(row)
    return rows


def _fairness(paper: Mapping[float, tuple[str, ...]], places: Sequence[str]) -> Callable[[Table, Table], Rows]:
    def rows(ours: Table, ns2: Table) -> Rows:
        found: Rows = []
        for rate in RATES:
            found.append([f"{rate:g} Mbit/s", "paper", *paper[rate]])
            for place in places:
                name = PLACES.get(place) or GRIDS[place].title
                for table, who in ((ns2, "ns-2"), (ours, "ours")):
                    for measure, what in (("jain_index", ""), ("jain_index_whole_run", ", whole run")):
                        values = [table.get(Point(v, 0, rate, place), measure) for v in ORDER]
                        if any(e is not None for e in values):
                            found.append([f"{rate:g} Mbit/s", f"{who}: {name}{what}", *map(cell, values)])
        return found

    return rows


SHEETS: dict[int, Sheet] = {
    1: Sheet("parameters of TCP", (), ("name", "meaning", "paper", "ours"), _parameters),
    2: Sheet(
        "delay over four hops [ms]",
        ("delays",),
        (
            "rate",
            "paper",
            "ns-2, smallest",
            "ns-2, mean",
            "long PLCP, smallest",
            "long PLCP, mean",
            "short PLCP, smallest",
            "short PLCP, mean",
            "short PLCP, control at 2 Mbit/s, smallest",
            "mean",
        ),
        _delays,
    ),
    3: Sheet(
        "Jain's index in the grid",
        ("grid", "other_grids"),
        ("rate", "source", *_HEADS),
        _fairness(GRID_JAIN, tuple(GRIDS)),
    ),
    4: Sheet(
        "Jain's index in random topologies",
        ("random", "drawn"),
        ("rate", "source", *_HEADS),
        _fairness(RANDOM_JAIN, (*LISTED, *DRAWN)),
    ),
}
"""The tables by number."""
