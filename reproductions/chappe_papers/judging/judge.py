"""Judging a claim: the decision at each of several points, its size, and the verdict that follows.

Every test stands here once, every word in :mod:`chappe_papers.judging.words`; ``reproductions/docs/papers.md`` has
both.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

from chappe.stats import Estimate, Share, Skewed, doubts, equal_signs, holm
from chappe.stats.quantiles import Quantile, rank_p

from chappe_papers.judging.words import Decided, Decision, Verdict, Word, word
from chappe_papers.statistics.best_subset import Among
from chappe_papers.statistics.counted import runs_of
from chappe_papers.statistics.quotients import Quotient, interval_of
from chappe_papers.statistics.ranks import Times

LEVEL = 0.05
"""Probability that any of the decided points of a claim is decided wrongly (Holm)."""

SHORT_LEVEL = 0.01
"""Level of short runs: with some sixty claims, less than one point of all is wrong."""

READING = 0.05
"""Error of a number of the paper: read from a figure, or rounded in a sentence. A share of the number."""

ALMOST_EQUAL = 0.05
"""Two values are "almost equal", "very similar", "equal", "the same", "as good as" when they differ by at most this
share."""

SLIGHTLY = 0.10
"""Something is "slightly" more or less, "similar", "near", "about", when it differs by at most this share."""

MUCH = 1.5
"""Something is "much", "significantly", "substantially", "considerably" more, or rises "sharply", from this ratio on;
"much less" is the reciprocal."""

SMALLEST = 0.05
"""Smallest effect that a claim needs if its paper has no number, Chappe's: less is "almost equal"."""

HALF = 0.5
"""Share of the smallest effect of the paper that a claim needs: a smaller effect has another size, a still smaller one
is none."""

Check = bool | None
"""True if a point agrees with the paper; ``None`` when it is undecided."""


class Size(Enum):
    """Size of an effect compared with the range of the paper."""

    INSIDE = "inside"
    LARGER = "larger"
    SMALLER = "smaller"
    BOTH = "larger and smaller"
    OPEN = "undecided"


@dataclass(frozen=True)
class Form:
    """Format of an effect: ``scale`` times the value, plus ``offset``, with a unit."""

    scale: float = 1.0
    offset: float = 0.0
    unit: str = ""
    signed: bool = False
    places: int | None = None

    def number(self, value: float) -> str:
        """A value without its unit."""
        value = value * self.scale + self.offset
        if math.isnan(value) or math.isinf(value):
            return "-" if math.isnan(value) else f"{value:g}"
        places = self.places
        if places is None:
            places = max(0, min(3, 2 - math.floor(math.log10(abs(value))))) if value else 0
        text = f"{value:{'+' if self.signed else ''},.{places}f}"
        # No "-0".
        return text.replace("-", "+" if self.signed else "") if not any(c in "123456789" for c in text) else text

    def text(self, low: float, high: float) -> str:
        """A value or a range with its unit."""
        a, b = self.number(low), self.number(high)
        return f"{a if a == b else f'{a} to {b}'}{f' {self.unit}' if self.unit else ''}"


GAIN = Form(100, -100, "%", signed=True, places=0)
"""A ratio as what one has more than the other."""

PERCENT = Form(100, unit="%", places=0)
"""A share."""

TIMES = Form(unit="times")
"""A ratio as it is."""

PLAIN = Form()
"""A value as it is."""


@dataclass(frozen=True)
class Observation:
    """An observation of a claim at one point.

    Attributes:
        where: The point, in words.
        effect: The quantity compared with the number of the paper.
        p_supports: Probability (two-sided) of such numbers if the statement were false.
        p_contradicts: Probability (two-sided) of such numbers if the statement were true.
        paper: The range that the paper gives, or one number twice; ``None`` for the lower end: "up to" the upper.
        form: Format of the effect.
        group: Group of the point: a layout, a placement, a variant.
        sub_claim: Name of the sub-claim; the first one has no name.
        fall: True if the claim says that something is less: a smaller value is then a larger effect.
        test: The test: that the effect is ``more`` or ``less`` than `limits`, ``inside`` of them, or ``never`` there;
            empty for tests of ranks, single runs and resamples.
        limits: The value that must be passed, and the one that contradicts: of a difference its value without an
            effect, and the smallest effect that counts; of a range its ends.
        of_paper: True if the smallest effect is half of the paper's, false if it is :data:`SMALLEST`.
        among: Middle 95 % of single runs, one of which is compared with the paper's; ``None`` for other claims.
        chose: True if it compares numbers that have chosen the model, so that it judges nothing.
        doubt: Reasons to doubt its test, see :func:`doubt_of`; empty without any.
    """

    where: str
    effect: Estimate
    p_supports: float
    p_contradicts: float
    paper: tuple[float | None, float] | None = None
    form: Form = PLAIN
    group: str = ""
    sub_claim: str = ""
    fall: bool = False
    test: str = ""
    limits: tuple[float, float] = (math.nan, math.nan)
    of_paper: bool = False
    among: tuple[float, float] | None = None
    chose: bool = False
    doubt: str = ""

    @property
    def needed(self) -> float:
        """The smallest effect that counts; 0 for claims without one."""
        return abs(self.limits[1] - self.limits[0]) if self.test in ("more", "less") else 0.0

    @property
    def least(self) -> str:
        """The smallest effect in words, and whose it is."""
        if not self.needed:
            return ""
        size = f"{float(f'{self.needed * self.form.scale:.3g}'):g} {self.form.unit.split(' ')[0]}".rstrip()
        return f"{size} ({'half of the paper' if self.of_paper else 'Chappe'}'s)"

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval within what the quantity can be: only a gain, or another difference, can be negative."""
        low, high = interval_of(self.effect)
        return (low if self.form.signed else max(low, 0.0)), high

    @property
    def p_opposite(self) -> float:
        """Probability (two-sided) of such an effect if it is not on the other side of none."""
        return _above(self.effect, self.limits[0]) if self.test == "less" else _below(self.effect, self.limits[0])

    @property
    def is_blunt(self) -> bool:
        """True if single runs spread so far that one with much more and one with much less would also be like them."""
        return self.among is not None and self.among[0] * MUCH < self.effect.mean < self.among[1] / MUCH

    def called(self, what: str) -> "Observation":
        """A copy as an observation of another sub-claim, with its name."""
        form = replace(self.form, unit=f"{self.form.unit} {what}".strip())
        return replace(self, form=form, sub_claim=what) if what else self

    def of(self, group: str) -> "Observation":
        """A copy as an observation of a group, whose name is put before the place."""
        return replace(self, group=group, where=f"{group}, {self.where}" if self.where else group)

    @property
    def beyond(self) -> tuple[float, float]:
        """Probabilities of such a value when the effect is not larger than the paper's range, and not smaller."""
        assert self.paper is not None
        low, high = _widened(self.paper[1] if self.paper[0] is None else self.paper[0], self.paper[1])
        over, under = _above(self.effect, high), _below(self.effect, low)
        return (under, over) if self.fall else (over, under)


def _above(e: Estimate, value: float) -> float:
    """Probability (two-sided) of such an estimate when the quantity is not above a value."""
    from scipy.special import bdtr

    if value == math.inf:
        return 1.0
    if isinstance(e, Times):
        return e.p(value)
    if isinstance(e, Quotient):
        return min(2 * e.beyond(value).p_above(), 1.0)
    if isinstance(e, Among):
        # The best value was chosen at the level of the choice.
        return 0.0 if e.low > value else 1.0
    if isinstance(e, Quantile):
        return min(1.0, 2 * float(bdtr(sum(v <= value for v in e.ordered), len(e.ordered), e.q)))
    if isinstance(e, Share):
        return _share_above(e, value)
    return min(2 * Skewed.by(e).p_above(value), 1.0)


BY_T = ("more", "less", "inside")
"""Kinds of tests by Student's t, where the quantity is a mean or a quotient of means."""

UNKNOWN = "unknown"
"""Doubt about a point of which the number of runs or the skewness is not known."""


def doubt_of(o: Observation) -> str:
    """Reasons to doubt a test by Student's t, in the words of :mod:`chappe.stats.doubts`; empty for other tests."""
    e = o.effect
    if o.test not in BY_T or isinstance(e, Times | Quantile | Among | Share):
        return ""
    tested, runs = e.beyond(e.mean) if isinstance(e, Quotient) else Skewed.by(e), runs_of(e)
    return UNKNOWN if math.isnan(runs) else doubts.of_runs(int(runs), 0, tested) or ""


def _share_above(e: Share, value: float) -> float:
    """Probability for a share: the exact binomial test, whose inversion is the interval of Clopper and Pearson."""
    from scipy.special import bdtrc

    if math.isnan(e.mean):
        return math.nan
    successes, trials = round(e.mean * (e.df + 1)), e.df + 1
    if not 0 <= value < 1:
        return 0.0 if value < 0 else 1.0
    return min(1.0, 2 * float(bdtrc(successes - 1, trials, value))) if successes else 1.0


def _below(e: Estimate, value: float) -> float:
    """Probability of such an estimate if the true value is not below a value."""
    from scipy.special import bdtr

    if isinstance(e, Times):
        return e.inverse().p(1 / value) if value else 1.0
    if isinstance(e, Quotient):
        return 0.0 if value == math.inf else min(2 * e.beyond(value).p_below(), 1.0)
    if isinstance(e, Among):
        return 0.0 if e.high < value else 1.0
    if isinstance(e, Quantile):
        return min(1.0, 2 * float(bdtr(sum(v >= value for v in e.ordered), len(e.ordered), 1 - e.q)))
    if isinstance(e, Share):
        return _above(Share(1 - e.mean, e.variance, e.df), 1 - value)
    return min(2 * Skewed.by(e).p_below(value), 1.0)


Range = tuple[float | None, float]

AT_LEAST_MUCH: Range = (MUCH, math.inf)
"""The range of a ratio that the paper calls "much" without a number."""


def about(value: float) -> tuple[float, float]:
    """The range that "about" or "near" a number means: give or take :data:`SLIGHTLY`."""
    return value * (1 - SLIGHTLY), value * (1 + SLIGHTLY)


def above(where: str, e: Estimate, value: float, paper: Range | None = None, form: Form = PLAIN) -> Observation:
    """A quantity is above a value."""
    return _beyond(Observation(where, e, math.nan, math.nan, paper, form, test="more"), value, value)


def below(where: str, e: Estimate, value: float, paper: Range | None = None, form: Form = PLAIN) -> Observation:
    """A quantity is below a value."""
    return _beyond(Observation(where, e, math.nan, math.nan, paper, form, test="less"), value, value)


def _beyond(o: Observation, none: float, needed: float) -> Observation:
    """The observation of an effect beyond a value, which contradicts where it is certainly not beyond another."""
    tests = (_above, _below) if o.test == "more" else (_below, _above)
    p_supports, p_contradicts = (test(o.effect, value) for test, value in zip(tests, (none, needed), strict=True))
    return replace(o, p_supports=p_supports, p_contradicts=p_contradicts, limits=(none, needed))


def more(
    where: str, a: Estimate, b: Estimate, paper: Range | None = None, *, smallest: float | None = None
) -> Observation:
    """One is more than the other; the effect is their ratio, as a gain.

    A gain of less than half of the paper's smallest contradicts. This is the lower end of its range, unless `smallest`
    says otherwise: 0 for an order, in which any gain counts. Without either it is :data:`SMALLEST` itself.
    """
    if smallest is None and paper is not None and paper[0] is not None:
        smallest = paper[0] - 1
    o = Observation(where, times(a, b), math.nan, math.nan, paper, GAIN, test="more", of_paper=smallest is not None)
    return _beyond(o, 1, 1 + _needed(smallest))


def less(
    where: str, a: Estimate, b: Estimate, paper: Range | None = None, *, smallest: float | None = None
) -> Observation:
    """One is less than the other; the effect is their ratio, as a gain. The rest is as for :func:`more`."""
    if smallest is None and paper is not None and paper[0] is not None:
        smallest = 1 - paper[1]
    is_paper = smallest is not None
    o = Observation(where, times(a, b), math.nan, math.nan, paper, GAIN, fall=True, test="less", of_paper=is_paper)
    return _beyond(o, 1, 1 - _needed(smallest))


def fewer(where: str, a: Estimate, b: Estimate, paper: Range | None = None) -> Observation:
    """One is less than the other; the effect is the share that is missing. The rest is as for :func:`more`."""
    smallest = paper[0] if paper else None
    e = Quotient.between(a, b, missing=True)
    o = Observation(where, e, math.nan, math.nan, paper, PERCENT, test="more", of_paper=smallest is not None)
    return _beyond(o, 0, _needed(smallest))


def _needed(smallest: float | None) -> float:
    """Smallest effect that supports a claim, from the paper's smallest, which may be 0 ("slightly")."""
    return SMALLEST if smallest is None else HALF * max(smallest, 0.0)


def at_least(where: str, a: Estimate, b: Estimate, ratio: float) -> Observation:
    """One is at least so many times the other; the effect is their ratio, as a gain."""
    return above(where, times(a, b), ratio, form=GAIN)


def at_most(where: str, a: Estimate, b: Estimate, ratio: float) -> Observation:
    """One is at most so many times the other; the effect is their ratio, as a gain."""
    return below(where, times(a, b), ratio, form=GAIN)


def times(a: Estimate, b: Estimate) -> Estimate:
    """The ratio of two quantities; of medians by ranks, of units that both were measured in by pairs."""
    return Times.of(a, b) if isinstance(a, Quantile) and isinstance(b, Quantile) else Quotient.between(a, b)


def lies(where: str, e: Estimate, low: float, high: float, form: Form = PLAIN) -> Observation:
    """A quantity lies in a range of the paper, give or take :data:`READING`."""
    return inside(where, e, *_widened(low, high), form)


def equal(where: str, a: Estimate, b: Estimate, within: float = ALMOST_EQUAL) -> Observation:
    """Two are the same, give or take a share: :data:`ALMOST_EQUAL`, or :data:`SLIGHTLY`."""
    return inside(where, times(a, b), 1 - within, 1 + within, GAIN)


def never(where: str, e: Estimate) -> Observation:
    """Something never happens: a single time contradicts, whatever the interval is.

    Without any time it is supported like equal values (:func:`chappe.stats.equal_signs`): few runs do not show a state
    that half of all runs may have.
    """
    return Observation(where, e, *((equal_signs(e.df), 1.0) if e.mean == 0 else (1.0, 0.0)), test="never")


ONE_RUN = 39
"""Runs that are needed to say with 95 % that one further run is not like them."""

_CENTRAL = 0.95
"""A run lies among others when it is in this middle part of what they may be."""


def among(where: str, e: Estimate, one: float, form: Form = PLAIN) -> Observation:
    """A single run of the paper is like runs of Chappe.

    As the paper says: it lies in the middle 95 % of the distribution of Chappe's runs; the test is binomial, by
    how many of them lie on either side of it. Contrary: it is not of the same distribution, by its rank among them
    (:func:`chappe.stats.quantiles.rank_p`), whose probability is never below 2 / (n + 1). Where single runs spread far
    (:attr:`Observation.is_blunt`), agreement says nothing, and the point remains undecided.
    """
    from scipy.special import bdtrc

    if not isinstance(e, Quantile):
        return Observation(where, e, math.nan, math.nan)
    least = min(sum(v <= one for v in e.ordered), sum(v >= one for v in e.ordered))
    # Probability of so many runs of Chappe beyond it, when it is not in that part.
    central = min(1.0, 2 * float(bdtrc(least - 1, len(e.ordered), (1 - _CENTRAL) / 2))) if least else 1.0
    low, high = (Quantile.at(e.ordered, q).mean for q in ((1 - _CENTRAL) / 2, (1 + _CENTRAL) / 2))
    return Observation(where, e, central, rank_p(e.ordered, one), form=form, among=(low, high))


def inside(where: str, e: Estimate, low: float, high: float, form: Form = PLAIN) -> Observation:
    """A quantity lies in a range: both ends are tested, and it is outside when it is beyond one of them."""
    p_supports = max((_above(e, low), _below(e, high)), key=lambda p: math.inf if math.isnan(p) else p)
    p_contradicts = min(_below(e, low), _above(e, high))
    return Observation(where, e, p_supports, p_contradicts, None, form, test="inside", limits=(low, high))


def _widened(low: float, high: float) -> tuple[float, float]:
    return low - READING * abs(low), high + READING * abs(high)


@dataclass(frozen=True)
class Answer:
    """The answers to a claim: direction, size, and the word that follows from them.

    Attributes:
        observations: Its observations, point by point.
        short: True for short runs, which are judged at a smaller level.
        looks: Number of times that a claim may be judged at most, each time with more runs.
        first: Name of its first sub-claim.
        hangs: Detail that the paper leaves open and that reverses the sign or the verdict; empty if none is known.
    """

    observations: tuple[Observation, ...]
    short: bool = False
    looks: int = 1
    first: str = ""
    hangs: str = ""

    @property
    def level(self) -> float:
        """Probability that any decided point is wrong, the same at each of several looks (Bonferroni)."""
        return (SHORT_LEVEL if self.short else LEVEL) / self.looks

    @cached_property
    def times_the_runs(self) -> float:
        """Number of runs, relative to those there are, that would decide the claim.

        Effects are taken to stay as they are, and errors to shrink with the square root of the number of runs, so that
        one point after the other is decided. Infinite where no number of runs would do, or none is needed.
        """
        needed = _deviations(self.level / max(1, len(self.observations)))
        there = [_deviations(min(o.p_supports, o.p_contradicts)) for o in self.observations]
        later = [i for i, check in enumerate(self.checks) if check is None and there[i] > 0]
        checks = list(self.checks)
        for i in sorted(later, key=lambda i: -there[i]):
            o = self.observations[i]
            supports = o.p_supports < o.p_contradicts
            checks[i] = None if o.is_blunt and supports else supports
            if self.verdict is Verdict.OPEN and self._checked(checks).verdict is not Verdict.OPEN:
                return float(max(1.0, (needed / there[i]) ** 2))
        return math.inf

    def _checked(self, checks: Sequence[Check]) -> "Answer":
        """The answer if its points were decided so."""
        answer = replace(self)
        answer.__dict__["checks"] = tuple(checks)
        return answer

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """Decision of each point: it agrees, contradicts, or is undecided; numbers that chose decide nothing."""
        judged = [o for o in self.observations if not o.chose]
        adjusted = iter(holm([min(o.p_supports, o.p_contradicts) for o in judged]))
        return tuple(None if o.chose else _check(o, next(adjusted), len(judged), self.level) for o in self.observations)

    @cached_property
    def decided(self) -> tuple[Decided, ...]:
        """The points with their decisions: those that contradict say the opposite, or have no effect that counts."""
        judged = sum(not o.chose for o in self.observations)
        found = []
        for o, check in zip(self.observations, self.checks, strict=True):
            decision = Decision.CHOSE if o.chose else {True: Decision.AGREES, None: Decision.OPEN}.get(check)
            if decision is None:
                is_none = o.needed and not o.p_opposite * judged < self.level
                decision = Decision.NONE if is_none else Decision.OPPOSITE
            spread = o.form.text(*o.among) if o.among is not None and o.is_blunt else ""
            found.append(Decided(o.where, decision, o.group, o.sub_claim, o.least, spread))
        return tuple(found)

    @property
    def supports(self) -> int:
        """Number of points that agree with the paper."""
        return self.checks.count(True)

    @property
    def contradicts(self) -> int:
        """Number of points that contradict the paper."""
        return self.checks.count(False)

    @property
    def open(self) -> int:
        """Number of undecided points."""
        return self.checks.count(None)

    @property
    def doubts(self) -> dict[str, int]:
        """Number of decided points by reason to doubt their tests."""
        decided = (o.doubt for o, check in zip(self.observations, self.checks, strict=True) if check is not None)
        return Counter(word for doubt in decided if doubt for word in doubt.split(", "))

    @cached_property
    def size(self) -> Size | None:
        """Size of the effect compared with the paper's range; ``None`` when the paper gives no range to judge by."""
        ranged = [c for c in self.observations if c.paper is not None and not c.chose]
        if not ranged:
            return None
        # "Up to": nothing is too small by itself.
        tests = [(*c.beyond, c.paper is not None and c.paper[0] is None) for c in ranged]
        beyond = holm([min(over, under) for over, under, _ in tests])
        over = any(p < self.level and o < u for p, (o, u, _) in zip(beyond, tests, strict=True))
        each = [p < self.level and u < o for p, (o, u, upto) in zip(beyond, tests, strict=True) if not upto]
        most = [p < self.level and u < o for p, (o, u, upto) in zip(beyond, tests, strict=True) if upto]
        under = any(each) or (bool(most) and all(most))
        if over or under:
            return Size.BOTH if over and under else Size.LARGER if over else Size.SMALLER
        return Size.INSIDE if self._inside(ranged) else Size.OPEN

    def _inside(self, ranged: Sequence[Observation]) -> bool:
        """True if the intervals lie inside; of "up to" one must reach it, and none go beyond."""
        reached, upto = False, False
        for c in ranged:
            assert c.paper is not None
            low, high = _widened(c.paper[1] if c.paper[0] is None else c.paper[0], c.paper[1])
            confidence = 1 - self.level / len(ranged)
            a, b = interval_of(c.effect, confidence)
            if c.paper[0] is None:
                upto = True
                reached |= a >= low
            elif not a >= low:
                return False
            if not b <= high:
                return False
        return reached or not upto

    @cached_property
    def word(self) -> Word:
        """The verdict with its condition; each of several sub-claims is judged by itself, and counts as a point."""
        differs = self.size in (Size.LARGER, Size.SMALLER, Size.BOTH)
        return word(self.decided, differs=differs, first=self.first, hangs=self.hangs)

    @property
    def alone(self) -> "Answer":
        """The judgment without regard to details that the paper leaves open."""
        return replace(self, hangs="")

    @property
    def verdict(self) -> Verdict:
        """The verdict without its condition."""
        return self.word.verdict

    @property
    def reported(self) -> str:
        """The verdict with its condition."""
        return self.word.said

    @cached_property
    def bound(self) -> str:
        """Largest effect that the contradicting points leave possible, all together; empty if they have the opposite.

        It is known for claims of a difference whose contradicting points have one form.
        """
        against = [c for c, check in zip(self.observations, self.checks, strict=True) if check is False]
        forms = {(c.form, c.fall, c.limits[0] if c.needed else None) for c in against}
        if len(forms) != 1:
            return ""
        [(form, fall, none)] = forms
        if none is None:
            return ""
        alone, end = (self._farthest(against, level) for level in (self.level, self.level / len(self.observations)))
        size = form.number(end).lstrip("+-")
        is_opposite = alone >= none if fall else alone <= none
        if is_opposite or size == "0" or math.isinf(end):
            return ""
        kind = "gain" if form.signed and not fall else "reduction"
        where = (
            f" at {len(against)} of {len(self.observations)} points" if len(against) < len(self.observations) else ""
        )
        return f"no {kind} above {size} {form.unit}{where}"

    @staticmethod
    def _farthest(points: Sequence[Observation], level: float) -> float:
        """Farthest end of the intervals of points of one claim, in the direction of the claim."""
        ends = [interval_of(c.effect, 1 - level)[not c.fall] for c in points]
        return min(ends) if points[0].fall else max(ends)

    @property
    def effects(self) -> str:
        """The effects of the points that have the same form as the first, from the smallest to the largest."""
        if not self.observations:
            return "no runs"
        form = self.observations[0].form
        means = [c.effect.mean for c in self.observations if c.form == form and not math.isnan(c.effect.mean)]
        return form.text(min(means), max(means)) if means else "-"

    def effects_of(self, sub_claim: str) -> str:
        """The effects of another sub-claim."""
        return replace(self, observations=tuple(c for c in self.observations if c.sub_claim == sub_claim)).effects

    @property
    def counts(self) -> str:
        """Numbers of points that agree, contradict, and are undecided."""
        return f"{self.supports}/{self.contradicts}/{self.open}" if self.observations else "no runs"

    @property
    def sized(self) -> str:
        """The size in words, with the range of the paper where all points have the same; empty without a range."""
        if self.size is None:
            return ""
        ranges = {(c.paper, c.form) for c in self.observations if c.paper is not None}
        [(paper, form), *further] = ranges
        assert paper is not None
        paper_range = "" if further else f" (paper {_range_text(paper, form)})"
        return f"size {self.size.value}{paper_range}"


def _check(o: Observation, adjusted: float, points: int, level: float) -> Check:
    """Decision of one of several points.

    Args:
        o: The point.
        adjusted: The smaller one of its two probabilities, by Holm over the points.
        points: Number of points. An effect that is certain, and smaller than the claim needs, contradicts at a level
            by Bonferroni: Holm's order of the points is that of the other probability.
        level: Level of the claim.
    """
    if not adjusted < level:
        return None
    if o.is_blunt and o.p_supports < o.p_contradicts:
        return None
    return not (o.p_contradicts <= o.p_supports or o.p_contradicts * points < level)


def _deviations(p: float) -> float:
    """Deviations from 0 of a standard normal variable that are as improbable (two-sided) as `p`; 0 for NaN."""
    from scipy.special import ndtri

    return 0.0 if math.isnan(p) else float(-ndtri(max(p, 1e-300) / 2))


def _range_text(paper: Range, form: Form) -> str:
    low, high = paper
    if low is None:
        return f"up to {form.text(high, high)}"
    return f"at least {form.text(low, low)}" if math.isinf(high) else form.text(low, high)


def judge(
    observations: Iterable[Observation], short: bool = False, looks: int = 1, *, first: str = "", hangs: str = ""
) -> Answer:
    """The answers to a claim that says this at these points."""
    return Answer(tuple(observations), short, looks, first, hangs)
