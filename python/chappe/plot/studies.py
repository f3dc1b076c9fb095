"""Figures of a study: a measure over an axis, or differences from a baseline, with their intervals."""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from chappe import plot
from chappe._common.arguments import quoted
from chappe.measures import measure_of
from chappe.study.analysis.analysis import no_axis
from chappe.text.labels import Labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CURVES = len(plot.COLORS)
"""Largest number of curves of a panel, which have different colors."""

WIDEST_IN = 40
"""Largest width of a figure [in]."""

TICKS = 12
"""Largest number of values of the x axis that are all labeled."""


@dataclass(frozen=True)
class Look:
    """Labels, title and width of a figure.

    Attributes:
        labels: Words for settings and values.
        title: Title; ``None``: what is shown; empty: none.
        width_in: Width [in]; ``None``: that of :func:`chappe.plot.draw`.
    """

    labels: Labels = field(default_factory=Labels)
    title: str | None = None
    width_in: float | None = None

    def __post_init__(self) -> None:
        """Checks the title and the width.

        Raises:
            TypeError: If the title is no text, or the width no number.
            ValueError: If the width is not from 1 to 40 in.
        """
        if not isinstance(self.title, str | None):
            raise TypeError(f"title is a text, not {quoted(self.title)}")
        if isinstance(self.width_in, bool) or not isinstance(self.width_in, int | float | None):
            raise TypeError(f"width_in is a number of inches, not {quoted(self.width_in)}")
        if self.width_in is not None and not 1 <= self.width_in <= WIDEST_IN:
            raise ValueError(f"width_in is from 1 to {WIDEST_IN} in, not {quoted(self.width_in)}")

    def drawn(self, panels: Sequence[plot.Panel], title: str) -> "Figure":
        """The figure.

        Raises:
            ValueError: If a label is for nothing in it.
        """
        self.labels.refuse_unused()
        return plot.draw(panels, title=title if self.title is None else self.title, width_in=self.width_in)


_QUANTITY = re.compile(r"([-+]?[0-9.]+(?:e[-+]?[0-9]+)?) *([A-Za-z%].*)")


def figure(
    rows: pl.DataFrame,
    axes: Sequence[str],
    x: str,
    *,
    by: str | None,
    across: str | None,
    where: Mapping[str, Any],
    look: Look,
) -> "Figure":
    """Plots the summary of one measure, or of several, each in a panel.

    Args:
        rows: Summary of the measures.
        axes: Axes of the study.
        x: Axis of the x values.
        by: Axis with a curve for each value; ``None``: one curve.
        across: Axis with a panel for each value; ``None``: one panel for each measure.
        where: Values of other axes.
        look: Labels, title and width.

    Raises:
        ValueError: If an axis, a value or a label is unknown or has no place in the figure, or the figure is too large.
    """
    labels = look.labels
    rows = chosen(rows, axes, [name for name in (x, by, across) if name is not None], where)
    measures = _values(rows, "measure")
    if len(measures) > 1 and across is not None:
        raise ValueError(f"several measures have a panel each: plot one of them across {across}")
    groups = _values(rows, by) if by is not None else [None]
    panel_of = "measure" if across is None else across
    parts = _values(rows, panel_of)
    _refuse_many(groups, parts)
    ends = ("estimate", "ci_low", "ci_high")
    panels = []
    for part in parts:
        of_part = rows.filter(pl.col(panel_of) == part)
        m = measure_of(of_part["measure"][0])
        curves = []
        for number, group in enumerate(groups):
            of_group = of_part if by is None else of_part.filter(pl.col(by) == group)
            label = labels.value(group) if by is not None else m.label if len(measures) == 1 else "estimate"
            curves.append(_curve(of_group, x, _values(rows, x), ends, m.scale, label, number))
        title = "" if across is None else f"{labels.setting(across)} = {labels.value(part)}"
        panels.append(
            _panel(curves, x, _values(rows, x), f"{m.label} [{m.unit}]" if m.unit else m.label, title, labels)
        )
    label = " and ".join(measure_of(name).label for name in measures)
    what = label if by is None else f"{label} by {labels.setting(by)}"
    fixed = _fixed(rows, axes, (x, by, across), labels)
    return look.drawn(panels, ", ".join([f"{what} (95 % intervals)", *fixed]))


def differences(
    rows: pl.DataFrame,
    measure: str,
    axes: Sequence[str],
    *,
    by: str,
    x: str | None,
    where: Mapping[str, Any],
    within: float,
    look: Look,
) -> "Figure":
    """Plots the differences of the values of an axis from one of them, and the zone in which they are the same.

    Args:
        rows: Comparison of the values of ``by`` with the baseline.
        measure: Measure that is compared.
        axes: Axes of the study.
        by: The axis that is compared.
        x: Axis of the x values, with a color for each value of ``by``; ``None``: the values of ``by``.
        where: Values of other axes.
        within: Relative difference up to which values are the same.
        look: Labels, title and width.

    Raises:
        ValueError: As in :func:`figure`.
    """
    labels = look.labels
    rows = chosen(rows, axes, list(dict.fromkeys(name for name in (x, by) if name is not None)), where)
    groups = _values(rows, by) if x is not None else [None]
    _refuse_many(groups, [None])
    along = x or by
    ends = ("relative", "relative_ci_low", "relative_ci_high")
    curves = []
    for number, group in enumerate(groups):
        of_group = rows if group is None else rows.filter(pl.col(by) == group)
        label = "difference" if group is None else labels.value(group)
        curves.append(_curve(of_group, along, _values(rows, along), ends, 100.0, label, number))
    m = measure_of(measure)
    baseline = labels.value(rows["baseline"][0])
    y_label = f"{m.label}: difference [%]"
    curves = _beside(curves)
    band = (-100 * within, 100 * within, f"the same as {baseline} within {100 * within:g} %")
    panel = _panel(curves, along, _values(rows, along), y_label, "", labels, band)
    fixed = _fixed(rows, axes, (x, by), labels)
    what = f"{m.label} compared with {labels.setting(by)} = {baseline} (95 % intervals together)"
    return look.drawn([panel], ", ".join([what, *fixed]))


def chosen(rows: pl.DataFrame, axes: Sequence[str], drawn: Sequence[str], where: Mapping[str, Any]) -> pl.DataFrame:
    """Rows of a figure, which differ in the axes that are drawn only.

    Raises:
        ValueError: If an axis or a value is unknown, or points differ in other axes, too.
    """
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
    return rows


def _refuse_many(groups: Sequence[Any], parts: Sequence[Any]) -> None:
    if len(groups) > CURVES or len(parts) > plot.PANELS:
        raise ValueError(
            f"a figure has at most {CURVES} curves in each of {plot.PANELS} panels, and this one would have "
            f"{len(groups)} in {len(parts)}: choose values with where=, or draw other axes"
        )


def _panel(
    curves: Sequence[plot.Curve],
    x: str,
    values: Sequence[Any],
    y_label: str,
    title: str,
    labels: Labels,
    band: tuple[float, float, str] | None = None,
) -> plot.Panel:
    """A panel over an axis, whose values are numbers, quantities of one unit, or words in a row."""
    places, unit = places_of(values)
    x_label = labels.setting(x)
    return plot.Panel(
        curves,
        f"{x_label} [{unit}]" if unit else x_label,
        y_label,
        title,
        sorted(places.values()) if len(places) <= TICKS else None,
        None if unit is not None else [labels.value(v) for v in values],
        None,
        band=band,
    )


def _beside(curves: Sequence[plot.Curve]) -> list[plot.Curve]:
    """Curves whose points stand beside each other, so that their intervals can be told apart."""
    places = sorted({x for c in curves for x in c.x})
    nearest = min((b - a for a, b in itertools.pairwise(places)), default=1.0)
    step = 0.4 * nearest / len(curves)
    return [replace(c, x=[x + (n - (len(curves) - 1) / 2) * step for x in c.x]) for n, c in enumerate(curves)]


def _fixed(rows: pl.DataFrame, axes: Sequence[str], drawn: Sequence[str | None], labels: Labels) -> list[str]:
    """Axes that are not drawn, with their values."""
    return [f"{labels.setting(name)} = {labels.value(rows[name][0])}" for name in axes if name not in drawn]


def _curve(
    rows: pl.DataFrame, x: str, values: Sequence[Any], ends: Sequence[str], scale: float, label: str, group: int
) -> plot.Curve:
    """A curve through estimates with both ends of their intervals, which have these columns."""
    places, _ = places_of(values)
    points = []
    for row in rows.iter_rows(named=True):
        y, low, high = (float("nan") if row[c] is None else scale * row[c] for c in ends)
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
