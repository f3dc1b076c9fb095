"""Comparisons case by case: runs of ns-3, and runs of Chappe with several seeds for each case."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import polars as pl
from chappe import Scenario
from chappe import text as show
from chappe.stats import Estimate
from chappe.study import Item, Point, RunCache
from chappe.text import Table

from chappe_papers.pages.page import table
from chappe_papers.validation.compare import (
    Compared,
    OfSimulator,
    agreement,
    counted,
    groups,
    percent,
    relative,
    yes,
)


class Case(Protocol):
    """Parameters of runs that differ only in the seed: a named tuple."""

    @property
    def _fields(self) -> tuple[str, ...]: ...

    @property
    def kind(self) -> str:
        """Group of the case in the summary."""

    @property
    def title(self) -> str:
        """For people."""

    def _asdict(self) -> dict[str, Any]: ...

    def __iter__(self) -> Iterator[object]: ...

    def __hash__(self) -> int: ...


class CaseCompared(Compared, Protocol):
    """A case of ns-3 and ours."""

    @property
    def case(self) -> Case:
        """The case."""

    @property
    def cells(self) -> Sequence[str]:
        """The cells of :attr:`CaseByCase.columns`."""


C = TypeVar("C", bound=Case)
R = TypeVar("R")
F = TypeVar("F", bound=CaseCompared)


@dataclass(frozen=True)
class Goodputs(ABC, Generic[C]):
    """Goodput of a case in ns-3 and Chappe [kbit/s].

    Attributes:
        case: The case.
        ns3: The mean of the runs of ns-3.
        ours: The mean of our runs.
        plain: The mean of our runs without the departures of ns-3 from the standard, where there are any.
        packets: Number of packets that ns-3 delivered, where frames are lost independently of each other; infinite
            elsewhere.
    """

    case: C
    ns3: Estimate
    ours: Estimate
    plain: Estimate | None = None
    packets: float = math.inf

    @property
    def is_certain(self) -> bool:
        """True if the difference is meaningful: 400 independent packets are known to 10 %, two standard errors."""
        return self.packets >= 400

    @property
    @abstractmethod
    def tolerance(self) -> float:
        """Relative tolerance."""

    @property
    def off(self) -> float:
        """Relative difference."""
        return relative(self.ours.mean, self.ns3.mean)

    @property
    def within(self) -> bool:
        """True if the difference is within the tolerance."""
        return abs(self.off) <= self.tolerance

    @property
    @abstractmethod
    def agrees(self) -> bool:
        """True if the difference is within the tolerance, or so small that chance explains it."""

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """Goodput of ns-3 and ours, the difference, and the difference without departures from the standard."""
        plain = percent(relative(self.plain.mean, self.ns3.mean)) if self.plain else ""
        return show.number(self.ns3.mean), show.number(self.ours.mean), percent(self.off), plain

    @property
    def numbers(self) -> tuple[float, float, float]:
        """Goodput of ns-3, ours, and ours without departures from the standard; NaN where there are none."""
        return self.ns3.mean, self.ours.mean, self.plain.mean if self.plain else math.nan


class CaseByCase(OfSimulator, Generic[C, R, F]):
    """A comparison of cases ``C`` with runs ``R`` of ns-3, whose findings are ``F``.

    Attributes:
        counted: Names of the numbers of a kind of cases.
        columns: Names of the numbers of a case.
        written: Columns of the file after those of the case.
    """

    counted: Sequence[str] = ("agree", "of", "only by the interval", "mean difference", "largest")
    columns: Sequence[str]
    written: Sequence[str]

    @abstractmethod
    def reference(self) -> Mapping[C, R]:
        """The runs of ns-3, by case."""

    @abstractmethod
    def scenario(self, case: C, *, plain: bool) -> Scenario:
        """The scenario of a case; with ``plain`` without the departures of ns-3 from the standard."""

    @abstractmethod
    def departs(self, case: C) -> bool:
        """True for a case that is also run without these departures."""

    @abstractmethod
    def weight(self, case: C) -> float:
        """The relative effort of a run of a case."""

    @abstractmethod
    def comparison(self, case: C, ns3: R, ours: pl.DataFrame, plain: pl.DataFrame | None) -> F:
        """Comparison of a case in ns-3 with our runs, with and without the departures of ns-3 from the standard."""

    @abstractmethod
    def of_file(self, c: F) -> Iterable[Sequence[object]]:
        """The cells of ``written``, for each line of the case."""

    @property
    def labels(self) -> Sequence[str]:
        """The fields of the case, and ``plain``: without departures from the standard."""
        return (*self._first()._fields, "plain")

    @property
    def header(self) -> Sequence[str]:
        """The fields of the case, and the numbers."""
        return (*self._first()._fields, *self.written)

    def base(self) -> Scenario:
        """The scenario of the first case."""
        return self.scenario(self._first(), plain=False)

    def _first(self) -> C:
        return next(iter(self.reference()))

    def seeds_of(self, _case: C, /) -> Sequence[int]:
        """The seeds of a case."""
        return self.seeds

    def words(self, kind: str, /) -> str:
        """A kind of cases, for people."""
        return kind

    def run(self, cases: Iterable[C], runs: RunCache) -> dict[tuple[C, bool], pl.DataFrame]:
        """Runs of cases with the departures of ns-3 from the standard, and without them (``True``)."""
        items = {}
        for case in cases:
            for plain in (False, True) if self.departs(case) else (False,):
                point = Point({**case._asdict(), "plain": plain}, self.scenario(case, plain=plain))
                items[case, plain] = [Item(point, seed, weight=self.weight(case)) for seed in self.seeds_of(case)]
        return runs.make(items, self.of_run)

    def compare(self, runs: RunCache) -> list[F]:
        """Runs the cases of ns-3."""
        cases = self.reference()
        tables = self.run(cases, runs)
        return [
            self.comparison(case, ns3, tables[case, False], tables.get((case, True))) for case, ns3 in cases.items()
        ]

    def rows(self, comparisons: Sequence[F], /) -> Iterator[Sequence[object]]:
        """The lines of each case."""
        return ((*c.case, *cells) for c in comparisons for cells in self.of_file(c))

    def answers(self, comparisons: Sequence[F], /) -> Sequence[str]:
        """Number of cases that agree."""
        return (agreement(comparisons, "cases"),)

    def count(self, comparisons: Sequence[F]) -> Sequence[str]:
        """The cells of ``counted``."""
        return counted(comparisons)

    def by_kind(self, comparisons: Sequence[F]) -> list[Sequence[str]]:
        """The name and the counts of each kind of cases."""
        kinds = groups(comparisons, lambda c: c.case.kind)
        return [(self.words(kind), *self.count(of_kind)) for kind, of_kind in kinds.items()]

    def counts(self, comparisons: Sequence[F], /) -> Sequence[str]:
        """Table of the kinds of cases."""
        return table(("cases", *self.counted), self.by_kind(comparisons))

    def sections(self, comparisons: Sequence[F], _jobs: int | None, /) -> Iterable[Sequence[str]]:
        """Cases that do not agree, and all cases."""
        return self.differing(comparisons), self.section("All cases", comparisons)

    def section(self, title: str, comparisons: Sequence[F]) -> list[str]:
        """A section of the page with some cases; empty without cases."""
        rows = [(c.case.title, *c.cells, yes(c.agrees)) for c in comparisons]
        return [f"## {title}", "", *table(("case", *self.columns, "agrees"), rows)] if rows else []

    def differing(self, comparisons: Sequence[F]) -> list[str]:
        """The section of the page with the cases that do not agree."""
        return self.section("Cases that do not agree", [c for c in comparisons if not c.agrees])

    def tables(self, comparisons: Sequence[F], /) -> Iterator[Table]:
        """Tables with the numbers of cases that agree, and with the cases that do not."""
        t = show.table("", *(f">{name}" for name in self.counted), title=f"{self.subject}: goodput")
        for cells in self.by_kind(comparisons):
            t.add_row(*cells)
        yield t
        if unlike := [c for c in comparisons if not c.agrees]:
            t = show.table("does not agree", *(f">{name}" for name in self.columns))
            for c in unlike:
                t.add_row(c.case.title, *c.cells)
            yield t
