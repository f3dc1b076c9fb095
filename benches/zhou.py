"""Times ours against ns-2 on wires: user CPU time of five TCP connections over a lossy link, in turn.

The runs are those of Zhou et al. 2004 (``benches/zhou.tcl``), with and without Snoop. Both must deliver as
much.

Exit status 1: a run misses the target, or the deliveries disagree.
"""

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Protocol

from compare import TARGET, timed, welch
from runs import HERE, program, wanted_seeds

SCENARIO = HERE.parent / "scenarios" / "zhou2004.toml"
SECONDS = 100
TOLERANCE = 0.03
SNOOP = 'middlebox=[{kind = "snoop", node = 7, snoop = {free_slots = 0}}]'
# Packet headers and scheduler, as in compare.py: ns-2 as it comes counts, the other is the fastest.
TUNINGS = {"ns": ("all", "Calendar"), "ns, few headers, list": ("few", "List")}
DEFAULT = "ns"


class Timed(Protocol):
    """A run that both can make."""

    def ours(self, seed: int, /) -> list[str]:
        """The command that runs it with ours."""
        ...

    def theirs(self, seed: int, tuning: str, /) -> list[str]:
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

    def ours(self, seed: int) -> list[str]:
        """The command that runs it with ours."""
        settings = [f"tcp.variant={self.variant}", f"wired_link.7.error.rate={self.loss}", f"run.stop={SECONDS} s"]
        return [program(), str(SCENARIO), str(seed), *settings, *([SNOOP] if self.snoop else [])]

    def theirs(self, seed: int, tuning: str) -> list[str]:
        """The command that runs it with ns-2."""
        case = (self.variant.title(), "snoop" if self.snoop else "none", str(self.loss), str(seed), str(SECONDS))
        return ["ns", str(HERE / "zhou.tcl"), *case, *TUNINGS[tuning]]


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


def compare(run: Timed, seeds: range) -> list[str]:
    """Measures one run with both, prints its lines, and returns what is wrong with it."""
    ours_cpu, ours_segments, theirs_segments = [], [], []
    theirs_cpu: dict[str, list[float]] = {tuning: [] for tuning in TUNINGS}
    for seed in seeds:
        printed, cpu = timed(run.ours(seed))
        ours_cpu.append(cpu)
        ours_segments.append(delivered(printed))
        for tuning, cpus in theirs_cpu.items():
            printed, cpu = timed(run.theirs(seed, tuning))
            cpus.append(cpu)
        theirs_segments.append(delivered(printed))
    print(f"{run!s:24}{'ours':24}{median(ours_cpu):10.3f}")
    ratios = {}
    for tuning, cpus in theirs_cpu.items():
        ratios[tuning] = median(b / a for a, b in zip(ours_cpu, cpus, strict=True))
        print(f"{'':24}{tuning:24}{median(cpus):10.3f}{ratios[tuning]:10.2f}")
    constant = len({*ours_segments}) == 1 and len({*theirs_segments}) == 1
    difference = mean(ours_segments) / mean(theirs_segments) - 1
    half = 0.0 if constant else welch(ours_segments, theirs_segments)[1]
    means = f"{mean(ours_segments):.0f} and {mean(theirs_segments):.0f}"
    print(f"{'':24}segments delivered: {means}, difference {difference:+.1%} +- {half:.1%}", flush=True)
    wrong = []
    if ratios[DEFAULT] < TARGET:
        wrong.append(f"{run}: ns / ours is {ratios[DEFAULT]:.2f} a run, the target is {TARGET:.0f}")
    if abs(difference) > max(TOLERANCE, half):
        wrong.append(f"{run}: deliveries differ by {difference:+.1%} +- {half:.1%}")
    return wrong


def main(about: str, runs: Sequence[Timed], seconds: int) -> int:
    """Runs a comparison."""
    seeds = wanted_seeds(about.splitlines()[0])
    print(f"User CPU time of {seconds} simulated seconds, one thread, medians over seeds 1 to {len(seeds)}\n")
    if shutil.which("ns") is None:
        print("`ns` is not installed (Debian: apt install ns2): ours only, nothing is compared\n")
        for run in runs:
            print(f"{run!s:24}{median(timed(run.ours(seed))[1] for seed in seeds):10.3f}")
        return 0
    print(f"{'run':24}{'':24}{'s a run':>10}{'ns/ours':>10}")
    wrong = [line for run in runs for line in compare(run, seeds)]
    print("\n" + "\n".join(wrong or [f"ns / ours is at least {TARGET:.0f} in every run, and the deliveries agree"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(__doc__ or "", RUNS, SECONDS))
