"""`make test` and `make test-nightly` run every test; `make test-quick` leaves out slow ones, and no others."""

import re
import shlex
import subprocess
from pathlib import Path

from command import REPOSITORY, environment

from conftest import SLOW

TESTS = (REPOSITORY / "tests", REPOSITORY / "reproductions" / "tests")
RUST_TESTS = REPOSITORY / "crates/core/tests"


def commands(target: str) -> list[list[str]]:
    """The words of the commands that a target of the Makefile runs."""
    printed = subprocess.run(
        ["make", "--dry-run", target], cwd=REPOSITORY, env=environment(), capture_output=True, text=True, check=True
    ).stdout
    return [shlex.split(line, comments=True) for line in printed.replace("\\\n", " ").splitlines()]


def arguments(target: str, program: str, *first: str) -> list[str]:
    """The arguments of the only call of a program by a target, after the first ones."""
    (found,) = (
        words[n + 1 :]
        for words in commands(target)
        for n, word in enumerate(words)
        if Path(word).name == program and words[n + 1 : n + 1 + len(first)] == list(first)
    )
    return found[len(first) :]


def test_make_test_runs_every_test_of_python() -> None:
    how_many_at_once = ["--numprocesses", "auto", "--dist", "loadfile", "--no-loadscope-reorder"]
    but_nightly = [*how_many_at_once, "--ignore=tests/robustness"]
    assert arguments("test", "pytest") == but_nightly
    assert arguments("test-core", "pytest") == [*but_nightly, "tests"]
    assert arguments("test-quick", "pytest") == ["-m", "not slow", *but_nightly]
    assert arguments("test-nightly", "pytest") == [*how_many_at_once, "tests/robustness"]


def test_make_test_runs_every_test_of_rust() -> None:
    how = ["--quiet", "--release", "--locked"]
    assert arguments("test", "cargo", "test") == how
    quick = arguments("test-quick", "cargo", "test")
    assert quick[: len(how) + 3] == [*how, "--package", "chappe-tests", "--"]
    left_out = quick[len(how) + 3 :]
    assert left_out[::2] == ["--skip"] * (len(left_out) // 2)
    assert left_out[1::2]
    modules = [name.removesuffix("::") for name in left_out[1::2]]
    for module in modules:
        assert (RUST_TESTS / f"{module}.rs").exists(), module
    # A filter is a part of a name: no unit test stands in a module that is called the same and has tests.
    for file in (REPOSITORY / "crates/core/src").rglob("*.rs"):
        if "#[test]" in file.read_text(encoding="utf-8"):
            assert not {*file.relative_to(REPOSITORY).parent.parts, file.stem} & set(modules), file


def test_make_test_layer_runs_the_unit_tests_of_a_layer() -> None:
    how = ["--quiet", "--locked", "--package", "chappe-core", "--lib", "--"]
    assert arguments("test-layer", "cargo", "test") == [*how, "tcp::"]
    misspelled = ["make", "test-layer", "LAYER=tpc"]
    wrong = subprocess.run(misspelled, cwd=REPOSITORY, env=environment(), capture_output=True, text=True, check=False)
    assert wrong.returncode != 0
    assert "LAYER=tpc is no folder or file of crates/core/src" in wrong.stderr


def test_no_test_is_left_out_by_itself() -> None:
    for file in (REPOSITORY / "crates").rglob("*.rs"):
        assert "#[ignore" not in file.read_text(encoding="utf-8"), file
    for file in (file for tree in TESTS for file in tree.rglob("test_*.py")):
        if file != Path(__file__):
            assert not re.search(r"pytest\.(mark\.)?(skip|xfail|importorskip)", file.read_text("utf-8")), file


def test_slow_files_exist() -> None:
    there = {file.stem.removeprefix("test_") for tree in TESTS for file in tree.rglob("test_*.py")}
    assert set(SLOW) <= there
    assert len(SLOW) == len(set(SLOW))
