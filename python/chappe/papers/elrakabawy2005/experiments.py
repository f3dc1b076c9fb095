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


Experiment = Callable[[Lab], None]
_Points = Callable[[Lab], list[Point]]


def _chains(*variants: str) -> _Points:
    return lambda lab: [Point(v, h) for h in lab.hops for v in variants]


def _seven(*variants: str) -> _Points:
    return lambda _: [Point(v, 7, rate) for rate in RATES for v in variants]


def _places(places: Iterable[str]) -> _Points:
    return lambda _: [Point(v, 0, rate, place) for place in places for rate in RATES for v in MULTI]


def _draws(point: Point, lab: Lab) -> list[Point]:
    return [point._replace(draw=d) for d in range(1, lab.length.draws + 1)]


def _drawn(lab: Lab) -> list[Point]:
    return [drawn for p in _places(DRAWN)(lab) for drawn in _draws(p, lab)]


def _pooled(lab: Lab) -> None:
    lab.run(_drawn(lab))
    for p in _places(DRAWN)(lab):
        lab.pool(_draws(p, lab), p)


def _quarter(lab: Lab) -> None:
    """The best window over several chains: shorter runs tell them apart."""
    points = [Point(f"newreno_maxwin{w}", h) for h in FU_HOPS for w in WINDOWS]
    scenarios = {p: scenario(p, f"{lab.length.udp_packets} delivered") for p in points if p not in lab.runs}
    lab.keep(lab.replicated(scenarios))


def _udp_chains(lab: Lab) -> None:
    udp.best(lab, [(h, 2.0) for h in lab.hops])


def _udp_seven(lab: Lab) -> None:
    udp.best(lab, [(7, rate) for rate in RATES])


_POINTS: dict[str, _Points] = {
    "alphas": _chains("vegas2", "vegas3", "vegas4"),
    "thin_alphas": _chains("vegas2", "vegas2_thin", "vegas3_thin", "vegas4_thin"),
    "chains": _chains("newreno", "vegas2", "newreno_thin"),
    "seven_alphas": _seven("vegas2", "vegas3", "vegas4"),
    "seven": _seven("newreno", "newreno_maxwin3", "vegas2", *THINNED),
    "windows": _seven(*(f"newreno_maxwin{n}" for n in WINDOWS)),
    "grid": _places([MAIN_GRID]),
    "other_grids": _places(OTHER_GRIDS),
    "random": _places(LISTED),
    "drawn": _drawn,
}
"""Experiments whose points are known from the start."""


def _of_points(points: _Points) -> Experiment:
    return lambda lab: lab.run(points(lab))


EXPERIMENTS: dict[str, Experiment] = {
    **{name: _of_points(points) for name, points in _POINTS.items()},
    # Its points are known as well, but each of them stands for several placements.
    "drawn": _pooled,
    "udp_chains": _udp_chains,
    "quarter": _quarter,
    "udp_seven": _udp_seven,
    "cliff": udp.cliff,
    "delays": udp.delays,
}
"""What figures, tables and claims need."""


def stages(names: Iterable[str]) -> list[Experiment]:
    """What is done for some experiments, one after the other.

    All points that are known from the start come first and together: a core waits for the others only at the end of
    them, not at the end of every experiment.
    """
    wanted = set(names)
    together = [points for name, points in _POINTS.items() if name in wanted]
    return [
        lambda lab: lab.run(p for points in together for p in points(lab)),
        *(experiment for name, experiment in EXPERIMENTS.items() if name in wanted),
    ]
