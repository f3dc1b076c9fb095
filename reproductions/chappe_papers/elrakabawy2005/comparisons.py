"""Parts that the claims of this paper share: places, and comparisons of variants."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence

from chappe.stats import Estimate

from chappe_papers.elrakabawy2005.design import GOODPUT
from chappe_papers.elrakabawy2005.points import DRAWN, GRIDS, LISTED, PLACES, RATES, WINDOWS, Point
from chappe_papers.judging.claims import Claims, Observations
from chappe_papers.judging.judge import ALMOST_EQUAL, GAIN, Observation, below, equal
from chappe_papers.runs.estimates import Estimates
from chappe_papers.statistics.counted import exact, ratio

LAYOUT, ATTEMPTS = "the grid's layout and routes", "how often an RTS is sent"
MEAN = "how the window is averaged"
"""Details that the paper leaves open and that reverse claims: ``unknowns.csv`` has the effects."""

CLAIMS = Claims()
claim = CLAIMS.claim

ABSTRACT, ALPHA, AT_2 = "Abstract and conclusion", "4.3: alpha of Vegas", "4.3: chains at 2 Mbit/s"
UDP_7, SEVEN, GRID, RANDOM = "4.2: paced UDP", "4.3: 7 hops", "4.4.1: the grid", "4.4.2: random topologies"
WHY = "Reasons that the paper gives"

Places = Sequence[tuple[str, Point]]
"""Places of a comparison: names, and points whose variant is filled in."""

_ONE = exact(1.0)


def chains(data: Estimates, low: int = 4, high: int = 40) -> Places:
    """Chains at 2 Mbit/s."""
    return [(f"{h} hops", Point("", h)) for h in data.x if low <= h <= high]


def seven(*rates: float) -> Places:
    """The chain of 7 hops at some rates, or at all."""
    return [(f"{r:g} Mbit/s", Point("", 7, r)) for r in rates or RATES]


def flows(*names: str, rates: tuple[float, ...] = RATES) -> Places:
    """Places with several flows."""
    return [(f"{r:g} Mbit/s", Point("", 0, r, n)) for n in names for r in rates]


ALPHAS = {"vegas3": "alpha = 3", "vegas4": "alpha = 4"}
"""The variants that are compared with Vegas with alpha = 2."""

ALL_GRIDS, ALL_RANDOM = tuple(GRIDS), (*LISTED, *DRAWN)
EVERYWHERE = flows(*ALL_GRIDS, *ALL_RANDOM)


def each(data: Estimates, places: Places, variant: str, name: str) -> Iterator[tuple[str, Estimate]]:
    """A measure of a variant, where it is known."""
    for where, p in places:
        if (e := data.get(p._replace(variant=variant), name)) is not None:
            yield where, e


def _both(data: Estimates, p: Point, a: str, b: str, name: str) -> Iterator[tuple[Estimate, Estimate]]:
    """A measure of two variants, where both have runs. Of drawn places: the mean of their ratios, with 1."""
    if p.place not in DRAWN:
        yield from data.both(p._replace(variant=a), p._replace(variant=b), name)
        return
    # All is asked for, so that it is noted.
    for v in (a, b):
        data.get(p._replace(variant=v), name)
    ratios = []
    for draw in itertools.count(1):
        x, y = (p._replace(variant=v, draw=draw) for v in (a, b))
        if not (data.has_runs(x) and data.has_runs(y)):
            break
        ratios.append(data.take(x, name).mean / data.take(y, name).mean)
    if ratios:
        yield Estimate.of(ratios), _ONE


def compare(
    data: Estimates,
    says: Callable[..., Observation],
    places: Places,
    a: str,
    b: str,
    name: str = GOODPUT,
    *paper: object,
    words: str = "{}",
    of: str = "",
) -> Observations:
    """Cases of a measure of two variants at each place, like :func:`chappe_papers.judging.claims.compare`.

    ``words`` are the place in words, its name in braces; ``of`` is what the effect is called among others.
    """
    for where, p in places:
        for x, y in _both(data, p, a, b, name):
            observation = says(words.format(where), x, y, *paper)
            yield (observation.of(PLACES[p.place]) if p.place in PLACES else observation).called(of)


def against_each(
    data: Estimates,
    says: Callable[..., Observation],
    places: Places,
    a: str,
    rivals: Mapping[str, str],
    name: str = GOODPUT,
    *paper: object,
    of: str = "",
) -> Observations:
    """Observations of a variant compared with others, whose names are given; the rest as for :func:`compare`."""
    for v, words in rivals.items():
        yield from compare(data, says, places, a, v, name, *paper, words=f"{{}}, against {words}", of=of)


def gains(data: Estimates, places: Places, a: str, b: str) -> dict[str, Estimate]:
    """Gain in goodput of one variant over another."""
    return {where: ratio(x, y) for where, p in places for x, y in _both(data, p, a, b, GOODPUT)}


def nothing_at_2(gained: Mapping[str, Estimate]) -> Observations:
    """At 2 Mbit/s there is no gain."""
    if "2 Mbit/s" in gained:
        yield below("2 Mbit/s", gained["2 Mbit/s"], 1 + ALMOST_EQUAL, form=GAIN)


def best_window(data: Estimates, where: str, point: Point, best: float) -> Observations:
    """The bound of NewReno's window that is nearest to a number is as good as the best of all that are tried."""
    tried = {w: data.get(point._replace(variant=f"newreno_maxwin{w}"), GOODPUT) for w in WINDOWS}
    measured = {w: e for w, e in tried.items() if e is not None}
    if len(measured) == len(WINDOWS):
        nearest = min(measured, key=lambda w: abs(w - best))
        yield equal(where, measured[nearest], max(measured.values(), key=lambda e: e.mean))
