"""Flows that deliver nothing, or nothing more after an outage of a node or wire, with reasons from counters."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from chappe import _core
from chappe._common.words import count
from chappe.results.budgets import LOSSES
from chappe.results.budgets import REASONS as COUNTERS
from chappe.results.storage.columns import Rows
from chappe.scenario.scenario import Scenario, rate_of

TOLD = 3
"""Flows reported individually."""

REASONS = 4
"""Reasons reported per flow at most."""

_TEXTS = {reason: LOSSES[counter] for counter, reason in COUNTERS.items()}

_LONG = 0.2
"""Share of the measured time without a delivery after a switch-off that is reported."""

_LACKED = 0.05
"""Share of time without a route that counts as a reason."""

_FLOODED = ("aodv", "babel", "batman_adv", "dsdv", "dsr")
"""Protocols that discover neighbors by broadcasts."""


class Silence(NamedTuple):
    """A flow that delivered nothing.

    Attributes:
        flow: Number of the flow.
        reasons: Reasons, the most likely first.
        from_s: End of the last batch in which it delivered something [s]; ``None``: in all of the measured part.
    """

    flow: int
    reasons: list[str]
    from_s: float | None = None

    def __str__(self) -> str:
        since = "" if self.from_s is None else f" from {self.from_s:,.4g} s on at the latest"
        return f"flow {self.flow} delivered nothing{since}: {'; '.join(self.reasons)}"


def is_silent(f: Mapping[str, Any], end_s: float) -> bool:
    """True for a flow that delivered nothing in the measured part of the run.

    Flows that completed or were stopped before the measured part are not silent.

    Args:
        f: Row of the table ``flows``.
        end_s: End of the run [s].
    """
    if f["packets_delivered"] or not f["measured_s"] or f["completion_time_s"] is not None:
        return False
    is_late = f["started_at_s"] is None or f["started_at_s"] >= end_s
    return bool(f["packets_sent"] or is_late or f["no_route_s"])


def unused(flows: Rows) -> set[int]:
    """Numbers of the external flows over which a program sent nothing, if it has sent over others: they are no news.

    Args:
        flows: Table ``flows`` of the run.
    """
    waiting = {f["flow"]: f["started_at_s"] is None for f in flows if f["app"] == "external"}
    return set() if all(waiting.values()) else {flow for flow, waits in waiting.items() if waits}


def of_run(scenario: Scenario | None, flows: Rows, outcomes: Rows, batteries: Rows, end_s: float) -> Iterator[Silence]:
    """Yields the flows of a run that delivered nothing.

    Args:
        scenario: Scenario of the run; ``None`` skips the check of links.
        flows: Table ``flows`` of the run.
        outcomes: Table ``packet_outcomes`` of the run.
        batteries: Table ``batteries`` of the run.
        end_s: End of the run [s].
    """
    left_out = unused(flows)
    rows = [f for f in flows if is_silent(f, end_s) and f["flow"] not in left_out]
    if not rows:
        return
    routing: list[str] | None = None
    off, cut = _switched_off(scenario, ()), _cut_wires(scenario)
    for f in rows:
        if not_begun := _not_begun(f, end_s):
            yield Silence(f["flow"], [not_begun])
            continue
        if routing is None:
            # Routing messages belong to no flow.
            where = "" if len(rows) == len(flows) else "in the whole network "
            routing = [*_half_links(scenario), *_routing(outcomes, where)]
        own = [*_ends(f, batteries), *_route(f), *_own_losses(f), *_off(f, off), *_cut(f, cut)]
        reasons = [*own[:1], *routing, *own[1:]] if f["no_route_s"] else [*own, *routing]
        reasons = reasons[:REASONS]
        if f["aborted_at_s"] is not None:
            reasons.append(f"its sender gave up at {f['aborted_at_s']:,.1f} s (`tcp.max_timeouts`)")
        yield Silence(f["flow"], reasons or [_sent(f)])


def after_outage(
    scenario: Scenario | None, flows: Rows, batches: Rows, flow_batches: Rows, batteries: Rows
) -> Iterator[Silence]:
    """Yields the flows that delivered nothing more after an outage, for a long part of the measured time.

    Args:
        scenario: Scenario of the run; ``None``: only batteries are known.
        flows: Table ``flows`` of the run.
        batches: Table ``batches`` of the run.
        flow_batches: Table ``flow_batches`` of the run.
        batteries: Table ``batteries`` of the run.
    """
    off = sorted([*_switched_off(scenario, batteries), *_cut_wires(scenario)])
    used = [b for b in batches if b["used"]]
    if not off or not used:
        return
    whole = used[-1]["ended_at_s"] - used[0]["started_at_s"]
    of_flows: dict[int, list[Mapping[str, Any]]] = {}
    for row in flow_batches:
        of_flows.setdefault(row["flow"], []).append(row)
    for f in flows:
        if not f["packets_delivered"] or f["completion_time_s"] is not None:
            continue
        parts = {row["batch"]: row for row in of_flows.get(f["flow"], [])}
        silent = [b for b in used if b["started_at_s"] > _last_delivery(used, parts)]
        if not silent or silent[-1]["ended_at_s"] - silent[0]["started_at_s"] < _LONG * whole:
            continue
        tried = ("packets_sent", "timeouts", "no_route_s")
        if not any(parts[b["batch"]][name] for b in silent for name in tried):
            continue
        # The node went off, or the wire was cut, in the last batch with a delivery, or after it.
        begin_s = silent[0]["started_at_s"]
        before_s = max(b["started_at_s"] for b in used if b["started_at_s"] < begin_s)
        cause = next((text for at, text in off if before_s <= at <= begin_s), None)
        if cause is not None:
            # Losses are counted over the whole run, most of them before it.
            yield Silence(f["flow"], [cause, *_gateway(f, scenario)], begin_s)


def _last_delivery(used: Rows, parts: Mapping[int, Mapping[str, Any]]) -> float:
    """Begin of the last batch in which a flow delivered something [s]."""
    return max((b["started_at_s"] for b in used if parts[b["batch"]]["packets_delivered"]), default=math.inf)


def _switched_off(scenario: Scenario | None, batteries: Rows) -> list[tuple[float, str]]:
    """Times at which nodes were switched off for the rest of the run, with what happened."""
    empty = [(b["emptied_at_s"], b["node"]) for b in batteries if b["emptied_at_s"] is not None]
    found = [(at, f"the battery of node {node} was empty at {at:,.4g} s") for at, node in empty]
    last: dict[tuple[int, Any], tuple[float, str]] = {}
    events = [] if scenario is None else scenario.settings["event"]
    for e in sorted(events, key=lambda e: _core.instant_ns(e["at"])):
        if e["action"] in ("node_down", "node_up"):
            last[e["node"], e["channel"]] = _core.instant_ns(e["at"]) / 1e9, e["action"]
    for (node, channel), (at, action) in last.items():
        if action == "node_down":
            radio = "" if channel == "all" else f"the radio on channel {channel} of "
            found.append((at, f"{radio}node {node} was switched off at {at:,.4g} s"))
    return sorted(found)


def _cut_wires(scenario: Scenario | None) -> list[tuple[float, str]]:
    """Times at which wires were cut for the rest of the run, with what happened."""
    if scenario is None:
        return []
    last: dict[int, tuple[float, str]] = {}
    for e in sorted(scenario.settings["event"], key=lambda e: _core.instant_ns(e["at"])):
        if e["action"] in ("wired_link_down", "wired_link_up"):
            last[e["wired_link"]] = _core.instant_ns(e["at"]) / 1e9, e["action"]
    links = scenario.settings["wired_link"]
    return sorted(
        (at, f"the wire between node {links[n]['src']} and node {links[n]['dst']} was cut at {at:,.4g} s")
        for n, (at, action) in last.items()
        if action == "wired_link_down"
    )


def describe(silences: Sequence[Silence]) -> list[str]:
    """A sentence for each of the first :data:`TOLD` flows, and the number of the rest."""
    sentences = [str(s) for s in silences[:TOLD]]
    if more := len(silences) - len(sentences):
        sentences.append(f"{count(more, 'more flow')} delivered nothing")
    return sentences


def _not_begun(f: Mapping[str, Any], end_s: float) -> str | None:
    start = f["started_at_s"]
    if start is None:
        return "its driver sent nothing" if f["app"] == "external" else "it was never started"
    return f"it starts at {start:,.4g} s, and the run ended at {end_s:,.4g} s" if start >= end_s else None


def _ends(f: Mapping[str, Any], batteries: Rows) -> Iterator[str]:
    """Faults of the source and destination nodes."""
    for b in batteries:
        if b["node"] in (f["src"], f["dst"]) and b["emptied_at_s"] is not None:
            yield f"the battery of node {b['node']} was empty at {b['emptied_at_s']:,.4g} s"
    if not f["packets_sent"] and not f["no_route_s"]:
        yield "its source sent nothing"


def _route(f: Mapping[str, Any]) -> Iterator[str]:
    time = f["route_available_s"] + f["no_route_s"]
    if time and (share := f["no_route_s"] / time) >= _LACKED:
        yield f"its source had no route for {100 * share:.0f} % of the time"


def _off(f: Mapping[str, Any], off: Sequence[tuple[float, str]]) -> Iterator[str]:
    """Nodes that were switched off, if packets of the flow were lost by that."""
    if f.get("drop_reason") == "node_off" or f.get("retry_cause") == "switched_off":
        yield from (text for _, text in off[:1])


def _cut(f: Mapping[str, Any], cut: Sequence[tuple[float, str]]) -> Iterator[str]:
    """Wires that were cut, if packets of the flow found no way or were lost there."""
    if f.get("drop_reason") in ("no_route", "link_error", "ttl_expired"):
        yield from (text for _, text in cut[:1])


def _gateway(f: Mapping[str, Any], scenario: Scenario | None) -> Iterator[str]:
    """The last gateway of a flow, where gateways change, and what keeps it."""
    if (gateway := f.get("gateway")) is not None:
        kept = ""
        if scenario is not None and scenario["routing.protocol"] == "batman_adv":
            lease, purge = (scenario[f"routing.batman_adv.{name}"] for name in ("dhcp_lease", "purge_timeout"))
            kept = f", which hosts keep until a lease of {lease} ends and a silent gateway is forgotten, after {purge}"
        yield f"its last gateway was node {gateway}{kept}"


def _routing(outcomes: Rows, where: str) -> Iterator[str]:
    """Unicast routing messages that were dropped, such as route replies; broadcasts have no retry limit."""
    routing = [row for row in outcomes if row["packet_class"] == "routing"]
    if lost := _sum(routing, "dropped_retry_limit") + _sum(routing, "dropped_arp_failure"):
        given_up = [name for name in LOSSES if name.startswith("retry_limit_") or name == "dropped_arp_failure"]
        causes = {LOSSES[name]: _sum(routing, name) for name in given_up}
        cause = max(causes, key=lambda label: causes[label])
        why = f" ({cause.removeprefix('retry limit: ')})" if causes[cause] else ""
        yield f"{where}{count(lost, 'unicast routing message')} lost{why}"


def _own_losses(f: Mapping[str, Any]) -> Iterator[str]:
    """Losses of the packets of the flow itself."""
    if lost := f["packets_dropped"]:
        label = _TEXTS.get((f["drop_reason"], f["retry_cause"]), str(f["drop_reason"]).replace("_", " "))
        yield f"{lost:,} of its packets lost: {'mostly ' if lost > 1 else ''}{label}"


def _sent(f: Mapping[str, Any]) -> str:
    """Sentence on the source of a flow that has lost nothing."""
    if f["packets_sent"]:
        sent = count(f["packets_sent"], "packet")
        return f"its source sent {sent} that were on their way or waited, and none of them was lost"
    return "its application had nothing to send"


def _sum(rows: Rows, name: str) -> int:
    return sum(row[name] for row in rows)


def _half_links(scenario: Scenario | None) -> Iterator[str]:
    """Links that carry broadcasts but not unicast: routing uses them, and data is lost on them."""
    if scenario is None:
        return
    s = scenario.settings
    if (
        s["routing"]["protocol"] not in _FLOODED
        or s["topology"]["kind"] == "motion"
        or s["mobility"]["model"] != "still"
    ):
        return
    heard: dict[tuple[int, int], int] = {}
    for a, b, _, fastest in scenario._core.links():
        if fastest is not None:
            heard[a, b] = max(fastest, heard.get((a, b), 0))
    deaf = [(a, b) for a, b in heard if (b, a) not in heard]
    # Babel and batman-adv use links only if both ends hear each other.
    if deaf and s["routing"]["protocol"] not in ("babel", "batman_adv"):
        a, b = deaf[0]
        yield f"node {b} hears node {a}, but node {a} does not hear node {b}{_others(len(deaf) - 1, 'such')}"
    rate = scenario._core.data_rate()[0]
    if s["wlan"]["rate_control"]["algorithm"] != "fixed" or s["wlan"]["link_rate"]:
        return
    weak = [(a, b) for (a, b), most in heard.items() if most < rate]
    if weak:
        a, b = weak[0]
        yield (
            f"node {b} hears broadcasts of node {a}, but not its data at {rate_of(scenario)}"
            f"{_others(len(weak) - 1, 'such')}"
        )


def _others(more: int, which: str) -> str:
    return f" ({count(more, f'more {which} link')})" if more else ""
