"""Further seeds of stock ns-2.35 where a run falls from one state into another, or stays out of it.

``python reproductions/experiments/ns2/states.py`` needs the command ``ns`` and prints lines for ``reference.csv`` of
the paper: paced UDP near the cliff and where the recorded run and ours do not agree, and a grid whose flows starve each
other. One run is one draw of two; what can be compared is how often runs fall.
"""

import csv
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from chappe.stats import jain_index
from chappe_papers.elrakabawy2005.points import UDP, Point, scenario
from chappe_papers.elrakabawy2005.validate import VALIDATION
from chappe_papers.runs.reference import FURTHER, Record
from chappe_papers.validation.records import packets

HERE = Path(__file__).parent
COLUMNS = ("source", "variant", "hops", "rate_mbps", "place", "interval_ms", "seed", "goodput_bps", "last_bps",
           "jain_index_of_batches")  # fmt: skip
SEEDS = range(1, 21)
POINTS = [
    *(Point(UDP, 7, interval_ms=t) for t in (34.0, 34.25, 34.5, 34.75, 35.0, 35.25, 35.5, 35.75, 36.0, 36.25)),
    Point(UDP, 4, interval_ms=30.949),
    Point(UDP, 5, 5.5, interval_ms=16.43),
    Point(UDP, 5, 11.0, interval_ms=12.013),
    Point(UDP, 8, 11.0, interval_ms=13.667),
    Point(UDP, 16, 11.0, interval_ms=15.382),
    Point(UDP, 20, 11.0, interval_ms=15.843),
    Point("vegas2", 0, 2.0, "grid7x3_c135"),
]
AGENTS = {UDP: ("Udp", 0), "vegas2": ("Vegas", 2)}


def run(record: Record, seed: int) -> list[float]:
    """Goodput over the batches that count, goodput in the last of them, mean of Jain's index."""
    p, batches = record.point, record.batches + 1
    s = scenario(p, "1 s")
    agent, alpha = AGENTS[p.variant]
    with tempfile.TemporaryDirectory() as folder:
        places, flows = Path(folder, "nodes.csv"), Path(folder, "flows.csv")
        s.nodes.write_csv(places)
        s.flows.write_csv(flows)
        arguments = (places, flows, f"{p.rate_mbps:g}", agent, alpha, p.interval_ms, packets(record), batches, seed)
        command = ["ns", str(HERE / "states.tcl"), *map(str, arguments)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    # ns prints other things, too, and on the same line.
    found = [line.split("RESULT ")[1].split()[1:] for line in printed.splitlines() if "RESULT" in line]
    goodput = [[float(v) for v in flows] for flows in found[1:]]
    sums = [sum(flows) for flows in goodput]
    return [sum(sums) / len(sums), sums[-1], sum(map(jain_index, goodput)) / len(goodput)]


def main() -> None:
    """Runs everything, two runs at a time."""
    records = {r.point: r for r in VALIDATION.records() if r.seed == 1}
    tasks = [(records[p], seed) for p in POINTS for seed in SEEDS]
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS)
    with ThreadPoolExecutor(2) as pool:
        for (r, seed), (goodput, last, jain) in zip(tasks, pool.map(lambda t: run(*t), tasks), strict=True):
            p = r.point
            where = (p.variant, p.hops, f"{p.rate_mbps:g}", p.place, f"{p.interval_ms:g}", seed)
            # ns prints kbit/s.
            out.writerow([FURTHER, *where, f"{1e3 * goodput:.1f}", f"{1e3 * last:.1f}", f"{jain:.4f}"])


if __name__ == "__main__":
    sys.exit(main())
