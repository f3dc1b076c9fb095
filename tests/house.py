"""Size and structure of the house: ``python tests/house.py`` prints them, and those last accepted.

A *room* is a folder of the library with those in it, or a module beside these folders; a floor is a step of the longest
chain of rooms that import each other.
"""

import ast
import json
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ROOT / "python"
ACCEPTED = Path(__file__).with_name("house.json")

SLOW = {"matplotlib", "numpy", "polars", "ray", "rich", "scipy"}
"""Packages that take longer to load than most runs."""

FACADE = {
    ("chappe.plot.figure", "chappe.plot"),
    ("chappe.results.budgets", "chappe.printing.results"),
    ("chappe.results.results", "chappe.expressions.of_run"),
    ("chappe.results.results", "chappe.page"),
    ("chappe.results.results", "chappe.page.notebook"),
    ("chappe.results.results", "chappe.plot.runs"),
    ("chappe.scenario.scenario", "chappe.page.notebook"),
    ("chappe.scenario.scenario", "chappe.plot.maps"),
    ("chappe.study.study", "chappe.page.notebook"),
    ("chappe.study.study", "chappe.page.study"),
    ("chappe.study.study", "chappe.plot.studies"),
}
"""Imports in methods by which an object shows or measures itself; no others may close a circle."""


class Import(NamedTuple):
    """Import of a module."""

    module: str
    is_hidden: bool
    """In a function."""


@cache
def modules() -> Mapping[str, Path]:
    """Modules of the library, by name."""
    found = {}
    for path in sorted((PACKAGES / "chappe").rglob("*.py")):
        parts = path.relative_to(PACKAGES).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports(module: str) -> tuple[Import, ...]:
    """Imports of a module, without those of type checkers."""
    return tuple(_imports(ast.parse(modules()[module].read_text(encoding="utf-8")), is_hidden=False))


def _imports(node: ast.AST, *, is_hidden: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        if isinstance(child, ast.ImportFrom):
            names = [f"{child.module}.{a.name}" for a in child.names]
            yield from (Import(name if name in modules() else str(child.module), is_hidden) for name in names)
        elif isinstance(child, ast.Import):
            yield from (Import(a.name, is_hidden) for a in child.names)
        yield from _imports(child, is_hidden=is_hidden or isinstance(child, ast.FunctionDef))


@cache
def loads(module: str) -> frozenset[str]:
    """Packages outside the library that are loaded with a module."""
    found, todo = set(), [module]
    seen = {module}
    while todo:
        for name in (i.module for i in imports(todo.pop()) if not i.is_hidden):
            if name not in modules():
                found.add(name.split(".")[0])
            elif name not in seen:
                seen.add(name)
                todo.append(name)
    return frozenset(found)


def hidden() -> Iterator[tuple[str, str]]:
    """Imports in functions that load no slow package and are no facade; commands may import anything there."""
    for module in modules():
        if not module.startswith("chappe.cli") and module != "chappe":
            for name in {i.module for i in imports(module) if i.is_hidden and i.module in modules()} - {"chappe"}:
                if (module, name) not in FACADE and not loads(name) & SLOW:
                    yield module, name


def circles() -> list[set[str]]:
    """Modules that import each other, but for the facade."""
    arrows = {
        module: {i.module for i in imports(module) if i.module in modules() and (module, i.module) not in FACADE}
        - {module, "chappe"}
        for module in modules()
    }
    return _circles(arrows)


def _circles(arrows: Mapping[str, set[str]]) -> list[set[str]]:
    def reached(start: str) -> set[str]:
        found: set[str] = set()
        todo = [start]
        while todo:
            new = arrows[todo.pop()] - found
            found |= new
            todo += new
        return found

    of = {name: reached(name) for name in arrows}
    found = []
    for name in arrows:
        circle = {other for other in of[name] if name in of[other]}
        if circle and circle not in found:
            found.append(circle)
    return found


def circles_of_rooms() -> list[set[str]]:
    """Rooms that import each other, not in functions."""
    return _circles(_arrows_of_rooms())


def floors() -> int:
    """Rooms of the longest chain of imports, not those in functions; rooms that import each other count as one."""
    arrows = _arrows_of_rooms()
    together = {name: frozenset(circle) for circle in _circles(arrows) for name in circle}

    @cache
    def height(name: str) -> int:
        same = together.get(name, frozenset({name}))
        below = {other for member in same for other in arrows[member]} - same
        return 1 + max((height(other) for other in below), default=0)

    return max(height(name) for name in arrows)


def _arrows_of_rooms() -> dict[str, set[str]]:
    rooms = {module: module.split(".")[1] for module in modules() if module not in ("chappe", "chappe.__main__")}
    arrows: dict[str, set[str]] = {name: set() for name in rooms.values()}
    for module, own in rooms.items():
        arrows[own] |= {rooms[i.module] for i in imports(module) if not i.is_hidden and i.module in rooms} - {own}
    return arrows


def folders() -> dict[str, int]:
    """Files in each folder of the library, but for the commands, of which each is a file."""
    counts: dict[str, int] = {}
    for path in modules().values():
        folder = str(path.parent.relative_to(PACKAGES))
        counts[folder] = counts.get(folder, 0) + 1
    del counts["chappe/cli"]
    return counts


PARTS = {
    "core": ("crates/*/src/**/*.rs",),
    "library": ("python/**/*.py", "python/**/*.pyi"),
    "benches": ("benches/**/*.py",),
    "tests": ("tests/**/*.py", "crates/*/tests/**/*.rs", "fuzz/**/*.rs", "fuzz/**/*.py"),
    "pages of users": ("docs/**/*.md", "*.md"),
    "reproductions": ("reproductions/**/*.py",),
    "pages of records": ("reproductions/**/*.md",),
}
"""Files of each part."""


def sizes() -> dict[str, int]:
    """Lines by part, files of the largest folder, floors, circles, settings."""
    import chappe

    found = {f"lines of {part}": _lines(patterns) for part, patterns in PARTS.items()}
    settings = sum(1 for _ in _leaves(chappe.Scenario.chain(1).settings))
    return {
        **found,
        "files of the largest folder": max(folders().values()),
        "floors": floors(),
        "circles": len(circles()),
        "settings of a chain": settings,
    }


GENERATED = {ROOT / "python/chappe/typing.py", ROOT / "docs/settings.md"}


def _lines(patterns: tuple[str, ...]) -> int:
    files = {file for pattern in patterns for file in ROOT.glob(pattern) if "target" not in file.parts} - GENERATED
    return sum(file.read_bytes().count(b"\n") for file in files)


def _leaves(node: object) -> Iterator[object]:
    if isinstance(node, dict):
        for child in node.values():
            yield from _leaves(child)
    else:
        yield node


def main() -> None:
    """Prints the sizes, or accepts them with ``--accept``."""
    now = sizes()
    if "--accept" in sys.argv:
        ACCEPTED.write_text(json.dumps(now, indent=2) + "\n", encoding="utf-8")
    before = json.loads(ACCEPTED.read_text(encoding="utf-8"))
    width = max(map(len, now))
    print(f"{'':{width}}  {'now':>8}  {'accepted':>8}")
    for name, number in now.items():
        print(f"{name:{width}}  {number:8,}  {before.get(name, 0):8,}")


if __name__ == "__main__":
    main()
