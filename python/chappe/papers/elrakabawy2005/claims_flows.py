"""Claims on several flows: Figures 16 to 19, Tables 3 and 4."""

import itertools
from collections.abc import Callable

from chappe.papers.elrakabawy2005.looks import GOODPUT, JAIN
from chappe.papers.elrakabawy2005.points import DRAWN, GRIDS, LISTED, MAIN_GRID, RATES, Point, flows_of
from chappe.papers.looks import MissingError, look, percent, take
from chappe.papers.paper import Check, Claim, Look, Table, about, above, alike, below, between, every, more, negated
from chappe.show import number
from chappe.stats import Estimate, ratio

Found = tuple[str, list[Check]]

RANDOM = (*LISTED, *DRAWN)
"""Random topologies on which a claim is checked."""

_BRIEF = {**dict(zip(GRIDS, "CAB", strict=True)), "random120_1": "placement 1", "random120_2": "placement 2",
          "uniform": "drawn, any pairs", "far": "drawn, 4 to 8 hops"}  # fmt: skip


def _at(data: Table, place: str, variant: str, rate: float, name: str = GOODPUT) -> Estimate:
    return take(data, Point(variant, 0, rate, place), name)


def _grid(found: Callable[[Table, str], Found]) -> Callable[[Table], Look]:
    return look(lambda data: found(data, MAIN_GRID))


def _random(found: Callable[[Table, str], Found]) -> Callable[[Table], Look]:
    """The same on every random topology of the data."""

    @look
    def each(data: Table) -> Found:
        parts, checks = [], []
        for place in RANDOM:
            if Point("newreno", 0, 2.0, place) in data.values:
                text, own = found(data, place)
                parts.append(f"{_BRIEF[place]}: {text}")
                checks += own
        if not parts:
            raise MissingError
        return "; ".join(parts), checks

    return each


def _ratio(data: Table, place: str, a: str, b: str, rate: float, name: str = GOODPUT) -> Estimate:
    """How much more one variant has than another; over drawn places the mean of the ratios of each of them."""
    if place not in DRAWN:
        return ratio(_at(data, place, a, rate, name), _at(data, place, b, rate, name))
    found = []
    draw = 1
    while (own := data.get(Point(a, 0, rate, place, draw), name)) is not None:
        found.append(own.mean / take(data, Point(b, 0, rate, place, draw), name).mean)
        draw += 1
    if not found:
        raise MissingError
    return Estimate.of(found)


def _ratios(data: Table, place: str, a: str, b: str, name: str = GOODPUT) -> list[Estimate]:
    return [_ratio(data, place, a, b, r, name) for r in RATES]


def _words(ratios: list[Estimate]) -> str:
    return ", ".join(percent(r) for r in ratios)


def _newreno_above(data: Table, place: str) -> Found:
    gain = _ratio(data, place, "newreno", "vegas2", 2.0)
    return f"NewReno {percent(gain)} on Vegas at 2 Mbit/s", [above(gain, 1)]


def _almost_equal(data: Table, place: str) -> Found:
    gains = [_ratio(data, place, "vegas2", "newreno", r) for r in RATES[1:]]
    return f"Vegas {_words(gains)} on NewReno at 5.5 and 11 Mbit/s", [about(g, 1, 0.05) for g in gains]


def _no_gain_at_2(data: Table, place: str) -> Found:
    gains = _ratios(data, place, "vegas2_thin", "vegas2")
    checks = [negated(above(gains[0], 1.05)), *(more(b, a) for a, b in itertools.pairwise(gains))]
    return f"thinning gives Vegas {_words(gains)} at 2, 5.5 and 11 Mbit/s", checks


def _highest(data: Table, place: str) -> Found:
    parts, checks = [], []
    for r in RATES:
        best = _at(data, place, "newreno_thin", r)
        others = {v: _at(data, place, v, r) for v in ("newreno", "vegas2", "vegas2_thin")}
        second = max(others, key=lambda v: others[v].mean)
        parts.append(f"{number(best.mean, 4)} against at most {number(others[second].mean, 4)} kbit/s at {r:g} Mbit/s")
        checks.append(every([more(best, e) for e in others.values()]))
    return "NewReno with thinning " + "; ".join(parts), checks


def _flows(data: Table, place: str, variant: str) -> list[Estimate]:
    return [_at(data, place, variant, 11.0, f"goodput_kbps_flow{f}") for f in range(flows_of(place))]


def _listed(flows: list[Estimate]) -> str:
    return ", ".join(number(e.mean, 3) for e in flows)


def _winners(data: Table, place: str) -> Found:
    flows = _flows(data, place, "newreno")
    others = flows[1:-1]
    aggregate = sum(e.mean for e in flows)
    most = max(others, key=lambda e: e.mean)
    starved = [below(e, 0.05 * aggregate) for e in others]
    text = f"NewReno, flows 1 to {len(flows)}: {_listed(flows)} kbit/s"
    return text, [every([more(flows[0], most), more(flows[-1], most)]), every(starved)]


def _give_up(data: Table, place: str) -> Found:
    newreno, vegas = _flows(data, place, "newreno"), _flows(data, place, "vegas2")
    total = [_at(data, place, v, 11.0) for v in ("vegas2", "newreno")]
    rest = [more(v, n) for v, n in zip(vegas[1:-1], newreno[1:-1], strict=True)]
    text = f"Vegas: {_listed(vegas)} kbit/s; aggregate {percent(ratio(*total))}"
    gives = every([more(newreno[0], vegas[0]), more(newreno[-1], vegas[-1])])
    return text, [gives, every(rest), alike(total[0], total[1])]


def _tenth_below(data: Table, place: str) -> Found:
    r = ratio(_at(data, place, "vegas2_thin", 11.0), _at(data, place, "newreno_thin", 11.0))
    jain = {v: _at(data, place, v, 11.0, JAIN) for v in ("vegas2_thin", "newreno", "vegas2", "newreno_thin")}
    best, *others = jain.values()
    text = f"{percent(r)} at 11 Mbit/s; Jain's index {best.mean:.2f} against at most {max(o.mean for o in others):.2f}"
    return text, [between(r, 0.85, 0.95), every([more(best, o) for o in others])]


def _similar(data: Table, place: str) -> Found:
    gains = _ratios(data, place, "vegas2", "newreno")
    return f"Vegas {_words(gains)}", [about(g, 1, 0.1) for g in gains] + [negated(above(gains[-1], 1.03))]


def _improves(data: Table, place: str) -> Found:
    parts, checks = [], []
    for v, name in (("vegas2", "Vegas"), ("newreno", "NewReno")):
        gains = _ratios(data, place, f"{v}_thin", v)
        parts.append(f"{name} {_words(gains)}")
        checks += [more(gains[-1], gains[0]), above(gains[-1], 1)]
    return " and ".join(parts), checks


def _thinned(data: Table, place: str) -> Found:
    gains = _ratios(data, place, "newreno_thin", "vegas2_thin")
    text = f"NewReno with thinning {_words(gains)} on Vegas with thinning"
    return text, [above(gains[0], 1), above(gains[1], 1), about(gains[2], 1, 0.05)]


def _starved(data: Table, place: str) -> Found:
    if place in DRAWN:
        # Flow numbers mean nothing over several placements.
        return "flows differ from draw to draw", []
    flows = _flows(data, place, "newreno")
    aggregate = sum(e.mean for e in flows)
    top = max(flows, key=lambda e: e.mean)
    starved = [below(e, 0.01 * aggregate) for e in flows]
    text = (
        f"flow {flows.index(top) + 1} has {100 * top.mean / aggregate:.0f} % of {number(aggregate, 4)} kbit/s, "
        f"{sum(s is True for s in starved)} of {len(flows)} flows have less than 1 %"
    )
    return text, [above(top, 2 * aggregate / len(flows)), sum(s is True for s in starved) >= 2]


_PAIRS = (("vegas2", "newreno"), ("vegas2_thin", "vegas2"), ("vegas2_thin", "newreno"), ("vegas2_thin", "newreno_thin"))


def _fairest(data: Table, place: str) -> Found:
    jain = {v: _at(data, place, v, 11.0, JAIN) for v in ("vegas2", "newreno", "vegas2_thin", "newreno_thin")}
    v, n, vt, nt = jain.values()
    same = _ratio(data, place, "vegas2_thin", "newreno_thin", 11.0)
    fairer = [_ratio(data, place, a, b, 11.0, JAIN) for a, b in _PAIRS]
    text = (
        f"Jain's index Vegas {v.mean:.2f}, NewReno {n.mean:.2f}, with thinning {vt.mean:.2f} and {nt.mean:.2f}; "
        f"aggregate of Vegas with thinning {percent(same)}"
    )
    return text, [above(fairer[0], 1), every([above(f, 1) for f in fairer[1:]]), about(same, 1, 0.05)]


def _fairer(data: Table, a: str, b: str, low: float, high: float) -> Found:
    parts, checks = [], []
    for place in (MAIN_GRID, *RANDOM):
        try:
            gains = _ratios(data, place, a, b, JAIN)
        except MissingError:
            continue
        parts.append(f"{'grid' if place == MAIN_GRID else _BRIEF[place]}: {_words(gains)}")
        # Numbers that are rounded to per cent.
        checks += [between(g, 0.995 + low, 1.005 + high) for g in gains]
    if not parts:
        raise MissingError
    return f"Jain's index at 2, 5.5 and 11 Mbit/s: {'; '.join(parts)}", checks


@look
def _vegas_fairer(data: Table) -> Found:
    return _fairer(data, "vegas2", "newreno", 0.21, 0.95)


@look
def _vegas_thin_fairer(data: Table) -> Found:
    return _fairer(data, "vegas2_thin", "newreno_thin", 0.22, 0.73)


FLOW_CLAIMS: tuple[Claim, ...] = (
    Claim(
        "P0-A-3", "The fairness of Vegas is 21 % to 95 % better than that of NewReno", _vegas_fairer, (), (3, 4)
    ),
    Claim(
        "P0-A-4",
        "With thinning, the fairness of Vegas is 22 % to 73 % better than that of NewReno (the conclusion says 24 %)",
        _vegas_thin_fairer,
        (),
        (3, 4),
    ),
    Claim("P0-F16-1", "Grid, 2 Mbit/s: the aggregate of NewReno is slightly above that of Vegas", _grid(_newreno_above),
          (16,)),
    Claim("P0-F16-2", "Grid, 5.5 and 11 Mbit/s: the aggregates are almost equal", _grid(_almost_equal), (16,)),
    Claim("P0-F16-3", "Grid: thinning gives Vegas nothing at 2 Mbit/s, and more with every rate", _grid(_no_gain_at_2),
          (16,)),
    Claim("P0-F16-4", "Grid: NewReno with thinning has the highest aggregate", _grid(_highest), (16,)),
    Claim("P0-F17-1", "Grid, 11 Mbit/s, NewReno: flows 1 and 6 get most, the others basically starve", _grid(_winners),
          (17,)),
    Claim(
        "P0-F17-2",
        "Grid, 11 Mbit/s: with Vegas flows 1 and 6 leave more to the others; the aggregate is almost that of NewReno",
        _grid(_give_up),
        (17,),
    ),
    Claim(
        "P0-F17-3",
        "Grid, 11 Mbit/s: Vegas with thinning is only 10 % below NewReno with thinning and has the best fairness",
        _grid(_tenth_below),
        (17,),
        (3,),
    ),
    Claim(
        "P0-F18-1",
        "Random: aggregates of Vegas and NewReno are similar at all rates, Vegas at most 3 % above at 11 Mbit/s",
        _random(_similar),
        (18,),
    ),
    Claim("P0-F18-2", "Random: thinning improves both with growing rate", _random(_improves), (18,)),
    Claim(
        "P0-F18-3",
        "Random: NewReno with thinning is slightly above Vegas with thinning at 2 and 5.5 Mbit/s, the same at 11",
        _random(_thinned),
        (18,),
    ),
    Claim(
        "P0-F19-1",
        "Random, 11 Mbit/s, NewReno: one flow gets the largest share, two starve completely",
        _random(_starved),
        (19,),
    ),
    Claim(
        "P0-F19-2",
        "Random, 11 Mbit/s: Vegas is fairer; Vegas with thinning is fairest, with the aggregate of NewReno with "
        "thinning",
        _random(_fairest),
        (19,),
        (4,),
    ),
)  # fmt: skip
"""Claims on Figures 16 to 19 and on fairness."""
