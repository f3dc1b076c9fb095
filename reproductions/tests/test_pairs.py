"""Paired comparisons: runs with the same motion, or at the same place."""

import math

import numpy as np
import pytest
from chappe.stats import Estimate, difference, ratio
from chappe_papers.judging.judge import judge, less, more
from chappe_papers.statistics.pairs import Paired, mean_of
from scipy.stats import ttest_rel


def drawn(seed: int, gain: float) -> tuple[Paired, Paired]:
    """Ten units that differ by a factor of four; paired values differ by 5 %."""
    draw = np.random.default_rng(seed)
    units = np.linspace(100, 400, 10)
    a, b = (g * units * draw.normal(1, 0.05, 10) for g in (gain, 1.0))
    return Paired.at(dict(enumerate(a.tolist()))), Paired.at(dict(enumerate(b.tolist())))


def test_a_mean_of_units_is_one_of_independent_values() -> None:
    e = Paired.at({3: 5.0, 1: 1.0, 2: math.nan})
    assert e.values == ((1, 1.0), (3, 5.0))
    assert (e.mean, e.variance, e.df) == (3.0, 4.0, 1)


def test_pairs_decide_what_means_do_not() -> None:
    a, b = drawn(1, 1.2)
    assert difference(a, b).half_width() > difference(a, b).mean, "units differ by more than what is compared"
    assert abs(a.over(b).mean - ratio(a, b).mean) < 1e-9
    assert a.over(b).half_width() < ratio(a, b).half_width() / 5
    assert judge([more("", a, b)]).supports == 1
    assert judge([less("", a, b)]).contradicts == 1
    d = a.minus(b)
    told = ttest_rel([v for _, v in a.values], [v for _, v in b.values])
    assert d.mean / math.sqrt(d.variance) == pytest.approx(told.statistic)


def test_intervals_of_ratios_cover_the_true_value() -> None:
    inside = 0
    for seed in range(400):
        low, high = (lambda e: e.interval())(drawn(seed, 1.2)[0].over(drawn(seed, 1.2)[1]))
        inside += low <= 1.2 <= high
    assert 0.92 <= inside / 400 <= 0.98


def test_only_units_that_both_have_are_compared() -> None:
    a, b = Paired.at({1: 2.0, 2: 4.0, 3: 100.0}), Paired.at({1: 1.0, 2: 2.0, 4: 7.0})
    assert a.over(b).mean == 2.0
    assert a.minus(b).mean == 1.5
    assert math.isnan(a.over(Paired.at({9: 1.0})).mean)


def test_a_mean_over_speeds_keeps_its_units() -> None:
    e = mean_of([Paired.at({1: 1.0, 2: 3.0}), Paired.at({1: 3.0, 2: 5.0, 3: 9.0})])
    assert isinstance(e, Paired)
    assert e.values == ((1, 2.0), (2, 4.0))
    plain = mean_of([Estimate(1.0, 0.01, 9), Estimate(3.0, 0.03, 4)])
    assert (plain.mean, plain.variance, plain.df) == (2.0, 0.01, 4)
