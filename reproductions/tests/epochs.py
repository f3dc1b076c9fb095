"""Results epochs of published pages."""

import re
from pathlib import Path

import chappe

DOCS = Path(__file__).resolve().parents[1] / "docs"


def assert_is_told(page: Path) -> None:
    """A page is of today's results epoch, or `docs/papers.md` lists it with its date, and says what has moved."""
    text = page.read_text(encoding="utf-8")
    ((before, epoch),) = re.findall(r"(before )?results epoch (\d+)", text)
    if before or int(epoch) != chappe.RESULTS_EPOCH:
        papers = (DOCS / "papers.md").read_text(encoding="utf-8")
        link = page.relative_to(DOCS).as_posix()
        listed = re.search(rf"\n\| \[{re.escape(page.name)}\]\({re.escape(link)}\) \| (\S+) \| ", papers)
        assert listed, f"{link} is not of epoch {chappe.RESULTS_EPOCH}"
        assert listed[1] in text, f"{link} is not of {listed[1]}"
