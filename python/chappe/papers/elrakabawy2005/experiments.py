"""The experiments of the paper, by name: what each of them runs."""

from collections.abc import Callable, Iterable

from chappe.papers.elrakabawy2005 import udp
from chappe.papers.elrakabawy2005.lab import Lab
from chappe.papers.elrakabawy2005.points import DRAWN, LISTED, MAIN_GRID, OTHER_GRIDS, RATES, Point, scenario

THINNED = ("newreno_thin", "vegas2_thin", "vegas3_thin", "vegas4_thin")
MULTI = ("newreno", "vegas2", "newreno_thin", "vegas2_thin")
"""Variants that are run with several flows."""

WINDOWS = (1, 2, 3, 4, 5, 6, 8)
"""Windows to which NewReno is bound in search of the best."""


FU_HOPS = (4, 8, 12, 16, 20)
"""Chains over which the best window is searched."""


def _chains(*variants: str) -> Callable[[Lab], None]:
    def run(lab: Lab) -> None:
        lab.run(Point(v, h) for h in lab.hops for v in variants)

    return run


def _seven(*variants: str) -> Callable[[Lab], None]:
    def run(lab: Lab) -> None:
        lab.run(Point(v, 7, rate) for rate in RATES for v in variants)

    return run


def _places(places: Iterable[str]) -> Callable[[Lab], None]:
    def run(lab: Lab) -> None:
        lab.run(Point(v, 0, rate, place) for place in places for rate in RATES for v in MULTI)

    return run


def _drawn(lab: Lab) -> None:
    points = [Point(v, 0, rate, place) for place in DRAWN for rate in RATES for v in MULTI]
    draws = range(1, lab.length.draws + 1)
    lab.run(p._replace(draw=d) for p in points for d in draws)
    for p in points:
        lab.pool([p._replace(draw=d) for d in draws], p)


def _quarter(lab: Lab) -> None:
    """The best window over several chains: shorter runs tell them apart."""
    points = [Point(f"newreno_maxwin{w}", h) for h in FU_HOPS for w in WINDOWS]
    scenarios = {p: scenario(p, f"{lab.length.udp_packets} delivered") for p in points if p not in lab.runs}
    lab.keep(lab.replicated(scenarios))


def _udp_chains(lab: Lab) -> None:
    udp.best(lab, [(h, 2.0) for h in lab.hops])


def _udp_seven(lab: Lab) -> None:
    udp.best(lab, [(7, rate) for rate in RATES])


EXPERIMENTS: dict[str, Callable[[Lab], None]] = {
    "alphas": _chains("vegas2", "vegas3", "vegas4"),
    "thin_alphas": _chains("vegas2", "vegas2_thin", "vegas3_thin", "vegas4_thin"),
    "chains": _chains("newreno", "vegas2", "newreno_thin"),
    "udp_chains": _udp_chains,
    "seven_alphas": _seven("vegas2", "vegas3", "vegas4"),
    "seven": _seven("newreno", "newreno_maxwin3", "vegas2", *THINNED),
    "windows": _seven(*(f"newreno_maxwin{n}" for n in WINDOWS)),
    "quarter": _quarter,
    "udp_seven": _udp_seven,
    "cliff": udp.cliff,
    "delays": udp.delays,
    "grid": _places([MAIN_GRID]),
    "other_grids": _places(OTHER_GRIDS),
    "random": _places(LISTED),
    "drawn": _drawn,
}
"""What figures, tables and claims need."""
