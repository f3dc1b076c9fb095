"""Runs of the paper: points, numbers of runs, and the values taken from a run."""

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import polars as pl
from chappe import Scenario
from chappe.stats import Estimate, Jackknife, jain_index
from chappe.stats.quantiles import Quantile
from chappe.study import Item

from chappe_papers.runs.design import Design
from chappe_papers.runs.estimates import Estimates, Measure
from chappe_papers.runs.measured import mean, share, weighted_mean
from chappe_papers.runs.reference import Record
from chappe_papers.runs.runner import Runner
from chappe_papers.statistics.pairs import Paired
from chappe_papers.su2008.paths import paths
from chappe_papers.su2008.points import COLUMNS, HOPS, INFORMED, ROWS, Point, scenario

AGGREGATE = "aggregate_bps"
"""Goodput of all flows together, in the mean over the paths."""
MEDIAN = "median_bps"
"""Goodput of all flows together on the median path."""
TENTH, NINETIETH = "tenth_percentile_bps", "ninetieth_percentile_bps"
"""Goodput of all flows together on the path that 10 or 90 % of the paths do not reach."""
JAIN = "jain_of_flows"
WINDOW = "window_segments"
RTT = "rtt_s"
RESENT = "resent_share"
LARGEST = "largest_window_segments"
"""After slow start."""
PEAK = "window_at_the_end_of_slow_start"
SLOW_START = "slow_start_end_s"
SETTLED = "settled_bps"
"""Goodput after the first quarter of a run."""
DELAY = "delay_s"
TIMEOUTS = "timeouts"

MEASURES = {
    AGGREGATE: Measure("throughput [kbit/s]", 1e-3),
    MEDIAN: Measure("throughput of the median path [kbit/s]", 1e-3),
    TENTH: Measure("10th percentile of the paths [kbit/s]", 1e-3),
    NINETIETH: Measure("90th percentile of the paths [kbit/s]", 1e-3),
    JAIN: Measure("Jain's index", limits=(0.0, 1.0)),
    WINDOW: Measure("mean window [segments]"),
    RTT: Measure("mean round-trip time [ms]", 1e3),
    RESENT: Measure("segments sent again / sent [%]", 100),
    LARGEST: Measure("largest window after slow start [segments]"),
    PEAK: Measure("window at the end of slow start [segments]"),
    SLOW_START: Measure("end of slow start [s]"),
    SETTLED: Measure("throughput after the first quarter [kbit/s]", 1e-3),
    DELAY: Measure("mean delay [ms]", 1e3),
    TIMEOUTS: Measure("timeouts in 60 s"),
}

MBPS = ("11", "5.5", "2", "1")
"""Rates of Table III [Mbit/s]."""

COUNTED = {"packets": "packets_acked", "transmissions": "data_frames_sent"}
"""Readings of the unit that Table III counts."""


def mix(counted: str, node: int, mbps: str) -> str:
    """The name of the share of a node's packets of data, or transmissions, at a rate."""
    return f"{counted}_{node}_at_{mbps}"


def by_path(share: str) -> str:
    """The name of a share of totals, path by path."""
    return f"{share}_by_path"


SMALLEST = "smallest_share"
"""Of the path with the least throughput, of several."""


def row(number: int) -> str:
    """The name of the throughput of a path of several, in their order from the smallest."""
    return f"path_{number}_bps"


class Length(NamedTuple):
    """Lengths and numbers of runs."""

    x: tuple[int, ...]
    """Lengths of the paths of the figures [hops]."""
    most: int
    """Paths of Figure 1, and of what the paper measured on one path alone."""
    paths: int
    """Paths of all else."""
    stop: str
    """Duration of each run."""


class Su(Design):
    """The measurements of Su, Steenkiste and Gross, on drawn paths."""

    name = "su2008"
    point = Point
    measures = MEASURES
    full = Length(HOPS, most=50, paths=20, stop="60 s")
    quick = Length(HOPS, most=6, paths=4, stop="20 s")

    def scenario(self, point: Point, length: Length, /) -> Scenario:
        """The scenario of a point, without its path."""
        changes = {"run.stop": length.stop}
        if is_microscopic(point):
            changes["run.sample_interval"] = "50 ms"
        return scenario(point, changes)

    def same(self, point: Point) -> Point:
        """The first of all models in which a point has the same scenario."""
        return point.plain

    def weight(self, point: Point, _scenario: Scenario, /) -> float:
        """Approximate cost of a run, relative to others."""
        return 5.0 if point.layout == "rows" else 1.0

    def seeds(self, point: Point, length: Length) -> int:
        """Number of paths."""
        return length.most if is_microscopic(point) or is_single(point) else length.paths

    def items(self, point: Point, scenario: Scenario, seeds: Iterable[int]) -> list[Item]:
        """A run on each path."""
        runs: list[Item] = []
        for seed in seeds:
            runs += super().items(point, paths().on(seed, point, scenario), [seed])
        return runs

    def of_run(self, tables: Mapping[str, pl.DataFrame]) -> dict[str, float]:
        """Throughput, fairness, the window, the mix of rates."""
        flows = tables["flows"]
        goodput = flows["goodput_bps"].to_list()
        values = {
            AGGREGATE: float(sum(goodput)),
            JAIN: jain_index(goodput),
            WINDOW: mean(flows["mean_window_segments"].drop_nulls().to_list()),
            RTT: weighted_mean(flows, "mean_rtt_s", "rtt_samples"),
            DELAY: weighted_mean(flows, "mean_delay_s", "delay_samples"),
            "resent": float(flows["retransmissions"].sum()),
            "sent": float(flows["packets_sent"].sum()),
            TIMEOUTS: float(flows["timeouts"].sum()),
            SETTLED: _goodput(tables["batches"][1:]),
        }
        if len(goodput) == ROWS:
            values |= {row(n): g for n, g in enumerate(sorted(goodput))}
            values[SMALLEST] = share(min(goodput), sum(goodput))
        data = tables["rates"].filter(pl.col("packet_class") == "data")
        for counted, column in COUNTED.items():
            for node in range(COLUMNS - 1) if len(data) else ():
                for mbps in MBPS:
                    at_rate = data.filter((pl.col("node") == node) & (pl.col("rate_bps") == round(float(mbps) * 1e6)))
                    values[mix(counted, node, mbps)] = float(at_rate[column].sum())
        return values | _of_series(tables["samples"])

    def estimates(self, point: Point, rows: pl.DataFrame, _alike: bool, /) -> dict[str, Estimate]:
        """The measures of a point, with paths as units; shares are totals over totals."""
        seeds = rows["seed"].to_list()
        names = [n for n in (*MEASURES, SMALLEST, *map(row, range(ROWS))) if _known(rows, n)]
        estimates: dict[str, Estimate] = {n: Paired.at(dict(zip(seeds, rows[n].to_list(), strict=True))) for n in names}
        for name, q in ((MEDIAN, 0.5), (TENTH, 0.1), (NINETIETH, 0.9)):
            estimates[name] = Quantile.at(rows[AGGREGATE].to_list(), q)
        shares = {RESENT: ("resent", ["sent"])}
        for counted in COUNTED:
            for node in range(point.hops) if _known(rows, mix(counted, 0, MBPS[0])) else ():
                rates = [mix(counted, node, mbps) for mbps in MBPS]
                shares |= {name: (name, rates) for name in rates}
        estimates |= {name: _quotient(rows, *parts) for name, parts in shares.items()}
        for name in (RESENT, *(mix("packets", node, MBPS[0]) for node in range(point.hops))):
            if name in shares:
                part, whole = shares[name]
                of_path = rows.select(pl.col(part) / pl.sum_horizontal(whole)).to_series().fill_nan(None)
                known = {seed: v for seed, v in zip(seeds, of_path.to_list(), strict=True) if v is not None}
                estimates[by_path(name)] = Paired.at(known)
        return estimates

    def records(self) -> tuple[Record, ...]:
        """None: nobody else has run this testbed."""
        return ()

    def ns2(self) -> Estimates:
        """No estimates: ns-2.35 adds up no signals and adapts no rates."""
        return Estimates({}, self.full.x)

    def method(self, runner: Runner) -> list[str]:
        """Method, in paragraphs."""
        n: Length = runner.length
        return [
            f"{n.most} paths where the paper has 50, or one; {n.paths} elsewhere, where it has five, or the mean of "
            f"three runs on one; each run {n.stop}. All lie in one grid of 4 x 24 routers, the shadowing of which is "
            "drawn once: from a random router on, each next one is random among those that hear the last at 11 Mbit/s "
            "and none before it does. Shorter paths are their beginnings; all schemes have the same paths, and are "
            "compared path by path. Intervals are of paths; two other grids give the same within them "
            "(`why_su.py grid`). Four disjoint paths are four rows, with the shadowing drawn for each run.",
            "Claims are judged with the informed model. It takes four facts that the text of the paper supports "
            "(table `facts`, each with its sentence and what speaks against it): the four rows are a quarter of a hop "
            "apart; an unanswered RTS does not blame the rate; uploads over the Internet have windows of 64 KiB, and "
            "the rates of Table IV are these windows by the round-trip time, not those of wires; a buffer of 2 or 4 "
            "counts the packet that is sent. 32 numbers chose them and no longer count: all of Table VI, the gain of "
            "Figure 4, that of RTS, and five over one hop of Tables VIII and IX. Whoever chose had seen the other "
            "numbers, too: so each table was left out in turn, and predicted with the facts that all others choose, by "
            "the least mean error of logarithms. Intervals take numbers as independent, which those of a table are "
            "not. 64 KiB are 45 segments of 1,460 B; for downloads the rates of Table IV are those of the wire.",
            "The frozen model made the predictions, and nothing has changed it since. Four numbers of the paper "
            "calibrated what it does not give, in the order of the table `calibration`. P2-F1-2 asks for one of them: "
            "its agreement is no evidence. The fourth, 10.2 Mbit/s of four flows over one hop, had put the rows 9.4 m "
            "apart, and the informed model gives it up. The searches were made on paths along a row, of which the "
            "shadowing alone differed, and before a defect of waiting for responses was mended (changelog). Repeated "
            "today, they choose the same signal, threshold and exponent, no re-lock instead of one at 5 dB, which they "
            "cannot distinguish, and rows 9.6 instead of 9.4 m apart. They do not determine the exponent, the largest "
            "of those tried: on paths of the grid it has no influence (`why_su.py exponent`).",
            "The target ranges of the frozen predictions are listed with the numbers of the paper (`targets.csv` in "
            "the package), as written with the first results. A number is inside if it lies in its target range, "
            "whatever its interval; met if it does so significantly, missed if it lies significantly outside, and "
            "open otherwise (Holm over the numbers of a target). The error of a number is its ratio to the paper's, "
            "or the inverse of that, less one: half counts as much as double; within 25 % is a ratio of 0.75 to 1.25.",
            "Nothing is compared with ns-2.35, which adds up no signals and adapts no rates. Models and parts were "
            "compared with ns-3.37 and with a current kernel ([models.md](../../../docs/models.md)).",
            "Choices where the paper gives no value: SampleRate makes the eight attempts of its driver, eleven are "
            "made at a fixed rate; 50 packets may wait at either end of the Internet path; a drop at the sender's own "
            "queue halves the window, and the segment is sent when there is room; a ping of 1500 bytes is one packet. "
            "If its payload has 1500 bytes, it is sent in two fragments and takes 22.9 ms instead of 16.8, of the "
            "paper's 25.5 (`why_su.py ping`). Table VIII prints 863 kbit/s for Reno over four hops to Europe; the "
            "percentages of its row need 813, which is used here.",
        ]


DESIGN = Su()


def is_microscopic(p: Point) -> bool:
    """True if a point is what the paper looks at closely: one flow over five hops."""
    return p._replace(rate="auto", rts=0, model=INFORMED) == Point("path")


def is_single(p: Point) -> bool:
    """True if a point is one of Figure 1."""
    return p._replace(hops=0, model=INFORMED) in (Point("path", 0), Point("path", 0, "fixed"))


def _known(rows: pl.DataFrame, name: str) -> bool:
    """True if all of some runs have a number."""
    return name in rows.columns and not rows[name].has_nulls()


def _goodput(batches: pl.DataFrame) -> float:
    """Bits delivered by the time they took."""
    seconds = float((batches["ended_at_s"] - batches["started_at_s"]).sum())
    return share(8 * float(batches["bytes_delivered"].sum()), seconds)


def _quotient(rows: pl.DataFrame, part: str, whole: list[str]) -> Estimate:
    """A share of totals, with runs as units."""
    units = rows.select(pl.col(part), pl.sum_horizontal(whole).alias("whole")).to_numpy()
    if len(units) < 2 or not units[:, 1].all():
        return Estimate(share(float(units[:, 0].sum()), float(units[:, 1].sum())), math.nan, len(units) - 1)
    return Jackknife.of(units).estimate


def _of_series(series: pl.DataFrame) -> dict[str, float]:
    """End of slow start, and the largest window from one second later on."""
    if series.is_empty():
        return {}
    over = series.filter(pl.col("cwnd_segments") >= pl.col("ssthresh_segments"))
    end = min(over["time_s"].to_list(), default=math.nan)
    later = series.filter(pl.col("time_s") > end + 1.0)["cwnd_segments"]
    first = series.filter(pl.col("time_s") <= end)["cwnd_segments"]
    peak, largest = (max(cwnd.to_list(), default=math.nan) for cwnd in (first, later))
    return {SLOW_START: end, PEAK: peak, LARGEST: largest}
