"""Paced UDP: the best time between datagrams, and the cliff of Figure 10."""

from collections.abc import Iterable, Mapping

from chappe.stats import Estimate

from chappe_papers.elrakabawy2005.points import DELAY, UDP, Point, scenario
from chappe_papers.runs.runner import Runner
from chappe_papers.statistics.best_subset import Among, choose

OPTIMUM = Point("udp_optimum", 7)
"""Point of the best interval over 7 hops, which is found with some runs and measured with others."""

SWEEP = tuple(28 + 0.5 * i for i in range(65))
"""Times between datagrams of Figure 10 [ms]."""

CLIFF = tuple(34 + 0.25 * i for i in range(11))
"""Times between datagrams near the cliff, where a run collapses or does not [ms]."""

_FIRST = [1 + 0.05 * i for i in range(13)]
_SECOND = [-0.04 + 0.01 * i for i in range(9)]
_TRIED = 5
_PROMISES = 1.005
"""A short run promises more when its goodput is higher by this factor."""


def delay_point(hops: int, rate: float, preamble: str = "long", basic: float = 1.0) -> Point:
    """Point of the delays of lone datagrams."""
    return Point(DELAY, hops, rate, preamble=preamble, basic_mbps=basic)


def best(runner: Runner, wanted: Iterable[Point]) -> None:
    """The best time between datagrams of each chain (hops, rate).

    Where four hops lie between them, datagrams do not disturb each other: the search begins at the delay of a lone
    datagram over four hops, or the whole of a shorter chain, and goes up to 1.6 times that in steps of 5 %, then around
    the best in steps of 1 %. Near the cliff short runs collapse or do not: the best are run at full length, one after
    the other, until the next promises no more than what was found.
    """
    chains = [(p.hops, p.rate_mbps) for p in wanted]
    starts = {c: delay_point(min(c[0], 4), c[1]) for c in chains}
    runner.run(sorted(set(starts.values())))
    alone = {c: 1e3 * runner.get(p, "mean_delay_s").mean for c, p in starts.items()}
    tried = {c: runner.tried.setdefault(c, {}) for c in chains}
    for factors in (_FIRST, _SECOND):
        points = {}
        for c in chains:
            center = max(tried[c], key=lambda t: tried[c][t]) / alone[c] if tried[c] else 0
            for f in factors:
                p = Point(UDP, *c, interval_ms=round((center + f) * alone[c], 3))
                points[p] = scenario(p, f"{runner.length.search_packets} delivered")
        for p, rows in runner.rows(points, 1).items():
            tried[p.hops, p.rate_mbps][p.interval_ms] = rows["goodput_bps"].item()
    _at_length(runner, tried)


def _at_length(runner: Runner, tried: Mapping[tuple[int, float], Mapping[float, float]]) -> None:
    """Runs the times of each chain at full length, from the best short run on, while the next one promises more."""
    left = {c: sorted(goodput, key=lambda t: -goodput[t]) for c, goodput in tried.items()}
    best: dict[tuple[int, float], Point] = {}
    for _ in range(_TRIED):
        points = [Point(UDP, *c, interval_ms=times.pop(0)) for c, times in left.items()]
        runner.run(points)
        for p in points:
            c = (p.hops, p.rate_mbps)
            best[c] = max(best.get(c, p), p, key=lambda q: runner.get(q, "goodput_bps").mean)
            if tried[c][left[c][0]] <= _PROMISES * runner.get(best[c], "goodput_bps").mean:
                del left[c]
    for c, p in best.items():
        runner.values[Point(UDP, *c)] = runner.values[p] | {"interval_ms": Estimate.of([p.interval_ms])}


def optimum(runner: Runner) -> None:
    """The best time over 7 hops: found on the runs of half of the seeds, its goodput measured on the other half."""
    goodput = {t: runner.runs[Point(UDP, 7, interval_ms=t)]["goodput_bps"].to_list() for t in CLIFF}
    if len(next(iter(goodput.values()))) >= 4:
        chosen = choose(goodput)
        runner.values[OPTIMUM] = {"interval_ms": Among.of_choice(chosen), "goodput_bps": chosen.estimate}
