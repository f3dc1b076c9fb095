"""What papers have in common: claims, the data they are checked against, the rules by which they are judged."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from chappe.stats import Estimate, difference, ratio


class Verdict(Enum):
    """What became of a claim."""

    HOLDS = "holds"
    PARTLY = "holds partly"
    FAILS = "does not hold"
    OPEN = "not decidable"


Check = bool | None
"""Whether a part of a claim is so; ``None`` when the intervals leave it open."""

Look = tuple[str, Sequence[Check]] | None
"""What was found: a sentence with the numbers and the checks that make up the claim. ``None``: no such runs."""


def judge(checks: Sequence[Check]) -> Verdict:
    """The verdict on a claim, from the checks it is made of; ``None`` is a check that the intervals leave open.

    It holds when all checks do, and does not when all that are decided fail. It holds partly when some do and others
    fail or are open.
    """
    decided = [c for c in checks if c is not None]
    if not decided:
        return Verdict.OPEN
    if not any(decided):
        return Verdict.FAILS
    return Verdict.HOLDS if all(checks) else Verdict.PARTLY


def above(estimate: Estimate, value: float) -> Check:
    """Whether a quantity is above a value; open when the value lies within its 95 % interval."""
    low, high = estimate.interval()
    return True if low > value else False if high < value else None


def below(estimate: Estimate, value: float) -> Check:
    """Whether a quantity is below a value; open when the value lies within its 95 % interval."""
    return above(Estimate(-estimate.mean, estimate.variance, estimate.df), -value)


def about(estimate: Estimate, value: float, tolerance: float) -> Check:
    """Whether a quantity is ``value``, give or take a share of ``tolerance`` that the reader of a figure allows.

    Holds when the estimate lies within the tolerance, fails when its whole interval lies outside; open otherwise.
    """
    bottom, top = sorted((value * (1 - tolerance), value * (1 + tolerance)))
    return between(estimate, bottom, top)


def between(estimate: Estimate, bottom: float, top: float) -> Check:
    """Whether a quantity lies between two values, by the rule of :func:`about`."""
    low, high = estimate.interval()
    if bottom <= estimate.mean <= top:
        return True
    return False if high < bottom or low > top else None


def more(a: Estimate, b: Estimate) -> Check:
    """Whether ``a`` is more than ``b``; open when the 95 % interval of the difference (Welch) contains 0."""
    return above(difference(a, b), 0)


def alike(a: Estimate, b: Estimate, tolerance: float = 0.05) -> Check:
    """Whether ``a`` is as large as ``b``, give or take a share, by the rule of :func:`about`."""
    return about(ratio(a, b), 1, tolerance)


def most(checks: Sequence[Check]) -> Check:
    """Whether more than half of these are so."""
    yes, no = sum(c is True for c in checks), sum(c is False for c in checks)
    return True if 2 * yes > len(checks) else False if 2 * no >= len(checks) else None


def negated(check: Check) -> Check:
    """Whether it is not so."""
    return None if check is None else not check


def every(checks: Sequence[Check]) -> Check:
    """Whether all of these are so, as one check."""
    return False if False in checks else None if None in checks else True


@dataclass(frozen=True)
class Table:
    """Measures by point: our runs, or those of another simulator. What claims are checked against."""

    values: Mapping[Any, Mapping[str, Estimate]]

    def get(self, point: Any, measure: str) -> Estimate | None:
        """A measure of a point, or ``None`` when there is no such run."""
        return self.values.get(point, {}).get(measure)

    def all(self, points: Sequence[Any], measure: str) -> list[Estimate] | None:
        """A measure of several points, or ``None`` when one of them is missing."""
        found = [e for p in points if (e := self.get(p, measure)) is not None]
        return found if len(found) == len(points) else None


@dataclass(frozen=True)
class Claim:
    """A statement of a paper that can be checked.

    Attributes:
        id: Its name, such as ``P0-F6-1``.
        says: What the paper says.
        look: Finds the same in data.
        figures: The figures it is about.
        tables: The tables it is about.
        needs: Experiments it needs beside those of its figures and tables.
    """

    id: str
    says: str
    look: Callable[[Table], Look]
    figures: tuple[int, ...] = ()
    tables: tuple[int, ...] = ()
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Paper:
    """A paper that can be reproduced: a package of this one with modules ``claims``, ``reproduce`` and ``validate``.

    They are imported when they are needed, so that the command line need not wait for all papers.
    """

    name: str
    """On the command line, and of its package."""
    title: str
    """Authors, title, place and year."""
    figures: tuple[int, ...]
    """Numbers of the figures that can be reproduced."""
    tables: tuple[int, ...] = ()
    """Numbers of the tables that can be reproduced."""
    extras: tuple[str, ...] = ()
    """Names of what is added to the figures and tables of the paper."""

    def _part(self, name: str) -> Any:
        return import_module(f"chappe.papers.{self.name}.{name}")

    @cached_property
    def claims(self) -> tuple[str, ...]:
        """Names of the claims that are checked."""
        return tuple(c.id for c in self._part("claims").CLAIMS)

    def reproduce(self, folder: Path, *, wanted: "Wanted", quick: bool, jobs: int | None) -> int:
        """Runs what is wanted, prints and writes it; returns an exit code."""
        code: int = self._part("reproduce").reproduce(self, folder, wanted=wanted, quick=quick, jobs=jobs)
        return code

    def validate(self, folder: Path, *, jobs: int | None) -> int:
        """Compares runs with those of ns-2, one by one; returns an exit code."""
        code: int = self._part("validate").validate(folder, jobs=jobs)
        return code


@dataclass(frozen=True)
class Wanted:
    """A part of a paper: one figure, table, claim or extra; without any of these all of it."""

    figure: int | None = None
    table: int | None = None
    claim: str | None = None
    extra: str | None = None
