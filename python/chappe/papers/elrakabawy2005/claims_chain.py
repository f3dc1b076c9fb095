"""Claims on chains at 2 Mbit/s: Figures 2, 3 and 5 to 9."""

from collections.abc import Iterator

from chappe.papers.elrakabawy2005.design import FAILURES, GOODPUT, RETRANSMISSIONS, WINDOW
from chappe.papers.elrakabawy2005.points import UDP, Point
from chappe.papers.elrakabawy2005.said import ALPHA, AT_2, chains, claim, pairs
from chappe.papers.judge import MUCH, SLIGHTLY, Case, above, below, equal, fewer, less, lies, more
from chappe.papers.table import MissingError, Table
from chappe.stats import ratio

Cases = Iterator[Case]
_ONLY_SLIGHTLY = (1.0, 1 + SLIGHTLY)


@claim("P0-F2-1", "Vegas has most with alpha = 2 over 4 to 20 hops", section=ALPHA, figures=(2,))
def _(data: Table) -> Cases:
    for a in (3, 4):
        for where, two, other in pairs(data, chains(data, high=20), "vegas2", f"vegas{a}"):
            yield more(f"{where}, beside {a}", two, other)


@claim("P0-F2-2", "Over longer chains it is almost equal for all alpha", section=ALPHA, figures=(2,))
def _(data: Table) -> Cases:
    for a in (3, 4):
        for where, two, other in pairs(data, chains(data, low=21), "vegas2", f"vegas{a}"):
            yield equal(f"{where}, beside {a}", other, two)


@claim("P0-F3-1", "The mean window grows with alpha", section=ALPHA, figures=(3,))
def _(data: Table) -> Cases:
    for a in (3, 4):
        for where, low, high in pairs(data, chains(data), f"vegas{a - 1}", f"vegas{a}", WINDOW):
            yield more(f"{where}, {a} beside {a - 1}", high, low)


@claim("P0-F5-1", "Except over 4 hops Vegas is slightly better than with thinning", section=ALPHA, figures=(5,))
def _(data: Table) -> Cases:
    for a in (2, 3, 4):
        for where, plain, thin in pairs(data, chains(data, low=5), "vegas2", f"vegas{a}_thin"):
            yield more(f"{where}, beside alpha {a}", plain, thin, _ONLY_SLIGHTLY)


@claim("P0-F5-2", "Over more than 6 hops thinning makes Vegas slightly worse", section=ALPHA, figures=(5,))
def _(data: Table) -> Cases:
    for where, plain, thin in pairs(data, chains(data, low=7), "vegas2", "vegas2_thin"):
        yield less(where, thin, plain, (1 - SLIGHTLY, 1.0))


@claim("P0-F6-1", "Vegas has up to 83 % more than NewReno, about 75 % at 8 hops", section=AT_2, figures=(6,))
def _(data: Table) -> Cases:
    for where, vegas, newreno in pairs(data, chains(data), "vegas2", "newreno"):
        yield more(where, vegas, newreno, (1.75, 1.75) if where == "8 hops" else (None, 1.83))


def _below_udp(data: Table, variant: str, shares: dict[int, float]) -> Cases:
    for h, share in shares.items():
        own, best = data.get(Point(variant, h), GOODPUT), data.get(Point(UDP, h), GOODPUT)
        if own is not None and best is not None:
            yield fewer(f"{h} hops", own, best, (share, share))


@claim("P0-F6-2", "Vegas is 23 % (4 hops) to 52 % (32 hops) below the best paced UDP", section=AT_2, figures=(6,))
def _(data: Table) -> Cases:
    return _below_udp(data, "vegas2", {4: 0.23, 32: 0.52})


@claim("P0-F6-3", "NewReno is 28 % (4 hops) to 63 % (32 hops) below it", section=AT_2, figures=(6,))
def _(data: Table) -> Cases:
    return _below_udp(data, "newreno", {4: 0.28, 32: 0.63})


@claim("P0-F6-4", "For most lengths NewReno with thinning is slightly below Vegas", section=AT_2, figures=(6,))
def _(data: Table) -> Cases:
    for where, thin, vegas in pairs(data, chains(data), "newreno_thin", "vegas2"):
        yield less(where, thin, vegas, (1 - SLIGHTLY, 1.0))


@claim("P0-F6-5", "Vegas, and NewReno with thinning, lose less with the hops", section=AT_2, figures=(6,))
def _(data: Table) -> Cases:
    for v, name in (("vegas2", "Vegas"), ("newreno_thin", "thinned")):
        at_4 = [data.take(Point(w, 4), GOODPUT) for w in (v, "newreno")]
        for where, own, newreno in pairs(data, chains(data, low=8), v, "newreno"):
            yield more(f"{name}, {where}", ratio(own, at_4[0]), ratio(newreno, at_4[1]))


@claim("P0-F7-1", "Vegas has up to 99 % fewer retransmissions (57 % at least)", section=AT_2, figures=(7,))
def _(data: Table) -> Cases:
    for where, vegas, newreno in pairs(data, chains(data), "vegas2", "newreno", RETRANSMISSIONS):
        yield fewer(where, vegas, newreno, (0.57, 0.99))


@claim("P0-F7-2", "NewReno's almost double from 6 to 8 hops, where they peak", section=AT_2, figures=(7,))
def _(data: Table) -> Cases:
    values = {h: data.get(Point("newreno", h), RETRANSMISSIONS) for h in data.x}
    at_6, at_8 = (data.take(Point("newreno", h), RETRANSMISSIONS) for h in (6, 8))
    yield more("8 beside 6 hops", at_8, at_6, (2 * (1 - SLIGHTLY), 2.0))
    for h, e in values.items():
        if h not in (6, 8) and e is not None:
            yield more(f"8 beside {h} hops", at_8, e)


@claim("P0-F7-3", "NewReno with thinning has considerably fewer", section=AT_2, figures=(7,))
def _(data: Table) -> Cases:
    for where, thin, plain in pairs(data, chains(data), "newreno_thin", "newreno", RETRANSMISSIONS):
        share = fewer(where, thin, plain)
        yield above(where, share.effect, 1 - 1 / MUCH, form=share.form)


@claim("P0-F8-1", "The window of Vegas lies between 3.5 and 5.5 packets", section=AT_2, figures=(8,))
def _(data: Table) -> Cases:
    for where, p in chains(data).items():
        if (e := data.get(p._replace(variant="vegas2"), WINDOW)) is not None:
            yield lies(where, e, 3.5, 5.5)


@claim("P0-F8-2", "It is near h/4 at 32 hops, and too small over longer chains", section=AT_2, figures=(8,))
def _(data: Table) -> Cases:
    at_32, at_40 = data.several([Point("vegas2", 32), Point("vegas2", 40)], WINDOW)
    yield lies("32 hops", at_32, 8 * (1 - SLIGHTLY), 8 * (1 + SLIGHTLY))
    yield below("40 hops", at_40, 10 * (1 - SLIGHTLY))


@claim("P0-F8-3", "Thinning makes the window of NewReno smaller", section=AT_2, figures=(8,))
def _(data: Table) -> Cases:
    for where, thin, plain in pairs(data, chains(data), "newreno_thin", "newreno", WINDOW):
        yield less(where, thin, plain)


@claim("P0-F9-1", "Vegas has 93 % to 100 % fewer false route failures", section=AT_2, figures=(9,))
def _(data: Table) -> Cases:
    for where, vegas, newreno in pairs(data, chains(data), "vegas2", "newreno", FAILURES):
        yield fewer(where, vegas, newreno, (0.93, 1.0))


@claim("P0-F9-2", "NewReno with thinning has none below 8 hops, then sharply more", section=AT_2, figures=(9,))
def _(data: Table) -> Cases:
    for where, p in chains(data, high=7).items():
        if (e := data.get(p._replace(variant="newreno_thin"), FAILURES)) is not None:
            yield below(where, e, 1)
    at_7, at_8 = data.several([Point("newreno_thin", 7), Point("newreno_thin", 8)], FAILURES)
    yield above("8 beside 7 hops", ratio(at_8, at_7), MUCH)


@claim("P0-F9-3", "They fall with the hops (with thinning from 8 hops on)", section=AT_2, figures=(9,))
def _(data: Table) -> Cases:
    for v, name, first in (("newreno", "NewReno", 4), ("vegas2", "Vegas", 4), ("newreno_thin", "thinned", 8)):
        try:
            at_first = data.take(Point(v, first), FAILURES)
        except MissingError:
            continue
        for where, p in chains(data, low=first + 1).items():
            if (e := data.get(p._replace(variant=v), FAILURES)) is not None:
                yield less(where, e, at_first).of(name)
