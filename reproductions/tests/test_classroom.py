"""The classroom of Ramarathinam and Labrador 2003, 130 connections and batteries, compared with ns-2.35."""

from typing import NamedTuple

import chappe
import polars as pl
import pytest
from command import REPOSITORY

FILE = REPOSITORY / "reproductions" / "chappe_papers" / "ramarathinam2003" / "scenario.toml"
NS2_RATE = {"wlan.data_rate": "2 Mbit/s"}
IP_HEADER_FOR_ALL = {"flow.4.tcp.header_size": "40 B"}
PROTOCOLS = {
    "aodv": NS2_RATE,
    "dsdv": {"routing.protocol": "dsdv", **NS2_RATE, **IP_HEADER_FOR_ALL},
    "dsr": {"routing.protocol": "dsr", "queue.discipline": "cmu_priority", **NS2_RATE, **IP_HEADER_FOR_ALL},
}


class Totals(NamedTuple):
    """Delivered segments by group of flows, and totals of the network."""

    internet: float
    light: float
    heavy: float
    moderate: float
    mesh: float
    sent: float
    """Packets sent by agents."""
    emptied_at_s: float
    """Time of the first empty battery [s]."""


GROUPS = ((0, 10), (10, 20), (20, 30), (30, 40), (40, 130))
"""Flows of each group, in the order of the totals."""

NS2 = {
    "aodv": Totals(6500, 3299, 1540, 2093, 65503, 169175, 454.1),
    "dsdv": Totals(6102, 3187, 1569, 1967, 64368, 165461, 454.9),
    "dsr": Totals(4168, 3512, 1729, 2418, 64239, 161962, 453.4),
}
"""Means of three ns-2.35 runs with Reno; segments are acknowledged segments."""

SPREAD = Totals(0.25, 0.25, 0.45, 0.35, 0.03, 0.015, 0.01)
"""Tolerance: four standard deviations, for ten runs of Chappe and three of ns-2, at least 1 %."""


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_totals_are_those_of_ns2(protocol: str) -> None:
    results = chappe.run(chappe.Scenario.load(FILE, PROTOCOLS[protocol]))
    delivered = results.flows["packets_delivered"].to_list()
    assert len(delivered) == 130
    transport = results.packet_outcomes.filter(pl.col("packet_class").is_in(["data", "ack"]))
    sent = sum(transport["created"].to_list()) - sum(transport["dropped_node_off"].to_list())
    empty = min(t for t in results.batteries["emptied_at_s"].to_list() if t is not None)
    totals = [*(sum(delivered[slice(*group)]) for group in GROUPS), sent, empty]
    for name, ours, theirs, spread in zip(Totals._fields, totals, NS2[protocol], SPREAD, strict=True):
        assert ours == pytest.approx(theirs, rel=spread), name


def test_flow_state_replaces_the_header_of_dsr() -> None:
    """ns-2.35: 95 % of the data packets and 90 % of the acknowledgements, in complete runs."""
    changes = {**PROTOCOLS["dsr"], "run.stop": "60 s", "run.record": ["packets"]}
    packets = chappe.run(chappe.Scenario.load(FILE, changes)).recorded["packets"]
    # After the IP header that DSR adds.
    for kind, bare, share in (("tcp_data", 512 + 40 + 20, 0.95), ("tcp_ack", 40 + 20, 0.9)):
        sizes = packets.filter((pl.col("packet_type") == kind) & (pl.col("event") == "queued"))["bytes"].to_list()
        # Short runs have a smaller share: the first three packets of each of 260 flows carry the header.
        assert sum(size == bare for size in sizes) / len(sizes) == pytest.approx(share, abs=0.05), kind


def test_transfers_that_have_stopped_stand_still() -> None:
    batches = chappe.run(chappe.Scenario.load(FILE)).flow_batches.filter(pl.col("flow") == 20)
    new = (batches["packets_sent"] - batches["retransmissions"]).to_list()
    # A transfer from 200 s to 300 s in batches of 25 s; the SYN is sent at the end of the preceding batch.
    assert [i for i, segments in enumerate(new) if segments > 0] == [7, 8, 9, 10, 11]
