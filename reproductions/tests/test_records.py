"""Pages of records do what they say: their commands and programs run, their links lead somewhere, as in ``docs``."""

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
