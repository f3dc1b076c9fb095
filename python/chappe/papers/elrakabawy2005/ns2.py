"""The runs of ns-2.35 that ship with the package."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from chappe.papers.elrakabawy2005.measures import ALL, DROPS, FAILURES, GOODPUT, JAIN, MEASURES, Measure
from chappe.papers.elrakabawy2005.points import HERE, UDP, Point
from chappe.papers.paper import Table
from chappe.stats import Estimate, quantile_t


class Record(NamedTuple):
    """A run of ns-2.35."""

    point: Point
    seed: int
    batches: int
    """Batches that count; there was one more."""
    packets_per_batch: int
    values: dict[str, Estimate]
    """Mean over the batches by the name of the measure."""
    measures: Sequence[Measure] = MEASURES
    """Those that are compared."""


_FIVE = GOODPUT._replace(tolerance=0.05)
"""Goodput where the runs of ns-2 are short, or flows take turns for longer than a batch."""


def _rows(name: str) -> Iterator[dict[str, str]]:
    yield from csv.DictReader((HERE / f"{name}.csv").read_text(encoding="utf-8").splitlines())


def _record(row: dict[str, str], point: Point, measures: Sequence[Measure]) -> Record:
    n = int(row["batches"])
    values = {}
    for name, mean in row.items():
        if f"{name}_ci95" in row:
            error = float(row[f"{name}_ci95"]) / quantile_t(0.95, n - 1)
            values[name] = Estimate(float(mean), error * error, n - 1)
        elif name == "ifq_full_drops":
            values["queue_drops"] = Estimate.of([float(mean) * n])
        elif name in ALL:
            values[name] = Estimate.of([float(mean)])
    return Record(point, int(row["seed"]), n, int(row["pkts_per_batch"]), values, measures)


def records() -> list[Record]:
    """All runs: chains, paced UDP, grids, random topologies."""
    found = []
    for row in _rows("ns2_chain"):
        point = Point(row["variant"], int(row["hops"]), float(row["rate_mbps"]))
        found.append(_record(row, point, (_FIVE, *MEASURES[1:]) if "_thin" in point.variant else MEASURES))
    for row in _rows("ns2_udp"):
        point = Point(UDP, int(row["hops"]), float(row["rate_mbps"]), interval_ms=float(row["interval_ms"]))
        found.append(_record(row, point, (_FIVE, DROPS, FAILURES)))
    for name in ("ns2_grid", "ns2_random"):
        for row in _rows(name):
            point = Point(row["variant"], 0, float(row["rate_mbps"]), row["topology"])
            found.append(_record(row, point, (_FIVE, JAIN, *MEASURES[1:])))
    return found


def table(found: Iterable[Record] | None = None) -> Table:
    """The runs by point; of several seeds the first, of paced UDP also the best of each chain."""
    values: dict[Point, dict[str, Estimate]] = {}
    for r in found or records():
        values.setdefault(r.point, r.values)
    best: dict[Point, tuple[float, dict[str, Estimate]]] = {}
    for point, own in values.items():
        if point.variant == UDP:
            key = point._replace(interval_ms=0.0)
            goodput = own["goodput_kbps"].mean
            if key not in best or goodput > best[key][0]:
                best[key] = (goodput, own | {"interval_ms": Estimate.of([point.interval_ms])})
    values |= {key: own for key, (_, own) in best.items()}
    for row in _rows("ns2_delay"):
        point = Point("delay", int(row["hops"]), float(row["rate_mbps"]))
        names = ("delay_min_ms", "delay_mean_ms", "delay_max_ms")
        values[point] = {name: Estimate.of([float(row[name])]) for name in names}
    return Table(values)


class State(NamedTuple):
    """A further seed of ns-2.35 where runs have two states."""

    goodput_kbps: float
    """Over the batches that count."""
    last_kbps: float
    """In the last of them."""
    jain_index: float


def states() -> dict[Point, list[State]]:
    """Further seeds where runs have two states, by point."""
    found: dict[Point, list[State]] = {}
    for row in _rows("ns2_states"):
        interval = float(row["interval_ms"])
        point = Point(row["variant"], int(row["hops"]), float(row["rate_mbps"]), row["place"], interval_ms=interval)
        found.setdefault(point, []).append(State(*(float(row[name]) for name in State._fields)))
    return found


def further_seeds() -> dict[tuple[Point, str], Estimate]:
    """Further seeds of stock ns-2.35 for some points, by point and name of the measure: independent replications."""
    values: dict[tuple[Point, str], list[float]] = {}
    for row in _rows("ns2_seeds"):
        point = Point(row["variant"], int(row["hops"]), float(row["rate_mbps"]))
        for m in MEASURES:
            if m.name in row:
                values.setdefault((point, m.name), []).append(float(row[m.name]))
    for point, runs in states().items():
        for m in (GOODPUT, JAIN):
            values[point, m.name] = [getattr(run, m.name) for run in runs]
    return {key: Estimate.of(found) for key, found in values.items()}
