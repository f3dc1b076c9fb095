"""Figures of a study: a measure over an axis, with the intervals of the summary."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from chappe import plot
from chappe._common.arguments import quoted
from chappe.measures import measure_of
from chappe.study.analysis.analysis import no_axis

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CURVES = len(plot.COLORS)
"""Largest number of curves of a panel, which have different colors."""

TICKS = 12
"""Largest number of values of the x axis that are all labeled."""

_QUANTITY = re.compile(r"([-+]?[0-9.]+(?:e[-+]?[0-9]+)?) *([A-Za-z%].*)")


def figure(
    rows: pl.DataFrame, axes: Sequence[str], x: str, *, by: str | None, across: str | None, where: Mapping[str, Any]
) -> "Figure":
    """Plots the summary of one measure, or of several, each in a panel.

    Args:
        rows: Summary of the measures.
        axes: Axes of the study.
        x: Axis of the x values.
        by: Axis with a curve for each value; ``None``: one curve.
        across: Axis with a panel for each value; ``None``: one panel for each measure.
        where: Values of other axes.

    Raises:
        ValueError: If an axis or a value is unknown or has no place in the figure, or the figure is too large.
    """
    drawn = [name for name in (x, by, across) if name is not None]
    for name in (*drawn, *where):
        if name not in axes:
            raise ValueError(no_axis(name, dict.fromkeys(axes)))
    if twice := next((name for name in drawn if [*drawn, *where].count(name) > 1), None):
        raise ValueError(f"{quoted(twice)} has two places in the figure: x, by, across and where name different axes")
    for name, value in where.items():
        known = _values(rows, name)
        if value not in known:
            raise ValueError(f"no point has {name} = {quoted(value)}; known: {', '.join(map(str, known))}")
        rows = rows.filter(pl.col(name) == value)
    if rows.is_empty():
        raise ValueError("the measure is undefined at all of these points")
    if free := [name for name in axes if name not in drawn and len(_values(rows, name)) > 1]:
        value = _values(rows, free[0])[0]
        raise ValueError(
            f"the points differ in {', '.join(free)}, too, and a figure takes no mean over an axis: give a value of "
            f"each, such as where={{{free[0]!r}: {value!r}}}, or draw it with by= or across="
        )
    measures = _values(rows, "measure")
    if len(measures) > 1 and across is not None:
        raise ValueError(f"several measures have a panel each: plot one of them across {across}")
    groups = _values(rows, by) if by is not None else [None]
    panel_of = "measure" if across is None else across
    parts = _values(rows, panel_of)
    if len(groups) > CURVES or len(parts) > plot.PANELS:
        raise ValueError(
            f"a figure has at most {CURVES} curves in each of {plot.PANELS} panels, and this one would have "
            f"{len(groups)} in {len(parts)}: choose values with where=, or draw other axes"
        )
    values = _values(rows, x)
    places, unit = places_of(values)
    panels = []
    for part in parts:
        of_part = rows.filter(pl.col(panel_of) == part)
        m = measure_of(of_part["measure"][0])
        curves = []
        for number, group in enumerate(groups):
            of_group = of_part if by is None else of_part.filter(pl.col(by) == group)
            label = str(group) if by is not None else m.label if len(measures) == 1 else "estimate"
            curves.append(_curve(of_group, x, places, m.scale, label, number))
        panels.append(
            plot.Panel(
                curves,
                f"{x} [{unit}]" if unit else x,
                f"{m.label} [{m.unit}]" if m.unit else m.label,
                "" if across is None else f"{across} = {part}",
                sorted(places.values()) if len(places) <= TICKS else None,
                None if unit is not None else [str(v) for v in values],
                None,
            )
        )
    fixed = [f"{name} = {rows[name][0]}" for name in axes if name not in drawn]
    label = " and ".join(measure_of(name).label for name in measures)
    what = label if by is None else f"{label} by {by}"
    return plot.draw(panels, title=", ".join([f"{what} (95 % intervals)", *fixed]))


def _curve(rows: pl.DataFrame, x: str, places: Mapping[Any, float], scale: float, label: str, group: int) -> plot.Curve:
    points = []
    for row in rows.iter_rows(named=True):
        y, low, high = (float("nan") if row[c] is None else scale * row[c] for c in ("estimate", "ci_low", "ci_high"))
        points.append((places[row[x]], y, (y - low, high - y)))
    points.sort(key=lambda point: point[0])
    return plot.Curve(label, [p[0] for p in points], [p[1] for p in points], [p[2] for p in points], group)


def _values(rows: pl.DataFrame, axis: str) -> list[Any]:
    """Values of an axis in the order of the study."""
    return rows[axis].unique(maintain_order=True).to_list()


def places_of(values: Sequence[Any]) -> tuple[dict[Any, float], str | None]:
    """Place of each value on the x axis, and the unit of the axis; ``None`` for words, which are in a row."""
    if all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        return {v: float(v) for v in values}, ""
    found = [_QUANTITY.fullmatch(v) if isinstance(v, str) else None for v in values]
    units = {match[2] if match else None for match in found}
    if len(units) == 1 and None not in units:
        return {v: float(match[1]) for v, match in zip(values, found, strict=True) if match}, units.pop()
    return {v: float(n) for n, v in enumerate(values)}, None
