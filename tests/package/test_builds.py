"""Builds of the repository."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

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


def test_a_wheel_is_refused_where_the_module_cannot_be_built(tmp_path: Path) -> None:
    """A toolchain without the target of pages, and a rustup that cannot add it."""
    for name in ("rustc", "rustup"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    make = [shutil.which("make") or "make", "--old-file", ".venv/built", "--what-if", "Cargo.toml"]
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "MAKEFLAGS": ""}

    def made(target: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*make, target], cwd=REPOSITORY, env=env, capture_output=True, text=True, timeout=60, check=False
        )

    refused = made("wheel")
    assert refused.returncode == 2
    assert "run `rustup target add wasm32-unknown-unknown && make wasm`" in refused.stderr
    assert "maturin" not in refused.stdout
    # The demo goes on, without a lesson.
    told = made("demo-module")
    assert told.returncode == 0
    assert "pages have no player" in told.stderr
