"""OLSR beside that of ns-3.37: overhead, convergence and routes over a chain, over a grid, and between walkers.

``python reproductions/experiments/techniques/olsr.py`` compiles ``reproductions/benches/ns3/olsr.cc`` (needs libns3-dev
and g++), makes the runs with both, and writes ``reproductions/docs/validation-olsr.md``; ten minutes of CPU time.
"""

import random
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import chappe
from chappe.stats import Estimate

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "reproductions" / "docs" / "validation-olsr.md"
SOURCE = ROOT / "reproductions" / "benches" / "ns3" / "olsr.cc"
MODULES = ("ns3-olsr", "ns3-wifi", "ns3-internet", "ns3-mobility")
SEEDS = range(1, 11)

RANGE_M = 250.0
SIDE_M = 1000.0
HEADERS = 20 + 8 + 4
"""Headers of a packet: IP, UDP, and that of OLSR [B]."""
STEADY_S = 30.0
"""Begin of the time in which overhead and routes of walkers are measured [s]."""

SLOWER = {"hello_interval": "2.25 s", "tc_interval": "5.25 s"}
"""Intervals whose means are those of ns-3, where messages are never early."""

Table = dict[int, tuple[int, int]]
"""Next hop and hops, by destination."""


class Case(NamedTuple):
    """Nodes and their motion.

    Attributes:
        name: Name on the page.
        places: Positions of the nodes [m]; at the start, if they walk.
        seconds: Length of a run [s].
        speed: Largest speed of walkers [m/s]; 0: nodes stand.
    """

    name: str
    places: list[tuple[float, float]]
    seconds: int
    speed: float = 0.0


class Run(NamedTuple):
    """What a run has shown.

    Attributes:
        sent: Time [s] and size with IP header [B] of each packet.
        changes: Time [s], node, and its routes from then on.
    """

    sent: list[tuple[float, int]]
    changes: list[tuple[float, int, Table]]


CASES = (
    Case("chain of 8 nodes", [(200.0 * i, 0.0) for i in range(8)], 90),
    Case("grid of 5 x 5 nodes", [(200.0 * (i % 5), 200.0 * (i // 5)) for i in range(25)], 90),
    Case("20 walkers, 2 m/s", [], 180, 2.0),
    Case("20 walkers, 10 m/s", [], 180, 10.0),
)


class Walk(NamedTuple):
    """A straight way of a walker from an instant on, with its speed [s, m, m/s]."""

    at: float
    x: float
    y: float
    to_x: float
    to_y: float
    speed: float

    def place(self, now: float) -> tuple[float, float]:
        """Position at an instant of the way."""
        dx, dy = self.to_x - self.x, self.to_y - self.y
        share = min(1.0, self.speed * (now - self.at) / max((dx * dx + dy * dy) ** 0.5, 1e-9))
        return self.x + share * dx, self.y + share * dy


def walks(case: Case, seed: int) -> list[list[Walk]]:
    """Ways of each walker from random point to random point, without pauses."""
    rng = random.Random(seed)
    all_ways = []
    for _ in range(20):
        now, x, y = 0.0, rng.uniform(0, SIDE_M), rng.uniform(0, SIDE_M)
        ways: list[Walk] = []
        while now < case.seconds:
            to_x, to_y = rng.uniform(0, SIDE_M), rng.uniform(0, SIDE_M)
            speed = rng.uniform(case.speed / 2, case.speed)
            ways.append(Walk(now, x, y, to_x, to_y, speed))
            now += ((to_x - x) ** 2 + (to_y - y) ** 2) ** 0.5 / speed
            x, y = to_x, to_y
        all_ways.append(ways)
    return all_ways


def movement(ways: Sequence[Sequence[Walk]]) -> str:
    """Movement file of ns-2."""
    lines = []
    for node, of_node in enumerate(ways):
        lines += [f"$node_({node}) set X_ {of_node[0].x:.4f}", f"$node_({node}) set Y_ {of_node[0].y:.4f}"]
        lines.append(f"$node_({node}) set Z_ 0.0")
        way = '$ns_ at {:.4f} "$node_({}) setdest {:.4f} {:.4f} {:.4f}"'
        lines += [way.format(max(w.at, 0.001), node, w.to_x, w.to_y, w.speed) for w in of_node]
    return "\n".join(lines) + "\n"


def by_chappe(case: Case, file: Path | None, seed: int, olsr: Mapping[str, Any]) -> Run:
    """A run of Chappe without flows."""
    settings: dict[str, Any] = {
        "run": {"stop": f"{case.seconds} s", "batches": 1, "warmup_batches": 0, "record": ["packets", "routes"]},
        "radio": {"propagation": "range", "range": f"{RANGE_M} m", "sense_range": f"{RANGE_M} m"},
        "wlan": {"data_rate": "2 Mbit/s", "basic_rate": "1 Mbit/s"},
        "routing": {"protocol": "olsr", "olsr": dict(olsr)},
        "flow": [],
    }
    if file is None:
        settings["topology"] = {"kind": "list", "positions": [[f"{x} m", f"{y} m"] for x, y in case.places]}
    else:
        settings |= {"topology": {"kind": "motion"}, "mobility": {"model": "file", "file": str(file)}}
    results = chappe.run(settings, seed=seed)
    packets = results.recorded["packets"].filter(event="created", packet_type="olsr")
    sent = list(zip(packets["time_s"], packets["bytes"], strict=True))
    tables: dict[int, Table] = {}
    changes = []
    for row in results.recorded["routes"].iter_rows(named=True):
        table = dict(tables.get(row["node"], {}))
        if row["event"] == "removed":
            del table[row["dst"]]
        else:
            table[row["dst"]] = (row["next_hop"], row["hops"])
        tables[row["node"]] = table
        changes.append((row["time_s"], row["node"], table))
    return Run(sent, changes)


def by_ns3(program: Path, places: Path, nodes: int, seconds: int, seed: int) -> Run:
    """A run of ns-3."""
    command = [str(program), str(places), str(nodes), str(seconds), str(seed)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    sent, changes = [], []
    for line in printed.splitlines():
        kind, at, node, *rest = line.split()
        if kind == "sent":
            sent.append((float(at), int(rest[0])))
        else:
            entries = (tuple(map(int, entry.split(":"))) for entry in rest)
            changes.append((float(at), int(node), {to: (via, hops) for to, via, hops in entries}))
    return Run(sent, changes)


def states(run: Run, seconds: int) -> Iterator[tuple[float, dict[int, Table]]]:
    """Routes of all nodes, ten times a second."""
    tables: dict[int, Table] = {}
    changes = iter(sorted(run.changes, key=lambda change: change[0]))
    change = next(changes, None)
    for tenth in range(1, 10 * seconds):
        while change is not None and change[0] <= tenth / 10 + 1e-9:
            tables[change[1]] = change[2]
            change = next(changes, None)
        yield tenth / 10, tables


def shortest(places: Sequence[tuple[float, float]]) -> list[dict[int, int]]:
    """Hops between all nodes, as far as they are connected."""

    def near(a: int, b: int) -> bool:
        (ax, ay), (bx, by) = places[a], places[b]
        return a != b and (ax - bx) ** 2 + (ay - by) ** 2 <= RANGE_M**2

    count = len(places)
    neighbors = [[b for b in range(count) if near(a, b)] for a in range(count)]
    every = []
    for start in range(count):
        hops, border = {start: 0}, [start]
        while border:
            fresh = {b for a in border for b in neighbors[a] if b not in hops}
            hops |= dict.fromkeys(fresh, hops[border[0]] + 1)
            border = sorted(fresh)
        every.append(hops)
    return every


def follows(tables: Mapping[int, Table], hops: Sequence[Mapping[int, int]], a: int, b: int) -> int | None:
    """Hops of a packet that is sent now; ``None``: it does not arrive."""
    at, made = a, 0
    while at != b:
        route = tables.get(at, {}).get(b)
        if route is None or hops[at].get(route[0]) != 1 or made > len(hops):
            return None
        at, made = route[0], made + 1
    return made


class Shown(NamedTuple):
    """Measures of a run.

    Attributes:
        bytes_per_s: Bytes of a node with the headers of packets [B/s].
        message_bytes_per_s: The same without these headers, of IP, UDP and OLSR [B/s].
        packets_per_s: Packets of a node [1/s].
        converged_s: When all nodes had shortest routes to all others for the first time [s]; for walkers ``None``.
        arrive: Share of connected pairs between which a packet would arrive, after the beginning.
        stretch: Hops of these packets, divided by the fewest.
    """

    bytes_per_s: float
    message_bytes_per_s: float
    packets_per_s: float
    converged_s: float | None
    arrive: float
    stretch: float


def measured(case: Case, ways: Sequence[Sequence[Walk]], run: Run) -> Shown:
    """Measures of a run."""
    nodes = len(case.places) or len(ways)
    time = case.seconds - STEADY_S
    steady = [size for at, size in run.sent if at >= STEADY_S]
    static = shortest(case.places) if case.places else []
    converged, connected, arrived, made, fewest = None, 0, 0, 0, 0
    for now, tables in states(run, case.seconds):
        looks = now >= STEADY_S and round(now * 10) % 10 == 0
        if not looks and (not static or converged is not None):
            continue
        hops = static or shortest([next(w for w in reversed(of) if w.at <= now).place(now) for of in ways])
        pairs = [(a, b) for a in range(nodes) for b in hops[a] if a != b]
        if static and converged is None and all(follows(tables, hops, a, b) == hops[a][b] for a, b in pairs):
            converged = now
        if looks:
            found = [(follows(tables, hops, a, b), hops[a][b]) for a, b in pairs]
            connected += len(found)
            arrived += sum(there is not None for there, _ in found)
            made += sum(there for there, _ in found if there is not None)
            fewest += sum(least for there, least in found if there is not None)
    rate, packets = sum(steady) / time / nodes, len(steady) / time / nodes
    return Shown(rate, rate - HEADERS * packets, packets, converged, arrived / connected, made / fewest)


def compiled(folder: Path) -> Path:
    """The program for ns-3."""
    libraries = subprocess.run(["pkg-config", "--libs-only-l", *MODULES], capture_output=True, text=True, check=True)
    program = folder / "olsr"
    subprocess.run(["g++", "-O2", "-o", str(program), str(SOURCE), *libraries.stdout.split()], check=True)
    return program


def spread(values: Sequence[float], digits: int) -> str:
    """A mean and half of its interval of 95 %."""
    estimate = Estimate.of(values)
    return f"{estimate.mean:.{digits}f} ± {estimate.half_width():.{digits}f}"


def rows() -> Iterator[list[str]]:
    """Rows of the page's table."""
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(Path(folder))
        for case in CASES:
            found: dict[str, list[Shown]] = {"Chappe": [], "Chappe, intervals of ns-3": [], "ns-3.37": []}
            for seed in SEEDS:
                ways = [] if case.places else walks(case, seed)
                file = Path(folder) / ("ways.tcl" if ways else "places")
                file.write_text(movement(ways) if ways else "".join(f"{x} {y}\n" for x, y in case.places))
                of_walkers = file if ways else None
                nodes = len(case.places) or len(ways)
                runs = (
                    by_chappe(case, of_walkers, seed, {}),
                    by_chappe(case, of_walkers, seed, SLOWER),
                    by_ns3(program, file, nodes, case.seconds, seed),
                )
                for name, run in zip(found, runs, strict=True):
                    found[name].append(measured(case, ways, run))
            for name, shown in found.items():
                row = [case.name, name, spread([s.bytes_per_s for s in shown], 1)]
                row.append(spread([s.message_bytes_per_s for s in shown], 1))
                row.append(spread([s.packets_per_s for s in shown], 2))
                times = [s.converged_s for s in shown if s.converged_s is not None]
                row.append(spread(times, 1) if len(times) == len(shown) else f"in {len(times)} runs" if times else "")
                row.append(spread([100 * s.arrive for s in shown], 1))
                row.append(spread([s.stretch for s in shown], 3))
                print(row, flush=True)
                yield row


HEAD = (
    "| nodes | simulator | B/s of a node | B/s without headers | packets/s of a node | all routes known after [s] | "
    "pairs whose packets would arrive [%] | hops / fewest |"
)


def main() -> None:
    """Makes the runs and writes the table into the page."""
    table = "\n".join([HEAD, "|---" * 8 + "|", *(f"| {' | '.join(row)} |" for row in rows())])
    begin, end = "<!-- table -->\n", "<!-- end of the table -->"
    before, rest = PAGE.read_text().split(begin)
    PAGE.write_text(f"{before}{begin}{table}\n{end}{rest.split(end)[1]}")


if __name__ == "__main__":
    main()
