"""Cost of motion: instructions per MAC frame on the air of a network that moves, compared with the same at rest.

Nodes at random places of one density, each with datagrams for its nearest neighbor, over one hop without routing.
Where they move, all walk at 10 m/s from the same places. Instructions are counted by callgrind at two lengths, whose
difference leaves out reading and setting up, so nothing is timed.

Exit status 1: a moving network costs more than the target.
"""

import random
import sys
import tempfile
from pathlib import Path

from gate import fail, instructions
from runs import PROGRAM, frames
from scale import DECODED, DENSITY, SENSED, pairs_within

NODES = (1_000, 10_000)
LENGTHS = (0.5, 1.5)  # seconds
INTERVAL = 0.05  # seconds between the datagrams of a node
TARGET = 2.0
MOTION = (
    'mobility = {{ model = "random_waypoint", min_speed = "10 m/s", max_speed = "10 m/s", initial = "topology", {} }}'
)


def scenario(nodes: int, moving: bool) -> tuple[str, float]:
    """The scenario, and how many sense a frame, in the mean."""
    rng = random.Random(f"{nodes} nodes")
    side = (nodes / DENSITY) ** 0.5
    places = [(round(rng.uniform(0, side), 1), round(rng.uniform(0, side), 1)) for _ in range(nodes)]
    near = pairs_within(places, DECODED)
    nearest = {
        i: min(own, key=lambda j: (places[i][0] - places[j][0]) ** 2 + (places[i][1] - places[j][1]) ** 2)
        for i, own in enumerate(near)
        if own
    }
    flows = ", ".join(
        f'{{ src = {i}, dst = {j}, app = "cbr", start = "{rng.uniform(0, INTERVAL):.6f} s" }}'
        for i, j in nearest.items()
    )
    routes = ", ".join(f"{{ node = {i}, dst = {j}, next_hop = {j} }}" for i, j in nearest.items())
    positions = ", ".join(f'["{x} m", "{y} m"]' for x, y in places)
    text = f"""run = {{ stop = "1 s", batches = 1, warmup_batches = 0, max_nodes = {nodes} }}
routing = {{ protocol = "fixed", fixed.routes = [{routes}] }}
cbr.interval = "{INTERVAL} s"
topology = {{ kind = "list", positions = [{positions}] }}
flow = [{flows}]
{MOTION.format(f'width = "{side:.1f} m", height = "{side:.1f} m"') if moving else ""}
"""
    return text, sum(map(len, pairs_within(places, SENSED))) / nodes


def per_frame(file: Path) -> float:
    """Instructions per frame."""
    counts = []
    for seconds in LENGTHS:
        counted, printed = instructions([str(PROGRAM), str(file), "1", f"run.stop={seconds} s"])
        counts.append((counted, frames(printed)))
    (few, short), (many, long) = counts
    return (many - few) / (long - short)


def main() -> int:
    """Runs the bench."""
    if not PROGRAM.exists():
        fail("the program to measure is missing: cargo build --release --locked --example run")
    print(f"{'nodes':>7}{'receivers':>11}{'still':>9}{'moving':>9}{'ratio':>7}")
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for nodes in NODES:
            found = []
            for moving in (False, True):
                file = Path(folder) / "scenario.toml"
                text, receivers = scenario(nodes, moving)
                file.write_text(text)
                found.append(per_frame(file))
            ratio = found[1] / found[0]
            worst = max(worst, ratio)
            print(f"{nodes:>7,}{receivers:>11.1f}{found[0]:>9,.0f}{found[1]:>9,.0f}{ratio:>7.2f}", flush=True)
    met = worst <= TARGET
    said = f"a moving network costs at most {TARGET:g} times a still one: {'yes' if met else 'no'}"
    print(f"\nInstructions per frame; {said}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
