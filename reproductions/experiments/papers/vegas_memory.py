"""Memory of Vegas: the spread of whole runs, compared with the spread that their batches promise.

``python reproductions/experiments/papers/vegas_memory.py`` runs Vegas over 8 hops, as ns-2 has it and with a base RTT
that never grows.
"""

import math
import statistics
from collections.abc import Mapping

import polars as pl
from chappe.measures import Totals, quotients
from chappe.study import measure
from chappe_papers.elrakabawy2005.points import Point, scenario

SEEDS = range(1, 11)
NAME = "mean_window_segments"


def error_of_batches(tables: Mapping[str, pl.DataFrame]) -> dict[str, float]:
    """Standard error of the mean window of a run, from its batches as independent values."""
    totals = Totals.of(NAME, quotients(tables["batches"].filter("used"), NAME))
    return {"error": math.sqrt(totals.together.estimate.variance)}


def main() -> None:
    """Prints mean window, spread of the runs and the spread that batches as independent values would give."""
    vegas = scenario(Point("vegas2", 8), "55000 delivered")
    for grows in (True, False):
        points = {0: vegas.with_settings({"tcp.vegas.ns2.base_rtt_grows": grows})}
        runs = measure(points, list(SEEDS), also=error_of_batches)[0]
        promised = statistics.mean(runs["error"].to_list())
        means = runs[NAME].to_list()
        print(
            f"base RTT {'grows' if grows else 'never grows'}: window {statistics.mean(means):.2f} segments, "
            f"standard deviation of the runs {statistics.stdev(means):.3f}, promised by their batches {promised:.3f}"
        )


if __name__ == "__main__":
    main()
