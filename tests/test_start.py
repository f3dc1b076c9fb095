"""Packages that each command loads: what takes longer to load than a command to run is loaded only where it is used."""

import subprocess
import sys

import pytest
from command import PATIENCE_S, REPOSITORY, environment

HEAVY = ("matplotlib", "numpy", "pandas", "polars", "rich", "scipy")

PROGRAM = f"""
import sys
from chappe.cli import main
try:
    main(sys.argv[1:])
finally:
    print(*sorted(set({HEAVY}) & set(sys.modules)), file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("command", "loaded"),
    [
        ("--help", ""),
        ("run --help", ""),
        ("list --json", ""),
        ("list", "rich"),
        ("check scenarios/one-hop.toml --quiet", ""),
        ("check scenarios/one-hop.toml", "rich"),
        ("run scenarios/one-hop.toml", "numpy rich"),
    ],
)
def test_a_command_loads_what_it_uses(command: str, loaded: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *command.split()],
        cwd=REPOSITORY,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.stderr.splitlines()[-1:] == [loaded]
