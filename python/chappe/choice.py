"""The best of several values of a setting, without the luck of the choice.

Whoever takes the best of several means takes the luckiest, too: its mean is too high, and to take the best value for
each seed by itself is to average luck. Here the choice is made on one half of the runs and reported on the other.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from chappe.arguments import said
from chappe.stats import Estimate, Values, holm, known_confidence, paired

T = TypeVar("T", float, int, str)


@dataclass(frozen=True)
class Chosen(Generic[T]):
    """What was chosen.

    Attributes:
        value: The value whose mean over the first half of the runs is best.
        estimate: Its mean over the second half, which had no part in the choice.
        alike: The values, among them the chosen one, that the second half does not tell from it (paired tests,
            family-wise at the level of the choice); in the order in which they were given.
    """

    value: T
    estimate: Estimate
    alike: tuple[T, ...]


@dataclass(frozen=True)
class Among(Estimate):
    """A value that was chosen among some, as an estimate: its interval goes from the least to the greatest alike.

    It has no variance (NaN): it cannot be put into differences and ratios.
    """

    low: float = math.nan
    high: float = math.nan

    @classmethod
    def of_choice(cls, chosen: Chosen[float] | Chosen[int]) -> "Among":
        """The chosen value with those that are not told from it."""
        return cls(float(chosen.value), math.nan, 0, float(min(chosen.alike)), float(max(chosen.alike)))

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The least and the greatest of the values that are alike, by the level of the choice."""
        known_confidence(confidence)
        return self.low, self.high

    def half_width(self, confidence: float = 0.95) -> float:
        """Half the width of this interval. Its middle is not the chosen value."""
        low, high = self.interval(confidence)
        return (high - low) / 2


def choose(runs: Mapping[T, Values], best: str = "highest", confidence: float = 0.95) -> Chosen[T]:
    """Chooses the value with the best mean on one half of the runs, and reports its mean on the other.

    The halves are the runs with even and with odd places, so that they do not depend on what was measured.

    Args:
        runs: What each value gave in runs with the same seeds, at least four.
        best: ``"highest"`` or ``"lowest"``.
        confidence: With this one, every value that is left out of `alike` is worse than the chosen one.

    Raises:
        ValueError: When there are no values, fewer than four runs, or not the same number of each.
        TypeError: When `runs` does not say which value is whose.
    """
    if not isinstance(runs, Mapping):
        raise TypeError(f"runs maps each value to what it gave, such as {{35.0: [1, 2, 3, 4]}}; {said(runs)} does not")
    known_confidence(confidence)
    if best not in ("highest", "lowest"):
        raise ValueError(f"best is {said(best)}; it must be 'highest' or 'lowest'")
    table = {value: np.asarray(own, dtype=float) for value, own in runs.items()}
    lengths = {len(own) for own in table.values()}
    if len(lengths) != 1 or min(lengths) < 4:
        raise ValueError("a choice needs values that have at least four runs each, with the same seeds")
    sign = 1 if best == "highest" else -1
    value = max(table, key=lambda v: sign * float(table[v][::2].mean()))
    second = {v: sign * own[1::2] for v, own in table.items()}
    others = [v for v in table if v != value]
    worse = holm([_worse(second[v], second[value]) for v in others])
    left_out = {v for v, p in zip(others, worse, strict=True) if p < 1 - confidence}
    return Chosen(value, Estimate.of(sign * second[value]), tuple(v for v in table if v not in left_out))


def _worse(values: Values, chosen: Values) -> float:
    """Probability (one-sided) of values that much worse than the chosen ones when they are as good."""
    found = paired(chosen, values)
    p = found.p
    if math.isnan(p):
        return 1.0
    return p / 2 if found.difference.mean > 0 else 1 - p / 2
