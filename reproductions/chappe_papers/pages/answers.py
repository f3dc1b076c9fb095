"""Answers of additions to questions that a paper asks or leaves open: on its page, in a file, in the package."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from importlib.resources.abc import Traversable
from pathlib import Path

from chappe_papers.pages.files import write_csv

FILE = "answers.csv"
"""Of a paper, in its folder of results and, of runs of full length, in its package."""

HEADING = "## Beyond the paper"
"""Heading of the answers that are not at the top of a page."""

LEADING, FURTHER = "leading", "further"
"""Places of answers on a page."""


@dataclass(frozen=True)
class Answer:
    """Answer of an addition to a question.

    Attributes:
        paper: Name of the paper.
        extra: Name of the addition.
        place: :data:`LEADING` at the top of the page, or :data:`FURTHER`.
        question: The question, or what it is about.
        text: The answer, with numbers from runs.
        table: File of the table with all numbers.
    """

    paper: str
    extra: str
    place: str
    question: str
    text: str
    table: str

    @property
    def command(self) -> str:
        """Command that gives the answer."""
        return f"chappe paper {self.paper} --extra {self.extra}"


def _lines(answers: Iterable[Answer], folder: str) -> list[str]:
    return [f"**{a.question}** {a.text} Shown by `{a.command}` ([all numbers]({folder}{a.table}))." for a in answers]


def leading(answers: Iterable[Answer], folder: str = "") -> list[str]:
    """Answers for the top of a page, in paragraphs, each followed by an empty line.

    Args:
        answers: All answers.
        folder: Folder of the tables, relative to the page, with a slash at the end.
    """
    paragraphs = _lines((a for a in answers if a.place == LEADING), folder)
    return [line for paragraph in paragraphs for line in (paragraph, "")]


def further(answers: Iterable[Answer], folder: str = "") -> list[str]:
    """The other answers, a section with a list; nothing if there are none."""
    lines = _lines((a for a in answers if a.place == FURTHER), folder)
    return [HEADING, "", *(f"- {line}" for line in lines), ""] if lines else []


_SECTION = re.compile(rf"^{HEADING}\n.*?(?=^## )", re.DOTALL | re.MULTILINE)
_AFTER = re.compile(r"^## (?:Other readings|Figures|Tables|Method)\n", re.MULTILINE)


def replaced(page: str, about: str, answers: Sequence[Answer], folder: str) -> str:
    """A published page with these answers instead of its own.

    Args:
        page: The page.
        about: The paragraph that answers at the top follow.
        answers: All answers of the paper.
        folder: Folder of the tables, relative to the page, with a slash at the end.
    """
    top = re.compile(rf"{re.escape(about)}\n\n(?:\*\*.*\(\[all numbers\]\(.*\)\)\.\n\n)*")
    page = top.sub(lambda _: "\n".join([about, "", *leading(answers, folder), ""]), page, count=1)
    page = _SECTION.sub("", page, count=1)
    section = "\n".join([*further(answers, folder), ""])
    return _AFTER.sub(lambda found: section + found[0], page, count=1) if section.strip() else page


def merged(known: Iterable[Answer], new: Sequence[Answer], order: Sequence[str]) -> list[Answer]:
    """Answers with those of some additions replaced, in the order of the additions."""
    again = {a.extra for a in new}
    return sorted([*(a for a in known if a.extra not in again), *new], key=lambda a: order.index(a.extra))


def write(path: Path, answers: Iterable[Answer]) -> None:
    """Writes answers as CSV."""
    write_csv(path, [f.name for f in fields(Answer)], [list(asdict(a).values()) for a in answers])


def read(path: Traversable) -> list[Answer]:
    """Answers from a file; none if there is no file."""
    if not path.is_file():
        return []
    rows: Iterable[Mapping[str, str]] = csv.DictReader(path.read_text(encoding="utf-8").splitlines())
    return [Answer(**row) for row in rows]
