"""Order statistics: quantiles with intervals, and what one further run may be. No distribution is assumed.

A mean says little of values with a heavy tail, such as a quotient whose denominator comes near 0: one run in forty
may make half of it.
"""

import math
from dataclasses import dataclass

import numpy as np

from chappe.stats import Estimate, Values, known_confidence, quantile


@dataclass(frozen=True)
class Quantile(Estimate):
    """A quantile of independent values, with an interval between two of them.

    ``mean`` is the quantile, so that rules that ask for the interval of an estimate take it like one. It has no
    variance (NaN): it cannot be put into differences and ratios.

    Attributes:
        ordered: The values in their order.
        q: Which quantile: 0.5 is the median.
    """

    ordered: tuple[float, ...] = ()
    q: float = 0.5

    @classmethod
    def at(cls, values: Values, q: float = 0.5) -> "Quantile":
        """The quantile of some values; infinite ones are known, and count."""
        x = np.sort(np.asarray(values, dtype=float))
        return cls(_interpolated(x, q), math.nan, len(x) - 1, tuple(x.tolist()), q)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The narrowest pair of values, as far from either end in probability, that has at least this confidence.

        The number of values below the quantile is binomial. A side on which there are too few values is infinite: the
        interval of a median needs 6 values for 95 %.
        """
        from scipy.special import bdtr

        known_confidence(confidence)
        n = len(self.ordered)
        tail = (1 - confidence) / 2
        # P(fewer than k values below the quantile) for k = 0, 1, ..., n.
        below = [0.0, *(float(bdtr(k, n, self.q)) for k in range(n))]
        low = max(k for k in range(n + 1) if below[k] <= tail)
        high = min((k for k in range(n + 1) if 1 - below[k] <= tail), default=n + 1)
        return self.ordered[low - 1] if low else -math.inf, self.ordered[high - 1] if high <= n else math.inf

    def half_width(self, confidence: float = 0.95) -> float:
        """Half the width of this interval. Its middle is not the quantile."""
        low, high = self.interval(confidence)
        return (high - low) / 2


def _interpolated(ordered: np.ndarray, q: float) -> float:
    """The quantile of type 7, also where the values at its sides are infinite."""
    if not len(ordered):
        return math.nan
    place = q * (len(ordered) - 1)
    low, high = float(ordered[math.floor(place)]), float(ordered[math.ceil(place)])
    return low if low == high else quantile(ordered, q) if math.isfinite(high) else high


def prediction(values: Values, confidence: float = 0.95) -> tuple[float, float]:
    """Where one further run lies with at least this confidence, given some runs: between two of them.

    By symmetry, one further value of the same distribution falls into each of the n + 1 gaps between n values with the
    same probability. A published single run is compared with this interval, not with that of a mean or median. Where
    there are too few values both ends are infinite: 95 % needs 39.
    """
    known_confidence(confidence)
    x = np.sort(np.asarray(values, dtype=float))
    # A hair, so that 39 values, which have exactly 95 %, are enough.
    k = math.floor((len(x) + 1) * (1 - confidence) / 2 + 1e-9)
    return (float(x[k - 1]), float(x[-k])) if k else (-math.inf, math.inf)


def rank_p(values: Values, one: float) -> float:
    """How probable (two-sided) it is that one further value of the same distribution is as far out as ``one``.

    With n values the smallest such probability is 2 / (n + 1). Equal values count on both sides.
    """
    x = np.asarray(values, dtype=float)
    side = min(int((x <= one).sum()), int((x >= one).sum()))
    return min(1.0, 2 * (side + 1) / (len(x) + 1))
