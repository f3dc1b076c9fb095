"""Traces for Mahimahi: the times at which a path delivers packets of the largest size, for replays outside Chappe."""

from collections.abc import Iterator

from chappe._common.arguments import instant
from chappe._common.words import count
from chappe.errors import RunError
from chappe.results.simulation import start
from chappe.scenario.scenario import Scenario

PAYLOAD_BYTES = 1472
"""With the UDP and IP header an IP packet of 1,500 B; an opportunity of Mahimahi (Netravali et al., USENIX ATC 2015) is
that packet and 4 B of its TUN device."""

_MS = 10**6


def trace(scenario: Scenario, flow: int, *, reverse: bool, until_ns: int | None, window: int) -> str:
    """Trace of the delivery opportunities of the path of a flow: a line for each, its time [ms].

    In a copy of the scenario the flow is silent. Datagrams take its place, of which the same number is always under
    way: as soon as one arrives, its source sends another, and for one that is lost a millisecond later. Whole
    milliseconds, rounded up, are counted from the start of the flow.

    Args:
        scenario: The scenario with the seed of the run.
        flow: Number of the flow.
        reverse: True for the path from its destination to its source.
        until_ns: Time of the run at which the trace ends [ns]; ``None``: the end of the run.
        window: Number of datagrams under way.

    Raises:
        ValueError: If there is no such flow, it starts by an event or after the end, the run ends with a delivery and
            ``until_ns`` is ``None``, or nothing arrives.
        ScenarioError: If the copy cannot be run.
        LimitError: If the run needs more memory than ``run.max_memory``.
    """
    arrivals = list(_arrivals(scenario, flow, reverse, until_ns, window))
    if not arrivals:
        raise ValueError(
            f"no datagram has arrived on the path {'back to' if reverse else 'from'} the source of flow {flow}: "
            "name a later end (until), or see with `chappe run` if nodes are off and where packets are lost"
        )
    return "".join(f"{-(-ns // _MS)}\n" for ns in arrivals)


def _arrivals(scenario: Scenario, flow: int, reverse: bool, until_ns: int | None, window: int) -> Iterator[int]:
    """Times at which datagrams arrive, from the start of the flow on [ns]."""
    if scenario._core.is_quic():
        raise ValueError('flows of QUIC cannot go on beside a trace: silence them by quic.congestion_control = "none"')
    flows = scenario.flows
    if flow >= len(flows):
        raise ValueError(f"there is no flow {flow}: the scenario has {count(len(flows), 'flow')}")
    _, src, dst, started_at_s = flows.row(flow)
    is_silent = flow in (external for external, *_ in scenario._core.external())
    if is_silent:
        started_at_s = 0
    if started_at_s is None:
        raise ValueError(f"flow {flow} is started by an event: give it a `start`")
    begin = round(started_at_s * 1e9)
    if until_ns is None:
        try:
            until_ns = instant(scenario.settings["run"]["stop"])
        except ValueError:
            raise ValueError("the run ends with a delivery: say up to when its trace is wanted (until)") from None
    if until_ns <= begin:
        raise ValueError(f"flow {flow} starts at {started_at_s:g} s: the trace must end later")
    if reverse:
        src, dst = dst, src
    own, flow, copy = _replaced(scenario, flow, src, dst)
    with start(copy.with_settings({"run.stop": f"{until_ns} ns", "run.record": []})) as sim:
        if not is_silent:
            sim.apply("flow_stop", flow=flow)
        source, missing = sim.endpoint(src), window
        source.wake(begin)
        for event in sim.events():
            if event.kind == "arrived" and event.flow == own and not event.copy:
                yield event.at_ns - begin
                missing += 1
            elif event.kind == "lost" and event.flow == own:
                missing += 1
                source.wake(event.at_ns + _MS)
                continue
            elif event.kind != "wake":
                continue
            try:
                while missing:
                    source.send(PAYLOAD_BYTES, tag=0, flow=own)
                    missing -= 1
            except RunError:  # The source is off.
                source.wake(event.at_ns + _MS)


def _replaced(scenario: Scenario, flow: int, src: int, dst: int) -> tuple[int, int, Scenario]:
    """Numbers of an external flow between two nodes and of a flow, and a scenario that has both."""
    there = _external(scenario, src, dst)
    if there is not None:
        return there, flow, scenario
    listed = [*scenario.settings["flow"], {"src": src, "dst": dst, "app": "external"}]
    own = _external(scenario.with_settings({"flow": listed, "event": []}), src, dst)
    assert own is not None
    # Random flows come behind those of the list.
    if any(event["flow"] != "none" and event["flow"] >= own for event in scenario.settings["event"]):
        raise ValueError("an event names a flow of `traffic`, which has another number in the copy: give it in `flow`")
    return own, flow + (flow >= own), scenario.with_settings({"flow": listed})


def _external(scenario: Scenario, src: int, dst: int) -> int | None:
    """Number of an external flow between two nodes, if there is one."""
    return next((flow for flow, *ends in scenario._core.external() if ends == [src, dst]), None)
