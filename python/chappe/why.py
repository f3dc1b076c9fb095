"""Why a run came out as it did: budgets that add up, from counters alone."""

import math
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import Any

import polars as pl

from chappe import forked

USES = {
    "slow_start": "slow start",
    "congestion_avoidance": "congestion avoidance",
    "recovery": "loss recovery",
    "timeout_wait": "waiting for a timeout",
    "route_wait": "waiting for a route",
    "application_limited": "nothing to send",
}
"""What a TCP flow spends its time on; docs/results.md defines them."""

AIR_TIME = {
    "off": "switched off",
    "data": "sending data",
    "retransmitted_data": "sending data again",
    "tcp_acks": "sending TCP acknowledgements",
    "control": "sending RTS, CTS, ACK",
    "routing": "sending routing and ARP messages",
    "collided": "sending frames that get lost",
    "reception": "receiving",
    "carrier_sense": "medium busy, nothing to be read",
    "nav": "reserved by others (NAV)",
    "eifs": "waiting after unreadable frames (EIFS)",
    "backoff": "back-off, and waiting for answers",
    "idle": "idle",
}
"""What the time of a node is used for; docs/results.md defines them."""

SENDING = ("data", "retransmitted_data", "tcp_acks", "control", "routing", "collided")
"""Those in which it transmits."""

LOSSES = {
    "retry_limit_hidden_terminal": "retry limit: hidden terminals",
    "retry_limit_same_slot": "retry limit: neighbours that sent at the same time",
    "retry_limit_captured": "retry limit: receiver locked on a stronger frame",
    "retry_limit_transmitting": "retry limit: receiver transmitting",
    "retry_limit_refused": "retry limit: CTS refused (NAV, carrier sense)",
    "retry_limit_response_lost": "retry limit: CTS or ACK lost",
    "retry_limit_damaged": "retry limit: damaged by an error model or noise",
    "retry_limit_out_of_range": "retry limit: receiver out of range",
    "retry_limit_switched_off": "retry limit: receiver switched off",
    "dropped_route_failure": "purged from a queue after a route failure",
    "dropped_no_route": "no route on the way",
    "dropped_route_timeout": "waited too long for a route",
    "dropped_route_buffer_full": "too many packets waited for a route",
    "dropped_arp_failure": "address not resolved",
    "dropped_queue_full": "queue full",
    "dropped_aqm": "dropped early by active queue management",
    "dropped_ttl_expired": "too many hops",
    "dropped_routing_loop": "came back to its source",
    "dropped_link_error": "damaged on a link",
    "dropped_node_off": "their node was switched off",
    "dropped_flow_over": "their transfer was over",
}
"""Why packets of the flows are lost."""


@dataclass(frozen=True, repr=False)
class Why:
    """The budgets of a run; ``print`` and a prompt show them as ``chappe run --why`` does.

    Attributes:
        flow_time: What TCP flows spend the measured time on: ``flow``, ``use``, ``time_s``, ``share``. The shares of a
            flow sum to 1.
        routes: How long routes of flows lived: ``flow``, ``breaks`` (how often the source learnt that its route was
            broken), ``no_route_s`` (how long it had none), ``share`` (of the time that the flow went on; NaN: it did
            not), ``mean_life_s`` (NaN: none broke).
        losses: Packets of the flows that were dropped in the whole run: ``kind`` (``data``, ``ack``), ``cause``,
            ``packets``, ``share``. The shares of a kind sum to 1; causes without a packet are left out.
        air_time: What the measured time of the nodes is used for: ``node``, ``use``, ``time_s``, ``share``. The shares
            of a node sum to 1; their means over the nodes are those of the network.
        energy_j: Energy of all nodes in the measured time [J].
        energy_per_bit_j: The same per delivered bit of payload [J]; NaN when nothing was delivered.
    """

    flow_time: pl.DataFrame
    routes: pl.DataFrame
    losses: pl.DataFrame
    air_time: pl.DataFrame
    energy_j: float
    energy_per_bit_j: float

    def to_dict(self) -> dict[str, Any]:
        """The budgets as plain data: what ``chappe run --why --json`` adds as ``why``. NaN becomes ``None``.

        Raises:
            RuntimeError: In a process that was forked from one that had used polars.
        """
        forked.refuse()
        per_bit = None if math.isnan(self.energy_per_bit_j) else self.energy_per_bit_j
        tables = {name: getattr(self, name).to_dicts() for name in ("flow_time", "losses", "air_time")}
        routes = self.routes.with_columns(pl.col("share", "mean_life_s").fill_nan(None)).to_dicts()
        return {**tables, "routes": routes, "energy_j": self.energy_j, "energy_per_bit_j": per_bit}

    def __repr__(self) -> str:
        from chappe import show_results  # it imports what is above

        forked.refuse()
        with redirect_stdout(StringIO()) as said:
            show_results.why(self)
        return said.getvalue().strip("\n")


def explain(flows: pl.DataFrame, fates: pl.DataFrame, air_time: pl.DataFrame) -> Why:
    """The budgets in the tables of a run."""
    lost = fates.filter(pl.col("kind").is_in(["data", "ack"])).unpivot(
        list(LOSSES), index="kind", variable_name="cause", value_name="packets"
    )
    lost = lost.filter(pl.col("packets") > 0)
    losses = lost.with_columns((pl.col("packets") / pl.col("packets").sum().over("kind")).alias("share"))
    energy = float(air_time["energy_j"].sum())
    bits = float((flows["goodput_bps"] * flows["measured_s"]).sum())
    # A node may have several radios: its shares are those of all of them.
    air_time = air_time.group_by("node", maintain_order=True).agg(pl.col(f"{use}_s").sum() for use in AIR_TIME)
    return Why(
        _shares(flows.filter(pl.col("transport") != "udp"), "flow", list(USES)),
        flows.select(
            "flow",
            pl.col("route_breaks").alias("breaks"),
            "no_route_s",
            (pl.col("no_route_s") / (pl.col("route_s") + pl.col("no_route_s"))).alias("share"),
            pl.col("mean_route_life_s").alias("mean_life_s"),
        ),
        losses.sort("kind", "packets", descending=True, maintain_order=True),
        _shares(air_time, "node", list(AIR_TIME)),
        energy,
        energy / bits if bits else math.nan,
    )


def _shares(table: pl.DataFrame, index: str, uses: list[str]) -> pl.DataFrame:
    """Times by use as rows, with their shares."""
    times = table.unpivot([f"{use}_s" for use in uses], index=index, variable_name="use", value_name="time_s")
    shares = times.with_columns(
        pl.col("use").str.strip_suffix("_s"),
        (pl.col("time_s") / pl.col("time_s").sum().over(index)).alias("share"),
    )
    return shares.sort(index, maintain_order=True)
