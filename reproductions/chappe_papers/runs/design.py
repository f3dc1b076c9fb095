"""Runs of a paper: its points, the number of runs of each, and the values taken from a run."""

import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

import polars as pl
from chappe import Scenario
from chappe.stats import Estimate
from chappe.study import Item, RunCache
from chappe.study import Point as Labeled

from chappe_papers.runs import reference
from chappe_papers.runs.estimates import Estimates, Measure
from chappe_papers.runs.reference import Record

SEARCHED = ("setting", "hops", "rate_mbps", "value", "runs", "goodput_bps", "half_width_95")
"""Columns of ``searches.csv``."""


class Length(Protocol):
    """Lengths and numbers of runs; a paper has two of them."""

    @property
    def x(self) -> Sequence[Any]:
        """The values along which the paper's curves are drawn: hops, or error rates."""
        ...


class Design(ABC):
    """The runs of a paper. Its module ``design`` derives from this class, and keeps an instance as ``DESIGN``.

    A point is a named tuple, what runs have in common but their seed. Measures have the names of the tables of results
    and of :mod:`chappe.measures`, or are named by :meth:`of_run`.

    Attributes:
        name: Of the paper, and of its package.
        point: The class of its points; the first field has no default, and the last one of a run.
        labels: Settings of the run, such as ``stop``, that tell runs of a point apart.
        measures: Measures by name.
        full: The runs of full length.
        quick: Short runs.
    """

    name: str
    point: Any
    labels: tuple[str, ...] = ("stop",)
    measures: Mapping[str, Measure]
    full: Any
    quick: Any

    @property
    def package(self) -> str:
        """The package of the paper."""
        return f"chappe_papers.{self.name}"

    def text(self, name: str = "scenario.toml") -> str:
        """A file of the paper."""
        return files(self.package).joinpath(name).read_text(encoding="utf-8")

    def base(self) -> Scenario:
        """The scenario on which those of the paper are built; the folder of the runs belongs to it."""
        return Scenario(tomllib.loads(self.text()))

    @abstractmethod
    def scenario(self, point: Any, length: Any, /) -> Scenario:
        """The scenario of a point."""

    @abstractmethod
    def weight(self, point: Any, scenario: Scenario, /) -> float:
        """Approximate cost of a run, relative to others, for the progress bar."""

    @abstractmethod
    def of_run(self, tables: Mapping[str, pl.DataFrame]) -> dict[str, float]:
        """Values taken from a run in addition to its measures."""

    @abstractmethod
    def seeds(self, point: Any, length: Any) -> int:
        """Number of first runs of a point."""

    def further(self, _point: Any, _length: Any, rows: pl.DataFrame, /) -> int:
        """Number of all its runs, given its first runs: point, length, rows."""
        return len(rows)

    def repeats(self, _point: Any, /) -> bool:
        """True if more seeds of a point are more independent runs of it."""
        return True

    def alike(self, _point: Any, /) -> bool:
        """True if every run of a point is taken to be like every other, when the first do not speak against it."""
        return False

    def decides(self, _point: Any, _length: Any, /) -> bool:
        """True if runs of this length say anything of those of full length; if not, nothing is known of their error."""
        return True

    def same(self, point: Any) -> Any:
        """Representative of all points with the same scenario."""
        return point

    @abstractmethod
    def estimates(self, point: Any, rows: pl.DataFrame, alike: bool, /) -> dict[str, Estimate]:
        """The measures of a point from its runs, one in a row."""

    def stages(self, points: Iterable[Any], _length: Any, /) -> "list[Stage]":
        """Stages that run these points, one after the other; points known from the start come first."""
        return [lambda runner: runner.run(points)]

    def records(self) -> tuple[Record, ...]:
        """The numbers of others."""
        return reference.records(self.package, self.point)

    def ns2(self) -> Estimates:
        """The runs of ns-2 by point."""
        return Estimates(reference.first(self.records()), self.full.x)

    @abstractmethod
    def method(self, runner: Any) -> list[str]:
        """Method, in paragraphs."""

    def searches(self, _lab: Any, /) -> list[tuple[object, ...]]:
        """Every value that was tried in search of a best one, a line of ``searches.csv`` each: :data:`SEARCHED`."""
        return []

    # ---- for all papers ----

    def run_cache(self, results: Path | str, jobs: int | None) -> RunCache:
        """The runs of the paper, in a folder below that for the results."""
        return RunCache(results, self.base(), (*self.point._fields, *self.labels), jobs=jobs, title=self.name)

    def items(self, point: Any, scenario: Scenario, seeds: Iterable[int]) -> list[Item]:
        """A point with some seeds, as runs of a study with labels that say which they are."""
        run = scenario.settings["run"]
        labeled = Labeled({**point._asdict(), **{name: run[name] for name in self.labels}}, scenario)
        weight = self.weight(point, scenario)
        return [Item(labeled, seed, weight=weight) for seed in seeds]

    def measured(
        self, scenarios: Mapping[Any, tuple[Scenario, Iterable[int]]], runs: RunCache
    ) -> dict[Any, pl.DataFrame]:
        """Runs scenarios with seeds, or finds their runs: one row for each seed, by point."""
        items = {p: self.items(p, s, seeds) for p, (s, seeds) in scenarios.items()}
        return runs.measure(items, self.of_run)


Stage = Callable[[Any], object]
"""A part of all work: runs some points of a :class:`chappe_papers.runs.runner.Runner`."""
