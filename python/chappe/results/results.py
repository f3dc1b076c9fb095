"""Runs and their results."""

import contextlib
import math
import operator
import os
import shutil
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from chappe import _core
from chappe._common import forked, outputs
from chappe._common.arguments import name_of, names_of, path_of, quoted
from chappe._common.notices import UNDRIVEN, UNUSED, Notice, tell
from chappe._common.progress import Progress, followed
from chappe._common.words import count
from chappe.errors import ChappeWarning
from chappe.measures import JAIN, MEASURES, Totals, all_quotients, of_flows, short_batches, tables_of_flows
from chappe.results.budgets import Why, explain
from chappe.results.completions import mean_and_quantiles
from chappe.results.programs import quic
from chappe.results.silent_flows import Silence, after_outage, of_run
from chappe.results.storage.captures import Captures, refuse_shared
from chappe.results.storage.columns import TABLES, rows_of
from chappe.results.storage.folder import FORMAT, SCENARIO, Writing
from chappe.results.storage.metadata import of_file
from chappe.results.warnings import of_results
from chappe.scenario import flow_selection
from chappe.scenario.endpoints import with_endpoints
from chappe.scenario.scenario import Scenario, ScenarioLike, scenario_of
from chappe.stats import Jackknife, check_confidence, lag1
from chappe.stats.doubts import Tests, certain, of_batches, tests_of

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from chappe.page.notebook import Player
    from chappe.results.storage.columns import Table

# Methods import polars themselves, and what needs it: it takes longer to load than most runs.


class StoredResults(Protocol):
    """Results of a run, independent of the core."""

    @property
    def version(self) -> str:
        """Version of Chappe that made the run."""

    @property
    def epoch(self) -> int:
        """Results epoch of the run."""

    @property
    def end(self) -> str:
        """Reason for the end of the run."""

    @property
    def simulated_s(self) -> float:
        """Simulated time [s]."""

    @property
    def measured_from_s(self) -> float:
        """Begin of the measured part of the run [s]."""

    @property
    def frames_sent(self) -> int:
        """Frames transmitted by all nodes in the whole run."""

    @property
    def fastest_bps(self) -> int | None:
        """Fastest rate at which a node sends data [bit/s]; ``None`` if it is not known."""

    def table(self, name: str) -> "pl.DataFrame":
        """A table, recorded or not."""


class InMemoryResults(NamedTuple):
    """Results of a run in memory, independent of the core."""

    version: str
    epoch: int
    end: str
    simulated_s: float
    measured_from_s: float
    frames_sent: int
    tables: dict[str, "pl.DataFrame"]
    fastest_bps: int | None

    def table(self, name: str) -> "pl.DataFrame":
        """A table, recorded or not."""
        return self.tables[name]


class _Tables(Mapping[str, "pl.DataFrame"]):
    """All tables of results by name, made or read on access."""

    def __init__(self, results: "Results"):
        self._results = results

    def __getitem__(self, name: str) -> "pl.DataFrame":
        if name not in self._results._names():
            raise KeyError(name)
        return self._results.table(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._results._names())

    def __len__(self) -> int:
        return len(self._results._names())

    def __repr__(self) -> str:
        return f"<Tables: {', '.join(self)}>"


class _Streamed:
    """Tables written to the folder of a run during the run.

    Attributes:
        folder: The folder.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self._written: dict[str, tuple[int, ...]] = {}

    def note(self, names: Sequence[str]) -> None:
        """Remembers the identity of the final files."""
        self._written = {name: _stamp(self.folder / f"{name}.parquet") for name in names}

    def file(self, name: str) -> Path:
        """Path of the file of a table.

        Raises:
            OSError: If the file has been replaced since the run.
        """
        path = self.folder / f"{name}.parquet"
        if name in self._written and _stamp(path) != self._written[name]:
            raise OSError(f"{path} is no longer the file that this run wrote; each run needs its own folder")
        return path


def _stamp(path: Path) -> tuple[int, ...]:
    """Identity of a file, which changes if the file is replaced."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


class Results:
    """Results of a run. Tables are polars data frames; docs/results.md describes every column.

    In a process forked after polars was used, tables can be sent to other processes, and computations with tables raise
    a ``RuntimeError``, because they would hang.

    Attributes:
        scenario: The scenario with the seed of the run.
    """

    def __init__(
        self, scenario: Scenario, measured: "_core.Results | StoredResults", streamed: "_Streamed | None" = None
    ):
        self.scenario = scenario
        self._measured = measured
        self._streamed = streamed
        self._fastest_bps = (
            scenario._core.fastest_bps() if isinstance(measured, _core.Results) else measured.fastest_bps
        )

    def __reduce__(self) -> "tuple[type[Results], tuple[Scenario, InMemoryResults]]":
        """Pickles the tables, so that other processes need not repeat the run."""
        all_tables = dict(self.tables)
        facts = (self.end, self.simulated_s, self.measured_from_s, self.frames_sent)
        copied = InMemoryResults(self.version, self.epoch, *facts, all_tables, self._fastest_bps)
        return Results, (self.scenario, copied)

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return int(self.scenario.settings["run"]["seed"])

    @property
    def version(self) -> str:
        """Version of Chappe that made the run."""
        measured = self._measured
        return _core.VERSION if isinstance(measured, _core.Results) else measured.version

    @property
    def epoch(self) -> int:
        """Results epoch of the run. Results of equal epochs can be compared."""
        measured = self._measured
        return _core.RESULTS_EPOCH if isinstance(measured, _core.Results) else measured.epoch

    @property
    def end(self) -> str:
        """Reason for the end of the run: ``"done"`` (stop rule), ``"limit"`` (simulated time), ``"idle"`` (no events).

        Runs of :func:`chappe.start` also have ``"canceled"`` and ``"running"`` (results so far).
        """
        return self._measured.end

    @property
    def simulated_s(self) -> float:
        """Simulated time [s]."""
        return self._measured.simulated_s

    @property
    def measured_from_s(self) -> float:
        """Begin of the measured part of the run [s]: ``filter(pl.col("time_s") >= results.measured_from_s)``."""
        return self._measured.measured_from_s

    @property
    def frames_sent(self) -> int:
        """Frames transmitted by all nodes in the whole run."""
        return self._measured.frames_sent

    @property
    def tables(self) -> "Mapping[str, pl.DataFrame]":
        """All tables by name, with those of ``run.record``."""
        return _Tables(self)

    def table(self, name: str) -> "pl.DataFrame":
        """A table by name: one of every run, such as ``"flows"``, or one of ``run.record``, such as ``"packets"``.

        Raises:
            ValueError: If there is no such table, or it was not recorded.
            TypeError: If the name is not a text.
            OSError: If the file of a recorded table is missing or belongs to another run.
            StorageError: If saved results are damaged.
            RuntimeError: In a process forked after polars was used.
        """
        name = name_of("name", name)
        if name in TABLES:
            table: pl.DataFrame = getattr(self, name)
            return table
        if name in self._recorded_names():
            return self.recorded[name]
        from chappe.results.storage.recorded import RECORDED

        if name in RECORDED:
            raise ValueError(f"{name} was not recorded: add it to run.record")
        raise ValueError(f"there is no table {quoted(name)}; known: {', '.join(self._names())}")

    def _names(self) -> list[str]:
        """Names of all tables."""
        return [*TABLES, *self._recorded_names()]

    def _table(self, name: str) -> "pl.DataFrame":
        measured = self._measured
        if not isinstance(measured, _core.Results):
            return measured.table(name)
        from chappe.results.storage import tables

        return tables.frame(measured.table(name))

    def _columns(self, name: str) -> Mapping[str, Sequence[Any]]:
        """Columns of a table of every run, without polars if the core has it."""
        measured = self._measured
        if isinstance(measured, _core.Results):
            return {column: values for column, (_, values) in measured.table(name).items()}
        return self.table(name).to_dict(as_series=False)

    def _rows(self, name: str) -> list[dict[str, Any]]:
        """Rows of a table of every run, as :meth:`_columns`."""
        return rows_of(self._columns(name))

    @cached_property
    def flows(self) -> "pl.DataFrame":
        """One row per flow, over the measured part of the run (batches that are not discarded)."""
        return self._table("flows")

    @cached_property
    def short_flows(self) -> "pl.DataFrame":
        """One row per short flow of an ``arrival_process`` and per response of a flow of ``requests``.

        They are of the whole run; ``measured`` is false in the warm-up.
        """
        return self._table("short_flows")

    @cached_property
    def nodes(self) -> "pl.DataFrame":
        """One row per node, over the measured part of the run."""
        return self._table("nodes")

    @cached_property
    def batches(self) -> "pl.DataFrame":
        """One row per batch, over all flows and nodes; ``used`` is false for those discarded."""
        return self._table("batches")

    @cached_property
    def flow_batches(self) -> "pl.DataFrame":
        """One row per batch and flow."""
        return self._table("flow_batches")

    @cached_property
    def samples(self) -> "pl.DataFrame":
        """Windows, timeouts and queues, one row per sample and flow; empty without ``run.sample_interval``."""
        return self._table("samples")

    @cached_property
    def packet_outcomes(self) -> "pl.DataFrame":
        """Outcomes of packets (delivered, dropped, in transit), by kind and the part of the run that created them."""
        return self._table("packet_outcomes")

    @cached_property
    def airtime(self) -> "pl.DataFrame":
        """Time of each radio by use, over the measured part of the run; empty without ``run.airtime``."""
        return self._table("airtime")

    @cached_property
    def rates(self) -> "pl.DataFrame":
        """Frames by sender, receiver and rate, over the measured part of the run; empty with fixed rates."""
        return self._table("rates")

    @cached_property
    def batteries(self) -> "pl.DataFrame":
        """Battery of each node with a radio at the end of the run; empty if all batteries are infinite."""
        return self._table("batteries")

    @cached_property
    def wired_links(self) -> "pl.DataFrame":
        """One row per direction of a wired link, over the measured part of the run."""
        return self._table("wired_links")

    @cached_property
    def wired_link_batches(self) -> "pl.DataFrame":
        """One row per batch and direction of a wired link."""
        return self._table("wired_link_batches")

    @cached_property
    def recorded(self) -> dict[str, "pl.DataFrame"]:
        """Tables of ``run.record`` by name: events of every frame, packet, window, queue or route.

        Tables written to a folder during the run are read from there.

        Raises:
            OSError: If their files are missing or belong to another run.
            RuntimeError: If tables were recorded, in a process forked after polars was used.
        """
        measured = self._measured
        names = self._recorded_names()
        if not isinstance(measured, _core.Results):
            return {name: measured.table(name) for name in names}
        if not names:
            return {}
        forked.refuse()
        from chappe.results.storage import tables
        from chappe.results.storage.recorded import joined

        if self._streamed is not None:
            return {name: tables.read(self._streamed.file(name)) for name in names}
        return {name: joined(measured.recorded(name), self.scenario.names) for name in names}

    def _recorded_names(self) -> list[str]:
        return list(dict.fromkeys(self.scenario.settings["run"]["record"]))

    def _totals(
        self, measures: Sequence[str], table: Callable[[str], "Table"] | None = None
    ) -> Iterator[tuple[str, Totals]]:
        """Totals of measures, by name.

        Args:
            measures: Names of the measures.
            table: Function from a name to the table of the flows that are measured; ``None``: all flows.
        """
        table = table or self._columns
        batches = table("batches")
        used = np.asarray(batches["used"], dtype=bool)
        ratios = all_quotients(batches, [name for name in measures if name != JAIN])
        flows = len(table("flows")["flow"])
        for name in measures:
            if name == JAIN:
                rows = of_flows(np.asarray(table("flow_batches")["bytes_delivered"]), len(used))
            else:
                rows = ratios[name]
            yield name, Totals.of(name, rows[used], flows, self._fastest_bps)

    def plot(
        self,
        what: str = "goodput",
        *,
        only: Sequence[int | str] | None = None,
        from_s: float = 0.0,
        until_s: float | None = None,
    ) -> "Figure":
        """Plots the run over time, with a curve for each flow or node.

        ``results.plot("cwnd", until_s=20).savefig("cwnd.svg")`` draws congestion windows.

        Args:
            what: ``"goodput"`` (batch by batch), ``"cwnd"``, ``"rtt"`` (and the timeout), ``"queue"``, ``"energy"`` or
                ``"air"`` (frames, a lane for each node). All but the first need a table of ``run.record`` with that
                name, the last ``frames``; goodput, windows and round-trip times are also drawn from the samples of
                ``run.sample_interval``, round-trip times from the table ``cwnd``.
            only: Numbers of the flows, or numbers or names of the nodes, that are drawn; ``None``: all.
            from_s: Begin of the time axis [s].
            until_s: End of the time axis [s]; ``None``: the end of the run.

        Returns:
            A figure of matplotlib.

        Raises:
            ValueError: If there is no such figure, its table was not recorded, a flow or node is unknown, the times
                are in a wrong order, or there are more than 12 curves, or 3,000 frames.
            TypeError: If an argument has the wrong type.
            RuntimeError: In a process forked after polars was used.
        """
        from chappe.plot.runs import figure

        forked.refuse()
        numbers = None if only is None else list(only)
        return figure(self, name_of("what", what), numbers, from_s, until_s)

    def summary(
        self,
        measures: str | Sequence[str] | None = None,
        *,
        confidence: float = 0.95,
        flows: str | None = None,
    ) -> "pl.DataFrame":
        """Measures of the run as ratios of totals, with intervals over the batches (:class:`chappe.stats.Pooled`).

        Args:
            measures: Names of measures, also of those that need recorded tables, such as ``"delay_p95_s"``, and texts
                ``name = expression``, as in a study (:func:`chappe.sweep`); ``None``: all that need none.
            confidence: Confidence of the intervals.
            flows: Flows that are measured, such as ``"tcp"``, ``"udp, 3"``, ``"vegas src=0"``, ``"worst"`` (the one
                with the least goodput) or ``"each"``; ``None``: all flows. docs/results.md has all choices. A measure
                of chosen flows is called ``"goodput_bps of tcp"``; none is of the link layer, of routing or of energy.

        Returns:
            One row per measure that is defined in the run: ``measure``, ``estimate``, ``ci_low`` and ``ci_high`` of the
            interval, ``n``, ``of`` (``"batches"``), ``doubt`` (``"one run"`` and further reasons to doubt the interval;
            docs/studies.md), and ``autocorrelation`` of neighboring batches. Expressions over tables that are not
            recorded have no interval.

        Raises:
            ValueError: If there are no such flows or measures, or the run did not record what a measure needs.
            RuntimeError: In a process forked after polars was used.
        """
        forked.refuse()
        import polars as pl

        floats = dict.fromkeys(("estimate", "ci_low", "ci_high"), pl.Float64)
        texts = dict.fromkeys(("of", "doubt"), pl.String)
        schema = {"measure": pl.String, **floats, "n": pl.Int64, **texts, "autocorrelation": pl.Float64}
        return pl.DataFrame(self._summary(measures, confidence, flows), schema=schema, orient="row")

    def _summary(
        self, measures: str | Sequence[str] | None = None, confidence: float = 0.95, flows: str | None = None
    ) -> list[dict[str, Any]]:
        """Rows of :meth:`summary`."""
        check_confidence(confidence)
        short = short_batches(self._columns("batches")) is not None
        rows = []
        if measures is not None:
            found = self._pooled_named(names_of("measures", measures), flows)
        else:
            found = self._pooled if flows is None else self._pooled_of(flows)
        for name, (totals, pooled, tests) in found.items():
            numbers = (pooled.value, *totals.estimate(pooled).interval(confidence), lag1(pooled.pseudo))
            value, low, high, rho = _known(numbers)
            rows.append(
                {
                    "measure": name,
                    "estimate": value,
                    "ci_low": low,
                    "ci_high": high,
                    "n": len(pooled.pseudo),
                    "of": "batches",
                    "doubt": of_batches(tests, short),
                    "autocorrelation": rho,
                }
            )
        return rows

    @cached_property
    def _pooled(self) -> dict[str, tuple[Totals, Jackknife, Tests]]:
        """Measures that are defined in the run, over all batches together, and tests of their batches."""
        return _tested(self._totals([m.name for m in MEASURES]))

    def _pooled_of(self, flows: str) -> dict[str, tuple[Totals, Jackknife, Tests]]:
        """Measures of chosen flows, as :attr:`_pooled`."""
        names = [m.name for m in MEASURES if m.of != "nodes"]
        found: dict[str, tuple[Totals, Jackknife, Tests]] = {}
        flow_selection.check_labels(flows, flow_selection.labels_in(self.flows))
        for choice in dict.fromkeys(
            name.partition(flow_selection.OF)[2] for name in flow_selection.of(names, flows, lambda: self.flows)
        ):
            of_choice = tables_of_flows(self.table, flow_selection.flows_of(choice))
            if of_choice["flows"].is_empty():
                raise ValueError(flow_selection.none_of(choice, self.flows))
            pooled = _tested(self._totals(names, of_choice.__getitem__))
            found |= {f"{name}{flow_selection.OF}{choice}": each for name, each in pooled.items()}
        return found

    def _pooled_named(self, measures: Sequence[str], flows: str | None) -> dict[str, tuple[Totals, Jackknife, Tests]]:
        """Measures by name, as :attr:`_pooled`."""
        from chappe.expressions.of_run import of_run, parse_measures

        names, own = parse_measures(measures)
        found: dict[str, tuple[Totals, Jackknife, Tests]] = {}
        for name in flow_selection.of(names, flows, lambda: self.flows):
            measure, _, choice = name.partition(flow_selection.OF)
            if choice:
                flow_selection.check_labels(choice, flow_selection.labels_in(self.flows))
            if measure in own:
                found |= _tested(
                    [(name, of_run(self, own[measure], flow_selection.flows_of(choice) if choice else None))]
                )
            else:
                of_all = self._pooled_of(choice) if choice else self._pooled
                found |= {name: of_all[name]} if name in of_all else {}
        return found

    @cached_property
    def _certain(self) -> dict[str, list[str]]:
        """Measures whose batches are correlated or have a trend, by word."""
        return self._certain_of(None)

    def _certain_of(self, flows: str | None) -> dict[str, list[str]]:
        """As :attr:`_certain`, of chosen flows."""
        pooled = self._pooled if flows is None else self._pooled_of(flows)
        return certain({name: [tests] for name, (_, _, tests) in pooled.items()})

    def completions(self, quantiles: Sequence[float] = (0.5, 0.95, 0.99)) -> "pl.DataFrame":
        """Completion times of finite flows, short flows and responses that began in the measured part of the run.

        Args:
            quantiles: Quantiles of the completion time, from 0 to 1.

        Returns:
            A row for flows, for short flows and for responses to requests, unless empty: ``what``, the numbers that
            ``began`` and were ``completed``, ``mean_s``, and a column such as ``p95_s`` for each quantile [s].
            Unfinished ones count by the method of Kaplan and Meier; a quantile that was not reached is null.

        Raises:
            ValueError: If a quantile is not a number from 0 to 1.
            TypeError: If `quantiles` is not a list.
            RuntimeError: In a process forked after polars was used.
        """
        shares = _shares_of(quantiles)
        forked.refuse()
        import polars as pl

        columns = {"what": pl.String, "began": pl.Int64, "completed": pl.Int64}
        floats = dict.fromkeys(["mean_s", *map(_column, shares)], pl.Float64)
        return pl.DataFrame(self._completed(shares), schema={**columns, **floats}, orient="row")

    def _completed(self, shares: Sequence[float]) -> list[dict[str, Any]]:
        """Rows of :meth:`completions`."""
        flows, short_flows = self._columns("flows"), self._columns("short_flows")
        completed = [time is not None for time in flows["completion_time_s"]]
        is_response = [flow is not None for flow in short_flows["flow"]]
        kinds = {
            "flows": (flows, list(map(operator.or_, completed, self._send_files(flows["started_at_s"])))),
            "short_flows": (short_flows, list(map(operator.not_, is_response))),
            "responses": (short_flows, is_response),
        }
        rows = []
        for what, (table, wanted) in kinds.items():
            times = zip(table["started_at_s"], table["completion_time_s"], wanted, strict=True)
            began = [(start, time) for start, time, counts in times if counts and self._is_in(start)]
            if not began:
                continue
            done = np.array([time for _, time in began if time is not None])
            unfinished = np.array([self.simulated_s - start for start, time in began if time is None])
            mean, *reached = _known(mean_and_quantiles(done, unfinished, shares))
            known = dict(zip(map(_column, shares), reached, strict=True))
            rows.append({"what": what, "began": len(began), "completed": len(done), "mean_s": mean, **known})
        return rows

    def _is_in(self, start_s: float | None) -> bool:
        """True for a start in the measured part of the run."""
        return start_s is not None and self.measured_from_s <= start_s < self.simulated_s

    def _send_files(self, starts: Sequence[float | None]) -> list[bool]:
        """For each flow, true if it sends a file of limited size and is not stopped before the end of the run."""
        s = self.scenario.settings
        stops = [(e["flow"], _seconds(e["at"])) for e in s["event"] if e["action"] == "flow_stop"]
        files = []
        for number, (entry, begun) in enumerate(zip(self.scenario._core.entries(), starts, strict=True)):
            flow, start = s["traffic"] if entry is None else s["flow"][entry], math.inf if begun is None else begun
            is_file = _has_end(flow["app"], {**s["bulk"], **flow.get("bulk", {})})
            own = [_stop_s(flow, start), *(at for stopped, at in stops if stopped == number and at >= start)]
            files.append(is_file and min(own) >= self.simulated_s)
        return files

    def why(self) -> Why:
        """Explanation of the results: time budgets of flows and nodes, and causes of packet loss.

        Without ``run.airtime`` the run is repeated to count airtime; all other results are identical. For saved
        results a warning says so: :func:`chappe.open`. A run with external flows cannot be repeated, and its
        explanation then has no airtime.

        Raises:
            RuntimeError: In a process forked after polars was used.
        """
        forked.refuse()
        if self.airtime.is_empty() and not self._is_of_program:
            if not isinstance(self._measured, _core.Results):
                warnings.warn(self._again(), ChappeWarning, stacklevel=2)
            again = run(self.scenario.with_settings({"run.airtime": True, "run.record": []}))
            rest = self if self.epoch == again.epoch else again
            return explain(rest.flows, rest.packet_outcomes, again.airtime, rest.nodes)
        return explain(self.flows, self.packet_outcomes, self.airtime, self.nodes)

    @property
    def _is_of_program(self) -> bool:
        """True if a program has sent datagrams of external flows: the run cannot be repeated without it."""
        began = self.flows.select("app", "started_at_s").iter_rows()
        return any(app == "external" and at_s is not None for app, at_s in began)

    def _again(self) -> str:
        """Notice of the repetition of a run."""
        text = f"the saved results have no airtime (`run.airtime`): the run is repeated with seed {self.seed}"
        if self.epoch == _core.RESULTS_EPOCH:
            return text
        return (
            f"{text} in results epoch {_core.RESULTS_EPOCH}; the explanation is of that run, not of the saved one of "
            f"epoch {self.epoch}"
        )

    @cached_property
    def warnings(self) -> list[Notice]:
        """Warnings about the results: an early end, flows that delivered nothing, short and correlated batches, trends.

        Warnings about the scenario are in ``scenario.warnings``.

        Raises:
            RuntimeError: In a process forked after polars was used.
        """
        if self.end == "running":
            return []
        forked.refuse()
        found = of_results(self.end, self._rows("flows"), self._silences, self._columns("batches"), self._certain)
        if self.scenario is None or not self.scenario.names:
            return list(found)
        in_text = self.scenario._core.in_text
        return [notice._replace(message=in_text(notice.message)) for notice in found]

    @cached_property
    def _silences(self) -> list[Silence]:
        """Flows that delivered nothing in the measured part, or nothing more after an outage of a node or wire."""
        flows, outcomes, batteries = map(self._rows, ("flows", "packet_outcomes", "batteries"))
        found = list(of_run(self.scenario, flows, outcomes, batteries, self.simulated_s))
        batches, flow_batches = map(self._rows, ("batches", "flow_batches"))
        found += after_outage(self.scenario, flows, batches, flow_batches, batteries)
        if self.scenario is None or not self.scenario.names:
            return found
        in_text = self.scenario._core.in_text
        return [silence._replace(reasons=[in_text(text) for text in silence.reasons]) for silence in found]

    def to_dict(self, *, measures: str | Sequence[str] | None = None, flows: str | None = None) -> dict[str, Any]:
        """All results as plain data, as printed by ``chappe run --json``.

        Args:
            measures: Measures of the summary, as in :meth:`summary`.
            flows: Flows of the summary, as in :meth:`summary`.

        Raises:
            ValueError: If there are no such flows.
            RuntimeError: In a process forked after polars was used.
        """
        forked.refuse()
        all_tables = {name: self._rows(name) for name in TABLES}
        is_all = measures is None and flows is None
        summary = {} if is_all else {"summary": self._summary(measures, flows=flows)}
        return {**self._facts(), **summary, **all_tables, "scenario": self.scenario.settings}

    def _facts(self) -> dict[str, Any]:
        """All results except the tables and the scenario."""
        return {
            "format": FORMAT,
            "version": self.version,
            "results_epoch": self.epoch,
            "seed": self.seed,
            "end": self.end,
            "simulated_s": self.simulated_s,
            "measured_from_s": self.measured_from_s,
            "frames_sent": self.frames_sent,
            "fastest_bps": self._fastest_bps,
            "warnings": [
                *(notice._asdict() for notice in self.scenario.warnings),
                *(notice._asdict() for notice in self.warnings),
            ],
            "summary": self._summary(),
        }

    def report(self, path: str | os.PathLike[str], *, title: str = "Run") -> None:
        """Writes a report of the run: one HTML file that opens offline, and contains the simulator.

        It has findings, tables, a map and a player: the run is repeated in the page, frame by frame,
        also with other settings. Without the module of the simulator (docs/see.md) it has no player.

        Args:
            path: The file, ``.html``; an earlier report there is replaced.
            title: Title of the page.

        Raises:
            OSError: If the file cannot be written, or is not a report.
            ValueError: If the name of the file has another ending.
            RuntimeError: In a process forked after polars was used.
        """
        from chappe import page  # it imports this module

        forked.refuse()
        file = path_of("path", path)
        outputs.refuse(file, outputs.PAGE, self.scenario._files)
        outputs.write(file, page.page(self, title).encode(), outputs.PAGE, self.scenario._files)

    def player(self, *, title: str = "Run", height: int = 900) -> "Player":
        """The report with its player, for the output of a notebook's cell.

        It is shown in a frame that cannot reach the notebook, and adds about 1.3 MB to it.

        Args:
            title: Title of the page.
            height: Height of the frame [pixels].

        Raises:
            RuntimeError: Without the module of the simulator (docs/see.md), for a run with external flows or a
                congestion control in Python, and in a process forked after polars was used.
        """
        from chappe import page
        from chappe.page.notebook import Player

        forked.refuse()
        if why := page.without(self):
            raise RuntimeError(f"there is no player: {why}")
        return Player(page.page(self, title), title, height)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes all results to a folder, which is created if it does not exist.

        Files of another run in the folder are replaced once all new files are complete, and stay if writing fails.

        Args:
            folder: Receives ``scenario.toml`` (all effective settings, reproduces the run), ``run.json`` (versions,
                seed, end, summary), and a Parquet file per table, including the tables of ``run.record``.

        Raises:
            OSError: If writing fails, the folder has files that no run wrote, or the scenario was read from there and
                changed.
            ValueError: If the name of the folder is empty.
            RuntimeError: In a process forked after polars was used.
        """
        # Results that were read from a folder may be written there again.
        with Writing(folder, None if self._is_of(path_of("folder", folder)) else self.scenario) as writing:
            self._write(writing)

    def _is_of(self, folder: Path) -> bool:
        """True for saved results of this folder."""
        from chappe.results.storage.saved import Saved

        saved = self._measured
        return isinstance(saved, Saved) and folder.exists() and folder.samefile(saved.folder)

    def _write(self, writing: Writing) -> None:
        """Writes all files except those written there during the run."""
        writing.path(SCENARIO).write_text(self.scenario.to_toml(), encoding="utf-8")
        for name in TABLES:
            self._write_table(name, writing.path(f"{name}.parquet"))
        kept = []
        streamed = self._streamed
        for name in self._recorded_names():
            path = writing.path(f"{name}.parquet")
            if streamed is None:
                self._write_table(name, path)
            elif not writing.folder.samefile(streamed.folder):
                shutil.copyfile(streamed.file(name), path)
            elif not path.exists():
                kept.append(streamed.file(name).name)
        writing.finish(self._facts(), kept)

    def _write_table(self, name: str, path: Path) -> None:
        from chappe.results.storage import tables

        table = self.table(name)
        tables.write(table, path, of_file(name, self.scenario, self.version, self.epoch, table.columns))

    def _repr_html_(self) -> str:
        """The results as HTML for notebooks, without scripts."""
        from chappe.page.notebook import results

        return results(self)

    def __repr__(self) -> str:
        goodput = float(self.flows["goodput_bps"].sum()) / 1e3
        return f"<Results: {count(len(self.flows), 'flow')}, {goodput:.1f} kbit/s, {self.simulated_s:.1f} s simulated>"


def _seconds(time: str) -> float:
    """A point in time, or a duration, in seconds."""
    return _core.instant_ns(time) / 1e9


def _stop_s(flow: Mapping[str, Any], start_s: float) -> float:
    """Time at which the settings of a flow stop its application [s]; infinite for never."""
    if flow["stop"] != "never":
        return _seconds(flow["stop"])
    return math.inf if flow["duration"] == "unlimited" else start_s + _seconds(flow["duration"])


def _has_end(app: str, bulk: Mapping[str, Any]) -> bool:
    """True for file transfers of limited size."""
    return app == "bulk" and any(bulk[name] != "unlimited" for name in ("segments", "bytes"))


def _column(share: float) -> str:
    """Column of a quantile of completion times."""
    return f"p{100 * share:g}_s"


def _known(values: Sequence[float]) -> list[float | None]:
    """Numbers of a table; ``None`` if unknown."""
    return [x if math.isfinite(x) else None for x in values]


def _tested(measured: Iterable[tuple[str, Totals]]) -> dict[str, tuple[Totals, Jackknife, Tests]]:
    """Measures that are defined, over all batches together, and tests of their batches."""
    together = ((name, totals, totals.together) for name, totals in measured)
    return {name: (t, pooled, tests_of(pooled.pseudo)) for name, t, pooled in together if len(pooled.pseudo)}


def _shares_of(quantiles: Any) -> list[float]:
    """Quantiles, checked."""
    if isinstance(quantiles, str | bytes | Mapping) or not isinstance(quantiles, Sequence):
        raise TypeError(f"quantiles is a list such as [0.5, 0.95], not {quoted(quantiles)}")
    for share in quantiles:
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            raise ValueError(f"a quantile is a number from 0 to 1, not {quoted(share)}")
    if len(set(quantiles)) < len(quantiles):
        raise ValueError("quantiles has the same quantile twice")
    return list(quantiles)


def run(
    scenario: ScenarioLike,
    *,
    seed: int | None = None,
    progress: Progress = False,
    out: str | os.PathLike[str] | None = None,
    pcap: str | os.PathLike[str] | None = None,
    qlog: str | os.PathLike[str] | None = None,
    replay: str | os.PathLike[str] | None = None,
) -> Results:
    """Runs a scenario. The interpreter lock is released, so runs in several threads use several cores.

    Args:
        scenario: A scenario, an equivalent dict, whose names may be dotted, or the name of a scenario file.
        seed: Seed of the random number generator; ``None``: the seed of the scenario.
        progress: True for a progress bar, or a function called several times a second with the completed share of the
            run, from 0 to 1.
        out: Folder for all results, as in :meth:`Results.save`; created if it does not exist. The tables of
            ``run.record`` are written during the run, in constant memory. ``None``: tables stay in memory, and nothing
            is written.
        pcap: Folder for captures, a pcapng file for each node, written during the run; created if it does not exist.
            Captures of an earlier run are replaced, and results are the same with and without captures.
        qlog: Folder for qlogs, one for each end of each connection of QUIC; created if it does not exist. Qlogs of an
            earlier run are replaced, and results are the same with and without them.
        replay: Record of a run of ``chappe live``, whose packets enter again at the same instants, and whose end ends
            the run.

    Raises:
        ScenarioError: If the scenario cannot be run, with all problems at once.
        LimitError: If the run needs more memory than ``run.max_memory``.
        RunError: If a congestion control in Python raises, or returns no window; if a flow of QUIC has no flow back.
        OSError: If the scenario or the record cannot be read, or a folder cannot be written or has files that no run
            wrote.
        ValueError: If the name of the folder is empty or not UTF-8, or the record has a mistake.
        TypeError: If an argument has the wrong type.
        RuntimeError: With ``out``, in a process forked after polars was used.
    """
    checked = scenario_of(scenario)
    record = None if replay is None else path_of("replay", replay).read_text("utf-8")
    if record is not None:
        checked = with_endpoints(checked, _core.record_nodes(record))
    tell(checked.warnings, UNDRIVEN if record is None else UNUSED)
    with followed(progress, "Run") as update:
        if seed is not None:
            checked = checked.with_settings({"run.seed": seed})
        if checked._core.is_quic():
            if record is not None:
                raise quic.refusal("replay", "datagrams of QUIC are made by its library", "leave replay out")
            return _run_quic(checked, update, out, pcap, qlog)
        if qlog is not None:
            raise quic.refusal("qlog", "no flow is QUIC, so that there is no qlog", "set quic.congestion_control")

        def measured(
            sink: Callable[[str, _core.Rowset], object] | None,
            capture: Callable[[int, int, bytes], object] | None = None,
        ) -> _core.Results:
            return _core.run(checked._core, update, sink, capture, checked._rules(), record)

        if pcap is None:
            return kept(checked, out, measured)
        if out is not None:
            refuse_shared(path_of("pcap", pcap), path_of("folder", out))
        with Captures(pcap, checked.names) as captures:
            return kept(checked, out, lambda sink: measured(sink, captures))


def kept(
    scenario: Scenario,
    out: str | os.PathLike[str] | None,
    measured: Callable[[Callable[[str, _core.Rowset], object] | None], _core.Results],
) -> Results:
    """Results of a run, with ``out`` written into this folder.

    Args:
        scenario: The scenario that is run.
        out: Folder for all results.
        measured: Function that makes the run, and gives rows of recorded tables to its argument if there is one.
    """
    if out is None:
        return Results(scenario, measured(None))
    from chappe.results.storage.recorded import Stream

    names = list(dict.fromkeys(scenario.settings["run"]["record"]))
    with Writing(out, scenario) as writing:
        about = {name: of_file(name, scenario, _core.VERSION, _core.RESULTS_EPOCH) for name in names}
        stream = Stream(writing.path, about, scenario.names)
        run = measured(stream)
        stream.join()
        streamed = _Streamed(writing.folder)
        results = Results(scenario, run, streamed)
        results._write(writing)
        streamed.note(names)
    return results


def _run_quic(
    scenario: Scenario,
    progress: Callable[[float], object] | None,
    out: str | os.PathLike[str] | None,
    pcap: str | os.PathLike[str] | None,
    qlog: str | os.PathLike[str] | None,
) -> Results:
    if pcap is not None:
        raise quic.refusal("pcap", "a run with QUIC writes no captures", "leave pcap out; qlog has the packets of QUIC")
    with contextlib.nullcontext() if qlog is None else quic.logs(path_of("qlog", qlog)) as logs:
        answer = quic.run(scenario, progress, logs)
    from chappe.results.storage.tables import frame

    tables = {name: frame(columns) for name, columns in answer.tables.items()}
    facts = answer.version, answer.epoch, answer.end, answer.simulated_s, answer.measured_from_s, answer.frames_sent
    results = Results(scenario, InMemoryResults(*facts, tables, answer.fastest_bps))
    if out is not None:
        results.save(out)
    return results
