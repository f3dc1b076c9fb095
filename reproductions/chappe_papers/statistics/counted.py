"""Numbers of runs behind estimates, where these do not follow from degrees of freedom."""

import math
from dataclasses import dataclass

from chappe import stats
from chappe.stats import Estimate
from chappe.stats.quantiles import Quantile

from chappe_papers.statistics.quotients import Quotient
from chappe_papers.statistics.ranks import Times


@dataclass(frozen=True)
class Counted(Estimate):
    """An estimate of which the number of runs is known by itself: one from batches, or one of several measures.

    Attributes:
        runs: Number of runs, of the measure with fewer; infinite for an exact number, NaN if it is not known.
    """

    runs: float = math.nan

    @classmethod
    def by(cls, e: Estimate, runs: float) -> "Counted":
        """An estimate with its number of runs."""
        return cls(e.mean, e.variance, e.df, runs, skewness=e.skewness)


def exact(value: float) -> Counted:
    """A number without an error."""
    return Counted(value, 0.0, 1, math.inf)


def runs_of(e: Estimate) -> float:
    """Number of runs of an estimate: that of its independent values, if it does not say another."""
    if isinstance(e, Counted):
        return e.runs
    if isinstance(e, Times):
        return min(len(e.a), len(e.b))
    if isinstance(e, Quotient) and e.relative.pairs is None:
        return fewer(e.relative.a, e.relative.b)
    return len(e.ordered) if isinstance(e, Quantile) else e.df + 1


def fewer(a: Estimate, b: Estimate) -> float:
    """Number of runs of the one of two that has fewer; NaN if one of both is not known."""
    n, m = runs_of(a), runs_of(b)
    return m if m < n or math.isnan(m) else n


def ratio(a: Estimate, b: Estimate) -> Counted:
    """The ratio of independent estimates."""
    return Counted.by(stats.ratio(a, b), fewer(a, b))


def difference(a: Estimate, b: Estimate) -> Counted:
    """The difference of independent estimates."""
    return Counted.by(stats.difference(a, b), fewer(a, b))


def times(a: Estimate, by: float) -> Counted:
    """A multiple of an estimate."""
    return Counted.by(Estimate(by * a.mean, by**2 * a.variance, a.df, skewness=a.skewness), runs_of(a))
