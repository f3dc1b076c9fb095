"""The reasons that the paper gives, checked with the budgets of :mod:`chappe.why`."""

from chappe.papers.elrakabawy2005.looks import FAILURES, WINDOW, chain, lengths, seven
from chappe.papers.elrakabawy2005.points import RATES, UDP, Point
from chappe.papers.looks import MissingError, look, percent, take
from chappe.papers.paper import Check, Claim, Table, above, alike, below, more
from chappe.stats import Estimate, ratio

Found = tuple[str, list[Check]]


def _each(found: list[Estimate]) -> str:
    return ", ".join(f"{e.mean:.2f}" for e in found)


def _range(shares: list[Estimate]) -> str:
    means = [100 * e.mean for e in shares]
    return f"{min(means):.0f} to {max(means):.0f} %"


@look
def _hidden_terminals(data: Table) -> Found:
    hops = lengths(data, "newreno", "vegas2")
    parts: list[str] = []
    checks: list[Check] = []
    for variant, name in (("newreno", "NewReno"), ("vegas2", "Vegas")):
        hidden = [e for h in hops if (e := data.get(Point(variant, h), "lost_to_hidden")) is not None]
        if not hidden:
            raise MissingError
        queues = [chain(data, variant, h, "lost_to_queues") for h in hops]
        parts.append(
            f"{name}: collisions with hidden terminals are {_range(hidden)} of the drops at the retry limit (others "
            f"are mostly refused CTS), full queues {_range(queues)} of all drops"
        )
        checks += [above(e, 0.5) for e in hidden] + [below(e, 0.5) for e in queues]
    return "; ".join(parts), checks


@look
def _why_thinning_helps(data: Table) -> Found:
    hidden = ratio(
        seven(data, "newreno_thin", 2.0, "hidden_per_10000"), seven(data, "newreno", 2.0, "hidden_per_10000")
    )
    window = ratio(seven(data, "newreno_thin", 2.0, WINDOW), seven(data, "newreno", 2.0, WINDOW))
    text = f"over 7 hops drops at hidden terminals {percent(hidden)}, window {percent(window)}"
    return text, [alike(hidden, Estimate(1, 0, 1), 0.2), below(window, 1)]


@look
def _energy(data: Table) -> Found:
    gains = {
        r: ratio(seven(data, "vegas2", r, "energy_uj_per_bit"), seven(data, "newreno", r, "energy_uj_per_bit"))
        for r in RATES
    }
    sent = {r: seven(data, "newreno", r, "air_retransmitted_data") for r in RATES}
    text = ", ".join(f"{percent(g)} at {r:g} Mbit/s" for r, g in gains.items())
    again = ", ".join(f"{100 * e.mean:.1f} %" for e in sent.values())
    return (
        f"energy per delivered bit of Vegas against NewReno over 7 hops: {text}; NewReno's nodes spend {again} "
        "of their time on sending data again",
        [below(g, 1) for g in gains.values()],
    )


@look
def _channel_for_data(data: Table) -> Found:
    parts: list[str] = []
    checks: list[Check] = []
    for rate in RATES[1:]:
        acks = ratio(seven(data, "vegas2_thin", rate, "air_tcp_acks"), seven(data, "vegas2", rate, "air_tcp_acks"))
        own = ratio(seven(data, "vegas2_thin", rate, "air_data"), seven(data, "vegas2", rate, "air_data"))
        parts.append(f"{rate:g} Mbit/s: air time of TCP ACKs {percent(acks)}, of data {percent(own)}")
        checks += [below(acks, 1), above(own, 1)]
    return "; ".join(parts), checks


@look
def _too_fast(data: Table) -> Found:
    times = (34.0, 36.0, 42.0)
    drops = [take(data, Point(UDP, 7, interval_ms=t), "hidden_per_10000") for t in times]
    text = ", ".join(f"{e.mean:.1f} at {t:g} ms" for t, e in zip(times, drops, strict=True))
    return (
        f"drops at hidden terminals per 10,000 delivered: {text}",
        [more(drops[0], drops[1]), more(drops[0], drops[2]), below(drops[2], 10)],
    )


@look
def _false_route_failures(data: Table) -> Found:
    hops = [h for h in lengths(data, "newreno") if h >= 7]
    timeouts = [
        ratio(chain(data, "newreno", h, "timeouts_per_10000"), chain(data, "newreno", h, FAILURES)) for h in hops
    ]
    searches = [e for h in hops if (e := data.get(Point("newreno", h), "route_searches")) is not None]
    text = f"NewReno over {hops[0]} to {hops[-1]} hops: {_each(timeouts)} timeouts"
    text += f" and {_each(searches)} searches for a route" if searches else ""
    text += " for each false route failure"
    waits = [e for h in hops if (e := data.get(Point("newreno", h), "time_route_wait")) is not None]
    if waits:
        drops = [chain(data, "newreno", h, "lost_to_routes") for h in hops]
        text += (
            f"; it waits for a route {_range(waits)} of the time, and {_range(drops)} of the drops are packets "
            "thrown away with the route"
        )
    return text, [above(e, 0.5) for e in (*timeouts, *searches)]


WHY_CLAIMS: tuple[Claim, ...] = (
    Claim(
        "P0-W-1",
        "Most losses of TCP are drops of the link layer at hidden terminals, not buffer overflows (section 1)",
        _hidden_terminals,
        (),
        needs=("chains",),
    ),
    Claim(
        "P0-W-2",
        "Thinning helps NewReno by a smaller window, not by fewer collisions with hidden terminals (section 5)",
        _why_thinning_helps,
        (),
        needs=("seven",),
    ),
    Claim("P0-W-3", "Fewer retransmissions of Vegas save energy (section 4.3)", _energy, (), needs=("seven",)),
    Claim(
        "P0-W-4",
        "At 5.5 and 11 Mbit/s fewer ACKs let Vegas use the channel better for data (section 5)",
        _channel_for_data,
        (),
        needs=("seven",),
    ),
    Claim(
        "P0-W-5",
        "Paced UDP faster than its optimum is hit by hidden terminals; slower, contention is minimal (section 4.3)",
        _too_fast,
        (),
        needs=("cliff",),
    ),
    Claim(
        "P0-W-6",
        "After most false route failures the sender times out, and a new route is sought (section 4.3)",
        _false_route_failures,
        (),
        needs=("chains",),
    ),
)  # fmt: skip
"""Claims on reasons; their names are ours."""
