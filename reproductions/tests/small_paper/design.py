"""Runs of a small paper."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import polars as pl
from chappe import Scenario
from chappe.stats import Estimate
from chappe_papers.runs.design import Design
from chappe_papers.runs.estimates import Measure
from chappe_papers.runs.replication import MEASURES as JUDGED
from chappe_papers.runs.replication import of_batches
from chappe_papers.runs.runner import Runner


class Point(NamedTuple):
    """Parameters of runs that differ only in the seed."""

    variant: str
    hops: int = 1


class Length(NamedTuple):
    """Lengths and numbers of runs."""

    packets: int
    seeds: int
    x: tuple[int, ...] = (1, 2)


class Small(Design):
    """Two variants over chains."""

    name = "small"
    point = Point
    measures: Mapping[str, Measure] = {"goodput_bps": Measure("goodput [kbit/s]", 1e-3, 0.03)}
    full = Length(1100, 4)
    quick = Length(440, 3)

    @property
    def package(self) -> str:
        return "small_paper"

    def scenario(self, point: Point, length: Length, /) -> Scenario:
        changes = {"tcp.variant": point.variant, "topology.hops": point.hops, "flow": [{"src": 0, "dst": point.hops}]}
        return self.base().with_settings({"run.stop": f"{length.packets} delivered", **changes})

    def weight(self, point: Point, _scenario: Scenario, /) -> float:
        return float(point.hops)

    def seeds(self, _point: Point, length: Length, /) -> int:
        return length.seeds

    def of_run(self, tables: Mapping[str, pl.DataFrame]) -> dict[str, float]:
        used = tables["batches"].filter("used")
        return of_batches({name: used[name].to_list() for name in JUDGED})

    def estimates(self, _point: Point, rows: pl.DataFrame, _alike: bool, /) -> dict[str, Estimate]:
        return {"goodput_bps": Estimate.of(rows["goodput_bps"].to_list())}

    def method(self, runner: Runner) -> list[str]:
        return [f"{runner.length.seeds} runs of each point."]


DESIGN: Any = Small()
