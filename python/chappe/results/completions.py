"""Completion times of which some are known only to be longer than the run."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def mean_and_quantiles(
    completed: NDArray[np.float64], unfinished: NDArray[np.float64], quantiles: Sequence[float]
) -> list[float]:
    """Mean and quantiles by the product limit of Kaplan and Meier (JASA 53, 1958).

    Without unfinished ones, they are the mean and the smallest time that the share has reached. The mean does not
    extend beyond the longest time, so that it is too small if this one is unfinished. ``scipy.stats.ecdf`` is equal,
    but loading ``scipy.stats`` takes longer than most runs.

    Args:
        completed: Completion times.
        unfinished: Times from the start to the end of the run of those that have not completed.
        quantiles: Shares, from 0 to 1.

    Returns:
        The mean, then the quantiles; NaN for what was not reached.
    """
    if not len(completed):
        return [math.nan] * (1 + len(quantiles))
    times, number = np.unique(completed, return_counts=True)
    # A transfer that is unfinished at a time was not finished at that time.
    all_times = np.sort(np.concatenate([completed, unfinished]))
    at_risk = len(all_times) - np.searchsorted(all_times, times)
    left = np.cumprod(1 - number / at_risk)
    widths = np.diff([0.0, *times, all_times[-1]])
    mean = float(np.concatenate([[1.0], left]) @ widths)
    # 1e-12 against rounding of the products.
    reached = [np.flatnonzero(1 - left >= q - 1e-12) for q in quantiles]
    return [mean, *(float(times[at[0]]) if len(at) else math.nan for at in reached)]
