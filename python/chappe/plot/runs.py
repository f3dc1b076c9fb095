"""Figures of a run over time, and of a scenario: its map."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from chappe import plot
from chappe._common.arguments import quoted
from chappe.expressions.reductions import intervals
from chappe.plot import air

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from chappe.results.results import Results
    from chappe.scenario.scenario import Scenario

CURVES = len(plot.COLORS)
"""Largest number of flows or nodes of a figure, which have different colors."""


AIR = "air"
"""The figure of the frames on the air, which has lanes in place of curves."""


class Kind(NamedTuple):
    """A kind of figure.

    Attributes:
        title: What it shows.
        curves: Function from results to panels, each with a label and its curves.
        each: What has a curve of its own.
    """

    title: str
    panels: "Callable[[Results, list[int] | None], list[tuple[str, list[plot.Curve]]]]"
    each: str


def figure(
    results: "Results", what: str, only: list[int | str] | None, from_s: float, until_s: float | None
) -> "Figure":
    """A figure of a run over time.

    Args:
        results: The run.
        what: A key of :data:`KINDS`, or :data:`AIR`.
        only: Numbers of the flows, or numbers or names of the nodes, that are drawn; ``None``: all.
        from_s: Begin of the time axis [s].
        until_s: End of the time axis [s]; ``None``: that of the run.

    Raises:
        ValueError: If there is no such kind, its table was not recorded or is empty, a number is unknown, the times
            are in a wrong order, or there are more curves than colors.
    """
    _check(what)
    end_s = results.simulated_s if until_s is None else until_s
    if not 0 <= from_s < end_s:
        raise ValueError(
            f"a figure from {from_s:g} s until {end_s:g} s has no time: the run lasts {results.simulated_s:g} s"
        )
    each = "nodes" if what == AIR else KINDS[what].each
    if each == "flows" and (names := [n for n in only or () if isinstance(n, str)]):
        raise ValueError(f"this figure is of flows, which have numbers: {quoted(names[0])} is none")
    chosen = None if only is None else [int(results.scenario._number(n)) for n in only]
    if what == AIR:
        return air.figure(results, chosen, from_s, end_s)
    kind = KINDS[what]
    panels = kind.panels(results, chosen)
    groups = {c.group for _, curves in panels for c in curves}
    if not groups:
        raise ValueError(f"there is nothing to draw: the table of {what} has no rows (`chappe explain {what}`)")
    if len(groups) > CURVES:
        raise ValueError(
            f"a figure has at most {CURVES} {kind.each}, and this one would have {len(groups)}: choose some"
        )
    shown = [(label, [_cut(c, from_s, end_s) for c in curves]) for label, curves in panels]
    if kind.each == "nodes":
        named = results.scenario._core.in_text
        shown = [(label, [replace(c, label=named(c.label)) for c in curves]) for label, curves in shown]
    drawn = plot.over_time(shown, title=kind.title, panel_in=2.6)
    for axes in drawn.axes:
        axes.set_xlim(from_s, end_s)
    return drawn


def _check(what: str) -> None:
    """Refuses an unknown kind of figure."""
    if what not in (*KINDS, AIR):
        raise ValueError(f"there is no figure {quoted(what)}; known: {', '.join((*KINDS, AIR))}")


def _cut(c: plot.Curve, from_s: float, until_s: float) -> plot.Curve:
    """The part of a curve in a range of time, with the values that hold at both ends."""
    inside = [(x, y) for x, y in zip(c.x, c.y, strict=True) if from_s <= x <= until_s]
    before = [y for x, y in zip(c.x, c.y, strict=True) if x < from_s]
    if before:
        inside.insert(0, (from_s, before[-1]))
    return plot.Curve(c.label, [x for x, _ in inside], [y for _, y in inside], [], c.group)


def _curves(
    rows: pl.DataFrame, column: str, by: str, name: str, only: list[int] | None, steps: bool
) -> list[plot.Curve]:
    """A curve of a column for each flow or node."""
    known = rows[by].unique().sort().to_list()
    if unknown := [n for n in only or () if known and n not in known]:
        raise ValueError(f"there is no {name} {unknown[0]} in this figure; known: {', '.join(map(str, known))}")
    curves = []
    for number, n in enumerate(known if only is None or not known else only):
        of_one = rows.filter(pl.col(by) == n).drop_nulls(column)
        x, y = of_one["time_s"].to_list(), of_one[column].to_list()
        if steps:
            x, y = _steps(x, y)
        curves.append(plot.Curve(f"{name} {n}", x, y, [], number))
    return curves


def _steps(x: list[float], y: list[float]) -> tuple[list[float], list[float]]:
    """Corners of a line that keeps each value until the next."""
    corners = [(x[0], y[0])] if x else []
    for at, (before, after) in zip(x[1:], pairwise(y), strict=True):
        corners += [(at, before), (at, after)]
    return [c[0] for c in corners], [c[1] for c in corners]


def _recorded(results: "Results", name: str) -> pl.DataFrame:
    """A recorded table."""
    if name not in results.scenario.settings["run"]["record"]:
        raise ValueError(f'the table {name} was not recorded: run with --set run.record=["{name}"]')
    return results.recorded[name]


def _cwnd(results: "Results", only: list[int] | None) -> list[tuple[str, list[plot.Curve]]]:
    if "cwnd" not in results.scenario.settings["run"]["record"] and len(results.samples):
        return [("cwnd [segments]", _curves(results.samples, "cwnd_segments", "flow", "flow", only, steps=False))]
    rows = _recorded(results, "cwnd")
    return [("cwnd [segments]", _curves(rows, "cwnd_segments", "flow", "flow", only, steps=True))]


_QUEUE = ("channel", "access_category", "wired_dst")
"""Columns that tell the queues of a node apart."""


def _queue(results: "Results", only: list[int] | None) -> list[tuple[str, list[plot.Curve]]]:
    rows = _recorded(results, "queue")
    # Of several queues of a node the sum is what waits there.
    rows = rows if rows.select(_QUEUE).n_unique() == 1 else _summed(rows)
    return [("queue [packets]", _curves(rows, "packets", "node", "node", only, steps=True))]


def _summed(rows: pl.DataFrame) -> pl.DataFrame:
    """Packets that wait at each node, in all of its queues together."""
    change = pl.col("packets").cast(pl.Int64).diff().over(["node", *_QUEUE])
    changes = rows.with_columns(change.fill_null(pl.col("packets").cast(pl.Int64)).alias("change"))
    return changes.with_columns(pl.col("change").cum_sum().over("node").alias("packets"))


def _energy(results: "Results", only: list[int] | None) -> list[tuple[str, list[plot.Curve]]]:
    rows = _recorded(results, "energy")
    return [("remaining energy [J]", _curves(rows, "remaining_j", "node", "node", only, steps=False))]


def _goodput(results: "Results", only: list[int] | None) -> list[tuple[str, list[plot.Curve]]]:
    if len(results.samples):
        rows = intervals(results.samples, results.flows).with_columns(pl.col("goodput_bps") / 1e3)
        label = "goodput, by sample interval [kbit/s]"
        return [(label, _curves(rows, "goodput_bps", "flow", "flow", only, steps=False))]
    times = results.batches.select("batch", ((pl.col("started_at_s") + pl.col("ended_at_s")) / 2).alias("time_s"))
    rows = results.flow_batches.join(times, on="batch").with_columns(pl.col("goodput_bps") / 1e3)
    return [("goodput, by batch [kbit/s]", _curves(rows, "goodput_bps", "flow", "flow", only, steps=False))]


def _rtt(results: "Results", only: list[int] | None) -> list[tuple[str, list[plot.Curve]]]:
    rows = results.samples if len(results.samples) else _recorded(results, "cwnd")
    rows = rows.with_columns(pl.col("srtt_s") * 1e3, pl.col("rto_s") * 1e3)
    labels = {"srtt_s": "smoothed round-trip time [ms]", "rto_s": "retransmission timeout [ms]"}
    return [(label, _curves(rows, column, "flow", "flow", only, steps=False)) for column, label in labels.items()]


KINDS = {
    "goodput": Kind("Goodput of each flow", _goodput, "flows"),
    "cwnd": Kind("Congestion window of each flow", _cwnd, "flows"),
    "rtt": Kind("Round-trip time and timeout of each flow", _rtt, "flows"),
    "queue": Kind("Packets that wait at each node", _queue, "nodes"),
    "energy": Kind("Energy that is left in each battery", _energy, "nodes"),
}
"""Figures of a run over time, by name."""


_TABLES = {"cwnd": ["cwnd"], "rtt": ["cwnd"], "queue": ["queue"], "energy": ["energy"], AIR: ["frames"]}
"""Recorded tables that figures need."""


def recording(what: str, scenario: "Scenario") -> "Scenario":
    """The scenario, with what a figure of its run needs in ``run.record``.

    Raises:
        ValueError: If there is no such figure.
    """
    _check(what)
    asked = scenario.settings["run"]["record"]
    return scenario.with_settings({"run.record": list(dict.fromkeys([*asked, *_TABLES.get(what, [])]))})
