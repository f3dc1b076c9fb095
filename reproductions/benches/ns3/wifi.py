"""Measures 802.11n: instructions per A-MPDU and per MPDU, and CPU time compared with ns-3, if it is installed.

The runs are those of wifi.toml, and of wifi.cc for ns-3: a saturated link, ten saturated stations
around a receiver, and TCP over three hops, with A-MPDUs as long as HT20 allows at MCS 7. Saturated stations must send
as many MPDUs with both. Those of TCP depend on its acknowledgements: times are compared per MPDU.

Exit status 1: a run is less than 20 times as fast as ns-3, or saturated stations send another number of MPDUs.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from compare import timed
from gate import instructions
from runs import program, wanted_seeds

HERE = Path(__file__).resolve().parent

SECONDS = 60
SHORT = 10
TARGET = 20.0
MPDUS_TOLERANCE = 0.1
MODULES = ("ns3-wifi", "ns3-applications", "ns3-internet", "ns3-mobility")


@dataclass(frozen=True)
class Wifi:
    """A run: saturated stations around a receiver, or TCP over a chain."""

    kind: str
    number: int

    def __str__(self) -> str:
        if self.kind == "chain":
            return f"TCP over {self.number} hops"
        return "saturated link" if self.number == 1 else f"{self.number} saturated stations"

    def command(self, seed: int, seconds: int) -> list[str]:
        """The command that runs it with ours."""
        settings = [f"run.stop={seconds} s"]
        if self.kind == "chain":
            flows = [{"src": 0, "dst": self.number}]
            there = [{"node": i, "dst": self.number, "next_hop": i + 1} for i in range(self.number)]
            back = [{"node": i + 1, "dst": 0, "next_hop": i} for i in range(self.number)]
            settings += [f"topology.hops={self.number}", "topology.spacing=10 m", "routing.protocol=fixed"]
            settings.append(f"routing.fixed.routes={inline(there + back)}")
        else:
            flows = [{"src": i, "dst": self.number, "app": "cbr"} for i in range(self.number)]
            settings += [f"topology.hops={self.number}", "topology.spacing=2 m"]
            settings += [f"cbr.interval={180 * self.number} us"]
        return [program(), str(HERE / "wifi.toml"), str(seed), *settings, f"flow={inline(flows)}"]

    def reference(self, ns3: Path, seed: int, seconds: int) -> list[str]:
        """The command that runs it with ns-3."""
        return [str(ns3), self.kind, str(self.number), str(seconds), str(seed)]


def inline(tables: Iterable[dict[str, Any]]) -> str:
    """A list of tables of TOML in a line."""
    return "[" + ", ".join("{" + ", ".join(f"{k} = {json.dumps(v)}" for k, v in t.items()) + "}" for t in tables) + "]"


RUNS = (Wifi("stations", 1), Wifi("stations", 10), Wifi("chain", 3))


def counts(printed: str) -> tuple[int, int]:
    """A-MPDUs and MPDUs of data that were sent, from what either program prints."""
    found = re.search(r"aggregates (\d+) mpdus (\d+)", printed)
    if found is None:
        sys.exit(f"not what the program prints: {printed!r}")
    return int(found[1]), int(found[2])


def compiled(folder: Path) -> Path | None:
    """The program for ns-3; ``None`` without ns-3 or a compiler."""
    if shutil.which("g++") is None or shutil.which("pkg-config") is None:
        return None
    found = subprocess.run(["pkg-config", "--libs-only-l", *MODULES], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        return None
    ns3 = folder / "wifi"
    subprocess.run(["g++", "-O2", "-o", str(ns3), str(HERE / "wifi.cc"), *found.stdout.split()], check=True)
    return ns3


def count_instructions() -> None:
    """Prints the instructions per A-MPDU and per MPDU of each run."""
    if shutil.which("valgrind") is None:
        print("`valgrind` is not installed: instructions are not counted.\n")
        return
    print(f"{'run':24}{'instructions per A-MPDU':>26}{'per MPDU':>12}")
    for run in RUNS:
        (few, short), (many, long) = (instructions(run.command(1, seconds)) for seconds in (SHORT, 2 * SHORT))
        aggregates, mpdus = (b - a for a, b in zip(counts(short), counts(long), strict=True))
        print(f"{run!s:24}{(many - few) / aggregates:26,.0f}{(many - few) / mpdus:12,.0f}")
    print()


def compare(ns3: Path, seeds: range) -> bool:
    """Prints the CPU times of both for each run. Returns true if one misses the target."""
    print(f"{'run':24}{'ours [s]':>10}{'ns-3 [s]':>10}{'ratio':>8}{'MPDUs':>9}")
    fails = False
    for run in RUNS:
        own, other, ratios = [], [], []
        for seed in seeds:
            printed, took = timed(run.command(seed, SECONDS))
            theirs, took_theirs = timed(run.reference(ns3, seed, SECONDS))
            own.append(took)
            other.append(took_theirs)
            ratios.append(counts(printed)[1] / counts(theirs)[1])
        alike = median(ratios)
        faster = median(other) / median(own) * alike
        fails |= faster < TARGET or (run.kind == "stations" and abs(alike - 1) > MPDUS_TOLERANCE)
        print(f"{run!s:24}{median(own):10.3f}{median(other):10.3f}{faster:7.1f}x{alike - 1:+9.1%}")
    return fails


def main() -> int:
    """Runs the bench."""
    seeds = wanted_seeds((__doc__ or "").splitlines()[0])
    count_instructions()
    with tempfile.TemporaryDirectory() as folder:
        ns3 = compiled(Path(folder))
        if ns3 is None:
            print("ns-3 is not installed (libns3-dev, g++): CPU times are not compared.")
            return 0
        return int(compare(ns3, seeds))


if __name__ == "__main__":
    sys.exit(main())
