"""Analysis of the runs of a study: means, comparisons, rankings."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import polars.selectors as cs
from numpy.typing import NDArray

from chappe import _core
from chappe._arguments import said
from chappe._doubts import CORRELATED, of_batches, of_runs
from chappe.measures import NAMES, Direction, Totals, hint
from chappe.order import Quantile
from chappe.states import unseen
from chappe.stats import Comparison, Estimate, Jackknife, Pooled, holm, lag1, paired, unpaired

QUANTILES = {"q10": 0.1, "median": 0.5, "q90": 0.9}
"""Columns of the summary with quantiles of single runs or batches."""


class Sample(NamedTuple):
    """Totals of a measure at a point.

    Attributes:
        labels: Value on each axis.
        seeds: Seed of each row of totals; ``None`` if the rows are batches of one run.
        totals: Totals of each run or batch.
        short: True for short batches (:func:`chappe.measures.short_batches`).
    """

    labels: dict[str, Any]
    seeds: list[int] | None
    totals: Totals
    short: bool = False

    @property
    def together(self) -> Jackknife:
        """Measure of all runs, or batches, together."""
        return self.totals.together

    @property
    def estimate(self) -> Pooled:
        """Measure of all runs, or batches, with the variance of its error."""
        return self.totals.estimate(self.together)


def known_measure(name: str) -> None:
    """Refuses an unknown measure."""
    if name not in NAMES:
        raise ValueError(f"there is no measure {said(name)}; {hint(name)}")


def known(value: float) -> float | None:
    """A number of a table; ``None`` if unknown."""
    return value if math.isfinite(value) else None


def interval(e: Estimate, confidence: float) -> dict[str, float | None]:
    """Columns of an estimate and of the ends of its interval."""
    low, high = e.interval(confidence)
    return {"estimate": known(e.mean), "ci_low": known(low), "ci_high": known(high)}


def table(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Table of rows; unknown numbers are null, and floats even where all of them are unknown."""
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(cs.by_dtype(pl.Null).cast(pl.Float64))


def summary(sample: Sample, measure: str, confidence: float) -> dict[str, Any]:
    """Row of the summary."""
    together = sample.together
    estimate = sample.totals.estimate(together)
    of_one_run = sample.seeds is None
    rho = lag1(together.pseudo) if of_one_run else math.nan
    values = sample.totals.known.each
    values = np.sort(values[np.isfinite(values)])
    n = len(together.pseudo)
    doubt = of_batches(together.pseudo, sample.short) if of_one_run else of_runs(n, estimate)
    return {
        **sample.labels,
        "measure": measure,
        **interval(estimate, confidence),
        "n": n,
        "of": "batches" if of_one_run else "runs",
        "doubt": doubt,
        "unseen": None if of_one_run else unseen(n, confidence),
        **_quantiles(values, confidence),
        "autocorrelation": known(rho),
        "correlated": of_one_run and CORRELATED in str(doubt),
    }


def _quantiles(values: NDArray[np.float64], confidence: float) -> dict[str, float | None]:
    """Columns of quantiles and their intervals; null for too few values for an interval."""
    row: dict[str, float | None] = {}
    for name, q in QUANTILES.items():
        e = Quantile.at(values, q)
        low, high = e.interval(confidence)
        found = math.isfinite(low) and math.isfinite(high)
        row |= dict(
            zip((name, f"{name}_low", f"{name}_high"), (e.mean, low, high) if found else (None,) * 3, strict=True)
        )
    return row


def contrast(a: Sample, b: Sample) -> tuple[Comparison, Jackknife, Jackknife]:
    """Comparison of two settings, and the compared samples: pairs with the same seed, or batches."""
    if a.seeds is None or b.seeds is None:
        x, y = a.together, b.together
        return unpaired(x, y), x, y
    row_of = {seed: place for place, seed in enumerate(b.seeds)}
    pairs = [(place, row_of[seed]) for place, seed in enumerate(a.seeds) if seed in row_of]
    first, second = (t.rows[[pair[side] for pair in pairs]] for side, t in enumerate((a.totals, b.totals)))
    finite = (np.isfinite(first) & np.isfinite(second)).all(axis=1)
    x, y = (Jackknife.of(rows[finite], a.totals.statistic) for rows in (first, second))
    return paired(x, y), x, y


def compare(
    samples: Sequence[Sample], a: Mapping[str, Any], b: Mapping[str, Any], confidence: float
) -> list[dict[str, Any]]:
    """Rows of a comparison of two settings."""
    return _adjusted(_contrasts(samples, a, b, confidence), confidence)


def compare_all(samples: Sequence[Sample], axis: str, baseline: Any, confidence: float) -> list[dict[str, Any]]:
    """Rows of a comparison of all values of an axis with one of them."""
    reference = {axis: baseline}
    _chosen(samples, reference)
    values = list(dict.fromkeys(s.labels[axis] for s in samples))
    rows = [
        {**labels, axis: value, "baseline": baseline, **{k: v for k, v in row.items() if k not in labels}}
        for value in values
        if value != baseline
        for row in _contrasts(samples, {axis: value}, reference, confidence)
        for labels in [{k: v for k, v in row.items() if k in samples[0].labels}]
    ]
    places = {tuple(s.labels[k] for k in s.labels if k != axis): n for n, s in reversed(list(enumerate(samples)))}
    rows.sort(key=lambda row: places[tuple(row[k] for k in samples[0].labels if k != axis)])
    return _adjusted(rows, confidence)


def _contrasts(
    samples: Sequence[Sample], a: Mapping[str, Any], b: Mapping[str, Any], confidence: float
) -> list[dict[str, Any]]:
    """Rows of a comparison of two settings, without the adjustment for several tests."""
    if not a or set(a) != set(b):
        raise ValueError("both settings must give values of the same axes")
    first, second = _chosen(samples, a), _chosen(samples, b)
    rows = []
    for rest, sample in first.items():
        if rest not in second:
            continue
        c, x, y = contrast(sample, second[rest])
        low, high = c.difference.interval(confidence)
        other_axes = {k: v for k, v in sample.labels.items() if k not in a}
        rows.append(
            {
                **other_axes,
                "n": len(x.pseudo),
                "estimate_a": known(x.value),
                "estimate_b": known(y.value),
                "difference": known(c.difference.mean),
                "ci_low": known(low),
                "ci_high": known(high),
                "relative": known(c.difference.mean / y.value) if y.value else None,
                "effect": known(c.effect),
                "p": known(c.p),
            }
        )
    return rows


def _adjusted(rows: Sequence[Mapping[str, Any]], confidence: float) -> list[dict[str, Any]]:
    """Rows of a comparison with p-values adjusted over all rows."""
    adjusted = holm([math.nan if row["p"] is None else row["p"] for row in rows])
    return [
        {**row, "p_adjusted": known(p), "significant": p < 1 - confidence}
        for row, p in zip(rows, adjusted, strict=True)
    ]


def _chosen(samples: Sequence[Sample], setting: Mapping[str, Any]) -> dict[tuple[Any, ...], Sample]:
    """Points with a setting, by the values on the other axes."""
    for name in setting:
        if samples and name not in samples[0].labels:
            raise ValueError(_no_axis(name, samples[0].labels))
    chosen = {
        tuple(v for k, v in s.labels.items() if k not in setting): s
        for s in samples
        if all(s.labels[k] == v for k, v in setting.items())
    }
    if not chosen:
        raise ValueError(f"no point has {', '.join(f'{k} = {v}' for k, v in setting.items())}")
    return chosen


def _no_axis(name: str, labels: Mapping[str, Any]) -> str:
    """Message about the name of an axis that a study lacks."""
    today = _core.renamed_setting(name) if isinstance(name, str) else None
    if today in labels:
        return f"{said(name)} is not an axis: it is now called {said(today)}"
    return f"{said(name)} is not an axis; the axes are {', '.join(labels) or 'none'}"


def rank(
    samples: Sequence[Sample], over: Sequence[str], direction: Direction, confidence: float
) -> list[dict[str, Any]]:
    """Rows of a ranking."""
    groups: dict[tuple[Any, ...], list[Sample]] = {}
    for name in over:
        if samples and name not in samples[0].labels:
            raise ValueError(_no_axis(name, samples[0].labels))
    for s in samples:
        groups.setdefault(tuple(v for k, v in s.labels.items() if k not in over), []).append(s)
    return [row for group in groups.values() for row in _ranked(group, over, direction, confidence)]


def _ranked(
    group: Sequence[Sample], over: Sequence[str], direction: Direction, confidence: float
) -> list[dict[str, Any]]:
    sign = 1 if direction == "maximize" else -1
    above = better(group, sign, confidence)
    rows = []
    for s, beaten_by in zip(group, above, strict=True):
        e = s.estimate
        labels = {k: v for k, v in s.labels.items() if k not in over} | {k: s.labels[k] for k in over}
        rows.append({**labels, "rank": 1 + beaten_by, **interval(e, confidence), "n": int(e.df) + 1})
    return sorted(rows, key=lambda r: (r["rank"], r["estimate"] is None, -sign * (r["estimate"] or 0.0)))


def better(group: Sequence[Sample], sign: int, confidence: float) -> list[int]:
    """Number of significantly better samples, for each sample; all pairs are compared (Holm)."""
    pairs = list(itertools.combinations(range(len(group)), 2))
    contrasts = [contrast(group[i], group[j])[0] for i, j in pairs]
    above = np.zeros(len(group), dtype=int)
    for (i, j), c, p in zip(pairs, contrasts, holm([c.p for c in contrasts]), strict=True):
        if p < 1 - confidence:
            above[j if sign * c.difference.mean > 0 else i] += 1
    return [int(n) for n in above]
