"""What reception by SINR costs beside pairwise reception, per MAC frame on the air: instructions, and user CPU time.

Nodes at random places of one density, each with datagrams for its nearest neighbour, over one hop without routing. The
noise is such that a frame is heard and detected as far as with ns-2's radio, 550 m and 245 m instead of 250 m, so that
both visit the same nodes. Instructions are counted by callgrind at two lengths, whose difference leaves out reading and
setting up; the CPU time is the median of several runs, less that of one of no length.

Exit status 1: reception by SINR costs more instructions than the target.
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
SECONDS, NO_LENGTH = 20.0, 1e-6
RUNS = 5
TARGET = 3.0
SINR = 'reception = "sinr", sinr = {{ noise_figure = "32.5 dB", energy_detection = "{}"{} }}'
KINDS = {
    "pairwise": "",
    "sinr": SINR.format("-62 dBm", ""),
    "sinr, all is sensed": SINR.format("-78 dBm", ""),
    "sinr, fading": SINR.format("-78 dBm", ', fading = "rayleigh"'),
}


def cpu_per_frame(file: Path) -> float:
    """User CPU time per frame [ns]."""

    def run(seconds: float) -> tuple[str, float]:
        return timed([str(PROGRAM), str(file), "1", f"run.stop={seconds} s"])

    printed, _ = run(SECONDS)
    whole, start = (median(run(seconds)[1] for _ in range(RUNS)) for seconds in (SECONDS, NO_LENGTH))
    return (whole - start) / frames(printed) * 1e9


def main() -> int:
    """Runs the bench."""
    if not PROGRAM.exists():
        fail("the program to measure is missing: cargo build --release --locked --example run")
    print(f"{'reception':22}{'instructions':>14}{'ratio':>7}{'CPU ns':>9}{'ratio':>7}")
    first: tuple[float, float] | None = None
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scenario.toml"
        for kind, radio in KINDS.items():
            file.write_text(scenario(NODES, moving=False)[0] + f"radio = {{ {radio} }}\n")
            counted, cpu = per_frame(file), cpu_per_frame(file)
            first = first or (counted, cpu)
            ratios = counted / first[0], cpu / first[1]
            worst = max(worst, ratios[0])
            print(f"{kind:22}{counted:>14,.0f}{ratios[0]:>7.2f}{cpu:>9,.0f}{ratios[1]:>7.2f}", flush=True)
    met = worst <= TARGET
    print(f"\nReception by SINR costs at most {TARGET:g} times as many instructions: {'yes' if met else 'no'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
