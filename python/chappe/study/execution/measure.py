"""Runs of given scenarios with given seeds, on all cores, with an optional store."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import ExitStack
from typing import TypeVar

import polars as pl

from chappe._common import forked
from chappe._common.arguments import problem, problem_of_jobs, quoted
from chappe._common.progress import bar
from chappe.errors import RunError, ScenarioError, StudyError
from chappe.expressions.run_measures import Batches, runs_of, with_measures
from chappe.results.storage.columns import RUN, RUN_INFO
from chappe.results.storage.tables import known
from chappe.scenario.scenario import Scenario
from chappe.study.design.axes import Item, Point, problems_of_size, seeds_of
from chappe.study.execution.threads import Failed, threads
from chappe.study.store.parts import PART_TABLES, Finished, frames_of
from chappe.study.store.store import Store

K = TypeVar("K", bound=Hashable)
Also = Callable[[Mapping[str, pl.DataFrame]], Mapping[str, float]]
"""Function from the tables of a run to further numbers, both by name."""


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
        points: Scenarios by any key.
        seeds: Seeds of the runs.
        jobs: Number of parallel runs; ``None``: one per core.
        title: Title of the progress bar.
        also: Function for further numbers of a run.

    Returns:
        One table per key, one row per seed, in the order of the seeds: ``seed``, ``end``, ``frames_sent``,
        ``simulated_s``, ``queue_drops``, the measures of :data:`chappe.measures.MEASURES`, each with the ends of its
        95 % interval over the batches (:func:`chappe.measures.column`), and the results of ``also``.

    Raises:
        RunError: If runs fail.
        StudyError: If seeds or `jobs` are invalid, or the runs need too much memory.
        TypeError: If `points` are not scenarios, or `seeds` is not a list.
    """
    if not isinstance(points, Mapping) or not all(isinstance(s, Scenario) for s in points.values()):
        raise TypeError(f"points is a dict of scenarios, not {quoted(points)}")
    if not isinstance(seeds, Sequence):
        raise TypeError(f"seeds is a list of seeds, not {quoted(seeds)}")
    if jobs is not None and (wrong := problem_of_jobs(jobs)):
        raise StudyError([problem("jobs", f"`jobs`: {wrong}", None)])
    for scenario in points.values():
        if problems := problems_of_size(scenario, len(points), len(seeds)):
            raise StudyError(problems)
    # After the check of the size, because a huge range would take too long to check.
    seeds = seeds_of(seeds)
    point_of = {key: Point({}, scenario) for key, scenario in points.items()}
    items = {key: [Item(point, seed) for seed in seeds] for key, point in point_of.items()}
    with bar(title) as update:
        found = measured(items, jobs=jobs, also=also, progress=update)
    return {key: known(runs_of(table)) for key, table in found.items()}


def measured(
    items: Mapping[K, Sequence[Item]],
    *,
    jobs: int | None = None,
    also: Also | None = None,
    store: Store | None = None,
    progress: Callable[[float], object] = lambda _: None,
) -> dict[K, pl.DataFrame]:
    """Executes the runs missing in the store, and returns tables as :func:`measure`, with NaN for missing values.

    Each measure has the half width of its interval and its totals, as in :mod:`chappe.expressions.run_measures`.

    Args:
        items: Runs by any key.
        jobs: Number of parallel runs; ``None``: one per core.
        also: Function for further numbers of a run.
        store: Store of the runs; ``None``: memory only.
        progress: Function of the completed share, from 0 to 1.

    Raises:
        RunError: If runs fail; finished runs are kept.
        StorageError: If runs cannot be written.
        RuntimeError: In a process forked after polars was used.
    """
    forked.refuse()
    wanted = {item.key: item for of_key in items.values() for item in of_key}
    kept: Store | _Memory = _Memory() if store is None else store
    failed: dict[str, Failed] = {}

    def take(result: Finished | Failed | None) -> None:
        if isinstance(result, Failed):
            if isinstance(result.error, ScenarioError):
                raise result.error
            failed[result.item.key] = result
        elif result is not None:
            kept.add(result)
        kept.tick()

    with ExitStack() as stack:
        stack.callback(kept.flush)
        threads(jobs)([item for key, item in wanted.items() if key not in kept], take, progress)
    if failed:
        raise RunError(_what_failed([failed[key] for key in wanted if key in failed], store))
    if not wanted:
        return {key: pl.DataFrame() for key in items}
    rows = _rows({name: kept.table(name, list(wanted)) for name in PART_TABLES}, also)
    numbers = {key: n for n, key in enumerate(wanted)}
    return {key: rows[[numbers[item.key] for item in of_key]] for key, of_key in items.items()}


def _what_failed(failed: Sequence[Failed], store: Store | None) -> str:
    many = f"{len(failed):,} runs failed, the first" if len(failed) > 1 else "a run failed, the run"
    labels = {**failed[0].item.point.labels, "seed": failed[0].item.seed}
    where = ", ".join(f"{name} = {value}" for name, value in labels.items())
    kept = (
        f". Finished runs are kept in {store.folder}; the same command continues from there"
        if store is not None
        else ""
    )
    return f"{many} with {where}: {failed[0]}{kept}"


def _rows(tables: Mapping[str, pl.DataFrame], also: Also | None) -> pl.DataFrame:
    """One row per run, in the order of the runs."""
    drops = tables["packet_outcomes"].group_by(RUN).agg(pl.col("dropped_queue_full").sum().alias("queue_drops"))
    runs = tables[RUN_INFO].join(drops, on=RUN, how="left", maintain_order="left")
    rows = with_measures(runs, Batches(tables.__getitem__, "discard"))
    if also is not None:
        tables_of_run = {name: t.partition_by(RUN, as_dict=True) for name, t in tables.items()}
        none = {name: t.clear() for name, t in tables.items()}
        of_run = [{name: tables_of_run[name].get((run,), none[name]) for name in tables} for run in rows[RUN]]
        rows = rows.hstack(pl.DataFrame([dict(also(t)) for t in of_run], infer_schema_length=None))
    return rows.drop(RUN)


class _Memory:
    """Keeps runs in memory, with the interface of a store."""

    def __init__(self) -> None:
        self._runs: dict[str, Finished] = {}
        self._tables: dict[str, pl.DataFrame] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._runs

    def add(self, run: Finished) -> None:
        self._runs[run.key] = run

    def tick(self) -> None:
        """Does nothing."""

    def flush(self) -> None:
        """Does nothing."""

    def table(self, name: str, keys: Sequence[str]) -> pl.DataFrame:
        if not self._tables:
            self._tables = frames_of(self._runs[key] for key in keys)
        return self._tables[name]
