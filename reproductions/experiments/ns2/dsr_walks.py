"""Stock ns-2.35 on walks of its own, for the comparison of DSR: four Vegas flows and datagrams between 18 nodes.

``python reproductions/experiments/ns2/dsr_walks.py`` needs the command ``ns`` and writes ``ns2_vegas.csv`` of the
comparison from ``vegas1.mv`` to ``vegas3.mv``, which ``chappe export mobility`` wrote: ``random_waypoint`` in 1200 m x
400 m at 2 to 12 m/s with pauses of 3 s, seeds 1 to 3.
"""

import csv
import re
import subprocess
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import fmean

import chappe_papers.validation.dsr

HERE = Path(__file__).parent
DATA = Path(chappe_papers.validation.dsr.__file__).parent
WALKS = ("vegas1", "vegas2", "vegas3")
SEEDS = range(1, 41)
FLOWS = 5
KINDS = {"tcp": "data", "cbr": "data", "ack": "ack"}
REASONS = {
    ("IFQ", "IFQ"): "queue_full",
    ("RTR", "IFQ"): "route_buffer_full",
    ("RTR", "CBK"): "link_failure",
    ("RTR", "NRTE"): "no_route",
    ("RTR", "TOUT"): "route_timeout",
    ("IFQ", "ARP"): "arp_failure",
    ("RTR", "LOOP"): "routing_loop",
    ("RTR", "TTL"): "ttl",
}
"""Layer and reason of a line of ns-2 for a drop."""


def run(walk: str, seed: int) -> dict[str, int | float | str]:
    """A row of the table."""
    command = ["ns", str(HERE / "dsr_walks.tcl"), str(DATA / f"{walk}.mv"), str(seed)]
    trace = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    found: Counter[str] = Counter()
    sent: dict[str, float] = {}
    delays: dict[int, list[float]] = defaultdict(list)
    for line in trace.splitlines():
        if line.startswith("RESULT "):
            flow, *numbers = line.split()[1:]
            names = (f"flow{flow}_{name}" for name in ("acked", "retransmissions", "timeouts"))
            found |= Counter(dict(zip(names, map(int, numbers), strict=True)))
            continue
        if not re.match("[srfD] ", line):
            continue
        act, at, _, layer, reason, packet, kind = line.split()[:7]
        if kind == "DSR" and layer == "RTR" and act in "sf":
            found["routing_sent" if act == "s" else "routing_forwarded"] += 1
        if (of := KINDS.get(kind)) is None:
            continue
        if layer == "AGT" and act == "s":
            sent[packet] = float(at)
            found[f"{of}_created"] += 1
        elif layer == "AGT" and act == "r":
            found[f"{of}_delivered"] += 1
            if of == "data":
                delays[_source(line)].append(float(at) - sent[packet])
        elif act == "D":
            found[f"{of}_{REASONS.get((layer, reason), 'other')}"] += 1
    own: dict[str, int] = {}
    for of in ("data", "ack"):
        own |= {f"{of}_{name}": found[f"{of}_{name}"] for name in ("created", "delivered", *REASONS.values(), "other")}
    own |= {name: found[name] for name in ("routing_sent", "routing_forwarded")}
    for flow in range(FLOWS - 1):
        own |= {name: found[name] for name in (f"flow{flow}_{n}" for n in ("acked", "retransmissions", "timeouts"))}
    row: dict[str, int | float | str] = {"walk": walk, "seed": seed, **own}
    for flow in range(FLOWS):
        row[f"flow{flow}_received"] = len(delays[flow])
        row[f"flow{flow}_mean_delay_s"] = round(fmean(delays[flow]), 6) if delays[flow] else ""
    return row


def _source(line: str) -> int:
    """The flow of a packet: each comes from the node of its number."""
    found = re.search(r"------- \[(\d+):", line)
    if found is None:
        raise RuntimeError(f"no addresses in {line}")
    return int(found[1])


def main() -> None:
    """Runs everything, two runs at a time."""
    with ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(lambda task: run(*task), [(walk, seed) for walk in WALKS for seed in SEEDS]))
    with (DATA / "ns2_vegas.csv").open("w", encoding="utf-8", newline="") as f:
        out = csv.DictWriter(f, list(rows[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


if __name__ == "__main__":
    main()
