"""Reductions of the tables of a run to a few numbers, from which user-defined measures are computed.

Tables of ``run.record`` are reduced where the run is executed, flow by flow, and never leave it. A reduction is a sum,
a number, an extreme, or a histogram with 64 bins per octave: quantiles are known within 1.1 %.
"""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from numbers import Real
from types import CodeType
from typing import Any, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from chappe import _core
from chappe._common.arguments import quoted
from chappe.expressions.parser import Aggregate, Condition, Node, of_rows, rows_where
from chappe.results.arrivals import first_arrivals
from chappe.results.programs import quic
from chappe.results.results import Results, run
from chappe.results.storage import tables
from chappe.results.storage.columns import TABLES
from chappe.results.storage.recorded import RECORDED
from chappe.scenario.scenario import Scenario, parts

REDUCED = "reductions"
"""Name of the table of a part with the reductions of its runs, which only a study that needs some has."""

INTERVALS = "intervals"
"""Table made of ``samples`` and ``flows``."""

SILENCE_S = 1.0
"""Time without a delivery after which a flow starves [s]."""

_PARTS = {
    "sum": ("sum",),
    "count": ("count",),
    "mean": ("sum", "count"),
    "max": ("max",),
    "min": ("min",),
    "quantile": ("histogram",),
}
"""Reductions that a function needs."""

_BINS = 64
_ZERO = 0
_OFFSET = 1 << 20
"""Number of the bin that begins at 1; those of negative values are the negatives of those of their sizes."""

_EDGES = 2.0 ** (np.arange(_BINS) / _BINS - 1)
"""Lower ends of the bins from 0.5 to 1."""


@dataclass(frozen=True)
class Part:
    """A reduction of a table.

    Attributes:
        kind: ``"sum"``, ``"count"``, ``"max"``, ``"min"`` or ``"histogram"``.
        table: Name of the table.
        of: Value of a row; ``None``: 1.
        where: Conditions that the rows meet.
    """

    kind: str
    table: str
    of: Node | None
    where: tuple[Condition, ...] = ()

    @property
    def name(self) -> str:
        """Name of the reduction, as in the table :data:`REDUCED`."""
        return f"{self.kind}({self.table if self.of is None else self.of}{rows_where(self.where)})"

    @property
    def source(self) -> str:
        """Table of a run from which the table is derived, or the table itself."""
        return "packets" if self.table in _OF_PACKETS else self.table

    @property
    def is_recorded(self) -> bool:
        """True if only the worker has the table."""
        return self.source in RECORDED


def parts_of(aggregate: Aggregate) -> list[Part]:
    """Reductions of which a function is made."""
    return [Part(kind, aggregate.table, aggregate.of, aggregate.where) for kind in _PARTS[aggregate.function]]


def bins_of(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Numbers of the bins of finite values, in their order."""
    # Fractions and exponents are exact on every platform, logarithms are not.
    fraction, exponent = np.frexp(np.abs(values))
    place = np.searchsorted(_EDGES, fraction, side="right") - 1 + _BINS * (exponent.astype(np.int64) - 1) + _OFFSET
    return np.where(values == 0, _ZERO, np.sign(values).astype(np.int64) * place)


def ends_of(bins: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Smallest and largest value of each bin."""
    size = np.abs(bins) - _OFFSET
    inner, outer = 2.0 ** (size / _BINS), 2.0 ** ((size + 1) / _BINS)
    low, high = np.where(bins > 0, inner, -outer), np.where(bins > 0, outer, -inner)
    return np.where(bins == _ZERO, 0.0, low), np.where(bins == _ZERO, 0.0, high)


def quantile(counts: NDArray[np.float64], bins: NDArray[np.int64], q: float) -> NDArray[np.float64]:
    """Quantile of a histogram along the last axis; NaN of an empty one.

    Values of a bin are taken as evenly spread.
    """
    none = np.full(counts.shape[:-1], np.nan)
    if not len(bins):
        return none
    low, high = ends_of(bins)
    up_to = np.cumsum(counts, axis=-1)
    whole = up_to[..., -1]
    wanted = q * whole
    place = np.minimum((up_to < wanted[..., None]).sum(axis=-1), len(bins) - 1)
    # The lowest quantile is in the first bin with a value.
    place = np.maximum(place, (up_to <= 0).sum(axis=-1).clip(max=len(bins) - 1))
    inside = np.take_along_axis(counts, place[..., None], axis=-1)[..., 0]
    before = np.take_along_axis(up_to, place[..., None], axis=-1)[..., 0] - inside
    share = np.clip((wanted - before) / np.where(inside > 0, inside, 1.0), 0.0, 1.0)
    return np.where(whole > 0, low[place] + share * (high[place] - low[place]), none)


def reduced(table: pl.DataFrame, part: Part, by: Sequence[str]) -> pl.DataFrame:
    """Reduction of a table for each combination of ``by``: these columns, ``cell`` (bin, else 0) and ``value``."""
    x = pl.lit(1.0) if part.of is None else of_rows(part.of)
    unnamed = {c.names for c in part.where if c.names and c.names not in table.columns}
    table = table.with_columns(pl.lit(None, pl.String).alias(name) for name in unnamed)
    table = table.filter(*(condition.is_met for condition in part.where)) if part.where else table
    rows = table.with_columns(x.alias("_x")).filter(pl.col("_x").is_finite()).select(*by, "_x")
    if part.kind == "histogram":
        cells = pl.Series("cell", bins_of(rows["_x"].to_numpy()), dtype=pl.Int64)
        counted = rows.with_columns(cells).group_by(*by, "cell").agg(pl.len().cast(pl.Float64).alias("value"))
        return counted.sort(*by, "cell", nulls_last=True)
    value = {"sum": pl.col("_x").sum(), "count": pl.len().cast(pl.Float64)}
    value |= {"max": pl.col("_x").max(), "min": pl.col("_x").min()}
    one = value[part.kind].alias("value")
    found = rows.group_by(*by).agg(one) if by else rows.select(one)
    with_cell = found.with_columns(pl.lit(0, dtype=pl.Int64).alias("cell")).select(*by, "cell", "value")
    return with_cell.filter(pl.col("value").is_not_null()).sort(by, nulls_last=True) if by else with_cell


def of_part(rows: pl.DataFrame, part: Part, by: Sequence[str] = ()) -> pl.DataFrame:
    """Reduction of a recorded table, flow by flow if it has flows: ``by`` and the columns of :data:`SCHEMA`."""
    is_of_flows = "flow" in rows.columns
    numbers = reduced(rows, part, [*by, "flow"] if is_of_flows else by)
    flow = pl.col("flow").cast(pl.Int64) if is_of_flows else pl.lit(None, dtype=pl.Int64).alias("flow")
    return numbers.select(*by, pl.lit(part.name).alias("measure"), flow, "cell", "value")


def together(rows: pl.DataFrame, kind: str, by: Sequence[str]) -> pl.DataFrame:
    """Reductions of several flows as one: ``by``, ``cell`` and ``value``."""
    value = pl.col("value")
    one = {"max": value.max(), "min": value.min()}.get(kind, value.sum())
    return rows.group_by(*by, "cell").agg(one).sort(*by, "cell")


def of_measured(name: str, table: pl.DataFrame, begins: pl.DataFrame) -> pl.DataFrame:
    """Rows of a table of several runs that belong to the measured part of their run.

    Args:
        name: Name of the table.
        table: The table.
        begins: ``run`` and ``begin_s``, the begin of the measured part.
    """
    if name == INTERVALS:
        return table.join(begins, on="run", maintain_order="left").filter(pl.col("began_at_s") >= pl.col("begin_s"))
    for marked in ("used", "measured"):
        if marked in table.columns:
            return table.filter(marked)
    if name != "samples":
        return table
    return table.join(begins, on="run", maintain_order="left").filter(pl.col("time_s") >= pl.col("begin_s"))


Function = Callable[[Mapping[str, pl.DataFrame]], "float | tuple[float, float]"]
"""Function from the tables of a run to a number, or to a numerator and a denominator."""

SCHEMA = {"measure": pl.String, "flow": pl.Int64, "cell": pl.Int64, "value": pl.Float64}
"""Columns of the table :data:`REDUCED`, without the run."""


def of_function(name: str) -> str:
    """Name of the reduction that a function makes."""
    return f"function {name}"


def _content(function: object) -> str:
    """Text that changes with what a function does, as far as its code says."""
    if isinstance(function, partial):
        return f"{_content(function.func)} {function.args} {function.keywords}"
    code = getattr(function, "__code__", None)
    return repr(function) if code is None else _code(code)


def _code(code: CodeType) -> str:
    inner = [_code(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names} {inner}"


def _numbers(name: str, found: object) -> list[float | None]:
    """Numerator and denominator from what a function returned.

    Raises:
        ValueError: If it is no number.
    """
    pair = found if isinstance(found, tuple) else (found, 1.0)
    if len(pair) != 2 or not all(x is None or (isinstance(x, Real) and not isinstance(x, bool)) for x in pair):
        raise ValueError(f"the measure {name} is {quoted(found)}: return a number, or a numerator and a denominator")
    return [None if x is None or not math.isfinite(x) else float(x) for x in pair]


@dataclass(frozen=True)
class Reduction:
    """Part of a study that is made of a run where it is executed.

    Attributes:
        parts: Reductions of recorded tables.
        functions: Functions of all tables of a run, by name.
    """

    parts: tuple[Part, ...]
    functions: tuple[tuple[str, Function], ...] = ()

    @property
    def identity(self) -> str:
        """Hash of the reductions, which is part of the name of a run: other reductions need another run."""
        lines = [part.name for part in self.parts]
        lines += [f"{of_function(name)} {_content(function)}" for name, function in self.functions]
        return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()

    @property
    def tables(self) -> list[str]:
        """Recorded tables that are needed, in the order of :data:`RECORDED`."""
        needed = {part.source for part in self.parts}
        return [name for name in RECORDED if name in needed]

    def of(self, results: Results) -> dict[str, tuple[str, list[Any]]]:
        """Reductions of a run, as a table of the core: ``measure``, ``flow``, ``cell``, ``value``."""
        tables = {part.table: recorded_rows(results, part.table) for part in self.parts}
        found = [of_part(tables[part.table], part) for part in self.parts]
        for name, function in self.functions:
            numbers = _numbers(name, function(results.tables))
            pair = {"measure": [of_function(name)] * 2, "flow": [None] * 2, "cell": [0, 1], "value": numbers}
            found.append(pl.DataFrame(pair, schema=SCHEMA))
        whole = pl.concat(found)
        kinds = {"measure": "text", "flow": "int", "cell": "int", "value": "float"}
        return {name: (kind, whole[name].to_list()) for name, kind in kinds.items()}


def recorded_rows(results: Results, name: str) -> pl.DataFrame:
    """Measured part of a recorded table, or of one that is made of it."""
    if (make := _OF_PACKETS.get(name)) is not None:
        return make(results)
    return results.recorded[name].filter(pl.col("time_s") >= results.measured_from_s)


def delays(results: Results) -> pl.DataFrame:
    """Delay of each delivered packet of the measured part, and its difference from that of the packet before.

    The delay is from the transmission at the source to the first arrival, as in ``flows``; of a retransmitted segment
    from that of the copy that was of use: which arrived first, at the destination or at a node that sends it on or
    again. Arrivals are in their order.

    Returns:
        ``flow``, ``time_s`` (of the arrival), ``delay_s``, ``jitter_s`` (null for the first packet of a flow).
    """
    arrived = first_arrivals(results).with_columns((pl.col("time_s") - pl.col("sent_at_s")).alias("delay_s"))
    differ = pl.col("delay_s").diff().abs().over("flow", "short_flow").alias("jitter_s")
    in_part = pl.col("time_s") >= results.measured_from_s
    return arrived.with_columns(differ).filter(in_part).select("flow", "time_s", "delay_s", "jitter_s")


def gaps(results: Results) -> pl.DataFrame:
    """Times between the deliveries of each flow in the measured part of a run.

    The first gap begins with the measured part or the first start of the flow, the last ends with the run or the file.
    That of datagrams ends with the last one that is sent or arrives: after its `stop` a flow does not starve. TCP still
    has to deliver what was sent. Between a stop and the next start nothing is counted.

    Returns:
        ``flow``, ``time_s`` (end of the gap), ``gap_s``, ``starved_s`` (what of it exceeds a second).
    """
    begin = results.measured_from_s
    done = pl.col("started_at_s") + pl.col("completion_time_s")
    packets = results.recorded["packets"]
    event, kind = pl.col("event").cast(pl.String), pl.col("packet_type").cast(pl.String)
    is_end = event.is_in(["created", "delivered"])
    last = packets.filter((kind == "udp") & is_end).group_by("flow").agg(pl.col("time_s").max().alias("last_s"))
    sent = packets.filter(kind.is_in(["tcp_data", "udp"]) & (event == "created"))
    first = sent.group_by("flow").agg(pl.col("time_s").min().alias("first_s"))
    flows = (
        results.flows.join(last, on="flow", how="left", maintain_order="left")
        .join(first, on="flow", how="left", maintain_order="left")
        .select(
            "flow",
            # A flow that was stopped and started again has the time of its last start.
            pl.max_horizontal(pl.min_horizontal("started_at_s", "first_s"), pl.lit(begin)).alias("begin_s"),
            pl.min_horizontal(done, "last_s", pl.lit(results.simulated_s)).alias("end_s"),
            "started_at_s",
        )
        .filter(pl.col("started_at_s").is_not_null() & (pl.col("end_s") > pl.col("begin_s")))
    )
    arrivals = first_arrivals(results)
    pauses = _pauses(results, sent, arrivals, first)
    bounds = pl.concat(
        [arrivals.select("flow", "time_s"), *(pauses.select("flow", time_s=c) for c in ("from_s", "to_s"))]
    )
    inside = bounds.join(flows, on="flow", maintain_order="left").filter(
        pl.col("time_s").is_between("begin_s", "end_s")
    )
    ends = [flows.select("flow", pl.col(name).alias("time_s")) for name in ("begin_s", "end_s")]
    times = pl.concat([ends[0], inside.select("flow", "time_s"), ends[1]]).sort("flow", "time_s", maintain_order=True)
    before = pl.col("time_s").shift().over("flow").alias("from_s")
    found = times.with_columns(before, (pl.col("time_s") - before).alias("gap_s")).filter(pl.col("gap_s").is_not_null())
    of_pauses = pauses.filter(pl.col("to_s") > pl.col("from_s"))
    found = found.join(of_pauses, left_on=["flow", "from_s", "time_s"], right_on=["flow", "from_s", "to_s"], how="anti")
    counted = found.sort("flow", "time_s", maintain_order=True).drop("from_s")
    return counted.with_columns((pl.col("gap_s") - SILENCE_S).clip(0.0).alias("starved_s"))


def _pauses(results: Results, sent: pl.DataFrame, arrivals: pl.DataFrame, first: pl.DataFrame) -> pl.DataFrame:
    """Times in which flows had been stopped and had nothing to deliver: ``flow``, ``from_s``, ``to_s``.

    Args:
        results: Results of the run.
        sent: Rows of created data in the recorded table ``packets``.
        arrivals: First arrivals.
        first: Time of the first transmission of each flow: ``flow``, ``first_s``.
    """
    begun = dict(first.iter_rows())
    starts = [
        (e["flow"], _core.instant_ns(e["at"]) / 1e9)
        for e in results.scenario.settings["event"]
        if e["action"] == "flow_start"
    ]
    # A start by command is in no event.
    starts += results.flows.select("flow", "started_at_s").drop_nulls().rows()
    rows = []
    for flow, at in sorted({(flow, at) for flow, at in starts if at > begun.get(flow, math.inf)}):
        of_flow = sent.filter(pl.col("flow") == flow)
        if (to_s := of_flow.filter(pl.col("time_s") >= at)["time_s"].min()) is None:
            continue
        before = of_flow.filter(pl.col("time_s") < to_s)
        arrived = arrivals.filter((pl.col("flow") == flow) & (pl.col("time_s") < to_s))
        is_udp = before["packet_type"].cast(pl.String)[0] == "udp"
        is_through = is_udp or len(arrived) == before.filter(pl.col("src") == pl.col("node"))["sequence"].n_unique()
        if is_through:
            times = [arrived["time_s"].max(), before["time_s"].max() if is_udp else None]
            rows.append((flow, max(t for t in times if t is not None), to_s))
    return pl.DataFrame(rows, schema={"flow": pl.Int64, "from_s": pl.Float64, "to_s": pl.Float64}, orient="row")


def losses(results: Results) -> pl.DataFrame:
    """Packets of flows that were lost in the measured part of a run.

    Returns:
        ``flow``, ``time_s``, ``node`` (that lost it), ``packet_type``, ``drop_reason``, ``retry_cause``, and
        ``node_name`` if nodes have names.
    """
    packets = results.recorded["packets"]
    is_lost = (pl.col("event").cast(pl.String) == "dropped") & (pl.col("time_s") >= results.measured_from_s)
    of_flows = packets.filter(is_lost & pl.col("flow").is_not_null())
    names = [] if "node_name" not in packets.columns else ["node_name"]
    return of_flows.select("flow", "time_s", "node", "packet_type", "drop_reason", "retry_cause", *names)


_OF_PACKETS = {"delays": delays, "gaps": gaps, "losses": losses}
"""Tables derived from the recorded table ``packets`` where the run is executed."""


def intervals(samples: pl.DataFrame, flows: pl.DataFrame, keys: Sequence[str] = ()) -> pl.DataFrame:
    """Goodput of each flow from one sample to the next, as it is over time.

    Args:
        samples: The table ``samples``, of one run or of several.
        flows: The table ``flows`` of the same runs.
        keys: Columns that tell runs apart.

    Returns:
        The keys, ``flow``, ``began_at_s`` and ``time_s`` (ends of the interval), ``packets_delivered``,
        ``goodput_bps``.
    """
    each = [*keys, "flow"]
    payload = flows.select(*each, (pl.col("bytes_delivered") / pl.col("packets_delivered")).alias("_bytes"))
    before, now = pl.col("time_s").shift().over(each), pl.col("time_s")
    packets = pl.col("packets_delivered").diff().over(each)
    found = samples.join(payload, on=each, how="left", maintain_order="left").select(
        *each,
        before.alias("began_at_s"),
        now,
        packets,
        # A flow that delivered nothing has no size of a packet.
        (8.0 * packets * pl.col("_bytes").fill_nan(0.0) / (now - before)).alias("goodput_bps"),
    )
    return found.filter(pl.col("began_at_s").is_not_null())


OPTIONAL = {
    **quic.COLUMNS,
    **dict.fromkeys(("gateway", "gateway_changes"), "int"),
    **dict.fromkeys(("gateway_changed_at_s", "longest_handover_s"), "float"),
}
"""Columns of the table ``flows`` that runs without QUIC, or without gateways that change, lack, and their types."""


@cache
def columns() -> Mapping[str, Mapping[str, pl.DataType]]:
    """Columns of every table that an expression can have, with their types: of texts the words that they can have."""
    settings = {"run.batches": 1, "run.warmup_batches": 0, "run.record": list(RECORDED)}
    results = run(Scenario.chain(1, settings, stop="1 delivered"))
    found = {name: dict(results.table(name).schema) for name in (*TABLES, *RECORDED)}
    found["flows"] |= {name: tables.TYPES[kind]() for name, kind in OPTIONAL.items() if kind != "text"}
    made = {name: make(results) for name, make in _OF_PACKETS.items()}
    made[INTERVALS] = intervals(results.samples, results.flows)
    words = {
        "app": _words("flow.N.app"),
        "transport": _words("on_off.transport"),
        "variant": _words("tcp.variant"),
        # The table has a row for each of them, used or not.
        "packet_class": results.packet_outcomes["packet_class"].unique(maintain_order=True).to_list(),
    }
    every = {**found, **{name: dict(table.schema) for name, table in made.items()}}
    of_packets = found["packets"]
    for name in ("drop_reason", "retry_cause"):
        words[name] = cast(pl.Enum, of_packets[name]).categories.to_list()
    text = {name: pl.Enum(known) for name, known in words.items()}
    return {
        table: {name: text.get(name, kind) if kind == pl.String else kind for name, kind in types.items()}
        for table, types in every.items()
    }


def _words(setting: str) -> list[str]:
    """Words of a setting that chooses a part."""
    return [part["keyword"] for shelf in parts() if shelf["setting"] == setting for part in shelf["parts"]]
