"""Judgment of claims on random numbers: decisions and error rates."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from chappe.stats import Estimate, Share
from chappe.stats.quantiles import Quantile
from chappe_papers import reproduce
from chappe_papers.judging.claims import Claim
from chappe_papers.judging.judge import (
    LEVEL,
    MUCH,
    Answer,
    Observation,
    Size,
    above,
    among,
    below,
    equal,
    fewer,
    judge,
    less,
    lies,
    more,
    never,
)
from chappe_papers.judging.words import Verdict
from chappe_papers.pages import page
from chappe_papers.reproduce import CLAIM_COLUMNS, claim_rows
from chappe_papers.runs.estimates import Estimates
from chappe_papers.statistics.best_subset import Among
from chappe_papers.statistics.counted import Counted, exact, ratio, times
from chappe_papers.statistics.pairs import Paired
from chappe_papers.statistics.ranks import Times
from scipy.stats import binom, binomtest


def estimate(mean: float, half_width: float) -> Estimate:
    """Degrees of freedom for which Student's t is 1.96."""
    return Estimate(mean, (half_width / 1.959964) ** 2, 1e12)


def observation(
    check: bool | None, paper: tuple[float | None, float] | None = None, effect: float = 1.0
) -> Observation:
    p_supports, p_contradicts = {True: (0.0, 1.0), False: (1.0, 0.0), None: (1.0, 1.0)}[check]
    return Observation("here", estimate(effect, 1e-6), p_supports, p_contradicts, paper)


@pytest.mark.parametrize(
    ("mean", "half_width", "value", "expected"),
    [(10, 1, 8, True), (10, 1, 12, False), (10, 1, 10.5, None), (10, 1, 9.5, None), (0, 0, 0, None), (-3, 1, -5, True)],
)
def test_a_single_point_is_decided_by_the_interval(
    mean: float, half_width: float, value: float, expected: bool | None
) -> None:
    e = estimate(mean, half_width)
    assert judge([above("", e, value)]).checks == (expected,)
    assert judge([below("", e, value)]).checks == (None if expected is None else not expected,)


@pytest.mark.parametrize(
    ("mean", "half_width", "expected"),
    [(4.5, 0.5, True), (3.4, 0.01, True), (3.2, 0.01, False), (6.0, 0.1, False), (3.5, 0.5, None), (4.5, 5.0, None)],
)
def test_a_range_is_that_of_the_paper_give_or_take_reading(
    mean: float, half_width: float, expected: bool | None
) -> None:
    assert judge([lies("", estimate(mean, half_width), 3.5, 5.5)]).checks == (expected,)


def test_compared_quantities() -> None:
    one, two = estimate(1, 0.1), estimate(2, 0.1)
    assert judge([more("", two, one), less("", one, two), fewer("", one, two)]).checks == (True, True, True)
    assert judge([more("", one, two), less("", two, one), fewer("", two, one)]).checks == (False, False, False)
    assert judge([equal("", one, estimate(1.01, 1e-3)), equal("", one, two)]).checks == (None, False)
    assert judge([equal("", estimate(1, 1e-3), estimate(1.02, 1e-3))]).checks == (True,)
    assert judge([more("", two, one)]).effects == "+100 %"
    assert judge([fewer("", one, two)]).effects == "50 %"
    # A single occurrence contradicts, whatever the interval.
    assert judge([never("", estimate(0, 0)), never("", estimate(0.1, 5))]).checks == (True, False)
    assert never("", Estimate.of([0.0] * 3)).p_supports == 0.25
    assert judge([never("", Estimate.of([0.0] * 3)), never("", Estimate.of([0.0] * 10))]).checks == (None, True)


def test_nothing_is_decided_by_a_number_without_an_interval() -> None:
    unknown = Estimate.of([3.0])
    for c in (above("", unknown, 1), below("", unknown, 5), lies("", unknown, 2, 4), more("", unknown, unknown)):
        assert judge([c]).checks == (None,)
        assert judge([c, above("", estimate(2, 0.1), 1)]).checks == (None, True)


def test_shares_and_choices_and_medians() -> None:
    half = Share.of([1.0] * 12 + [0.0] * 12)
    assert judge([above("", half, 0.2), below("", half, 0.8), above("", half, 0.45)]).checks == (True, True, None)
    best = Among(35.5, math.nan, 0, 35.25, 36.0)
    assert judge([lies("", best, 35.7, 35.7), lies("", best, 30, 31)]).checks == (True, False)
    assert judge([lies("", Among(35.5, math.nan, 0, 30.0, 36.0), 35.7, 35.7)]).checks == (None,)
    small, large = Quantile.at([1.0 + i / 100 for i in range(20)]), Quantile.at([3.0 + i / 100 for i in range(20)])
    assert judge([more("", large, small), above("", small, 0.9), below("", small, 1.5)]).checks == (True, True, True)
    assert judge([above("", Times.of(large, small), 1.5), above("", Times.of(large, small), 4)]).checks == (True, False)
    low, high = Times.of(large, small).interval()
    assert low < large.mean / small.mean < high


def test_a_single_run_of_a_paper() -> None:
    runs = Quantile.at([100.0 + i for i in range(1, 41)])
    assert judge([among("", runs, 120.0)]).checks == (True,)
    assert judge([among("", runs, 150.0)]).checks == (False,)
    # By rank among 41; 3 of 40 runs are more extreme, and half of the outer 5 % would be one.
    assert among("", runs, 150.0).p_contradicts == pytest.approx(2 / 41)
    assert among("", runs, 138.0).p_supports == pytest.approx(2 * binom.sf(2, 40, 0.025))
    assert among("", runs, 150.0).p_supports == 1
    # Even a number that is much more or much less would be like them, so that agreement says nothing.
    wide = judge([among("", Quantile.at([float(i) for i in range(1, 401)]), 200.0)])
    assert wide.observations[0].is_blunt
    assert wide.verdict is Verdict.OPEN
    assert wide.reported == "undecided: one run of the paper could be 11.0 to 390"
    narrow = judge([among("", Quantile.at([200 + i / 4 for i in range(400)]), 250.0)])
    assert not narrow.observations[0].is_blunt
    assert narrow.verdict is Verdict.CONFIRMED
    # Intervals outside contradict, however wide they are.
    assert judge([among("", wide.observations[0].effect, 1000.0)]).verdict is Verdict.OPPOSITE
    # Together with what is really undecided it is undecided.
    assert judge([*wide.observations, more("", Estimate(1.1, 0.1, 9), Estimate(1, 0.1, 9))]).verdict is Verdict.OPEN
    # Fewer runs give no 95 % prediction interval for one run, and forty runs none for two.
    assert judge([among("", Quantile.at([1.0, 2.0, 3.0]), 50.0)]).checks == (None,)
    assert judge([among("", runs, 150.0), among("", runs, 160.0)]).checks == (None, None)


@pytest.mark.parametrize(
    ("effects", "paper", "size"),
    [
        ([1.2, 1.5, 1.8], (1.15, 1.83), Size.INSIDE),
        ([1.1, 1.9], (1.15, 1.83), Size.INSIDE),
        ([1.2, 2.0], (1.15, 1.83), Size.LARGER),
        ([1.0, 1.5], (1.15, 1.83), Size.SMALLER),
        ([1.0, 2.0], (1.15, 1.83), Size.BOTH),
        ([1.0, 1.8], (None, 1.83), Size.INSIDE),
        ([1.0, 1.2], (None, 1.83), Size.SMALLER),
        ([1.0, 2.0], (None, 1.83), Size.LARGER),
    ],
)
def test_sizes(effects: list[float], paper: tuple[float | None, float], size: Size) -> None:
    answer = judge([observation(True, paper, e) for e in effects])
    assert answer.size is size
    assert answer.verdict is (Verdict.CONFIRMED if size is Size.INSIDE else Verdict.SIZE)


def test_the_word_of_a_size_tells_of_the_effect() -> None:
    """For a claimed decrease, a smaller ratio is a larger effect."""
    one, slightly = estimate(1, 1e-6), (0.9, 1.0)
    for value, size, word in (
        (0.95, Size.INSIDE, "inside"),
        (0.5, Size.LARGER, "larger"),
        (1.2, Size.SMALLER, "smaller"),
    ):
        answer = judge([less("", estimate(value, 1e-6), one, slightly)])
        assert answer.size is size
        assert answer.sized == f"size {word} (paper -10 to +0 %)"
    assert judge([more("", estimate(1.5, 1e-6), one, (1.0, 1.1))]).sized == "size larger (paper +0 to +10 %)"
    assert judge([more("", estimate(1.5, 1e-6), one, (None, 1.2))]).sized == "size larger (paper up to +20 %)"
    assert judge([fewer("", estimate(0.1, 1e-6), one, (0.5, 0.6))]).sized == "size larger (paper 50 to 60 %)"
    # Claims that fail have a size, too.
    opposite = judge([more("", estimate(0.5, 1e-6), one, (MUCH, math.inf))])
    assert (opposite.verdict, opposite.sized) == (Verdict.OPPOSITE, "size smaller (paper at least +50 %)")


def test_a_size_that_is_not_known_is_open() -> None:
    wide = Observation("here", estimate(1.5, 2.0), 0.0, 1.0, (1.15, 1.83))
    assert judge([wide]).size is Size.OPEN
    assert judge([wide]).verdict is Verdict.CONFIRMED
    assert judge([observation(True)]).size is None


def test_groups_are_conditions() -> None:
    yes, no, open_ = observation(True), observation(False), observation(None)
    answer = judge([yes.of("A"), yes.of("A"), no.of("B"), no.of("B")])
    assert answer.reported == "mixed: holds in A; not in B"
    assert judge([yes.of("A"), no.of("B"), open_.of("C")]).reported == "mixed: holds in A; not in B"
    # Points without groups are their own conditions.
    places = [replace(o, where=f"{h} hops") for h, o in ((4, yes), (5, yes), (6, no), (7, no))]
    assert judge(places).reported == "mixed: holds at 4 and 5 hops; not at 6 and 7 hops"
    assert judge(places[:2]).verdict is Verdict.CONFIRMED
    assert judge([]).verdict is Verdict.OPEN


def test_every_sub_claim_must_hold() -> None:
    """Twelve points of one sub-claim do not outweigh three of another."""
    one, other = [observation(True)] * 12, [observation(False).called("of the fall")] * 3
    answer = judge([*one, *other], first="the gain")
    assert answer.reported == "mixed: the gain: confirmed; of the fall: opposite"
    assert answer.counts == "12/3/0"
    assert judge([*one, *[observation(None).called("of the fall")] * 3]).verdict is Verdict.OPEN
    assert judge([*one, *[observation(True).called("of the fall")] * 3]).verdict is Verdict.CONFIRMED
    assert judge([*other, *other]).verdict is Verdict.OPPOSITE


def test_what_contradicts_says_the_opposite_or_has_no_effect() -> None:
    one = estimate(1, 1e-6)

    def decisions(*observations: Observation) -> list[str]:
        return [d.decision.value for d in judge(observations).decided]

    assert decisions(more("", estimate(1.01, 0.01), one)) == ["no effect"]
    assert decisions(more("", estimate(0.98, 0.01), one)) == ["opposite"]
    # At the level of all points together.
    assert decisions(*[more("", estimate(0.98, 0.015), one)] * 40) == ["no effect"] * 40
    assert decisions(less("", estimate(0.99, 0.008), one), less("", estimate(1.2, 0.01), one)) == [
        "no effect",
        "opposite",
    ]
    assert decisions(fewer("", estimate(0.99, 0.02), one), fewer("", estimate(1.2, 0.02), one)) == [
        "no effect",
        "opposite",
    ]
    # No effect is too small if any difference counts, nor for values and ranges.
    assert decisions(more("", estimate(0.999, 1e-4), one, smallest=0.0)) == ["opposite"]
    assert decisions(above("", estimate(0.999, 1e-4), 1), lies("", estimate(2, 0.1), 3, 4)) == ["opposite"] * 2


def test_numbers_that_chose_are_no_tests() -> None:
    chose = replace(observation(False), chose=True)
    answer = judge([chose, observation(True)])
    assert (answer.checks, answer.verdict) == ((None, True), Verdict.CONFIRMED)
    assert judge([chose, chose]).verdict is Verdict.CHOSE
    sized = judge([replace(observation(True, (2.0, 3.0)), chose=True), observation(True)])
    assert (sized.size, sized.verdict) == (None, Verdict.CONFIRMED)


# ---- random data ----


def drawn(
    rng: np.random.Generator,
    effect: float,
    points: int,
    runs: int = 10,
    deviation: float = 1.0,
    paper: tuple[float, float] | None = None,
) -> Answer:
    """A claim of an increase from 10 by `effect` at each point; runs have this deviation."""
    observations = []
    for _ in range(points):
        a, b = rng.normal(10 + effect, deviation, runs), rng.normal(10, deviation, runs)
        observations.append(more("", Estimate.of(a), Estimate.of(b), paper))
    return judge(observations)


def test_no_more_than_one_claim_in_twenty_has_a_wrong_point() -> None:
    """Without an effect no point supports; with the smallest effect that counts, 5 % or half of the paper's, none
    contradicts."""
    rng = np.random.default_rng(1)
    n, highest = 600, LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / 600)
    nothing = [drawn(rng, 0.0, 10).checks for _ in range(n)]
    assert sum(True in checks for checks in nothing) / n < highest
    assert sum(False in drawn(rng, 0.5, 10).checks for _ in range(n)) / n < highest
    paper = (1.2, 1.5)
    assert sum(False in drawn(rng, 1.0, 10, paper=paper).checks for _ in range(n)) / n < highest
    # Also where all effects are certain to be positive.
    for least, of in ((0.5, None), (1.0, paper)):
        exactly = [drawn(rng, least, 40, deviation=0.05, paper=of).checks for _ in range(n // 2)]
        assert all(True in checks for checks in exactly)
        # One side has half of the level.
        assert binom.sf(sum(False in checks for checks in exactly) - 1, n // 2, LEVEL / 2) > 0.001
    # The rate without adjustment would be one in five.
    alone = np.random.default_rng(1)
    single = sum(any(drawn(alone, 0.0, 1).checks[0] is True for _ in range(10)) for _ in range(200))
    assert single / 200 > 0.15


def test_a_difference_that_is_too_small_is_none() -> None:
    """40 runs decide, within 5 %, that there is no difference."""
    rng = np.random.default_rng(4)
    answers = [drawn(rng, 0.0, 3, runs=40, deviation=0.3) for _ in range(50)]
    assert all(answer.reported == "no effect above 5 % (Chappe's)" for answer in answers)
    bounds = [re.fullmatch(r"no gain above (\d(?:\.\d+)?) %", answer.bound) for answer in answers]
    assert all(bound is not None and float(bound[1]) <= 5 for bound in bounds)


def test_an_effect_needs_half_of_the_size_of_the_paper() -> None:
    one = estimate(1, 1e-6)

    def gain(value: float, paper: tuple[float | None, float] | None = (1.2, 1.8)) -> Answer:
        return judge([more("", estimate(value, 0.01), one, paper)])

    assert gain(1.5).verdict is Verdict.CONFIRMED
    assert gain(1.12).verdict is Verdict.SIZE
    assert gain(1.05).reported == "no effect above 10 % (half of the paper's)"
    assert gain(1.05).bound == "no gain above 6 %"
    assert gain(1.10).verdict is Verdict.SIZE
    # "Up to" and no number need 5 %.
    assert gain(1.03, None).reported == gain(1.03, (None, 1.8)).reported == "no effect above 5 % (Chappe's)"
    assert gain(1.03, None).bound == gain(1.03, (None, 1.8)).bound == "no gain above 4 %"
    # The opposite needs no bound.
    assert (gain(0.9).reported, gain(0.9).bound) == ("opposite", "")
    assert judge([less("", estimate(0.95, 0.01), one, (0.2, 0.8))]).bound == "no reduction above 6 %"
    assert judge([fewer("", estimate(0.95, 0.01), one, (0.2, 0.8))]).bound == "no reduction above 6 %"
    # The bound holds for all contradicting points together.
    low, middle = more("", estimate(1.01, 0.01), one), more("", estimate(1.03, 0.01), one)
    assert judge([low, middle]).bound == "no gain above 4 %"
    high = more("", estimate(1.3, 0.01), one)
    assert judge([low, middle, high]).bound == "no gain above 4 % at 2 of 3 points"
    # An effect of the other sign needs no bound, nor does almost none.
    opposite = more("", estimate(0.8, 0.15), one)
    assert judge([opposite]).checks == (False,)
    assert judge([opposite] * 20 + [more("", estimate(0.7, 0.01), one)]).bound == ""
    assert judge([more("", estimate(0.99, 0.008), one)]).bound == ""


def test_what_is_tested_is_what_is_shown() -> None:
    """The interval of a quotient excludes a value exactly if the point is decided at this value."""
    rng = np.random.default_rng(6)
    for _ in range(200):
        a, b = (Estimate.of(rng.normal(rng.normal(10, 1), 2, 6)) for _ in range(2))
        for e in (more("", a, b).effect, fewer("", a, b).effect):
            low, high = e.interval(1 - LEVEL)
            assert low <= e.mean <= high
            for value in (0.7, 0.9, 1.0, 1.1, 1.3):
                assert (above("", e, value).p_supports < LEVEL) == (value < low)
                assert (below("", e, value).p_supports < LEVEL) == (value > high)


def test_a_quotient_of_pairs_is_that_of_their_units() -> None:
    rng = np.random.default_rng(7)
    unit = rng.normal(10, 5, 30)
    a = Paired.at(dict(enumerate(unit * 1.1 + rng.normal(0, 0.1, 30))))
    b = Paired.at(dict(enumerate(unit)))
    assert judge([more("", a, b)]).checks == (True,)
    low, high = more("", a, b).effect.interval()
    assert low < 1.1 < high < 1.12
    assert judge([more("", Estimate(a.mean, a.variance, a.df), Estimate(b.mean, b.variance, b.df))]).checks == (None,)


def test_a_quotient_whose_divisor_may_be_zero_is_of_any_size() -> None:
    low, high = more("", estimate(1, 0.1), estimate(0.1, 0.2)).effect.interval()
    assert (low, high) == (0, math.inf)
    assert judge([more("", estimate(1, 0.1), estimate(0.1, 0.2))]).checks == (True,)


def test_true_effects_are_found() -> None:
    rng = np.random.default_rng(2)
    assert all(drawn(rng, 4.0, 10).verdict is Verdict.CONFIRMED for _ in range(50))
    assert all(drawn(rng, -4.0, 10).verdict is Verdict.OPPOSITE for _ in range(50))


def test_an_exception_among_many_is_found() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        observations = [*drawn(rng, 5.0, 9).observations, *drawn(rng, -5.0, 1).observations]
        assert judge(observations).verdict is Verdict.MIXED


def test_nothing_fails_that_open_points_could_turn() -> None:
    """Five contradicting points of eleven decide nothing, six do, with short runs as with others."""
    for short in (False, True):
        five, six = ([observation(False)] * n + [observation(None)] * (11 - n) for n in (5, 6))
        assert judge(five, short).verdict is Verdict.OPEN
        assert judge(six, short).verdict is Verdict.OPPOSITE


def verdicts_of_both(rng: np.random.Generator) -> tuple[Verdict, Verdict]:
    """Verdicts on a claim over eight points with different true effects, from full and from short runs."""
    effects = rng.normal(rng.normal(0, 1), 0.5, 8)
    verdicts = []
    for error, short in ((0.05, False), (0.15, True)):
        values = [(rng.normal(10 + effect, error), rng.normal(10, error)) for effect in effects]
        observations = [more("", Estimate(a, error**2, 29), Estimate(b, error**2, 29)) for a, b in values]
        verdicts.append(judge(observations, short).verdict)
    return verdicts[0], verdicts[1]


def test_short_runs_rarely_contradict_long_ones() -> None:
    rng = np.random.default_rng(5)
    both = [verdicts_of_both(rng) for _ in range(1000)]
    opposite = sum((short.fails and full.confirms) or (full.fails and short.confirms) for full, short in both)
    assert opposite <= 10
    assert sum(short is not Verdict.OPEN for _, short in both) > 300


def test_sub_claims_at_one_place_are_separate_rows() -> None:
    at = [above("8 hops", Estimate(mean, 0.01, 9), 1.0) for mean in (2.0, 3.0, 4.0)]
    answer = judge([at[0], at[1].called("of loss"), at[2].called("of loss")])
    claim = Claim("P0-F1-1", "it is more", "IV", lambda _: at)
    rows = [
        dict(zip(CLAIM_COLUMNS, row, strict=True))
        for row in claim_rows([claim], {claim.id: answer}, {claim.id: judge(at[:1])})
    ]
    assert [(row["where"], row["effect"], row["unit"], row["ns2_effect"]) for row in rows] == [
        ("8 hops", "2", "", "2"),
        ("8 hops", "3", "of loss", ""),
        ("8 hops", "4", "of loss", ""),
    ]


@pytest.mark.parametrize(("k", "n", "value"), [(1, 3, 0.06), (2, 10, 0.04), (0, 5, 0.1), (10, 10, 0.7), (5, 24, 0.2)])
def test_shares_are_judged_exactly(k: int, n: int, value: float) -> None:
    """Wilson's test gave 0.046 and 0.0098 for the first two, whose exact probabilities are 0.34 and 0.12."""
    e = Share.of([1.0] * k + [0.0] * (n - k))
    for side, p in (("greater", above("", e, value).p_supports), ("less", below("", e, value).p_supports)):
        assert p == pytest.approx(min(1, 2 * binomtest(k, n, value, alternative=side).pvalue))
    # The interval is the inversion of the test.
    low, high = e.interval()
    assert (above("", e, value).p_supports < 0.05) == (value < low)
    assert (below("", e, value).p_supports < 0.05) == (value > high)
    assert (above("", e, -0.1).p_supports, above("", e, 1.0).p_supports) == (0, 1)


def test_wrong_shares_are_rarely_judged() -> None:
    """A nominal error of 2.5 % for every share; that of Wilson's test was up to 17 %."""
    for n in (3, 5, 10, 24):
        shares = [Share.of([1.0] * k + [0.0] * (n - k)) for k in range(n + 1)]
        for value in np.linspace(0.02, 0.98, 25):
            rejected = [k for k, e in enumerate(shares) if above("", e, value).p_supports < 0.05]
            assert binom.pmf(rejected, n, value).sum() <= 0.025


def test_equal_values_are_judged_by_their_signs() -> None:
    """Three equal values above 0 have the probability 1 / 4 of the sign test; ten decide."""
    assert above("", Estimate.of([1.0] * 3), 0).p_supports == 0.25
    assert above("", Estimate.of([1.0] * 10), 0).p_supports == pytest.approx(2 / 2**10)
    assert below("", Estimate.of([1.0] * 10), 0).p_supports == 1


def test_the_page_states_conditions_and_possible_effect_sizes() -> None:
    yes, no = observation(True), observation(False)
    assert reproduce._remarks(judge([yes.of("A"), no.of("B")])) == ["mixed: holds in A; not in B"]
    split = judge([yes, no.called("(Westwood)")], first="ECN")
    assert reproduce._remarks(split) == ["ECN 1/0/0: confirmed", "Westwood 0/1/0: opposite"]
    assert reproduce._remarks(replace(split, hangs="RED"))[0] == "depends on RED"
    assert reproduce._remarks(judge([no, no])) == []
    claim = Claim("S-1", "ECN and Westwood lose less", "5", lambda _: ())
    told = reproduce.judged(claim, split, "1/1/0", "no runs")
    assert (told.verdict, told.parts) == ("mixed", (("ECN", "1/0/0", "confirmed"), ("Westwood", "0/1/0", "opposite")))
    assert page.claims_table([told])[2:] == [
        "| S-1 | ECN and Westwood lose less | 1/1/0 | no runs | **mixed** |",
        "|  | ECN | 1/0/0 |  | confirmed |",
        "|  | Westwood | 0/1/0 |  | opposite |",
        "",
    ]
    assert reproduce.judged(claim, replace(split, hangs="RED"), "", "").verdict == "depends on RED"
    assert reproduce.judged(claim, judge([yes.of("A"), no.of("B")]), "", "").verdict == "mixed: holds in A; not in B"
    small = judge([more("5 hops", estimate(1.01, 0.01), estimate(1, 1e-6))])
    assert reproduce._remarks(small) == ["no effect above 5 % (Chappe's)", "no gain above 2 %"]


def test_doubts_about_decided_points_are_counted() -> None:
    """Ten runs are few, and so are three in thirty batches; a stall among twenty skews; ranks are in no doubt."""
    rng = np.random.default_rng(1)
    few, many, stalled = (Estimate.of([*rng.normal(10, 0.1, n), *last]) for n, last in ((10, []), (20, []), (19, [5])))
    of_batches = Counted.by(Estimate(10.0, 0.001, 29), 3)
    said = {
        "few": more("few", few, Estimate(5.0, 0.001, 39)),
        "many": more("many", many, Estimate(5.0, 0.001, 39)),
        "stalled": more("stalled", many, stalled),
        "batches": more("batches", many, times(ratio(of_batches, exact(2.0)), 0.9)),
        "median": above("median", Quantile.at(rng.normal(10, 0.1, 8)), 5),
        "equal": above("equal", Estimate.of([7.0] * 20), 5),
        "open": more("open", few, Estimate(10.0, 1.0, 9)),
    }
    claim = Claim("C-1", "all is more", "1", lambda _: said.values())
    doubts = {o.where: o.doubt for o in claim.observations(Estimates({}))}
    assert doubts == {"few": "few runs", "many": "", "stalled": "skewed high", "batches": "few runs", "median": "",
                      "equal": "no spread", "open": "few runs"}  # fmt: skip
    a = claim.judged(Estimates({}))
    assert (a.supports, a.contradicts, a.open) == (5, 0, 2)
    assert a.doubts == {"few runs": 2, "no spread": 1}
    assert reproduce.judged(claim, a, "5/0/2", "").doubt == "few runs 2, no spread 1"
    [row] = [r for r in claim_rows([claim], {"C-1": a}, {"C-1": claim.judged(Estimates({}))}) if "batches" in r]
    shown = dict(zip(CLAIM_COLUMNS, row, strict=True))
    assert (shown["runs"], shown["doubt"]) == (3, "few runs")
