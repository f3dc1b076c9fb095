"""Which runs a study wants: a fixed number, or as many as a precise mean needs."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chappe.measures import Totals, of_runs
from chappe.scenario import Scenario
from chappe.stats import Estimate
from chappe.study.axes import Item, Point

Measured = Callable[[Sequence[Item]], list[Totals | None]]
"""The totals of a measure in the batches of runs; ``None`` for a run that could not be made. Items that nothing is
known of yet raise :class:`UnknownError`."""

Design = Callable[[Measured], list[Item]]
"""Says which runs are wanted, given what is known. It is asked again until nothing more is wanted, and its answer
depends on nothing but the runs: a study that is interrupted goes the same way again."""

_GROWTH = 2
"""The most by which the number of runs grows from one attempt to the next, as a factor."""


class UnknownError(Exception):
    """Runs that have not been made yet must be known to go on."""

    def __init__(self, items: Sequence[Item]):
        super().__init__(items)
        self.items = list(items)


@dataclass(frozen=True)
class Precision:
    """Runs go on until the 95 % interval of the mean of a measure is narrow enough.

    Attributes:
        measure: The measure.
        within: Half width of the interval, as a share of the mean.
        max_seeds: With several seeds: further seeds are taken, up to this number.
        max_length: With one seed: the run gets longer, up to this factor (``run.stop``).
    """

    measure: str
    within: float
    max_seeds: int | None = None
    max_length: int | None = None

    def met(self, e: Estimate) -> bool:
        """Whether a mean is known well enough; never when nothing has been seen but zeros."""
        return e.mean != 0 and e.half_width() <= self.within * abs(e.mean)


def fixed(points: Sequence[Point], seeds: Sequence[int]) -> Design:
    """Every point with every seed."""
    items = [Item(point, seed) for point in points for seed in seeds]
    return lambda _: items


def precise(points: Sequence[Point], seeds: Sequence[int], rule: Precision) -> Design:
    """Every point with as many seeds, or as long a run, as the rule needs."""
    one = _longer if len(seeds) == 1 else _more_seeds

    def design(measured: Measured) -> list[Item]:
        found: list[Item] = []
        unknown: list[Item] = []
        for point in points:
            try:
                found += one(point, seeds, rule, measured)
            except UnknownError as e:
                unknown += e.items
        if unknown:
            raise UnknownError(unknown)
        return found

    return design


def _more_seeds(point: Point, seeds: Sequence[int], rule: Precision, measured: Measured) -> list[Item]:
    """Numbers of seeds follow from the values alone, not from how many cores there are."""
    cap = max(rule.max_seeds or 0, len(seeds))
    others = (s for s in itertools.count(1) if s not in seeds)
    all_seeds = [*seeds, *itertools.islice(others, cap - len(seeds))]
    n = len(seeds)
    while True:
        items = [Item(point, seed) for seed in all_seeds[:n]]
        e = of_runs(measured(items)).together.estimate
        if n == cap or rule.met(e):
            return items
        width = e.half_width()
        needed = n * (width / (rule.within * abs(e.mean))) ** 2 if e.mean and not math.isnan(width) else math.inf
        n = min(cap, _GROWTH * n, max(n + 1, math.ceil(min(needed, cap))))


def _longer(point: Point, seeds: Sequence[int], rule: Precision, measured: Measured) -> list[Item]:
    """The number of batches stays and their length doubles, so that they become independent."""
    items: list[Item] = []
    for factor in _doublings(rule.max_length or 1):
        item = Item(Point(point.labels, lengthened(point, factor)) if factor > 1 else point, seeds[0])
        items = [*(Item(i.point, i.seed, shown=False) for i in items), item]
        (totals,) = measured([item])
        if totals is None or rule.met(totals.together.estimate):
            break
    return items


def _doublings(cap: int) -> list[int]:
    return [1 << k for k in range(cap.bit_length())]


def lengthened(point: Point, factor: int) -> Scenario:
    """The scenario of a point with a ``run.stop`` that is larger by this factor."""
    number, _, unit = str(point.scenario.settings["run"]["stop"]).partition(" ")
    return point.scenario.with_({"run.stop": f"{float(number) * factor:.15g} {unit}"})
