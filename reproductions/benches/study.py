"""Overhead of a study over its runs: 1,000 runs of some tenths of a millisecond, one after the other.

python reproductions/benches/study.py

Exit status 1: a study takes too much CPU time beside its runs.
"""

import sys
import tempfile
import time

import chappe
from chappe.study.design.axes import Item, grid
from chappe.study.execution.threads import execute

AXES = {"topology.hops": [1, 2, 3, 4, 5], "tcp.receive_window": [1, 2, 4, 8]}
SEEDS = range(1, 51)
LIMIT_MS = 0.75
"""Limit of the CPU time of a study beside a run."""


def main() -> int:
    """Takes the CPU times of the runs alone, a study of them, and the same study when nothing is missing."""
    scenario = chappe.Scenario.chain(2, stop="220 delivered", extends="ns2-2.35")
    items = [Item(point, seed) for point in grid(scenario, AXES) for seed in SEEDS]
    begin = time.process_time()
    for item in items:
        execute(item)
    alone = time.process_time() - begin
    with tempfile.TemporaryDirectory() as folder:
        begin = time.process_time()
        chappe.sweep(scenario, AXES, seeds=SEEDS, out=folder, jobs=1)
        study = time.process_time() - begin
        begin = time.process_time()
        chappe.sweep(scenario, AXES, seeds=SEEDS, out=folder, jobs=1)
        again = time.process_time() - begin
    per_run = 1e3 / len(items)
    print(f"CPU time of {len(items)} runs alone: {alone * per_run:.3f} ms a run")
    print(f"as a study: {study * per_run:.3f} ms a run, of which {(study - alone) * per_run:.3f} ms beside the runs")
    print(f"again, with nothing missing: {again * per_run:.3f} ms a run")
    if (study - alone) * per_run > LIMIT_MS:
        print(f"The limit beside a run is {LIMIT_MS} ms")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
