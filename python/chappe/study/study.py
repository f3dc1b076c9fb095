"""A study that has been run: its tables, and what they say."""

import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from chappe import forked, silence, tables
from chappe.arguments import name_of, names_of, path_of, said, values_of
from chappe.error import ScenarioError, StoreError
from chappe.measures import BY_NAME, Totals, best_of, short_batches
from chappe.scenario import Scenario
from chappe.stats import known_confidence, quotient
from chappe.study import analysis, parts, store
from chappe.study.axes import Item
from chappe.study.facts import OVER, TRANSIENTS, UNDER, Batches, with_measures
from chappe.study.parts import RUN, DamagedError
from chappe.study.search import curve
from chappe.study.work import Failed
from chappe.words import count

_OF_SEARCH = ("setting", "measure", "best")

LOOKED_AT = 2000
"""Runs of which every flow is looked at, whether it delivered anything."""


class Forgotten:
    """A folder that is deleted when nobody refers to this, or the process ends.

    Attributes:
        path: The folder.
    """

    def __init__(self) -> None:
        """Makes the folder."""
        self.path = Path(tempfile.mkdtemp(prefix="chappe-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


class Study:
    """A study in its folder.

    In a process that was forked from one that had used polars, whatever looks at its runs raises a ``RuntimeError``.

    Attributes:
        folder: Where it is.
        failed: Runs that could not be made when it was run last.
        warnings: What is doubtful about its points, and what was found damaged in the folder and set aside.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        failed: Iterable[Failed] = (),
        warnings: Iterable[str] = (),
        forgotten: Forgotten | None = None,
    ):
        """Opens the folder of a study, finished or not.

        Raises:
            StoreError: When it is not one.
            TypeError: When that is no name of a folder.
            RuntimeError: In a process that was forked from one that had used polars.
        """
        forked.refuse()
        self.folder = path_of("folder", folder)
        self.failed = list(failed)
        self.warnings = list(warnings)
        self._forgotten = forgotten
        try:
            self._about = _described((self.folder / store.STUDY).read_bytes())
            points = tables.read(self.folder / store.POINTS)
            self._points = points.select(RUN, "point", *self.axes, "seed", "shown").filter("shown").drop("shown")
        except FileNotFoundError:
            if not store.folders(self.folder):
                raise self._unreadable() from None
            again = "run the study again: it finds the runs that are there"
            raise StoreError(f"{store.STUDY} or {store.POINTS} is missing in {folder}; {again}") from None
        except (OSError, ValueError, pl.exceptions.PolarsError):
            raise self._unreadable() from None

    def _unreadable(self) -> StoreError:
        return StoreError(f"{self.folder} is not the folder of a study that can be read")

    @property
    def axes(self) -> list[str]:
        """Names of the axes."""
        return list(self._about["axes"])

    @property
    def scenario(self) -> dict[str, Any]:
        """All settings of the scenario that the axes change."""
        settings: dict[str, Any] = self._about["scenario"]
        return settings

    @cached_property
    def _sources(self) -> dict[str, Path]:
        found: dict[str, Path] = {}
        if not self.folder.is_dir():
            raise StoreError(f"{self.folder} is no longer there")
        for path in store.folders(self.folder):
            try:
                for key in parts.read(path, parts.FACTS)[RUN]:
                    found.setdefault(key, path)
            except DamagedError as e:
                raise StoreError(f"{e}; run the study again to repair it") from None
        finished: pl.DataFrame | None = None
        with suppress(StoreError):
            finished = self._finished
        if finished is not None and not set(finished[RUN]) <= found.keys():
            raise StoreError(f"runs are missing in {self.folder}; run the study again to repair it")
        return found

    @property
    def _finished(self) -> pl.DataFrame:
        """Measures of each run of a finished study."""
        path = self.folder / store.RUNS
        try:
            found = tables.read(path)
            if RUN in found.columns:
                return found
        except (OSError, pl.exceptions.PolarsError):
            pass
        raise StoreError(f"{path} is damaged; run the study again to repair it")

    @cached_property
    def _there(self) -> pl.DataFrame:
        return self._points.filter(pl.col(RUN).is_in(list(self._sources)))

    @cached_property
    def runs(self) -> pl.DataFrame:
        """One row per run: point, axes, seed, how it ended, measures. docs/studies.md has the columns."""
        forked.refuse()
        if (self.folder / store.RUNS).exists():
            return self._finished
        keys = self._there[RUN].unique(maintain_order=True).to_list()
        if not keys:
            return self._there
        facts = self._rows(parts.FACTS, keys).drop("seed")
        facts = with_measures(facts, self._batches(keys))
        return self._there.join(facts, on=RUN, how="left", maintain_order="left")

    def table(self, name: str) -> pl.DataFrame:
        """A table of all runs, such as ``flows``, with ``run``, ``point``, the axes and ``seed`` before its columns."""
        forked.refuse()
        rows = self._rows(name_of("name", name), self._there[RUN].unique(maintain_order=True).to_list())
        if not len(rows.columns):
            return self._there
        return self._there.join(rows, on=RUN, maintain_order="left_right", suffix="_of_run")

    def _rows(self, name: str, keys: Sequence[str]) -> pl.DataFrame:
        if name not in parts.PART_TABLES:
            raise ValueError(f"there is no table {said(name)}; known: {', '.join(parts.PART_TABLES)}")
        try:
            return store.table(self._sources, name, keys)
        except DamagedError as e:
            raise StoreError(f"{e}; run the study again to repair it") from None

    def _batches(self, keys: Sequence[str]) -> Batches:
        return Batches(lambda name: self._rows(name, keys), self._about["transient"])

    @property
    def _single(self) -> bool:
        """Whether there is one seed, so that errors are those of batches."""
        return self._about["seeds"] is not None and len(self._about["seeds"]) == 1

    def samples(self, measure: str) -> list[analysis.Sample]:
        """What is known of a measure at each point: the totals of its runs, or of the batches of its only run."""
        forked.refuse()
        analysis.known_measure(name_of("measure", measure))
        found = []
        batches: dict[str, Totals] = {}
        if self._single and len(self._there):
            batches = dict(self._batches(self._there[RUN].unique(maintain_order=True).to_list()).totals(measure))
        none = Totals(np.empty((0, 2)), BY_NAME[measure].statistic)
        for own in self.runs.partition_by("point", maintain_order=True):
            row = own.row(0, named=True)
            labels = {name: row[name] for name in self.axes}
            if self._single:
                found.append(analysis.Sample(labels, None, batches.get(row[RUN], none)))
            else:
                rows = own.select(f"{measure}{OVER}", f"{measure}{UNDER}").to_numpy()
                found.append(analysis.Sample(labels, own["seed"].to_list(), Totals(rows, quotient)))
        return found

    def summary(self, measures: str | Sequence[str] = "goodput_bps", confidence: float = 0.95) -> pl.DataFrame:
        """Measures at each point, totals of its runs by totals, with interval and quantiles.

        Args:
            measures: One or several of :data:`chappe.measures.MEASURES`, by name.
            confidence: Confidence of the intervals.

        Returns:
            One row per point and measure: the axes, ``measure``, ``of`` (``"runs"`` or ``"batches"``), ``n`` of them,
            ``mean``, ``half_width``, ``low`` and ``high`` of the interval, ``q10``, ``median``, ``q90``; for batches
            ``autocorrelation`` of neighbours and whether they are ``correlated``, which makes intervals too narrow.
        """
        known_confidence(confidence)
        names = names_of("measures", measures)
        rows = [analysis.summary(s, name, confidence) for name in names for s in self._in_order(name)]
        return pl.DataFrame(rows, infer_schema_length=None)

    def doubts(self, measures: str | Sequence[str] = "goodput_bps") -> list[str]:
        """What is doubtful, a sentence each.

        These are ``warnings``, runs that were cut short, flows that delivered nothing and why, and intervals that are
        too narrow.

        Args:
            measures: The measures whose intervals are looked at, by name.
        """
        forked.refuse()
        found = list(self.warnings)
        limited = self.runs.filter(self.runs["end"] == "limit") if "end" in self.runs.columns else self.runs.clear()
        if len(limited):
            were = "was" if len(limited) == 1 else "were"
            found.append(f"{count(len(limited), 'run')} {were} ended by run.limit before the stop rule was met")
        if self._single and len(self._there):
            own = self.table("batches").partition_by(RUN, maintain_order=True)
            short = [text for batches in own if (text := short_batches(batches))]
            if short:
                where = f" (at {len(short):,} of {len(own):,} points)" if len(own) > 1 else ""
                found.append(f"{short[0]}{where}")
        found += self._silent()
        for row in self.summary(measures).iter_rows(named=True):
            if row["correlated"]:
                at = named({name: row[name] for name in self.axes})
                found.append(
                    f"batches of {row['measure']} are correlated{' at ' if at else ''}{at} "
                    f"(autocorrelation {row['autocorrelation']:.2f}): "
                    "their interval is too narrow. Use longer batches or several seeds"
                )
        return found

    def _silent(self) -> list[str]:
        """Flows that delivered nothing, by their numbers: in how many runs, and why in the first of them."""
        runs = self.runs
        if "goodput_bps" not in runs.columns or runs.is_empty():
            return []
        if len(runs) > LOOKED_AT:
            # Of many runs only those are looked at in which no flow delivered anything.
            runs = runs.filter(~(pl.col("goodput_bps") > 0))
        keys = runs[RUN].unique(maintain_order=True).to_list()[:LOOKED_AT]
        if not keys:
            return []
        lengths = runs.select(RUN, "simulated_s").unique(RUN)
        flows = self._rows("flows", keys).join(lengths, on=RUN, maintain_order="left")
        rows = silence.silent(flows, pl.col("simulated_s")).sort("flow", maintain_order=True)
        if rows.is_empty():
            return []
        said = []
        for (flow,), own in rows.group_by(["flow"], maintain_order=True):
            key = own[RUN][0]
            row = runs.filter(pl.col(RUN) == key).row(0, named=True)
            of_run = flows.filter(pl.col(RUN) == key).drop(RUN, "simulated_s")
            fates, batteries = (self._rows(name, [key]) for name in ("fates", "batteries"))
            known = silence.of_run(self._scenario_of(row), of_run, fates, batteries, row["simulated_s"])
            why = next(s for s in known if s.flow == flow)
            at = named({**{name: row[name] for name in self.axes}, "seed": row["seed"]})
            many = f"{own[RUN].n_unique():,} of {count(len(self.runs), 'run')}"
            said.append(f"flow {flow} delivered nothing in {many} (with {at}: {'; '.join(why.reasons)})")
            if len(said) == silence.TOLD:
                break
        if more := rows["flow"].n_unique() - len(said):
            said.append(f"{count(more, 'more flow')} delivered nothing in some runs")
        return said

    def _scenario_of(self, row: Mapping[str, Any]) -> Scenario | None:
        """The scenario of a run; ``None`` where axes are not settings."""
        try:
            return Scenario(self.scenario).with_({name: row[name] for name in self.axes})
        except (ScenarioError, TypeError, ValueError):
            return None

    def compare(
        self, measure: str, a: Mapping[str, Any], b: Mapping[str, Any], confidence: float = 0.95
    ) -> pl.DataFrame:
        """Two settings beside each other, with the same seeds, wherever the other axes agree.

        Args:
            measure: The measure.
            a: Values of some axes, such as ``{"tcp.variant": "vegas"}``.
            b: Other values of the same axes.
            confidence: Confidence of the intervals; 1 - it is the probability that any row is called significant
                although there is no difference (Holm).

        Returns:
            One row per combination of the other axes: those axes, ``n`` pairs, ``mean_a``, ``mean_b``, ``difference``
            (a - b) with ``half_width``, ``low``, ``high``, ``relative`` (a - b) / b, ``effect`` in standard deviations,
            ``p``, ``p_adjusted`` (Holm) and ``significant``.
        """
        known_confidence(confidence)
        a, b = values_of("a", a), values_of("b", b)
        return pl.DataFrame(analysis.compare(self._in_order(measure), a, b, confidence), infer_schema_length=None)

    def rank(
        self, measure: str, over: str | Sequence[str], *, best: str | None = None, confidence: float = 0.95
    ) -> pl.DataFrame:
        """Settings from best to worst. Settings that do not differ significantly share a rank.

        Args:
            measure: The measure.
            over: The axis, or axes, whose values are ranked; for each combination of the others by itself.
            best: ``"highest"`` or ``"lowest"``; ``None``: as the measure says (:class:`chappe.results.Measure`).
            confidence: All pairs are compared, and 1 - this is the probability that any is told apart wrongly (Holm).

        Returns:
            One row per setting: the other axes, the ranked axes, ``rank`` (1 + the number of settings that are
            significantly better), ``mean``, ``half_width``, ``n``.
        """
        names = names_of("over", over)
        if best is not None:
            name_of("best", best)
        known_confidence(confidence)
        samples = self._in_order(measure)
        rows = analysis.rank(samples, names, best_of(measure, best), confidence)
        return pl.DataFrame(rows, infer_schema_length=None)

    @property
    def is_search(self) -> bool:
        """Whether it looked for the best value of a setting."""
        return "search" in self._about

    @property
    def measure_of_search(self) -> str:
        """What a search looked at."""
        return str(self._search["measure"])

    @property
    def _search(self) -> dict[str, Any]:
        if not self.is_search:
            raise ValueError("this study is no search")
        rule: dict[str, Any] = self._about["search"]
        return rule

    def curve(self) -> pl.DataFrame:
        """What a search measured.

        Returns:
            One row per value that was measured: the axes, the setting, ``mean``, ``half_width`` (95 %), ``n``, whether
            it is the ``best``, and whether it is ``tied``: beside the best and not significantly worse.
        """
        rule = self._search
        rows = curve(self._in_order(rule["measure"]), rule["setting"], rule["best"])
        return pl.DataFrame(rows, infer_schema_length=None)

    def _in_order(self, measure: str) -> list[analysis.Sample]:
        return self.samples(measure)

    def __repr__(self) -> str:
        forked.refuse()
        return f"<Study: {len(self._there)} of {len(self._points)} runs, {self.folder}>"


def _described(data: bytes) -> dict[str, Any]:
    """What ``study.json`` says.

    Raises:
        ValueError: When it says nothing of a study.
    """
    about = parts.loaded(data)
    axes, seeds, search = about.get("axes"), about.get("seeds"), about.get("search", {})
    good = (
        isinstance(axes, list) and all(isinstance(name, str) for name in axes),
        seeds is None or isinstance(seeds, list),
        isinstance(about.get("scenario"), dict),
        about.get("transient") in TRANSIENTS,
        isinstance(search, dict) and all(isinstance(search.get(k), str) for k in (_OF_SEARCH if search else ())),
    )
    if not all(good):
        raise ValueError("it is not of a study")
    return about


def points_table(items: Sequence[Item]) -> pl.DataFrame:
    """Which runs a study wants: ``run``, ``point``, the axes, ``seed``, ``shown``."""
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
    """Labels as text: ``tcp.window = 4, seed = 1``."""
    return ", ".join(f"{name} = {value}" for name, value in labels.items())


def _text(value: object) -> str:
    return json.dumps(value, default=str)


def _column(name: str, values: Sequence[Any]) -> pl.Series:
    """Values of an axis: numbers, truth values or texts; anything else as JSON."""
    kinds = {type(v) for v in values}
    for known, dtype in ((bool, pl.Boolean), (int, pl.Int64), (float, pl.Float64)):
        if kinds == {known} and (known is not int or all(-(2**63) <= v < 2**63 for v in values)):
            return pl.Series(name, values, dtype=dtype)
    if kinds <= {int, float}:
        return pl.Series(name, [float(v) for v in values], dtype=pl.Float64)
    return pl.Series(name, [v if isinstance(v, str) else _text(v) for v in values], dtype=pl.String)
