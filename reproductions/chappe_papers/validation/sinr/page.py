"""The page of the comparison: what agrees, what does not and why, every case."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chappe import text as show

from chappe_papers.validation.compare import CaseByCase, agreement, percent
from chappe_papers.validation.sinr.cases import HERE

if TYPE_CHECKING:
    from chappe_papers.validation.sinr.compare import Comparison


def page(comparisons: "Sequence[Comparison]") -> str:
    """The page."""
    return CASES.page(comparisons, (), CASES.differing(comparisons))


def answer(comparisons: "Sequence[Comparison]") -> str:
    """Number of cases that agree, with and without the peculiarities of ns-3 where they apply."""
    sentence = agreement(comparisons)
    if not (of_kind := [c for c in comparisons if c.plain is not None]):
        return sentence
    with_them, without = sum(c.agrees for c in of_kind), sum(c.agrees_plainly for c in of_kind)
    departing = f"In {len(of_kind)} of them ns-3 departs from the standard: {with_them} agree with its departures, "
    return f"{sentence} {departing}{without} without."


def values(c: "Comparison") -> tuple[str, str, str, str]:
    """Goodput of ns-3 and of Chappe [kbit/s], the difference, and that without departures from the standard."""
    plain = percent(c.plain.mean / c.ns3 - 1) if c.plain and c.ns3 else ""
    off = percent(c.off) if c.ns3 else ""
    return show.number(c.ns3), show.number(c.ours.mean), off, plain


CASES = CaseByCase(
    "sinr",
    "SINR and rate control against ns-3.37",
    HERE,
    (
        "Goodput over one link at a fixed rate agrees when the mean of five runs of Chappe differs from that of ns-3",
        "by at most 3 %, or by two standard errors of the number of packets that it delivered; all other goodputs,",
        "when they differ by at most 10 %. Mean and largest difference are of all chains, and of links over which ns-3",
        "delivered 400 packets or more, so that two standard errors are 10 %.",
    ),
    ("ns-3 [kbit/s]", "ours", "difference", "by our own rules"),
    values,
    answer,
)
"""The comparison, case by case."""
