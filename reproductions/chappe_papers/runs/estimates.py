"""Estimates by point: of our runs, or those of another simulator. Claims and figures read them."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chappe.stats import Estimate

NS2 = "ns-2.35"
OURS = "chappe"
PAPER = "paper"


@dataclass(frozen=True)
class Measure:
    """Format of a measure, and the tolerance within which two simulators agree.

    Attributes:
        label: Name for people, with the printed unit.
        scale: Factor from the stored to the printed unit.
        tolerance: Difference up to which values agree: a share of the value, or, where ``absolute``, a difference.
        absolute: True if the tolerance is a difference.
        limits: Smallest and largest possible value.
    """

    label: str
    scale: float = 1.0
    tolerance: float = 0.10
    absolute: bool = False
    limits: tuple[float, float] = (0.0, math.inf)


Asked = tuple[Any, str]
"""A point and the name of a measure."""


class MissingError(Exception):
    """There is no such run."""


@dataclass(frozen=True)
class Estimates:
    """Measures by point.

    Attributes:
        values: Estimates by point, and by the name of the measure.
        x: The values along which the paper's curves are drawn, as far as they are run: hops, or error rates.
    """

    values: Mapping[Any, Mapping[str, Estimate]]
    x: Sequence[Any] = ()

    def get(self, point: Any, measure: str, /) -> Estimate | None:
        """A measure of a point, or ``None`` when there is no such run."""
        return self.values.get(point, {}).get(measure)

    def has_runs(self, point: Any, /) -> bool:
        """True if there are runs of a point."""
        return point in self.values

    def take(self, point: Any, measure: str) -> Estimate:
        """A measure of a point that must have runs.

        Raises:
            MissingError: There is no such run.
        """
        e = self.get(point, measure)
        if e is None:
            raise MissingError
        return e

    def both(self, a: Any, b: Any, measure: str) -> Iterator[tuple[Estimate, Estimate]]:
        """A measure of two points: one pair, or none when a run is missing."""
        x, y = self.get(a, measure), self.get(b, measure)
        if x is not None and y is not None:
            yield x, y

    def several(self, points: Iterable[Any], measure: str) -> list[Estimate]:
        """A measure of several points, all of which must have runs.

        Raises:
            MissingError: One of them has no run.
        """
        # All are asked for, also behind one that is missing.
        estimates = [self.get(p, measure) for p in points]
        if None in estimates:
            raise MissingError
        return [e for e in estimates if e is not None]

    def seen_as(self, change: Callable[[Any], Any]) -> "Estimates":
        """These estimates under another reading: ``change`` maps each point to the point whose estimates it gets."""
        return Reinterpreted(self.values, self.x, self, change)


@dataclass(frozen=True)
class Reinterpreted(Estimates):
    """Estimates in which each point has those of another."""

    data: Estimates = field(default_factory=lambda: Estimates({}))
    change: Callable[[Any], Any] = lambda p: p

    def get(self, point: Any, measure: str, /) -> Estimate | None:
        """A measure of the mapped point; ``None`` also when the point is mapped to none."""
        other = self.change(point)
        return None if other is None else self.data.get(other, measure)

    def has_runs(self, point: Any, /) -> bool:
        """True if there are runs of the mapped point."""
        return self.data.has_runs(self.change(point))


@dataclass(frozen=True)
class Traced(Estimates):
    """Estimates that note which measures were asked for."""

    data: Estimates = field(default_factory=lambda: Estimates({}))
    asked: set[Asked] = field(default_factory=set)

    def get(self, point: Any, measure: str, /) -> Estimate | None:
        """A measure, which is noted."""
        self.asked.add((point, measure))
        return self.data.get(point, measure)

    def has_runs(self, point: Any, /) -> bool:
        """True if there are runs of a point."""
        return self.data.has_runs(point)

    def taken(self) -> frozenset[Asked]:
        """Returns the points and measures asked for since the last call, and forgets them."""
        asked = frozenset(self.asked)
        self.asked.clear()
        return asked


@dataclass(frozen=True)
class RequestedPoints(Estimates):
    """Estimates of every point, which record the requested points: those that a claim or a figure needs.

    Attributes:
        asked: The points, in the order in which they were asked for.
    """

    asked: dict[Any, None] = field(default_factory=dict)

    def get(self, point: Any, _measure: str, /) -> Estimate | None:
        """Some number, never ``None``."""
        self.asked[point] = None
        return Estimate(1.0, 0.01, 9)

    def has_runs(self, _point: Any, /) -> bool:
        """False: no runs exist."""
        return False
