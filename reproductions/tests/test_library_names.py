"""The reproductions use public names of the library only."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import REPOSITORY

HERE = REPOSITORY / "reproductions"
FILES = sorted(
    path for folder in ("benches", "chappe_papers", "docs", "experiments") for path in (HERE / folder).rglob("*.py")
)
PUBLIC = {
    *("chappe", "chappe.measures", "chappe.plot", "chappe.study", "chappe.text", "chappe.typing"),
    *("chappe.stats", "chappe.stats.quantiles", "chappe.stats.states"),
    # Commands of other distributions have the arguments, the options and the messages of the library's own.
    *("chappe.cli.extensions", "chappe.cli.inputs", "chappe.cli.options"),
}
"""Public modules of the library."""

OF_TUPLES = {"_asdict", "_field_defaults", "_fields", "_replace"}


def private(path: Path) -> Iterator[str]:
    """Private names of the library that a file imports, and private attributes of other objects than its own."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.split(".")[0] == "chappe" and a.name not in PUBLIC)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "chappe":
            names = [(f"{node.module}.{a.name}", a.name) for a in node.names]
            yield from (
                full for full, name in names if full not in PUBLIC and (node.module not in PUBLIC or name[0] == "_")
            )
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.endswith("__"):
            is_own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            if not is_own and node.attr not in OF_TUPLES:
                yield ast.unparse(node)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(HERE)))
def test_no_private_name_of_the_library_is_used(path: Path) -> None:
    assert [n for n in private(path) if n != "chappe.__version__"] == []


def test_private_names_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "import chappe.errors\nfrom chappe.study import design, sweep\nfrom chappe.study.design import axes\n"
        "from chappe import _core, stats\nx = chappe.run()._core\n"
    )
    found = ["chappe.errors", "chappe.study.design.axes", "chappe._core", "chappe.run()._core"]
    assert list(private(tmp_path / "a.py")) == found
