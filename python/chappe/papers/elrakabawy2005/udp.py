"""Paced UDP: delays of lone datagrams, the best time between datagrams, and the cliff of Figure 10."""

from collections.abc import Mapping, Sequence

from chappe.papers.elrakabawy2005.lab import Lab
from chappe.papers.elrakabawy2005.points import RATES, UDP, Point, scenario
from chappe.stats import Estimate

DELAY = "delay"
LONE_MS = 1000.0
"""Datagrams so far apart never meet."""

OPTIMUM = Point("udp_optimum", 7)
"""Where the best time of each seed over 7 hops is kept."""

SWEEP = tuple(28 + 0.5 * i for i in range(65))
"""Times between datagrams of Figure 10 [ms]."""

CLIFF = tuple(34 + 0.25 * i for i in range(11))
"""Those near the cliff, where a run collapses or does not."""

_FIRST = [1 + 0.05 * i for i in range(13)]
_SECOND = [-0.04 + 0.01 * i for i in range(9)]
_TRIED = 5
_PROMISES = 1.005
"""A short run promises more when its goodput is higher by this factor."""


READINGS = (("long", 1.0), ("short", 1.0), ("short", 2.0))
"""Preamble and rate of control frames [Mbit/s] of Table 2: frames at 1 Mbit/s always have a long preamble."""


def delay_point(hops: int, rate: float, preamble: str = "long", basic: float = 1.0) -> Point:
    """Where the delays of lone datagrams are kept."""
    return Point(DELAY, hops, rate, preamble=preamble, basic_mbps=basic)


def _delays(lab: Lab, wanted: Sequence[Point]) -> None:
    """Sends datagrams one by one; every batch is one of them."""
    n = lab.length.delay_packets
    scenarios = {
        p: scenario(p._replace(variant=UDP, interval_ms=LONE_MS), f"{n} delivered", batches=n)
        for p in wanted
        if p not in lab.runs
    }
    lab.keep(lab.rows(scenarios, 1))


def delays(lab: Lab) -> None:
    """Delay over four hops at each rate, with long and short PLCP preambles (Table 2)."""
    _delays(lab, [delay_point(4, rate, *reading) for rate in RATES for reading in READINGS])


def best(lab: Lab, chains: Sequence[tuple[int, float]]) -> None:
    """The best time between datagrams of each chain (hops, rate).

    Where four hops lie between them, datagrams do not disturb each other: the search begins at the delay of a lone
    datagram over four hops, or the whole of a shorter chain, and goes up to 1.6 times that in steps of 5 %, then around
    the best in steps of 1 %. Near the cliff short runs collapse or do not: the best are run at full length, one after
    the other, until the next promises no more than what was found.
    """
    chains = [c for c in chains if Point(UDP, *c) not in lab.values]
    starts = {c: delay_point(min(c[0], 4), c[1]) for c in chains}
    _delays(lab, sorted(set(starts.values())))
    alone = {c: lab.get(p, "delay_mean_ms").mean for c, p in starts.items()}
    tried = {c: lab.tried.setdefault(c, {}) for c in chains}
    for factors in (_FIRST, _SECOND):
        points = {}
        for c in chains:
            centre = max(tried[c], key=lambda t: tried[c][t]) / alone[c] if tried[c] else 0
            for f in factors:
                p = Point(UDP, *c, interval_ms=round((centre + f) * alone[c], 3))
                points[p] = scenario(p, f"{lab.length.search_packets} delivered")
        for p, rows in lab.rows(points, 1).items():
            tried[p.hops, p.rate_mbps][p.interval_ms] = rows["goodput_bps"].item() / 1e3
    _at_length(lab, tried)


def _at_length(lab: Lab, tried: Mapping[tuple[int, float], Mapping[float, float]]) -> None:
    """Runs the times of each chain at full length, from the best short run on, while the next one promises more."""
    left = {c: sorted(goodput, key=lambda t: -goodput[t]) for c, goodput in tried.items()}
    best: dict[tuple[int, float], Point] = {}
    for _ in range(_TRIED):
        points = [Point(UDP, *c, interval_ms=times.pop(0)) for c, times in left.items()]
        lab.run(points)
        for p in points:
            c = (p.hops, p.rate_mbps)
            best[c] = max(best.get(c, p), p, key=lambda q: lab.get(q, "goodput_kbps").mean)
            if tried[c][left[c][0]] <= _PROMISES * lab.get(best[c], "goodput_kbps").mean:
                del left[c]
    for c, found in best.items():
        lab.values[Point(UDP, *c)] = lab.values[found] | {"interval_ms": Estimate.of([found.interval_ms])}


def cliff(lab: Lab) -> None:
    """Figure 10, with many seeds around the cliff; the best time of each seed is one value of the optimum."""
    n = lab.length

    def points(times: Sequence[float]) -> dict[Point, object]:
        return {p: None for t in times if (p := Point(UDP, 7, interval_ms=t)) not in lab.runs}

    for times, seeds in ((CLIFF, n.cliff), ([t for t in SWEEP if t not in CLIFF], n.seeds)):
        scenarios = {p: scenario(p, f"{n.udp_packets} delivered") for p in points(times)}
        lab.keep(lab.rows(scenarios, seeds))
    goodput = {t: lab.runs[Point(UDP, 7, interval_ms=t)]["goodput_bps"].to_list() for t in CLIFF}
    optima = [max(CLIFF, key=lambda t: goodput[t][i]) for i in range(n.cliff)]
    lab.values[OPTIMUM] = {"interval_ms": Estimate.of(optima)}
