"""Designs: the runs of a study, in fixed number or until a mean is precise."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chappe.measures import Totals, of_runs
from chappe.scenario.scenario import Scenario
from chappe.stats import Estimate
from chappe.study.design.axes import Item, Point

Measured = Callable[[Sequence[Item]], list[Totals | None]]
"""Function from runs to the totals of a measure; ``None`` for a failed run. Runs not yet executed raise
:class:`UnknownError`."""

Design = Callable[[Measured], list[Item]]
"""Function that selects runs, given the results so far. It is called until it selects no new runs, and depends on
nothing but results, so that an interrupted study continues in the same way."""

_GROWTH = 2
"""Largest factor of growth of the number of runs per attempt."""

MIN_SEEDS = 10
"""Runs before which no point stops, unless given (Law, *Simulation modeling and analysis*, 2015, section 9.4.1).

The variance of fewer runs is often too small by chance: such points stop at once, and their intervals are too narrow.
"""


class UnknownError(Exception):
    """A design needs the results of runs not yet executed."""

    def __init__(self, items: Sequence[Item]):
        super().__init__(items)
        self.items = list(items)


@dataclass(frozen=True)
class Precision:
    """Stopping rule: run until the 95 % interval of the mean of a measure is narrow enough.

    Attributes:
        measure: Name of the measure.
        within: Largest relative error of the mean, as a share of the *true* mean, wherever the interval has it.
        max_seeds: Largest number of seeds, for studies with several seeds.
        max_length: Largest factor on ``run.stop``, for studies with one seed.
        min_seeds: Number of seeds before which no point stops, at most ``max_seeds``, for studies with several seeds;
            ``None``: 10.
    """

    measure: str
    within: float
    max_seeds: int | None = None
    max_length: int | None = None
    min_seeds: int | None = None

    def met(self, e: Estimate) -> bool:
        """Returns true for a precise mean; a mean of 0 is never precise."""
        return error(e) <= self.within


def error(e: Estimate) -> float:
    """Largest relative error of a mean, as a share of the true mean, if the 95 % interval has this.

    The estimate m is too high by m / low - 1 at most, and too low by 1 - m / high. Of a symmetric interval of half
    width h, the former is h / (m - h) (Law 2015). Infinite if the true mean may be 0, and where the interval is not
    known.
    """
    low, high = e.interval()
    return max(e.mean / low - 1, 1 - e.mean / high) if low > 0 else math.inf


def fixed(points: Sequence[Point], seeds: Sequence[int]) -> Design:
    """Design: every point with every seed."""
    items = [Item(point, seed) for point in points for seed in seeds]
    return lambda _: items


def precise(points: Sequence[Point], seeds: Sequence[int], rule: Precision) -> Design:
    """Design: every point with the number of seeds, or the length of the run, that the rule needs."""
    one = _longer if len(seeds) == 1 else _more_seeds

    def design(measured: Measured) -> list[Item]:
        items: list[Item] = []
        unknown: list[Item] = []
        for point in points:
            try:
                items += one(point, seeds, rule, measured)
            except UnknownError as e:
                unknown += e.items
        if unknown:
            raise UnknownError(unknown)
        return items

    return design


def _more_seeds(point: Point, seeds: Sequence[int], rule: Precision, measured: Measured) -> list[Item]:
    """Adds seeds; their number depends on results alone, not on the number of cores."""
    cap = max(rule.max_seeds or 0, len(seeds))
    unused = (s for s in itertools.count(1) if s not in seeds)
    all_seeds = [*seeds, *itertools.islice(unused, cap - len(seeds))]
    n = min(cap, max(len(seeds), MIN_SEEDS if rule.min_seeds is None else rule.min_seeds))
    while True:
        items = [Item(point, seed) for seed in all_seeds[:n]]
        totals = measured(items)
        e = of_runs(totals, rule.measure).pooled
        if n == cap or rule.met(e) or not any(one is not None for one in totals):
            return items
        reached = error(e)
        # The width of an interval, as a share of the estimate, falls with the root of the number of runs.
        width, target = (1 / (1 + 1 / x) for x in (reached, rule.within))
        needed = n * (width / target) ** 2
        n = min(cap, _GROWTH * n, max(n + 1, math.ceil(min(needed, cap))))


def _longer(point: Point, seeds: Sequence[int], rule: Precision, measured: Measured) -> list[Item]:
    """Doubles the length of the run with a constant number of batches, so that batches become independent."""
    items: list[Item] = []
    for factor in _doublings(rule.max_length or 1):
        item = Item(Point(point.labels, lengthened(point, factor), point.reduction) if factor > 1 else point, seeds[0])
        items = [*(Item(i.point, i.seed, shown=False) for i in items), item]
        (totals,) = measured([item])
        if totals is None or rule.met(totals.pooled):
            break
    return items


def _doublings(cap: int) -> list[int]:
    return [1 << k for k in range(cap.bit_length())]


def lengthened(point: Point, factor: int) -> Scenario:
    """Scenario of a point with ``run.stop`` multiplied by a factor."""
    number, _, unit = str(point.scenario.settings["run"]["stop"]).partition(" ")
    return point.scenario.with_settings({"run.stop": f"{float(number) * factor:.15g} {unit}"})
