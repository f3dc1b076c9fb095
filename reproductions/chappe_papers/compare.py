"""Comparisons with other simulators: groups, parts of the page, and what is printed and written of each."""

from collections.abc import Callable, Iterable, Sequence
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TypeVar

from chappe import RESULTS_EPOCH, __version__
from chappe import text as show
from chappe.stats import Estimate
from chappe.text import Table

from chappe_papers.files import write_csv, write_file

T = TypeVar("T")


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
