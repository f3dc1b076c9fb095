"""The page of the comparison: what agrees, what does not and why, every case."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chappe import text as show

from chappe_papers.compare import groups, joined, notes, origin, percent
from chappe_papers.page import table
from chappe_papers.validation.sinr.cases import HERE

if TYPE_CHECKING:
    from chappe_papers.validation.sinr.compare import Comparison


def page(comparisons: "Sequence[Comparison]") -> str:
    """The page."""
    head = [
        "# Validation of SINR and rate control against ns-3.37",
        "",
        f"**{answer(comparisons)}**",
        "",
        "Goodput over one link at a fixed rate agrees when the mean of five runs of Chappe differs from that of ns-3",
        "by at most 3 %, or by two standard errors of the number of packets that it delivered; all other goodputs,",
        "when they differ by at most 10 %. Mean and largest difference are of all chains, and of links over which ns-3",
        "delivered 400 packets or more, so that two standard errors are 10 %.",
        "",
        origin("validate sinr"),
    ]
    counts = table(("cases", *COUNTED), [(kind, *counted(of_kind)) for kind, of_kind in by_kind(comparisons).items()])
    unlike = _table("Cases that do not agree", [c for c in comparisons if not c.agrees])
    return joined(head, counts, notes(HERE), unlike, _table("All cases", comparisons))


def answer(comparisons: "Sequence[Comparison]") -> str:
    """Number of cases that agree, with and without the peculiarities of ns-3 where they apply."""
    unlike = sum(not c.agrees for c in comparisons)
    but = f", {unlike} {'does' if unlike == 1 else 'do'} not" if unlike else ""
    sentence = f"{len(comparisons) - unlike} of {len(comparisons)} cases agree{but}."
    if not (of_kind := [c for c in comparisons if c.plain is not None]):
        return sentence
    with_them, without = sum(c.agrees for c in of_kind), sum(c.agrees_plainly for c in of_kind)
    departing = f"In {len(of_kind)} of them ns-3 departs from the standard: {with_them} agree with its departures, "
    return f"{sentence} {departing}{without} without."


COUNTED = ("agree", "of", "mean difference", "largest")
"""Sentence on the cases of a kind."""


def counted(comparisons: "Sequence[Comparison]") -> tuple[str, str, str, str]:
    """Number of cases that agree, of cases, and the mean and the largest difference of those with enough packets."""
    off = [c.off for c in comparisons if c.is_certain]
    agree = sum(c.agrees for c in comparisons)
    return str(agree), str(len(comparisons)), percent(sum(off) / len(off)), percent(max(off, key=abs))


def by_kind(comparisons: "Sequence[Comparison]") -> "dict[str, list[Comparison]]":
    """The cases by what they count with."""
    return groups(comparisons, lambda c: c.case.kind)


def values(c: "Comparison") -> tuple[str, str, str, str]:
    """Goodput of ns-3 and of Chappe [kbit/s], the difference, and that without departures from the standard."""
    plain = percent(c.plain.mean / c.ns3 - 1) if c.plain and c.ns3 else ""
    off = percent(c.off) if c.ns3 else ""
    return show.number(c.ns3), show.number(c.ours.mean), off, plain


def _table(title: str, comparisons: "Sequence[Comparison]") -> list[str]:
    header = ("case", "ns-3 [kbit/s]", "ours", "difference", "by our own rules", "agrees")
    rows = [(c.case.title, *values(c), "yes" if c.agrees else "**no**") for c in comparisons]
    return [f"## {title}", "", *table(header, rows)] if rows else []
