"""The claims of the paper, in the order of its tables, and its conclusions."""

from collections.abc import Callable, Iterator

from chappe.stats import Estimate

from chappe_papers.claims import Claims, Finding
from chappe_papers.estimates import Estimates
from chappe_papers.judge import SLIGHTLY, Observation, Range, above, among, below, equal, less, more
from chappe_papers.ramarathinam2003.design import EVENNESS, GAP, HANDLED, LAST, OF_TCP, PER_BIT, SEGMENTS
from chappe_papers.ramarathinam2003.points import COMBINATIONS, MAIN, ROUTINGS, VARIANTS, Point
from chappe_papers.ramarathinam2003.points import READINGS as READINGS_OF

CLAIMS = Claims()
claim = CLAIMS.claim
Observations = Iterator[Observation]

THROUGHPUT, ENERGY = "IV A: throughput", "IV B: energy and packets"
SHORT = ("light", "moderate", "heavy")

TABLE_I = {
    ("tahoe", "aodv"): (500, 350, 285, 850), ("tahoe", "dsr"): (300, 300, 300, 850),
    ("tahoe", "dsdv"): (250, 350, 225, 950), ("reno", "dsr"): (400, 370, 300, 1000),
    ("reno", "aodv"): (200, 300, 225, 1000), ("reno", "dsdv"): (200, 300, 190, 1000),
    ("newreno", "aodv"): (450, 250, 170, 1000), ("newreno", "dsr"): (325, 275, 200, 1000),
    ("newreno", "dsdv"): (325, 310, 150, 1200), ("sack", "dsr"): (475, 250, 210, 900),
    ("sack", "aodv"): (280, 340, 300, 1400), ("sack", "dsdv"): (225, 360, 240, 800),
}  # fmt: skip
"""Segments that the paper's runs reach: light, moderate and heavy load, and to the Internet."""

TABLE_II = {
    ("tahoe", "dsr"): (466.60, 465.75), ("tahoe", "dsdv"): (468.35, 467.56), ("tahoe", "aodv"): (467.13, 467.07),
    ("reno", "dsr"): (466.28, 465.70), ("reno", "dsdv"): (470.00, 468.78), ("reno", "aodv"): (468.58, 467.15),
    ("newreno", "dsr"): (467.24, 465.84), ("newreno", "dsdv"): (470.00, 467.53), ("newreno", "aodv"): (468.65, 466.76),
    ("sack", "dsr"): (470.00, 465.92), ("sack", "dsdv"): (468.20, 467.46), ("sack", "aodv"): (468.48, 467.00),
}  # fmt: skip
"""Time of the last packet that the paper's nodes 0 and 4 send or receive [s]."""

LOADS = (*SHORT, "internet")
"""The transfers, in the order of Table I."""


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
       tables=(1,))  # fmt: skip
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
                    yield less(f"{VARIANTS[v]}, against {ROUTINGS[r]}", own, other).of(load)


@claim("P1-T1-8", "SACK is perhaps the best TCP", section=THROUGHPUT, tables=(1,))
def _(data: Estimates) -> Observations:
    for load in LOADS:
        for r in ROUTINGS:
            others = (Point(v, r) for v in VARIANTS if v != "sack")
            yield from (c.of(load) for c in _compared(data, Point("sack", r), others, SEGMENTS[load]))


@claim("P1-T1-9", "Transfers reach fewer segments under heavy than under light load", section=THROUGHPUT, tables=(1,))
def _(data: Estimates) -> Observations:
    for p in COMBINATIONS:
        heavy, light = (data.get(p, SEGMENTS[load]) for load in ("heavy", "light"))
        if heavy is not None and light is not None:
            row = TABLE_I[p[:2]]
            yield less(name(p), heavy, light, (row[2] / row[0], row[2] / row[0]))


@claim("P1-T1-10", "Reno with DSR is the most consistent: its short transfers differ least", section=THROUGHPUT,
       tables=(1,))  # fmt: skip
def _(data: Estimates) -> Observations:
    yield from _compared(data, (best := Point("reno", "dsr")), _others(best), EVENNESS)


@claim("P1-T1-12", "Reno with DSR is the most consistent: its runs differ least", section=THROUGHPUT, tables=(1,))
def _(data: Estimates) -> Observations:
    for load in SHORT:
        for other in _others(best := Point("reno", "dsr")):
            for a, b in data.both(best, other, SEGMENTS[load]):
                yield less(f"against {name(other)}", spread(a), spread(b)).of(load)


def spread(e: Estimate) -> Estimate:
    """Mean distance of single runs from their median, as a share of the median.

    Means of such distances are what Brown and Forsythe (*Robust tests for the equality of variances*, JASA 69, 1974)
    compare.
    """
    ordered = getattr(e, "ordered", ())
    return Estimate.of([abs(v / e.mean - 1) for v in ordered]) if ordered else e


@claim("P1-T1-11", "Each number of Table I comes from a single run", section=THROUGHPUT, tables=(1,))
def _(data: Estimates) -> Observations:
    for p in COMBINATIONS:
        for load, printed in zip(LOADS, TABLE_I[p[:2]], strict=True):
            if (e := data.get(p, SEGMENTS[load])) is not None:
                yield among(f"{printed} with {name(p)}", e, printed).of(load)


@claim("P1-T2-1", "The last packets of all combinations come at nearly the same time", section=ENERGY, tables=(2,))
def _(data: Estimates) -> Observations:
    first, *others = COMBINATIONS
    for n, measure in LAST.items():
        for p in others:
            for a, b in data.both(p, first, measure):
                yield equal(name(p), a, b, 0.01).of(f"node {n}")


@claim("P1-T2-2", "Node 0 ends before node 4 (the text; its Table II has it later)", section=ENERGY, tables=(2,))
def _(data: Estimates) -> Observations:
    for p in COMBINATIONS:
        if (e := data.get(p, GAP)) is not None:
            yield below(name(p), e, 0)


@claim("P1-T2-3", "The last packets come at 465.7 s or later", section=ENERGY, tables=(2,))
def _(data: Estimates) -> Observations:
    earliest, latest = 465.7, 470.0
    for p in COMBINATIONS:
        for n, measure in LAST.items():
            if (e := data.get(p, measure)) is not None:
                yield above(name(p), e, earliest, (earliest, latest)).of(f"node {n}")


@claim("P1-E-1", "AODV sends and receives most packets, then DSDV, then DSR; differences are small",
       section=ENERGY)  # fmt: skip
def _(data: Estimates) -> Observations:
    for v in VARIANTS:
        for a, b in (("aodv", "dsdv"), ("dsdv", "dsr")):
            for x, y in data.both(Point(v, a), Point(v, b), HANDLED):
                yield more(f"{VARIANTS[v]}, {ROUTINGS[a]} and {ROUTINGS[b]}", x, y, (1.0, 1 + SLIGHTLY))


@claim(
    "P1-E-2", "Proactive routing takes more energy; any reactive protocol takes as much with any TCP", section=ENERGY
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
        "-25 to +99 % in Table I",
        ("P1-T1-10", "P1-T1-12"),
        "runs of one combination differ more than combinations do",
        of="smallest by largest of its short transfers, compared with others",
    ),
    Finding(
        "SACK is perhaps the best TCP",
        "-44 to +76 % in Table I",
        ("P1-T1-8",),
        "runs of one version of TCP differ more than versions do",
        of="segments with SACK compared with other versions",
    ),
    Finding(
        "Reactive routing is better than proactive",
        "-53 to +44 % in Table I",
        ("P1-T1-7",),
        "nothing moves, and all nodes are neighbours; DSR's queue matters more than routing",
        of="segments with DSDV compared with reactive routing",
    ),
    Finding(
        "Transfers reach fewer segments under heavy load",
        "-62 to +12 % in Table I",
        ("P1-T1-9",),
        "eight to ten more uploads share the medium, and the queues of the mesh grow",
        of="segments compared with those under light load",
    ),
    Finding(
        "The best combination depends on the load",
        "+5 to +150 % with Tahoe-AODV, light",
        ("P1-T1-3", "P1-T1-4", "P1-T1-5"),
        "the ranking of single runs is chance",
        of="segments compared with other combinations",
    ),
    Finding(
        "Batteries last equally long with all combinations",
        "-1 to +1 %",
        ("P1-T2-1",),
        "battery life depends only on how long the channel is busy",
        of="time of the last packet compared with Tahoe and DSR",
    ),
    Finding(
        "Batteries last until 466 to 470 s",
        "465.7 to 470",
        ("P1-T2-3",),
        "no tested reading gives these times: 2 Mbit/s ends earlier, 11 Mbit/s later",
        of="time of the last packet [s]",
    ),
    Finding(
        "AODV sends most packets, DSR fewest",
        "really small, taken as up to +10 %",
        ("P1-E-1",),
        "DSR's queue lets acknowledgements overtake data",
        of="packets of one protocol compared with the next",
    ),
    Finding(
        "To save energy, avoid proactive routing; any reactive protocol will do",
        "more, no number",
        ("P1-E-2",),
        "the medium is busy in any case, and updates are few compared with TCP's packets",
        of="energy per bit with DSDV compared with reactive routing",
    ),
)
"""Conclusions of the paper."""


def _reading(reading: str) -> Callable[[Point], Point | None]:
    # DSR has this queue in any case.
    return lambda p: p._replace(reading=reading) if p.reading == MAIN else None


READINGS = {title: _reading(n) for n, (title, _) in READINGS_OF.items()}
"""Readings that change one thing of the main one."""
