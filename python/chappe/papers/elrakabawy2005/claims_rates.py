"""Claims on the chain of 7 hops: Figures 4 and 10 to 14."""

import itertools
from collections.abc import Iterator, Sequence

from chappe.papers.elrakabawy2005.design import GOODPUT, RETRANSMISSIONS, WINDOW
from chappe.papers.elrakabawy2005.points import RATES, UDP, WINDOWS, Point
from chappe.papers.elrakabawy2005.said import ALPHA, SEVEN, UDP_7, claim, gains, pairs, seven
from chappe.papers.elrakabawy2005.udp import OPTIMUM
from chappe.papers.judge import (  # fmt: skip
    ALMOST_EQUAL,
    GAIN,
    MUCH,
    READING,
    SLIGHTLY,
    Case,
    Form,
    below,
    equal,
    fewer,
    less,
    lies,
    more,
)
from chappe.papers.table import MissingError, Table
from chappe.stats import Estimate, ratio

Cases = Iterator[Case]

_ALL = {
    "newreno": "NewReno",
    "newreno_maxwin3": "MaxWin = 3",
    "newreno_thin": "NewReno thinned",
    "vegas2": "Vegas",
    "vegas2_thin": "Vegas thinned",
}


def _growth(data: Table, variants: Sequence[str]) -> Cases:
    """Goodput grows less than the rate: the effect is its growth by that of the rate."""
    for v in variants:
        for rate in RATES[1:]:
            two, more_ = (data.get(Point(v, 7, r), GOODPUT) for r in (2.0, rate))
            if two is not None and more_ is not None:
                grown = ratio(more_, two)
                share = Estimate(grown.mean * 2 / rate, grown.variance * (2 / rate) ** 2, grown.df)
                yield below(f"{_ALL.get(v, v)}, {rate:g} Mbit/s", share, 1, form=Form(1, unit="of the rate's"))


@claim("P0-F4-1", "At 2 Mbit/s Vegas has most with alpha = 2", section=ALPHA, figures=(4,))
def _(data: Table) -> Cases:
    for a in (3, 4):
        for _, two, other in pairs(data, seven(2.0), "vegas2", f"vegas{a}"):
            yield more(f"beside {a}", two, other)


@claim("P0-F4-2", "At 5.5 Mbit/s it has only slightly more with 2", section=ALPHA, figures=(4,))
def _(data: Table) -> Cases:
    for a in (3, 4):
        for _, two, other in pairs(data, seven(5.5), "vegas2", f"vegas{a}"):
            yield more(f"beside {a}", two, other, (1.0, 1 + SLIGHTLY))


@claim("P0-F4-3", "At 11 Mbit/s all three are equal", section=ALPHA, figures=(4,))
def _(data: Table) -> Cases:
    for a in (3, 4):
        for _, two, other in pairs(data, seven(11.0), "vegas2", f"vegas{a}"):
            yield equal(f"beside {a}", other, two)


@claim("P0-F4-4", "The goodput of Vegas grows less than the rate", section=ALPHA, figures=(4,))
def _(data: Table) -> Cases:
    return _growth(data, ("vegas2", "vegas3", "vegas4"))


@claim("P0-F10-1", "The best time between datagrams is 35.7 ms", section=UDP_7, figures=(10,))
def _(data: Table) -> Cases:
    best = data.get(OPTIMUM, "interval_ms") or data.take(Point(UDP, 7), "interval_ms")
    yield lies("7 hops", best, 35.7, 35.7, Form(unit="ms", places=2))


@claim("P0-F10-2", "Below it goodput falls rapidly, above it as 1/t", section=UDP_7, figures=(10,))
def _(data: Table) -> Cases:
    low, top = data.several([Point(UDP, 7, interval_ms=t) for t in (34.0, 36.0)], GOODPUT)
    yield below("34 beside 36 ms", ratio(low, top), 1 / MUCH, form=GAIN)
    for t in (42.0, 50.0, 60.0):
        yield equal(f"{t:g} ms", data.take(Point(UDP, 7, interval_ms=t), GOODPUT), Estimate(1460 * 8e3 / t, 0, 1))


@claim("P0-F11-1", "The best bound of NewReno's window is 3 at all rates", section=SEVEN, figures=(11,))
def _(data: Table) -> Cases:
    for rate in RATES:
        tried = [data.get(Point(f"newreno_maxwin{w}", 7, rate), GOODPUT) for w in WINDOWS]
        known = [e for e in tried if e is not None]
        own = data.take(Point("newreno_maxwin3", 7, rate), GOODPUT)
        if len(known) == len(WINDOWS):
            yield equal(f"{rate:g} Mbit/s", own, max(known, key=lambda e: e.mean))


@claim("P0-F11-2", "Goodput grows less than the rate", section=SEVEN, figures=(11,))
def _(data: Table) -> Cases:
    return _growth(data, tuple(_ALL))


@claim("P0-F11-3", "Vegas is above NewReno, as good as with MaxWin = 3", section=SEVEN, figures=(11,))
def _(data: Table) -> Cases:
    for where, vegas, newreno in pairs(data, seven(), "vegas2", "newreno"):
        yield more(f"{where}, beside NewReno", vegas, newreno)
    for where, vegas, bounded in pairs(data, seven(), "vegas2", "newreno_maxwin3"):
        yield equal(f"{where}, beside MaxWin = 3", vegas, bounded)


@claim("P0-F11-4", "Thinning helps with the rate, Vegas not at 2 Mbit/s", section=SEVEN, figures=(11,))
def _(data: Table) -> Cases:
    for v, name in (("vegas2", "Vegas"), ("newreno", "NewReno")):
        found = gains(data, seven(), f"{v}_thin", v)
        if v == "vegas2" and "2 Mbit/s" in found:
            yield below("Vegas, 2 Mbit/s", found["2 Mbit/s"], 1 + ALMOST_EQUAL, form=GAIN)
        for a, b in itertools.pairwise(found):
            yield more(f"{name}, {b} beside {a}", found[b], found[a])


@claim("P0-F11-5", "At 11 Mbit/s Vegas is about 20 % below both with thinning", section=SEVEN, figures=(11,))
def _(data: Table) -> Cases:
    for v in ("vegas2_thin", "newreno_thin"):
        for _, vegas, thin in pairs(data, seven(11.0), "vegas2", v):
            yield fewer(f"below {_ALL[v]}", vegas, thin, (0.2, 0.2))


@claim("P0-F11-6", "They are at most 32 % (23 % at 11 Mbit/s) below paced UDP", section=SEVEN, figures=(11,))
def _(data: Table) -> Cases:
    for rate, share in ((2.0, 0.32), (11.0, 0.23)):
        for v in ("newreno_thin", "vegas2_thin"):
            for where, thin, best in pairs(data, seven(rate), v, UDP):
                own = fewer(where, thin, best)
                yield below(f"{_ALL[v]}, {where}", own.effect, share * (1 + READING), form=own.form)


def _falls(data: Table, name: str) -> Cases:
    for v, said in _ALL.items():
        for a, b in itertools.pairwise(RATES):
            slow, fast = (data.get(Point(v, 7, r), name) for r in (a, b))
            if slow is not None and fast is not None:
                yield less(f"{b:g} beside {a:g} Mbit/s", fast, slow).of(said)


@claim("P0-F12-1", "Retransmissions fall with the rate; thinned Vegas has more at 2", section=SEVEN, figures=(12,))
def _(data: Table) -> Cases:
    yield from _falls(data, RETRANSMISSIONS)
    for where, thin, plain in pairs(data, seven(2.0), "vegas2_thin", "vegas2", RETRANSMISSIONS):
        yield more(f"thinning, {where}", thin, plain)


@claim("P0-F13-1", "The window of Vegas is smaller than NewReno's", section=SEVEN, figures=(13,))
def _(data: Table) -> Cases:
    for v in ("newreno", "newreno_thin"):
        for where, vegas, other in pairs(data, seven(), "vegas2", v, WINDOW):
            yield less(f"{_ALL[v]}, {where}", vegas, other)


@claim("P0-F14-1", "Drops fall with the rate; thinned Vegas has the least", section=SEVEN, figures=(14,))
def _(data: Table) -> Cases:
    own = data.get(Point("vegas2", 7), "intermediate_drops") is not None
    # ns-2's records have them over all nodes.
    name = "intermediate_drops" if own else "link_drop_probability"
    found = list(_falls(data, name))
    for v in tuple(_ALL)[:-1]:
        for where, thin, other in pairs(data, seven(), "vegas2_thin", v, name):
            found.append(less(f"least, {where}, beside {_ALL[v]}", thin, other).of("thinned Vegas"))
    if not found:
        raise MissingError
    yield from found
