"""The rooms of the reproductions: no full folder, and shared code imports only what lies below it."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from command import REPOSITORY

HERE = REPOSITORY / "reproductions"
MOST_FILES = 12

ROOMS = ("statistics", "runs", "pages", "judging")
"""Rooms that all papers share, each of which may import those before it."""


def imported(path: Path) -> Iterator[str]:
    """Modules of the papers that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "chappe_papers":
            yield from (f"{node.module}.{a.name}" for a in node.names)


def test_a_folder_has_at_most_twelve_programs() -> None:
    folders = Counter(
        path.parent.relative_to(HERE)
        for folder in ("benches", "chappe_papers", "experiments")
        for path in (HERE / folder).rglob("*.py")
    )
    assert {folder: n for folder, n in folders.items() if n > MOST_FILES} == {}


def test_rooms_import_only_those_below() -> None:
    for n, room in enumerate(ROOMS):
        for path in (HERE / "chappe_papers" / room).glob("*.py"):
            rooms = {name.split(".")[1] for name in imported(path)}
            assert rooms <= set(ROOMS[: n + 1]), path.name
