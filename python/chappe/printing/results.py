"""Output of ``chappe run``."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from chappe import text as show
from chappe._common.words import count, node_label, plain, times
from chappe.measures import JAIN, measure_of, short_batches
from chappe.printing import problems
from chappe.results.budgets import AIRTIME, LOSSES, REASONS, SENDING, USES, Why
from chappe.results.results import Results
from chappe.results.silent_flows import describe, unused
from chappe.results.storage.columns import Rows, rows_of
from chappe.results.warnings import ENDS, SLOW_HANDOVER_S
from chappe.scenario import flow_selection
from chappe.stats.doubts import CORRELATED, MEANING, TREND

if TYPE_CHECKING:
    import polars as pl

_NOTABLE = 0.001
"""Share of time without a route that is reported even if no path broke."""

SHOWN = 8
"""Flows shown individually."""

_IN_ROWS = (CORRELATED, TREND)
"""Doubts that some rows have and others do not."""

_ENDS = {"done": "", "canceled": "The run was canceled.", "running": "The run has not ended."}
_ENDS |= {end: f"The run {text}." for end, text in ENDS.items()}


def results(r: Results, name: str, choice: str | None = None, measures: Sequence[str] | None = None) -> None:
    """Prints the results of a run, with all or some measures of all flows or of chosen ones."""
    s, names = r.scenario.settings, r.scenario.names
    show.console().print(Text.assemble((plain(name), "bold"), f"  {problems.sketch(r.scenario)}"))
    show.say(f"Seed {s['run']['seed']}, {r.simulated_s:,.1f} s simulated, {count(r.frames_sent, 'frame')} on the air.")
    # A program ends its run when it likes.
    if _ENDS[r.end] and not (r.end == "canceled" and r._is_of_program):
        show.say(_ENDS[r.end], style="yellow")
    show.say("")
    flows = show.table(
        "Flow", "src", "dst", "variant", ">goodput", ">delivered", ">retransmitted", ">timeouts", ">window", ">RTT"
    )
    columns = r._columns("flows")
    all_flows = rows_of(columns)
    left_out = unused(all_flows)
    of_flows = [f for f in all_flows if f["flow"] not in left_out]
    for f in of_flows:
        window, rtt = show.number(f["mean_window_segments"], 3), show.number(_ms(f["mean_rtt_s"]), 3)
        flows.add_row(
            str(f["flow"]),
            node_label(f["src"], names),
            node_label(f["dst"], names),
            f["variant"] or ("quic" if f.get("quic_stack") else f["transport"]),
            show.rate(f["goodput_bps"]),
            f"{f['packets_delivered']:,}",
            f"{f['retransmissions']:,}" if f["transport"] != "udp" else "-",
            f"{f['timeouts']:,}" if f["transport"] != "udp" else "-",
            window,
            f"{rtt} ms" if rtt != "-" else "-",
        )
    show.write(flows)
    if left_out:
        show.say(f"{count(len(left_out), 'external flow')} without a datagram.")
    for f in (f for f in of_flows if f["aborted_at_s"] is not None):
        show.say(
            f"Flow {f['flow']} gave up at {f['aborted_at_s']:,.1f} s after too many consecutive timeouts "
            "(`tcp.max_timeouts`).",
            style="yellow",
        )
    for f in (f for f in of_flows if f.get("quic_stack")):
        show.say(_of_quic(f))
    _gateways(of_flows, names)
    for text in describe([] if r.end == "running" else r._silences):
        show.say(f"{text[0].upper()}{text[1:]}.", style="yellow")
    _completions(r._completed((0.5, 0.95, 0.99)))
    _links(r._rows("wired_links"), names)
    summary, batches = r._summary(measures, flows=choice), r._columns("batches")
    used = sum(batches["used"])
    # A single batch gives no interval.
    title = (
        f"95 % confidence, from {count(used, 'batch')} of one run" if used > 1 else "From 1 batch, without an interval"
    )
    kinds = flow_selection.kinds_of(columns)
    has_short_flows = bool(r._columns("short_flows")["flow"])
    rows, doubts = [], []
    for row in summary:
        m = measure_of(row["measure"]).near(row["estimate"])
        chosen = flow_selection.parts(row["measure"])[1]
        carried = kinds if chosen is None else flow_selection.kinds_of(chosen.of(r.flows))
        if m.of == "tcp" and "tcp" not in carried and not has_short_flows:
            continue
        # The title has "of one run", and a line of its own tells of short batches.
        words = [word for word in row["doubt"].split(", ") if word in _IN_ROWS]
        doubts += words
        rows.append((m.label, show.estimate(row, m.scale), m.unit, ", ".join(words)))
    means = show.table(
        "All flows" if choice is None else "Chosen flows", ">measured", "", *(["doubt"] if doubts else []), title=title
    )
    for cells in rows:
        means.add_row(*cells[: 4 if doubts else 3])
    if rows:
        show.write(means)
    elif any(columns["packets_delivered"]):
        show.say("Nothing was measured: these flows do not have what the measures need.", style="yellow")
    else:
        show.say("Nothing was measured: no batch delivered a packet.", style="yellow")
    if JAIN in (row["measure"] for row in summary) and any(f.get("quic_stack") for f in all_flows):
        show.say("Jain's index counts both flows of a connection of QUIC; `--flows` chooses flows.")
    if choice is None and len(kinds) > 1:
        show.say(pooled(kinds))
    if short := short_batches(batches):
        show.say(f"{short[0].upper()}{short[1:]}.", style="yellow")
    found = r._certain_of(choice) if doubts else {}
    for word in dict.fromkeys(doubts):
        if found[word]:
            show.say(f"{word}: {MEANING[word]}. Use longer batches or several seeds.", style="yellow")
        else:
            of = f"{doubts.count(word)} of {count(len(rows), 'measure')}"
            show.say(f"{word}: {of}; 1 in 20 is expected by chance.")
    outcomes = r._columns("packet_outcomes")
    dropped = {name: sum(numbers) for name, numbers in outcomes.items() if name.startswith("dropped_")}
    reasons = [f"{n:,} {name.removeprefix('dropped_').replace('_', ' ')}" for name, n in dropped.items() if n]
    show.say(f"Packets dropped in the whole run: {', '.join(reasons) or 'none'}.")
    _batteries(r._rows("batteries"), names)


def _gateways(flows: Sequence[Mapping[str, Any]], names: Mapping[int, str]) -> None:
    """Prints through which gateways flows went, where gateways change."""
    went = [f for f in flows if f.get("gateway") is not None]
    for f in went[:SHOWN]:
        text = f"Flow {f['flow']} went through gateway {node_label(f['gateway'], names)}"
        if f["gateway_changes"]:
            at, longest = show.number(f["gateway_changed_at_s"]), show.number(f["longest_handover_s"], 3)
            text += f", after {count(f['gateway_changes'], 'change')}, the last at {at} s"
            text += f"; the longest hand-over took {longest} s"
        show.say(f"{text}.", style="yellow" if f["longest_handover_s"] >= SLOW_HANDOVER_S else "")
    if (more := len(went) - SHOWN) > 0:
        show.say(f"{count(more, 'more flow')} went through gateways.")


def _of_quic(f: Mapping[str, Any]) -> str:
    """What the library for QUIC tells of the end that sends over a flow."""
    text = f"Flow {f['flow']} is from a {f['quic_role']} of {f['quic_stack']} with its {f['quic_congestion_control']}: "
    text += f"{f['quic_packets_lost']:,} of {count(f['quic_packets_sent'], 'packet')} lost"
    if f["quic_handshake_time_s"] is None:
        return f"{text}, the handshake was not completed."
    return f"{text}, smoothed RTT {show.number(_ms(f['quic_srtt_s']), 3)} ms."


def pooled(kinds: Mapping[str, int]) -> str:
    """Note that measures are of flows of several kinds."""
    many = " and ".join(f"{n:,} {kind.upper()}" for kind, n in kinds.items())
    return f"Measures pool {many} flows; `--flows {min(kinds)}` measures those of {min(kinds).upper()} alone."


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3


def _batteries(batteries: Rows, names: Mapping[int, str]) -> None:
    """Prints the number of empty batteries."""
    ends = [b for b in batteries if b["capacity_j"] is not None]
    if not ends:
        return
    empty = sorted((b["emptied_at_s"], b["node"]) for b in ends if b["emptied_at_s"] is not None)
    text = f"Batteries: {len(empty)} of {len(ends)} are empty"
    if empty:
        at, node = empty[0]
        text += f", the first at node {node_label(node, names)} after {show.number(at)} s"
    show.say(f"{text}.", style="yellow" if empty else "")


def _completions(times: Rows) -> None:
    """Prints completion times of finite flows and short flows."""
    if not times:
        return
    t = show.table("Completion", ">began", ">completed", ">mean", ">median", ">95 %", ">99 %")
    for row in times:
        measured = (row[c] for c in ("mean_s", "p50_s", "p95_s", "p99_s"))
        seconds = ["-" if s is None else f"{show.number(s, 3)} s" for s in measured]
        t.add_row(row["what"].replace("_", " "), f"{row['began']:,}", f"{row['completed']:,}", *seconds)
    show.write(t)


def _links(directions: Rows, names: Mapping[int, str]) -> None:
    """Prints the traffic of point-to-point links."""
    if not directions:
        return
    t = show.table("Link", "src", "dst", ">sent", ">throughput", ">in use", ">queue", ">queue full", ">damaged")
    for d in directions:
        t.add_row(
            str(d["link"]),
            node_label(d["src"], names),
            node_label(d["dst"], names),
            f"{d['packets_sent']:,}",
            show.rate(d["throughput_bps"]),
            "-" if d["utilization"] is None else f"{100 * d['utilization']:.1f} %",
            show.number(d["mean_queue_packets"], 3),
            f"{d['dropped_queue_full']:,}",
            f"{d['dropped_link_error']:,}",
        )
    show.write(t)


def why(budgets: Why) -> None:
    """Prints time budgets, route breaks and causes of loss."""
    import polars as pl

    show.say("")
    flows = budgets.flow_time["flow"].unique(maintain_order=True).to_list()
    # One column per flow, as many as fit.
    shown = flows[:SHOWN]
    t = show.table("Time spent by flows", *(f">flow {f}" for f in shown))
    for use, label in USES.items():
        shares = budgets.flow_time.filter(pl.col("use") == use)
        row = [shares.filter(pl.col("flow") == f)["share"].item() for f in shown]
        if any(row):
            t.add_row(label, *(f"{100 * share:.1f} %" for share in row))
    if shown:
        show.write(t)
    if len(flows) > len(shown):
        left = len(flows) - len(shown)
        show.say(f"{count(left, 'more flow')} {'is' if left == 1 else 'are'} in the table `flow_time`.")
        show.say("")
    _routes(budgets.routes)
    names = {"data": "data packets", "ack": "acknowledgements"}
    t = show.table("Causes of packet loss", ">packets", ">share of losses", title="Packets of the measured part")
    for kind, label in names.items():
        rows = budgets.losses.filter(pl.col("packet_class") == kind)
        t.add_row(f"{label}:", f"{rows['packets'].sum():,}", "")
        texts = {REASONS[counter]: text for counter, text in LOSSES.items()}
        for _, reason, cause, packets, share in rows.iter_rows():
            t.add_row(f"  {texts[reason, cause]}", f"{packets:,}", f"{100 * share:.1f} %")
    show.write(t)
    _airtime(budgets)


def _routes(routes: "pl.DataFrame") -> None:
    """Prints route breaks by flow."""
    import polars as pl

    told = routes.filter((pl.col("breaks") > 0) | (pl.col("share").fill_null(0) >= _NOTABLE))
    for r in told.head(SHOWN).iter_rows(named=True):
        none = f"no route for {100 * (r['share'] or 0.0):.1f} % of the time"
        if r["breaks"]:
            life = show.number(r["mean_life_s"], 3)
            show.say(f"Flow {r['flow']}: the path broke {times(r['breaks'])}, after {life} s on average; {none}.")
        else:
            show.say(f"Flow {r['flow']}: no path broke; {none}.")
    if len(told) > SHOWN:
        show.say(f"The table `routes` lists {count(len(told) - SHOWN, 'more flow')} with broken or missing routes.")
    if len(told):
        show.say("")


def _airtime(budgets: Why) -> None:
    """Prints the airtime of all nodes together and of the busiest ones."""
    import polars as pl

    sending = budgets.airtime.filter(pl.col("use").is_in(SENDING)).group_by("node").agg(pl.col("time_s").sum())
    busiest = sending.sort(["time_s", "node"], descending=[True, False])["node"].head(5).to_list()
    nodes = budgets.airtime["node"].n_unique()
    which = f"the {len(busiest)} that transmit most" if nodes > len(busiest) else "each of them"
    title = f"All {count(nodes, 'node')} with a radio together, and {which}"
    t = show.table(
        "Time spent by nodes", ">all", *(f">node {node_label(n, budgets.names)}" for n in busiest), title=title
    )
    for use, label in AIRTIME.items():
        shares = budgets.airtime.filter(pl.col("use") == use)
        of_busiest = [shares.filter(pl.col("node") == n)["share"].item() for n in busiest]
        if any(shares["share"]):
            t.add_row(label, *(f"{100 * share:.1f} %" for share in (_mean(shares["share"]), *of_busiest)))
    show.write(t)
    _aggregates(budgets.aggregates, budgets.names)
    per_bit = show.number(None if budgets.energy_per_bit_j is None else budgets.energy_per_bit_j * 1e6)
    show.say(f"Energy of all nodes: {show.number(budgets.energy_j)} J, {per_bit} uJ per delivered bit.")


def _aggregates(aggregates: "pl.DataFrame", names: Mapping[int, str]) -> None:
    """Prints the aggregates of the nodes that sent the most MPDUs."""
    if aggregates.is_empty():
        return
    t = show.table("Aggregates", ">data frames", ">mean MPDUs", ">MPDUs lost", title="MPDUs sent with EDCA")
    busiest = aggregates.sort(["mpdus", "node"], descending=[True, False]).head(5)
    for r in busiest.iter_rows(named=True):
        t.add_row(
            f"node {node_label(r['node'], names)}",
            f"{r['frames']:,}",
            f"{r['mean_mpdus']:.1f}",
            f"{100 * r['lost_share']:.1f} %",
        )
    show.write(t)


def _mean(values: "pl.Series") -> float:
    return float(values.sum()) / len(values)
