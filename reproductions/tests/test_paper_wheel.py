"""The wheel of the papers is complete, and works beside that of the library."""

import sys
import zipfile
from importlib import metadata
from pathlib import Path

import chappe
import pytest
from command import REPOSITORY, contents, environment
from test_wheel import (
    asked,
    files_of,
    imported,
    installed,  # noqa: F401  # a fixture
    pip,
    run,
    wheel,  # noqa: F401  # a fixture
)

HERE = REPOSITORY / "reproductions"


@pytest.fixture(scope="module")
def wheel_of_papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    dist = tmp_path_factory.mktemp("dist")
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", dist)
    run(sys.executable, "-m", "pip", "wheel", *options, HERE, cwd=dist, env=environment())
    (built,) = dist.iterdir()
    return built


def test_imports_are_declared_dependencies() -> None:
    assert imported(HERE / "chappe_papers") - {"chappe_papers"} <= asked("chappe-papers")


def test_the_papers_are_of_the_version_of_the_library() -> None:
    assert metadata.version("chappe-papers") == chappe.__version__
    assert f"chappe=={chappe.__version__}" in (metadata.requires("chappe-papers") or [])


def test_the_wheel_has_all_files_of_the_package_and_no_others(wheel_of_papers: Path) -> None:
    with zipfile.ZipFile(wheel_of_papers) as z:
        packed = {n for n in z.namelist() if ".dist-info/" not in n}
    assert packed == files_of(HERE / "chappe_papers")


@pytest.mark.parametrize(("paper", "claim"), [("elrakabawy2005", "P0-F16-1"), ("zhou2004", "P3-F5-2")])
def test_papers_are_inside(
    paper: str,
    claim: str,
    wheel_of_papers: Path,
    installed: tuple[Path, dict[str, str]],  # noqa: F811
    tmp_path: Path,
) -> None:
    """The wheel has the scenario, the ns-2 numbers and the template."""
    programs, env = installed
    options = ("--quiet", "--no-deps", "--no-index")
    pip(programs / "python", "install", *options, wheel_of_papers, cwd=tmp_path, env=env)
    assert "elrakabawy2005" in run(programs / "chappe", "paper", cwd=tmp_path, env=env)
    printed = run(programs / "chappe", "paper", paper, "--quick", "--claim", claim, cwd=tmp_path, env=env)
    assert f"{claim}: " in printed
    assert {"index.html", "paper.md"} <= set(contents(tmp_path / "results" / paper))
