"""What the claims of this paper have in common: where they look, and what they compare."""

from collections.abc import Iterator, Mapping

from chappe.papers.claims import Claims
from chappe.papers.elrakabawy2005.design import GOODPUT
from chappe.papers.elrakabawy2005.points import DRAWN, GRIDS, LISTED, PLACES, RATES, Point
from chappe.papers.table import Table
from chappe.stats import Estimate, ratio

CLAIMS = Claims()
claim = CLAIMS.claim

ABSTRACT, ALPHA, AT_2 = "Abstract and conclusion", "4.3: alpha of Vegas", "4.3: chains at 2 Mbit/s"
UDP_7, SEVEN, GRID, RANDOM = "4.2: paced UDP", "4.3: 7 hops", "4.4.1: the grid", "4.4.2: random topologies"
WHY = "Reasons that the paper gives"

Places = Mapping[str, Point]
"""Where something is looked at: names and points whose variant is filled in."""

Pair = tuple[str, Estimate, Estimate]

_ONE = Estimate(1.0, 0.0, 1)


def chains(data: Table, low: int = 4, high: int = 40) -> Places:
    """Chains at 2 Mbit/s."""
    return {f"{h} hops": Point("", h) for h in data.x if low <= h <= high}


def seven(*rates: float) -> Places:
    """The chain of 7 hops at some rates, or at all."""
    return {f"{r:g} Mbit/s": Point("", 7, r) for r in rates or RATES}


def flows(*names: str, rates: tuple[float, ...] = RATES) -> dict[str, Places]:
    """Places with several flows, by the name of the place."""
    return {PLACES[n]: {f"{r:g} Mbit/s": Point("", 0, r, n) for r in rates} for n in names}


ALL_GRIDS, ALL_RANDOM = tuple(GRIDS), (*LISTED, *DRAWN)


def pairs(data: Table, places: Places, a: str, b: str, name: str = GOODPUT) -> Iterator[Pair]:
    """A measure of two variants, where both are known. Of drawn places: the mean of their ratios, beside 1."""
    for where, p in places.items():
        x, y = (data.get(p._replace(variant=v), name) for v in (a, b))
        if p.place in DRAWN:
            x, y = _paired(data, p, a, b, name), _ONE
        if x is not None and y is not None:
            yield where, x, y


def _paired(data: Table, p: Point, a: str, b: str, name: str) -> Estimate | None:
    found, draw = [], 1
    while data.known(p._replace(variant=a, draw=draw)) and data.known(p._replace(variant=b, draw=draw)):
        x, y = (data.take(p._replace(variant=v, draw=draw), name) for v in (a, b))
        found.append(x.mean / y.mean)
        draw += 1
    return Estimate.of(found) if found else None


def gains(data: Table, places: Places, a: str, b: str, name: str = GOODPUT) -> dict[str, Estimate]:
    """How much more one variant has than another."""
    return {where: ratio(x, y) for where, x, y in pairs(data, places, a, b, name)}
