"""Claims on several flows: Figures 16 to 19, Tables 3 and 4. The layout of the grid is unknown: three are tried."""

from collections.abc import Callable
from functools import cache, partial

from chappe.stats import Estimate

from chappe_papers.elrakabawy2005.comparisons import (  # fmt: skip
    ABSTRACT,
    ALL_GRIDS,
    ALL_RANDOM,
    EVERYWHERE,
    GRID,
    LAYOUT,
    RANDOM,
    against_each,
    claim,
    compare,
    each,
    flows,
    gains,
    nothing_at_2,
)
from chappe_papers.elrakabawy2005.design import DESIGN, GOODPUT, JAIN
from chappe_papers.elrakabawy2005.points import GRIDS, LISTED, PLACES, Point, flows_of
from chappe_papers.judging.claims import Observations, in_order
from chappe_papers.judging.judge import (
    GAIN,
    PERCENT,
    READING,
    SLIGHTLY,
    Observation,
    above,
    at_least,
    at_most,
    below,
    equal,
    less,
    more,
)
from chappe_papers.runs import reference
from chappe_papers.runs.estimates import PAPER, Estimates
from chappe_papers.statistics.counted import times

_SMALL = 0.05
"""A flow "basically starves" with less than this share of the aggregate."""
_NOTHING = 0.01
"""A flow "starves completely" with less than this share of the aggregate."""

_OTHERS = {"newreno": "NewReno", "vegas2": "Vegas", "newreno_thin": "NewReno thinned"}
_PLAIN = {"vegas2": "Vegas", "newreno": "NewReno"}


@cache
def _fairer(a: str, b: str) -> Callable[..., Observation]:
    """One is fairer than the other, by at least half of the smallest difference of Tables 3 and 4."""
    printed = {r.point: r.values[JAIN].mean for r in reference.of(PAPER, DESIGN.records()) if JAIN in r.values}
    gains_of = [printed[p._replace(variant=a)] / printed[p] for p in printed if p.variant == b]
    return partial(more, smallest=max(0.0, min(gains_of) - 1))


@claim("P0-A-3", "Vegas is 21 % to 95 % fairer than NewReno (Jain)", hangs=LAYOUT, section=ABSTRACT, tables=(3, 4))
def _(data: Estimates) -> Observations:
    return compare(data, more, EVERYWHERE, "vegas2", "newreno", JAIN, (1.21, 1.95))


@claim("P0-A-4", "With thinning, Vegas is 22 % to 73 % fairer", section=ABSTRACT, tables=(3, 4))
def _(data: Estimates) -> Observations:
    return compare(data, more, EVERYWHERE, "vegas2_thin", "newreno_thin", JAIN, (1.22, 1.73))


@claim(
    "P0-A-9",
    "Vegas with thinning is best: fairest, little less goodput",
    first="in fairness",
    hangs=LAYOUT,
    section=ABSTRACT,
    tables=(3, 4),
)
def _(data: Estimates) -> Observations:
    for v, words in _OTHERS.items():
        yield from against_each(data, _fairer("vegas2_thin", v), EVERYWHERE, "vegas2_thin", {v: words}, JAIN)
    yield from compare(data, at_least, EVERYWHERE, "vegas2_thin", "newreno_thin", GOODPUT, 1 - SLIGHTLY,
                       words="{}, goodput", of="in goodput")  # fmt: skip


@claim(
    "P0-F16-1",
    "At 2 Mbit/s NewReno's aggregate is slightly above that of Vegas",
    hangs=LAYOUT,
    section=GRID,
    figures=(16,),
)
def _(data: Estimates) -> Observations:
    return compare(data, more, flows(*ALL_GRIDS, rates=(2.0,)), "newreno", "vegas2", GOODPUT, (1.0, 1 + SLIGHTLY))


@claim("P0-F16-2", "At 5.5 and 11 Mbit/s both aggregates are almost equal", hangs=LAYOUT, section=GRID, figures=(16,))
def _(data: Estimates) -> Observations:
    return compare(data, equal, flows(*ALL_GRIDS, rates=(5.5, 11.0)), "vegas2", "newreno")


@claim(
    "P0-F16-3",
    "Thinning does not help Vegas at 2 Mbit/s, and more at higher rates",
    first="at 2 Mbit/s",
    hangs=LAYOUT,
    section=GRID,
    figures=(16,),
)
def _(data: Estimates) -> Observations:
    for place in ALL_GRIDS:
        found = gains(data, flows(place), "vegas2_thin", "vegas2")
        yield from (c.of(PLACES[place]) for c in nothing_at_2(found))
        yield from (c.of(PLACES[place]).called("of the gain") for c in in_order(more, found))


@claim("P0-F16-4", "NewReno with thinning has the highest aggregate", section=GRID, figures=(16,))
def _(data: Estimates) -> Observations:
    return against_each(data, more, flows(*ALL_GRIDS), "newreno_thin", {**_PLAIN, "vegas2_thin": "Vegas thinned"})


def _each(data: Estimates, place: str, variant: str) -> list[Estimate]:
    """The goodput of each flow at 11 Mbit/s; none when a run is missing."""
    goodputs = [data.get(Point(variant, 0, 11.0, place), f"flow{f}_bps") for f in range(flows_of(place))]
    return [e for e in goodputs if e is not None] if None not in goodputs else []


def _share(e: Estimate, of: list[Estimate]) -> Estimate:
    return times(e, 1 / sum(o.mean for o in of))


@claim(
    "P0-F17-1",
    "NewReno: flows 1 and 6 get most, the others starve",
    first="flows 1 and 6",
    hangs=LAYOUT,
    section=GRID,
    figures=(17,),
)
def _(data: Estimates) -> Observations:
    for place in GRIDS:
        if own := _each(data, place, "newreno"):
            most = max(own[1:-1], key=lambda e: e.mean)
            for f in (0, len(own) - 1):
                yield more(f"flow {f + 1}, against the best other", own[f], most).of(PLACES[place])
            for f, e in enumerate(own[1:-1], 2):
                starves = below(f"flow {f}", _share(e, own), _SMALL, form=PERCENT)
                yield starves.of(PLACES[place]).called("for the others")


@claim(
    "P0-F17-2",
    "Vegas: flows 1 and 6 leave more to others, the aggregate is the same",
    first="flow by flow",
    hangs=LAYOUT,
    section=GRID,
    figures=(17,),
)
def _(data: Estimates) -> Observations:
    for place in GRIDS:
        newreno, vegas = _each(data, place, "newreno"), _each(data, place, "vegas2")
        for f, (n, v) in enumerate(zip(newreno, vegas, strict=False)):
            yield (less if f in (0, len(vegas) - 1) else more)(f"flow {f + 1}", v, n).of(PLACES[place])
    yield from compare(data, equal, flows(*ALL_GRIDS, rates=(11.0,)), "vegas2", "newreno", words="sum", of="in all")


@claim(
    "P0-F17-3",
    "Thinned Vegas is fairest, and 10 % below thinned NewReno",
    hangs=LAYOUT,
    section=GRID,
    figures=(17,),
    tables=(3,),
)
def _(data: Estimates) -> Observations:
    at = flows(*ALL_GRIDS, rates=(11.0,))
    yield from compare(data, less, at, "vegas2_thin", "newreno_thin", GOODPUT, (0.9, 0.9), words="sum", of="in all")
    yield from against_each(data, more, at, "vegas2_thin", _OTHERS, JAIN, of="in fairness")


@claim(
    "P0-F18-1",
    "Vegas and NewReno are similar, Vegas at most 3 % above at 11 Mbit/s",
    first="at all rates",
    section=RANDOM,
    figures=(18,),
)
def _(data: Estimates) -> Observations:
    yield from compare(data, equal, flows(*ALL_RANDOM), "vegas2", "newreno", GOODPUT, SLIGHTLY)
    at_11 = flows(*ALL_RANDOM, rates=(11.0,))
    most = 1.03 * (1 + READING)
    yield from compare(data, at_most, at_11, "vegas2", "newreno", GOODPUT, most, words="{}, at most 3 %", of="at 11")


@claim("P0-F18-2", "Thinning improves both, more at higher rates", first="at 11 Mbit/s", section=RANDOM, figures=(18,))
def _(data: Estimates) -> Observations:
    for place in ALL_RANDOM:
        for v, name in _PLAIN.items():
            found = gains(data, flows(place, rates=(2.0, 11.0)), f"{v}_thin", v)
            if len(found) == 2:
                yield above(f"{name}, 11 Mbit/s", found["11 Mbit/s"], 1, form=GAIN).of(PLACES[place])
            yield from (c.of(name).of(PLACES[place]).called("of the gain") for c in in_order(more, found))


@claim(
    "P0-F18-3",
    "Thinned NewReno is slightly above thinned Vegas, equal at 11 Mbit/s",
    first="at 2 and 5.5 Mbit/s",
    section=RANDOM,
    figures=(18,),
)
def _(data: Estimates) -> Observations:
    a, b = "newreno_thin", "vegas2_thin"
    yield from compare(data, more, flows(*ALL_RANDOM, rates=(2.0, 5.5)), a, b, GOODPUT, (1.0, 1 + SLIGHTLY))
    yield from compare(data, equal, flows(*ALL_RANDOM, rates=(11.0,)), a, b, of="at 11 Mbit/s")


@claim(
    "P0-F19-1",
    "NewReno: one flow gets the largest share, two starve",
    first="two starve",
    section=RANDOM,
    figures=(19,),
)
def _(data: Estimates) -> Observations:
    # Numbers of flows mean nothing over several placements.
    for place in LISTED:
        if own := _each(data, place, "newreno"):
            shares = sorted((_share(e, own) for e in own), key=lambda e: e.mean)
            yield below("second smallest flow", shares[1], _NOTHING, form=PERCENT).of(PLACES[place])
            largest = above("largest flow, twice its part", shares[-1], 2 / len(own), form=PERCENT)
            yield largest.of(PLACES[place]).called("for one")


@claim(
    "P0-F19-2",
    "Vegas is fairer, thinned Vegas fairest, with thinned NewReno's aggregate",
    first="in fairness",
    section=RANDOM,
    figures=(19,),
    tables=(4,),
)
def _(data: Estimates) -> Observations:
    at = flows(*ALL_RANDOM, rates=(11.0,))
    yield from compare(data, more, at, "vegas2", "newreno", JAIN, words="Vegas fairer than NewReno")
    for v in ("vegas2", "newreno_thin"):
        says = _fairer("vegas2_thin", v)
        yield from compare(data, says, at, "vegas2_thin", v, JAIN, words=f"Vegas thinned fairer than {_OTHERS[v]}")
    yield from compare(data, equal, at, "vegas2_thin", "newreno_thin", words="sum", of="in all")


@claim("P0-T3-1", "Thinning raises fairness", section=GRID, tables=(3, 4))
def _(data: Estimates) -> Observations:
    for v, name in _PLAIN.items():
        says = _fairer(f"{v}_thin", v)
        yield from compare(data, says, EVERYWHERE, f"{v}_thin", v, JAIN, words=f"{name}, {{}}")


@claim("P0-T3-2", "A higher rate raises fairness", section=GRID, tables=(3, 4))
def _(data: Estimates) -> Observations:
    for place in (*ALL_GRIDS, *ALL_RANDOM):
        for v, name in (*_OTHERS.items(), ("vegas2_thin", "Vegas thinned")):
            found = dict(each(data, flows(place), v, JAIN))
            yield from (c.of(name).of(PLACES[place]) for c in in_order(more, found))
