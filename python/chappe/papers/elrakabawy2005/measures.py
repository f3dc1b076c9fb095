"""Measures: those that our runs and the records of ns-2 have in common, and what else is taken from a run."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from chappe.measures import BY_NAME, Totals, quotients
from chappe.papers.replication import MEASURES as JUDGED
from chappe.papers.replication import of_batches, together
from chappe.stats import Estimate, Share, quotient
from chappe.study.facts import OVER, UNDER
from chappe.why import AIR_TIME, USES

OF_BATCHES = "_of_batches"
"""Ending of the columns with means over batches, which papers print; ours are of totals."""


class Measure(NamedTuple):
    """A measure that our runs and the records of ns-2 have in common."""

    name: str
    """In the records of ns-2."""
    ours: str
    """In a row of our runs."""
    scale: float
    """What ours is multiplied with."""
    label: str
    tolerance: float
    """Difference up to which values agree: relative, except that of Jain's index."""
    absolute: bool = False

    @property
    def of_batches(self) -> str:
        """In a row of our runs: the mean over the batches of a run, as the records of ns-2 have it."""
        return self.ours.removesuffix(OF_BATCHES) + OF_BATCHES


GOODPUT = Measure("goodput_kbps", "goodput_bps", 1e-3, "goodput [kbit/s]", 0.03)
DROPS = Measure("mac_drop_prob_per_packet", "link_drop_probability", 1, "link-layer drop probability", 0.10)
FAILURES = Measure(
    "false_route_failures_per_10000", "route_failures_per_10000", 1, "false route failures per 10,000 delivered", 0.10
)
COLLAPSED = Measure("collapsed", "collapsed", 1, "share of collapsed runs", 0.10)
JAIN = Measure("jain_index", "jain_index_of_batches", 1, "Jain's index, mean of batches", 0.05, True)

MEASURES = (
    GOODPUT,
    Measure(
        "retransmitted_pkts_per_10000", "retransmissions_per_10000", 1, "retransmissions per 10,000 delivered", 0.10
    ),
    Measure("timeouts_per_10000", "timeouts_per_10000", 1, "timeouts per 10,000 delivered", 0.10),
    Measure("mean_window_pkts", "mean_window_segments", 1, "window [packets]", 0.10),
    DROPS,
    FAILURES,
)
"""Measures of TCP over chains."""

AIR = ("data", "retransmitted_data", "tcp_acks")
"""Uses of the nodes' time that claims are about."""

OWN = (
    JAIN,
    Measure("jain_index_whole_run", "jain_index", 1, "Jain's index of the whole run", 0.05, True),
    *(Measure(f"goodput_kbps_flow{f}", f"flow{f}_bps", 1e-3, f"goodput of flow {f + 1} [kbit/s]", 0.05)
      for f in range(10)),
    Measure("intermediate_drops", "intermediate_drops", 1, "drop probability, intermediate nodes", 0.10),
    Measure("rts_failures", "rts_failures", 1, "share of RTS frames without CTS", 0.10),
    Measure("route_searches", "route_searches", 1, "searches for a route per false route failure", 0.10),
    Measure("slow_start", "slow_start", 1, "share of time in slow start", 0.10),
    Measure("queue_drops", "queue_drops", 1, "packets dropped from full queues", 0.10),
    Measure("delay_min_ms", "delay_min_s", 1e3, "smallest delay [ms]", 0.02),
    Measure("delay_mean_ms", "mean_delay_s", 1e3, "mean delay [ms]", 0.02),
    Measure("delay_max_ms", "delay_max_s", 1e3, "largest delay [ms]", 0.02),
    COLLAPSED,
    Measure("time_slow_start", "time_slow_start", 1, "time in slow start", 0.10),
    Measure("time_timeout_wait", "time_timeout_wait", 1, "time of waiting for a timeout", 0.10),
    Measure("time_route_wait", "time_route_wait", 1, "time of waiting for a route", 0.10),
    Measure("lost_to_routes", "lost_to_routes", 1, "share of route failures in all drops", 0.10),
    Measure("lost_to_hidden", "lost_to_hidden", 1, "share of hidden terminals in retry-limit drops", 0.10),
    Measure("lost_to_queues", "lost_to_queues", 1, "share of full queues in all drops", 0.10),
    Measure("hidden_per_10000", "hidden_per_10000", 1, "drops at hidden terminals per 10,000 delivered", 0.10),
    Measure("energy_uj_per_bit", "energy_per_bit_j", 1e6, "energy per delivered bit [uJ]", 0.05),
    *(Measure(f"air_{use}", f"air_{use}", 1, f"share of {AIR_TIME[use]} in the nodes' time", 0.10) for use in AIR),
)  # fmt: skip
"""What else is taken from a run; not every run has all of it."""

ALL = {m.name: m for m in (*MEASURES, *OWN)}


def of_run(tables: Mapping[str, pl.DataFrame]) -> dict[str, float]:
    """What a run measured beside its means over batches, from its tables; NaN where there is no such thing.

    The tables are small and the runs many: columns as lists take a twentieth of the time of queries.
    """
    flows, nodes, batches = tables["flows"], tables["nodes"], tables["batches"]
    used = batches["used"].to_list()

    def column(name: str) -> list[float]:
        return [v for v, counts in zip(batches[name].to_list(), used, strict=True) if counts]

    goodput, begin = column("goodput_bps"), min(column("start_s"), default=0.0)
    found: dict[str, float] = {f"flow{f}_bps": v for f, v in enumerate(flows["goodput_bps"].to_list())}
    found |= of_batches({name: column(name) for name in JUDGED})
    found |= _means_of_batches(batches)
    ends = {*flows["from"].to_list(), *flows["to"].to_list()}
    drops = zip(nodes["node"].to_list(), nodes["link_drop_probability"].to_list(), strict=True)
    found["intermediate_drops"] = _mean([p for n, p in drops if n not in ends and _is_known(p)])
    sent = int(nodes["rts_sent"].sum())
    found["rts_failures"] = int(nodes["rts_failed"].sum()) / sent if sent else math.nan
    failures = int(nodes["local_repairs"].sum()) + int(nodes["links_deleted"].sum())
    found["route_searches"] = int(nodes["route_discoveries"].sum()) / failures if failures else math.nan
    series = tables["series"]
    samples = zip(*(series[name].to_list() for name in ("time_s", "cwnd_segments", "ssthresh_segments")), strict=True)
    found["slow_start"] = _mean([float(cwnd < ssthresh) for at, cwnd, ssthresh in samples if at >= begin])
    delays = [d for d in column("mean_delay_s") if _is_known(d)]
    found["delay_min_s"], found["delay_max_s"] = (min(delays), max(delays)) if delays else (math.nan, math.nan)
    found["last_bps"] = goodput[-1] if goodput else math.nan
    return found | _budgets(flows, tables["fates"], tables["air_time"])


def _means_of_batches(batches: pl.DataFrame) -> dict[str, float]:
    """Means over the batches of a run, with the half widths of their 95 % intervals."""
    found: dict[str, float] = {}
    used = batches["used"].to_numpy()
    for m in MEASURES:
        values = quotient(quotients(batches, m.ours))
        e = Estimate.of([v for v, counts in zip(values.tolist(), used, strict=True) if counts and _is_known(v)])
        found |= {m.of_batches: e.mean, f"{m.of_batches}_half_width": e.half_width()}
    return found


def _budgets(flows: pl.DataFrame, fates: pl.DataFrame, air_time: pl.DataFrame) -> dict[str, float]:
    """What claims need of the reasons why a run came out as it did; :mod:`chappe.why` has all of them."""
    tcp = [kind != "udp" for kind in flows["transport"].to_list()]
    spent = {use: _sum_of(flows, f"{use}_s", tcp) for use in USES}
    kinds = fates["kind"].to_list()
    packets = [kind in ("data", "ack") for kind in kinds]

    def count(prefix: str) -> float:
        return sum(_sum_of(fates, name, packets) for name in fates.columns if name.startswith(prefix))

    hidden = count("retry_limit_collision")
    delivered = _sum_of(fates, "delivered", [kind == "data" for kind in kinds])
    time = sum(float(air_time[f"{use}_s"].sum()) for use in AIR_TIME)
    return {
        "time_slow_start": _share(spent["slow_start"], sum(spent.values())),
        "time_timeout_wait": _share(spent["timeout_wait"], sum(spent.values())),
        "time_route_wait": _share(spent["route_wait"], sum(spent.values())),
        "lost_to_routes": _share(count("dropped_route") + count("dropped_no_route"), count("dropped_")),
        "lost_to_hidden": _share(hidden, count("retry_limit_")),
        "lost_to_queues": _share(count("dropped_queue_full"), count("dropped_")),
        "hidden_per_10000": _share(10_000 * hidden, delivered),
        **{f"air_{use}": _share(float(air_time[f"{use}_s"].sum()), time) for use in AIR},
    }


def _sum_of(table: pl.DataFrame, name: str, wanted: list[bool]) -> float:
    """The sum of a column over some rows."""
    return sum(float(v) for v, counts in zip(table[name].to_list(), wanted, strict=True) if counts)


def _is_known(value: float | None) -> bool:
    return value is not None and not math.isnan(value)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def estimates(runs: pl.DataFrame, *, alike: bool = False, places: bool = False) -> dict[str, Estimate]:
    """The measures of a point from its runs, one per seed, totals by totals.

    Args:
        runs: A row for each.
        alike: Every run is like every other: errors are taken from all batches, not from the runs.
        places: Every run is of another place, and each place counts the same: means over the places.
    """
    found = {}
    for m in ALL.values():
        if m.ours not in runs.columns:
            continue
        values = [v for v in runs[m.ours].to_list() if v is not None and not math.isnan(v)]
        if not values:
            continue
        if m is COLLAPSED:
            found[m.name] = Share.of(values)
            continue
        e = Estimate.of(values)
        if m.ours in BY_NAME and not places:
            pooled = together(runs, m.ours) if alike else None
            e = pooled or of_totals(runs, m.ours)
        found[m.name] = Estimate(e.mean * m.scale, e.variance * m.scale**2, e.df)
    return found


def of_totals(runs: pl.DataFrame, measure: str) -> Estimate:
    """A measure of several runs, totals by totals."""
    rows = runs.select(f"{measure}{OVER}", f"{measure}{UNDER}").to_numpy()
    return Totals(rows, quotient).together.estimate


def means_of_batches(runs: pl.DataFrame, m: Measure) -> Estimate:
    """A measure as ns-2's records have it: the mean of the runs' means over their batches."""
    values = [v for v in runs[m.of_batches].to_list() if _is_known(v)]
    e = Estimate.of(values)
    return Estimate(e.mean * m.scale, e.variance * m.scale**2, e.df)
