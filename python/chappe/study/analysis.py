"""Analysis of the runs of a study: means, comparisons, rankings."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from chappe.arguments import said
from chappe.measures import NAMES, Totals, hint
from chappe.stats import Comparison, Estimate, Jackknife, holm, lag1, paired, quantile, unpaired


class Sample(NamedTuple):
    """Totals of a measure at a point.

    Attributes:
        labels: Value on each axis.
        seeds: Seed of each row of totals; ``None`` if the rows are batches of one run.
        totals: Totals of each run or batch.
    """

    labels: dict[str, Any]
    seeds: list[int] | None
    totals: Totals

    @property
    def together(self) -> Jackknife:
        """Measure of all runs, or batches, together."""
        return self.totals.together

    @property
    def estimate(self) -> Estimate:
        """Measure of all runs, or batches, with the variance of its error."""
        return self.together.estimate


def known_measure(name: str) -> None:
    """Refuses an unknown measure."""
    if name not in NAMES:
        raise ValueError(f"there is no measure {said(name)}; {hint(name)}")


def summary(sample: Sample, measure: str, confidence: float) -> dict[str, Any]:
    """Row of the summary."""
    together = sample.together
    e = together.estimate
    low, high = e.interval(confidence)
    rho = lag1(together.pseudo) if sample.seeds is None else math.nan
    values = sample.totals.known.each
    values = values[np.isfinite(values)]
    n = len(together.pseudo)
    return {
        **sample.labels,
        "measure": measure,
        "of": "batches" if sample.seeds is None else "runs",
        "n": n,
        "mean": e.mean,
        "half_width": e.half_width(confidence),
        "low": low,
        "high": high,
        "q10": quantile(values, 0.1),
        "median": quantile(values, 0.5),
        "q90": quantile(values, 0.9),
        "autocorrelation": rho,
        "correlated": not math.isnan(rho) and rho > 2 / math.sqrt(n),
    }


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
                "mean_a": x.value,
                "mean_b": y.value,
                "difference": c.difference.mean,
                "half_width": c.difference.half_width(confidence),
                "low": low,
                "high": high,
                "relative": c.difference.mean / y.value if y.value else math.nan,
                "effect": c.effect,
                "p": c.p,
            }
        )
    adjusted = holm([row["p"] for row in rows])
    return [{**row, "p_adjusted": p, "significant": p < 1 - confidence} for row, p in zip(rows, adjusted, strict=True)]


def _chosen(samples: Sequence[Sample], setting: Mapping[str, Any]) -> dict[tuple[Any, ...], Sample]:
    """Points with a setting, by the values on the other axes."""
    for name in setting:
        if samples and name not in samples[0].labels:
            raise ValueError(f"{said(name)} is not an axis; the axes are {', '.join(samples[0].labels) or 'none'}")
    chosen = {
        tuple(v for k, v in s.labels.items() if k not in setting): s
        for s in samples
        if all(s.labels[k] == v for k, v in setting.items())
    }
    if not chosen:
        raise ValueError(f"no point has {', '.join(f'{k} = {v}' for k, v in setting.items())}")
    return chosen


def rank(samples: Sequence[Sample], over: Sequence[str], best: str, confidence: float) -> list[dict[str, Any]]:
    """Rows of a ranking."""
    groups: dict[tuple[Any, ...], list[Sample]] = {}
    for name in over:
        if samples and name not in samples[0].labels:
            raise ValueError(f"{said(name)} is not an axis; the axes are {', '.join(samples[0].labels) or 'none'}")
    for s in samples:
        groups.setdefault(tuple(v for k, v in s.labels.items() if k not in over), []).append(s)
    return [row for group in groups.values() for row in _ranked(group, over, best, confidence)]


def _ranked(group: Sequence[Sample], over: Sequence[str], best: str, confidence: float) -> list[dict[str, Any]]:
    sign = 1 if best == "highest" else -1
    above = better(group, sign, confidence)
    rows = []
    for s, beaten_by in zip(group, above, strict=True):
        e = s.estimate
        labels = {k: v for k, v in s.labels.items() if k not in over} | {k: s.labels[k] for k in over}
        width = e.half_width(confidence)
        rows.append({**labels, "rank": 1 + beaten_by, "mean": e.mean, "half_width": width, "n": int(e.df) + 1})
    return sorted(rows, key=lambda r: (r["rank"], math.isnan(r["mean"]), -sign * r["mean"]))


def better(group: Sequence[Sample], sign: int, confidence: float) -> list[int]:
    """Number of significantly better samples, for each sample; all pairs are compared (Holm)."""
    pairs = list(itertools.combinations(range(len(group)), 2))
    contrasts = [contrast(group[i], group[j])[0] for i, j in pairs]
    above = np.zeros(len(group), dtype=int)
    for (i, j), c, p in zip(pairs, contrasts, holm([c.p for c in contrasts]), strict=True):
        if p < 1 - confidence:
            above[j if sign * c.difference.mean > 0 else i] += 1
    return [int(n) for n in above]
