"""Claims of the abstract, of the conclusion, and on reasons; findings; and all claims in the order of their names."""

from collections.abc import Iterator

from chappe.papers.claims import Finding
from chappe.papers.elrakabawy2005 import claims_chain, claims_flows, claims_rates
from chappe.papers.elrakabawy2005.design import FAILURES, GOODPUT, RETRANSMISSIONS, WINDOW
from chappe.papers.elrakabawy2005.points import PLACES, RATES, UDP, WINDOWS, Point
from chappe.papers.elrakabawy2005.said import (  # fmt: skip
    ABSTRACT,
    ALL_GRIDS,
    ALL_RANDOM,
    CLAIMS,
    WHY,
    chains,
    claim,
    flows,
    gains,
    pairs,
    seven,
)
from chappe.papers.judge import (  # fmt: skip
    ALMOST_EQUAL,
    GAIN,
    PERCENT,
    SLIGHTLY,
    Case,
    above,
    below,
    equal,
    fewer,
    less,
    more,
    never,
)
from chappe.papers.table import Table
from chappe.stats import Estimate, ratio

Cases = Iterator[Case]

FU_HOPS = (4, 8, 12, 16, 20)
"""Chains over which the best window is searched."""


@claim("P0-A-1", "Vegas has 15 % to 83 % more goodput than NewReno", section=ABSTRACT, figures=(6, 11))
def _(data: Table) -> Cases:
    for where, vegas, newreno in pairs(data, {**chains(data), **_FASTER}, "vegas2", "newreno"):
        yield more(where, vegas, newreno, (1.15, 1.83))


_FASTER = {f"7 hops, {where}": p for where, p in seven(*RATES[1:]).items()}


@claim("P0-A-2", "Vegas has 57 % to 99 % fewer retransmissions", section=ABSTRACT, figures=(7, 12))
def _(data: Table) -> Cases:
    for where, vegas, newreno in pairs(data, {**chains(data), **_FASTER}, "vegas2", "newreno", RETRANSMISSIONS):
        yield fewer(where, vegas, newreno, (0.57, 0.99))


@claim("P0-A-5", "Thinning gives Vegas nothing at 2 Mbit/s, else up to 25 %", section=ABSTRACT, figures=(11,))
def _(data: Table) -> Cases:
    found = gains(data, seven(), "vegas2_thin", "vegas2")
    if "2 Mbit/s" in found:
        yield below("2 Mbit/s", found["2 Mbit/s"], 1 + ALMOST_EQUAL, form=GAIN)
    for where, e in list(found.items())[-2:]:
        if where != "2 Mbit/s":
            yield above(where, e, 1, (None, 1.25), GAIN)


@claim("P0-A-6", "No buffer overflows in any experiment", section=ABSTRACT)
def _(data: Table) -> Cases:
    own = ("newreno", "vegas2", "newreno_thin")
    places = {
        "chains": [p._replace(variant=v) for p in chains(data).values() for v in own],
        "7 hops": [p._replace(variant=v) for p in _FASTER.values() for v in (*own, "vegas2_thin")],
        **{
            PLACES[n]: [p._replace(variant=v) for p in at.values() for v in (*own, "vegas2_thin")]
            for n in (*ALL_GRIDS, *ALL_RANDOM)
            for at in flows(n).values()
        },
    }
    for where, points in places.items():
        drops = [e for p in points if (e := data.get(p, "queue_drops")) is not None]
        if drops:
            yield never(where, max(drops, key=lambda e: e.mean)).of(where)


@claim("P0-A-7", "The best window over h hops is h/4 (after Fu et al.)", section=ABSTRACT)
def _(data: Table) -> Cases:
    for h in FU_HOPS:
        tried = {w: data.get(Point(f"newreno_maxwin{w}", h), GOODPUT) for w in WINDOWS}
        known = {w: e for w, e in tried.items() if e is not None}
        if len(known) == len(WINDOWS):
            yield equal(f"{h} hops", known[min(known, key=lambda w: abs(w - h / 4))], max(known.values(), key=_mean))


def _mean(e: Estimate) -> float:
    return e.mean


@claim("P0-A-8", "From 7 hops on NewReno is over 40 % of the time in slow start", section=ABSTRACT, figures=(8,))
def _(data: Table) -> Cases:
    for where, p in chains(data, low=7).items():
        if (e := data.get(p._replace(variant="newreno"), "slow_start")) is not None:
            yield above(where, e, 0.4, form=PERCENT)


@claim("P0-A-10", "Thinning helps NewReno at 2 Mbit/s substantially", section=ABSTRACT, figures=(6,))
def _(data: Table) -> Cases:
    for where, thin, plain in pairs(data, chains(data), "newreno_thin", "newreno"):
        yield more(where, thin, plain)


# ---- reasons; their names are ours ----


@claim("P0-W-1", "Most losses are drops at hidden terminals, none of full queues", section=WHY)
def _(data: Table) -> Cases:
    for v, name in (("newreno", "NewReno"), ("vegas2", "Vegas")):
        for where, p in chains(data).items():
            hidden, queues = (data.get(p._replace(variant=v), f"lost_to_{n}") for n in ("hidden", "queues"))
            if hidden is not None and queues is not None:
                yield above(f"{name}, {where}", hidden, 0.5, form=PERCENT).of("of all drops")
                yield below(f"{name}, {where}", queues, 0.5).of("full queues")


@claim("P0-W-2", "Thinning helps by a smaller window, not by fewer collisions", section=WHY)
def _(data: Table) -> Cases:
    for _, thin, plain in pairs(data, seven(2.0), "newreno_thin", "newreno", "hidden_per_10000"):
        yield equal("hidden terminals, 7 hops", thin, plain, SLIGHTLY)
    for _, thin, plain in pairs(data, seven(2.0), "newreno_thin", "newreno", WINDOW):
        yield less("window, 7 hops", thin, plain)


@claim("P0-W-3", "Fewer retransmissions of Vegas save energy", section=WHY)
def _(data: Table) -> Cases:
    for name, words in (("energy_per_bit_j", "0 W idle"), ("energy_with_idle_per_bit_j", "1.15 W idle")):
        for where, vegas, newreno in pairs(data, seven(), "vegas2", "newreno", name):
            yield less(where, vegas, newreno).of(words)


@claim("P0-W-4", "At 5.5 and 11 Mbit/s fewer ACKs leave Vegas more air for data", section=WHY)
def _(data: Table) -> Cases:
    for where, thin, plain in pairs(data, seven(5.5, 11.0), "vegas2_thin", "vegas2", "air_tcp_acks"):
        yield less(f"ACKs, {where}", thin, plain)
    for where, thin, plain in pairs(data, seven(5.5, 11.0), "vegas2_thin", "vegas2", "air_data"):
        yield more(f"data, {where}", thin, plain)


@claim("P0-W-5", "Paced UDP faster than its best is hit by hidden terminals", section=WHY)
def _(data: Table) -> Cases:
    fast, best, slow = data.several([Point(UDP, 7, interval_ms=t) for t in (34.0, 36.0, 42.0)], "hidden_per_10000")
    yield more("34 beside 36 ms", fast, best)
    yield more("34 beside 42 ms", fast, slow)


@claim("P0-W-6", "Most false route failures bring a timeout and a new search", section=WHY)
def _(data: Table) -> Cases:
    for where, p in chains(data, low=7).items():
        point = p._replace(variant="newreno")
        timeouts, failures = (data.get(point, n) for n in ("timeouts_per_10000", FAILURES))
        if timeouts is not None and failures is not None:
            yield above(f"timeouts, {where}", ratio(timeouts, failures), 0.5)
        if (searches := data.get(point, "route_searches")) is not None:
            yield above(f"searches, {where}", searches, 0.5)


STATED_IN = (claims_chain, claims_flows, claims_rates)
"""The modules that state the other claims."""

ALL = CLAIMS.all
"""All claims."""

FINDINGS = (
    Finding(
        "Vegas carries more over chains than NewReno",
        "+15 to +83 %",
        ("P0-A-1", "P0-F6-1", "P0-F11-3"),
        "a small window collides less with itself",
    ),
    Finding(
        "Vegas sends far less again, and routes break less",
        "57 to 99 % fewer",
        ("P0-A-2", "P0-F7-1", "P0-F9-1"),
        "few packets under way, few hidden terminals",
    ),
    Finding(
        "Vegas shares more fairly than NewReno",
        "+21 to +95 %",
        ("P0-A-3", "P0-F17-2", "P0-F19-2"),
        "routing decides who starves, whatever the window",
    ),
    Finding(
        "Vegas keeps its window near the optimum",
        "3.5 to 5.5 packets",
        ("P0-F8-1", "P0-F8-2"),
        "the window is smaller here, and in ns-2.35, too",
    ),
    Finding(
        "ACK thinning helps NewReno at 2 Mbit/s",
        "substantially",
        ("P0-A-10", "P0-F7-3", "P0-F6-5"),
        "fewer ACKs meet the data",
    ),
    Finding(
        "It helps by a smaller window, not by fewer collisions",
        "smaller window",
        ("P0-W-2", "P0-F8-3"),
        "collisions fall and the window grows",
    ),
    Finding(
        "ACK thinning helps Vegas at 5.5 and 11 Mbit/s only",
        "up to +25 %",
        ("P0-A-5", "P0-F11-4", "P0-F11-5"),
        "a lost packet makes the window 3, and the sink waits for a fourth, for good",
    ),
    Finding(
        "Vegas with ACK thinning is the best overall",
        "fairest, 0 to 10 % less goodput",
        ("P0-A-9", "P0-F17-3", "P0-A-4"),
        "fairest at the higher rates, but its goodput falls behind",
    ),
)
"""What the paper concludes."""


def _corrected(p: Point) -> Point:
    """The same with ns-2's Vegas corrected."""
    if not p.variant.startswith("vegas") or "_fix" in p.variant:
        return p
    return p._replace(variant=f"{p.variant[:6]}_fix{p.variant[6:]}")


READINGS = {"Vegas with four of its defects in ns-2.35 corrected": _corrected}
"""Other readings of the paper: its authors corrected defects of ns-2's Vegas that they do not list."""
