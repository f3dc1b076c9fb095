"""Choice of the best of several values of a setting, without selection bias.

The best of several means is too high, because the choice prefers lucky runs. :func:`choose` therefore chooses on one
half of the runs and reports the mean of the other half.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from chappe.measures import Direction, check_direction
from chappe.stats import Estimate, Values, check_confidence, holm, paired

T = TypeVar("T", float, int, str)


@dataclass(frozen=True)
class Chosen(Generic[T]):
    """A chosen value.

    Attributes:
        value: The value with the best mean over the first half of the runs.
        estimate: Mean of the chosen value over the second half, which the choice did not use.
        alike: The chosen value and all values that do not differ significantly from it in the second half (paired
            tests, family-wise at the confidence of the choice), in the order of the input.
    """

    value: T
    estimate: Estimate
    alike: tuple[T, ...]


@dataclass(frozen=True)
class Among(Estimate):
    """A chosen value as an estimate: the interval spans the values that do not differ significantly from it.

    The variance is NaN: differences and ratios are not defined.
    """

    low: float = math.nan
    high: float = math.nan

    @classmethod
    def of_choice(cls, chosen: Chosen[float] | Chosen[int]) -> "Among":
        """The chosen value with the range of ``chosen.alike``."""
        return cls(float(chosen.value), math.nan, 0, float(min(chosen.alike)), float(max(chosen.alike)))

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Smallest and largest value of ``alike``, at the confidence of the choice."""
        check_confidence(confidence)
        return self.low, self.high

    def half_width(self, confidence: float = 0.95) -> float:
        """Half the width of the interval, which is not centered on the chosen value."""
        low, high = self.interval(confidence)
        return (high - low) / 2


def choose(
    runs: Mapping[T, Values],
    *,
    direction: Direction = "maximize",
    confidence: float = 0.95,
) -> Chosen[T]:
    """Chooses the value with the best mean on one half of the runs, and reports the mean on the other half.

    Runs at even and at odd positions form the halves, independently of the results.

    Args:
        runs: Results by value, from runs with the same seeds, at least four each.
        direction: ``"maximize"`` or ``"minimize"``.
        confidence: Confidence with which every value outside `alike` is worse than the chosen value.

    Raises:
        ValueError: Without values, with fewer than four runs, or with different numbers of runs.
        TypeError: If `runs` is not a mapping.
    """
    if not isinstance(runs, Mapping):
        raise TypeError(f"runs must be a dict from values to results, such as {{35.0: [1, 2, 3, 4]}}, not {runs!r}")
    check_confidence(confidence)
    direction = check_direction(direction)
    table = {value: np.asarray(results, dtype=float) for value, results in runs.items()}
    lengths = {len(results) for results in table.values()}
    if len(lengths) != 1 or min(lengths) < 4:
        raise ValueError("a choice needs at least four runs of each value, with the same seeds")
    sign = 1 if direction == "maximize" else -1
    value = max(table, key=lambda v: sign * float(table[v][::2].mean()))
    second = {v: sign * results[1::2] for v, results in table.items()}
    rest = [v for v in table if v != value]
    worse = holm([_worse(second[v], second[value]) for v in rest])
    left_out = {v for v, p in zip(rest, worse, strict=True) if p < 1 - confidence}
    return Chosen(value, Estimate.of(sign * second[value]), tuple(v for v in table if v not in left_out))


def _worse(values: Values, chosen: Values) -> float:
    """One-sided p-value of the hypothesis that ``values`` are as good as ``chosen``."""
    comparison = paired(chosen, values)
    p = comparison.p
    if math.isnan(p):
        return 1.0
    return p / 2 if comparison.difference.mean > 0 else 1 - p / 2
