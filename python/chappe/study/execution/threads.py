"""Runs of a study on one machine, in threads: runs release the interpreter lock and so use several cores."""

import os
import pickle
import queue
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from chappe import _core
from chappe._common.arguments import problem, problem_of_jobs
from chappe.errors import StudyError
from chappe.expressions.reductions import Reduction
from chappe.results.programs import quic
from chappe.results.results import Results
from chappe.results.storage.columns import TABLES
from chappe.scenario.scenario import Scenario
from chappe.study.design.axes import Item
from chappe.study.store.parts import Finished

AHEAD = 100
"""Running and unstored runs at most: runs wait if storing is slower than running."""


class Failed(NamedTuple):
    """A failed run."""

    item: Item
    error: BaseException

    def __str__(self) -> str:
        what = str(self.error).strip().splitlines() or [""]
        return f"{type(self.error).__name__}: {what[0]}"


Workers = Callable[[Sequence[Item], Callable[[Finished | Failed | None], object], Callable[[float], object]], object]
"""Executes runs in any order: ``workers(items, take, progress)``. ``take`` receives each finished run, and ``None``
regularly; ``progress`` receives the completed share. Both are called in the thread of the caller."""


class _StoppedError(Exception):
    """Ends a run early."""


def execute(item: Item, progress: Callable[[float], object] | None = None) -> Finished:
    """Executes a run."""
    reduction = item.point.reduction
    if reduction is not None:
        return _reduced(item, reduction, progress)
    return _finished(item, item.point.scenario.with_settings({"run.seed": item.seed}), progress)


def _reduced(item: Item, reduction: Reduction, progress: Callable[[float], object] | None) -> Finished:
    """Executes a run with recorded tables, and keeps what is made of them."""
    scenario = item.point.scenario
    record = list(dict.fromkeys([*scenario.settings["run"]["record"], *reduction.tables]))
    recording = scenario.with_settings({"run.seed": item.seed, "run.record": record})
    return _finished(item, recording, progress, reduction)


def _finished(
    item: Item, scenario: Scenario, progress: Callable[[float], object] | None, reduction: Reduction | None = None
) -> Finished:
    """Executes a scenario."""
    if scenario._core.is_quic():
        quics = quic.run(scenario, progress)
        of_run = quics.end, quics.simulated_s, quics.frames_sent, quics.fastest_bps
        return Finished(item.key, item.seed, *of_run, quics.joinable())
    results = _core.run(scenario._core, progress, None, None, scenario._rules())
    reduced = reduction.of(Results(scenario, results)) if reduction is not None else None
    facts = results.end, results.simulated_s, results.frames_sent, scenario._core.fastest_bps()
    return Finished(item.key, item.seed, *facts, results.tables(TABLES), reduced)


def execute_pickled(items: bytes) -> bytes | str:
    """Executes pickled runs in a worker of a cluster: their pickled results, or why they cannot be read."""
    try:
        read: Sequence[Item] = pickle.loads(items)
    except Exception as e:  # the runs may name any module of the user
        return f"the worker cannot read it: {type(e).__name__}: {e}"
    results: list[Finished | Failed] = []
    for item in read:
        try:
            results.append(execute(item))
        except BaseException as e:  # a panic of the core is not an Exception
            results.append(Failed(item, RuntimeError(f"{type(e).__name__}: {e}")))
    return pickle.dumps(results)


def cores(jobs: int | None) -> int:
    """Number of parallel runs: ``jobs``, or one per core."""
    return (os.cpu_count() or 1) if jobs is None else jobs


def threads(jobs: int | None = None) -> Workers:
    """Threads of this process.

    Args:
        jobs: Number of parallel runs; ``None``: one per core.

    Raises:
        StudyError: If `jobs` is invalid.
    """
    if jobs is not None and (wrong := problem_of_jobs(jobs)):
        raise StudyError([problem("jobs", f"`jobs`: {wrong}", None)])

    def work(
        items: Sequence[Item], take: Callable[[Finished | Failed | None], object], progress: Callable[[float], object]
    ) -> None:
        count = min(cores(jobs), len(items))
        # Long runs first, so that no core waits for a long run at the end.
        waiting = deque(sorted(items, key=lambda i: i.weight))
        total = sum(i.weight for i in items)
        done: queue.SimpleQueue[Finished | Failed] = queue.SimpleQueue()
        # Completed work by worker, each a single number that only grows, for reading from another thread.
        worked = [0.0] * count
        stop = threading.Event()
        room = threading.Semaphore(max(AHEAD, count))

        def one(worker: int) -> None:
            before = 0.0

            def look(share: float) -> None:
                worked[worker] = before + share * item.weight
                if stop.is_set():
                    raise _StoppedError

            while room.acquire() and not stop.is_set():
                try:
                    item = waiting.pop()
                except IndexError:
                    return
                try:
                    result: Finished | Failed = execute(item, look)
                except _StoppedError:
                    return
                except BaseException as e:  # a panic of the core is not an Exception
                    result = Failed(item, e)
                before += item.weight
                worked[worker] = before
                done.put(result)

        pool = [threading.Thread(target=one, args=(n,), daemon=True) for n in range(count)]
        for thread in pool:
            thread.start()
        taken = 0
        try:
            while taken < len(items):
                try:
                    take(done.get(timeout=0.1))
                    room.release()
                    taken += 1
                except queue.Empty:
                    take(None)
                progress(sum(worked) / total)
        except KeyboardInterrupt:
            stop.set()
            while not done.empty():
                take(done.get())
            raise
        finally:
            stop.set()
            for _ in pool:
                room.release()  # wakes waiting workers
            for thread in pool:
                thread.join()

    return work
