"""Page of the comparison: every column of ns-2's runs with ours, by movement pattern and together."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from chappe import text as show
from chappe.stats import Estimate

from chappe_papers.pages.page import table
from chappe_papers.validation.compare import joined, notes, origin
from chappe_papers.validation.dsr.cases import HERE, WALKS

if TYPE_CHECKING:
    from chappe_papers.validation.dsr.compare import Column, Ratio


TITLES = {"newreno": "NewReno flows among 15 nodes", "vegas": "Vegas flows among 18 nodes"}


def page(columns_of: "Mapping[str, Sequence[Column]]") -> str:
    """The page."""
    head = [
        "# Validation of DSR between mobile nodes against ns-2.35",
        "",
        *(f"**{line}**\n" for line in answers(columns_of)),
        "Each number is a mean of runs of 200 s: forty of Chappe with each movement pattern, and eight (NewReno) or",
        "forty (Vegas) of ns-2. A column agrees when the 95 % interval of the ratio of the means, over the patterns",
        "of its flows, overlaps 0.9 to 1.1. Where one simulator has none, the shares of runs that have any are",
        "compared (Fisher's exact test, 5 %).",
        "",
        origin("validate dsr"),
    ]
    return joined(head, notes(HERE), *(_table(case, columns) for case, columns in columns_of.items()))


def answers(columns_of: "Mapping[str, Sequence[Column]]") -> list[str]:
    """A line for each case."""
    return [f"{TITLES[case]}: {answer(columns)}" for case, columns in columns_of.items()]


def answer(columns: "Sequence[Column]") -> str:
    """Count of the columns that agree, those that decide little, and the names of the others; empty columns apart."""
    judged = [c for c in columns if not c.together.is_empty]
    agree = [c for c in judged if c.together.agrees]
    wide = sum(c.together.is_wide for c in agree)
    unlike = ", ".join(f"`{c.name}`" for c in judged if not c.together.agrees)
    sentence = [f"{len(agree)} of {len(judged)} columns agree, {wide} of them with intervals of more than +- 20 %."]
    sentence += [f"These do not: {unlike}."] if unlike else []
    if empty := len(columns) - len(judged):
        sentence.append(f"Columns that are 0 in every run of both: {empty}.")
    return " ".join(sentence)


def _table(case: str, columns: "Sequence[Column]") -> list[str]:
    rows = []
    for c in columns:
        numbers = (number(c.together.ns2), number(c.together.ours), ratio(c.together))
        agrees = "0" if c.together.is_empty else "yes" if c.together.agrees else "**no**"
        rows.append([f"`{c.name}`", *map(ratio, c.walks.values()), *numbers, agrees])
    header = ("column", *WALKS[case], "ns-2", "ours", "together", "agrees")
    return [f"## {TITLES[case]}", "", *table(header, rows)]


def ratio(r: "Ratio") -> str:
    """A ratio with its interval."""
    e = r.estimate
    if math.isnan(e.mean):
        return "-"
    low, high = e.interval()
    return f"{e.mean:.2f}" if low == high else f"{e.mean:.2f} ({low:.2f} to {high:.2f})"


def number(e: Estimate) -> str:
    """A mean."""
    return show.number(e.mean)
