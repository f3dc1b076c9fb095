"""Former names of tables, columns and words: saved tables of the previous version are read under current names."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from chappe._deprecated import warn

if TYPE_CHECKING:
    import polars as pl

TABLES: Mapping[str, str] = {
    "air_time": "airtime",
    "fates": "packet_outcomes",
    "link_batches": "wired_link_batches",
    "links": "wired_links",
    "series": "samples",
    "transfers": "short_flows",
}
"""Tables by former name."""

OF_STUDIES: Mapping[str, str] = {**TABLES, "facts": "run_info"}
"""Tables of studies by former name."""

COLUMNS: Mapping[str, str] = {
    "delivered_packets": "packets_delivered",
    "delivered_bytes": "bytes_delivered",
    "acked_packets": "packets_acked",
    "packets_acknowledged": "packets_acked",
    "suppressed_acks": "acks_suppressed",
    "gave_up_s": "aborted_at_s",
    "completion_s": "completion_time_s",
    "window_s": "window_observed_s",
    "route_s": "route_available_s",
    "empty_s": "emptied_at_s",
    "last_sent_s": "last_sent_at_s",
    "last_received_s": "last_received_at_s",
    "mac_ack_packets": "mac_tcp_acks",
    "mac_acks_given_up": "mac_tcp_acks_given_up",
    "rts_sent": "rts_frames_sent",
    "cts_sent": "cts_frames_sent",
    "data_sent": "data_frames_sent",
    "ack_sent": "ack_frames_sent",
    "broadcast_sent": "broadcast_frames_sent",
    "rts_failed": "rts_frames_failed",
    "data_failed": "data_frames_failed",
    "acks_received": "tcp_acks_received",
    "neighbour_changes": "neighbor_changes",
    "utilisation": "utilization",
    "air_time_s": "airtime_s",
    "from": "src",
    "to": "dst",
    "start_s": "started_at_s",
    "end_s": "ended_at_s",
}
"""Columns of all tables by former name."""

OF_TABLE: Mapping[str, Mapping[str, str]] = {
    "run_info": {"frames": "frames_sent"},
    "packet_outcomes": {"kind": "packet_class"},
    "short_flows": {"transfer": "short_flow", "arrivals": "arrival_process"},
    "rates": {"kind": "packet_class", "receiver": "next_hop"},
    "frames": {"kind": "frame_type", "sender": "src", "receiver": "dst"},
    "routes": {"destination": "dst"},
    "queue": {"wire_to": "wired_dst"},
    "packets": {
        "kind": "packet_type",
        "source": "src",
        "destination": "dst",
        "reason": "drop_reason",
        "cause": "retry_cause",
    },
}
"""Columns by table and former name."""

WORDS: Mapping[str, str] = {"data": "tcp_data", "ack": "tcp_ack", "datagram": "udp"}
"""Words of ``packet_type`` by former word."""

APPS: Mapping[str, str] = {"ftp": "bulk"}
"""Words of ``app`` of flows by former word."""

_OF_EDCA = (
    "aggregates_sent",
    "mpdus_sent",
    "mpdus_failed",
    "block_ack_requests_sent",
    "action_frames_sent",
    "cf_ends_sent",
)
_AGGREGATES = dict(zip(_OF_EDCA, ((c, "int") for c in ("data_frames_failed", *_OF_EDCA)), strict=False))

_LIMITS = {
    "receiver_limited_s": ("application_limited_s", "float"),
    "send_buffer_limited_s": ("receiver_limited_s", "float"),
}

ADDED: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "flows": {
        "close_time_s": ("completion_time_s", "float"),
        "packets_dropped": ("aborted_at_s", "int"),
        "drop_reason": ("packets_dropped", "text"),
        "retry_cause": ("drop_reason", "text"),
        **_LIMITS,
    },
    "flow_batches": _LIMITS,
    "nodes": _AGGREGATES,
    "batches": _AGGREGATES,
    "frames": {"mpdus": ("packet", "int")},
    "packets": {"sent_at_s": ("retry_cause", "float")},
    "queue": {"access_category": ("channel", "text")},
    "packet_outcomes": {"measured": ("packet_class", "bool")},
    "short_flows": {
        "flow": ("arrival_process", "int"),
        "measured": ("started_at_s", "bool"),
        "close_time_s": ("completion_time_s", "float"),
    },
    "samples": {"packets_delivered": ("source_queue_packets", "int")},
}
"""Columns by table that the previous version did not write, null in its tables: column in front of each, and type."""


def table_of_today(name: str, renamed: Mapping[str, str] = TABLES) -> str:
    """Current name of a table, with a warning about a former name."""
    if name in renamed:
        warn(f"the table {name}", renamed[name])
    return renamed.get(name, name)


def file_of(folder: Path, table: str) -> Path:
    """File of a table in a folder, perhaps of the previous version."""
    file = folder / f"{table}.parquet"
    old = next((old for old, name in OF_STUDIES.items() if name == table), table)
    before = folder / f"{old}.parquet"
    return before if not file.exists() and before.exists() else file


def of_today(name: str, table: "pl.DataFrame") -> "pl.DataFrame":
    """A table, perhaps of the previous version, under the current names.

    Args:
        name: Name of the table.
        table: Its rows.
    """
    import polars as pl

    from chappe._tables import TYPES

    known = {**COLUMNS, **OF_TABLE.get(name, {})}
    former = {c: known[c] for c in table.columns if c in known and known[c] not in table.columns}
    table = table.rename(former)
    for column, (before, kind) in ADDED.get(name, {}).items():
        if column not in table.columns and before in table.columns:
            place = table.columns.index(before) + 1
            table = table.insert_column(place, pl.Series(column, [None] * len(table), dtype=TYPES[kind]))
    if name == "flows" and "transport" in table.columns and "variant" not in table.columns:
        table = _with_variant(table)
    words = table.schema.get("packet_type")
    if name == "packets" and "kind" in former and isinstance(words, pl.Enum):
        today = pl.Enum([WORDS.get(word, word) for word in words.categories])
        table = table.with_columns(pl.col("packet_type").cast(pl.String).replace(WORDS).cast(today))
    return table


def _with_variant(flows: "pl.DataFrame") -> "pl.DataFrame":
    """Table of flows whose column ``transport`` had the TCP variant, and whose ``app`` had former words."""
    import polars as pl

    is_tcp = pl.col("transport") != "udp"
    place = flows.columns.index("transport") + 1
    variant = flows.select(pl.when(is_tcp).then(pl.col("transport")).alias("variant")).to_series()
    flows = flows.with_columns(
        pl.when(is_tcp).then(pl.lit("tcp")).otherwise(pl.col("transport")).alias("transport"),
        pl.col("app").replace(APPS),
    )
    return flows.insert_column(place, variant)
