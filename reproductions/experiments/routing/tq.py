"""Routes of batman-adv beside those of ``routing.metric = "tq"``, in static networks with steady losses.

``python reproductions/experiments/routing/tq.py`` prints how many routes have the same next hop, and how many have it
in two runs of batman-adv that differ by their random numbers only.
"""

from typing import Any

import chappe
import polars as pl
from chappe.stats import Estimate

SEEDS = range(1, 11)
STOP_S = 200
NODES = 16

Settings = dict[str, Any]


def network(seed: int) -> Settings:
    """16 nodes at random places, whose frames are lost by Rayleigh fading; a datagram from each node to each other.

    Args:
        seed: Seed of the places.
    """
    return {
        "extends": "802.11a",
        "topology": {"kind": "random", "nodes": NODES, "width": "300 m", "height": "300 m", "seed": seed},
        "radio": {
            "propagation": "log_distance",
            "log_distance": {"exponent": 3.0, "loss": "47 dB"},
            "reception": "sinr",
            "sinr": {"fading": "rayleigh"},
        },
        "wlan": {"data_rate": "6 Mbit/s"},
        "flow": [
            {
                "src": a,
                "dst": b,
                "app": "cbr",
                "start": f"{STOP_S - 1} s",
                "cbr": {"interval": "2 s", "payload": "10 B"},
            }
            for a in range(NODES)
            for b in range(NODES)
            if a != b
        ],
    }


def routes(seed: int, routing: Settings, run: int = 1) -> dict[tuple[int, int], tuple[int, int]]:
    """Last next hop and number of hops, by node and destination.

    Args:
        seed: Seed of the places.
        routing: Settings of routing.
        run: Seed of the run.
    """
    about_run = {"stop": f"{STOP_S} s", "batches": 1, "warmup_batches": 0, "seed": run, "record": ["routes"]}
    results = chappe.run(chappe.Scenario({**network(seed), "routing": routing, "run": about_run}))
    known = results.recorded["routes"].filter(pl.col("event").cast(pl.String) != "removed")
    last = known.group_by("node", "dst").agg(pl.last("next_hop"), pl.last("hops"))
    return {(node, dst): (via, hops) for node, dst, via, hops in last.iter_rows()}


def main() -> None:
    """Prints the comparison."""
    rows = []
    for seed in SEEDS:
        best = routes(seed, {"protocol": "shortest_path", "metric": "tq"})
        one, other = (routes(seed, {"protocol": "batman_adv"}, run) for run in (1, 2))
        assert one.keys() == other.keys() == best.keys()
        pairs = ((best, one), (one, other))
        same = [100 * sum(a[ends][0] == b[ends][0] for ends in a) / len(a) for a, b in pairs]
        rows.append([*same, *(sum(hops for _, hops in table.values()) / len(table) for table in (best, one))])
        print(f"seed {seed}: {same[0]:.0f} % as by the metric, {same[1]:.0f} % in both runs")
    names = ("the same next hop as by the metric [%]", "in both runs [%]", "hops by the metric", "hops of batman-adv")
    for name, values in zip(names, zip(*rows, strict=True), strict=True):
        estimate = Estimate.of(list(values))
        print(f"{name}: {estimate.mean:.2f} ± {estimate.half_width():.2f}")


if __name__ == "__main__":
    main()
