"""Cases of the comparison: places, rates, RTS, preamble."""

import math
import tomllib
from importlib.resources import files
from typing import Any, NamedTuple

from chappe import Scenario

HERE = files("chappe_papers.validation.standard")

SECONDS = 60
WARM_UP = 5
"""Of a run, these first seconds do not count."""

SATURATED = "sat"
HIDDEN = "hidden"
EXPOSED = "exposed"
ASYMMETRIC = "asym"
TCP = "tcp"
MIXED = "mixed"

KINDS = {
    SATURATED: "stations around one receiver",
    HIDDEN: "hidden terminals",
    EXPOSED: "exposed senders",
    ASYMMETRIC: "one sender disturbed, the other not",
    TCP: "TCP over a chain",
    MIXED: "TCP with constant bit rate",
}
"""Kinds of cases."""

_SPACING = 200.0
"""Distance of neighbors [m]."""

_RADIUS = 10.0
"""Of the circle of saturated stations [m]."""

_LINES: dict[str, tuple[tuple[float, ...], tuple[tuple[int, int], ...]]] = {
    HIDDEN: ((0, 200, 400), ((0, 1), (2, 1))),
    EXPOSED: ((0, 200, 400, 600), ((1, 0), (2, 3))),
    ASYMMETRIC: ((0, 200, 400, 600), ((0, 1), (2, 3))),
}
"""Places on a line [m], and who sends to whom without pause."""


class Case(NamedTuple):
    """Parameters of runs that differ only in the seed."""

    kind: str
    """Of :data:`KINDS`."""
    stations: int
    """Saturated stations."""
    hops: int
    """Of TCP."""
    mbps: int
    """Rate of data frames."""
    rts: bool
    """True if RTS and CTS precede every frame."""
    control_mbps: int = 1
    """Rate of RTS, CTS and ACK."""
    short_preamble: bool = False

    @property
    def has_long_preamble_in_ns3(self) -> bool:
        """True if ns-3 gives control frames the long preamble, although the short one is asked for and allowed."""
        return self.short_preamble and self.control_mbps == 2

    @property
    def title(self) -> str:
        """For people."""
        where = KINDS[self.kind]
        if self.kind == SATURATED:
            where = f"{self.stations} {where if self.stations > 1 else 'station, one receiver'}"
        elif self.kind == TCP:
            where = f"{where} of {self.hops} hop{'s' if self.hops > 1 else ''}"
        control = f", control frames at {self.control_mbps} Mbit/s" if self.control_mbps != 1 else ""
        preamble = ", short preamble" if self.short_preamble else ""
        return f"{where}, {self.mbps} Mbit/s{', RTS' if self.rts else ''}{control}{preamble}"


def _tables() -> dict[str, Any]:
    return tomllib.loads(HERE.joinpath("dcf.toml").read_text(encoding="utf-8"))


def scenario(case: Case, seconds: int = SECONDS, *, plain: bool = False) -> Scenario:
    """The scenario of a case.

    Args:
        case: The case.
        seconds: Length of the run; the first five do not count.
        plain: False if control frames at 2 Mbit/s have the long preamble of ns-3 even where data have the short one.
    """
    settings: dict[str, Any] = {
        "run.stop": f"{seconds} s",
        "run.batches": seconds // WARM_UP,
        "wlan.data_rate": f"{case.mbps} Mbit/s",
        "wlan.basic_rate": f"{case.control_mbps} Mbit/s",
        "wlan.rts_threshold": "always" if case.rts else "never",
        "wlan.preamble": "short" if case.short_preamble else "long",
    }
    if case.rts:
        # ns-3.37 tries an RTS forever. Every frame is preceded by one, so that no data count as short.
        settings["wlan.short_retry_limit"] = "unlimited"
    if case.kind in (TCP, MIXED):
        settings["queue.limit"] = 100
    if case.has_long_preamble_in_ns3 and not plain:
        settings["wlan.basic_preamble"] = "long"
    return Scenario(_tables() | _network(case)).with_settings(settings)


def _network(case: Case) -> dict[str, Any]:
    """Places and flows."""
    if case.kind == SATURATED:
        angles = [2 * math.pi * i / case.stations for i in range(case.stations)]
        places = [(0.0, 0.0), *((_RADIUS * math.cos(a), _RADIUS * math.sin(a)) for a in angles)]
        flows = [_saturated(case, i, 0) for i in range(1, case.stations + 1)]
    elif case.kind in _LINES:
        line, pairs = _LINES[case.kind]
        places = [(x, 0.0) for x in line]
        flows = [_saturated(case, *pair) for pair in pairs]
    elif case.kind == TCP:
        places = [(_SPACING * i, 0.0) for i in range(case.hops + 1)]
        flows = [{"src": 0, "dst": case.hops}]
    else:
        # All three hear each other.
        places = [(0.0, 0.0), (_SPACING, 0.0), (_SPACING / 2, 100.0)]
        cbr = {"payload": "1000 B", "header_size": "28 B", "interval": "40 ms"}
        flows = [{"src": 0, "dst": 1}, {"src": 2, "dst": 1, "app": "cbr", "cbr": cbr}]
    positions = [[f"{x:.3f} m", f"{y:.3f} m"] for x, y in places]
    return {"topology": {"kind": "list", "positions": positions}, "flow": flows}


def _saturated(case: Case, sender: int, receiver: int) -> dict[str, Any]:
    """A flow that always has a packet of 1500 B waiting."""
    cbr = {"payload": "1500 B", "header_size": "0 B", "interval": "2 ms" if case.mbps <= 2 else "500 us"}
    return {"src": sender, "dst": receiver, "app": "cbr", "cbr": cbr, "start": f"{sender} ms"}
