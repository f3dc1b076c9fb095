"""Further seeds of stock ns-2.35 for chains whose recorded run and ours do not agree.

``python reproductions/experiments/ns2/seeds.py`` needs the command ``ns`` and prints lines for ``reference.csv`` of the
paper. The recorded runs have one seed each; how far apart seeds are shows how far their intervals, taken over batches
of one run, can be trusted.
"""

import csv
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from chappe_papers.elrakabawy2005.points import Point
from chappe_papers.elrakabawy2005.validate import VALIDATION
from chappe_papers.runs.reference import FURTHER
from chappe_papers.validation.records import packets

HERE = Path(__file__).parent
SEEDS = range(2, 8)
MEASURES = ("goodput_bps", "retransmissions_per_10000", "timeouts_per_10000", "mean_window_segments")
POINTS = [
    Point("sack", 1),
    Point("vegas2", 4),
    Point("vegas2", 7),
    Point("vegas2", 8),
    Point("vegas3", 20),
    Point("vegas2_pkt1500", 7),
    Point("tahoe", 7, 5.5),
    Point("vegas3", 7, 5.5),
    Point("newreno_maxwin3", 7, 11.0),
    Point("vegas2_pkt1500", 7, 11.0),
    Point("vegas3", 7, 11.0),
]
AGENTS = {"sack": ("/Sack1", "/Sack1"), "tahoe": ("", ""), "newreno_maxwin3": ("/Newreno", "")}


def run(point: Point, packets: int, seed: int) -> list[str]:
    """The measures of one run of ns."""
    agent, sink = AGENTS.get(point.variant, ("/Vegas", ""))
    alpha = point.variant[5] if point.variant.startswith("vegas") else "1"
    window = "3" if point.variant == "newreno_maxwin3" else "64"
    size = "1500" if point.variant == "vegas2_pkt1500" else "1460"
    arguments = (point.hops, f"{point.rate_mbps:g}", agent, sink, alpha, window, size, packets, seed)
    command = ["ns", str(HERE / "seeds.tcl"), *map(str, arguments)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    # ns prints other things, too.
    found = re.search(r"^RESULT (.*)$", printed, re.MULTILINE)
    if found is None:
        raise RuntimeError(f"{' '.join(command)} printed no result")
    return found[1].split()


def main() -> None:
    """Runs everything, two runs at a time."""
    length = {r.point: packets(r) for r in VALIDATION.records()}
    tasks = [(point, seed) for point in POINTS for seed in SEEDS]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda t: run(t[0], length[t[0]], t[1]), tasks))
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["source", "variant", "hops", "rate_mbps", "seed", *MEASURES])
    for (p, seed), (goodput, *others) in zip(tasks, found, strict=True):
        # ns prints kbit/s.
        out.writerow([FURTHER, *p[:2], f"{p.rate_mbps:g}", seed, f"{1e3 * float(goodput):.0f}", *others])


if __name__ == "__main__":
    sys.exit(main())
