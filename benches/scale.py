"""Speed on random topologies of one density: against ns-2, and from 120 to 100,000 nodes.

First 120 nodes with 10 flows, one second apart, and 1,000 nodes with 80 flows, 0.1 s apart, ours and ns-2 in turn: user
CPU time per MAC frame on the air, and whether both put as many frames on the air per simulated second. ns-2 is as it
comes, with the headers of everything that it knows (``benches/yardstick.py`` has its faster ways, too). The topologies
are files: the two of the paper's reproduction, and `random1000_nodes.csv` and `random1000_flows.csv` beside this file.

Then ours alone, from 120 nodes on, tenfold each time. Flows go over short distances and requests over few hops, so
that what happens around a node is the same however large the network is, and the cost per frame should be as well.

Reading the scenario and setting up are measured in a run of no length and left out, of ns-2, too.

Exit status 1: a target is missed, or the frames disagree.
"""

import argparse
import csv
import math
import random
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

from compare import FRAMES_TOLERANCE, delivered_line, measured, timed, traced_frames, welch
from runs import HERE, NO_LENGTH, PROGRAM, frames

DENSITY = 48e-6  # nodes per square meter
DECODED, SENSED = 249.0, 549.0  # meters, a little less than the ranges of ns-2's radio
NEAR = (500.0, 1400.0)  # meters
FEW_HOPS = 10
GROWTH = 1.3
MEMORY = 1 << 20  # KiB
PAPER = HERE.parent / "reproductions" / "chappe_papers" / "elrakabawy2005"

Place = tuple[float, float]


def pairs_within(places: list[Place], reach: float) -> list[list[int]]:
    """For each place those within this distance."""
    cells: dict[tuple[int, int], list[int]] = {}
    for i, (x, y) in enumerate(places):
        cells.setdefault((int(x // reach), int(y // reach)), []).append(i)
    found: list[list[int]] = []
    for i, (x, y) in enumerate(places):
        cx, cy = int(x // reach), int(y // reach)
        around = (j for dx in (-1, 0, 1) for dy in (-1, 0, 1) for j in cells.get((cx + dx, cy + dy), ()))
        found.append([j for j in around if j != i and math.dist(places[i], places[j]) < reach])
    return found


def components(neighbors: list[list[int]]) -> list[int]:
    """For each node one that stands for all it can reach."""
    of = [-1] * len(neighbors)
    for start in range(len(of)):
        waiting = [start] if of[start] < 0 else []
        of[start] = start if of[start] < 0 else of[start]
        while waiting:
            for j in neighbors[waiting.pop()]:
                if of[j] < 0:
                    of[j] = start
                    waiting.append(j)
    return of


@dataclass(frozen=True)
class Layout:
    """Nodes at random places, and flows between them: source, destination, start."""

    places: list[Place]
    flows: list[tuple[int, int, float]]

    @staticmethod
    def read(topology: Path, spacing: float) -> "Layout":
        """The layout in ``..._nodes.csv`` and ``..._flows.csv``; flows start ``spacing`` seconds apart."""

        def rows(what: str) -> list[dict[str, str]]:
            with topology.with_name(f"{topology.name}_{what}.csv").open(encoding="utf-8", newline="") as f:
                return list(csv.DictReader(f))

        places = [(float(n["x_m"]), float(n["y_m"])) for n in rows("nodes")]
        flows = [(int(f["src"]), int(f["dst"]), round(1 + spacing * i, 6)) for i, f in enumerate(rows("flows"))]
        return Layout(places, flows)

    @staticmethod
    def draw(nodes: int, flows: int, spacing: float) -> "Layout":
        """A layout with flows over short distances; the same one at each call."""
        rng = random.Random(f"{nodes} nodes")
        height = math.sqrt(nodes / DENSITY / 2.5)
        places = [(round(rng.uniform(0, 2.5 * height), 1), round(rng.uniform(0, height), 1)) for _ in range(nodes)]
        part = components(pairs_within(places, DECODED))
        chosen: list[tuple[int, int, float]] = []
        while len(chosen) < flows:
            a = rng.randrange(nodes)
            # Try the other end where it may be instead of anywhere.
            angle, far = rng.uniform(0, 2 * math.pi), rng.uniform(*NEAR)
            x, y = places[a][0] + far * math.cos(angle), places[a][1] + far * math.sin(angle)
            b = min(rng.sample(range(nodes), min(nodes, 2000)), key=lambda j: math.dist(places[j], (x, y)))
            if a != b and part[a] == part[b] and NEAR[0] <= math.dist(places[a], places[b]) <= NEAR[1]:
                chosen.append((a, b, round(1 + spacing * len(chosen), 6)))
        return Layout(places, chosen)

    def receivers(self) -> float:
        """Mean number of nodes that sense a frame."""
        return mean(len(near) for near in pairs_within(self.places, SENSED))

    def scenario(self, settings: str) -> str:
        """As a scenario of Chappe."""
        places = ", ".join(f'["{x} m", "{y} m"]' for x, y in self.places)
        flows = ", ".join(f'{{ src = {a}, dst = {b}, start = "{at} s" }}' for a, b, at in self.flows)
        return f"""extends = "ns2-2.35"
run = {{ stop = "1 s", batches = 2, max_nodes = {len(self.places)} }}
wlan = {{ data_rate = "11 Mbit/s", basic_rate = "1 Mbit/s", rts_threshold = "always" }}
tcp = {{ variant = "newreno", receive_window = 64, initial_window = 1, mss = "1460 B" }}
topology = {{ kind = "list", positions = [{places}] }}
flow = [{flows}]
{settings}
"""

    def write(self, folder: Path, settings: str = "") -> None:
        """Writes the files that ours and ns-2 read."""
        (folder / "scenario.toml").write_text(self.scenario(settings))
        (folder / "places").write_text("".join(f"{x} {y}\n" for x, y in self.places))
        (folder / "flows").write_text("".join(f"{a} {b} {at}\n" for a, b, at in self.flows))


def ours(folder: Path, seed: int, seconds: float, routing: str = "aodv") -> list[str]:
    """The command that runs a layout with ours."""
    settings = ["routing.protocol=dsr", "queue.discipline=cmu_priority"] if routing == "dsr" else []
    return [str(PROGRAM), str(folder / "scenario.toml"), str(seed), f"run.stop={seconds} s", *settings]


def theirs(
    folder: Path,
    seed: int,
    seconds: float,
    headers: str = "all",
    scheduler: str = "Calendar",
    routing: str = "aodv",
) -> list[str]:
    """The command that runs it with ns-2, by default as it comes."""
    files = [str(folder / "places"), str(folder / "flows")]
    return ["ns", str(HERE / "scale.tcl"), *files, str(seed), str(seconds), headers, scheduler, routing.upper()]


def compare(folder: Path, topology: Path, spacing: float, seconds: int, target: float, seeds: range) -> list[str]:
    """Measures one topology with both, prints its lines, and returns what is wrong with it."""
    Layout.read(topology, spacing).write(folder)
    name = topology.name
    our_each, their_each, our_frames, ns_frames = [], [], [], []
    for seed in seeds:
        _, before = timed(ours(folder, seed, NO_LENGTH))
        printed, cpu = timed(ours(folder, seed, seconds))
        our_frames.append(frames(printed))
        our_each.append((cpu - before) / our_frames[-1])
        _, before = timed(theirs(folder, seed, NO_LENGTH))
        printed, cpu = timed(theirs(folder, seed, seconds))
        ns_frames.append(traced_frames(theirs(folder, seed, seconds), delivered_line(printed)))
        their_each.append((cpu - before) / ns_frames[-1])
    ratio = median(b / a for a, b in zip(our_each, their_each, strict=True))
    difference, half = welch(our_frames, ns_frames)
    print(f"{name:>12}{median(our_each) * 1e6:10.3f}{median(their_each) * 1e6:10.2f}{ratio:10.1f}", end="")
    print(
        f"{mean(our_frames) / seconds:14.0f}{mean(ns_frames) / seconds:10.0f}{difference:+10.1%} +- {half:.1%}",
        flush=True,
    )
    wrong = []
    if ratio < target:
        wrong.append(f"{name}: ns / ours is {ratio:.1f} a frame, the target is {target:.0f}")
    if abs(difference) > max(FRAMES_TOLERANCE, half):
        wrong.append(f"{name}: frames a simulated second differ by {difference:+.1%} +- {half:.1%}")
    return wrong


def curve(folder: Path, sizes: list[int]) -> list[str]:
    """Measures ours at these sizes, prints a line for each, and returns what is wrong."""
    each: dict[int, float] = {}
    wrong = []
    for nodes in sizes:
        flows = max(10, nodes * 8 // 100)
        layout = Layout.draw(nodes, flows, 8 / flows)
        layout.write(folder, f"routing.aodv.net_diameter = {FEW_HOPS}")
        seconds = 4 if nodes > 10_000 else 10
        _, before, _ = measured(ours(folder, 1, NO_LENGTH))
        printed, cpu, memory = measured(ours(folder, 1, seconds))
        each[nodes] = (cpu - before) / frames(printed)
        per_receiver = each[nodes] / layout.receivers()
        print(f"{nodes:9,}{each[nodes] * 1e6:10.3f}{per_receiver * 1e9:14.1f}", end="")
        print(f"{memory / 1024:12.0f}{frames(printed) / seconds / nodes:16.1f}", flush=True)
        if memory > MEMORY:
            wrong.append(f"{nodes:,} nodes take {memory / 1024:.0f} MiB, the limit is {MEMORY / 1024:.0f}")
    if {1000, 10_000} <= each.keys() and each[10_000] > GROWTH * each[1000]:
        wrong.append(f"a frame costs {each[10_000] / each[1000]:.2f} x as much among 10,000 nodes as among 1,000")
    return wrong


def main() -> int:
    """Runs the bench."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="runs against ns-2, with seeds 1 to N")
    parser.add_argument("--most", type=int, default=100_000, metavar="NODES", help="size of the largest network")
    args = parser.parse_args()
    if args.seeds < 2:
        parser.error("at least 2 seeds are needed to tell a difference from chance")
    if not PROGRAM.exists():
        sys.exit("the program to measure is missing: cargo build --release --locked --example run")
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if shutil.which("ns") is None:
            print("`ns` is not installed (Debian: apt install ns2): nothing is compared\n")
        else:
            print("User CPU time of a MAC frame [us], frames per simulated second\n")
            print(
                f"{'topology':>12}{'ours':>10}{'ns':>10}{'ns/ours':>10}{'frames: ours':>14}{'ns':>10}{'difference':>18}"
            )
            seeds = range(1, args.seeds + 1)
            wrong += compare(folder, PAPER / "random120_1", 1.0, 40, 40.0, seeds)
            wrong += compare(folder, PAPER / "random120_2", 1.0, 40, 40.0, seeds)
            wrong += compare(folder, HERE / "random1000", 0.1, 10, 120.0, seeds)
            print()
        print("Ours at one density, with short flows\n")
        print(f"{'nodes':>9}{'us/frame':>10}{'ns/receiver':>14}{'peak MiB':>12}{'frames/s node':>16}")
        wrong += curve(folder, [n for n in (120, 1000, 10_000, 100_000) if n <= args.most])
    print("\n" + "\n".join(wrong or ["All targets are met"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
