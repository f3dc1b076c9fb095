"""Time budgets and causes of loss of a run, from counters alone."""

from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from typing import TYPE_CHECKING, Any

from chappe._common import forked

if TYPE_CHECKING:
    import polars as pl

USES = {
    "slow_start": "slow start",
    "congestion_avoidance": "congestion avoidance",
    "recovery": "loss recovery",
    "timeout_wait": "waiting for a timeout",
    "route_wait": "waiting for a route",
    "application_limited": "nothing to send",
    "receiver_limited": "held back by the receiver's window",
    "send_buffer_limited": "held back by the send buffer",
}
"""Phases of a TCP flow; docs/results.md defines them."""

AIRTIME = {
    "off": "switched off",
    "data": "sending data",
    "retransmitted_data": "retransmitting data",
    "tcp_acks": "sending TCP acknowledgements",
    "control": "sending RTS, CTS, ACK",
    "routing": "sending routing and ARP messages",
    "collided": "sending frames that are lost",
    "reception": "receiving",
    "carrier_sense": "medium busy, nothing decodable",
    "nav": "reserved by others (NAV)",
    "eifs": "deferring after undecodable frames (EIFS)",
    "backoff": "backoff and waiting for responses",
    "idle": "idle",
}
"""Uses of the time of a node; docs/results.md defines them."""

SENDING = ("data", "retransmitted_data", "tcp_acks", "control", "routing", "collided")
"""Uses in which the node transmits."""

LOSSES = {
    "retry_limit_hidden_terminal": "retry limit: hidden terminals",
    "retry_limit_same_slot": "retry limit: neighbors in the same slot",
    "retry_limit_captured": "retry limit: receiver locked on a stronger frame",
    "retry_limit_transmitting": "retry limit: receiver transmitting",
    "retry_limit_refused": "retry limit: CTS refused (NAV, carrier sense)",
    "retry_limit_response_lost": "retry limit: CTS or ACK lost",
    "retry_limit_damaged": "retry limit: corrupted by an error model or noise",
    "retry_limit_out_of_range": "retry limit: receiver out of range",
    "retry_limit_switched_off": "retry limit: receiver switched off",
    "dropped_route_failure": "purged from a queue after a route failure",
    "dropped_no_route": "no route",
    "dropped_route_timeout": "timed out waiting for a route",
    "dropped_route_buffer_full": "route buffer full",
    "dropped_arp_failure": "address not resolved",
    "dropped_queue_full": "queue full",
    "dropped_aqm": "dropped early by active queue management",
    "dropped_mac_queue_full": "queues of the MAC full",
    "dropped_mac_aqm": "dropped early by CoDel in a queue of the MAC",
    "dropped_ttl_expired": "TTL expired",
    "dropped_routing_loop": "routing loop: returned to its source",
    "dropped_link_error": "corrupted on a link",
    "dropped_node_off": "node switched off",
    "dropped_flow_over": "short flow already over",
}
"""Columns of ``packet_outcomes`` that count losses of packets of flows, with their texts."""

REASONS = {
    counter: ("retry_limit", counter.removeprefix("retry_limit_"))
    if counter.startswith("retry_limit_")
    else (counter.removeprefix("dropped_"), None)
    for counter in LOSSES
}
"""``drop_reason`` and ``retry_cause``, as in the table ``packets``, of each of these columns."""


@dataclass(frozen=True, repr=False)
class Why:
    """Budgets of a run; ``print`` and prompts show them as ``chappe run --why`` does.

    Attributes:
        flow_time: Measured time of TCP flows by phase: ``flow``, ``use``, ``time_s``, ``share``. The shares of a flow
            sum to 1.
        routes: Routes of flows: ``flow``, ``breaks`` (number of times the source learned of a broken route),
            ``no_route_s`` (time without a route), ``share`` (the same, of the time that the flow was active; null:
            never active), ``mean_life_s`` (null: no route broke).
        losses: Packets of flows created in the measured part and dropped: ``packet_class`` (``data``, ``ack``),
            ``drop_reason`` and ``retry_cause`` (as in the table ``packets``), ``packets``, ``share``. The shares of a
            class sum to 1; causes without packets are left out.
        airtime: Measured time of nodes by use: ``node``, ``use``, ``time_s``, ``share``. The shares of a node sum to
            1; their means over the nodes are the shares of the network.
        aggregates: Nodes that sent MPDUs with EDCA: ``node``, ``frames`` (data frames sent), ``mpdus`` (in them),
            ``mean_mpdus`` (mean length of an aggregate), ``lost_share`` (MPDUs that no response acknowledged).
        energy_j: Energy of all nodes in the measured time [J].
        energy_per_bit_j: Energy per delivered bit of payload [J]; ``None`` if nothing was delivered.
        names: Names of the nodes that have one, by number.
    """

    flow_time: "pl.DataFrame"
    routes: "pl.DataFrame"
    losses: "pl.DataFrame"
    airtime: "pl.DataFrame"
    aggregates: "pl.DataFrame"
    energy_j: float
    energy_per_bit_j: float | None
    names: Mapping[int, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Budgets as plain data, as in ``why`` of ``chappe run --why --json``.

        Raises:
            RuntimeError: In a process forked after polars was used.
        """
        forked.refuse()
        names = ("flow_time", "losses", "airtime", "routes", "aggregates")
        rows = {name: getattr(self, name).to_dicts() for name in names}
        return {**rows, "energy_j": self.energy_j, "energy_per_bit_j": self.energy_per_bit_j}

    def __repr__(self) -> str:
        from chappe.printing import results as printing  # it imports this module

        forked.refuse()
        with redirect_stdout(StringIO()) as output:
            printing.why(self)
        return output.getvalue().strip("\n")


def explain(flows: "pl.DataFrame", outcomes: "pl.DataFrame", airtime: "pl.DataFrame", nodes: "pl.DataFrame") -> Why:
    """Budgets from the tables of a run."""
    import polars as pl

    from chappe.results.storage import tables

    measured = outcomes.filter("measured")
    lost = measured.filter(pl.col("packet_class").is_in(["data", "ack"])).unpivot(
        list(LOSSES), index="packet_class", variable_name="counter", value_name="packets"
    )
    lost = lost.filter(pl.col("packets") > 0)
    losses = lost.select(
        "packet_class",
        pl.col("counter").replace_strict({name: reason for name, (reason, _) in REASONS.items()}).alias("drop_reason"),
        pl.col("counter").replace_strict({name: cause for name, (_, cause) in REASONS.items()}).alias("retry_cause"),
        "packets",
        (pl.col("packets") / pl.col("packets").sum().over("packet_class")).alias("share"),
    )
    energy = float(airtime["energy_j"].sum())
    bits = float((flows["goodput_bps"] * flows["measured_s"]).sum())
    # The shares of a node cover all of its radios.
    airtime = airtime.group_by("node", maintain_order=True).agg(pl.col(f"{use}_s").sum() for use in AIRTIME)
    return Why(
        _shares(flows.filter(pl.col("transport") != "udp"), "flow", list(USES)),
        tables.known(
            flows.select(
                "flow",
                pl.col("route_breaks").alias("breaks"),
                "no_route_s",
                (pl.col("no_route_s") / (pl.col("route_available_s") + pl.col("no_route_s"))).alias("share"),
                pl.col("mean_route_life_s").alias("mean_life_s"),
            )
        ),
        losses.sort("packet_class", "packets", descending=True, maintain_order=True),
        _shares(airtime, "node", list(AIRTIME)),
        _aggregates(nodes),
        energy,
        energy / bits if bits else None,
        dict(nodes.drop_nulls("name").select("node", "name").iter_rows()) if "name" in nodes.columns else {},
    )


def _aggregates(nodes: "pl.DataFrame") -> "pl.DataFrame":
    """Aggregates of the nodes that sent MPDUs as QoS stations; results of before have no such counters."""
    import polars as pl

    from chappe.results.storage import tables

    if "mpdus_sent" not in nodes.columns:
        nodes = nodes.with_columns(pl.lit(0, pl.Int64).alias(name) for name in ("mpdus_sent", "mpdus_failed"))
    return tables.known(
        nodes.filter(pl.col("mpdus_sent") > 0).select(
            "node",
            pl.col("data_frames_sent").alias("frames"),
            pl.col("mpdus_sent").alias("mpdus"),
            (pl.col("mpdus_sent") / pl.col("data_frames_sent")).alias("mean_mpdus"),
            (pl.col("mpdus_failed") / pl.col("mpdus_sent")).alias("lost_share"),
        )
    )


def _shares(table: "pl.DataFrame", index: str, uses: list[str]) -> "pl.DataFrame":
    """Times by use as rows, with shares."""
    import polars as pl

    from chappe.results.storage import tables

    times = table.unpivot([f"{use}_s" for use in uses], index=index, variable_name="use", value_name="time_s")
    shares = times.with_columns(
        pl.col("use").str.strip_suffix("_s"),
        (pl.col("time_s") / pl.col("time_s").sum().over(index)).alias("share"),
    )
    return tables.known(shares.sort(index, maintain_order=True))
