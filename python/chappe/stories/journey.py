"""Journeys of delivered packets: the time that each of them spent at each place, from its creation to its delivery.

The journey of a packet that a middlebox made begins with the packet from which it was made, at the source of the flow.
The parts of a journey meet, so that they add up to the delay.
"""

import bisect
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import polars as pl

ROUTE, QUEUE, ACCESS, RETRIES, AIR, LINK = "route", "queue", "access", "retransmission", "air", "link"
MAC, ORDER, BOX = "mac", "order", "middlebox"
"""Parts of a journey: no route or address yet, in a queue, first access to the medium, further attempts, on the air, on
a point-to-point link; at a station with EDCA, in the queues of its MAC and behind other packets that it holds, and
behind an MPDU that is missing; held by a middlebox."""

PARTS = {
    ROUTE: "waiting for a route",
    QUEUE: "in the queue",
    MAC: "waiting in the MAC",
    ACCESS: "access to the medium",
    RETRIES: "repeated frames",
    AIR: "on the air",
    LINK: "on the link",
    ORDER: "in the reordering buffer",
    BOX: "held by a middlebox",
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
        next_hop: Node for which it waited in the MAC; ``None`` for all other parts.
    """

    packet: int
    node: int
    part: str
    begin_s: float
    end_s: float
    next_hop: int | None = None


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

    def arrived(self, node: int, until_s: float) -> float | None:
        """Time of the first arrival at the node, if there is one at this time or before."""
        times, kinds = self._begun.get(node, ([], []))
        found = zip(times, kinds, strict=True)
        return next((at for at, kind in found if kind in ("received", "arrived") and at <= until_s), None)

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


class _Made(NamedTuple):
    """Content of a packet: a segment as its source sent it, or a datagram."""

    flow: int
    sent_at_s: float
    sequence: int


class _Copies:
    """Packets by what they carry; middleboxes have made some of them from others."""

    def __init__(self, events: Mapping[int, _Events]) -> None:
        self._events = events
        self._carried: dict[int, _Made] = {}
        self._carriers: dict[tuple[int, float], list[int]] = {}
        self._halfway: dict[int, list[_Made]] = {}
        self._shift: dict[int, int] = {}

    def add(self, packet: int, carried: _Made, created_at_s: float) -> None:
        """Adds a packet when it is created."""
        self._carried[packet] = carried
        self._carriers.setdefault(carried[:2], []).append(packet)
        if created_at_s > carried.sent_at_s:
            self._halfway.setdefault(carried.flow, []).append(carried)

    def origin(self, packet: int, node: int, made_at_s: float, is_halfway: bool) -> tuple[float, int] | None:
        """Packet of which a middlebox at the node made this one, with its arrival there; none: the node is the source.

        ``is_halfway``: the node splits the connection.
        """
        if (carried := self._carried.get(packet)) is None:
            return None
        sequence = carried.sequence - (self._shift_of(carried.flow) if is_halfway else 0)
        found = [
            (abs(self._carried[other].sequence - sequence), at, other)
            for other in self._carriers[carried[:2]]
            if other != packet and (at := self._events[other].arrived(node, made_at_s)) is not None
        ]
        return min(found)[1:] if found else None

    def _shift_of(self, flow: int) -> int:
        """Difference of the numbers of a segment on both halves of a split connection; one of them may have no SYN."""
        if flow not in self._shift:
            sent = set(self._carried.values())
            made = self._halfway.get(flow, [])
            fits = {by: sum(m._replace(sequence=m.sequence - by) in sent for m in made) for by in (0, 1, -1)}
            self._shift[flow] = max(fits, key=lambda by: fits[by])
        return self._shift[flow]


class _Sent(NamedTuple):
    """Frames with a packet from a node to the next one.

    Attributes:
        begins_s: Their beginnings, in order.
        turns_s: For each of them, when the frame before it had ended, at a station that holds several packets.
    """

    begins_s: list[float]
    turns_s: list[float]


def journeys(packets: pl.DataFrame, frames: pl.DataFrame, queues_in_mac: Callable[[int], bool]) -> Iterator[list[Leg]]:
    """Legs of each delivered packet, from its creation on.

    Args:
        packets: Rows of the recorded table ``packets`` of these packets.
        frames: Rows of the recorded table ``frames`` of these packets; with ``received`` and ``turn_s``, of those of
            aggregates (:func:`chappe.stories.story.attempts`).
        queues_in_mac: Tells of a node if packets for its radios are queued in the MAC.
    """
    received = ORDER if "received" in frames.columns else ROUTE
    turns = pl.col("turn_s") if "turn_s" in frames.columns else pl.lit(None, pl.Float64)
    sent: dict[tuple[int, int, int], _Sent] = {}
    columns = ("packet", "src", "dst", "time_s", turns.fill_null(0.0).alias("turn_s"))
    for packet, src, dst, time_s, turn_s in frames.sort("time_s").select(*columns).iter_rows():
        tries = sent.setdefault((packet, src, dst), _Sent([], []))
        tries.begins_s.append(time_s)
        tries.turns_s.append(turn_s)
    events: dict[int, _Events] = {}
    copies = _Copies(events)
    known = packets.filter(pl.col("event").cast(pl.String).is_in(_KNOWN))
    rows = known.select("packet", "flow", "sent_at_s", "sequence", "event", "node", "next_hop", "dst", "time_s")
    for packet, flow, sent_at_s, sequence, *row in rows.iter_rows():
        if (of_packet := events.get(packet)) is None:
            of_packet = events[packet] = _Events()
            if flow is not None and sent_at_s is not None:
                copies.add(packet, _Made(flow, sent_at_s, sequence), row[-1])
        of_packet.add(*row)
    for packet, of_packet in events.items():
        if of_packet.end is not None and (legs := _back(packet, events, copies, sent, (received, queues_in_mac))):
            yield legs[::-1]


def _back(
    packet: int,
    all_events: Mapping[int, _Events],
    copies: _Copies,
    sent: Mapping[tuple[int, int, int], _Sent],
    radios: tuple[str, Callable[[int], bool]],
) -> list[Leg]:
    """Legs from the delivery back to the creation; none if the way cannot be told.

    ``radios`` is the part between the reception over the radio and what follows it at a node, and tells of a node if
    packets for its radios are queued in the MAC.
    """
    received, queues_in_mac = radios
    legs: list[Leg] = []
    carrier, events = packet, all_events[packet]
    assert events.end is not None
    node, now = events.end
    while True:
        if (begun := events.begun(node, now)) is None:
            return []
        arrived_s, how = begun
        if now > arrived_s or not legs:
            # Within a node time passes without a route, or while the layers hand the packet on. The last leg is at the
            # node of the delivery, also if that took no time.
            legs.append(Leg(packet, node, received if how == "received" else ROUTE, arrived_s, now))
        if how in ("created", "injected"):
            origin = copies.origin(carrier, node, arrived_s, how == "created")
            if origin is None:
                return legs
            now, carrier = origin
            events = all_events[carrier]
            legs.append(Leg(packet, node, BOX, now, arrived_s))
            continue
        if (left := events.sender_to(node, arrived_s)) is None:
            return []
        left_s, sender = left
        queued_s = events.queued(sender, left_s)
        if queued_s is None:
            return []
        if how == "arrived":
            legs.append(Leg(packet, sender, LINK, left_s, arrived_s))
            legs.append(Leg(packet, sender, QUEUE, queued_s, left_s))
        else:
            tries, turns = sent.get((carrier, sender, node), _Sent([], []))
            first, last = bisect.bisect_left(tries, left_s), bisect.bisect_left(tries, arrived_s) - 1
            if last < first:
                return []
            legs.append(Leg(packet, sender, AIR, tries[last], arrived_s))
            if last > first:
                legs.append(Leg(packet, sender, RETRIES, tries[first], tries[last]))
            turn_s = max(left_s, turns[first])
            legs.append(Leg(packet, sender, ACCESS, turn_s, tries[first]))
            if turn_s > left_s:
                legs.append(Leg(packet, sender, MAC, left_s, turn_s, node))
            where = (MAC, node) if queues_in_mac(sender) else (QUEUE, None)
            legs.append(Leg(packet, sender, where[0], queued_s, left_s, where[1]))
        node, now = sender, queued_s
