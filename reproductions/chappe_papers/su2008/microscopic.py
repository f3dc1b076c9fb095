"""Microscopic view of one flow over five hops: Figures 2 and 5, both on the first path."""

import math
from collections.abc import Sequence

import chappe
import polars as pl
from chappe import plot

from chappe_papers.pages.figures import Picture, Rows
from chappe_papers.runs.estimates import Estimates
from chappe_papers.su2008.paths import paths
from chappe_papers.su2008.points import RATES, Point, scenario

SECONDS = 60
STEP_S = 0.5
"""Over so long frames and queues are put together in Figure 5."""


def _curve(label: str, x: Sequence[float], y: Sequence[float], group: int) -> plot.Curve:
    return plot.Curve(label, x, y, [0.0] * len(x), group)


def dynamics(title: str, _: Estimates) -> Picture:
    """Figure 2: window, round-trip time and throughput over time, at both rates."""
    panels: dict[str, list[plot.Curve]] = {}
    rows: Rows = []
    for n, (rate, name) in enumerate(RATES.items()):
        p = Point("path", 5, rate)
        sampled = scenario(p, {"run.sample_interval": "200 ms", "run.batches": SECONDS // 2})
        results = chappe.run(paths().on(1, p, sampled), seed=1)
        series, batches = results.samples.with_columns(pl.col("srtt_s").fill_null(math.nan)), results.batches
        time = series["time_s"].to_list()
        panels.setdefault("window [segments]", []).append(_curve(name, time, series["cwnd_segments"].to_list(), n))
        panels.setdefault("RTT, smoothed [s]", []).append(_curve(name, time, series["srtt_s"].to_list(), n))
        ends, goodput = batches["ended_at_s"].to_list(), [g / 1e3 for g in batches["goodput_bps"].to_list()]
        panels.setdefault("throughput [kbit/s]", []).append(_curve(name, ends, goodput, n))
        for end, kbps in list(zip(ends, goodput, strict=True))[::5]:
            last = series.filter(pl.col("time_s") <= end).row(-1, named=True)
            rows.append([name, f"{end:.0f}", f"{last['cwnd_segments']:.0f}", f"{last['srtt_s']:.2f}", f"{kbps:.0f}"])
    header = ["rate", "time [s]", "window [segments]", "RTT [s]", "throughput [kbit/s]"]
    return Picture(title, plot.over_time(list(panels.items()), title=title), "first path, one run", header, rows)


def cycle(title: str, _: Estimates) -> Picture:
    """Figure 5 as a time series: the window, the queues, the rates and the losses of the first two nodes."""
    p = Point("path")
    first = scenario(p, {"run.sample_interval": "100 ms", "run.record": ["frames", "queue"], "run.stop": "30 s"})
    results = chappe.run(paths().on(1, p, first), seed=1)
    series, queue = results.samples, results.recorded["queue"]
    frames = results.recorded["frames"].filter(
        (pl.col("frame_type") == "data") & (pl.col("bytes") > 1000) & pl.col("outcome").is_not_null()
    )
    binned = (pl.col("time_s") / STEP_S).floor().cast(pl.Int64).alias("step")
    mixed = frames.group_by("src", binned).agg(
        (pl.col("rate_bps").mean() / 1e6).alias("mbps"), (100 * (pl.col("outcome") != "received").mean()).alias("lost")
    )
    waiting = queue.group_by("node", binned).agg(pl.col("packets").max().alias("waiting"))
    panels = [("window [segments]", [_curve("cwnd", series["time_s"].to_list(), series["cwnd_segments"].to_list(), 0)])]
    steps = round(30 / STEP_S)
    rows: Rows = [[f"{STEP_S * i:g}"] for i in range(0, steps, 4)]
    header = ["time [s]"]
    for table, column, label, key in (
        (waiting, "waiting", "longest queue [packets]", "node"),
        (mixed, "mbps", "mean rate [Mbit/s]", "src"),
        (mixed, "lost", "attempts lost [%]", "src"),
    ):
        curves = []
        for node in (0, 1):
            by_step = dict(table.filter(pl.col(key) == node).select("step", column).iter_rows())
            steps_of_node = [i for i in range(steps) if i in by_step]
            curves.append(
                _curve(
                    f"node {node}",
                    [STEP_S * i for i in steps_of_node],
                    [float(by_step[i]) for i in steps_of_node],
                    node + 1,
                )
            )
            header.append(f"node {node}: {label}")
            for n, cells in enumerate(rows):
                cells.append(f"{by_step[4 * n]:.3g}" if 4 * n in by_step else "-")
        panels.append((label, curves))
    return Picture(title, plot.over_time(panels, title=title), "first path, one run", header, rows)
