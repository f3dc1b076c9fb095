"""Runs of stock ns-2.35 on the network of Zhou et al. 2004 without losses, whose flows begin at drawn times.

``python reproductions/experiments/ns2/zhou.py`` needs the command ``ns`` (Debian package ns2) and prints lines for
``reference.csv`` of the paper. In the recorded runs flows begin exactly 0.1 s apart, so packets of two flows meet at
the same instant, and an accident of the program decides which goes first. ``reproductions/benches/ns2/zhou.tcl``
reproduces the recorded runs to the segment when it is given their seeds.
"""

import csv
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from chappe_papers.zhou2004.validate import STARTS

SCRIPT = Path(__file__).parents[2] / "benches" / "ns2" / "zhou.tcl"
FLOWS = 5


def acked(mechanism: str, starts: list[str]) -> list[str]:
    """The last segment of each flow that is acknowledged after 100 s."""
    case = ("Newreno", mechanism, "0", "1", "100", "few", "List", "-", "-", " ".join(starts))
    command = ["ns", str(SCRIPT), *case]
    printed = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
    word, *found = printed.split()
    assert word == "acked"
    return found


def begun(case: tuple[str, int]) -> list[str]:
    """A row: flows begin up to 20 ms later than in the recorded runs."""
    mechanism, seed = case
    draw = random.Random(seed)
    starts = [f"{0.1 * i + draw.uniform(0, 0.02):.6f}" for i in range(FLOWS)]
    return [STARTS, "newreno", mechanism, "0", "ns2", *starts, *acked(mechanism, starts)]


def main() -> None:
    """Runs everything, two runs at a time."""
    with ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(begun, [(m, seed) for m in ("none", "snoop", "both") for seed in range(1, 9)]))
    starts, delivered = (
        [f"{name}_{i}{unit}" for i in range(FLOWS)] for name, unit in (("start", "_s"), ("delivered", ""))
    )
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["source", "variant", "mechanism", "per_percent", "reading", *starts, *delivered])
    out.writerows(rows)


if __name__ == "__main__":
    main()
