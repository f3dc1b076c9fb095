"""Papers, comparisons and experiments use public names of the library only."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import REPOSITORY

HERE = REPOSITORY / "reproductions"
OF_RULES = {"coverage.py", "equal_settings.py"}
"""Experiments about rules inside the library: how often its intervals, comparisons and searches err."""

FILES = sorted(
    path
    for folder in ("chappe_papers", "experiments")
    for path in (HERE / folder).rglob("*.py")
    if path.name not in OF_RULES
)
OF_TUPLES = {"_asdict", "_field_defaults", "_fields", "_replace"}


def private(path: Path) -> Iterator[str]:
    """Private names of the library that a file imports, and private attributes of other objects than its own."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{a.name}" for a in node.names]
        yield from (n for n in names if n.split(".")[0] == "chappe" and any(p[0] == "_" for p in n.split(".")[1:]))
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.endswith("__"):
            is_own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            if not is_own and node.attr not in OF_TUPLES:
                yield ast.unparse(node)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(HERE)))
def test_no_private_name_of_the_library_is_used(path: Path) -> None:
    assert [n for n in private(path) if n != "chappe.__version__"] == []


def test_private_names_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "import chappe.cli.text.problems\nfrom chappe.study import _axes\nx = chappe.run()._core\n"
    )
    assert list(private(tmp_path / "a.py")) == [
        "chappe.cli.text.problems",
        "chappe.study.design.axes",
        "chappe.run()._core",
    ]
