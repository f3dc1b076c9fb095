"""Claims on chains at 2 Mbit/s: Figures 2, 3 and 5 to 9."""

from dataclasses import replace

from chappe_papers.elrakabawy2005.comparisons import (  # fmt: skip
    ALPHA,
    ALPHAS,
    AT_2,
    MEAN,
    against_each,
    chains,
    claim,
    compare,
    each,
)
from chappe_papers.elrakabawy2005.design import FAILURES, GOODPUT, RETRANSMISSIONS, WINDOW
from chappe_papers.elrakabawy2005.points import UDP, Point
from chappe_papers.judging.claims import Observations
from chappe_papers.judging.judge import MUCH, SLIGHTLY, about, at_most, below, equal, fewer, less, lies, more
from chappe_papers.runs.estimates import Estimates
from chappe_papers.statistics.counted import ratio, times

_ONLY_SLIGHTLY = (1.0, 1 + SLIGHTLY)


@claim("P0-F2-1", "Vegas has most goodput with alpha = 2 over 4 to 20 hops", section=ALPHA, figures=(2,))
def _(data: Estimates) -> Observations:
    return against_each(data, more, chains(data, high=20), "vegas2", ALPHAS)


@claim("P0-F2-2", "Over longer chains goodput is almost equal for all alpha", section=ALPHA, figures=(2,))
def _(data: Estimates) -> Observations:
    return against_each(data, equal, chains(data, low=21), "vegas2", ALPHAS)


@claim("P0-F3-1", "The mean window grows with alpha", section=ALPHA, figures=(3,))
def _(data: Estimates) -> Observations:
    for a in (3, 4):
        yield from compare(data, more, chains(data), f"vegas{a}", f"vegas{a - 1}", WINDOW,
                           words=f"{{}}, {a} against {a - 1}")  # fmt: skip


@claim("P0-F5-1", "Except over 4 hops Vegas is slightly better without thinning", section=ALPHA, figures=(5,))
def _(data: Estimates) -> Observations:
    thinned = {f"{v}_thin": words for v, words in {"vegas2": "alpha = 2", **ALPHAS}.items()}
    found = against_each(data, more, chains(data, low=5), "vegas2", thinned, GOODPUT, _ONLY_SLIGHTLY)
    return (replace(o, group=o.where.partition(",")[0]) for o in found)


@claim("P0-F5-2", "Over more than 6 hops thinning makes Vegas slightly worse", section=ALPHA, figures=(5,))
def _(data: Estimates) -> Observations:
    return compare(data, less, chains(data, low=7), "vegas2_thin", "vegas2", GOODPUT, (1 - SLIGHTLY, 1.0))


@claim("P0-F6-1", "Vegas has up to 83 % more goodput than NewReno, about 75 % at 8 hops", section=AT_2, figures=(6,))
def _(data: Estimates) -> Observations:
    for at in chains(data):
        paper = about(1.75) if at[1].hops == 8 else (None, 1.83)
        yield from compare(data, more, [at], "vegas2", "newreno", GOODPUT, paper)


def _below_udp(data: Estimates, variant: str, shares: dict[int, float]) -> Observations:
    for h, share in shares.items():
        yield from compare(data, fewer, [(f"{h} hops", Point("", h))], variant, UDP, GOODPUT, (share, share))


@claim("P0-F6-2", "Vegas is 23 % (4 hops) to 52 % (32 hops) below the best paced UDP", section=AT_2, figures=(6,))
def _(data: Estimates) -> Observations:
    return _below_udp(data, "vegas2", {4: 0.23, 32: 0.52})


@claim("P0-F6-3", "NewReno is 28 % (4 hops) to 63 % (32 hops) below the best paced UDP", section=AT_2, figures=(6,))
def _(data: Estimates) -> Observations:
    return _below_udp(data, "newreno", {4: 0.28, 32: 0.63})


@claim("P0-F6-4", "For most lengths NewReno with thinning is slightly below Vegas", section=AT_2, figures=(6,))
def _(data: Estimates) -> Observations:
    return compare(data, less, chains(data), "newreno_thin", "vegas2", GOODPUT, (1 - SLIGHTLY, 1.0))


@claim("P0-F6-5", "Goodput of Vegas and of thinned NewReno falls less with the hops", section=AT_2, figures=(6,))
def _(data: Estimates) -> Observations:
    kept = {
        v: {where: ratio(e, data.take(Point(v, 4), GOODPUT)) for where, e in each(data, chains(data, 8), v, GOODPUT)}
        for v in ("newreno", "vegas2", "newreno_thin")
    }
    for v, name in (("vegas2", "Vegas"), ("newreno_thin", "thinned")):
        for where, own in kept[v].items():
            if where in kept["newreno"]:
                yield more(f"{name}, {where}", own, kept["newreno"][where])


@claim("P0-F7-1", "Vegas has up to 99 % fewer retransmissions (57 % at least)", section=AT_2, figures=(7,))
def _(data: Estimates) -> Observations:
    return compare(data, fewer, chains(data), "vegas2", "newreno", RETRANSMISSIONS, (0.57, 0.99))


@claim(
    "P0-F7-2",
    "NewReno's retransmissions almost double from 6 to 8 hops, their peak",
    first="from 6 to 8 hops",
    section=AT_2,
    figures=(7,),
)
def _(data: Estimates) -> Observations:
    at_6, at_8 = data.several([Point("newreno", 6), Point("newreno", 8)], RETRANSMISSIONS)
    yield more("8 against 6 hops", at_8, at_6, (2 * (1 - SLIGHTLY), 2.0))
    for where, e in each(data, chains(data), "newreno", RETRANSMISSIONS):
        if where not in ("6 hops", "8 hops"):
            yield more(f"8 against {where}", at_8, e, smallest=0.0).called("against other lengths")


@claim("P0-F7-3", "NewReno with thinning has considerably fewer retransmissions", section=AT_2, figures=(7,))
def _(data: Estimates) -> Observations:
    return compare(data, at_most, chains(data), "newreno_thin", "newreno", RETRANSMISSIONS, 1 / MUCH)


@claim("P0-F8-1", "The window of Vegas lies between 3.5 and 5.5 packets", section=AT_2, figures=(8,))
def _(data: Estimates) -> Observations:
    for where, e in each(data, chains(data), "vegas2", WINDOW):
        yield lies(where, e, 3.5, 5.5)


@claim(
    "P0-F8-2",
    "The window of Vegas is near h/4 at 32 hops, too small over longer chains",
    first="over 32 hops",
    section=AT_2,
    figures=(8,),
)
def _(data: Estimates) -> Observations:
    at_32, at_40 = data.several([Point("vegas2", 32), Point("vegas2", 40)], WINDOW)
    yield lies("32 hops", at_32, *about(8))
    yield below("40 hops", at_40, about(10)[0]).called("over 40 hops")


@claim("P0-F8-3", "Thinning makes the window of NewReno smaller", hangs=MEAN, section=AT_2, figures=(8,))
def _(data: Estimates) -> Observations:
    return compare(data, less, chains(data), "newreno_thin", "newreno", WINDOW)


@claim("P0-F9-1", "Vegas has 93 % to 100 % fewer false route failures", section=AT_2, figures=(9,))
def _(data: Estimates) -> Observations:
    return compare(data, fewer, chains(data), "vegas2", "newreno", FAILURES, (0.93, 1.0))


@claim(
    "P0-F9-2",
    "Thinned NewReno has no false route failures below 8 hops, then many",
    first="below 8 hops",
    section=AT_2,
    figures=(9,),
)
def _(data: Estimates) -> Observations:
    for where, e in each(data, chains(data, high=7), "newreno_thin", FAILURES):
        yield below(where, e, 1)
    at_7, at_8 = data.several([Point("newreno_thin", 7), Point("newreno_thin", 8)], FAILURES)
    yield more("8 hops, against 1.5 times 7 hops", at_8, times(at_7, MUCH)).called("against 1.5 times")


@claim("P0-F9-3", "False route failures fall with the hops (with thinning from 8 on)", section=AT_2, figures=(9,))
def _(data: Estimates) -> Observations:
    for v, name, first in (("newreno", "NewReno", 4), ("vegas2", "Vegas", 4), ("newreno_thin", "thinned", 8)):
        at_first = data.get(Point(v, first), FAILURES)
        for where, e in each(data, chains(data, low=first + 1), v, FAILURES):
            if at_first is not None:
                yield less(where, e, at_first, smallest=0.0).of(name)
