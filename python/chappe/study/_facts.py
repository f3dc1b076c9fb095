"""Measures of each run of a study: ratios of totals over the batches after the transient."""

import math
from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from chappe.measures import BY_NAME, JAIN, NAMES, Totals, of_flows, quotients
from chappe.stats import mser5, quotient
from chappe.study._parts import RUN

Transient = Literal["discard", "mser5"]
"""Removal of the transient: the first ``run.warmup_batches`` batches, or the groups of five batches that MSER-5 finds,
separately for each measure."""

TRANSIENTS: tuple[Transient, ...] = ("discard", "mser5")

HALF_WIDTH, OVER, UNDER = "_half_width", "_over", "_under"
"""Suffixes of further columns of a measure: half width of the interval over the batches, and the two totals."""

_COLUMNS = ("", HALF_WIDTH, OVER, UNDER)


class Batches:
    """Batches of several runs. The rows of a run are contiguous, in the order of the batches."""

    def __init__(self, table: Callable[[str], pl.DataFrame], transient: Transient):
        """Reads the batches.

        Args:
            table: Function from a name to the table of all runs, with the column ``run``.
            transient: Removal of the transient.
        """
        self._table = table
        self._batches = table("batches")
        self._transient = transient
        self.lengths, self.keys = _groups(self._batches)

    def totals(self, measure: str) -> Iterator[tuple[str, Totals]]:
        """Totals of a measure in the batches after the transient, run by run."""
        rows = self._of_flows() if measure == JAIN else _split(quotients(self._batches, measure), self.lengths)
        used = _split(self._batches["used"].to_numpy() if len(self._batches) else np.empty(0, bool), self.lengths)
        for key, of_run, counts in zip(self.keys, rows, used, strict=True):
            if self._transient == "discard":
                yield key, Totals.of(measure, of_run[counts])
            else:
                yield key, _after_transient(Totals.of(measure, of_run).known)

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
    """Appends all measures to each run, with the ``_half_width`` of Student's t (95 %) over batches, and two totals.

    The totals, ``_over`` and ``_under``, serve to pool runs. Measures of a run without batches are NaN.
    """
    columns = [pl.Series(RUN, batches.keys, dtype=pl.String)]
    for name in NAMES:
        numbers = batches.measured(name)
        columns += [pl.Series(f"{name}{end}", numbers[:, n], dtype=pl.Float64) for n, end in enumerate(_COLUMNS)]
    joined = facts.join(pl.DataFrame(columns), on=RUN, how="left", maintain_order="left")
    return joined.with_columns(pl.col(c.name).fill_null(math.nan) for c in columns[1:])


def _after_transient(totals: Totals) -> Totals:
    each = totals.each
    left = np.flatnonzero(np.isfinite(each))
    first = mser5(each[left])
    return totals._replace(rows=totals.rows[left[first] if first else 0 :])


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
