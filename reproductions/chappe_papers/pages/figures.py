"""Figures and tables of papers: how they are drawn, written, and printed."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chappe import plot
from chappe import text as show
from chappe.stats import Estimate

from chappe_papers.pages import made, page
from chappe_papers.pages.files import write_csv
from chappe_papers.runs.estimates import NS2, OURS, Estimates, Measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEW = 5
"""An interval that is taken from fewer values than this says little: such points are marked."""

Of = Callable[[str, float], tuple[Any, str]]
"""Point and measure of a variant at a value of x."""

Rows = list[list[str]]


@dataclass(frozen=True)
class Panel:
    """Axes of a figure: variants over x."""

    x: Sequence[float]
    of: Of | None
    y_label: str
    title: str = ""
    place: str = ""
    names: Sequence[str] | None = None
    marks: Sequence[plot.Mark] = ()
    scale: float = 1.0
    log_y: bool = False
    limits: tuple[float, float] | None = None
    ends: tuple[float, float] = (0.0, math.inf)
    """Limits of the quantity, at which its intervals end."""
    variants: tuple[str, ...] | None = None
    """Variants of these axes; ``None``: those of the whole figure."""
    x_label: str | None = None
    derived: Callable[[Estimates, str, float], Estimate | None] | None = None
    """A value that is made of measures, where there is no ``of``."""

    def get(self, data: Estimates, variant: str, x: float) -> Estimate | None:
        """A value."""
        if self.derived is not None:
            return self.derived(data, variant, x)
        assert self.of is not None
        return data.get(*self.of(variant, x))


def panel(x: Sequence[float], of: Of, measure: Measure, title: str = "", place: str = "", **more: Any) -> Panel:
    """Axes for a measure."""
    return Panel(x, of, measure.label, title, place, scale=measure.scale, ends=measure.limits, **more)


@dataclass(frozen=True)
class Picture:
    """A figure that draws itself.

    Attributes:
        title: Stands above it.
        drawn: The drawing.
        unit: Unit of its numbers.
        header: Of their columns; the unit at the end of a name is not printed.
        rows: The numbers.
    """

    title: str
    drawn: "Figure"
    unit: str
    header: Sequence[str]
    rows: Rows


Panels = Callable[[Sequence[Any]], Sequence[Panel]]
"""The axes of a figure, given the values of x that were run."""


@dataclass(frozen=True)
class Chart:
    """A figure of a paper.

    Attributes:
        title: Title of the figure or table.
        x_name: Name of x in the file.
        x_label: The same for people.
        variants: Variants to compare.
        panels: Its axes, given the values of x; none at all: a picture.
        picture: Draws it, given its title and our numbers.
        asks: Yields the estimates that a picture needs.
        ticks: Labels of the x axis.
        left: Start of the x axis of lines; ``None``: a little below the first value.
        log_from: The x axis is logarithmic from here on, and linear below.
    """

    title: str
    x_name: str = ""
    x_label: str = ""
    variants: tuple[str, ...] = ()
    panels: Panels = lambda _: ()
    ticks: Sequence[float] | None = None
    left: float | None = 0
    log_from: float | None = None
    picture: Callable[[str, Estimates], Picture] | None = None
    asks: Callable[[Estimates], Iterable[Estimate | None]] = lambda _: ()

    def values(self, data: Estimates) -> Iterator[Estimate | None]:
        """All values that it shows."""
        yield from self.asks(data)
        for p in self.panels(data.x):
            yield from (p.get(data, v, at) for v in p.variants or self.variants for at in p.x)


@dataclass(frozen=True)
class Legend:
    """Names of variants, and the numbers of their colors."""

    names: Mapping[str, str]
    colors: Mapping[str, int]


@dataclass(frozen=True)
class Sheet:
    """A table of a paper.

    Attributes:
        title: Title of the figure or table.
        header: Of its columns.
        rows: Its rows, made of our numbers and of those of ns-2.
        shown: True if the Markdown has the table itself, and not only a link to the file.
    """

    title: str
    header: tuple[str, ...]
    rows: Callable[[Estimates, Estimates], Rows]
    shown: bool = False

    def made_of(self, data: Estimates) -> Rows:
        """Rows of the sheet, all made of one table, which shows what the sheet asks for."""
        return self.rows(data, data)


QUANTITY = (0.0, math.inf)
"""Limits of a quantity that is never negative."""

SHARE = (0.0, 1.0)
"""Limits of a share, and of Jain's index."""

CHANGE = (-math.inf, math.inf)
"""Limits of a difference."""


def cell(e: Estimate | None, scale: float = 1.0, limits: tuple[float, float] = QUANTITY) -> str:
    """A mean and its interval, which ends at the limits of the quantity, for people."""
    if e is None:
        return "-"
    low, high = e.interval()
    low, high = max(low, limits[0]), min(high, limits[1])
    known = math.isfinite(low) and math.isfinite(high)
    return show.estimate(
        {"estimate": e.mean, "ci_low": low if known else None, "ci_high": high if known else None}, scale
    )


def figure(
    name: str,
    title: str,
    chart: Chart,
    legend: Legend,
    ours: Estimates,
    ns2: Estimates,
    folder: Path,
) -> page.DrawnFigure:
    """Draws and writes a figure as PDF, SVG, PNG and CSV, and prints its numbers.

    Args:
        name: Of the files, without their endings.
        title: Stands above it.
        chart: The figure.
        legend: Names of its variants.
        ours: Our estimates.
        ns2: Estimates of ns-2.
        folder: The folder for the files.
    """
    if chart.picture is not None:
        return picture(name, chart.picture(title, ours), folder)
    panels = chart.panels(ours.x)
    axes = [_axes(chart, panel, legend, ours, ns2) for panel in panels]
    made.draw(folder, name, (title, axes), lambda: plot.draw(axes, title=title, reference=NS2))
    _file(folder / f"{name}.csv", chart, panels, ours, ns2)
    variants = list(dict.fromkeys(v for p in panels for v in p.variants or chart.variants))
    header = [chart.x_label, *(f"{legend.names[v]}{who}" for v in variants for who in (" (ns-2)", ""))]
    rows = []
    for panel in panels:
        if len(panels) > 1:
            rows.append([panel.title or panel.y_label, *[""] * (len(header) - 1)])
        for i, x in enumerate(panel.x):
            where = panel.names[i] if panel.names is not None else f"{x:g}"
            estimates = [
                panel.get(t, v, x) if v in (panel.variants or chart.variants) else None
                for v in variants
                for t in (ns2, ours)
            ]
            rows.append([where, *(cell(e, panel.scale, panel.ends) for e in estimates)])
    return shown(name, title, panels[0].y_label, header, rows, folder)


def picture(name: str, p: Picture, folder: Path) -> page.DrawnFigure:
    """Writes a picture and its numbers, and prints the numbers."""
    plot.save(p.drawn, folder, name)
    write_csv(folder / f"{name}.csv", p.header, p.rows)
    return shown(name, p.title, p.unit, [h.removesuffix("_m") for h in p.header], p.rows, folder)


def shown(
    name: str, title: str, unit: str, header: Sequence[str], rows: Sequence[Sequence[str]], folder: Path
) -> page.DrawnFigure:
    """Prints a figure without the columns that are empty, and hands it to the page."""
    columns = [i for i in range(len(header)) if i == 0 or any(r[i] not in ("", "-") for r in rows)]
    header, rows = [header[i] for i in columns], [[r[i] for i in columns] for r in rows]
    printed = show.table(header[0], *(f">{h}" for h in header[1:]), title=f"{title} - {unit}")
    for row in rows:
        printed.add_row(*row)
    show.write(printed)
    svg = (folder / f"{name}.svg").read_text(encoding="utf-8")
    return page.DrawnFigure(f"{name}.png", title, unit, svg[svg.index("<svg") :], header, rows)


def sheet(name: str, title: str, s: Sheet, ours: Estimates, ns2: Estimates, folder: Path) -> page.WrittenSheet:
    """Writes a table as CSV and prints it."""
    rows = s.rows(ours, ns2)
    write_csv(folder / f"{name}.csv", s.header, rows)
    printed = show.table(*s.header, title=title)
    for row in rows:
        printed.add_row(*row)
    show.write(printed)
    return page.WrittenSheet(f"{name}.csv", title, s.header, rows, s.shown)


def _reach(e: Estimate, panel: Panel) -> tuple[float, float]:
    """Lengths of the interval below and above the mean; zero where the interval is unknown."""
    low, high = e.interval()
    low, high = max(low, panel.ends[0]), min(high, panel.ends[1])
    return (
        (0.0, 0.0)
        if not math.isfinite(high - low)
        else (panel.scale * max(0.0, e.mean - low), panel.scale * max(0.0, high - e.mean))
    )


def _axes(chart: Chart, panel: Panel, legend: Legend, ours: Estimates, ns2: Estimates) -> plot.Panel:
    curves = []
    for variant in panel.variants or chart.variants:
        for table, reference in ((ours, False), (ns2, True)):
            measured = [(i, x, e) for i, x in enumerate(panel.x) if (e := panel.get(table, variant, x)) is not None]
            curves.append(
                plot.Curve(
                    legend.names[variant],
                    [i if panel.names is not None else x for i, x, _ in measured],
                    [panel.scale * e.mean for _, _, e in measured],
                    [_reach(e, panel) for _, _, e in measured],
                    legend.colors[variant],
                    reference,
                    [e.df + 1 < FEW for _, _, e in measured],
                )
            )
    return plot.Panel(
        curves,
        chart.x_label if panel.x_label is None else panel.x_label,
        panel.y_label,
        panel.title,
        ticks=chart.ticks,
        names=panel.names,
        left=chart.left,
        log_from=chart.log_from,
        marks=panel.marks,
        log_y=panel.log_y,
        limits=panel.limits,
    )


def _file(path: Path, chart: Chart, panels: Sequence[Panel], ours: Estimates, ns2: Estimates) -> None:
    """Every number of a figure, one per line, in the unit of its measure."""
    several = len(panels) > 1
    rows: list[list[object]] = []
    for panel in panels:
        for i, x in enumerate(panel.x):
            for variant in panel.variants or chart.variants:
                for table, source in ((ours, OURS), (ns2, NS2)):
                    e = panel.get(table, variant, x)
                    measure = panel.place if panel.of is None else panel.of(variant, x)[1]
                    if e is not None:
                        where = panel.names[i] if panel.names and chart.x_name == "flow" else f"{x:g}"
                        place = [panel.place] if several else []
                        rows.append([*place, where, variant, source, measure, repr(e.mean), repr(e.half_width())])
    header = [chart.x_name, "variant", "source", "measure", "value", "half_width_95"]
    write_csv(path, [*(["panel"] if several else []), *header], rows)
