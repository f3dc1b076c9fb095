"""Comparison of every run of ns-3 under SINR with runs of Chappe: the difference of each goodput."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl
from chappe import Scenario
from chappe.stats import Estimate

from chappe_papers.validation.cases import CaseByCase, Goodputs
from chappe_papers.validation.compare import agreement, relative
from chappe_papers.validation.sinr.cases import HERE, PACKET, Case, habits, reference, scenario

FIXED = 0.03
"""Tolerance of the goodput over one link at a fixed rate."""

CHOSEN = 0.10
"""Tolerance of the goodput with rate control, and over chains."""


Runs = Sequence[tuple[float, float]]
"""Seconds and goodput [kbit/s] of each run of ns-3."""


@dataclass(frozen=True)
class Comparison(Goodputs[Case]):
    """A case of ns-3 and ours."""

    @property
    def tolerance(self) -> float:
        """Relative tolerance of the case."""
        return FIXED if self.case.place == "link" and self.case.manager == "Constant" else CHOSEN

    @property
    def allowed(self) -> float:
        """The tolerance; over a link at a fixed rate, at least two standard errors."""
        if self.tolerance == CHOSEN:
            return CHOSEN
        return max(FIXED, 2 / math.sqrt(self.packets)) if self.packets else math.inf

    @property
    def agrees(self) -> bool:
        """True if the difference is within the tolerance or two standard errors."""
        return abs(self.off) <= self.allowed

    @property
    def agrees_plainly(self) -> bool:
        """True if the goodput agrees without the departures of ns-3 from the standard."""
        return self.plain is not None and abs(relative(self.plain.mean, self.ns3.mean)) <= self.allowed


def goodput(case: Case, table: pl.DataFrame) -> Estimate:
    """Goodput of the runs of a case [kbit/s]."""
    # Of a saturated link ns-3 counts packets with their headers.
    headers = PACKET / (PACKET - 28) if case.place == "link" else 1.0
    return Estimate.of([headers * v for v in table["own_kbps"].to_list()])


class OfSinr(CaseByCase[Case, Runs, Comparison]):
    """The comparison."""

    name = "sinr"
    title = "SINR and rate control against ns-3.37"
    subject = "SINR against ns-3"
    folder = HERE
    seeds = range(1, 6)
    rule = (
        "Goodput over one link at a fixed rate agrees when the mean of five runs of Chappe differs from that of ns-3",
        "by at most 3 %, or by no more than the interval of two standard errors of the number of packets that it",
        "delivered; all other goodputs, when they differ by at most 10 %. Mean and largest difference are of all",
        "chains, and of links over which ns-3 delivered 400 packets or more, so that two standard errors are 10 %.",
    )
    columns = ("ns-3 [kbit/s]", "ours", "difference", "by our own rules")
    written = ("ns3_kbps", "ours_kbps", "plain_kbps", "tolerance", "agrees")

    @staticmethod
    def of_run(tables: Mapping[str, pl.DataFrame], /) -> dict[str, float]:
        """The goodput of a run."""
        return {"own_kbps": float(tables["flows"]["goodput_bps"].sum()) / 1e3}

    def reference(self) -> Mapping[Case, Runs]:
        """The runs of ns-3, by case."""
        return reference()

    def scenario(self, case: Case, *, plain: bool) -> Scenario:
        """The scenario of a case."""
        return scenario(case, plain=plain)

    def departs(self, case: Case) -> bool:
        """True for a case with habits of ns-3."""
        return bool(habits(case))

    def weight(self, case: Case) -> float:
        """Hops of all rows."""
        return case.hops * case.rows

    def comparison(self, case: Case, ns3: Runs, ours: pl.DataFrame, plain: pl.DataFrame | None) -> Comparison:
        """A case of ns-3 and ours."""
        mean = Estimate.of([kbps for _, kbps in ns3])
        packets = sum(seconds * kbps for seconds, kbps in ns3) * 1e3 / 8 / PACKET if case.place == "link" else math.inf
        without = None if plain is None else goodput(case, plain)
        return Comparison(case, mean, goodput(case, ours), without, packets)

    def of_file(self, c: Comparison) -> Iterator[Sequence[object]]:
        """The line of a case."""
        yield (*map(repr, (*c.numbers, c.allowed)), c.agrees)

    def answers(self, comparisons: Sequence[Comparison], /) -> Sequence[str]:
        """Number of cases that agree, with and without the peculiarities of ns-3 where they apply."""
        sentence = agreement(comparisons, "cases")
        if of_kind := [c for c in comparisons if c.plain is not None]:
            with_them, without = sum(c.agrees for c in of_kind), sum(c.agrees_plainly for c in of_kind)
            sentence += (
                f" In {len(of_kind)} of them ns-3 departs from the standard: {with_them} agree with its departures, "
                f"{without} without."
            )
        return (sentence,)


VALIDATION = OfSinr()
