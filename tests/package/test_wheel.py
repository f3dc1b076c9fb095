"""The wheel is complete, and works without a compiler."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from importlib import metadata
from pathlib import Path

import chappe
import pytest
from chappe.results.storage.columns import TABLES
from command import REPOSITORY, contents, environment

INSTALLING_S = 600
SCENARIO = 'extends = "ns2-2.35"\nrun.stop = "110 delivered"\ntopology.hops = 2\n'


def run(*command: object, cwd: Path, env: dict[str, str]) -> str:
    done = subprocess.run(
        [str(c) for c in command],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=INSTALLING_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def pip(python: Path, *arguments: object, cwd: Path, env: dict[str, str]) -> str:
    """Runs pip of the current environment for another environment, because installing pip there is slow."""
    ours = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    return run(*ours, *arguments, cwd=cwd, env=env)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of ``make test``, or a wheel built like ``make wheel``."""
    if "CHAPPE_WHEEL" in os.environ:
        dist = REPOSITORY / os.environ["CHAPPE_WHEEL"]
    else:
        dist = tmp_path_factory.mktemp("dist")
        maturin = Path(sys.executable).parent / "maturin"
        run(maturin, "build", "--quiet", "--release", "--locked", "--out", dist, cwd=REPOSITORY, env=environment())
    (built,) = dist.iterdir()
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Program folder and variables of an environment with the wheel and without other programs.

    Dependencies come from the current environment; ``make test-bounds`` lets pip choose them.
    """
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder, env=environment())
    programs = folder / "bin"
    env = environment(PATH=f"{programs}:/nonexistent")
    env.pop("PYTHONPATH", None)
    for compiler in ("cc", "gcc", "clang", "cargo", "rustc", "make"):
        assert shutil.which(compiler, path=env["PATH"]) is None
    pip(programs / "python", "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=folder, env=env)
    (packages,) = folder.glob("lib/python*/site-packages")
    # Without the link to the source folder of the package.
    (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return programs, env


def asked(distribution: str) -> set[str]:
    """Names of the distributions that a distribution depends on."""
    return {
        re.match(r"[\w-]+", r)[0].lower()  # type: ignore[index]  # a requirement begins with a name
        for r in metadata.requires(distribution) or []
    }


def imported(package: Path) -> set[str]:
    """Names of the packages that a package imports, without those of Python."""
    found = set()
    for file in package.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {a.name.split(".")[0] for a in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add(str(node.module).split(".")[0])
    return found - sys.stdlib_module_names


def test_imports_are_declared_dependencies(installed: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    programs, env = installed
    assert "No broken requirements" in pip(programs / "python", "check", cwd=tmp_path, env=env)
    assert imported(REPOSITORY / "python" / "chappe") - {"chappe"} <= asked("chappe") | {"grpc"}  # of ray


def test_a_wheel_for_every_python_from_the_oldest_on(wheel: Path) -> None:
    assert re.fullmatch(rf"chappe-{re.escape(chappe.__version__)}-cp311-abi3-[\w.]+\.whl", wheel.name)


def test_the_wheel_declares_its_glibc(wheel: Path) -> None:
    """pip refuses the wheel on systems with an older glibc; a manual installation fails at import with the reason."""
    tag = re.search(r"manylinux_2_(\d+)_", wheel.name)
    assert tag is not None
    requirement = f"glibc 2.{tag[1]} or"
    assert requirement in " ".join((REPOSITORY / "README.md").read_text(encoding="utf-8").split())
    assert requirement in (REPOSITORY / "python/chappe/__init__.py").read_text(encoding="utf-8")


IMPORTING = """
import sys


class Missing:
    def find_spec(self, name, path=None, target=None):
        if name == "chappe._core":
            raise ImportError("/lib/libc.so.6: version `GLIBC_2.34' not found")


sys.meta_path.insert(0, Missing())
try:
    import chappe
except ImportError as e:
    print(e)
"""


def test_an_old_glibc_is_reported_at_import(tmp_path: Path) -> None:
    output = run(sys.executable, "-c", IMPORTING, cwd=tmp_path, env=environment())
    assert output.startswith(
        "this build of Chappe does not run with the C library of this system: wheels for Linux need"
    )
    assert "GLIBC_2.34" in output


def files_of(package: Path) -> set[str]:
    """Names of the files of a package, as a wheel has them."""
    return {f"{package.name}/{f}" for f in contents(package) if "__pycache__" not in f and not f.endswith(".so")}


def test_the_wheel_has_all_files_of_the_package_and_no_others(wheel: Path) -> None:
    ours = files_of(REPOSITORY / "python" / "chappe")
    with zipfile.ZipFile(wheel) as z:
        packed = set(z.namelist())
        scripts = next(z.read(n).decode() for n in packed if n.endswith("entry_points.txt"))
    assert ours <= packed
    assert {n for n in packed if ".dist-info/" not in n} - ours == {"chappe/_core.abi3.so"}
    assert "chappe=chappe.cli:main" in scripts
    assert {Path(n).name for n in packed} >= {"LICENSE-MIT", "LICENSE-APACHE"}


def test_the_command_works_where_it_is_installed(installed: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    programs, env = installed
    command = programs / "chappe"
    where = run(programs / "python", "-c", "import chappe; print(chappe.__file__)", cwd=tmp_path, env=env)
    assert where.startswith(str(programs.parent))
    version = f"chappe {chappe.__version__} (results epoch {chappe.RESULTS_EPOCH})\n"
    assert run(command, "--version", cwd=tmp_path, env=env) == version
    # The file of descriptions is in the wheel.
    assert "goodput_bps  (measure)" in run(command, "explain", "goodput_bps", cwd=tmp_path, env=env)
    assert "ns2-2.35" in run(command, "explain", "--list", cwd=tmp_path, env=env)
    (tmp_path / "my.toml").write_text(SCENARIO)
    printed = json.loads(run(command, "run", "my.toml", "--json", "--out", "out", cwd=tmp_path, env=env))
    # Results do not depend on the installation.
    here = chappe.run(tmp_path / "my.toml")
    assert printed == here.to_dict()
    here.save(tmp_path / "here")
    assert contents(tmp_path / "out") == contents(tmp_path / "here")
    assert len(contents(tmp_path / "out")) == len(TABLES) + 2


def test_examples_run_where_it_is_installed(installed: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    programs, env = installed
    example = REPOSITORY / "examples" / "first_run.py"
    assert "goodput_bps" in run(programs / "python", example, tmp_path / "out", cwd=tmp_path, env=env)
    assert (tmp_path / "out" / "flows.parquet").exists()
