"""Making the runs that a study wants and does not have."""

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from chappe import _core
from chappe.arguments import is_whole, not_whole, problem, problems_of_work, said
from chappe.error import Problem, ScenarioError, StudyError, WorkWarning
from chappe.measures import ENERGY, NAMES, Totals, hint
from chappe.progress import bar
from chappe.scenario import Scenario, scenario_of
from chappe.stats import quotient
from chappe.study import cluster, parts
from chappe.study.axes import (
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
from chappe.study.facts import TRANSIENTS, Batches, Transient, with_measures
from chappe.study.parts import RUN, Finished
from chappe.study.search import GRID, Search, problems_of_search, searching
from chappe.study.stop import Design, Precision, UnknownError, fixed, lengthened, precise
from chappe.study.store import Store
from chappe.study.study import Forgotten, Study, points_table
from chappe.study.work import Failed, Workers, cores, threads

_AT_ONCE = 1000
"""Runs whose batches are read at the same time when a study is finished: those of all need not fit into memory."""


def sweep(
    scenario: Scenario | Mapping[str, Any] | str | os.PathLike[str],
    axes: Axes | None = None,
    seeds: int | Iterable[int] = 1,
    *,
    cases: Cases | None = None,
    stop: Precision | None = None,
    transient: Transient = "discard",
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    on: str | None = None,
    quiet: bool = True,
    title: str = "Study",
) -> Study:
    """Runs a scenario at every combination of the values of the axes. Only runs that are missing in ``out`` are made.

    Args:
        scenario: The scenario: one, a dict like one, or the name of a file.
        axes: Values by dotted names, such as ``{"topology.hops": [2, 4, 8], "tcp.variant": ["newreno", "vegas"]}``.
        seeds: How many seeds (1, 2, ...), or which. With one, intervals come from the batches of its run; with
            several, from the runs.
        cases: Named sets of changes, which become the axis ``case``.
        stop: Go on until a mean is precise; ``None``: every point with every seed, and no more.
        transient: How the beginning of each run is left out.
        out: Folder in which the study is kept; ``None``: it is forgotten with what is returned.
        jobs: Runs at the same time on this machine; ``None``: one for each core.
        on: ``"ray"`` or ``"ray://ADDRESS"``: on a Ray cluster.
        quiet: No progress bar.
        title: Names the progress bar.

    Raises:
        ScenarioError: When the scenario cannot be run.
        OSError: When the file of the scenario cannot be read.
        TypeError: When it is no scenario.
        StudyError: When arguments, points, seeds or rules cannot be meant, with all problems at once, or need more
            memory than ``run.max_memory`` of the scenario.
        StoreError: When the folder cannot be used or written.
        ClusterError: When the cluster cannot be used.
        RuntimeError: In a process that was forked from one that had used polars, whose threads it lacks.
    """
    base = scenario_of(scenario)
    given = problems_of_work(jobs, on, out, quiet, title)
    if stop is not None and not isinstance(stop, Precision):
        given.append(problem("stop", f"`stop` cannot be {said(stop)}", "it is a Precision or None"))
    points, own_seeds = _points(base, axes, cases, seeds, jobs, given)
    asked = {stop.measure: "stop.measure"} if stop and isinstance(stop.measure, str) else {}
    problems = [*problems_of_rules(points, transient, asked), *(problems_of_stop(stop, own_seeds) if stop else ())]
    if stop is not None and not problems:
        problems = problems_of_growth(stop, base, points, own_seeds)
    if problems:
        raise StudyError(problems)
    warn_of_work(points, len(own_seeds), jobs)
    design = precise(points, own_seeds, stop) if stop else fixed(points, own_seeds)
    about = {
        "axes": list(points[0].labels),
        "seeds": own_seeds,
        "stop": vars(stop) if stop else None,
        "transient": transient,
    }
    return carry_out(
        base,
        design,
        about,
        measure=stop.measure if stop else None,
        transient=transient,
        out=out,
        workers=cluster.workers(on) if on else threads(jobs),
        title=None if quiet else title,
        doubts=doubts_of(points),
    )


def search(
    scenario: Scenario | Mapping[str, Any] | str | os.PathLike[str],
    rule: Search,
    axes: Axes | None = None,
    seeds: int | Iterable[int] = 5,
    *,
    cases: Cases | None = None,
    transient: Transient = "discard",
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    on: str | None = None,
    quiet: bool = True,
    title: str = "Search",
) -> Study:
    """Looks for the best value of a setting, at every combination of the values of the axes.

    Args:
        scenario: As in :func:`sweep`.
        rule: What is looked for.
        axes: As in :func:`sweep`.
        seeds: As in :func:`sweep`; every value gets all of them.
        cases: As in :func:`sweep`.
        transient: As in :func:`sweep`.
        out: As in :func:`sweep`.
        jobs: As in :func:`sweep`.
        on: As in :func:`sweep`.
        quiet: As in :func:`sweep`.
        title: As in :func:`sweep`.

    Returns:
        The study; :meth:`Study.curve` has what was found.

    Raises:
        Exception: As :func:`sweep` does.
    """
    base = scenario_of(scenario)
    given = problems_of_work(jobs, on, out, quiet, title)
    if not isinstance(rule, Search):
        given.append(problem("rule", f"`rule` cannot be {said(rule)}", "it is a Search"))
    points, own_seeds = _points(base, axes, cases, seeds, jobs, given)
    asked = {rule.measure: "search.measure"} if isinstance(rule.measure, str) else {}
    problems = [*problems_of_rules(points, transient, asked), *problems_of_search(rule, points, cases)]
    if not problems:
        problems = problems_of_size(base, len(points) * min(rule.max_points + GRID, rule.steps + 1), len(own_seeds))
    if problems:
        raise StudyError(problems)
    warn_of_work(points, len(own_seeds) * GRID, jobs)
    about = {
        "axes": [*points[0].labels, rule.setting],
        "seeds": own_seeds,
        "search": vars(rule),
        "transient": transient,
    }
    return carry_out(
        base,
        searching(points, own_seeds, rule),
        about,
        measure=rule.measure,
        transient=transient,
        out=out,
        workers=cluster.workers(on) if on else threads(jobs),
        title=None if quiet else title,
        doubts=doubts_of(points),
    )


def _points(
    base: Scenario,
    axes: Axes | None,
    cases: Cases | None,
    seeds: int | Iterable[int],
    jobs: int | None,
    given: list[Problem],
) -> tuple[list[Point], list[int]]:
    """The points and the seeds of a study, or all that is wrong with them and with what else was given."""
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
    if any(p.scenario.settings["run"]["record"] for p in points):
        help_ = "run the scenario by itself: `chappe run FILE --seed N --out DIR`, or chappe.run(scenario, out=...)"
        problems.append(problem("run.record", "a study keeps no tables of what happens within a run", help_))
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
        points: Its points.
        runs: How many runs each of them gets at least.
        jobs: Runs at the same time; ``None``: one for each core.
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
    transient: Transient,
    out: str | os.PathLike[str] | None,
    workers: Workers,
    title: str | None,
    doubts: Sequence[str] = (),
) -> Study:
    """Makes the runs of a design until it wants no more.

    Args:
        base: The scenario that the points change.
        design: Says which runs are wanted.
        about: What ``study.json`` says of the study.
        measure: The measure that the design looks at.
        transient: How the beginning of each run is left out.
        out: Folder of the study.
        workers: What makes runs.
        title: Names the progress bar; ``None``: no progress.
        doubts: What is doubtful about the points.
    """
    with ExitStack() as stack:
        forgotten = Forgotten() if out is None else None
        store = Store(forgotten.path if forgotten else Path(out or "."), settings_without_seed(base), about)
        stack.callback(store.close)
        making = _Making(store, workers, title)
        known = _Known(store, measure, transient, making.failed)
        while True:
            try:
                items = design(known)
            except UnknownError as e:
                making.make(e.items)
                continue
            if making.make(items) == 0:
                break
        _finish(store, items, transient)
    return Study(store.folder, failed=making.failures(), warnings=[*doubts, *store.warnings], forgotten=forgotten)


class _Making:
    """Makes runs that are missing."""

    def __init__(self, store: Store, workers: Workers, title: str | None):
        self.failed: dict[str, Failed] = {}
        self._wanted: dict[str, Item] = {}
        self._store = store
        self._workers = workers
        self._title = title

    def make(self, items: Sequence[Item]) -> int:
        """Makes those of the runs that are missing and says how many they were."""
        store = self._store
        self._wanted |= {i.key: i for i in items}
        missing = {i.key: i for i in items if i.key not in store and i.key not in self.failed}
        if not missing:
            return 0
        store.write_points(points_table(list(self._wanted.values())))

        def take(result: Finished | Failed | None) -> None:
            if isinstance(result, Failed):
                self.failed[result.item.key] = result
            elif result is not None:
                store.add(result)
            store.tick()

        with ExitStack() as stack:
            update = stack.enter_context(bar(self._title)) if self._title else _nothing
            try:
                self._workers(list(missing.values()), take, update)
            finally:
                store.flush()
        return len(missing)

    def failures(self) -> list[Failed]:
        """The runs that failed, in the order in which they were wanted."""
        return [self.failed[key] for key in self._wanted if key in self.failed]


def _nothing(_: float) -> None:
    """No progress."""


class _Known:
    """The totals of a measure in runs that have been made."""

    def __init__(self, store: Store, measure: str | None, transient: Transient, failed: Mapping[str, Failed]):
        self._store = store
        self._measure = measure
        self._transient = transient
        self._failed = failed
        self._totals: dict[str, Totals] = {}

    def __call__(self, items: Sequence[Item]) -> list[Totals | None]:
        unknown = [i for i in items if i.key not in self._store and i.key not in self._failed]
        if unknown:
            raise UnknownError(unknown)
        new = [i.key for i in items if i.key not in self._failed and i.key not in self._totals]
        if new:
            assert self._measure is not None
            self._store.flush()
            batches = Batches(lambda name: self._store.table(name, new), self._transient)
            none = Totals(np.empty((0, 2)), quotient)
            self._totals |= dict.fromkeys(new, none) | dict(batches.totals(self._measure))
        return [self._totals.get(i.key) for i in items]


def _finish(store: Store, items: Sequence[Item], transient: Transient) -> None:
    store.write_points(points_table(items))
    store.finish(list(dict.fromkeys(i.key for i in items if i.key in store)))
    shown = [i for i in items if i.shown and i.key in store]
    keys = list(dict.fromkeys(i.key for i in shown))
    if not keys:
        return
    facts = pl.concat(_facts(store, keys[i : i + _AT_ONCE], transient) for i in range(0, len(keys), _AT_ONCE))
    store.write_runs(points_table(shown).drop("shown").join(facts, on=RUN, how="left", maintain_order="left"))


def _facts(store: Store, keys: Sequence[str], transient: Transient) -> pl.DataFrame:
    """Facts and measures of some runs."""
    batches = Batches(lambda name: store.table(name, keys), transient)
    return with_measures(store.table(parts.FACTS, keys).drop("seed"), batches)


def problems_of_rules(points: Sequence[Point], transient: str, asked: Mapping[str, str]) -> list[Problem]:
    """What is wrong with the rule for transients, and with measures and where they are asked for at these points."""
    found = []
    if ENERGY in asked and not all(p.scenario.settings["run"]["air_time"] for p in points):
        help_ = "let the scenario count air time: run.air_time = true"
        found.append(problem(asked[ENERGY], f"there is no `{ENERGY}` where air time is not counted", help_))
    if not isinstance(transient, str) or transient not in TRANSIENTS:
        known = " and ".join(f"`{t}`" for t in TRANSIENTS)
        return [*found, problem("transient", f"`transient` cannot be {said(transient)}", f"known are {known}")]
    fewest = min((int(p.scenario.settings["run"]["batches"]) for p in points), default=0)
    if transient == "mser5" and fewest < 20:
        help_ = "MSER-5 averages batches in groups of five: let run.batches be at least 20, better 100"
        found.append(problem("transient", f"`transient` is mser5 and a run has {fewest} batches", help_))
    return found


def problems_of_stop(rule: Precision, seeds: Sequence[int]) -> list[Problem]:
    """What is wrong with a rule of precision."""
    found = problems_of_measure("stop.measure", rule.measure)
    if isinstance(rule.within, bool) or not isinstance(rule.within, int | float) or not 0 < rule.within < 1:
        help_ = 'it is a share of the mean, such as 5 %: a number such as 0.05, in a file "5 %"'
        found.append(problem("stop.within", f"`stop.within` is {_percent(rule.within)}", help_))
    for name, cap in (("max_seeds", rule.max_seeds), ("max_length", rule.max_length)):
        if cap is not None and not is_whole(cap, 1):
            found.append(problem(f"stop.{name}", f"`stop.{name}`: {not_whole(cap, 1)}", None))
    if found:
        return found
    if len(seeds) > 1:
        if rule.max_length is not None:
            help_ = "with several seeds further seeds are taken: give max_seeds"
            found.append(problem("stop.max_length", "`stop.max_length` is for studies with one seed", help_))
        if rule.max_seeds is None:
            found.append(problem("stop.max_seeds", "`stop.max_seeds` is missing", "it says where to give up"))
        elif rule.max_seeds < len(seeds):
            help_ = f"the study begins with {len(seeds)} seeds"
            found.append(problem("stop.max_seeds", f"`stop.max_seeds` is {rule.max_seeds}", help_))
    else:
        if rule.max_seeds is not None:
            help_ = "let seeds be at least 2, better 5; or give max_length, for a longer run of one seed"
            found.append(problem("stop.max_seeds", "`stop.max_seeds` needs several seeds to begin with", help_))
        elif rule.max_length is None:
            help_ = "it says how many times as long the run may get"
            found.append(problem("stop.max_length", "`stop.max_length` is missing", help_))
        elif rule.max_length < 2:
            help_ = "it must be at least 2"
            found.append(problem("stop.max_length", f"`stop.max_length` is {rule.max_length}", help_))
    return found


def _percent(share: object) -> str:
    return f"{share * 100:g} %" if isinstance(share, float) else said(share)


def problems_of_growth(rule: Precision, base: Scenario, points: Sequence[Point], seeds: Sequence[int]) -> list[Problem]:
    """What is wrong with how far a study may grow until it is precise."""
    if rule.max_length is None:
        return problems_of_size(base, len(points), rule.max_seeds or len(seeds))
    longest = 1 << (rule.max_length.bit_length() - 1)
    for point in points:
        try:
            lengthened(point, longest)
        except (ScenarioError, OverflowError):
            message = f"a run cannot be {said(rule.max_length)} times as long as it is"
            return [problem("stop.max_length", message, "it says how many times as long the run may get")]
    return []


def problems_of_measure(path: str, name: object) -> list[Problem]:
    """What is wrong with the name of a measure."""
    if isinstance(name, str) and name in NAMES:
        return []
    return [problem(path, f"there is no measure {said(name)}", hint(name))]
