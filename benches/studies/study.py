"""Overhead of a study over its runs: 1,000 runs of some tenths of a millisecond, one after the other.

python benches/studies/study.py

Exit status 1: a study takes too much CPU time in addition to that of its runs.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial

import chappe
from chappe.study.design.axes import Item, grid
from chappe.study.execution.threads import execute

AXES = {"topology.hops": [1, 2, 3, 4, 5], "tcp.receive_window": [1, 2, 4, 8]}
SEEDS = range(1, 51)
LIMIT_MS = 0.75
"""Limit of the CPU time that a study takes per run, in addition to the run itself."""


TIMES = 5
"""Number of rounds: from one round to the next, the CPU time of a run changes by a tenth, a study's own by half."""


def main() -> int:
    """Takes the CPU times of the runs alone, a study of them, and the same study when nothing is missing, in turn."""
    scenario = chappe.Scenario.chain(2, stop="220 delivered", extends="ns2-2.35")
    items = [Item(point, seed) for point in grid(scenario, AXES) for seed in SEEDS]

    def alone() -> None:
        for item in items:
            execute(item)

    def taken(work: Callable[[], object]) -> float:
        begin = time.process_time()
        work()
        return 1e3 * (time.process_time() - begin) / len(items)

    rounds = []
    for _ in range(TIMES):
        with tempfile.TemporaryDirectory() as folder:
            study = partial(chappe.sweep, scenario, AXES, seeds=SEEDS, out=folder, jobs=1)
            rounds.append((taken(alone), taken(study), taken(study)))
    differences = sorted(study - runs for runs, study, _ in rounds)
    runs, study, again = (statistics.median(times) for times in zip(*rounds, strict=True))
    own = statistics.median(differences)
    missed = own > LIMIT_MS
    print(f"CPU time of {len(items)} runs alone: {runs:.2f} ms per run, the median of {TIMES} rounds")
    print(
        f"as a study: {study:.2f} ms per run; the differences of the rounds have the median {own:.2f} "
        f"({differences[0]:.2f} to {differences[-1]:.2f}) ms, limit {LIMIT_MS} ms: {'missed' if missed else 'met'}"
    )
    print(f"again, with nothing missing: {again:.2f} ms per run")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
