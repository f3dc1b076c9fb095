"""Why a run came out as it did: budgets that add up, from counters alone."""

from dataclasses import dataclass

import polars as pl

USES = {
    "slow_start": "slow start",
    "congestion_avoidance": "congestion avoidance",
    "recovery": "loss recovery",
    "timeout_wait": "waiting for a timeout",
    "route_wait": "waiting for a route",
    "application_limited": "nothing to send",
}
"""What a TCP flow spends its time on; docs/results.md defines them."""

LOSSES = {
    "retry_limit_collision": "retry limit: collisions (hidden terminals)",
    "retry_limit_captured": "retry limit: receiver locked on a stronger frame",
    "retry_limit_transmitting": "retry limit: receiver transmitting",
    "retry_limit_refused": "retry limit: CTS refused (NAV, carrier sense)",
    "retry_limit_response_lost": "retry limit: CTS or ACK lost",
    "dropped_route_failure": "purged from a queue after a route failure",
    "dropped_no_route": "no route on the way",
    "dropped_route_timeout": "waited too long for a route",
    "dropped_route_buffer_full": "too many packets waited for a route",
    "dropped_arp_failure": "address not resolved",
    "dropped_queue_full": "queue full",
    "dropped_ttl_expired": "too many hops",
    "dropped_routing_loop": "came back to its source",
}
"""Why packets of the flows are lost."""


@dataclass(frozen=True)
class Why:
    """The budgets of a run.

    Attributes:
        flow_time: What TCP flows spend the measured time on: ``flow``, ``use``, ``time_s``, ``share``. The shares of a
            flow sum to 1.
        losses: Packets of the flows that were dropped in the whole run: ``kind`` (``data``, ``ack``), ``cause``,
            ``packets``, ``share``. The shares of a kind sum to 1; causes without a packet are left out.
    """

    flow_time: pl.DataFrame
    losses: pl.DataFrame


def explain(flows: pl.DataFrame, fates: pl.DataFrame) -> Why:
    """The budgets in the tables of a run."""
    tcp = flows.filter(pl.col("transport") != "udp")
    times = tcp.unpivot([f"{use}_s" for use in USES], index="flow", variable_name="use", value_name="time_s")
    flow_time = times.with_columns(
        pl.col("use").str.strip_suffix("_s"),
        (pl.col("time_s") / pl.col("time_s").sum().over("flow")).alias("share"),
    )
    lost = fates.filter(pl.col("kind").is_in(["data", "ack"])).unpivot(
        list(LOSSES), index="kind", variable_name="cause", value_name="packets"
    )
    lost = lost.filter(pl.col("packets") > 0)
    losses = lost.with_columns((pl.col("packets") / pl.col("packets").sum().over("kind")).alias("share"))
    return Why(flow_time.sort("flow", maintain_order=True), losses.sort("kind", "packets", descending=True))
