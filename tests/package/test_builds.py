"""Builds of the repository."""

import subprocess
from collections.abc import Sequence

import pytest
from command import REPOSITORY

FIRST = ["chappe-core", "chappe-scenario"]
"""Packages that make compiles first."""

BUILDS = {
    "the binding": ["chappe-python"],
    "the program for QUIC": ["chappe-quic"],
    "the tests": ["chappe-core", "chappe-tests", "chappe-live", "chappe-quic", "chappe-scenario"],
}
"""Packages of later steps."""


def features(packages: Sequence[str], edges: str) -> dict[str, str]:
    """Features of the crates that packages need, by name and version."""
    chosen = [argument for package in packages for argument in ("--package", package)]
    shown = subprocess.run(
        [
            "cargo",
            "tree",
            "--offline",
            "--locked",
            *chosen,
            "--edges",
            edges,
            "--prefix",
            "none",
            "--format",
            "{p}\t{f}",
        ],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    # An empty line lies between the trees of two packages.
    return dict(line.removesuffix(" (*)").split("\t") for line in shown.stdout.splitlines() if line)


@pytest.mark.parametrize("build", BUILDS)
def test_the_core_is_compiled_once(build: str) -> None:
    """With other features of a crate below it, a step would compile it again, which takes minutes."""
    first = features(FIRST, "normal,build")
    assert any(crate.startswith("serde_core ") for crate in first)
    edges = "normal,build,dev" if build == "the tests" else "normal,build"
    later = features(BUILDS[build], edges)
    assert {crate: later[crate] for crate in first} == first
