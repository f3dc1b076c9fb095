"""Comparisons with other simulators: from runs to the page, the table of all values and the summary."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Protocol, TypeVar

import polars as pl
from chappe import RESULTS_EPOCH, Scenario, __version__
from chappe import text as show
from chappe.cli.inputs import write_file
from chappe.stats import Estimate
from chappe.study import RunCache
from chappe.text import Table

from chappe_papers.pages.files import write_csv

T = TypeVar("T")


class Compared(Protocol):
    """A value of another simulator and ours."""

    @property
    def off(self) -> float:
        """Relative difference."""

    @property
    def within(self) -> bool:
        """True if the difference is within the tolerance."""

    @property
    def agrees(self) -> bool:
        """True if the difference is within the tolerance, or so small that chance explains it."""

    @property
    def is_certain(self) -> bool:
        """True if the relative difference is meaningful."""


class Validation(ABC):
    """A comparison. Its findings have any form, because only its own methods read them.

    Attributes:
        title: Title of the page: the subject, and the other simulator.
    """

    title: str

    @abstractmethod
    def run_cache(self, folder: Path | str, jobs: int | None) -> RunCache:
        """The runs, in a folder below that for the results."""

    @abstractmethod
    def compare(self, runs: RunCache) -> Any:
        """Makes the runs that the other simulator made, or finds them, and compares."""

    @property
    @abstractmethod
    def header(self) -> Sequence[str]:
        """The header of ``validation.csv``."""

    @abstractmethod
    def rows(self, found: Any, /) -> Iterable[Sequence[object]]:
        """The lines of ``validation.csv``."""

    @abstractmethod
    def page(self, found: Any, jobs: int | None, /) -> str:
        """The text of ``validation.md``.

        Args:
            found: The findings of :meth:`compare`.
            jobs: Number of parallel runs, where the page needs runs that are not compared.
        """

    @abstractmethod
    def tables(self, found: Any, /) -> Iterable[Table]:
        """The summary."""

    def answers(self, _found: Any, /) -> Sequence[str]:
        """Lines below the summary."""
        return ()

    def validate(self, folder: Path, *, jobs: int | None) -> int:
        """Runs the comparison, prints a summary, and writes ``validation.md`` and ``validation.csv``.

        Returns:
            The exit code of the command.
        """
        with self.run_cache(folder, jobs) as runs:
            found = self.compare(runs)
        write_csv(folder / "validation.csv", self.header, self.rows(found))
        write_file(folder / "validation.md", self.page(found, jobs).encode("utf-8"))
        for t in self.tables(found):
            show.write(t)
        for line in self.answers(found):
            print(line)
        show.say(f"Written to {folder}: validation.md with every value and the reasons of differences, validation.csv.")
        return 0


class OfSimulator(Validation):
    """A comparison that belongs to no paper; its module ``compare`` names it ``VALIDATION``.

    Attributes:
        name: Its name on the command line.
        subject: Title of the progress bar and of the summary.
        folder: The folder of its files, among them ``notes.md``.
        seeds: Seeds of our runs.
        rule: Condition under which a value agrees, as lines of the page.
    """

    name: str
    subject: str
    folder: Traversable
    seeds: Sequence[int]
    rule: Sequence[str]

    @property
    @abstractmethod
    def labels(self) -> Sequence[str]:
        """Names of the parameters of a run."""

    @staticmethod
    @abstractmethod
    def of_run(tables: Mapping[str, pl.DataFrame], /) -> dict[str, float]:
        """Values taken from a run."""

    @abstractmethod
    def base(self) -> Scenario:
        """One of the scenarios."""

    @abstractmethod
    def sections(self, found: Any, jobs: int | None, /) -> Iterable[Sequence[str]]:
        """Parts of the page below its notes."""

    def run_cache(self, folder: Path | str, jobs: int | None) -> RunCache:
        """The runs, in a folder below that for the results."""
        return RunCache(folder, self.base(), self.labels, jobs=jobs, title=self.subject)

    def head(self, found: Any, /) -> Iterable[str]:
        """Paragraphs above the rule."""
        return (f"**{answer}**" for answer in self.answers(found))

    def remarks(self, _found: Any, /) -> Iterable[str]:
        """Paragraphs below the rule."""
        return ()

    def counts(self, _found: Any, /) -> Sequence[str]:
        """Table with the number of values that agree."""
        return ()

    def page(self, found: Any, jobs: int | None, /) -> str:
        """The page: numbers of agreements, differences with their reasons, and every value."""
        return joined(
            [f"# Validation of {self.title}"],
            *([paragraph] for paragraph in self.head(found)),
            self.rule,
            *([paragraph] for paragraph in self.remarks(found)),
            [origin(f"validate {self.name}")],
            self.counts(found),
            [self.folder.joinpath("notes.md").read_text(encoding="utf-8").strip()],
            *self.sections(found, jobs),
        )


def groups(comparisons: Iterable[T], key: Callable[[T], str]) -> dict[str, list[T]]:
    """Comparisons by a word of each, in the order of the first occurrence of each word."""
    by_word: dict[str, list[T]] = {}
    for c in comparisons:
        by_word.setdefault(key(c), []).append(c)
    return by_word


def counted(compared: Sequence[Compared]) -> tuple[str, str, str, str, str]:
    """Number of values that agree, of all, and of those that agree beyond the tolerance; differences of certain ones.

    The differences are the mean and the largest.
    """
    agree = [c for c in compared if c.agrees]
    off = [c.off for c in compared if c.is_certain]
    numbers = (percent(sum(off) / len(off)), percent(max(off, key=abs))) if off else ("", "")
    return str(len(agree)), str(len(compared)), str(sum(not c.within for c in agree)), *numbers


def agreement(compared: Sequence[Compared], values: str, by: str = "the interval") -> str:
    """Number of values that agree, and of those that agree only by the interval (or a test), in a sentence."""
    agree = [c for c in compared if c.agrees]
    sentence = f"{len(agree)} of {len(compared)} {values} agree"
    if beyond := sum(not c.within for c in agree):
        sentence += f", {beyond} of them only by {by}"
    if unlike := len(compared) - len(agree):
        sentence += f"; {unlike} {'does' if unlike == 1 else 'do'} not"
    return f"{sentence}."


def relative(ours: float, theirs: float) -> float:
    """The relative difference; infinite where only the other simulator has none."""
    if ours == theirs:
        return 0.0
    return ours / theirs - 1 if theirs else math.inf


def percent(share: float) -> str:
    """A relative difference."""
    return f"{100 * share:+.1f} %"


def yes(agrees: bool) -> str:
    """Cell of a page that says if a value agrees."""
    return "yes" if agrees else "**no**"


def origin(command: str) -> str:
    """Line of a page with the command and the version that wrote the page."""
    return f"Written by `chappe {command}` with Chappe {__version__}, results epoch {RESULTS_EPOCH}."


def joined(*parts: Sequence[str]) -> str:
    """A page made of parts, separated by empty lines. A part is a list of lines; empty parts are omitted."""
    return "\n\n".join("\n".join(p).rstrip("\n") for p in parts if p) + "\n"


def difference_from_one(one: float, ours: Estimate) -> Estimate:
    """The mean of runs of Chappe less a single run of another simulator, whose runs are taken to scatter as ours do."""
    runs = ours.df + 1
    return Estimate(ours.mean - one, ours.variance * (runs + 1), ours.df)
