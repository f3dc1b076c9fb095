"""Text for people: what commands print."""

import math
import os
import sys
from collections.abc import Iterable
from typing import Any, Protocol

import polars as pl
from rich.console import Console
from rich.text import Text

from chappe.layout import Table
from chappe.measures import MEASURES, short_batches
from chappe.results import Results
from chappe.scenario import Scenario
from chappe.why import AIR_TIME, LOSSES, SENDING, USES, Why
from chappe.words import count, plain, tell


def console() -> Console:
    """Standard output; lines are not broken when it is no terminal."""
    return Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 160)


def write(t: Table) -> None:
    """Prints a table with its title and an empty line after it."""
    out = console()
    if t.title:
        say(t.title, style="bold")
    for line in t.lines(out.width):
        # As it is, also where a single word is wider than the terminal.
        out.print(Text(line.text, style="bold" if line.header else ""), soft_wrap=True)
    out.print()


def say(text: str, style: str = "") -> None:
    """Prints a text, on a terminal broken between words."""
    console().print(Text("\n".join(map(plain, text.split("\n"))), style=style))


def table(*columns: str, title: str | None = None, keys: int = 1) -> Table:
    """A table, see :class:`chappe.layout.Table`; :func:`write` prints it."""
    return Table(*columns, title=title, keys=keys)


def number(value: float | None, digits: int = 4) -> str:
    """A number with so many significant digits, without exponent; "-" when there is none."""
    if value is None or math.isnan(value):
        return "-"
    if math.isinf(value):
        return "inf"
    if value == 0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(places, 9)}f}"


def with_error(mean: float, half_width: float, scale: float = 1.0) -> str:
    """A mean and the half width of its interval, both to the second digit of the latter; without it when it is tiny."""
    mean, half_width = mean * scale, half_width * scale
    if math.isnan(mean):
        return "-"
    if math.isnan(half_width) or half_width <= 1e-5 * abs(mean):
        return number(mean)
    places = min(max(0, 1 - math.floor(math.log10(half_width))), 9)
    return f"{mean:,.{places}f} ± {half_width:,.{places}f}"


def warnings(scenario: Scenario) -> None:
    """Prints what is doubtful about a scenario on standard error."""
    colour = sys.stderr.isatty() and "NO_COLOR" not in os.environ
    messages, text = scenario._core.warnings(colour)
    if messages:
        tell(text + "\n")


def sketch(scenario: Scenario) -> str:
    """A scenario in one line."""
    settings = scenario.settings
    topology, nodes, flows = settings["topology"], len(scenario.nodes), len(scenario.flows)
    links, wired = len(settings["link"]), settings["wire"]["nodes"]
    has_radio, chain = topology["kind"] != "none", topology["kind"] == "chain"
    places = []
    if has_radio:
        places.append(f"Chain of {nodes:,} nodes, {topology['spacing']} apart" if chain else count(nodes, "node"))
    if wired:
        places.append(f"{count(wired, 'node')} without radio")
    if links:
        places.append(count(links, "link"))
    rate = f"{settings['wlan']['data_rate']}; " if has_radio else ""
    return (
        f"{', '.join(places)}; {count(flows, 'flow')}; {rate}"
        f"{settings['routing']['protocol']}; {', '.join(scenario.transports)}."
    )


_ENDS = {
    "done": "",
    "limit": "The run was ended by run.limit before its stop rule was met.",
    "idle": "The run ended early: nothing could happen any more.",
}


def results(r: Results, name: str) -> None:
    """Prints what a run measured."""
    s = r.scenario.settings
    console().print(Text.assemble((plain(name), "bold"), f"  {sketch(r.scenario)}"))
    say(f"Seed {s['run']['seed']}, {r.simulated_s:,.1f} s simulated, {count(r.frames, 'frame')} on the air.")
    if _ENDS[r.end]:
        say(_ENDS[r.end], style="yellow")
    say("")
    flows = table(
        "Flow", "from", "to", "transport", ">goodput", ">delivered", ">retransmitted", ">timeouts", ">window", ">RTT"
    )
    for f in r.flows.iter_rows(named=True):
        window, rtt = number(f["mean_window_segments"], 3), number(f["mean_rtt_s"] * 1e3, 3)
        flows.add_row(
            str(f["flow"]),
            str(f["from"]),
            str(f["to"]),
            f["transport"],
            f"{number(f['goodput_bps'] / 1e3)} kbit/s",
            f"{f['delivered_packets']:,}",
            f"{f['retransmissions']:,}" if f["transport"] != "udp" else "-",
            f"{f['timeouts']:,}" if f["transport"] != "udp" else "-",
            window,
            f"{rtt} ms" if rtt != "-" else "-",
        )
    write(flows)
    for f in r.flows.filter(pl.col("gave_up_s").is_not_nan()).iter_rows(named=True):
        say(
            f"Flow {f['flow']} was given up at {f['gave_up_s']:,.1f} s: too many timeouts in a row without an answer "
            "(`tcp.max_timeouts`).",
            style="yellow",
        )
    if not r.links.is_empty():
        _links(r.links)
    summary = r.summary()
    used = int(r.batches["used"].sum())
    means = table("All flows", ">measured", "", title=f"95 % confidence, from {count(used, 'batch')}")
    units = {m.name: m for m in MEASURES}
    correlated = []
    for row in summary.iter_rows(named=True):
        m = units[row["measure"]]
        if row["batches"] == 0:
            continue
        means.add_row(m.label, with_error(row["mean"], row["half_width"], m.scale), m.unit)
        rho = row["autocorrelation"]
        if not math.isnan(rho) and abs(rho) > 2 / math.sqrt(row["batches"]):
            correlated.append(m.label)
    write(means)
    if short := short_batches(r.batches):
        say(f"{short[0].upper()}{short[1:]}.", style="yellow")
    if correlated:
        say(
            f"Batches are correlated ({', '.join(correlated)}): their intervals are too narrow. "
            "Use longer batches or several seeds.",
            style="yellow",
        )
    dropped = {name: int(r.fates[name].sum()) for name in r.fates.columns if name.startswith("dropped_")}
    reasons = [f"{n:,} {name.removeprefix('dropped_').replace('_', ' ')}" for name, n in dropped.items() if n]
    say(f"Packets dropped in the whole run: {', '.join(reasons) or 'none'}.")


def _links(directions: pl.DataFrame) -> None:
    """Prints what went over the wires."""
    t = table("Link", "from", "to", ">sent", ">throughput", ">in use", ">queue", ">queue full", ">damaged")
    for d in directions.iter_rows(named=True):
        t.add_row(
            str(d["link"]),
            str(d["from"]),
            str(d["to"]),
            f"{d['packets_sent']:,}",
            f"{number(d['throughput_bps'] / 1e3)} kbit/s",
            f"{100 * d['utilisation']:.1f} %",
            number(d["mean_queue_packets"], 3),
            f"{d['dropped_queue_full']:,}",
            f"{d['dropped_link_error']:,}",
        )
    write(t)


def why(budgets: Why) -> None:
    """Prints why a run came out as it did."""
    say("")
    flows = budgets.flow_time["flow"].unique(maintain_order=True).to_list()
    # One column each while they fit beside each other.
    shown = flows[:8]
    t = table("What flows spend their time on", *(f">flow {f}" for f in shown))
    for use, label in USES.items():
        shares = budgets.flow_time.filter(pl.col("use") == use)
        row = [shares.filter(pl.col("flow") == f)["share"].item() for f in shown]
        if any(row):
            t.add_row(label, *(f"{100 * share:.1f} %" for share in row))
    if shown:
        write(t)
    if len(flows) > len(shown):
        left = len(flows) - len(shown)
        say(f"{count(left, 'more flow')} {'is' if left == 1 else 'are'} in the table `flow_time`.\n")
    names = {"data": "data packets", "ack": "acknowledgements"}
    t = table("Why packets were lost", ">packets", ">share of the lost")
    for kind, label in names.items():
        rows = budgets.losses.filter(pl.col("kind") == kind)
        t.add_row(f"{label}:", f"{rows['packets'].sum():,}", "")
        for loss in rows.iter_rows(named=True):
            t.add_row(f"  {LOSSES[loss['cause']]}", f"{loss['packets']:,}", f"{100 * loss['share']:.1f} %")
    write(t)
    _air_time(budgets)


def _air_time(budgets: Why) -> None:
    """Prints what the nodes did: all together, and those that transmit most."""
    sending = budgets.air_time.filter(pl.col("use").is_in(SENDING)).group_by("node").agg(pl.col("time_s").sum())
    busiest = sending.sort(["time_s", "node"], descending=[True, False])["node"].head(5).to_list()
    nodes = budgets.air_time["node"].n_unique()
    which = f"the {len(busiest)} busiest, which transmit most" if nodes > len(busiest) else "each of them"
    title = f"Time of all {count(nodes, 'node')} with a radio together, and of {which}"
    t = table("What nodes spend their time on", ">all", *(f">node {n}" for n in busiest), title=title)
    for use, label in AIR_TIME.items():
        shares = budgets.air_time.filter(pl.col("use") == use)
        own = [shares.filter(pl.col("node") == n)["share"].item() for n in busiest]
        if any(shares["share"]):
            t.add_row(label, *(f"{100 * share:.1f} %" for share in (_mean(shares["share"]), *own)))
    write(t)
    per_bit = number(budgets.energy_per_bit_j * 1e6)
    say(f"Energy of all nodes: {number(budgets.energy_j)} J, {per_bit} uJ per delivered bit.")


def _mean(values: pl.Series) -> float:
    return float(values.sum()) / len(values)


def parts(shelves: list[dict[str, Any]]) -> None:
    """Prints every shelf with its parts."""
    for shelf in shelves:
        t = table("", "~", title=f"{shelf['name']}  ({shelf['setting']})")
        t.show_header = False
        for part in shelf["parts"]:
            t.add_row(f"  {part['keyword']}", part["description"])
        write(t)


class _Paper(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def figures(self) -> tuple[int, ...]: ...
    @property
    def tables(self) -> tuple[int, ...]: ...


def papers(known: Iterable[_Paper]) -> None:
    """Prints the papers that can be reproduced."""
    t = table("Paper", "figures", "tables", "~title")
    for p in known:
        parts = (f"{min(numbers)}-{max(numbers)}" if numbers else "-" for numbers in (p.figures, p.tables))
        t.add_row(p.name, *parts, p.title)
    write(t)


class _Named(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...


def validations(known: Iterable[_Named]) -> None:
    """Prints the comparisons that belong to no paper."""
    t = table("Comparison", "of what")
    for v in known:
        t.add_row(v.name, v.title)
    write(t)
