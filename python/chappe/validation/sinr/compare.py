"""Every run of ns-3 under SINR, made here: how far off is each goodput?"""

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from chappe import show
from chappe.papers.kept import Kept
from chappe.stats import Estimate
from chappe.study.axes import Item, Point
from chappe.validation.sinr import page
from chappe.validation.sinr.cases import PACKET, Case, reference, scenario

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
    as_ns3: Estimate | None = None
    """The same with ns-3's reading of Minstrel."""

    @property
    def off(self) -> float:
        """Relative difference of the goodput."""
        return beside(self.ours, self.ns3)

    @property
    def is_certain(self) -> bool:
        """Whether a difference means something: over a link 400 packets are known to 10 %, two standard errors."""
        return self.case.place == "chain" or self.packets >= (2 / CHOSEN) ** 2

    @property
    def tolerance(self) -> float:
        """How far off it may be; at least two standard errors where frames are lost independently of each other."""
        if not (self.case.place == "link" and self.case.manager == "Constant"):
            return CHOSEN
        return max(FIXED, 2 / math.sqrt(self.packets)) if self.packets else math.inf

    @property
    def agrees(self) -> bool:
        """Whether the goodput is within the tolerance."""
        return abs(self.off) <= self.tolerance

    @property
    def agrees_as_ns3(self) -> bool:
        """The same of Minstrel with ns-3's reading."""
        return self.as_ns3 is not None and abs(beside(self.as_ns3, self.ns3)) <= self.tolerance


def beside(ours: Estimate, ns3: float) -> float:
    """The relative difference; where ns-3 has delivered nothing, none if ours has not either."""
    return ours.mean / ns3 - 1 if ns3 else math.inf if ours.mean else 0.0


def of_run(found: Mapping[str, pl.DataFrame]) -> dict[str, float]:
    """What is taken from a run."""
    return {"own_kbps": float(found["flows"]["goodput_bps"].sum()) / 1e3}


def run(cases: Iterable[Case], seeds: Sequence[int], runs: Kept) -> dict[tuple[Case, bool], Estimate]:
    """Goodput [kbit/s] of cases; those of Minstrel also with ns-3's reading."""
    items = {}
    for case in cases:
        for as_ns3 in (False, True)[: 2 if case.manager == "Minstrel" else 1]:
            point = Point({**case._asdict(), "as_ns3": as_ns3}, scenario(case, as_ns3=as_ns3))
            items[case, as_ns3] = [Item(point, seed, weight=case.hops * case.rows) for seed in seeds]
    expected = runs.missing([i for own in items.values() for i in own])
    with runs.progress(expected), runs.stage(expected):
        tables = runs.measure(items, of_run)
    # Of a saturated link ns-3 counts packets with their headers.
    headers = {key: PACKET / (PACKET - 28) if key[0].place == "link" else 1.0 for key in items}
    return {key: Estimate.of([headers[key] * v for v in tables[key]["own_kbps"].to_list()]) for key in items}


def kept(folder: Path | str, jobs: int | None) -> Kept:
    """The runs, in a folder below that for the results."""
    base = scenario(next(iter(reference())))
    return Kept(folder, base, (*Case._fields, "as_ns3"), jobs=jobs, title="SINR beside ns-3")


def compare(
    cases: Mapping[Case, Sequence[tuple[float, float]]], runs: Kept, seeds: Sequence[int] = SEEDS
) -> list[Comparison]:
    """Runs what ns-3 was run on."""
    ours = run(cases, seeds, runs)
    found = []
    for case, theirs in cases.items():
        mean = sum(kbps for _, kbps in theirs) / len(theirs)
        packets = sum(seconds * kbps for seconds, kbps in theirs) * 1e3 / 8 / PACKET if case.place == "link" else 0.0
        found.append(Comparison(case, mean, packets, ours[case, False], ours.get((case, True))))
    return found


def validate(folder: Path, *, jobs: int | None) -> int:
    """Runs the comparison, prints a summary, and writes ``validation.md`` and ``validation.csv``."""
    with kept(folder, jobs) as runs:
        found = compare(reference(), runs)
    with (folder / "validation.csv").open("w", encoding="utf-8", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow([*Case._fields, "ns3_kbps", "ours_kbps", "as_ns3_kbps", "tolerance", "agrees"])
        for c in found:
            as_ns3 = c.as_ns3.mean if c.as_ns3 else math.nan
            out.writerow([*c.case, *map(repr, (c.ns3, c.ours.mean, as_ns3, c.tolerance)), c.agrees])
    (folder / "validation.md").write_text(page.page(found), encoding="utf-8")
    summary(found)
    print(f"Written to {folder}: validation.md with every value, validation.csv.")
    return 0


def summary(found: Sequence[Comparison]) -> None:
    """Prints how many cases agree, and which do not."""
    t = show.table("", *(f">{name}" for name in page.COUNTED), title="SINR and rate control beside ns-3.37: goodput")
    for kind, own in page.by_kind(found).items():
        t.add_row(kind, *page.counted(own))
    show.write(t)
    if unlike := [c for c in found if not c.agrees]:
        t = show.table("does not agree", ">ns-3 [kbit/s]", ">ours", ">difference", ">read as ns-3 does")
        for c in unlike:
            t.add_row(c.case.title, *page.values(c))
        show.write(t)
    print(page.answer(found))
