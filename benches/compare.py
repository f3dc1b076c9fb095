"""Times ours against ns-2: user CPU time per MAC frame on the air, for the same runs, in turn.

A faster engine that simulates less is not faster, so the frames per simulated second must agree as well. The frames of
ns-2 are counted in one more run of the same seed with its MAC trace on, which is not timed.

The target is for ns-2 as it comes, with all traces off. Two things make it faster that a script can ask for and few
do: packets with only the headers that are needed, which ns-2 otherwise clears all for each copy, and the list
scheduler, the best of its five for so few nodes. They are measured as well, and count for nothing.

Exit status 1: a run misses the target, or the frames disagree.
"""

import math
import os
import shutil
import subprocess
import sys
import tempfile
from statistics import mean, median, variance

from runs import HERE, RUNS, Run, frames, wanted_seeds

SECONDS = 1000
TARGET = 10.0
FRAMES_TOLERANCE = 0.03
# Packet headers and scheduler; the first is ns-2 as it comes, the last the fastest.
TUNINGS = {
    "ns": ("all", "Calendar"),
    "ns, few headers": ("few", "Calendar"),
    "ns, list too": ("few", "List"),
}
DEFAULT, FASTEST = "ns", "ns, list too"


def measured(command: list[str]) -> tuple[str, float, int]:
    """Output of a command, its user CPU time [s], and its peak memory [KiB]."""
    with tempfile.TemporaryFile("w+") as printed:
        child = subprocess.Popen(command, stdout=printed, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f"exit status {child.returncode}: {' '.join(command)}")
        printed.seek(0)
        return printed.read(), usage.ru_utime, usage.ru_maxrss


def timed(command: list[str]) -> tuple[str, float]:
    """Output of a command, and its user CPU time [s]."""
    return measured(command)[:2]


def ns_command(run: Run, seed: int, tuning: str) -> list[str]:
    """The command that runs it with ns-2."""
    script = str(HERE / "chain.tcl")
    return ["ns", script, run.variant.title(), f"{run.mbps}Mb", str(seed), str(SECONDS), *TUNINGS[tuning]]


def traced_frames(command: list[str], delivered: str) -> int:
    """Counts the frames that ns-2 sends, with its MAC trace on; it must deliver the same bytes as the timed run."""
    reading, writing = os.pipe()
    with subprocess.Popen(
        [*command, f"/dev/fd/{writing}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        pass_fds=[writing],
    ) as child:
        os.close(writing)
        with open(reading, "rb", buffering=1 << 20) as trace:
            count = sum(line.startswith(b"s ") and line.split(maxsplit=4)[3] == b"MAC" for line in trace)
        assert child.stdout is not None
        printed = child.stdout.read()
    if child.returncode != 0 or delivered_line(printed) != delivered:
        sys.exit(f"ns-2 with its MAC trace on does not do the same: {' '.join(command)}")
    return count


def delivered_line(printed: str) -> str:
    """The line with the bytes delivered among what ns-2 prints."""
    return next((line for line in printed.splitlines() if line.startswith("delivered ")), "")


def t_quantile(p: float, df: float) -> float:
    """Quantile of Student's t distribution for p > 0.5: Simpson's rule for its integral, and bisection."""
    scale = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)

    def below(x: float, steps: int = 2000) -> float:
        density = [math.pow(1 + (x * i / steps) ** 2 / df, -(df + 1) / 2) for i in range(steps + 1)]
        weighted = density[0] + 4 * sum(density[1::2]) + 2 * sum(density[2:-1:2]) + density[-1]
        return 0.5 + scale * weighted * x / steps / 3

    low, high = 0.0, 100.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < p else (low, middle)
    return low


def welch(a: list[int], b: list[int]) -> tuple[float, float]:
    """Difference of the means, and the half-width of its 95 % Welch interval, as parts of the mean of `b`."""
    va, vb = variance(a) / len(a), variance(b) / len(b)
    df = (va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
    half = t_quantile(0.975, df) * math.sqrt(va + vb)
    return (mean(a) - mean(b)) / mean(b), half / mean(b)


def ours_only(seeds: range) -> None:
    """Measures ours where there is no ns-2."""
    print("`ns` is not installed (Debian: apt install ns2): ours only, nothing is compared\n")
    print(f"{'run':18}{'s a run':>10}{'us a frame':>12}")
    for run in RUNS:
        results = [timed(run.command(seed, SECONDS)) for seed in seeds]
        per_frame = median(cpu / frames(printed) for printed, cpu in results)
        print(f"{run!s:18}{median(cpu for _, cpu in results):10.3f}{per_frame * 1e6:12.3f}")


def compare(run: Run, seeds: range) -> list[str]:
    """Measures one run with both, prints its lines, and returns what is wrong with it."""
    ours_cpu, ours_frames, theirs_frames = [], [], []
    theirs_cpu: dict[str, list[float]] = {tuning: [] for tuning in TUNINGS}
    for seed in seeds:
        printed, cpu = timed(run.command(seed, SECONDS))
        ours_cpu.append(cpu)
        ours_frames.append(frames(printed))
        for tuning in TUNINGS:
            printed, cpu = timed(ns_command(run, seed, tuning))
            theirs_cpu[tuning].append(cpu)
        theirs_frames.append(traced_frames(ns_command(run, seed, FASTEST), delivered_line(printed)))
    ours_each = [cpu / n for cpu, n in zip(ours_cpu, ours_frames, strict=True)]
    print(f"{run!s:18}{'ours':16}{median(ours_cpu):10.3f}{median(ours_each) * 1e6:12.3f}")
    ratios = {}
    for tuning, cpus in theirs_cpu.items():
        each = [cpu / n for cpu, n in zip(cpus, theirs_frames, strict=True)]
        ratios[tuning] = median(b / a for a, b in zip(ours_each, each, strict=True))
        per_run = median(b / a for a, b in zip(ours_cpu, cpus, strict=True))
        own = f"{median(cpus):10.3f}{median(each) * 1e6:12.3f}"
        print(f"{'':18}{tuning:16}{own}{per_run:14.2f}{ratios[tuning]:10.2f}")
    difference, half = welch(ours_frames, theirs_frames)
    means = f"{mean(ours_frames) / SECONDS:.1f} and {mean(theirs_frames) / SECONDS:.1f}"
    print(f"{'':18}frames a simulated second: {means}, difference {difference:+.1%} +- {half:.1%}", flush=True)
    wrong = []
    if ratios[DEFAULT] < TARGET:
        wrong.append(f"{run}: ns / ours is {ratios[DEFAULT]:.2f} a frame, the target is {TARGET:.0f}")
    if abs(difference) > max(FRAMES_TOLERANCE, half):
        wrong.append(f"{run}: frames a simulated second differ by {difference:+.1%} +- {half:.1%}")
    return wrong


def main() -> int:
    """Runs the comparison."""
    seeds = wanted_seeds((__doc__ or "").splitlines()[0])
    print(f"User CPU time of {SECONDS} simulated seconds, one thread, medians over seeds 1 to {len(seeds)}\n")
    if shutil.which("ns") is None:
        ours_only(seeds)
        return 0
    print(f"{'run':18}{'':16}{'s a run':>10}{'us a frame':>12}{'ns/ours a run':>14}{'a frame':>10}")
    wrong = [line for run in RUNS for line in compare(run, seeds)]
    print("\n" + "\n".join(wrong or [f"ns / ours is at least {TARGET:.0f} a frame in every run, and the frames agree"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
