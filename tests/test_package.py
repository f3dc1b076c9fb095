"""Import of the package: fast, with complete names."""

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import chappe
import pytest
from chappe._moved import CLASSES, RENAMED
from command import OLD_NAMES

HEAVY = {"scipy", "matplotlib", "polars", "numpy", "jinja2"}
"""Packages that take longer to load than most commands to run."""


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["list"],
        ["schema"],
        ["explain", "tcp.receive_window"],
        ["check", "scenarios/chain.toml"],
        ["check", "scenarios/chain.toml", "--json"],
        ["completion", "bash"],
    ],
    ids=" ".join,
)
def test_commands_that_need_no_statistics_start_without(arguments: list[str]) -> None:
    program = (
        f"import sys; from chappe import cli; assert cli.main({arguments}) == 0; print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert HEAVY & set(done.stderr.split()) == set()


def test_a_run_and_its_summary_need_neither_scipy_nor_matplotlib() -> None:
    program = (
        "import sys; from chappe import cli; "
        "assert cli.main(['run', 'scenarios/one-hop.toml']) == 0; print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert "rich" in loaded
    assert {"scipy", "matplotlib", "jinja2"} & loaded == set()


EVERYTHING = f"""
import importlib, pkgutil, sys
import chappe
for module in pkgutil.walk_packages(chappe.__path__, "chappe."):
    if module.name not in {OLD_NAMES!r}:
        importlib.import_module(module.name)
print(*sys.modules)
"""


def test_the_library_does_not_need_the_papers() -> None:
    done = subprocess.run([sys.executable, "-c", EVERYTHING], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "chappe.study._run" in loaded
    assert [name for name in loaded if name.split(".")[0] == "chappe_papers"] == []


@pytest.fixture
def forgotten() -> Iterator[None]:
    """Modules as they are before anything is imported by its old name."""

    def forget() -> None:
        for name in [n for n in sys.modules if any(n == old or n.startswith(f"{old}.") for old in OLD_NAMES)]:
            del sys.modules[name]

    finders = list(sys.meta_path)
    forget()
    yield
    forget()
    sys.meta_path[:] = finders


@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("chappe.papers", "chappe_papers"),
        ("chappe.papers.judge", "chappe_papers.judge"),
        ("chappe.papers.su2008.points", "chappe_papers.su2008.points"),
        ("chappe.validation", "chappe_papers.validation"),
        ("chappe.validation.dsr.cases", "chappe_papers.validation.dsr.cases"),
        ("chappe.report.page", "chappe_papers.page"),
        ("chappe.papers.elrakabawy2005.said", "chappe_papers.elrakabawy2005.comparisons"),
        ("chappe.papers.glance", "chappe_papers.summary"),
        ("chappe.papers.lab", "chappe_papers.runner"),
        ("chappe.papers.su2008.closely", "chappe_papers.su2008.microscopic"),
        ("chappe.papers.su2008.hopes", "chappe_papers.su2008.outcomes"),
        ("chappe.papers.table", "chappe_papers.estimates"),
        ("chappe.report.table", "chappe_papers.estimates"),
    ],
)
def test_old_names_are_the_new_modules(old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match="has moved to") as warned:
        module = importlib.import_module(old)
    assert module is importlib.import_module(new)
    assert module.__name__ == new
    assert module.__spec__ is not None
    assert module.__spec__.name == new
    assert f"{old} has moved to {new}; the old name will be removed in the next version" in {
        str(w.message) for w in warned
    }


@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize(("module", "names"), CLASSES.items())
def test_old_modules_have_the_old_names_of_classes(module: str, names: dict[str, str]) -> None:
    former = {new: old for old, new in RENAMED.items()}.get(module, module)
    with pytest.warns(DeprecationWarning, match="has moved to"):
        old = importlib.import_module(former.replace("chappe_papers", "chappe.papers", 1))
    for before, now in names.items():
        assert getattr(old, before) is getattr(importlib.import_module(module), now)


FROM_OLD = """
import warnings
with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("default")
    from chappe.papers.judge import Verdict
    import chappe.papers.su2008.points
import chappe_papers.judge
assert Verdict is chappe_papers.judge.Verdict
assert chappe.papers.su2008.points.Point is chappe_papers.su2008.points.Point
print({w.filename for w in warned}, len(warned))
"""


def test_warnings_are_of_the_line_that_imports() -> None:
    done = subprocess.run([sys.executable, "-c", FROM_OLD], capture_output=True, text=True, check=True)
    assert done.stdout == "{'<string>'} 4\n"


@pytest.mark.usefixtures("forgotten")
def test_there_are_no_other_old_names() -> None:
    moved, missing = "has moved to", r"chappe_papers\.nothing"
    with pytest.warns(DeprecationWarning, match=moved), pytest.raises(ModuleNotFoundError, match=missing):
        importlib.import_module("chappe.papers.nothing")


DRAWING = """
import sys
from pathlib import Path
from chappe import plot
figure = plot.places([(0, 0), (200, 0)], [(0, 1)], title="two nodes")
plot.save(figure, Path(sys.argv[1]), "places")
"""


def test_fonts_are_embedded_as_publishers_ask(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", DRAWING, tmp_path], check=True)
    pdf = (tmp_path / "places.pdf").read_bytes()
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf


def test_all_public_names_resolve() -> None:
    for name in chappe.__all__:
        assert getattr(chappe, name) is not None
    folder = Path(chappe.__file__).parent
    modules = {path.stem for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    former = {"papers", "report", "validation"}
    public = {name for name in modules if not name.startswith("_")} - former - {"cli"}
    assert dir(chappe) == sorted({*chappe.__all__, *public})
    assert all(getattr(chappe, name) is not None for name in public)
    assert chappe.stats.jain_index([1, 1]) == 1
    with pytest.raises(AttributeError, match="module 'chappe' has no attribute 'nothing'"):
        chappe.nothing  # noqa: B018
