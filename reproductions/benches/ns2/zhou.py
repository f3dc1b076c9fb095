"""Times ours against ns-2 on wires: user CPU time of five TCP connections over a lossy link, in turn.

The runs are those of Zhou et al. 2004 (``zhou.tcl``), with and without Snoop. Both must deliver as
much. What a run of no length takes is left out. With Snoop ns-2 has LANs, which write traces.

Exit status 1: a run misses the target, or the deliveries disagree.
"""

import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Protocol

from compare import DEFAULT, TARGET, TUNINGS, timed, welch
from runs import HERE as BENCHES
from runs import NO_LENGTH, program, wanted_seeds

HERE = Path(__file__).resolve().parent
SCENARIO = BENCHES.parent / "scenarios" / "zhou2004.toml"
SECONDS = 100
TOLERANCE = 0.03
# Over wires ns-2 is as fast as ours.
WIRES_TARGET = 1.0
SNOOP = 'middlebox=[{kind = "snoop", node = 7, snoop = {free_slots = 0}}]'


def ns_command(script: str, case: Iterable[object], tuning: str) -> list[str]:
    """The command that runs a script of this folder with ns-2."""
    return ["ns", str(HERE / script), *map(str, case), *TUNINGS[tuning]]


class Timed(Protocol):
    """A run that both can make, of its own length or of another one [s]."""

    def ours(self, seed: int, seconds: float | None = None) -> list[str]:
        """The command that runs it with ours."""
        ...

    def theirs(self, seed: int, tuning: str, seconds: float | None = None) -> list[str]:
        """The command that runs it with ns-2."""
        ...


@dataclass(frozen=True)
class Run:
    """One of the runs: five flows for 100 s."""

    variant: str
    loss: float
    snoop: bool = False

    def __str__(self) -> str:
        return f"{self.variant}{', Snoop' if self.snoop else ''}, {100 * self.loss:g} %"

    def ours(self, seed: int, seconds: float | None = None) -> list[str]:
        """The command that runs it with ours."""
        stop = f"run.stop={seconds or SECONDS} s"
        settings = [f"tcp.variant={self.variant}", f"wired_link.7.error.rate={self.loss}", stop]
        return [program(), str(SCENARIO), str(seed), *settings, *([SNOOP] if self.snoop else [])]

    def theirs(self, seed: int, tuning: str, seconds: float | None = None) -> list[str]:
        """The command that runs it with ns-2."""
        case = (self.variant.title(), "snoop" if self.snoop else "wires", self.loss, seed, seconds or SECONDS)
        return ns_command("zhou.tcl", case, tuning)


RUNS = [
    Run("newreno", 0.0),
    Run("newreno", 0.01),
    Run("newreno", 0.1),
    Run("newreno", 0.01, snoop=True),
    Run("vegas", 0.01),
]


def delivered(printed: str) -> int:
    """Segments of all flows, from what either prints."""
    words = printed.split()
    if words[:1] == ["frames"]:
        return int(words[3])
    return sum(int(n) for line in printed.splitlines() if line.startswith("acked ") for n in line.split()[1:])


def net(command: list[str], before: list[str]) -> tuple[str, float]:
    """Output of a command, and its user CPU time without that of another one [s]."""
    printed, cpu = timed(command)
    return printed, cpu - timed(before)[1]


def apart(ours: list[int], theirs: list[int]) -> tuple[float, bool]:
    """Difference of deliveries as a part of theirs, and whether neither chance nor the tolerance explains it."""
    constant = len({*ours}) == 1 and len({*theirs}) == 1
    difference = mean(ours) / mean(theirs) - 1
    return difference, abs(difference) > max(TOLERANCE, 0.0 if constant else welch(ours, theirs)[1])


def compare(run: Timed, seeds: range, target: float) -> list[str]:
    """Measures one run with both, prints its lines, and returns what is wrong with it."""
    ours_cpu, ours_segments, theirs_segments = [], [], []
    theirs_cpu: dict[str, list[float]] = {tuning: [] for tuning in TUNINGS}
    for seed in seeds:
        printed, cpu = net(run.ours(seed), run.ours(seed, NO_LENGTH))
        ours_cpu.append(cpu)
        ours_segments.append(delivered(printed))
        for tuning, cpus in theirs_cpu.items():
            printed, cpu = net(run.theirs(seed, tuning), run.theirs(seed, tuning, NO_LENGTH))
            cpus.append(cpu)
        theirs_segments.append(delivered(printed))
    print(f"{run!s:24}{'ours':24}{median(ours_cpu):10.3f}")
    ratios = {}
    for tuning, cpus in theirs_cpu.items():
        ratios[tuning] = median(b / a for a, b in zip(ours_cpu, cpus, strict=True))
        print(f"{'':24}{tuning:24}{median(cpus):10.3f}{ratios[tuning]:10.2f}")
    difference, is_wrong = apart(ours_segments, theirs_segments)
    means = f"{mean(ours_segments):.0f} and {mean(theirs_segments):.0f}"
    print(f"{'':24}segments delivered: {means}, difference {difference:+.1%}", flush=True)
    wrong = []
    if ratios[DEFAULT] < target:
        wrong.append(f"{run}: ns / ours is {ratios[DEFAULT]:.2f} a run, the target is {target:.0f}")
    if is_wrong:
        wrong.append(f"{run}: deliveries differ by {difference:+.1%}")
    return wrong


def main(about: str, runs: Sequence[Timed], target: float = TARGET) -> int:
    """Runs a comparison."""
    seeds = wanted_seeds(about.splitlines()[0])
    print(f"User CPU time of a run without its start, one thread, medians over seeds 1 to {len(seeds)}\n")
    if shutil.which("ns") is None:
        print("`ns` is not installed (Debian: apt install ns2): ours only, nothing is compared\n")
        for run in runs:
            print(f"{run!s:24}{median(timed(run.ours(seed))[1] for seed in seeds):10.3f}")
        return 0
    print(f"{'run':24}{'':24}{'s a run':>10}{'ns/ours':>10}")
    wrong = [line for run in runs for line in compare(run, seeds, target)]
    print("\n" + "\n".join(wrong or [f"ns / ours is at least {target:.0f} in every run, and the deliveries agree"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(__doc__ or "", RUNS, WIRES_TARGET))
