"""Measures of a run or of several runs, as ratios of totals.

Nearly every measure is a ratio of two totals, such as delivered bits over time. The value over several batches or runs
is the ratio of the sums, never the mean of the ratios: the mean would give slow batches of equally many packets too
little weight.
"""

import difflib
import math
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chappe._common.arguments import quoted
from chappe.scenario import flow_selection
from chappe.stats import Jackknife, Pooled, Statistic, exact_rate, exact_share, jain_of_totals, quotient

if TYPE_CHECKING:
    import polars as pl

    from chappe.results.storage.columns import Table

Direction = Literal["maximize", "minimize"]
"""Better direction of a measure."""


Exact = Callable[[float, float, float], tuple[float, float]]
"""Function from two totals and a confidence to an interval that is exact for independent events."""

Columns = Callable[[str], NDArray[np.float64]]
"""Function from the name of a column of the table ``batches`` to its numbers; NaN where it has none."""

Total = Callable[[Columns], NDArray[np.float64]]
"""Function from the columns of the table ``batches`` to a total of each batch."""


class Measure(NamedTuple):
    """A measure of a run."""

    name: str
    label: str
    unit: str
    scale: float
    """Factor from the stored value to ``unit``."""
    over: Total
    """Numerator: a total of a batch."""
    under: Total
    """Denominator: a total of a batch."""
    direction: Direction | None = None
    """Better direction: ``"maximize"`` or ``"minimize"``; ``None`` if neither is better."""
    statistic: Statistic = quotient
    """Function from totals to the measure."""
    exact: Exact | None = None
    """Interval of a count or a share of independent events."""
    limits: tuple[float, float] = (0.0, math.inf)
    """Smallest and largest possible value, in the stored unit."""
    of: Literal["flows", "tcp", "nodes"] = "flows"
    """Place of the measure: any flows, flows over TCP alone, or nodes, where flows have no share."""
    weight: str | None = None
    """Column by which a mean of samples is weighted: their number, or the time that they cover."""

    def near(self, value: float | None) -> "Measure":
        """The measure with the unit in which a value has few zeros: a rate below 1 kbit/s is printed in bit/s."""
        is_small = value is not None and self.unit == "kbit/s" and 0 < abs(value) < 1000
        return self._replace(unit="bit/s", scale=1.0) if is_small else self


DIRECTIONS = ("maximize", "minimize")

ENERGY = "energy_per_bit_j"
"""Measure that needs ``run.airtime``."""

GOODPUT = "goodput_bps"

JAIN = "jain_index"
"""Jain's index of the totals of the flows: the only measure that is not a ratio of totals."""

INDICES = (JAIN, "jain_index_of_batches")
"""Measures between the reciprocal of the number of flows and 1."""

KNOWN = {
    "delay_p50_s": "quantile(delays.delay_s, 0.5)",
    "delay_p95_s": "quantile(delays.delay_s, 0.95)",
    "delay_p99_s": "quantile(delays.delay_s, 0.99)",
    "mean_jitter_s": "mean(delays.jitter_s)",
    "jitter_p50_s": "quantile(delays.jitter_s, 0.5)",
    "jitter_p95_s": "quantile(delays.jitter_s, 0.95)",
    "jitter_p99_s": "quantile(delays.jitter_s, 0.99)",
    "longest_gap_s": "max(gaps.gap_s)",
    "starved_share": "sum(gaps.starved_s) / sum(gaps.gap_s)",
    "route_breaks_per_10000": "1e4 * sum(flows.route_breaks) / sum(flows.packets_delivered)",
    "routing_bytes_per_byte": "sum(nodes.routing_bytes_sent + nodes.routing_header_bytes) / sum(flows.bytes_delivered)",
}
"""Measures that a study makes if it is asked for them, with their expressions. None is negative."""


def _time(column: Columns) -> NDArray[np.float64]:
    """Duration of a batch [s]."""
    return column("ended_at_s") - column("started_at_s")


def _bits(column: Columns) -> NDArray[np.float64]:
    return 8.0 * column("bytes_delivered")


def _ten_thousand(column: Columns) -> NDArray[np.float64]:
    return column("packets_delivered") / 10_000.0


def _undefined(column: Columns) -> NDArray[np.float64]:
    return np.full_like(_time(column), math.nan)


def _the(name: str) -> Total:
    """A column as it is."""
    return lambda column: column(name)


def _sum(*names: str) -> Total:
    """The sum of columns."""
    return lambda column: np.add.reduce([column(name) for name in names])


def _per_10000(
    name: str, label: str, of: Literal["flows", "tcp", "nodes"], direction: Direction | None = None
) -> Measure:
    over, under = _the(name), _ten_thousand
    return Measure(f"{name}_per_10000", label, "per 10,000", 1, over, under, direction, exact=exact_rate, of=of)


def _mean(name: str, label: str, unit: str, scale: float, samples: str, direction: Direction | None = None) -> Measure:
    """A mean of samples: the total of a batch is the mean times the number of samples."""

    def total(column: Columns) -> NDArray[np.float64]:
        return np.where(column(samples) > 0, column(name) * column(samples), 0.0)

    return Measure(name, label, unit, scale, total, _the(samples), direction, weight=samples)


MEASURES: tuple[Measure, ...] = (
    Measure("goodput_bps", "goodput", "kbit/s", 1e-3, _bits, _time, "maximize"),
    Measure("throughput_bps", "throughput", "kbit/s", 1e-3, lambda c: c("throughput_bps") * _time(c), _time),
    Measure(JAIN, "Jain's index", "", 1, _undefined, _undefined, "maximize", jain_of_totals, limits=(0.0, 1.0)),
    Measure(
        "jain_index_of_batches",
        "Jain's index within a batch",
        "",
        1,
        lambda c: np.nan_to_num(c("jain_index")),
        lambda c: np.isfinite(c("jain_index")).astype(float),
        "maximize",
        limits=(0.0, 1.0),
    ),
    _per_10000("retransmissions", "retransmissions", "tcp", "minimize"),
    _per_10000("timeouts", "timeouts", "tcp", "minimize"),
    _per_10000("fast_retransmits", "fast retransmits", "tcp"),
    _mean("mean_window_segments", "window", "segments", 1, "window_observed_s"),
    _mean("mean_rtt_s", "round-trip time", "ms", 1e3, "rtt_samples", "minimize"),
    _mean("mean_delay_s", "one-way delay", "ms", 1e3, "delay_samples", "minimize"),
    Measure(
        "link_drop_probability",
        "link-layer drops",
        "% of packets given to the MAC",
        100,
        _sum("mac_data_given_up", "mac_tcp_acks_given_up", "mac_other_given_up"),
        _sum("mac_data_packets", "mac_tcp_acks", "mac_other_packets"),
        "minimize",
        exact=exact_share,
        limits=(0.0, 1.0),
        of="nodes",
    ),
    _per_10000("route_failures", "false route failures", "nodes", "minimize"),
    Measure(ENERGY, "energy per delivered bit", "uJ", 1e6, _the("energy_j"), _bits, "minimize", of="nodes"),
)
"""All measures. "per 10,000" refers to delivered packets; undefined without any."""

BY_NAME = {m.name: m for m in MEASURES}
NAMES = tuple(BY_NAME)

NODES_ALONE = tuple(m.name for m in MEASURES if m.of == "nodes")
"""Measures of nodes, undefined for some of the flows."""


def measure_of(name: str) -> Measure:
    """Measure by its name, or by that of a measure of chosen flows, such as ``"goodput_bps of tcp"``."""
    measure, choice = flow_selection.parts(name)
    m = BY_NAME.get(measure) or _own(measure)
    return m if choice is None else m._replace(name=name, label=f"{m.label} of {choice.text}")


def _own(name: str) -> Measure:
    """Description of a user-defined measure, whose unit is at the end of its name."""
    stem, _, unit = name.rpartition("_")
    known = {"s": ("s", 1.0), "bps": ("kbit/s", 1e-3), "j": ("J", 1.0), "bytes": ("bytes", 1.0)}
    printed, scale = known.get(unit, ("", 1.0))
    if unit == "s" and any(word in stem for word in ("delay", "jitter")):
        printed, scale = "ms", 1e3
    label = (stem if printed and stem else name).replace("_", " ")
    return Measure(name, label, printed, scale, _undefined, _undefined, limits=(-math.inf, math.inf))


def is_index(name: str) -> bool:
    """True for Jain's index, of all flows or of chosen ones."""
    return flow_selection.parts(name)[0] in INDICES


def counts_flows(name: str) -> bool:
    """True for measures whose limits depend on the number of flows: Jain's index, and goodput."""
    return flow_selection.parts(name)[0] in (*INDICES, GOODPUT)


def wrong(name: object, own: Collection[str] = ()) -> tuple[str, str] | None:
    """Message and suggestion for the name of a measure that does not exist; ``None`` if it does.

    Args:
        name: The name, perhaps of a measure of chosen flows.
        own: Names of user-defined measures.
    """
    if not isinstance(name, str):
        return f"there is no measure {quoted(name)}", hint(name)
    measure, is_of, choice = name.partition(flow_selection.OF)
    if measure not in NAMES and measure not in own:
        if measure in KNOWN:
            return f"the runs were made without the measure `{measure}`", f"repeat the sweep with `--measure {measure}`"
        near = difflib.get_close_matches(measure, own, 1)
        return f"there is no measure {quoted(measure)}", f"did you mean `{near[0]}`?" if near else hint(measure)
    if not is_of:
        return None
    try:
        flow_selection.flows_of(choice)
    except ValueError as e:
        message, _, help_ = str(e).partition("; ")
        return message, help_ or f"give a choice {flow_selection.FORM}"
    if measure in NODES_ALONE:
        flows = [m for m in NAMES if m not in NODES_ALONE]
        return f"`{measure}` is a measure of all nodes, not of chosen flows", f"of flows there are {', '.join(flows)}"
    return None


_UNITS = ("s", "bps", "j", "segments")
"""Last parts of the names of measures that are units."""


def column(measure: str, part: str) -> str:
    """Column of a part of a measure, such as ``ci_low``, with the unit of the measure at its end.

    ``goodput_bps`` has ``goodput_ci_low_bps``, ``jain_index`` has ``jain_index_ci_low``.
    """
    stem, _, unit = measure.rpartition("_")
    return f"{stem}_{part}_{unit}" if stem and unit in _UNITS else f"{measure}_{part}"


_MEANT = {
    "fairness": (JAIN,),
    "jain": (JAIN,),
    "delay": ("mean_delay_s",),
    "latency": ("mean_delay_s",),
    "rtt": ("mean_rtt_s",),
    "cwnd": ("mean_window_segments",),
    "energy": (ENERGY,),
    "loss": ("link_drop_probability", "retransmissions_per_10000"),
    "drops": ("link_drop_probability",),
    "bandwidth": ("throughput_bps", "goodput_bps"),
}
"""Measures by common synonyms."""


def hint(name: object) -> str:
    """Suggestion for an unknown measure: similar names, or all names."""
    all_names = f"known: {', '.join(NAMES)}"
    if not isinstance(name, str):
        return all_names
    word = name.strip().lower()
    meant = _MEANT.get(word) or [n for n in NAMES if word and word in n.split("_")]
    meant = meant or difflib.get_close_matches(word, NAMES, 1) or [n for n in NAMES if len(word) > 3 and word in n]
    return f"did you mean {' or '.join(f'`{n}`' for n in meant[:3])}?" if meant else all_names


SHORT = 1000
"""Packets per batch below which less than 90 % of the 95 % intervals cover the true value."""


def short_batches(batches: "Table") -> str | None:
    """Warning about intervals from short batches; ``None`` for long batches.

    Args:
        batches: The table ``batches`` of a run.
    """
    used = [n for n, counts in zip(batches["packets_delivered"], batches["used"], strict=True) if counts]
    if len(used) < 2 or not 0 < (packets := sum(used) / len(used)) < SHORT:
        return None
    return (
        f"batches of {packets:,.0f} packets are short: less than 90 % of their 95 % intervals cover the true value, "
        f"because stalls are rare and long. Use batches of {SHORT:,} packets or more (`run.stop`), "
        "or better several seeds"
    )


def direction_of(measure: str, direction: str | None) -> Direction:
    """Better direction of a measure: ``direction`` if given, the direction of the measure otherwise.

    Args:
        measure: Name of the measure.
        direction: ``"maximize"``, ``"minimize"`` or ``None``.

    Raises:
        ValueError: If `direction` is no direction, or is ``None`` and the measure has no better direction.
    """
    described = BY_NAME.get(measure.partition(flow_selection.OF)[0]) if isinstance(measure, str) else None
    if direction is None and (direction := described.direction if described else None) is None:
        name = measure if isinstance(measure, str) else quoted(measure)
        raise ValueError(f"{name} has no better direction: give direction='maximize' or direction='minimize'")
    return check_direction(direction)


def check_direction(direction: object) -> Direction:
    """Checks a direction.

    Raises:
        ValueError: If there is no such direction.
    """
    if isinstance(direction, str) and direction in DIRECTIONS:
        return "maximize" if direction == "maximize" else "minimize"
    raise ValueError(f"direction is {quoted(direction)}; it must be 'maximize' or 'minimize'")


def is_known(rows: NDArray[np.float64]) -> NDArray[np.bool_]:
    """For each row of totals, true if the measure is defined there: neither NaN nor nothing out of nothing."""
    known: NDArray[np.bool_] = np.isfinite(rows).all(axis=1) & (rows != 0).any(axis=1)
    return known


def limits_with(mean: float, limits: tuple[float, float]) -> tuple[float, float]:
    """Limits of an interval around a mean; no upper one where the mean passes it.

    Data that were held back for a hole can be delivered faster than they came, for a moment.
    """
    return limits if mean <= limits[1] else (limits[0], math.inf)


class Totals(NamedTuple):
    """Totals of a measure in the batches of a run, or in several runs.

    Attributes:
        rows: One row per batch or run; two columns for a ratio, one column per flow for Jain's index.
        statistic: Function from sums of rows to the measure.
        exact: Interval of a count or a share.
        limits: Smallest and largest possible value.
        is_own: True for a user-defined measure, whose rows are runs: what was made together has the same columns.
    """

    rows: NDArray[np.float64]
    statistic: Statistic
    exact: Exact | None = None
    limits: tuple[float, float] = (-math.inf, math.inf)
    is_own: bool = False

    @classmethod
    def of(
        cls,
        measure: str,
        rows: NDArray[np.float64],
        flows: int = 0,
        fastest_bps: float | None = None,
        *,
        runs: bool = False,
    ) -> "Totals":
        """Totals of a measure by name.

        Args:
            measure: Name of the measure.
            rows: Totals of each batch or run.
            flows: Number of flows, where it is known: no index of Jain's is below its reciprocal.
            fastest_bps: Fastest rate at which a node sends [bit/s]: no flow has more goodput. ``None``: not known.
            runs: True for rows of runs (:attr:`of_run`).
        """
        m = measure_of(measure)
        limits = m.limits
        if flows and counts_flows(measure):
            most = math.inf if fastest_bps is None else flows * fastest_bps
            limits = (1 / flows, 1.0) if is_index(measure) else (0.0, most)
        return cls(rows, quotient if runs else m.statistic, m.exact, limits)

    @property
    def known(self) -> "Totals":
        """Totals of the rows in which the measure is defined."""
        return self._replace(rows=self.rows[is_known(self.rows)])

    @property
    def each(self) -> NDArray[np.float64]:
        """Measure of each row; NaN where undefined."""
        return self.statistic(self.rows)

    @property
    def together(self) -> Jackknife:
        """Measure of all rows together, with pseudo-values; without rows where undefined."""
        pooled = Jackknife.of(self.known.rows, self.statistic)
        return Jackknife.of(self.rows[:0], self.statistic) if math.isnan(pooled.value) else pooled

    @property
    def pooled(self) -> Pooled:
        """Estimate of :attr:`together`."""
        return self.estimate(self.together)

    def estimate(self, together: Jackknife) -> Pooled:
        """The measure of all rows, :attr:`together`, with an interval for skewed or few values."""
        e = together.estimate
        interval = None
        if self.exact is not None and len(together.pseudo):
            over, under = (float(total) for total in self.known.rows.sum(axis=0))
            interval = partial(self.exact, over, under)
        return Pooled(e.mean, e.variance, e.df, interval, limits_with(e.mean, self.limits), skewness=e.skewness)

    @property
    def of_run(self) -> tuple[float, float]:
        """Numerator and denominator of the run for pooling with other runs; for Jain's index the value and 1."""
        if not len(self.rows):
            return math.nan, math.nan
        if self.statistic is quotient:
            over, under = self.rows.sum(axis=0)
            return float(over), float(under)
        return float(self.statistic(self.rows.sum(axis=0))), 1.0


def of_runs(runs: Iterable[Totals | None], measure: str | None = None) -> Totals:
    """Totals of several runs, one row each; NaN for a failed run.

    Args:
        runs: Totals of each run.
        measure: Name of the measure; ``None``: only the ratio of the totals counts.
    """
    runs = list(runs)
    if own := next((totals for totals in runs if totals is not None and totals.is_own), None):
        none = np.full_like(own.rows[:1], math.nan)
        return own._replace(rows=np.concatenate([none if totals is None else totals.rows for totals in runs]))
    rows = [(math.nan, math.nan) if totals is None else totals.of_run for totals in runs]
    table = np.array(rows, dtype=float).reshape(len(rows), 2)
    return Totals(table, quotient) if measure is None else Totals.of(measure, table, runs=True)


def quotients(batches: "Table", measure: str) -> NDArray[np.float64]:
    """Numerator and denominator of a measure, one row per batch; NaN where undefined."""
    return all_quotients(batches, [measure])[measure]


def all_quotients(batches: "Table", measures: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Numerators and denominators of several measures, whose columns are read once."""
    if not len(batches):
        return {name: np.empty((0, 2)) for name in measures}

    @cache
    def column(name: str) -> NDArray[np.float64]:
        return np.asarray(batches[name], dtype=float)

    parts = {name: (BY_NAME[name].over, BY_NAME[name].under) for name in measures}
    # C order, which `stack` gives: the memory layout decides the order of summation in numpy.
    return {name: np.stack([over(column), under(column)], axis=1) for name, (over, under) in parts.items()}


def of_flows(bytes_delivered: NDArray[np.generic], batches: int) -> NDArray[np.float64]:
    """Delivered bytes by batch (rows) and flow (columns) of a run [B]; NaN for a single flow.

    Args:
        bytes_delivered: A column of the table ``flow_batches``.
        batches: Rows of the table ``batches``.
    """
    flows = len(bytes_delivered) // batches if batches else 0
    if flows < 2:
        # Jain's index of a single flow is not defined.
        return np.full((batches, 2), math.nan)
    return bytes_delivered.reshape(batches, flows).astype(float)


def tables_of_flows(
    table: Callable[[str], "pl.DataFrame"], choice: flow_selection.Flows, keys: Sequence[str] = ()
) -> dict[str, "pl.DataFrame"]:
    """Tables ``flows``, ``flow_batches`` and ``batches`` of chosen flows.

    The batches have the totals of these flows alone, so that everything computed from batches applies to them.
    Node-level measures (link layer, routing, energy) cannot be attributed to flows and are undefined.

    Args:
        table: Function from a name to the table of all flows.
        choice: The chosen flows.
        keys: Columns that tell runs apart.

    Returns:
        Tables with the rows of these flows; ``batches`` with all its rows, and the columns that measures need.
    """
    import polars as pl

    flows = choice.of(table("flows"), keys)
    of_flows = table("flow_batches").join(flows.select(*keys, "flow"), on=[*keys, "flow"], how="semi")
    batches = table("batches")
    each = [*keys, "batch"]
    shared = [name for name in batches.columns if name in of_flows.columns and name not in (*each, "used")]
    weights = {m.name: m.weight for m in MEASURES if m.weight is not None}
    # Every column is a sum over the flows, except for means.
    sums = [pl.col(name).sum() for name in shared if name not in weights]
    means = [
        (pl.when(pl.col(n) > 0).then(pl.col(name) * pl.col(n)).sum() / pl.col(n).sum()).alias(name)
        for name, n in weights.items()
    ]
    x = pl.col("goodput_bps")
    # As the core has it: no index of a single flow, and none of flows that deliver nothing.
    jain = pl.when((pl.len() > 1) & (x.sum() > 0)).then(x.sum() ** 2 / (pl.len() * (x**2).sum())).alias("jain_index")
    totals = of_flows.group_by(each, maintain_order=True).agg(*sums, *means, jain)
    frame = batches.select(*each, "used", "started_at_s", "ended_at_s")
    joined = frame.join(totals, on=each, how="left", maintain_order="left")
    unknown = [pl.lit(None, dtype=batches.schema[name]).alias(name) for name in batches.columns if name not in joined]
    return {"flows": flows, "flow_batches": of_flows, "batches": joined.with_columns(unknown).select(batches.columns)}
