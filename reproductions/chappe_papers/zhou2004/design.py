"""Runs of the paper: points, numbers of runs, and the values taken from a run."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl
from chappe import Scenario
from chappe.stats import Estimate, jain_index
from chappe.stats.quantiles import Quantile

from chappe_papers.runs import reference
from chappe_papers.runs.design import Design
from chappe_papers.runs.estimates import NS2, Estimates, Measure
from chappe_papers.runs.runner import Runner
from chappe_papers.zhou2004.points import ALIKE, FLOWS, FURTHER, LONE, RATES, Point, same, scenario, tables

GOODPUT = "flow_goodput_bps"
UNFAIRNESS = "unfairness"
JAIN = "jain_index"
SEGMENTS = "segments_per_s"

MEASURES = {
    GOODPUT: Measure("mean goodput of a flow [kbit/s]", 1e-3, 0.03),
    UNFAIRNESS: Measure("unfairness, median of the runs"),
    JAIN: Measure("Jain's index", limits=(0.0, 1.0)),
    SEGMENTS: Measure("goodput [segments/s]"),
}

SEGMENT_BITS = 8000
SECONDS = 100.0
"""Goodput of ns-2 counts what is acknowledged after 100 s, whenever a flow begins."""


class Length(NamedTuple):
    """Lengths and numbers of runs."""

    x: tuple[float, ...]
    """Error rates of the figures [%]."""
    few: tuple[float, ...]
    """Error rates where readings are compared [%]."""
    seeds: int
    """Runs of a point."""
    compared: int
    """Runs of a point where readings are compared."""
    tails: int
    """Runs of a point whose unfairness the paper gives, of a single run: two such numbers are told from 79 or more."""


FEW = (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0)

FULL = Length(RATES, FEW, seeds=10, compared=5, tails=80)
QUICK = Length(FEW, (0.4, 0.6, 0.8, 2.0, 6.0, 10.0), 3, 2, 3)

PRINTED = {("vegas", "none", 10.0): 3.0, ("tahoe", "none", 10.0): 0.7,
           ("vegas", "snoop", 0.8): 0.5, ("tahoe", "snoop", 0.8): 0.08}  # fmt: skip
"""Unfairness as the paper prints it, each of a single run: by variant, mechanism, share of lost packets [%]."""


class Zhou(Design):
    """The runs of Zhou, Leis, Hoang and Nhan."""

    name = "zhou2004"
    point = Point
    measures = MEASURES
    full = FULL
    quick = QUICK

    def base(self) -> Scenario:
        """The network as ns-2.35 has it."""
        return Scenario(tables())

    def scenario(self, point: Point, _length: Length, /) -> Scenario:
        """The scenario of a point: every run lasts as long as the paper's."""
        return scenario(point)

    def weight(self, point: Point, _scenario: Scenario, /) -> float:
        """Approximate cost of a run, relative to others."""
        return 4.0 / math.sqrt(max(point.per_percent, 0.01)) if point.reading == LONE else 20.0

    def seeds(self, point: Point, length: Length) -> int:
        """Number of runs of a point."""
        if point.reading == Point("").reading:
            return length.tails if point[:3] in PRINTED else length.seeds
        return length.seeds if point.reading in (LONE, *FURTHER) else length.compared

    def same(self, point: Point) -> Point:
        """Representative of all points with the same scenario."""
        return same(point)

    def of_run(self, tables: Mapping[str, pl.DataFrame]) -> dict[str, float]:
        """Deliveries of each flow, goodput, fairness."""
        flows = tables["flows"]
        delivered, goodput = flows["packets_delivered"].to_list(), flows["goodput_bps"].to_list()
        return {
            **{f"delivered_{f}": float(n) for f, n in enumerate(delivered)},
            GOODPUT: sum(goodput) / len(goodput),
            UNFAIRNESS: unfairness(goodput),
            "jain_of_flows": jain_index(goodput),
            SEGMENTS: sum(n / s for n, s in zip(delivered, flows["measured_s"], strict=True)),
        }

    def estimates(self, _point: Point, rows: pl.DataFrame, _alike: bool, /) -> dict[str, Estimate]:
        """The measures of a point from its runs, which are independent replications."""
        return of_values({name: rows["jain_of_flows" if name == JAIN else name].to_list() for name in MEASURES})

    def ns2(self) -> Estimates:
        """Everything that ns-2 measured, by point."""
        lone = {p: v for p, v in reference.first(self.records()).items() if p.reading == LONE}
        return Estimates(
            {p: of_values(values_of(records)) for p, records in by_point(self.records()).items()} | lone, FULL.x
        )

    def method(self, runner: Runner) -> list[str]:
        """Method, in paragraphs."""
        n: Length = runner.length
        compared = f", {n.compared} where readings are compared" if n.compared != n.seeds else ""
        tails = f", {n.tails} where the paper prints the unfairness of a run" if n.tails != n.seeds else ""
        return [
            f"{n.seeds} runs of each point{compared}{tails}, each of 100 s. The main reading has the TCP defaults of "
            "the paper's time, a retransmission timeout of at least 1 s; ns-2.35's 0.2 s are another reading.",
            "For different round-trip times, of which the paper gives none, each fixed host is 10 ms farther from the "
            "edge router than the one before: 52 to 132 ms.",
            "At low loss Vegas leads because ns-2 sends its packets without the header of 40 bytes.",
            "Unfairness has a heavy tail: medians are compared, and the paper's single runs with the spread of single "
            "runs of Chappe. Stock ns-2.35 ignores notifications in Vegas and SACK, so that there is nothing to "
            "compare.",
        ]


DESIGN = Zhou()


def of_alike(data: Estimates, mechanism: str, rate: float, which: Callable[..., Estimate] = max) -> Estimate | None:
    """The goodput of the best, or the worst, of the variants that are much alike; ``None`` when one is missing."""
    goodputs = [data.get(Point(v, mechanism, rate), GOODPUT) for v in ALIKE]
    return None if None in goodputs else which((e for e in goodputs if e is not None), key=lambda e: e.mean)


def unfairness(shares: Iterable[float]) -> float:
    """The paper's measure: how much more the largest share is than the smallest, by the smallest."""
    ordered = sorted(shares)
    return (ordered[-1] - ordered[0]) / ordered[0] if ordered[0] else math.inf


def of_values(values: Mapping[str, Sequence[float]]) -> dict[str, Estimate]:
    """Measures from the values of independent runs: means; of unfairness, which has a heavy tail, the median."""
    return {name: Quantile.at(runs) if name == UNFAIRNESS else Estimate.of(runs) for name, runs in values.items()}


# ---- the runs of ns-2 ----


def by_point(records: Iterable[reference.Record]) -> dict[Any, list[reference.Record]]:
    """The runs of ns-2 by point."""
    points: dict[Any, list[reference.Record]] = {}
    for r in reference.of(NS2, records):
        if r.point.reading != LONE:
            points.setdefault(r.point, []).append(r)
    return points


def delivered(record: reference.Record) -> tuple[int, ...]:
    """Segments of each flow that are acknowledged in the end."""
    return tuple(int(record.values[f"delivered_{f}"].mean) for f in range(FLOWS))


def measured(segments: Sequence[float]) -> dict[str, float]:
    """The measures of a run from the segments of its flows, as ns-2's are reckoned: whenever a flow begins."""
    goodput = [n * SEGMENT_BITS / SECONDS for n in segments]
    return {GOODPUT: sum(goodput) / FLOWS, UNFAIRNESS: unfairness(goodput), JAIN: jain_index(goodput)}


def values_of(records: Sequence[reference.Record]) -> dict[str, list[float]]:
    """The measures of the runs of a point."""
    runs = [measured(delivered(r)) for r in records]
    return {name: [run[name] for run in runs] for name in (GOODPUT, UNFAIRNESS, JAIN)}
