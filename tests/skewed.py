"""The correction for skewness, from the formulas of its papers and SciPy alone."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import skew, t

Sample = NDArray[np.float64]


def error(*samples: tuple[float, Sample]) -> tuple[float, float, float, float]:
    """A sum of means with factors: its value, standard error, degrees of freedom, and skewness.

    Variances, and third moments, of independent means add up (Welch, Satterthwaite).
    """
    value = sum(f * x.mean() for f, x in samples)
    variances = [f**2 * x.var(ddof=1) / len(x) for f, x in samples]
    thirds = [f**3 * skew(x, bias=False) * x.std(ddof=1) ** 3 / len(x) ** 2 for f, x in samples if len(x) > 2]
    variance = sum(variances)
    df = variance**2 / sum(v**2 / (len(x) - 1) for v, (_, x) in zip(variances, samples, strict=True))
    return value, math.sqrt(variance), df, sum(thirds) / variance**1.5


def transformed(z: float, skewness: float) -> float:
    """Hall (1992), the third of his transformations: with gamma by the root of n for the skewness of the mean.

    A correction of more than half of the value is none.
    """
    return max(z + skewness * z**2 / 3 + skewness**2 * z**3 / 27 + skewness / 6, z / 2)


def p_value(*samples: tuple[float, Sample]) -> float:
    """Probability (two-sided) that a sum of means is 0: the larger of that by t and by the transformed t."""
    value, of_value, df, skewness = error(*samples)
    z, sign = abs(value) / of_value, math.copysign(1, value)
    return 2 * float(max(t.sf(z, df), t.sf(transformed(z, sign * skewness), df)))


def p_above(*samples: tuple[float, Sample]) -> float:
    """Probability (one-sided) that a sum of means is not above 0."""
    value, of_value, df, skewness = error(*samples)
    return float(max(t.sf(value / of_value, df), t.sf(transformed(value / of_value, skewness), df)))


def ends(samples: Sequence[tuple[float, Sample]], confidence: float = 0.95) -> tuple[float, float]:
    """Ends of the interval: values from which the sum of means does not differ, found by bisection."""
    value, of_value, df, skewness = error(*samples)
    tail = (1 - confidence) / 2

    def beyond(distance: float, sign: int) -> float:
        return float(max(t.sf(distance, df), t.sf(transformed(distance, sign * skewness), df))) - tail

    below, above = (brentq(beyond, 0, 1e6, args=(sign,), xtol=1e-12, rtol=1e-12) for sign in (1, -1))
    return value - below * of_value, value + above * of_value
