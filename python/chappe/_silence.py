"""Flows that deliver nothing, with reasons from the counters of a run."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from chappe._columns import Rows
from chappe._scenario import Scenario
from chappe._show import rate_of
from chappe._why import LOSSES
from chappe._words import count

TOLD = 3
"""Flows reported individually."""

REASONS = 4
"""Reasons reported per flow at most."""

_CAUSES = 2
"""Causes of loss among the reasons."""

_LACKED = 0.05
"""Share of time without a route that counts as a reason."""

_FLOODED = ("aodv", "dsdv", "dsr")
"""Protocols that discover neighbours by broadcasts."""


class Silence(NamedTuple):
    """A flow that delivered nothing.

    Attributes:
        flow: Number of the flow.
        reasons: Reasons, the most likely first.
    """

    flow: int
    reasons: list[str]

    def __str__(self) -> str:
        return f"flow {self.flow} delivered nothing: {'; '.join(self.reasons)}"


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


def of_run(scenario: Scenario | None, flows: Rows, outcomes: Rows, batteries: Rows, end_s: float) -> Iterator[Silence]:
    """Yields the flows of a run that delivered nothing.

    Args:
        scenario: Scenario of the run; ``None`` skips the check of links.
        flows: Table ``flows`` of the run.
        outcomes: Table ``packet_outcomes`` of the run.
        batteries: Table ``batteries`` of the run.
        end_s: End of the run [s].
    """
    rows = [f for f in flows if is_silent(f, end_s)]
    if not rows:
        return
    # The counters of packets and frames do not distinguish flows.
    everywhere = "" if len(rows) == len(flows) else "in the whole network "
    common: list[str] | None = None
    for f in rows:
        if not_begun := _not_begun(f, end_s):
            yield Silence(f["flow"], [not_begun])
            continue
        if common is None:
            common = [*_half_links(scenario), *_routing(outcomes, everywhere), *_lost(outcomes, everywhere)]
        reasons = [*_ends(f, batteries), *_route(f), *common][:REASONS]
        if f["aborted_at_s"] is not None:
            reasons.append(f"its sender gave up at {f['aborted_at_s']:,.1f} s (`tcp.max_timeouts`)")
        yield Silence(f["flow"], reasons or [_inside(outcomes)])


def told(silences: Sequence[Silence]) -> list[str]:
    """A sentence for each of the first :data:`TOLD` flows, and the number of the rest."""
    sentences = [str(s) for s in silences[:TOLD]]
    if more := len(silences) - len(sentences):
        sentences.append(f"{count(more, 'more flow')} delivered nothing")
    return sentences


def _not_begun(f: Mapping[str, Any], end_s: float) -> str | None:
    start = f["started_at_s"]
    if start is None:
        return "it was never started"
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


def _routing(outcomes: Rows, where: str) -> Iterator[str]:
    """Unicast routing messages that were dropped, such as route replies; broadcasts have no retry limit."""
    routing = [row for row in outcomes if row["packet_class"] == "routing"]
    if lost := _sum(routing, "dropped_retry_limit") + _sum(routing, "dropped_arp_failure"):
        given_up = [name for name in LOSSES if name.startswith("retry_limit_") or name == "dropped_arp_failure"]
        causes = {LOSSES[name]: _sum(routing, name) for name in given_up}
        cause = max(causes, key=lambda label: causes[label])
        why = f" ({cause.removeprefix('retry limit: ')})" if causes[cause] else ""
        yield f"{where}{count(lost, 'unicast routing message')} lost{why}"


def _lost(outcomes: Rows, where: str) -> Iterator[str]:
    """Main causes of packet loss."""
    packets = _of_flows(outcomes)
    numbers = sorted(((_sum(packets, name), label) for name, label in LOSSES.items()), key=lambda n: -n[0])
    for n, label in numbers[:_CAUSES]:
        if n:
            yield f"{where}{count(n, 'packet')} lost: {label}"


def _inside(outcomes: Rows) -> str:
    inside = _sum(_of_flows(outcomes), "inside")
    return f"{count(inside, 'packet')} in transit when the run ended, and none was lost"


def _of_flows(outcomes: Rows) -> Rows:
    """Outcomes of the packets of flows."""
    return [row for row in outcomes if row["packet_class"] in ("data", "ack")]


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
    if deaf:
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
