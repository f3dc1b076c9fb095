"""Processes that are forked after polars was used lack its threads; what would wait for them says so at once."""

import subprocess
import sys
from pathlib import Path

import pytest
from command import PATIENCE_S, environment

FORK = """
import os, sys
import chappe
import polars as pl

scenario = chappe.Scenario.chain(1, stop="110 delivered")
if {used}:
    chappe.sweep(scenario, {"tcp.window": [2, 4]}, 2, out="before")
child = os.fork()
if child == 0:
    try:
        print({call})
    except RuntimeError as e:
        print("RuntimeError:", e)
    sys.stdout.flush()
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
CALLS = {
    "sweep": 'chappe.sweep(scenario, {"tcp.window": [2, 4]}, 2)',
    "search": 'chappe.search(scenario, chappe.study.Search("tcp.window", 1, 4), seeds=2)',
    "measure": "chappe.study.measure({1: scenario}, [1])[1].height",
    "run": 'chappe.run(scenario, out="out")',
    "save": 'chappe.run(scenario).save("out")',
}


def forked(call: str, used: bool, folder: Path) -> str:
    """Output of a call in a child process."""
    script = FORK.replace("{used}", str(used)).replace("{call}", call)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        cwd=folder,
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_fork_that_lacks_threads_says_so(call: str, tmp_path: Path) -> None:
    said = forked(call, True, tmp_path)
    assert said.startswith("RuntimeError: this process was forked from one that had used polars")
    assert 'get_context("spawn")' in said


def test_a_run_in_a_fork_works(tmp_path: Path) -> None:
    assert forked("len(chappe.run(scenario).flows)", True, tmp_path) == "1\n"


@pytest.mark.parametrize("call", [CALLS["sweep"], CALLS["run"]], ids=["sweep", "run"])
def test_a_fork_of_a_process_that_has_not_used_polars_works(call: str, tmp_path: Path) -> None:
    assert forked(call, False, tmp_path).startswith("<")
