"""The figures, and what they need."""

from collections.abc import Sequence
from pathlib import Path

from chappe import plot
from chappe.papers import charts
from chappe.papers.charts import Chart, Legend, Panel
from chappe.papers.paper import Table
from chappe.papers.zhou2004.lab import GOODPUT, JAIN, LABELS, UNFAIRNESS
from chappe.papers.zhou2004.points import FLOWS, MECHANISMS, VARIANTS, Point
from chappe.report import page

X_NAME, X_LABEL = "per_percent", "packets lost [%]"
TICKS = (0.0, 0.001, 0.01, 0.1, 1.0, 10.0)
LOG_FROM = 0.001

LEGEND = Legend(
    VARIANTS | MECHANISMS,
    {
        "tahoe": 0,
        "reno": 4,
        "newreno": 2,
        "vegas": 1,
        "sack": 3,
        "none": 6,
        "eln": 1,
        "snoop": 0,
        "both": 2,
        "split": 3,
    },
)


def over_variants(mechanism: str, x: Sequence[float], name: str, title: str = "", reading: str = "ns2") -> Panel:
    """Variants over error rates, with one mechanism."""
    return Panel(x, lambda v, r: (Point(v, mechanism, r, reading), name), LABELS[name], title, mechanism)


def _over_mechanisms(variant: str, x: Sequence[float], title: str) -> Panel:
    return Panel(x, lambda m, r: (Point(variant, m, r), GOODPUT), LABELS[GOODPUT], title, variant)


def _throughput(x: Sequence[float]) -> list[Panel]:
    letters = zip("abcde", MECHANISMS.items(), strict=True)
    return [over_variants(m, x, GOODPUT, f"({letter}) {title}") for letter, (m, title) in letters]


def _mechanisms(x: Sequence[float]) -> list[Panel]:
    return [_over_mechanisms("tahoe", x, "(a) Tahoe"), _over_mechanisms("vegas", x, "(b) Vegas")]


def _unfair(x: Sequence[float]) -> list[Panel]:
    return [over_variants("none", x, UNFAIRNESS), over_variants("none", x, JAIN)]


def _unfair_with(x: Sequence[float]) -> list[Panel]:
    panels = [over_variants(m, x, UNFAIRNESS, MECHANISMS[m]) for m in ("snoop", "eln", "both")]
    return [*panels, over_variants("snoop", x, JAIN, MECHANISMS["snoop"])]


def _chart(title: str, variants: Sequence[str], panels: charts.Panels) -> Chart:
    return Chart(title, (), X_NAME, X_LABEL, tuple(variants), panels, TICKS, None, LOG_FROM)


CHARTS: dict[int, Chart] = {
    1: Chart("the network", ()),
    2: _chart("throughput of the variants", tuple(VARIANTS), _throughput),
    3: _chart("throughput with the mechanisms", tuple(MECHANISMS), _mechanisms),
    4: _chart("unfairness", ("tahoe", "vegas"), _unfair),
    5: _chart("unfairness with Snoop and ELN", ("tahoe", "vegas"), _unfair_with),
}
"""The figures by number."""


def points(chart: Chart, rates: Sequence[float]) -> list[Point]:
    """What a figure needs."""
    return [panel.of(v, x)[0] for panel in chart.panels(rates) for v in chart.variants for x in panel.x]


def figure(number: int, ours: Table, ns2: Table, rates: Sequence[float], folder: Path) -> page.Figure:
    """Draws and writes a figure as PDF, SVG, PNG and CSV, and prints its numbers."""
    chart = CHARTS[number]
    name, title = f"figure{number}", f"Figure {number}: {chart.title}"
    panels = chart.panels(rates)
    if panels:
        return charts.figure(name, title, chart, panels, LEGEND, ours, ns2, folder)
    return _network(name, title, folder)


def _network(name: str, title: str, folder: Path) -> page.Figure:
    """Figure 1: nodes and links."""
    nodes = [(0.0, 2.0 - i, f"fixed host {i + 1}") for i in range(FLOWS)]
    nodes += [(1.0, 0.0, "edge router"), (2.0, 0.0, "core router"), (3.0, 0.0, "base station"), (4.0, 0.0, "")]
    nodes += [(5.0, 2.0 - i, f"mobile host {i + 1}") for i in range(FLOWS)]
    slow, fast = "10 Mbit/s, 2 ms", "100 Mbit/s"
    links = [(i, FLOWS, slow if i == 0 else "") for i in range(FLOWS)]
    links += [(5, 6, "10 Mbit/s, 10 ms"), (6, 7, "10 Mbit/s, 10 ms"), (7, 8, "2 Mbit/s, 4 ms, lossy")]
    links += [(8, 9 + i, fast if i == 0 else "") for i in range(FLOWS)]
    drawn = plot.network(nodes, links, title=title)
    table = [[nodes[a][2] or "wireless side", nodes[b][2] or "wireless side", label] for a, b, label in links]
    return charts.picture(name, title, drawn, "links", ["from", "to", "rate and delay"], table, folder)
