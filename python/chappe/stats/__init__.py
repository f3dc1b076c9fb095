"""Statistics of simulation output: intervals, comparisons, correlation of batches."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from numbers import Real
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from chappe import _core
from chappe._common.arguments import quoted

Values = Sequence[float] | NDArray[np.float64]
"""Numbers."""


@dataclass(frozen=True)
class Estimate:
    """A mean with the variance of its error.

    Attributes:
        mean: The mean.
        variance: Variance of the mean (not of the values).
        df: Degrees of freedom of the variance.
        skewness: Skewness of the error of the mean: that of the values by the root of their number; 0 where it is not
            known. :class:`Skewed` takes it into account.
    """

    mean: float
    variance: float
    df: float
    skewness: float = field(default=0.0, kw_only=True)

    @classmethod
    def of(cls, values: Values) -> "Estimate":
        """Mean of independent values, such as batch means or runs with different seeds.

        The variance of a single value is NaN.
        """
        x = np.asarray(values, dtype=float)
        n = len(x)
        if n == 0:
            return cls(math.nan, math.nan, -1)
        # Identical to x.mean() and x.var(ddof=1), in a fifth of the time.
        mean, d = _deviations(x)
        variance = float(np.add.reduce(d * d) / (n - 1) / n) if n > 1 else math.nan
        return cls(mean, variance, n - 1, skewness=_skewness(d) / math.sqrt(n))

    def half_width(self, confidence: float = 0.95) -> float:
        """Half the width of the Student-t interval of this confidence."""
        return quantile_t(confidence, self.df) * math.sqrt(self.variance)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Ends of the Student-t interval of this confidence."""
        h = self.half_width(confidence)
        return self.mean - h, self.mean + h


ROUNDING = 1e-12
"""Relative distance of values that only differ by rounding errors."""


def _deviations(x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Mean, and deviations from it: 0 for equal values, whose rounding errors are no spread."""
    mean = float(np.add.reduce(x) / len(x))
    d = x - mean
    return mean, np.zeros_like(d) if d @ d <= ROUNDING**2 * (x @ x) else d


Statistic = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""Function from totals, along the last axis of an array, to a measure."""


def quotient(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ratio of two totals; NaN where the denominator is 0."""
    over, under = totals[..., 0], totals[..., 1]
    ratio: NDArray[np.float64] = np.divide(over, under, out=np.full(np.shape(over), math.nan), where=under != 0)
    return ratio


def jain_of_totals(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Jain's index of the totals of several flows; NaN where all are 0."""
    squares = totals.shape[-1] * (totals * totals).sum(axis=-1)
    none = np.full(np.shape(squares), math.nan)
    index: NDArray[np.float64] = np.divide(totals.sum(axis=-1) ** 2, squares, out=none, where=squares != 0)
    return index


@dataclass(frozen=True)
class Jackknife:
    """A measure of the totals of independent units (batches or runs), with pseudo-values.

    A ratio of totals is not a mean of values. The jackknife estimates the error by leaving out one unit at a time
    (Quenouille 1956, Tukey 1958): the pseudo-values n x - (n - 1) x(without the unit) behave like independent values.

    Attributes:
        value: Measure of all units together.
        pseudo: Pseudo-value of each unit; for a mean the values themselves.
    """

    value: float
    pseudo: NDArray[np.float64]

    @classmethod
    def of(cls, units: NDArray[np.float64], statistic: Statistic = quotient) -> "Jackknife":
        """Measure of units.

        Args:
            units: One row of totals per unit.
            statistic: Function from sums of rows to the measure.
        """
        n = len(units)
        if n == 0:
            return cls(math.nan, np.empty(0))
        whole = np.add.reduce(units)
        value = statistic(whole)
        if statistic is quotient:
            # Equal to the general formula below, without cancellation.
            left = quotient(np.stack([units[:, 0] - value * units[:, 1], whole[1] - units[:, 1]], axis=1))
            pseudo = value + (n - 1) * left
        else:
            pseudo = n * value - (n - 1) * statistic(whole - units)
        # Equal units have no variance, but rounding errors.
        is_equal = np.ptp(pseudo) <= ROUNDING * abs(value)
        return cls(float(value), np.full(n, value) if is_equal else pseudo)

    @classmethod
    def mean(cls, values: Values) -> "Jackknife":
        """Mean of values."""
        return cls(Estimate.of(values).mean, np.asarray(values, dtype=float))

    @property
    def estimate(self) -> Estimate:
        """The measure with the variance of its error."""
        return replace(Estimate.of(self.pseudo), mean=self.value)


@dataclass(frozen=True)
class Share(Estimate):
    """Share of successes in independent trials, with the exact interval, which stays between 0 and 1.

    Clopper and Pearson, *The use of confidence or fiducial limits illustrated in the case of the binomial*, Biometrika
    26, 1934.
    """

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Ends of the exact interval of at least this confidence; NaN without any trial."""
        check_confidence(confidence)
        n = self.df + 1
        return exact_share(self.mean * n, n, confidence) if n else (math.nan, math.nan)

    def half_width(self, confidence: float = 0.95) -> float:
        """Half the width of the interval, which is not centered on the share."""
        low, high = self.interval(confidence)
        return (high - low) / 2


def exact_share(successes: float, trials: float, confidence: float = 0.95) -> tuple[float, float]:
    """Interval of a probability from independent trials (Clopper and Pearson 1934)."""
    tail, k = (1 - check_confidence(confidence)) / 2, min(successes, trials)
    low = _core.quantile_beta(k, trials - k + 1, tail, above=False) if k > 0 else 0.0
    return low, _core.quantile_beta(k + 1, trials - k, tail, above=True) if k < trials else 1.0


def exact_rate(events: float, exposure: float, confidence: float = 0.95) -> tuple[float, float]:
    """Interval of a rate from a Poisson count (Garwood 1936): 0 events allow for up to 3.7; NaN without exposure.

    Args:
        events: Number of events.
        exposure: Size of what they were counted in, such as delivered packets.
        confidence: Confidence of the interval.
    """
    tail = (1 - check_confidence(confidence)) / 2
    if exposure == 0:
        return math.nan, math.nan
    low = _core.quantile_gamma(events, tail, above=False) if events > 0 else 0.0
    return low / exposure, _core.quantile_gamma(events + 1, tail, above=True) / exposure


FARTHEST = 2.0
"""Largest distance of an end of an interval [Student's t]: the correction for skewness holds for small corrections.

Without a limit, ends can be four times as far away as Student's, and of two settings that both stall in 30 % of their
runs one with a third of the goodput differs in 75 % of comparisons of 30 runs, with the limit in 94 %.
"""


@dataclass(frozen=True)
class Skewed(Estimate):
    """A mean, or a difference of means, whose errors may be skewed, with tests that agree with its interval.

    Each end of the interval is the farther of Student's t, and of t with the cube-root correction for skewness (Hall,
    *On the removal of skewness by transformation*, JRSS B 54, 1992; Willink, *A confidence interval and test for the
    mean of an asymmetric distribution*, Communications in Statistics 34, 2005). With t alone, two settings of equal
    means of which one stalls in some runs differ significantly in up to a third of all cases, always in the same
    direction.
    """

    @classmethod
    def by(cls, e: Estimate) -> "Skewed":
        """An estimate with the correction."""
        return cls(e.mean, e.variance, e.df, skewness=e.skewness)

    def reach(self, confidence: float = 0.95) -> tuple[float, float]:
        """Distances of the lower and the upper end of the interval [standard errors]."""
        t, a = quantile_t(confidence, self.df), self.skewness / 6
        if not a:
            return t, t
        below, above = _unskewed(t, a), -_unskewed(-t, a)
        return max(t, min(below, FARTHEST * t)), max(t, min(above, FARTHEST * t))

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Ends of the interval of this confidence."""
        (below, above), error = self.reach(confidence), math.sqrt(self.variance)
        return self.mean - below * error, self.mean + above * error

    def half_width(self, confidence: float = 0.95) -> float:
        """Half the width of the interval, which is not centered on the mean."""
        low, high = self.interval(confidence)
        return (high - low) / 2

    def p_above(self, value: float = 0.0) -> float:
        """Probability (one-sided) of a mean at least as high when it is not above a value.

        NaN where its error is not known. Equal values have no variance: their probability is half that of equal signs
        (:func:`equal_signs`).
        """
        return self._p(self.mean - value, self.skewness)

    def p_below(self, value: float = 0.0) -> float:
        """Probability (one-sided) of a mean at least as low when it is not below a value."""
        return self._p(value - self.mean, -self.skewness)

    def _p(self, apart: float, skewness: float) -> float:
        if math.isnan(apart) or math.isnan(self.variance):
            return math.nan
        if self.variance == 0:
            return equal_signs(self.df) / 2 if apart > 0 else 1.0
        t = apart / math.sqrt(self.variance)
        if skewness and math.isfinite(t):
            t = min(t, max(_skewed(t, skewness / 6), t / FARTHEST))
        return beyond_t(t, self.df)

    @property
    def p(self) -> float:
        """Probability (two-sided) of a mean at least as far from 0 when it is 0.

        The interval of the confidence 1 - p ends at 0.
        """
        return min(2 * min(self.p_above(), self.p_below()), 1.0)


@dataclass(frozen=True)
class Pooled(Skewed):
    """A measure of runs or batches that may be skewed, few, or without any event.

    Each end of the interval is the farthest of

    - those of :class:`Skewed`, with a correction from three values on,
    - for counts and shares, the exact interval of independent events,

    within the limits of the measure.

    Attributes:
        exact: Interval of a given confidence that is exact for independent events; ``None`` for other measures.
        limits: Smallest and largest possible value of the measure.
    """

    exact: Callable[[float], tuple[float, float]] | None = None
    limits: tuple[float, float] = (-math.inf, math.inf)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Ends of the interval of this confidence."""
        low, high = super().interval(confidence)
        if math.isnan(low):
            return math.nan, math.nan
        if self.exact is not None:
            least, most = self.exact(confidence)
            low, high = min(low, least), max(high, most)
        return max(low, self.limits[0]), min(high, self.limits[1])


def _unskewed(t: float, a: float) -> float:
    """Quantile of the error of a skewed mean [standard errors]; ``a`` is a sixth of the skewness of the error."""
    x = 6 * a * (t - a)
    # Of a skewness near 0, which rounding makes of none, the root of 1 + x would lose all digits.
    return (math.expm1(math.log1p(x) / 3) if x > -1 else math.cbrt(1 + x) - 1) / (2 * a)


def _skewed(z: float, a: float) -> float:
    """The t of which an error is the quantile: the inverse of :func:`_unskewed`."""
    return a + z + 2 * a * z**2 + 4 / 3 * a**2 * z**3


def _skewness(d: NDArray[np.float64]) -> float:
    """Skewness of values from their deviations from the mean, adjusted for their number.

    It is G1 of Joanes and Gill 1998; 0 for equal values, or fewer than 3.
    """
    n = len(d)
    deviation = math.sqrt(float(d @ d) / n)
    if n < 3 or deviation == 0:
        return 0.0
    z = d / deviation
    return float((z * z) @ z) / n * math.sqrt(n * (n - 1)) / (n - 2)


def check_confidence(confidence: float) -> float:
    """Checks that a confidence lies between 0 and 1, and returns it.

    Raises:
        ValueError: If it does not, such as 95.
    """
    # A number that is no float is looked at more closely, which takes longer than an interval.
    if (type(confidence) is not float and not isinstance(confidence, Real)) or not 0 < confidence < 1:
        raise ValueError(f"confidence is {quoted(confidence)}; it must lie between 0 and 1, such as 0.95")
    return float(confidence)


def quantile_t(confidence: float, df: float) -> float:
    """Quantile of Student's t distribution for a two-sided interval: 2.262 for 95 % and 9 degrees of freedom."""
    check_confidence(confidence)
    return _quantile_t(float(confidence), df) if df > 0 else math.nan


@lru_cache(maxsize=1024)
def _quantile_t(confidence: float, df: float) -> float:
    if math.isinf(df):
        return NormalDist().inv_cdf(0.5 + confidence / 2)
    return _core.quantile_t(df, (1 - confidence) / 2)


def beyond_t(t: float, df: float) -> float:
    """Probability that Student's t is above ``t``; of infinite degrees of freedom the normal distribution."""
    return _beyond_normal(t) if math.isinf(df) else _core.beyond_t(t, df)


def _beyond_normal(z: float) -> float:
    """Probability that a standard normal value is above ``z``."""
    return math.erfc(z / math.sqrt(2)) / 2


def student_p(e: Estimate) -> float:
    """Probability (two-sided) of a mean at least as far from 0 when it is 0; NaN where its error is not known.

    Equal values have no variance: their probability is that of equal signs (:func:`equal_signs`).
    """
    return Skewed(e.mean, e.variance, e.df).p


def equal_signs(df: float) -> float:
    """Probability (two-sided) that ``df`` + 1 values have the same sign by chance (sign test)."""
    return math.pow(2.0, -df)


def _degrees(variance: float, parts: Iterable[tuple[float, float]]) -> float:
    """Degrees of freedom of a sum of independent values (Welch, Satterthwaite).

    Args:
        variance: Of the sum.
        parts: The variance of each value, and the degrees of freedom of that variance.
    """
    own = list(parts)
    spread = sum(v**2 / df for v, df in own if df > 0)
    return variance**2 / spread if spread > 0 else max(sum(df for _, df in own), 1)


def difference(a: Estimate, b: Estimate) -> Estimate:
    """Difference ``a`` - ``b`` of independent estimates, with Welch-Satterthwaite degrees of freedom."""
    return total([a, Estimate(-b.mean, b.variance, b.df, skewness=-b.skewness)])


def total(several: Sequence[Estimate], by: float = 1.0) -> Estimate:
    """The sum of independent estimates divided by a number, with the degrees of freedom of Welch and Satterthwaite."""
    variance = sum(e.variance for e in several)
    df = _degrees(variance, [(e.variance, e.df) for e in several])
    skew = sum(e.skewness * (e.variance / variance) ** 1.5 for e in several if e.skewness) if variance > 0 else 0.0
    return Estimate(sum(e.mean for e in several) / by, variance / by**2, df, skewness=skew)


def ratio(a: Estimate, b: Estimate) -> Estimate:
    """Ratio ``a`` / ``b`` of independent estimates, by the delta method."""
    if b.mean == 0:
        return Estimate(math.nan, math.nan, 1)
    r = a.mean / b.mean
    variance = (a.variance + r * r * b.variance) / b.mean**2
    df = _degrees(variance, [(a.variance / b.mean**2, a.df), (r * r * b.variance / b.mean**2, b.df)])
    return Estimate(r, variance, df)


def lag1(values: Values) -> float:
    """Autocorrelation at lag 1; NaN for constant values. It is -1/n on average if n values are independent.

    :func:`serial_p` tests it.
    """
    x = np.asarray(values, dtype=float)
    d = _deviations(x)[1] if len(x) else x
    total = float((d * d).sum())
    return float((d[:-1] * d[1:]).sum()) / total if total > 0 else math.nan


def serial_p(values: Values) -> float:
    """Probability (one-sided) of neighbors at least as alike when values are independent; NaN for fewer than four.

    Von Neumann's ratio of the mean squared difference of neighbors to the variance (Annals of Mathematical Statistics
    12, 1941), with the normal approximation for its half (Young, same volume): mean 1, variance (n - 2) / (n^2 - 1).
    Neither SciPy nor statsmodels has the test.
    """
    x = np.asarray(values, dtype=float)
    n = len(x)
    if n < 4:
        return math.nan
    (_, d), steps = _deviations(x), x[1:] - x[:-1]
    total = float(d @ d)
    if not total > 0:
        return math.nan
    half_ratio = float(steps @ steps) / total / 2
    return _beyond_normal((1 - half_ratio) * math.sqrt((n * n - 1) / (n - 2)))


def trend_p(values: Values) -> float:
    """Probability (two-sided) of a trend at least as strong when there is none; NaN for fewer than five values.

    Mann's test by Kendall's tau (Econometrica 13, 1945), with the normal approximation and the correction for ties.
    ``scipy.stats.kendalltau`` is equal, but loading ``scipy.stats`` takes longer than most runs.
    """
    x = np.asarray(values, dtype=float)
    n = len(x)
    if n < 5:
        return math.nan
    # Each pair counts twice, in the direction of the series.
    place = np.arange(n)
    score = float((np.sign(np.subtract.outer(x, x)) * np.sign(np.subtract.outer(place, place))).sum()) / 2
    ties = [t for t in Counter(x.tolist()).values() if t > 1]
    variance = (n * (n - 1) * (2 * n + 5) - sum(t * (t - 1) * (2 * t + 5) for t in ties)) / 18
    return 2 * _beyond_normal(abs(score) / math.sqrt(variance)) if variance > 0 else math.nan


def spread(means: Values, variances: Values, df: float) -> tuple[float, float]:
    """Spread of runs relative to the spread that their batches promise.

    Runs that are farther apart than their batches promise differ in something that one run does not show: an interval
    from the batches of one of them is too narrow. Replicated batch means: Argon and Andradottir, Naval Research
    Logistics 53, 2006.

    Args:
        means: Measure of each run.
        variances: Variance of each that has one, from its batches.
        df: Degrees of freedom of each of these variances: the number of batches less 1.

    Returns:
        The variance of the runs by the mean of `variances`, and the probability of at least this when batches are
        independent (F test); NaN for fewer than two runs, and without any variance.
    """
    from scipy.special import fdtrc

    n = len(means)
    if n < 2 or not len(variances):
        return math.nan, math.nan
    promised = float(np.mean(variances))
    if not promised > 0:
        return math.nan, math.nan
    times = float(np.var(means, ddof=1)) / promised
    return times, float(fdtrc(n - 1, len(variances) * df, times))


def mser5(values: Values) -> int:
    """Number of initial values in the transient, by MSER-5 (White, Cobb and Spratt 2000).

    Values are averaged in groups of five. The number of dropped groups, at most half of them, minimizes the squared
    standard error of the mean of the remaining groups; ties take the smallest number.
    """
    x = np.asarray(values, dtype=float)
    groups = x[: len(x) // 5 * 5].reshape(-1, 5).mean(axis=1)
    m = len(groups)
    if m == 0:
        return 0
    z = [float(((rest := groups[d:]) - rest.mean()) @ (rest - rest.mean())) / (m - d) ** 2 for d in range(m // 2 + 1)]
    return 5 * int(np.argmin(z))


def quantile(values: Values, q: float) -> float:
    """Quantile by linear interpolation between order statistics (type 7 of Hyndman and Fan)."""
    return float(np.quantile(np.asarray(values, dtype=float), q)) if len(values) else math.nan


@dataclass(frozen=True)
class Comparison:
    """Comparison of two settings.

    Attributes:
        difference: Difference of the means.
        effect: Difference in standard deviations: of the paired differences, or pooled over both settings.
        p: Probability of at least such a difference (two-sided) when there is none (Student's t, corrected for
            skewness; without any variance, by equal signs of pairs or by permutation).
    """

    difference: Skewed
    effect: float
    p: float


Measured = Values | Jackknife
"""Values, which stand for their mean, or a measure of totals."""


def _jackknife(measured: Measured) -> Jackknife:
    return measured if isinstance(measured, Jackknife) else Jackknife.mean(measured)


def paired(a: Measured, b: Measured) -> Comparison:
    """Paired comparison ``a`` - ``b``, such as of runs with the same seeds."""
    x, y = _jackknife(a), _jackknife(b)
    apart = x.pseudo - y.pseudo
    spread = Estimate.of(np.where(np.abs(apart) <= ROUNDING * np.abs(x.pseudo), 0.0, apart))
    e = Skewed(_apart(x.value, y.value), spread.variance, spread.df, skewness=spread.skewness)
    n = spread.df + 1
    return Comparison(e, _in_deviations(e.mean, math.sqrt(e.variance * n) if n > 1 else math.nan), e.p)


def unpaired(a: Measured, b: Measured) -> Comparison:
    """Unpaired comparison ``a`` - ``b`` of independent units (Welch)."""
    x, y = _jackknife(a).estimate, _jackknife(b).estimate
    df = x.df + y.df
    pooled = (x.variance * (x.df + 1) * x.df + y.variance * (y.df + 1) * y.df) / df if df > 0 else math.nan
    e = replace(Skewed.by(difference(x, y)), mean=_apart(x.mean, y.mean))
    p = _separated(x.df + 1, y.df + 1) if e.variance == 0 and e.mean != 0 else e.p
    return Comparison(e, _in_deviations(e.mean, math.sqrt(pooled)), p)


def if_equal(a: NDArray[np.float64], b: NDArray[np.float64]) -> tuple[Jackknife, Jackknife]:
    """Two ratios of totals, with pseudo-values that are right if both settings have the same ratio.

    The jackknife takes the error of a ratio from its own units. Of two equal settings the one whose units are even by
    chance has a small error then, and the other one, whose units are few and long, has a small ratio and hence a small
    error, too: where runs stall, 7 % of tables of ten equal pairs had a difference at 5 %. Here both errors are those
    of the common ratio of all units, as in a score test (Rao 1948).

    Args:
        a: One row of two totals per unit of the first setting.
        b: The same of the second setting.

    Returns:
        The measures of both, whose difference has the error of equal settings.
    """
    whole = a.sum(axis=0), b.sum(axis=0)
    common = quotient(whole[0] + whole[1])
    means = whole[0][1] / len(a), whole[1][1] / len(b)
    # The difference of the mean residuals is that of the ratios times this.
    scale = (means[0] * whole[1][1] + means[1] * whole[0][1]) / (whole[0][1] + whole[1][1])
    both = []
    for units, total in zip((a, b), whole, strict=True):
        value = float(quotient(total))
        residuals = units[:, 0] - common * units[:, 1]
        both.append(Jackknife(value, value + (residuals - residuals.mean()) / scale))
    return both[0], both[1]


def _apart(a: float, b: float) -> float:
    """Difference ``a`` - ``b``; 0 for a rounding error."""
    return 0.0 if math.isclose(a, b, rel_tol=ROUNDING) else a - b


def _separated(n: float, m: float) -> float:
    """Probability (two-sided) that ``n`` of ``n + m`` values are the smallest or the largest (permutation test)."""
    return 2 / math.comb(round(n + m), round(n))


def _in_deviations(mean: float, deviation: float) -> float:
    if deviation == 0:
        return 0.0 if mean == 0 else math.copysign(math.inf, mean)
    return mean / deviation


def holm(p: Sequence[float]) -> list[float]:
    """p-values of several tests, adjusted by Holm (1979).

    A limit of 5 % for adjusted p-values keeps the family-wise error rate at 5 % or less. NaN stands for an impossible
    test, stays NaN and is not counted.
    """
    adjusted = [math.nan] * len(p)
    order = sorted((i for i in range(len(p)) if not math.isnan(p[i])), key=lambda i: p[i])
    highest = 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, p[i] * (len(order) - rank)))
        adjusted[i] = highest
    return adjusted


def combined(p: Sequence[float]) -> float:
    """Probability of p-values of independent tests at least as small together (Fisher 1925); NaN without any."""
    known = [x for x in p if not math.isnan(x)]
    if not known or 0 in known:
        return 0.0 if known else math.nan
    # Half of a chi-squared variable with two degrees of freedom for each.
    half = -math.fsum(map(math.log, known))
    if half == 0:
        return 1.0
    return math.fsum(math.exp(i * math.log(half) - half - math.lgamma(i + 1)) for i in range(len(known)))


def fisher(a: int, of_a: int, b: int, of_b: int) -> float:
    """Two-sided p-value of Fisher's exact test for ``a`` of ``of_a`` and ``b`` of ``of_b`` successes."""
    total = a + b
    ways = [math.comb(of_a, k) * math.comb(of_b, total - k) for k in range(total + 1)]
    return sum(w for w in ways if w <= ways[a]) / sum(ways)


def jain_index(values: Values) -> float:
    """Jain's fairness index of shares: (sum x)^2 / (n sum x^2).

    The index is 1 for equal shares, 1/n if one of n has everything, and NaN if all shares are 0.
    """
    return float(jain_of_totals(np.asarray(values, dtype=float)))
