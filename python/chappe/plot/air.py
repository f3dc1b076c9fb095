"""The air over time: a lane for each node, a bar for each frame that it sent."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from chappe import plot
from chappe._common.words import count, node_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from chappe.results.results import Results

FRAMES, LANES = 3000, 40
"""Frames and lanes of a figure at most."""

_KINDS = {"rts": "RTS", "cts": "CTS", "data": "data", "ack": "ACK", "broadcast": "broadcast"}
_OTHER = "other"
_KEPT = ("received", "broadcast")
"""Outcomes of frames that were not lost."""


def figure(results: "Results", only: Sequence[int] | None, from_s: float, until_s: float) -> "Figure":
    """Draws the frames on the air in a range of time.

    Args:
        results: The run, with the recorded table ``frames``.
        only: Nodes that have a lane; ``None``: all that send.
        from_s: Begin of the time axis [s].
        until_s: Its end [s].

    Raises:
        ValueError: If the table was not recorded, a node sends nothing in this time, or there is too much to draw.
    """
    if "frames" not in results.scenario.settings["run"]["record"]:
        raise ValueError('the table frames was not recorded: run with --set run.record=["frames"]')
    end = pl.col("time_s") + pl.col("airtime_s")
    rows = results.recorded["frames"].filter(end > from_s, pl.col("time_s") < until_s)
    nodes = rows["src"].unique().sort().to_list()
    if silent := [n for n in only or () if n not in nodes]:
        raise ValueError(f"node {silent[0]} sends nothing in this time; senders: {', '.join(map(str, nodes))}")
    if only is not None:
        nodes, rows = list(dict.fromkeys(only)), rows.filter(pl.col("src").is_in(list(only)))
    if rows.is_empty():
        raise ValueError("no frame is on the air in this time")
    if len(rows) > FRAMES or len(nodes) > LANES:
        raise ValueError(
            f"there are {count(len(rows), 'frame')} of {count(len(nodes), 'node')} in this time, and a figure has at "
            f"most {FRAMES:,} of {LANES}: choose a shorter time, or some nodes"
        )
    kind = pl.when(pl.col("dst").is_null()).then(pl.lit("broadcast")).otherwise(pl.col("frame_type").cast(pl.String))
    named = rows.select(
        pl.col("src").replace_strict({node: lane for lane, node in enumerate(nodes)}, return_dtype=pl.Int64),
        "time_s",
        "airtime_s",
        kind.replace_strict(_KINDS, default=_OTHER).alias("kind"),
        pl.col("outcome").cast(pl.String).is_in(_KEPT).fill_null(True).alias("kept"),
    )
    bars: dict[str, list[plot.Bar]] = {label: [] for label in (*_KINDS.values(), _OTHER)}
    for lane, begin_s, airtime_s, label, kept in named.iter_rows():
        bars[label].append(plot.Bar(lane, begin_s, airtime_s, not kept))
    lanes = [f"node {node_label(node, results.scenario.names)}" for node in nodes]
    title = "Frames on the air, crossed if they are lost"
    return plot.lanes(bars, lanes, title=title, begin_s=from_s, end_s=until_s)
