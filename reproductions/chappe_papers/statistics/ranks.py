"""Two samples with heavy tails: by how much one is larger than the other, by their ranks."""

import math
from dataclasses import dataclass

import numpy as np
from chappe.stats import Estimate, check_confidence
from chappe.stats.quantiles import Quantile


@dataclass(frozen=True)
class Times(Estimate):
    """Ratio of the values of one sample to those of another (Hodges and Lehmann 1963).

    ``mean`` is the quotient of the medians. The interval inverts the test of Mann and Whitney; there is no variance.

    Attributes:
        a: The values of the one.
        b: The values of the other.
    """

    a: tuple[float, ...] = ()
    b: tuple[float, ...] = ()

    @classmethod
    def of(cls, a: Quantile, b: Quantile) -> "Times":  # type: ignore[override]  # of two samples
        """The quotient of two medians."""
        quotient = a.mean / b.mean if b.mean else math.nan
        return cls(quotient, math.nan, min(a.df, b.df), a.ordered, b.ordered)

    def p(self, value: float) -> float:
        """Probability (two-sided) of such samples when the quotient is not above a value (Mann-Whitney)."""
        from scipy.stats import mannwhitneyu

        if len(self.a) < 2 or len(self.b) < 2:
            return math.nan
        scaled = [value * v for v in self.b]
        return min(1.0, 2 * float(mannwhitneyu(self.a, scaled, alternative="greater").pvalue))

    def inverse(self) -> "Times":
        """The other way round."""
        return Times(1 / self.mean if self.mean else math.nan, math.nan, self.df, self.b, self.a)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Quotients of pairs that the test does not exclude."""
        from scipy.special import ndtri

        check_confidence(confidence)
        with np.errstate(divide="ignore", invalid="ignore"):
            pairs = np.divide.outer(np.asarray(self.a), np.asarray(self.b)).ravel()
        n, m = len(self.a), len(self.b)
        z = float(ndtri(0.5 + confidence / 2))
        k = math.floor(n * m / 2 - z * math.sqrt(n * m * (n + m + 1) / 12))
        ordered = np.sort(pairs[~np.isnan(pairs)])
        if k < 1 or len(ordered) < 2 * k:
            return 0.0, math.inf
        return float(ordered[k - 1]), float(ordered[-k])

    def half_width(self, confidence: float = 0.95) -> float:
        """Half the width of this interval. Its middle is not the quotient."""
        low, high = self.interval(confidence)
        return (high - low) / 2
