"""Page of the comparison: every case of ns-3 with ours."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from chappe import text as show
from chappe.stats import Estimate

from chappe_papers.pages.page import table
from chappe_papers.validation.compare import groups, joined, notes, origin, percent
from chappe_papers.validation.standard.cases import HERE, KINDS, Case
from chappe_papers.validation.standard.defaults import section
from chappe_papers.validation.standard.ns3 import FAILURES, FIRST, GIVEN_UP, GOODPUT

if TYPE_CHECKING:
    from chappe_papers.validation.standard.compare import Comparison


def page(
    comparisons: "Sequence[Comparison]",
    unlike: Mapping[Case, Mapping[str, Estimate]],
    moved: dict[str, list[Estimate]],
) -> str:
    """The page.

    Args:
        comparisons: The cases.
        unlike: Measures of Chappe with the short preamble that ns-3 does not have at 2 Mbit/s.
        moved: Goodputs of :func:`chappe_papers.validation.standard.defaults.run`.
    """
    return joined(
        _head(comparisons),
        table(("cases", "agree", "of", "largest difference"), summary(comparisons)),
        notes(HERE),
        _rules(comparisons),
        _preamble(comparisons, unlike),
        section(moved),
        _table("Cases that do not agree", [c for c in comparisons if not c.agrees]),
        _table("All cases", [c for c in comparisons if not c.further]),
        _table("Further cases", [c for c in comparisons if c.further]),
    )


def _head(comparisons: "Sequence[Comparison]") -> list[str]:
    main, further = [c for c in comparisons if not c.further], [c for c in comparisons if c.further]
    lines = ["# Validation of the preset `standard` against ns-3.37", "", _agreement(main, "cases"), ""]
    if further:
        lines += [_agreement(further, "further cases"), ""]
    lines += [
        "Goodput agrees when the mean of ten runs of Chappe differs from that of five runs of ns-3 by at most 3 %, or",
        "by no more than the half width of the 95 % Welch interval of the difference. Two rules of ns-3 are corrected",
        "where they matter, and four cases use a long preamble here because ns-3 has no other; see below.",
        "",
        origin("validate standard"),
    ]
    return lines


def _agreement(comparisons: "Sequence[Comparison]", what: str) -> str:
    agree = sum(c.agrees for c in comparisons)
    worst = max(comparisons, key=lambda c: abs(c.off))
    differing = [c for c in comparisons if not c.agrees]
    rest = f" The others: {'; '.join(f'{c.case.title} ({percent(c.off)})' for c in differing)}." if differing else ""
    return (
        f"**{agree} of {len(comparisons)} {what} agree.** The largest difference is {percent(worst.off)} "
        f"({worst.case.title}).{rest}"
    )


def summary(comparisons: "Sequence[Comparison]") -> list[list[str]]:
    """Of each kind: its name, how many cases agree, of how many, and the largest difference."""
    by_kind = groups(comparisons, lambda c: c.case.kind)
    present = [(title, by_kind[kind]) for kind, title in KINDS.items() if kind in by_kind]
    return [
        [title, str(sum(c.agrees for c in cases)), str(len(cases)), percent(max((c.off for c in cases), key=abs))]
        for title, cases in present
    ]


def _rules(comparisons: "Sequence[Comparison]") -> list[str]:
    """Effect of mending two rules of ns-3."""
    mended = [(c, c.own) for c in comparisons if c.own is not None]
    if not mended:
        return []
    lines = [
        "## ns-3's own rules",
        "",
        "Goodput [kbit/s] of ns-3 as it comes and with the two rules mended, where that makes a difference, and ours.",
        "",
    ]
    rows = []
    for c, unmended in mended:
        change = percent(c.ours[GOODPUT].mean / unmended[GOODPUT].mean - 1)
        rows.append([c.case.title, *(_kbps(e[GOODPUT]) for e in (unmended, c.ns3, c.ours)), change, percent(c.off)])
    return lines + table(("case", "own rules", "mended", "ours", "against own rules", "against mended"), rows)


def _preamble(comparisons: "Sequence[Comparison]", unlike: Mapping[Case, Mapping[str, Estimate]]) -> list[str]:
    if not unlike:
        return []
    lines = [
        "## The short preamble at 2 Mbit/s",
        "",
        "Goodput [kbit/s] where data have the short preamble and control frames 2 Mbit/s: of ns-3, ours with the long",
        'preamble of control frames as in ns-3 (`wlan.basic_preamble = "long"`), which is what is compared, and ours',
        "with the short one.",
        "",
    ]
    rows = []
    for c in comparisons:
        if c.case in unlike:
            goodputs = (c.ns3[GOODPUT], c.ours[GOODPUT], unlike[c.case][GOODPUT])
            rows.append([c.case.title, *map(_kbps, goodputs), percent(goodputs[2].mean / goodputs[0].mean - 1)])
    return lines + table(("case", "ns-3", "ours, long", "ours, short", "against ns-3"), rows)


def _table(title: str, comparisons: "Sequence[Comparison]") -> list[str]:
    if not comparisons:
        return []
    lines = [
        f"## {title}",
        "",
        "Each pair is ns-3, then ours: goodput of all flows and of the first [kbit/s], with the half width of the 95 %",
        "interval of the difference; the share of attempts that fail, of RTS or, without, of data frames; packets",
        "given up each second.",
        "",
        "| case | goodput | | half width | difference | first flow | | fail | | given up | | agrees |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    return lines + [f"| {' | '.join(_cells(c))} |" for c in comparisons]


def _cells(c: "Comparison") -> list[str]:
    pairs = {name: (c.ns3[name], c.ours[name]) for name in (GOODPUT, FIRST, FAILURES, GIVEN_UP)}
    return [
        c.case.title,
        *map(_kbps, pairs[GOODPUT]),
        show.number(c.half_width / 1e3, 2),
        percent(c.off),
        *map(_kbps, pairs[FIRST]),
        *(f"{e.mean:.4f}" for e in pairs[FAILURES]),
        *(show.number(e.mean, 3) for e in pairs[GIVEN_UP]),
        "yes" if c.agrees else "**no**",
    ]


def _kbps(e: Estimate) -> str:
    return show.number(e.mean / 1e3)
