"""Arrivals of data at their destinations, from the recorded table ``packets``."""

import polars as pl

from chappe.results.results import Results


def first_arrivals(results: Results, flow: int | None = None) -> pl.DataFrame:
    """First arrival of each segment and datagram of a flow, or of all flows.

    Returns:
        ``packet``, ``flow``, ``short_flow`` (tells short flows apart), ``sent_at_s``, ``time_s``.
    """
    packets = results.recorded["packets"]
    of_flow = pl.col("flow").is_not_null() if flow is None else pl.col("flow") == flow
    data = packets.filter(of_flow & pl.col("packet_type").cast(pl.String).is_in(["tcp_data", "udp"]))
    event = pl.col("event").cast(pl.String)
    arrived = _with_short_flows(data, results).filter(
        (event == "delivered") & (pl.col("node") == pl.col("dst")) & pl.col("sent_at_s").is_not_null()
    )
    first = arrived.sort("time_s", maintain_order=True).unique(
        ["flow", "short_flow", "sequence"], keep="first", maintain_order=True
    )
    return first.select("packet", "flow", "short_flow", "sent_at_s", "time_s")


def _with_short_flows(data: pl.DataFrame, results: Results) -> pl.DataFrame:
    """Packets with ``short_flow``, a number that tells short flows apart which have the same number of a flow."""
    is_short = pl.col("flow") >= len(results.flows)
    if data.filter(is_short).is_empty():
        return data.with_columns(pl.lit(0).alias("short_flow"))
    begun = results.short_flows.filter(pl.col("flow").is_null()).select(
        "src", "dst", pl.col("started_at_s").alias("time_s"), pl.lit(True).alias("_begun")
    )
    begins = pl.col("_begun") & is_short & (pl.col("event").cast(pl.String) == "created") & (pl.col("sequence") == 0)
    return data.join(begun.unique(), on=["src", "dst", "time_s"], how="left", maintain_order="left").with_columns(
        begins.fill_null(False).cum_sum().over("flow").alias("short_flow")
    )
