"""Further seeds of stock ns-2.35 where a run falls from one state into another, or stays out of it.

``python docs/experiments/ns2_states.py`` needs the command ``ns`` and writes ``ns2_states.csv`` into the package: paced
UDP near the cliff and where the recorded run and ours do not agree, and a grid whose flows starve each other. One run
is one draw of two; what can be compared is how often runs fall.
"""

import csv
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from chappe.papers.elrakabawy2005 import ns2
from chappe.papers.elrakabawy2005.comparison import packets
from chappe.papers.elrakabawy2005.points import UDP, Point, scenario
from chappe.stats import jain_index

HERE = Path(__file__).parent
TABLE = Path(ns2.__file__).parent / "ns2_states.csv"
COLUMNS = ("variant", "place", "hops", "rate_mbps", "interval_ms", "seed", *ns2.State._fields)
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


def run(record: ns2.Record, seed: int) -> list[float]:
    """Goodput over the batches that count, goodput in the last of them, mean of Jain's index."""
    p, batches = record.point, record.batches + 1
    s = scenario(p, "1 s")
    agent, alpha = AGENTS[p.variant]
    with tempfile.TemporaryDirectory() as folder:
        places, flows = Path(folder, "nodes.csv"), Path(folder, "flows.csv")
        s.nodes.write_csv(places)
        s.flows.write_csv(flows)
        arguments = (places, flows, f"{p.rate_mbps:g}", agent, alpha, p.interval_ms, packets(record), batches, seed)
        command = ["ns", str(HERE / "ns2_states.tcl"), *map(str, arguments)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    # ns prints other things, too, and on the same line.
    found = [line.split("RESULT ")[1].split()[1:] for line in printed.splitlines() if "RESULT" in line]
    goodput = [[float(v) for v in flows] for flows in found[1:]]
    sums = [sum(flows) for flows in goodput]
    return [sum(sums) / len(sums), sums[-1], sum(map(jain_index, goodput)) / len(goodput)]


def key(point: Point, seed: int) -> tuple[str, ...]:
    """The first columns of a row."""
    return (point.variant, point.place, str(point.hops), f"{point.rate_mbps:g}", f"{point.interval_ms:g}", str(seed))


def main() -> None:
    """Runs what is not in the table, two runs at a time."""
    if not TABLE.exists():
        TABLE.write_text(",".join(COLUMNS) + "\n")
    done = {tuple(row[:6]) for row in csv.reader(TABLE.read_text().splitlines())}
    records = {r.point: r for r in ns2.records() if r.seed == 1}
    tasks = [(records[p], seed) for p in POINTS for seed in SEEDS if key(p, seed) not in done]
    with ThreadPoolExecutor(2) as pool, TABLE.open("a", encoding="utf-8", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        for (r, seed), values in zip(tasks, pool.map(lambda t: run(*t), tasks), strict=True):
            out.writerow([*key(r.point, seed), *(f"{v:.4f}" for v in values)])
            f.flush()


if __name__ == "__main__":
    sys.exit(main())
