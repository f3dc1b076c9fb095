"""Intervals of skewed, few and rare values, doubts, and tests of batches: by SciPy, and on values of known mean."""

import math
import pickle
from collections.abc import Callable

import chappe
import numpy as np
import pytest
from chappe.measures import Totals
from chappe.results.completions import mean_and_quantiles
from chappe.stats import (
    Estimate,
    Jackknife,
    Pooled,
    Skewed,
    beyond_t,
    combined,
    difference,
    doubts,
    exact_rate,
    exact_share,
    quantile_t,
    serial_p,
    spread,
    trend_p,
)
from chappe.stats.quantiles import Quantile
from chappe.study.analysis.analysis import Sample, pooled
from chappe.text import estimate
from command import REPOSITORY
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import betainccinv, betaincinv, gammainccinv, gammaincinv, ndtr, ndtri, stdtrit
from scipy.stats import CensoredData, binomtest, chi2, combine_pvalues, ecdf, f, f_oneway, kendalltau, kstest, skew

Draw = np.random.Generator
samples = st.lists(st.floats(0.01, 1e3), min_size=3, max_size=20)


def of(values: NDArray[np.float64]) -> Pooled:
    return Totals.of("goodput_bps", np.stack([values, np.ones(len(values))], axis=1), runs=True).pooled


# ---- formulas ----


@pytest.mark.parametrize("df", [0.5, 1, 1.3, 2, 4, 9.5, 29, 99, 1000, 1e6])
@pytest.mark.parametrize("tail", [0.4, 0.025, 0.005, 1e-8])
def test_student_t_is_that_of_scipy(df: float, tail: float) -> None:
    expected = -float(stdtrit(df, tail))
    assert quantile_t(1 - 2 * tail, df) == pytest.approx(expected, rel=1e-8)
    assert beyond_t(expected, df) == pytest.approx(tail, rel=1e-8)
    assert beyond_t(-expected, df) == pytest.approx(1 - tail, rel=1e-8)


def test_student_t_of_infinite_degrees_of_freedom_is_normal() -> None:
    assert quantile_t(0.95, math.inf) == pytest.approx(float(ndtri(0.975)))
    assert beyond_t(9, math.inf) == pytest.approx(float(ndtr(-9)))
    assert beyond_t(0, 3) == 0.5
    assert beyond_t(math.inf, 3) == 0


@pytest.mark.parametrize("events", [1, 5.5, 31, 500, 10_000, 1_000_000])
@pytest.mark.parametrize("confidence", [0.2, 0.95, 0.99, 0.999998])
def test_exact_intervals_are_those_of_scipy(events: float, confidence: float) -> None:
    tail = (1 - confidence) / 2
    assert exact_rate(events, 1, confidence) == pytest.approx(
        (float(gammaincinv(events, tail)), float(gammainccinv(events + 1, tail))), rel=1e-8
    )
    for others in (1, 3.5, 1000, 1_000_000):
        assert exact_share(events, events + others, confidence) == pytest.approx(
            (float(betaincinv(events, others + 1, tail)), float(betainccinv(events + 1, others, tail))), rel=1e-8
        )


@given(samples)
def test_skewness_is_that_of_scipy(values: list[float]) -> None:
    if np.ptp(values) > 1e-3 * max(values):
        of_mean = skew(values, bias=False) / math.sqrt(len(values))
        assert Estimate.of(values).skewness == pytest.approx(of_mean, rel=1e-6, abs=1e-6)


def test_skewness_of_equal_or_few_values_is_none() -> None:
    assert [Estimate.of(v).skewness for v in ([1.0, 2.0], [0.1] * 9, [1e9 + 0.1] * 7)] == [0.0] * 3


@given(samples, st.floats(0.5, 0.999))
def test_an_interval_contains_that_of_student(values: list[float], confidence: float) -> None:
    e, student = of(np.array(values)), Estimate.of(values)
    low, high = e.interval(confidence)
    least, most = student.interval(confidence)
    slack = 1e-9 * max(values)
    assert low <= max(least, 0.0) + slack
    assert high >= most - slack
    assert low >= 0
    assert e.half_width(confidence) == pytest.approx((high - low) / 2)


def test_the_correction_for_skewness_by_hand() -> None:
    """Mean 3, s^2 = 13.375, G1 = 2.1658; t = 2.7764 for 4 degrees of freedom; a = G1 / (6 sqrt(5)) = 0.16143."""
    values = np.array([1.0, 1.0, 1.5, 2.0, 9.5])
    e = of(values)
    error, a = math.sqrt(np.var(values, ddof=1) / 5), skew(values, bias=False) / (6 * math.sqrt(5))
    low = 3 - 2.776445 * error
    high = 3 - error * (np.cbrt(1 - 6 * a * (2.776445 + a)) - 1) / (2 * a)
    assert high > 3 + 2 * 2.776445 * error
    # No end is farther than twice that of Student.
    high = 3 + 2 * 2.776445 * error
    assert e.interval() == pytest.approx((max(low, 0), high), rel=1e-6)
    mirrored = Pooled(-e.mean, e.variance, e.df, skewness=-e.skewness)
    assert mirrored.interval() == pytest.approx((-high, -low), rel=1e-6)
    # With a quarter of this skewness the correction is smaller.
    a /= 4
    less = Skewed(3.0, error**2, 4, skewness=6 * a)
    high = 3 - error * (np.cbrt(1 - 6 * a * (2.776445 + a)) - 1) / (2 * a)
    assert less.interval() == pytest.approx((low, high), rel=1e-6)
    assert high > 3 + 1.3 * 2.776445 * error


def test_two_values_have_the_interval_of_student() -> None:
    assert of(np.array([5.0, 5.1])).interval() == pytest.approx(Estimate.of([5.0, 5.1]).interval())
    assert all(math.isnan(x) for x in (*of(np.array([5.0])).interval(), of(np.array([5.0])).half_width()))


@pytest.mark.parametrize("events", [0, 1, 7, 400])
def test_rates_have_the_interval_of_garwood(events: int) -> None:
    low, high = exact_rate(events, 2.0)
    assert low == pytest.approx(chi2.ppf(0.025, 2 * events) / 4 if events else 0)
    assert high == pytest.approx(chi2.ppf(0.975, 2 * events + 2) / 4)


def test_a_rate_in_nothing_is_unknown() -> None:
    assert all(math.isnan(end) for events in (0, 3) for end in exact_rate(events, 0.0))


def test_probabilities_have_the_interval_of_clopper_and_pearson() -> None:
    for k, n in ((0, 5), (3, 10), (10, 10)):
        assert exact_share(k, n) == pytest.approx(tuple(binomtest(k, n).proportion_ci(method="exact")), abs=1e-12)
    assert exact_share(12, 10) == exact_share(10, 10)


def test_no_event_has_an_upper_bound() -> None:
    """Four runs of 300 packets without a timeout: 3.689 events in 0.12 ten thousands."""
    rows = np.array([[0.0, 0.03]] * 4)
    assert Totals.of("timeouts_per_10000", rows, runs=True).pooled.interval() == pytest.approx(
        (0, 3.6889 / 0.12), rel=1e-4
    )
    low, high = Totals.of("link_drop_probability", np.array([[0.0, 300.0]] * 4), runs=True).pooled.interval()
    assert (low, high) == pytest.approx((0, 1 - 0.025 ** (1 / 1200)))
    # Events that cluster in few runs leave the wider interval of the runs.
    clustered = Totals.of("timeouts_per_10000", np.array([[0.0, 1.0]] * 9 + [[500.0, 1.0]]), runs=True).pooled
    assert clustered.interval()[1] > 2 * exact_rate(500, 10.0)[1]


def test_an_index_stays_between_its_limits() -> None:
    each = np.array([0.51, 0.99, 0.52])
    e = Totals.of("jain_index", np.stack([each, np.ones(3)], axis=1), 2, runs=True).pooled
    assert e.interval() == (0.5, 1.0)
    swept = chappe.sweep(str(REPOSITORY / "scenarios/cross.toml"), {"run.stop": ["220 delivered"]}, seeds=3)
    (row,) = swept.summary("jain_index").to_dicts()
    assert 1 / len(swept.table("flows")["flow"].unique()) <= row["ci_low"] < row["ci_high"] <= 1


def test_no_flow_has_more_goodput_than_the_fastest_rate() -> None:
    # Two flows of up to 11 Mbit/s.
    bits = np.array([[21e6, 1.0], [21e6, 1.0], [1e6, 1.0]])
    assert Totals.of("goodput_bps", bits, 2, runs=True).pooled.interval()[1] > 22e6
    assert Totals.of("goodput_bps", bits, 2, 11e6, runs=True).pooled.interval()[1] == 22e6
    assert Totals.of("goodput_bps of tcp", bits, 2, 11e6, runs=True).pooled.interval()[1] == 22e6
    # A queue behind a hole is delivered at once: then there is no end.
    assert Totals.of("goodput_bps", bits, 1, 11e6, runs=True).pooled.interval()[1] > 22e6
    # The goodput of an interrupted flow varies from batch to batch.
    wire = {
        "run": {"stop": "10 s", "batches": 5, "warmup_batches": 0},
        "topology": {"kind": "none", "wired_nodes": 2},
        "wired_link": [{"src": 0, "dst": 1, "rate": "3 Mbit/s", "delay": "5 ms"}],
        "flow": [{"src": 0, "dst": 1, "stop": "6 s"}],
    }
    (row,) = chappe.run(wire).summary("goodput_bps").to_dicts()
    assert row["ci_high"] == 3e6
    (row,) = chappe.sweep(wire, seeds=1).summary(["goodput_bps"]).to_dicts()
    assert row["ci_high"] == 3e6
    faster = {"at": "9 s", "action": "set", "setting": "wired_link.0.rate", "value": "3.2 Mbit/s"}
    (row,) = chappe.run({**wire, "event": [faster]}).summary("goodput_bps").to_dicts()
    assert row["ci_high"] == 3.2e6
    driven = chappe.start(wire)
    driven.set("wired_link.0.rate", "3.1 Mbit/s")
    driven.run_until("10 s")
    for results in (driven.results(), pickle.loads(pickle.dumps(driven.results()))):
        (row,) = results.summary("goodput_bps").to_dicts()
        assert row["ci_high"] > 3.2e6
    # Goodput of short flows counts, their number is not known.
    short = {"arrival_process": [{"src": 0, "dst": 1, "rate": 1.0}]}
    (row,) = chappe.run({**wire, **short}).summary("goodput_bps").to_dicts()
    assert row["ci_high"] > 3.2e6


def test_the_interval_of_a_pool_ends_at_the_widest_limits() -> None:
    bits = np.array([[2e6, 1.0], [1e6, 1.0]])
    slow, fast = (Totals.of("goodput_bps", n * bits, 1, n * 2e6, runs=True) for n in (1, 10))
    for pair in ((slow, fast), (fast, slow)):
        samples = [Sample({"rate": n, "kind": 0}, [1, 2], totals) for n, totals in enumerate(pair)]
        (sample,) = pooled(samples, ["rate"])
        assert sample.totals.limits == (0, 2e7)


def test_ends_are_printed_where_sides_differ() -> None:
    assert estimate({"estimate": 0.0, "ci_low": 0.0, "ci_high": 30.74}) == "0 (0 to 31)"
    assert estimate({"estimate": 10.0, "ci_low": 8.0, "ci_high": 12.2}) == "10.0 (8.0 to 12.2)"
    assert estimate({"estimate": 10.0, "ci_low": 7.96, "ci_high": 12.01}) == "10.0 ± 2.0"
    assert estimate({"estimate": 2780.0, "ci_low": 1503.0, "ci_high": 4688.0}) == "2,780 (1,503 to 4,688)"
    # Sides that differ by a rounding error, on both sides of 2.25.
    assert estimate({"estimate": 10.0, "ci_low": 7.75 + 1e-12, "ci_high": 12.25}) in ("10.0 ± 2.2", "10.0 ± 2.3")
    assert estimate({"estimate": 1e4, "ci_low": 9e3, "ci_high": 1.5e4}, 1e-3) == "10.0 (9.0 to 15.0)"
    assert estimate({"estimate": 5.0, "ci_low": 5.0, "ci_high": 5.0 + 1e-12}) == "5.000"
    assert estimate({"estimate": 5.0, "ci_low": None, "ci_high": None}) == "5.000"


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30), st.floats(0, 1))
def test_quantiles_are_those_of_numpy(values: list[float], q: float) -> None:
    assert Quantile.at(values, q).mean == pytest.approx(np.quantile(values, q), rel=1e-12, abs=1e-9)


# ---- tests of batches and runs ----


@given(st.lists(st.integers(0, 6), min_size=5, max_size=25).filter(lambda x: len(set(x)) > 1))
def test_a_trend_is_that_of_kendall(values: list[int]) -> None:
    expected = kendalltau(range(len(values)), values, method="asymptotic").pvalue
    assert trend_p(np.array(values, dtype=float)) == pytest.approx(expected)


def test_tests_of_too_few_or_equal_values_are_unknown() -> None:
    assert all(
        math.isnan(p) for p in (trend_p([1.0] * 9), trend_p([1, 2, 3, 4]), serial_p([1.0] * 9), serial_p([1, 2, 3]))
    )


def test_the_ratio_of_von_neumann() -> None:
    """By hand: 1, 2, 4, 3 has squared differences 1 + 4 + 1 = 6, squares about the mean 5: (0.6 - 1) / sqrt(2 / 15)."""
    assert serial_p([1.0, 2.0, 4.0, 3.0]) == pytest.approx(0.13666, abs=5e-5)
    assert serial_p([1.0, -1.0] * 5) > 0.99
    assert serial_p([-1.0] * 5 + [1.0] * 5) < 0.01


@pytest.mark.parametrize("n", [5, 7, 10, 30])
def test_neighbors_are_tested_at_their_level(n: int) -> None:
    """4 standard errors of 5 % in 3,000 are 1.6 %; probabilities are uniform."""
    rng = np.random.default_rng(n)
    for draw in (rng.normal, rng.exponential):
        p = [serial_p(x) for x in draw(size=(3000, n))]
        assert np.mean(np.array(p) < 0.05) == pytest.approx(0.05, abs=0.016)
    assert kstest(p, "uniform").statistic < 0.1


def test_neighbors_that_are_alike_are_found() -> None:
    """A limit of 2 / sqrt(n) would find 6 % of these, and none with seven batches or fewer."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(1000, 10))
    for i in range(1, 10):
        x[:, i] = 0.6 * x[:, i - 1] + 0.8 * x[:, i]
    assert np.mean([serial_p(v) < 0.05 for v in x]) > 0.35
    assert np.mean([serial_p(v[:6]) < 0.05 for v in x]) > 0.15


def test_runs_are_compared_with_their_batches() -> None:
    """With equal numbers of batches, the F test is the analysis of variance."""
    runs = np.random.default_rng(2).normal(size=(4, 10)) + np.arange(4)[:, None]
    each = [Estimate.of(list(batches)) for batches in runs]
    times, p = spread([e.mean for e in each], [e.variance for e in each], 9)
    expected = f_oneway(*runs)
    assert (times, p) == pytest.approx((expected.statistic, expected.pvalue))
    # A run without a variance promises nothing.
    of_three = f.sf(times, 3, 3 * 9)
    promised = float(np.mean([e.variance for e in each]))
    assert spread([e.mean for e in each], [promised] * 3, 9) == pytest.approx((times, of_three))
    for unknown in (spread([1.0], [1.0], 9), spread([1.0, 2.0], [0.0, 0.0], 9), spread([1.0, 2.0], [], 9)):
        assert all(math.isnan(x) for x in unknown)


# ---- doubts ----


def test_doubts_about_runs() -> None:
    normal = np.random.default_rng(3).normal(10, 1, 30)
    assert doubts.of_runs(13, 0, of(normal[:13])) == "few runs"
    assert doubts.of_runs(30, 0, of(normal)) is None
    assert doubts.of_runs(30, 0, of(np.full(30, 7.0))) == "no spread"
    assert doubts.of_runs(30, 1, of(normal)) == "undefined runs"
    assert doubts.of_runs(5, 5, of(np.array([1.0, 1.0, 1.0, 1.0, 9.0]))) == "few runs, undefined runs"
    low = of(np.where(np.arange(30) < 2, 4.0, 10.0) + 0.01 * normal)
    high = of(np.where(np.arange(30) < 2, 16.0, 10.0) + 0.01 * normal)
    assert doubts.of_runs(30, 5, low) == "skewed low, undefined runs"
    assert doubts.of_runs(30, 0, high) == "skewed high"
    # Of a difference with another sign.
    assert doubts.of_runs(30, 0, Skewed.by(difference(of(normal), high))) == "skewed low"
    assert doubts.of_runs(4, 0, of(np.full(4, 7.0))) == "few runs, no spread"
    assert doubts.of_runs(30, 0, Totals.of("timeouts_per_10000", np.array([[0.0, 0.1]] * 30), runs=True).pooled) is None


def test_batches_of_one_run_are_always_doubtful() -> None:
    assert doubts.of_batches(doubts.tests_of([3.0, 1.0, 4.0, 1.0, 5.0, 2.0, 6.0, 1.0]), short=False) == "one run"
    rising = doubts.of_batches(doubts.tests_of(list(range(10))), short=True)
    assert rising == "one run, short batches, correlated, trend"
    assert set(rising.split(", ")) | {
        "few runs",
        "skewed high",
        "skewed low",
        "no spread",
        "undefined runs",
    } == set(doubts.MEANING)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_p_values_are_combined_as_by_fisher(p: list[float]) -> None:
    with np.errstate(divide="ignore"):
        expected = combine_pvalues(p, method="fisher").pvalue
    assert combined(p) == pytest.approx(expected, abs=1e-12)
    assert combined([math.nan, *p]) == combined(p)
    assert math.isnan(combined([math.nan]))


@pytest.mark.parametrize("points", [1, 8])
def test_independent_batches_are_rarely_warned_of(points: int) -> None:
    """26 tests of a run mark 1.3 rows on average, and warn in one of twenty runs, or studies."""
    rng, trials, marked, warned = np.random.default_rng(8), 400, 0, 0
    for _ in range(trials):
        tests = {str(m): [doubts.tests_of(rng.normal(size=10)) for _ in range(points)] for m in range(13)}
        words = [doubts.of_batches(t, False) for of_points in tests.values() for t in of_points]
        marked += sum(text.count(",") for text in words)
        warned += any(doubts.certain(tests).values())
    assert marked / trials / points == pytest.approx(1.3, rel=0.15)
    # 4 standard errors.
    assert 0.005 < warned / trials < 0.05 + 4 * math.sqrt(0.05 * 0.95 / trials)


def test_what_many_runs_show_is_certain() -> None:
    """Batches with a weak correlation, which few runs show."""
    rng = np.random.default_rng(9)
    x = rng.normal(size=(40, 10))
    for i in range(1, 10):
        x[:, i] += 0.4 * x[:, i - 1]
    tests = {"a": [doubts.tests_of(v) for v in x], "b": [doubts.tests_of(v) for v in rng.normal(size=(40, 10))]}
    assert doubts.certain(tests) == {"correlated": ["a"], "trend": []}
    # A single run with strong trend among many without.
    tests["b"][3] = doubts.tests_of(np.arange(10.0) + 0.1 * rng.normal(size=10))
    assert doubts.certain({"b": tests["b"][:5]})["trend"] == ["b"]


def test_doubts_bounds_and_quantiles_of_a_summary() -> None:
    chain = chappe.Scenario.chain(3, stop="110 delivered", extends="ns2-2.35")
    for seeds, doubt in ((3, "few runs"), (14, None)):
        (row,) = chappe.sweep(chain, seeds=seeds).summary().to_dicts()
        assert row["unseen"] == pytest.approx(1 - 0.05 ** (1 / seeds))
        assert (row["doubt"] == "few runs") == (doubt is not None)
        assert (row["q10"], row["q90_low"]) == (None, None)
        if seeds < 6:
            assert row["median"] is None
        else:
            assert row["median_low"] <= row["median"] <= row["median_high"]
    (row,) = chappe.sweep(chain).summary().to_dicts()
    assert row["doubt"].startswith("one run, short batches")
    assert row["unseen"] is None


# ---- coverage ----

CASES: dict[str, tuple[Callable[[Draw, tuple[int, int]], NDArray[np.float64]], float]] = {
    "normal": (lambda rng, s: rng.normal(1, 0.1, s), 1.0),
    "exponential": (lambda rng, s: rng.exponential(size=s), 1.0),
    "lognormal": (lambda rng, s: rng.lognormal(0, 1, s), math.exp(0.5)),
}


@pytest.mark.parametrize("case", CASES)
def test_intervals_cover_skewed_means(case: str) -> None:
    """At least nominal for normal values, 90 % for skewed ones; Student's t covers 82 to 90 % of the latter."""
    draw, truth = CASES[case]
    rng, trials = np.random.default_rng(5), 1500
    for n in (10, 20):
        held = 0
        for x in draw(rng, (trials, n)):
            student = Estimate.of(x)
            e = Skewed.by(student)
            low, high = e.interval()
            held += low <= truth <= high
        assert held / trials > (0.95 - 4 * math.sqrt(0.05 * 0.95 / trials) if case == "normal" else 0.90)


def test_wrong_intervals_of_heavy_tails_are_marked() -> None:
    """Fewer than one interval of ten, of a distribution without a variance, is wrong and has no mark."""
    rng, trials = np.random.default_rng(6), 1000
    for n in (10, 14, 30):
        silent = 0
        for x in 1 + rng.pareto(1.5, (trials, n)):
            e = of(x)
            low, high = e.interval()
            silent += not low <= 3 <= high and doubts.of_runs(n, 0, e) is None
        assert silent / trials < 0.1 + 2 * math.sqrt(0.1 * 0.9 / trials)
    normal = [doubts.of_runs(30, 0, of(x)) for x in rng.normal(10, 1, (trials, 30))]
    assert len(normal) - normal.count(None) < 0.01 * trials


# ---- completion times ----


def test_unfinished_flows_count() -> None:
    """By hand: of 5 the steps are 4/5, 3/5, and after the unfinished one at 3 a half of that."""
    done, unfinished = np.array([1.0, 2.0, 4.0]), np.array([3.0, 5.0])
    mean, *found = mean_and_quantiles(done, unfinished, [0.0, 0.2, 0.4, 0.5, 0.7, 0.9])
    assert mean == pytest.approx(1 + 0.8 + 2 * 0.6 + 0.3)
    assert found[:5] == [1, 1, 2, 4, 4]
    assert math.isnan(found[5])
    curve = ecdf(CensoredData(uncensored=done, right=unfinished)).cdf
    assert [curve.evaluate(t) for t in (1, 2, 4)] == pytest.approx([0.2, 0.4, 0.7])


def test_without_unfinished_flows_times_are_those_of_all() -> None:
    done = np.array([3.0, 1.0, 2.0, 4.0])
    assert mean_and_quantiles(done, np.empty(0), [0.0, 0.5, 0.75, 1.0]) == [2.5, 1, 2, 3, 4]
    assert all(math.isnan(x) for x in mean_and_quantiles(np.empty(0), done, [0.5]))


def test_completion_times_of_cut_off_runs_are_hardly_too_short() -> None:
    """Flows of lognormal length, in runs four times as long as their mean: those completed alone have 6.4 s."""
    rng, means = np.random.default_rng(9), []
    truth = math.exp(math.log(5) + 0.5)
    for _ in range(100):
        n = rng.poisson(120)
        start, length = rng.uniform(0, 60, n), rng.lognormal(math.log(5), 1, n)
        done = start + length <= 60
        means.append(mean_and_quantiles(length[done], (60 - start)[~done], [])[0])
        assert length[done].mean() <= means[-1]
    assert np.mean(means) == pytest.approx(truth, rel=0.03)


def test_an_unfinished_file_counts() -> None:
    flows = [{"src": 0, "dst": 1, "bulk": {"bytes": size}} for size in ("100 kB", "100000 kB")]
    run = {"stop": "20 s", "batches": 1, "warmup_batches": 0}
    r = chappe.run(chappe.Scenario({"run": run, "topology": {"hops": 1}, "flow": [*flows, {"src": 0, "dst": 1}]}))
    (row,) = r.completions().to_dicts()
    assert (row["began"], row["completed"], row["p99_s"]) == (2, 1, None)
    assert row["mean_s"] > row["p50_s"]


def test_files_that_never_end_do_not_count() -> None:
    """They start after the end of the run, or are stopped before it; a later stop changes nothing."""
    run = {"stop": "20 s", "batches": 1, "warmup_batches": 0}
    unfinished = {"src": 0, "dst": 1, "bulk": {"bytes": "100000 kB"}}
    late = [{"start": "25 s"}, {"stop": "19.999 s"}, {"duration": "19.999 s"}, {}]
    flows = [{**unfinished, **changes} for changes in (*late, {"stop": "21 s"}, {"duration": "21 s"}, {})]
    settings = {"run": run, "topology": {"hops": 1}, "flow": flows}
    settings["event"] = [{"at": "19.999 s", "action": "flow_stop", "flow": 3}]
    results = chappe.run(chappe.Scenario(settings))
    assert results.flows["completion_time_s"].is_null().all()
    (row,) = results.completions().to_dicts()
    assert (row["began"], row["completed"]) == (3, 0)
    settings["event"] = [{"at": "5 s", "action": "flow_stop", "flow": n} for n in range(4, 7)]
    assert chappe.run(chappe.Scenario(settings)).completions()["began"].item() == 4


def test_unfinished_files_of_an_entry_with_several_flows_count() -> None:
    """An entry from two nodes to two is four flows; random flows follow, and have the settings of `bulk`."""
    run = {"stop": "20 s", "batches": 1, "warmup_batches": 0, "max_memory": "1 GB"}
    file = {"src": [0, 1], "dst": [2, 3], "bulk": {"bytes": "100000 kB"}}
    endless = {"src": 0, "dst": 1}
    settings = {"run": run, "topology": {"hops": 3}, "flow": [endless, file], "traffic": {"flows": 2}}
    scenario = chappe.Scenario(settings)
    (row,) = chappe.run(scenario).completions().to_dicts()
    assert (row["what"], row["began"], row["completed"], row["mean_s"]) == ("flows", 4, 0, None)
    limited = scenario.with_settings({"bulk.segments": 1_000_000, "flow.1.bulk.segments": "unlimited"})
    (row,) = chappe.run(limited).completions().to_dicts()
    assert row["began"] == 7
    udp = scenario.with_settings({"flow.0.app": "cbr", "traffic.app": "cbr"})
    assert chappe.run(udp).completions()["began"].to_list() == [4]


def test_the_jackknife_itself_keeps_student() -> None:
    units = np.array([[1.0, 2.0], [3.0, 1.0], [2.0, 2.0]])
    assert type(Jackknife.of(units).estimate) is Estimate
