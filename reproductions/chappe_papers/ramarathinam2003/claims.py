"""The claims of the paper, in the order of its tables, and its conclusions."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from chappe_papers.judging.claims import Claims, Finding
from chappe_papers.judging.judge import GAIN, SLIGHTLY, Form, Observation, Range, above, below, equal, less, more
from chappe_papers.ramarathinam2003.consistency import Medians, ahead, at_most
from chappe_papers.ramarathinam2003.design import GAP, HANDLED, LAST, OF_TCP, PER_BIT, SEGMENTS
from chappe_papers.ramarathinam2003.points import COMBINATIONS, MAIN, RATE, RATES, ROUTINGS, VARIANTS, Point
from chappe_papers.ramarathinam2003.points import READINGS as READINGS_OF
from chappe_papers.ramarathinam2003.printed import LOADS, TABLE_I, segments_of_single_runs
from chappe_papers.runs.estimates import Asked, Estimates


def _chose(asked: frozenset[Asked]) -> bool:
    """The times of the last packets have chosen the data rate (:mod:`chappe_papers.ramarathinam2003.likelihood`)."""
    return len(asked) == 1 and all(measure in LAST.values() for _, measure in asked)


CLAIMS = Claims(_chose)
claim = CLAIMS.claim
Observations = Iterator[Observation]

THROUGHPUT, ENERGY = "IV A: throughput", "IV B: energy and packets"

SHORT = ("light", "moderate", "heavy")


CONSISTENT = Point("reno", "dsr")
"""The combination that the paper recommends."""

AHEAD_OF_SACK = {"light": 1, "moderate": 1, "heavy": 0, "internet": 0}
"""Number of versions of TCP that are better than SACK in Table I by load, each with its best routing."""

PLACES = Form(unit="ranks behind it", signed=True, places=1)
"""Distances of the mean ranks of others from that of one."""

VERSIONS = Form(unit="versions ahead of SACK", places=0)
TIME = Form(unit="s", places=1)
LATER = Form(unit="s", signed=True, places=1)
FINE = replace(GAIN, places=1)
"""A ratio as what one has more, for small differences."""


def name(p: Point) -> str:
    """A combination in words."""
    return f"{VARIANTS[p.variant]} with {ROUTINGS[p.routing]}"


def _compared(
    data: Estimates, best: Point, others: Iterator[Point], measure: str, paper: Range | None = None
) -> Observations:
    """A combination has more than others."""
    for other in others:
        for a, b in data.both(best, other, measure):
            yield more(f"against {name(other)}", a, b, paper)


def _others(*best: Point) -> Iterator[Point]:
    return (p for p in COMBINATIONS if p not in best)


@claim("P1-T1-1", "Reno with DSR beats Reno with other routing in all short transfers", section=THROUGHPUT, tables=(1,))
def _(data: Estimates) -> Observations:
    for load in SHORT:
        others = (Point("reno", r) for r in ("aodv", "dsdv"))
        yield from (c.of(load) for c in _compared(data, Point("reno", "dsr"), others, SEGMENTS[load]))


@claim("P1-T1-2", "The long transfer of Reno is independent of routing", section=THROUGHPUT, tables=(1,))
def _(data: Estimates) -> Observations:
    for a, b in (("aodv", "dsr"), ("aodv", "dsdv"), ("dsr", "dsdv")):
        for x, y in data.both(Point("reno", a), Point("reno", b), SEGMENTS["internet"]):
            yield equal(f"{ROUTINGS[a]} and {ROUTINGS[b]}", x, y)


@claim("P1-T1-3", "Under light load Tahoe with AODV is best", section=THROUGHPUT, figures=(3,), tables=(1,))
def _(data: Estimates) -> Observations:
    yield from _compared(data, (best := Point("tahoe", "aodv")), _others(best), SEGMENTS["light"])


@claim("P1-T1-4", "Under moderate load Reno with DSR is best", section=THROUGHPUT, figures=(4,), tables=(1,))
def _(data: Estimates) -> Observations:
    yield from _compared(data, (best := Point("reno", "dsr")), _others(best), SEGMENTS["moderate"])


@claim("P1-T1-5", "Heavy load: Tahoe and Reno with DSR, SACK with AODV are best", section=THROUGHPUT, figures=(5,),
       tables=(1,), fresh=18)  # fmt: skip
def _(data: Estimates) -> Observations:
    best = (Point("tahoe", "dsr"), Point("reno", "dsr"), Point("sack", "aodv"))
    for p in best:
        yield from (c.of(name(p)) for c in _compared(data, p, _others(*best), SEGMENTS["heavy"]))


@claim("P1-T1-6", "The long transfer is best with SACK and AODV", section=THROUGHPUT, figures=(6,), tables=(1,))
def _(data: Estimates) -> Observations:
    yield from _compared(data, (best := Point("sack", "aodv")), _others(best), SEGMENTS["internet"])


@claim("P1-T1-7", "DSDV is mostly worse than AODV and DSR", section=THROUGHPUT, tables=(1,))
def _(data: Estimates) -> Observations:
    for load in LOADS:
        for v in VARIANTS:
            for r in ("aodv", "dsr"):
                for own, other in data.both(Point(v, "dsdv"), Point(v, r), SEGMENTS[load]):
                    fewer = less(f"{VARIANTS[v]}, against {ROUTINGS[r]}", own, other)
                    yield fewer.of(load)


@claim("P1-T1-8", "SACK is second under light and moderate load, best in the others", section=THROUGHPUT,
       tables=(1,))  # fmt: skip
def _(data: Estimates) -> Observations:
    if medians := Medians.of(data, COMBINATIONS):
        for load, e in medians.ahead_of("sack").items():
            yield at_most(load, e, AHEAD_OF_SACK[load], VERSIONS)


@claim("P1-T1-9", "Transfers reach fewer segments under heavy than under light load", section=THROUGHPUT, tables=(1,))
def _(data: Estimates) -> Observations:
    for p in COMBINATIONS:
        heavy, light = (data.get(p, SEGMENTS[load]) for load in ("heavy", "light"))
        if heavy is not None and light is not None:
            row = TABLE_I[p[:2]]
            fewer = less(name(p), heavy, light, (row[2] / row[0], row[2] / row[0]))
            yield fewer


@claim("P1-T1-10", "Reno with DSR is the most consistent: it has the best mean rank over the loads", section=THROUGHPUT,
       tables=(1,))  # fmt: skip
def _(data: Estimates) -> Observations:
    if medians := Medians.of(data, COMBINATIONS):
        for other, e in medians.behind(CONSISTENT).items():
            yield ahead(name(other), e, PLACES)


@claim("P1-T1-11", "The numbers of Table I are those of single runs", section=THROUGHPUT, tables=(1,))
def _(data: Estimates) -> Observations:
    yield from segments_of_single_runs(data, "Table I as a whole")


@claim("P1-T2-1", "The last packets of all combinations come at nearly the same time", section=ENERGY, tables=(2,))
def _(data: Estimates) -> Observations:
    first, *others = COMBINATIONS
    for n, measure in LAST.items():
        for p in others:
            for a, b in data.both(p, first, measure):
                yield replace(equal(name(p), a, b, 0.01), form=FINE).of(f"node {n}")


@claim("P1-T2-2", "Node 0 ends before node 4 (the text; its Table II has it later)", section=ENERGY, tables=(2,))
def _(data: Estimates) -> Observations:
    for p in COMBINATIONS:
        if (e := data.get(p, GAP)) is not None:
            yield below(name(p), e, 0, form=LATER)


@claim("P1-T2-3", "The last packets come at 465.7 s or later", section=ENERGY, tables=(2,))
def _(data: Estimates) -> Observations:
    earliest, latest = 465.7, 470.0
    for p in COMBINATIONS:
        for n, measure in LAST.items():
            if (e := data.get(p, measure)) is not None:
                yield above(name(p), e, earliest, (earliest, latest), TIME).of(f"node {n}")


@claim("P1-E-1", "AODV sends and receives most packets, then DSDV, then DSR; differences are small",
       section=ENERGY)  # fmt: skip
def _(data: Estimates) -> Observations:
    for v in VARIANTS:
        for a, b in (("aodv", "dsdv"), ("dsdv", "dsr")):
            for x, y in data.both(Point(v, a), Point(v, b), HANDLED):
                slightly = more(f"{VARIANTS[v]}, {ROUTINGS[a]} and {ROUTINGS[b]}", x, y, (1.0, 1 + SLIGHTLY))
                yield slightly


@claim(
    "P1-E-2",
    "Proactive routing takes more energy; any reactive protocol takes as much with any TCP",
    first="proactive against reactive",
    section=ENERGY,
)
def _(data: Estimates) -> Observations:
    reactive = [Point(v, r) for v in VARIANTS for r in ("aodv", "dsr")]
    for v in VARIANTS:
        for r in ("aodv", "dsr"):
            for x, y in data.both(Point(v, "dsdv"), Point(v, r), PER_BIT):
                yield more(f"{VARIANTS[v]}, DSDV against {ROUTINGS[r]}", x, y)
    first, *others = reactive
    for p in others:
        for x, y in data.both(p, first, PER_BIT):
            yield equal(f"{name(p)} against {name(first)}", x, y).called("between reactive ones")


@claim("P1-E-3", "Without its updates DSDV would send fewer packets than DSR", section=ENERGY)
def _(data: Estimates) -> Observations:
    for v in VARIANTS:
        own, other = data.get(Point(v, "dsdv"), OF_TCP), data.get(Point(v, "dsr"), HANDLED)
        if own is not None and other is not None:
            yield less(VARIANTS[v], own, other)


ALL = CLAIMS.all
"""All claims."""

FINDINGS = (
    Finding(
        "Reno with DSR is the most consistent",
        "+1.0 to +5.6 ranks behind it",
        ("P1-T1-10", "P1-T1-1"),
        "runs of one combination differ more than most combinations do, and DSR's queue slows the long transfer",
    ),
    Finding(
        "SACK is perhaps the best TCP",
        "0 to 1 versions ahead of SACK",
        ("P1-T1-8",),
        "runs of one version of TCP differ more than versions do",
    ),
    Finding(
        "Reactive routing is better than proactive",
        "-53 to +44 %",
        ("P1-T1-7",),
        "nothing moves, and all nodes are neighbors; DSR's queue matters more than routing",
        of="segments with DSDV compared with reactive routing",
    ),
    Finding(
        "Transfers reach fewer segments under heavy load",
        "-62 to +12 %",
        ("P1-T1-9",),
        "eight to ten more uploads share the medium, and the queues of the mesh grow",
        of="segments compared with those under light load",
    ),
    Finding(
        "The best are Tahoe with AODV (light), Reno with DSR (moderate)",
        "+5 to +150 %",
        ("P1-T1-3", "P1-T1-4"),
        "the ranking of single runs is chance",
        of="segments compared with other combinations",
    ),
    Finding(
        "Batteries last equally long with all combinations",
        "-0.3 to +0.6 %",
        ("P1-T2-1",),
        "battery life depends only on how long the channel is busy",
        of="time of the last packet compared with Tahoe and AODV",
    ),
    Finding(
        "Batteries last until 466 to 470 s",
        "465.7 to 470.0 s",
        ("P1-T2-3",),
        "the paper does not name the data rate; these times have chosen it",
        of="time of the last packet",
    ),
    Finding(
        "AODV sends most packets, DSR fewest",
        '+0 to +10 % ("really small")',
        ("P1-E-1",),
        "DSR's queue lets acknowledgements overtake data",
        of="packets of one protocol compared with the next",
    ),
    Finding(
        "To save energy, avoid proactive routing; any reactive protocol will do",
        "no number",
        ("P1-E-2",),
        "the medium is busy in any case, and updates are few compared with TCP's packets",
        of="energy per bit with DSDV compared with reactive routing",
    ),
)
"""Conclusions of the paper."""


def _reading(reading: str) -> Callable[[Point], Point | None]:
    # DSR has this queue in any case.
    return lambda p: p._replace(reading=reading) if p.reading == MAIN else None


def _rate(rate: float) -> Callable[[Point], Point | None]:
    return lambda p: p._replace(rate_mbps=rate) if p.reading == MAIN else None


READINGS = {f"{rate:g} Mbit/s": _rate(rate) for rate in RATES if rate != RATE} | {
    text: _reading(n) for n, (text, _) in READINGS_OF.items()
}
"""Readings that change one thing of the main one."""
