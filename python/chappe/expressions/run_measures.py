"""Measures of each run of a study: ratios of totals over the batches after the transient."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from chappe.measures import (
    JAIN,
    NAMES,
    Totals,
    column,
    counts_flows,
    is_known,
    limits_with,
    measure_of,
    of_flows,
    quotients,
    tables_of_flows,
)
from chappe.results.storage.columns import RUN, RUN_INFO
from chappe.scenario import flow_selection
from chappe.stats import ROUNDING, Pooled, mser5, quantile_t, quotient

Warmup = Literal["discard", "mser5"]
"""Removal of the transient: the first ``run.warmup_batches`` batches, or the groups of five batches that MSER-5 finds
in the mean of the runs of a point, separately for each measure."""

WARMUPS: tuple[Warmup, ...] = ("discard", "mser5")

HALF_WIDTH, OVER, UNDER = "_half_width", "_over", "_under"
"""Suffixes of further columns of a measure in tables of this package: half width of the Student-t interval over the
batches, and the two totals. :func:`runs_of` and :func:`totals_of` give the tables of a study."""

LOW, HIGH = "_low", "_high"
"""Suffixes of the ends of the interval of a summary (:class:`chappe.stats.Pooled`)."""

_COLUMNS = ("", HALF_WIDTH, LOW, HIGH, OVER, UNDER)


class Batches:
    """Batches of several runs. The rows of a run are contiguous, in the order of the batches."""

    def __init__(
        self, table: Callable[[str], pl.DataFrame], transient: Warmup, points: Mapping[str, object] | None = None
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
        self._of_chosen: dict[flow_selection.Flows, dict[str, pl.DataFrame]] = {}
        self.lengths, self.keys = _groups(self._batches)

    def totals(self, measure: str) -> Iterator[tuple[str, Totals]]:
        """Totals of a measure in the batches after the transient, run by run."""
        bounds = self._bounds_of(measure)
        if self._transient == "mser5":
            rows = self._rows(measure)
            firsts = {key: first for keys, first, _ in self.transients(measure) for key in keys}
            for key, of_run in zip(self.keys, rows, strict=True):
                yield key, Totals.of(measure, of_run[firsts[key] :], *bounds.get(key, ())).known
            return
        used = _split(self._batches["used"].to_numpy() if len(self._batches) else np.empty(0, bool), self.lengths)
        for key, of_run, counts in zip(self.keys, self._rows(measure), used, strict=True):
            yield key, Totals.of(measure, of_run[counts], *bounds.get(key, ()))

    def _of(self, measure: str) -> tuple[str, Callable[[str], pl.DataFrame]]:
        """Name of the measure itself, and function from a name to the table of the flows that it is taken of."""
        name, choice = flow_selection.parts(measure)
        if choice is None:
            return name, self._of_all
        if choice not in self._of_chosen:
            self._of_chosen[choice] = tables_of_flows(self._table, choice, [RUN])
        return name, self._of_chosen[choice].__getitem__

    def _of_all(self, name: str) -> pl.DataFrame:
        """A table of all flows; batches, which each measure needs, are read once."""
        return self._batches if name == "batches" else self._table(name)

    def _bounds_of(self, measure: str) -> dict[str, tuple[int, int | None]]:
        """For each run the number of flows, and the fastest rate, of a measure whose limits depend on them."""
        if not counts_flows(measure):
            return {}
        numbers, keys = _groups(self._of(measure)[1]("flows"))
        fastest = dict(self._table(RUN_INFO).select(RUN, "fastest_bps").iter_rows())
        return {key: (number, fastest[key]) for key, number in zip(keys, numbers, strict=True)}

    def _rows(self, measure: str) -> Iterator[NDArray[np.float64]]:
        name, table = self._of(measure)
        if name == JAIN:
            return self._of_flows(table)
        return _split(self._quotients_of(measure), self.lengths)

    def _quotients_of(self, measure: str) -> NDArray[np.float64]:
        name, table = self._of(measure)
        return quotients(table("batches"), name)

    def each(self, measure: str) -> Iterator[NDArray[np.float64]]:
        """Measure of each batch, run by run; NaN where undefined."""
        for of_run in self._rows(measure):
            yield np.where(is_known(of_run), measure_of(measure).statistic(of_run), math.nan)

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

    def _of_flows(self, table: Callable[[str], pl.DataFrame]) -> Iterator[NDArray[np.float64]]:
        if table("batches")["jain_index"].is_null().all():
            # No run has several flows that deliver anything.
            return iter([np.full((n, 2), math.nan) for n in self.lengths])
        flows = table("flow_batches")
        lengths, keys = _groups(flows)
        delivered = dict(zip(keys, _split(flows["bytes_delivered"].to_numpy(), lengths), strict=True))
        none = np.empty(0)
        return (of_flows(delivered.get(key, none), n) for key, n in zip(self.keys, self.lengths, strict=True))

    def measured(self, measure: str) -> NDArray[np.float64]:
        """Measure of each run, half width and ends of 95 % intervals over the batches, and two totals, as columns."""
        if self._transient == "discard" and measure_of(measure).statistic is quotient:
            return self._quotients(measure)
        rows = []
        for _, totals in self.totals(measure):
            together = totals.together
            e = together.estimate
            rows.append((e.mean, e.half_width(), *totals.estimate(together).interval(), *totals.of_run))
        return np.array(rows, dtype=float).reshape(len(rows), len(_COLUMNS))

    def _quotients(self, measure: str) -> NDArray[np.float64]:
        """Vectorized :meth:`measured` for ratios, fast for many runs."""
        rows = self._quotients_of(measure)
        counts = self._batches["used"].to_numpy() & is_known(rows)
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
            second = sums(deviations**2)
            second[second <= ROUNDING**2 * sums(pseudo**2)] = 0
            variance = np.where(n > 1, second / (n - 1) / n, math.nan)
            half_width = np.array([quantile_t(0.95, df) for df in n - 1]) * np.sqrt(variance)
            # As Estimate.of for one run, by the root of the number.
            skewness = sums(deviations**3) / n / (second / n) ** 1.5 * np.sqrt(n - 1) / (n - 2)
            skewness[(n < 3) | (second == 0)] = 0
        ends, of_events = np.full((len(n), 2), math.nan), measure_of(measure).exact
        bounds = self._bounds_of(measure)
        for i in np.flatnonzero(n > 1):
            limits = limits_with(value[i], Totals.of(measure, rows[:0], *bounds.get(self.keys[i], ())).limits)
            exact = None if of_events is None else partial(of_events, over[i], under[i])
            ends[i] = Pooled(value[i], variance[i], n[i] - 1, exact, limits, skewness=skewness[i]).interval()
        return np.column_stack([value, half_width, ends, over, under])


def with_measures(facts: pl.DataFrame, batches: Batches) -> pl.DataFrame:
    """Appends all measures to each run, with 95 % intervals over batches and two totals.

    ``_half_width`` is that of Student's t, ``_low`` and ``_high`` are the ends of the interval of a summary. The
    totals, ``_over`` and ``_under``, serve to pool runs. Measures of a run without batches are NaN.
    """
    columns = [pl.Series(RUN, batches.keys, dtype=pl.String)]
    for name in NAMES:
        numbers = batches.measured(name)
        columns += [pl.Series(f"{name}{end}", numbers[:, n], dtype=pl.Float64) for n, end in enumerate(_COLUMNS)]
    joined = facts.join(pl.DataFrame(columns), on=RUN, how="left", maintain_order="left")
    return joined.with_columns(pl.col(c.name).fill_null(math.nan) for c in columns[1:])


def runs_of(rows: pl.DataFrame) -> pl.DataFrame:
    """Runs with their measures, each with the ends of its interval and without totals.

    Args:
        rows: Runs as from :func:`with_measures`.
    """
    columns: list[pl.Expr] = []
    for name in rows.columns:
        if f"{name}{HALF_WIDTH}" not in rows.columns or name not in NAMES:
            is_part = any(name == f"{measure}{end}" for measure in NAMES for end in _COLUMNS[1:])
            columns += [] if is_part else [pl.col(name)]
            continue
        ends = ((LOW, "ci_low"), (HIGH, "ci_high"))
        columns += [pl.col(name), *(pl.col(f"{name}{end}").alias(column(name, part)) for end, part in ends)]
    return rows.select(columns)


def totals_of(rows: pl.DataFrame) -> pl.DataFrame:
    """Totals of the measures of runs: ``run``, ``measure``, ``numerator``, ``denominator``; the sums of runs pool them.

    Args:
        rows: Runs as from :func:`with_measures`.
    """
    each = [
        rows.select(
            RUN,
            pl.lit(name).alias("measure"),
            pl.col(f"{name}{OVER}").alias("numerator"),
            pl.col(f"{name}{UNDER}").alias("denominator"),
        )
        for name in NAMES
    ]
    # By run, in the order of the runs.
    numbers = pl.DataFrame({RUN: rows[RUN], "number": range(len(rows))})
    totals = pl.concat(each).join(numbers.unique(RUN, keep="first"), on=RUN, maintain_order="left")
    return totals.sort("number", maintain_order=True).drop("number")


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
