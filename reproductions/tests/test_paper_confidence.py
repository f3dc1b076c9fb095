"""Every function of the package of the papers checks that a confidence lies between 0 and 1."""

from collections.abc import Callable
from typing import Any

import chappe_papers
import numpy as np
import pytest
from chappe import stats
from chappe.stats import quantiles as order
from chappe_papers.ramarathinam2003.consistency import Resampled
from chappe_papers.statistics import best_subset, quotients, ranks
from chappe_papers.statistics.quotients import Quotient
from test_confidence import SOME, WRONG, takers

MEDIAN = order.Quantile.at(SOME)
ESTIMATE = stats.Estimate.of(SOME)
CHOSEN = best_subset.choose({1.0: SOME * 2, 2.0: SOME * 2})
CALLS: dict[str, Callable[[Any], object]] = {
    "Among.half_width": lambda c: best_subset.Among.of_choice(CHOSEN).half_width(c),
    "Among.interval": lambda c: best_subset.Among.of_choice(CHOSEN).interval(c),
    "choose": lambda c: best_subset.choose({1.0: SOME * 2}, confidence=c),
    "Times.half_width": lambda c: ranks.Times.of(MEDIAN, MEDIAN).half_width(c),
    "Times.interval": lambda c: ranks.Times.of(MEDIAN, MEDIAN).interval(c),
    "Quotient.half_width": lambda c: Quotient.between(ESTIMATE, ESTIMATE).half_width(c),
    "interval_of": lambda c: quotients.interval_of(ESTIMATE, c),
    "Quotient.interval": lambda c: Quotient.between(ESTIMATE, ESTIMATE).interval(c),
    "Resampled.half_width": lambda c: Resampled.around(1.0, np.array(SOME)).half_width(c),
    "Resampled.interval": lambda c: Resampled.around(1.0, np.array(SOME)).interval(c),
}


def test_every_confidence_is_checked() -> None:
    assert takers(chappe_papers) == set(CALLS)
    for call in CALLS.values():
        call(0.9)
        call(np.float32(0.9))
        for confidence in WRONG:
            with pytest.raises(ValueError, match="it must lie between 0 and 1"):
                call(confidence)
