"""Search for the best value of a setting, by a grid that is refined around the best value."""

import contextlib
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from chappe._common.arguments import is_whole, not_whole, quoted
from chappe.errors import Problem, ScenarioError
from chappe.expressions.own_measures import Own
from chappe.measures import DIRECTIONS, Direction, Totals, direction_of, of_runs, wrong
from chappe.stats import doubts
from chappe.study.analysis.analysis import Sample, interval, undefined
from chappe.study.design.axes import Cases, Item, Point, overlap, settings_in
from chappe.study.design.explore import GRID, Explored, Sampled, around_the_best, explore
from chappe.study.design.stop import Design, Measured, UnknownError

FIRST_SEED = 1_000_001
"""First seed of searches, so that a sweep with seeds from 1 on does not confirm a search with the same runs."""

FRESH_SEED = 2_000_001
"""First seed of the runs from which the best value is reported."""

_CONFIDENCE = 0.95

_LONG = 300
"""Longest text of a number [characters]."""

_EXACT = 12
"""Largest decimal exponent of a number, positive or negative."""


@dataclass(frozen=True)
class Search:
    """Definition of a search for the best value of a setting.

    Every round divides an interval into eight parts and measures at their ends. The next interval spans the best value
    and the adjacent values that are not significantly worse (95 % for the whole search), plus one neighbor on either
    side: values beyond a significantly worse one are taken for worse, as with a single peak. If a round leaves out
    nothing, the values that may be best get further runs, where they decide most. The search ends if the parts reach
    the resolution and some values are significantly worse, at ``max_points``, or at ``max_runs``. The best value is
    reported from fresh seeds, because the best of several means is too good.

    Attributes:
        setting: Dotted name of the setting.
        low: Smallest value: a whole number, or a quantity such as ``"20 ms"``.
        high: Largest value, in the same unit.
        resolution: Distance of neighboring values, in the same unit.
        measure: Name of the measure.
        direction: ``"maximize"`` or ``"minimize"``; ``None``: the better direction of the measure.
        max_points: Number of measured values after which no round begins.
        max_runs: Largest number of runs at each point of the axes, without the fresh runs of the best value.
    """

    setting: str
    low: int | str
    high: int | str
    resolution: int | str = 1
    measure: str = "goodput_bps"
    direction: Direction | None = None
    max_points: int = 40
    max_runs: int = 500

    def __post_init__(self) -> None:
        """Fills in the better direction of the measure. Measures without any are refused at the start."""
        with contextlib.suppress(ValueError):
            object.__setattr__(self, "direction", direction_of(self.measure, self.direction))

    @property
    def sign(self) -> int:
        """1 when the highest mean is best, -1 when the lowest is."""
        return 1 if self.direction == "maximize" else -1

    @property
    def steps(self) -> int:
        """Number of steps from the smallest value to the largest."""
        return int((_number(self.high)[0] - _number(self.low)[0]) / _number(self.resolution)[0])

    def value(self, step: int) -> int | str:
        """The value after a number of steps."""
        number, unit = _number(self.low)
        at = number + step * _number(self.resolution)[0]
        return f"{at.normalize():f} {unit}".strip() if unit or at % 1 else int(at)

    def step(self, value: object) -> int:
        """The number of steps to a value."""
        return int((_number(value)[0] - _number(self.low)[0]) / _number(self.resolution)[0])

    def explore(self, first_runs: int, sampled: Sampled) -> Explored:
        """Searches with the runs of a function."""
        return explore(
            self.steps, first_runs, sampled, sign=self.sign, max_points=self.max_points, max_runs=self.max_runs
        )


def first_seeds(given: object, seeds: Sequence[int]) -> list[int]:
    """Seeds of the first round: a list as given, and as many seeds of searches as a given number."""
    return list(seeds) if isinstance(given, Iterable) else [FIRST_SEED + k for k in range(len(seeds))]


def seeds_of_search(seeds: Sequence[int]) -> Iterator[int]:
    """Seeds of the runs of a value: the given seeds, then further seeds of searches."""
    given = set(seeds)
    return itertools.chain(seeds, (s for s in itertools.count(FIRST_SEED) if s not in given))


def fresh_seeds(seeds: Sequence[int], n: int) -> list[int]:
    """Seeds of the runs from which the best value is reported."""
    given = set(seeds)
    return list(itertools.islice((s for s in itertools.count(FRESH_SEED) if s not in given), n))


def searching(points: Sequence[Point], seeds: Sequence[int], search: Search, *, common: bool = False) -> Design:
    """Design of a search at each of the points.

    Args:
        points: The points.
        seeds: Seeds of the first round.
        search: The rule.
        common: True if runs with the same seed are pairs.
    """
    # The design is queried many times.
    values = [_Values(point, search) for point in points]

    def design(measured: Measured) -> list[Item]:
        items_of_all: list[Item] = []
        unknown: list[Item] = []
        for of_point in values:
            try:
                items_of_all += _at(of_point, seeds, search, common, measured)
            except UnknownError as e:
                unknown += e.items
        if unknown:
            raise UnknownError(unknown)
        return items_of_all

    return design


class _Values:
    """Points of the values of a search, by step."""

    def __init__(self, point: Point, search: Search):
        self._point = point
        self._search = search
        self._known: dict[int, Point] = {}

    def __call__(self, step: int) -> Point:
        if step not in self._known:
            setting, value = self._search.setting, self._search.value(step)
            scenario = self._point.scenario.with_settings({setting: value})
            self._known[step] = Point({**self._point.labels, setting: value}, scenario, self._point.reduction)
        return self._known[step]


def _at(point_of: _Values, seeds: Sequence[int], search: Search, common: bool, measured: Measured) -> list[Item]:
    def items_of(runs: Mapping[int, int], hidden: int | None = None) -> dict[int, list[Item]]:
        return {
            step: [Item(point_of(step), s, shown=step != hidden) for s in itertools.islice(seeds_of_search(seeds), n)]
            for step, n in sorted(runs.items())
        }

    def sampled(runs: Mapping[int, int]) -> dict[int, Sample]:
        items = items_of(runs)
        totals = iter(measured([i for of_step in items.values() for i in of_step]))
        return {
            step: Sample({}, [i.seed for i in own], of_runs([next(totals) for _ in own]), common)
            for step, own in items.items()
        }

    found = search.explore(len(seeds), sampled)
    items = items_of(found.runs, hidden=found.best)
    fresh = [Item(point_of(found.best), seed) for seed in fresh_seeds(seeds, found.runs[found.best])]
    return [*(i for of_step in items.values() for i in of_step), *fresh]


class Run(NamedTuple):
    """A run of a search.

    Attributes:
        labels: Value on each axis, and of the setting.
        seed: Seed of the run.
        key: Name of the run in the store.
    """

    labels: Mapping[str, Any]
    seed: int
    key: str


Known = Callable[[Sequence[str]], Sequence[Totals | None]]
"""Function from the names of runs to their totals; ``None`` for a failed run."""


def explored(
    runs: Sequence[Run], seeds: Sequence[int], search: Search, known: Known, *, common: bool
) -> dict[str, Explored]:
    """Results of finished searches, by the values on the axes: the searches are repeated with their runs.

    Searches without some of their runs, which are not finished, are missing.
    """
    tables: dict[str, dict[int, dict[int, str]]] = {}
    for run in runs:
        steps = tables.setdefault(_axes_of(run.labels, search.setting), {})
        steps.setdefault(search.step(run.labels[search.setting]), {})[run.seed] = run.key
    results: dict[str, Explored] = {}
    for name, of_step in tables.items():

        def sampled(wanted: Mapping[int, int], of_step: Mapping[int, Mapping[int, str]] = of_step) -> dict[int, Sample]:
            own = {step: list(itertools.islice(seeds_of_search(seeds), n)) for step, n in wanted.items()}
            if not all(of_step.get(step, {}).keys() >= set(of_own) for step, of_own in own.items()):
                raise UnknownError([])
            totals = iter(known([of_step[step][seed] for step, of_own in own.items() for seed in of_own]))
            return {
                step: Sample({}, of_own, of_runs([next(totals) for _ in of_own]), common)
                for step, of_own in own.items()
            }

        with contextlib.suppress(UnknownError):
            results[name] = search.explore(len(seeds), sampled)
    return results


def _axes_of(labels: Mapping[str, Any], setting: str) -> str:
    return repr([(k, v) for k, v in labels.items() if k != setting])


def curve(samples: Sequence[Sample], search: Search, results: Mapping[str, Explored]) -> list[dict[str, Any]]:
    """Rows of a search: one per value, in order, for each combination of the axes.

    Args:
        samples: Samples of all values.
        search: The rule.
        results: Results of the searches, by the values on the axes. A search without result, which is not finished,
            is described by its samples.
    """
    groups: dict[str, dict[int, Sample]] = {}
    for s in samples:
        groups.setdefault(_axes_of(s.labels, search.setting), {})[search.step(s.labels[search.setting])] = s
    rows = []
    for name, group in groups.items():
        found = results.get(name)
        if found is not None:
            best, tied, end = found.best, found.tied, found.end
        else:
            best, tied = around_the_best(group, set(), search.sign, _CONFIDENCE)
            end = None
        for step, s in sorted(group.items()):
            e = s.estimate
            n = int(e.df) + 1
            labels = {k: v for k, v in s.labels.items() if k != search.setting}
            labels[search.setting] = s.labels[search.setting]
            marks = {
                "is_best": step == best and math.isfinite(e.mean),
                "is_tied": tied[0] <= step <= tied[1],
                "doubt": doubts.of_runs(n, undefined(s), e),
                "end": end,
            }
            rows.append({**labels, **interval(e, _CONFIDENCE), "n": n, **marks})
    return rows


def problems_of_search(
    search: Search, points: Sequence[Point], cases: Cases | None = None, own: Sequence[Own] = ()
) -> list[Problem]:
    """Problems of a search, whose measure may be user-defined."""

    def problem(name: str, message: str, help_: str | None = None) -> Problem:
        return Problem(f"search.{name}", message, help_, None, None, None)

    problems = []
    if not isinstance(search.setting, str):
        problems.append(
            problem("setting", f"`search.setting` is {quoted(search.setting)}", "it is the name of a setting")
        )
    if found := wrong(search.measure, [one.name for one in own]):
        problems.append(problem("measure", *found))
    elif search.direction is None:
        help_ = "set `search.direction` to maximize or minimize"
        problems.append(problem("direction", f"{search.measure} has no better direction", help_))
    if search.direction is not None and not (isinstance(search.direction, str) and search.direction in DIRECTIONS):
        message = f"`search.direction` cannot be {quoted(search.direction)}"
        problems.append(problem("direction", message, f"known: {', '.join(DIRECTIONS)}"))
    if not is_whole(search.max_points, GRID + 1):
        message = f"`search.max_points`: {not_whole(search.max_points, GRID + 1)}"
        problems.append(problem("max_points", message))
    if not is_whole(search.max_runs, 2):
        problems.append(problem("max_runs", f"`search.max_runs`: {not_whole(search.max_runs, 2)}"))
    units = set()
    for name, value in (("low", search.low), ("high", search.high), ("resolution", search.resolution)):
        try:
            units.add(_number(value)[1])
        except ValueError:
            problems.append(problem(name, f"`search.{name}` is not a number with or without unit: {quoted(value)}"))
    if problems:
        return problems
    if len(units) > 1:
        given = ((n, v) for n, v in (("low", search.low), ("high", search.high), ("resolution", search.resolution)))
        units_of = ", ".join(f"`search.{n}` {_number(v)[1] or 'none'}" for n, v in given)
        help_ = "use the same unit for all three; the default resolution is 1, without a unit"
        return [problem("low", f"`search` mixes units: {units_of}", help_)]
    if _number(search.resolution)[0] <= 0:
        return [problem("resolution", "`search.resolution` must be more than 0")]
    if search.steps < 1:
        return [problem("high", "`search.high` must be at least one `search.resolution` above `search.low`")]
    for name in points[0].labels if points else ():
        if overlap(search.setting, name):
            return [problem("setting", f"`{name}` is also an axis")]
    for case, changes in (cases or {}).items():
        if any(overlap(search.setting, name) for name in settings_in(changes)):
            return [problem("setting", f"`{search.setting}` is also set by the case `{case}`")]
    messages: dict[str, Problem] = {}
    for point in points:
        for name, step in (("low", 0), ("high", search.steps)):
            try:
                point.scenario.with_settings({search.setting: search.value(step)})
            except ScenarioError as e:
                for p in e.problems:
                    messages.setdefault(p.message, problem(name, p.message, p.help))
    return list(messages.values())


def _number(value: object) -> tuple[Decimal, str]:
    """Number and unit of a value."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise ValueError(value)
    text = str(value)
    match = re.fullmatch(r"\s*([-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)\s*(.*?)\s*", text) if len(text) < _LONG else None
    try:
        number = Decimal(match[1]) if match else Decimal("nan")
    except InvalidOperation:
        raise ValueError(value) from None
    # Within these limits steps are exact: decimals have 28 digits.
    if match is None or (number and abs(number.adjusted()) > _EXACT):
        raise ValueError(value)
    return number, match[2]
