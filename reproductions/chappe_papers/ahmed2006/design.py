"""Runs of the paper: points, numbers of runs, and the values taken from a run."""

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl
from chappe import Scenario
from chappe.stats import Estimate, jain_index

from chappe_papers.ahmed2006.points import LONE, MAIN, OUTLOOK, SECONDS, SPEEDS, Point, same, scenario
from chappe_papers.runs import reference
from chappe_papers.runs.design import Design
from chappe_papers.runs.estimates import NS2, Estimates, Measure
from chappe_papers.runs.measured import share, weighted_mean
from chappe_papers.runs.runner import Runner
from chappe_papers.statistics.pairs import Paired

THROUGHPUT = "segments_per_s"
LOST = "lost_share"
EVENTS = "drops_per_segment"
"""Packets of all kinds that are dropped, by segments sent: lines of a trace without those of the MAC."""
FRAMES = "drops_and_frames_per_segment"
"""Packets dropped, and RTS and data frames without a response, by segments sent: lines of a trace of all layers."""
DELAY = "mean_copy_delay_s"

MEASURES = {
    THROUGHPUT: Measure("segments that arrive [1/s]", tolerance=0.05),
    LOST: Measure("segments lost [%]", 100, 0.05),
    DELAY: Measure("mean delay [ms]", 1e3, 0.05),
    "mean_hops": Measure("mean hops", tolerance=0.05),
    "jain_of_flows": Measure("Jain's index", tolerance=0.05),
    "retransmissions": Measure("retransmissions", tolerance=0.05),
    "timeouts": Measure("timeouts, as ns-2 counts", tolerance=0.05),
    "ecn_cuts": Measure("cuts for marks", tolerance=0.05),
    "drops_queue": Measure("dropped by queues", tolerance=0.05),
    "drops_link_failure": Measure("dropped at broken links", tolerance=0.05),
    "drops_no_route": Measure("dropped without a route", tolerance=0.05),
    "drops_arp": Measure("dropped by ARP", tolerance=0.05),
    "drops_loop": Measure("dropped because back at their source", tolerance=0.05),
}
"""Measures compared with ns-2."""

DROPS: dict[str, tuple[str, ...]] = {
    "drops_queue": ("queue_full", "aqm"),
    "drops_link_failure": ("retry_limit", "route_failure"),
    "drops_no_route": ("no_route",),
    "drops_arp": ("arp_failure",),
    "drops_loop": ("routing_loop",),
}
"""Reasons why segments and acknowledgements are dropped, as in the records of ns-2.

Packets that waited too long for a route are not among them: ns-2 frees them without a line in its trace.
"""

WHY = {
    "timeout_wait": Measure("waits [%]", 100),
    "route_wait": Measure("no route [%]", 100),
    "slow_start": Measure("slow start [%]", 100),
    "avoidance": Measure("avoids [%]", 100),
    "duplicates": Measure("twice [%]", 100),
    "probes": Measure("probes"),
    "resent": Measure("resent [%]", 100),
    "window": Measure("window"),
}
"""Possible sources of a gain.

Time waiting for timeouts, for a route, in slow start and in congestion avoidance; segments that had arrived before;
probes per timeout; segments sent again; the mean window [segments].
"""


class Length(NamedTuple):
    """Lengths and numbers of runs."""

    x: tuple[float, ...]
    """Speeds of the figures [m/s]."""
    few: tuple[float, ...]
    """Speeds at which readings are compared [m/s]."""
    seeds: int
    """Runs of a point, each with its own walks."""
    compared: int
    """Runs of a point where readings are compared."""
    stop: str
    """Duration of each run."""


class Ahmed(Design):
    """The runs of Ahmed, Zaidi and Sharif, with many movement patterns, and readings where the paper is silent."""

    name = "ahmed2006"
    point = Point
    measures = MEASURES
    full = Length(SPEEDS, (0.0, 10.0, 20.0), seeds=10, compared=6, stop="500 s")
    quick = Length(SPEEDS, (0.0, 10.0, 20.0), seeds=3, compared=2, stop="100 s")

    def scenario(self, point: Point, length: Length, /) -> Scenario:
        """The scenario of a point: runs of full length last as long as the paper's."""
        return scenario(point).with_settings({"run.stop": length.stop})

    def weight(self, point: Point, _scenario: Scenario, /) -> float:
        """Approximate cost of a run, relative to others."""
        return 0.5 if point.reading in ("2mbps", "ns2_26", LONE) else 1.0

    def seeds(self, point: Point, length: Length) -> int:
        """Number of runs of a point."""
        return length.seeds if point.reading in (MAIN, LONE, *OUTLOOK) else length.compared

    def same(self, point: Point) -> Point:
        """Representative of all points with the same scenario."""
        return same(point)

    def of_run(self, tables: Mapping[str, pl.DataFrame]) -> dict[str, float]:
        """The paper's metrics, outcomes of packets, and time budgets of senders."""
        flows, outcomes, nodes = tables["flows"], tables["packet_outcomes"], tables["nodes"]
        packets = outcomes.filter(pl.col("packet_class").is_in(["data", "ack"]))
        data = outcomes.filter(pl.col("packet_class") == "data")
        # With probes, which are no segments but are lost like them.
        sent, arrived = float(data["created"].sum()), float(data["delivered"].sum())
        drops = {n: float(sum(packets[f"dropped_{why}"].sum() for why in reasons)) for n, reasons in DROPS.items()}
        unanswered = sum(float(nodes[name].sum()) for name in ("rts_frames_failed", "data_frames_failed"))
        everything = sum(float(outcomes[name].sum()) for name in outcomes.columns if name.startswith("dropped_"))
        timeouts = float(flows["timeouts"].sum())
        times = {
            name: share(float(flows[column].sum()), float(flows["measured_s"].sum()))
            for name, column in (
                ("timeout_wait", "timeout_wait_s"),
                ("route_wait", "route_wait_s"),
                ("slow_start", "slow_start_s"),
                ("avoidance", "congestion_avoidance_s"),
            )
        }
        return {
            **measured(arrived, sent, float(flows["measured_s"][0])),
            DELAY: weighted_mean(flows, "mean_copy_delay_s", "copies_received"),
            "mean_hops": weighted_mean(flows, "mean_hops", "copies_received"),
            "jain_of_flows": jain_index(flows["packets_acked"].to_list()),
            "retransmissions": float(flows["retransmissions"].sum()),
            # ns-2's count leaves out those after a cut for a mark.
            "timeouts": timeouts - float(flows["timeouts_after_ecn_cut"].sum()),
            "ecn_cuts": float(flows["ecn_cuts"].sum()),
            EVENTS: share(everything, sent),
            FRAMES: share(everything + unanswered, sent),
            **drops,
            **times,
            "duplicates": share(float(flows["duplicates_received"].sum()), arrived),
            "probes": share(float(flows["probes_sent"].sum()), timeouts),
            "resent": share(float(flows["retransmissions"].sum()), float(flows["packets_sent"].sum())),
            "window": weighted_mean(flows, "mean_window_segments", "window_observed_s"),
        }

    def estimates(self, _point: Point, rows: pl.DataFrame, _alike: bool, /) -> dict[str, Estimate]:
        """The measures of a point, with movement patterns as units."""
        seeds = rows["seed"].to_list()
        names = (n for n in (*MEASURES, EVENTS, FRAMES, *WHY) if n in rows.columns)
        return {name: Paired.at(dict(zip(seeds, rows[name].to_list(), strict=True))) for name in names}

    def ns2(self) -> Estimates:
        """Measures of ns-2 by point, with movement patterns as units."""
        walks: dict[Point, dict[int, dict[str, float]]] = {}
        for r in reference.of(NS2, self.records()):
            walks.setdefault(r.point._replace(motion=0), {})[r.point.motion] = of_record(r)
        estimates = {}
        for p, by_walk in walks.items():
            estimates[p] = {name: Paired.at({m: v[name] for m, v in by_walk.items()}) for name in MEASURES}
        return Estimates(estimates, self.full.x)

    def method(self, runner: Runner) -> list[str]:
        """Method, in paragraphs."""
        n: Length = runner.length
        return [
            f"{n.seeds} runs of each point, {n.compared} where readings are compared, each of {n.stop} and with its "
            "own movement pattern: twenty nodes and twenty transfers. The paper has one movement pattern. Versions of "
            "TCP are compared with the same patterns, pair by pair: patterns differ by much more than versions of TCP, "
            "and two runs with the same pattern still differ by 4 to 5 %.",
            "Throughput is that of segments that arrive at all sinks, copies and probes included. Segments lost are "
            "those sent and not arrived, probes among them. Delay is that of each copy that arrives, from its own "
            "sending. Evenness over the speeds is the least throughput divided by the largest. The runs of ns-2 have "
            "five movement patterns, the same at all speeds; ns-2 has no E-NewReno, and no Westwood that uses its "
            "estimate.",
            "Details that the paper leaves open are as in the runs of ns-2: 11 Mbit/s, timeouts of at least 0.2 s, one "
            "constant speed, motion that is stationary from the start, RED with marks for ECN alone, and link loss of "
            "all frames below the MAC, which repairs nearly all of it.",
        ]


DESIGN = Ahmed()


def measured(arrived: float, sent: float, seconds: float) -> dict[str, float]:
    """Throughput and loss, from the segments that arrived, and those that were sent in some seconds."""
    return {THROUGHPUT: arrived / seconds, LOST: share(sent - arrived, sent)}


def of_record(r: reference.Record) -> dict[str, float]:
    """The measures of a run of ns-2."""
    values = {name: e.mean for name, e in r.values.items()}
    return {**values, **measured(values["received_packets"], values["sent_packets"], SECONDS)}
