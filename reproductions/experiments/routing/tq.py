"""Routes of batman-adv beside those of ``routing.metric = "tq"``, in static networks with steady losses.

``python reproductions/experiments/routing/tq.py`` prints for each seed the pairs of nodes of which both take the same
next hop, and the difference of the qualities where they do not.
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


def routes(seed: int, routing: Settings) -> tuple[dict[tuple[int, int], int], pl.DataFrame]:
    """Last next hop by node and destination, and the changes of the routes.

    Args:
        seed: Seed of the places and of the run.
        routing: Settings of routing.
    """
    about_run = {"stop": f"{STOP_S} s", "batches": 1, "warmup_batches": 0, "seed": seed, "record": ["routes"]}
    results = chappe.run(chappe.Scenario({**network(seed), "routing": routing, "run": about_run}))
    changes = results.recorded["routes"]
    last = changes.filter(pl.col("event").cast(pl.String) != "removed").group_by("node", "dst").agg(pl.last("next_hop"))
    return {(node, dst): via for node, dst, via in last.iter_rows()}, changes


def main() -> None:
    """Prints the comparison."""
    shares = []
    for seed in SEEDS:
        found, changes = routes(seed, {"protocol": "batman_adv"})
        best, _ = routes(seed, {"protocol": "shortest_path", "metric": "tq"})
        both = found.keys() & best.keys()
        same = sum(found[pair] == best[pair] for pair in both)
        shares.append(100 * same / len(both))
        settled = len(changes.filter(pl.col("time_s") > STOP_S / 2)) / (NODES * STOP_S / 2)
        missing = len(best.keys() - found.keys())
        print(
            f"seed {seed}: {same} of {len(both)} next hops are the same, {missing} routes missing; {settled:.3f} changes/s"
        )
    share = Estimate.of(shares)
    print(f"the same: {share.mean:.1f} ± {share.half_width():.1f} %")


if __name__ == "__main__":
    main()
