"""Number of runs of a point, and the values behind its intervals: one rule for all papers.

A point gets few runs where every run is like every other, and many where a run has states that outlive its batches:
where that is known of what is run, or where the first runs show it, by :func:`doubtful`. Where there are many, the
interval of a mean is that of the runs. Where there are few, and nothing is doubtful, it is that of all their batches.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from chappe import stats
from chappe.stats import Estimate, holm, lag1, quantile_t
from chappe.stats.states import States, absorbing
from chappe.study import OVER, UNDER

from chappe_papers.statistics.counted import Counted

MEASURES = ("goodput_bps", "mean_window_segments")
"""Measures by which runs are judged, columns of the table of batches; the others follow them."""

OF_BATCH = "_of_batch"
"""Ending of the columns with the first of :data:`MEASURES` in each batch of a run; their number follows."""

_LEVEL = 0.05
_ALIKE = 1 / 3


def of_batches(values: Mapping[str, Sequence[float | None]]) -> dict[str, float]:
    """Values of the batches of a run that :func:`doubtful` and :func:`states` need.

    Args:
        values: Each of :data:`MEASURES` in the batches that count.
    """
    columns: dict[str, float] = {"batches": float(len(values[MEASURES[0]]))}
    for name in MEASURES:
        columns[f"{name}_lag1"] = lag1([v for v in values[name] if v is not None and not math.isnan(v)])
    first = MEASURES[0]
    return columns | {f"{first}{OF_BATCH}{n}": math.nan if v is None else v for n, v in enumerate(values[first])}


def spread(runs: pl.DataFrame, measure: str) -> tuple[float, float]:
    """Spread of runs relative to the spread that their batches promise: :func:`chappe.stats.spread`."""
    df = min(runs["batches"].to_list(), default=0.0) - 1
    variances = [(h / quantile_t(0.95, df)) ** 2 for h in _known(runs, f"{measure}_half_width")]
    values = [math.nan if v is None else v for v in runs[measure].to_list()]
    return stats.spread(values, variances, df)


def _known(runs: pl.DataFrame, column: str) -> list[float]:
    """Values of a column that are there; a list, because a query of a table this small takes longer."""
    return [v for v in runs[column].to_list() if v is not None and not math.isnan(v)]


def correlation(runs: pl.DataFrame, measure: str) -> tuple[float, float]:
    """Correlation of neighboring batches.

    Returns:
        The mean autocorrelation over the runs, and the probability of at least this when batches are independent: then
        it is that of a normal distribution of mean -1/b and variance 1/b for the b batches of a run.
    """
    from scipy.special import ndtr

    defined = _known(runs, f"{measure}_lag1")
    if not defined:
        return math.nan, math.nan
    b = min(runs["batches"].to_list(), default=0.0)
    mean = sum(defined) / len(defined)
    return mean, float(ndtr(-(mean + 1 / b) * math.sqrt(len(defined) * b)))


def together(runs: pl.DataFrame, measure: str) -> Estimate | None:
    """A measure over the batches of all runs, as independent ones, where that is what they seem to be.

    Returns:
        ``None`` when it is not known how far the batches are apart, or when the runs are farther apart than in one case
        of three (F test): then the interval is that of the runs. A test that finds nothing proves little, so this one
        is strict: together with :func:`doubtful`, three runs give intervals that cover the true mean in 97 % of cases
        where batches are independent, and in more than 91 % however far runs are apart.
    """
    means, widths = runs[measure].to_list(), runs[f"{measure}_half_width"].to_list()
    n, b = len(runs), min(runs["batches"].to_list(), default=0.0)
    if b < 2 or any(v is None or math.isnan(v) for v in (*means, *widths)):
        return None
    if spread(runs, measure)[1] < _ALIKE:
        return None
    mean = float(runs[f"{measure}{OVER}"].sum()) / float(runs[f"{measure}{UNDER}"].sum())
    within = sum((h / quantile_t(0.95, b - 1)) ** 2 * b * (b - 1) for h in widths)
    between = sum(b * (m - mean) ** 2 for m in means)
    return Counted(mean, (within + between) / (n * b - 1) / (n * b), n * b - 1, n)


def states(runs: pl.DataFrame) -> States | None:
    """The absorbing state that runs of a point show in their goodput, by :func:`chappe.stats.states.absorbing`.

    Such a point gets :data:`chappe.stats.states.ENOUGH` runs or more, and no mean: ``share()`` of the runs has
    changed, from the level ``before`` to that ``after``.

    Returns:
        ``None`` where there is none, or the batches are not known.
    """
    count = int(min(runs["batches"].to_list(), default=0.0))
    names = [f"{MEASURES[0]}{OF_BATCH}{n}" for n in range(count)]
    if not names or not set(names) <= set(runs.columns):
        return None
    return absorbing(list(np.column_stack([runs[name].to_numpy() for name in names])))


def doubtful(runs: pl.DataFrame) -> bool:
    """True if batches of one run say less of other runs than they seem to.

    They do when runs are farther apart than their batches promise, or neighboring batches are alike, in goodput or in
    the window (four tests together at 5 %, Holm).
    """
    probabilities = [test(runs, name)[1] for name in MEASURES for test in (spread, correlation)]
    return any(p < _LEVEL for p in holm(probabilities))
