"""Many runs without a store: scenarios times seeds, on all cores."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

import polars as pl

from chappe.progress import bar
from chappe.scenario import Scenario
from chappe.study.axes import Item, Point
from chappe.study.facts import with_measures
from chappe.study.parts import FACTS, RUN, Finished, frames_of
from chappe.study.work import Failed, threads

K = TypeVar("K", bound=Hashable)
Also = Callable[[Mapping[str, pl.DataFrame]], Mapping[str, float]]
"""What else is taken from a run: numbers by name, from its tables by name."""


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
    items = {key: [Item(Point({}, scenario), seed) for seed in seeds] for key, scenario in points.items()}
    done: dict[str, Finished] = {}

    def take(result: Finished | Failed | None) -> None:
        if isinstance(result, Failed):
            raise result.error
        if result is not None:
            done[result.key] = result

    with bar(title) as update:
        threads(jobs)([i for own in items.values() for i in own], take, update)
    return {key: _table([done[i.key] for i in own], also) for key, own in items.items()}


def _table(runs: list[Finished], also: Also | None) -> pl.DataFrame:
    tables = frames_of(runs)
    drops = tables["fates"].group_by(RUN).agg(pl.col("dropped_queue_full").sum().alias("queue_drops"))
    facts = tables[FACTS].join(drops, on=RUN, maintain_order="left")
    measured = with_measures(facts, tables["batches"], "discard")
    if also is not None:
        of_run = [{name: t.filter(pl.col(RUN) == run) for name, t in tables.items()} for run in measured[RUN]]
        measured = measured.hstack(pl.DataFrame([dict(also(own)) for own in of_run]))
    return measured.drop(RUN)
