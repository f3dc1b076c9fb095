"""Points of the paper: variants of TCP, mechanisms, error rates, and readings where the paper is silent."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from chappe import Scenario

HERE = files("chappe_papers.zhou2004")

FLOWS = 5
LOSSY = 7
"""Number of the lossy link, and of the base station before it."""

BEHIND = 8
"""The node at the other end of the lossy link."""

RATES = (0.0, *(k * 10**e / 1000 for e in range(4) for k in (1, 2, 4, 6, 8)), 10.0)
"""Shares of lost packets [%]: 0, and 1, 2, 4, 6 and 8 times each power of ten from 0.001 to 10."""

VARIANTS = {"tahoe": "Tahoe", "reno": "Reno", "newreno": "NewReno", "vegas": "Vegas", "sack": "SACK (ours)"}
"""Variants of TCP: those of the paper, and SACK."""

PAPERS = ("none", "eln", "snoop", "both")
"""Mechanisms of the paper."""

ALIKE = ("tahoe", "reno", "newreno")
"""The variants that the paper finds very similar."""

MECHANISMS = {
    "none": "TCP only",
    "eln": "ELN",
    "snoop": "Snoop",
    "both": "Snoop and ELN",
    "split": "split connection (ours)",
}
"""Mechanisms: those of the paper, and a split connection."""

LONE = "lone"
"""The reading that is none: one flow over a long lossy path, for the formulas."""


class Point(NamedTuple):
    """Parameters of runs that differ only in the seed."""

    variant: str
    """Of :data:`VARIANTS`."""
    mechanism: str = "none"
    """Of :data:`MECHANISMS`."""
    per_percent: float = 0.0
    """Share of the packets that the lossy link loses."""
    reading: str = "2003"
    """Of :data:`READINGS`, of :data:`FURTHER`, or :data:`LONE`."""
    window: int = 10
    """Window that the receiver advertises; other than 10 for a lone flow only."""


def _boxes(snoop: Mapping[str, Any], eln_node: int) -> dict[str, list[dict[str, Any]]]:
    own_snoop = {"kind": "snoop", "node": LOSSY, **snoop}
    eln = {"kind": "eln", "node": eln_node}
    return {
        "none": [],
        "eln": [eln],
        "snoop": [own_snoop],
        "both": [own_snoop, eln],
        "split": [{"kind": "split", "node": LOSSY}],
    }


# ns-2's Snoop looks at the queue of the LAN before the lossy link, which is always empty.
_NS2_BOXES = _boxes({"snoop": {"free_slots": 0}}, BEHIND)
_AUTHORS_BOXES = _boxes({}, LOSSY)
# Notifications come from where the loss happens, as in E2E-ELN of Balakrishnan, Padmanabhan, Seshan and Katz 1997.
# The local timer waits for longer than a full queue takes, 208 ms; what a shorter one does is a reading of its own.
_AUTHORS = {"tcp.eln.rule": "each_round_trip", "eln.knowledge": "channel", "snoop.min_timeout": "300 ms"}
_OLD = {
    # As the runs of ns-2 with the defaults of 2003 have it.
    "tcp.fast_recovery.partial_ack_timer": "slow_but_steady",
    "tcp.fast_recovery.partial_window_deflation": False,
}


_HEADER = {"tcp.vegas.ns2.bare_segments": False}
"""Packets of Vegas as long as those of the others: ns-2's have no header of 40 bytes."""


@dataclass(frozen=True)
class Reading:
    """A reading of the details that the paper leaves open.

    Attributes:
        title: Name of the reading.
        extends: Presets.
        settings: Further settings that differ.
        boxes: The middleboxes of each mechanism.
        both_ways: True if acknowledgements are lost, too.
    """

    title: str
    extends: tuple[str, ...] = ("ns2-2.35",)
    settings: Mapping[str, Any] = field(default_factory=dict)
    boxes: Mapping[str, list[dict[str, Any]]] = field(default_factory=lambda: _NS2_BOXES)
    both_ways: bool = False


READINGS: dict[str, Reading] = {
    "2003": Reading("TCP defaults of 2003: timeouts of at least 1 s", ("ns2-2004",), _OLD),
    "ns2": Reading("as ns-2.35 comes: timeouts of at least 0.2 s"),
    "buffer20": Reading("as ns-2.35 comes, buffer of 20 packets", settings={f"wired_link.{LOSSY}.queue.limit": 20}),
    "both_ways": Reading("as ns-2.35 comes, acknowledgements are lost, too", both_ways=True),
    "2003_buffer20": Reading(
        "defaults of 2003, buffer of 20 packets", ("ns2-2004",), _OLD | {f"wired_link.{LOSSY}.queue.limit": 20}
    ),
    "2003_both_ways": Reading("defaults of 2003, acknowledgements are lost, too", ("ns2-2004",), _OLD, both_ways=True),
    "short_hop": Reading(
        "delays of 5, 10, 10 and 1 ms",
        settings={**{f"wired_link.{i}.delay": "5 ms" for i in range(FLOWS)}, f"wired_link.{LOSSY}.delay": "1 ms"},
    ),
    "fast_wires": Reading("all other links 100 Mbit/s", settings={"wired.rate": "100 Mbit/s"}),
    "header": Reading("as ns-2.35 comes, Vegas with a header and a SYN", settings=_HEADER),
    "2003_header": Reading("defaults of 2003, Vegas with a header and a SYN", ("ns2-2004",), _OLD | _HEADER),
    "authors": Reading("Snoop and ELN as their authors describe them", ("ns2-2.35", "snoop-1995"), _AUTHORS,
                       _AUTHORS_BOXES),
    "authors_2003": Reading(
        "defaults of 2003, Snoop and ELN as their authors describe them",
        ("ns2-2004", "snoop-1995"),
        _OLD | _AUTHORS,
        _AUTHORS_BOXES,
    ),
    "authors_100ms": Reading(
        "Snoop and ELN as their authors describe them, with ns-2's local timeout of at least 100 ms",
        ("ns2-2.35", "snoop-1995"),
        _AUTHORS | {"snoop.min_timeout": "100 ms"},
        _AUTHORS_BOXES,
    ),
}  # fmt: skip
"""Readings by name; the first, with the TCP of the time, is that of the figures and of the verdicts."""


_RTTS = {f"wired_link.{i}.delay": f"{2 + 10 * i} ms" for i in range(FLOWS)}
_FQ_CODEL = {f"wired_link.{LOSSY}.queue.discipline": "fq_codel"}

FURTHER: dict[str, Reading] = {
    "rtts": Reading("round-trip times of 52, 72, 92, 112 and 132 ms", ("ns2-2004",), _OLD | _RTTS),
    "fq_codel": Reading("FQ-CoDel before the lossy link", ("ns2-2004",), _OLD | _FQ_CODEL),
    "rtts_fq_codel": Reading("the same with these round-trip times", ("ns2-2004",), _OLD | _RTTS | _FQ_CODEL),
    "fq_codel_authors": Reading(
        "the same with Snoop and ELN as their authors describe them",
        ("ns2-2004", "snoop-1995"),
        _OLD | _AUTHORS | _FQ_CODEL,
        _AUTHORS_BOXES,
    ),
}
"""Networks of which the paper only speaks, or that answer its call: the main reading but for their settings."""


def tables() -> dict[str, Any]:
    """The scenario as ns-2.35 has it: the file, with links and flows."""
    wires: list[dict[str, Any]] = [{"src": i, "dst": FLOWS} for i in range(FLOWS)]
    wires += [{"src": 5, "dst": 6, "delay": "10 ms"}, {"src": 6, "dst": LOSSY, "delay": "10 ms"}]
    wires.append(
        {
            "src": LOSSY,
            "dst": BEHIND,
            "rate": "2 Mbit/s",
            "delay": "4 ms",
            "queue": {"limit": 50},
            "error": {"model": "uniform"},
            "back": {"error": {"model": "none"}},
        }
    )
    wires += [{"src": BEHIND, "dst": 9 + i, "rate": "100 Mbit/s", "delay": "0 s"} for i in range(FLOWS)]
    flows = [{"src": i, "dst": 9 + i, "start": f"{100 * i} ms"} for i in range(FLOWS)]
    return tomllib.loads((HERE / "scenario.toml").read_text(encoding="utf-8")) | {"wired_link": wires, "flow": flows}


def same(point: Point) -> Point:
    """Representative of all points with the same scenario."""
    if point.reading.endswith("header") and point.variant != "vegas":
        return point._replace(reading="2003" if point.reading == "2003_header" else "ns2")
    if point.reading.startswith("authors") and point.mechanism in ("none", "split"):
        return point._replace(reading="2003" if point.reading == "authors_2003" else "ns2")
    if point.reading == "both_ways" and not point.per_percent:
        return point._replace(reading="ns2")
    if point.reading == "2003_both_ways" and not point.per_percent:
        return point._replace(reading="2003")
    return point


def scenario(point: Point, changes: Mapping[str, Any] | None = None) -> Scenario:
    """The scenario of a point.

    Args:
        point: Variant, mechanism, error rate, reading.
        changes: Settings that differ.
    """
    if point.reading == LONE:
        return _lone(point, changes or {})
    reading = (READINGS | FURTHER)[point.reading]
    settings: dict[str, Any] = {
        "tcp.variant": point.variant,
        f"wired_link.{LOSSY}.error.rate": point.per_percent / 100,
        "middlebox": reading.boxes[point.mechanism],
    }
    if reading.both_ways:
        settings[f"wired_link.{LOSSY}.back.error"] = {"model": "uniform", "rate": point.per_percent / 100}
    return _base(point.reading).with_settings(settings | dict(changes or {}))


@cache
def _base(name: str) -> Scenario:
    """The scenario of a reading, with Snoop and ELN, which a point may leave unused."""
    reading = (READINGS | FURTHER)[name]
    boxes = {"middlebox": reading.boxes["both"]}
    return Scenario(tables() | {"extends": list(reading.extends)} | boxes).with_settings(reading.settings)


def _lone(point: Point, changes: Mapping[str, Any]) -> Scenario:
    """A file transfer over 100 Mbit/s and 50 ms each way, on which data are lost; the first 20 s do not count."""
    error = {"model": "uniform", "rate": point.per_percent / 100}
    link = {"dst": 1, "rate": "100 Mbit/s", "delay": "50 ms", "error": error, "back": {"error": {"model": "none"}}}
    lone_settings = {
        "extends": "ns2-2.35",
        "run": {"stop": "420 s", "batches": 21, "warmup_batches": 1},
        "topology": {"kind": "none", "wired_nodes": 2},
        "wired": {"queue": {"limit": 10_000}},
        "wired_link": [link],
        "tcp": {"variant": point.variant, "receive_window": point.window, "mss": "1000 B"},
        "flow": [{"dst": 1}],
    }
    return Scenario(lone_settings).with_settings(dict(changes))
