"""The points of the paper: what its runs have in common, and the scenarios of its layouts."""

import tomllib
from importlib.resources import files
from typing import Any, NamedTuple

from chappe import Scenario

HOPS = (1, 2, 3, 4, 5)
COLUMNS = 6
"""Routers of a path: the receiver is at one of them, the others keep silent."""

ROWS = 4
"""Disjoint paths, and flows of the layouts with several."""

HOP_M = 10.0
ROW_M = 9.4
"""Distance of the rows of the frozen model [m], the last thing calibrated: 10.2 Mbit/s of four flows over one hop."""

INFORMED, FROZEN = "informed", "frozen"
MODELS = {
    INFORMED: "what the text of the paper supports, see :mod:`~chappe_papers.su2008.informed`",
    FROZEN: "the model of the predictions, which nothing has changed since they were written",
}
"""Models of the testbed."""

ROWS_NEAR, RTS_APART, WINDOWS, BUFFERS = "rows", "rts", "windows", "buffers"
"""Facts of the informed model."""

NEAR_ROW_M = HOP_M / 4
"""Distance of the rows of the informed model [m]: 24 columns, and chosen paths of up to five hops."""

WINDOW = 45
"""Window of 64 KiB [segments], which every upload of Table IV fills: rate times round-trip time is 68 to 70 kB."""

FAST_KBPS = 100_000
"""Rate of a wire that limits nothing [kbit/s]."""

LAYOUTS = {
    "path": "one flow on a path",
    "shared": "four flows on one path",
    "rows": "four flows on four disjoint paths",
    "ping": "a datagram of 1500 bytes with its headers, now and then",
}
"""Layouts of flows, without the Internet or in front of it."""


class Host(NamedTuple):
    """A host on the Internet, and which way the data go."""

    title: str
    upstream_kbps: float
    downstream_kbps: float
    rtt_ms: float
    upload: bool = True


_EUROPE, _US, _LATER = (17_596, 34_747, 31.0), (4719, 3500, 115.0), (31_400, 14_900, 17.9)

HOSTS: dict[str, Host] = {
    "mesh_europe": Host("Mesh-Europe", *_EUROPE),
    "europe_mesh": Host("Europe-Mesh", *_EUROPE, upload=False),
    "mesh_us": Host("Mesh-US", *_US),
    "us_mesh": Host("US-Mesh", *_US, upload=False),
    "mesh_europe_later": Host("Mesh-Europe (VII)", *_LATER),
    "europe_mesh_later": Host("Europe-Mesh (VII)", *_LATER, upload=False),
}
"""Hosts by name: Table IV, and of Section VII the footnote, which has other numbers for Europe."""

WIRE_QUEUE = 50
"""Packets that wait at either end of the path over the Internet: the paper does not say."""

SCHEMES: dict[str, tuple[str, dict[str, Any]]] = {
    "reno": ("TCP Reno", {}),
    "clamp3": ("Clamping 3", {"tcp.max_cwnd": 3}),
    "clamp4": ("Clamping 4", {"tcp.max_cwnd": 4}),
    "vegas": ("TCP Vegas", {"tcp.variant": "linux_vegas"}),
    "buf2": ("Buf 2", {"queue.limit": 1}),
    "buf4": ("Buf 4", {"queue.limit": 3}),
    "buf2_beside": ("Buf 2, beside the one that is sent", {"queue.limit": 2}),
    "buf4_beside": ("Buf 4, beside the one that is sent", {"queue.limit": 4}),
    "buf2_lost": ("Buf 2, drops at the sender are losses", {"queue.limit": 1, "tcp.local_drop": "lost"}),
    "buf2_beside_lost": ("both", {"queue.limit": 2, "tcp.local_drop": "lost"}),
    "buf2_ring": (
        "Buf 2, freed by interrupts",
        {"queue.discipline": "transmit_ring", "queue.limit": 2, "queue.transmit_ring.interrupt_frames": 5},
    ),
    "buf3_ring": (
        "Buf 3, freed by interrupts",
        {"queue.discipline": "transmit_ring", "queue.limit": 3, "queue.transmit_ring.interrupt_frames": 5},
    ),
    "cara": ("CARA", {"wlan.rate_control.algorithm": "cara"}),
    "flow_control": (
        "Buf 2 with flow control",
        {"queue.discipline": "flow_controlled", "queue.limit": 2, "tcp.small_queue": 1},
    ),
    "fast_rates": ("rates of at least 5.5 Mbit/s", {"wlan.rate_control.rates": ["5.5 Mbit/s", "11 Mbit/s"]}),
    "small_queue": ("small queues", {"tcp.small_queue": 2}),
    "westwood": ("Westwood+", {"tcp.variant": "westwood"}),
    "veno": ("Veno", {"tcp.variant": "veno"}),
    "few": ("FeW", {"tcp.variant": "few"}),
    "tcp_ap": ("TCP-AP", {"tcp.variant": "tcp_ap", "tcp.ap.link_rate": "11 Mbit/s"}),
    "thinning": ("thinning", {"tcp.ack_policy": "thinning"}),
    "vegas_thinning": ("Vegas with thinning", {"tcp.variant": "linux_vegas", "tcp.ack_policy": "thinning"}),
    "fq_codel": ("FQ-CoDel", {"queue.discipline": "fq_codel"}),
}
"""Schemes to compare: those of Table V, other readings of its Buf 2, and others."""

BESIDE = {"buf2": "buf2_beside", "buf4": "buf4_beside"}
"""Buffers that count the packet being sent, with those that do not count it, as in the frozen model."""

PAPERS = ("reno", "clamp3", "clamp4", "vegas", "buf2")
"""Schemes of Table VI."""

OUTLOOK = ("cara", "flow_control", "fast_rates")
"""Hopes of the paper: losses told from collisions, flow control of links, limits of features across layers."""

RATES = {"auto": "autorate", "fixed": "11 Mbit/s"}

LIMITS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 13, 16, 20, 30, 50)
"""Window limits of Figures 6 to 10 [segments]."""


class Point(NamedTuple):
    """Parameters of runs that differ only in the path, see :mod:`~chappe_papers.su2008.paths`."""

    layout: str
    """Of :data:`LAYOUTS`."""
    hops: int = 5
    rate: str = "auto"
    """Of :data:`RATES`."""
    scheme: str = "reno"
    """Of :data:`SCHEMES`."""
    limit: int = 0
    """Window limit [segments]; 0: none but that of the scheme."""
    rts: int = 0
    """1: with RTS and CTS."""
    host: str = ""
    """Of :data:`HOSTS`; empty: none."""
    model: str = INFORMED
    """Of :data:`MODELS`, or the facts it takes, with a plus sign between two."""

    @property
    def facts(self) -> frozenset[str]:
        """Names of the facts of the informed model that change its runs, in whatever model it is."""
        host = HOSTS.get(self.host)
        of_point = {
            ROWS_NEAR: self.layout == "rows",
            RTS_APART: bool(self.rts) and self.rate == "auto",
            WINDOWS: host is not None and host.upload,
            BUFFERS: self.scheme in BESIDE,
        }
        return frozenset(name for name, changes in of_point.items() if changes)

    @property
    def known(self) -> frozenset[str]:
        """Facts of the point that its model takes."""
        if self.model == INFORMED:
            return self.facts
        return self.facts & set(self.model.split("+"))

    @property
    def plain(self) -> "Point":
        """The same point in the first of all models that give it this scenario."""
        model = INFORMED if self.known == self.facts else "+".join(sorted(self.known)) or FROZEN
        return self._replace(model=model)


def tables() -> dict[str, Any]:
    """The scenario of the paper: one flow over five hops, with SampleRate."""
    return tomllib.loads(files(__package__).joinpath("scenario.toml").read_text(encoding="utf-8"))


def scenario(p: Point, changes: dict[str, Any] | None = None, row_m: float | None = None) -> Scenario:
    """The scenario of a point.

    Args:
        p: Layout, hops, rate control, scheme, host, model.
        changes: Settings that differ.
        row_m: Distance of the rows [m]; ``None``: that of the model.
    """
    rows = ROWS if p.layout == "rows" else 1
    host = HOSTS.get(p.host)
    if row_m is None:
        row_m = NEAR_ROW_M if ROWS_NEAR in p.known else ROW_M
    ends = [(COLUMNS * row, COLUMNS * row + p.hops) for row in range(rows)]
    base = tables()
    if rows > 1:
        places = [[f"{HOP_M * column} m", f"{row_m * row} m"] for row in range(rows) for column in range(COLUMNS)]
        base["topology"] = {"kind": "list", "positions": places}
    base["routing"] = {"protocol": "fixed", "fixed": {"routes": routes(rows, p.hops if host else None)}}
    if host is not None:
        base |= _internet(host, p.hops, FAST_KBPS if WINDOWS in p.known else host.upstream_kbps)
        ends = [(start, COLUMNS) for start, _ in ends]
        if not host.upload:
            ends = [(b, a) for a, b in ends]
    if p.layout == "shared":
        ends *= ROWS
    flow = {"app": "cbr", "cbr": {"payload": "1472 B", "interval": "200 ms"}} if p.layout == "ping" else {}
    base["flow"] = [{"src": a, "dst": b, **flow} for a, b in ends]
    scheme = p.scheme if BUFFERS in p.known else BESIDE.get(p.scheme, p.scheme)
    changes_of_point = dict(SCHEMES[scheme][1])
    if p.limit:
        changes_of_point["tcp.max_cwnd"] = p.limit
    if p.rate == "fixed":
        changes_of_point["wlan.rate_control.algorithm"] = "fixed"
    if p.rts:
        changes_of_point["wlan.rts_threshold"] = "always"
    if RTS_APART in p.known:
        changes_of_point["wlan.rate_control.rts_uses_chain"] = False
    if WINDOWS in p.known:
        changes_of_point["tcp.receive_window"] = WINDOW
    return Scenario(base).with_settings(changes_of_point | (changes or {}))


def routes(rows: int, gateway: int | None = None) -> list[dict[str, int]]:
    """Along the rows; with a gateway, over that to the host, which has the number after the last router."""
    routes_of = []
    for first in range(0, rows * COLUMNS, COLUMNS):
        for at in range(COLUMNS):
            hops = [(to, at + (1 if to > at else -1)) for to in range(COLUMNS) if to != at]
            routes_of += [{"node": first + at, "dst": first + to, "next_hop": first + via} for to, via in hops]
    if gateway is not None:
        routes_of += [{"node": at, "dst": COLUMNS, "next_hop": at + 1} for at in range(gateway)]
        routes_of += [{"node": gateway, "dst": COLUMNS, "next_hop": COLUMNS}]
        routes_of += [{"node": COLUMNS, "dst": to, "next_hop": gateway} for to in range(gateway + 1)]
    return routes_of


def _internet(host: Host, gateway: int, upstream_kbps: float) -> dict[str, Any]:
    """A wire from the gateway to a host, with a rate and a queue for each direction."""
    queue = {"limit": WIRE_QUEUE, "discipline": "droptail"}
    back = {"rate": f"{host.downstream_kbps} kbit/s", "queue": queue}
    up = {"rate": f"{upstream_kbps} kbit/s", "delay": f"{host.rtt_ms / 2} ms", "queue": queue}
    return {"topology.wired_nodes": 1, "wired_link": [{"src": gateway, "dst": COLUMNS, **up, "back": back}]}
