"""Workers of a study wait where storing takes longer than running: what is made and not written stays small."""

import threading
import time
from typing import Any

import chappe
import pytest
from chappe.study import work
from chappe.study.axes import Item, Point

AHEAD = 5
RUNS = 60


class Counted:
    """Counts runs that are made, and those that are taken.

    Attributes:
        ahead: By how many they differed at most.
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
            time.sleep(0.05)  # long enough for workers that do not wait to make all runs
        self.ahead = max(self.ahead, self.made - self.taken)
        self.taken += 1


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    found = Counted()
    monkeypatch.setattr(work, "AHEAD", AHEAD)
    monkeypatch.setattr(work, "execute", found.execute)
    return found


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


def test_workers_that_wait_are_stopped_and_what_is_made_is_taken(counted: Counted) -> None:
    def interrupted(result: object) -> None:
        counted.take(result)
        if counted.taken == 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work.threads(2)(items(), interrupted, lambda _: None)
    assert 10 <= counted.taken <= counted.made < RUNS
