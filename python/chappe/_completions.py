"""Completion times of which some are known only to be longer than the run."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def mean_and_quantiles(
    completed: NDArray[np.float64], unfinished: NDArray[np.float64], quantiles: Sequence[float]
) -> list[float]:
    """Mean and quantiles by Kaplan and Meier (JASA 53, 1958).

    Without unfinished ones, they are the mean and the smallest time that the share has reached. The mean does not
    extend beyond the longest time, so that it is too small if this one is unfinished.

    Args:
        completed: Completion times.
        unfinished: Times from the start to the end of the run of those that have not completed.
        quantiles: Shares, from 0 to 1.

    Returns:
        The mean, then the quantiles; NaN for what was not reached.
    """
    if not len(completed):
        return [math.nan] * (1 + len(quantiles))
    if not len(unfinished):
        return [float(completed.mean()), *(float(np.quantile(completed, q, method="inverted_cdf")) for q in quantiles)]
    # Takes longer to load than most runs take.
    from scipy.stats import CensoredData, ecdf

    function = ecdf(CensoredData(uncensored=completed, right=unfinished)).sf
    times, left = function.quantiles, function.probabilities
    end = max(float(completed.max()), float(unfinished.max()))
    widths = np.diff([0.0, *times, end])
    mean = float(np.concatenate([[1.0], left]) @ widths)
    # 1e-12 against rounding of the products.
    reached = [np.flatnonzero(1 - left >= q - 1e-12) for q in quantiles]
    # The function has a step at each time, also where one is unfinished.
    steps = np.isin(times, completed)
    found = [next((float(times[k]) for k in at if steps[k]), math.nan) for at in reached]
    return [mean, *found]
