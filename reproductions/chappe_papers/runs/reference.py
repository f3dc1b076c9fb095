"""Numbers of others that ship with a paper: ``reference.csv``, one run or one number of the paper in a line.

The columns are ``source``, the fields of the paper's point, ``seed``, ``batches`` (those that count),
``packets_per_batch``, and then measures under the names that they have everywhere, each with or without the half width
of its 95 % interval in ``NAME_half_width_95``. What is empty has its default, or is not known.
"""

import csv
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from chappe.stats import Estimate, quantile_t

from chappe_papers.runs.estimates import NS2

HALF_WIDTH = "_half_width_95"
FURTHER = "further seeds of ns-2.35"
"""Source of independent replications of what ns-2 was run on."""

_OF_RUN = ("source", "seed", "batches", "packets_per_batch")


class Record(NamedTuple):
    """A line of the file."""

    source: str
    point: Any
    seed: int
    batches: int
    """Batches that count; there was one more."""
    packets_per_batch: int
    values: dict[str, Estimate]
    """Mean over the batches by the name of the measure; the variance is NaN where nothing is known of it."""


@cache
def records(package: str, point: Any) -> tuple[Record, ...]:
    """All lines of the file of a paper.

    Args:
        package: Of the paper.
        point: The class of its points.
    """
    kinds = {name: type(default) for name, default in point._field_defaults.items()}
    read = []
    text = files(package).joinpath("reference.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
        given = {n: kinds.get(n, str)(row[n]) for n in point._fields if row.get(n)}
        batches = int(row["batches"] or 1)
        values = {}
        for name, value in row.items():
            if value and name not in _OF_RUN and name not in point._fields and not name.endswith(HALF_WIDTH):
                half = row.get(name + HALF_WIDTH)
                error = float(half) / quantile_t(0.95, batches - 1) if half else float("nan")
                values[name] = Estimate(float(value), error * error, batches - 1)
        of_run = (int(row["seed"] or 0), batches, int(row.get("packets_per_batch") or 0))
        read.append(Record(row["source"], point(**given), *of_run, values))
    return tuple(read)


def of(source: str, records: Iterable[Record]) -> list[Record]:
    """The lines of a source."""
    return [r for r in records if r.source == source]


def first(records: Iterable[Record], source: str = NS2) -> dict[Any, dict[str, Estimate]]:
    """The values of a source by point; of several seeds the first."""
    values: dict[Any, dict[str, Estimate]] = {}
    for r in of(source, records):
        values.setdefault(r.point, r.values)
    return values
