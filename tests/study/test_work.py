"""Workers of a study wait for a slow store: the number of unwritten runs stays small."""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import chappe
import pytest
from chappe.results.storage.columns import RUN_INFO
from chappe.study.design.axes import Item, Point
from chappe.study.execution import threads as work
from chappe.study.store import parts, store
from command import PATIENCE_S, contents, environment

AHEAD = 5
RUNS = 60


class Counted:
    """Counts executed and collected runs.

    Attributes:
        ahead: Largest difference of the two.
    """

    def __init__(self) -> None:
        self.made, self.taken, self.ahead = 0, 0, 0
        self._lock = threading.Lock()

    def execute(self, item: Item, _: Any) -> str:
        with self._lock:
            self.made += 1
        return item.key

    def take(self, result: object) -> None:
        if result is None:
            return
        if self.taken % 10 == 0:
            time.sleep(0.05)  # long enough for workers that do not wait to execute all runs
        self.ahead = max(self.ahead, self.made - self.taken)
        self.taken += 1


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    counters = Counted()
    monkeypatch.setattr(work, "AHEAD", AHEAD)
    monkeypatch.setattr(work, "execute", counters.execute)
    return counters


def items() -> list[Item]:
    point = Point({}, chappe.Scenario.chain(1, stop="110 delivered"))
    return [Item(point, seed) for seed in range(RUNS)]


@pytest.mark.parametrize("jobs", [1, 2, AHEAD])
def test_workers_wait_for_the_store(jobs: int, counted: Counted) -> None:
    work.threads(jobs)(items(), counted.take, lambda _: None)
    assert (counted.made, counted.taken) == (RUNS, RUNS)
    assert counted.ahead <= AHEAD


def test_nothing_to_do(counted: Counted) -> None:
    work.threads(2)([], counted.take, lambda _: None)
    assert counted.made == counted.taken == 0


def test_waiting_workers_stop_and_their_runs_are_kept(counted: Counted) -> None:
    def interrupted(result: object) -> None:
        counted.take(result)
        if counted.taken == 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work.threads(2)(items(), interrupted, lambda _: None)
    assert 10 <= counted.taken <= counted.made < RUNS


# ---- a slow store ----

LOST_AHEAD = 100
"""Limit of runs executed ahead: docs/studies.md."""
LOST_WAITING = 500
"""Limit of unwritten runs: docs/studies.md."""

SEEDS = 900
STUDY = f"""\
seeds = {SEEDS}
scenario = {{ extends = "ns2-2.35", topology.hops = 1, run = {{ stop = "11 delivered" }} }}
"""

KILLED = """
import os
import signal
import sys
import time
from pathlib import Path

from chappe import cli
from chappe.study.execution import threads as work
from chappe.study.store import parts, store

store.PATIENCE_S = float(os.environ["PATIENCE"])
execute, add, write = work.execute, store.Store.add, parts.write
made, added, written = [], [], []

def noted(item, *others):
    found = execute(item, *others)
    made.append(item.key)
    return found

def taken(self, run):
    added.append(run.key)
    add(self, run)

def slow(path, *others):
    written.append(path)
    if len(written) == int(os.environ["AT"]):
        # It takes so long that the workers have to wait, or have made all runs.
        before = -1
        while len(made) > before or len(made) < len(added) + int(os.environ["AHEAD"]) - 1:
            before = len(made)
            time.sleep(0.5)
        Path("made").write_text(str(len(made)))
        os.kill(os.getpid(), signal.SIGKILL)
    write(path, *others)

work.execute, store.Store.add, parts.write = noted, taken, slow
sys.exit(cli.main(sys.argv[1:]))
"""
"""The command, killed during the ``AT``-th write, after execution has stopped. The file ``made`` then has the number
of executed runs."""


@pytest.mark.parametrize(("patience", "waiting"), [("0", 1), ("inf", LOST_WAITING)])
def test_a_kill_during_a_slow_write_loses_few_runs(patience: str, waiting: int, tmp_path: Path) -> None:
    """Waiting runs are written at once, or in large groups."""
    (tmp_path / "study.toml").write_text(STUDY)
    command = ["sweep", "study.toml", "--quiet", "--jobs=2", "--out"]

    def done(script: str, out: str, at: int = 0) -> int:
        return subprocess.run(
            [sys.executable, "-c", script, *command, out],
            cwd=tmp_path,
            env=environment(PATIENCE=patience, AT=str(at), AHEAD=str(LOST_AHEAD)),
            stdin=subprocess.DEVNULL,
            timeout=PATIENCE_S,
            check=False,
        ).returncode

    plain = "import sys; from chappe import cli; sys.exit(cli.main(sys.argv[1:]))"
    assert done(plain, "undisturbed") == 0
    for at in (1, 3):
        assert done(KILLED, f"results-{at}", at) == -signal.SIGKILL
        executed = int((tmp_path / "made").read_text())
        kept = len(chappe.Study(tmp_path / f"results-{at}").runs)
        assert (kept > 0) == (at > 1)
        # The workers have gone ahead of the slow store up to the limit.
        assert LOST_AHEAD <= executed - kept <= waiting + LOST_AHEAD
        assert done(plain, f"results-{at}") == 0
        assert contents(tmp_path / f"results-{at}") == contents(tmp_path / "undisturbed")


def test_patience_excludes_the_time_of_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are written in groups even if writing takes longer than the patience of the store."""
    now, written, write = [0.0], [], parts.write

    def slow(path: Path, content: Any, *others: Any) -> None:
        now[0] += 5 * store.PATIENCE_S
        written.append(len(content[RUN_INFO]))
        write(path, content, *others)

    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(parts, "write", slow)
    kept = store.Store(tmp_path, {}, {})
    try:
        for item in items():
            now[0] += store.PATIENCE_S / 8
            kept.add(work.execute(item))
            kept.tick()
        kept.flush()
    finally:
        kept.close()
    # The first run has waited when eight others have arrived.
    assert written == [9] * 6 + [6]
