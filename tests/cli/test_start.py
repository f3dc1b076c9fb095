"""Packages that each command loads: what takes longer to load than a command to run is loaded only where it is used."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import PATIENCE_S, REPOSITORY, environment

HEAVY = ("chappe.archiving.check", "chappe.citing", "matplotlib", "numpy", "pandas", "polars", "rich", "scipy")

LOADED = f"print(*sorted(set({HEAVY}) & set(sys.modules)), file=sys.stderr)"

PROGRAM = f"""
import sys
from chappe.cli import main
try:
    main(sys.argv[1:])
finally:
    {LOADED}
"""

THREADS = """
import sys
from pathlib import Path
from chappe.cli import main
main(sys.argv[1:])
print(len(list(Path("/proc/self/task").iterdir())), file=sys.stderr)
"""

RUN = f"""
import sys
import chappe
results = chappe.run("scenarios/one-hop.toml")
assert results.warnings
{LOADED}
assert len(results.flows) == 1
{LOADED}
"""


def said(program: str, *arguments: object, **changes: str) -> list[str]:
    """Lines that a program prints on standard error, in an environment that says nothing of threads."""
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=REPOSITORY,
        env={name: value for name, value in environment().items() if name != "OPENBLAS_NUM_THREADS"} | changes,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    return done.stderr.splitlines()


@pytest.mark.parametrize(
    ("command", "loaded"),
    [
        ("--help", ""),
        ("run --help", ""),
        ("explain --list --json", ""),
        ("explain --list", "rich"),
        ("check scenarios/one-hop.toml --quiet", ""),
        ("check scenarios/one-hop.toml", "rich"),
        ("check scenarios/one-hop.toml --set tcp.varian=vegas", ""),
        ("run scenarios/one-hop.toml --set tcp.varian=vegas", ""),
        ("run scenarios/one-hop.toml --flows nobody", ""),
        ("run scenarios/one-hop.toml", "numpy rich"),
        ("run scenarios/one-hop.toml --seed 2 --set run.batches=4", "numpy rich"),
        ("run scenarios/one-hop.toml --json", "numpy"),
        ("run scenarios/hybrid-path.toml --set run.stop=12s", "numpy rich"),
        ("run scenarios/one-hop.toml --why --quiet", "numpy polars"),
        ("run scenarios/one-hop.toml --out OUT --quiet", "numpy polars"),
    ],
)
def test_a_command_loads_what_it_uses(command: str, loaded: str, tmp_path: Path) -> None:
    assert said(PROGRAM, *command.replace("OUT", str(tmp_path / "out")).split())[-1:] == [loaded]


def test_a_run_in_python_loads_data_frames_with_its_first_table() -> None:
    assert said(RUN) == ["numpy", "numpy polars"]


@pytest.mark.parametrize("asked", [1, 2])
def test_a_run_has_as_many_threads_as_the_environment_asks(asked: int) -> None:
    changes = {} if asked == 1 else {"OPENBLAS_NUM_THREADS": str(asked)}
    threads = min(asked, len(os.sched_getaffinity(0)))
    assert said(THREADS, "run", "scenarios/one-hop.toml", **changes)[-1:] == [str(threads)]
