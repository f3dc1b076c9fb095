"""Endpoints of external flows: nodes at which the program that drives a run sends datagrams, and what it is told."""

from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from chappe import _core
from chappe._common.arguments import is_whole, not_whole, quoted

_MOST_NS = 2**64
"""Limit of times [ns] and of tags."""


class Arrived(NamedTuple):
    """A datagram has reached the destination of its flow."""

    endpoint: int
    """Destination of the flow."""
    at_ns: int
    """Time of the event [ns]."""
    flow: int
    """Flow of the datagram."""
    tag: int
    """Tag of the datagram."""
    sent_ns: int
    """Time at which it was sent [ns]."""
    ecn: Literal["not_ect", "ect", "ce"]
    """ECN field with which it has arrived."""
    hops: int
    """Number of hops over radios that it has made."""
    copy: bool
    """True if it has arrived before: after lost ACKs the MAC or the routing protocol sends a frame again."""
    kind: Literal["arrived"] = "arrived"


class Left(NamedTuple):
    """The source holds a datagram no longer: the next hop has it, a link transmits it, or it was dropped there."""

    endpoint: int
    """Source of the flow."""
    at_ns: int
    """Time of the event [ns]."""
    flow: int
    """Flow of the datagram."""
    tag: int
    """Tag of the datagram."""
    kind: Literal["left"] = "left"


class Lost(NamedTuple):
    """A datagram was dropped, and no node holds a copy of it."""

    endpoint: int
    """Source of the flow."""
    at_ns: int
    """Time of the event [ns]."""
    flow: int
    """Flow of the datagram."""
    tag: int
    """Tag of the datagram."""
    node: int
    """Node that has dropped the last copy."""
    reason: str | None
    """Reason, as in the columns ``dropped_REASON`` of ``packet_outcomes``. ``None``: its MAC has acknowledged the frame
    and discarded it, because the reordering buffer no longer waited for its number."""
    kind: Literal["lost"] = "lost"


class Wake(NamedTuple):
    """The timer of an endpoint has expired."""

    endpoint: int
    """Node of the endpoint."""
    at_ns: int
    """Time of the event [ns]."""
    kind: Literal["wake"] = "wake"


Event: TypeAlias = Arrived | Left | Lost | Wake
"""Event of an external flow or of an endpoint, told apart by ``kind``.

Of each datagram the run tells once that it has left its node, and either that it has arrived or that it is lost. One
that is under way when the run ends has neither.
"""


def events_of(core: _core.Run) -> Iterator[Event]:
    """Events of a run that were not taken."""
    for (endpoint, at_ns), datagram, arrival, loss in core.events():
        if datagram is None:
            yield Wake(endpoint, at_ns)
        elif arrival is not None:
            flow, tag = datagram
            yield Arrived(endpoint, at_ns, flow, tag, *arrival)
        elif loss is not None:
            yield Lost(endpoint, at_ns, *datagram, *loss)
        else:
            yield Left(endpoint, at_ns, *datagram)


class Endpoint:
    """A node at which a program sends and receives datagrams of external flows.

    :meth:`chappe.Simulation.endpoint` returns it.

    Attributes:
        node: Number of the node.
        flows: Numbers of the external flows that begin at the node.
    """

    def __init__(self, core: _core.Run, node: int, flows: tuple[int, ...]):
        self.node = node
        self.flows = flows
        self._core = core

    def send(
        self,
        payload_bytes: int,
        *,
        tag: int,
        flow: int | None = None,
        ecn: Literal["not_ect", "ect", "ce"] = "not_ect",
        dscp: int | None = None,
    ) -> None:
        """Sends a datagram now.

        All other events at this instant precede it; before the first event of a run it is sent at 0 s.

        Args:
            payload_bytes: Payload [B]; the packet has 28 B more, the UDP and IP header.
            tag: Number by which events name the datagram. The run only hands it back.
            flow: External flow that begins at the node; ``None``: the only one.
            ecn: ECN field of the IP header.
            dscp: Differentiated services codepoint, at most 63; ``None``: that of the flow.

        Raises:
            ValueError: If the datagram is larger than ``net.mtu``, a value is out of range, or the flow does not begin
                at the node.
            RunError: If the run is over, the node is off, 65,472 datagrams of the flow were sent since one that is
                under way, or another thread drives the run.
        """
        if flow is None and len(self.flows) == 1:
            flow = self.flows[0]
        elif flow not in self.flows:
            raise ValueError(f"flow={quoted(flow)}: the external flows from node {self.node} are {list(self.flows)}")
        for name, value, most in (("payload_bytes", payload_bytes, 2**32), ("tag", tag, _MOST_NS)):
            if not is_whole(value, 0) or value >= most:
                raise ValueError(f"{name}: {not_whole(value, 0)} and below {most}")
        if dscp is not None and (not is_whole(dscp, 0) or dscp > 63):
            raise ValueError(f"dscp: {quoted(dscp)} is not a codepoint from 0 to 63")
        if not isinstance(ecn, str):
            raise ValueError(f"ecn: {quoted(ecn)} is not an ECN field")
        self._core.inject(flow, payload_bytes, tag, ecn, dscp)

    def wake(self, at_ns: int | None) -> None:
        """Sets the timer of the endpoint, which has one.

        It expires after all other events of its instant.

        Args:
            at_ns: Time at which an event of the kind ``"wake"`` comes [ns], at once if it has passed; ``None``: the
                timer is off.

        Raises:
            ValueError: If the time is no whole number.
        """
        if at_ns is not None and (not is_whole(at_ns, 0) or at_ns >= _MOST_NS):
            raise ValueError(f"at_ns: {not_whole(at_ns, 0)} [ns]")
        self._core.wake(self.node, at_ns)

    def __repr__(self) -> str:
        return f"<Endpoint: node {self.node}, flows {list(self.flows)}>"
