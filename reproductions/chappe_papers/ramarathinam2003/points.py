"""The points of the paper: what its runs have in common, and the scenarios of its readings."""

import tomllib
from importlib.resources import files
from typing import Any, NamedTuple

from chappe import Scenario

VARIANTS = {"tahoe": "Tahoe", "reno": "Reno", "newreno": "NewReno", "sack": "SACK"}
"""The versions of TCP that the paper compares."""

ROUTINGS = {"aodv": "AODV", "dsr": "DSR", "dsdv": "DSDV"}
"""Its routing protocols."""

MAIN = "main"
CURVE = "curve"
CMU_QUEUE = "cmu_queue"


RATE = 5.5
"""Data rate of the main reading [Mbit/s], chosen by :mod:`chappe_papers.ramarathinam2003.likelihood`."""

NS2_RATE = 2.0
"""Data rate of the recorded runs of ns-2 [Mbit/s], that of its radio without a setting."""

RATES = (1.0, NS2_RATE, RATE, 11.0)
"""Data rates of IEEE 802.11b [Mbit/s]; the paper does not say which one it has."""


class Point(NamedTuple):
    """Parameters of runs that differ only in the seed."""

    variant: str
    routing: str = "aodv"
    reading: str = MAIN
    rate_mbps: float = RATE


COMBINATIONS = tuple(Point(v, r) for v in VARIANTS for r in ROUTINGS)
"""The twelve combinations of the paper."""

ENTRIES = {"internet": 0, "light": 1, "heavy": 2, "moderate": 3, "mesh": 4}
"""Entries of ``flow`` in the scenario."""

FLOWS = {"internet": (0, 10), "light": (10, 20), "heavy": (20, 30), "moderate": (30, 40), "mesh": (40, 130)}
"""The flows of each entry."""

STUDENT = 4
"""The student whose transfers the paper shows."""

SPANS = {"light": (0, 100), "heavy": (200, 300), "moderate": (350, 450), "internet": (100, 350)}
"""Start and end of the transfers of this student [s]."""

BATCHES = 100
"""Batches of a run for sequence numbers over time: 5 s each."""

_OTHER_SEATS = [["4.5 m", "0.5 m"]] + [[f"{x} m", f"{y} m"] for y in (2.5, 4.5) for x in (1, 3, 5, 7, 8)]
_WIRED_HOST = {
    "flow.0.dst": 11,
    "topology.wired_nodes": 1,
    "wired": {"rate": "10 Mbit/s", "delay": "2 ms"},
    "wired_link": [{"src": 0, "dst": 11}],
}

READINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "from_5s": ("the professor's first transfers begin at 5 s", {"flow.1.start": "5 s", "flow.1.duration": "95 s"}),
    "seats": ("all students sit in the first two rows", {"topology.positions": _OTHER_SEATS}),
    "rto_1s": ("timeouts of at least 1 s", {"tcp.rto.min": "1 s"}),
    "wired": ("the Internet is a host behind a wire", _WIRED_HOST),
    CMU_QUEUE: ("acknowledgements go before data, as in ns-2's queue for DSR", {"queue.discipline": "cmu_priority"}),
}  # fmt: skip
"""Other readings of what the paper does not say, at the same data rate: what is different, and the settings."""


UDP_KBPS = (16, 32, 64, 128, 256)
"""Rates of the mesh's bursts over UDP [kbit/s], 90 sources that send a fifth of the time."""

OUTLOOK: dict[str, dict[str, Any]] = {
    f"udp_{rate}": {"on_off.transport": "udp", "on_off.rate": f"{rate} kbit/s"} for rate in UDP_KBPS
}
"""Networks for which the paper asks in its outlook, by name of the reading: settings."""

UDP_ROOM = f"udp_{UDP_KBPS[0]}_room"
"""The first of these with room for all windows in every queue: the counter-test of why short transfers stop."""

ROOM = 500
"""Packets that wait at most, with that room."""

WALKING = "walking"
_WALKS: dict[str, Any] = {
    "mobility.model": "random_waypoint",
    "mobility.min_speed": "1 m/s",
    "mobility.max_speed": "1 m/s",
    "mobility.width": "9 m",
    "mobility.height": "11 m",
}
"""Students and professor walk through the classroom, because the paper names the static setting as a reason."""


def base() -> Scenario:
    """The scenario of the paper, with AODV and Reno."""
    return Scenario(tomllib.loads(files(__package__).joinpath("scenario.toml").read_text(encoding="utf-8")))


def scenario(point: Point) -> Scenario:
    """The scenario of a point."""
    changes: dict[str, Any] = {
        "tcp.variant": point.variant,
        "routing.protocol": point.routing,
        "wlan.data_rate": f"{point.rate_mbps:g} Mbit/s",
    }
    if point.routing != "aodv":
        # AODV of ns-2 adds an IP header to what it does not know for TCP alone, the others to everything.
        changes[f"flow.{ENTRIES['mesh']}.tcp.header_size"] = "40 B"
    if point.routing == "dsr":
        changes["queue.discipline"] = "cmu_priority"
    changes["run.batches"] = BATCHES if point.reading == CURVE else 1
    if point.reading in READINGS:
        changes |= READINGS[point.reading][1]
    changes |= OUTLOOK.get(point.reading, {})
    if point.reading == UDP_ROOM:
        changes |= OUTLOOK[f"udp_{UDP_KBPS[0]}"] | {"queue.limit": ROOM}
    if point.reading == WALKING:
        changes |= _WALKS
    return base().with_settings(changes)
