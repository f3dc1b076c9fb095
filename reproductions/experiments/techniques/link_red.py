"""Gain of Link RED with adaptive pacing on chains; its authors report 5 to 30 % of goodput.

``python reproductions/experiments/techniques/link_red.py`` runs NewReno with and without Link RED, and with each half
of it, with ten seeds: as in ns-2 with AODV, which interprets packets that are given up as lost routes, and with routes
that never fail.
"""

from typing import Any

import chappe
from chappe import stats

SEEDS = range(1, 11)
ON = {"net.link_red.enabled": True}
CASES: dict[str, dict[str, Any]] = {
    "without": {},
    "Link RED": {**ON, "net.link_red.pacing": False},
    "pacing": {**ON, "net.link_red.max_p": 0.0},
    "both": ON,
    "both, ECN": {**ON, "queue.ecn": True, "tcp.ecn.enabled": True},
}


def main() -> None:
    """Prints goodput, window, and packets that the MAC gave up, with 95 % intervals."""
    for routing in ("aodv", "shortest_path"):
        for hops, mbps in ((4, 2), (7, 2), (7, 11)):
            print(f"{routing}, {hops} hops, {mbps} Mbit/s")
            chain = chappe.Scenario(
                {
                    "extends": "ns2-2.35",
                    "run": {"stop": "1000 s"},
                    "topology": {"hops": hops},
                    "wlan": {"data_rate": f"{mbps} Mbit/s"},
                    "routing": {"protocol": routing},
                    "tcp": {"receive_window": 64},
                }
            )
            usual: list[float] = []
            for name, change in CASES.items():
                runs = [chappe.run(chain.with_settings(change), seed=seed) for seed in SEEDS]
                goodput = [float(r.flows["goodput_bps"][0]) / 1e3 for r in runs]
                usual = usual or goodput
                gain = stats.Estimate.of([100 * (g / u - 1) for g, u in zip(goodput, usual, strict=True)])
                window = stats.Estimate.of([float(r.flows["mean_window_segments"][0]) for r in runs])
                lost = [1e3 * float(r.nodes["mac_data_given_up"].sum()) / r.flows["packets_delivered"][0] for r in runs]
                rate = stats.Estimate.of(goodput)
                print(
                    f"  {name:10} {rate.mean:6.1f} +- {rate.half_width():4.1f} kbit/s, "
                    f"{gain.mean:+6.1f} +- {gain.half_width():4.1f} %, window {window.mean:5.2f}, "
                    f"given up {stats.Estimate.of(lost).mean:5.1f} of 1000 delivered"
                )


if __name__ == "__main__":
    main()
