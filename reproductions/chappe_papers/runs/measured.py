"""Values that papers take from a run, and the measures of a point from its runs."""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import polars as pl
from chappe.measures import BY_NAME, JAIN, Totals, all_quotients
from chappe.stats import Estimate, Share, quotient
from chappe.study import OVER, UNDER

from chappe_papers.runs.replication import together

_SENDING = ("data", "retransmitted_data", "tcp_acks", "control", "routing", "collided")
"""Uses of the time of a node in which it transmits."""

OF_BATCHES = "_mean_of_batches"
"""Ending of means over batches, which the records of ns-2 are; ours are of totals."""


def means_of_batches(batches: pl.DataFrame, measures: Iterable[str]) -> dict[str, float]:
    """Means of measures over the batches of a run, with the half widths of their 95 % intervals."""
    means: dict[str, float] = {}
    used = batches["used"].to_numpy()
    for m, rows in all_quotients(batches, list(measures)).items():
        values = quotient(rows)
        e = Estimate.of([v for v, counts in zip(values.tolist(), used, strict=True) if counts and is_known(v)])
        means |= {m + OF_BATCHES: e.mean, f"{m}{OF_BATCHES}_half_width": e.half_width()}
    return means


def sum_of(table: pl.DataFrame, name: str, wanted: list[bool]) -> float:
    """The sum of a column over some rows."""
    return sum(float(v) for v, counts in zip(table[name].to_list(), wanted, strict=True) if counts)


def is_known(value: float | None) -> bool:
    """True if there is a value."""
    return value is not None and not math.isnan(value)


def share(part: float, whole: float) -> float:
    """A part of a whole; NaN of nothing."""
    return part / whole if whole else math.nan


def weighted_mean(table: pl.DataFrame, name: str, weight: str) -> float:
    """The mean over all rows of a mean with the number that it is the mean of; NaN of nothing."""
    weighted = table.filter((pl.col(weight) > 0) & pl.col(name).is_not_null())
    total = sum(m * w for m, w in weighted.select(name, weight).iter_rows())
    return share(float(total), float(weighted[weight].sum()))


def mean(values: list[float]) -> float:
    """The mean; NaN of no values."""
    return sum(values) / len(values) if values else math.nan


def estimates(
    runs: pl.DataFrame,
    measures: Iterable[str],
    *,
    alike: bool = False,
    places: bool = False,
    shares: Sequence[str] = (),
) -> dict[str, Estimate]:
    """The measures of a point from its runs, one per seed, totals by totals.

    Args:
        runs: A row for each.
        measures: Their names.
        alike: Every run is like every other: errors are taken from all batches, not from the runs.
        places: Every run is of another place, and each place counts the same: means over the places.
        shares: Measures that are shares of runs: 0 or 1 in each.
    """
    by_name: dict[str, Estimate] = {}
    for name in measures:
        if name not in runs.columns:
            continue
        values = [v for v in runs[name].to_list() if v is not None and not math.isnan(v)]
        if not values:
            continue
        if name in shares:
            by_name[name] = Share.of(values)
        elif name in BY_NAME and name != JAIN and not places:
            by_name[name] = (together(runs, name) if alike else None) or of_totals(runs, name)
        else:
            by_name[name] = Estimate.of(values)
    return by_name


def of_totals(runs: pl.DataFrame, measure: str) -> Estimate:
    """A measure of several runs, totals by totals."""
    # Columns by themselves: a query of a table this small takes longer than all that follows.
    rows = np.array([runs[f"{measure}{part}"].to_numpy() for part in (OVER, UNDER)]).T
    return Totals(rows, quotient).together.estimate


def budgets(tables: Mapping[str, pl.DataFrame], uses: Iterable[str] = ()) -> dict[str, float]:
    """Causes of results that claims need; :meth:`chappe.Results.why` has all of them.

    Args:
        tables: Of the run.
        uses: Uses of the nodes' time whose shares are wanted.
    """
    outcomes, airtime = tables["packet_outcomes"], tables["airtime"]
    kinds = outcomes["packet_class"].to_list()
    packets = [kind in ("data", "ack") for kind in kinds]

    def count(prefix: str) -> float:
        return sum(sum_of(outcomes, name, packets) for name in outcomes.columns if name.startswith(prefix))

    hidden, dropped = count("retry_limit_hidden_terminal"), count("dropped_")
    delivered = sum_of(outcomes, "delivered", [kind == "data" for kind in kinds])
    air = {name.removesuffix("_s"): float(airtime[name].sum()) for name in airtime.columns if name.endswith("_s")}
    sending, sensing = sum(air[use] for use in _SENDING), air["reception"] + air["carrier_sense"]
    rest = sum(air.values()) - sending - sensing - air["off"]
    bits = float((8 * tables["batches"].filter("used")["bytes_delivered"]).sum())
    return {
        "lost_to_hidden": share(hidden, dropped),
        "lost_to_queues": share(count("dropped_queue_full"), dropped),
        "hidden_per_10000": share(10_000 * hidden, delivered),
        # The powers of a card of 2001, as the preset `standard` has them.
        "energy_with_idle_per_bit_j": share(1.65 * sending + 1.4 * sensing + 1.15 * rest, bits)
        if sending
        else math.nan,
        **{f"air_{use}": share(air[use], sum(air.values())) for use in uses},
    }
