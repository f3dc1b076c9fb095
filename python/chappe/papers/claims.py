"""Claims: a sentence of a paper together with what it says about data; findings, which claims stand behind."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from chappe.papers.judge import LEVEL, Answer, Case, judge, together
from chappe.papers.table import MissingError, Noting, Table

Says = Callable[[Table], Iterable[Case]]
"""Says what a claim says at each point for which there are runs."""


@dataclass(frozen=True)
class Claim:
    """A statement of a paper that can be checked.

    Attributes:
        id: Its name, such as ``P0-F6-1``.
        says: What the paper says.
        section: Of the paper.
        cases: The same about data.
        figures: The figures it is about.
        tables: The tables it is about.
    """

    id: str
    says: str
    section: str
    cases: Says
    figures: tuple[int, ...] = ()
    tables: tuple[int, ...] = ()

    def judged(self, data: Table, level: float = LEVEL) -> Answer:
        """The answers of some data; without any point when the runs are missing."""
        return judge(_known(self.cases(data)), level)

    def needs(self, x: Sequence[Any]) -> dict[Any, None]:
        """The points it needs, when the paper's curves are drawn along ``x``."""
        return needs(self.cases, x)


def _known(cases: Iterable[Case]) -> list[Case]:
    try:
        return list(cases)
    except MissingError:
        return []


def needs(says: Callable[[Table], Any], x: Sequence[Any]) -> dict[Any, None]:
    """What something needs that is made of a table: it is made once of a table that notes what it is asked for."""
    noting = Noting({}, x)
    for _ in says(noting) or ():
        pass
    return noting.asked


class Claims:
    """The claims of a paper, as its modules state them."""

    def __init__(self) -> None:
        self._claims: dict[str, Claim] = {}

    def claim(
        self, name: str, says: str, *, section: str, figures: tuple[int, ...] = (), tables: tuple[int, ...] = ()
    ) -> Callable[[Says], Says]:
        """States a claim: the function that follows says what it says about data, point by point."""

        def state(cases: Says) -> Says:
            assert name not in self._claims, name
            self._claims[name] = Claim(name, says, section, cases, figures, tables)
            return cases

        return state

    @property
    def all(self) -> tuple[Claim, ...]:
        """All claims, in the order of their names."""
        return tuple(sorted(self._claims.values(), key=lambda c: _order(c.id)))


def _order(name: str) -> tuple[str, list[int]]:
    kind = name.split("-")[1][0]
    return kind, [int(n) for n in re.findall(r"\d+", name)]


@dataclass(frozen=True)
class Finding:
    """A conclusion of a paper, which claims stand behind; our number is that of the first of them.

    Attributes:
        says: The conclusion, in the words of the field.
        paper: The number of the paper.
        claims: Names of the claims.
        why: The reason of what was found, in a clause.
    """

    says: str
    paper: str
    claims: tuple[str, ...]
    why: str

    def judged(self, answers: dict[str, Answer]) -> "Judged":
        """What became of it; of claims that were not judged nothing is known."""
        own = [answers[c] for c in self.claims if c in answers]
        return Judged(self, together(own).value, own[0].effects if own else "no runs")


@dataclass(frozen=True)
class Judged:
    """What became of a finding: the word, and our number."""

    finding: Finding
    verdict: str
    ours: str
