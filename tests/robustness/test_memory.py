"""Memory of a run."""

import subprocess
import sys
from pathlib import Path

import pytest
from command import PATIENCE_S, environment

LIMIT = 40 * 2**20

PEAK = """
import re, resource
from pathlib import Path
import chappe
import chappe.results.results
from chappe.results.storage.columns import TABLES

def peak():
    status = Path("/proc/self/status")
    if status.exists():
        # The value of getrusage on Linux begins with the peak of the process that started this one.
        return int(re.search(r"VmHWM:\\s+(\\d+) kB", status.read_text())[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
"""

MEASURE = (
    PEAK
    + """
before = peak()
results = chappe.run(chappe.Scenario.chain(7, {changes}, stop="1000 s", extends="ns2-2.35"))
for name in TABLES:
    getattr(results, name)
results.summary()
ballast = bytes(range(256)) * ({ballast} // 256)
assert results.simulated_s == 1000 and results.frames_sent > 100_000
print(peak() - before)
"""
)

RECORD = (
    PEAK
    + """
scenario = chappe.Scenario.chain(7, {"run.record": ["frames", "packets"]}, stop="{seconds} s", extends="ns2-2.35")
chappe.run(scenario, out={out})
print(peak())
"""
)


def growth(changes: dict[str, str], ballast: int = 0) -> int:
    """Growth of peak memory from ``import chappe`` to the tables [B]."""
    return printed(MEASURE.replace("{changes}", repr(changes)).replace("{ballast}", str(ballast)))


def printed(script: str) -> int:
    """Number printed by a separate program."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.stderr == ""
    return int(done.stdout)


@pytest.mark.parametrize("variant", ["newreno", "vegas"])
@pytest.mark.parametrize("rate", ["2 Mbit/s", "11 Mbit/s"])
def test_a_run_needs_less_than_40_mib(variant: str, rate: str) -> None:
    assert growth({"tcp.variant": variant, "wlan.data_rate": rate}) < LIMIT


def test_higher_memory_use_is_detected() -> None:
    assert growth({}, ballast=LIMIT) >= LIMIT


def test_streamed_rows_need_no_memory(tmp_path: Path) -> None:
    """Eight times the rows need more memory if kept, and hardly any if written during the run.

    The shorter run has filled the writer's buffers, which are all that grows with rows that are written.
    """

    def more(out: str | None) -> int:
        short, long = (
            printed(RECORD.replace("{seconds}", str(seconds)).replace("{out}", repr(out))) for seconds in (400, 3200)
        )
        return long - short

    kept, streamed = more(None), more(str(tmp_path))
    assert kept > LIMIT, "the rows are too few to tell"
    assert streamed < kept / 4
