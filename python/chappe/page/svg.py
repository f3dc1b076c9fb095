"""Plots of a report of a study, as SVG: text for screen readers, print and themes, and no library."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from chappe import text as show

_WIDTH, _HEIGHT = 460, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 66, 14, 26, 46
_TICKS = 5
_ARM = 4
_FEW = 12
"""Values of the x axis that are all labeled, and points of a curve that have marks of their own shape."""

_MARKED = 400
"""Points of a plot at most that have marks with texts."""

SHAPES = 6
"""Different marks: color alone does not tell curves apart."""


class Point(NamedTuple):
    """A point of a curve.

    Attributes:
        x: Its place.
        y: Its estimate.
        low: Lower end of the interval; ``None`` if it is not known.
        high: Upper end.
        text: What it says.
    """

    x: float
    y: float
    low: float | None
    high: float | None
    text: str


class Curve(NamedTuple):
    """A curve of a plot.

    Attributes:
        label: Its name.
        group: Number of its color and mark.
        points: Its points, by their place.
    """

    label: str
    group: int
    points: Sequence[Point]


def plot(
    curves: Sequence[Curve], *, title: str, x_label: str, y_label: str, words: Mapping[float, str], connected: bool
) -> str:
    """A plot of curves with their intervals.

    Args:
        curves: The curves.
        title: Text above it.
        x_label: Text below the x axis.
        y_label: Text of the y axis.
        words: Texts of places of the x axis; without any, the axis has numbers.
        connected: True if lines connect the points of a curve.
    """
    every = [point for curve in curves for point in curve.points]
    xs = [point.x for point in every] or [0.0]
    ends = [end for p in every for end in (p.y, p.low, p.high) if end is not None and math.isfinite(end)] or [0.0]
    low, high = min(xs), max(xs)
    pad = (high - low) * 0.06 or 0.5
    x_of = _scale(low - pad, high + pad, _LEFT, _WIDTH - _RIGHT)
    # Zero belongs to the axis unless all values are far from it.
    bottom = min(0.0, *ends) if min(ends) < 0.5 * max(ends) else min(ends) - 0.1 * (max(ends) - min(ends))
    y_ticks = ticks(bottom, max(ends))
    y_of = _scale(min(bottom, y_ticks[0]), max(y_ticks[-1], *ends), _HEIGHT - _BOTTOM, _TOP)
    x_ticks = dict(sorted(words.items())) if words else _numbers(xs, low, high)
    body = [f"<title>{escape(title)}: {escape(y_label)} over {escape(x_label)}</title>"]
    for y in y_ticks:
        body.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y_of(y):.1f}" y2="{y_of(y):.1f}"/>')
        body.append(f'<text x="{_LEFT - 6}" y="{y_of(y) + 4:.1f}" text-anchor="end">{escape(_tick(y, y_ticks))}</text>')
    step = max(1, math.ceil(len(x_ticks) / _FEW))
    for n, (x, text) in enumerate(x_ticks.items()):
        if n % step == 0:
            place = f'x="{x_of(x):.1f}" y="{_HEIGHT - _BOTTOM + 16}"'
            body.append(f'<text {place} text-anchor="middle">{escape(_short(text, len(x_ticks)))}</text>')
    body.append(f'<path class="axis" d="M{_LEFT} {_TOP}V{_HEIGHT - _BOTTOM}H{_WIDTH - _RIGHT}"/>')
    body += [_curve(curve, x_of, y_of, connected, len(curves)) for curve in curves]
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    body.append(f'<text class="label" x="{middle:.0f}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(x_label)}</text>')
    body.append(f'<text class="label" x="{_LEFT - 58}" y="14">{escape(y_label)}</text>')
    body.append(f'<text class="label" x="{_WIDTH - _RIGHT}" y="14" text-anchor="end">{escape(title)}</text>')
    return f'<svg class="plot" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">{"".join(body)}</svg>'


def mark(group: int, x: float, y: float) -> str:
    """Mark of a group, whose shape differs from those of its neighbors."""
    shapes = (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>',
        f'<path d="M{x - 3.4:.1f} {y - 3.4:.1f}h6.8v6.8h-6.8z"/>',
        f'<path d="M{x:.1f} {y - 4.5:.1f}l4.2 7.4h-8.4z"/>',
        f'<path d="M{x:.1f} {y - 5:.1f}l4.6 5l-4.6 5l-4.6-5z"/>',
        f'<path d="M{x:.1f} {y + 4.5:.1f}l4.2-7.4h-8.4z"/>',
        f'<path class="open" d="M{x - 3.6:.1f} {y - 3.6:.1f}l7.2 7.2m0-7.2l-7.2 7.2"/>',
    )
    return shapes[group % SHAPES]


def _curve(curve: Curve, x_of: Any, y_of: Any, connected: bool, curves: int) -> str:
    points = [p for p in curve.points if math.isfinite(p.y)]
    if len(points) * curves > _MARKED:
        return _grouped(curve, _many(points, x_of, y_of, connected))
    parts = []
    if connected and len(points) > 1:
        line = "L".join(f"{x_of(p.x):.1f} {y_of(p.y):.1f}" for p in points)
        parts.append(f'<path class="line" d="M{line}"/>')
    bars = [
        f"M{x_of(p.x):.1f} {y_of(p.low):.1f}V{y_of(p.high):.1f}"
        f"M{x_of(p.x) - _ARM:.1f} {y_of(p.low):.1f}h{2 * _ARM}M{x_of(p.x) - _ARM:.1f} {y_of(p.high):.1f}h{2 * _ARM}"
        for p in points
        if p.low is not None and p.high is not None
    ]
    if bars:
        parts.append(f'<path class="bar" d="{"".join(bars)}"/>')
    for p in points:
        shape = mark(curve.group, x_of(p.x), y_of(p.y))
        parts.append(f'<g class="point"><title>{escape(p.text)}</title>{shape}</g>')
    return _grouped(curve, "".join(parts))


def _grouped(curve: Curve, parts: str) -> str:
    return f'<g class="curve c{curve.group % 8}" data-group="{curve.group}">{parts}</g>'


def _many(points: Sequence[Point], x_of: Any, y_of: Any, connected: bool) -> str:
    """Many points: dots without texts, because the table has their numbers, over the band or the bars of intervals."""
    known = [p for p in points if p.low is not None and p.high is not None]
    parts = []
    if connected and known:
        above = "L".join(f"{x_of(p.x):.1f} {y_of(p.high):.1f}" for p in known)
        below = "L".join(f"{x_of(p.x):.1f} {y_of(p.low):.1f}" for p in reversed(known))
        parts.append(f'<path class="band" d="M{above}L{below}Z"/>')
    elif known:
        bars = "".join(f"M{x_of(p.x):.1f} {y_of(p.low):.1f}V{y_of(p.high):.1f}" for p in known)
        parts.append(f'<path class="bar" d="{bars}"/>')
    dots = "".join(f"M{x_of(p.x):.1f} {y_of(p.y):.1f}h0" for p in points)
    return "".join([*parts, f'<path class="dots" d="{dots}"/>'])


def _scale(low: float, high: float, first: float, last: float) -> Any:
    span = high - low or 1.0

    def of(value: float) -> float:
        return first + (value - low) / span * (last - first)

    return of


def ticks(low: float, high: float) -> list[float]:
    """Round numbers from the one at or below ``low`` to the one at or above ``high``."""
    span = high - low or abs(high) or 1.0
    rough = span / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [n * step for n in range(first, max(last, first + 1) + 1)]


def _tick(value: float, every: Sequence[float]) -> str:
    step = every[1] - every[0]
    return f"{value + 0.0:,.{max(0, -math.floor(math.log10(step) + 1e-9))}f}"


def _numbers(xs: Sequence[float], low: float, high: float) -> dict[float, str]:
    values = sorted(set(xs))
    if len(values) <= _FEW:
        return {x: f"{x:g}" for x in values}
    return {x: f"{x:g}" for x in ticks(low, high) if low <= x <= high}


def _short(text: str, many: int) -> str:
    most = max(6, 60 // max(1, min(many, _FEW)))
    return text if len(text) <= most else f"{text[: most - 1]}…"


def with_interval(row: Mapping[str, Any], scale: float, unit: str) -> str:
    """Estimate of a row with its interval and unit."""
    return f"{show.estimate(row, scale)} {unit}".strip()
