"""Statistics of simulation output: intervals, comparisons, correlation of batches."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit


@dataclass(frozen=True)
class Estimate:
    """A mean with what is known of its error.

    Attributes:
        mean: The mean.
        variance: Variance of the mean (not of the values).
        df: Degrees of freedom of that variance.
    """

    mean: float
    variance: float
    df: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Estimate":
        """The mean of independent values, such as batch means or runs with different seeds.

        The variance is NaN for a single value: nothing is known of its error.
        """
        x = np.asarray(values, dtype=float)
        n = len(x)
        variance = float(x.var(ddof=1) / n) if n > 1 else math.nan
        return cls(float(x.mean()) if n else math.nan, variance, n - 1)

    def half_width(self, confidence: float = 0.95) -> float:
        """Half the width of the Student-t interval of this confidence."""
        return quantile_t(confidence, self.df) * math.sqrt(self.variance)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Ends of the Student-t interval of this confidence."""
        h = self.half_width(confidence)
        return self.mean - h, self.mean + h


def quantile_t(confidence: float, df: float) -> float:
    """Quantile of Student's t distribution for a two-sided interval: 2.262 for 95 % and 9 degrees of freedom."""
    return float(stdtrit(df, 0.5 + confidence / 2)) if df > 0 else math.nan


def difference(a: Estimate, b: Estimate) -> Estimate:
    """``a`` - ``b`` of independent estimates, with the degrees of freedom of Welch and Satterthwaite."""
    variance = a.variance + b.variance
    shares = [e.variance**2 / e.df for e in (a, b) if e.df > 0]
    spread = sum(shares)
    df = variance**2 / spread if spread > 0 else max(a.df + b.df, 1)
    return Estimate(a.mean - b.mean, variance, df)


def ratio(a: Estimate, b: Estimate) -> Estimate:
    """``a`` / ``b`` of independent estimates, by the delta method."""
    if b.mean == 0:
        return Estimate(math.nan, math.nan, 1)
    r = a.mean / b.mean
    variance = (a.variance + r * r * b.variance) / b.mean**2
    parts = [(a.variance / b.mean**2, a.df), (r * r * b.variance / b.mean**2, b.df)]
    spread = sum(v * v / df for v, df in parts if df > 0)
    df = variance**2 / spread if spread > 0 else max(a.df + b.df, 1)
    return Estimate(r, variance, df)


def lag1(values: Sequence[float]) -> float:
    """Autocorrelation of neighbouring values; NaN when they do not vary.

    Batch means are taken for independent; beyond ``2 / sqrt(n)`` they are not, and their interval is too narrow.
    """
    x = np.asarray(values, dtype=float)
    d = x - x.mean() if len(x) else x
    total = float((d * d).sum())
    return float((d[:-1] * d[1:]).sum()) / total if total > 0 else math.nan


def jain_index(values: Sequence[float]) -> float:
    """Jain's fairness index of shares: (sum x)^2 / (n sum x^2).

    It is 1 when all are equal and 1/n when one of n has everything; NaN when nobody has anything.
    """
    x = np.asarray(values, dtype=float)
    squares = float((x * x).sum())
    return float(x.sum()) ** 2 / (len(x) * squares) if squares > 0 else math.nan
