"""Memory of a study of 100,000 tiny runs: runs wait for the store, and do not pile up.

python benches/studies/many_runs.py [RUNS]

Exit status 1: it needs more than the check of a study counts, without the share that is the same for every study.
"""

import re
import resource
import sys
import tempfile
import time
from pathlib import Path

import chappe
from chappe.study.design.axes import RUN_B

RUNS = 100_000
BASE_B = 250e6
"""Memory of a study without its tables: packages, and runs that wait to be written."""


def peak() -> int:
    """The most memory that this process has had [B]."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.findall(r"VmHWM:\s+(\d+) kB", status.read_text())[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> int:
    """Makes the runs, and compares the peak of memory with what is counted."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    scenario = chappe.Scenario.chain(1, {"run.batches": 2, "run.warmup_batches": 0}, stop="2 delivered")
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        study = chappe.sweep(scenario, seeds=runs, out=folder)
        rows = len(study.runs)
        study.summary()
    took = time.perf_counter() - begin
    found, allowed = peak(), BASE_B + RUN_B * rows
    print(f"{rows:,} runs: {took:.0f} s, {1e3 * took / rows:.1f} ms a run, peak {found / 1e6:.0f} MB")
    if found > allowed:
        print(f"The limit is {allowed / 1e6:.0f} MB: {BASE_B / 1e6:.0f} MB, and {RUN_B / 1e3:g} kB a run")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
