"""Order statistics: quantiles with confidence intervals, and a test of one value. No distribution is assumed.

The mean of heavy-tailed values, such as ratios with a denominator near 0, is not informative: one run in forty may
contribute half of it.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from chappe.stats import Estimate, Values, check_confidence


@dataclass(frozen=True)
class Quantile(Estimate):
    """A quantile of independent values; two of the values bound the interval.

    ``mean`` is the quantile, so that stopping rules accept a quantile as an estimate. The variance is NaN: differences
    and ratios are not defined.

    Attributes:
        ordered: The values, sorted.
        q: Order of the quantile, from 0 to 1; 0.5 is the median.
    """

    ordered: tuple[float, ...] = ()
    q: float = 0.5

    @classmethod
    def at(cls, values: Values, q: float = 0.5) -> "Quantile":
        """Quantile of values; infinite values count."""
        x = np.sort(np.asarray(values, dtype=float))
        return cls(_interpolated(x, q), math.nan, len(x) - 1, tuple(x.tolist()), q)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Narrowest pair of values, with equal tails, of at least this confidence.

        The number of values below the quantile is binomial. An end is infinite if there are too few values: a median
        needs 6 values for 95 %.
        """
        n = len(self.ordered)
        low, high = _ranks(n, self.q, check_confidence(confidence))
        return self.ordered[low - 1] if low else -math.inf, self.ordered[high - 1] if high <= n else math.inf

    def half_width(self, confidence: float = 0.95) -> float:
        """Half the width of the interval, which is not centered on the quantile."""
        low, high = self.interval(confidence)
        return (high - low) / 2


@lru_cache(maxsize=256)
def _ranks(n: int, q: float, confidence: float) -> tuple[int, int]:
    """Ranks, from 1, of the values that bound a quantile; 0 and ``n`` + 1 for too few values."""
    from scipy.special import bdtr

    tail = (1 - confidence) / 2
    # P(fewer than k values below the quantile) for k = 0, 1, ..., n.
    below = np.concatenate([[0.0], bdtr(np.arange(n), n, q)])
    low = int(np.flatnonzero(below <= tail)[-1])
    enough = np.flatnonzero(1 - below <= tail)
    return low, int(enough[0]) if len(enough) else n + 1


def _interpolated(ordered: np.ndarray, q: float) -> float:
    """Quantile of type 7, also between infinite values."""
    if not len(ordered):
        return math.nan
    place = q * (len(ordered) - 1)
    low, high = float(ordered[math.floor(place)]), float(ordered[math.ceil(place)])
    if low == high or not math.isfinite(high):
        return high
    # As numpy does, which takes 50 times as long for one quantile.
    part = place - math.floor(place)
    return low + (high - low) * part if part < 0.5 else high - (high - low) * (1 - part)


def rank_p(values: Values, one: float) -> float:
    """Two-sided probability that a further value of the same distribution is as extreme as ``one``.

    The smallest probability with n values is 2 / (n + 1). Ties count on both sides.
    """
    x = np.asarray(values, dtype=float)
    side = min(int((x <= one).sum()), int((x >= one).sum()))
    return min(1.0, 2 * (side + 1) / (len(x) + 1))
