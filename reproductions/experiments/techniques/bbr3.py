"""BBR version 3 alone on a wire, and its share beside a flow of CUBIC, by the length of the queue.

``python reproductions/experiments/techniques/bbr3.py`` prints the numbers of ``docs/models/tcp.md`` in a minute.
"""

from typing import Any

import chappe

SEEDS = (1, 2, 3)
QUEUES = (12, 25, 50, 100, 200, 400)
ALONE = (10, 20, 50, 100, 400)
FAST = {"rate": "1 Gbit/s", "queue": {"limit": 5000}}


def wire(controls: tuple[str, ...], packets: int) -> dict[str, Any]:
    """Scenario of flows with these congestion controls over 10 Mbit/s and 40 ms, 0.1 s after each other."""
    slow = {"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"limit": packets}, "back": FAST}
    return {
        "extends": "linux",
        "run": {"stop": "62 s", "batches": 1, "warmup_batches": 0},
        "topology": {"kind": "none", "wired_nodes": 3},
        "queue.discipline": "droptail",
        "wired_link": [{"src": 0, "dst": 1, "delay": "0 s", **FAST}, {"src": 1, "dst": 2, **slow}],
        "flow": [
            {"src": 0, "dst": 2, "start": f"{0.1 * i} s", "tcp.congestion_control": control}
            for i, control in enumerate(controls)
        ],
    }


def goodputs(controls: tuple[str, ...], packets: int, seed: int) -> list[float]:
    """Goodput of each flow [bit/s]."""
    return [float(g) for g in chappe.run(wire(controls, packets), seed=seed).flows["goodput_bps"].to_list()]


def main() -> None:
    """Prints goodputs and shares."""
    for packets in ALONE:
        print(f"bbr3 alone, {packets} packets: {goodputs(('bbr3',), packets, 1)[0] / 1e6:.3f} Mbit/s")
    for control in ("bbr3", "bbr"):
        for packets in QUEUES:
            pairs = [goodputs((control, "cubic"), packets, seed) for seed in SEEDS]
            shares = [own / (own + other) for own, other in pairs]
            print(f"{control} beside cubic, {packets} packets: {min(shares):.3f} to {max(shares):.3f}")


if __name__ == "__main__":
    main()
