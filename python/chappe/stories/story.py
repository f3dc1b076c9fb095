"""The story of a flow or of a packet: what happened to it, where its packets waited, where they were lost, and why."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import polars as pl

from chappe import text as show
from chappe._common import forked
from chappe._common.arguments import quoted
from chappe._common.notices import UNDRIVEN, tell
from chappe._common.progress import Progress
from chappe._common.words import count, node_label, times
from chappe.errors import LimitError
from chappe.results.arrivals import first_arrivals
from chappe.results.budgets import LOSSES, REASONS, USES
from chappe.results.results import Results, run
from chappe.scenario import flow_selection
from chappe.scenario.scenario import Scenario, ScenarioLike, scenario_of
from chappe.stories.journey import PARTS, Leg, journeys

SENT, DELIVERED, LOSS, TIMER, ROUTES, HOP = "sent", "delivered", "loss", "timer", "route", "hop"
KINDS = (SENT, DELIVERED, LOSS, TIMER, ROUTES, HOP)
"""Kinds of lines: a packet is sent, arrives, is lost; a timer expires or a loss is repaired; a route comes or goes; a
packet passes a node."""

RECORDED = ("packets", "frames", "mpdus", "cwnd", "routes")
_TEXTS = {reason: LOSSES[counter] for counter, reason in REASONS.items()}
_NAMES = {"tcp_data": "segment", "tcp_ack": "acknowledgement", "udp": "datagram"}
_BY_DUPLICATES = "retransmits after duplicate acknowledgements"
_HELD = 0.9
"""Share of the reader's rate: a reader holds back a flow with at least this goodput."""

_UNITS = {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9}
"""Bit rates by unit, as settings are written."""

_BROKEN = "broken"
"""Loss of a packet whose next hop could not be reached."""

_STARVES = 0.05
"""Share of the mean goodput of all flows of the transport below which a flow starves."""


@dataclass(frozen=True, repr=False)
class Story:
    """Story of a flow, or of a packet.

    Attributes:
        findings: Sentences that say what was found.
        delays: Mean time of a delivered packet by node and part, which add up to its mean delay: ``node``, ``part``,
            ``next_hop`` (for which it waited in the MAC; null for other parts), ``mean_s``, ``share``.
        losses: Lost packets: ``packet_type``, ``node``, ``drop_reason``, ``retry_cause``, ``packets``.
        paths: Ways of delivered packets: ``path``, ``hops``, ``packets``, ``first_at_s`` and ``last_at_s`` (times of
            deliveries).
        events: Lines of the story: ``time_s``, ``kind`` (one of :data:`KINDS`), ``node``, ``packet``, ``text``.
        names: Names of the nodes that have one, by number.
    """

    findings: list[str]
    delays: pl.DataFrame
    losses: pl.DataFrame
    paths: pl.DataFrame
    events: pl.DataFrame
    names: Mapping[int, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return "\n".join(self.findings)

    def _to_dict(self) -> dict[str, Any]:
        """The findings, and the tables behind them, as plain data."""
        tables = {name: getattr(self, name).to_dicts() for name in ("delays", "losses", "paths")}
        return {"findings": self.findings, **tables}


def follow(scenario: ScenarioLike, flow: int | str | None = None, *, packet: int | None = None) -> Story:
    """Runs a scenario and tells the story of a flow, or of a packet.

    Args:
        scenario: A scenario, an equivalent dict, or the name of a scenario file.
        flow: Number of the flow, or its name in the scenario; ``None``: 0, without a packet.
        packet: Number of the packet, as in the recorded table ``packets``.

    Raises:
        ScenarioError: If the scenario cannot be run.
        LimitError: If its tables need more memory than ``run.max_memory``.
        ValueError: If there is no such flow or packet, both are given, or the flow is external.
        RuntimeError: In a process forked after polars was used.
    """
    if flow is not None and packet is not None:
        raise ValueError("give a flow or a packet, not both")
    forked.refuse()
    base = scenario_of(scenario)
    tell(base.warnings, UNDRIVEN)
    results = watched(base)
    tables = results.recorded
    if packet is not None:
        rows = tables["packets"].filter(pl.col("packet") == packet)
        if rows.is_empty():
            there = tables["packets"]["packet"].unique().sort().to_list()
            known = f"their numbers are from {there[0]} to {there[-1]}" if there else "none was created"
            raise ValueError(f"there is no packet {quoted(packet)}: {known}")
        return _of_packet(rows, attempts(tables).filter(pl.col("packet") == packet), base)
    flow = _number_of(flow, results.flows) if isinstance(flow, str) else flow or 0
    if flow not in results.flows["flow"]:
        raise ValueError(f"there is no flow {quoted(flow)}: the scenario has {count(len(results.flows), 'flow')}")
    if results.flows["app"][flow] == "external":
        raise ValueError(f"flow {flow} is external: its datagrams come from a program, without which nothing happens")
    return story_of(results, flow, has_lines=True)


def _number_of(text: str, flows: pl.DataFrame) -> int:
    """Number of the flow of a choice, such as its name.

    Raises:
        ValueError: If it chooses none, or several.
    """
    if text.isdecimal():
        return int(text)
    flow_selection.check_labels(text, flow_selection.labels_in(flows))
    of_choice = flow_selection.flows_of(text).of(flows)["flow"].to_list()
    if not of_choice:
        raise ValueError(flow_selection.none_of(text, flows))
    if len(of_choice) > 1:
        raise ValueError(f"{quoted(text)} chooses {count(len(of_choice), 'flow')}: name one of {_listed(of_choice)}")
    return int(of_choice[0])


def _listed(flows: Sequence[int]) -> str:
    return ", ".join(map(str, flows[:8])) + (", ..." if len(flows) > 8 else "")


def watched(scenario: ScenarioLike, progress: Progress = False) -> Results:
    """Runs a scenario with the tables of a story.

    Raises:
        LimitError: If they need more memory than ``run.max_memory``.
    """
    changes = {"run.record": list(RECORDED), "run.airtime": True}
    return run(scenario_of(scenario).with_settings(changes), progress=progress)


def is_watched(results: Results) -> bool:
    """True if a run recorded what stories need."""
    return set(RECORDED) <= results.recorded.keys() and bool(results.scenario.settings["run"]["airtime"])


def stories(scenario: ScenarioLike, flows: str, *, progress: Progress = False) -> dict[int, Story]:
    """Runs a scenario once, and tells the stories of chosen flows, by their numbers, without their lines.

    Args:
        scenario: As in :func:`follow`.
        flows: The choice, perhaps of each flow.
        progress: As in :func:`chappe.run`.

    Raises:
        ScenarioError: If the scenario cannot be run.
        LimitError: If its tables need more memory than ``run.max_memory``.
        ValueError: If there are no such flows.
    """
    results = watched(scenario, progress)
    flow_selection.check_labels(flows, flow_selection.labels_in(results.flows))
    of_choice = flow_selection.all_of(flows).of(results.flows)
    if of_choice.is_empty():
        raise ValueError(flow_selection.none_of(flows, results.flows))
    return {flow: story_of(results, flow) for flow in of_choice["flow"].sort()}


def has_aggregates(scenario: Scenario) -> bool:
    """True if the MAC holds several packets, and sends them in aggregates."""
    return bool(scenario.settings["wlan"]["access"] == "edca")


def has_mac_queues(scenario: Scenario) -> Callable[[int], bool]:
    """Tells of a node if packets for its radios are queued in the MAC, and not in front of it."""
    wlan = scenario.settings["wlan"]
    if not has_aggregates(scenario):
        return lambda _: False
    own: dict[int, str] = {}
    for entry in scenario.settings["node"]:
        for nodes in entry["nodes"].split(", ") if "queues" in entry["wlan"] else ():
            first, _, last = nodes.partition("-")
            own |= dict.fromkeys(range(int(first), int(last or first) + 1), entry["wlan"]["queues"])
    return lambda node: bool(own.get(node, wlan["queues"]) == "mac80211")


def _of_packet(rows: pl.DataFrame, frames: pl.DataFrame, scenario: Scenario) -> Story:
    """Story of a packet."""
    legs = list(journeys(rows, frames, has_mac_queues(scenario)))
    events = _hops(rows) + _frames(frames)
    first = rows.row(0, named=True)
    name, number = _named(first), first["packet"]
    way = f"{name} from node {first['src']} to " + ("all" if first["dst"] is None else f"node {first['dst']}")
    if legs:
        delay = legs[0][-1].end_s - legs[0][0].begin_s
        end = f"delivered after {_ms(delay)} over {count(len(_way(legs[0])) - 1, 'hop')}"
    else:
        lost = rows.filter(pl.col("event").cast(pl.String) == "dropped").to_dicts()
        end = (
            f"dropped at node {lost[-1]['node']}: {_reason(lost[-1])}"
            if lost
            else "not delivered by the end of the run"
        )
    story = Story([f"Packet {number}, {way}: {end}."], _delays(legs), _losses(rows), _paths(legs), _table(events))
    return _with_names(story, scenario)


def attempts(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Frames with their packet: one row for each packet of an aggregate, with its own outcome.

    Those of aggregates have a column ``turn_s``: the end of the last data frame that the radio sent before.
    """
    frames, mpdus = tables["frames"], tables["mpdus"]
    if mpdus.is_empty():
        return frames
    turn = (pl.col("time_s") + pl.col("airtime_s")).shift().over("src", "channel", order_by="time_s")
    outcome = pl.col("outcome").cast(pl.String)
    lost = pl.when(outcome == "received").then(pl.lit("not_decoded")).otherwise(outcome)
    return (
        frames.filter(pl.col("frame_type").cast(pl.String) == "data")
        .with_columns(turn_s=turn)
        .drop("packet", "retry")
        .join(mpdus.select("time_s", "src", "channel", "packet", "retry", "received"), on=["time_s", "src", "channel"])
        .with_columns(outcome=pl.when(pl.col("received")).then(pl.lit("received")).otherwise(lost))
    )


def waiting(scenario: Scenario) -> dict[str, float]:
    """Shares of the parts of journeys in the delay of all packets of flows; nothing if they need too much memory."""
    try:
        results = watched(scenario)
    except LimitError:
        return {}
    packets = results.recorded["packets"]
    data = packets.filter(pl.col("packet_type").cast(pl.String).is_in(["tcp_data", "udp"]))
    legs = list(journeys(data, attempts(results.recorded), has_mac_queues(scenario)))
    return dict(_delays(legs).group_by("part").agg(pl.col("share").sum()).iter_rows())


def story_of(results: Results, flow: int, *, has_lines: bool = False) -> Story:
    """Story of a flow of a run that was watched; its lines, which take as long as the rest, if they are asked for."""
    tables, row = results.recorded, results.flows.filter(flow=flow).row(0, named=True)
    packets = tables["packets"].filter(pl.col("flow") == flow)
    kind = pl.col("packet_type").cast(pl.String)
    data = packets.filter(kind.is_in(["tcp_data", "udp"]))
    frames = attempts(tables).filter(pl.col("packet").is_in(packets["packet"].unique().implode()))
    told = list(journeys(data, frames, has_mac_queues(results.scenario)))
    # As in the mean delay of the flow, of the copies of a packet the first that arrived counts.
    first = set(first_arrivals(results, flow)["packet"])
    legs = [of_packet for of_packet in told if of_packet[0].packet in first]
    delays, losses, paths = _delays(legs), _losses(packets), _paths(legs)
    cwnd = tables["cwnd"].filter(pl.col("flow") == flow)
    routes = tables["routes"].filter(
        ((pl.col("node") == row["src"]) & (pl.col("dst") == row["dst"]))
        | ((pl.col("node") == row["dst"]) & (pl.col("dst") == row["src"]))
    )
    is_tq = results.scenario["routing.protocol"] == "batman_adv"
    events = _ends(packets, told) + _timers(cwnd) + _changes(routes, is_tq) if has_lines else []
    unreachable = pl.col("drop_reason").cast(pl.String).is_in(["retry_limit", "arp_failure"])
    broken = set(packets.filter(unreachable)["packet"])
    events.sort(key=lambda line: _rank(line, broken))
    findings = [
        _headline(results, row, legs),
        *_went(paths, _gateways(results), results.scenario.names),
        *_chosen(row, routes, is_tq),
        *_held(row, cwnd),
        *_repaired(cwnd),
        *_paced(cwnd, results.simulated_s),
        *_waited(delays, legs),
        *_lost(losses),
        *(_reader(results, row) or _bottleneck(results, paths)),
    ]
    return _with_names(Story(findings, delays, losses, paths, _table(events)), results.scenario)


def _with_names(story: Story, scenario: Scenario) -> Story:
    """The story with the names of nodes that have one, in place of their numbers."""
    names, in_text = scenario.names, scenario._core.in_text
    if not names:
        return story
    named = [" - ".join(node_label(n, names) for n in path.split(" - ")) for path in story.paths["path"]]
    return Story(
        [in_text(text) for text in story.findings],
        story.delays,
        story.losses,
        story.paths.with_columns(pl.Series("path", named, dtype=pl.String)),
        story.events.with_columns(pl.Series("text", [in_text(t) for t in story.events["text"]], dtype=pl.String)),
        names,
    )


# ---- findings ----


def titled(row: Mapping[str, Any]) -> str:
    """A flow in words, from its row of the table ``flows``."""
    name = "UDP" if row["transport"] == "udp" else f"TCP {row['variant']}"
    src, dst = (row.get(f"{end}_name") or row[end] for end in ("src", "dst"))
    return f"Flow {row['flow']}, node {src} to node {dst}, {name}"


def _headline(results: Results, row: dict[str, Any], legs: Sequence[Sequence[Leg]]) -> str:
    alike = results.flows.filter(transport=row["transport"])["goodput_bps"].to_list()
    mean = sum(alike) / len(alike)
    starves = len(alike) > 1 and row["goodput_bps"] < _STARVES * mean
    what = titled(row)
    others = f"; the {len(alike)} flows of {row['transport'].upper()} have {_kbps(mean)} on average" if starves else ""
    return (
        f"{what}{', starves' if starves else ''}: {_kbps(row['goodput_bps'])}, "
        f"{count(len(legs), 'packet')} arrived in the run{others}."
    )


def _gateways(results: Results) -> set[int]:
    """Nodes with a radio and a point-to-point link."""
    if results.wired_links.is_empty():
        return set()
    return set(results.wired_links["src"].to_list()) & set(results.airtime["node"].to_list())


def _went(paths: pl.DataFrame, gateways: Collection[int], names: Mapping[int, str]) -> list[str]:
    """Ways of the delivered packets, and their gateways over time."""
    if paths.is_empty():
        return []
    rows = paths.to_dicts()
    whole, first = sum(row["packets"] for row in rows), rows[0]
    most_used = " - ".join(node_label(n, names) for n in first["path"].split(" - "))
    if len(rows) == 1:
        text = f"Its packets take {count(first['hops'], 'hop')}: {most_used}"
    else:
        fewest, most = min(row["hops"] for row in rows), max(row["hops"] for row in rows)
        hops = count(most, "hop") if fewest == most else f"{fewest} to {count(most, 'hop')}"
        text = (
            f"Its packets take {count(len(rows), 'path')} of {hops}, "
            f"{_percent(first['packets'] / whole)} of them {most_used}"
        )
    through = []
    for node in sorted(gateways):
        over = [row for row in rows if str(node) in row["path"].split(" - ")]
        if over:
            share = sum(row["packets"] for row in over) / whole
            begin, end = min(row["first_at_s"] for row in over), max(row["last_at_s"] for row in over)
            when = (
                "" if share == 1 else f" ({_percent(share)}, from {show.number(begin, 4)} to {show.number(end, 4)} s)"
            )
            through.append(f"gateway {node_label(node, names)}{when}")
    return [f"{text}{'; they pass ' if through else ''}{' and '.join(through)}."]


def _held(row: dict[str, Any], cwnd: pl.DataFrame) -> list[str]:
    """Phase in which a TCP flow spent most of its time, and its timer."""
    if row["transport"] == "udp":
        return []
    times = {use: row[f"{use}_s"] or 0.0 for use in USES}
    if not (whole := sum(times.values())):
        return ["It has not begun in the measured part of the run."]
    first, second = sorted(times, key=lambda use: -times[use])[:2]
    text = f"It spends {_percent(times[first] / whole)} of its time in {USES[first]}"
    if times[second] > 0.1 * whole:
        text += f", {_percent(times[second] / whole)} in {USES[second]}"
    timeouts = cwnd.filter(pl.col("event").cast(pl.String) == "timeout")
    if len(timeouts):
        most = timeouts.select(pl.col("rto_s").max()).item() or 0.0
        text += f"; its timer expires {count(len(timeouts), 'time')} and backs off to {show.number(most, 3)} s"
    return [f"{text}."]


def _repaired(cwnd: pl.DataFrame) -> list[str]:
    """Recoveries of a sender of Linux by their cause, its probes, and what it took back."""
    states = cwnd["recovery_state"].cast(pl.String)
    if states.null_count() == len(states):
        return []
    events = cwnd["event"].cast(pl.String)
    begins = (states != states.shift()).fill_null(True)
    by_time, by_count = (int((begins & (states == cause)).sum()) for cause in ("by_time", "by_count"))
    probes, undone = (int((events == event).sum()) for event in ("probe", "undo"))
    clauses = []
    if repairs := by_time + by_count:
        clauses.append(f"repairs losses {times(repairs)}, {by_time} of them found by time and {by_count} by count")
    if probes:
        clauses.append(f"sends {count(probes, 'probe')}")
    if undone:
        clauses.append(f"undoes {count(undone, 'reduction')} of its window")
    if not clauses:
        return []
    widest = cwnd.select(pl.col("reordering_window_s").max()).item()
    reordering = "" if widest is None else f"; its reordering window reaches {show.number(1e3 * widest, 3)} ms"
    return [f"It {' and '.join(clauses)}{reordering}."]


def _paced(cwnd: pl.DataFrame, end_s: float) -> list[str]:
    """Share of the time in each state of BBR, and its pacing rate at the end."""
    rows = cwnd.filter(pl.col("bbr_state").is_not_null())
    if rows.is_empty():
        return []
    spans = rows.select(
        pl.col("bbr_state").cast(pl.String).alias("state"),
        (pl.col("time_s").shift(-1).fill_null(end_s) - pl.col("time_s")).alias("span_s"),
    )
    whole = spans["span_s"].sum() or 1.0
    shares = spans.group_by("state", maintain_order=True).agg(pl.col("span_s").sum())
    states = [f"{_percent(r['span_s'] / whole)} in {r['state']}" for r in shares.iter_rows(named=True)]
    rate = rows["pacing_rate_bps"].to_list()[-1]
    return [f"BBR spends {', '.join(states)}, and paces at {_kbps(rate)} at the end."]


def place(row: Mapping[str, Any], names: Mapping[int, str]) -> str:
    """Part of a row of ``delays`` in words, with the node for which packets waited in the MAC."""
    return PARTS[row["part"]] + ("" if row["next_hop"] is None else f" for node {node_label(row['next_hop'], names)}")


def _waited(delays: pl.DataFrame, legs: Sequence[Sequence[Leg]]) -> list[str]:
    """Places at which delivered packets spent most of their time."""
    if not legs:
        return []
    mean = sum(of_packet[-1].end_s - of_packet[0].begin_s for of_packet in legs) / len(legs)
    most = delays.sort("mean_s", descending=True, maintain_order=True).head(3).to_dicts()
    places = [f"{_percent(r['share'])} {place(r, {})} at node {r['node']}" for r in most]
    return [f"A delivered packet takes {_ms(mean)} on average: {', '.join(places)}."]


def _lost(losses: pl.DataFrame) -> list[str]:
    """Most frequent losses."""
    if losses.is_empty():
        return ["None of its packets is lost."]
    parts = [
        f"{count(r['packets'], _NAMES.get(r['packet_type'], r['packet_type']))} at node {r['node']} ({_reason(r)})"
        for r in losses.head(3).to_dicts()
    ]
    more = int(losses["packets"].sum()) - int(losses.head(3)["packets"].sum())
    rest = f", and {more:,} other{'s' if more > 1 else ''}" if more else ""
    return [f"Lost: {', '.join(parts)}{rest}."]


def _reader(results: Results, row: dict[str, Any]) -> list[str]:
    """Application of the receiver, if it reads no faster than the flow delivers and so holds it back; else nothing."""
    settings = results.scenario.settings
    listed = settings["flow"]
    own = listed[row["flow"]]["tcp"] if row["flow"] < len(listed) else {}
    reader = {**settings["tcp"]["reader"], **own.get("reader", {})}
    rate, read_size = reader["rate"], 8 * float(reader["read_size"].split()[0])
    if row["transport"] == "udp" or rate == "unlimited":
        return []
    value, unit = rate.split()
    # The last data may be there and not be read.
    if row["goodput_bps"] + read_size / results.simulated_s < _HELD * float(value) * _UNITS[unit]:
        return []
    return [f"The application of its receiver reads at {rate} and holds it back."]


def _bottleneck(results: Results, paths: pl.DataFrame) -> list[str]:
    """Busiest place of the most used path: a node with the medium around it, or a point-to-point link."""
    if paths.is_empty():
        return []
    nodes = [int(n) for n in paths["path"][0].split(" - ")]
    links = results.wired_links.select("src", "dst", pl.col("utilization").alias("busy")).rows()
    wires = {(src, dst): busy for src, dst, busy in links if (src, dst) in set(pairwise(nodes)) and busy is not None}
    # The medium matters to those nodes that use it on this path.
    by_radio = {n for hop in pairwise(nodes) if hop not in {(src, dst) for src, dst, _ in links} for n in hop}
    airtime = results.airtime.filter(pl.col("node").is_in(by_radio))
    uses = [name for name in airtime.columns if name.endswith("_s")]
    free = [name for name in uses if name in ("idle_s", "backoff_s", "off_s")]
    share = 1 - pl.sum_horizontal(free) / pl.sum_horizontal(uses)
    air = airtime.select("node", share.alias("busy")).sort("busy", descending=True, maintain_order=True).rows()
    if wires and (not air or max(wires.values()) > air[0][1]):
        (src, dst), busy = max(wires.items(), key=lambda link: link[1])
        return [f"Its bottleneck is the link from node {src} to node {dst}, busy {_percent(busy)} of the time."]
    if not air:
        return []
    node, busy = air[0]
    return [f"Its bottleneck is node {node}, around which the medium is busy {_percent(busy)} of the time."]


# ---- tables ----


def _delays(legs: Sequence[Sequence[Leg]]) -> pl.DataFrame:
    times: defaultdict[tuple[int, str, int | None], float] = defaultdict(float)
    for leg in (leg for of_packet in legs for leg in of_packet):
        times[leg.node, leg.part, leg.next_hop] += leg.end_s - leg.begin_s
    whole = sum(times.values()) or 1.0
    rows = [(*where, time / len(legs), time / whole) for where, time in times.items() if time > 0]
    schema = {"node": pl.Int64, "part": pl.String, "next_hop": pl.Int64, "mean_s": pl.Float64, "share": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _losses(packets: pl.DataFrame) -> pl.DataFrame:
    lost = packets.filter(pl.col("event").cast(pl.String) == "dropped")
    keys = ["packet_type", "node", "drop_reason", "retry_cause"]
    counted = lost.group_by(keys, maintain_order=True).agg(pl.len().cast(pl.Int64).alias("packets"))
    texts = counted.with_columns(pl.col("packet_type", "drop_reason", "retry_cause").cast(pl.String))
    return texts.sort("packets", descending=True, maintain_order=True)


def _way(legs: Sequence[Leg]) -> list[int]:
    """Nodes of a journey, in order; a packet that comes back passes a node twice."""
    nodes: list[int] = []
    for leg in legs:
        if not nodes or nodes[-1] != leg.node:
            nodes.append(leg.node)
    return nodes


def _paths(legs: Sequence[Sequence[Leg]]) -> pl.DataFrame:
    ends: dict[str, list[float]] = {}
    for of_packet in legs:
        ends.setdefault(" - ".join(map(str, _way(of_packet))), []).append(of_packet[-1].end_s)
    rows = [(path, path.count("-"), len(times), min(times), max(times)) for path, times in ends.items()]
    schema = {
        "path": pl.String,
        "hops": pl.Int64,
        "packets": pl.Int64,
        "first_at_s": pl.Float64,
        "last_at_s": pl.Float64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row").sort("packets", descending=True, maintain_order=True)


# ---- lines ----

_Line = tuple[float, str, int, int | None, str]


def _table(events: list[_Line]) -> pl.DataFrame:
    schema = {"time_s": pl.Float64, "kind": pl.String, "node": pl.Int64, "packet": pl.Int64, "text": pl.String}
    return pl.DataFrame(events, schema=schema, orient="row").sort("time_s", maintain_order=True)


def _rank(line: _Line, broken: Collection[int]) -> tuple[float, int]:
    """Place of a line: by time, and at one instant a cause before its effect.

    What arrives lets senders act, and what they do is what they send; a packet may be lost as soon as it is sent. A
    packet that the MAC gives up breaks routes, and those take others with them.
    """
    time_s, kind, _, packet, _ = line
    order = (DELIVERED, _BROKEN, ROUTES, TIMER, SENT, LOSS)
    return time_s, order.index(_BROKEN if kind == LOSS and packet in broken else kind)


def _ends(packets: pl.DataFrame, legs: Sequence[Sequence[Leg]]) -> list[_Line]:
    """Creations, deliveries and losses of the packets of a flow."""
    delivered = {of_packet[0].packet: of_packet for of_packet in legs}
    lines: list[_Line] = []
    arrived: set[int] = set()
    sent: set[tuple[int, int]] = set()
    for r in packets.iter_rows(named=True):
        name, number, node = _named(r), r["packet"], r["node"]
        if r["event"] in ("created", "injected"):
            # A node that splits the connection sends on what the source has sent, others in between send again.
            again = " again" if r["packet_type"] == "tcp_data" and (r["src"], r["sequence"]) in sent else ""
            if r["packet_type"] == "tcp_data":
                sent.add((r["src"], r["sequence"]))
            lines.append((r["time_s"], SENT, node, number, f"node {node} sends {name}{again}"))
        elif r["event"] == "dropped":
            lines.append((r["time_s"], LOSS, node, number, f"{name} is lost at node {node}: {_reason(r)}"))
        elif r["event"] == "delivered" and node == r["dst"] and number not in arrived:
            arrived.add(number)
            text = f"{name} arrives at node {node}"
            if way := delivered.get(number):
                text += f" after {_ms(way[-1].end_s - way[0].begin_s)} over {count(len(_way(way)) - 1, 'hop')}"
            lines.append((r["time_s"], DELIVERED, node, number, text))
    return lines


def _timers(cwnd: pl.DataFrame) -> list[_Line]:
    """Timeouts and repairs of losses."""
    lines: list[_Line] = []
    for r in cwnd.iter_rows(named=True):
        window = f"window {show.number(r['cwnd_segments'], 3)}"
        if r["event"] == "timeout":
            later = f"the next timeout after {show.number(r['rto_s'], 3)} s"
            text = f"the timer of node {r['node']} expires: {window}, {later}"
        elif r["event"] == "fast_retransmit":
            cause = "finds segments overdue and retransmits" if r["recovery_state"] == "by_time" else _BY_DUPLICATES
            text = f"node {r['node']} {cause}: {window}"
        elif r["event"] == "undo":
            text = f"node {r['node']} takes a reduction back that was wrong: {window}"
        elif r["event"] == "probe":
            text = f"node {r['node']} sends a probe: {window}"
        elif r["event"] == "ecn":
            text = f"node {r['node']} reduces its window after a congestion mark: {window}"
        else:
            continue
        lines.append((r["time_s"], TIMER, r["node"], None, text))
    return lines


def _because(change: Mapping[str, Any], is_tq: bool) -> str:
    """Metrics of the new route and of that over the previous next hop, if they are the reason of a change.

    ``is_tq``: the metric is the transmit quality of batman-adv, of which more is better.
    """
    new, old = change["metric"], change["previous_metric"]
    if new is None or old is None or (new <= old if is_tq else new >= old):
        return ""
    return f", because TQ {new:.4g} > {old:.4g}" if is_tq else f", because {new:.4g} < {old:.4g}"


def _chosen(row: Mapping[str, Any], routes: pl.DataFrame, is_tq: bool) -> list[str]:
    """Reason of the last change of the source to a better route, where the protocol compares routes by a metric."""
    changes = routes.filter((pl.col("node") == row["src"]) & (pl.col("event").cast(pl.String) == "changed"))
    reasons = [(change, _because(change, is_tq)) for change in changes.iter_rows(named=True)]
    told = [(change, reason) for change, reason in reasons if reason]
    if not told:
        return []
    change, reason = told[-1]
    way = f"over node {change['next_hop']}{reason}"
    told_once = f"At {change['time_s']:.4g} s node {change['node']} changed its route to node {change['dst']}: {way}"
    return [f"{told_once}. It changed {times(len(changes))} in all."]


def _changes(routes: pl.DataFrame, is_tq: bool) -> list[_Line]:
    """Changes of the routes between the ends of a flow."""
    lines: list[_Line] = []
    for r in routes.iter_rows(named=True):
        if r["event"] == "removed":
            text = f"node {r['node']} has no route to node {r['dst']} any more"
        else:
            verb = "finds a" if r["event"] == "added" else "changes its"
            way = f"over node {r['next_hop']}, {count(r['hops'], 'hop')}{_because(r, is_tq)}"
            text = f"node {r['node']} {verb} route to node {r['dst']}: {way}"
        lines.append((r["time_s"], ROUTES, r["node"], None, text))
    return lines


_STEPS = {
    "created": "node {node} creates it",
    "injected": "node {node} creates it",
    "received": "node {node} receives it",
    "arrived": "it arrives at node {node}",
    "queued": "it is queued at node {node} for node {next_hop}",
    "dequeued": "it leaves the queue of node {node} for node {next_hop}",
    "delivered": "node {node} delivers it",
    "relayed": "node {node} knows that the next hop has it",
    "absorbed": "node {node} consumes it",
}


def _hops(rows: pl.DataFrame) -> list[_Line]:
    """Everything that happens to a packet."""
    lines: list[_Line] = []
    for r in rows.iter_rows(named=True):
        if r["event"] == "dropped":
            kind, text = LOSS, f"node {r['node']} drops it: {_reason(r)}"
        else:
            next_hop = "all" if r["next_hop"] is None else r["next_hop"]
            kind, text = HOP, _STEPS[r["event"]].format(node=r["node"], next_hop=next_hop)
        lines.append((r["time_s"], kind, r["node"], r["packet"], text))
    return lines


def _frames(frames: pl.DataFrame) -> list[_Line]:
    """Frames that carry a packet."""
    lines: list[_Line] = []
    for r in frames.iter_rows(named=True):
        fate = "on the air at the end" if r["outcome"] is None else str(r["outcome"]).replace("_", " ")
        to = "all" if r["dst"] is None else f"node {r['dst']}"
        again = "again " if r["retry"] else ""
        rate = f"{show.number(r['rate_bps'] / 1e6, 3)} Mbit/s"
        text = f"node {r['src']} puts it {again}on the air to {to} at {rate}: {fate}"
        lines.append((r["time_s"], HOP, r["src"], r["packet"], text))
    return lines


def _named(row: dict[str, Any]) -> str:
    """A packet in words."""
    kind = str(row["packet_type"])
    return f"{_NAMES.get(kind, kind)} {row['sequence']}"


def _reason(row: dict[str, Any]) -> str:
    """Reason for a loss in words."""
    reason, cause = row["drop_reason"], row["retry_cause"]
    return _TEXTS.get((reason, cause), str(reason).replace("_", " "))


def _kbps(bps: float) -> str:
    return show.rate(bps, 3)


def _ms(seconds: float) -> str:
    return f"{show.number(1e3 * seconds, 3)} ms"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
