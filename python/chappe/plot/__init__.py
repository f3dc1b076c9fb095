"""Figures of publication quality."""

import io
import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from chappe._common.files import write_file
from chappe._common.outputs import MARK
from chappe.measures import MEASURES

# Functions import matplotlib themselves: matplotlib takes longer to load than most commands take to run.
if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from chappe.study import Study

FORMATS = ("pdf", "svg", "png")

PANELS = 12
"""Largest number of panels of a Welch plot."""

# Palettes of Okabe and Ito, and (the last five) of Tol, for all kinds of color vision.
COLORS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
    "#666666", "#8c6d31", "#332288", "#882255", "#44AA99", "#999933",
)  # fmt: skip
_WIDE_IN = 6.0
"""Narrower figures have one panel a row [in]."""

MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*", "<", ">", "h", "p")

STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "chappe",
}
"""Settings of matplotlib for all figures."""


@dataclass(frozen=True)
class Curve:
    """A line of a figure, or the bars of one color.

    Attributes:
        label: Name in the legend.
        x: x values; for bars positions from 0.
        y: y values.
        half_widths: Half widths of the intervals, or pairs of distances to their lower and upper ends.
        group: Number of the group; a group shares color and marker.
        reference: True for reference data: pale, dotted, with open markers.
        few: True for values from few runs, which are marked.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    half_widths: Sequence[float] | Sequence[tuple[float, float]]
    group: int
    reference: bool = False
    few: Sequence[bool] = ()


@dataclass(frozen=True)
class Mark:
    """A number of a paper: a point, or a band over all of the axes.

    Attributes:
        y: Lower and upper end.
        x: x value; ``None``: all of the x axis.
        label: Name in the legend.
        group: Group of curves that gives the color; ``None``: black.
    """

    y: tuple[float, float]
    x: float | None = None
    label: str = "the paper"
    group: int | None = None


@dataclass(frozen=True)
class Panel:
    """Axes with curves, starting at zero.

    Attributes:
        curves: Curves of the panel.
        x_label: Label of the x axis.
        y_label: Label of the y axis.
        title: Title of the panel.
        ticks: Labeled x values.
        names: Names of groups of bars, which replace lines; ``None``: lines.
        band: Ends of a band behind the curves, with its name in the legend; ``None``: none. With it there are points in
            place of lines and bars.
        left: Left end of the x axis of lines; ``None``: a little below the first value.
        log_from: Start of the logarithmic part of the x axis, which is linear from 0 to there.
    """

    curves: Sequence[Curve]
    x_label: str
    y_label: str
    title: str = ""
    ticks: Sequence[float] | None = None
    names: Sequence[str] | None = None
    left: float | None = 0
    log_from: float | None = None
    marks: Sequence[Mark] = ()
    """Numbers of a paper."""
    log_y: bool = False
    """True for a logarithmic y axis, with zero at the lower end."""
    limits: tuple[float, float] | None = None
    """Ends of the x axis."""
    band: tuple[float, float, str] | None = None


def draw(panels: Sequence[Panel], *, title: str, reference: str = "", width_in: float | None = None) -> "Figure":
    """Plots one or more panels with 95 % intervals and a common legend.

    Args:
        panels: The panels, two per row, or one in a narrow figure.
        title: Title of the figure; empty: none.
        reference: Name of the reference data in the legend.
        width_in: Width of the figure [in]; ``None``: 6.4 for one panel, 10 for several.
    """
    import matplotlib as mpl
    from matplotlib.lines import Line2D

    from chappe.plot.figure import Figure

    with mpl.rc_context(STYLE):
        across = min(len(panels), 2 if width_in is None or width_in >= _WIDE_IN else 1)
        down = -(-len(panels) // across)
        wide = width_in or (6.4 if across == 1 else 10.0)
        high = 3.6 if width_in is None else max(1.8, 0.62 * wide / across)
        figure = Figure(figsize=(wide, 0.5 + high * down), layout="constrained")
        handles: dict[str, Any] = {}
        for i, panel in enumerate(panels):
            axes = figure.add_subplot(down, across, i + 1)
            has_bars = panel.names is not None and panel.band is None
            drawn = _bars(axes, panel) if has_bars else _lines(axes, panel)
            # Marks first: set_ylim below fixes the upper end of the y axis.
            handles |= drawn | _marks(axes, panel.marks)
            axes.set_xlabel(panel.x_label)
            axes.set_ylabel(panel.y_label)
            if panel.log_y:
                axes.set_yscale("log")
            elif panel.band is None and all(v >= 0 for c in panel.curves for v in c.y):
                axes.set_ylim(bottom=0)
            if panel.limits is not None:
                _within(axes, panel)
            if panel.title:
                axes.set_title(panel.title, loc="left", fontsize=8.5)
        if reference and any(c.reference and c.x for p in panels for c in p.curves):
            handles[reference] = Line2D([], [], color="#555555", marker="o", markerfacecolor="white", linestyle=":")
        if any(any(c.few) for p in panels for c in p.curves):
            handles["few runs"] = Line2D([], [], color="#999999", marker="o", markersize=9, fillstyle="none", ls="")
        # Wrapped, because matplotlib cuts off a title wider than the figure.
        lines = textwrap.wrap(title, max(20, int(12 * wide)))
        if lines:
            figure.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=9.5, fontweight="bold")
        # matplotlib cuts off a legend wider than the figure.
        widest = max(map(len, handles), default=1) + 6
        columns = max(1, min(len(handles), int(figure.get_figwidth() * 14.5 / widest)))
        figure.legend(handles.values(), handles.keys(), loc="outside lower left", ncols=columns, fontsize=8)
        if width_in is not None:
            rows = -(-len(handles) // columns)
            figure.set_figheight(figure.get_figheight() + 0.17 * (len(lines) + rows))
        return figure


def _within(axes: Any, panel: Panel) -> None:
    """Limits the x axis, and fits the y axis to the visible part of the curves."""
    assert panel.limits is not None
    low, high = panel.limits
    seen = [y for c in panel.curves for x, y in zip(c.x, c.y, strict=True) if low <= x <= high]
    places = sorted({x for c in panel.curves for x in c.x if low <= x <= high})
    axes.set_xticks(places, [f"{x:g}" for x in places])
    axes.set_xlim(low, high)
    if seen:
        margin = 0.06 * (max(seen) - min(seen)) or 0.06 * abs(max(seen)) or 1.0
        axes.set_ylim(min(seen) - margin, max(seen) + margin)


def _marks(axes: Any, marks: Sequence[Mark]) -> dict[str, Any]:
    """Plots numbers of a paper."""
    handles = {}
    for m in marks:
        low, high = m.y
        if m.x is None:
            handles[m.label] = axes.axhspan(low, high, color="#000000", alpha=0.10, zorder=1)
        else:
            middle = (low + high) / 2
            color = "black" if m.group is None else COLORS[m.group % len(COLORS)]
            handles[m.label] = axes.errorbar(
                [m.x], [middle], yerr=[[middle - low], [high - middle]], color=color, marker="*",
                markersize=12, markeredgecolor="black", linestyle="none", capsize=3, zorder=6,
            )  # fmt: skip
    return handles


def lines(curves: Sequence[Curve], *, x_label: str, y_label: str, title: str) -> "Figure":
    """Plots curves with 95 % intervals, on axes from zero."""
    return draw([Panel(curves, x_label, y_label)], title=title)


def _lines(axes: Any, panel: Panel) -> dict[str, Any]:
    handles = {}
    for c in panel.curves:
        color, marker = COLORS[c.group % len(COLORS)], MARKERS[c.group % len(MARKERS)]
        drawn = axes.errorbar(
            c.x,
            c.y,
            yerr=np.transpose(c.half_widths),
            color=color,
            marker=marker,
            markersize=4.5 if len(c.x) < 30 else 2.5,
            markerfacecolor="white" if c.reference else color,
            linestyle="none" if panel.band else ":" if c.reference else "-",
            linewidth=1.0 if c.reference else 1.4,
            capsize=2,
            elinewidth=0.9,
            alpha=0.75 if c.reference else 1.0,
            zorder=2 if c.reference else 3,
        )
        if c.x and not c.reference:
            handles[c.label] = drawn
        _ring(axes, c.x, c)
    if panel.band is not None:
        low, high, name = panel.band
        handles[name] = axes.axhspan(low, high, color="#000000", alpha=0.10, zorder=1)
        axes.axhline(0, color="#555555", linewidth=0.9, zorder=1)
        for c in panel.curves:
            for x, y, ends in zip(c.x, c.y, c.half_widths, strict=True):
                if not np.isfinite(np.asarray(ends, dtype=float)).all():
                    axes.annotate("no interval", (x, y), (5, 0), textcoords="offset points", fontsize=6, va="center")
    if panel.log_from is not None:
        axes.set_xscale("symlog", linthresh=panel.log_from, linscale=0.5)
        axes.minorticks_off()
    if panel.left is not None:
        axes.set_xlim(left=panel.left)
    if panel.names is not None:
        axes.set_xticks(range(len(panel.names)), panel.names)
        axes.set_xlim(-0.5, len(panel.names) - 0.5)
    elif panel.ticks is not None:
        axes.set_xticks(panel.ticks, [f"{t:g}" for t in panel.ticks])
    return handles


def _ring(axes: Any, x: Sequence[float], c: Curve) -> None:
    """Marks values from few runs."""
    marked = [(at, y) for at, y, few in zip(x, c.y, c.few, strict=False) if few and not c.reference]
    if marked:
        axes.plot(*zip(*marked, strict=True), "o", color="#999999", markersize=9, fillstyle="none", zorder=5)


def _bars(axes: Any, panel: Panel) -> dict[str, Any]:
    handles = {}
    assert panel.names is not None
    groups = list(dict.fromkeys(c.group for c in panel.curves))
    width = 0.84 / max(len(groups), 1)
    for c in panel.curves:
        place = groups.index(c.group)
        x = [v + (place - (len(groups) - 1) / 2) * width for v in c.x]
        if c.reference:
            axes.errorbar(
                x,
                c.y,
                yerr=np.transpose(c.half_widths),
                color="#555555",
                marker="o",
                markersize=3.5,
                markerfacecolor="white",
                linestyle="none",
                elinewidth=0.9,
                capsize=2,
                zorder=4,
            )
        else:
            error = {"elinewidth": 0.9, "capsize": 2}
            color = COLORS[c.group % len(COLORS)]
            drawn = axes.bar(x, c.y, width * 0.92, yerr=np.transpose(c.half_widths), color=color, error_kw=error)
            if c.x:
                handles[c.label] = drawn
            _ring(axes, x, c)
            # Labels tell bars of height zero from missing bars.
            low = (place - (len(groups) - 1) / 2) * width
            notes = {v: "0" for v, y in zip(c.x, c.y, strict=True) if y == 0}
            notes |= {float(v): "no runs" for v in range(len(panel.names)) if v not in c.x}
            for v, text in notes.items() if c.x else ():
                axes.annotate(text, (v + low, 0), (0, 2), xycoords=axes.get_xaxis_transform(), rotation=90, fontsize=6,
                              textcoords="offset points", ha="center", va="bottom", color=color)  # fmt: skip
    axes.set_xticks(range(len(panel.names)), panel.names)
    axes.grid(visible=False, axis="x")
    return handles


@dataclass(frozen=True)
class Group:
    """Points of one color in :func:`agreement`: measured, predicted, and the ends of the interval."""

    label: str
    points: Sequence[tuple[float, float, float, float]]
    marked: bool = False


def agreement(panels: Sequence[tuple[str, Sequence[Group]]], *, title: str, x_label: str, y_label: str) -> "Figure":
    """Plots predicted over measured values on logarithmic axes, with the line of equality.

    Args:
        panels: Title and groups of each panel, side by side; marked groups are stars.
        title: Title of the figure.
        x_label: Name of the measured values.
        y_label: Name of the predicted values.
    """
    import matplotlib as mpl
    from matplotlib.ticker import FuncFormatter, NullFormatter

    from chappe.plot.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10.0, 5.6), layout="constrained")
        handles: dict[str, Any] = {}
        labels = list(dict.fromkeys(g.label for _, groups in panels for g in groups))
        for i, (name, groups) in enumerate(panels):
            axes = figure.add_subplot(1, len(panels), i + 1)
            values = [v for g in groups for x, y, *_ in g.points for v in (x, y)]
            low, high = min(values) / 1.3, max(values) * 1.3
            for by, style, label in ((1.0, "-", "equal"), (1.25, ":", "25 % apart"), (0.8, ":", "25 % apart")):
                ends = [low, high], [by * low, by * high]
                (handles[label],) = axes.plot(*ends, color="#777777", linestyle=style, linewidth=0.9, zorder=1)
            for g in groups:
                n = labels.index(g.label)
                x, y, down, up = (list(v) for v in zip(*g.points, strict=True))
                reach = [[b - a for a, b in zip(down, y, strict=True)], [b - a for a, b in zip(y, up, strict=True)]]
                handles[g.label] = axes.errorbar(
                    x, y, yerr=np.maximum(reach, 0), linestyle="none", marker="*" if g.marked else MARKERS[n % 12],
                    markersize=13 if g.marked else 5, color="black" if g.marked else COLORS[n % len(COLORS)],
                    elinewidth=0.8, zorder=4 if g.marked else 3,
                )  # fmt: skip
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xlim(low, high)
            axes.set_ylim(low, high)
            axes.set_aspect("equal")
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,g}"))
                axis.set_minor_formatter(NullFormatter())
            axes.set_xlabel(x_label)
            axes.set_ylabel(y_label)
            axes.set_title(name, loc="left", fontsize=8.5)
        figure.suptitle(title, x=0.01, ha="left", fontsize=9.5, fontweight="bold")
        figure.legend(handles.values(), handles.keys(), loc="outside lower left", ncols=5, fontsize=8)
        return figure


def over_time(panels: Sequence[tuple[str, Sequence[Curve]]], *, title: str, panel_in: float = 1.55) -> "Figure":
    """Plots quantities over a common time axis [s], one panel per label, with lines without intervals.

    Args:
        panels: Label and curves of each panel.
        title: Title of the figure.
        panel_in: Height of a panel [inch].
    """
    import matplotlib as mpl

    from chappe.plot.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.4, 0.9 + panel_in * len(panels)), layout="constrained")
        handles: dict[str, Any] = {}
        first = None
        for i, (label, curves) in enumerate(panels):
            axes = figure.add_subplot(len(panels), 1, i + 1, sharex=first)
            first = first or axes
            for c in curves:
                color = COLORS[c.group % len(COLORS)]
                (handles[c.label],) = axes.plot(c.x, c.y, color=color, linewidth=1.2)
            axes.set_ylim(bottom=0)
            axes.set_ylabel(label, fontsize=8)
            axes.label_outer()
        axes.set_xlabel("time [s]")
        figure.suptitle(title, x=0.01, ha="left", fontsize=9.5, fontweight="bold")
        figure.legend(handles.values(), handles.keys(), loc="outside lower left", ncols=4, fontsize=8)
        return figure


class Bar(NamedTuple):
    """Something that takes time, in a lane.

    Attributes:
        lane: Number of the lane, from the top.
        begin_s: Its beginning [s].
        length_s: Its length [s].
        crossed: True for a bar that is hatched.
    """

    lane: int
    begin_s: float
    length_s: float
    crossed: bool


def lanes(
    bars: Mapping[str, Sequence[Bar]], names: Sequence[str], *, title: str, begin_s: float, end_s: float
) -> "Figure":
    """Plots bars over time [s], a lane for each name, with a color for each kind.

    Args:
        bars: Bars of each kind, with its label.
        names: Names of the lanes.
        title: Title of the figure.
        begin_s: Left end of the time axis [s].
        end_s: Right end.
    """
    import matplotlib as mpl

    from chappe.plot.figure import Figure

    with mpl.rc_context({**STYLE, "hatch.linewidth": 0.8}):
        figure = Figure(figsize=(8.4, min(1.2 + 0.32 * len(names), 10.0)), layout="constrained")
        axes = figure.add_subplot()
        axes.grid(axis="y", visible=False)
        for number, (label, of_kind) in enumerate(bars.items()):
            color, named = COLORS[number % len(COLORS)], label
            for crossed in (False, True):
                drawn = [b for b in of_kind if b.crossed is crossed]
                if not drawn:
                    continue
                axes.barh(
                    [b.lane for b in drawn],
                    [b.length_s for b in drawn],
                    left=[b.begin_s for b in drawn],
                    height=0.7,
                    color="white" if crossed else color,
                    edgecolor=color,
                    linewidth=0.8,
                    hatch="xxxx" if crossed else None,
                    label=named,
                )
                named = f"_{label}"
        axes.set_xlim(begin_s, end_s)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_yticks(range(len(names)), names, fontsize=8)
        axes.ticklabel_format(axis="x", useOffset=False)
        axes.set_xlabel("time [s]")
        figure.suptitle(title, x=0.01, ha="left", fontsize=9.5, fontweight="bold")
        figure.legend(loc="outside lower left", ncols=6, fontsize=8)
        return figure


def welch(study: "Study", measure: str = "goodput_bps", *, window: int = 5) -> "Figure":
    """Plots the mean of the runs batch by batch, one panel per point, to find the transient by eye.

    The moving average smooths noise; the transient ends where it becomes level (Welch, *The statistical analysis of
    simulation results*, 1983).

    Args:
        study: A study, of several seeds.
        measure: Name of the measure.
        window: Number of neighbors on either side in the moving average, fewer at both ends.

    Raises:
        ValueError: If the measure is unknown, or the study has more than :data:`PANELS` points.
    """
    import matplotlib as mpl

    from chappe.plot.figure import Figure

    series = study._series(measure)
    if not 1 <= len(series) <= PANELS:
        raise ValueError(f"a plot has from 1 to {PANELS} points, and this study has {len(series):,}")
    m = {m.name: m for m in MEASURES}[measure]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.4, 0.9 + 1.8 * len(series)), layout="constrained")
        for i, (label, values) in enumerate(series):
            axes = figure.add_subplot(len(series), 1, i + 1)
            batches = range(1, len(values) + 1)
            axes.plot(batches, values * m.scale, color="#bbbbbb", linewidth=0.8, label="mean of the runs")
            smooth = moving_average(values, window) * m.scale
            axes.plot(batches, smooth, color=COLORS[0], label=f"moving average of up to {2 * window + 1} batches")
            axes.set_title(label, loc="left", fontsize=8.5)
            axes.set_ylabel(f"{m.label} [{m.unit}]" if m.unit else m.label, fontsize=8)
        axes.set_xlabel("batch")
        axes.legend(fontsize=8)
        return figure


def moving_average(values: "np.ndarray", window: int) -> "np.ndarray":
    """Mean of each value with up to ``window`` neighbors on either side, as many as there are on both."""
    spans = [min(window, i, len(values) - 1 - i) for i in range(len(values))]
    return np.array([values[i - k : i + k + 1].mean() for i, k in enumerate(spans)])


def places(nodes: Sequence[tuple[float, float]], flows: Sequence[tuple[int, int]], *, title: str) -> "Figure":
    """Plots node positions [m], and flows as numbered arrows."""
    import matplotlib as mpl

    from chappe.plot.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(5.0, 5.0), layout="constrained")
        axes = figure.add_subplot()
        for i, (a, b) in enumerate(flows):
            (x0, y0), (x1, y1) = nodes[a], nodes[b]
            color = COLORS[i % len(COLORS)]
            axes.annotate(
                "",
                xy=(x1, y1),
                xytext=(x0, y0),
                arrowprops={"arrowstyle": "-|>", "color": color, "lw": 2, "shrinkA": 6, "shrinkB": 6},
            )
            length = math.hypot(x1 - x0, y1 - y0)
            behind = (-16 * (x1 - x0) / length, -16 * (y1 - y0) / length)
            axes.annotate(
                f"{i + 1}",
                (x0, y0),
                xytext=behind,
                textcoords="offset points",
                color=color,
                fontweight="bold",
                ha="center",
                va="center",
            )
        axes.scatter([x for x, _ in nodes], [y for _, y in nodes], s=36, color="#1d2733", zorder=3)
        axes.set_aspect("equal")
        axes.margins(0.12)
        axes.set_xlabel("x [m]")
        axes.set_ylabel("y [m]")
        axes.set_title(title, loc="left", fontsize=9, fontweight="bold")
        return figure


def network(
    nodes: Sequence[tuple[float, float, str]], links: Sequence[tuple[int, int, str]], *, title: str
) -> "Figure":
    """Plots named nodes and labeled links."""
    import matplotlib as mpl

    from chappe.plot.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.0, 3.6), layout="constrained")
        axes = figure.add_subplot()
        for a, b, label in links:
            (x0, y0, _), (x1, y1, _) = nodes[a], nodes[b]
            axes.plot([x0, x1], [y0, y1], color="#8896a5", linewidth=1.4, zorder=1)
            middle = ((x0 + x1) / 2, (y0 + y1) / 2)
            axes.annotate(
                label,
                middle,
                (0, 5),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=7,
                color=COLORS[0],
            )
        axes.scatter([x for x, *_ in nodes], [y for _, y, _ in nodes], s=36, color="#1d2733", zorder=3)
        # Names are outside at both ends, where many links meet, and below elsewhere.
        ends = (min(x for x, *_ in nodes), max(x for x, *_ in nodes))
        outside = {ends[0]: ((-8, 0), "right", "center"), ends[1]: ((8, 0), "left", "center")}
        for x, y, name in nodes:
            offset, across, up = outside.get(x, ((0, -9), "center", "top"))
            axes.annotate(name, (x, y), offset, textcoords="offset points", ha=across, va=up, fontsize=7)
        axes.margins(0.12)
        axes.set_axis_off()
        axes.set_title(title, loc="left", fontsize=9, fontweight="bold")
        return figure


EVENTS = {
    "fast_retransmit": ("v", "fast retransmit"),
    "timeout": ("X", "timeout"),
    "ecn": ("D", "echo of a mark"),
    "probe": ("o", "probe"),
    "undo": ("^", "reduction undone"),
}
"""Marked events in figures of windows: marker and name."""

STATES = {
    "recovery_state": (
        0.0,
        {
            "disorder": ("#f0e442", "disorder"),
            "cwr": ("#56b4e9", "reduction without a loss (CWR)"),
            "by_time": ("#e69f00", "recovery, losses found by time"),
            "by_count": ("#cc79a7", "recovery, losses found by count"),
            "loss_in_doubt": ("#999999", "after a timeout, in doubt (F-RTO)"),
            "loss": ("#333333", "after a timeout"),
        },
    ),
    "bbr_state": (
        0.045,
        {
            "startup": ("#0072b2", "BBR startup"),
            "drain": ("#d55e00", "BBR drain"),
            "probe_rtt": ("#009e73", "BBR probe of the round-trip time"),
            "probe_bw_up": ("#882255", "BBR probe of the rate"),
        },
    ),
}
"""Columns of states in figures of windows: lower edge of their band as a share of the height, colors, names."""


def windows(changes: Mapping[str, pl.DataFrame], *, title: str, end_s: float, begin_s: float = 0.0) -> "Figure":
    """Plots congestion windows over time, one panel below the other on common axes.

    Of senders of Linux, bands at the lower edge show the states of loss recovery and of BBR, a line its pacing rate.

    Args:
        changes: Rows of the table ``cwnd`` of one flow, by name of panel.
        title: Title of the figure.
        end_s: Right end of the time axis [s].
        begin_s: Left end of the time axis [s].
    """
    import matplotlib as mpl

    from chappe.plot.figure import Figure

    # The last change before the axes begin is the window at their left end.
    changes = {name: _from(rows.filter(pl.col("time_s") <= end_s), begin_s) for name, rows in changes.items()}
    largest = max((t["cwnd_segments"].to_numpy().max() for t in changes.values() if len(t)), default=1.0)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.4, 1.4 + 1.15 * len(changes)), layout="constrained")
        handles: dict[str, Any] = {}
        first = None
        for i, (name, rows) in enumerate(changes.items()):
            axes = figure.add_subplot(len(changes), 1, i + 1, sharex=first, sharey=first)
            first = first or axes
            time, cwnd = rows["time_s"].to_numpy(), rows["cwnd_segments"].to_numpy()
            if len(rows):
                # The last window lasts to the end.
                to_end = np.append(time, end_s)
                for column, color, width, label in (
                    ("ssthresh_segments", "#999999", 0.9, "ssthresh"),
                    ("cwnd_segments", COLORS[0], 1.2, "cwnd"),
                ):
                    values = rows[column].to_numpy()
                    style = "--" if column == "ssthresh_segments" else "-"
                    handles[label] = axes.step(
                        to_end, np.append(values, values[-1]), where="post", color=color, lw=width, ls=style
                    )[0]
            for event, (marker, label) in EVENTS.items():
                at = rows["event"].cast(pl.String).to_numpy() == event
                if at.any():
                    (handles[label],) = axes.plot(
                        time[at],
                        cwnd[at],
                        ls="",
                        marker=marker,
                        ms=4.5,
                        color=COLORS[1],
                        mec="white",
                        mew=0.4,
                        zorder=4,
                    )
            for column, look in STATES.items():
                for label, band in _bands(axes, rows, column, look, end_s):
                    handles.setdefault(label, band)
            if pace := _pacing(axes, rows, end_s):
                handles["pacing rate"] = pace
            axes.set_title(name, loc="left", fontsize=8.5, pad=2)
            axes.label_outer()
        if first is not None:
            first.set_xlim(begin_s, end_s)
            first.set_ylim(0, 1.08 * largest)
            axes.set_xlabel("time [s]")
        figure.supylabel("window [segments]", fontsize=9)
        figure.suptitle(title, x=0.01, ha="left", fontsize=9.5, fontweight="bold")
        # As many as fit beside each other.
        columns = max(len(handles), 1) if len(handles) <= len(EVENTS) else 3
        figure.legend(handles.values(), handles.keys(), loc="outside lower left", ncols=columns, fontsize=8)
        figure.set_figheight(figure.get_figheight() + 0.17 * (math.ceil(len(handles) / columns) - 1))
        return figure


def _pacing(axes: "Axes", rows: pl.DataFrame, end_s: float) -> "Line2D | None":
    """Draws the pacing rate over an axis at the right, if the sender has one."""
    paced = rows.filter(pl.col("pacing_rate_bps").is_not_null())
    if not len(paced):
        return None
    mbps = paced["pacing_rate_bps"].to_numpy() / 1e6
    right = axes.twinx()
    right.grid(visible=False)
    right.spines["right"].set_visible(True)
    right.set_ylim(0, 1.08 * mbps.max())
    right.set_ylabel("pacing [Mbit/s]", fontsize=7)
    times = np.append(paced["time_s"].to_numpy(), end_s)
    return right.step(times, np.append(mbps, mbps[-1]), where="post", color=COLORS[2], lw=0.8)[0]


def _bands(
    axes: "Axes", rows: pl.DataFrame, column: str, look: tuple[float, Mapping[str, tuple[str, str]]], end_s: float
) -> Iterator[tuple[str, "PolyCollection"]]:
    """Draws the times in each state as a band at the lower edge; names and bands of the states that occur."""
    edge, states = look
    if not len(rows) or rows[column].null_count() == len(rows):
        return
    words = rows[column].cast(pl.String).to_numpy()
    begin = np.flatnonzero(np.append(True, words[1:] != words[:-1]))
    times = np.append(rows["time_s"].to_numpy()[begin], end_s)
    for state, (color, label) in states.items():
        spans = [(times[i], times[i + 1] - times[i]) for i, at in enumerate(begin) if words[at] == state]
        if spans:
            across = axes.get_xaxis_transform()
            yield label, axes.broken_barh(spans, (edge, 0.04), color=color, lw=0.6, transform=across, zorder=3)


def _from(rows: pl.DataFrame, begin_s: float) -> pl.DataFrame:
    """Changes from an instant on, and the last one before it."""
    before = int((rows["time_s"] < begin_s).sum())
    return rows.slice(max(before - 1, 0))


def save(figure: "Figure", folder: Path, name: str) -> None:
    """Writes a figure as PDF, SVG and PNG, atomically and reproducibly."""
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        # One layout for all formats: a layout takes as long as drawing.
        figure.draw_without_rendering()
        figure.set_layout_engine(None)
    for kind in FORMATS:
        write_file(folder / f"{name}.{kind}", encoded(figure, kind))


DPI = 200
"""Dots per inch of PNG files."""

_DATES: Mapping[str, Mapping[str, None]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}
"""Metadata that would differ from one time to the next."""

_MADE_BY = {"pdf": "Creator", "svg": "Creator", "png": "Software"}
"""Name of the metadata that tells the program, by which a figure is known as ours."""


def encoded(figure: "Figure", kind: str) -> bytes:
    """A figure as a file of a kind of :data:`FORMATS`, reproducibly."""
    import matplotlib as mpl

    drawn = io.BytesIO()
    with mpl.rc_context(STYLE):
        made_by = f"{MARK}, Matplotlib v{mpl.__version__}, https://matplotlib.org/"
        figure.savefig(drawn, format=kind, dpi=DPI, metadata={**_DATES[kind], _MADE_BY[kind]: made_by})
    return drawn.getvalue()
