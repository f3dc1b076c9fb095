"""Many runs: scenarios times seeds, on all cores."""

import os
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

import polars as pl

from chappe.progress import bar
from chappe.results import TABLES, Results, run
from chappe.scenario import Scenario

K = TypeVar("K", bound=Hashable)
Also = Callable[[Mapping[str, pl.DataFrame]], Mapping[str, float]]
"""What else is taken from a run: numbers by name, from its tables by name."""


class _StoppedError(Exception):
    """Another thread wants this run to end."""


def _facts(results: Results, seed: int) -> dict[str, float | int | str]:
    """The measures of a run as means over its batches, and what else is known of it as a whole."""
    facts: dict[str, float | int | str] = {
        "seed": seed,
        "end": results.end,
        "frames": results.frames,
        "simulated_s": results.simulated_s,
        "queue_drops": int(results.fates["dropped_queue_full"].sum()),
    }
    for row in results.summary().iter_rows(named=True):
        facts[row["measure"]] = row["mean"]
        facts[f"{row['measure']}_half_width"] = row["half_width"]
    return facts


def measure(
    points: Mapping[K, Scenario],
    seeds: Sequence[int],
    *,
    jobs: int | None = None,
    title: str = "Runs",
    also: Also | None = None,
) -> dict[K, pl.DataFrame]:
    """Runs every scenario with every seed.

    Args:
        points: Scenarios by a key of the caller's.
        seeds: Seeds of the runs.
        jobs: Runs at the same time; ``None``: one for each core.
        title: Names the progress bar.
        also: Takes further numbers from a run.

    Returns:
        For every key one row per seed, in the order of the seeds: ``seed``, ``end``, ``frames``, ``simulated_s``,
        ``queue_drops``, and the measures of :data:`chappe.results.MEASURES` as means over the batches, each with the
        ``_half_width`` of its 95 % interval, and what ``also`` found.
    """
    stop = threading.Event()
    done: dict[tuple[K, int], dict[str, float | int | str]] = {}
    share: dict[tuple[K, int], float] = {}

    def one(key: K, seed: int) -> None:
        def look(part: float) -> None:
            share[key, seed] = part
            if stop.is_set():
                raise _StoppedError

        results = run(points[key], seed, look)
        facts = _facts(results, seed)
        if also is not None:
            facts |= also({name: getattr(results, name) for name in TABLES})
        done[key, seed] = facts
        share[key, seed] = 1.0

    tasks = [(key, seed) for key in points for seed in seeds]
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool, bar(title) as update:
        # Points are given from small to large: the long runs come first, so that no core waits for one at the end.
        waiting: set[Future[None]] = {pool.submit(one, key, seed) for key, seed in reversed(tasks)}
        try:
            while waiting:
                finished, waiting = wait(waiting, timeout=0.1, return_when=FIRST_COMPLETED)
                for future in finished:
                    future.result()
                update(sum(list(share.values())) / max(len(tasks), 1))
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return {key: pl.DataFrame([done[key, seed] for seed in seeds]) for key in points}
