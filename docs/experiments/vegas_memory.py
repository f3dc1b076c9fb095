"""Memory of Vegas: the spread of whole runs, compared with the spread that their batches promise.

``python docs/experiments/vegas_memory.py`` runs Vegas over 8 hops, as ns-2 has it and with a base RTT that never grows.
"""

import statistics

from chappe.measures import column
from chappe.study import measure
from chappe_papers.elrakabawy2005.points import Point, scenario

SEEDS = range(1, 11)
NAME = "mean_window_segments"


def main() -> None:
    """Prints mean window, spread of the runs and the spread that batches as independent values would give."""
    vegas = scenario(Point("vegas2", 8), "55000 delivered")
    for grows in (True, False):
        runs = measure({0: vegas.with_settings({"tcp.vegas.ns2.base_rtt_grows": grows})}, list(SEEDS))[0]
        # Half width = 2.262 standard errors over ten batches.
        half_widths = runs[column(NAME, "ci_high")] - runs[NAME]
        promised = statistics.mean(half_widths.to_list()) / 2.262
        means = runs[NAME].to_list()
        print(
            f"base RTT {'grows' if grows else 'never grows'}: window {statistics.mean(means):.2f} segments, "
            f"standard deviation of the runs {statistics.stdev(means):.3f}, promised by their batches {promised:.3f}"
        )


if __name__ == "__main__":
    main()
