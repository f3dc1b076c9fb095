"""docs/quality.md has the numbers of the records."""

import runpy
from typing import Any

from command import REPOSITORY

PROGRAM: dict[str, Any] = runpy.run_path(str(REPOSITORY / "reproductions" / "docs" / "quality.py"))
PAGE = (REPOSITORY / "docs" / "quality.md").read_text(encoding="utf-8")


def test_the_tables_are_those_of_the_records() -> None:
    assert PROGRAM["written"](PAGE) == PAGE, "python reproductions/docs/quality.py writes it anew"
    for name, lines in PROGRAM["tables"]().items():
        assert f"<!-- {name} -->\n" in PAGE
        assert all(line in PAGE for line in lines)


def test_every_comparison_is_there() -> None:
    pages = {path.name for path in (REPOSITORY / "reproductions" / "docs").glob("validation*.md")}
    assert pages <= set(PROGRAM["COMPARISONS"])
