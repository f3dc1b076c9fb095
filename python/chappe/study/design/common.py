"""Common random numbers: the parts of a scenario that the seed of a run draws alike for every setting.

Streams of random numbers are keyed by seed and purpose, but most are used in the order of events: after the first
difference, two settings no longer use the same numbers for the same frames, and their runs are independent even with
equal seeds. Only random waypoint mobility, arrival processes, on/off sources, responses to requests and topologies of
the seed of the run are drawn regardless of events.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from chappe.study.design.axes import Cases, Point, settings_in

_PARTS = (
    *("mobility", "arrival_process", "on_off", "requests", "flow", "traffic"),
    *("node", "topology", "radio", "extends"),
)
"""Top-level settings that decide on what the seed draws."""


def drawn(settings: Mapping[str, Any]) -> set[str]:
    """Parts of a scenario that the seed of the run draws, regardless of events: names of settings."""
    mobility = settings.get("mobility", {})
    moving = [mobility, *({**mobility, **node.get("mobility", {})} for node in settings.get("node", []))]
    traffic = settings.get("traffic", {})
    apps = {f.get("app") for f in settings.get("flow", [])}
    if traffic.get("flows") or traffic.get("file") not in (None, "none"):
        apps.add(traffic.get("app"))
    found = {
        "mobility": any(m.get("model") == "random_waypoint" and m.get("seed", "run") == "run" for m in moving),
        "arrival_process": bool(settings.get("arrival_process")),
        "on_off": "on_off" in apps,
        "requests": "requests" in apps,
        "topology": settings.get("topology", {}).get("seed") == "run" and _is_random(settings),
    }
    return {name for name, is_drawn in found.items() if is_drawn}


def _is_random(settings: Mapping[str, Any]) -> bool:
    """True if places, flows or shadowing are drawn by the seed of the topology."""
    radio, traffic = settings.get("radio", {}), settings.get("traffic", {})
    has_flows = traffic.get("flows", 0) > 0 and traffic.get("seed", "topology") == "topology"
    is_shadowed = radio.get("shadowing", "0 dB") != "0 dB" and radio.get("shadowing_seed", "topology") == "topology"
    return bool(settings["topology"].get("kind") == "random" or has_flows or is_shadowed)


def drawn_everywhere(points: Sequence[Point], cases: Cases | None) -> list[str]:
    """Parts that the seed draws at every point of a study, sorted."""
    changed = {*points[0].labels, *(name for changes in (cases or {}).values() for name in settings_in(changes))}
    # Reading all settings takes a millisecond per point.
    decisive = points if _touched(changed) else points[:1]
    return sorted(set.intersection(*(drawn(p.scenario.settings) for p in decisive)))


def _touched(names: Iterable[str]) -> bool:
    return any(name.split(".")[0] in _PARTS for name in names)
