"""A crate of a stranger, outside of the workspace, builds against the public interface in Rust, as the page says."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from command import REPOSITORY, environment

PROGRAMS = ("controller", "external")
"""Examples that such a crate consists of: a congestion control of its own, and a driver of external flows."""

COMPILING_S = 1200
"""Only a compiler that hangs takes so long on a busy machine."""


@pytest.mark.slow
def test_a_crate_outside_of_the_workspace_builds(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs/scenarios.md").read_text(encoding="utf-8")
    dependencies = re.search(r"```text\n(\[dependencies\]\n.*?)```", page, re.DOTALL)
    assert dependencies is not None
    # The page names the folder of the repository as it is called where it was fetched.
    own = dependencies[1].replace('path = "chappe/', f'path = "{REPOSITORY.as_posix()}/')
    assert own.count(REPOSITORY.as_posix()) == 2
    package = '[package]\nname = "stranger"\nedition = "2024"\n\n'
    (tmp_path / "Cargo.toml").write_text(f"{package}{own}\n[profile.dev]\ndebug = false\n", encoding="utf-8")
    # The versions of the workspace, which need no registry.
    shutil.copy(REPOSITORY / "Cargo.lock", tmp_path)
    programs = tmp_path / "src/bin"
    programs.mkdir(parents=True)
    for name in PROGRAMS:
        text = (REPOSITORY / f"crates/scenario/examples/{name}.rs").read_text(encoding="utf-8")
        (programs / f"{name}.rs").write_text(text, encoding="utf-8")

    def check() -> "subprocess.CompletedProcess[str]":
        # Dependencies of the crate are kept from run to run.
        how = ["--quiet", "--offline", "--target-dir", str(REPOSITORY / "target/outside")]
        return subprocess.run(
            ["cargo", "check", *how],
            cwd=tmp_path,
            env=environment() | {"RUSTFLAGS": "-D warnings"},
            timeout=COMPILING_S,
            capture_output=True,
            text=True,
            check=False,
        )

    done = check()
    assert done.returncode == 0, done.stderr
    # A private module of the core stays private.
    (programs / "private.rs").write_text("use chappe_core::sim::flows::Flow;\nfn main() {}\n", encoding="utf-8")
    refused = check()
    assert refused.returncode != 0
    assert "is private" in refused.stderr
