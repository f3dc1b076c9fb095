"""Claims on several flows: Figures 16 to 19, Tables 3 and 4. The layout of the grid is unknown: three are tried."""

import itertools
from collections.abc import Iterator

from chappe.papers.elrakabawy2005.design import JAIN
from chappe.papers.elrakabawy2005.points import DRAWN, GRIDS, PLACES, Point, flows_of
from chappe.papers.elrakabawy2005.said import (  # fmt: skip
    ABSTRACT,
    ALL_GRIDS,
    ALL_RANDOM,
    GRID,
    RANDOM,
    claim,
    flows,
    gains,
    pairs,
)
from chappe.papers.judge import (  # fmt: skip
    ALMOST_EQUAL,
    GAIN,
    PERCENT,
    READING,
    SLIGHTLY,
    Case,
    above,
    below,
    equal,
    less,
    more,
)
from chappe.papers.table import Table
from chappe.stats import Estimate

Cases = Iterator[Case]

_SMALL = 0.05
"""A flow "basically starves" with less than this share of the aggregate."""
_NOTHING = 0.01
"""It "starves completely" with less than this."""

_OTHERS = {"newreno": "NewReno", "vegas2": "Vegas", "newreno_thin": "NewReno thinned"}


def _fairer(data: Table, a: str, b: str, paper: tuple[float, float]) -> Cases:
    for place, at in flows(*ALL_GRIDS, *ALL_RANDOM).items():
        for where, x, y in pairs(data, at, a, b, JAIN):
            yield more(where, x, y, paper).of(place)


@claim("P0-A-3", "Vegas is 21 % to 95 % fairer than NewReno (Jain)", section=ABSTRACT, tables=(3, 4))
def _(data: Table) -> Cases:
    return _fairer(data, "vegas2", "newreno", (1.21, 1.95))


@claim("P0-A-4", "With thinning, Vegas is 22 % to 73 % fairer", section=ABSTRACT, tables=(3, 4))
def _(data: Table) -> Cases:
    return _fairer(data, "vegas2_thin", "newreno_thin", (1.22, 1.73))


@claim("P0-A-9", "Vegas with thinning is best: fairest, little less goodput", section=ABSTRACT, tables=(3, 4))
def _(data: Table) -> Cases:
    for place, at in flows(*ALL_GRIDS, *ALL_RANDOM).items():
        for v, name in _OTHERS.items():
            for where, own, other in pairs(data, at, "vegas2_thin", v, JAIN):
                yield more(f"{where}, fairer than {name}", own, other).of(place)
        for where, e in gains(data, at, "vegas2_thin", "newreno_thin").items():
            yield above(f"{where}, goodput", e, 1 - SLIGHTLY, form=GAIN).of(place)


@claim("P0-F16-1", "At 2 Mbit/s NewReno has slightly more in all than Vegas", section=GRID, figures=(16,))
def _(data: Table) -> Cases:
    for place, at in flows(*ALL_GRIDS, rates=(2.0,)).items():
        for where, newreno, vegas in pairs(data, at, "newreno", "vegas2"):
            yield more(where, newreno, vegas, (1.0, 1 + SLIGHTLY)).of(place)


@claim("P0-F16-2", "At 5.5 and 11 Mbit/s the two are almost equal", section=GRID, figures=(16,))
def _(data: Table) -> Cases:
    for place, at in flows(*ALL_GRIDS, rates=(5.5, 11.0)).items():
        for where, vegas, newreno in pairs(data, at, "vegas2", "newreno"):
            yield equal(where, vegas, newreno).of(place)


@claim("P0-F16-3", "Thinning gives Vegas nothing at 2 Mbit/s, more with the rate", section=GRID, figures=(16,))
def _(data: Table) -> Cases:
    for place, at in flows(*ALL_GRIDS).items():
        found = gains(data, at, "vegas2_thin", "vegas2")
        if "2 Mbit/s" in found:
            yield below("2 Mbit/s", found["2 Mbit/s"], 1 + ALMOST_EQUAL, form=GAIN).of(place)
        for a, b in itertools.pairwise(found):
            yield more(f"{b} beside {a}", found[b], found[a]).of(place)


@claim("P0-F16-4", "NewReno with thinning has the highest aggregate", section=GRID, figures=(16,))
def _(data: Table) -> Cases:
    for place, at in flows(*ALL_GRIDS).items():
        for v in ("newreno", "vegas2", "vegas2_thin"):
            for where, best, other in pairs(data, at, "newreno_thin", v):
                yield more(f"{where}, beside {_OTHERS.get(v, 'Vegas thinned')}", best, other).of(place)


def _each(data: Table, place: str, variant: str) -> list[Estimate]:
    """The goodput of each flow at 11 Mbit/s; none when a run is missing."""
    found = [data.get(Point(variant, 0, 11.0, place), f"flow{f}_bps") for f in range(flows_of(place))]
    return [e for e in found if e is not None] if None not in found else []


def _share(e: Estimate, of: list[Estimate]) -> Estimate:
    total = sum(o.mean for o in of)
    return Estimate(e.mean / total, e.variance / total**2, e.df)


@claim("P0-F17-1", "NewReno: flows 1 and 6 get most, the others starve", section=GRID, figures=(17,))
def _(data: Table) -> Cases:
    for place in GRIDS:
        if own := _each(data, place, "newreno"):
            most = max(own[1:-1], key=lambda e: e.mean)
            for f in (0, len(own) - 1):
                yield more(f"flow {f + 1}, beside the best other", own[f], most).of(PLACES[place])
            for f, e in enumerate(own[1:-1], 2):
                yield below(f"flow {f}", _share(e, own), _SMALL, form=PERCENT).of(PLACES[place])


@claim("P0-F17-2", "Vegas: flows 1 and 6 leave more to others, the sum stays", section=GRID, figures=(17,))
def _(data: Table) -> Cases:
    for place in GRIDS:
        newreno, vegas = _each(data, place, "newreno"), _each(data, place, "vegas2")
        for f, (n, v) in enumerate(zip(newreno, vegas, strict=False)):
            yield (less if f in (0, len(vegas) - 1) else more)(f"flow {f + 1}", v, n).of(PLACES[place])
        for _, v, n in pairs(data, flows(place, rates=(11.0,))[PLACES[place]], "vegas2", "newreno"):
            yield equal("sum", v, n).of(PLACES[place])


@claim("P0-F17-3", "Thinned Vegas: fairest, 10 % below thinned NewReno", section=GRID, figures=(17,), tables=(3,))
def _(data: Table) -> Cases:
    for place, at in flows(*ALL_GRIDS, rates=(11.0,)).items():
        for _, vegas, newreno in pairs(data, at, "vegas2_thin", "newreno_thin"):
            yield less("sum", vegas, newreno, (0.9, 0.9)).of(place)
        for v, name in _OTHERS.items():
            for _, own, other in pairs(data, at, "vegas2_thin", v, JAIN):
                yield more(f"fairer than {name}", own, other).of(place)


@claim("P0-F18-1", "Vegas and NewReno are similar, Vegas at most 3 % above at 11", section=RANDOM, figures=(18,))
def _(data: Table) -> Cases:
    for place, at in flows(*ALL_RANDOM).items():
        for where, vegas, newreno in pairs(data, at, "vegas2", "newreno"):
            yield equal(where, vegas, newreno, SLIGHTLY).of(place)
        if (e := gains(data, at, "vegas2", "newreno").get("11 Mbit/s")) is not None:
            yield below("11 Mbit/s, at most 3 % more", e, 1.03 * (1 + READING), form=GAIN).of(place)


@claim("P0-F18-2", "Thinning improves both, more with the rate", section=RANDOM, figures=(18,))
def _(data: Table) -> Cases:
    for place, at in flows(*ALL_RANDOM).items():
        for v, name in (("vegas2", "Vegas"), ("newreno", "NewReno")):
            found = gains(data, at, f"{v}_thin", v)
            if {"2 Mbit/s", "11 Mbit/s"} <= found.keys():
                yield above(f"{name}, 11 Mbit/s", found["11 Mbit/s"], 1, form=GAIN).of(place)
                yield more(f"{name}, 11 beside 2 Mbit/s", found["11 Mbit/s"], found["2 Mbit/s"]).of(place)


@claim("P0-F18-3", "Thinned NewReno slightly above thinned Vegas, the same at 11", section=RANDOM, figures=(18,))
def _(data: Table) -> Cases:
    for place, at in flows(*ALL_RANDOM).items():
        for where, newreno, vegas in pairs(data, at, "newreno_thin", "vegas2_thin"):
            last = where == "11 Mbit/s"
            yield (equal(where, newreno, vegas) if last else more(where, newreno, vegas, (1.0, 1 + SLIGHTLY))).of(place)


@claim("P0-F19-1", "NewReno: one flow gets the largest share, two starve", section=RANDOM, figures=(19,))
def _(data: Table) -> Cases:
    for place in ALL_RANDOM:
        # Numbers of flows mean nothing over several placements.
        if place not in DRAWN and (own := _each(data, place, "newreno")):
            shares = sorted((_share(e, own) for e in own), key=lambda e: e.mean)
            yield below("second smallest flow", shares[1], _NOTHING, form=PERCENT).of(PLACES[place])
            yield above("largest flow, twice its part", shares[-1], 2 / len(own), form=PERCENT).of(PLACES[place])


@claim("P0-F19-2", "Vegas is fairer, thinned fairest, with thinned NewReno's sum", section=RANDOM, figures=(19,),
       tables=(4,))  # fmt: skip
def _(data: Table) -> Cases:
    for place, at in flows(*ALL_RANDOM, rates=(11.0,)).items():
        for a, b in (("vegas2", "newreno"), ("vegas2_thin", "vegas2"), ("vegas2_thin", "newreno_thin")):
            for _, x, y in pairs(data, at, a, b, JAIN):
                yield more(f"{a} fairer than {b}", x, y).of(place)
        for _, x, y in pairs(data, at, "vegas2_thin", "newreno_thin"):
            yield equal("sum", x, y).of(place)


@claim("P0-T3-1", "Thinning raises fairness", section=GRID, tables=(3, 4))
def _(data: Table) -> Cases:
    for place, at in flows(*ALL_GRIDS, *ALL_RANDOM).items():
        for v, name in (("vegas2", "Vegas"), ("newreno", "NewReno")):
            for where, thin, plain in pairs(data, at, f"{v}_thin", v, JAIN):
                yield more(f"{name}, {where}", thin, plain).of(place)


@claim("P0-T3-2", "A higher rate raises fairness", section=GRID, tables=(3, 4))
def _(data: Table) -> Cases:
    for place, at in flows(*ALL_GRIDS, *ALL_RANDOM).items():
        for v, name in (*_OTHERS.items(), ("vegas2_thin", "Vegas thinned")):
            found = {where: data.get(p._replace(variant=v), JAIN) for where, p in at.items()}
            for a, b in itertools.pairwise(found):
                low, high = found[a], found[b]
                if low is not None and high is not None:
                    yield more(f"{name}, {b} beside {a}", high, low).of(place)
