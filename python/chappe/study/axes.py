"""The points of a study: every combination of the values of its axes."""

import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chappe import RESULTS_EPOCH
from chappe.error import Problem, ScenarioError
from chappe.scenario import Scenario
from chappe.study.error import StudyError

CASE = "case"
"""Name of the axis whose values are named sets of changes."""

_SHOWN = 10
"""Combinations that cannot be run are shown up to this number."""

Axes = Mapping[str, Any]
Cases = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Point:
    """One combination of values.

    Attributes:
        labels: The value on each axis.
        scenario: The scenario with these values.
    """

    labels: Mapping[str, Any]
    scenario: Scenario

    @cached_property
    def identity(self) -> str:
        """The same for all scenarios that give the same results with the same seed."""
        return hashlib.sha256(json.dumps(settings_without_seed(self.scenario), sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Item:
    """A run of a study.

    Attributes:
        point: Its point.
        seed: Its seed.
        shown: Whether it belongs to the results; if not, it was only needed to decide on others.
        weight: How long it takes beside other runs, about: for the progress.
    """

    point: Point
    seed: int
    shown: bool = True
    weight: float = 1.0

    @cached_property
    def key(self) -> str:
        """Names the run in the store: scenario, seed and results epoch."""
        text = f"{RESULTS_EPOCH} {self.point.identity} {self.seed}"
        return hashlib.sha256(text.encode()).hexdigest()[:24]


def settings_without_seed(scenario: Scenario) -> dict[str, Any]:
    """All settings in effect except ``run.seed``."""
    settings = scenario.settings
    del settings["run"]["seed"]
    return settings


def grid(scenario: Scenario, axes: Axes | None = None, cases: Cases | None = None) -> list[Point]:
    """Every combination of the values of the axes.

    Args:
        scenario: The scenario that the axes change.
        axes: Values by dotted names, such as ``{"topology.hops": [2, 4, 8]}``.
        cases: Named sets of changes, such as ``{"vegas": {"tcp.variant": "vegas", "tcp.vegas.alpha": 2}}``: one more
            axis, ``case``, which comes first.

    Returns:
        The points; the last axis changes fastest.

    Raises:
        StudyError: With all values and combinations that cannot be run.
    """
    problems = [p for name, values in (axes or {}).items() for p in _of_axis(scenario, name, values)]
    problems += [p for name, changes in (cases or {}).items() for p in _of_case(scenario, name, changes)]
    problems += _clashes(axes or {}, cases or {})
    if cases is not None and not cases:
        problems.append(Problem("cases", "`cases` is empty", None, None, None, None))
    if problems:
        raise StudyError(problems)
    found, wrong = [], _Wrong()
    for labels, changes in _combinations({k: [*map(_plain, v)] for k, v in (axes or {}).items()}, cases or {}):
        try:
            found.append(Point(labels, scenario.with_(changes)))
        except ScenarioError as e:
            wrong.add(labels, e)
    if wrong.problems:
        raise StudyError(wrong.shown())
    if same := _same(found):
        raise StudyError(same)
    return found


def _combinations(axes: Axes, cases: Cases) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    sets: list[list[tuple[str, Any, Mapping[str, Any]]]] = []
    if cases:
        sets.append([(CASE, name, changes) for name, changes in cases.items()])
    sets += [[(name, value, {name: value}) for value in values] for name, values in axes.items()]
    for chosen in itertools.product(*sets):
        yield {name: value for name, value, _ in chosen}, {k: v for *_, c in chosen for k, v in c.items()}


def _same(points: Sequence[Point]) -> list[Problem]:
    """Points that mean the same as one before, the first of them: their runs would be the same, and count twice."""
    seen: dict[str, Point] = {}
    for point in points:
        other = seen.setdefault(point.identity, point)
        if other is not point:
            differ = [name for name in point.labels if point.labels[name] != other.labels[name]]
            first, second = (", ".join(f"{n} = {p.labels[n]}" for n in differ) for p in (other, point))
            return [Problem(_place(differ[0], point), f"{first} and {second} mean the same", "leave one of them out",
                            None, None, None)]  # fmt: skip
    return []


def _place(name: str, point: Point) -> str:
    return f"cases.{point.labels[CASE]}" if name == CASE else name


def settings_in(changes: Mapping[str, Any]) -> Iterator[str]:
    """The dotted names of what a set of changes sets, in groups, too."""
    for name, value in changes.items():
        if isinstance(value, Mapping) and value:
            yield from (f"{name}.{inner}" for inner in settings_in(value))
        else:
            yield name


def overlap(a: str, b: str) -> bool:
    """Whether two dotted names set the same setting, or one a setting in the group of the other."""
    return f"{a}.".startswith(f"{b}.") or f"{b}.".startswith(f"{a}.")


def _clashes(axes: Axes, cases: Cases) -> Iterator[Problem]:
    """Settings that two axes, or an axis and a case, set."""
    names = list(axes)
    for a, b in itertools.combinations(names, 2):
        if overlap(a, b):
            yield Problem(b, f"the axes `{a}` and `{b}` set the same", "keep one of them", None, None, None)
    for case, changes in cases.items():
        for own in settings_in(changes) if isinstance(changes, Mapping) else ():
            for name in names:
                if overlap(name, own):
                    message = f"`{own}` is set by the case `{case}` and by the axis `{name}`"
                    yield Problem(f"cases.{case}", message, "let one of them set it", None, None, None)


def doubts_of(points: Sequence[Point]) -> list[str]:
    """What is doubtful about points although they can be run, each doubt once."""
    found: dict[str, list[Point]] = {}
    for point in points:
        for message in point.scenario.warnings:
            found.setdefault(message, []).append(point)
    said = []
    for message, where in found.items():
        first, others = _said(where[0].labels), len(where) - 1
        more = f" and at {others} more point{'s' if others > 1 else ''}" if others else ""
        said.append(f"{message}, with {first}{more}" if first else message)
    return said


def _said(labels: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in labels.items())


class _Wrong:
    """What is wrong with combinations, each problem once, with the first combination that has it."""

    def __init__(self) -> None:
        self.problems: dict[tuple[str, str], Problem] = {}

    def add(self, labels: Mapping[str, Any], error: ScenarioError) -> None:
        where = _said(labels)
        for p in error.problems:
            at = p._replace(message=f"{p.message}, with {where}" if where else p.message, file=None, line=None)
            self.problems.setdefault((p.path, p.message), at)

    def shown(self) -> list[Problem]:
        found = list(self.problems.values())
        more = len(found) - _SHOWN
        rest = [Problem("", f"{more} more problems of this kind", None, None, None, None)] if more > 0 else []
        return found[:_SHOWN] + rest


def _of_axis(scenario: Scenario, name: str, values: object) -> Iterable[Problem]:
    """What is wrong with an axis by itself."""

    def problem(message: str, help_: str | None = None) -> Problem:
        return Problem(name, message, help_, None, None, None)

    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        yield problem(f"the axis `{name}` is not a list of values", f"write it as a list: {name} = [{values!r}]")
        return
    values = list(values)
    if name == "run.seed":
        yield problem("`run.seed` cannot be an axis", "seeds are given by `seeds`")
        return
    if not values:
        yield problem(f"the axis `{name}` has no values")
    for value, many in _counted(values):
        if many > 1:
            yield problem(f"the axis `{name}` has the value {value} {many} times")
    seen = set()
    meant: dict[str, Any] = {}
    for value in values:
        try:
            other = meant.setdefault(Point({}, scenario.with_({name: value})).identity, value)
            if _written(other) != _written(value):
                yield problem(
                    f"the axis `{name}` has {other} and {value}, which mean the same", "leave one of them out"
                )
        except ScenarioError as e:
            # Whether values of several axes go together is seen when they are combined.
            for p in e.problems:
                about_it = f"{p.path}.".startswith(f"{name}.") or name.startswith(f"{p.path}.")
                if about_it and p.message not in seen:
                    seen.add(p.message)
                    yield problem(p.message, p.help)


def _of_case(scenario: Scenario, name: str, changes: object) -> Iterable[Problem]:
    """What is wrong with a case by itself."""
    path = f"cases.{name}"
    if not isinstance(changes, Mapping):
        yield Problem(path, f"the case `{name}` is not a set of changes", None, None, None, None)
    elif "run.seed" in changes:
        yield Problem(path, "`run.seed` cannot differ between cases", "seeds are given by `seeds`", None, None, None)
    else:
        try:
            scenario.with_(changes)
        except ScenarioError as e:
            for p in e.problems:
                if p.path in changes or any(f"{p.path}.".startswith(f"{c}.") for c in changes):
                    yield Problem(path, f"{p.message}, in the case `{name}`", p.help, None, None, None)


def _plain(value: Any) -> Any:
    """A number of numpy as one of Python."""
    return value.item() if hasattr(value, "item") else value


def _written(value: object) -> str:
    return json.dumps(value, default=str)


def _counted(values: Sequence[Any]) -> list[tuple[str, int]]:
    counts: dict[str, int] = {}
    for v in values:
        text = _written(v)
        counts[text] = counts.get(text, 0) + 1
    return list(counts.items())


def seeds_of(seeds: int | Iterable[int]) -> list[int]:
    """The seeds: 1 to a number, or those of a list.

    Raises:
        StudyError: When they are not seeds.
    """

    def wrong(message: str) -> StudyError:
        return StudyError([Problem("seeds", message, "a number of seeds, or a list of them", None, None, None)])

    if isinstance(seeds, bool | str | float):
        raise wrong(f"`seeds` cannot be {json.dumps(seeds)}")
    if isinstance(seeds, int):
        if seeds < 1:
            raise wrong(f"`seeds` is {seeds}")
        return list(range(1, seeds + 1))
    try:
        found = [s if isinstance(s, str | float | bool) else int(s) for s in seeds]
    except (TypeError, ValueError):
        raise wrong("`seeds` is neither a number nor a list of numbers") from None
    if not found:
        raise wrong("`seeds` is empty")
    for s in found:
        if isinstance(s, str | float | bool) or not 0 <= s < 2**63:
            raise wrong(f"`seeds` cannot have {json.dumps(s)}")
    if len(set(found)) < len(found):
        raise wrong("`seeds` has the same seed twice")
    return [int(s) for s in found]
