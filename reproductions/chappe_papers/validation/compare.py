"""Comparisons with other simulators: groups, parts of the page, and what is printed and written of each."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeVar

from chappe import RESULTS_EPOCH, __version__
from chappe import text as show
from chappe.cli.inputs import write_file
from chappe.stats import Estimate
from chappe.text import Table

from chappe_papers.pages.files import write_csv
from chappe_papers.pages.page import table

T = TypeVar("T")


COUNTED = ("agree", "of", "mean difference", "largest")
"""Numbers of a kind of cases."""


@dataclass(frozen=True)
class CaseByCase:
    """Words of a comparison case by case, for the terminal and for its page.

    A comparison has a ``case`` with ``title`` and ``kind``, its relative difference ``off``, ``agrees``, and
    ``is_certain`` if the difference means something.

    Attributes:
        name: Of the comparison, on the command line.
        title: What is compared with what.
        folder: The folder of its notes.
        rule: When a case agrees, in lines.
        columns: Names of the numbers of a case.
        values: The numbers of a case.
        say: What is said of all cases together, a sentence.
    """

    name: str
    title: str
    folder: Traversable
    rule: Sequence[str]
    columns: Sequence[str]
    values: Callable[[Any], Sequence[str]]
    say: Callable[[Sequence[Any]], str]

    def by_kind(self, comparisons: Sequence[Any]) -> dict[str, list[Any]]:
        """The cases by what they count with."""
        return groups(comparisons, lambda c: c.case.kind)

    def page(self, comparisons: Sequence[Any], more: Sequence[str] = (), *sections: Sequence[str]) -> str:
        """The page.

        Args:
            comparisons: The cases.
            more: Lines of the head below the rule.
            sections: Parts between the notes and all cases.
        """
        head = [
            f"# Validation of {self.title}", "", f"**{self.say(comparisons)}**", "", *self.rule, "", *more,
            origin(f"validate {self.name}"),
        ]  # fmt: skip
        counts = table(("cases", *COUNTED), [(k, *counted(cases)) for k, cases in self.by_kind(comparisons).items()])
        return joined(head, counts, notes(self.folder), *sections, self.section("All cases", comparisons))

    def section(self, title: str, comparisons: Sequence[Any]) -> list[str]:
        """A part of the page with some cases; none without cases."""
        rows = [(c.case.title, *self.values(c), "yes" if c.agrees else "**no**") for c in comparisons]
        return [f"## {title}", "", *table(("case", *self.columns, "agrees"), rows)] if rows else []

    def differing(self, comparisons: Sequence[Any]) -> list[str]:
        """The part of the page with the cases that do not agree."""
        return self.section("Cases that do not agree", [c for c in comparisons if not c.agrees])

    def summary(self, comparisons: Sequence[Any]) -> Iterator[Table]:
        """Tables that say how many cases agree, and which do not."""
        t = show.table("", *(f">{name}" for name in COUNTED), title=f"{self.title}: goodput")
        for kind, of_kind in self.by_kind(comparisons).items():
            t.add_row(kind, *counted(of_kind))
        yield t
        if unlike := [c for c in comparisons if not c.agrees]:
            t = show.table("does not agree", *(f">{name}" for name in self.columns))
            for c in unlike:
                t.add_row(c.case.title, *self.values(c))
            yield t


def counted(comparisons: Sequence[Any]) -> tuple[str, str, str, str]:
    """Number of cases that agree, of cases, and the mean and the largest difference of those that are certain."""
    off = [c.off for c in comparisons if c.is_certain]
    numbers = (percent(sum(off) / len(off)), percent(max(off, key=abs))) if off else ("", "")
    return str(sum(c.agrees for c in comparisons)), str(len(comparisons)), *numbers


def agreement(comparisons: Sequence[Any]) -> str:
    """Number of cases that agree, in a sentence."""
    unlike = sum(not c.agrees for c in comparisons)
    but = f", {unlike} {'does' if unlike == 1 else 'do'} not" if unlike else ""
    return f"{len(comparisons) - unlike} of {len(comparisons)} cases agree{but}."


def groups(comparisons: Iterable[T], key: Callable[[T], str]) -> dict[str, list[T]]:
    """Comparisons by a word of each, in the order in which the words come."""
    by_word: dict[str, list[T]] = {}
    for c in comparisons:
        by_word.setdefault(key(c), []).append(c)
    return by_word


def percent(share: float) -> str:
    """A relative difference."""
    return f"{100 * share:+.1f} %"


def origin(command: str) -> str:
    """Line of a page with the command and the version that wrote the page."""
    return f"Written by `chappe {command}` with Chappe {__version__}, results epoch {RESULTS_EPOCH}."


def notes(folder: Traversable) -> list[str]:
    """The part of a page that people wrote: the file ``notes.md`` of a comparison."""
    return [folder.joinpath("notes.md").read_text(encoding="utf-8").strip()]


def joined(*parts: Sequence[str]) -> str:
    """A page of parts, which are lines each, with an empty line between two parts. Empty parts are left out."""
    return "\n\n".join("\n".join(p).rstrip("\n") for p in parts if p) + "\n"


def difference_from_one(one: float, ours: Sequence[float]) -> Estimate:
    """The mean of runs of Chappe less a single run of another simulator, whose runs are taken to scatter as ours do."""
    e = Estimate.of(ours)
    return Estimate(e.mean - one, e.variance * (len(ours) + 1), e.df)


def finish(
    folder: Path,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    page: str,
    tables: Iterable[Table],
    lines: Iterable[str] = (),
    also: str = "",
) -> int:
    """Writes ``validation.csv`` and ``validation.md``, and prints a summary.

    Args:
        folder: The folder for both.
        columns: The header of ``validation.csv``.
        rows: The lines of it.
        page: The text of ``validation.md``.
        tables: The summary.
        lines: Text to print below the tables.
        also: Content of ``validation.md`` in addition to every value.

    Returns:
        The exit code of the command.
    """
    write_csv(folder / "validation.csv", columns, rows)
    write_file(folder / "validation.md", page.encode("utf-8"))
    for t in tables:
        show.write(t)
    for line in lines:
        print(line)
    show.say(f"Written to {folder}: validation.md with every value{also}, validation.csv.")
    return 0
