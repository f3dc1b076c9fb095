"""External flows between nodes whose programs exchange datagrams."""

import json
from collections.abc import Sequence
from typing import Any

from chappe.scenario.scenario import Scenario


def with_endpoints(scenario: Scenario, nodes: Sequence[int]) -> Scenario:
    """A scenario with an external flow from each of the nodes to each other one, behind its own flows.

    A chain that carries a file transfer because it has no flow carries none. Programs end when they like: all of the
    run is measured, unless the scenario has a warm-up.

    Raises:
        ScenarioError: If a node has no route to another one, or is none of the scenario.
    """
    there = {(src, dst) for _, src, dst in scenario._core.external()}
    missing = [(src, dst) for src in nodes for dst in nodes if src != dst and (src, dst) not in there]
    written: dict[str, Any] = json.loads(scenario._core.written_json())
    # Settings without warnings are kept apart.
    own: list[dict[str, Any]] = {**written.get("extends", {}), **written}.get("flow", [])
    if there:
        further = [{"src": src, "dst": dst, "app": "external"} for src, dst in missing]
    else:
        further = [{"src": list(nodes), "dst": list(nodes), "app": "external"}] if missing else []
    settings: dict[str, Any] = {"flow": [*own, *further]} if further else {}
    if "warmup_batches" not in written.get("run", {}):
        settings["run.warmup_batches"] = 0
    return scenario.with_settings(settings) if settings else scenario
