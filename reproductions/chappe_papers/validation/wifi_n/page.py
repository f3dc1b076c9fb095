"""The page of the comparison: what agrees, what does not and why, every case."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chappe import text as show

from chappe_papers.pages.page import table
from chappe_papers.validation.compare import CaseByCase, agreement, percent
from chappe_papers.validation.wifi_n.cases import CATEGORY, HERE

if TYPE_CHECKING:
    from chappe_papers.validation.wifi_n.compare import Comparison, Share


def page(comparisons: "Sequence[Comparison]") -> str:
    """The page."""
    sections = (_model(comparisons), CASES.differing(comparisons), _table_of_shares(comparisons))
    return CASES.page(comparisons, answer_of_shares(comparisons), *sections)


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


CASES = CaseByCase(
    "wifi-n",
    "802.11n and 802.11ac against ns-3.37",
    HERE,
    (
        "A goodput agrees when the mean of five runs of Chappe, or one over a link without noise, differs from that",
        "of ns-3 by at most 1 % over a saturated link, 3 % for saturated stations, access categories and links with",
        "noise, 10 % with hidden terminals and TCP, or when the 95 % interval of the difference contains zero. Of most",
        "links with noise ns-3 made one run, which is taken to scatter as those of Chappe do.",
    ),
    ("ns-3 [kbit/s]", "ours", "difference", "by the standard"),
    values,
    agreement,
)
"""The comparison, case by case."""
