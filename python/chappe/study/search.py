"""The best value of one setting: a grid that is refined where the best may be."""

import contextlib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from chappe.arguments import is_whole, not_whole, said
from chappe.error import Problem, ScenarioError
from chappe.measures import ENDS, NAMES, Totals, best_of, hint, of_runs
from chappe.study.analysis import Sample, contrast
from chappe.study.axes import Cases, Item, Point, overlap, settings_in
from chappe.study.stop import Design, Measured, UnknownError

GRID = 8
"""The number of parts into which a round divides its interval."""

_CONFIDENCE = 0.95

_LONG = 300
"""No number has more digits."""

_EXACT = 12
"""The most digits of a number before its point, and the most zeros behind it."""


@dataclass(frozen=True)
class Search:
    """Which value of a setting is best.

    Every round divides an interval into eight parts and measures at their ends, at each with the same seeds. The next
    interval goes from the neighbour below to the neighbour above of the values that are not significantly worse than
    the best (paired t test, 95 %) and stand beside it: noise makes it wide, never wrong. The search ends when the
    parts have the size of the resolution, when a round does not narrow the interval, or at ``max_points``.

    Attributes:
        setting: Dotted name of the setting.
        low: Smallest value: a whole number, or a quantity such as ``"20 ms"``.
        high: Largest value, in the same unit.
        resolution: Distance of neighbouring values, in the same unit.
        measure: The measure.
        best: ``"highest"`` or ``"lowest"``; ``None``: as the measure says (:class:`chappe.results.Measure`).
        max_points: A round is not begun when this number of values has been measured.
    """

    setting: str
    low: int | str
    high: int | str
    resolution: int | str = 1
    measure: str = "goodput_bps"
    best: str | None = None
    max_points: int = 40

    def __post_init__(self) -> None:
        """Asks the measure which end is best. Where it knows none, the search is refused when it begins."""
        with contextlib.suppress(ValueError):
            object.__setattr__(self, "best", best_of(self.measure, self.best))

    @property
    def steps(self) -> int:
        """Steps of the resolution from the smallest value to the largest."""
        return int((_number(self.high)[0] - _number(self.low)[0]) / _number(self.resolution)[0])

    def value(self, step: int) -> int | str:
        """The value after a number of steps."""
        number, unit = _number(self.low)
        at = number + step * _number(self.resolution)[0]
        return f"{at.normalize():f} {unit}".strip() if unit or at % 1 else int(at)


def searching(points: Sequence[Point], seeds: Sequence[int], search: Search) -> Design:
    """The search at each of these points."""

    def design(measured: Measured) -> list[Item]:
        found: list[Item] = []
        unknown: list[Item] = []
        for point in points:
            try:
                found += _at(point, seeds, search, measured)
            except UnknownError as e:
                unknown += e.items
        if unknown:
            raise UnknownError(unknown)
        return found

    return design


def _at(point: Point, seeds: Sequence[int], search: Search, measured: Measured) -> list[Item]:
    sign = 1 if search.best == "highest" else -1
    low, high = 0, search.steps
    items: dict[int, list[Item]] = {}
    while True:
        for step in sorted({low + round((high - low) * k / GRID) for k in range(GRID + 1)} - items.keys()):
            value = search.value(step)
            made = Point({**point.labels, search.setting: value}, point.scenario.with_({search.setting: value}))
            items[step] = [Item(made, seed) for seed in seeds]
        steps = sorted(items)
        found = measured([i for step in steps for i in items[step]])
        runs = {step: found[k * len(seeds) : (k + 1) * len(seeds)] for k, step in enumerate(steps)}
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
    """The first and the last of the samples around the best that are not significantly worse than it.

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


def curve(samples: Sequence[Sample], setting: str, best: str) -> list[dict[str, Any]]:
    """What a search measured: a row per value, in order, for each combination of the axes."""
    sign = 1 if best == "highest" else -1
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
            is_best = sign * e.mean == highest
            rows.append(
                {**labels, "mean": e.mean, "half_width": e.half_width(), "n": int(e.df) + 1, "best": is_best}
                | {"tied": first <= n <= last}
            )
    return rows


def problems_of_search(search: Search, points: Sequence[Point], cases: Cases | None = None) -> list[Problem]:
    """What is wrong with a search."""

    def problem(name: str, message: str, help_: str | None = None) -> Problem:
        return Problem(f"search.{name}", message, help_, None, None, None)

    found = []
    if not isinstance(search.setting, str):
        found.append(problem("setting", f"`search.setting` is {said(search.setting)}", "it is the name of a setting"))
    if not isinstance(search.measure, str) or search.measure not in NAMES:
        found.append(problem("measure", f"there is no measure {said(search.measure)}", hint(search.measure)))
    elif search.best is None:
        found.append(
            problem(
                "best",
                f"neither end of {search.measure} is better by itself",
                "`search.best` says which: highest or lowest",
            )
        )
    if search.best is not None and not (isinstance(search.best, str) and search.best in ENDS):
        found.append(problem("best", f"`search.best` cannot be {said(search.best)}", f"known: {', '.join(ENDS)}"))
    if not is_whole(search.max_points, GRID + 1):
        message = f"`search.max_points`: {not_whole(search.max_points, GRID + 1)}"
        found.append(problem("max_points", message))
    units = set()
    for name, value in (("from", search.low), ("to", search.high), ("resolution", search.resolution)):
        try:
            units.add(_number(value)[1])
        except ValueError:
            found.append(problem(name, f"`search.{name}` is not a number with or without unit: {said(value)}"))
    if found:
        return found
    if len(units) > 1:
        given = ((n, v) for n, v in (("from", search.low), ("to", search.high), ("resolution", search.resolution)))
        units_of = ", ".join(f"`search.{n}` {_number(v)[1] or 'none'}" for n, v in given)
        help_ = "give all three the same unit; the resolution is 1 without a unit unless it is said"
        return [problem("from", f"`search` mixes units: {units_of}", help_)]
    if _number(search.resolution)[0] <= 0:
        return [problem("resolution", "`search.resolution` must be more than 0")]
    if search.steps < 1:
        return [problem("to", "`search.to` must be at least one `search.resolution` above `search.from`")]
    for name in points[0].labels if points else ():
        if overlap(search.setting, name):
            return [problem("setting", f"`{name}` is an axis, too")]
    for case, changes in (cases or {}).items():
        if any(overlap(search.setting, name) for name in settings_in(changes)):
            return [problem("setting", f"`{search.setting}` is set by the case `{case}`, too")]
    messages: dict[str, Problem] = {}
    for point in points:
        for name, step in (("from", 0), ("to", search.steps)):
            try:
                point.scenario.with_({search.setting: search.value(step)})
            except ScenarioError as e:
                for p in e.problems:
                    messages.setdefault(p.message, problem(name, p.message, p.help))
    return list(messages.values())


def _number(value: object) -> tuple[Decimal, str]:
    """A number and its unit."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise ValueError(value)
    text = str(value)
    match = re.fullmatch(r"\s*([-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)\s*(.*?)\s*", text) if len(text) < _LONG else None
    try:
        number = Decimal(match[1]) if match else Decimal("nan")
    except InvalidOperation:
        raise ValueError(value) from None
    # Between these steps are exact: 28 digits are.
    if match is None or (number and abs(number.adjusted()) > _EXACT):
        raise ValueError(value)
    return number, match[2]
