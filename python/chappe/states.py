"""Absorbing states: runs that change once, for good, and only some of them within the time that is looked at.

The mean of such runs is a matter of how many of them have changed so far, and its interval, taken from the runs that
happened not to, says nothing about the others. What can be reported is the share of runs that have changed by a given
time, with Wilson's interval, and the level before and after.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from chappe.arguments import said
from chappe.stats import Estimate, Share, Values, known_confidence

ENOUGH = 24
"""Runs that a point with absorbing states gets at least: a share of 20 % is then known to within 16 %."""

SEPARATION = 6.0
"""Two levels are apart when their distance is this number of times the standard deviation within a level.

The halves of a normal distribution are 2.6 apart by this measure.
"""

HOLDS = 2
"""Batches for which a run stays changed before that counts as a state."""

MANY = 20
"""Runs from which on it counts, too, that they are of two kinds from their beginning to their end."""


@dataclass(frozen=True)
class States:
    """Two levels of a measure and the runs that went from one to the other, none of which came back.

    Attributes:
        before: The level before the change: a mean over the runs that were seen there.
        after: The level after it. With a single run that changed, its error is not known.
        changed: For each run the batch in which it changed: 0 when it had changed before the first batch or in it;
            ``None`` when it did not change.
        batches: Batches of a run.
    """

    before: Estimate
    after: Estimate
    changed: tuple[int | None, ...]
    batches: int

    def share(self, batches: int | None = None) -> Share:
        """The share of runs that have changed, with Wilson's interval.

        Args:
            batches: Within this number of batches from the beginning; ``None``: within all of them.
        """
        end = self.batches if batches is None else batches
        found = Share.of([float(at is not None and at < end) for at in self.changed])
        assert isinstance(found, Share)
        return found


def absorbing(runs: Sequence[Values]) -> States | None:
    """Finds out whether runs have an absorbing state: two levels, and no way back.

    All batches of all runs are split into two levels, so that the squares of the distances from the mean of the level
    are smallest. That is an absorbing state when

    - the levels are apart by :data:`SEPARATION` standard deviations,
    - no run has more than one change, and all changes are in the same direction,
    - at least one run is seen to change, and then stays for :data:`HOLDS` batches; or there are :data:`MANY` runs,
      at least two of either kind, none of which changes. Those of the rarer kind then count as changed from the
      beginning.

    A change that no run has shown cannot be found: :func:`unseen` says how frequent it may still be.

    Args:
        runs: For each run the values of its batches, in their order, all of the same number.

    Returns:
        The states, or ``None`` where there are none, or nothing can be said.
    """
    table = np.array([np.asarray(own, dtype=float) for own in runs], dtype=float)
    if table.ndim != 2 or min(table.shape) < 1 or table.shape[1] < 2 * HOLDS or not np.isfinite(table).all():
        return None
    high = table > _border(table)
    steps = np.diff(high.astype(int), axis=1)
    changes = np.abs(steps).sum(axis=1)
    if changes.max() > 1 or (steps.max() > 0 > steps.min()):
        return None
    after_is_high = bool(steps.max() > 0) if changes.any() else bool(2 * high[:, 0].sum() < len(high))
    later = high == after_is_high
    changed = [int(own.argmax()) if own.any() else None for own in later]
    if changes.any():
        seen = [at for at in changed if at is not None and HOLDS <= at <= table.shape[1] - HOLDS]
        if not seen:
            return None
    elif len(later) < MANY or min(int(later[:, 0].sum()), int((~later[:, 0]).sum())) < 2:
        return None
    levels = _levels(table, changed)
    if not _apart(*levels):
        return None
    before, after = (Estimate.of([float(own.mean()) for own in level]) for level in levels)
    return States(before, after, tuple(changed), table.shape[1])


def unseen(runs: int, confidence: float = 0.95) -> float:
    """The share of runs that may change although none of ``runs`` did: one-sided bound of this confidence.

    Of 3 runs it is 63 %, of 10 runs 26 %, of 24 runs 12 %.

    Raises:
        ValueError: When `runs` is no number of runs.
    """
    if not isinstance(runs, Integral) or runs < 0:
        raise ValueError(f"runs is {said(runs)}; it must be a whole number from 0 on")
    return 1 - (1 - known_confidence(confidence)) ** (1 / runs) if runs else 1.0


def _border(table: NDArray[np.float64]) -> float:
    """What separates the two levels (Fisher 1958, Otsu 1979)."""
    x = np.sort(table, axis=None)
    n = np.arange(1, len(x))
    sums = np.cumsum(x)[:-1]
    # To make the squares within least is to make those between the means most.
    between = (sums * len(x) - x.sum() * n) ** 2 / (n * (len(x) - n))
    k = int(between.argmax())
    return float((x[k] + x[k + 1]) / 2)


def _levels(
    table: NDArray[np.float64], changed: Sequence[int | None]
) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
    """The batches of each run before and after, without those beside the change, one of which holds it."""
    before, after = [], []
    for own, at in zip(table, changed, strict=True):
        end = len(own) if at is None else max(at - 1, 0)
        begin = len(own) if at is None else at + 1
        before += [own[:end]] if end else []
        after += [own[begin:]] if begin < len(own) else []
    return before, after


def _apart(before: Sequence[NDArray[np.float64]], after: Sequence[NDArray[np.float64]]) -> bool:
    """Whether the levels are farther apart than one level is wide (Ashman's D, 1994)."""
    if not before or not after:
        return False
    one, other = np.concatenate(before), np.concatenate(after)
    if min(len(one), len(other)) < HOLDS:
        return False
    width = math.sqrt((one.var(ddof=1) + other.var(ddof=1)) / 2)
    return bool(abs(one.mean() - other.mean()) > SEPARATION * width)
