"""Runs points, once, and keeps what was measured."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from chappe.papers.kept import Kept
from chappe.papers.paper import Table
from chappe.papers.zhou2004.points import RATES, Point, cost, same, scenario, tables
from chappe.scenario import Scenario
from chappe.stats import Estimate, jain_index
from chappe.study.axes import Item
from chappe.study.axes import Point as Labelled

GOODPUT = "goodput_kbps"
UNFAIRNESS = "unfairness"
JAIN = "jain_index_whole_run"
DROPS = "queue_drops"
SEGMENTS = "segments_per_s"

LABELS = {
    GOODPUT: "mean goodput of a flow [kbit/s]",
    UNFAIRNESS: "unfairness, (max - min) / min",
    JAIN: "Jain's index",
    DROPS: "packets dropped from full queues",
    SEGMENTS: "goodput [segments/s]",
}
"""Measures for people."""

AXES = (*Point._fields, "stop")
"""What labels of the runs say."""


class Length(NamedTuple):
    """How much is run."""

    rates: tuple[float, ...]
    """Error rates of the figures [%]."""
    few: tuple[float, ...]
    """Error rates where readings are compared [%]."""
    seeds: int
    """Runs of a point."""
    compared: int
    """Runs of a point where readings are compared."""


FEW = (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0)

FULL = Length(RATES, FEW, seeds=10, compared=10)
QUICK = Length((0.0, 0.1, 0.4, 0.6, 0.8, 2.0, 6.0, 10.0), (0.4, 0.6, 0.8, 2.0, 6.0, 10.0), seeds=3, compared=2)


def kept(results: Path | str, jobs: int | None) -> Kept:
    """The runs of the paper, in a folder below that for the results."""
    return Kept(results, Scenario(tables()), AXES, jobs=jobs, title="zhou2004")


def of_run(found: Mapping[str, pl.DataFrame]) -> dict[str, float]:
    """What is taken from a run: deliveries of each flow, goodput, fairness."""
    flows = found["flows"]
    delivered, goodput = flows["delivered_packets"].to_list(), flows["goodput_bps"].to_list()
    return {
        **{f"delivered_{f}": float(n) for f, n in enumerate(delivered)},
        GOODPUT: sum(goodput) / len(goodput) / 1e3,
        UNFAIRNESS: unfairness(goodput),
        JAIN: jain_index(goodput),
        SEGMENTS: sum(n / s for n, s in zip(delivered, flows["measured_s"], strict=True)),
    }


def unfairness(shares: Iterable[float]) -> float:
    """The paper's measure: how much more the largest share is than the smallest, by the smallest."""
    known = sorted(shares)
    return (known[-1] - known[0]) / known[0] if known[0] else math.inf


def run(
    points: Mapping[Point, Sequence[int]], runs: Kept, changes: Mapping[str, Any] | None = None
) -> dict[Point, pl.DataFrame]:
    """Runs points, or finds their runs: all runs of the paper go through here.

    Args:
        points: What is run, and the seeds.
        runs: The folder in which runs are kept.
        changes: Settings that differ from those of the points.

    Returns:
        One row for each seed, by point.
    """
    seeds: dict[Point, Sequence[int]] = {}
    for p, own in points.items():
        seeds[same(p)] = max(own, seeds.get(same(p), ()), key=len)
    items = {}
    for p, own in seeds.items():
        s = scenario(p, changes)
        labelled = Labelled({**p._asdict(), "stop": s.settings["run"]["stop"]}, s)
        items[p] = [Item(labelled, seed, weight=cost(p)) for seed in own]
    expected = runs.missing([i for own in items.values() for i in own])
    with runs.progress(expected), runs.stage(expected):
        found = runs.measure(items, of_run)
    return {p: found[same(p)] for p in points}


def estimates(rows: pl.DataFrame) -> dict[str, Estimate]:
    """The measures of a point from its runs, one per seed: independent replications."""
    return {name: mean(rows[name].to_list()) for name in LABELS}


def mean(values: Sequence[float]) -> Estimate:
    """The mean of independent runs; infinite, with an unknown error, when a flow of one of them got nothing."""
    return Estimate(math.inf, math.nan, len(values) - 1) if math.inf in values else Estimate.of(values)


def table(found: Mapping[Point, pl.DataFrame]) -> Table:
    """Everything that was measured, for claims and figures."""
    return Table({p: estimates(rows) for p, rows in found.items()})


def in_reading(data: Table, reading: str) -> Table:
    """What was measured in one reading, as if it were the first one."""
    first = Point("").reading
    found = {}
    for p in data.values:
        if isinstance(p, Point) and p.reading == reading:
            found[p._replace(reading=first)] = data.values[p]
    return Table(found)
