"""Congestion windows of TCP variants in one scenario, as plotted by ``chappe plot SCENARIO --what cwnd``."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from chappe import plot
from chappe import text as show
from chappe.results.results import run
from chappe.scenario.scenario import Scenario


def measured(scenario: Scenario, variants: Sequence[str], flow: int) -> pl.DataFrame:
    """Runs each variant and returns the window changes of a flow: the column ``variant``, then those of ``cwnd``.

    Args:
        scenario: The scenario; all variants use the same seed.
        variants: Values of ``tcp.variant``; empty: the scenario as it is.
        flow: Number of the flow.

    Returns:
        Rows of the table ``cwnd``; no rows of variants with which the flow did not start.

    Raises:
        ScenarioError: If a variant is unknown or does not fit the scenario.
    """
    # The settings of the parts of a variant would override it.
    parts = {"tcp.congestion_control": "variant", "tcp.loss_recovery": "variant"}
    changes: list[tuple[str | None, dict[str, str]]] = [(v, {"tcp.variant": v, **parts}) for v in variants]
    under = [(v, scenario.with_settings({**change, "run.record": ["cwnd"]})) for v, change in changes or [(None, {})]]
    tables = []
    for v, s in under:
        results = run(s)
        of_flow = results.flows.filter(pl.col("flow") == flow)["variant"].to_list()
        name = pl.lit(v or next(iter(of_flow), None), dtype=pl.String).alias("variant")
        tables.append(results.recorded["cwnd"].filter(pl.col("flow") == flow).select(name, pl.all()))
    return pl.concat(tables)


def figure(changes: pl.DataFrame, variants: Sequence[str], *, title: str, end_s: float, begin_s: float = 0.0) -> Figure:
    """Plots windows and ssthresh over time, one panel per variant, with markers for losses and ECN marks.

    Args:
        changes: Result of :func:`measured`.
        variants: Variants of the panels, in order.
        title: Title of the figure.
        end_s: Right end of the time axes [s].
        begin_s: Left end of the time axes [s].
    """
    panels = {v: changes.filter(pl.col("variant") == v) for v in variants}
    return plot.windows(panels, title=title, end_s=end_s, begin_s=begin_s)


def last(changes: pl.DataFrame) -> float:
    """Time of the last change [s]."""
    return float(changes["time_s"].to_numpy().max())


def summary(changes: pl.DataFrame, variants: Sequence[str]) -> list[dict[str, Any]]:
    """Window changes, fast retransmits, timeouts and the largest window of each variant; ``None`` without changes."""
    rows = []
    for v in variants:
        of_variant = changes.filter(pl.col("variant") == v)
        events = of_variant["event"].cast(pl.String)
        largest = of_variant["cwnd_segments"].to_numpy()
        rows.append(
            {
                "variant": v,
                "changes": len(of_variant),
                "fast_retransmits": int((events == "fast_retransmit").sum()),
                "timeouts": int((events == "timeout").sum()),
                "max_cwnd_segments": float(largest.max()) if len(of_variant) else None,
            }
        )
    return rows


def table(rows: Sequence[Mapping[str, Any]]) -> None:
    """Prints the rows of :func:`summary`."""
    t = show.table("Variant", ">changes", ">fast retransmits", ">timeouts", ">largest window")
    for r in rows:
        largest = "" if r["max_cwnd_segments"] is None else show.number(r["max_cwnd_segments"], 3)
        t.add_row(r["variant"], str(r["changes"]), str(r["fast_retransmits"]), str(r["timeouts"]), largest)
    show.write(t)
