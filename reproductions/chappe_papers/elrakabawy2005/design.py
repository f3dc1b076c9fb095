"""Runs of the paper: points, numbers of runs, and the values taken from a run."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import polars as pl
from chappe import Scenario
from chappe.stats import Estimate
from chappe.stats.states import unseen

from chappe_papers.elrakabawy2005 import udp
from chappe_papers.elrakabawy2005.points import (
    CHAIN,
    DELAY,
    DRAWN,
    GRIDS,
    LISTED,
    MAIN_GRID,
    MOVING,
    MOVING_DSR,
    NAMES,
    UDP,
    Point,
    hidden_senders,
    scenario,
)
from chappe_papers.runs import reference
from chappe_papers.runs.design import Design, Stage
from chappe_papers.runs.estimates import Estimates, Measure
from chappe_papers.runs.measured import budgets, estimates, is_known, mean, share
from chappe_papers.runs.replication import MEASURES as JUDGED
from chappe_papers.runs.replication import doubtful, of_batches, states
from chappe_papers.runs.runner import Runner
from chappe_papers.statistics.pairs import Paired

GOODPUT = "goodput_bps"
RETRANSMISSIONS = "retransmissions_per_10000"
WINDOW = "mean_window_segments"
FAILURES = "route_failures_per_10000"
JAIN = "jain_index_of_batches"

FAILED = {n: f"rts_failed_with_{n}_hidden" for n in (1, 2)}
GIVEN_UP = {n: f"given_up_with_{n}_hidden" for n in (1, 2)}
"""Shares of failed RTS frames, and of packets given up, of relays with so many hidden nodes that send data."""

AIR = {"data": "sending data", "tcp_acks": "sending TCP acknowledgements"}
"""Uses of the nodes' time that claims are about."""

MEASURES: dict[str, Measure] = {
    GOODPUT: Measure("goodput [kbit/s]", 1e-3, 0.03),
    RETRANSMISSIONS: Measure("retransmissions per 10,000 delivered"),
    "timeouts_per_10000": Measure("timeouts per 10,000 delivered"),
    WINDOW: Measure("window [packets]"),
    "link_drop_probability": Measure("link-layer drop probability"),
    FAILURES: Measure("false route failures per 10,000 delivered"),
    JAIN: Measure("Jain's index, mean of batches", 1, 0.05, True, limits=(0.0, 1.0)),
    "jain_index": Measure("Jain's index of the whole run", 1, 0.05, True),
    **{f"flow{f}_bps": Measure(f"goodput of flow {f + 1} [kbit/s]", 1e-3, 0.05) for f in range(10)},
    "intermediate_drops": Measure("drop probability, intermediate nodes"),
    "route_searches": Measure("searches for a route per false route failure"),
    "slow_start": Measure("share of time in slow start"),
    "queue_drops": Measure("packets dropped from full queues"),
    "delay_min_s": Measure("smallest delay [ms]", 1e3, 0.02),
    "mean_delay_s": Measure("mean delay [ms]", 1e3, 0.02),
    "delay_max_s": Measure("largest delay [ms]", 1e3, 0.02),
    "interval_ms": Measure("best time between datagrams [ms]"),
    "collapsed": Measure("share of collapsed runs"),
    "lost_to_hidden": Measure("share of hidden terminals in all drops"),
    "lost_to_queues": Measure("share of full queues in all drops"),
    "hidden_per_10000": Measure("drops at hidden terminals per 10,000 delivered"),
    "energy_per_bit_j": Measure("energy per delivered bit, 0 W idle [uJ]", 1e6, 0.05),
    "energy_with_idle_per_bit_j": Measure("energy per delivered bit, 1.65, 1.4 and 1.15 W [uJ]", 1e6, 0.05),
    **{f"air_{use}": Measure(f"share of {what} in the nodes' time") for use, what in AIR.items()},
    **{name: Measure(f"RTS failed, {n} hidden senders [%]", 100) for n, name in FAILED.items()},
    **{name: Measure(f"packets given up, {n} hidden senders [%]", 100) for n, name in GIVEN_UP.items()},
}

COMPARED = tuple(MEASURES)[:6]
"""Measures that the records of ns-2 over chains have."""

COLLAPSED = 0.75
"""A run has fallen when it has less than this share of the goodput of the upper state: of what paced UDP sends."""

LONG = 20
"""Runs over longer chains cost much."""


class Length(NamedTuple):
    """Lengths and numbers of runs."""

    packets: int
    """Packets delivered in a run."""
    long_packets: int
    """Packets over chains that cost much."""
    random_packets: int
    """Packets in the random topologies of files."""
    further_packets: int
    """Packets in places in addition to those of the paper's figures: differences are between runs."""
    udp_packets: int
    """Packets of paced UDP."""
    search_packets: int
    """Packets in a search."""
    delay_packets: int
    """Datagrams that are sent alone."""
    seeds: int
    """Runs of a point."""
    many: int
    """Runs of a point that is known to have states which outlive its batches."""
    doubted: int
    """Runs of a point whose first runs say that their batches say little about other runs."""
    states: int
    """Runs of a point that may fall into another state for good, and around the cliff of Figure 10."""
    draws: int
    """Random topologies that are drawn."""
    x: tuple[int, ...] = (4, 5, 6, 7, 8, 10, 12, 16, 20, 32, 40)
    """Lengths of the chains."""


FULL = Length(110_000, 110_000, 66_000, 22_000, 33_000, 11_000, 2000, seeds=3, many=10, doubted=10, states=24, draws=10)
QUICK = Length(6_600, 2_200, 5_500, 3_300, 4_400, 1_650, 500, seeds=3, many=3, doubted=8, states=20, draws=3)


def remembers(point: Point) -> bool:
    """True if runs are known to have states that outlive their batches.

    Paced UDP collapses, or does not. Several flows starve each other for minutes. Vegas with ACK thinning falls, at
    more than 2 Mbit/s, from a window of 4 to one of 3 for good when a packet is lost. Where Vegas remembers the
    smallest round-trip time of its connection, the runs show it.
    """
    return point.place != CHAIN or point.variant in (UDP, DELAY) or absorbing(point)


def absorbing(point: Point) -> bool:
    """True if runs are known to fall into another state and to stay there: Vegas with ACK thinning above 2 Mbit/s."""
    thinned = point.variant.startswith("vegas") and point.variant.endswith("_thin")
    return point.place == CHAIN and thinned and point.rate_mbps > 2


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _at_hidden(nodes: pl.DataFrame) -> dict[str, float]:
    """Failures of the relays of a chain, by the number of hidden nodes that send data: all nodes but the last."""
    x_m = nodes["x_m"].to_list()
    senders = range(len(x_m) - 1)
    hidden = [len(hidden_senders(n, x_m, senders)) for n in range(len(x_m))]

    def total(relays: list[int], *names: str) -> float:
        return float(sum(nodes[name][n] for name in names for n in relays))

    values = {}
    for count in FAILED:
        relays = [n for n in senders if n > 0 and hidden[n] == count]
        values[FAILED[count]] = share(total(relays, "rts_frames_failed"), total(relays, "rts_frames_sent"))
        given_up = total(relays, "mac_data_given_up", "mac_tcp_acks_given_up")
        values[GIVEN_UP[count]] = share(given_up, total(relays, "mac_data_packets", "mac_tcp_acks"))
    return values


class ElRakabawy(Design):
    """The runs of ElRakabawy, Lindemann and Vernon."""

    name = "elrakabawy2005"
    point = Point
    labels = ("stop", "batches")
    measures = MEASURES
    full = FULL
    quick = QUICK

    def packets(self, point: Point, length: Length) -> int:
        """Number of packets delivered in a run."""
        if point.variant == DELAY:
            return length.delay_packets
        # The best window over several chains: shorter runs tell them apart.
        searched = point.variant.startswith("newreno_maxwin") and point.place == CHAIN and point.hops != 7
        if point.variant == UDP or searched:
            return length.udp_packets
        if point.place in LISTED:
            return length.random_packets
        if (point.preamble, point.basic_mbps) != ("long", 1.0):
            return length.further_packets
        if point.place in (*DRAWN, MOVING, MOVING_DSR) or (point.place in GRIDS and point.place != MAIN_GRID):
            return length.further_packets
        return length.long_packets if point.hops > LONG else length.packets

    def scenario(self, point: Point, length: Length) -> Scenario:
        """The scenario of a point, with what only the claims on some chains ask for.

        That is the slow start of NewReno, and air time over 7 hops: to count it nearly doubles what a run costs.
        """
        packets = self.packets(point, length)
        batches = (
            packets if point.variant == DELAY else 6 if point.place in (*LISTED, *DRAWN, MOVING, MOVING_DSR) else 11
        )
        changes: dict[str, Any] = {}
        if point.place == CHAIN and point.variant == "newreno":
            changes["run.sample_interval"] = "500 ms"
        if point.place == CHAIN and point.hops == 7 and point.variant in ("newreno", "vegas2", "vegas2_thin"):
            changes["run.airtime"] = True
        return scenario(point, f"{packets} delivered", batches=batches, changes=changes)

    def weight(self, point: Point, scenario: Scenario) -> float:
        """Approximate cost of a run, relative to others."""
        packets = int(scenario.settings["run"]["stop"].split()[0])
        if point.place != CHAIN:
            return packets * (13.0 if point.place in GRIDS else 20.0)
        share = 0.45 if point.variant in (UDP, DELAY) else 0.7 if "_thin" in point.variant else 1.0
        return packets * share * point.hops * (1.2 + 0.03 * point.hops)

    def seeds(self, point: Point, length: Length) -> int:
        """Number of first runs of a point."""
        if point.place in DRAWN or point.variant == DELAY:
            return 1
        if point.variant == UDP and (point.hops, point.rate_mbps) == (7, 2.0):
            if point.interval_ms in udp.CLIFF:
                return length.states
            if point.interval_ms in udp.SWEEP:
                return length.seeds
        if absorbing(point):
            return length.states
        if point.place in (MOVING, MOVING_DSR):
            return 2 * length.many
        return length.many if remembers(point) else length.seeds

    def further(self, point: Point, length: Length, rows: pl.DataFrame) -> int:
        """More runs where the batches of the first say little about others, most where runs fall for good."""
        if point.place == CHAIN and point.variant != DELAY and states(rows) is not None:
            return max(length.states, len(rows))
        return length.doubted if self.alike(point) and doubtful(rows) else self.seeds(point, length)

    def repeats(self, point: Point, /) -> bool:
        """All but single drawn placements, each of which has one run, and datagrams that are sent alone."""
        return not point.draw and point.variant != DELAY

    def alike(self, point: Point) -> bool:
        """Points whose batches are not known to remember earlier batches."""
        return not remembers(point)

    def decides(self, point: Point, length: Length, /) -> bool:
        """Runs that fall for good do so after the end of short ones."""
        return length.packets >= FULL.packets or not absorbing(point)

    def of_run(self, tables: Mapping[str, pl.DataFrame]) -> dict[str, float]:
        """Measures of a run in addition to its means over batches; NaN where a measure does not apply.

        The tables are small and the runs many: columns as lists take a twentieth of the time of queries.
        """
        flows, nodes, batches = tables["flows"], tables["nodes"], tables["batches"]
        used = batches["used"].to_list()

        def column(name: str) -> list[float]:
            return [v for v, counts in zip(batches[name].to_list(), used, strict=True) if counts]

        goodput, begin = column(GOODPUT), min(column("started_at_s"), default=0.0)
        values: dict[str, float] = {f"flow{f}_bps": v for f, v in enumerate(flows[GOODPUT].to_list())}
        values |= of_batches({name: column(name) for name in JUDGED})
        ends = {*flows["src"].to_list(), *flows["dst"].to_list()}
        drops = zip(nodes["node"].to_list(), nodes["link_drop_probability"].to_list(), strict=True)
        values["intermediate_drops"] = mean([p for n, p in drops if n not in ends and is_known(p)])
        failures = int(nodes["local_repairs"].sum()) + int(nodes["links_deleted"].sum())
        values["route_searches"] = share(int(nodes["route_discoveries"].sum()), failures)
        series = tables["samples"]
        samples = zip(
            *(series[name].to_list() for name in ("time_s", "cwnd_segments", "ssthresh_segments")), strict=True
        )
        values["slow_start"] = mean([float(cwnd < ssthresh) for at, cwnd, ssthresh in samples if at >= begin])
        delays = [d for d in column("mean_delay_s") if is_known(d)]
        values["delay_min_s"], values["delay_max_s"] = (min(delays), max(delays)) if delays else (math.nan, math.nan)
        values["last_bps"] = goodput[-1] if goodput else math.nan
        if not any(nodes["y_m"].to_list()):
            values |= _at_hidden(nodes)
        return values | budgets(tables, AIR)

    def estimates(self, point: Point, rows: pl.DataFrame, alike: bool) -> dict[str, Estimate]:
        """The measures of a point from its runs."""
        if point.variant == UDP:
            offered = 1460 * 8 / (point.interval_ms / 1e3)
            rows = rows.with_columns((pl.col("last_bps") < COLLAPSED * offered).cast(pl.Float64).alias("collapsed"))
        if point.place in (MOVING, MOVING_DSR):
            seeds = rows["seed"].to_list()
            names = [name for name in MEASURES if name in rows.columns]
            return {
                name: Paired.at(dict(zip(seeds, map(_number, rows[name].to_list()), strict=True))) for name in names
            }
        return estimates(rows, MEASURES, alike=alike, shares=("collapsed",))

    def stages(self, points: Iterable[Point], length: Length) -> list[Stage]:
        """Points that are known from the start, then what is made of them, then searches."""
        pooled = [p for p in points if p.place in DRAWN and not p.draw]
        searched = [p for p in points if p.variant == UDP and not p.interval_ms]
        optimum = [p for p in points if p == udp.OPTIMUM]
        fixed = [p for p in points if p not in pooled and p not in searched and p not in optimum]
        fixed += [Point(UDP, 7, interval_ms=t) for t in udp.CLIFF] if optimum else []

        def drawn(runner: Runner) -> dict[Point, list[Point]]:
            """Placements of each pooled point: further runs of such a point are those of further placements."""
            draws = range(1, runner.factor * length.draws + 1)
            return {p: [p._replace(draw=d) for d in draws] for p in pooled}

        def first(runner: Runner) -> None:
            runner.run([*fixed, *(q for draws in drawn(runner).values() for q in draws)])

        def pool(runner: Runner) -> None:
            for p, draws in drawn(runner).items():
                runner.runs[p] = pl.concat([runner.runs[q] for q in draws], how="diagonal")
                runner.values[p] = estimates(runner.runs[p], MEASURES, places=True)

        stages: list[Stage] = [first, pool]
        stages += [lambda runner: udp.best(runner, searched)] if searched else []
        return [*stages, udp.optimum] if optimum else stages

    def ns2(self) -> Estimates:
        """The runs of ns-2; of paced UDP also the best of each chain."""
        values = reference.first(self.records())
        best: dict[Point, Point] = {}
        for p, own in values.items():
            if p.variant == UDP:
                key = p._replace(interval_ms=0.0)
                if key not in best or own[GOODPUT].mean > values[best[key]][GOODPUT].mean:
                    best[key] = p
        values |= {key: values[p] | {"interval_ms": Estimate.of([p.interval_ms])} for key, p in best.items()}
        return Estimates(values, self.full.x)

    def method(self, runner: Runner) -> list[str]:
        """Method, in paragraphs."""
        n: Length = runner.length
        long = f"{n.long_packets:,} over more than {LONG} hops, " if n.long_packets != n.packets else ""
        doubted = sum(not remembers(p) for p in runner.more)
        more = f" (of the others {doubted} whose first runs were doubtful)" if doubted else ""
        return [
            f"Runs over chains and in layout C deliver {n.packets:,} packets, {long}those of paced UDP and of the best "
            f"window over several chains {n.udp_packets:,}, those in the random topologies of ns-2 "
            f"{n.random_packets:,}, those in the other layouts and in drawn placements {n.further_packets:,}, those of "
            f"searches {n.search_packets:,}; the first eleventh or sixth is discarded.",
            f"Seeds: 1 to {n.seeds}; paced UDP, grids, random topologies in files{more}: 1 to {n.many}; under motion, "
            f"where variants are compared walk by walk, 1 to {2 * n.many}; Vegas with ACK thinning at more than "
            f"2 Mbit/s, and around the cliff of Figure 10: 1 to {n.states}; {n.draws} drawn placements and searches "
            "with seed 1.",
            "Vegas is ns-2.35's, defects included, so that it can be compared with ns-2's records; the paper's "
            "authors had corrected some defects that they do not list. Another reading has four of them corrected.",
            "The layout of the grid is unknown (only a picture had it): claims on it are judged in three layouts.",
            *self._fallen(runner),
        ]

    def _fallen(self, runner: Runner) -> list[str]:
        """The points whose runs fall into another state without a return: the levels, and how many have fallen."""
        parts = []
        for p, rows in runner.runs.items():
            if p.place == CHAIN and p.variant not in (UDP, DELAY) and (fall := states(rows)) is not None:
                half, whole = fall.share(fall.batches // 2), fall.share()
                low, high = (100 * end for end in whole.interval())
                levels = [f"{level.mean / 1e3:.0f}" for level in (fall.before, fall.after)]
                parts.append(
                    f"{NAMES.get(p.variant, p.variant)} over {p.hops} hops at {p.rate_mbps:g} Mbit/s from {levels[0]} "
                    f"to {levels[1]} kbit/s, {100 * half.mean:.0f} % of {len(rows)} runs by half of the packets, "
                    f"{100 * whole.mean:.0f} % ({low:.0f} to {high:.0f} %) in the end"
                )
        paragraphs = [f"Runs that fall into another state and do not return: {'; '.join(parts)}."] if parts else []
        n = runner.length.seeds
        limit = (
            f"Such falls are looked for in the first {n} runs of all other points. Where none of these falls, up to "
            f"{100 * unseen(n):.0f} % of further runs may: rare falls stay mostly unseen."
        )
        return [*paragraphs, limit]

    def searches(self, runner: Runner) -> list[tuple[object, ...]]:
        """Every window of NewReno and every time between datagrams that was tried, with its goodput."""
        lines: list[tuple[object, ...]] = []
        for p, runs in runner.runs.items():
            e = runner.get(p, GOODPUT)
            measured = (len(runs), e.mean, e.half_width())
            if p.variant.startswith("newreno_maxwin"):
                window = float(p.variant.removeprefix("newreno_maxwin"))
                lines.append(("tcp.receive_window", p.hops, p.rate_mbps, window, *measured))
            elif p.variant == UDP and (p.hops, p.rate_mbps) in runner.tried:
                lines.append(("cbr.interval_ms", p.hops, p.rate_mbps, p.interval_ms, *measured))
        for chain, tried in runner.tried.items():
            # The short runs of a search are single ones, without an interval.
            lines += [("cbr.interval_ms", *chain, t, 1, goodput, math.nan) for t, goodput in tried.items()]
        return sorted(lines, key=lambda row: row[:5])


DESIGN = ElRakabawy()
