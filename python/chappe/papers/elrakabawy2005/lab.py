"""Runs what an experiment asks for, once, and keeps what was measured."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import polars as pl

from chappe.papers.elrakabawy2005.measures import estimates, of_run
from chappe.papers.elrakabawy2005.points import CHAIN, DRAWN, GRIDS, LISTED, UDP, Point, scenario
from chappe.papers.paper import Table
from chappe.scenario import Scenario
from chappe.stats import Estimate
from chappe.study import measure

COLLAPSED = 0.75
"""Paced UDP has collapsed when less than this share of what is sent arrives in the last batch."""


class Length(NamedTuple):
    """How much is run."""

    packets: int
    """Delivered in a run."""
    long_packets: int
    """The same over chains that cost much."""
    random_packets: int
    """The same in random topologies."""
    udp_packets: int
    """The same of paced UDP."""
    search_packets: int
    """The same in a search."""
    delay_packets: int
    """Datagrams that are sent alone."""
    seeds: int
    """Runs of a point."""
    many: int
    """Runs of a point whose batches say little about other runs."""
    few: int
    """Runs of a point that costs much."""
    cliff: int
    """Runs of the points around the cliff of Figure 10."""
    draws: int
    """Random topologies that are drawn."""
    searched: int = 2
    """Runs of a point of a search."""


FULL = Length(110_000, 110_000, 66_000, 33_000, 11_000, 2000, seeds=5, many=10, few=4, cliff=20, draws=10)
QUICK = Length(11_000, 3_300, 8_800, 5_500, 2_200, 500, seeds=3, many=4, few=3, cliff=20, draws=3)

LONG = 20
"""Runs over longer chains cost much."""


def measured(
    scenarios: Mapping[Point, Scenario], seeds: Sequence[int], jobs: int | None, title: str
) -> dict[Point, pl.DataFrame]:
    """Runs scenarios with seeds: all runs of the paper go through here."""
    return measure(scenarios, seeds, jobs=jobs, title=title, also=of_run)


@dataclass
class Lab:
    """What was measured so far.

    Attributes:
        length: How much is run.
        jobs: Runs at the same time.
        hops: Lengths of the chains.
        values: Measures by point.
        runs: One row per run, by point.
        frames: Frames simulated.
        count: Runs.
    """

    length: Length
    jobs: int | None
    hops: Sequence[int]
    values: dict[Point, dict[str, Estimate]] = field(default_factory=dict)
    runs: dict[Point, pl.DataFrame] = field(default_factory=dict)
    frames: int = 0
    count: int = 0

    def table(self) -> Table:
        """What claims are checked against."""
        return Table(self.values)

    def seeds(self, point: Point) -> int:
        """How many runs a point gets."""
        if point.place in DRAWN:
            return 1
        if point.place == CHAIN and point.variant != UDP:
            return self.length.many if point.hops == 7 else self.length.few if point.hops > LONG else self.length.seeds
        return self.length.many if point.place == next(iter(GRIDS)) else self.length.seeds

    def packets(self, point: Point) -> int:
        """How many packets are delivered in a run."""
        if point.variant == UDP:
            return self.length.udp_packets
        if point.place in (*LISTED, *DRAWN):
            return self.length.random_packets
        return self.length.long_packets if point.hops > LONG else self.length.packets

    def run(self, points: Iterable[Point], title: str) -> None:
        """Runs points that were not run yet, at the length of the paper."""
        groups: dict[int, dict[Point, Scenario]] = {}
        for p in points:
            if p not in self.runs:
                batches = 6 if p.place in (*LISTED, *DRAWN) else 11
                # Only the slow start of NewReno is asked for.
                changes = {"run.sample": "500 ms"} if p.variant == "newreno" and p.place == CHAIN else None
                stop = f"{self.packets(p)} delivered"
                groups.setdefault(self.seeds(p), {})[p] = scenario(p, stop, batches=batches, changes=changes)
        for n, scenarios in groups.items():
            self.keep(self.rows(scenarios, n, title))

    def rows(self, scenarios: Mapping[Point, Scenario], seeds: int, title: str) -> dict[Point, pl.DataFrame]:
        """Runs scenarios and counts them, without keeping what they measured."""
        found = measured(scenarios, range(1, seeds + 1), self.jobs, title)
        for r in found.values():
            self.frames += int(r["frames"].sum())
            self.count += len(r)
        return found

    def keep(self, rows: Mapping[Point, pl.DataFrame]) -> None:
        """Keeps what was measured at these points."""
        for p, r in rows.items():
            if p.variant == UDP:
                offered = 1460 * 8 / (p.interval_ms / 1e3)
                r = r.with_columns((pl.col("last_bps") < COLLAPSED * offered).cast(pl.Float64).alias("collapsed"))
            self.runs[p] = r
            self.values[p] = estimates(r)

    def pool(self, points: Sequence[Point], into: Point) -> None:
        """Keeps the mean over several points, each of which counts once."""
        together = pl.concat([self.runs[p] for p in points], how="diagonal")
        self.keep({into: together})

    def get(self, point: Point, name: str) -> Estimate:
        """A measure that was taken."""
        return self.values[point].get(name, Estimate(math.nan, math.nan, 0))


def facts(lab: Lab) -> dict[str, str]:
    """What was run, in numbers."""
    return {
        "Runs": f"{lab.count:,}",
        "Frames simulated": f"{lab.frames:,}",
    }
