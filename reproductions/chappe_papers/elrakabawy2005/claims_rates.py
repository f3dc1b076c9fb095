"""Claims on the chain of 7 hops: Figures 4 and 10 to 14."""

from collections.abc import Mapping

from chappe_papers.elrakabawy2005.comparisons import (  # fmt: skip
    ALPHA,
    ALPHAS,
    SEVEN,
    UDP_7,
    against_each,
    best_window,
    claim,
    compare,
    each,
    gains,
    nothing_at_2,
    seven,
)
from chappe_papers.elrakabawy2005.design import GOODPUT, RETRANSMISSIONS, WINDOW
from chappe_papers.elrakabawy2005.points import RATES, UDP, Point
from chappe_papers.elrakabawy2005.udp import OPTIMUM
from chappe_papers.judging.claims import Observations, in_order
from chappe_papers.judging.judge import (  # fmt: skip
    AT_LEAST_MUCH,
    MUCH,
    READING,
    SLIGHTLY,
    Form,
    about,
    at_least,
    at_most,
    below,
    equal,
    fewer,
    less,
    lies,
    more,
)
from chappe_papers.runs.estimates import Estimates, MissingError
from chappe_papers.statistics.counted import exact, ratio

_THINNED = {"newreno_thin": "NewReno thinned", "vegas2_thin": "Vegas thinned"}
_ALL = {"newreno": "NewReno", "newreno_maxwin3": "MaxWin = 3", "vegas2": "Vegas", **_THINNED}


def _growth(data: Estimates, variants: Mapping[str, str]) -> Observations:
    """Goodput grows less than the rate: the effect is its growth by that of the rate."""
    for v, name in variants.items():
        for rate in RATES[1:]:
            for two, more_ in data.both(Point(v, 7), Point(v, 7, rate), GOODPUT):
                share = ratio(ratio(more_, two), exact(rate / 2))
                yield below(f"{name}, {rate:g} Mbit/s", share, 1, form=Form(1, unit="of the rate's"))


@claim("P0-F4-1", "At 2 Mbit/s Vegas has most goodput with alpha = 2", section=ALPHA, figures=(4,))
def _(data: Estimates) -> Observations:
    return against_each(data, more, seven(2.0), "vegas2", ALPHAS)


@claim("P0-F4-2", "At 5.5 Mbit/s alpha = 2 gives only slightly more goodput", section=ALPHA, figures=(4,))
def _(data: Estimates) -> Observations:
    return against_each(data, more, seven(5.5), "vegas2", ALPHAS, GOODPUT, (1.0, 1 + SLIGHTLY))


@claim("P0-F4-3", "At 11 Mbit/s goodput is equal for all three", section=ALPHA, figures=(4,))
def _(data: Estimates) -> Observations:
    return against_each(data, equal, seven(11.0), "vegas2", ALPHAS)


@claim("P0-F4-4", "The goodput of Vegas grows less than the rate", section=ALPHA, figures=(4,))
def _(data: Estimates) -> Observations:
    return _growth(data, {"vegas2": "alpha = 2", **ALPHAS})


@claim("P0-F10-1", "The best interval between datagrams is 35.7 ms", section=UDP_7, figures=(10,))
def _(data: Estimates) -> Observations:
    best = data.get(OPTIMUM, "interval_ms") or data.take(Point(UDP, 7), "interval_ms")
    yield lies("7 hops", best, 35.7, 35.7, Form(unit="ms", places=2))


@claim(
    "P0-F10-2",
    "Below that interval goodput falls rapidly, above as 1/t",
    first="below the best interval",
    section=UDP_7,
    figures=(10,),
)
def _(data: Estimates) -> Observations:
    low, top = data.several([Point(UDP, 7, interval_ms=t) for t in (34.0, 36.0)], GOODPUT)
    yield at_most("34 against 36 ms", low, top, 1 / MUCH)
    for t in (42.0, 50.0, 60.0):
        own = data.take(Point(UDP, 7, interval_ms=t), GOODPUT)
        yield equal(f"{t:g} ms", own, exact(1460 * 8e3 / t)).called("against 1/t")


@claim("P0-F11-1", "The best bound of NewReno's window is 3 at all rates", section=SEVEN, figures=(11,))
def _(data: Estimates) -> Observations:
    for where, p in seven():
        yield from best_window(data, where, p, 3)


@claim("P0-F11-2", "Goodput grows less than the rate", section=SEVEN, figures=(11,))
def _(data: Estimates) -> Observations:
    return _growth(data, _ALL)


@claim(
    "P0-F11-3",
    "Vegas is much better than NewReno, as good as with MaxWin = 3",
    first="against NewReno",
    section=SEVEN,
    figures=(11,),
)
def _(data: Estimates) -> Observations:
    yield from against_each(data, more, seven(), "vegas2", {"newreno": "NewReno"}, GOODPUT, AT_LEAST_MUCH)
    yield from against_each(data, equal, seven(), "vegas2", {"newreno_maxwin3": "MaxWin = 3"}, of="against MaxWin = 3")


@claim(
    "P0-F11-4",
    "Thinning helps more at higher rates, but not Vegas at 2 Mbit/s",
    first="at 2 Mbit/s",
    section=SEVEN,
    figures=(11,),
)
def _(data: Estimates) -> Observations:
    yield from (c.of("Vegas") for c in nothing_at_2(gains(data, seven(), "vegas2_thin", "vegas2")))
    for v, name in (("vegas2", "Vegas"), ("newreno", "NewReno")):
        yield from (c.of(name).called("of the gain") for c in in_order(more, gains(data, seven(), f"{v}_thin", v)))


@claim("P0-F11-5", "At 11 Mbit/s Vegas is about 20 % below both thinned variants", section=SEVEN, figures=(11,))
def _(data: Estimates) -> Observations:
    return against_each(data, fewer, seven(11.0), "vegas2", _THINNED, GOODPUT, about(0.2))


@claim(
    "P0-F11-6", "With thinning both are at most 32 % (at 11 Mbit/s 23 %) below paced UDP", section=SEVEN, figures=(11,)
)
def _(data: Estimates) -> Observations:
    for rate, share in ((2.0, 0.32), (11.0, 0.23)):
        for v, name in _THINNED.items():
            least = 1 - share * (1 + READING)
            yield from compare(data, at_least, seven(rate), v, UDP, GOODPUT, least, words=f"{name}, {{}}")


def _falls(data: Estimates, name: str) -> Observations:
    for v, words in _ALL.items():
        yield from (c.of(words) for c in in_order(less, dict(each(data, seven(), v, name))))


@claim("P0-F12-1", "Retransmissions fall with the rate", section=SEVEN, figures=(12,))
def _(data: Estimates) -> Observations:
    return _falls(data, RETRANSMISSIONS)


@claim("P0-F12-2", "Thinned Vegas has more retransmissions at 2 Mbit/s", section=SEVEN, figures=(12,), fresh=32)
def _(data: Estimates) -> Observations:
    return compare(data, more, seven(2.0), "vegas2_thin", "vegas2", RETRANSMISSIONS, words="thinning, {}")


@claim("P0-F13-1", "The window of Vegas is smaller than NewReno's", section=SEVEN, figures=(13,))
def _(data: Estimates) -> Observations:
    return against_each(data, less, seven(), "vegas2", {v: _ALL[v] for v in ("newreno", "newreno_thin")}, WINDOW)


@claim(
    "P0-F14-1",
    "Drops fall with the rate; thinned Vegas has the fewest",
    first="with the rate",
    section=SEVEN,
    figures=(14,),
)
def _(data: Estimates) -> Observations:
    own = data.get(Point("vegas2", 7), "intermediate_drops") is not None
    # ns-2's records have them over all nodes.
    name = "intermediate_drops" if own else "link_drop_probability"
    found = list(_falls(data, name))
    others = {v: words for v, words in _ALL.items() if v != "vegas2_thin"}
    least = against_each(data, less, seven(), "vegas2_thin", others, name, of="of thinned Vegas")
    found += [c.of("thinned Vegas") for c in least]
    if not found:
        raise MissingError
    yield from found
