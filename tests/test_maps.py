"""Maps that the seed of a run draws: `topology.seed = "run"`."""

from typing import Any

import chappe

MAPS: dict[str, Any] = {
    "extends": "ns2-2.35",
    "run.stop": "10 s",
    "topology": {"kind": "random", "nodes": 12, "width": "500 m", "height": "500 m", "seed": "run"},
    "traffic.flows": 2,
}
"""A random map of each seed."""


def test_each_seed_has_a_map_of_its_own() -> None:
    """Places and ends of flows are drawn anew for each seed, alike at all points, so that runs are pairs."""
    study = chappe.sweep(MAPS, {"tcp.variant": ["newreno", "vegas"]}, seeds=3)
    for table, columns in (("nodes", ("x_m", "y_m")), ("flows", ("src", "dst"))):
        drawn = study.table(table).group_by("tcp.variant", "seed", maintain_order=True).agg(*columns)
        maps = [str(row) for row in drawn.sort("tcp.variant", "seed").select(columns).rows()]
        assert maps[:3] == maps[3:]
        assert len(set(maps)) == 3
    compared = study.compare("goodput_bps", "tcp.variant", baseline="newreno")
    assert compared["test"].to_list() == ["paired"]


def test_a_map_of_a_number_is_that_of_all_seeds() -> None:
    study = chappe.sweep({**MAPS, "topology": {**MAPS["topology"], "seed": 7}}, seeds=2)
    places = study.table("nodes").group_by("seed", maintain_order=True).agg("x_m")["x_m"].to_list()
    assert places[0] == places[1]
