"""Multiple comparisons with the best: settings that cannot be the best of their group.

Hsu, *Constrained simultaneous confidence intervals for multiple comparisons with the best*, Annals of Statistics 12,
1984; with common random numbers Nelson and Matejcik, *Using common random numbers for indifference-zone selection and
multiple comparisons in simulation*, Management Science 41, 1995. Both assume equal variances; the bounds of Bonferroni
and Holm that are used here assume nothing of the kind, and they keep *all* equally good settings, where Hsu's intervals
keep any one of them with the given confidence.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chappe.stats import holm


def not_best(worse: Sequence[NDArray[np.float64]], error: float) -> list[list[bool]]:
    """Settings that are significantly worse than the best of their group.

    A setting is not the best if any other is better. The smallest of the k - 1 probabilities is therefore multiplied by
    k - 1 (Bonferroni), and the results of all settings of all groups are one family (Holm).

    Args:
        worse: For each group one-sided p-values of the hypothesis that the setting of the row is as good as the setting
            of the column; 1 on the diagonal and where unknown.
        error: Probability of excluding any setting that is as good as the best.
    """
    # A setting without others is the best.
    smallest = [min(1.0, (len(p) - 1) * float(row.min())) if len(p) > 1 else 1.0 for p in worse for row in p]
    adjusted = iter(holm(smallest))
    return [[next(adjusted) < error for _ in p] for p in worse]
