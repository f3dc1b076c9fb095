"""Search for the best value of a setting, by a grid that is refined around the best value."""

import contextlib
import math
import re
from collections.abc import Sequence
from dataclasses import InitVar, dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from chappe._arguments import is_whole, not_whole, said
from chappe._deprecated import warn
from chappe._error import Problem, ScenarioError
from chappe.measures import DIRECTIONS, NAMES, OLD_DIRECTIONS, Direction, Totals, direction_of, hint, of_runs
from chappe.study._analysis import Sample, contrast, interval
from chappe.study._axes import Cases, Item, Point, overlap, settings_in
from chappe.study._stop import Design, Measured, UnknownError

GRID = 8
"""Parts of the interval of a round."""

_CONFIDENCE = 0.95

_LONG = 300
"""Longest text of a number [characters]."""

_EXACT = 12
"""Largest decimal exponent of a number, positive or negative."""


@dataclass(frozen=True)
class Search:
    """Definition of a search for the best value of a setting.

    Every round divides an interval into eight parts and measures at their ends, with the same seeds at each. The next
    interval spans the best value and the adjacent values that are not significantly worse (paired t test, 95 %), plus
    one neighbour on either side: noise widens the interval, but does not move it off the best value. The search ends if
    the parts reach the resolution, if a round does not narrow the interval, or at ``max_points``.

    Attributes:
        setting: Dotted name of the setting.
        low: Smallest value: a whole number, or a quantity such as ``"20 ms"``.
        high: Largest value, in the same unit.
        resolution: Distance of neighbouring values, in the same unit.
        measure: Name of the measure.
        direction: ``"maximize"`` or ``"minimize"``; ``None``: the better direction of the measure.
        max_points: Number of measured values after which no round begins.
        best: Deprecated: use ``direction``.
    """

    setting: str
    low: int | str
    high: int | str
    resolution: int | str = 1
    measure: str = "goodput_bps"
    direction: Direction | None = None
    max_points: int = 40
    best: InitVar[str | None] = None

    def __post_init__(self, best: str | None) -> None:
        """Fills in the better direction of the measure. Measures without any are refused at the start."""
        if best is not None:
            warn("the argument best", "direction='maximize' or direction='minimize'")
            new = {old: direction for direction, old in OLD_DIRECTIONS.items()}
            object.__setattr__(self, "direction", new.get(best, best))
        with contextlib.suppress(ValueError):
            object.__setattr__(self, "direction", direction_of(self.measure, self.direction))

    @property
    def stored(self) -> dict[str, Any]:
        """Rule as in ``study.json``, where the direction keeps its former word."""
        fields = {name: value for name, value in vars(self).items() if name not in ("direction", "max_points")}
        return {**fields, "best": OLD_DIRECTIONS[self.direction or "maximize"], "max_points": self.max_points}

    @property
    def steps(self) -> int:
        """Number of steps from the smallest value to the largest."""
        return int((_number(self.high)[0] - _number(self.low)[0]) / _number(self.resolution)[0])

    def value(self, step: int) -> int | str:
        """The value after a number of steps."""
        number, unit = _number(self.low)
        at = number + step * _number(self.resolution)[0]
        return f"{at.normalize():f} {unit}".strip() if unit or at % 1 else int(at)


def searching(points: Sequence[Point], seeds: Sequence[int], search: Search) -> Design:
    """Design of a search at each of the points."""

    def design(measured: Measured) -> list[Item]:
        items_of_all: list[Item] = []
        unknown: list[Item] = []
        for point in points:
            try:
                items_of_all += _at(point, seeds, search, measured)
            except UnknownError as e:
                unknown += e.items
        if unknown:
            raise UnknownError(unknown)
        return items_of_all

    return design


def _at(point: Point, seeds: Sequence[int], search: Search, measured: Measured) -> list[Item]:
    sign = 1 if search.direction == "maximize" else -1
    low, high = 0, search.steps
    items: dict[int, list[Item]] = {}
    while True:
        for step in sorted({low + round((high - low) * k / GRID) for k in range(GRID + 1)} - items.keys()):
            value = search.value(step)
            at_value = Point(
                {**point.labels, search.setting: value}, point.scenario.with_settings({search.setting: value})
            )
            items[step] = [Item(at_value, seed) for seed in seeds]
        steps = sorted(items)
        totals = measured([i for step in steps for i in items[step]])
        runs = {step: totals[k * len(seeds) : (k + 1) * len(seeds)] for k, step in enumerate(steps)}
        first, last = tied([_sample(seeds, runs[step]) for step in steps], sign)
        below, above = steps[max(first - 1, 0)], steps[min(last + 1, len(steps) - 1)]
        resolved = above - below < len([s for s in steps if below <= s <= above])
        if resolved or above - below >= high - low or len(steps) >= search.max_points:
            return [i for step in steps for i in items[step]]
        low, high = below, above


def _sample(seeds: Sequence[int], runs: Sequence[Totals | None]) -> Sample:
    if len(seeds) == 1 and runs[0] is not None:
        return Sample({}, None, runs[0])
    return Sample({}, list(seeds), of_runs(runs))


def tied(samples: Sequence[Sample], sign: int) -> tuple[int, int]:
    """First and last of the adjacent samples around the best that are not significantly worse.

    Args:
        samples: Samples in the order of their values.
        sign: 1 when the highest mean is best, -1 when the lowest is.
    """
    means = [sign * s.together.value for s in samples]
    means = [-math.inf if math.isnan(m) else m for m in means]
    first = last = best = means.index(max(means))

    def worse(n: int) -> bool:
        return contrast(samples[best], samples[n])[0].p < 1 - _CONFIDENCE

    while first > 0 and not worse(first - 1):
        first -= 1
    while last < len(samples) - 1 and not worse(last + 1):
        last += 1
    return first, last


def curve(samples: Sequence[Sample], setting: str, direction: str) -> list[dict[str, Any]]:
    """Rows of a search: one per value, in order, for each combination of the axes."""
    sign = 1 if direction == "maximize" else -1
    groups: dict[tuple[Any, ...], list[Sample]] = {}
    for s in samples:
        groups.setdefault(tuple(v for k, v in s.labels.items() if k != setting), []).append(s)
    rows = []
    for group in groups.values():
        group.sort(key=lambda s: _number(s.labels[setting])[0])
        first, last = tied(group, sign)
        means = [s.estimate for s in group]
        highest = max((sign * e.mean for e in means if not math.isnan(e.mean)), default=math.nan)
        for n, (s, e) in enumerate(zip(group, means, strict=True)):
            labels = {k: v for k, v in s.labels.items() if k != setting} | {setting: s.labels[setting]}
            marks = {"is_best": sign * e.mean == highest, "is_tied": first <= n <= last}
            rows.append({**labels, **interval(e, _CONFIDENCE), "n": int(e.df) + 1, **marks})
    return rows


def problems_of_search(search: Search, points: Sequence[Point], cases: Cases | None = None) -> list[Problem]:
    """Problems of a search."""

    def problem(name: str, message: str, help_: str | None = None) -> Problem:
        return Problem(f"search.{name}", message, help_, None, None, None)

    problems = []
    if not isinstance(search.setting, str):
        problems.append(
            problem("setting", f"`search.setting` is {said(search.setting)}", "it is the name of a setting")
        )
    if not isinstance(search.measure, str) or search.measure not in NAMES:
        problems.append(problem("measure", f"there is no measure {said(search.measure)}", hint(search.measure)))
    elif search.direction is None:
        help_ = "set `search.direction` to maximize or minimize"
        problems.append(problem("direction", f"{search.measure} has no better direction", help_))
    if search.direction is not None and not (isinstance(search.direction, str) and search.direction in DIRECTIONS):
        message = f"`search.direction` cannot be {said(search.direction)}"
        problems.append(problem("direction", message, f"known: {', '.join(DIRECTIONS)}"))
    if not is_whole(search.max_points, GRID + 1):
        message = f"`search.max_points`: {not_whole(search.max_points, GRID + 1)}"
        problems.append(problem("max_points", message))
    units = set()
    for name, value in (("low", search.low), ("high", search.high), ("resolution", search.resolution)):
        try:
            units.add(_number(value)[1])
        except ValueError:
            problems.append(problem(name, f"`search.{name}` is not a number with or without unit: {said(value)}"))
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
