"""Former names of columns and words of tables: saved tables of the previous version are read under current names."""

from collections.abc import Mapping, Sequence

import polars as pl

COLUMNS: Mapping[str, str] = {
    "delivered_packets": "packets_delivered",
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
}
"""Columns of all tables by former name."""

OF_TABLE: Mapping[str, Mapping[str, str]] = {
    "fates": {"kind": "packet_class"},
    "rates": {"kind": "packet_class", "receiver": "next_hop"},
    "frames": {"kind": "frame_type", "sender": "src", "receiver": "dst"},
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


def names(table: str, columns: Sequence[str]) -> dict[str, str]:
    """Current names of those columns of a table that have former names."""
    known = {**COLUMNS, **OF_TABLE.get(table, {})}
    return {c: known[c] for c in columns if c in known and known[c] not in columns}


def of_today(name: str, table: pl.DataFrame) -> pl.DataFrame:
    """A table, perhaps of the previous version, under the current names.

    Args:
        name: Name of the table.
        table: Its rows.
    """
    former = names(name, table.columns)
    table = table.rename(former)
    words = table.schema.get("packet_type")
    if name == "packets" and "kind" in former and isinstance(words, pl.Enum):
        today = pl.Enum([WORDS.get(word, word) for word in words.categories])
        table = table.with_columns(pl.col("packet_type").cast(pl.String).replace(WORDS).cast(today))
    return table
