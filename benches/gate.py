"""Compares the instructions that a frame costs with the recorded baseline; counted by callgrind, so nothing is timed.

Each run is made at two lengths, whose difference leaves out reading the scenario and setting up. A flow of Linux's
CUBIC is compared with one of NewReno.

Exit status 1: a run costs more than the tolerance allows, or CUBIC more than its limit. Exit status 2: it
could not be measured.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
from typing import NoReturn

from runs import HERE, LINUX, RUNS, Run, frames

BASELINE = HERE / "baseline.json"
SEED = 1
SHORT, LONG = 20, 60
TOLERANCE = 0.03
LIMIT = 0.15
"""Limit of the instructions of a frame of Linux's CUBIC above those of a frame of NewReno, as a share."""


def fail(message: str) -> NoReturn:
    """Ends without a verdict."""
    print(message, file=sys.stderr)
    sys.exit(2)


def instructions(command: list[str]) -> tuple[int, str]:
    """Instructions of a command, and what it prints."""
    callgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    done = subprocess.run([*callgrind, *command], capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or found is None:
        fail(f"callgrind did not count:\n{done.stderr}")
    return int(found[1]), done.stdout


def counted(run: Run, seconds: int) -> tuple[int, int]:
    """Instructions and frames of a run of this length."""
    number, printed = instructions(run.command(SEED, seconds))
    return number, frames(printed)


def per_frame(run: Run) -> float:
    """Instructions per frame."""
    (few, short), (many, long) = counted(run, SHORT), counted(run, LONG)
    return (many - few) / (long - short)


def main() -> int:
    """Runs the gate."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--record", action="store_true", help="write the baseline instead of comparing with it")
    record = parser.parse_args().record
    if shutil.which("valgrind") is None:
        fail("`valgrind` is not installed: instructions cannot be counted")
    if not record and not BASELINE.exists():
        fail("there is no baseline yet: write one with --record")
    rustc = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    now = {str(run): round(per_frame(run), 1) for run in RUNS}
    if record:
        BASELINE.write_text(json.dumps({"rustc": rustc, "instructions_per_frame": now}, indent=2) + "\n")
    baseline = json.loads(BASELINE.read_text())
    print(f"Instructions per MAC frame on the air\n\n{'run':18}{'baseline':>10}{'now':>10}{'change':>9}")
    changes = {run: n / baseline["instructions_per_frame"][run] - 1 for run, n in now.items()}
    for run, n in now.items():
        print(f"{run:18}{baseline['instructions_per_frame'][run]:10.1f}{n:10.1f}{changes[run]:+9.1%}")
    print(f"\n{'run':24}{'now':>10}{'above NewReno':>16}")
    above = {}
    for run in LINUX:
        cost = per_frame(run)
        above[run] = cost / now[f"newreno {run.mbps} Mbit/s"] - 1
        print(f"{run!s:24}{cost:10.1f}{above[run]:+16.1%}")
    print()
    if any(more > LIMIT for more in above.values()):
        print(f"CUBIC costs more than {LIMIT:.0%} above NewReno.")
        return 1
    if rustc != baseline["rustc"]:
        print(f"The baseline was recorded with {baseline['rustc']}, this is {rustc}: a change may be the compiler's.")
    if any(change > TOLERANCE for change in changes.values()):
        print(f"More than {TOLERANCE:.0%} above the baseline.")
        return 1
    if any(change < -TOLERANCE for change in changes.values()):
        print(f"More than {TOLERANCE:.0%} below the baseline: record the gain with --record, to keep it.")
    else:
        print(f"Within {TOLERANCE:.0%} of the baseline.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
