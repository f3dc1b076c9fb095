"""The runs of ns-2.35 that ship with the package."""

import csv
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from chappe.papers.paper import Table
from chappe.papers.zhou2004.lab import GOODPUT, JAIN, SEGMENTS, UNFAIRNESS, mean, unfairness
from chappe.papers.zhou2004.points import FLOWS, HERE, LONE, Point
from chappe.stats import Estimate, jain_index, quantile_t

SEGMENT_KBIT = 8.0
SECONDS = 100.0
"""Goodput counts what is acknowledged after 100 s, whenever a flow begins."""


class Record(NamedTuple):
    """A run of ns-2.35."""

    point: Point
    seed: int
    delivered: tuple[int, ...]
    """Segments of each flow that are acknowledged in the end."""

    @property
    def values(self) -> dict[str, float]:
        """What it measured."""
        goodput = [n * SEGMENT_KBIT / SECONDS for n in self.delivered]
        return {GOODPUT: sum(goodput) / FLOWS, UNFAIRNESS: unfairness(goodput), JAIN: jain_index(goodput)}


def _rows(name: str) -> Iterator[dict[str, str]]:
    yield from csv.DictReader((HERE / f"{name}.csv").read_text(encoding="utf-8").splitlines())


def records() -> list[Record]:
    """All runs, in the order of their points."""
    found = []
    for row in _rows("ns2_runs"):
        point = Point(row["variant"], row["mechanism"], float(row["per_percent"]), row["reading"])
        # The last number that is acknowledged: the others count from 1, for 0 is the SYN; Vegas counts from 0.
        first = 0 if point.variant == "vegas" else 1
        acked = [int(row[f"acked_{i + 1}"]) for i in range(FLOWS)]
        found.append(Record(point, int(row["seed"]), tuple(n + 1 - first for n in acked)))
    return found


def by_point(found: list[Record]) -> dict[Point, list[Record]]:
    """Runs by point."""
    own: dict[Point, list[Record]] = {}
    for r in found:
        own.setdefault(r.point, []).append(r)
    return own


def estimates(found: Sequence[Record]) -> dict[str, Estimate]:
    """The measures of a point from its runs."""
    return {name: mean([r.values[name] for r in found]) for name in (GOODPUT, UNFAIRNESS, JAIN)}


LONE_RUNS = 5
"""Runs of a lone flow."""

_QUANTILE = quantile_t(0.95, LONE_RUNS - 1)


def lone() -> dict[Point, dict[str, Estimate]]:
    """A lone flow over a lossy path."""
    found = {}
    for row in _rows("ns2_lone"):
        point = Point(row["variant"], "none", float(row["per_percent"]), LONE, int(row["window"]))
        error = float(row["half_width_95"]) / _QUANTILE
        found[point] = {SEGMENTS: Estimate(float(row["segments_per_s"]), error * error, LONE_RUNS - 1)}
    return found


def starts() -> list[tuple[str, tuple[float, ...], tuple[int, ...]]]:
    """NewReno without losses, flows beginning at drawn times: mechanism, times [s], segments of each flow."""
    return [
        (
            row["mechanism"],
            tuple(float(row[f"start_{i + 1}"]) for i in range(FLOWS)),
            tuple(int(row[f"acked_{i + 1}"]) for i in range(FLOWS)),
        )
        for row in _rows("ns2_starts")
    ]


def table() -> Table:
    """Everything that ns-2 measured, by point."""
    return Table({p: estimates(own) for p, own in by_point(records()).items()} | lone())
