"""The four runs of the benches: NewReno and Vegas on the 7-hop chain at 2 and 11 Mbit/s, and how ours are started."""

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
NO_LENGTH = 1e-6
"""Length of a run that only starts [s]."""
PROGRAM = HERE.parent / "target" / "release" / "examples" / "run"


def program() -> str:
    """The program that is timed."""
    if not PROGRAM.exists():
        sys.exit("the program to measure is missing: cargo build --release --locked --example run")
    return str(PROGRAM)


@dataclass(frozen=True)
class Run:
    """One of the runs."""

    variant: str
    mbps: int
    settings: tuple[str, ...] = ()
    """More settings, as arguments of the program."""

    def __str__(self) -> str:
        return f"{self.variant} {self.mbps} Mbit/s"

    def command(self, seed: int, seconds: float) -> list[str]:
        """The command that runs it with ours."""
        variant = [] if self.settings else [f"tcp.variant={self.variant}"]
        settings = [*variant, *self.settings, f"wlan.data_rate={self.mbps} Mbit/s", f"run.stop={seconds} s"]
        return [program(), str(HERE / "chain.toml"), str(seed), *settings]


RUNS = [Run(variant, mbps) for variant in ("newreno", "vegas") for mbps in (2, 11)]

_OF_LINUX = (
    "tcp.congestion_control=cubic",
    "tcp.loss_recovery=rack_tlp",
    "tcp.rto.estimator=linux",
    "tcp.timestamps=true",
    "tcp.initial_window=10",
    "tcp.small_queue=auto",
    "tcp.local_drop=cwr",
)
LINUX = [Run("cubic of Linux", mbps, _OF_LINUX) for mbps in (2, 11)]
"""Flows of CUBIC with the loss recovery of Linux on the same chain."""


def frames(printed: str) -> int:
    """The number of MAC frames on the air, from what ours prints."""
    found = re.match(r"frames (\d+) ", printed)
    if found is None:
        sys.exit(f"not what the program prints: {printed!r}")
    return int(found[1])


def wanted_seeds(description: str) -> range:
    """The seeds that the command line asks for."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help="runs of each kind, with seeds 1 to N")
    seeds = range(1, parser.parse_args().seeds + 1)
    if len(seeds) < 2:
        parser.error("at least 2 seeds are needed to tell a difference from chance")
    return seeds
