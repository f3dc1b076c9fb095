"""Quotient of two measures, tested as it is shown: by the difference of the one and a multiple of the other."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from chappe.stats import Estimate, Jackknife, Skewed, check_confidence, ratio
from chappe.study import Relative

from chappe_papers.statistics.pairs import Paired, common


@dataclass(frozen=True)
class Quotient(Estimate):
    """The quotient a / b of two measures, or the share 1 - a / b that is missing.

    Tests and interval belong together (Fieller 1954): a value lies outside of the interval if the difference between a
    and this multiple of b is significant, with the degrees of freedom and the skewness of that between a and its own
    multiple of b. The variance is that of the delta method, for figures.

    Attributes:
        relative: The relative difference of both measures.
        missing: True for the share that is missing.
    """

    relative: Relative
    missing: bool = False

    @classmethod
    def between(cls, a: Estimate, b: Estimate, *, missing: bool = False) -> "Quotient":
        """The quotient of independent measures, or of those of the same units."""
        if isinstance(a, Paired) and isinstance(b, Paired):
            units = common((a, b))
            e = a.over(b)
            relative = Relative.of(Jackknife.mean(units[:, 0]), Jackknife.mean(units[:, 1]), is_paired=True)
        else:
            e, relative = ratio(a, b), Relative(a, b)
        return cls(1 - e.mean if missing else e.mean, e.variance, e.df, relative, missing)

    def beyond(self, value: float) -> Skewed:
        """Difference that is positive if the quotient, or the missing share, is above a value; both are positive."""
        sign, factor = (-1, 1 - value) if self.missing else (1, value)
        d = self.relative.beyond(factor)
        like = d if math.isnan(self.relative.value) else self._own
        return Skewed(sign * d.mean, d.variance, like.df, skewness=sign * like.skewness)

    @property
    def _own(self) -> Skewed:
        """Difference between a and its own multiple of b."""
        return self.relative.beyond(1 + self.relative.value)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Ends of Fieller's interval, none below 0; of any size if the divisor may be 0."""
        check_confidence(confidence)
        known = not math.isnan(self.relative.value) and math.isfinite(self._own.variance)
        low, high = self.relative.ends(self._own, confidence) if known else (math.nan, math.nan)
        if math.isnan(low + high):
            low, high = (0.0, math.inf) if math.isfinite(self.variance) else (math.nan, math.nan)
        # Measures are never negative, but the ends of an interval may be.
        low = max(low, 0.0)
        return (1 - high, 1 - low) if self.missing else (low, high)

    def half_width(self, confidence: float = 0.95) -> float:
        """Half the width of the interval, which is not centered on the quotient."""
        low, high = self.interval(confidence)
        return (high - low) / 2


def interval_of(e: Estimate, confidence: float = 0.95) -> tuple[float, float]:
    """Ends of an interval, corrected for skewness as tests are: that of a mean by itself is Student's."""
    is_mean = type(e).interval is Estimate.interval
    return Skewed.by(e).interval(confidence) if is_mean else e.interval(confidence)


class Error(NamedTuple):
    """The error of an estimate, as the tests use it.

    Attributes:
        standard: Standard error at the estimate itself.
        df: Degrees of freedom.
        skewness: Skewness.
        slope: Slope of the squared error over the value that is tested, at the estimate.
        curvature: Curvature of the squared error: at a distance x it is `standard`² + `slope` x + `curvature` x².
    """

    standard: float
    df: float
    skewness: float
    slope: float = 0.0
    curvature: float = 0.0


def error_of(e: Estimate) -> Error:
    """The error of an estimate.

    That of a quotient is the error of the difference of the one and this multiple of the other, by the other, so that
    its square is a parabola over the multiple.
    """
    if not isinstance(e, Quotient):
        return Error(math.sqrt(e.variance), e.df, e.skewness)
    d, r = e.beyond(e.mean), e.relative
    if not r.b.mean:
        return Error(math.nan, d.df, d.skewness)
    divisor = r.b.mean**2
    slope = 2 * ((1 + r.value) * r.b.variance - r.covariance) / divisor
    sign = -1 if e.missing else 1
    return Error(math.sqrt(d.variance / divisor), d.df, d.skewness, sign * slope, r.b.variance / divisor)
