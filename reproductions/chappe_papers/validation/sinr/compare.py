"""Every run of ns-3 under SINR, made here: how far off is each goodput?"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from chappe.stats import Estimate
from chappe.study import Item, Point, RunCache

from chappe_papers.validation.compare import finish
from chappe_papers.validation.sinr import page
from chappe_papers.validation.sinr.cases import PACKET, Case, habits, reference, scenario

SEEDS = range(1, 6)

FIXED = 0.03
"""Tolerance of the goodput over one link at a fixed rate."""

CHOSEN = 0.10
"""Tolerance where rates are chosen, and of chains."""


@dataclass(frozen=True)
class Comparison:
    """A case of ns-3 and ours."""

    case: Case
    ns3: float
    """Mean goodput of its runs [kbit/s]."""
    packets: float
    """Packets that were delivered in them over a link."""
    ours: Estimate
    """Goodput [kbit/s]."""
    plain: Estimate | None = None
    """The same without the departures of ns-3 from the standard, where there are any."""

    @property
    def off(self) -> float:
        """Relative difference of the goodput."""
        return relative(self.ours, self.ns3)

    @property
    def is_certain(self) -> bool:
        """True if a difference means something: over a link 400 packets are known to 10 %, two standard errors."""
        return self.case.place == "chain" or self.packets >= (2 / CHOSEN) ** 2

    @property
    def tolerance(self) -> float:
        """Tolerance; at least two standard errors where frames are lost independently of each other."""
        if not (self.case.place == "link" and self.case.manager == "Constant"):
            return CHOSEN
        return max(FIXED, 2 / math.sqrt(self.packets)) if self.packets else math.inf

    @property
    def agrees(self) -> bool:
        """True if the goodput is within the tolerance."""
        return abs(self.off) <= self.tolerance

    @property
    def agrees_plainly(self) -> bool:
        """The same without the departures of ns-3 from the standard."""
        return self.plain is not None and abs(relative(self.plain, self.ns3)) <= self.tolerance


def relative(ours: Estimate, ns3: float) -> float:
    """The relative difference; where ns-3 has delivered nothing, none if ours has not either."""
    return ours.mean / ns3 - 1 if ns3 else math.inf if ours.mean else 0.0


def of_run(tables: Mapping[str, pl.DataFrame]) -> dict[str, float]:
    """Values taken from a run."""
    return {"own_kbps": float(tables["flows"]["goodput_bps"].sum()) / 1e3}


def run(cases: Iterable[Case], seeds: Sequence[int], runs: RunCache) -> dict[tuple[Case, bool], Estimate]:
    """Goodput [kbit/s] of cases with the departures of ns-3 from the standard, and without them (``True``)."""
    items = {}
    for case in cases:
        for plain in (False, True) if habits(case) else (False,):
            point = Point({**case._asdict(), "plain": plain}, scenario(case, plain=plain))
            items[case, plain] = [Item(point, seed, weight=case.hops * case.rows) for seed in seeds]
    tables = runs.make(items, of_run)
    # Of a saturated link ns-3 counts packets with their headers.
    headers = {key: PACKET / (PACKET - 28) if key[0].place == "link" else 1.0 for key in items}
    return {key: Estimate.of([headers[key] * v for v in tables[key]["own_kbps"].to_list()]) for key in items}


def run_cache(folder: Path | str, jobs: int | None) -> RunCache:
    """The runs, in a folder below that for the results."""
    base = scenario(next(iter(reference())))
    return RunCache(folder, base, (*Case._fields, "plain"), jobs=jobs, title="SINR against ns-3")


def compare(
    cases: Mapping[Case, Sequence[tuple[float, float]]], runs: RunCache, seeds: Sequence[int] = SEEDS
) -> list[Comparison]:
    """Runs what ns-3 was run on."""
    ours = run(cases, seeds, runs)
    comparisons = []
    for case, theirs in cases.items():
        mean = sum(kbps for _, kbps in theirs) / len(theirs)
        packets = sum(seconds * kbps for seconds, kbps in theirs) * 1e3 / 8 / PACKET if case.place == "link" else 0.0
        comparisons.append(Comparison(case, mean, packets, ours[case, False], ours.get((case, True))))
    return comparisons


def validate(folder: Path, *, jobs: int | None) -> int:
    """Runs the comparison, prints a summary, and writes ``validation.md`` and ``validation.csv``."""
    with run_cache(folder, jobs) as runs:
        comparisons = compare(reference(), runs)
    rows: list[list[object]] = []
    for c in comparisons:
        plain = c.plain.mean if c.plain else math.nan
        rows.append([*c.case, *map(repr, (c.ns3, c.ours.mean, plain, c.tolerance)), c.agrees])
    header = [*Case._fields, "ns3_kbps", "ours_kbps", "plain_kbps", "tolerance", "agrees"]
    return finish(
        folder, header, rows, page.page(comparisons), page.CASES.summary(comparisons), [page.answer(comparisons)]
    )
