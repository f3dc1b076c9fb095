"""Runs and what they measure."""

import math
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from chappe import _core, forked, tables
from chappe.arguments import said
from chappe.folder import Writing
from chappe.measures import BY_NAME, JAIN, MEASURES, Totals, all_quotients, of_flows
from chappe.recorded import Stream, joined
from chappe.scenario import Scenario, scenario_of
from chappe.silence import of_run, told
from chappe.stats import known_confidence, lag1
from chappe.why import Why, explain
from chappe.words import count

TABLES = (
    *("flows", "transfers", "nodes", "batches", "flow_batches"),
    *("series", "fates", "air_time", "rates", "batteries", "links", "link_batches"),
)
"""Names of the tables of a run."""


_TYPES = {"float": pl.Float64, "int": pl.Int64, "text": pl.String, "bool": pl.Boolean}


def frame(columns: Mapping[str, tuple[str, Sequence[Any]]]) -> pl.DataFrame:
    """A table of the core as a data frame: columns by name, with the type of their values."""
    return pl.DataFrame([pl.Series(n, values, dtype=_TYPES[kind]) for n, (kind, values) in columns.items()])


class _Copied(NamedTuple):
    """What a run measured, without the core."""

    end: str
    simulated_s: float
    frames: int
    tables: dict[str, pl.DataFrame]
    recorded: dict[str, pl.DataFrame]


class _Streamed:
    """Tables that were written to the folder of a run while it went on.

    Attributes:
        folder: The folder.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self._written: dict[str, tuple[int, ...]] = {}

    def note(self, names: Sequence[str]) -> None:
        """Remembers the files, which are in their place."""
        self._written = {name: _stamp(self.folder / f"{name}.parquet") for name in names}

    def file(self, name: str) -> Path:
        """The file of a table.

        Raises:
            OSError: When it is not the one that the run wrote.
        """
        path = self.folder / f"{name}.parquet"
        if name in self._written and _stamp(path) != self._written[name]:
            raise OSError(f"{path} is no longer what this run wrote; each run needs a folder of its own")
        return path


def _stamp(path: Path) -> tuple[int, ...]:
    """Identity of a file, by which one written in its place is told apart."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


class Results:
    """What a run measured. Tables are polars data frames; docs/results.md describes every column.

    In a process that was forked from one that had used polars there are the tables, which can be sent elsewhere, and
    what computes with them raises a ``RuntimeError``: it would wait for ever.

    Attributes:
        scenario: The scenario with the seed of the run.
    """

    def __init__(self, scenario: Scenario, measured: "_core.Results | _Copied", streamed: "_Streamed | None" = None):
        self.scenario = scenario
        self._measured = measured
        self._streamed = streamed

    def __reduce__(self) -> "tuple[type[Results], tuple[Scenario, _Copied]]":
        """Copies and pickles have the tables, so that other processes need not run again."""
        own = {name: getattr(self, name) for name in TABLES}
        copied = _Copied(self.end, self.simulated_s, self.frames, own, self.recorded)
        return Results, (self.scenario, copied)

    @property
    def end(self) -> str:
        """Why the run ended: ``"done"`` (stop rule met), ``"limit"`` (simulated time), ``"idle"`` (nothing to do).

        Of a run that :func:`chappe.start` has begun also ``"cancelled"`` and ``"running"`` (tables so far).
        """
        return self._measured.end

    @property
    def simulated_s(self) -> float:
        """Simulated time [s]."""
        return self._measured.simulated_s

    @property
    def frames(self) -> int:
        """Frames put on the air by all nodes over the whole run."""
        return self._measured.frames

    def _table(self, name: str) -> pl.DataFrame:
        there = self._measured
        return there.tables[name] if isinstance(there, _Copied) else frame(there.table(name))

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row per flow, over the measured part of the run (batches that are not discarded)."""
        return self._table("flows")

    @cached_property
    def transfers(self) -> pl.DataFrame:
        """One row per transfer of ``arrivals``, over the whole run; empty without them."""
        return self._table("transfers")

    @cached_property
    def nodes(self) -> pl.DataFrame:
        """One row per node, over the measured part of the run."""
        return self._table("nodes")

    @cached_property
    def batches(self) -> pl.DataFrame:
        """One row per batch, over all flows and nodes; ``used`` is false for those discarded."""
        return self._table("batches")

    @cached_property
    def flow_batches(self) -> pl.DataFrame:
        """One row per batch and flow."""
        return self._table("flow_batches")

    @cached_property
    def series(self) -> pl.DataFrame:
        """Windows, timeouts and queues over time, one row per sample and flow; empty without ``run.sample``."""
        return self._table("series")

    @cached_property
    def fates(self) -> pl.DataFrame:
        """What became of the packets, one row per kind, over the whole run."""
        return self._table("fates")

    @cached_property
    def air_time(self) -> pl.DataFrame:
        """What the time of each node was used for, over the measured part; empty without ``run.air_time``."""
        return self._table("air_time")

    @cached_property
    def rates(self) -> pl.DataFrame:
        """What was sent at which rate to whom, over the measured part of the run; empty where rates are fixed."""
        return self._table("rates")

    @cached_property
    def batteries(self) -> pl.DataFrame:
        """The battery of each node with a radio at the end of the run; empty when no battery ends."""
        return self._table("batteries")

    @cached_property
    def links(self) -> pl.DataFrame:
        """One row per direction of a wired link, over the measured part of the run."""
        return self._table("links")

    @cached_property
    def link_batches(self) -> pl.DataFrame:
        """One row per batch and direction of a wired link."""
        return self._table("link_batches")

    @cached_property
    def recorded(self) -> dict[str, pl.DataFrame]:
        """The tables that ``run.record`` names, by name: what happened to every frame, packet, window, queue or route.

        Those that were written to a folder while the run went on are read from there.

        Raises:
            OSError: When they are no longer there, or another run has been written in their place.
            RuntimeError: When there are some, in a process that was forked from one that had used polars.
        """
        there = self._measured
        if isinstance(there, _Copied):
            return there.recorded
        names = self._recorded_names()
        if names:
            forked.refuse()
        if self._streamed is not None:
            return {name: tables.read(self._streamed.file(name)) for name in names}
        return {name: joined(there.recorded(name)) for name in names}

    def _recorded_names(self) -> list[str]:
        return list(dict.fromkeys(self.scenario.settings["run"]["record"]))

    def measured(self) -> pl.DataFrame:
        """The measures of :data:`chappe.measures.MEASURES` within each batch that counts.

        Raises:
            RuntimeError: In a process that was forked from one that had used polars.
        """
        return pl.DataFrame({name: totals.each for name, totals in self._totals([m.name for m in MEASURES])})

    def totals(self, measure: str) -> Totals:
        """The totals of a measure in each batch that counts.

        Args:
            measure: One of :data:`chappe.measures.MEASURES`, by name.

        Raises:
            RuntimeError: In a process that was forked from one that had used polars.
        """
        return next(totals for _, totals in self._totals([measure]))

    def _totals(self, measures: Sequence[str]) -> Iterator[tuple[str, Totals]]:
        """The totals of measures, by name."""
        forked.refuse()
        used = self.batches["used"].to_numpy()
        others = all_quotients(self.batches, [name for name in measures if name != JAIN])
        for name in measures:
            if name == JAIN:
                rows = of_flows(self.flow_batches["delivered_bytes"].to_numpy(), len(used))
            else:
                rows = others[name]
            yield name, Totals(rows[used], BY_NAME[name].statistic)

    def summary(self, confidence: float = 0.95) -> pl.DataFrame:
        """The measures of the run, totals by totals, with Student-t intervals over its batches (jackknife).

        Args:
            confidence: Confidence of the intervals.

        Returns:
            One row per measure: ``measure``, ``mean``, ``half_width`` of the interval, ``batches``, and
            ``autocorrelation`` of neighbouring batches; above 2 / sqrt(batches) the interval is too narrow.

        Raises:
            RuntimeError: In a process that was forked from one that had used polars.
        """
        known_confidence(confidence)
        rows = []
        for name, totals in self._totals([m.name for m in MEASURES]):
            found = totals.together
            n = len(found.pseudo)
            rows.append((name, found.value, found.estimate.half_width(confidence), n, lag1(found.pseudo)))
        return pl.DataFrame(
            rows, schema=["measure", "mean", "half_width", "batches", "autocorrelation"], orient="row"
        ).cast({"mean": pl.Float64, "half_width": pl.Float64, "autocorrelation": pl.Float64})

    def completions(self, quantiles: Sequence[float] = (0.5, 0.95, 0.99)) -> pl.DataFrame:
        """How long flows took that have come to their end, and transfers, of those that began in the measured part.

        Args:
            quantiles: Shares of the completed ones, from 0 to 1, of which the time is told that they took at most.

        Returns:
            A row for the flows and one for the transfers, where there are some: ``what``, how many ``began`` and were
            ``completed``, ``mean_s`` and a column such as ``p95_s`` for each quantile [s].

        Raises:
            ValueError: When a quantile is not from 0 to 1.
            TypeError: When it is no number.
            RuntimeError: In a process that was forked from one that had used polars.
        """
        shares = _shares_of(quantiles)
        forked.refuse()
        measured = self.batches.filter(pl.col("used"))["start_s"]
        start = 0.0 if measured.is_empty() else float(measured.item(0))
        rows = []
        # A flow has an end or none; what has not come to it says nothing of its time.
        ended = self.flows.filter(pl.col("completion_s").is_not_nan())
        for what, table in (("flows", ended), ("transfers", self.transfers)):
            began = table.filter(pl.col("start_s") >= start)["completion_s"]
            times = began.filter(began.is_not_nan())
            if began.is_empty():
                continue
            found = [times.quantile(share, "nearest") for share in shares]
            rows.append((what, len(began), len(times), times.mean(), *found))
        names = [f"p{100 * share:g}_s" for share in shares]
        columns = {"what": pl.String, "began": pl.Int64, "completed": pl.Int64}
        floats = dict.fromkeys(["mean_s", *names], pl.Float64)
        return pl.DataFrame(rows, schema={**columns, **floats}, orient="row")

    def why(self) -> Why:
        """Why the run came out so: what flows and nodes spent their time on, and where packets were lost.

        Without ``run.air_time`` the run is made once more to count what the nodes did; all else comes out the same.

        Raises:
            RuntimeError: In a process that was forked from one that had used polars.
        """
        forked.refuse()
        air_time = self.air_time
        if air_time.is_empty():
            air_time = run(self.scenario.with_({"run.air_time": True, "run.record": []})).air_time
        return explain(self.flows, self.fates, air_time)

    @cached_property
    def doubts(self) -> list[str]:
        """Flows that delivered nothing while it was measured, and why, a sentence each.

        Raises:
            RuntimeError: In a process that was forked from one that had used polars.
        """
        if self.end == "running":
            return []
        forked.refuse()
        return told(list(of_run(self.scenario, self.flows, self.fates, self.batteries, self.simulated_s)))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data: what ``chappe run --json`` prints. NaN becomes ``None``.

        Raises:
            RuntimeError: In a process that was forked from one that had used polars.
        """
        forked.refuse()
        own = {name: _records(getattr(self, name)) for name in TABLES}
        return {**self._facts(), **own, "scenario": self.scenario.settings}

    def _facts(self) -> dict[str, Any]:
        """All but the tables and the scenario."""
        return {
            "chappe": _core.VERSION,
            "results_epoch": _core.RESULTS_EPOCH,
            "seed": self.scenario.settings["run"]["seed"],
            "end": self.end,
            "simulated_s": self.simulated_s,
            "frames": self.frames,
            "warnings": self.scenario.warnings,
            "doubts": self.doubts,
            "summary": _records(self.summary()),
        }

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes everything into a folder, which is made if it does not exist.

        The files of another run in it are replaced when all are written, and stay when that fails.

        Args:
            folder: Gets ``scenario.toml`` (all settings in effect; running it gives the same files), ``run.json``
                (versions, seed, end, summary), and a Parquet file for each table, those of ``run.record`` included.

        Raises:
            OSError: When something cannot be written, or the folder has anything that no run wrote.
            ValueError: When no folder is named.
            RuntimeError: In a process that was forked from one that had used polars.
        """
        with Writing(folder) as writing:
            self._write(writing)

    def _write(self, writing: Writing) -> None:
        """Writes all files but those that were written there while the run went on."""
        writing.path("scenario.toml").write_text(self.scenario.to_toml(), encoding="utf-8")
        for name in TABLES:
            tables.write(getattr(self, name), writing.path(f"{name}.parquet"))
        kept = []
        there = self._streamed
        for name in self._recorded_names():
            path = writing.path(f"{name}.parquet")
            if there is None:
                tables.write(self.recorded[name], path)
            elif not writing.folder.samefile(there.folder):
                shutil.copyfile(there.file(name), path)
            elif not path.exists():
                kept.append(there.file(name).name)
        writing.finish(self._facts(), kept)

    def __repr__(self) -> str:
        goodput = float(self.flows["goodput_bps"].sum()) / 1e3
        return f"<Results: {count(len(self.flows), 'flow')}, {goodput:.1f} kbit/s, {self.simulated_s:.1f} s simulated>"


def _shares_of(quantiles: Any) -> list[float]:
    """Quantiles as numbers."""
    if isinstance(quantiles, str | bytes | Mapping) or not isinstance(quantiles, Sequence):
        raise TypeError(f"quantiles is a list such as [0.5, 0.95], not {said(quantiles)}")
    for share in quantiles:
        if isinstance(share, bool) or not isinstance(share, int | float):
            raise TypeError(f"a quantile is a number from 0 to 1, not {said(share)}")
        if not 0 <= share <= 1:
            raise ValueError(f"a quantile is from 0 to 1: {said(share)}")
    if len(set(quantiles)) < len(quantiles):
        raise ValueError("a quantile is asked for twice")
    return list(quantiles)


def _records(table: pl.DataFrame) -> list[dict[str, Any]]:
    return [
        {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in row.items()} for row in table.to_dicts()
    ]


def run(
    scenario: Scenario | Mapping[str, Any] | str | os.PathLike[str],
    seed: int | None = None,
    progress: Callable[[float], object] | None = None,
    out: str | os.PathLike[str] | None = None,
) -> Results:
    """Runs a scenario. The interpreter lock is released, so runs in several threads use several cores.

    Args:
        scenario: A scenario, a dict like one, whose names may be dotted, or the name of a scenario file.
        seed: Seed of all random numbers; ``None``: the one that the scenario names.
        progress: Is called several times a second with the share of the run that is done, from 0 to 1.
        out: Folder into which everything is written, as :meth:`Results.save` does; it is made if it does not exist.
            The tables of ``run.record`` are written while the run goes on, so that memory does not grow with its
            length. ``None``: they are kept in memory, and nothing is written.

    Raises:
        ScenarioError: When the scenario cannot be run, with all problems at once, or needs more memory than
            ``run.max_memory``.
        OSError: When its file cannot be read, or the folder cannot be written or has anything that no run wrote.
        ValueError: When no folder is named, or one into which nothing can be recorded.
        TypeError: When an argument is of another kind.
        RuntimeError: With ``out``, in a process that was forked from one that had used polars.
    """
    if progress is not None and not callable(progress):
        raise TypeError(f"progress is called with the share that is done; {said(progress)} cannot be called")
    scenario = scenario_of(scenario)
    if seed is not None:
        scenario = scenario.with_({"run.seed": seed})
    if out is None:
        return Results(scenario, _core.run(scenario._core, progress))
    names = list(dict.fromkeys(scenario.settings["run"]["record"]))
    with Writing(out) as writing:
        stream = Stream(writing.path, names)
        measured = _core.run(scenario._core, progress, stream)
        stream.join()
        streamed = _Streamed(writing.folder)
        results = Results(scenario, measured, streamed)
        results._write(writing)
        streamed.note(names)
    return results
