"""Figures that are ready to publish."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

FORMATS = ("pdf", "svg", "png")

# Okabe and Ito's colours, which people with any colour vision can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "D", "^", "v", "P")

_STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "chappe",
}


@dataclass(frozen=True)
class Curve:
    """A line of a figure.

    Attributes:
        label: Its name in the legend.
        x: Where it is known.
        y: Its values.
        half_widths: Half widths of their intervals.
        group: Curves of the same group have the same colour and marker.
        reference: Drawn pale and dashed with open markers: numbers to compare with.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    half_widths: Sequence[float]
    group: int
    reference: bool = False


def lines(
    curves: Sequence[Curve], *, x_label: str, y_label: str, title: str, ticks: Sequence[float] | None = None
) -> Figure:
    """A figure of curves with 95 % intervals, on axes that begin at zero."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(5.4, 3.5), layout="constrained")
        axes = figure.add_subplot()
        for c in curves:
            colour, marker = COLOURS[c.group % len(COLOURS)], MARKERS[c.group % len(MARKERS)]
            axes.errorbar(
                c.x,
                c.y,
                yerr=c.half_widths,
                label=c.label,
                color=colour,
                marker=marker,
                markersize=4.5,
                markerfacecolor="white" if c.reference else colour,
                linestyle=":" if c.reference else "-",
                linewidth=1.0 if c.reference else 1.4,
                capsize=2,
                elinewidth=0.9,
                alpha=0.75 if c.reference else 1.0,
                zorder=2 if c.reference else 3,
            )
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        axes.set_title(title, loc="left", fontsize=9, fontweight="bold")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        if ticks is not None:
            axes.set_xticks(ticks)
        axes.legend()
        return figure


def save(figure: Figure, folder: Path, name: str) -> None:
    """Writes a figure as PDF, SVG and PNG; the same figure gives the same files."""
    dates: Mapping[str, Mapping[str, None]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}
    with mpl.rc_context(_STYLE):
        for kind in FORMATS:
            figure.savefig(folder / f"{name}.{kind}", dpi=200, metadata=dict(dates[kind]))
