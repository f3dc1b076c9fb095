"""Cases of the comparison: traffic over three walks each, and the columns of a run."""

import csv
import math
import tomllib
from collections.abc import Mapping
from importlib.resources import files

import polars as pl
from chappe import Scenario

HERE = files("chappe_papers.validation.dsr")

WALKS = {"newreno": ("walk1", "walk2", "walk3"), "vegas": ("vegas1", "vegas2", "vegas3")}
"""The walks of each case, which is named after its variant of TCP."""

TCP_FLOWS = 4
"""The flow after these is one of datagrams."""

_REASONS = {
    "queue_full": ("queue_full",),
    "link_failure": ("retry_limit", "route_failure"),
    "no_route": ("no_route",),
    # ns-2 calls a full send buffer TOUT, too.
    "waited": ("route_timeout", "route_buffer_full"),
    "arp_failure": ("arp_failure",),
    "routing_loop": ("routing_loop",),
    "ttl": ("ttl_expired",),
}
"""Reasons of dropped packets, with our columns."""

Row = Mapping[str, float]
"""The columns of a run."""


def scenario(case: str, walk: str) -> Scenario:
    """The scenario of a walk."""
    settings = tomllib.loads(HERE.joinpath(f"{case}.toml").read_text(encoding="utf-8"))
    settings["mobility"]["file"] = str(HERE.joinpath(f"{walk}.mv"))
    return Scenario(settings)


def of_run(tables: Mapping[str, pl.DataFrame]) -> dict[str, float]:
    """The columns of a run of Chappe."""
    row: dict[str, float] = {}
    for kind in ("data", "ack"):
        outcomes = tables["packet_outcomes"].filter(pl.col("packet_class") == kind).sum().row(0, named=True)
        row |= {f"{kind}_{name}": float(outcomes[name]) for name in ("created", "delivered")}
        for name, reasons in _REASONS.items():
            row[f"{kind}_{name}"] = float(sum(outcomes[f"dropped_{reason}"] for reason in reasons))
    row["routing"] = float(tables["nodes"]["routing_packets_sent"].sum())
    for i, flow in enumerate(tables["flows"].iter_rows(named=True)):
        if i < TCP_FLOWS:
            row[f"flow{i}_acked"] = float(flow["packets_acked"])
            row |= {f"flow{i}_{name}": float(flow[name]) for name in ("retransmissions", "timeouts")}
        delay = flow["mean_copy_delay_s"]
        row[f"flow{i}_received"] = float(flow["copies_received"])
        row[f"flow{i}_mean_delay_s"] = math.nan if delay is None else delay
    return _sums(row)


def reference(case: str) -> dict[str, list[Row]]:
    """The runs of ns-2.35 on each walk of a case."""
    by_walk: dict[str, list[Row]] = {walk: [] for walk in WALKS[case]}
    for line in csv.DictReader(HERE.joinpath(f"ns2_{case}.csv").read_text(encoding="utf-8").splitlines()):
        row = {name: float(text) if text else math.nan for name, text in line.items() if name not in ("walk", "seed")}
        for kind in ("data", "ack"):
            row[f"{kind}_waited"] = row.pop(f"{kind}_route_timeout") + row.pop(f"{kind}_route_buffer_full")
            # Packets that were salvaged too often, of which ours are told with those of lost links.
            row[f"{kind}_link_failure"] += row.pop(f"{kind}_other")
        row["routing"] = row.pop("routing_sent") + row.pop("routing_forwarded")
        by_walk[line["walk"]].append(_sums(row))
    return by_walk


def _sums(row: dict[str, float]) -> dict[str, float]:
    """With sums over kinds and flows."""
    row["no_route"] = row["data_no_route"] + row["ack_no_route"]
    for name in ("acked", "retransmissions", "timeouts"):
        row[f"tcp_{name}"] = sum(row[f"flow{i}_{name}"] for i in range(TCP_FLOWS))
    return row
