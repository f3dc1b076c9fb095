"""What papers have in common: claims, the data they are checked against, verdicts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol

from chappe.stats import Estimate


class Verdict(Enum):
    """What became of a claim."""

    HOLDS = "holds"
    PARTLY = "holds partly"
    FAILS = "does not hold"
    OPEN = "not decidable"


def judge(checks: Sequence[bool | None]) -> Verdict:
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


def above(estimate: Estimate, value: float) -> bool | None:
    """Whether a quantity is above a value; open when the value lies within its 95 % interval."""
    low, high = estimate.interval()
    return True if low > value else False if high < value else None


def about(estimate: Estimate, value: float, tolerance: float) -> bool | None:
    """Whether a quantity is ``value``, give or take a share of ``tolerance`` that the reader of a figure allows.

    Holds when the estimate lies within the tolerance, fails when its whole interval lies outside; open otherwise.
    """
    bottom, top = sorted((value * (1 - tolerance), value * (1 + tolerance)))
    low, high = estimate.interval()
    if bottom <= estimate.mean <= top:
        return True
    return False if high < bottom or low > top else None


class Data(Protocol):
    """Where numbers come from: our runs, or those of ns-2."""

    def get(self, variant: str, hops: int, measure: str) -> Estimate | None:
        """A measure of a chain, or ``None`` when there is no such run."""
        ...

    def hops(self, variant: str) -> list[int]:
        """Lengths of the chains that were run."""
        ...


@dataclass(frozen=True)
class Claim:
    """A statement of a paper that can be checked.

    Attributes:
        id: Its name, such as ``P0-F6-1``.
        figure: The figure it is about.
        says: What the paper says.
        look: Finds the same in data: a sentence with the numbers, and the checks that make up the claim. ``None`` when
            the data does not have what it takes.
    """

    id: str
    figure: int
    says: str
    look: Callable[[Data], tuple[str, Sequence[bool | None]] | None]


class Paper(Protocol):
    """A paper that can be reproduced."""

    @property
    def name(self) -> str:
        """Its name on the command line."""
        ...

    @property
    def title(self) -> str:
        """Authors, title, place and year."""
        ...

    @property
    def figures(self) -> tuple[int, ...]:
        """Numbers of the figures that can be reproduced."""
        ...

    def reproduce(self, folder: Path, *, figure: int | None, quick: bool, jobs: int | None) -> int:
        """Runs what the figures show, prints and writes them; returns an exit code."""
        ...

    def validate(self, folder: Path, *, jobs: int | None) -> int:
        """Compares runs with those of ns-2, one by one; returns an exit code."""
        ...
