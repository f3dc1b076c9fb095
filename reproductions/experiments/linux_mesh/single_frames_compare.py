"""Comparisons of ``single_frames.py``: relative changes with intervals that hold together, and words for them."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from chappe.stats import Estimate
from numpy.typing import NDArray
from single_frames_runs import GOODPUT, Found, Key

SAME = 5
"""Largest change that counts as none [%]."""
AHEAD = 15
"""Smallest lead that counts as far [%]: the smallest of Vegas in ElRakabawy 2005 (P0-A-1)."""

YES, NO, OPPOSITE, OPEN = "yes", "no", "no, the opposite", "undecided"
"""Judgments of changes."""
GONE, STAYS, NEVER = "gone", "persists", "not found, with the senders of 2003 or of today"
"""Verdicts on problems; :data:`OPEN` is one, too."""


class Change(NamedTuple):
    """A relative change with its interval [%]."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:+,.0f} % [{self.low:+,.0f}, {self.high:+,.0f}]"

    @property
    def cell(self) -> str:
        """The change and half of its interval, in parentheses if it contains zero."""
        text = f"{self.mean:+,.0f} ± {self.high - self.mean:,.0f}"
        return text if self.low > 0 or self.high < 0 else f"({text})"

    @property
    def is_far(self) -> bool:
        """True for a decided lead of at least :data:`AHEAD`."""
        return self.judged(more=True) == YES and self.mean >= AHEAD

    def judged(self, more: bool) -> str:
        """True if it is an increase, or a decrease, of more than nothing: of :data:`SAME` or less it is none."""
        if self.low > -SAME and self.high < SAME:
            return NO
        wanted, opposite = (self.low > 0, self.high < 0) if more else (self.high < 0, self.low > 0)
        return YES if wanted else OPPOSITE if opposite else OPEN


class Comparisons:
    """Comparisons of the runs, all of which hold together with 95 % (Bonferroni).

    Args:
        found: The runs.
        number: Number of the comparisons.
    """

    def __init__(self, found: Found, number: int = 1):
        self.found = found
        self.confidence = 1 - 0.05 / number
        self.made: set[tuple[Key, Key, str, tuple[float, ...]]] = set()
        """Comparisons that were asked for."""

    def change(self, one: Key, other: Key, measure: str = GOODPUT, lengths: Iterable[float] | None = None) -> Change:
        """Relative change of the mean from the other to the one [%], averaged over the lengths.

        Its interval is over the seeds: where both are larger with the same seeds, it is narrower.

        A run that delivers nothing has a goodput of zero and no delay. Where the other has nothing, a
        length does not count.

        Args:
            one: Runs that are compared.
            other: Runs that they are compared with, seed by seed.
            measure: The measure.
            lengths: Lengths; ``None``: all that both have.
        """
        a, b = self.found[one][measure], self.found[other][measure]
        both = tuple(length for length in a if length in b and (lengths is None or length in lengths))
        self.made.add((one, other, measure, both))
        of = {length: np.nanmean(b[length]) for length in both}
        by_length = [_ratio(a[length], b[length]) for length in both if of[length]]
        if not by_length:
            return Change(math.nan, math.nan, math.nan)
        estimate = Estimate.of(100 * (np.nanmean(by_length, axis=0) - 1))
        low, high = estimate.interval(self.confidence)
        return Change(estimate.mean, max(low, -100), high)

    def technique(
        self, of: tuple[str, int, str], technique: str, measure: str = GOODPUT, lengths: Iterable[float] | None = None
    ) -> Change:
        """Relative change by a technique."""
        return self.change((*of, technique), (*of, "plain"), measure, lengths)

    def mean(self, key: Key, measure: str, length: float) -> Estimate:
        """Mean over the runs at a length."""
        values = self.found[key][measure][length]
        return Estimate.of(values[~np.isnan(values)])


def _ratio(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values by seed whose mean is the ratio of the means, and whose spread is that of the ratio, to first order."""
    both = ~np.isnan(a) & ~np.isnan(b)
    ratio, over = a[both].mean() / b[both].mean(), b[both].mean()
    values: NDArray[np.float64] = ratio + (a - ratio * b) / over
    return values


def counted(changes: Iterable[Change], more: str = "more", less: str = "less") -> str:
    """Numbers of changes by their direction, in words."""
    words = Counter(change.judged(more=True) for change in changes)
    counts = {more: words[YES], less: words[OPPOSITE], f"within {SAME} %": words[NO], OPEN: words[OPEN]}
    return f"{', '.join(f'{word} in {n}' for word, n in counts.items() if n)} of {words.total()}"


def ends(changes: Collection[Change]) -> str:
    """Smallest and largest change."""
    means = [change.mean for change in changes]
    return f"{min(means):+,.0f} to {max(means):+,.0f} %"


def span(changes: Collection[Change]) -> str:
    """Smallest and largest change, and number of those that are decided."""
    decided = sum(change.judged(more=True) != OPEN for change in changes)
    return f"{ends(changes)} (decided in {decided} of {len(changes)})"


def problem(changes: Iterable[Change], more: bool = True, of: str = "networks") -> str:
    """Word for a problem that shows as an increase, or a decrease, in some networks or cases."""
    return _of_words([change.judged(more) for change in changes], of)


def lead(then: Mapping[str, Change], now: Mapping[str, Change]) -> str:
    """Verdict on a far lead, by network; the lead can be gone only in networks that show it, then or now."""
    shown = [change for n, change in now.items() if change.is_far or then[n].is_far]
    words = [YES if change.is_far else NO if change.high < AHEAD else OPEN for change in shown]
    return _of_words(words, "networks that show it") if words else NEVER


def _of_words(words: Sequence[str], of: str) -> str:
    if YES in words:
        return STAYS if set(words) == {YES} else f"{STAYS} in {words.count(YES)} of {len(words)} {of}"
    if OPEN not in words:
        return GONE
    gone = len(words) - words.count(OPEN)
    return f"{GONE} in {gone} of {len(words)} {of}, {OPEN} in others" if gone else OPEN


def gains(changes: Collection[Change], more: bool = True) -> str:
    """Sizes of the decided increases, or decreases, and their number."""
    sizes = [abs(change.mean) for change in changes if change.judged(more) == YES]
    count = f"in {len(sizes)} of {len(changes)}"
    if not sizes:
        return count
    least, most = f"{min(sizes):,.0f}", f"{max(sizes):,.0f}"
    return f"by {least if least == most else f'{least} to {most}'} % {count}"


def advised(changes: Iterable[Change], more: bool = True) -> str:
    """Word for something that is to bring an increase, or a decrease."""
    words = [change.judged(more) for change in changes]
    for word, of_all in (("good", YES), ("bad", OPPOSITE)):
        if set(words) == {of_all}:
            return word
    good, bad = words.count(YES), words.count(OPPOSITE)
    if good or bad:
        counts = [f"{word} in {n}" for word, n in (("good", good), ("bad", bad)) if n]
        return f"{', '.join(counts)} of {len(words)}"
    return OPEN if OPEN in words else "no effect"


def plus_minus(estimate: Estimate, digits: int, factor: float = 1, most: float = math.inf) -> str:
    """A mean with half of its 95 % interval, which holds alone; with both ends if 0 or `most` bounds the interval."""
    mean, half = factor * estimate.mean, factor * estimate.half_width()
    if round(mean - half, digits) >= 0 and round(mean + half, digits) <= most:
        return f"{mean:,.{digits}f} ± {half:,.{digits}f}"
    return f"{mean:,.{digits}f} ({max(mean - half, 0):,.{digits}f} to {min(mean + half, most):,.{digits}f})"
