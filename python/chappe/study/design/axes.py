"""Points of a study: all combinations of the values of its axes."""

import hashlib
import itertools
import json
import math
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, SupportsIndex

from chappe import RESULTS_EPOCH, _core
from chappe._common.arguments import MANY, is_text, listed, problem, quoted
from chappe._common.notices import Notice
from chappe.errors import Problem, ScenarioError, StudyError
from chappe.expressions.reductions import Reduction
from chappe.scenario.rules import code_of, name_of
from chappe.scenario.scenario import Scenario

KEY_LENGTH = 24
"""Hexadecimal digits in the name of a run."""

CASE = "case"
"""Name of the axis whose values are named sets of changes."""

_SHOWN = 10
"""Invalid combinations shown at most."""

Axes = Mapping[str, Any]
Cases = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Point:
    """A combination of values.

    Attributes:
        labels: Value on each axis.
        scenario: Scenario with these values.
        reduction: What is made of its recorded tables where it is executed; ``None``: nothing is recorded.
    """

    labels: Mapping[str, Any]
    scenario: Scenario
    reduction: Reduction | None = None

    @cached_property
    def identity(self) -> str:
        """Hash of the settings that differ from the defaults: equal scenarios have equal results for equal seeds.

        The code of congestion controls in Python belongs to it.

        Raises:
            ScenarioError: If such a rule cannot be used.
        """
        settings = _hash(json.loads(self.scenario._core.changes_json()))
        if code := code_of(self.scenario._core, self.scenario._files):
            settings = hashlib.sha256(f"{settings} {code}".encode()).hexdigest()
        return settings if self.reduction is None else f"{settings} {self.reduction.identity}"


@dataclass(frozen=True)
class Item:
    """A run of a study.

    Attributes:
        point: Point of the run.
        seed: Seed of the run.
        shown: True if the run is part of the results; false if it only served to decide on other runs.
        weight: Approximate duration relative to other runs, for the progress bar.
    """

    point: Point
    seed: int
    shown: bool = True
    weight: float = 1.0

    @cached_property
    def key(self) -> str:
        """Name of the run in the store: hash of scenario, seed and results epoch."""
        text = f"{RESULTS_EPOCH} {self.point.identity} {self.seed}"
        return hashlib.sha256(text.encode()).hexdigest()[:KEY_LENGTH]


def _hash(settings: dict[str, Any]) -> str:
    settings.get("run", {}).pop("seed", None)
    return hashlib.sha256(json.dumps(settings, sort_keys=True, allow_nan=False).encode()).hexdigest()


def settings_without_seed(scenario: Scenario) -> dict[str, Any]:
    """All effective settings except ``run.seed``."""
    settings = scenario.settings
    del settings["run"]["seed"]
    return settings


def grid(scenario: Scenario, axes: Axes | None = None, cases: Cases | None = None) -> list[Point]:
    """All combinations of the values of the axes.

    Args:
        scenario: Base scenario of the axes.
        axes: Values by dotted names, such as ``{"topology.hops": [2, 4, 8]}``.
        cases: Named sets of changes, such as ``{"vegas": {"tcp.variant": "vegas", "tcp.vegas.alpha": 2}}``: one more
            axis, ``case``, which comes first.

    Returns:
        The points; the last axis changes fastest.

    Raises:
        StudyError: With all invalid values and combinations.
    """
    own_axes, problems = _axes(axes)
    own_cases, of_cases = _cases(cases)
    problems += of_cases
    if too_many := problems_of_size(scenario, points_of(own_axes, own_cases), 1):
        raise StudyError(problems + too_many)
    for name, values in own_axes.items():
        beside = [{other: value} for other, of_other in own_axes.items() if other != name for value in of_other]
        problems += _of_axis(scenario, name, values, [*beside, *own_cases.values()])
    wrong_cases = {name: list(_of_case(scenario, name, changes)) for name, changes in own_cases.items()}
    problems += itertools.chain.from_iterable(wrong_cases.values())
    problems += _clashes(own_axes, {name: changes for name, changes in own_cases.items() if not wrong_cases[name]})
    if problems:
        raise StudyError(problems)
    points, wrong = [], _Wrong()
    for labels, changes in _combinations(own_axes, own_cases):
        try:
            points.append(Point(labels, scenario.with_settings(changes)))
        except ScenarioError as e:
            wrong.add(labels, e)
    if wrong.problems:
        raise StudyError(wrong.shown())
    if same := _same(points) or list(_idle(points, own_axes)):
        raise StudyError(same)
    return points


def _axes(axes: object) -> tuple[dict[str, list[Any]], list[Problem]]:
    """Values of each axis as a list, and problems."""
    if axes is None:
        return {}, []
    if not isinstance(axes, Mapping):
        help_ = 'values by dotted names, such as {"topology.hops": [2, 4, 8]}'
        return {}, [problem("axes", f"`axes` cannot be {quoted(axes)}", help_)]
    lists, problems = {}, []
    for name, values in axes.items():
        if not is_text(name):
            problems.append(problem("axes", f"`axes` cannot have {quoted(name)}", "an axis is the name of a setting"))
        elif isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
            help_ = f"write it as a list: {name} = [{quoted(values)}]"
            problems.append(problem(name, f"the axis `{name}` is not a list of values", help_))
        else:
            try:
                lists[name] = [*map(_plain, listed(values))]
            except ValueError:
                problems.append(problem(name, f"the axis `{name}` has more than {MANY:,} values", None))
    return lists, problems


def _cases(cases: object) -> tuple[dict[str, Mapping[str, Any]], list[Problem]]:
    """Changes of each case, and problems."""
    if cases is None:
        return {}, []
    if not isinstance(cases, Mapping):
        help_ = 'sets of changes by name, such as {"vegas": {"tcp.variant": "vegas"}}'
        return {}, [problem("cases", f"`cases` cannot be {quoted(cases)}", help_)]
    problems = [] if cases else [problem("cases", "`cases` is empty", None)]
    for name, changes in cases.items():
        if not is_text(name):
            problems.append(problem("cases", f"`cases` cannot have {quoted(name)}", "the name of a case is a text"))
        elif not isinstance(changes, Mapping):
            problems.append(problem(f"cases.{name}", f"the case `{name}` is not a set of changes", None))
    return {k: v for k, v in cases.items() if isinstance(v, Mapping)}, problems


def points_of(axes: Axes, cases: Cases) -> int:
    """Number of combinations."""
    return math.prod(len(values) for values in axes.values()) * max(1, len(cases))


_POINT_B = 40_000
_PLACE_B = 64
_TEXT_B = 8
RUN_B = 2_200
"""Approximate memory [B] of a point, of each of its nodes, of each character of its settings, and of a run."""


def problems_of_size(scenario: Scenario, points: int, runs: int, together: float = 0) -> list[Problem]:
    """Problems of the size of a study, if it needs more memory than ``run.max_memory``.

    Args:
        scenario: Base scenario of the points.
        points: Number of points.
        runs: Number of runs per point.
        together: Memory of the parallel runs [B].
    """
    core = scenario._core
    limit = core.cost()[2]
    one = _POINT_B + _PLACE_B * len(core.places()[0]) + _TEXT_B * len(core.written_json())
    need = points * (one + runs * RUN_B) + together
    if need <= limit:
        return []
    count = f"{points:,} {'point' if points == 1 else 'points'}"
    if runs > 1:
        count += f" with {runs:,} runs each"
    much = f"about {_core.in_bytes(need)} of memory, and at most {_core.in_bytes(limit)} are allowed"
    if together > need / 2:
        help_ = "use fewer `jobs`, or raise `run.max_memory`"
        return [problem("jobs", f"parallel runs need {much}", help_)]
    help_ = "reduce the study, or raise `run.max_memory`"
    return [problem("seeds" if runs > points else "axes", f"{count} need {much}", help_)]


def _combinations(axes: Axes, cases: Cases) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    sets: list[list[tuple[str, Any, Mapping[str, Any]]]] = []
    if cases:
        sets.append([(CASE, name, changes) for name, changes in cases.items()])
    sets += [[(name, value, {name: value}) for value in values] for name, values in axes.items()]
    for chosen in itertools.product(*sets):
        yield {name: value for name, value, _ in chosen}, {k: v for *_, c in chosen for k, v in c.items()}


def _same(points: Sequence[Point]) -> list[Problem]:
    """Problem of the first point equivalent to an earlier point: its runs would be identical, and count twice."""
    seen: dict[str, Point] = {}
    for point in points:
        other = seen.setdefault(point.identity, point)
        if other is not point:
            differ = [name for name in point.labels if point.labels[name] != other.labels[name]]
            first, second = (", ".join(f"{n} = {p.labels[n]}" for n in differ) for p in (other, point))
            return [Problem(_place(differ[0], point), f"{first} and {second} are equivalent", "remove one of them",
                            None, None, None)]  # fmt: skip
    return []


def _idle(points: Sequence[Point], axes: Axes) -> Iterator[Problem]:
    """Problems of axes that have no effect at any point: the runs of their values would be equal."""
    reasons = {name: why for point in points for name, why in point.scenario._core.unused()}
    for name, values in axes.items():
        if name in reasons and len(values) > 1 and not any(p.scenario._core.used([name]) for p in points):
            message = f"the axis `{name}` has no effect, because {reasons[name]}"
            help_ = _INSTEAD.get(name, "remove it, or change what makes it idle")
            yield Problem(name, message, help_, None, None, None)


_INSTEAD = {"tcp.variant": "compare `tcp.congestion_control`, such as cubic, bbr and reno, or extend another preset"}
"""Advice for a setting that some presets leave without effect."""


def _place(name: str, point: Point) -> str:
    return f"cases.{point.labels[CASE]}" if name == CASE else name


def settings_in(changes: Mapping[str, Any]) -> Iterator[str]:
    """Dotted names of the settings in a set of changes, nested groups included."""
    for name, value in changes.items():
        if isinstance(value, Mapping) and value:
            yield from (f"{name}.{inner}" for inner in settings_in(value))
        else:
            yield name


def overlap(a: str, b: str) -> bool:
    """Returns true if two dotted names are equal, or one is a group that contains the other."""
    return f"{a}.".startswith(f"{b}.") or f"{b}.".startswith(f"{a}.")


def _clashes(axes: Axes, cases: Cases) -> Iterator[Problem]:
    """Problems of settings that two axes, or an axis and a case, change."""
    names = list(axes)
    for a, b in itertools.combinations(names, 2):
        if overlap(a, b):
            yield Problem(b, f"the axes `{a}` and `{b}` change the same setting", "keep one of them", None, None, None)
    for case, changes in cases.items():
        for changed in settings_in(changes) if isinstance(changes, Mapping) else ():
            for name in names:
                if overlap(name, changed):
                    message = f"`{changed}` is set by the case `{case}` and by the axis `{name}`"
                    yield Problem(f"cases.{case}", message, "let one of them set it", None, None, None)


def doubts_of(points: Sequence[Point]) -> list[Notice]:
    """Warnings about valid points.

    Warnings are not repeated. An unused setting is reported only if no point uses it, because some settings belong to
    one variant of a study.
    """
    points_of_notice: dict[Notice, list[Point]] = {}
    unused: dict[str, str] = {}
    for point in points:
        unused_here = point.scenario._core.unused()
        for name, why in unused_here:
            unused.setdefault(name, why)
        idle = {message for _, message in _core.no_effect(unused_here)}
        for notice in point.scenario.warnings:
            if notice.message not in idle:
                points_of_notice.setdefault(notice, []).append(point)
    for point in points if unused else ():
        for name in point.scenario._core.used(list(unused)):
            del unused[name]
    notices = []
    for notice, where in points_of_notice.items():
        first, others = _said(where[0].labels), len(where) - 1
        more = f" and at {others} more point{'s' if others > 1 else ''}" if others else ""
        notices.append(notice._replace(message=f"{notice.message}, with {first}{more}") if first else notice)
    return notices + [Notice("unused_setting", *said) for said in _core.no_effect(list(unused.items()))]


def _said(labels: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value if isinstance(value, str) else quoted(value)}" for name, value in labels.items())


class _Wrong:
    """Problems of combinations, without repetition, each with its first combination."""

    def __init__(self) -> None:
        self.problems: dict[tuple[str, str], Problem] = {}

    def add(self, labels: Mapping[str, Any], error: ScenarioError) -> None:
        where = _said(labels)
        for p in error.problems:
            at = p._replace(message=f"{p.message}, with {where}" if where else p.message, file=None, line=None)
            self.problems.setdefault((p.path, p.message), at)

    def shown(self) -> list[Problem]:
        problems = list(self.problems.values())
        more = len(problems) - _SHOWN
        rest = [Problem("", f"{more} more problems of this kind", None, None, None, None)] if more > 0 else []
        return problems[:_SHOWN] + rest


def _about(scenario: Scenario, name: str, changes: Mapping[str, Any]) -> list[Problem]:
    """Problems of a setting in a scenario with changes."""
    try:
        scenario.with_settings(changes)
    except ScenarioError as e:
        return [p for p in e.problems if f"{p.path}.".startswith(f"{name}.") or name.startswith(f"{p.path}.")]
    return []


def _of_axis(
    scenario: Scenario, name: str, values: Sequence[Any], beside: Sequence[Mapping[str, Any]]
) -> Iterable[Problem]:
    """Problems of a single axis; ``beside``: changes of the other axes and cases, one of which a value may need."""

    def problem(message: str, help_: str | None = None) -> Problem:
        return Problem(name, message, help_, None, None, None)

    if name == "run.seed":
        yield problem("`run.seed` cannot be an axis", "seeds are given by `seeds`")
        return
    if not values:
        yield problem(f"the axis `{name}` has no values")
    for value, many in _counted(values):
        if many > 1:
            yield problem(f"the axis `{name}` has the value {value[:80]} {many} times")
    seen = set()
    meant: dict[str, Any] = {}
    for value in values:
        try:
            other = meant.setdefault(Point({}, scenario.with_settings({name: value})).identity, value)
            if _written(other) != _written(value):
                yield problem(f"the axis `{name}` has the equivalent values {other} and {value}", "remove one of them")
        except ScenarioError:
            wrong = _about(scenario, name, {name: value})
            # Conflicts between axes are found in the combinations.
            if wrong and all(_about(scenario, name, {**changes, name: value}) for changes in beside):
                for p in wrong:
                    if p.message not in seen:
                        seen.add(p.message)
                        yield problem(p.message, p.help)


def _of_case(scenario: Scenario, name: str, changes: Mapping[str, Any]) -> Iterable[Problem]:
    """Problems of a single case."""
    path = f"cases.{name}"
    if "run.seed" in changes:
        yield Problem(path, "`run.seed` cannot differ between cases", "seeds are given by `seeds`", None, None, None)
    else:
        try:
            scenario.with_settings(changes)
        except ScenarioError as e:
            for p in e.problems:
                if p.path in changes or any(f"{p.path}.".startswith(f"{c}.") for c in changes):
                    yield Problem(path, f"{p.message}, in the case `{name}`", p.help, None, None, None)


def _plain(value: Any) -> Any:
    """Converts numpy scalars and arrays to Python values, and a congestion control in Python to its name."""
    if isinstance(value, type):
        return name_of(value)
    return value.tolist() if hasattr(value, "tolist") else value


def _written(value: object) -> str:
    return json.dumps(value, default=quoted)


def _counted(values: Sequence[Any]) -> list[tuple[str, int]]:
    counts: dict[str, int] = {}
    for v in values:
        try:
            text = _written(v)
        except (RecursionError, TypeError, ValueError):
            # The reader of the value reports the problem.
            continue
        counts[text] = counts.get(text, 0) + 1
    return list(counts.items())


def seeds_of(seeds: int | Iterable[int]) -> Sequence[int]:
    """Seeds from 1 to a number, or a list of seeds; more than a million stay a range.

    Raises:
        StudyError: If the seeds are invalid.
    """

    def wrong(message: str) -> StudyError:
        return StudyError([Problem("seeds", message, "give a number of seeds, or a list of seeds", None, None, None)])

    if isinstance(seeds, bool | str | bytes | float | Mapping):
        raise wrong(f"`seeds` cannot be {quoted(seeds)}")
    if isinstance(seeds, SupportsIndex) and not isinstance(seeds, Iterable):
        try:
            count = operator.index(seeds)
        except TypeError:  # a class with __index__ is not an instance
            raise wrong(f"`seeds` cannot be {quoted(seeds)}") from None
        if not 1 <= count < 2**63:
            raise wrong(f"`seeds` is {quoted(count)}; it must be from 1 to {2**63 - 1}")
        seeds = range(1, count + 1)
    if isinstance(seeds, range) and len(seeds) > MANY and min(seeds[0], seeds[-1]) >= 0:
        return seeds
    try:
        listed_seeds = [s if isinstance(s, bool) else operator.index(s) for s in listed(seeds)]
    except (TypeError, ValueError):
        raise wrong(f"`seeds` is neither a number nor a list of whole numbers: {quoted(seeds)}") from None
    if not listed_seeds:
        raise wrong("`seeds` is empty")
    for s in listed_seeds:
        if isinstance(s, bool) or not 0 <= s < 2**63:
            raise wrong(f"`seeds` cannot have {quoted(s)}: a seed is from 0 to {2**63 - 1}")
    if len(set(listed_seeds)) < len(listed_seeds):
        raise wrong("`seeds` has the same seed twice")
    return listed_seeds
