"""Comparison of every run of ns-3 with runs of Chappe: the difference of each goodput."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl
from chappe import Scenario
from chappe import text as show
from chappe.stats import Estimate, difference

from chappe_papers.pages.page import table
from chappe_papers.validation.cases import CaseByCase
from chappe_papers.validation.compare import agreement, percent, relative, yes
from chappe_papers.validation.standard import defaults
from chappe_papers.validation.standard.cases import HERE, KINDS, SECONDS, WARM_UP, Case, scenario
from chappe_papers.validation.standard.ns3 import (
    COUNTED,
    FAILURES,
    FIRST,
    GIVEN_UP,
    GOODPUT,
    MEASURES,
    Reference,
    Run,
    measured,
    reference,
)

TOLERANCE = 0.03
"""Tolerance of the goodput."""

FURTHER = frozenset(
    Case("sat", stations, 1, 11, rts, control, short)
    for stations in (1, 5)
    for rts in (False, True)
    for control, short in ((2, False), (1, True))
)
"""Cases in addition to the 56: each of the two that the short preamble mixes, alone."""

INTRODUCTION = (
    "Each pair is ns-3, then ours: goodput of all flows and of the first [kbit/s], with the half width of the 95 %",
    "interval of the difference; the share of attempts that fail, of RTS or, without, of data frames; packets",
    "given up each second.",
)
"""Lines above tables of cases."""

Measured = Mapping[str, Estimate]
"""Measures of runs, by name."""


@dataclass(frozen=True)
class Comparison:
    """A case of ns-3 and ours."""

    case: Case
    ns3: Measured
    """Measures of the runs of ns-3 that are compared."""
    ours: Measured
    plain: Measured | None = None
    """Our measures with the short preamble, which ns-3 does not have at 2 Mbit/s."""
    own: Measured | None = None
    """Measures of ns-3 with its own rules, where the compared runs have mended rules."""

    @property
    def off(self) -> float:
        """Relative difference of the goodput."""
        return relative(self.ours[GOODPUT].mean, self.ns3[GOODPUT].mean)

    @property
    def half_width(self) -> float:
        """Half width of the 95 % Welch interval of the difference of the goodputs [bit/s]."""
        return difference(self.ours[GOODPUT], self.ns3[GOODPUT]).half_width()

    @property
    def within(self) -> bool:
        """True if the difference is at most 3 %."""
        return abs(self.ours[GOODPUT].mean - self.ns3[GOODPUT].mean) <= TOLERANCE * self.ns3[GOODPUT].mean

    @property
    def agrees(self) -> bool:
        """True if the difference is at most 3 % or the half width."""
        return self.within or abs(self.ours[GOODPUT].mean - self.ns3[GOODPUT].mean) <= self.half_width

    @property
    def is_certain(self) -> bool:
        """True: ns-3 delivers much in every case."""
        return True

    @property
    def cells(self) -> Sequence[str]:
        """Both goodputs and the half width."""
        return [show.number(v / 1e3) for v in (self.ns3[GOODPUT].mean, self.ours[GOODPUT].mean, self.half_width)]


def estimates(runs: Sequence[Run]) -> dict[str, Estimate]:
    """The measures of a case from its runs, one per seed: independent replications."""
    return {name: Estimate.of([r[name] for r in runs]) for name in MEASURES}


class OfStandard(CaseByCase[Case, Reference, Comparison]):
    """The comparison.

    Attributes:
        seconds: Length of a run.
    """

    name = "standard"
    title = "the preset `standard` against ns-3.37"
    subject = "standard against ns-3"
    folder = HERE
    seeds = range(1, 11)
    seconds = SECONDS
    rule = (
        "Goodput agrees when the mean of ten runs of Chappe differs from that of five runs of ns-3 by at most 3 %, or",
        "by no more than the half width of the 95 % Welch interval of the difference. Two rules of ns-3 are corrected",
        "where they matter, and four cases use a long preamble here because ns-3 has no other; see below.",
    )
    counted = ("agree", "of", "only by the interval", "largest difference")
    columns = ("ns-3 [kbit/s]", "ours", "half width")
    written = ("measure", "ns3", "ours", "half_width_95", "ns3_own_rules", "agrees")

    @staticmethod
    def of_run(tables: Mapping[str, pl.DataFrame], /) -> dict[str, float]:
        """Goodputs of a run, and sums over its nodes."""
        flows, nodes = tables["flows"], tables["nodes"]
        sums = {
            name: float(nodes[name].sum())
            for name in ("rts_frames_sent", "data_frames_sent", "rts_frames_failed", "data_frames_failed")
        }
        given_up = float(nodes["mac_data_given_up"].sum()) + float(nodes["mac_tcp_acks_given_up"].sum())
        goodput = flows["goodput_bps"].to_list()
        return {**sums, "given_up": given_up, "total_bps": sum(goodput), "flow0_bps": goodput[0]}

    def reference(self) -> Mapping[Case, Reference]:
        """The runs of ns-3, by case."""
        return reference()

    def departs(self, case: Case) -> bool:
        """True for a case with a long preamble in ns-3."""
        return case.has_long_preamble_in_ns3

    def weight(self, case: Case) -> float:
        """The rate: the number of frames grows with it."""
        return case.mbps

    def scenario(self, case: Case, *, plain: bool) -> Scenario:
        """The scenario of a case."""
        return scenario(case, self.seconds, plain=plain)

    def words(self, kind: str, /) -> str:
        """A kind of cases, for people."""
        return KINDS[kind]

    def comparison(self, case: Case, ns3: Reference, ours: pl.DataFrame, plain: pl.DataFrame | None) -> Comparison:
        """A case of ns-3 and ours."""
        length = float(self.seconds - WARM_UP)

        def of(runs: pl.DataFrame) -> dict[str, Estimate]:
            rows = runs.select(COUNTED[1:]).iter_rows(named=True)
            return estimates([measured({"seconds": length, **row}, case) for row in rows])

        without = None if plain is None else of(plain)
        return Comparison(case, estimates(ns3.best), of(ours), without, estimates(ns3.own) if ns3.mended else None)

    def count(self, comparisons: Sequence[Comparison]) -> Sequence[str]:
        """The cells of ``counted``, which omits the mean difference."""
        agree, of, by_interval, _, largest = super().count(comparisons)
        return agree, of, by_interval, largest

    def of_file(self, c: Comparison) -> Iterator[Sequence[object]]:
        """A line for each measure."""
        for name in MEASURES:
            half = difference(c.ours[name], c.ns3[name]).half_width()
            numbers = (c.ns3[name].mean, c.ours[name].mean, half, c.own[name].mean if c.own else math.nan)
            yield (name, *map(repr, numbers), c.agrees if name == GOODPUT else "")

    def answers(self, _comparisons: Sequence[Comparison], /) -> Sequence[str]:
        """No lines: the summary has the numbers."""
        return ()

    def head(self, comparisons: Sequence[Comparison], /) -> Iterator[str]:
        """Number of agreements and largest difference, for the cases and for the further cases."""
        for what, some in zip(("cases", "further cases"), _parts(comparisons), strict=True):
            if some:
                yield _agreement(some, what)

    def sections(self, comparisons: Sequence[Comparison], jobs: int | None, /) -> Iterable[Sequence[str]]:
        """Sections on rules and preamble of ns-3, on the defaults of ns-2, and on the cases."""
        main, further = _parts(comparisons)
        return (
            _rules(comparisons),
            _preamble(comparisons),
            defaults.section(defaults.run(jobs)),
            self.differing(comparisons),
            self.section("All cases", main),
            self.section("Further cases", further),
        )

    def section(self, title: str, comparisons: Sequence[Comparison]) -> list[str]:
        """A section of the page with some cases, in all measures; empty without cases."""
        if not comparisons:
            return []
        lines = [
            f"## {title}",
            "",
            *INTRODUCTION,
            "",
            "| case | goodput | | half width | difference | first flow | | fail | | given up | | agrees |",
            "|---|---|---|---|---|---|---|---|---|---|---|---|",
        ]
        return lines + [f"| {' | '.join(_cells(c))} |" for c in comparisons]


def _parts(comparisons: Sequence[Comparison]) -> tuple[list[Comparison], list[Comparison]]:
    """The 56 cases, and the further cases."""
    further = [c for c in comparisons if c.case in FURTHER]
    return [c for c in comparisons if c.case not in FURTHER], further


def _agreement(comparisons: Sequence[Comparison], what: str) -> str:
    worst = max(comparisons, key=lambda c: abs(c.off))
    differing = [c for c in comparisons if not c.agrees]
    rest = f" The others: {'; '.join(f'{c.case.title} ({percent(c.off)})' for c in differing)}." if differing else ""
    return (
        f"**{agreement(comparisons, what)}** The largest difference is {percent(worst.off)} ({worst.case.title}).{rest}"
    )


def _rules(comparisons: Sequence[Comparison]) -> list[str]:
    """Section on the effect of mending two rules of ns-3."""
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
        change = percent(relative(c.ours[GOODPUT].mean, unmended[GOODPUT].mean))
        rows.append([c.case.title, *(_kbps(e[GOODPUT]) for e in (unmended, c.ns3, c.ours)), change, percent(c.off)])
    return lines + table(("case", "own rules", "mended", "ours", "against own rules", "against mended"), rows)


def _preamble(comparisons: Sequence[Comparison]) -> list[str]:
    """Section on the preamble that ns-3 has at 2 Mbit/s."""
    unlike = [(c, c.plain) for c in comparisons if c.plain is not None]
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
    for c, plain in unlike:
        goodputs = (c.ns3[GOODPUT], c.ours[GOODPUT], plain[GOODPUT])
        rows.append([c.case.title, *map(_kbps, goodputs), percent(relative(goodputs[2].mean, goodputs[0].mean))])
    return lines + table(("case", "ns-3", "ours, long", "ours, short", "against ns-3"), rows)


def _cells(c: Comparison) -> list[str]:
    pairs = {name: (c.ns3[name], c.ours[name]) for name in (GOODPUT, FIRST, FAILURES, GIVEN_UP)}
    return [
        c.case.title,
        *map(_kbps, pairs[GOODPUT]),
        show.number(c.half_width / 1e3, 2),
        percent(c.off),
        *map(_kbps, pairs[FIRST]),
        *(f"{e.mean:.4f}" for e in pairs[FAILURES]),
        *(show.number(e.mean, 3) for e in pairs[GIVEN_UP]),
        yes(c.agrees),
    ]


def _kbps(e: Estimate) -> str:
    return show.number(e.mean / 1e3)


VALIDATION = OfStandard()
