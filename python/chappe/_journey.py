"""Journeys of delivered packets: the time that each of them spent at each place, from its creation to its delivery.

The parts of a journey meet, so that they add up to the delay of the packet.
"""

import bisect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

ROUTE, QUEUE, ACCESS, RETRIES, AIR, LINK = "route", "queue", "access", "retransmission", "air", "link"
ORDER = "order"
"""Parts of a journey: no route or address yet, in a queue, first access to the medium, further attempts, on the air, on
a point-to-point link; behind an MPDU that is missing, at a station with EDCA."""

PARTS = {
    ROUTE: "waiting for a route",
    QUEUE: "in the queue",
    ACCESS: "access to the medium",
    RETRIES: "repeated frames",
    AIR: "on the air",
    LINK: "on the link",
    ORDER: "in the reordering buffer",
}

_BEGINS = ("created", "injected", "received", "arrived")


class Leg(NamedTuple):
    """A part of a journey.

    Attributes:
        packet: Number of the packet.
        node: Node at which the time passed.
        part: One of :data:`PARTS`.
        begin_s: Its beginning [s].
        end_s: Its end [s].
    """

    packet: int
    node: int
    part: str
    begin_s: float
    end_s: float


class _Events:
    """Events of a packet, by node and kind, each with its times in order."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]):
        self._times: dict[tuple[str, int, int | None], list[float]] = {}
        self._any: dict[tuple[str, int], list[float]] = {}
        self._to: dict[int, list[tuple[float, int]]] = {}
        for row in rows:
            self._any.setdefault((row["event"], row["node"]), []).append(row["time_s"])
            if row["event"] == "dequeued" and row["next_hop"] is not None:
                self._to.setdefault(row["next_hop"], []).append((row["time_s"], row["node"]))

    def last(self, event: str, node: int, until_s: float) -> float | None:
        """Last such event at the node, at this time or before."""
        times = self._any.get((event, node), [])
        place = bisect.bisect_right(times, until_s)
        return times[place - 1] if place else None

    def sender_to(self, node: int, until_s: float) -> tuple[float, int] | None:
        """Time and node of the last packet that left for this node, at this time or before."""
        sent = self._to.get(node, [])
        place = bisect.bisect_right(sent, (until_s, float("inf")))
        return sent[place - 1] if place else None


def journeys(packets: pl.DataFrame, frames: pl.DataFrame) -> Iterator[list[Leg]]:
    """Legs of each delivered packet, from its creation on.

    Args:
        packets: Rows of the recorded table ``packets`` of these packets.
        frames: Rows of the recorded table ``frames`` of these packets; with ``received``, of those of aggregates.
    """
    received = ORDER if "received" in frames.columns else ROUTE
    sent: dict[tuple[int, int, int], list[tuple[float, float]]] = {}
    columns = ("packet", "src", "dst", "time_s", "airtime_s")
    for packet, src, dst, time_s, airtime_s in frames.sort("time_s").select(columns).iter_rows():
        sent.setdefault((packet, src, dst), []).append((time_s, airtime_s))
    rows: dict[int, list[dict[str, Any]]] = {}
    for row in packets.select("packet", "event", "node", "next_hop", "dst", "time_s").iter_rows(named=True):
        rows.setdefault(row["packet"], []).append(row)
    for packet, of_packet in rows.items():
        # The first copy that arrives ends the journey.
        end = next((r for r in of_packet if r["event"] == "delivered" and r["node"] == r["dst"]), None)
        if end is not None and (legs := _back(packet, _Events(of_packet), end["node"], end["time_s"], sent, received)):
            yield legs[::-1]


def _back(
    packet: int,
    events: _Events,
    node: int,
    end_s: float,
    sent: Mapping[tuple[int, int, int], Sequence[tuple[float, float]]],
    received: str,
) -> list[Leg]:
    """Legs from the delivery back to the creation; none if the way cannot be told.

    ``received`` is the part between the reception over the radio and what follows it at a node.
    """
    legs: list[Leg] = []
    now = end_s
    while True:
        arrivals = [(t, event) for event in _BEGINS if (t := events.last(event, node, now)) is not None]
        if not arrivals:
            return []
        arrived_s, how = max(arrivals)
        if now > arrived_s:
            # Within a node time passes without a route, or while the layers hand the packet on.
            legs.append(Leg(packet, node, received if how == "received" else ROUTE, arrived_s, now))
        if how in ("created", "injected"):
            return legs
        if (left := events.sender_to(node, arrived_s)) is None:
            return []
        left_s, sender = left
        if how == "arrived":
            legs.append(Leg(packet, sender, LINK, left_s, arrived_s))
        else:
            tries = [f for f in sent.get((packet, sender, node), ()) if left_s <= f[0] < arrived_s]
            if not tries:
                return []
            last_s = tries[-1][0]
            legs.append(Leg(packet, sender, AIR, last_s, arrived_s))
            if len(tries) > 1:
                legs.append(Leg(packet, sender, RETRIES, tries[0][0], last_s))
            legs.append(Leg(packet, sender, ACCESS, left_s, tries[0][0]))
        queued_s = events.last("queued", sender, left_s)
        if queued_s is None:
            return []
        legs.append(Leg(packet, sender, QUEUE, queued_s, left_s))
        node, now = sender, queued_s
