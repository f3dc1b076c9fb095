"""Claims of the abstract and the conclusion, over several figures."""

from chappe.papers.elrakabawy2005.experiments import FU_HOPS, WINDOWS
from chappe.papers.elrakabawy2005.looks import GOODPUT, RETRANSMISSIONS, chain, fewer, lengths, seven
from chappe.papers.elrakabawy2005.points import CHAIN, DRAWN, GRIDS, LISTED, RATES, VARIANTS, Point
from chappe.papers.looks import MissingError, look, percent
from chappe.papers.paper import Check, Claim, Table, about, above, alike, between, negated
from chappe.show import number
from chappe.stats import Estimate, ratio

Found = tuple[str, list[Check]]


def _everywhere(data: Table, name: str) -> dict[str, tuple[Estimate, Estimate]]:
    """Vegas and NewReno over all chains at 2 Mbit/s, and over 7 hops at the other rates."""
    found = {
        f"{h} hops": (chain(data, "vegas2", h, name), chain(data, "newreno", h, name))
        for h in lengths(data, "vegas2", "newreno")
    }
    for r in RATES[1:]:
        found[f"7 hops at {r:g} Mbit/s"] = seven(data, "vegas2", r, name), seven(data, "newreno", r, name)
    return found


@look
def _goodput(data: Table) -> Found:
    gains = {k: ratio(*pair) for k, pair in _everywhere(data, GOODPUT).items()}
    low, high = min(gains, key=lambda k: gains[k].mean), max(gains, key=lambda k: gains[k].mean)
    text = f"{percent(gains[low])} ({low}) to {percent(gains[high])} ({high})"
    return text, [between(g, 1.15, 1.83) for g in gains.values()]


@look
def _retransmissions(data: Table) -> Found:
    less = {k: fewer(*pair) for k, pair in _everywhere(data, RETRANSMISSIONS).items()}
    low, high = min(less, key=lambda k: less[k].mean), max(less, key=lambda k: less[k].mean)
    text = f"{less[low].mean:.0f} % ({low}) to {less[high].mean:.1f} % ({high}) fewer"
    # "99 %" is any number that is rounded to it, or better.
    return text, [between(e, 57, 100) for e in less.values()]


@look
def _thinning(data: Table) -> Found:
    gains = [ratio(seven(data, "vegas2_thin", r), seven(data, "vegas2", r)) for r in RATES]
    best = {v: e for v in ("vegas3", "vegas4") if (e := data.get(Point(f"{v}_thin", 7, 11.0), GOODPUT)) is not None}
    others = [f"alpha = {v[5]} {percent(ratio(e, seven(data, v, 11.0)))}" for v, e in best.items()]
    text = f"{', '.join(percent(g) for g in gains)} at 2, 5.5 and 11 Mbit/s"
    text += f"; at 11 Mbit/s {', '.join(others)}" if others else ""
    most = max(gains[1:], key=lambda g: g.mean)
    return text, [negated(above(gains[0], 1.05)), about(most, 1.25, 0.05)]


@look
def _no_overflow(data: Table) -> Found:
    parts: list[str] = []
    checks: list[Check] = []
    for name, places in (("chains", (CHAIN,)), ("grids", tuple(GRIDS)), ("random topologies", (*LISTED, *DRAWN))):
        drops = {
            p: e
            for p in data.values
            if p.place in places and p.variant in VARIANTS and (e := data.get(p, "queue_drops")) is not None
        }
        if drops:
            worst = max(drops, key=lambda p: drops[p].mean)
            most = drops[worst].mean
            how = f"up to {number(most, 3)} packets a run ({worst.variant}, {worst.rate_mbps:g} Mbit/s)"
            parts.append(f"{name}: {how if most else 'none'}")
            checks.append(most == 0)
    if not parts:
        raise MissingError
    return f"dropped from full queues in {'; '.join(parts)}", checks


@look
def _quarter(data: Table) -> Found:
    parts, checks = [], []
    for h in FU_HOPS:
        known = {w: e for w in WINDOWS if (e := data.get(Point(f"newreno_maxwin{w}", h), GOODPUT)) is not None}
        if len(known) < 2:
            continue
        best = max(known, key=lambda w: known[w].mean)
        quarter = min(known, key=lambda w: abs(w - h / 4))
        parts.append(f"{best} at {h} hops (window {quarter}: {percent(ratio(known[quarter], known[best]))})")
        checks.append(alike(known[quarter], known[best], 0.05))
    if not parts:
        raise MissingError
    return f"best window {', '.join(parts)}", checks


@look
def _slow_start(data: Table) -> Found:
    shares = {
        h: e for h in lengths(data, "newreno", low=7) if (e := data.get(Point("newreno", h), "slow_start")) is not None
    }
    if not shares:
        raise MissingError
    text = ", ".join(f"{100 * e.mean:.0f} % at {h}" for h, e in shares.items()) + " hops"
    # cwnd is below ssthresh, too, while a flow waits for the timer of the segment that a timeout has sent again.
    budgets = [(data.get(Point("newreno", h), n)) for h in shares for n in ("time_slow_start", "time_timeout_wait")]
    if known := [e.mean for e in budgets if e is not None]:
        growing, waiting = known[::2], known[1::2]
        text += (
            f"; of its time {100 * min(growing):.0f} to {100 * max(growing):.0f} % are slow start with segments "
            f"under way, and {100 * min(waiting):.0f} to {100 * max(waiting):.0f} % waiting for a timeout"
        )
    return text, [above(e, 0.4) for e in shares.values()]


GENERAL_CLAIMS: tuple[Claim, ...] = (
    Claim("P0-A-1", "Vegas has 15 % to 83 % more goodput than NewReno", _goodput, (6, 11)),
    Claim("P0-A-2", "Vegas has 57 % to 99 % fewer retransmissions than NewReno", _retransmissions, (7, 12)),
    Claim(
        "P0-A-5",
        "Thinning gives Vegas almost no goodput at 2 Mbit/s, and up to 25 % at 5.5 and 11 Mbit/s",
        _thinning,
        (11,),
    ),
    Claim(
        "P0-A-6",
        "All losses are losses of the link layer: no buffer overflows in any experiment",
        _no_overflow,
        (),
        needs=("chains", "seven", "grid", "random"),
    ),
    Claim(
        "P0-A-7",
        "The best window over h hops is h/4 (quoted from Fu et al., said to be consistent)",
        _quarter,
        (),
        needs=("quarter",),
    ),
    Claim(
        "P0-A-8", "Over 7 hops or more NewReno spends more than 40 % of the time in slow start", _slow_start, (8,)
    ),
)  # fmt: skip
"""Claims that are not about one figure."""
