"""Cost of reception by SINR compared with pairwise reception, per MAC frame on the air: instructions, user CPU time.

Nodes at random places of one density, each with datagrams for its nearest neighbor, over one hop without routing. The
noise is such that a frame is heard and detected as far as with ns-2's radio, 550 m and 245 m instead of 250 m, so that
both visit the same nodes. Instructions are counted by callgrind at two lengths, whose difference leaves out reading and
setting up. For the CPU time all kinds are run in turn, round after round, each less a run of no length: the ratio is
the median of the ratios within a round, so that a machine that is busy for a while disturbs both sides of it.

Exit status 1: reception by SINR costs more instructions, or more CPU time, than the target.
"""

import sys
import tempfile
from pathlib import Path
from statistics import median

from compare import timed
from gate import fail
from motion import per_frame, scenario
from runs import PROGRAM, frames

NODES = 120
SECONDS, NO_LENGTH = 60.0, 1e-6
ROUNDS = 9
TARGET = 3.0
SINR = 'reception = "sinr", sinr = {{ noise_figure = "32.5 dB", energy_detection = "{}"{} }}'
KINDS = {
    "pairwise": "",
    "sinr": SINR.format("-62 dBm", ""),
    "sinr, all is sensed": SINR.format("-78 dBm", ""),
    "sinr, fading": SINR.format("-78 dBm", ', fading = "rayleigh"'),
}


def cpu_per_frame(file: Path) -> float:
    """User CPU time per frame, of one run [ns]."""

    def run(seconds: float) -> tuple[str, float]:
        return timed([str(PROGRAM), str(file), "1", f"run.stop={seconds} s"])

    (printed, whole), (_, start) = run(SECONDS), run(NO_LENGTH)
    return (whole - start) / frames(printed) * 1e9


def main() -> int:
    """Runs the bench."""
    if not PROGRAM.exists():
        fail("the program to measure is missing: cargo build --release --locked --example run")
    with tempfile.TemporaryDirectory() as folder:
        files = {kind: Path(folder) / f"{number}.toml" for number, kind in enumerate(KINDS)}
        for kind, file in files.items():
            file.write_text(scenario(NODES, moving=False)[0] + f"radio = {{ {KINDS[kind]} }}\n")
        counts = {kind: per_frame(file) for kind, file in files.items()}
        rounds = [{kind: cpu_per_frame(file) for kind, file in files.items()} for _ in range(ROUNDS)]
    print(f"{'reception':22}{'instructions':>14}{'ratio':>7}{'CPU ns':>9}{'ratio':>7}")
    worst = [0.0, 0.0]
    for kind, counted in counts.items():
        ratios = counted / counts["pairwise"], median(times[kind] / times["pairwise"] for times in rounds)
        worst = [max(pair) for pair in zip(worst, ratios, strict=True)]
        cpu = median(times[kind] for times in rounds)
        print(f"{kind:22}{counted:>14,.0f}{ratios[0]:>7.2f}{cpu:>9,.0f}{ratios[1]:>7.2f}")
    print()
    for what, ratio in zip(("as many instructions", "the CPU time"), worst, strict=True):
        said = "yes" if ratio <= TARGET else "no"
        print(f"Reception by SINR costs at most {TARGET:g} times {what}: {said}, {ratio:.2f}")
    return 0 if max(worst) <= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
