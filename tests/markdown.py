"""Parts of a page of Markdown: fenced blocks, indented commands, headings, links."""

import re
from pathlib import Path
from typing import NamedTuple


class Block(NamedTuple):
    """A fenced block."""

    language: str
    text: str
    line: int
    """Line of its first line, from 1."""


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [Block(m[1], m[2], text.count("\n", 0, m.start(2)) + 1) for m in found]


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def indented(page: Path) -> list[str]:
    """Indented lines outside of fenced blocks, without the remark that two spaces set off."""
    found = re.findall(r"^    (\S.*)$", prose(page), re.MULTILINE)
    return [re.split(r"\s{2,}", line)[0] for line in found]


def links(page: Path) -> list[str]:
    """Targets of links and pictures."""
    return re.findall(r"\]\(([^)\s]+)\)", prose(page))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}
