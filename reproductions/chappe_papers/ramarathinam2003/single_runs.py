"""Medians of independent runs that keep the value of each run, so that values of one run can be taken together."""

from dataclasses import dataclass

from chappe.stats import Values
from chappe.stats.quantiles import Quantile


@dataclass(frozen=True)
class SingleRuns(Quantile):
    """A median of independent runs.

    Attributes:
        values: The value of each run, in the order of the runs.
    """

    values: tuple[float, ...] = ()

    @classmethod
    def at(cls, values: Values, q: float = 0.5) -> "SingleRuns":
        """Quantile of the values of runs."""
        e = Quantile.at(values, q)
        return cls(e.mean, e.variance, e.df, e.ordered, q, tuple(map(float, values)))
