"""Runner of the points of a paper: executes each point once, and keeps its estimates."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from chappe import Scenario
from chappe.stats import Estimate
from chappe.study import OVER, UNDER, RunCache

from chappe_papers.runs.design import Design
from chappe_papers.runs.estimates import Estimates
from chappe_papers.runs.replication import MEASURES


@dataclass
class Runner:
    """The runs of a paper.

    Attributes:
        design: The runs of the paper.
        length: Lengths and numbers of runs.
        cache: The runs, kept in a folder.
        values: Measures by point.
        runs: One row per run, by point.
        more: Points that got more runs than at first, and how many they have.
        alike: Points of which every run is like every other.
        tried: Goodput of the short runs of a search [bit/s], by what was searched and by the value that was tried.
        factor: Number of runs of each point that can be repeated, relative to those planned.
        first_seed: Seed of the first run of each point.
    """

    design: Design
    length: Any
    cache: RunCache
    values: dict[Any, dict[str, Estimate]] = field(default_factory=dict)
    runs: dict[Any, pl.DataFrame] = field(default_factory=dict)
    more: dict[Any, int] = field(default_factory=dict)
    alike: set[Any] = field(default_factory=set)
    tried: dict[Any, dict[float, float]] = field(default_factory=dict)
    factor: int = 1
    first_seed: int = 1

    def table(self, points: Iterable[Any] = ()) -> Estimates:
        """Estimates against which claims are checked, also for points with the scenario of another point."""
        same = {p: self.values[q] for p in points if (q := self.design.same(p)) in self.values}
        return Estimates(self.values | same, self.length.x)

    def run(self, points: Iterable[Any]) -> None:
        """Runs points that were not run yet."""
        wanted = {self.design.same(p): None for p in points}
        scenarios = {p: self.design.scenario(p, self.length) for p in wanted if p not in self.runs}
        self.keep(self.replicated(scenarios))

    def replicated(self, scenarios: Mapping[Any, Scenario]) -> dict[Any, pl.DataFrame]:
        """Runs scenarios as often as they need to: some at first, more where these ask for it, and where those do."""
        seeds = {p: self.design.seeds(p, self.length) for p in scenarios}
        tables = self.rows(scenarios, seeds)
        asked = set(scenarios)
        while more := {p: n for p in asked if (n := self.design.further(p, self.length, tables[p])) > seeds[p]}:
            self.more |= more
            seeds |= more
            tables |= self.rows({p: scenarios[p] for p in more}, more)
            asked = set(more)
        self.alike |= {p for p in scenarios if p not in self.more and self.design.alike(p)}
        if self.factor > 1:
            repeated = {p: self.factor * n for p, n in seeds.items() if self.design.repeats(p)}
            tables |= self.rows({p: scenarios[p] for p in repeated}, repeated)
        return tables

    def rows(self, scenarios: Mapping[Any, Scenario], seeds: Mapping[Any, int] | int) -> dict[Any, pl.DataFrame]:
        """Runs scenarios so often, without keeping what they measured."""
        return self.design.measured(self._with_seeds(scenarios, seeds), self.cache)

    def _with_seeds(
        self, scenarios: Mapping[Any, Scenario], seeds: Mapping[Any, int] | int
    ) -> dict[Any, tuple[Scenario, Sequence[int]]]:
        count = dict.fromkeys(scenarios, seeds) if isinstance(seeds, int) else seeds
        return {p: (s, range(self.first_seed, self.first_seed + count[p])) for p, s in scenarios.items()}

    def keep(self, rows: Mapping[Any, pl.DataFrame]) -> None:
        """Keeps what was measured at these points."""
        self.runs |= rows
        for p, r in rows.items():
            estimates = self.design.estimates(p, r, p in self.alike)
            decides = self.design.decides(p, self.length)
            self.values[p] = (
                estimates if decides else {name: Estimate(e.mean, math.nan, e.df) for name, e in estimates.items()}
            )

    def get(self, point: Any, name: str) -> Estimate:
        """A measure that was taken."""
        return self.values[point].get(name, Estimate(math.nan, math.nan, 0))


_PRETENDED = {**dict.fromkeys(MEASURES, 1.0), "mean_delay_s": 0.03}
"""Values of a rehearsal."""


@dataclass
class Rehearsal(Runner):
    """Goes through the stages without running anything, to know how long they will take.

    Attributes:
        weight: The sum of the weights of the runs that are missing.
    """

    weight: float = 0.0

    def keep(self, rows: Mapping[Any, pl.DataFrame]) -> None:
        """Pretends what was measured where runs are missing."""
        real = {p: r for p, r in rows.items() if "seed" in r.columns}
        super().keep(real)
        pretended = {name: Estimate(value, 0.0, 1) for name, value in _PRETENDED.items()}
        self.runs |= rows
        self.values |= dict.fromkeys(rows.keys() - real.keys(), pretended)

    def rows(self, scenarios: Mapping[Any, Scenario], seeds: Mapping[Any, int] | int) -> dict[Any, pl.DataFrame]:
        """Pretends where runs are missing; a search then goes another way than it will, which is as long."""
        asked = self._with_seeds(scenarios, seeds)
        wanted = {p: self.design.items(p, s, runs) for p, (s, runs) in asked.items()}
        self.weight += self.cache.missing([i for runs in wanted.values() for i in runs])
        available = self.cache.available(wanted, self.design.of_run)
        pretended = {"batches": 10.0}
        for name, value in _PRETENDED.items():
            pretended |= {name: value, f"{name}{OVER}": value, f"{name}{UNDER}": 1.0}
            pretended |= {f"{name}_half_width": math.nan, f"{name}_lag1": math.nan}
        return {
            p: available[p]
            if p in available
            else pl.DataFrame({name: [value] * len(runs) for name, value in pretended.items()})
            for p, runs in wanted.items()
        }


def missing(
    design: Design, points: Iterable[Any], length: Any, cache: RunCache, factor: int = 1, first_seed: int = 1
) -> list[float]:
    """Weights of the runs that are missing, by stage."""
    rehearsal, expected = Rehearsal(design, length, cache, factor=factor, first_seed=first_seed), []
    for stage in design.stages(list(dict.fromkeys(points)), length):
        before = rehearsal.weight
        stage(rehearsal)
        expected.append(rehearsal.weight - before)
    return expected


def run(
    design: Design, points: Iterable[Any], length: Any, cache: RunCache, factor: int = 1, first_seed: int = 1
) -> Runner:
    """Runs points of a paper, with progress over all of them, `factor` times as often as planned."""
    stages = design.stages(list(dict.fromkeys(points)), length)
    expected = missing(design, points, length, cache, factor, first_seed)
    done = Runner(design, length, cache, factor=factor, first_seed=first_seed)
    with cache.progress(sum(expected)):
        for stage, weight in zip(stages, expected, strict=True):
            with cache.stage(weight):
                stage(done)
    return done
