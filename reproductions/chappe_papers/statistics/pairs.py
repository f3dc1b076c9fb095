"""Measures of the same units under several treatments: what is compared on one motion, or in one place, is paired.

Where units differ by more than treatments do, two means tell little and their quotient on the same units much.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from chappe import stats
from chappe.stats import Estimate, Jackknife
from chappe.stats.quantiles import Quantile


@dataclass(frozen=True)
class Paired(Estimate):
    """The mean over units that others were measured in, too; its variance is that of a mean of independent values.

    Attributes:
        values: The value of each unit, by its number.
    """

    values: tuple[tuple[int, float], ...] = ()

    @classmethod
    def at(cls, values: Mapping[int, float]) -> "Paired":
        """The mean of some units; those without a value are left out."""
        measured = tuple((unit, v) for unit, v in sorted(values.items()) if not math.isnan(v))
        e = Estimate.of([v for _, v in measured])
        return cls(e.mean, e.variance, e.df, measured, skewness=e.skewness)

    def over(self, other: "Paired") -> Estimate:
        """The quotient of the means over the units of both, with the error that the pairs leave (jackknife)."""
        units = common((self, other))
        return Jackknife.of(units).estimate if len(units) else Estimate(math.nan, math.nan, -1)

    def minus(self, other: "Paired") -> Estimate:
        """The difference of the means over the units of both, pair by pair."""
        units = common((self, other))
        return stats.paired(units[:, 0], units[:, 1]).difference


def common(several: Sequence[Paired]) -> np.ndarray:
    """The values in the units that all have: a row for each unit."""
    by_unit = [dict(e.values) for e in several]
    units = sorted(set.intersection(*(set(units_of) for units_of in by_unit)))
    return np.array([[units_of[u] for units_of in by_unit] for u in units], dtype=float).reshape(
        len(units), len(several)
    )


def single(e: Estimate) -> Estimate:
    """Single units, among which one of the paper may lie; estimates without values stay as they are."""
    return Quantile.at([v for _, v in e.values]) if isinstance(e, Paired) else e


def mean_of(several: Iterable[Estimate]) -> Estimate:
    """The mean of several measures, such as those at several speeds; of paired ones unit by unit."""
    estimates = list(several)
    paired = [e for e in estimates if isinstance(e, Paired)]
    if len(paired) < len(estimates):
        variances = [e.variance for e in estimates]
        return Estimate(
            sum(e.mean for e in estimates) / len(estimates),
            sum(variances) / len(estimates) ** 2,
            min(e.df for e in estimates),
        )
    units = sorted(set.intersection(*(set(dict(e.values)) for e in paired)))
    return Paired.at(dict(zip(units, common(paired).mean(axis=1).tolist(), strict=True)))
