"""Comparison of every run of ns-3 with 802.11n and 802.11ac with runs of Chappe: the difference of each goodput."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl
from chappe import Scenario
from chappe import text as show
from chappe.stats import Estimate, difference
from chappe.text import Table

from chappe_papers.pages.page import table
from chappe_papers.validation.cases import CaseByCase, Goodputs
from chappe_papers.validation.compare import agreement, difference_from_one, percent, relative, yes
from chappe_papers.validation.wifi_n.cases import CATEGORY, HERE, PAYLOAD, Case, Measured, reference, scenario, senders
from chappe_papers.validation.wifi_n.model import bianchi

TOLERANCES = {"link": 0.01, "sat": 0.03, "edca": 0.03, "snr": 0.03, "hidden": 0.10, "hidden_nobar": 0.10, "tcp": 0.10}
"""Tolerance of the goodput, by table."""


MOST_FLOWS = 4
"""Largest number of flows in a case of access categories."""


def may_be_equal(ns3: Estimate, ours: Estimate) -> bool:
    """True if the 95 % interval of the difference contains zero.

    A single run of ns-3 is taken to scatter as those of Chappe.
    """
    if ours.df < 1:
        return False
    low, high = (difference_from_one(ns3.mean, ours) if ns3.df < 1 else difference(ours, ns3)).interval()
    return low <= 0 <= high


@dataclass(frozen=True)
class Share:
    """Goodput of an access category in a case."""

    case: Case
    category: str
    """Word for the category in the tables."""
    ns3: Estimate
    """Goodput in ns-3 [kbit/s]."""
    ours: Estimate
    """Goodput in Chappe [kbit/s]."""

    @property
    def off(self) -> float:
        """Relative difference of the goodput."""
        return relative(self.ours.mean, self.ns3.mean)

    @property
    def within(self) -> bool:
        """True if the difference is within the tolerance."""
        return abs(self.off) <= TOLERANCES[self.case.table]

    @property
    def agrees(self) -> bool:
        """True if the difference is within the tolerance, or its interval contains zero."""
        return self.within or may_be_equal(self.ns3, self.ours)

    @property
    def is_certain(self) -> bool:
        """True: ns-3 delivers much of every category."""
        return True

    @property
    def title(self) -> str:
        """Case and category in words."""
        return f"{self.case.title}: {CATEGORY[self.category].replace('_', ' ')}"

    @property
    def cells(self) -> tuple[str, str, str]:
        """Goodput in ns-3 and Chappe [kbit/s], and the difference."""
        return show.number(self.ns3.mean), show.number(self.ours.mean), percent(self.off)


@dataclass(frozen=True)
class Comparison(Goodputs[Case]):
    """A case of ns-3 and ours."""

    shares: tuple[Share, ...] = ()
    """Goodput of each access category, in cases of several."""

    @property
    def tolerance(self) -> float:
        """Relative tolerance of the case."""
        return TOLERANCES[self.case.table]

    @property
    def agrees(self) -> bool:
        """True if the difference is within the tolerance, or its interval contains zero."""
        return self.within or may_be_equal(self.ns3, self.ours)

    @property
    def model(self) -> float:
        """Goodput by Bianchi's model [kbit/s], for saturated stations; NaN for others."""
        return bianchi(self.case) / 1e3 if self.case.table == "sat" and self.case.std != "a" else math.nan


def goodput(table: pl.DataFrame) -> Estimate:
    """Goodput of the runs of a case [kbit/s]."""
    return Estimate.of(table["own_kbps"].to_list())


def shares(case: Case, measured: Sequence[Measured], table: pl.DataFrame) -> tuple[Share, ...]:
    """Goodput of each access category."""
    if case.table != "edca":
        return ()
    flows = [category for *_, category in senders(case)]

    def of(category: str) -> Share:
        own = [i for i, c in enumerate(flows) if c == category]
        ns3 = [sum(m.per_flow_bps[i] for i in own) / 1e3 for m in measured]
        ours = [sum(row[f"flow_{i}_kbps"] for i in own) for row in table.iter_rows(named=True)]
        return Share(case, category, Estimate.of(ns3), Estimate.of(ours))

    return tuple(of(category) for category in dict.fromkeys(flows))


class OfWifiN(CaseByCase[Case, Sequence[Measured], Comparison]):
    """The comparison. Links without noise are run with the first seed only: only their backoff is random."""

    name = "wifi-n"
    title = "802.11n and 802.11ac against ns-3.37"
    subject = "802.11n against ns-3"
    folder = HERE
    seeds = range(1, 6)
    rule = (
        "A goodput agrees when the mean of five runs of Chappe, or one over a link without noise, differs from that",
        "of ns-3 by at most 1 % over a saturated link, 3 % for saturated stations, access categories and links with",
        "noise, 10 % with hidden terminals and TCP, or when the 95 % interval of the difference contains zero. Of most",
        "links with noise ns-3 made one run, which is taken to scatter as those of Chappe do. Mean and largest",
        "difference are without links over which ns-3 delivered fewer than 400 packets: two standard errors of fewer",
        "exceed 10 %.",
    )
    columns = ("ns-3 [kbit/s]", "ours", "difference", "by the standard")
    written = (
        "ns3_kbps", "ours_kbps", "plain_kbps", "model_kbps", "tolerance", "agrees", "ns3_shares_kbps",
        "ours_shares_kbps", "shares_agree",
    )  # fmt: skip

    @staticmethod
    def of_run(tables: Mapping[str, pl.DataFrame], /) -> dict[str, float]:
        """The goodput of a run, and those of its first flows."""
        flows = [bps / 1e3 for bps in tables["flows"]["goodput_bps"]]
        first = (flows + [0.0] * MOST_FLOWS)[:MOST_FLOWS]
        return {"own_kbps": sum(flows)} | {f"flow_{i}_kbps": kbps for i, kbps in enumerate(first)}

    def reference(self) -> Mapping[Case, Sequence[Measured]]:
        """The runs of ns-3, by case."""
        return reference()

    def scenario(self, case: Case, *, plain: bool) -> Scenario:
        """The scenario of a case."""
        return scenario(case, plain=plain)

    def departs(self, case: Case) -> bool:
        """True for links whose times on air differ by the standard; without loss nothing else does."""
        return case.table == "link" and (case.std == "ac" or case.gi_ns == 400)

    def weight(self, case: Case) -> float:
        """Seconds of all stations."""
        return case.seconds * len(case.acs.split())

    def seeds_of(self, case: Case, /) -> Sequence[int]:
        """One seed for a link, all seeds for other cases."""
        return self.seeds[:1] if case.table == "link" else self.seeds

    def comparison(
        self, case: Case, ns3: Sequence[Measured], ours: pl.DataFrame, plain: pl.DataFrame | None
    ) -> Comparison:
        """A case of ns-3 and ours."""
        mean = Estimate.of([m.goodput_bps / 1e3 for m in ns3])
        without = None if plain is None else goodput(plain)
        bits = case.seconds * sum(m.goodput_bps for m in ns3)
        packets = bits / 8 / PAYLOAD if case.table in ("link", "snr") else math.inf
        return Comparison(case, mean, goodput(ours), without, packets, shares(case, ns3, ours))

    def of_file(self, c: Comparison) -> Iterator[Sequence[object]]:
        """The line of a case."""
        means = ([s.ns3.mean for s in c.shares], [s.ours.mean for s in c.shares])
        of_shares = (" ".join(map(repr, of_one)) for of_one in means)
        shares_agree = all(s.agrees for s in c.shares)
        yield (*map(repr, (*c.numbers, c.model, c.tolerance)), c.agrees, *of_shares, shares_agree)

    def answers(self, comparisons: Sequence[Comparison], /) -> Sequence[str]:
        """Numbers of cases that agree; those of one saturated link, which are many and easy, by themselves."""
        links, others = ([c for c in comparisons if (c.case.table == "link") == is_link] for is_link in (True, False))
        said = [agreement(others, "cases")] if others else []
        return [*said, f"Over one saturated link {agreement(links, 'further cases')}"] if links else said

    def remarks(self, comparisons: Sequence[Comparison], /) -> Iterator[str]:
        """Number of shares that agree."""
        if of_all := [s for c in comparisons for s in c.shares]:
            yield f"**{agreement(of_all, 'goodputs of single access categories')}** The criterion is the same."

    def sections(self, comparisons: Sequence[Comparison], jobs: int | None, /) -> Iterable[Sequence[str]]:
        """Adds sections on Bianchi's model, and on access categories one by one."""
        differing, every = super().sections(comparisons, jobs)
        return _of_model(comparisons), differing, _of_shares(comparisons), every

    def tables(self, comparisons: Sequence[Comparison], /) -> Iterator[Table]:
        """Adds a table of the shares that do not agree."""
        yield from super().tables(comparisons)
        if unlike := [s for c in comparisons for s in c.shares if not s.agrees]:
            t = show.table("share does not agree", ">ns-3 [kbit/s]", ">ours", ">difference")
            for s in unlike:
                t.add_row(s.title, *s.cells)
            yield t


def _of_shares(comparisons: Sequence[Comparison]) -> list[str]:
    """Section on access categories one by one."""
    header = ("case: category", "ns-3 [kbit/s]", "ours", "difference", "agrees")
    rows = [(s.title, *s.cells, yes(s.agrees)) for c in comparisons for s in c.shares]
    return ["## Access categories one by one", "", *table(header, rows)] if rows else []


def _of_model(comparisons: Sequence[Comparison]) -> list[str]:
    """Section on saturated stations, compared with Bianchi's model."""
    header = ("case", "model [kbit/s]", "ns-3", "ours", "ns-3 to model", "ours to model")
    rows = [
        (
            c.case.title, *(show.number(v) for v in (c.model, c.ns3.mean, c.ours.mean)),
            *(percent(relative(v, c.model)) for v in (c.ns3.mean, c.ours.mean)),
        )
        for c in comparisons
        if not math.isnan(c.model)
    ]  # fmt: skip
    return ["## Bianchi's model", "", *table(header, rows)] if rows else []


VALIDATION = OfWifiN()
