"""Results epochs of published pages."""

import re
from pathlib import Path

import chappe

DOCS = Path(__file__).resolve().parents[1] / "docs"


def assert_is_told(page: Path) -> None:
    """A page is of today's results epoch, or `docs/papers.md` lists it with its own, and says what has moved."""
    (epoch,) = re.findall(r"results epoch (\d+)", page.read_text(encoding="utf-8"))
    if int(epoch) != chappe.RESULTS_EPOCH:
        papers = (DOCS / "papers.md").read_text(encoding="utf-8")
        link = page.relative_to(DOCS).as_posix()
        assert f"\n| [{page.name}]({link}) | {epoch} | " in papers, f"{link} is of epoch {epoch}"
