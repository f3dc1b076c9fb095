"""The chains of the paper: scenarios, our runs, the runs of ns-2."""

import csv
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, NamedTuple

import polars as pl

from chappe.scenario import Scenario
from chappe.stats import Estimate, quantile_t

_HERE = files("chappe.papers.elrakabawy2005")

VARIANTS: dict[str, dict[str, Any]] = {
    "newreno": {"tcp.variant": "newreno"},
    "newreno_maxwin3": {"tcp.variant": "newreno", "tcp.window": 3},
    "tahoe": {"tcp.variant": "tahoe"},
    "reno": {"tcp.variant": "reno"},
    "sack": {"tcp.variant": "sack"},
    **{
        f"vegas{n}": {"tcp.variant": "vegas", "tcp.vegas.alpha": n, "tcp.vegas.beta": n, "tcp.vegas.gamma": n}
        for n in (2, 3, 4)
    },
    # Four of the defects of ns-2's Vegas corrected.
    "vegas2_fix": {
        "tcp.variant": "vegas",
        "tcp.vegas.bug_clearing_stops_at_wrap": False,
        "tcp.vegas.bug_backoff_on_fast_retransmit": False,
        "tcp.vegas.bug_mark_survives_timeout": False,
        "tcp.vegas.bug_restart_at_two": False,
    },
    # Packets as long as those of the other variants.
    "vegas2_pkt1500": {"tcp.variant": "vegas", "tcp.vegas.bare_segments": False, "tcp.syn": False},
}
"""Settings of each variant, on top of ``chain.toml``."""


class Point(NamedTuple):
    """A chain and what runs over it."""

    variant: str
    hops: int
    rate_mbps: float = 2.0


class Measure(NamedTuple):
    """A measure that our runs and the records of ns-2 have in common."""

    name: str
    """In the records of ns-2."""
    ours: str
    """In :data:`chappe.results.MEASURES`."""
    scale: float
    """What ours is multiplied with."""
    label: str
    tolerance: float
    """Relative difference up to which values agree."""


MEASURES = (
    Measure("goodput_kbps", "goodput_bps", 1e-3, "goodput [kbit/s]", 0.03),
    Measure(
        "retransmitted_pkts_per_10000", "retransmissions_per_10000", 1, "retransmissions per 10,000 delivered", 0.10
    ),
    Measure("timeouts_per_10000", "timeouts_per_10000", 1, "timeouts per 10,000 delivered", 0.10),
    Measure("mean_window_pkts", "mean_window_segments", 1, "window [packets]", 0.10),
    Measure("mac_drop_prob_per_packet", "link_drop_probability", 1, "link-layer drop probability", 0.10),
    Measure(
        "false_route_failures_per_10000",
        "route_failures_per_10000",
        1,
        "false route failures per 10,000 delivered",
        0.10,
    ),
)


def text() -> str:
    """The scenario file of the chains."""
    return (_HERE / "chain.toml").read_text(encoding="utf-8")


def scenario(point: Point, stop: str, *, batches: int = 11) -> Scenario:
    """The scenario of a point.

    Args:
        point: Chain and variant.
        stop: When a run ends, such as ``"110000 delivered"``.
        batches: Batches into which a run is cut; the first does not count.
    """
    changes: dict[str, Any] = {
        "run.stop": stop,
        "run.batches": batches,
        "topology.hops": point.hops,
        "flow.0.to": point.hops,
        "wlan.data_rate": f"{point.rate_mbps:g} Mbit/s",
        **VARIANTS[point.variant],
    }
    if point.hops > 30:
        # With a NET_DIAMETER of 30, packets do not live long enough.
        changes |= {"routing.ttl": 64, "routing.aodv.net_diameter": 64}
    return Scenario(tomllib.loads(text()), changes)


class Record(NamedTuple):
    """A run of ns-2.35."""

    point: Point
    seed: int
    batches: int
    """Batches that count; there was one more."""
    packets_per_batch: int
    values: dict[str, Estimate]
    """Mean over the batches by the name of the measure."""


def records() -> list[Record]:
    """The runs of ns-2.35 that ship with the package."""
    found = []
    for row in csv.DictReader((_HERE / "ns2_chain.csv").read_text(encoding="utf-8").splitlines()):
        n = int(row["batches"])
        values = {}
        for m in MEASURES:
            error = float(row[f"{m.name}_ci95"]) / quantile_t(0.95, n - 1)
            values[m.name] = Estimate(float(row[m.name]), error * error, n - 1)
        point = Point(row["variant"], int(row["hops"]), float(row["rate_mbps"]))
        found.append(Record(point, int(row["seed"]), n, int(row["pkts_per_batch"]), values))
    return found


@dataclass(frozen=True)
class Table:
    """Measures by point; what claims are checked against."""

    values: Mapping[Point, Mapping[str, Estimate]]

    def get(self, variant: str, hops: int, measure: str, rate_mbps: float = 2.0) -> Estimate | None:
        """A measure of a chain, or ``None`` when there is no such run."""
        return self.values.get(Point(variant, hops, rate_mbps), {}).get(measure)

    def hops(self, variant: str) -> list[int]:
        """Lengths of the chains that were run at 2 Mbit/s."""
        return sorted(p.hops for p in self.values if p.variant == variant and p.rate_mbps == 2.0)


def ns2_table(found: Iterable[Record] | None = None) -> Table:
    """The runs of ns-2 by point; of several seeds the first."""
    table: dict[Point, dict[str, Estimate]] = {}
    for r in found or records():
        table.setdefault(r.point, r.values)
    return Table(table)


def further_seeds() -> dict[tuple[Point, str], Estimate]:
    """Further seeds of stock ns-2.35 for some points, by point and name of the measure: independent replications."""
    values: dict[tuple[Point, str], list[float]] = {}
    for row in csv.DictReader((_HERE / "ns2_seeds.csv").read_text(encoding="utf-8").splitlines()):
        point = Point(row["variant"], int(row["hops"]), float(row["rate_mbps"]))
        for m in MEASURES:
            if m.name in row:
                values.setdefault((point, m.name), []).append(float(row[m.name]))
    return {key: Estimate.of(found) for key, found in values.items()}


def our_estimates(runs: pl.DataFrame) -> dict[str, Estimate]:
    """The measures of a point from its runs, one per seed: independent replications."""
    found = {}
    for m in MEASURES:
        e = Estimate.of(runs[m.ours].to_list())
        found[m.name] = Estimate(e.mean * m.scale, e.variance * m.scale**2, e.df)
    return found
