"""What the looks of the claims of this paper have in common."""

from chappe.papers.elrakabawy2005.points import CHAIN, Point
from chappe.papers.looks import MissingError, take
from chappe.papers.paper import Table
from chappe.stats import Estimate, ratio

GOODPUT = "goodput_kbps"
RETRANSMISSIONS = "retransmitted_pkts_per_10000"
WINDOW = "mean_window_pkts"
FAILURES = "false_route_failures_per_10000"
JAIN = "jain_index"


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


def under(a: Estimate, b: Estimate) -> str:
    """How far ``a`` lies below ``b``, or above."""
    share = 100 * (1 - ratio(a, b).mean)
    return f"{abs(share):.0f} % {'below' if share >= 0 else 'above'}"


def fewer(of: Estimate, than: Estimate) -> Estimate:
    """How many per cent less one is than the other."""
    r = ratio(of, than)
    return Estimate(100 * (1 - r.mean), 1e4 * r.variance, r.df)
