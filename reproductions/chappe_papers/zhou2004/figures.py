"""The figures."""

from collections.abc import Sequence
from dataclasses import replace

from chappe import plot
from chappe.plot import Mark
from chappe.stats import Estimate

from chappe_papers.judging.judge import times
from chappe_papers.pages.figures import Chart, Legend, Panel, Panels, Picture, panel
from chappe_papers.runs.estimates import Estimates
from chappe_papers.zhou2004.design import GOODPUT, JAIN, MEASURES, PRINTED, UNFAIRNESS, of_alike
from chappe_papers.zhou2004.points import FLOWS, MECHANISMS, VARIANTS, Point

X_NAME, X_LABEL = "per_percent", "packets lost [%]"
TICKS = (0.0, 0.001, 0.01, 0.1, 1.0, 10.0)
LOG_FROM = 0.001

_NAMES = VARIANTS | MECHANISMS
LEGEND = Legend(_NAMES, {name: n for n, name in enumerate(_NAMES)})
"""Names of variants and mechanisms in legends, and one color for each."""

READING = Point("").reading


def over_variants(mechanism: str, x: Sequence[float], name: str, title: str = "", reading: str = READING) -> Panel:
    """Variants over error rates, with one mechanism."""
    return panel(x, lambda v, r: (Point(v, mechanism, r, reading), name), MEASURES[name], title, mechanism)


def _high(p: Panel) -> Panel:
    """The part from 1 % to 10 %, enlarged."""
    return replace(p, title=f"{p.title}, 1 to 10 %", place=f"{p.place}, 1 to 10 %", limits=(1.0, 10.3))


def _throughput(x: Sequence[float]) -> list[Panel]:
    letters = zip("abcde", MECHANISMS.items(), strict=True)
    axes = [over_variants(m, x, GOODPUT, f"({letter}) {title}") for letter, (m, title) in letters]
    return [q for p in axes for q in (p, _high(p))]


def _mechanisms(x: Sequence[float]) -> list[Panel]:
    def one(variant: str, title: str) -> Panel:
        return panel(x, lambda m, r: (Point(variant, m, r), GOODPUT), MEASURES[GOODPUT], title, variant)

    return [one("tahoe", "(a) Tahoe"), one("vegas", "(b) Vegas")]


def _printed(mechanism: str) -> tuple[Mark, ...]:
    return tuple(
        Mark((y, y), r, f"the paper, {VARIANTS[v]}, a single run", LEGEND.colors[v])
        for (v, m, r), y in PRINTED.items()
        if m == mechanism
    )


def _unfair(x: Sequence[float]) -> list[Panel]:
    return [over_variants("none", x, UNFAIRNESS), over_variants("none", x, JAIN)]


def _unfair_with(x: Sequence[float]) -> list[Panel]:
    panels = [over_variants(m, x, UNFAIRNESS, MECHANISMS[m]) for m in ("snoop", "eln", "both")]
    return [*panels, over_variants("snoop", x, JAIN, MECHANISMS["snoop"])]


def _network(title: str, _: Estimates) -> Picture:
    """Figure 1: nodes and links."""
    nodes = [(0.0, 2.0 - i, f"fixed host {i + 1}") for i in range(FLOWS)]
    nodes += [(1.0, 0.0, "edge router"), (2.0, 0.0, "core router"), (3.0, 0.0, "base station"), (4.0, 0.0, "")]
    nodes += [(5.0, 2.0 - i, f"mobile host {i + 1}") for i in range(FLOWS)]
    slow, fast = "10 Mbit/s, 2 ms", "100 Mbit/s"
    links = [(i, FLOWS, slow if i == 0 else "") for i in range(FLOWS)]
    links += [(5, 6, "10 Mbit/s, 10 ms"), (6, 7, "10 Mbit/s, 10 ms"), (7, 8, "2 Mbit/s, 4 ms, lossy")]
    links += [(8, 9 + i, fast if i == 0 else "") for i in range(FLOWS)]
    table = [[nodes[a][2] or "wireless side", nodes[b][2] or "wireless side", label] for a, b, label in links]
    return Picture(title, plot.network(nodes, links, title=title), "links", ["from", "to", "rate and delay"], table)


def _chart(title: str, variants: Sequence[str], panels: Panels) -> Chart:
    return Chart(title, X_NAME, X_LABEL, tuple(variants), panels, TICKS, None, LOG_FROM)


FIGURES: dict[int, Chart] = {
    1: Chart("the network", picture=_network),
    2: _chart("throughput of the variants", tuple(VARIANTS), _throughput),
    3: _chart("throughput with the mechanisms", tuple(MECHANISMS), _mechanisms),
    4: _chart("unfairness, medians of the runs", ("tahoe", "vegas"), _unfair),
    5: _chart("unfairness with Snoop and ELN, medians of the runs", ("tahoe", "vegas"), _unfair_with),
}
"""The figures by number."""


def _lead(data: Estimates, _: str, rate: float) -> Estimate | None:
    """Goodput of Vegas relative to the best of the others."""
    vegas, best = data.get(Point("vegas", "none", rate), GOODPUT), of_alike(data, "none", rate)
    return None if vegas is None or best is None else times(vegas, best)


def _key(x: Sequence[float]) -> list[Panel]:
    crossing = (Mark((1.0, 1.0), 2.0, "the paper: Vegas falls behind"),)
    lead = Panel(x, None, "Vegas relative to the best other TCP", "TCP only", "lead", marks=crossing,
                 variants=("vegas",), derived=_lead)  # fmt: skip
    return [lead, replace(over_variants("none", x, UNFAIRNESS, "TCP only"), marks=_printed("none"), log_y=True)]


KEY = _chart("Vegas' lead, and unfairness, with the paper's numbers", ("tahoe", "vegas"), _key)
"""The figure that says most, with the numbers of the paper."""
