"""The figures and tables."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from chappe import plot
from chappe.plot import Mark
from chappe.stats import Estimate, ratio

from chappe_papers.elrakabawy2005.design import DESIGN, FAILURES, GOODPUT, JAIN, MEASURES, RETRANSMISSIONS, WINDOW
from chappe_papers.elrakabawy2005.points import (  # fmt: skip
    DRAWN,
    GRIDS,
    LISTED,
    MAIN_GRID,
    NAMES,
    PLACES,
    RATES,
    UDP,
    Point,
    flows_of,
    scenario,
)
from chappe_papers.elrakabawy2005.udp import CLIFF, SWEEP, delay_point
from chappe_papers.pages.figures import Chart, Legend, Panel, Picture, Rows, Sheet, cell, panel
from chappe_papers.runs import reference
from chappe_papers.runs.estimates import NS2, OURS, PAPER, Estimates

MULTI = ("vegas2", "newreno", "vegas2_thin", "newreno_thin")
"""Variants that are run with several flows, in the order of Tables 3 and 4."""

LEGEND = Legend(NAMES, {name: n for n, name in enumerate(NAMES)})
"""Names of the variants in legends, and one color for each."""

_SHOWN_HOPS = 7

_MBPS = [f"{r:g} Mbit/s" for r in RATES]


def _over_chains(name: str) -> Callable[[Sequence[int]], Sequence[Panel]]:
    return lambda hops: [panel(hops, lambda v, h: (Point(v, int(h)), name), MEASURES[name])]


def _over_rates(name: str, log: bool) -> Callable[[Sequence[int]], Sequence[Panel]]:
    axes = panel(RATES, lambda v, r: (Point(v, 7, r), name), MEASURES[name], names=_MBPS, log_y=log)
    return lambda _: [axes]


def _aggregates(*places: str) -> Callable[[Sequence[int]], Sequence[Panel]]:
    def one(place: str) -> Panel:
        def of(v: str, r: float) -> tuple[Point, str]:
            return Point(v, 0, r, place), GOODPUT

        return panel(RATES, of, MEASURES[GOODPUT], _place(place), place, names=_MBPS)

    return lambda _: [one(p) for p in places]


def _place(name: str) -> str:
    return f"{PLACES[name]} ({GRIDS[name].title})" if name in GRIDS else PLACES[name]


def _each_flow(*places: str) -> Callable[[Sequence[int]], Sequence[Panel]]:
    def one(place: str) -> Panel:
        n = flows_of(place)

        def of(v: str, flow: float) -> tuple[Point, str]:
            return Point(v, 0, 11.0, place), f"flow{int(flow) - 1}_bps" if flow <= n else GOODPUT

        names = [*(str(f + 1) for f in range(n)), "all"]
        return panel(range(1, n + 2), of, MEASURES[GOODPUT], _place(place), place, names=names)

    return lambda _: [one(p) for p in places]


def _cliff(_: Sequence[int]) -> Sequence[Panel]:
    def at(name: str) -> Callable[[str, float], tuple[Point, str]]:
        return lambda v, t: (Point(v, 7, interval_ms=t), name)

    best = Mark((1460 * 8 / 35.7, 1460 * 8 / 35.7), 35.7, "the paper's best")
    return [
        panel(sorted({*SWEEP, *CLIFF}), at(GOODPUT), MEASURES[GOODPUT], place="goodput", marks=(best,)),
        panel(CLIFF, at("collapsed"), MEASURES["collapsed"], place="collapsed"),
    ]


def _chain(title: str, _: Estimates) -> Picture:
    """Nodes, distances, and the flow from end to end."""
    s = scenario(Point("newreno", _SHOWN_HOPS), "1100 delivered")
    ends = {0: "sender (0)", _SHOWN_HOPS: f"receiver ({_SHOWN_HOPS})"}
    x_m = s.nodes["x_m"].to_list()
    nodes = [(float(i), 0.0, ends.get(i, str(i))) for i in range(len(x_m))]
    links = [(i, i + 1, f"{b - a:g} m") for i, (a, b) in enumerate(pairwise(x_m))]
    drawn = plot.network(nodes, links, title=title)
    return Picture(
        title, drawn, "places of the nodes [m]", ["node", "x_m"], [[str(i), f"{x:g}"] for i, x in enumerate(x_m)]
    )


def _grid(title: str, _: Estimates) -> Picture:
    s = scenario(Point("newreno", 0, 2.0, MAIN_GRID), "1100 delivered")
    nodes, flows = list(s.nodes.select("x_m", "y_m").iter_rows()), list(s.flows.select("src", "dst").iter_rows())
    rows = [[str(i), f"{x:g}", f"{y:g}"] for i, (x, y) in enumerate(nodes)]
    drawn = plot.places(nodes, flows, title=title)
    return Picture(title, drawn, "places of the nodes [m]", ["node", "x_m", "y_m"], rows)


_ALPHAS = ("vegas2", "vegas3", "vegas4")
_SEVEN = ("newreno", "newreno_maxwin3", "newreno_thin", "vegas2", "vegas2_thin")
_TICKS = (4, 8, 12, 16, 20, 32, 40)
_THREE = ("newreno", "vegas2", "newreno_thin")


def _chains(title: str, name: str, variants: tuple[str, ...]) -> Chart:
    return Chart(f"{title} over chains at 2 Mbit/s", "hops", "hops", variants, _over_chains(name), _TICKS)


def _rates(title: str, name: str, variants: tuple[str, ...], log: bool = False) -> Chart:
    return Chart(f"{title} over 7 hops", "rate_mbps", "data rate", variants, _over_rates(name, log))


def _flows(title: str, x: str, panels: Callable[[Sequence[int]], Sequence[Panel]]) -> Chart:
    return Chart(title, x, {"rate_mbps": "data rate"}.get(x, x), MULTI, panels)


FIGURES: dict[int, Chart] = {
    1: Chart(f"the chain of h hops with one flow, here of {_SHOWN_HOPS}", picture=_chain),
    2: _chains("goodput of Vegas", GOODPUT, _ALPHAS),
    3: _chains("window of Vegas", WINDOW, _ALPHAS),
    4: _rates("goodput of Vegas", GOODPUT, _ALPHAS),
    5: _chains("Vegas with ACK thinning", GOODPUT, ("vegas2", "vegas2_thin", "vegas3_thin", "vegas4_thin")),
    6: _chains("goodput", GOODPUT, (*_THREE, UDP)),
    7: _chains("retransmissions", RETRANSMISSIONS, _THREE),
    8: _chains("mean window", WINDOW, _THREE),
    9: _chains("false route failures", FAILURES, _THREE),
    10: Chart("paced UDP over 7 hops at 2 Mbit/s", "interval_ms", "time between datagrams [ms]", (UDP,), _cliff,
              left=None),
    11: _rates("goodput", GOODPUT, (*_SEVEN, UDP)),
    12: _rates("retransmissions", RETRANSMISSIONS, _SEVEN),
    13: _rates("mean window", WINDOW, _SEVEN),
    14: _rates("packets dropped by intermediate nodes", "intermediate_drops", _SEVEN, log=True),
    15: Chart("the grid and its flows, layout C (the paper's layout is unknown)", picture=_grid),
    16: _flows("aggregate goodput in the grid, layout unknown", "rate_mbps", _aggregates(*GRIDS)),
    17: _flows("each flow of the grid at 11 Mbit/s, layout unknown", "flow", _each_flow(*GRIDS)),
    18: _flows("aggregate goodput in random topologies", "rate_mbps", _aggregates(*LISTED, *DRAWN)),
    19: _flows("each flow of random topologies at 11 Mbit/s", "flow", _each_flow(*LISTED)),
}  # fmt: skip
"""The figures by number."""


# ---- the key figure ----

_GAINS = {4: 0.77 / 0.72, 8: 1.75, 32: 0.48 / 0.37}
"""Gain of Vegas over NewReno that the paper's text states or implies, by hops."""


def _gain(data: Estimates, _: str, hops: float) -> Estimate | None:
    pairs = data.both(Point("vegas2", int(hops)), Point("newreno", int(hops)), GOODPUT)
    return next((ratio(vegas, newreno) for vegas, newreno in pairs), None)


def _key(hops: Sequence[int]) -> Sequence[Panel]:
    paper = reference.first(DESIGN.records(), PAPER)

    def jain(v: str, r: float) -> tuple[Point, str]:
        return Point(v, 0, r, MAIN_GRID), JAIN

    marks = []
    for n, r in enumerate(RATES):
        for i, v in enumerate(MULTI):
            e = paper[Point(v, 0, r, "grid")][JAIN]
            marks.append(Mark(e.interval(), n + (i - 1.5) * 0.21))
    gain = [Mark((1.15, 1.83), label="the paper's range"), *(Mark((g, g), h) for h, g in _GAINS.items())]
    return [
        Panel(hops, None, "goodput of Vegas by that of NewReno", "chains at 2 Mbit/s", "gain", marks=gain,
              variants=("vegas2",), x_label="hops", derived=_gain),
        panel(RATES, jain, MEASURES[JAIN], _place(MAIN_GRID), "jain", names=_MBPS, marks=marks),
    ]  # fmt: skip


KEY = Chart(
    "Vegas relative to NewReno, and fairness in the grid, with the paper's numbers", "x", "data rate", MULTI, _key
)
"""The figure that says most, with the numbers of the paper."""


# ---- the tables ----


def _parameters(_: Estimates, __: Estimates) -> Rows:
    s = scenario(Point("vegas2", 7), "110000 delivered").settings["tcp"]
    vegas = s["vegas"]
    return [
        ["Wmax", "maximum window advertised by the receiver", "64", str(s["receive_window"])],
        ["Winit", "initial window, and after a timeout", "1", f"{s['initial_window']}, {s['loss_window']}"],
        ["alpha = beta", "Vegas throughput threshold (packets)", "2", f"{vegas['alpha']:g}, {vegas['beta']:g}"],
        ["gamma", "Vegas threshold for leaving slow start", "alpha", f"{vegas['gamma']:g}"],
    ]


_READINGS = {
    f"{preamble} PLCP{', control at 2 Mbit/s' if basic == 2 else ''}": (preamble, basic)
    for preamble, basic in (("long", 1.0), ("short", 1.0), ("short", 2.0))
}
"""Preamble and rate of control frames [Mbit/s] of Table 2: frames at 1 Mbit/s always have a long preamble."""


def _delays(ours: Estimates, ns2: Estimates) -> Rows:
    paper = reference.first(DESIGN.records(), PAPER)
    rows = []
    for rate in RATES:
        row = [f"{rate:g} Mbit/s", f"{1e3 * paper[Point('delay', 4, rate)]['mean_delay_s'].mean:g}"]
        for data, reading in ((ns2, ("long", 1.0)), *((ours, r) for r in _READINGS.values())):
            delays = [data.get(delay_point(4, rate, *reading), name) for name in ("delay_min_s", "mean_delay_s")]
            row += ["-" if e is None else f"{1e3 * e.mean:.2f}" for e in delays]
        rows.append(row)
    return rows


def _fairness(name: str, places: Sequence[str]) -> Callable[[Estimates, Estimates], Rows]:
    def rows(ours: Estimates, ns2: Estimates) -> Rows:
        paper = reference.first(DESIGN.records(), PAPER)
        lines: Rows = []
        for rate in RATES:
            at = f"{rate:g} Mbit/s"
            printed = [paper[Point(v, 0, rate, name)][JAIN] for v in MULTI]
            lines.append([at, PAPER, *(f"{e.mean:.2f} ± {e.half_width():.2f}" for e in printed)])
            for place in places:
                for data, who in ((ns2, NS2), (ours, OURS)):
                    for measure, what in ((JAIN, ""), ("jain_index", ", whole run")):
                        values = [data.get(Point(v, 0, rate, place), measure) for v in MULTI]
                        if any(e is not None for e in values):
                            lines.append([at, f"{who}: {PLACES[place]}{what}", *map(cell, values)])
        return lines

    return rows


_HEADS = ("Vegas", "NewReno", "Vegas, ACK thinning", "NewReno, ACK thinning")

TABLES: dict[int, Sheet] = {
    1: Sheet("parameters of TCP", ("name", "meaning", "paper", "ours"), _parameters),
    2: Sheet(
        "delay over four hops [ms]",
        ("rate", "paper", *(f"{r}, {w}" for r in (NS2, *_READINGS) for w in ("smallest", "mean"))),
        _delays,
    ),
    3: Sheet("Jain's index in the grid", ("rate", "source", *_HEADS), _fairness("grid", tuple(GRIDS))),
    4: Sheet("Jain's index in random topologies", ("rate", "source", *_HEADS), _fairness("random", (*LISTED, *DRAWN))),
}
"""The tables by number."""
