"""The page of the comparison: what agrees, what does not and why, every case."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chappe import text as show

from chappe_papers.compare import groups, joined, notes, origin, percent
from chappe_papers.page import table
from chappe_papers.validation.wifi_n.cases import CATEGORY, HERE

if TYPE_CHECKING:
    from chappe_papers.validation.wifi_n.compare import Comparison, Share


def page(comparisons: "Sequence[Comparison]") -> str:
    """The page."""
    head = [
        "# Validation of 802.11n and 802.11ac against ns-3.37",
        "",
        f"**{answer(comparisons)}**",
        "",
        "A goodput agrees when the mean of five runs of Chappe, or one over a link without noise, differs from that",
        "of ns-3 by at most 1 % over a saturated link, 3 % for saturated stations, access categories and links with",
        "noise, 10 % with hidden terminals and TCP, or when the 95 % interval of the difference contains zero. Of most",
        "links with noise ns-3 made one run, which is taken to scatter as those of Chappe do.",
        "",
        *answer_of_shares(comparisons),
        origin("validate wifi-n"),
    ]
    counts = table(("cases", *COUNTED), [(kind, *counted(of_kind)) for kind, of_kind in by_kind(comparisons).items()])
    unlike = _table("Cases that do not agree", [c for c in comparisons if not c.agrees])
    shares = _table_of_shares(comparisons)
    return joined(head, counts, notes(HERE), _model(comparisons), unlike, shares, _table("All cases", comparisons))


def answer(comparisons: "Sequence[Comparison]") -> str:
    """Number of cases that agree."""
    unlike = sum(not c.agrees for c in comparisons)
    but = f", {unlike} {'does' if unlike == 1 else 'do'} not" if unlike else ""
    return f"{len(comparisons) - unlike} of {len(comparisons)} cases agree{but}."


def answer_of_shares(comparisons: "Sequence[Comparison]") -> list[str]:
    """Paragraph on the shares that agree."""
    shares = [s for c in comparisons for s in c.shares]
    if not shares:
        return []
    agree = sum(s.agrees for s in shares)
    return [
        f"**Of {len(shares)} goodputs of single access categories {agree} agree**, by the same criterion.",
        "",
    ]


COUNTED = ("agree", "of", "mean difference", "largest")
"""Sentence on the cases of a kind."""


def counted(comparisons: "Sequence[Comparison]") -> tuple[str, str, str, str]:
    """Number of cases that agree, of cases, and the mean and the largest difference of those that deliver anything."""
    off = [c.off for c in comparisons if c.ns3.mean]
    agree = sum(c.agrees for c in comparisons)
    if not off:
        return str(agree), str(len(comparisons)), "", ""
    return str(agree), str(len(comparisons)), percent(sum(off) / len(off)), percent(max(off, key=abs))


def by_kind(comparisons: "Sequence[Comparison]") -> "dict[str, list[Comparison]]":
    """The cases by what they count with."""
    return groups(comparisons, lambda c: c.case.kind)


def values(c: "Comparison") -> tuple[str, str, str, str]:
    """Goodput of ns-3 and of Chappe [kbit/s], the difference, and that without departures from the standard."""
    plain = percent(c.plain.mean / c.ns3.mean - 1) if c.plain and c.ns3.mean else ""
    off = percent(c.off) if c.ns3.mean else ""
    return show.number(c.ns3.mean), show.number(c.ours.mean), off, plain


def title_of_share(s: "Share") -> str:
    """Case and category, for people."""
    return f"{s.case.title}: {CATEGORY[s.category].replace('_', ' ')}"


def values_of_share(s: "Share") -> tuple[str, str, str]:
    """Goodput of a category in ns-3 and in Chappe [kbit/s], and the difference."""
    return show.number(s.ns3.mean), show.number(s.ours.mean), percent(s.off) if s.ns3.mean else ""


def means_of_shares(c: "Comparison") -> tuple[list[float], list[float]]:
    """Goodput of each category in ns-3 and in Chappe [kbit/s]."""
    return [s.ns3.mean for s in c.shares], [s.ours.mean for s in c.shares]


def _table_of_shares(comparisons: "Sequence[Comparison]") -> list[str]:
    header = ("case: category", "ns-3 [kbit/s]", "ours", "difference", "agrees")
    shares = [s for c in comparisons for s in c.shares]
    rows = [(title_of_share(s), *values_of_share(s), "yes" if s.agrees else "**no**") for s in shares]
    return ["## Access categories one by one", "", *table(header, rows)] if rows else []


def _model(comparisons: "Sequence[Comparison]") -> list[str]:
    """Saturated stations beside Bianchi's model."""
    known = [c for c in comparisons if not math.isnan(c.model)]
    header = ("case", "model [kbit/s]", "ns-3", "ours", "ns-3 to model", "ours to model")
    rows = [
        (
            c.case.title, show.number(c.model), show.number(c.ns3.mean), show.number(c.ours.mean),
            percent(c.ns3.mean / c.model - 1), percent(c.ours.mean / c.model - 1),
        )
        for c in known
    ]  # fmt: skip
    return ["## Bianchi's model", "", *table(header, rows)] if rows else []


def _table(title: str, comparisons: "Sequence[Comparison]") -> list[str]:
    header = ("case", "ns-3 [kbit/s]", "ours", "difference", "by the standard", "agrees")
    rows = [(c.case.title, *values(c), "yes" if c.agrees else "**no**") for c in comparisons]
    return [f"## {title}", "", *table(header, rows)] if rows else []
