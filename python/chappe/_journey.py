"""Journeys of delivered packets: the time that each of them spent at each place, from its creation to its delivery.

The parts of a journey meet, so that they add up to the delay of the packet.
"""

import bisect
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

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
_KNOWN = (*_BEGINS, "queued", "dequeued", "delivered")
"""Events from which journeys are made."""


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
    """Events of a packet by node, each with its times in order."""

    def __init__(self) -> None:
        self._begun: dict[int, tuple[list[float], list[str]]] = {}
        self._queued: dict[int, list[float]] = {}
        self._left: dict[int, tuple[list[float], list[int]]] = {}
        self.end: tuple[int, float] | None = None
        """Node and time of the delivery; the first copy that arrives ends the journey."""

    def add(self, event: str, node: int, next_hop: int | None, dst: int | None, time_s: float) -> None:
        """Adds a row of the table ``packets``."""
        if event in _BEGINS:
            times, kinds = self._begun.setdefault(node, ([], []))
            times.append(time_s)
            kinds.append(event)
        elif event == "queued":
            self._queued.setdefault(node, []).append(time_s)
        elif event == "dequeued":
            if next_hop is not None:
                times, nodes = self._left.setdefault(next_hop, ([], []))
                times.append(time_s)
                nodes.append(node)
        elif event == "delivered" and node == dst and self.end is None:
            self.end = node, time_s

    def begun(self, node: int, until_s: float) -> tuple[float, str] | None:
        """Time and kind of the last arrival or creation at the node, at this time or before."""
        if (found := self._begun.get(node)) is None or (place := bisect.bisect_right(found[0], until_s)) == 0:
            return None
        return found[0][place - 1], found[1][place - 1]

    def queued(self, node: int, until_s: float) -> float | None:
        """Time at which it was last queued at the node, at this time or before."""
        if (times := self._queued.get(node)) is None or (place := bisect.bisect_right(times, until_s)) == 0:
            return None
        return times[place - 1]

    def sender_to(self, node: int, until_s: float) -> tuple[float, int] | None:
        """Time and node of the last departure for this node, at this time or before."""
        if (found := self._left.get(node)) is None or (place := bisect.bisect_right(found[0], until_s)) == 0:
            return None
        return found[0][place - 1], found[1][place - 1]


def journeys(packets: pl.DataFrame, frames: pl.DataFrame) -> Iterator[list[Leg]]:
    """Legs of each delivered packet, from its creation on.

    Args:
        packets: Rows of the recorded table ``packets`` of these packets.
        frames: Rows of the recorded table ``frames`` of these packets; with ``received``, of those of aggregates.
    """
    received = ORDER if "received" in frames.columns else ROUTE
    sent: dict[tuple[int, int, int], list[float]] = {}
    for packet, src, dst, time_s in frames.sort("time_s").select("packet", "src", "dst", "time_s").iter_rows():
        sent.setdefault((packet, src, dst), []).append(time_s)
    events: dict[int, _Events] = {}
    known = packets.filter(pl.col("event").cast(pl.String).is_in(_KNOWN))
    for packet, *row in known.select("packet", "event", "node", "next_hop", "dst", "time_s").iter_rows():
        if (of_packet := events.get(packet)) is None:
            of_packet = events[packet] = _Events()
        of_packet.add(*row)
    for packet, of_packet in events.items():
        if of_packet.end is not None and (legs := _back(packet, of_packet, *of_packet.end, sent, received)):
            yield legs[::-1]


def _back(
    packet: int,
    events: _Events,
    node: int,
    end_s: float,
    sent: Mapping[tuple[int, int, int], Sequence[float]],
    received: str,
) -> list[Leg]:
    """Legs from the delivery back to the creation; none if the way cannot be told.

    ``received`` is the part between the reception over the radio and what follows it at a node.
    """
    legs: list[Leg] = []
    now = end_s
    while True:
        if (begun := events.begun(node, now)) is None:
            return []
        arrived_s, how = begun
        if now > arrived_s or not legs:
            # Within a node time passes without a route, or while the layers hand the packet on. The last leg is at the
            # node of the delivery, also if that took no time.
            legs.append(Leg(packet, node, received if how == "received" else ROUTE, arrived_s, now))
        if how in ("created", "injected"):
            return legs
        if (left := events.sender_to(node, arrived_s)) is None:
            return []
        left_s, sender = left
        if how == "arrived":
            legs.append(Leg(packet, sender, LINK, left_s, arrived_s))
        else:
            tries = sent.get((packet, sender, node), ())
            first, last = bisect.bisect_left(tries, left_s), bisect.bisect_left(tries, arrived_s) - 1
            if last < first:
                return []
            legs.append(Leg(packet, sender, AIR, tries[last], arrived_s))
            if last > first:
                legs.append(Leg(packet, sender, RETRIES, tries[first], tries[last]))
            legs.append(Leg(packet, sender, ACCESS, left_s, tries[first]))
        queued_s = events.queued(sender, left_s)
        if queued_s is None:
            return []
        legs.append(Leg(packet, sender, QUEUE, queued_s, left_s))
        node, now = sender, queued_s
