"""Flows that deliver nothing, and why: from what a run counts anyway."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import polars as pl

from chappe.scenario import Scenario
from chappe.why import LOSSES
from chappe.words import count

TOLD = 3
"""Flows of which it is told one by one."""

REASONS = 4
"""Reasons that are told of a flow at most."""

_CAUSES = 2
"""Causes of loss among them."""

_LACKED = 0.05
"""Share of the time without a route that is a reason."""

_FLOODED = ("aodv", "dsdv", "dsr")
"""Protocols that choose hops by broadcasts."""


class Silence(NamedTuple):
    """A flow that delivered nothing.

    Attributes:
        flow: Its number.
        reasons: Why, the most likely first.
    """

    flow: int
    reasons: list[str]

    def __str__(self) -> str:
        return f"flow {self.flow} delivered nothing: {'; '.join(self.reasons)}"


def silent(flows: pl.DataFrame, end_s: float | pl.Expr) -> pl.DataFrame:
    """The rows of flows that delivered nothing while it was measured, or could not.

    What has come to its end, or was stopped, before anything was measured says nothing.
    """
    none = (pl.col("delivered_packets") == 0) & (pl.col("measured_s") > 0) & pl.col("completion_s").is_nan()
    late = pl.col("start_s").is_nan() | (pl.col("start_s") >= end_s)
    return flows.filter(none & ((pl.col("packets_sent") > 0) | late | (pl.col("no_route_s") > 0)))


def of_run(
    scenario: Scenario | None, flows: pl.DataFrame, fates: pl.DataFrame, batteries: pl.DataFrame, end_s: float
) -> Iterator[Silence]:
    """The flows of a run that delivered nothing.

    Args:
        scenario: What was run; ``None``: who hears whom is not looked at.
        flows: The table of the run of this name.
        fates: The table of the run of this name.
        batteries: The table of the run of this name.
        end_s: When the run ended [s].
    """
    rows = silent(flows, end_s)
    if rows.is_empty():
        return
    # Packets and frames are counted for all flows together.
    everywhere = "" if len(rows) == len(flows) else "in the whole network "
    common: list[str] | None = None
    for f in rows.iter_rows(named=True):
        if own := _not_begun(f, end_s):
            yield Silence(f["flow"], [own])
            continue
        if common is None:
            common = [*_half_links(scenario), *_routing(fates, everywhere), *_lost(fates, everywhere)]
        reasons = [*_ends(f, batteries), *_route(f), *common][:REASONS]
        if f["gave_up_s"] == f["gave_up_s"]:
            reasons.append(f"its sender gave up at {f['gave_up_s']:,.1f} s (`tcp.max_timeouts`)")
        yield Silence(f["flow"], reasons or [_inside(fates)])


def told(found: Sequence[Silence]) -> list[str]:
    """A sentence for each of the first, and how many more there are."""
    said = [str(s) for s in found[:TOLD]]
    if more := len(found) - len(said):
        said.append(f"{count(more, 'more flow')} delivered nothing")
    return said


def _not_begun(f: dict[str, Any], end_s: float) -> str | None:
    start = f["start_s"]
    if start != start:
        return "nothing has begun it"
    return f"it starts at {start:,.4g} s, and the run ended at {end_s:,.4g} s" if start >= end_s else None


def _ends(f: dict[str, Any], batteries: pl.DataFrame) -> Iterator[str]:
    """Faults of the nodes at its ends."""
    if not batteries.is_empty():
        own = batteries.filter(pl.col("node").is_in([f["from"], f["to"]]) & pl.col("empty_s").is_not_nan())
        for b in own.iter_rows(named=True):
            yield f"the battery of node {b['node']} was empty at {b['empty_s']:,.4g} s"
    if not f["packets_sent"] and not f["no_route_s"]:
        yield "its source sent nothing"


def _route(f: dict[str, Any]) -> Iterator[str]:
    time = f["route_s"] + f["no_route_s"]
    if time and (share := f["no_route_s"] / time) >= _LACKED:
        yield f"its source had no route {100 * share:.0f} % of the time"


def _routing(fates: pl.DataFrame, where: str) -> Iterator[str]:
    """Routing messages to one neighbour that were given up, such as route replies: nobody gives up a broadcast."""
    own = fates.filter(pl.col("kind") == "routing")
    if lost := int(own["dropped_retry_limit"].sum()) + int(own["dropped_arp_failure"].sum()):
        given_up = [name for name in LOSSES if name.startswith("retry_limit_") or name == "dropped_arp_failure"]
        causes = {LOSSES[name]: int(own[name].sum()) for name in given_up}
        cause = max(causes, key=lambda label: causes[label])
        why = f" ({cause.removeprefix('retry limit: ')})" if causes[cause] else ""
        yield f"{where}{count(lost, 'unicast routing message')} lost{why}"


def _lost(fates: pl.DataFrame, where: str) -> Iterator[str]:
    """Main causes of loss of packets of flows."""
    packets = fates.filter(pl.col("kind").is_in(["data", "ack"]))
    numbers = sorted(((int(packets[name].sum()), label) for name, label in LOSSES.items()), key=lambda n: -n[0])
    for n, label in numbers[:_CAUSES]:
        if n:
            yield f"{where}{count(n, 'packet')} lost: {label}"


def _inside(fates: pl.DataFrame) -> str:
    packets = fates.filter(pl.col("kind").is_in(["data", "ack"]))
    return f"{count(int(packets['inside'].sum()), 'packet')} on the way when the run ended, and none was lost"


def _half_links(scenario: Scenario | None) -> Iterator[str]:
    """Links over which broadcasts go and unicast does not: routes are found over them, and carry nothing."""
    if scenario is None:
        return
    s = scenario.settings
    if s["routing"]["protocol"] not in _FLOODED or s["topology"]["kind"] == "motion" or s["motion"]["kind"] != "still":
        return
    heard: dict[tuple[int, int], int] = {}
    for a, b, _, fastest in scenario._core.links():
        if fastest is not None:
            heard[a, b] = max(fastest, heard.get((a, b), 0))
    deaf = [(a, b) for a, b in heard if (b, a) not in heard]
    if deaf:
        a, b = deaf[0]
        yield f"node {b} hears node {a}, which does not hear node {b}{_others(len(deaf) - 1, 'such')}"
    rate = _bits(s["wlan"]["data_rate"])
    if s["wlan"]["rate_control"]["algorithm"] != "fixed" or s["wlan"]["link_rate"]:
        return
    weak = [(a, b) for (a, b), most in heard.items() if most < rate]
    if weak:
        a, b = weak[0]
        yield (
            f"node {b} hears broadcasts of node {a}, and not its data at {s['wlan']['data_rate']}"
            f"{_others(len(weak) - 1, 'such')}"
        )


def _others(more: int, which: str) -> str:
    return f" ({count(more, f'more {which} link')})" if more else ""


def _bits(rate: str) -> float:
    """A rate such as ``5.5 Mbit/s`` [bit/s]."""
    number, unit = rate.split()
    return float(number) * {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9}[unit]
