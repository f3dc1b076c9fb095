"""What a run needs of memory."""

import subprocess
import sys

import pytest
from command import PATIENCE_S, environment

MEASURE = """
import resource, sys
import chappe
from chappe.results import TABLES

def peak():
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit

before = peak()
results = chappe.run(chappe.Scenario.chain(7, {changes}, stop="1000 s", extends="ns2-2.35"))
for name in TABLES:
    getattr(results, name)
results.summary()
assert results.simulated_s == 1000 and results.frames > 100_000
print(peak() - before)
"""


@pytest.mark.parametrize("variant", ["newreno", "vegas"])
@pytest.mark.parametrize("rate", ["2 Mbit/s", "11 Mbit/s"])
def test_a_run_needs_less_than_40_mib(variant: str, rate: str) -> None:
    """From ``import chappe`` to the tables of 7 hops over 1000 simulated seconds."""
    changes = {"tcp.variant": variant, "wlan.data_rate": rate}
    done = subprocess.run(
        [sys.executable, "-c", MEASURE.replace("{changes}", repr(changes))],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.stderr == ""
    assert int(done.stdout) < 40 * 2**20
