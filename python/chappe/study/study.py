"""A stored study: tables and analysis."""

import json
import math
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from chappe._common import forked, outputs
from chappe._common.arguments import name_of, names_of, path_of, quoted, values_of
from chappe._common.files import write_file
from chappe._common.notices import Notice
from chappe._common.words import count
from chappe.errors import ScenarioError, StorageError, reason
from chappe.expressions import own_measures as own
from chappe.expressions.of_study import asked_later
from chappe.expressions.reductions import REDUCED
from chappe.expressions.run_measures import WARMUPS, Batches, mean_series, runs_of, totals_of, with_measures
from chappe.measures import NAMES, NODES_ALONE, Direction, Totals, counts_flows, direction_of, short_batches
from chappe.results import silent_flows as silence
from chappe.results.storage import tables
from chappe.results.storage.columns import RUN, RUN_INFO
from chappe.results.warnings import ENDS, of_batches
from chappe.scenario import flow_selection
from chappe.scenario.scenario import Scenario
from chappe.stats import check_confidence, doubts
from chappe.study.analysis import analysis
from chappe.study.design.axes import Item
from chappe.study.design.search import Known, Run, Search, curve, explored
from chappe.study.design.stop import Precision, error
from chappe.study.execution.threads import Failed
from chappe.study.store import export, parts, store
from chappe.study.store.parts import DamagedError
from chappe.text.labels import Labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOTALS = "totals"
"""Name of the table of the totals of measures."""

_OF_SEARCH = ("setting", "measure", "direction")

LOOKED_AT = 2000
"""Runs whose flows are searched for silent flows at most."""


class Forgotten:
    """A temporary folder, deleted with the object or at the end of the process.

    Attributes:
        path: Path of the folder.
    """

    def __init__(self) -> None:
        """Creates the folder."""
        self.path = Path(tempfile.mkdtemp(prefix="chappe-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


class Study:
    """A study in a folder.

    In a process forked after polars was used, access to the runs raises a ``RuntimeError``.

    Attributes:
        folder: Folder of the study.
        failed: Failed runs of the last execution.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        failed: Iterable[Failed] = (),
        warnings: Iterable[Notice] = (),
        forgotten: Forgotten | None = None,
    ):
        """Opens the folder of a study, finished or not.

        Raises:
            StorageError: If the folder is not a study.
            TypeError: If `folder` is not a path.
            RuntimeError: In a process forked after polars was used.
        """
        forked.refuse()
        self.folder = path_of("folder", folder)
        self.failed = list(failed)
        self._given = list(warnings)
        self._found: dict[tuple[str, ...], list[Notice]] = {}
        self._sums: dict[str, pl.DataFrame] = {}
        self._of_own: dict[str, Totals] = {}
        self._later: dict[str, own.Own] = {}
        self._forgotten = forgotten
        try:
            self._about = _described((self.folder / store.STUDY).read_bytes())
            points = tables.read(self.folder / store.POINTS)
            self._all_points = points.select(RUN, "point", *self.axes, "seed", "shown")
            self._points = self._all_points.filter("shown").drop("shown")
        except FileNotFoundError:
            if not store.folders(self.folder):
                raise self._unreadable() from None
            again = "run the study again: it finds the existing runs"
            raise StorageError(f"{store.STUDY} or {store.POINTS} is missing in {folder}; {again}") from None
        except (OSError, ValueError, pl.exceptions.PolarsError):
            raise self._unreadable() from None

    def _unreadable(self) -> StorageError:
        return StorageError(f"{self.folder} is not the folder of a readable study")

    @property
    def axes(self) -> list[str]:
        """Names of the axes."""
        return list(self._about["axes"])

    @property
    def pool(self) -> list[str]:
        """Axes over which runs are pooled in summaries, comparisons, rankings and plots."""
        return list(self._about.get("pool", []))

    @property
    def _own_axes(self) -> list[str]:
        """Axes over which runs are not pooled."""
        return [name for name in self.axes if name not in self.pool]

    @cached_property
    def scenario(self) -> Scenario:
        """The base scenario of the points.

        Raises:
            ScenarioError: If this version cannot run the scenario.
        """
        return Scenario(self._about["scenario"])

    @property
    def seeds(self) -> list[int]:
        """Seeds with which the study began; a stop rule may add seeds."""
        return list(self._about["seeds"])

    @cached_property
    def _sources(self) -> dict[str, Path]:
        sources: dict[str, Path] = {}
        if not self.folder.is_dir():
            raise StorageError(f"{self.folder} no longer exists")
        for path in store.folders(self.folder):
            try:
                for key in parts.read(path, RUN_INFO)[RUN]:
                    sources.setdefault(key, path)
            except DamagedError as e:
                raise StorageError(f"{e}; run the study again to repair it") from None
        finished: pl.DataFrame | None = None
        with suppress(StorageError):
            finished = self._finished
        if finished is not None and not set(finished[RUN]) <= sources.keys():
            raise StorageError(f"runs are missing in {self.folder}; run the study again to repair it")
        return sources

    @property
    def _finished(self) -> pl.DataFrame:
        """Table of measures of a finished study."""
        return self._read(store.RUNS)

    def _read(self, name: str) -> pl.DataFrame:
        """A table that a finished study has written."""
        path = self.folder / name
        try:
            rows = tables.read(path)
            if RUN in rows.columns:
                return rows
        except (OSError, pl.exceptions.PolarsError):
            pass
        raise StorageError(f"{path} is damaged; run the study again to repair it")

    @cached_property
    def _there(self) -> pl.DataFrame:
        return self._points.filter(pl.col(RUN).is_in(list(self._sources)))

    @cached_property
    def runs(self) -> pl.DataFrame:
        """One row per run: point, axes, seed, end, measures. docs/studies.md describes the columns."""
        return self._measured[0]

    @cached_property
    def _measured(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Table of runs, and totals of their measures."""
        forked.refuse()
        if (self.folder / store.RUNS).exists():
            return self._finished, self._read(store.TOTALS)
        keys = self._there[RUN].unique(maintain_order=True).to_list()
        if not keys:
            return self._there, self._there.select(RUN)
        rows = self._rows(RUN_INFO, keys).drop("seed")
        rows = with_measures(rows, self._batches(keys))
        runs = self._there.join(runs_of(rows), on=RUN, how="left", maintain_order="left")
        runs = own.with_own(runs, self._stored.values(), lambda name: self._rows(name, keys))
        return tables.known(runs), tables.known(totals_of(rows))

    def table(self, name: str) -> pl.DataFrame:
        """Table of all runs, such as ``flows``, with the columns ``run``, ``point``, axes and ``seed`` in front.

        The table ``totals`` has ``numerator`` and ``denominator`` of each ``measure`` of each run.
        """
        forked.refuse()
        name = name_of("name", name)
        if name == TOTALS:
            return self._there.join(self._measured[1], on=RUN, maintain_order="left_right")
        rows = self._rows(name, self._there[RUN].unique(maintain_order=True).to_list())
        if not len(rows.columns):
            return self._there
        return self._there.join(rows, on=RUN, maintain_order="left_right", suffix="_of_run")

    def _rows(self, name: str, keys: Sequence[str]) -> pl.DataFrame:
        if name not in (*parts.PART_TABLES, REDUCED):
            raise ValueError(f"there is no table {quoted(name)}; known: {', '.join((*parts.PART_TABLES, TOTALS))}")
        try:
            return store.table(self._sources, name, keys)
        except DamagedError as e:
            raise StorageError(f"{e}; run the study again to repair it") from None

    def _batches(self, keys: Sequence[str]) -> Batches:
        points = dict(self._all_points.select(RUN, "point").iter_rows())
        return Batches(lambda name: self._rows(name, keys), self._about["warmup"], points)

    @property
    def _precision(self) -> Precision | None:
        """Stopping rule; ``None``: every point with every seed."""
        rule = self._about.get("precision")
        return Precision(**rule) if rule else None

    @cached_property
    def _drawn(self) -> list[str]:
        """Parts of the scenario that the seed draws alike at all points."""
        return list(self._about["drawn"])

    @property
    def _common(self) -> bool:
        """True if runs with the same seed are pairs: the seed draws parts of the scenario alike at all points."""
        return bool(self._drawn)

    @property
    def _single(self) -> bool:
        """True for one seed: intervals come from batches."""
        return len(self._about["seeds"]) == 1

    def _in_order(self, measure: str) -> list[analysis.Sample]:
        """Totals of a measure at each point, by runs, or by the batches of a single run."""
        analysis.check_measure(measure, self._own)
        if self.pool:
            of_runs = (
                self._own_in_order(measure) if self._is_own(measure) else self._of_points(measure, is_single=False)
            )
            return analysis.pooled(of_runs, self.pool)
        if self._is_own(measure):
            return self._own_in_order(measure)
        return self._of_points(measure, is_single=self._single)

    def _of_points(self, measure: str, *, is_single: bool) -> list[analysis.Sample]:
        """Totals of a measure at each point, by the batches of a single run, or by runs."""
        samples = []
        batches: dict[str, Totals] = {}
        short: set[str] = set()
        if is_single and len(self._there):
            batches = dict(self._batches(self._there[RUN].unique(maintain_order=True).to_list()).totals(measure))
            short = set(self._short)
        flows = self._flows_of(measure) if counts_flows(measure) and not is_single else {}
        runs = self.runs.select(RUN, "point", *self.axes, "seed", *(["fastest_bps"] if flows else []))
        if not (is_single or runs.is_empty()):
            sums = self._sums_of(measure)
            runs = runs.join(sums, on=RUN, how="left", maintain_order="left")
        for of_point in runs.partition_by("point", maintain_order=True):
            row = of_point.row(0, named=True)
            labels = {name: row[name] for name in self.axes}
            if is_single:
                totals = batches.get(row[RUN], Totals.of(measure, np.empty((0, 2))))
                samples.append(analysis.Sample(labels, None, totals, short=row[RUN] in short))
            else:
                rows = of_point.select("numerator", "denominator").to_numpy()
                bounds = (flows[row[RUN]], row["fastest_bps"]) if row[RUN] in flows else ()
                totals = Totals.of(measure, rows, *bounds, runs=True)
                samples.append(analysis.Sample(labels, of_point["seed"].to_list(), totals, self._common))
        return samples

    @cached_property
    def _stored(self) -> dict[str, own.Own]:
        """User-defined measures with which the runs were made, by name."""
        return own.of_stored(self._about.get("measures", {}))

    @property
    def _own(self) -> dict[str, own.Own]:
        """User-defined measures, by name."""
        return {**self._stored, **self._later}

    def _defined(self, measures: Sequence[str]) -> list[str]:
        """Names of measures, of which the user-defined ones are kept: a later definition replaces an earlier one.

        Raises:
            ValueError: If an expression is wrong, or needs more than the tables of the study.
        """
        names, new = asked_later(measures, self._stored, self.axes)
        for one in new:
            if self._later.get(one.name, one).text != one.text:
                self._of_own = {
                    m: totals for m, totals in self._of_own.items() if flow_selection.parts(m)[0] != one.name
                }
            self._later[one.name] = one
        return names

    @property
    def _asked(self) -> list[str]:
        """Measures that ``chappe sweep`` printed last; of a study made in Python goodput and user-defined measures."""
        return self._of_file[0] or ["goodput_bps", *self._stored]

    @property
    def _labels(self) -> dict[str, str]:
        """Words for settings and values in the file with which ``chappe sweep`` made the study."""
        return self._of_file[1]

    @cached_property
    def _of_file(self) -> tuple[list[str], dict[str, str]]:
        """Measures and words that ``chappe sweep`` kept; empty if it made no such study."""
        path = self.folder / store.ASKED
        if not path.exists():
            return [], {}
        try:
            asked = parts.loaded(path.read_bytes())
            words = {str(name): str(text) for name, text in asked["labels"].items()}
            return names_of("measures", asked["measures"]), words
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise StorageError(f"{path} is damaged; run the study again to repair it") from None

    def _keep_asked(self, measures: Sequence[str], labels: Mapping[str, str]) -> None:
        """Keeps measures and words for ``chappe show`` and figures."""
        try:
            asked = json.dumps({"measures": [*measures], "labels": dict(labels)}, ensure_ascii=False)
            write_file(self.folder / store.ASKED, asked.encode() + b"\n")
        except OSError as e:
            raise StorageError(f"cannot write to {self.folder}: {reason(e)}") from None

    def _is_own(self, measure: str) -> bool:
        return measure.partition(flow_selection.OF)[0] in self._own

    def _direction_of(self, measure: str) -> Direction | None:
        """Better direction of a user-defined measure; ``None`` of any other."""
        return self._own[measure.partition(flow_selection.OF)[0]].direction if self._is_own(measure) else None

    def _own_in_order(self, measure: str) -> list[analysis.Sample]:
        """Totals of a user-defined measure at each point, by runs."""
        name, choice = flow_selection.parts(measure)
        runs = self._there
        keys = runs[RUN].unique(maintain_order=True).to_list()
        if not keys:
            return []
        if measure not in self._of_own:
            self._of_own[measure] = own.totals_of(self._own[name], keys, lambda name: self._rows(name, keys), choice)
        totals, place_of = self._of_own[measure], {key: place for place, key in enumerate(keys)}
        samples = []
        for of_point in runs.partition_by("point", maintain_order=True):
            row = of_point.row(0, named=True)
            rows = totals.rows[[place_of[key] for key in of_point[RUN]]]
            labels = {axis: row[axis] for axis in self.axes}
            of_runs = totals._replace(rows=rows)
            samples.append(analysis.Sample(labels, of_point["seed"].to_list(), of_runs, self._common))
        return samples

    def _sums_of(self, measure: str) -> pl.DataFrame:
        """Numerator and denominator of a measure in each run."""
        if flow_selection.parts(measure)[1] is None:
            return self._measured[1].filter(measure=measure)
        if measure not in self._sums:
            keys = self._there[RUN].unique(maintain_order=True).to_list()
            rows = [(key, *totals.of_run) for key, totals in self._batches(keys).totals(measure)] if keys else []
            schema = {RUN: pl.String, "numerator": pl.Float64, "denominator": pl.Float64}
            self._sums[measure] = tables.known(pl.DataFrame(rows, schema=schema, orient="row"))
        return self._sums[measure]

    @property
    def _kinds(self) -> dict[str, int]:
        """Numbers of TCP and of UDP flows in the first run."""
        first = self._there[RUN].head(1).to_list()
        return flow_selection.kinds_of(self._rows("flows", first)) if first else {}

    def _flows_of(self, measure: str) -> dict[str, int]:
        """Number of flows, of those that a measure is taken of, of the first run of each point."""
        keys = self._there.unique("point", keep="first", maintain_order=True)[RUN].unique(maintain_order=True).to_list()
        if not keys:
            return {}
        choice, flows = flow_selection.parts(measure)[1], self._rows("flows", keys)
        counted = (flows if choice is None else choice.of(flows, [RUN])).group_by(RUN).agg(pl.len())
        return dict(counted.iter_rows())

    @cached_property
    def _short(self) -> dict[str, str]:
        """Warnings about short batches of a study with one seed, by run."""
        tables_of_runs = self.table("batches").partition_by(RUN, maintain_order=True)
        return {batches[RUN][0]: text for batches in tables_of_runs if (text := short_batches(batches))}

    def summary(
        self,
        measures: str | Sequence[str] | None = "goodput_bps",
        *,
        confidence: float = 0.95,
        flows: str | None = None,
    ) -> pl.DataFrame:
        """Measures at each point, as ratios of totals, with intervals and quantiles.

        Args:
            measures: Names of one or several of :data:`chappe.measures.MEASURES`, of user-defined measures
                (:func:`chappe.sweep`), or of chosen flows, such as ``"mean_delay_s of udp"``. A definition such as
                ``"share = sum(flows.timeouts) / sum(flows.packets_sent)"`` adds a measure of the tables of the study.
                ``None``: all of :data:`chappe.measures.MEASURES`.
            confidence: Confidence of the intervals.
            flows: Flows that are measured where a measure does not name its own, such as ``"tcp"`` or ``"worst"``, or
                ``"each"`` (:meth:`chappe.Results.summary`); ``None``: all flows.

        Returns:
            One row per point and measure that is defined there. Behind the axes and the measure polars prints the last
            four columns: ``n`` and the estimate with its interval. In all: the axes, ``measure``, ``estimate``,
            ``ci_low`` and ``ci_high`` of the interval (:class:`chappe.stats.Pooled`), ``n``, ``of`` (``"runs"``,
            ``"batches"``, or pooled axes), ``doubt`` (reasons to doubt the interval, null without any), ``unseen``
            (bound on the share of runs in a state that none of the runs had); ``q10``, ``median`` and ``q90`` with
            their intervals, null for too few values; for batches ``autocorrelation`` of neighbors, and ``correlated``,
            which is true if it is significant; ``met``, which is false for a point that missed the precision of the
            study, and null without precision.
        """
        check_confidence(confidence)
        everything = [name for name in NAMES if flows is None or name not in NODES_ALONE]
        asked = everything if measures is None else names_of("measures", measures)
        names = self._measures_of(asked, flows, each=True)
        rows = [
            {**analysis.summary(s, name, confidence), "met": self._met(s, name)}
            for name in names
            for s in self._in_order(name)
        ]
        all_rows = analysis.table(rows)
        if not rows:
            return all_rows
        defined = all_rows.filter(pl.col("n") > 0).cast({"doubt": pl.String, "met": pl.Boolean})
        return analysis.with_last(defined, "n", "estimate", "ci_low", "ci_high")

    def _measures_of(self, measures: Sequence[str], flows: str | None, *, each: bool = False) -> list[str]:
        """Names of measures of chosen flows.

        Raises:
            ValueError: If a measure or the choice is unknown, or no run has such flows.
        """
        forked.refuse()
        measures = self._defined(measures)
        for name in measures:
            analysis.check_measure(name, self._own)
        runs = self._there[RUN].unique(maintain_order=True).to_list()
        texts = [flows, *(name.partition(flow_selection.OF)[2] for name in measures)]
        if runs and (texts := [text for text in texts if text]):
            labels = flow_selection.labels_in(self._rows("flows", runs))
            for text in texts:
                flow_selection.check_labels(text, labels)
        names = flow_selection.of(measures, flows, (lambda: self._rows("flows", runs)) if each and runs else None)
        for choice in {flow_selection.parts(name)[1] for name in names} - {None} if runs else ():
            assert choice is not None
            if choice.of(of_all := self._rows("flows", runs), [RUN]).is_empty():
                raise ValueError(flow_selection.none_of(choice.text, of_all))
        for name in names:
            analysis.check_measure(name, self._own)
            if self._is_own(name):
                own.choice_of(self._own[flow_selection.parts(name)[0]], flow_selection.parts(name)[1])
        return names

    def _of_flows(self, measure: str, flows: str | None) -> list[analysis.Sample]:
        """Samples of a measure of chosen flows."""
        (name,) = self._measures_of(names_of("measure", [measure]), flows)
        return self._in_order(name)

    def _met(self, sample: analysis.Sample, measure: str) -> bool | None:
        rule = self._precision
        return rule.met(sample.estimate) if rule is not None and rule.measure == measure else None

    @property
    def warnings(self) -> list[Notice]:
        """Warnings of the last execution and about its results, as records with ``code``, ``path`` and ``message``.

        They are about points, damaged files that were moved away, early ends, flows that delivered nothing with
        reasons, points that missed their precision, searches that told nothing apart, runs too short for their
        transient, and intervals that are too narrow: those of the measure of the rule of the study, or of goodput.
        :meth:`doubts` checks the intervals of other measures.
        """
        rule = self._about.get("search") or self._about.get("precision") or {"measure": "goodput_bps"}
        return list(self._notices([rule["measure"]]))

    def doubts(self, measures: str | Sequence[str] = "goodput_bps", *, flows: str | None = None) -> list[str]:
        """Messages of ``warnings``, one sentence each.

        Args:
            measures: Names of the measures whose intervals are checked.
            flows: As in :meth:`summary`.
        """
        return [str(notice) for notice in self._notices(self._measures_of(names_of("measures", measures), flows))]

    def _notices(self, measures: Sequence[str]) -> list[Notice]:
        """Warnings of :meth:`doubts`, as records."""
        forked.refuse()
        names = tuple(measures)
        if names not in self._found:
            self._found[names] = self._noticed(names)
        return self._found[names]

    def _noticed(self, measures: Sequence[str]) -> list[Notice]:
        """Warnings, found anew."""
        measures = [name for name in measures if not self._is_own(name)]
        warnings = list(self._given)
        ends = self.runs["end"].to_list() if "end" in self.runs.columns else []
        for end, text in ENDS.items():
            if many := ends.count(end):
                warnings.append(Notice("early_end", "run.stop", f"{count(many, 'run')} {text}"))
        if self._single and len(self._there) and (short := list(self._short.values())):
            runs = len(self._there[RUN].unique())
            where = f" (at {len(short):,} of {runs:,} points)" if runs > 1 else ""
            warnings.append(Notice("short_batches", "run.stop", f"{short[0]}{where}"))
        warnings += self._silent()
        warnings += self._missed()
        warnings += self._undecided()
        warnings += self._short_of_transients(measures)
        return warnings + self._doubtful_batches(measures)

    def _doubtful_batches(self, measures: Sequence[str]) -> list[Notice]:
        """Warnings about correlated batches, and batches with a trend, one for each measure and word."""
        if not self._single or self.pool:
            return []
        points = {name: [(s, doubts.tests_of(s.together.pseudo)) for s in self._in_order(name)] for name in measures}
        found = doubts.certain({name: [tests for _, tests in of_points] for name, of_points in points.items()})
        notices = []
        for word, name in ((word, name) for word, names in found.items() for name in names):
            marked = [sample for sample, tests in points[name] if tests[word] < doubts.LEVEL]
            where = ""
            if marked and len(points[name]) > 1:
                many = f"{len(marked):,} of {count(len(points[name]), 'point')}"
                where = f" at {many}, the first with {named(marked[0].labels)}"
            notices.append(of_batches(name, word, where, len(marked)))
        return notices

    def _missed(self) -> list[Notice]:
        """Warnings about points that missed their precision."""
        rule = self._precision
        if rule is None:
            return []
        samples = self._in_order(rule.measure)
        missed = [s for s in samples if not rule.met(s.estimate)]
        if not missed:
            return []
        one = missed[0]
        most = error(one.estimate)
        reached = f"{100 * most:.2g} %" if math.isfinite(most) else "any size"
        limit = f"{count(len(one.totals.rows), 'seed')}" if one.seeds is not None else f"max_length {rule.max_length}"
        at = named(one.labels)
        cap = "max_seeds" if one.seeds is not None else "max_length"
        text = (
            f"{rule.measure} missed its precision at {len(missed):,} of {count(len(samples), 'point')}: "
            f"{f'with {at} ' if at else ''}the error is up to {reached}, not {rule.within * 100:g} %, after {limit}. "
            f"Raise {cap}"
        )
        return [Notice("missed_precision", f"precision.{cap}", text)]

    def _undecided(self) -> list[Notice]:
        """Warnings about searches that ended before neighboring values were measured."""
        if not self.is_search:
            return []
        rule, notices = self._rule, []
        name = rule.setting
        rows = self.curve()
        axes = [axis for axis in self.axes if axis != name]
        for of_search in rows.partition_by(axes, maintain_order=True) if axes and len(rows) else [rows]:
            ended = of_search["end"][0] if len(of_search) else "resolution"
            if ended == "resolution":
                continue
            first, last = (of_search.filter("is_tied")[name][k] for k in (0, -1))
            at = named({axis: of_search[axis][0] for axis in axes})
            where = f" at {at}" if at else ""
            apart = f"{name} from {first} to {last} is indistinguishable"
            why = {
                "max_runs": f"the search{where} ended at max_runs = {rule.max_runs}",
                "max_points": f"the search{where} ended at max_points = {rule.max_points}",
                "undefined": f"the search{where} ended because no run has a value of {rule.measure}",
            }.get(ended, f"the search{where} is not finished")
            notices.append(Notice("undecided_search", "search", f"{why}: {apart}"))
        return notices

    def _short_of_transients(self, measures: Sequence[str]) -> list[Notice]:
        """Warnings about transients that MSER-5 did not find, because they may be longer than half of the runs."""
        if self._about["warmup"] != "mser5" or not len(self._there):
            return []
        batches = self._batches(self._there[RUN].unique(maintain_order=True).to_list())
        notices = []
        for name in measures:
            found = [at_bound for _, _, at_bound in batches.transients(name)]
            if any(found):
                text = (
                    f"MSER-5 left out half of the batches of {name}, the largest share, at {sum(found):,} of "
                    f"{count(len(found), 'point')}: the transient may be longer. Use longer runs with more batches"
                )
                notices.append(Notice("long_transient", "warmup", text))
        return notices

    def _silent(self) -> list[Notice]:
        """Warnings about flows that delivered nothing: number of runs, and reasons in the first run."""
        runs = self.runs
        if "goodput_bps" not in runs.columns or runs.is_empty():
            return []
        if len(runs) > LOOKED_AT:
            # Of many runs, only runs without any delivery are searched.
            runs = runs.filter(~(pl.col("goodput_bps") > 0))
        keys = runs[RUN].unique(maintain_order=True).to_list()[:LOOKED_AT]
        if not keys:
            return []
        lengths = runs.select(RUN, "simulated_s").unique(RUN)
        flows = self._rows("flows", keys).join(lengths, on=RUN, maintain_order="left")
        # Most flows deliver something, and need no look at their rows.
        none = flows.filter(packets_delivered=0)
        is_silent = [silence.is_silent(f, f["simulated_s"]) for f in none.iter_rows(named=True)]
        rows = none.filter(pl.Series(is_silent, dtype=pl.Boolean)).sort("flow", maintain_order=True)
        if rows.is_empty():
            return []
        found, no_news = [], 0
        for (flow,), of_flow in rows.group_by(["flow"], maintain_order=True):
            key = of_flow[RUN][0]
            row = runs.filter(pl.col(RUN) == key).row(0, named=True)
            of_run = flows.filter(pl.col(RUN) == key).drop(RUN, "simulated_s")
            outcomes, batteries = (self._rows(name, [key]).to_dicts() for name in ("packet_outcomes", "batteries"))
            scenario = self._scenario_of(row)
            silences = silence.of_run(scenario, of_run.to_dicts(), outcomes, batteries, row["simulated_s"])
            why = next((s for s in silences if s.flow == flow), None)
            if why is None:
                no_news += 1
                continue
            at = named({**{name: row[name] for name in self.axes}, "seed": row["seed"]})
            many = f"{of_flow[RUN].n_unique():,} of {count(len(self.runs), 'run')}"
            text = f"flow {flow} delivered nothing in {many} (with {at}: {'; '.join(why.reasons)})"
            found.append(Notice("silent_flow", f"flow.{flow}", text))
            if len(found) == silence.TOLD:
                break
        if more := rows["flow"].n_unique() - len(found) - no_news:
            text = f"{count(more, 'more flow')} delivered nothing in some runs"
            found.append(Notice("silent_flow", "flow", text))
        return found

    def _scenario_of(self, row: Mapping[str, Any]) -> Scenario | None:
        """Scenario of a run; ``None`` if an axis is not a setting."""
        try:
            return self.scenario.with_settings({name: row[name] for name in self.axes})
        except (ScenarioError, TypeError, ValueError):
            return None

    def compare(
        self,
        measure: str,
        a: str | Mapping[str, Any],
        b: Mapping[str, Any] | None = None,
        *,
        baseline: Any = None,
        confidence: float = 0.95,
        within: float = analysis.SAME,
        flows: str | None = None,
    ) -> pl.DataFrame:
        """Compares settings at equal values of all other axes.

        ``compare("goodput_bps", "tcp.variant", baseline="newreno")`` compares all values of an axis with one of them,
        ``compare("goodput_bps", {"tcp.variant": "vegas"}, {"tcp.variant": "newreno"})`` two settings.

        Runs with the same seed are pairs if the seed draws mobility, arrivals or on/off sources, which are then the
        same for both settings; otherwise the runs are independent (Welch).

        Args:
            measure: Name of the measure.
            a: Name of an axis, or values of some axes.
            b: Other values of the same axes; ``None`` with the name of an axis.
            baseline: Value of the axis with which all its other values are compared.
            confidence: Confidence of all intervals of a column together (Bonferroni); 1 - confidence is the family-wise
                error rate of all rows (Holm).
            within: Largest relative difference with which two settings are the same.
            flows: Flows that are measured, as in :meth:`summary`, without ``"each"``.

        Returns:
            One row per combination of the other axes: those axes, with ``baseline`` also the axis and the baseline,
            ``n``, ``test`` (``"paired"`` or ``"welch"``), ``correlation`` over the seeds, ``estimate_a``,
            ``estimate_b`` (of the baseline), ``difference`` (a - b) with ``ci_low`` and ``ci_high``, ``relative``
            (a - b) / b with ``relative_ci_low`` and ``relative_ci_high``, ``effect`` in standard deviations, ``p``,
            ``p_adjusted`` (Holm, over all rows), ``significant``, ``p_same`` (Holm), ``same`` and ``doubt`` (reasons to
            doubt the difference, null without any).

        Raises:
            ValueError: If a measure, an axis or a value is unknown, or the study has one seed.
            TypeError: If an argument has the wrong type.
        """
        check_confidence(confidence)
        _known_share(within)
        if isinstance(a, str):
            if b is not None or baseline is None:
                raise TypeError(f"compare all values of {quoted(a)} with one of them: give baseline=...")
            (value,) = values_of("baseline", {a: baseline}).values()
            rows = analysis.compare_all(self._of_flows(measure, flows), a, value, confidence, within)
            return analysis.comparisons(rows)
        if baseline is not None:
            raise TypeError(f"a baseline belongs to the name of an axis, not to {quoted(a)}")
        a, b = values_of("a", a), values_of("b", b)
        return analysis.comparisons(analysis.compare(self._of_flows(measure, flows), a, b, confidence, within))

    def rank(
        self,
        measure: str,
        over: str | Sequence[str],
        *,
        direction: Direction | None = None,
        confidence: float = 0.95,
        flows: str | None = None,
    ) -> pl.DataFrame:
        """Ranks settings by their means; shows which of them can be the best and which are indistinguishable.

        Settings that share a letter do not differ significantly.

        Args:
            measure: Name of the measure.
            over: Ranked axis, or axes; each combination of the other axes has its own ranking.
            direction: ``"maximize"`` or ``"minimize"``; ``None``: the better direction of the measure
                (:class:`chappe.measures.Measure`).
            confidence: 1 - confidence is the family-wise error rate of all pairs of all combinations (Holm), and of
                ``can_be_best``; confidence of all intervals together (Bonferroni).
            flows: Flows that are measured, as in :meth:`summary`, without ``"each"``.

        Returns:
            One row per setting: the other axes, the ranked axes, ``rank`` (1 + the number of settings that are
            significantly better), ``can_be_best`` (false if significantly worse than the best), both null with fewer
            than two values, ``letters``, ``estimate``, ``ci_low``, ``ci_high``, ``n``, ``note`` (``"not measured"`` for
            fewer than two values, ``"too few runs"`` for a rank shared because of three runs or fewer), ``doubt``
            (reasons to doubt the interval and its differences from others, null without any).

        Raises:
            ValueError: If a measure or an axis is unknown, or the study has one seed.
        """
        names = names_of("over", over)
        check_confidence(confidence)
        samples = self._of_flows(measure, flows)
        if direction is None:
            direction = self._direction_of(measure)
        rows = analysis.table(analysis.rank(samples, names, direction_of(measure, direction), confidence))
        if rows.is_empty():
            return rows
        typed = rows.cast(
            {"rank": pl.Int64, "can_be_best": pl.Boolean, **dict.fromkeys(("letters", "note", "doubt"), pl.String)}
        )
        return analysis.with_last(typed, "letters", "estimate", "ci_low", "ci_high")

    def plot(
        self,
        x: str | None = None,
        measure: str | Sequence[str] = "goodput_bps",
        *,
        by: str | None = None,
        across: str | None = None,
        where: Mapping[str, Any] | None = None,
        flows: str | None = None,
        compare: Any = None,
        within: float | None = None,
        labels: Mapping[str, str] | None = None,
        title: str | None = None,
        width_in: float | None = None,
    ) -> "Figure":
        """Plots a measure over an axis, with the 95 % intervals of :meth:`summary`.

        ``study.plot("topology.hops", "goodput_bps", by="tcp.variant").savefig("goodput.svg")`` has a curve for each TCP
        variant. No mean is taken over an axis: one that is not drawn needs a value in ``where``. Words on the x axis
        give bars.

        Args:
            x: Axis of the x values; ``None``: of those that are free, the one with the most values.
            measure: Name of the measure, or names of several, each of which has a panel.
            by: Axis with a curve for each of its values.
            across: Axis with a panel for each of its values.
            where: Values of the other axes, by name.
            flows: Flows that are measured, as in :meth:`summary`, without ``"each"``.
            compare: Value of the axis ``by`` with which its other values are compared: their relative differences [%]
                are drawn with the intervals of :meth:`compare`, and the zone in which they are the same. Without ``x``
                and another axis they stand side by side.
            within: Relative difference up to which values are the same, with ``compare``; ``None``: 0.05.
            labels: Words for names of settings and for values; by default those of the study file, or else the last
                words of a name.
            title: Title; ``None``: what is shown; empty: none.
            width_in: Width of the figure [in]. A narrow one has one panel a row.

        Returns:
            A figure of matplotlib.

        Raises:
            ValueError: If a measure, an axis, a value or a label is unknown, points differ in an axis that is not
                drawn, or the figure has too many curves or panels.
            TypeError: If an argument has the wrong type.
        """
        from chappe.plot.studies import Look, differences, figure

        measures = self._measures_of(names_of("measure", measure), flows)
        names = [None if name is None else name_of(what, name) for what, name in (("by", by), ("across", across))]
        chosen = {} if where is None else values_of("where", where)
        look = Look(Labels(labels, self._labels), title, width_in)
        free = [name for name in self._own_axes if name not in (*names, *chosen)]
        if compare is None and within is not None:
            raise ValueError("within has no effect without compare")
        if compare is not None:
            within = analysis.SAME if within is None else within
            if names[0] is None or names[1] is not None or len(measures) > 1:
                raise ValueError("compare is for one measure and the axis by, in one panel")
            rows = self.compare(measures[0], names[0], baseline=compare, within=within)
            x = next(iter(free), None) if x is None else name_of("x", x)
            return differences(
                rows, measures[0], self._own_axes, by=names[0], x=x, where=chosen, within=within, look=look
            )
        rows = self.summary(measures)
        if x is None:
            if not free:
                raise ValueError("no axis is left for the x axis" if self._own_axes else "the study has no axis")
            x = max(free, key=lambda name: rows[name].n_unique())
        return figure(rows, self._own_axes, name_of("x", x), by=names[0], across=names[1], where=chosen, look=look)

    def to_pandas(self, name: str = "runs") -> Any:
        """The runs with their measures, or a table of all runs, as a data frame of pandas.

        Args:
            name: ``"runs"``, or the name of a table (:meth:`table`).

        Raises:
            ImportError: If pandas is not installed.
            ValueError: If there is no such table.
        """
        forked.refuse()
        return export.to_pandas(self.runs if name == "runs" else self.table(name))

    def to_xarray(self) -> Any:
        """Measures of the runs as a dataset of xarray.

        Returns:
            A dataset whose dimensions are the axes and ``seed``, with a variable for each number in :attr:`runs`; NaN
            where there is no run, or the measure is not defined.

        Raises:
            ImportError: If xarray is not installed.
        """
        forked.refuse()
        about = {"folder": str(self.folder), "results_epoch": self._about["results_epoch"]}
        return export.to_xarray(self.runs, self.axes, about)

    def _series(self, measure: str) -> list[tuple[str, NDArray[np.float64]]]:
        """Mean of the runs of each point, batch by batch, with the values on the axes as text."""
        analysis.check_measure(measure)
        series = []
        for of_point in self._there.partition_by("point", maintain_order=True):
            keys = of_point[RUN].unique(maintain_order=True).to_list()
            mean, _ = mean_series(list(self._batches(keys).each(measure)))
            series.append((named({name: of_point[name][0] for name in self.axes}), mean))
        return series

    @property
    def is_search(self) -> bool:
        """True for a search for the best value of a setting."""
        return "search" in self._about

    @property
    def measure_of_search(self) -> str:
        """Measure of a search."""
        return str(self._search["measure"])

    @property
    def _search(self) -> dict[str, Any]:
        if not self.is_search:
            raise ValueError("this study is not a search")
        rule: dict[str, Any] = self._about["search"]
        return rule

    @property
    def _rule(self) -> Search:
        return Search(**self._search)

    def curve(self) -> pl.DataFrame:
        """Results of a search.

        Returns:
            One row per measured value: the axes, the setting, ``estimate``, ``ci_low``, ``ci_high`` (95 %), ``n``,
            ``is_best``, ``is_tied`` (true for adjacent values around the best that are not significantly worse),
            ``doubt`` (reasons to doubt the interval, and with it the differences from other values; null without any)
            and ``end`` (``"resolution"``, ``"max_points"``, ``"max_runs"`` or ``"undefined"``; null for a search that
            is not finished). The row of the best value is from fresh seeds, which the search did not use.
        """
        forked.refuse()
        return self._curve

    @cached_property
    def _curve(self) -> pl.DataFrame:
        rule = self._rule
        results = explored(self._runs_of_search, self.seeds, rule, self._known(rule.measure), common=self._common)
        rows = analysis.table(curve(self._in_order(rule.measure), rule, results))
        return rows.cast({"doubt": pl.String, "end": pl.String}) if len(rows) else rows

    @property
    def _runs_of_search(self) -> list[Run]:
        """All runs of a search, with the runs of the best value that decided on it."""
        rows = self._all_points.iter_rows(named=True)
        return [Run({name: row[name] for name in self.axes}, row["seed"], row[RUN]) for row in rows]

    def _known(self, measure: str) -> Known:
        """Totals of a measure in runs by name, as the search saw them."""
        if self._is_own(measure):
            name, choice = flow_selection.parts(measure)

            def together(keys: Sequence[str]) -> list[Totals | None]:
                there = list(dict.fromkeys(key for key in keys if key in self._sources))
                rows = own.totals_of(self._own[name], there, lambda name: self._rows(name, there), choice)
                found = dict(zip(there, own.rows_of(rows), strict=True))
                return [found.get(key) for key in keys]

            return together
        none = Totals.of(measure, np.empty((0, 2)))
        cache: dict[str, Totals | None] = {}

        def known(keys: Sequence[str]) -> list[Totals | None]:
            if self._about["warmup"] == "mser5":
                # The transient depends on all runs of a point that were there.
                cache.clear()
            new = [key for key in keys if key not in cache and key in self._sources]
            totals = dict(self._batches(new).totals(measure)) if new else {}
            cache.update({key: totals.get(key, none) for key in new})
            return [cache.get(key) for key in keys]

        return known

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        measures: str | Sequence[str] | None = None,
        flows: str | None = None,
        title: str = "Study",
    ) -> None:
        """Writes a report of the study: one HTML file that opens offline.

        It has the question, the answer with its certainty, plots with intervals, doubts, tables that can be sorted and
        copied, what differs from the defaults, and a study file that makes the runs again.

        Args:
            path: The file, ``.html``; an earlier report there is replaced.
            measures: Names of the measures; ``None``: that of the rule of the study, or goodput, and its own measures.
            flows: Flows that are measured, as in :meth:`summary`.
            title: Title of the page.

        Raises:
            OSError: If the file cannot be written, or is not a report.
            ValueError: If there are no such measures or flows, or the name of the file has another ending.
            RuntimeError: In a process forked after polars was used.
        """
        rule = self._about.get("precision") or {"measure": "goodput_bps"}
        names = [rule["measure"], *(name for name in self._stored if name != rule["measure"])]
        self._report(path_of("path", path), names if measures is None else names_of("measures", measures), title, flows)

    def _report(
        self,
        path: Path,
        measures: Sequence[str],
        title: str,
        flows: str | None = None,
        baseline: tuple[str, Any] | None = None,
        commands: Sequence[str] = (),
    ) -> None:
        from chappe.page.study import page  # it imports this module

        outputs.refuse(path, outputs.PAGE)
        text = page(self, measures, title=title, flows=flows, baseline=baseline, commands=commands)
        outputs.write(path, text.encode(), outputs.PAGE)

    def _repr_html_(self) -> str:
        """The study as HTML for notebooks, without scripts."""
        from chappe.page.notebook import study

        return study(self)

    def __repr__(self) -> str:
        forked.refuse()
        return f"<Study: {len(self._there)} of {len(self._points)} runs, {self.folder}>"


def _known_share(within: object) -> None:
    """Refuses a relative difference that is no share.

    Raises:
        ValueError: If it is not between 0 and 1, such as 5.
    """
    if isinstance(within, bool) or not isinstance(within, int | float) or not 0 < within < 1:
        raise ValueError(f"within is {quoted(within)}; it must lie between 0 and 1, such as 0.05")


def _described(data: bytes) -> dict[str, Any]:
    """Content of ``study.json``.

    Raises:
        ValueError: If it does not describe a study.
    """
    about = parts.loaded(data)
    axes, seeds, search = about.get("axes"), about.get("seeds"), about.get("search", {})
    good = (
        about.get("format") == store.FORMAT,
        isinstance(axes, list) and all(isinstance(name, str) for name in axes),
        isinstance(seeds, list),
        isinstance(about.get("drawn"), list),
        isinstance(about.get("scenario"), dict),
        about.get("warmup") in WARMUPS,
        isinstance(about.get("measures", {}), dict),
        isinstance(about.get("pool", []), list),
        isinstance(search, dict) and all(isinstance(search.get(k), str) for k in (_OF_SEARCH if search else ())),
    )
    if not all(good):
        raise ValueError("it does not describe a study")
    return about


def points_table(items: Sequence[Item]) -> pl.DataFrame:
    """Selected runs of a study: ``run``, ``point``, the axes, ``seed``, ``shown``."""
    numbers: dict[str, int] = {}
    for i in items:
        numbers.setdefault(_text(i.point.labels), len(numbers))
    columns = [
        pl.Series(RUN, [i.key for i in items], dtype=pl.String),
        pl.Series("point", [numbers[_text(i.point.labels)] for i in items], dtype=pl.Int64),
        *(_column(name, [i.point.labels[name] for i in items]) for name in (items[0].point.labels if items else ())),
        pl.Series("seed", [i.seed for i in items], dtype=pl.Int64),
        pl.Series("shown", [i.shown for i in items], dtype=pl.Boolean),
    ]
    return pl.DataFrame(columns)


def named(labels: Mapping[str, Any]) -> str:
    """Labels as text: ``tcp.receive_window = 4, seed = 1``."""
    return ", ".join(f"{name} = {value}" for name, value in labels.items())


def _text(value: object) -> str:
    return json.dumps(value, default=str)


def _column(name: str, values: Sequence[Any]) -> pl.Series:
    """Column of an axis: numbers, booleans or texts; other values as JSON."""
    kinds = {type(v) for v in values}
    for kind, dtype in ((bool, pl.Boolean), (int, pl.Int64), (float, pl.Float64)):
        if kinds == {kind} and (kind is not int or all(-(2**63) <= v < 2**63 for v in values)):
            return pl.Series(name, values, dtype=dtype)
    if kinds <= {int, float}:
        return pl.Series(name, [float(v) for v in values], dtype=pl.Float64)
    return pl.Series(name, [v if isinstance(v, str) else _text(v) for v in values], dtype=pl.String)
