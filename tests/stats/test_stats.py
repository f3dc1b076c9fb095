"""Statistics: checked with textbook tables and an independent implementation."""

import math
import statistics

import numpy as np
import pytest
import skewed
from chappe.stats import (
    Estimate,
    Jackknife,
    Share,
    Skewed,
    beyond_t,
    difference,
    fisher,
    holm,
    if_equal,
    jain_index,
    jain_of_totals,
    lag1,
    mser5,
    paired,
    quantile,
    quantile_t,
    ratio,
    serial_p,
    student_p,
    total,
    unpaired,
)
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, fisher_exact, mannwhitneyu, ttest_1samp, ttest_ind, ttest_rel

BATCHES = [312.4, 305.9, 318.2, 309.7, 311.1, 307.3, 315.0, 310.6, 308.8, 313.5]

values = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20)
means = st.floats(-1e6, 1e6).filter(lambda x: abs(x) > 1e-3)
estimates = st.builds(Estimate, means, st.floats(1e-6, 1e6), st.integers(1, 100))


# Two-sided 95 % quantiles of Student's t, as printed in the tables of every textbook.
@pytest.mark.parametrize(
    ("df", "t"), [(1, 12.706), (2, 4.303), (4, 2.776), (9, 2.262), (19, 2.093), (29, 2.045), (49, 2.010), (1e9, 1.960)]
)
def test_quantiles_of_student_t(df: float, t: float) -> None:
    assert quantile_t(0.95, df) == pytest.approx(t, abs=5e-4)


def test_other_confidences() -> None:
    assert quantile_t(0.99, 9) == pytest.approx(3.250, abs=5e-4)
    assert quantile_t(0.90, 9) == pytest.approx(1.833, abs=5e-4)
    assert math.isnan(quantile_t(0.95, 0))


def test_the_interval_of_batch_means() -> None:
    """Mean, standard deviation 3.67915 and t = 2.262157 by hand: 2.262157 * 3.67915 / sqrt(10) = 2.63190."""
    e = Estimate.of(BATCHES)
    assert e.df == 9
    assert e.mean == pytest.approx(311.25)
    assert math.sqrt(e.variance * 10) == pytest.approx(3.67915, abs=5e-6)
    assert e.half_width() == pytest.approx(2.63190, abs=5e-6)
    assert e.interval() == pytest.approx((308.61810, 313.88190), abs=1e-5)
    assert lag1(BATCHES) == pytest.approx(-0.611, abs=5e-4)


@pytest.mark.parametrize(("k", "n"), [(0, 20), (1, 20), (13, 20), (20, 20), (1, 1), (0, 2), (500, 1000)])
def test_shares_have_the_exact_interval(k: int, n: int) -> None:
    share = Share.of([1.0] * k + [0.0] * (n - k))
    for confidence in (0.95, 0.8):
        expected = binomtest(k, n).proportion_ci(confidence, method="exact")
        assert share.interval(confidence) == pytest.approx((expected.low, expected.high), abs=1e-12)
        assert share.half_width(confidence) == pytest.approx((expected.high - expected.low) / 2)
    assert share.mean == k / n


def test_a_share_of_nothing_is_unknown() -> None:
    share = Share.of([])
    assert all(math.isnan(x) for x in (share.mean, share.half_width(), *share.interval()))


def test_too_few_values() -> None:
    one, none = Estimate.of([3.0]), Estimate.of([])
    assert one.mean == 3.0
    assert math.isnan(one.half_width())
    assert math.isnan(none.mean)
    assert math.isnan(none.half_width())
    assert math.isnan(lag1([]))
    assert math.isnan(lag1([3.0]))
    assert math.isnan(lag1([3.0, 3.0, 3.0]))


@given(values)
def test_an_estimate_is_mean_and_squared_standard_error(x: list[float]) -> None:
    e = Estimate.of(x)
    assert e.mean == pytest.approx(statistics.fmean(x), rel=1e-9, abs=1e-6)
    assert e.variance == pytest.approx(statistics.variance(x) / len(x), rel=1e-6, abs=1e-6)
    low, high = e.interval()
    assert low <= e.mean <= high
    assert e.half_width(0.99) >= e.half_width(0.95) >= e.half_width(0.5)


@given(st.integers(0, 2**32), st.integers(2, 30), st.integers(2, 30), st.floats(0.1, 10))
def test_a_difference_is_that_of_welch_and_satterthwaite(seed: int, n: int, m: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(5, 1, n), rng.normal(4, spread, m)
    d = difference(Estimate.of(list(x)), Estimate.of(list(y)))
    welch = ttest_ind(x, y, equal_var=False)
    assert d.df == pytest.approx(welch.df)
    assert d.interval() == pytest.approx(tuple(welch.confidence_interval(0.95)))
    assert d.mean / math.sqrt(d.variance) == pytest.approx(welch.statistic)


@given(estimates, estimates)
def test_a_difference_has_a_mirror_image(a: Estimate, b: Estimate) -> None:
    forward, back = difference(a, b), difference(b, a)
    assert forward.mean == -back.mean
    assert forward.variance == back.variance
    assert forward.df == pytest.approx(back.df)
    assert min(a.df, b.df) * (1 - 1e-9) <= forward.df <= (a.df + b.df) * (1 + 1e-9)


@given(estimates, means)
def test_comparing_with_an_exact_number_changes_no_interval(a: Estimate, x: float) -> None:
    exact = Estimate(x, 0.0, 1)
    d = difference(a, exact)
    assert (d.mean, d.variance) == (a.mean - x, a.variance)
    assert d.df == pytest.approx(a.df)
    r = ratio(a, exact)
    assert r.mean == pytest.approx(a.mean / x)
    assert r.half_width() == pytest.approx(a.half_width() / abs(x))


@given(estimates, estimates, st.floats(0.01, 100))
def test_a_ratio_has_no_unit(a: Estimate, b: Estimate, unit: float) -> None:
    r = ratio(a, b)
    scaled = ratio(
        Estimate(a.mean * unit, a.variance * unit**2, a.df), Estimate(b.mean * unit, b.variance * unit**2, b.df)
    )
    assert (scaled.mean, scaled.variance, scaled.df) == pytest.approx((r.mean, r.variance, r.df))


@given(estimates, estimates)
def test_a_ratio_and_its_inverse_have_the_same_relative_error(a: Estimate, b: Estimate) -> None:
    forward, back = ratio(a, b), ratio(b, a)
    assert forward.mean * back.mean == pytest.approx(1)
    assert forward.variance / forward.mean**2 == pytest.approx(back.variance / back.mean**2)
    assert forward.df == pytest.approx(back.df)


def test_a_ratio_to_nothing_is_unknown() -> None:
    r = ratio(Estimate(1.0, 0.1, 4), Estimate(0.0, 0.1, 4))
    assert math.isnan(r.mean)
    assert math.isnan(r.half_width())


def test_equal_constants_do_not_differ() -> None:
    zero = Estimate.of([0.0, 0.0, 0.0])
    assert difference(zero, zero).interval() == (0.0, 0.0)


@given(values)
def test_autocorrelation_lies_between_minus_one_and_one(x: list[float]) -> None:
    rho = lag1(x)
    assert math.isnan(rho) or -1 - 1e-9 <= rho <= 1 + 1e-9
    assert lag1(x[::-1]) == pytest.approx(rho, nan_ok=True, abs=1e-9)


def test_autocorrelation_of_known_series() -> None:
    # n values +1, -1, +1, ...: n - 1 products of -1 over n squares; a step in the middle: (n - 3) / n.
    assert lag1([1, -1] * 10) == pytest.approx(-19 / 20)
    assert lag1([-1] * 10 + [1] * 10) == pytest.approx(17 / 20)


def test_intervals_have_nominal_coverage() -> None:
    """95 % of 4000 intervals from 10 normal values cover the mean; 4 standard errors of the share are 1.4 %."""
    rng = np.random.default_rng(20050101)
    trials = 4000
    inside = 0
    for x in rng.normal(7.0, 3.0, (trials, 10)):
        low, high = Estimate.of(list(x)).interval()
        inside += low <= 7.0 <= high
    assert inside / trials == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / trials))


def test_coverage_of_intervals_of_differences_and_ratios() -> None:
    """Coverage with unequal variances and numbers; the delta method is accurate for small errors."""
    rng = np.random.default_rng(20050102)
    trials = 2000
    of_difference = of_ratio = 0
    for _ in range(trials):
        a = Estimate.of(list(rng.normal(50.0, 4.0, 8)))
        b = Estimate.of(list(rng.normal(20.0, 1.0, 20)))
        low, high = difference(a, b).interval()
        of_difference += low <= 30.0 <= high
        low, high = ratio(a, b).interval()
        of_ratio += low <= 2.5 <= high
    error = 4 * math.sqrt(0.95 * 0.05 / trials)
    assert of_difference / trials == pytest.approx(0.95, abs=error)
    assert of_ratio / trials == pytest.approx(0.95, abs=error)


def test_mser5_of_a_known_series() -> None:
    """Group means 4.8, 10, 10, 10, 10, 10: z(0) = 0.62593 (22.5333 / 36) and z(1) = 0, so one group is left out."""
    series = [4.8] * 5 + [10.0] * 25
    assert mser5(series) == 5
    assert mser5([4.0, 5.0, 5.0, 5.0, 5.0, *[10.0] * 25]) == 5
    # An incomplete group does not count.
    assert mser5([*series, 1e9]) == 5


def test_mser5_leaves_out_at_most_half() -> None:
    assert mser5([0.0] * 40 + [10.0] * 20) <= 30
    assert mser5([]) == mser5([1.0, 2.0]) == 0
    assert mser5([7.0] * 50) == 0


@given(st.integers(0, 2**32), st.integers(0, 8))
def test_mser5_finds_where_a_step_ends(seed: int, groups: int) -> None:
    x = np.random.default_rng(seed).normal(100, 0.01, 100)
    x[: 5 * groups] -= 50
    assert 5 * groups <= mser5(list(x)) <= 50


def test_quantiles_of_type_7() -> None:
    """Position 1 + (n - 1) q among the ordered values: of 1..50 at 10 % the 5.9th, at 90 % the 45.1st."""
    x = list(range(50, 0, -1))
    assert quantile(x, 0.1) == pytest.approx(5.9)
    assert quantile(x, 0.9) == pytest.approx(45.1)
    assert quantile([3.0], 0.1) == 3.0
    assert math.isnan(quantile([], 0.5))


def test_adjustment_of_holm() -> None:
    """By hand, from the smallest: 4 * 0.005, 3 * 0.01, 2 * 0.03, and 1 * 0.04, which may not be less than the last."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    some = holm([math.nan, 0.02])
    assert math.isnan(some[0])
    assert some[1] == 0.02


@given(st.integers(0, 2**32), st.integers(2, 30))
def test_pairs_and_others_are_compared_as_scipy_does(seed: int, n: int) -> None:
    """Values that lie evenly on both sides of their mean have no skewness, and nor do their differences in order."""
    rng = np.random.default_rng(seed)
    x, y = (mean + np.concatenate([(d := rng.normal(0, s, n)), -d]) for mean, s in ((5, 1), (4, 2)))
    related, welch = ttest_rel(x, y), ttest_ind(x, y, equal_var=False)
    a, b = paired(list(x), list(y)), unpaired(list(x), list(y))
    assert (a.p, a.difference.df) == pytest.approx((related.pvalue, 2 * n - 1))
    assert (b.p, b.difference.df) == pytest.approx((welch.pvalue, welch.df))
    assert a.difference.interval() == pytest.approx(tuple(related.confidence_interval(0.95)))
    assert b.difference.interval() == pytest.approx(tuple(welch.confidence_interval(0.95)))
    assert b.effect == pytest.approx((x.mean() - y.mean()) / math.sqrt((x.var(ddof=1) + y.var(ddof=1)) / 2))


@given(st.integers(0, 2**32), st.integers(3, 30), st.integers(3, 30), st.floats(0.2, 3))
def test_differences_of_skewed_values_are_corrected(seed: int, n: int, m: int, level: float) -> None:
    """The larger p-value, and the farther end, of Student's t and of Hall's transformation."""
    rng = np.random.default_rng(seed)
    x, y, of_x = rng.lognormal(0, 1, n), level * rng.lognormal(0, 0.3, m), rng.lognormal(0, 1, n)
    b, a = unpaired(list(x), list(y)), paired(list(x), list(of_x))
    assert b.p == pytest.approx(skewed.p_value((1, x), (-1, y)))
    assert a.p == pytest.approx(skewed.p_value((1, x - of_x)))
    assert b.difference.skewness == pytest.approx(skewed.error((1, x), (-1, y))[3])
    for confidence in (0.9, 0.99):
        expected = skewed.ends([(1, x), (-1, y)], confidence)
        assert b.difference.interval(confidence) == pytest.approx(expected, rel=1e-6, abs=1e-9)
        # Test and interval agree.
        for c in (a, b):
            low, high = c.difference.interval(confidence)
            assert (c.p < 1 - confidence) == (not low <= 0 <= high)
    back = unpaired(list(y), list(x))
    assert (back.p, back.difference.skewness) == pytest.approx((b.p, -b.difference.skewness))


def test_a_skewness_near_none_corrects_nothing() -> None:
    """Rounding gives symmetric values a skewness of 1e-17, at which the root of 1 + 6 a t would have no digit."""
    for skewness in (1e-18, 1e-16, 1e-14, -1e-16):
        e = Skewed(1.0, 1.0, 4, skewness=skewness)
        assert e.reach() == pytest.approx((quantile_t(0.95, 4),) * 2)
        assert e.p == pytest.approx(student_p(e))


def test_probabilities_on_one_side() -> None:
    e = Skewed.by(Estimate.of([1.0, 3.0, 2.5, -0.5, 9.0]))
    assert e.p == 2 * e.p_above()
    assert e.p_above(20) > 0.99
    assert (e.p_above(math.inf), e.p_above(-math.inf)) == (1, 0)
    assert e.p_below(20) == Skewed(-e.mean, e.variance, e.df, skewness=-e.skewness).p_above(-20)
    assert [Skewed(1.0, 0.0, 3).p_above(value) for value in (0.0, 1.0)] == [0.0625, 1.0]
    assert all(math.isnan(p) for p in (Skewed.by(Estimate.of([1.0])).p, Skewed.by(Estimate.of([1.0])).p_below()))


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_equal_values_have_no_variance(n: int) -> None:
    """Rounding errors of the mean of 0.1, and of ratios of totals, made p = 2e-175 of equal settings."""
    ratios = np.array([[0.3 * k, 0.1 * k] for k in range(1, n + 1)])
    flows = np.array([[0.1 * k, 0.7 * k, 0.3 * k] for k in range(1, n + 1)])
    equal = [Jackknife.of(ratios), Jackknife.of(flows, jain_of_totals), Jackknife.mean([0.1] * n)]
    for measured in equal:
        assert measured.estimate.variance == 0
        assert len(set(measured.pseudo)) == 1
        assert math.isnan(lag1(measured.pseudo))
        assert math.isnan(serial_p(measured.pseudo))
    a, b = Jackknife.of(ratios * [1.0, 2.0]), Jackknife.of(ratios[::-1] * [2.0, 4.0])
    assert (unpaired(a, b).p, paired(a, b).p) == (1.0, 1.0)
    # A small difference of values is not an error of rounding.
    assert Estimate.of([1.0, 1.0 + 1e-9]).variance == pytest.approx(0.25e-18, rel=1e-6)


@given(st.integers(2, 12), st.integers(2, 12))
def test_equal_values_of_two_settings_are_compared_in_order(n: int, m: int) -> None:
    """Of all orders of n + m values, two have all of one setting in front."""
    separated = mannwhitneyu(range(n), range(n, n + m), method="exact").pvalue
    assert unpaired([2.0] * n, [1.0] * m).p == pytest.approx(separated)
    assert unpaired([2.0] * n, [2.0] * m).p == 1.0


def test_comparisons_without_spread() -> None:
    assert paired([1.0, 2.0], [1.0, 2.0]).p == 1.0
    # Equal signs of n differences have the probability 2^(1 - n), as in the sign test.
    for n in (2, 5, 10):
        assert paired([2.0] * n, [1.0] * n).p == pytest.approx(binomtest(n, n).pvalue)
    assert paired([2.0, 3.0], [1.0, 2.0]).effect == math.inf
    assert math.isnan(paired([1.0], [2.0]).p)


# Table VI of Su, Steenkiste and Gross (IvyNet): throughputs of four flows and the printed index.
@pytest.mark.parametrize(
    ("flows", "index"),
    [
        ((986, 443, 443, 1777), 0.7361),
        ((1008, 623, 552, 1540), 0.8492),
        ((144, 276, 278, 511), 0.8394),
        ((254, 351, 294, 460), 0.9505),
        ((8, 227, 328, 351), 0.7396),
        ((4, 48, 142, 331), 0.5218),
        ((5, 81, 190, 389), 0.5699),
        ((3, 3, 3), 1),
        ((0, 0, 7, 0, 0, 0), 1 / 6),
        ((5,), 1),
    ],
)
def test_jain_index(flows: tuple[float, ...], index: float) -> None:
    assert jain_index(flows) == pytest.approx(index, abs=5e-5)


def test_jain_index_without_any_shares() -> None:
    assert math.isnan(jain_index((0, 0)))
    assert math.isnan(jain_index(()))


@given(st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=20), st.floats(1e-3, 1e3))
def test_jain_index_does_not_depend_on_the_unit(shares: list[float], unit: float) -> None:
    index = jain_index(shares)
    assert 1 / len(shares) - 1e-9 <= index <= 1 + 1e-9
    assert jain_index([unit * s for s in shares]) == pytest.approx(index)


def test_shares_are_compared_exactly() -> None:
    """The lady tasting tea: 3 of 4 against 1 of 4."""
    assert fisher(3, 4, 1, 4) == pytest.approx(34 / 70)
    for a, of_a, b, of_b in ((0, 10, 10, 10), (5, 10, 5, 10), (0, 5, 0, 50), (1, 24, 7, 24), (17, 20, 31, 40)):
        expected = fisher_exact([[a, of_a - a], [b, of_b - b]])[1]
        assert fisher(a, of_a, b, of_b) == pytest.approx(expected)
        assert fisher(b, of_b, a, of_a) == pytest.approx(expected)


def test_probabilities_of_student() -> None:
    values = [1.0, 3.0, 2.5, -0.5, 2.0]
    assert student_p(Estimate.of(values)) == pytest.approx(ttest_1samp(values, 0).pvalue)
    assert [student_p(Estimate(mean, 0.0, 3)) for mean in (0.0, 1.0)] == [1.0, 0.125]
    assert math.isnan(student_p(Estimate.of([1.0])))
    assert beyond_t(1.96, math.inf) == pytest.approx(0.025, rel=1e-3)
    assert beyond_t(2.262, 9) == pytest.approx(0.025, rel=1e-3)


def test_sums_of_estimates() -> None:
    a, b = Estimate(10.0, 4.0, 8), Estimate(3.0, 1.0, 4)
    d = difference(a, Estimate(-b.mean, b.variance, b.df))
    assert total([a, b]) == d
    assert total([a, b], 2) == Estimate(d.mean / 2, d.variance / 4, d.df)
    # Of numbers without error nothing but their degrees of freedom is known.
    assert total([Estimate(1.0, 0.0, 3), Estimate(2.0, 0.0, 4)]) == Estimate(3.0, 0.0, 7)


def test_errors_of_equal_ratios() -> None:
    """With equal denominators those of the jackknife; with equal numerators Welch's test of the denominators."""
    rng = np.random.default_rng(5)
    a, b = rng.gamma(3, 1, 7), rng.gamma(3, 1, 9)
    over = [np.stack([x, np.full(len(x), 2.0)], axis=1) for x in (a, b)]
    for jackknife, ours in zip((Jackknife.of(units) for units in over), if_equal(*over), strict=True):
        assert ours.value == jackknife.value
        assert ours.pseudo == pytest.approx(jackknife.pseudo)
    under = [units[:, ::-1] for units in over]
    x, y = if_equal(*under)
    found = unpaired(x, y)
    assert found.difference.mean == pytest.approx(2 / a.mean() - 2 / b.mean())
    assert found.p == pytest.approx(ttest_ind(a, b, equal_var=False).pvalue)
