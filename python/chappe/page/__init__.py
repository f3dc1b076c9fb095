"""The report of a run: one HTML file that opens offline and contains the simulator."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, NamedTuple

import jinja2
import polars as pl

from chappe import RESULTS_EPOCH, __version__, _core
from chappe import text as show
from chappe._common.words import count, node_label, plain
from chappe.measures import measure_of
from chappe.page.map import drawn
from chappe.printing import problems
from chappe.printing.results import pooled
from chappe.results.budgets import LOSSES, USES
from chappe.results.results import Results
from chappe.results.silent_flows import describe
from chappe.scenario import rules
from chappe.scenario.scenario import Scenario
from chappe.stories.overview import Overview, overview
from chappe.stories.story import place

FILES = ("unpack.wasm.gz", "core.wasm.lzma")
"""Files of the module, which ``make wasm`` writes: what unpacks it in a page, and itself."""

STEPS = (
    ("frame", "frame"),
    ("collision", "collision"),
    ("drop", "drop"),
    ("timeout", "timeout"),
    ("route", "route failure"),
)
"""Kinds of events that the player steps to, with their names."""

CHANGEABLE = (
    *("queue.discipline", "queue.limit", "run.seed", "tcp.ack_policy", "tcp.receive_window", "tcp.variant"),
    *("wlan.data_rate", "wlan.rts_threshold"),
)
"""Settings that the page proposes to change; it takes every other one, too."""

_SLIDERS = {
    "tcp.receive_window": 64,
    "queue.limit": 100,
    "wlan.cw_min": 255,
    "wlan.short_retry_limit": 16,
    "wlan.long_retry_limit": 16,
}
"""Settings of the sliders, whole numbers from 1 on, with the largest values."""

_CHECKED = ("flows", "nodes", "batches", "flow_batches", "packet_outcomes")
"""Tables that a run in the page is compared in."""

WITHOUT = "run `make wasm` in the folder of Chappe's source, which puts the simulator into pages"
"""Command that gives pages a player."""

OF_PROGRAM = "the datagrams of its external flows came from a program, which the page does not have"
"""Reason why the report of a run with external flows has no player."""

OF_RULE = "the window of a flow was decided in Python, which the page does not have"
"""Reason why the report of a run with a congestion control of one's own has no player."""

_IN_FULL = 8
"""Flows whose stories are told in full at most, and places of their delays."""

_MANY = 40
"""Rows of a table."""


class Module(NamedTuple):
    """The simulator as a page contains it."""

    unpacker: bytes
    """A small module that unpacks LZMA, packed by gzip."""
    core: bytes
    """The module of the simulator, packed by LZMA."""


class Slider(NamedTuple):
    """A setting that the page changes by a slider."""

    name: str
    low: int
    high: int
    value: int


class Story(NamedTuple):
    """The story of a flow."""

    title: str
    findings: Sequence[str]
    tables: Sequence["Table"]


class Table(NamedTuple):
    """A table of the page."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


def module() -> Module | None:
    """The packed module of the simulator; ``None`` where it was not built."""
    files = [resources.files(__package__).joinpath(name) for name in FILES]
    return Module(*(file.read_bytes() for file in files)) if all(file.is_file() for file in files) else None


def without(results: Results) -> str:
    """Reason why a run has no player; empty: it has one."""
    if results._is_of_program:
        return OF_PROGRAM
    if rules.named(results.scenario._core):
        return OF_RULE
    return "" if module() else WITHOUT


class Taught(NamedTuple):
    """Additions of a lesson to the page of a run."""

    before: str
    """Markup before the player."""
    knobs: str
    """Markup at the beginning of the player."""
    after: str
    """Markup after the player."""
    script: str
    style: str
    data: Mapping[str, Any]
    """Data for its script."""


def page(results: Results, title: str, slider: str = "tcp.receive_window", taught: Taught | None = None) -> str:
    """The report of a run as HTML.

    Args:
        results: Results of the run.
        title: Title of the page.
        slider: Setting that the page proposes to change.
        taught: What a lesson adds; ``None`` for a report.
    """
    texts = {name: _read(name) for name in ("page.css", "page.html.j2")}
    script = player_script()
    if taught:
        texts["page.css"] += taught.style
        script += taught.script
    why = without(results)
    packed = None if why else module()
    scenario = results.scenario
    of_flows = overview(results, _IN_FULL)
    template = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined).from_string(texts["page.html.j2"])
    return template.render(
        title=plain(title),
        sketch=problems.sketch(scenario),
        seed=results.seed,
        simulated=f"{results.simulated_s:,.1f} s",
        taught=taught,
        findings=_findings(results),
        stories=_stories(of_flows),
        others=of_flows.others[:_MANY],
        note=of_flows.note,
        tables=[_flows(results), _measures(results), *_losses(results)],
        map=drawn(scenario, _ways(of_flows, scenario.names)),
        ways="ways that most packets of a flow took" if of_flows.stories else "routes",
        steps=STEPS,
        slider=slider,
        sliders=[] if taught else _sliders(scenario),
        wires=bool(scenario["wired_link"]),
        several=len(_channels(scenario)) > 1,
        names=CHANGEABLE,
        unpacker=_text(packed.unpacker) if packed else "",
        module=_text(packed.core) if packed else "",
        settings=_embedded(scenario.settings) if packed else "",
        data=_embedded({**_data(results), **({"lesson": taught.data} if taught else {})}) if packed else "",
        script=script,
        style=texts["page.css"],
        script_hash=_hash(script),
        style_hash=_hash(texts["page.css"]),
        version=__version__,
        epoch=RESULTS_EPOCH,
        made=f"{count(results.frames_sent, 'frame')} on the air; {results.end}.",
        without="" if why == WITHOUT else why,
    )


def player_script() -> str:
    """Script of the player."""
    return _read("module.js") + _read("page.js")


def _read(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _text(module: bytes) -> str:
    """A module in base 85, a fifteenth shorter than in base 64, without a character that could end a script."""
    return base64.b85encode(module).decode().replace("<", ",")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _embedded(data: Mapping[str, Any]) -> str:
    """JSON that ends no element, whatever its texts are."""
    text = json.dumps(data, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _data(results: Results) -> dict[str, Any]:
    """Data for the script."""
    measured = results._measured
    texts = {}
    if isinstance(measured, _core.Results):
        texts = {name: text for name in _CHECKED if (text := measured.table_json(name)) is not None}
    names = results.scenario.names
    return {
        **({"names": names} if names else {}),
        "epoch": results.epoch,
        "simulated_s": results.simulated_s,
        "begin_s": min((f for f in results.flows["started_at_s"].to_list() if f is not None), default=0.0),
        "goodput": results.flows["goodput_bps"].to_list(),
        "tables": {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()},
    }


def _sliders(scenario: Scenario) -> list[Slider]:
    """Sliders of the settings that have an effect in this scenario."""
    found = []
    for name, most in _SLIDERS.items():
        value = scenario[name]
        if isinstance(value, int) and value >= 1 and scenario.with_settings({name: value})._core.used([name]):
            found.append(Slider(name, 1, max(most, value), value))
    return found


def _channels(scenario: Scenario) -> set[int]:
    """Channels of all radios."""
    listed = [scenario["radio.channels"], *(node.get("radio", {}).get("channels", []) for node in scenario["node"])]
    return {channel for channels in listed for channel in channels}


def _findings(results: Results) -> list[str]:
    """The findings, in sentences."""
    flows = results.flows
    rows = flows.to_dicts()
    said = []
    total = sum(row["goodput_bps"] or 0.0 for row in rows)
    said.append(f"Goodput of {count(len(rows), 'flow')}: {show.rate(total)} in all.")
    if len(rows) > 1:
        rows.sort(key=lambda row: row["goodput_bps"] or 0.0)
        said.append(
            f"The slowest is flow {rows[0]['flow']} with {show.rate(rows[0]['goodput_bps'])}, the fastest flow "
            f"{rows[-1]['flow']} with {show.rate(rows[-1]['goodput_bps'])}."
        )
    for row in sorted((r for r in rows if r["transport"] != "udp"), key=lambda r: r["flow"])[:4]:
        times = {use: row[f"{use}_s"] or 0.0 for use in USES}
        if whole := sum(times.values()):
            use = max(times, key=lambda name: times[name])
            share = f"{100 * times[use] / whole:.0f} % of its time in {USES[use]}"
            said.append(f"Flow {row['flow']} ({row['variant']}) spends {share}.")
    outcomes = results.packet_outcomes
    lost = {text: int(outcomes[name].sum()) for name, text in LOSSES.items() if name in outcomes.columns}
    worst = max(lost, key=lambda text: lost[text]) if lost else ""
    if worst and lost[worst]:
        said.append(
            f"{sum(lost.values()):,} packets are lost, most of them ({lost[worst]:,}) for this reason: {worst}."
        )
    said += [f"{text[0].upper()}{text[1:]}." for text in describe(results._silences)]
    return said


def _stories(of_flows: Overview) -> list[Story]:
    """Stories of the worst flows."""
    return [
        Story(
            f"Flow {flow}",
            story.findings,
            [t for t in (_delays(story.delays, story.names), _paths(story.paths)) if t.rows],
        )
        for flow, story in of_flows.stories.items()
    ]


def _ways(of_flows: Overview, names: Mapping[int, str]) -> dict[int, list[int]]:
    """Ways that most packets took, by flow, as numbers of nodes."""
    numbers = {name: n for n, name in names.items()}
    found = {}
    for flow, story in of_flows.stories.items():
        for way in story.paths["path"].head(1):
            found[flow] = [numbers[node] if node in numbers else int(node) for node in way.split(" - ")]
    return found


def _delays(delays: pl.DataFrame, names: Mapping[int, str]) -> Table:
    ordered = delays.sort("mean_s", descending=True, maintain_order=True)
    rows = [
        (place(row, names), node_label(row["node"], names), _ms(row["mean_s"]), f"{100 * row['share']:.1f} %")
        for row in ordered.head(_IN_FULL).iter_rows(named=True)
    ]
    if len(rest := ordered.slice(_IN_FULL)):
        rows.append(("elsewhere", "", _ms(float(rest["mean_s"].sum())), f"{100 * float(rest['share'].sum()):.1f} %"))
    return Table("Mean delay of a delivered packet, by place", ("part", "node", "mean", "share"), rows)


def _paths(paths: pl.DataFrame) -> Table:
    """Paths over time, if there are several."""
    rows = [
        (row["path"], f"{row['packets']:,}", f"{row['first_at_s']:.3f} s", f"{row['last_at_s']:.3f} s")
        for row in (paths.head(_MANY).sort("first_at_s") if len(paths) > 1 else paths.clear()).iter_rows(named=True)
    ]
    return Table("Paths of delivered packets", ("path", "packets", "first", "last"), rows)


def _flows(results: Results) -> Table:
    columns: Sequence[str] = (
        "flow",
        "src",
        "dst",
        "variant",
        "goodput",
        "delivered",
        "retransmitted",
        "timeouts",
        "window",
        "RTT",
        "delay",
    )
    names = results.scenario.names
    rows: list[Sequence[str]] = [
        (
            str(f["flow"]), node_label(f["src"], names), node_label(f["dst"], names), f["variant"] or f["transport"],
            show.rate(f["goodput_bps"]), f"{f['packets_delivered']:,}", _many(f["retransmissions"]),
            _many(f["timeouts"]),
            show.number(f["mean_window_segments"], 3), _ms(f["mean_rtt_s"]), _ms(f["mean_delay_s"]),
        )
        for f in results.flows.head(_MANY).iter_rows(named=True)
    ]  # fmt: skip
    if {*results.flows["transport"]} == {"udp"}:
        # Columns of TCP say nothing of datagrams.
        kept = [i for i, name in enumerate(columns) if name not in ("retransmitted", "timeouts", "window", "RTT")]
        columns, rows = [columns[i] for i in kept], [[row[i] for i in kept] for row in rows]
    more = len(results.flows) - _MANY
    note = f"{more:,} further flows are in the table `flows`." if more > 0 else ""
    return Table("Flows, in the measured part of the run", columns, rows, note)


def _measures(results: Results) -> Table:
    rows = []
    kinds = dict(results.flows["transport"].value_counts().iter_rows())
    for row in results.summary().iter_rows(named=True):
        m = measure_of(row["measure"]).near(row["estimate"])
        if m.of == "tcp" and {*kinds} == {"udp"}:
            continue
        rows.append((m.label, show.estimate(row, m.scale), m.unit, str(row["n"]), row["doubt"]))
    note = "95 % confidence, from the batches of one run: other seeds may differ by more."
    return Table(
        "All flows, in the measured part of the run",
        ("measure", "estimate", "unit", "batches", "doubt"),
        rows,
        f"{note} {pooled(kinds) if len(kinds) > 1 else ''}",
    )


def _losses(results: Results) -> list[Table]:
    outcomes = results.packet_outcomes
    rows = [
        (text, f"{n:,}")
        for name, text in LOSSES.items()
        if name in outcomes.columns and (n := int(outcomes[name].sum()))
    ]
    return [Table("Lost packets, in the whole run", ("cause", "packets"), rows)] if rows else []


def _ms(seconds: float | None) -> str:
    return "-" if seconds is None else f"{show.number(1e3 * seconds, 3)} ms"


def _many(n: int | None) -> str:
    return "-" if n is None else f"{n:,}"
