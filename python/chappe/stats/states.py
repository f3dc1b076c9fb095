"""States that outlive runs: runs that change once and do not return, and only some of them within the simulated time.

The mean of such runs depends on the number of runs that have changed so far, and an interval from unchanged runs does
not cover it. The share of runs that have changed by a given time, with its exact interval, and the levels before and
after the change can be reported.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from chappe._common.arguments import quoted
from chappe.stats import Estimate, Share, Values, check_confidence

ENOUGH = 24
"""Minimum number of runs of a point with absorbing states: gives a share of 20 % to within 16 %."""

SEPARATION = 6.0
"""Minimum distance of two levels [standard deviations within a level].

The halves of a normal distribution have a distance of 2.6.
"""

HOLDS = 2
"""Minimum number of batches that a run stays in a state."""

MANY = 20
"""Minimum number of runs to accept two levels without an observed change."""


@dataclass(frozen=True)
class States:
    """Two levels of a measure, and the changes of runs from one level to the other, without a return within the run.

    Attributes:
        before: Level before the change, a mean over runs.
        after: Level after the change; the error is unknown if a single run changed.
        changed: Batch of the change of each run: 0 in or before the first batch, ``None`` without a change.
        batches: Number of batches of a run.
    """

    before: Estimate
    after: Estimate
    changed: tuple[int | None, ...]
    batches: int

    def share(self, batches: int | None = None) -> Share:
        """Share of runs that have changed, with the exact interval.

        Args:
            batches: Number of batches from the beginning to consider; ``None``: all.
        """
        end = self.batches if batches is None else batches
        share = Share.of([float(at is not None and at < end) for at in self.changed])
        assert isinstance(share, Share)
        return share

    @property
    def is_permanent(self) -> bool:
        """True if returns are rarer than changes (exact test, 5 %); otherwise longer runs may return.

        If both were equally frequent, each of the changes would happen before the change, in the order of the batches,
        with the share of all batches that the runs spent there.
        """
        seen = [at for at in self.changed if at]
        before = sum(self.batches if at is None else at for at in self.changed)
        return bool(seen) and (before / (self.batches * len(self.changed))) ** len(seen) < 0.05


def absorbing(runs: Sequence[Values]) -> States | None:
    """Detects two levels, and changes to one of them without a way back within the run.

    A state may be left after the end of the run: :attr:`States.is_permanent` tells where this is unlikely.

    The batches of all runs are split into two levels with the smallest sum of squares within the levels. The levels are
    the states if

    - the distance of the levels is at least :data:`SEPARATION` standard deviations,
    - no run changes more than once, and all changes have the same direction,
    - at least one run changes and then stays for :data:`HOLDS` batches; or there are :data:`MANY` runs, at least two on
      either level, and none changes: runs on the rarer level then count as changed from the beginning.

    A change that no run shows cannot be detected: :func:`unseen` bounds its frequency.

    Args:
        runs: Values of the batches of each run, in order; all runs have equally many batches.

    Returns:
        The states, or ``None`` without states or with too few data.
    """
    table = np.array([np.asarray(batches, dtype=float) for batches in runs], dtype=float)
    if table.ndim != 2 or min(table.shape) < 1 or table.shape[1] < 2 * HOLDS or not np.isfinite(table).all():
        return None
    high = table > _border(table)
    steps = np.diff(high.astype(int), axis=1)
    changes = np.abs(steps).sum(axis=1)
    if changes.max() > 1 or (steps.max() > 0 > steps.min()):
        return None
    after_is_high = bool(steps.max() > 0) if changes.any() else bool(2 * high[:, 0].sum() < len(high))
    later = high == after_is_high
    changed = [int(batches.argmax()) if batches.any() else None for batches in later]
    if changes.any():
        seen = [at for at in changed if at is not None and HOLDS <= at <= table.shape[1] - HOLDS]
        if not seen:
            return None
    elif len(later) < MANY or min(int(later[:, 0].sum()), int((~later[:, 0]).sum())) < 2:
        return None
    levels = _levels(table, changed)
    if not _apart(*levels):
        return None
    before, after = (Estimate.of([float(batches.mean()) for batches in level]) for level in levels)
    return States(before, after, tuple(changed), table.shape[1])


def unseen(runs: int, confidence: float = 0.95) -> float:
    """One-sided upper bound of the share of runs that change, if none of ``runs`` did.

    The bound is 63 % for 3 runs, 26 % for 10 runs, 12 % for 24 runs.

    Raises:
        ValueError: If `runs` is not a whole number of at least 0.
    """
    if not isinstance(runs, Integral) or runs < 0:
        raise ValueError(f"runs is {quoted(runs)}; it must be a whole number of at least 0")
    return 1 - (1 - check_confidence(confidence)) ** (1 / runs) if runs else 1.0


def _border(table: NDArray[np.float64]) -> float:
    """Threshold between the two levels (Fisher 1958, Otsu 1979)."""
    x = np.sort(table, axis=None)
    n = np.arange(1, len(x))
    sums = np.cumsum(x)[:-1]
    # The smallest sum of squares within levels has the largest sum of squares between levels.
    between = (sums * len(x) - x.sum() * n) ** 2 / (n * (len(x) - n))
    k = int(between.argmax())
    return float((x[k] + x[k + 1]) / 2)


def _levels(
    table: NDArray[np.float64], changed: Sequence[int | None]
) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
    """Batches of each run before and after the change, without the batches next to the change."""
    before, after = [], []
    for batches, at in zip(table, changed, strict=True):
        end = len(batches) if at is None else max(at - 1, 0)
        begin = len(batches) if at is None else at + 1
        before += [batches[:end]] if end else []
        after += [batches[begin:]] if begin < len(batches) else []
    return before, after


def _apart(before: Sequence[NDArray[np.float64]], after: Sequence[NDArray[np.float64]]) -> bool:
    """Returns true for levels separated by more than :data:`SEPARATION` (Ashman's D, 1994)."""
    if not before or not after:
        return False
    one, other = np.concatenate(before), np.concatenate(after)
    if min(len(one), len(other)) < HOLDS:
        return False
    width = math.sqrt((one.var(ddof=1) + other.var(ddof=1)) / 2)
    return bool(abs(one.mean() - other.mean()) > SEPARATION * width)
