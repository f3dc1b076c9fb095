"""The points of the paper: what its runs have in common, and the scenarios of its readings."""

import csv
import math
import tomllib
from functools import cache
from importlib.resources import files
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from chappe import Scenario

VARIANTS = {"newreno": "NewReno", "sack": "SACK", "ecn": "ECN", "westwood": "Westwood", "e_newreno": "E-NewReno"}
"""The five that the paper compares; the last one is its own."""

OLDER = ("newreno", "sack", "ecn", "westwood")
"""The four that it found."""

SPEEDS = (0.0, 5.0, 10.0, 15.0, 20.0, 25.0)
"""Speeds of the nodes [m/s]."""

LOSSES = (0.0, 1.0)
"""Frames that are damaged on a link [%]."""

NODES = 20
SECONDS = 500.0
MAIN = "main"
LONE = "lone"
"""One transfer alone, of node 0."""

_RED: dict[str, Any] = {
    "queue.discipline": "red",
    "queue.purge": False,
    "queue.red.min_threshold": 5,
    "queue.red.max_threshold": 15,
    "queue.red.weight": 0.002,
    "queue.red.queue_in_bytes": False,
    "queue.red.mean_packet_size": "1000 B",
}
"""RED in the interface queue, as in the runs of ns-2: without priority of routing, and not purged."""

_ECN: dict[str, Any] = {"tcp.ecn.enabled": True, "queue.ecn": True}
_PROBED: dict[str, Any] = {"tcp.variant": "e_newreno"}

TCPS: dict[str, tuple[str, dict[str, Any]]] = {
    "newreno": ("NewReno", {}),
    "sack": ("SACK", {"tcp.variant": "sack"}),
    "ecn": ("ECN", _RED | _ECN),
    "westwood": ("Westwood", {"tcp.variant": "westwood_2001"}),
    "e_newreno": ("E-NewReno", _PROBED),
    "newreno_red": ("NewReno over RED", _RED),
    "westwood_red": ("Westwood over RED", {"tcp.variant": "westwood_2001"} | _RED),
    "linux_westwood": ("Westwood of ns-2's Linux agent", {
        "tcp.variant": "linux_westwood_ns2", "tcp.sack.rule": "rfc6675", "tcp.timestamps": True,
        "tcp.header_size": "50 B",
        # The agent sends its SYN as the first segment of a window of two, and waits for no answer to it.
        "tcp.syn": False,
    }),
    "elfn": ("NewReno with ELFN", {"tcp.elfn.enabled": True}),
    "veno": ("Veno", {"tcp.variant": "veno"}),
    "e_veno": ("E-NewReno with Veno's rule", {"tcp.loss_recovery": "e_newreno", "tcp.congestion_control": "veno"}),
    "ecn_quench": ("ECN with an ideal source quench", _RED | _ECN | {"tcp.ecn.source_quench": True}),
    "e_segment": ("E-NewReno, the probe is a segment", _PROBED | {"tcp.e_newreno.probe": "first_segment"}),
    "e_answer": ("E-NewReno, only an answer to the probe counts", _PROBED | {"tcp.e_newreno.answer": "probe"}),
    "e_holes": ("E-NewReno, resends holes only", _PROBED | {"tcp.e_newreno.resend": "holes"}),
    "e_backoff": ("E-NewReno, an answer ends the back-off", _PROBED | {"tcp.e_newreno.answer_ends_backoff": True}),
    "e_often": ("E-NewReno, a probe every 0.5 s", _PROBED | {"tcp.e_newreno.probe_interval": "500 ms"}),
}  # fmt: skip
"""Versions of TCP: what they are called, and the settings."""

READINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "2mbps": ("2 Mbit/s", {"wlan.data_rate": "2 Mbit/s"}),
    "rto_1s": ("timeouts of at least 1 s", {"tcp.rto.min": "1 s", "tcp.rto.initial": "6 s"}),
    "setdest": ("setdest of then: speeds from 0 on, places uniform at the beginning", {"mobility.initial": "uniform"}),
    "ns2_26": ("all of these, and TCP as in ns-2.26", {"extends": "ns2-2002", "wlan.data_rate": "2 Mbit/s",
                                                       "mobility.initial": "uniform"}),
    "loss_above": ("link loss above the MAC, which does not repair it", {"wlan.error.layer": "net"}),
    "threshold": ("ECN marks where 5 packets wait, in the drop-tail queue", _ECN | {"queue.mark_threshold": 5}),
}  # fmt: skip
"""Other readings of details that the paper leaves open: the difference, and the settings."""

ROUTING = {"aodv": "AODV", "dsr": "DSR", "dsdv": "DSDV"}
"""Routing protocols of the outlook."""

QUEUES: dict[str, tuple[str, dict[str, Any]]] = {
    "drop_tail": ("drop-tail", {}),
    "red": ("RED", _RED),
    "fq_codel": ("FQ-CoDel", {"queue.discipline": "fq_codel"}),
}
"""Interface queues of the outlook: names and settings."""

OUTLOOK: dict[str, dict[str, Any]] = {
    f"{protocol}, {queue}": {"routing.protocol": protocol} | settings
    for protocol in ROUTING
    for queue, (_, settings) in QUEUES.items()
}
"""Networks for which the paper asks in its outlook, by name of the reading: settings."""

STILL = "0.000001 m/s"
"""Half a millimeter in a run: nodes that rest at their start."""


class Point(NamedTuple):
    """Parameters of runs that differ only in the seed."""

    variant: str
    speed: float = 0.0
    """Of the nodes [m/s]."""
    loss: float = 0.0
    """Frames that are damaged on a link [%]."""
    reading: str = MAIN
    motion: int = 0
    """Walks and flows of ns-2's runs, from 1 on; 0: walks by the seed of the run."""


def tables() -> dict[str, Any]:
    """The scenario of the paper, with NewReno at 10 m/s."""
    return tomllib.loads(files(__package__).joinpath("scenario.toml").read_text(encoding="utf-8"))


def same(p: Point) -> Point:
    """Representative of all points with the same scenario."""
    alike = (p.reading == "loss_above" and not p.loss) or (p.reading == "threshold" and p.variant != "ecn")
    return p._replace(reading=MAIN) if alike else p


def scenario(p: Point) -> Scenario:
    """The scenario of a point."""
    p = same(p)
    changes = dict(READINGS[p.reading][1]) if p.reading in READINGS else dict(OUTLOOK.get(p.reading, {}))
    base = tables() | {"extends": changes.pop("extends", "ns2-2.35")}
    changes = (TCPS[p.variant][1] if p.reading != "threshold" else {}) | changes
    if p.motion:
        base |= {"topology": {"kind": "motion"}, "mobility": {"model": "file", "table": courses(p.motion, p.speed)}}
        base["flow"] = [{**flow, "dst": to} for flow, to in zip(base["flow"], sinks(p.motion), strict=True)]
    else:
        slowest = "0 m/s" if p.speed and changes.get("mobility.initial") == "uniform" else None
        fastest = f"{p.speed:g} m/s" if p.speed else STILL
        changes |= {"mobility.min_speed": slowest or fastest, "mobility.max_speed": fastest}
    if p.reading == LONE:
        base["flow"] = base["flow"][:1]
    if p.loss:
        changes |= {"wlan.error.model": "uniform", "wlan.error.rate": p.loss / 100}
    else:
        changes.pop("wlan.error.layer", None)
    return Scenario(base).with_settings(changes)


# ---- the walks and the flows of ns-2's runs ----


@cache
def _ways() -> dict[tuple[int, int], list[tuple[float, float]]]:
    """Start of each node and its further waypoints, by movement pattern and node: the same at all speeds."""
    text = files(__package__).joinpath("motion.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    grouped = groupby(rows, key=lambda r: (int(r["motion"]), int(r["node"])))
    return {key: [(float(r["x_m"]), float(r["y_m"])) for r in waypoints] for key, waypoints in grouped}


@cache
def sinks(motion: int) -> tuple[int, ...]:
    """To whom each node sends."""
    text = files(__package__).joinpath("flows.csv").read_text(encoding="utf-8")
    return tuple(int(r["sink"]) for r in csv.DictReader(text.splitlines()) if int(r["motion"]) == motion)


@cache
def courses(motion: int, speed: float) -> str:
    """The legs of a walk at a speed [m/s], as a file of motion."""
    lines = ["time_s,node,x_m,y_m,dest_x_m,dest_y_m,speed_mps"]
    for node in range(NODES):
        way, at = _ways()[motion, node], 0.0
        if not speed:
            (x, y) = way[0]
            lines.append(f"0,{node},{x},{y},{x},{y},0")
            continue
        for (x, y), (to_x, to_y) in pairwise(way):
            if at >= SECONDS:
                break
            lines.append(f"{at:.6f},{node},{x},{y},{to_x},{to_y},{speed:g}")
            at += math.hypot(to_x - x, to_y - y) / speed
    return "\n".join(lines) + "\n"
