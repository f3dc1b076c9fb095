"""Links schedule packets when they come, and take the queue itself where somebody watches it: results are equal."""

import random
from typing import Any

import chappe
import pytest

TABLES = (
    "flows",
    "nodes",
    "wired_links",
    "batches",
    "flow_batches",
    "wired_link_batches",
    "packet_outcomes",
    "samples",
)


def network(draw: random.Random) -> dict[str, Any]:
    """A tree of wires with flows, queues that overflow, and events."""
    nodes = draw.randint(2, 8)
    links = [
        {
            "src": draw.randrange(node),
            "dst": node,
            "rate": draw.choice(["100 kbit/s", "1 Mbit/s", "10 Mbit/s"]),
            "delay": draw.choice(["0 s", "1 us", "1 ms", "30 ms"]),
            "queue": {"limit": draw.choice([2, 3, 10, 50]), "limit_includes_arrival": draw.random() < 0.3},
            "error": {"model": "uniform", "rate": draw.choice([0.0, 0.1])},
        }
        for node in range(1, nodes)
    ]
    flows = []
    for _ in range(draw.randint(1, 6)):
        src, dst = draw.sample(range(nodes), 2)
        cbr = {"app": "cbr", "cbr": {"interval": draw.choice(["1 ms", "7 ms"]), "payload": "1000 B"}}
        flows.append({"src": src, "dst": dst, "start": f"{draw.choice([0, 1, 500])} ms", **draw.choice([{}, cbr])})
    changes: list[dict[str, Any]] = [
        {"action": "node_down", "node": draw.randrange(nodes)},
        {"action": "wired_link_down", "wired_link": 0},
        {"action": "wired_link_up", "wired_link": 0},
        {"action": "set", "setting": "wired_link.0.rate", "value": "5 Mbit/s"},
        {"action": "set", "setting": "wired_link.0.delay", "value": draw.choice(["0 s", "50 ms"])},
    ]
    return {
        "extends": draw.choice(["standard", "ns2-2.35", "linux"]),
        "run": {"stop": "3 s", "batches": 4, "warmup_batches": 1, "sample_interval": "100 ms"},
        "topology": {"kind": "none", "wired_nodes": nodes},
        "wired_link": links,
        "flow": flows,
        "event": [
            {"at": f"{draw.randint(1, 2900)} ms", **change} for change in draw.sample(changes, draw.randint(0, 4))
        ],
    }


@pytest.mark.parametrize("seed", range(25))
def test_who_watches_a_link_changes_nothing(seed: int) -> None:
    scenario = chappe.Scenario(network(random.Random(seed)))
    alone = chappe.run(scenario, seed=seed)
    watched = chappe.run(scenario.with_settings({"run.record": ["queue"]}), seed=seed)
    for name in TABLES:
        assert alone.table(name).equals(watched.table(name)), name
