"""Pages of records do what they say: their commands and programs run, their links lead somewhere, as in ``docs``."""

import csv
import re
from pathlib import Path

import pytest
import test_docs
from command import REPOSITORY

HERE = REPOSITORY / "reproductions"
PAGES = [HERE / "README.md", *sorted((HERE / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=test_docs.name)
def test_commands_and_programs_run(page: Path, copies: Path, capsys: pytest.CaptureFixture[str]) -> None:
    test_docs.test_commands_and_programs_run(page, copies, capsys)


@pytest.mark.parametrize("page", PAGES, ids=test_docs.name)
def test_texts_and_links_are_right(page: Path) -> None:
    test_docs.test_indented_commands_are_right(page)
    test_docs.test_every_block_has_a_language_that_is_known(page)
    test_docs.test_links_lead_somewhere(page)


@pytest.mark.parametrize("page", sorted((HERE / "docs" / "papers").glob("*.md")), ids=test_docs.name)
def test_tables_on_pages_are_those_of_the_files(page: Path) -> None:
    """A table on the page of a paper with the head of one of its files has the cells of the file."""
    files = [list(csv.reader(f.read_text(encoding="utf-8").splitlines())) for f in page.with_suffix("").glob("*.csv")]
    for text in re.findall(r"(?:^\|.*\|\n)+", page.read_text(encoding="utf-8"), re.MULTILINE):
        lines = [[_plain(cell) for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in text.splitlines()]
        table = [lines[0], *lines[2:]]
        alike = [rows for rows in files if rows[0] == table[0] and len(rows) == len(table)]
        assert not alike or table in alike


def _plain(cell: str) -> str:
    """A cell of a page as a file has it."""
    return re.sub(r"\\([\[\]|*_])", r"\1", cell.strip())
