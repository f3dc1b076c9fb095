"""Gain and cost of Neighborhood RED for a pair of nodes whose neighbors do not let them send.

``python reproductions/experiments/techniques/neighborhood_red.py`` runs NewReno over three pairs side by side. The
middle pair senses both others, which do not sense each other. The queues are drop-tail, RED, and drop-tail with
Neighborhood RED: by default, with ECN, and with a larger probability. Then NewReno runs over a chain.
"""

from typing import Any

import chappe
from chappe import stats

SEEDS = range(1, 11)
ON = {"net.neighborhood_red.enabled": True}
CASES: dict[str, dict[str, Any]] = {
    "without": {},
    "RED": {"queue.discipline": "red"},
    "NRED": ON,
    "NRED, ECN": {**ON, "queue.ecn": True, "tcp.ecn.enabled": True},
    "NRED, max_p 0.5": {**ON, "net.neighborhood_red.max_p": 0.5},
}
PAIRS = {
    "topology": {"kind": "list", "positions": [[f"{x} m", f"{y} m"] for x in (0, 240, 480) for y in (0, 100)]},
    "radio": {"sense_range": "300 m", "sense_threshold": "sense_range"},
    "routing": {"protocol": "shortest_path"},
    "flow": [{"src": i, "dst": i + 1} for i in (0, 2, 4)],
}
CHAIN = {"topology": {"hops": 7}}


def main() -> None:
    """Prints the goodput of every flow, their sum, and Jain's index, with 95 % intervals."""
    for place, what in (("three pairs", PAIRS), ("a chain of 7 hops", CHAIN)):
        print(place)
        scenario = chappe.Scenario(
            {"extends": "ns2-2.35", "run": {"stop": "300 s"}, "tcp": {"receive_window": 32}, **what}
        )
        for name, change in CASES.items():
            runs = [chappe.run(scenario.with_settings(change), seed=seed) for seed in SEEDS]
            goodput = [[float(g) / 1e3 for g in r.flows["goodput_bps"]] for r in runs]
            flows = ", ".join(f"{stats.Estimate.of(f).mean:6.1f}" for f in zip(*goodput, strict=True))
            both = stats.Estimate.of([sum(g) for g in goodput])
            jain = stats.Estimate.of([stats.jain_index(g) for g in goodput])
            print(
                f"  {name:15} {flows} kbit/s, sum {both.mean:6.1f} +- {both.half_width():4.1f}, "
                f"Jain {jain.mean:.3f} +- {jain.half_width():.3f}"
            )


if __name__ == "__main__":
    main()
