"""Measures of each run of a study: ratios of totals over the batches after the transient."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from chappe.measures import BY_NAME, JAIN, NAMES, Totals, of_flows, quotients
from chappe.stats import mser5, quotient
from chappe.study._parts import RUN

Transient = Literal["discard", "mser5"]
"""Removal of the transient: the first ``run.warmup_batches`` batches, or the groups of five batches that MSER-5 finds
in the mean of the runs of a point, separately for each measure."""

TRANSIENTS: tuple[Transient, ...] = ("discard", "mser5")

HALF_WIDTH, OVER, UNDER = "_half_width", "_over", "_under"
"""Suffixes of further columns of a measure: half width of the interval over the batches, and the two totals."""

_COLUMNS = ("", HALF_WIDTH, OVER, UNDER)


class Batches:
    """Batches of several runs. The rows of a run are contiguous, in the order of the batches."""

    def __init__(
        self, table: Callable[[str], pl.DataFrame], transient: Transient, points: Mapping[str, object] | None = None
    ):
        """Reads the batches.

        Args:
            table: Function from a name to the table of all runs, with the column ``run``.
            transient: Removal of the transient.
            points: Point of each run: all runs of a point have the same transient, that of their mean; ``None``: each
                run has its own.
        """
        self._table = table
        self._batches = table("batches")
        self._transient = transient
        self._points = points
        self.lengths, self.keys = _groups(self._batches)

    def totals(self, measure: str) -> Iterator[tuple[str, Totals]]:
        """Totals of a measure in the batches after the transient, run by run."""
        statistic = BY_NAME[measure].statistic
        if self._transient == "mser5":
            rows = self._rows(measure)
            firsts = {key: first for keys, first, _ in self.transients(measure) for key in keys}
            for key, of_run in zip(self.keys, rows, strict=True):
                yield key, Totals(of_run[firsts[key] :], statistic).known
            return
        used = _split(self._batches["used"].to_numpy() if len(self._batches) else np.empty(0, bool), self.lengths)
        for key, of_run, counts in zip(self.keys, self._rows(measure), used, strict=True):
            yield key, Totals(of_run[counts], statistic)

    def _rows(self, measure: str) -> Iterator[NDArray[np.float64]]:
        return self._of_flows() if measure == JAIN else _split(quotients(self._batches, measure), self.lengths)

    def each(self, measure: str) -> Iterator[NDArray[np.float64]]:
        """Measure of each batch, run by run; NaN where undefined."""
        for of_run in self._rows(measure):
            known = np.isfinite(of_run).all(axis=1) & (of_run != 0).any(axis=1)
            yield np.where(known, BY_NAME[measure].statistic(of_run), math.nan)

    def transients(self, measure: str) -> Iterator[tuple[list[str], int, bool]]:
        """Transients by MSER-5: runs of a point, number of left out batches, and true if that is the largest number.

        The series is the mean over the runs of a point, batch by batch: the noise of single runs hides a transient, or
        looks like one (Welch 1983; Hoad, Robinson and Davies 2010).
        """
        runs: dict[object, list[tuple[str, NDArray[np.float64]]]] = {}
        for key, each in zip(self.keys, self.each(measure), strict=True):
            runs.setdefault(key if self._points is None else self._points[key], []).append((key, each))
        for of_point in runs.values():
            mean, places = mean_series([each for _, each in of_point])
            left_out = mser5(mean)
            first = int(places[left_out]) if left_out else 0
            yield [key for key, _ in of_point], first, bool(left_out) and left_out == 5 * (len(mean) // 5 // 2)

    def _of_flows(self) -> Iterator[NDArray[np.float64]]:
        if self._batches["jain_index"].is_null().all():
            # No run has several flows that deliver anything.
            return iter([np.full((n, 2), math.nan) for n in self.lengths])
        flows = self._table("flow_batches")
        lengths, _ = _groups(flows)
        delivered = _split(flows["delivered_bytes"].to_numpy(), lengths)
        return (of_flows(of_run, n) for of_run, n in zip(delivered, self.lengths, strict=True))

    def measured(self, measure: str) -> NDArray[np.float64]:
        """Measure of each run, half width of the 95 % interval over the batches, and the two totals, as columns."""
        if self._transient == "discard" and BY_NAME[measure].statistic is quotient:
            return self._quotients(measure)
        estimates = [(t.together.estimate, t.of_run) for _, t in self.totals(measure)]
        rows = [(e.mean, e.half_width(), *pair) for e, pair in estimates]
        return np.array(rows, dtype=float).reshape(len(rows), len(_COLUMNS))

    def _quotients(self, measure: str) -> NDArray[np.float64]:
        """Vectorised :meth:`measured` for ratios, fast for many runs."""
        from scipy.special import stdtrit

        rows = quotients(self._batches, measure)
        counts = self._batches["used"].to_numpy() & np.isfinite(rows).all(axis=1) & (rows != 0).any(axis=1)
        run = np.repeat(np.arange(len(self.keys)), self.lengths)[counts]
        rows = rows[counts]

        def sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.asarray(np.bincount(run, weights=values, minlength=len(self.keys)), dtype=float)

        n = sums(np.ones(len(run)))
        over, under = sums(rows[:, 0]), sums(rows[:, 1])
        over[n == 0] = under[n == 0] = math.nan
        value = quotient(np.stack([over, under], axis=1))
        # As Jackknife.of for one run.
        left = quotient(np.stack([rows[:, 0] - value[run] * rows[:, 1], under[run] - rows[:, 1]], axis=1))
        pseudo = value[run] + (n[run] - 1) * left
        with np.errstate(divide="ignore", invalid="ignore"):
            deviations = pseudo - (sums(pseudo) / n)[run]
            half_width = stdtrit(n - 1, 0.975) * np.sqrt(sums(deviations**2) / (n - 1) / n)
        return np.stack([value, np.where(n > 1, half_width, math.nan), over, under], axis=1)


def with_measures(facts: pl.DataFrame, batches: Batches) -> pl.DataFrame:
    """Appends all measures to each run, with the ``_half_width`` of the 95 % interval over the batches, and two totals.

    The totals, ``_over`` and ``_under``, serve to pool runs. Measures of a run without batches are NaN.
    """
    columns = [pl.Series(RUN, batches.keys, dtype=pl.String)]
    for name in NAMES:
        numbers = batches.measured(name)
        columns += [pl.Series(f"{name}{end}", numbers[:, n], dtype=pl.Float64) for n, end in enumerate(_COLUMNS)]
    joined = facts.join(pl.DataFrame(columns), on=RUN, how="left", maintain_order="left")
    return joined.with_columns(pl.col(c.name).fill_null(math.nan) for c in columns[1:])


def mean_series(runs: Sequence[NDArray[np.float64]]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Mean over runs, batch by batch, as long as the shortest run, and the places of its batches.

    Batches in which no run has a value are left out.
    """
    shortest = min(len(each) for each in runs)
    values = np.stack([each[:shortest] for each in runs])
    counts = np.isfinite(values).sum(axis=0)
    places = np.flatnonzero(counts)
    return np.nansum(values[:, places], axis=0) / counts[places], places


def _groups(table: pl.DataFrame) -> tuple[list[int], list[str]]:
    """Numbers of rows and names of the runs."""
    if not len(table):
        return [], []
    groups = table[RUN].rle().struct
    return groups.field("len").to_list(), groups.field("value").to_list()


def _split(rows: NDArray[np.generic], lengths: list[int]) -> Iterator[NDArray[np.float64]]:
    begin = 0
    for n in lengths:
        yield rows[begin : begin + n]  # type: ignore[misc]  # the callers pass numbers
        begin += n
