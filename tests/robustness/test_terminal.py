"""Terminals, interrupts and progress bars."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command import CHAPPE, PATIENCE_S, contents, environment, start
from terminal import Terminal

LONG = 'extends = "ns2-2.35"\nrun.stop = "199000 s"\n'
IMPATIENT = """
import sys
from chappe import cli
from chappe._common import progress
progress.PATIENCE_S = 0
sys.exit(cli.main(sys.argv[1:]))
"""
"""The command with an immediate progress bar."""


@pytest.fixture(autouse=True)
def _interrupts_are_heard() -> None:
    """Restores interrupts, which background commands of a shell ignore and child processes inherit."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def long(tmp_path: Path) -> Path:
    """A run of minutes, which is interrupted."""
    path = tmp_path / "long.toml"
    path.write_text(LONG)
    return path


def test_a_bar_on_a_terminal_and_an_interrupted_run(long: Path) -> None:
    terminal = Terminal(*CHAPPE, "run", long.name, "--out", "results", cwd=long.parent)
    terminal.read_until("%")
    assert terminal.process.poll() is None
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.end() == 130
    assert "long.toml" in terminal.text
    assert terminal.text.rstrip().endswith("Interrupted.")
    assert "Traceback" not in terminal.text
    # The cursor, hidden by the bar, is visible again.
    assert terminal.text.rindex("\x1b[?25h") > terminal.text.rindex("\x1b[?25l")
    assert contents(long.parent / "results") == {}


def test_the_bar_is_gone_when_the_run_is_done(long: Path) -> None:
    short = ("--set", "run.stop=3000 s", "--set", "topology.hops=2")
    terminal = Terminal(sys.executable, "-c", IMPATIENT, "run", long.name, *short, cwd=long.parent)
    assert terminal.end() == 0
    assert "%" in terminal.text.split("Chain of 3 nodes")[0]
    assert terminal.text.rindex("\x1b[?25h") > terminal.text.rindex("\x1b[?25l")


def test_a_short_run_shows_no_bar(long: Path) -> None:
    terminal = Terminal(*CHAPPE, "run", long.name, "--set", "run.stop=1 s", cwd=long.parent)
    assert terminal.end() == 0
    assert "\x1b[?25l" not in terminal.text
    assert "Chain of 8 nodes" in terminal.text


def test_no_bar_and_no_color_without_a_terminal(long: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPATIENT, "run", long.name, "--set", "run.stop=3000 s"],
        cwd=long.parent,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout


def test_errors_are_colored_on_a_terminal_only(long: Path) -> None:
    arguments = ("check", long.name, "--set", "tcp.receive_window=0")
    terminal = Terminal(*CHAPPE, *arguments, cwd=long.parent)
    assert terminal.end() == 2
    assert "\x1b[" in terminal.text
    terminal = Terminal("env", "NO_COLOR=1", *CHAPPE, *arguments, cwd=long.parent)
    assert terminal.end() == 2
    assert "\x1b[" not in terminal.text


def test_an_interrupt_without_a_terminal(long: Path) -> None:
    running = start("run", long.name, "--out", "results", cwd=long.parent)
    # The folder is created just before the run begins.
    while not (long.parent / "results").exists():
        assert running.poll() is None
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=PATIENCE_S)
    assert (running.returncode, out, err) == (130, "", "\nInterrupted.\n")
    assert contents(long.parent / "results") == {}


def test_an_interrupt_during_an_import(tmp_path: Path) -> None:
    # Imports execute strings, for dataclasses for instance. CPython treats interrupts there in its own way.
    interrupted = """
import sys
from chappe import cli
cli.parser = lambda _: exec("raise KeyboardInterrupt")
sys.exit(cli.main([]))
"""
    (tmp_path / "interrupted.py").write_text(interrupted)
    done = subprocess.run(
        [sys.executable, "-m", "interrupted"], cwd=tmp_path, capture_output=True, timeout=PATIENCE_S, check=False
    )
    assert (done.returncode, done.stderr) == (130, b"\nInterrupted.\n")


INTERRUPTING = """
import os
import signal
import sys


class Interrupting:
    def find_spec(self, name, *_):
        if name == "chappe.scenario.scenario":
            os.kill(os.getpid(), signal.SIGINT)


signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupting())
"""
"""A start of Python that interrupts the program while it imports the package."""


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ((*CHAPPE, "run"), 130, "\nInterrupted.\n"),
        ((str(Path(sys.executable).with_name("chappe")), "run"), 130, "\nInterrupted.\n"),
        # A program of the user's own decides what an interrupt does.
        ((sys.executable, "-c", "try:\n import chappe\nexcept KeyboardInterrupt:\n raise SystemExit(3)"), 3, ""),
    ],
    ids=["module", "script", "import"],
)
def test_an_interrupt_while_the_package_is_imported(
    command: tuple[str, ...], code: int, said: str, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTING)
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment(PYTHONPATH=str(tmp_path)),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (code, "", said)


def test_an_interrupt_of_many_runs_at_once(tmp_path: Path) -> None:
    running = start("paper", "elrakabawy2005", "--out", "results", cwd=tmp_path)
    assert running.stdout is not None
    assert running.stdout.readline().startswith("ElRakabawy")
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=PATIENCE_S)
    kept = "Finished runs are kept in results/runs; the same command continues from there."
    assert (running.returncode, err) == (130, f"\n{kept}\n\nInterrupted.\n")
    assert all(name.startswith("runs/") for name in contents(tmp_path / "results"))


STUDY = """
seeds = 12
scenario = { extends = "ns2-2.35", run.stop = "1500 s" }
axes = { topology.hops = [2, 3] }
"""


@pytest.mark.parametrize(("options", "shown"), [((), True), (("--quiet",), False)])
def test_a_study_shows_progress_and_remaining_time(options: tuple[str, ...], shown: bool, tmp_path: Path) -> None:
    (tmp_path / "some-study.toml").write_text(STUDY)
    terminal = Terminal(sys.executable, "-c", IMPATIENT, "sweep", "some-study.toml", *options, cwd=tmp_path)
    assert terminal.end() == 0
    progress = terminal.text.split("95 % confidence")[0]
    assert ("some-study.toml" in progress) == shown
    assert bool(re.search(r"\d+%.*\d:\d\d:\d\d", progress)) == shown
