"""Relative differences of two settings, with intervals, and their equivalence."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chappe.stats import Estimate, Jackknife, Skewed, check_confidence, difference

_STEPS = 100
"""Largest number of steps towards an end of an interval; ten suffice where it is known well."""


@dataclass(frozen=True)
class Relative:
    """The relative difference a / b - 1 of two measures.

    Attributes:
        a: First measure.
        b: Second measure.
        pairs: Deviations of the runs from both measures, one row per pair; ``None`` for independent runs.
        least: Smallest possible ratio a / b: 0 for measures that are never negative.
    """

    a: Estimate
    b: Estimate
    pairs: NDArray[np.float64] | None = None
    least: float = -math.inf

    @classmethod
    def of(cls, a: Jackknife, b: Jackknife, *, is_paired: bool, least: float = -math.inf) -> "Relative":
        """Relative difference of measures, of the same seeds in the same order if paired."""
        pairs = None
        if is_paired:
            pairs = np.stack([a.pseudo, b.pseudo], axis=1)
            pairs -= pairs.mean(axis=0)
        return cls(a.estimate, b.estimate, pairs, least)

    @property
    def value(self) -> float:
        """The relative difference; NaN if the second measure is 0."""
        return self.a.mean / self.b.mean - 1 if self.b.mean else math.nan

    @property
    def covariance(self) -> float:
        """Covariance of the errors of both; 0 without pairs."""
        if self.pairs is None:
            return 0.0
        n = len(self.pairs)
        return float(self.pairs[:, 0] @ self.pairs[:, 1] / (n - 1) / n) if n > 1 else math.nan

    def beyond(self, factor: float) -> Skewed:
        """Difference a - factor b, positive if the ratio of positive measures is above the factor."""
        scaled = Estimate(factor * self.b.mean, factor**2 * self.b.variance, self.b.df, skewness=self.b.skewness)
        if self.pairs is None:
            return Skewed.by(difference(self.a, scaled))
        e = Estimate.of(self.pairs[:, 0] - factor * self.pairs[:, 1])
        return Skewed(self.a.mean - scaled.mean, e.variance, e.df, skewness=e.skewness)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Ends of Fieller's interval, corrected for skewness; NaN if the second measure may be 0.

        Fieller, *Some problems in interval estimation*, Journal of the Royal Statistical Society B 16, 1954: a ratio is
        in the interval if the difference of the one measure and this multiple of the other is not significant. It is
        exact for normal values, and needs no logarithms, so that zeros are no trouble. The end 0 is that of a
        difference that is just significant.
        """
        check_confidence(confidence)
        if not (self.b.mean and math.isfinite(self.a.variance) and math.isfinite(self.b.variance)):
            return math.nan, math.nan
        low, high = (self._end(confidence, side) for side in (0, 1))
        return (math.nan, math.nan) if math.isnan(low + high) else (max(low, self.least) - 1, high - 1)

    def _end(self, confidence: float, side: int) -> float:
        """An end of the interval of the ratio: degrees of freedom and skewness are those at the end itself.

        NaN if no end is found, as if the ratio may have any size.
        """
        end, step = self.a.mean / self.b.mean, 0.0
        for _ in range(_STEPS):
            new = self.ends(self.beyond(end), confidence)[side]
            if math.isnan(new) or math.isclose(new, end, rel_tol=1e-12):
                return new
            # Takes half a step back, because whole steps may swing between two values forever.
            turns = (new - end) * step < 0
            step = new - end
            end += step / 2 if turns else step
        return math.nan

    def ends(self, like: Skewed, confidence: float) -> tuple[float, float]:
        """Ends of the interval of the ratio with the degrees of freedom and the skewness of a certain difference.

        They are NaN if the second measure may be 0, and the ratio of any size.
        """
        # Of a negative divisor the larger ratio has the larger difference.
        below, above = like.reach(confidence) if self.b.mean > 0 else reversed(like.reach(confidence))
        return self._root(below, -1), self._root(above, 1)

    def _root(self, reach: float, sign: int) -> float:
        """The ratio on one side at which the difference is as many standard errors away from 0."""
        a, b = self.a, self.b
        square = b.mean**2 - reach**2 * b.variance
        middle = a.mean * b.mean - reach**2 * self.covariance
        if not square > 0:
            return math.nan
        root = math.sqrt(max(0.0, middle**2 - square * (a.mean**2 - reach**2 * a.variance)))
        return (middle + sign * root) / square

    def p_within(self, within: float) -> float:
        """Probability of such values when the measures differ by more than a share: two one-sided tests.

        Schuirmann, *A comparison of the two one-sided tests procedure and the power approach for assessing the
        equivalence of average bioavailability*, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987. NaN if the
        variance is 0 or unknown, because nothing can be said then.
        """
        if not self.b.mean:
            return math.nan
        above, below = self.beyond(1 - within), self.beyond(1 + within)
        if not (above.variance > 0 and below.variance > 0):
            return math.nan
        tests = (above.p_above(), below.p_below()) if self.b.mean > 0 else (above.p_below(), below.p_above())
        return max(tests)
