"""Claims: a sentence of a paper with its statement about data; findings: conclusions supported by claims."""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chappe.stats import Estimate

from chappe_papers.judging.judge import Answer, Observation, doubt_of, judge
from chappe_papers.judging.words import Verdict, together
from chappe_papers.pages import page
from chappe_papers.runs.estimates import Asked, Estimates, MissingError, RequestedPoints, Traced

Observations = Iterator[Observation]
"""Statement of a claim, point by point."""

Says = Callable[[Estimates], Iterable[Observation]]
"""Yields the observations of a claim, one for each point with runs."""

Chose = Callable[[frozenset[Asked]], bool]
"""True if a point that compares these measures judges nothing, because they have chosen the model."""


@dataclass(frozen=True)
class Claim:
    """A statement of a paper that can be checked.

    Attributes:
        id: Its name, such as ``P0-F6-1``.
        says: The statement of the paper.
        section: Of the paper.
        cases: The same about data.
        figures: The figures it is about.
        tables: The tables it is about.
        first: Name of its first sub-claim, where it has several.
        hangs: Detail that the paper leaves open and that reverses the sign or the verdict: ``unknowns.csv`` shows it.
        fresh: Number of runs of each point, relative to those planned, in the fresh experiment that was declared for
            the claim (:mod:`chappe_papers.judging.fresh`); 0: none was.
        chose: Tells the points that compare numbers which have chosen the model.
    """

    id: str
    says: str
    section: str
    observe: Says
    figures: tuple[int, ...] = ()
    tables: tuple[int, ...] = ()
    first: str = ""
    hangs: str = ""
    fresh: int = 0
    chose: Chose = lambda _: False

    def judged(self, data: Estimates, short: bool = False, looks: int = 1) -> Answer:
        """The answers of some data, that of full or of short runs; without any point when the runs are missing."""
        return judge(self.observations(data), short, looks, first=self.first, hangs=self.hangs)

    def observations(self, data: Estimates) -> list[Observation]:
        """The observations, with those marked that compare numbers which have chosen; none when runs are missing."""
        traced = Traced(data.values, data.x, data)
        try:
            return [replace(o, chose=self.chose(traced.taken()), doubt=doubt_of(o)) for o in self.observe(traced)]
        except MissingError:
            return []

    def needs(self, x: Sequence[Any]) -> dict[Any, None]:
        """The points it needs, when the paper's curves are drawn along ``x``."""
        return needs(self.observe, x)


def needs(says: Callable[[Estimates], Any], x: Sequence[Any]) -> dict[Any, None]:
    """The points that a function of a table needs: the function is called once with a table that records requests."""
    noting = RequestedPoints({}, x)
    for _ in says(noting) or ():
        pass
    return noting.asked


def compare(
    data: Estimates,
    says: Callable[..., Observation],
    pairs: Iterable[tuple[str, Any, Any]],
    measure: str,
    *paper: object,
) -> Observations:
    """Observations of pairs of points that both have runs.

    Args:
        data: Our estimates.
        says: The statement: one of the functions of :mod:`chappe_papers.judging.judge`.
        pairs: The place in words, and the two points.
        measure: The measure to compare.
        paper: Further arguments of that function, such as the range of the paper.
    """
    for where, a, b in pairs:
        for x, y in data.both(a, b, measure):
            yield says(where, x, y, *paper)


def in_order(says: Callable[..., Observation], values: Mapping[str, Estimate]) -> Observations:
    """Observations of each value compared with the one before it, by any difference; the keys name the places."""
    for a, b in itertools.pairwise(values):
        yield says(f"{b} against {a}", values[b], values[a], smallest=0.0)


class Claims:
    """The claims of a paper, as its modules state them."""

    def __init__(self, chose: Chose = lambda _: False) -> None:
        """No claims.

        Args:
            chose: Tells points that compare numbers which have chosen the model of the paper.
        """
        self._claims: dict[str, Claim] = {}
        self._chose = chose

    def claim(
        self,
        name: str,
        says: str,
        *,
        section: str,
        figures: tuple[int, ...] = (),
        tables: tuple[int, ...] = (),
        first: str = "",
        hangs: str = "",
        fresh: int = 0,
    ) -> Callable[[Says], Says]:
        """States a claim: the function that follows says what it says about data, point by point."""

        def state(observations: Says) -> Says:
            assert name not in self._claims, name
            self._claims[name] = Claim(
                name, says, section, observations, figures, tables, first, hangs, fresh, self._chose
            )
            return observations

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
    """A conclusion of a paper, supported by claims that make the same statement.

    Our number is that of the first sub-claim of the first claim.

    Attributes:
        says: The conclusion, in the words of the field.
        paper: The number of the paper: of the same quantity.
        claims: Names of the claims.
        why: The reason for the result, in a clause; empty if unknown. Not shown beside a confirmed conclusion.
        also: Another sub-claim of the first claim, see :meth:`Observation.called`, whose number is given, too.
        of: The quantity of both numbers, with its unit if they have none.
    """

    says: str
    paper: str
    claims: tuple[str, ...]
    why: str
    also: str = ""
    of: str = ""

    def judged(self, answers: dict[str, Answer]) -> page.JudgedFinding:
        """The verdict on the conclusion; claims that were not judged do not count."""
        judged = [answers[c] for c in self.claims if c in answers]
        ours = judged[0].effects if judged else "no runs"
        if judged and self.also:
            ours += f", {judged[0].effects_of(self.also)}"
        word = together([(c, answers[c].word) for c in self.claims if c in answers])
        why = "" if word.verdict is Verdict.CONFIRMED else self.why
        return page.JudgedFinding(self.says, self.paper, ours, word.said, why, ", ".join(self.claims), self.of)
