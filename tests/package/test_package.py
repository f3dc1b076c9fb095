"""Import of the package: fast, with complete names."""

import subprocess
import sys
from pathlib import Path

import chappe
import pytest

HEAVY = {"scipy", "matplotlib", "polars", "numpy", "jinja2"}
"""Packages that take longer to load than most commands to run."""


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["explain", "--list"],
        ["explain", "--schema"],
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


EVERYTHING = """
import importlib, pkgutil, sys
import chappe
for module in pkgutil.walk_packages(chappe.__path__, "chappe."):
    importlib.import_module(module.name)
print(*sys.modules)
"""


def test_the_library_does_not_need_the_papers() -> None:
    done = subprocess.run([sys.executable, "-c", EVERYTHING], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "chappe.study.execution.sweep" in loaded
    assert [name for name in loaded if name.split(".")[0] == "chappe_papers"] == []


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


BEHIND = {
    "archiving",
    "citing",
    "cli",
    "errors",
    "expressions",
    "importing",
    "page",
    "printing",
    "results",
    "scenario",
    "stories",
}
"""Rooms and modules whose names for users are those of ``chappe``."""


def test_all_public_names_resolve() -> None:
    for name in chappe.__all__:
        assert getattr(chappe, name) is not None
    folder = Path(chappe.__file__).parent
    modules = {path.stem for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    public = {name for name in modules if not name.startswith("_")} - BEHIND
    assert dir(chappe) == sorted({*chappe.__all__, *public})
    assert all(getattr(chappe, name) is not None for name in public)
    assert chappe.stats.jain_index([1, 1]) == 1
    with pytest.raises(AttributeError, match="module 'chappe' has no attribute 'nothing'"):
        chappe.nothing  # noqa: B018
