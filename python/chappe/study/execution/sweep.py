"""Execution of the missing runs of a study."""

import itertools
import os
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from chappe import _core
from chappe._common.arguments import is_whole, names_of, not_whole, problem, problems_of_work, quoted
from chappe._common.notices import UNDRIVEN, Notice, tell
from chappe._common.progress import Progress, bar
from chappe.errors import Problem, ScenarioError, StudyError, WorkWarning
from chappe.expressions.own_measures import (
    Own,
    choice_of,
    direction_in,
    own_of,
    reduction_of,
    rows_of,
    stored,
    unknown_node,
    with_own,
    with_rule,
)
from chappe.expressions.own_measures import totals_of as totals_of_own
from chappe.expressions.reductions import Reduction
from chappe.expressions.run_measures import WARMUPS, Batches, Warmup, runs_of, totals_of, with_measures
from chappe.measures import ENERGY, Direction, Totals, wrong
from chappe.results.storage.columns import RUN, RUN_INFO
from chappe.scenario import flow_selection
from chappe.scenario.scenario import Scenario, ScenarioLike, scenario_of
from chappe.stats import quotient
from chappe.study.design.axes import (
    Axes,
    Cases,
    Item,
    Point,
    doubts_of,
    grid,
    problems_of_size,
    seeds_of,
    settings_without_seed,
)
from chappe.study.design.common import drawn_everywhere
from chappe.study.design.explore import GRID
from chappe.study.design.search import Search, first_seeds, problems_of_search, searching
from chappe.study.design.stop import Design, Precision, UnknownError, fixed, lengthened, precise
from chappe.study.execution import cluster
from chappe.study.execution.threads import Failed, Workers, cores, threads
from chappe.study.store.parts import Finished
from chappe.study.store.store import Store
from chappe.study.study import Forgotten, Study, points_table

_AT_ONCE = 1000
"""Runs read at a time at the end of a study, so that the batches of all runs need not fit into memory."""


def sweep(
    scenario: ScenarioLike,
    axes: Axes | None = None,
    *,
    seeds: int | Iterable[int] = 1,
    cases: Cases | None = None,
    precision: float | Precision | None = None,
    measure: str = "goodput_bps",
    max_seeds: int | None = None,
    max_length: int | None = None,
    min_seeds: int | None = None,
    measures: Mapping[str, Any] | Iterable[str] = (),
    pool: str | Sequence[str] = (),
    warmup: Warmup = "discard",
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    backend: str | None = None,
    progress: Progress = False,
    title: str = "Study",
) -> Study:
    """Runs a scenario at all combinations of the values of the axes. Runs already in ``out`` are not repeated.

    Args:
        scenario: A scenario, an equivalent dict, or the name of a scenario file.
        axes: Values by dotted names, such as ``{"topology.hops": [2, 4, 8], "tcp.variant": ["newreno", "vegas"]}``.
        seeds: Number of seeds (1, 2, ...), or a list. With one seed, intervals come from the batches of the run; with
            several seeds, from the runs.
        cases: Named sets of changes, which become the axis ``case``.
        precision: Largest relative error of ``measure``, by its 95 % interval, at which a point needs no further runs
            (:class:`Precision`); ``None``: every point with every seed.
        measure: Name of the measure that ``precision`` refers to.
        max_seeds: Largest number of seeds with ``precision``, for studies with several seeds.
        max_length: Largest factor on ``run.stop`` with ``precision``, for studies with one seed.
        min_seeds: Number of seeds before which no point stops with ``precision``, at most ``max_seeds``, for studies
            with several seeds; ``None``: 10.
        measures: User-defined measures by name, in addition to those of every study: an expression such as
            ``"sum(flows.timeouts) / sum(flows.packets_delivered)"`` (docs/studies.md); an expression of polars over the
            table ``flows``, or a numerator and a denominator; or a function of the tables of a run, by name, that
            returns a number, or a numerator and a denominator. Or a list of names such as ``"delay_p95_s"``.
        pool: Axes over which the runs are pooled in the analysis, such as ``"topology.seed"``: their values are the
            units of intervals, and pairs in comparisons.
        warmup: Removal of the transient at the beginning of each run: ``"discard"`` or ``"mser5"``.
        out: Folder of the study; ``None``: a temporary folder, deleted with the returned study.
        jobs: Number of parallel runs on this machine; ``None``: one per core.
        backend: ``"ray"`` or ``"ray://ADDRESS"`` for a Ray cluster; ``None``: this machine.
        progress: True for a progress bar, or a function of the completed share, from 0 to 1.
        title: Title of the progress bar.

    Raises:
        ScenarioError: If the scenario cannot be run.
        OSError: If the file of the scenario cannot be read.
        TypeError: If `scenario` has the wrong type.
        StudyError: If arguments, points, seeds or rules are invalid, with all problems at once, or need more memory
            than ``run.max_memory`` of the scenario.
        StorageError: If the folder cannot be used or written.
        ClusterError: If the cluster cannot be used.
        RuntimeError: In a process forked after polars was used.
    """
    base = scenario_of(scenario)
    given = problems_of_work(jobs, backend, out, progress, title)
    stop: Precision | None = None
    if precision is None or isinstance(precision, Precision):
        stop = precision
        for name, value in (("max_seeds", max_seeds), ("max_length", max_length), ("min_seeds", min_seeds)):
            if value is not None:
                given.append(problem(name, f"`{name}` has no effect without `precision`", None))
        if stop is None and measure != "goodput_bps":
            given.append(problem("measure", "`measure` has no effect without `precision`", None))
    else:
        stop = Precision(measure, precision, max_seeds, max_length, min_seeds)
    own, wrong_own = own_of(
        with_rule(measures, stop.measure if stop else None), axes if isinstance(axes, Mapping) else (), "measures"
    )
    given += wrong_own
    points, own_seeds = _points(base, axes, cases, seeds, jobs, given, reduction_of(own))
    asked = {stop.measure: "precision.measure"} if stop and isinstance(stop.measure, str) else {}
    pooled = list(dict.fromkeys(names_of("pool", pool) if pool else []))
    problems = problems_of_own(points, own, "measures")
    problems += problems_of_pool(pooled, list(points[0].labels), stop is not None)
    problems += [*problems_of_rules(points, warmup, asked), *(problems_of_stop(stop, own_seeds, own) if stop else ())]
    if stop is not None and not problems:
        problems = problems_of_growth(stop, base, points, own_seeds)
    if problems:
        raise StudyError(problems if stop is precision else [_as_argument(p) for p in problems])
    warn_of_work(points, len(own_seeds), jobs)
    design = precise(points, own_seeds, stop) if stop else fixed(points, own_seeds)
    about = {
        "axes": list(points[0].labels),
        "seeds": own_seeds,
        "precision": vars(stop) if stop else None,
        "warmup": warmup,
        "drawn": drawn_everywhere(points, cases),
        **({"measures": stored(own)} if own else {}),
        **({"pool": pooled} if pooled else {}),
    }
    doubts = doubts_of(points)
    tell(doubts, UNDRIVEN)
    return carry_out(
        base,
        design,
        about,
        own=own,
        measure=stop.measure if stop else None,
        warmup=warmup,
        out=out,
        workers=cluster.workers(backend) if backend else threads(jobs),
        progress=progress,
        title=title,
        doubts=doubts,
    )


def _as_argument(p: Problem) -> Problem:
    """A problem of a rule in the words of the arguments of :func:`sweep` and :func:`search`."""
    for old, new in (("precision.within", "precision"), ("precision.", ""), ("search.", "")):
        p = p._replace(
            path=p.path.replace(old, new), message=p.message.replace(f"`{old}", f"`{new}"), help=_in(p.help, old, new)
        )
    return p


def _in(text: str | None, old: str, new: str) -> str | None:
    return None if text is None else text.replace(f"`{old}", f"`{new}")


def search(
    scenario: ScenarioLike,
    setting: str,
    *,
    low: int | str | None = None,
    high: int | str | None = None,
    resolution: int | str = 1,
    measure: str = "goodput_bps",
    direction: Direction | None = None,
    max_points: int = 40,
    max_runs: int = 500,
    measures: Mapping[str, Any] | Iterable[str] = (),
    axes: Axes | None = None,
    seeds: int | Iterable[int] = 5,
    cases: Cases | None = None,
    warmup: Warmup = "discard",
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    backend: str | None = None,
    progress: Progress = False,
    title: str = "Search",
) -> Study:
    """Searches for the best value of a setting, at all combinations of the values of the axes.

    Args:
        scenario: As in :func:`sweep`.
        setting: Dotted name of the setting.
        low: Smallest value: a whole number, or a quantity such as ``"20 ms"``.
        high: Largest value, in the same unit.
        resolution: Distance of neighboring values, in the same unit.
        measure: Name of the measure.
        direction: ``"maximize"`` or ``"minimize"``; ``None``: the better direction of the measure.
        max_points: Number of measured values after which no round begins.
        max_runs: Largest number of runs at each point of the axes, without the fresh runs of the best value.
        measures: User-defined measures, as in :func:`sweep`, of which ``measure`` may be one.
        axes: As in :func:`sweep`.
        seeds: Number of seeds of the first round, at least 2, which begin at 1,000,001, or a list. Indistinguishable
            values get further seeds.
        cases: As in :func:`sweep`.
        warmup: As in :func:`sweep`.
        out: As in :func:`sweep`.
        jobs: As in :func:`sweep`.
        backend: As in :func:`sweep`.
        progress: As in :func:`sweep`.
        title: As in :func:`sweep`.

    Returns:
        The study; :meth:`Study.curve` gives the results.

    Raises:
        Exception: As :func:`sweep` does.
    """
    base = scenario_of(scenario)
    given = problems_of_work(jobs, backend, out, progress, title)
    for name, value in (("low", low), ("high", high)):
        if value is None:
            given.append(problem(name, f"`{name}` is missing", None))
    interval = (0 if low is None else low, 1 if high is None else high)
    rule = Search(setting, *interval, resolution, measure, direction, max_points, max_runs)
    taken = [*(axes if isinstance(axes, Mapping) else ()), *([rule.setting] if isinstance(rule.setting, str) else ())]
    own, wrong_own = own_of(with_rule(measures, rule.measure), taken, "measures")
    given += wrong_own
    if rule.direction is None and (known_direction := direction_in(own, rule.measure)) is not None:
        rule = replace(rule, direction=known_direction)
    points, own_seeds = _points(base, axes, cases, seeds, jobs, given, reduction_of(own))
    own_seeds = first_seeds(seeds, own_seeds)
    asked = {rule.measure: "search.measure"} if isinstance(rule.measure, str) else {}
    problems = [
        *problems_of_rules(points, warmup, asked),
        *problems_of_search(rule, points, cases, own),
        *problems_of_own(points, own, "measures"),
        *problems_of_seeds(own_seeds),
    ]
    if not problems:
        largest = min(rule.max_points + GRID, rule.steps + 1)
        runs = max(len(own_seeds), -(-2 * rule.max_runs // largest))
        problems = problems_of_size(base, len(points) * largest, runs)
    if problems:
        raise StudyError([_as_argument(p) for p in problems])
    warn_of_work(points, len(own_seeds) * GRID, jobs)
    drawn = drawn_everywhere(points, cases)
    about = {
        "axes": [*points[0].labels, rule.setting],
        "seeds": own_seeds,
        "search": vars(rule),
        "warmup": warmup,
        "drawn": drawn,
        **({"measures": stored(own)} if own else {}),
    }
    doubts = doubts_of(points)
    tell(doubts, UNDRIVEN)
    return carry_out(
        base,
        searching(points, own_seeds, rule, common=bool(drawn)),
        about,
        own=own,
        measure=rule.measure,
        warmup=warmup,
        out=out,
        workers=cluster.workers(backend) if backend else threads(jobs),
        progress=progress,
        title=title,
        doubts=doubts,
    )


def _points(
    base: Scenario,
    axes: Axes | None,
    cases: Cases | None,
    seeds: int | Iterable[int],
    jobs: int | None,
    given: list[Problem],
    reduction: Reduction | None = None,
) -> tuple[list[Point], list[int]]:
    """Points and seeds of a study; raises with all problems, including those in ``given``."""
    problems = list(given)
    points: list[Point] = []
    own_seeds: Sequence[int] = []
    try:
        own_seeds = seeds_of(seeds)
    except StudyError as e:
        problems += e.problems
    try:
        points = grid(base, axes, cases)
    except StudyError as e:
        problems += e.problems
    points = [replace(point, reduction=reduction) for point in points] if reduction else points
    has_functions = reduction is not None and reduction.functions
    if not has_functions and any(p.scenario.settings["run"]["record"] for p in points):
        help_ = "run the scenario by itself: `chappe run FILE --seed N --out DIR`, or chappe.run(scenario, out=...)"
        problems.append(problem("run.record", "a study does not keep recorded tables (`run.record`)", help_))
    if not problems:
        largest = max(p.scenario._core.cost()[0] for p in points)
        together = min(cores(jobs), len(points) * len(own_seeds)) * largest
        problems = problems_of_size(base, len(points), len(own_seeds), together)
    if problems:
        raise StudyError(problems)
    return points, list(own_seeds)


def warn_of_work(points: Sequence[Point], runs: int, jobs: int | None) -> None:
    """Warns of a study that takes more than an hour.

    Args:
        points: Points of the study.
        runs: Minimum number of runs per point.
        jobs: Number of parallel runs; ``None``: one per core.
    """
    seconds = sum(p.scenario._core.cost()[1] for p in points) * runs / cores(jobs)
    if seconds > 3600:
        many = f"{len(points) * runs:,} runs take" if len(points) * runs > 1 else "a run takes"
        on = "one core" if cores(jobs) == 1 else f"{cores(jobs)} cores"
        warnings.warn(f"{many} about {_core.in_hours(seconds)} on {on}", WorkWarning, stacklevel=3)


def carry_out(
    base: Scenario,
    design: Design,
    about: Mapping[str, Any],
    *,
    measure: str | None,
    warmup: Warmup,
    out: str | os.PathLike[str] | None,
    workers: Workers,
    progress: Progress,
    title: str,
    doubts: Sequence[Notice] = (),
    own: Sequence[Own] = (),
) -> Study:
    """Executes the runs of a design until the design is complete.

    Args:
        base: Base scenario of the points.
        design: Function that selects the runs.
        about: Description of the study for ``study.json``.
        measure: Measure used by the design.
        warmup: Removal of the transient of each run.
        out: Folder of the study.
        workers: Workers that execute runs.
        progress: True for a progress bar, or a function of the completed share.
        title: Title of the progress bar.
        doubts: Warnings about the points.
        own: User-defined measures.
    """
    with ExitStack() as stack:
        forgotten = Forgotten() if out is None else None
        store = Store(forgotten.path if forgotten else Path(out or "."), settings_without_seed(base), about)
        stack.callback(store.close)
        making = _Making(store, workers, progress, title)
        totals = _Known(store, measure, warmup, making.failed, own)
        while True:
            try:
                items = design(totals)
            except UnknownError as e:
                making.make(e.items)
                continue
            if making.make(items) == 0:
                break
        _finish(store, items, warmup, own)
    return Study(store.folder, failed=making.failures(), warnings=[*doubts, *store.warnings], forgotten=forgotten)


class _Making:
    """Execution of missing runs."""

    def __init__(self, store: Store, workers: Workers, progress: Progress, title: str):
        self.failed: dict[str, Failed] = {}
        self._wanted: dict[str, Item] = {}
        self._store = store
        self._workers = workers
        self._progress = progress
        self._title = title

    def make(self, items: Sequence[Item]) -> int:
        """Executes the missing runs and returns their number."""
        store = self._store
        self._wanted |= {i.key: i for i in items}
        missing = {i.key: i for i in items if i.key not in store and i.key not in self.failed}
        if not missing:
            return 0
        store.write_points(points_table(list(self._wanted.values())))

        def take(result: Finished | Failed | None) -> None:
            if isinstance(result, Failed):
                if isinstance(result.error, ScenarioError):
                    raise result.error  # no run of the study would do better
                self.failed[result.item.key] = result
            elif result is not None:
                store.add(result)
            store.tick()

        with ExitStack() as stack:
            update = self._progress if callable(self._progress) else _nothing
            if self._progress is True:
                update = stack.enter_context(bar(self._title))
            try:
                self._workers(list(missing.values()), take, update)
            finally:
                store.flush()
        return len(missing)

    def failures(self) -> list[Failed]:
        """Failed runs, in the order of the design."""
        return [self.failed[key] for key in self._wanted if key in self.failed]


def _nothing(_: float) -> None:
    """Ignores progress."""


class _Known:
    """Totals of a measure in finished runs."""

    def __init__(
        self, store: Store, measure: str | None, warmup: Warmup, failed: Mapping[str, Failed], own: Sequence[Own]
    ):
        self._store = store
        self._measure = measure
        name: str | None = None
        self._choice: flow_selection.Flows | None = None
        if measure is not None:
            name, self._choice = flow_selection.parts(measure)
        self._own = next((one for one in own if one.name == name), None)
        self._together: dict[tuple[str, ...], list[Totals]] = {}
        self._warmup = warmup
        self._failed = failed
        self._totals: dict[str, Totals] = {}

    def __call__(self, items: Sequence[Item]) -> list[Totals | None]:
        unknown = [i for i in items if i.key not in self._store and i.key not in self._failed]
        if unknown:
            raise UnknownError(unknown)
        if self._own is not None:
            return self._of_own(self._own, items)
        if self._warmup == "mser5":
            # The transient of a run is that of the mean of the runs of its point, of which there may be more now.
            self._totals.clear()
        new = [i for i in items if i.key not in self._failed and i.key not in self._totals]
        if new:
            assert self._measure is not None
            self._store.flush()
            keys = [i.key for i in new]
            batches = Batches(lambda name: self._store.table(name, keys), self._warmup, _points_of(new))
            none = Totals(np.empty((0, 2)), quotient)
            self._totals |= dict.fromkeys(keys, none) | dict(batches.totals(self._measure))
        return [self._totals.get(i.key) for i in items]

    def _of_own(self, own: Own, items: Sequence[Item]) -> list[Totals | None]:
        """Totals of a user-defined measure, which have the same columns for these items."""
        keys = tuple(dict.fromkeys(i.key for i in items if i.key not in self._failed))
        if keys and keys not in self._together:
            self._store.flush()
            totals = totals_of_own(own, keys, lambda name: self._store.table(name, keys), self._choice)
            self._together[keys] = rows_of(totals)
        found = dict(zip(keys, self._together.get(keys, []), strict=True))
        return [found.get(i.key) for i in items]


def _points_of(items: Sequence[Item]) -> dict[str, str]:
    """Point of each run."""
    return {i.key: i.point.identity for i in items}


def _finish(store: Store, items: Sequence[Item], warmup: Warmup, own: Sequence[Own]) -> None:
    store.write_points(points_table(items))
    store.finish(list(dict.fromkeys(i.key for i in items if i.key in store)))
    shown = [i for i in items if i.shown and i.key in store]
    points = _points_of(shown)
    if not points:
        return
    # Facts of all runs together would need several times the memory of what is kept of them.
    measured, totals = [], []
    for keys in _portions(points, warmup):
        facts = _facts(store, keys, warmup, points)
        measured.append(runs_of(facts))
        totals.append(totals_of(facts))
    store.write_totals(pl.concat(totals))
    del totals, facts
    runs = points_table(shown).drop("shown").join(pl.concat(measured), on=RUN, how="left", maintain_order="left")
    if own:
        keys = runs[RUN].unique(maintain_order=True).to_list()
        runs = with_own(runs, own, lambda name: store.table(name, keys))
    store.write_runs(runs)


def _portions(points: Mapping[str, str], warmup: Warmup) -> Iterator[list[str]]:
    """Runs in portions of about :data:`_AT_ONCE`; MSER-5 needs all runs of a point at once."""
    portion: list[str] = []
    for _, keys in itertools.groupby(points, key=points.__getitem__ if warmup == "mser5" else None):
        portion += keys
        if len(portion) >= _AT_ONCE:
            yield portion
            portion = []
    if portion:
        yield portion


def _facts(store: Store, keys: Sequence[str], warmup: Warmup, points: Mapping[str, str]) -> pl.DataFrame:
    """Facts and measures of runs."""
    batches = Batches(lambda name: store.table(name, keys), warmup, points)
    return with_measures(store.table(RUN_INFO, keys).drop("seed"), batches)


def problems_of_rules(points: Sequence[Point], warmup: str, asked: Mapping[str, str]) -> list[Problem]:
    """Problems of the removal of transients, and of measures by the setting that uses them, at the given points."""
    problems = problems_of_labels(points, {name: path for name, path in asked.items() if flow_selection.OF in name})
    if ENERGY in asked and not all(p.scenario.settings["run"]["airtime"] for p in points):
        help_ = "count airtime in the scenario: run.airtime = true"
        problems.append(problem(asked[ENERGY], f"`{ENERGY}` needs the count of airtime", help_))
    if not isinstance(warmup, str) or warmup not in WARMUPS:
        known_rules = " and ".join(f"`{t}`" for t in WARMUPS)
        return [*problems, problem("warmup", f"`warmup` cannot be {quoted(warmup)}", f"known: {known_rules}")]
    fewest = min((int(p.scenario.settings["run"]["batches"]) for p in points), default=0)
    if warmup == "mser5" and fewest < 20:
        help_ = "MSER-5 averages batches in groups of five: set run.batches to at least 20, better 100"
        problems.append(problem("warmup", f"`warmup` is mser5 and a run has {fewest} batches", help_))
    return problems


def problems_of_pool(pool: Sequence[str], axes: Sequence[str], is_precise: bool) -> list[Problem]:
    """Problems of the axes over which runs are pooled.

    Args:
        pool: Names of these axes.
        axes: Names of all axes.
        is_precise: True if the study stops at a precision.
    """
    problems = [
        problem("pool", f"`pool` has {quoted(name)}, which is not an axis", f"the axes are {', '.join(axes) or 'none'}")
        for name in pool
        if name not in axes
    ]
    if pool and is_precise:
        help_ = "leave one of them out: a precision is that of each point, with its seeds"
        problems.append(problem("pool", "a study has `pool` or `precision`, not both", help_))
    return problems


def problems_of_own(points: Sequence[Point], own: Sequence[Own], path: str) -> list[Problem]:
    """Problems of user-defined measures whose tables are empty at some points, or whose nodes no point has."""
    needs = {
        "airtime": ("airtime", False, "run.airtime = true"),
        "samples": ("sample_interval", "never", 'run.sample_interval = "1 s"'),
        "intervals": ("sample_interval", "never", 'run.sample_interval = "1 s"'),
    }
    problems = []
    for measure in own:
        if unknown := unknown_node(measure, (p.scenario.names for p in points)):
            message, _, help_ = unknown.partition("; ")
            problems.append(problem(path, message, help_))
        for table in dict.fromkeys(part.table for part in measure.parts):
            setting, none, help_ = needs.get(table, (None, None, ""))
            if setting and any(p.scenario.settings["run"][setting] == none for p in points):
                text = f"`{measure.name}` needs the table `{table}`, which is empty without `run.{setting}`"
                problems.append(problem(path, text, f"set it in the scenario: {help_}"))
    return problems


def problems_of_labels(points: Sequence[Point], asked: Mapping[str, str]) -> list[Problem]:
    """Problems of measures of flows by name: flows that no point has.

    Args:
        points: Points of the study.
        asked: Names of measures, or choices of flows, with the setting that has them.
    """
    named = {text: path for text, path in asked.items() if _labels_in(text)}
    labels = flow_selection.labels_of(point.scenario for point in points) if named else set()
    problems = []
    for text, path in named.items():
        try:
            flow_selection.check_labels(_choice_in(text), labels)
        except ValueError as e:
            message, _, help_ = str(e).partition("; ")
            problems.append(problem(path, message, help_ or None))
    return problems


def _choice_in(text: str) -> str:
    """Choice of flows of a measure; the text itself if it names no measure."""
    _, is_of, choice = text.partition(flow_selection.OF)
    return choice if is_of else text


def _labels_in(text: str) -> list[str]:
    """Names and groups in a choice, or in a measure; none in a text that is no choice."""
    try:
        return flow_selection.labels_in_text(_choice_in(text))
    except ValueError:
        return []


def problems_of_stop(rule: Precision, seeds: Sequence[int], own: Sequence[Own] = ()) -> list[Problem]:
    """Problems of a stopping rule, whose measure may be user-defined."""
    problems = problems_of_measure("precision.measure", rule.measure, [one.name for one in own])
    if not problems:
        problems = problems_of_choice("precision.measure", rule.measure, own)
        if is_own(own, rule.measure) and len(seeds) == 1:
            help_ = "use at least 2 seeds, better 10"
            problems.append(problem("precision.measure", f"`{rule.measure}` needs several seeds", help_))
    if isinstance(rule.within, bool) or not isinstance(rule.within, int | float) or not 0 < rule.within < 1:
        help_ = 'give a share of the mean: 0.05 in Python, "5 %" in a file'
        problems.append(problem("precision.within", f"`precision.within` is {_percent(rule.within)}", help_))
    for name, cap in (("max_seeds", rule.max_seeds), ("max_length", rule.max_length), ("min_seeds", rule.min_seeds)):
        if cap is not None and not is_whole(cap, 1):
            problems.append(problem(f"precision.{name}", f"`precision.{name}`: {not_whole(cap, 1)}", None))
    if problems:
        return problems
    if len(seeds) > 1:
        if rule.max_length is not None:
            help_ = "with several seeds, more seeds are added: give max_seeds"
            problems.append(
                problem("precision.max_length", "`precision.max_length` is for studies with one seed", help_)
            )
        if rule.max_seeds is None:
            problems.append(
                problem("precision.max_seeds", "`precision.max_seeds` is missing", "give the largest number of seeds")
            )
        elif rule.max_seeds < len(seeds):
            help_ = f"the study starts with {len(seeds)} seeds"
            problems.append(problem("precision.max_seeds", f"`precision.max_seeds` is {rule.max_seeds}", help_))
    else:
        if rule.max_seeds is not None:
            help_ = "use at least 2 seeds, better 10; or give max_length, for a longer run of one seed"
            problems.append(
                problem("precision.max_seeds", "`precision.max_seeds` needs several seeds at the start", help_)
            )
        if rule.min_seeds is not None:
            help_ = "with one seed, the run is made longer: give max_length"
            problems.append(
                problem("precision.min_seeds", "`precision.min_seeds` needs several seeds at the start", help_)
            )
        if problems:
            return problems
        if rule.max_length is None:
            help_ = "give the largest factor by which the run may be extended"
            problems.append(problem("precision.max_length", "`precision.max_length` is missing", help_))
        elif rule.max_length < 2:
            help_ = "it must be at least 2"
            problems.append(problem("precision.max_length", f"`precision.max_length` is {rule.max_length}", help_))
    return problems


def problems_of_seeds(seeds: Sequence[int]) -> list[Problem]:
    """Problems of the seeds of a search."""
    if len(seeds) > 1:
        return []
    help_ = "one seed is no sample: runs with other seeds differ by more than its batches; give seeds = 10"
    return [problem("seeds", "a search needs at least 2 seeds, better 10", help_)]


def _percent(share: object) -> str:
    return f"{share * 100:g} %" if isinstance(share, float) else quoted(share)


def problems_of_growth(rule: Precision, base: Scenario, points: Sequence[Point], seeds: Sequence[int]) -> list[Problem]:
    """Problems of the growth of a study under a stopping rule."""
    if rule.max_length is None:
        return problems_of_size(base, len(points), rule.max_seeds or len(seeds))
    longest = 1 << (rule.max_length.bit_length() - 1)
    for point in points:
        try:
            lengthened(point, longest)
        except (ScenarioError, OverflowError):
            message = f"a run cannot be extended by a factor of {quoted(rule.max_length)}"
            return [
                problem("precision.max_length", message, "give the largest factor by which the run may be extended")
            ]
    return []


def problems_of_measure(path: str, name: object, own: Collection[str] = ()) -> list[Problem]:
    """Problems of the name of a measure, which may be user-defined."""
    found = wrong(name, own)
    return [] if found is None else [problem(path, *found)]


def is_own(own: Iterable[Own], measure: str) -> bool:
    """True for a user-defined measure, perhaps of chosen flows."""
    return measure.partition(flow_selection.OF)[0] in [one.name for one in own]


def problems_of_choice(path: str, measure: str, own: Iterable[Own]) -> list[Problem]:
    """Problems of flows that are chosen for a user-defined measure whose tables have none."""
    name, choice = flow_selection.parts(measure)
    try:
        for one in own:
            choice_of(one, choice if one.name == name else None)
    except ValueError as e:
        return [problem(path, str(e), None)]
    return []
