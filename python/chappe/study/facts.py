"""What each run of a study measured as a whole: means over its batches after its transient."""

import math
from collections.abc import Iterator
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from chappe.results import MEASURES, measures_of
from chappe.stats import Estimate, mser5
from chappe.study.parts import RUN

Transient = Literal["discard", "mser5"]
"""How the beginning of a run is left out: its first ``run.discard`` batches, or as many groups of five batches as
MSER-5 finds, for each measure by itself."""

TRANSIENTS: tuple[Transient, ...] = ("discard", "mser5")
NAMES = tuple(m.name for m in MEASURES)
"""The measures."""


def batch_values(batches: pl.DataFrame, measure: str, transient: Transient) -> dict[str, NDArray[np.float64]]:
    """The values of a measure in the batches that count, for each run.

    Args:
        batches: The table ``batches`` of several runs, with the column ``run``.
        measure: The measure.
        transient: How the beginning of a run is left out.
    """
    return dict(_Batches(batches, transient).values(measure)) if len(batches) else {}


def with_measures(facts: pl.DataFrame, batches: pl.DataFrame, transient: Transient) -> pl.DataFrame:
    """Appends to each run the mean of every measure over its batches, and the ``_half_width`` of its 95 % interval.

    A run without finished batches has NaN.
    """
    columns = [batches[RUN].unique(maintain_order=True)]
    table = _Batches(batches, transient)
    for name in NAMES:
        estimates = [Estimate.of(values) for _, values in table.values(name)]
        widths = [e.half_width() for e in estimates]
        columns.append(pl.Series(name, [e.mean for e in estimates], dtype=pl.Float64))
        columns.append(pl.Series(f"{name}_half_width", widths, dtype=pl.Float64))
    joined = facts.join(pl.DataFrame(columns), on=RUN, how="left", maintain_order="left")
    return joined.with_columns(pl.col(c.name).fill_null(math.nan) for c in columns[1:])


class _Batches:
    """Batches of several runs. The rows of a run stand together, in the order of its batches."""

    def __init__(self, batches: pl.DataFrame, transient: Transient):
        self._measures = measures_of(batches)
        self._used = batches["used"].to_numpy()
        self._runs = batches[RUN].rle().struct.unnest()
        self._mser5 = transient == "mser5"

    def values(self, measure: str) -> Iterator[tuple[str, NDArray[np.float64]]]:
        """The values of a measure in the batches that count, run by run."""
        values = self._measures[measure].fill_null(math.nan).to_numpy()
        begin = 0
        for length, key in self._runs.iter_rows():
            own = slice(begin, begin + length)
            begin += length
            counted = values[own] if self._mser5 else values[own][self._used[own]]
            counted = counted[~np.isnan(counted)]
            yield key, counted[mser5(counted) :] if self._mser5 else counted
