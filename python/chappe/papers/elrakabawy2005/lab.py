"""Runs what an experiment asks for, once, and keeps what was measured."""

import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from chappe.papers.elrakabawy2005.measures import estimates, of_run
from chappe.papers.elrakabawy2005.points import CHAIN, DRAWN, LISTED, OTHER_GRIDS, UDP, Point, cost, scenario, text
from chappe.papers.kept import Kept
from chappe.papers.paper import Table
from chappe.papers.replication import MEASURES, doubtful
from chappe.scenario import Scenario
from chappe.stats import Estimate
from chappe.study.axes import Item
from chappe.study.axes import Point as Labelled
from chappe.study.facts import OVER, UNDER
from chappe.study.measure import K

COLLAPSED = 0.75
"""Paced UDP has collapsed when less than this share of what is sent arrives in the last batch."""


class Length(NamedTuple):
    """How much is run."""

    packets: int
    """Delivered in a run."""
    long_packets: int
    """The same over chains that cost much."""
    random_packets: int
    """The same in the random topologies of files."""
    further_packets: int
    """The same in places that are run beside those of the paper's figures: what differs is from run to run."""
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
    cliff: int
    """Runs of the points around the cliff of Figure 10."""
    draws: int
    """Random topologies that are drawn."""


FULL = Length(110_000, 110_000, 66_000, 22_000, 33_000, 11_000, 2000, seeds=3, many=10, cliff=20, draws=10)
QUICK = Length(6_600, 2_200, 5_500, 3_300, 4_400, 1_650, 500, seeds=3, many=3, cliff=20, draws=3)

LONG = 20
"""Runs over longer chains cost much."""

AXES = (*Point._fields, "stop", "batches")
"""What labels of the runs say."""


def kept(results: Path | str, jobs: int | None) -> Kept:
    """The runs of the paper, in a folder below that for the results."""
    return Kept(results, Scenario(tomllib.loads(text())), AXES, jobs=jobs, title="elrakabawy2005")


def labelled(point: Point, scenario: Scenario) -> Labelled:
    """The scenario of a point with labels that say which it is."""
    run = scenario.settings["run"]
    return Labelled({**point._asdict(), "stop": run["stop"], "batches": run["batches"]}, scenario)


def items(own: Labelled, seeds: Sequence[int]) -> list[Item]:
    """A point with every seed, as runs of a study."""
    point = Point(**{name: own.labels[name] for name in Point._fields})
    weight = cost(point, int(own.labels["stop"].split()[0]))
    return [Item(own, seed, weight=weight) for seed in seeds]


def measured(points: Mapping[K, Labelled], seeds: Sequence[int], runs: Kept) -> dict[K, pl.DataFrame]:
    """Runs each of some scenarios with the same seeds, or finds its runs."""
    return runs.measure({key: items(own, seeds) for key, own in points.items()}, of_run)


def remembers(point: Point) -> bool:
    """Whether runs are known to have states that outlive their batches.

    Paced UDP collapses, or does not. Several flows starve each other for minutes. Vegas with ACK thinning falls, at
    more than 2 Mbit/s, from a window of 4 to one of 3 for good when a packet is lost. Where Vegas remembers the
    smallest round-trip time of its connection, the runs show it.
    """
    two_states = point.variant.startswith("vegas") and point.variant.endswith("_thin") and point.rate_mbps > 2
    return point.place != CHAIN or point.variant == UDP or two_states


def _counted(point: Point) -> dict[str, Any]:
    """Settings for what only the claims on some chains ask for: the slow start of NewReno, air time over 7 hops.

    To count air time nearly doubles what a run costs.
    """
    changes: dict[str, Any] = {}
    if point.place == CHAIN and point.variant == "newreno":
        changes["run.sample"] = "500 ms"
    if point.place == CHAIN and point.hops == 7 and point.variant in ("newreno", "vegas2", "vegas2_thin"):
        changes["run.air_time"] = True
    return changes


@dataclass
class Lab:
    """What was measured so far.

    Attributes:
        length: How much is run.
        kept: The runs, kept in a folder.
        hops: Lengths of the chains.
        values: Measures by point.
        runs: One row per run, by point.
        tried: Goodput of the short runs of a search: by chain (hops, rate) and time between datagrams [kbit/s].
        doubted: Points that got more runs because batches of the first were doubtful.
        alike: Points of which every run is like every other.
    """

    length: Length
    kept: Kept
    hops: Sequence[int]
    values: dict[Point, dict[str, Estimate]] = field(default_factory=dict)
    runs: dict[Point, pl.DataFrame] = field(default_factory=dict)
    tried: dict[tuple[int, float], dict[float, float]] = field(default_factory=dict)
    doubted: set[Point] = field(default_factory=set)
    alike: set[Point] = field(default_factory=set)

    def table(self) -> Table:
        """What claims are checked against."""
        return Table(self.values)

    def seeds(self, point: Point) -> int:
        """How many runs a point gets at first."""
        if point.place in DRAWN:
            return 1
        return self.length.many if remembers(point) else self.length.seeds

    def packets(self, point: Point) -> int:
        """How many packets are delivered in a run."""
        if point.variant == UDP:
            return self.length.udp_packets
        if point.place in LISTED:
            return self.length.random_packets
        if point.place in (*OTHER_GRIDS, *DRAWN):
            return self.length.further_packets
        return self.length.long_packets if point.hops > LONG else self.length.packets

    def run(self, points: Iterable[Point]) -> None:
        """Runs points that were not run yet, at the length of the paper."""
        scenarios: dict[Point, Scenario] = {}
        for p in points:
            if p not in self.runs:
                batches = 6 if p.place in (*LISTED, *DRAWN) else 11
                scenarios[p] = scenario(p, f"{self.packets(p)} delivered", batches=batches, changes=_counted(p))
        self.keep(self.replicated(scenarios))

    def replicated(self, scenarios: Mapping[Point, Scenario]) -> dict[Point, pl.DataFrame]:
        """Runs scenarios as often as they need to, which :mod:`chappe.papers.replication` decides."""
        found = self.rows(scenarios)
        judged = [p for p in scenarios if not remembers(p)]
        more = {p: scenarios[p] for p in judged if doubtful(found[p])}
        self.doubted |= more.keys()
        self.alike |= {p for p in judged if p not in more}
        return found | self.rows(more, self.length.many)

    def rows(self, scenarios: Mapping[Point, Scenario], seeds: int | None = None) -> dict[Point, pl.DataFrame]:
        """Runs scenarios, without keeping what they measured.

        Args:
            scenarios: What is run at each point.
            seeds: How often; ``None``: as often as a point is run at first.
        """
        return self.kept.measure(self._items(scenarios, seeds), of_run)

    def _items(self, scenarios: Mapping[Point, Scenario], seeds: int | None) -> dict[Point, list[Item]]:
        return {p: items(labelled(p, s), range(1, (seeds or self.seeds(p)) + 1)) for p, s in scenarios.items()}

    def keep(self, rows: Mapping[Point, pl.DataFrame]) -> None:
        """Keeps what was measured at these points."""
        for p, r in rows.items():
            if p.variant == UDP:
                offered = 1460 * 8 / (p.interval_ms / 1e3)
                r = r.with_columns((pl.col("last_bps") < COLLAPSED * offered).cast(pl.Float64).alias("collapsed"))
            self.runs[p] = r
            self.values[p] = estimates(r, alike=p in self.alike)

    def pool(self, points: Sequence[Point], into: Point) -> None:
        """Keeps the mean over several places, each of which counts once."""
        self.runs[into] = pl.concat([self.runs[p] for p in points], how="diagonal")
        self.values[into] = estimates(self.runs[into], places=True)

    def get(self, point: Point, name: str) -> Estimate:
        """A measure that was taken."""
        return self.values[point].get(name, Estimate(math.nan, math.nan, 0))


class Rehearsal(Lab):
    """Goes through experiments without running anything, to know how long they will take.

    Attributes:
        weight: The sum of the weights of the runs that are missing.
    """

    weight: float = 0.0

    def rows(self, scenarios: Mapping[Point, Scenario], seeds: int | None = None) -> dict[Point, pl.DataFrame]:
        """Pretends where runs are missing; a search then goes another way than it will, which is as long."""
        wanted = self._items(scenarios, seeds)
        self.weight += self.kept.missing([i for own in wanted.values() for i in own])
        found = self.kept.found(wanted, of_run)
        pretended = {"last_bps": 1.0, "batches": 10.0}
        for name, value in (*((name, 1.0) for name in MEASURES), ("mean_delay_s", 0.03)):
            pretended |= {name: value, f"{name}{OVER}": value, f"{name}{UNDER}": 1.0}
            pretended |= {f"{name}_half_width": math.nan, f"{name}_lag1": math.nan}
        return {
            p: found[p] if p in found else pl.DataFrame({name: [value] * len(own) for name, value in pretended.items()})
            for p, own in wanted.items()
        }
