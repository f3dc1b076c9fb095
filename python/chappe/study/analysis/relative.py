"""Relative differences of two settings, with intervals, and their equivalence."""

import math
from dataclasses import dataclass

import numpy as np

from chappe.stats import Estimate, Jackknife, beyond_t, check_confidence, difference, quantile_t


@dataclass(frozen=True)
class Relative:
    """The relative difference a / b - 1 of two measures.

    Attributes:
        a: First measure.
        b: Second measure.
        covariance: Covariance of the errors of both; 0 without pairs.
        is_paired: True for runs in pairs.
    """

    a: Estimate
    b: Estimate
    covariance: float
    is_paired: bool

    @classmethod
    def of(cls, a: Jackknife, b: Jackknife, *, is_paired: bool) -> "Relative":
        """Relative difference of measures, of the same seeds in the same order if paired."""
        n = len(a.pseudo)
        covariance = 0.0
        if is_paired:
            covariance = float(np.cov(a.pseudo, b.pseudo)[0, 1] / n) if n > 1 else math.nan
        return cls(a.estimate, b.estimate, covariance, is_paired)

    @property
    def value(self) -> float:
        """The relative difference; NaN if the second measure is 0."""
        return self.a.mean / self.b.mean - 1 if self.b.mean else math.nan

    def beyond(self, factor: float) -> Estimate:
        """Difference a - factor b, positive if the ratio of positive measures is above the factor."""
        scaled = Estimate(factor * self.b.mean, factor**2 * self.b.variance, self.b.df)
        if not self.is_paired:
            return difference(self.a, scaled)
        variance = self.a.variance + scaled.variance - 2 * factor * self.covariance
        return Estimate(self.a.mean - scaled.mean, max(variance, 0.0), self.a.df)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Ends of Fieller's interval; NaN if the second measure may be 0, and the ratio of any size.

        Fieller, *Some problems in interval estimation*, Journal of the Royal Statistical Society B 16, 1954. It is
        exact for normal values, and needs no logarithms, so that zeros are no trouble.
        """
        check_confidence(confidence)
        a, b = self.a, self.b
        if not (b.mean and math.isfinite(a.variance) and math.isfinite(b.variance)):
            return math.nan, math.nan
        t2 = quantile_t(confidence, self.beyond(a.mean / b.mean).df) ** 2
        square = b.mean**2 - t2 * b.variance
        middle = a.mean * b.mean - t2 * self.covariance
        if not square > 0:
            return math.nan, math.nan
        root = math.sqrt(max(0.0, middle**2 - square * (a.mean**2 - t2 * a.variance)))
        return (middle - root) / square - 1, (middle + root) / square - 1

    def p_within(self, within: float) -> float:
        """Probability of such values when the measures differ by more than a share: two one-sided tests.

        Schuirmann, *A comparison of the two one-sided tests procedure and the power approach for assessing the
        equivalence of average bioavailability*, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987. NaN if the
        variance is 0 or unknown, because nothing can be said then.
        """
        if not self.b.mean:
            return math.nan
        sign = math.copysign(1.0, self.b.mean)
        above, below = self.beyond(1 - within), self.beyond(1 + within)
        if not (above.variance > 0 and below.variance > 0):
            return math.nan
        return max(
            beyond_t(sign * above.mean / math.sqrt(above.variance), above.df),
            beyond_t(-sign * below.mean / math.sqrt(below.variance), below.df),
        )
