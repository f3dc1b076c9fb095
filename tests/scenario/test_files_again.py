"""Files of nodes, flows, links and motion survive a round trip."""

import random
from pathlib import Path
from typing import Any

import chappe
import pytest
from chappe.scenario.scenario import MobilityFormat


def drawn(seed: int) -> dict[str, Any]:
    """A small random scenario with flows of all kinds."""
    rng = random.Random(seed)
    topology: dict[str, Any] = rng.choice(
        [
            {"kind": "chain", "hops": rng.randrange(2, 8), "spacing": f"{rng.uniform(50, 220)} m"},
            {"kind": "grid", "rows": 3, "columns": 4, "omit": [[1, 1]], "spacing": f"{rng.uniform(50, 150)} m"},
            {"kind": "random", "nodes": 12, "width": "400 m", "height": "300 m", "seed": seed},
        ]
    )
    nodes = {"chain": topology.get("hops", 0) + 1, "grid": 11, "random": 12}[topology["kind"]]
    flow = []
    for _ in range(rng.randrange(4)):
        source, to = rng.sample(range(nodes), 2)
        start = rng.choice(["event", f"{rng.randrange(10**9)} ns", f"{rng.randrange(90)} s"])
        flow.append({"src": source, "dst": to, "start": start})
    return {
        "run.stop": "100 s",
        "topology": topology,
        "flow": [*flow, {"src": "0-1", "dst": nodes - 1, "start": "1 s", "stagger": f"{rng.randrange(10**9)} us"}],
        "traffic": {"flows": rng.randrange(1, 4), "start": "70 ms", "distinct_ends": False},
        "radio": {"reception": "sinr"},
    }


@pytest.mark.parametrize("seed", range(12))
def test_written_tables_are_read_again(seed: int, tmp_path: Path) -> None:
    settings = drawn(seed)
    scenario = chappe.Scenario(settings)
    for name in ("nodes", "flows", "links"):
        getattr(scenario, name).write_csv(tmp_path / f"{name}.csv")
    # Rows may have any order.
    for name in ("nodes", "flows"):
        getattr(scenario, name).sample(fraction=1, shuffle=True, seed=seed).write_csv(tmp_path / f"{name}_mixed.csv")
    for mixed in ("", "_mixed"):
        again = chappe.Scenario(
            {
                "run.stop": "100 s",
                "topology": {"kind": "file", "file": str(tmp_path / f"nodes{mixed}.csv")},
                "traffic.file": str(tmp_path / f"flows{mixed}.csv"),
                "radio": {"reception": "sinr", "propagation": "links", "links_file": str(tmp_path / "links.csv")},
            }
        )
        assert again.nodes.equals(scenario.nodes)
        assert again.flows.equals(scenario.flows)
        assert again.links.equals(scenario.links)


@pytest.mark.parametrize("form", ["csv", "setdest", "bonnmotion"])
@pytest.mark.parametrize("seed", range(6))
def test_written_motion_is_read_again(seed: int, form: MobilityFormat, tmp_path: Path) -> None:
    rng = random.Random(seed)
    walkers = chappe.Scenario(
        {
            "run.stop": f"{rng.randrange(1, 60)} s",
            "topology": {"kind": "random", "nodes": rng.randrange(2, 6), "connected": False},
            "mobility": {
                "model": "random_waypoint",
                "pause": f"{rng.choice([0, 1, 30])} s",
                "initial": rng.choice(["stationary", "uniform", "topology"]),
                "max_speed": f"{rng.choice([2, 20, 200])} m/s",
            },
            "flow": [{"dst": 1}],
        }
    )
    walkers.write_mobility(tmp_path / "ways", format=form)
    again = walkers.with_settings(
        {"topology.kind": "motion", "mobility.model": "file", "mobility.file": str(tmp_path / "ways")}
    )
    assert not [w for w in again.warnings if "ways" in w.message]
    assert again.nodes["x_m"].to_list() == pytest.approx(walkers.nodes["x_m"].to_list(), abs=1e-9)
    assert again.nodes["y_m"].to_list() == pytest.approx(walkers.nodes["y_m"].to_list(), abs=1e-9)
    if form == "csv":
        assert again.mobility.equals(walkers.mobility)
    elif form == "setdest":
        # Positions are rounded to 1e-12 m, and each segment begins at the end of the preceding one.
        again.write_mobility(tmp_path / "twice", format=form)
        twice = again.with_settings({"mobility.table": "", "mobility.file": str(tmp_path / "twice")})
        before, after = (
            chappe.run(s.with_settings({"run.record": ["positions"]})).recorded["positions"] for s in (again, twice)
        )
        for column in before.columns:
            assert after[column].to_list() == pytest.approx(before[column].to_list(), abs=1e-9)
