"""Claims of the abstract, of the conclusion, and on reasons; findings; and all claims in the order of their names."""

from chappe_papers.elrakabawy2005 import claims_chain, claims_flows, claims_rates
from chappe_papers.elrakabawy2005.comparisons import (  # fmt: skip
    ABSTRACT,
    ALL_GRIDS,
    ALL_RANDOM,
    ATTEMPTS,
    CLAIMS,
    MEAN,
    WHY,
    Places,
    best_window,
    chains,
    claim,
    compare,
    each,
    flows,
    gains,
    nothing_at_2,
    seven,
)
from chappe_papers.elrakabawy2005.design import FAILURES, GOODPUT, RETRANSMISSIONS, WINDOW
from chappe_papers.elrakabawy2005.points import PLACES, RATES, UDP, Point
from chappe_papers.judging.claims import Finding, Observations
from chappe_papers.judging.judge import (  # fmt: skip
    AT_LEAST_MUCH,
    PERCENT,
    SLIGHTLY,
    above,
    equal,
    fewer,
    less,
    more,
    never,
)
from chappe_papers.runs.estimates import Estimates
from chappe_papers.statistics.counted import ratio

FU_HOPS = (4, 8, 12, 16, 20)
"""Chains over which the best window is searched."""


def _faster() -> Places:
    """The chain of 7 hops at the higher rates."""
    return [(f"7 hops, {where}", p) for where, p in seven(*RATES[1:])]


@claim("P0-A-1", "Vegas has 15 % to 83 % more goodput than NewReno", section=ABSTRACT, figures=(6, 11))
def _(data: Estimates) -> Observations:
    return compare(data, more, [*chains(data), *_faster()], "vegas2", "newreno", GOODPUT, (1.15, 1.83))


@claim("P0-A-2", "Vegas has 57 % to 99 % fewer retransmissions", section=ABSTRACT, figures=(7, 12))
def _(data: Estimates) -> Observations:
    return compare(data, fewer, [*chains(data), *_faster()], "vegas2", "newreno", RETRANSMISSIONS, (0.57, 0.99))


@claim(
    "P0-A-5",
    "Thinning does not help Vegas at 2 Mbit/s, but by up to 25 % at higher rates",
    first="at 5.5 and 11 Mbit/s",
    hangs=ATTEMPTS,
    section=ABSTRACT,
    figures=(11,),
)
def _(data: Estimates) -> Observations:
    yield from compare(data, more, seven(*RATES[1:]), "vegas2_thin", "vegas2", GOODPUT, (None, 1.25))
    yield from (c.called("at 2 Mbit/s") for c in nothing_at_2(gains(data, seven(), "vegas2_thin", "vegas2")))


@claim("P0-A-6", "No buffer overflows in any experiment", section=ABSTRACT)
def _(data: Estimates) -> Observations:
    own = ("newreno", "vegas2", "newreno_thin", "vegas2_thin")
    places = {
        "chains": chains(data),
        "7 hops": _faster(),
        **{PLACES[n]: flows(n) for n in (*ALL_GRIDS, *ALL_RANDOM)},
    }
    for name, at in places.items():
        drops = [e for v in own for _, e in each(data, at, v, "queue_drops")]
        if drops:
            yield never("", max(drops, key=lambda e: e.mean)).of(name)


@claim("P0-A-7", "The best window over h hops is h/4 (after Fu et al.)", section=ABSTRACT)
def _(data: Estimates) -> Observations:
    for h in FU_HOPS:
        yield from best_window(data, f"{h} hops", Point("", h), h / 4)


@claim("P0-A-8", "From 7 hops on NewReno spends over 40 % of the time in slow start", section=ABSTRACT, figures=(8,))
def _(data: Estimates) -> Observations:
    for where, e in each(data, chains(data, low=7), "newreno", "slow_start"):
        yield above(where, e, 0.4, form=PERCENT)


@claim("P0-A-10", "Thinning helps NewReno substantially at 2 Mbit/s", section=ABSTRACT, figures=(6,))
def _(data: Estimates) -> Observations:
    return compare(data, more, chains(data), "newreno_thin", "newreno", GOODPUT, AT_LEAST_MUCH)


# ---- reasons; their names are ours ----


@claim(
    "P0-W-1",
    "Most losses are drops at hidden terminals, none are drops of full queues",
    first="at hidden terminals",
    section=WHY,
)
def _(data: Estimates) -> Observations:
    for v, name in (("newreno", "NewReno"), ("vegas2", "Vegas")):
        for where, e in each(data, chains(data), v, "lost_to_hidden"):
            yield above(f"{name}, {where}", e, 0.5, form=PERCENT).of("hidden terminals")
        for where, e in each(data, chains(data), v, "lost_to_queues"):
            yield never(f"{name}, {where}", e).of("full queues").called("of full queues")


@claim(
    "P0-W-2",
    "Thinning helps through a smaller window, not fewer collisions",
    first="the window",
    hangs=MEAN,
    section=WHY,
)
def _(data: Estimates) -> Observations:
    a, b = "newreno_thin", "newreno"
    yield from compare(data, less, chains(data), a, b, WINDOW, words="window, {}")
    yield from compare(data, equal, chains(data), a, b, "hidden_per_10000", SLIGHTLY, words="hidden terminals, {}",
                       of="at hidden terminals")  # fmt: skip


@claim("P0-W-3", "Vegas saves energy by fewer retransmissions", section=WHY)
def _(data: Estimates) -> Observations:
    for name, words in (("energy_per_bit_j", "0 W idle"), ("energy_with_idle_per_bit_j", "1.15 W idle")):
        yield from (c.of(words) for c in compare(data, less, seven(), "vegas2", "newreno", name))


@claim("P0-W-7", "Vegas with ACK thinning saves energy, too", section=WHY)
def _(data: Estimates) -> Observations:
    for name, words in (("energy_per_bit_j", "0 W idle"), ("energy_with_idle_per_bit_j", "1.15 W idle")):
        yield from (c.of(words) for c in compare(data, less, seven(), "vegas2_thin", "newreno", name))


@claim(
    "P0-W-4",
    "At 5.5 and 11 Mbit/s fewer ACKs leave Vegas more air time for data",
    first="of data",
    hangs=ATTEMPTS,
    section=WHY,
)
def _(data: Estimates) -> Observations:
    a, b = "vegas2_thin", "vegas2"
    yield from compare(data, more, seven(*RATES[1:]), a, b, "air_data", words="data, {}")
    yield from compare(data, less, seven(*RATES[1:]), a, b, "air_tcp_acks", words="ACKs, {}", of="of ACKs")


@claim("P0-W-5", "Paced UDP that is faster than its best loses to hidden terminals", section=WHY)
def _(data: Estimates) -> Observations:
    fast, best, slow = data.several([Point(UDP, 7, interval_ms=t) for t in (34.0, 36.0, 42.0)], "hidden_per_10000")
    yield more("34 against 36 ms", fast, best)
    yield more("34 against 42 ms", fast, slow)


@claim("P0-W-6", "Most false route failures cause a timeout and a new route discovery", first="timeouts", section=WHY)
def _(data: Estimates) -> Observations:
    timeouts, failures = (dict(each(data, chains(data, low=7), "newreno", n)) for n in ("timeouts_per_10000", FAILURES))
    for where, e in timeouts.items():
        if where in failures:
            yield above(f"timeouts, {where}", ratio(e, failures[where]), 0.5)
    for where, searches in each(data, chains(data, low=7), "newreno", "route_searches"):
        yield above(f"searches, {where}", searches, 0.5).called("searches")


STATED_IN = (claims_chain, claims_flows, claims_rates)
"""The modules that state the other claims."""

ALL = CLAIMS.all
"""All claims."""

FINDINGS = (
    Finding(
        "Vegas has more goodput over chains than NewReno",
        "+15 to +83 %",
        ("P0-A-1", "P0-F6-1"),
        "with a small window fewer packets of a flow collide with each other",
        of="goodput of Vegas compared with NewReno's",
    ),
    Finding(
        "Vegas retransmits far less, and routes break less often",
        "57 to 99 %",
        ("P0-A-2", "P0-F7-1", "P0-F9-1"),
        "few packets are in flight, so that few are lost at hidden terminals",
        of="retransmissions that Vegas saves",
    ),
    Finding(
        "Vegas is fairer than NewReno",
        "+21 to +95 %",
        ("P0-A-3",),
        "routing decides which flows starve, whatever the window",
        of="Jain's index of Vegas compared with NewReno's",
    ),
    Finding(
        "Vegas keeps its window near the optimum",
        "3.5 to 5.5",
        ("P0-F8-1", "P0-F8-2"),
        "the window is smaller here and in ns-2.35 than in the paper",
        of="mean window [packets]",
    ),
    Finding(
        "ACK thinning helps NewReno at 2 Mbit/s",
        "substantially, taken as +50 % or more",
        ("P0-A-10", "P0-F7-3"),
        "fewer ACKs collide with data",
        of="goodput with thinning compared with that without",
    ),
    Finding(
        "ACK thinning helps through a smaller window, not fewer collisions",
        "smaller, no number",
        ("P0-W-2", "P0-F8-3"),
        "collisions become fewer, and the window grows",
        of="NewReno's window with thinning compared with that without",
    ),
    Finding(
        "ACK thinning helps Vegas at 5.5 and 11 Mbit/s only",
        "up to +25 %",
        ("P0-A-5",),
        "after a lost packet the window is 3, and the sink waits for a fourth packet in every round",
        of="goodput of Vegas with thinning compared with that without",
    ),
    Finding(
        "Vegas with ACK thinning is the best overall",
        "+3 to +182 %",
        ("P0-A-9", "P0-F17-3", "P0-A-4"),
        "it is the fairest at the higher rates, but with less goodput",
        of="Jain's index of thinned Vegas compared with others",
    ),
)
"""Conclusions of the paper."""


def _corrected(p: Point) -> Point:
    """The same with ns-2's Vegas corrected."""
    if not p.variant.startswith("vegas") or "_fix" in p.variant:
        return p
    return p._replace(variant=f"{p.variant[:6]}_fix{p.variant[6:]}")


READINGS = {"Vegas with four of its defects in ns-2.35 corrected": _corrected}
"""Other readings of the paper: its authors corrected defects of ns-2's Vegas that they do not list."""
