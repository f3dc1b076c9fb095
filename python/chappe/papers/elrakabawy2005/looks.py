"""What the looks of all claims are built of: numbers from data, and their words."""

from collections.abc import Callable, Mapping
from functools import wraps

from chappe.papers.elrakabawy2005.points import CHAIN, Point
from chappe.papers.paper import Check, Look, Table
from chappe.stats import Estimate, ratio

GOODPUT = "goodput_kbps"
RETRANSMISSIONS = "retransmitted_pkts_per_10000"
WINDOW = "mean_window_pkts"
FAILURES = "false_route_failures_per_10000"
JAIN = "jain_index"


class MissingError(Exception):
    """The data does not have a run that a look needs."""


def look(found: Callable[[Table], tuple[str, list[Check]]]) -> Callable[[Table], Look]:
    """A look that is ``None`` when a run is missing."""

    @wraps(found)
    def guarded(data: Table) -> Look:
        try:
            return found(data)
        except MissingError:
            return None

    return guarded


def take(data: Table, point: Point, name: str) -> Estimate:
    """A measure of a point that must be there."""
    e = data.get(point, name)
    if e is None:
        raise MissingError
    return e


def chain(data: Table, variant: str, hops: int, name: str, rate: float = 2.0) -> Estimate:
    """A measure of a chain."""
    return take(data, Point(variant, hops, rate), name)


def seven(data: Table, variant: str, rate: float, name: str = GOODPUT) -> Estimate:
    """A measure of the chain of 7 hops."""
    return chain(data, variant, 7, name, rate)


def lengths(data: Table, *variants: str, low: int = 4, high: int = 40) -> list[int]:
    """Lengths of the chains over which all these variants were run at 2 Mbit/s."""
    sets = [
        {p.hops for p in data.values if p == Point(v, p.hops) and p.place == CHAIN and low <= p.hops <= high}
        for v in variants
    ]
    found = sorted(set.intersection(*sets))
    if not found:
        raise MissingError
    return found


def percent(e: Estimate) -> str:
    """A ratio as a gain."""
    half = e.half_width() * 100
    error = f" (± {half:.0f})" if half == half else ""
    return f"{(e.mean - 1) * 100:+.0f} %{error}"


def under(a: Estimate, b: Estimate) -> str:
    """How far ``a`` lies below ``b``, or above."""
    share = 100 * (1 - ratio(a, b).mean)
    return f"{abs(share):.0f} % {'below' if share >= 0 else 'above'}"


def fewer(of: Estimate, than: Estimate) -> Estimate:
    """How many per cent less one is than the other."""
    r = ratio(of, than)
    return Estimate(100 * (1 - r.mean), 1e4 * r.variance, r.df)


def sorted_out(checks: Mapping[str, Check]) -> str:
    """Where something is so, where not, and where it is open."""
    words = {True: "so at", False: "not at", None: "open at"}
    parts = [f"{words[w]} {', '.join(k for k, c in checks.items() if c is w)}" for w in (True, False, None)
             if w in checks.values()]  # fmt: skip
    return "; ".join(parts)
