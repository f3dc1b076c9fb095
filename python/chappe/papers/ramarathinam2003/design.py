"""What is run and how often, and what is taken from a run."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from chappe.order import Quantile
from chappe.papers import reference
from chappe.papers.design import Design
from chappe.papers.judge import ONE_RUN
from chappe.papers.lab import Lab
from chappe.papers.ramarathinam2003.points import BATCHES, CURVE, FLOWS, MAIN, SPANS, STUDENT, Point, base, scenario
from chappe.papers.table import NS2, Measure, Table
from chappe.scenario import Scenario
from chappe.stats import Estimate

SECONDS = 500.0

SEGMENTS = {load: f"{load}_segments" for load in SPANS}
"""Highest segment of the student's transfer when it ends, by load."""

LIFE = {0: "life_0_s", STUDENT: f"life_{STUDENT}_s"}
"""When the professor and the student send and receive no more [s]: their batteries are empty, or the run ends."""

EVENNESS = "evenness"
GAP = "life_gap_s"
PACKETS = "agent_packets"
ROUTING = "routing_packets"

_SEGMENTS = Measure("segment reached", tolerance=0.05)
MEASURES = {
    **dict.fromkeys(SEGMENTS.values(), _SEGMENTS),
    EVENNESS: Measure("smallest of the three short transfers by the largest"),
    **{name: Measure(f"node {n} ends at [s]", tolerance=0.01) for n, name in LIFE.items()},
    GAP: Measure("node 0 ends later than node 4 by [s]"),
    PACKETS: Measure("packets of TCP [1000]", 1e-3, 0.05),
    ROUTING: Measure("messages of the routing protocol [1000]", 1e-3),
    **{f"{group}_all": Measure(f"{group}: segments of all flows", tolerance=0.05) for group in FLOWS},
}


class Length(NamedTuple):
    """How much is run."""

    seeds: int
    """Runs of each combination: as many as are needed to say where a single run lies."""
    compared: int
    """Runs of a point where readings are compared, and of curves."""
    x: tuple[int, ...] = (0, 1, 2, 3)
    """The versions of TCP, in their order."""


class Ramarathinam(Design):
    """What Ramarathinam and Labrador ran, and where they do not say it, what it may have been."""

    name = "ramarathinam2003"
    point = Point
    labels = ("batches",)
    measures = MEASURES
    full = Length(seeds=ONE_RUN + 1, compared=10)
    quick = Length(seeds=5, compared=2)

    def base(self) -> Scenario:
        """The classroom with AODV and Reno."""
        return base()

    def scenario(self, point: Point, _length: Length, /) -> Scenario:
        """The scenario of a point: every run lasts as long as the paper's."""
        return scenario(point)

    def weight(self, point: Point, _scenario: Scenario, /) -> float:
        """How long a run takes beside others, about."""
        return 2.0 if point.reading == "11_mbps" else 1.0

    def seeds(self, point: Point, length: Length) -> int:
        """How often a point is run."""
        return length.seeds if point.reading == MAIN else length.compared

    def of_run(self, tables: Mapping[str, pl.DataFrame]) -> dict[str, float]:
        """Segments by load, lives, packets; of runs in many batches the curves."""
        flows, kinds = tables["flows"], tables["fates"]
        sent = (flows["packets_sent"] - flows["retransmissions"]).to_list()
        delivered = flows["delivered_packets"].to_list()
        own = {load: float(sent[FLOWS[load][0] + STUDENT - 1]) for load in SPANS}
        ends = [t if t == t else SECONDS for t in tables["batteries"]["empty_s"].to_list()]
        transport = kinds.filter(pl.col("kind").is_in(["data", "ack"]))
        short = [own[load] for load in ("light", "heavy", "moderate")]
        return {
            **{SEGMENTS[load]: n for load, n in own.items()},
            EVENNESS: min(short) / max(short) if max(short) else 0.0,
            **{name: ends[n] for n, name in LIFE.items()},
            GAP: ends[0] - ends[STUDENT],
            # A node whose battery is empty sends nothing.
            PACKETS: float((transport["created"] - transport["dropped_node_off"]).sum()),
            ROUTING: float(kinds.filter(pl.col("kind") == "routing")["created"].sum()),
            **{f"{group}_all": float(sum(delivered[slice(*span)])) for group, span in FLOWS.items()},
            **_curves(tables["flow_batches"]),
        }

    def estimates(self, point: Point, rows: pl.DataFrame, _alike: bool, /) -> dict[str, Estimate]:
        """The measures of a point from its runs, which are independent replications."""
        curves = [n for n in rows.columns if "_at_" in n] if point.reading == CURVE else []
        return of_values({name: rows[name].to_list() for name in (*MEASURES, *curves)})

    def ns2(self) -> Table:
        """Everything that ns-2 measured, by point."""
        by_point: dict[Point, list[reference.Record]] = {}
        for r in reference.of(NS2, self.records()):
            by_point.setdefault(r.point, []).append(r)
        return Table({p: of_values(_columns(own)) for p, own in by_point.items()}, self.full.x)

    def method(self, lab: Lab) -> list[str]:
        """How the paper was run."""
        n: Length = lab.length
        return [
            f"{n.seeds} runs of each of the twelve combinations, {n.compared} where readings are compared, each of 500 "
            "s with 130 connections. The paper ran each combination once; ns-2.35 was run three or four times.",
            "Segments and lives are compared by medians and ranks, the paper's single runs with the spread of single "
            "runs of ours. The highest segment is that of the source when its transfer is stopped (ns-2's `maxseq_`).",
            "What the paper does not say is chosen as in the main reading: 2 Mbit/s, RTS before every packet, an idle "
            "radio that takes no energy, the Internet's sink at the professor, places, and when the professor's "
            "transfers begin. Other readings stand below.",
        ]


DESIGN = Ramarathinam()


def of_values(values: Mapping[str, list[float]]) -> dict[str, Estimate]:
    """Measures from the values of independent runs: medians of what single runs are compared by, means of totals."""
    single = (*SEGMENTS.values(), *LIFE.values(), EVENNESS)
    return {n: Quantile.at(own) if n in single else Estimate.of(own) for n, own in values.items()}


def _columns(records: list[reference.Record]) -> dict[str, list[float]]:
    names = [n for n in MEASURES if all(n in r.values for r in records)]
    return {n: [r.values[n].mean for r in records] for n in names}


def _curves(batches: pl.DataFrame) -> dict[str, float]:
    """The highest segment of the student's transfers at the end of each batch."""
    if batches.height < BATCHES:
        return {}
    found = {}
    for load, (begin, end) in SPANS.items():
        own = batches.filter(pl.col("flow") == FLOWS[load][0] + STUDENT - 1).sort("batch")
        reached = (own["packets_sent"] - own["retransmissions"]).cum_sum().to_list()
        each = SECONDS / BATCHES
        for i, n in enumerate(reached):
            at = round((i + 1) * each)
            if begin < at <= end and not math.isnan(n):
                found[f"{load}_at_{at}"] = float(n)
    return found
