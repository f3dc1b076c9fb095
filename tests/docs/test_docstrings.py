"""Every name that a docstring of the package refers to can be imported."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import REPOSITORY

ROOT = REPOSITORY / "python"
MODULES = sorted((ROOT / "chappe").rglob("*.py"))
ROLE = re.compile(r":(?:func|class|meth|attr|data|mod|exc):`~?([\w.]+)`")


def references(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Names that docstrings of a module refer to, with the classes around them."""

    def inside(node: ast.AST, classes: list[str]) -> Iterator[tuple[str, list[str]]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                text = child.value.value
                for name in ROLE.findall(text) if isinstance(text, str) else ():
                    yield name, classes
            yield from inside(child, [*classes, child.name] if isinstance(child, ast.ClassDef) else classes)

    yield from inside(ast.parse(path.read_text(encoding="utf-8")), [])


def exists(name: str, module: str, classes: list[str]) -> bool:
    """True if a name is one of Python, of the module or of a class around it, or can be imported."""
    for scope in [module, *(f"{module}.{'.'.join(classes[: n + 1])}" for n in range(len(classes))), "builtins"]:
        if found(f"{scope}.{name}"):
            return True
    return found(name)


def found(full: str) -> bool:
    names = full.split(".")
    for n in range(len(names), 0, -1):
        try:
            value: object = importlib.import_module(".".join(names[:n]))
        except ModuleNotFoundError:
            continue
        for name in names[n:]:
            fields = getattr(value, "__annotations__", {})
            if name in fields and not hasattr(value, name):
                return name == names[-1]
            if not hasattr(value, name):
                return False
            value = getattr(value, name)
        return True
    return False


def unknown(path: Path, root: Path) -> list[str]:
    """Names in docstrings of a module that do not exist; ``root`` is the folder of its package."""
    module = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
    return [name for name, classes in references(path) if not exists(name, module, classes)]


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_names_in_docstrings_exist(path: Path) -> None:
    assert unknown(path, ROOT) == []


def test_unknown_names_are_found() -> None:
    assert not exists("chappe.results.results.Measure", "chappe", [])
    assert not exists("Study.nothing", "chappe.study", [])
    assert exists("settings", "chappe.scenario.scenario", ["Scenario"])
    assert exists("warnings.warn", "chappe", [])
