"""Analysis of the runs of a study: means, comparisons, rankings.

``compare`` and ``rank`` refuse a study with one seed. The batches of a run tell how well the run knows its own mean,
not how much other runs differ from it: they call Vegas different from itself, started a millisecond later, in up to
half of the studies.
"""

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import polars.selectors as cs
from numpy.typing import NDArray

from chappe._common.arguments import quoted
from chappe.measures import Direction, Totals, is_known, wrong
from chappe.stats import Comparison, Estimate, Jackknife, Pooled, holm, if_equal, lag1, paired, quotient, unpaired
from chappe.stats.doubts import CORRELATED, of_batches, of_runs, tests_of
from chappe.stats.quantiles import Quantile
from chappe.stats.states import unseen
from chappe.study.analysis.best import not_best
from chappe.study.analysis.letters import letters
from chappe.study.analysis.relative import Relative

QUANTILES = {"q10": 0.1, "median": 0.5, "q90": 0.9}
"""Columns of the summary with quantiles of single runs or batches."""

FEW = 3
"""Number of runs that distinguishes two settings only if they differ by many standard deviations."""

SAME = 0.05
"""Relative difference up to which two settings are the same, unless given."""


class Sample(NamedTuple):
    """Totals of a measure at a point.

    Attributes:
        labels: Value on each axis.
        seeds: Seed of each row of totals; ``None`` if the rows are batches of one run.
        totals: Totals of each run or batch.
        common: True if the seed draws parts of the scenario alike for all settings, so that runs with the same seed are
            pairs (:mod:`chappe.study.design.common`).
        short: True for short batches (:func:`chappe.measures.short_batches`).
        units: What the rows are: ``"runs"``, or the axes over which runs are pooled; batches have no seeds.
    """

    labels: dict[str, Any]
    seeds: list[int] | None
    totals: Totals
    common: bool = False
    short: bool = False
    units: str = "runs"

    @property
    def together(self) -> Jackknife:
        """Measure of all runs, or batches, together."""
        return self.totals.together

    @property
    def estimate(self) -> Pooled:
        """Measure of all runs, or batches, with the variance of its error."""
        return self.totals.estimate(self.together)


def pooled(samples: Sequence[Sample], pool: Sequence[str]) -> list[Sample]:
    """Samples pooled over axes, with a row for each combination of their values, such as for each map.

    Runs on one map are alike, so that the maps are the units: a row has the totals of the runs of a map. Rows with the
    same number are pairs.

    Args:
        samples: Samples of runs at all points.
        pool: Names of the axes.
    """
    numbers: dict[tuple[Any, ...], int] = {}
    groups: dict[tuple[Any, ...], list[tuple[int, Sample]]] = {}
    for sample in samples:
        number = numbers.setdefault(tuple(sample.labels[name] for name in pool), len(numbers))
        rest = tuple(value for name, value in sample.labels.items() if name not in pool)
        groups.setdefault(rest, []).append((number, sample))
    found = []
    for of_group in groups.values():
        first = of_group[0][1]
        each = [sample.totals.known.rows for _, sample in of_group]
        none = np.full(first.totals.rows.shape[1], math.nan)
        rows = np.stack([rows.sum(axis=0) if len(rows) else none for rows in each])
        labels = {name: value for name, value in first.labels.items() if name not in pool}
        units = [number for number, _ in of_group]
        ends = zip(*(sample.totals.limits for _, sample in of_group), strict=True)
        lows, highs = ends
        totals = first.totals._replace(rows=rows, limits=(min(lows), max(highs)))
        found.append(Sample(labels, units, totals, common=True, units=", ".join(pool)))
    return found


def check_measure(name: str, own: Collection[str] = ()) -> None:
    """Refuses an unknown measure, which may be user-defined."""
    if found := wrong(name, own):
        raise ValueError("; ".join(found))


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


def with_last(rows: pl.DataFrame, *names: str) -> pl.DataFrame:
    """The table with these columns at its end: of many columns, polars prints the first and the last four."""
    return rows.select(pl.exclude(names), *names) if len(rows) else rows


def comparisons(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Table of comparisons, in which a test that is impossible has null."""
    found = table(rows)
    if not rows:
        return found
    typed = found.cast({"significant": pl.Boolean, "same": pl.Boolean, "doubt": pl.String})
    return with_last(typed, "difference", "ci_low", "ci_high", "significant")


def summary(sample: Sample, measure: str, confidence: float) -> dict[str, Any]:
    """Row of the summary."""
    together = sample.together
    estimate = sample.totals.estimate(together)
    of_one_run = sample.seeds is None
    rho = lag1(together.pseudo) if of_one_run else math.nan
    values = sample.totals.known.each
    values = np.sort(values[np.isfinite(values)])
    n = len(together.pseudo)
    doubt = (
        of_batches(tests_of(together.pseudo), sample.short)
        if of_one_run
        else of_runs(n, len(sample.totals.rows) - n, estimate)
    )
    return {
        **sample.labels,
        "measure": measure,
        **interval(estimate, confidence),
        "n": n,
        "of": "batches" if of_one_run else sample.units,
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


class Contrast(NamedTuple):
    """Comparison of two settings, and the compared runs.

    Attributes:
        comparison: The comparison.
        a: Measure of the first setting.
        b: Measure of the second setting.
        is_paired: True if runs with the same seed are pairs.
    """

    comparison: Comparison
    a: Jackknife
    b: Jackknife
    is_paired: bool


def contrast(a: Sample, b: Sample) -> Contrast:
    """Compares two settings: by pairs of the same seed if the seed draws parts of both alike, else by Welch's test.

    The error of the difference is that of the two measures, or that of equal settings if it is larger
    (:func:`chappe.stats.if_equal`).
    """
    is_paired = a.seeds is not None and b.seeds is not None and a.common and b.common
    rows = _rows_in_pairs(a, b) if is_paired else (a.totals.known.rows, b.totals.known.rows)
    apart = paired if is_paired else unpaired
    x, y = (Jackknife.of(units, a.totals.statistic) for units in rows) if is_paired else (a.together, b.together)
    found = Contrast(apart(x, y), x, y, is_paired)
    under = [units[:, 1] for units in rows]
    if a.totals.statistic is not quotient or not all(len(u) > 1 and u.all() for u in under):
        return found
    x, y = if_equal(*rows)
    of_equal = apart(x, y)
    is_wider = of_equal.difference.variance > found.comparison.difference.variance
    return Contrast(of_equal, x, y, is_paired) if is_wider else found


def in_pairs(a: Sample, b: Sample) -> tuple[Jackknife, Jackknife]:
    """Measures of the runs with seeds of both samples, in the same order."""
    x, y = (Jackknife.of(rows, a.totals.statistic) for rows in _rows_in_pairs(a, b))
    return x, y


def _rows_in_pairs(a: Sample, b: Sample) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Totals of the runs with seeds of both samples, in the same order."""
    row_of = {seed: place for place, seed in enumerate(b.seeds or ())}
    pairs = [(place, row_of[seed]) for place, seed in enumerate(a.seeds or ()) if seed in row_of]
    first, second = (t.rows[[pair[side] for pair in pairs]] for side, t in enumerate((a.totals, b.totals)))
    both = is_known(first) & is_known(second)
    return first[both], second[both]


def correlation(a: Sample, b: Sample) -> float:
    """Correlation of two settings over the seeds; NaN with fewer than three common seeds, or without variance."""
    x, y = (j.pseudo for j in in_pairs(a, b))
    if len(x) < 3 or not (np.isfinite(x).all() and np.isfinite(y).all()) or x.std() == 0 or y.std() == 0:
        return math.nan
    return float(np.corrcoef(x, y)[0, 1])


def refuse_one_seed(samples: Sequence[Sample], what: str) -> None:
    """Refuses to tell settings apart by the batches of single runs.

    Raises:
        ValueError: If the study has one seed.
    """
    if any(s.seeds is None for s in samples):
        raise ValueError(
            f"{what} needs the runs of at least 2 seeds, better 10, and this study has one: "
            "runs with other seeds differ by more than the batches of one run show. Run the study with seeds=10"
        )


def compare(
    samples: Sequence[Sample], a: Mapping[str, Any], b: Mapping[str, Any], confidence: float, within: float = SAME
) -> list[dict[str, Any]]:
    """Rows of a comparison of two settings."""
    return _adjusted(_contrasts(samples, a, b), confidence, within)


def compare_all(
    samples: Sequence[Sample], axis: str, baseline: Any, confidence: float, within: float = SAME
) -> list[dict[str, Any]]:
    """Rows of a comparison of all values of an axis with one of them."""
    reference = {axis: baseline}
    _points_with(samples, reference)
    values = list(dict.fromkeys(s.labels[axis] for s in samples))
    rows = [
        ({**labels, axis: value, "baseline": baseline}, first, second)
        for value in values
        if value != baseline
        for labels, first, second in _contrasts(samples, {axis: value}, reference)
    ]
    places = {tuple(s.labels[k] for k in s.labels if k != axis): n for n, s in reversed(list(enumerate(samples)))}
    rows.sort(key=lambda row: places[tuple(row[0][k] for k in samples[0].labels if k != axis)])
    return _adjusted(rows, confidence, within)


def undefined(sample: Sample) -> int:
    """Number of runs in which the measure is not defined."""
    return int((~is_known(sample.totals.rows)).sum())


def _contrasts(
    samples: Sequence[Sample], a: Mapping[str, Any], b: Mapping[str, Any]
) -> list[tuple[dict[str, Any], Sample, Sample]]:
    """Compared samples of two settings, with the values on the other axes."""
    if not a or set(a) != set(b):
        raise ValueError("both settings must give values of the same axes")
    first, second = _points_with(samples, a), _points_with(samples, b)
    refuse_one_seed(samples, "a comparison")
    return [
        ({k: v for k, v in sample.labels.items() if k not in a}, sample, second[rest])
        for rest, sample in first.items()
        if rest in second
    ]


def _adjusted(
    pairs: Sequence[tuple[dict[str, Any], Sample, Sample]], confidence: float, within: float
) -> list[dict[str, Any]]:
    """Rows of a comparison: p-values adjusted over all rows (Holm), intervals that hold together (Bonferroni)."""
    contrasts = [contrast(a, b) for _, a, b in pairs]
    relatives = [
        Relative.of(c.a, c.b, is_paired=c.is_paired, least=0.0 if a.totals.limits[0] >= 0 else -math.inf)
        for (_, a, _), c in zip(pairs, contrasts, strict=True)
    ]
    ps, ps_same = [c.comparison.p for c in contrasts], [r.p_within(within) for r in relatives]
    family = max(1, sum(not math.isnan(p) for p in ps))
    together = 1 - (1 - confidence) / family
    rows = []
    for (labels, a, b), c, relative, p, adjusted, same in zip(
        pairs, contrasts, relatives, ps, holm(ps), holm(ps_same), strict=True
    ):
        low, high = c.comparison.difference.interval(together)
        relative_low, relative_high = relative.interval(together)
        n = min(len(c.a.pseudo), len(c.b.pseudo))
        rows.append(
            {
                **labels,
                "n": n,
                "test": "paired" if c.is_paired else "welch",
                "correlation": known(correlation(a, b)),
                "estimate_a": known(c.a.value),
                "estimate_b": known(c.b.value),
                "difference": known(c.comparison.difference.mean),
                "ci_low": known(low),
                "ci_high": known(high),
                "relative": known(relative.value),
                "relative_ci_low": known(relative_low),
                "relative_ci_high": known(relative_high),
                "effect": known(c.comparison.effect),
                "p": known(p),
                "p_adjusted": known(adjusted),
                "significant": None if math.isnan(adjusted) else adjusted < 1 - confidence,
                "p_same": known(same),
                "same": None if math.isnan(same) else same < 1 - confidence,
                "doubt": of_runs(n, undefined(a) + undefined(b), c.comparison.difference),
            }
        )
    return rows


def _points_with(samples: Sequence[Sample], setting: Mapping[str, Any]) -> dict[tuple[Any, ...], Sample]:
    """Points with a setting, by the values on the other axes."""
    for name in setting:
        if samples and name not in samples[0].labels:
            raise ValueError(no_axis(name, samples[0].labels))
    chosen = {
        tuple(v for k, v in s.labels.items() if k not in setting): s
        for s in samples
        if all(s.labels[k] == v for k, v in setting.items())
    }
    if not chosen:
        raise ValueError(f"no point has {', '.join(f'{k} = {v}' for k, v in setting.items())}")
    return chosen


def no_axis(name: str, labels: Mapping[str, Any]) -> str:
    """Message about the name of an axis that a study lacks."""
    return f"{quoted(name)} is not an axis; the axes are {', '.join(labels) or 'none'}"


def rank(
    samples: Sequence[Sample], over: Sequence[str], direction: Direction, confidence: float
) -> list[dict[str, Any]]:
    """Rows of a ranking."""
    groups: dict[tuple[Any, ...], list[Sample]] = {}
    for name in over:
        if samples and name not in samples[0].labels:
            raise ValueError(no_axis(name, samples[0].labels))
    refuse_one_seed(samples, "a ranking")
    for s in samples:
        groups.setdefault(tuple(v for k, v in s.labels.items() if k not in over), []).append(s)
    sign = 1 if direction == "maximize" else -1
    verdicts = verdicts_of(list(groups.values()), sign, confidence)
    together = 1 - (1 - confidence) / max(1, len(samples))
    return [
        row
        for group, of_group in zip(groups.values(), verdicts, strict=True)
        for row in _ranked(group, of_group, over, sign, together)
    ]


class Verdict(NamedTuple):
    """Place of a sample among those it is compared with.

    Attributes:
        beaten_by: Number of significantly better samples.
        can_be_best: False if it is significantly worse than the best.
        differs_from: Numbers of the samples of its group that are significantly different.
    """

    beaten_by: int
    can_be_best: bool
    differs_from: frozenset[int]


def _ranked(
    group: Sequence[Sample], verdicts: Sequence[Verdict], over: Sequence[str], sign: int, confidence: float
) -> list[dict[str, Any]]:
    rows = []
    estimates = [s.estimate for s in group]
    # One value tells nothing about others.
    ranks = [1 + v.beaten_by if e.df >= 1 else None for v, e in zip(verdicts, estimates, strict=True)]
    order = sorted((n for n, place in enumerate(ranks) if place), key=lambda n: -sign * estimates[n].mean)
    shared = letters(order, [(a, b) for a in order for b in sorted(verdicts[a].differs_from) if a < b])
    for i, (s, e, place, verdict) in enumerate(zip(group, estimates, ranks, verdicts, strict=True)):
        n = int(e.df) + 1
        few = "too few runs" if ranks.count(place) > 1 and n <= FEW else None
        labels = {k: v for k, v in s.labels.items() if k not in over} | {k: s.labels[k] for k in over}
        rows.append(
            {
                **labels,
                "rank": place,
                "can_be_best": None if place is None else verdict.can_be_best,
                "letters": shared.get(i),
                **interval(e, confidence),
                "n": n,
                "note": "not measured" if place is None else few,
                "doubt": of_runs(n, undefined(s), e),
            }
        )
    return sorted(rows, key=lambda r: (r["rank"] is None, -sign * (r["estimate"] or 0.0)))


def verdicts_of(groups: Sequence[Sequence[Sample]], sign: int, confidence: float) -> list[list[Verdict]]:
    """Verdicts on all samples, which are compared within each group; all groups are one family (Holm).

    Args:
        groups: Groups of samples.
        sign: 1 when the highest mean is best, -1 when the lowest is.
        confidence: 1 - confidence is the probability of calling any two equal samples different.
    """
    pairs = [(g, i, j) for g, group in enumerate(groups) for i, j in itertools.combinations(range(len(group)), 2)]
    comparisons = [contrast(groups[g][i], groups[g][j]).comparison for g, i, j in pairs]
    above = [np.zeros(len(group), dtype=int) for group in groups]
    differ: list[list[set[int]]] = [[set() for _ in group] for group in groups]
    worse = [np.ones((len(group), len(group))) for group in groups]
    for (g, i, j), c, p in zip(pairs, comparisons, holm([c.p for c in comparisons]), strict=True):
        first_is_better = sign * c.difference.mean > 0
        if p < 1 - confidence:
            above[g][j if first_is_better else i] += 1
            differ[g][i].add(j)
            differ[g][j].add(i)
        if not math.isnan(c.p):
            one_sided = c.p / 2 if first_is_better else 1 - c.p / 2
            worse[g][j, i], worse[g][i, j] = one_sided, 1 - one_sided
    out = not_best(worse, 1 - confidence)
    return [
        [
            Verdict(int(n), not (n or excluded), frozenset(others))
            for n, excluded, others in zip(counts, of_group, apart, strict=True)
        ]
        for counts, of_group, apart in zip(above, out, differ, strict=True)
    ]
