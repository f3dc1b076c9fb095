"""The figures: what stands in each of them."""

from collections.abc import Callable, Sequence
from pathlib import Path

from chappe import plot
from chappe.papers import charts
from chappe.papers.charts import Chart, Legend, Panel
from chappe.papers.elrakabawy2005.experiments import MULTI, THINNED
from chappe.papers.elrakabawy2005.measures import ALL
from chappe.papers.elrakabawy2005.points import GRIDS, LISTED, MAIN_GRID, RATES, UDP, Point, flows_of, scenario
from chappe.papers.elrakabawy2005.udp import CLIFF, SWEEP
from chappe.papers.paper import Table
from chappe.report import page

NAMES = {
    "newreno": "NewReno",
    "newreno_maxwin3": "NewReno, MaxWin = 3",
    "newreno_thin": "NewReno, ACK thinning",
    "vegas2": "Vegas, alpha = 2",
    "vegas3": "Vegas, alpha = 3",
    "vegas4": "Vegas, alpha = 4",
    "vegas2_thin": "Vegas, alpha = 2, ACK thinning",
    "vegas3_thin": "Vegas, alpha = 3, ACK thinning",
    "vegas4_thin": "Vegas, alpha = 4, ACK thinning",
    UDP: "paced UDP",
}
"""Names of the variants in legends."""

_COLOURS = {
    "newreno": 0,
    "vegas2": 1,
    "newreno_thin": 2,
    "vegas2_thin": 3,
    "newreno_maxwin3": 4,
    "vegas3": 4,
    "vegas4": 5,
    "vegas3_thin": 0,
    "vegas4_thin": 2,
    UDP: 6,
}

PLACES = {
    MAIN_GRID: "21 nodes, " + GRIDS[MAIN_GRID].title,
    "random120_1": "placement 1",
    "random120_2": "placement 2",
    "uniform": "mean over drawn placements, any pairs",
    "far": "mean over drawn placements, pairs 4 to 8 hops apart",
}
"""Names of the places in figures and tables."""


def _over_chains(name: str) -> Callable[[Sequence[int]], Sequence[Panel]]:
    return lambda hops: [Panel(hops, lambda v, h: (Point(v, int(h)), name), ALL[name].label)]


def _over_rates(name: str) -> Callable[[Sequence[int]], Sequence[Panel]]:
    names = [f"{r:g} Mbit/s" for r in RATES]
    return lambda _: [Panel(RATES, lambda v, r: (Point(v, 7, r), name), ALL[name].label, names=names)]


def _aggregates(*places: str) -> Callable[[Sequence[int]], Sequence[Panel]]:
    names = [f"{r:g} Mbit/s" for r in RATES]

    def panel(place: str) -> Panel:
        def of(v: str, r: float) -> tuple[Point, str]:
            return Point(v, 0, r, place), "goodput_kbps"

        return Panel(RATES, of, "aggregate goodput [kbit/s]", PLACES[place], place, names)

    return lambda _: [panel(p) for p in places]


def _each_flow(*places: str) -> Callable[[Sequence[int]], Sequence[Panel]]:
    def panel(place: str) -> Panel:
        n = flows_of(place)

        def of(v: str, flow: float) -> tuple[Point, str]:
            return Point(v, 0, 11.0, place), f"goodput_kbps_flow{int(flow) - 1}" if flow <= n else "goodput_kbps"

        names = [*(str(f + 1) for f in range(n)), "all"]
        return Panel(range(1, n + 2), of, "goodput [kbit/s]", PLACES[place], place, names)

    return lambda _: [panel(p) for p in places]


def _cliff(_: Sequence[int]) -> Sequence[Panel]:
    times = sorted({*SWEEP, *CLIFF})
    return [
        Panel(times, lambda v, t: (Point(v, 7, interval_ms=t), "goodput_kbps"), "goodput [kbit/s]", place="goodput"),
        Panel(CLIFF, lambda v, t: (Point(v, 7, interval_ms=t), "collapsed"), ALL["collapsed"].label, place="collapsed"),
    ]


_ALPHAS = ("vegas2", "vegas3", "vegas4")
_SEVEN = ("newreno", "newreno_maxwin3", "newreno_thin", "vegas2", "vegas2_thin")
_TICKS = (4, 8, 12, 16, 20, 32, 40)
_AT_2 = "over chains at 2 Mbit/s"


def _chain_chart(title: str, name: str, needs: tuple[str, ...], variants: tuple[str, ...]) -> Chart:
    return Chart(f"{title} {_AT_2}", needs, "hops", "hops", variants, _over_chains(name), _TICKS)


def _rate_chart(title: str, name: str, needs: tuple[str, ...], variants: tuple[str, ...]) -> Chart:
    return Chart(f"{title} over 7 hops", needs, "rate_mbps", "data rate", variants, _over_rates(name))


_THREE = ("newreno", "vegas2", "newreno_thin")

CHARTS: dict[int, Chart] = {
    2: _chain_chart("goodput of Vegas", "goodput_kbps", ("alphas",), _ALPHAS),
    3: _chain_chart("window of Vegas", "mean_window_pkts", ("alphas",), _ALPHAS),
    4: _rate_chart("goodput of Vegas", "goodput_kbps", ("seven_alphas",), _ALPHAS),
    5: _chain_chart("Vegas with ACK thinning", "goodput_kbps", ("thin_alphas",), ("vegas2", *THINNED[1:])),
    6: _chain_chart("goodput", "goodput_kbps", ("chains", "udp_chains"), (*_THREE, UDP)),
    7: _chain_chart("retransmissions", "retransmitted_pkts_per_10000", ("chains",), _THREE),
    8: _chain_chart("mean window", "mean_window_pkts", ("chains",), _THREE),
    9: _chain_chart("false route failures", "false_route_failures_per_10000", ("chains",), _THREE),
    10: Chart(
        "paced UDP over 7 hops at 2 Mbit/s",
        ("cliff",),
        "interval_ms",
        "time between datagrams [ms]",
        (UDP,),
        _cliff,
        left=None,
    ),
    11: _rate_chart("goodput", "goodput_kbps", ("seven", "udp_seven"), (*_SEVEN, UDP)),
    12: _rate_chart("retransmissions", "retransmitted_pkts_per_10000", ("seven",), _SEVEN),
    13: _rate_chart("mean window", "mean_window_pkts", ("seven",), _SEVEN),
    14: _rate_chart("packets dropped by intermediate nodes", "intermediate_drops", ("seven",), _SEVEN),
    15: Chart("the grid and its flows", ()),
    16: Chart(
        "aggregate goodput in the grid", ("grid",), "rate_mbps", "data rate", MULTI, _aggregates(MAIN_GRID)
    ),
    17: Chart("each flow of the grid at 11 Mbit/s", ("grid",), "flow", "flow", MULTI, _each_flow(MAIN_GRID)),
    18: Chart(
        "aggregate goodput in random topologies",
        ("random", "drawn"),
        "rate_mbps",
        "data rate",
        MULTI,
        _aggregates(*LISTED, "uniform", "far"),
    ),
    19: Chart(
        "each flow of random topologies at 11 Mbit/s", ("random",), "flow", "flow", MULTI, _each_flow(*LISTED)
    ),
}  # fmt: skip
"""The figures by number."""


_LEGEND = Legend(NAMES, _COLOURS)


def figure(number: int, ours: Table, ns2: Table, hops: Sequence[int], folder: Path) -> page.Figure:
    """Draws and writes a figure as PDF, SVG, PNG and CSV, and prints its numbers."""
    chart = CHARTS[number]
    name, title = f"figure{number}", f"Figure {number}: {chart.title}"
    panels = chart.panels(hops)
    if panels:
        return charts.figure(name, title, chart, panels, _LEGEND, ours, ns2, folder)
    # The grid.
    s = scenario(Point("newreno", 0, 2.0, MAIN_GRID), "1100 delivered")
    nodes, flows = list(s.nodes.select("x_m", "y_m").iter_rows()), list(s.flows.select("src", "dst").iter_rows())
    rows = [[str(i), f"{x:g}", f"{y:g}"] for i, (x, y) in enumerate(nodes)]
    drawn = plot.places(nodes, flows, title=title)
    return charts.picture(name, title, drawn, "places of the nodes [m]", ["node", "x_m", "y_m"], rows, folder)
