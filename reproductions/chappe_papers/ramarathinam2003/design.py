"""Runs of the paper: points, numbers of runs, and the values taken from a run."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import polars as pl
from chappe import Scenario
from chappe.stats import Estimate

from chappe_papers.judging.judge import ONE_RUN
from chappe_papers.ramarathinam2003.points import BATCHES, CURVE, FLOWS, SPANS, STUDENT, Point, base, scenario
from chappe_papers.ramarathinam2003.single_runs import SingleRuns
from chappe_papers.runs import reference
from chappe_papers.runs.design import Design
from chappe_papers.runs.estimates import NS2, Estimates, Measure
from chappe_papers.runs.measured import share, sum_of
from chappe_papers.runs.runner import Runner

SECONDS = 500.0

SEGMENTS = {load: f"{load}_segments" for load in SPANS}
"""Highest segment of the student's transfer when it ends, by load."""

LAST = {0: "last_0_s", STUDENT: f"last_{STUDENT}_s"}
"""Time of the last packet that the professor and the student send or receive [s]."""

LIFE = {0: "life_0_s", STUDENT: f"life_{STUDENT}_s"}
"""Time at which their batteries are empty [s]; the end of the run, if they are not."""

GAP = "last_gap_s"
PACKETS = "agent_packets"
AGENTS_RECEIVED = "agent_received"
SENT = "routers_sent"
RECEIVED = "nodes_received"
HANDLED = "sent_and_received"
OF_TCP = "tcp_sent_and_received"
ROUTING = "routing_packets"
ROUTING_BYTES = "routing_bytes_sent"
ROUTING_HEADERS = "routing_header_bytes"
BITS = "delivered_bits"
PER_BIT = "battery_per_bit_j"

MEASURES = {
    **{name: Measure(f"segment reached, {load}", tolerance=0.05) for load, name in SEGMENTS.items()},
    **{name: Measure(f"last packet of node {n} at [s]", tolerance=0.01) for n, name in LAST.items()},
    **{name: Measure(f"battery of node {n} is empty at [s]", tolerance=0.01) for n, name in LIFE.items()},
    GAP: Measure("node 0 ends later than node 4 by [s]", tolerance=0.05),
    PACKETS: Measure("packets that TCP sends [1000]", 1e-3, 0.05),
    AGENTS_RECEIVED: Measure("packets that TCP receives [1000]", 1e-3, 0.05),
    SENT: Measure("packets that routers send and forward [1000]", 1e-3, 0.05),
    RECEIVED: Measure("packets that nodes receive [1000]", 1e-3, 0.05),
    HANDLED: Measure("packets sent and received [1000]", 1e-3, 0.05),
    OF_TCP: Measure("those of TCP [1000]", 1e-3, 0.05),
    ROUTING: Measure("packets of the routing protocol [1000]", 1e-3, 0.05),
    PER_BIT: Measure("energy per delivered bit [uJ]", 1e6, 0.05),
    **{f"{group}_all": Measure(f"{group}: segments of all flows", tolerance=0.05) for group in FLOWS},
}
"""Measures compared with ns-2."""

LEFT = {0: "left_0_j", STUDENT: f"left_{STUDENT}_j"}
"""Energy that the batteries of the professor and the student have left when a run ends [J]."""

TCP_BITS, UDP_BITS, UDP_SENT_BITS = "tcp_bits_delivered", "udp_bits_delivered", "udp_bits_sent"
UDP_LOST = "udp_share_lost"
ACKS_LOST = "acks_share_lost_to_queues"
"""Share of TCP's acknowledgements that find a queue full."""

COST = (ROUTING_BYTES, ROUTING_HEADERS, BITS, TCP_BITS, UDP_BITS, UDP_SENT_BITS, UDP_LOST, ACKS_LOST)
"""Further values taken from a run."""


class Length(NamedTuple):
    """Lengths and numbers of runs."""

    seeds: int
    """Runs of each combination: as many as are needed to say where a single run lies."""
    compared: int
    """Runs of a point where readings are compared, and of curves."""
    x: tuple[int, ...] = (0, 1, 2, 3)
    """The versions of TCP, in their order."""


class Ramarathinam(Design):
    """The runs of Ramarathinam and Labrador, and readings where the paper is silent."""

    name = "ramarathinam2003"
    point = Point
    labels = ("batches", "stop")
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
        """Approximate cost of a run, relative to others: it grows with the number of frames."""
        return math.sqrt(point.rate_mbps)

    def seeds(self, point: Point, length: Length) -> int:
        """Number of runs of a point."""
        return length.seeds if point == Point(point.variant, point.routing) else length.compared

    def of_run(self, tables: Mapping[str, pl.DataFrame]) -> dict[str, float]:
        """Segments by load, times of the last packets, lives, packets, energy; of runs in many batches the curves."""
        flows, nodes, batteries = tables["flows"], tables["nodes"], tables["batteries"]
        acked = flows["packets_acked"].fill_null(0).to_list()
        reached = _reached(flows)
        segments = {load: float(reached[FLOWS[load][0] + STUDENT - 1]) for load in SPANS}
        sent, received, empty = (batteries[f"{what}_at_s"] for what in ("last_sent", "last_received", "emptied"))
        last = pl.DataFrame([sent, received]).max_horizontal().to_list()
        delivered = {f"{group}_all": float(sum(acked[slice(*span)])) for group, span in FLOWS.items()}
        bits = 8.0 * float(flows["bytes_delivered"].sum())
        outcomes = tables["packet_outcomes"]
        acks = [kind == "ack" for kind in outcomes["packet_class"].to_list()]
        datagrams = flows.filter(pl.col("transport") == "udp")
        udp, udp_sent, udp_arrived = (
            float(datagrams[name].sum()) for name in ("bytes_delivered", "packets_sent", "packets_delivered")
        )
        return {
            **{SEGMENTS[load]: n for load, n in segments.items()},
            **{name: last[n] for n, name in LAST.items()},
            **{name: empty.fill_null(SECONDS)[n] for n, name in LIFE.items()},
            GAP: last[0] - last[STUDENT],
            **{name: batteries["remaining_j"][n] for n, name in LEFT.items()},
            **_packets(outcomes, float(nodes["routing_packets_sent"].sum())),
            ROUTING_BYTES: float(nodes[ROUTING_BYTES].sum()),
            ROUTING_HEADERS: float(nodes[ROUTING_HEADERS].sum()),
            BITS: bits,
            TCP_BITS: bits - 8.0 * udp,
            UDP_BITS: 8.0 * udp,
            UDP_SENT_BITS: 8.0 * udp * share(udp_sent, udp_arrived),
            UDP_LOST: 1 - share(udp_arrived, udp_sent),
            ACKS_LOST: share(*(sum_of(outcomes, name, acks) for name in ("dropped_queue_full", "created"))),
            PER_BIT: float((batteries["capacity_j"] - batteries["remaining_j"]).sum()) / bits,
            **delivered,
            **_curves(tables["flow_batches"]),
        }

    def estimates(self, point: Point, rows: pl.DataFrame, _alike: bool, /) -> dict[str, Estimate]:
        """The measures of a point from its runs, which are independent replications."""
        curves = [n for n in rows.columns if "_at_" in n] if point.reading == CURVE else []
        return of_values({name: rows[name].to_list() for name in (*MEASURES, *COST, *curves)})

    def ns2(self) -> Estimates:
        """Everything that ns-2 measured, by point."""
        by_point: dict[Point, list[reference.Record]] = {}
        for r in reference.of(NS2, self.records()):
            by_point.setdefault(r.point, []).append(r)
        return Estimates({p: of_values(_columns(records)) for p, records in by_point.items()}, self.full.x)

    def method(self, runner: Runner) -> list[str]:
        """Method, in paragraphs."""
        n: Length = runner.length
        return [
            f"{n.seeds} runs of each of the twelve combinations, {n.compared} where readings are compared, each of 500 "
            "s with 130 connections. The paper seems to have one run of each; ns-2.35 was run three or four times "
            "with Tahoe, Reno and SACK, and once with DSDV over DSR's queue, at 2 Mbit/s, so that claims about the "
            "main reading have no runs of it.",
            "Segments and times of last packets are compared by medians and ranks, the paper's single runs with the "
            "spread of single runs of Chappe. The highest segment is that of the source when its transfer is stopped "
            "(ns-2's `maxseq_`). Packets sent are those that a router hands down, forwarded ones and those of the "
            "routing protocol included; packets received are those that a node gets from another, for whomever they "
            "are.",
            "P1-T2-2 alone compares means, of times with heavy tails: the medians of both nodes in Table 2 differ by 2 "
            "to 4 s. The paper's own Table II has the opposite order, which no reading gives, not even the one that "
            "the times of this table have chosen.",
            "Details that the paper leaves open are as in ns-2, or chosen: RTS before every packet, an idle radio that "
            "takes no energy, the Internet's sink at the professor, places, and the start of the professor's "
            "transfers. The data rate is the rate at which the numbers of Table II, the times of the last packets, are "
            "most likely (table of likelihoods). These 24 numbers judge nothing; the numbers of Table I do, because "
            "they have chosen nothing.",
            "Ranks of combinations are those of medians; their intervals and probabilities come from a bootstrap of "
            "whole runs.",
        ]


DESIGN = Ramarathinam()


def of_values(values: Mapping[str, list[float]]) -> dict[str, Estimate]:
    """Measures from the values of independent runs: medians of what single runs are compared by, means of totals."""
    single = (*SEGMENTS.values(), *LAST.values(), *LIFE.values())
    return {n: SingleRuns.at(runs) if n in single else Estimate.of(runs) for n, runs in values.items()}


def _columns(records: list[reference.Record]) -> dict[str, list[float]]:
    names = [n for n in MEASURES if all(n in r.values for r in records)]
    return {n: [r.values[n].mean for r in records] for n in names}


def _reached(flows: pl.DataFrame) -> list[int]:
    """The highest segment that each source has sent; the SYN is none."""
    return (flows["packets_sent"] - flows["retransmissions"] - (flows["packets_sent"] > 0)).to_list()


def _packets(outcomes: pl.DataFrame, routing: float) -> dict[str, float]:
    """Packets that agents and routers send and receive, by the outcomes of all packets and copies.

    Args:
        outcomes: The table.
        routing: Packets that the routing protocol sent, those passed on included.
    """

    def of(*kinds: str, **columns: int) -> float:
        rows = outcomes.filter(pl.col("packet_class").is_in(kinds))
        return float(sum(sign * rows[name].sum() for name, sign in columns.items()))

    # A node whose battery is empty sends nothing.
    agents = of("data", "ack", created=1, dropped_node_off=-1)
    # Packets that arrive for another node are forwarded.
    forwarded = of("data", "ack", copied=1, delivered=-1)
    stopped = of("data", "ack", **dict.fromkeys(_BY_ROUTERS, 1))
    sent, received = agents + forwarded + routing - stopped, of("data", "ack", "routing", copied=1)
    return {
        PACKETS: agents,
        AGENTS_RECEIVED: of("data", "ack", delivered=1),
        SENT: sent,
        RECEIVED: received,
        HANDLED: sent + received,
        OF_TCP: sent - routing + of("data", "ack", copied=1),
        ROUTING: routing,
    }


_BY_ROUTERS = tuple(f"dropped_{why}" for why in ("no_route", "route_timeout", "route_buffer_full", "ttl_expired",
                                                 "routing_loop"))  # fmt: skip
"""Fates of packets that a router does not pass to the link layer."""


def _curves(batches: pl.DataFrame) -> dict[str, float]:
    """The highest segment of the student's transfers at the end of each batch."""
    if batches["batch"].n_unique() < BATCHES:
        return {}
    segments = {}
    for load, (begin, end) in SPANS.items():
        transfer = batches.filter(pl.col("flow") == FLOWS[load][0] + STUDENT - 1).sort("batch")
        # Without the SYN.
        reached = ((transfer["packets_sent"] - transfer["retransmissions"]).cum_sum() - 1).clip(0).to_list()
        each = SECONDS / BATCHES
        for i, n in enumerate(reached):
            at = round((i + 1) * each)
            if begin < at <= end and not math.isnan(n):
                segments[f"{load}_at_{at}"] = float(n)
    return segments
