"""Points of the paper: topologies, rates, and traffic."""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from chappe import Scenario

HERE = files("chappe_papers.elrakabawy2005")

RATES = (2.0, 5.5, 11.0)
"""Rates of the paper [Mbit/s]."""

UDP = "udp"
"""The variant that is no TCP: paced UDP."""

DELAY = "delay"
"""Datagrams that are sent one by one."""

WINDOWS = (1, 2, 3, 4, 5, 6, 8)
"""Windows to which NewReno is bound in search of the best."""

_FIXED = {
    "tcp.vegas.ns2.clearing_stops_at_wrap": False,
    "tcp.vegas.ns2.backoff_on_fast_retransmit": False,
    "tcp.vegas.ns2.mark_survives_timeout": False,
    "tcp.vegas.ns2.restart_at_two": False,
}
"""Four of the defects of ns-2's Vegas corrected."""

_TCP: dict[str, dict[str, Any]] = {
    "newreno": {"tcp.variant": "newreno"},
    **{f"newreno_maxwin{n}": {"tcp.variant": "newreno", "tcp.receive_window": n} for n in WINDOWS},
    "tahoe": {"tcp.variant": "tahoe"},
    "reno": {"tcp.variant": "reno"},
    "sack": {"tcp.variant": "sack"},
    **{
        f"vegas{n}": {"tcp.variant": "vegas", "tcp.vegas.alpha": n, "tcp.vegas.beta": n, "tcp.vegas.gamma": n}
        for n in (2, 3, 4)
    },
    "vegas2_fix": {"tcp.variant": "vegas", **_FIXED},
    # Packets as long as those of the other variants.
    "vegas2_pkt1500": {"tcp.variant": "vegas", "tcp.vegas.ns2.bare_segments": False, "tcp.syn": False},
}
_TCP |= {f"vegas{n}_fix": _TCP[f"vegas{n}"] | _FIXED for n in (3, 4)}
_THINNED = ("newreno", *(f"vegas{n}{fix}" for fix in ("", "_fix") for n in (2, 3, 4)))

VARIANTS: dict[str, dict[str, Any]] = _TCP | {f"{v}_thin": _TCP[v] | {"tcp.ack_policy": "thinning"} for v in _THINNED}
"""Settings of each variant of TCP, on top of ``scenario.toml``; ``_thin`` is with ACK thinning."""

_ELFN = {f"{v}_elfn": _TCP[v] | {"tcp.elfn.enabled": True} for v in ("newreno", "vegas2")}
_DOOR = {f"{v}_door": _TCP[v] | {"tcp.door.enabled": True} for v in ("newreno", "vegas2")}
"""Variants of the outlook."""

NAMES = {
    "newreno": "NewReno",
    "vegas2": "Vegas, alpha = 2",
    "newreno_thin": "NewReno, ACK thinning",
    "vegas2_thin": "Vegas, alpha = 2, ACK thinning",
    "newreno_maxwin3": "NewReno, MaxWin = 3",
    "vegas3": "Vegas, alpha = 3",
    UDP: "paced UDP",
    "vegas4": "Vegas, alpha = 4",
    "vegas3_thin": "Vegas, alpha = 3, ACK thinning",
    "vegas4_thin": "Vegas, alpha = 4, ACK thinning",
    "vegas2_fix": "Vegas with four defects corrected",
    "vegas2_fix_thin": "Vegas with four defects corrected, ACK thinning",
}
"""Names of variants, for people."""

CHAIN = "chain"


class Grid(NamedTuple):
    """A layout of the grid of Figure 15: 21 nodes, three flows along rows and three along columns."""

    letter: str
    title: str
    topology: Mapping[str, Any]
    flows: tuple[tuple[int, int], ...]


def _grid(columns: int, rows: int, omit: list[list[int]]) -> dict[str, Any]:
    return {"kind": "grid", "columns": columns, "rows": rows, "spacing": "200 m", "omit": omit}


GRIDS = {
    "grid5x5c": Grid(
        "layout A",
        "5 x 5 nodes without the corners",
        _grid(5, 5, [[0, 0], [4, 0], [0, 4], [4, 4]]),
        ((3, 7), (8, 12), (13, 17), (0, 18), (1, 19), (2, 20)),
    ),
    "grid7x3_c135": Grid(
        "layout B",
        "7 columns and 3 rows, flows along columns 1, 3 and 5",
        _grid(7, 3, []),
        ((0, 6), (7, 13), (14, 20), (1, 15), (3, 17), (5, 19)),
    ),
    "grid5x5m4": Grid(
        "layout C",
        "three rows and three columns of five nodes that cross",
        _grid(5, 5, [[1, 1], [3, 1], [1, 3], [3, 3]]),
        ((0, 4), (8, 12), (16, 20), (0, 16), (2, 18), (4, 20)),
    ),
}
"""Layouts of the grid: the paper shows its own only in a picture that we do not have."""

MAIN_GRID = "grid5x5m4"
"""The layout that is run at the length of the paper, as ns-2 was."""

LISTED = {"random120_1": "placement 1", "random120_2": "placement 2"}
"""Random topologies with their flows in files, which ns-2 was run on, too."""

DRAWN: dict[str, dict[str, Any]] = {"uniform": {}, "far": {"min_hops": 4, "max_hops": 8}}
"""Random topologies that are drawn by ``topology.seed``: any pairs, as in the paper, and pairs 4 to 8 hops apart."""

MOVING, MOVING_DSR = "moving", "moving_dsr"
"""Five flows among 30 nodes that walk on 1500 m x 300 m at 10 m/s, the network of Holland and Vaidya 1999: with the
paper's AODV, and with the DSR of those who proposed ELFN and DOOR."""

RANGE_M, SENSE_M = 250.0, 550.0
"""Range of a radio, and the distance within which it is sensed and disturbs, in the paper."""


def hidden_senders(node: int, x_m: Sequence[float], senders: Sequence[int]) -> list[int]:
    """Nodes of a chain that disturb what a neighbor of a node receives from it, without hearing it.

    Args:
        node: The node.
        x_m: Places of all nodes [m].
        senders: Nodes that may send.
    """
    neighbors = [k for k in range(len(x_m)) if k != node and abs(x_m[k] - x_m[node]) <= RANGE_M]
    return [
        i
        for i in senders
        if abs(x_m[i] - x_m[node]) > SENSE_M and any(abs(x_m[i] - x_m[k]) <= SENSE_M for k in neighbors)
    ]


PLACES = {
    **{name: g.letter for name, g in GRIDS.items()},
    **LISTED,
    "uniform": "drawn, any pairs",
    "far": "drawn, 4 to 8 hops",
}
"""Names of the places, for people."""


class Point(NamedTuple):
    """Parameters of runs that differ only in the seed."""

    variant: str
    """Of :data:`VARIANTS`, :data:`UDP`, or :data:`DELAY`; under motion also with ELFN or DOOR:
    ``"vegas2_elfn"``, ``"vegas2_door"``."""
    hops: int = 0
    """Of a chain; 0 elsewhere."""
    rate_mbps: float = 2.0
    place: str = CHAIN
    """``"chain"``, a key of :data:`GRIDS`, :data:`LISTED`, or :data:`DRAWN`, :data:`MOVING`, or :data:`MOVING_DSR`."""
    draw: int = 0
    """``topology.seed`` of a drawn place; 0 means all that were drawn."""
    interval_ms: float = 0.0
    """Time from one datagram to the next; 0 means the best one."""
    preamble: str = "long"
    basic_mbps: float = 1.0
    """Rate of control frames."""


def flows_of(place: str) -> int:
    """Number of flows."""
    return (
        1
        if place == CHAIN
        else len(GRIDS[place].flows)
        if place in GRIDS
        else 5
        if place in (MOVING, MOVING_DSR)
        else 10
    )


def scenario(
    point: Point, stop: str, *, batches: int = 11, discard: int = 1, changes: Mapping[str, Any] | None = None
) -> Scenario:
    """The scenario of a point.

    Args:
        point: Place, rate and variant.
        stop: End of a run, such as ``"110000 delivered"``.
        batches: Batches into which a run is cut.
        discard: Number of first batches that do not count.
        changes: Settings that differ from those of the paper.
    """
    # Changes of what is extended: the file sets up every variant, also those that a point does not use.
    tables: dict[str, Any] = {"extends": str(HERE / "scenario.toml")}
    settings: dict[str, Any] = {
        "run.stop": stop,
        "run.batches": batches,
        "run.warmup_batches": discard,
        "wlan.data_rate": f"{point.rate_mbps:g} Mbit/s",
        "wlan.basic_rate": f"{point.basic_mbps:g} Mbit/s",
        "wlan.preamble": point.preamble,
    }
    if point.place == CHAIN:
        settings |= {"topology.hops": point.hops, "flow.0.dst": point.hops}
    else:
        tables |= _place(point)
    if point.variant in (UDP, DELAY):
        # Datagrams a second apart never meet.
        interval = 1000.0 if point.variant == DELAY else point.interval_ms
        settings |= {"flow.0.app": "cbr", "cbr.payload": "1460 B", "cbr.interval": f"{interval:.3f} ms"}
    else:
        settings |= (VARIANTS | _ELFN | _DOOR)[point.variant]
    if point.place == MOVING_DSR:
        settings["routing.protocol"] = "dsr"
    if point.hops > 30:
        # With a NET_DIAMETER of 30, packets do not live long enough.
        settings |= {"net.ttl": 64, "routing.aodv.net_diameter": 64}
    return Scenario(tables).with_settings(settings | dict(changes or {}))


def _place(point: Point) -> dict[str, Any]:
    """Nodes and flows that are not a chain. Flows begin one second apart."""
    if point.place in GRIDS:
        grid = GRIDS[point.place]
        flows = [{"src": a, "dst": b, "start": f"{i + 1} s"} for i, (a, b) in enumerate(grid.flows)]
        return {"topology": dict(grid.topology), "flow": flows}
    spread: dict[str, Any] = {"start": "1 s", "stagger": "1 s"}
    if point.place in (MOVING, MOVING_DSR):
        walk = {"model": "random_waypoint", "min_speed": "10 m/s", "max_speed": "10 m/s"}
        area = {"kind": "random", "nodes": 30, "width": "1500 m", "height": "300 m"}
        return {"topology": area, "mobility": walk, "traffic": spread | {"flows": 5}, "flow": []}
    if point.place in LISTED:
        topology: dict[str, Any] = {"kind": "file", "file": str(HERE / f"{point.place}_nodes.csv")}
        spread |= {"file": str(HERE / f"{point.place}_flows.csv")}
    else:
        topology = {"kind": "random", "nodes": 120, "width": "2500 m", "height": "1000 m", "seed": point.draw}
        spread |= {"flows": 10} | DRAWN[point.place]
    return {"topology": topology, "traffic": spread, "flow": []}
