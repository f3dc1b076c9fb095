"""Full standard streams: every command ends with a message and an exit code, never with a traceback."""

import subprocess
from pathlib import Path

import pytest
from command import CHAPPE, PATIENCE_S, contents, environment

SCENARIO = 'extends = "ns2-2.35"\nrun.stop = "5 s"\ntopology.hops = 2\n'
STUDY = "scenario = 'good.toml'\naxes = { topology.hops = [1, 2] }\n"

PRINTING = [
    ["run", "good.toml"],
    ["run", "good.toml", "--json", "--why", "--out", "results"],
    ["run", "good.toml", "--why"],
    ["check", "good.toml"],
    ["sweep", "study.toml"],
    ["sweep", "study.toml", "--json"],
    ["explain", "--list"],
    ["explain", "--schema"],
    ["paper"],
    ["paper", "elrakabawy2005", "--table", "1", "--quick"],
    ["--help"],
    ["--version"],
]
"""Commands that print, and exit with 0 if the output is writable."""
SILENT = ["sweep", "study.toml", "--quiet"]
REFUSED = [
    ["run", "bad.toml"],
    ["check", "missing.toml"],
    ["sweep", "bad.toml"],
    ["run", "good.toml", "--out", "/dev/full"],
    ["paper", "none"],
    ["frobnicate"],
    ["run"],
]
"""Invalid commands, which exit with 2 and a message on standard error."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.toml").write_text(SCENARIO)
    (tmp_path / "bad.toml").write_text("tcp.receive_window = 0\n")
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def shell(arguments: list[str], streams: str, folder: Path, before: str = "") -> "subprocess.CompletedProcess[str]":
    """A command with streams set by the shell."""
    result = subprocess.run(
        ["sh", "-c", f'{before}exec "$0" "$@" {streams}', *CHAPPE, *arguments],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    for text in ("Traceback", "Exception ignored", "panicked", "Errno"):
        assert text not in result.stdout + result.stderr
    return result


@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
def test_unprintable_output_is_reported(arguments: list[str], folder: Path) -> None:
    result = shell(arguments, ">/dev/full", folder)
    told = [line for line in result.stderr.splitlines() if not line.startswith("warning: ")]
    assert (result.returncode, told) == (1, ["error: cannot write the output: no space left on device"])


@pytest.mark.parametrize(
    "arguments", [["run", "good.toml", "--why"], ["sweep", "study.toml"], ["--help"]], ids=" ".join
)
def test_full_standard_error_is_tolerated(arguments: list[str], folder: Path) -> None:
    assert shell(arguments, ">/dev/full 2>/dev/full", folder).returncode == 1


@pytest.mark.parametrize("arguments", [["run", "good.toml"], ["explain", "--list"], SILENT], ids=" ".join)
def test_errors_are_not_needed(arguments: list[str], folder: Path) -> None:
    result = shell(arguments, "2>/dev/full", folder)
    assert result.returncode == 0
    assert bool(result.stdout) == (arguments != SILENT)


def test_silent_commands_need_no_output(folder: Path) -> None:
    result = shell(SILENT, ">/dev/full", folder)
    told = [line for line in result.stderr.splitlines() if not line.startswith("warning: ")]
    assert (result.returncode, told) == (0, [])


@pytest.mark.parametrize("arguments", REFUSED, ids=" ".join)
def test_refusals_keep_their_exit_code(arguments: list[str], folder: Path) -> None:
    before = contents(folder)
    told = shell(arguments, ">/dev/full", folder)
    assert (told.returncode, told.stderr != "") == (2, True)
    assert shell(arguments, ">/dev/full 2>/dev/full", folder).returncode == 2
    assert contents(folder) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "good.toml", "--out", "results"],
        ["sweep", "study.toml", "--out", "results"],
        ["paper", "elrakabawy2005", "--table", "1", "--quick", "--out", "results"],
    ],
    ids=" ".join,
)
def test_unwritable_files_are_reported(arguments: list[str], folder: Path) -> None:
    """Simulates a full disk: files may not grow."""
    result = shell(arguments, "", folder, before="ulimit -f 0; ")
    assert result.returncode == 1
    assert "file too large" in result.stderr
