"""Networks of Linux hosts over 802.11 of ``linux_mesh.py``, the changes that are tried in them, and their runs."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import chappe

Settings = dict[str, Any]

SENDERS = {"cubic": "CUBIC", "bbr": "BBR"}
"""Congestion controls by their names in the setting."""

PLAIN = "plain"
"""Linux's setting."""

NO_SWITCH = "no switch"
"""Linux cannot be told."""


class Change(NamedTuple):
    """A change of a network of Linux hosts.

    Attributes:
        title: Its name.
        settings: Settings that differ, over aggregates and over single frames; ``None``: not tried there.
        how: How a Linux host is told; :data:`NO_SWITCH`: it cannot be told.
        why: What it changes, in about ten words.
    """

    title: str
    settings: tuple[Settings | None, Settings | None]
    how: str
    why: str


_FIFO = {"wlan.queues": "fifo", "queue.discipline": "droptail", "queue.limit": 1000}
_ONE_QUEUE = {"wlan.mac80211.flows": 1, "wlan.mac80211.codel.target": "3600 s"}

CHANGES: Mapping[str, Change] = {
    "fifo": Change(
        "without mac80211's queues", (_FIFO, None), f"{NO_SWITCH}: drivers have had them since Linux 6.2",
        "first in, first out, without FQ-CoDel; an aggregate is made when the medium is won",
    ),
    "no_fq_codel": Change(
        "mac80211's queues without FQ-CoDel", (_ONE_QUEUE, None), NO_SWITCH,
        "one queue for each station, first in, first out, which drops only where the device is full",
    ),
    "fq_codel": Change(
        "FQ-CoDel", (None, {"queue.discipline": "fq_codel"}), "`tc qdisc replace dev wlan0 root fq_codel`",
        "a queue for each flow, which drops early",
    ),
    "unfair": Change(
        "no airtime fairness", ({"wlan.mac80211.airtime_fairness": False}, None),
        "`echo 0 > /sys/kernel/debug/ieee80211/phy0/airtime_flags`",
        "stations take turns by aggregates instead of by airtime",
    ),
    "no_aql": Change(
        "no airtime limits", ({"wlan.mac80211.airtime_limits": False}, None),
        "`echo 0 > /sys/kernel/debug/ieee80211/phy0/aql_enable`",
        "the driver takes packets away from the queues of mac80211",
    ),
    "one": Change(
        "one aggregate in the driver", ({"wlan.mac80211.aggregates": 1}, None), NO_SWITCH,
        "no aggregate is made ahead: each has all that waits when its turn comes",
    ),
    "rts": Change(
        "RTS", ({"wlan.rts_threshold": "500 B"},) * 2, "`iw phy phy0 set rts 500`",
        "a collision costs a short frame instead of a long one",
    ),
    "mpdus_8": Change(
        "aggregates of 8", ({"wlan.aggregation.max_mpdus": 8}, None), NO_SWITCH,
        "shorter aggregates: less delay, more preambles and contention",
    ),
    "mpdus_1": Change(
        "single frames", ({"wlan.aggregation.max_mpdus": 1}, None), NO_SWITCH,
        "each packet contends for itself",
    ),
    "thinning": Change(
        "ACK thinning", ({"tcp.ack_policy": "thinning"},) * 2, NO_SWITCH,
        "fewer acknowledgements contend with segments",
    ),
    "window_4": Change(
        "window of 4", ({"tcp.max_cwnd": 4},) * 2,
        "`ip route change ... window 5792` at the receiver, for hosts of the mesh only",
        "few segments wait or collide; they fill no aggregate, and no path over a wire",
    ),
}  # fmt: skip


class Network(NamedTuple):
    """A network.

    Attributes:
        radio: Its radio.
        path: What flows cross.
        routes: How routes are found.
        scenario: Function that makes its scenario.
        is_single: True for single frames.
    """

    radio: str
    path: str
    routes: str
    scenario: Callable[[], Settings]
    is_single: bool = False

    def cases(self) -> dict[str, Settings]:
        """The changes that are tried here, by name."""
        tried = {name: change.settings[self.is_single] for name, change in CHANGES.items()}
        return {PLAIN: {}, **{name: settings for name, settings in tried.items() if settings is not None}}


STOP, STOP_AFAR = "14 s", "42 s"
"""Lengths of a run, and of one over a wire of tens of milliseconds, where CUBIC's window grows for 20 s."""

_RUN = {"stop": STOP, "batches": 7, "warmup_batches": 2}


class Radio(NamedTuple):
    """A radio that sends aggregates: its preset, and its noise in 20 or 80 MHz [dBm]."""

    preset: str
    noise_dbm: float


OTHER_BAND = "802.11n, 2.4 GHz"
"""A radio whose times alone differ from those of 802.11n at 5 GHz: it has the plain networks only."""

RADIOS = {
    "802.11n": Radio("802.11n", -93.97),
    OTHER_BAND: Radio("802.11n-2.4ghz", -93.97),
    "802.11ac": Radio("802.11ac", -87.95),
}
"""Radios that send aggregates, by name; at 5 GHz where the name says nothing else."""


def _aggregates(radio: Radio, topology: Settings) -> Settings:
    """A network with signals 27 dB above the noise over 200 m, 12 dB over 400 m; others do not hear."""
    return {
        "extends": ["linux-mesh", radio.preset],
        "topology": topology,
        "radio": {
            "propagation": "log_distance",
            "log_distance": {"exponent": 5.0, "distance": "200 m", "loss": "100 dB"},
            "transmit_power": f"{radio.noise_dbm + 127:g} dBm",
            "sinr": {"energy_detection": f"{radio.noise_dbm + 4:g} dBm"},
        },
        "run": _RUN,
    }


def _fixed(path: list[int]) -> Settings:
    """Routes along a path, both ways."""
    ways = (path, path[::-1])
    return {
        "protocol": "fixed",
        "fixed": {
            "routes": [
                {"node": node, "dst": way[-1], "next_hop": way[i + 1]}
                for way in ways for i, node in enumerate(way[:-1])
            ]
        },
    }  # fmt: skip


def _chain(radio: Radio, hops: int, routing: str = "fixed") -> Settings:
    routes = _fixed(list(range(hops + 1))) if routing == "fixed" else {"protocol": routing}
    flow = {"flow": [{"src": 0, "dst": hops}]}
    return _aggregates(radio, {"hops": hops, "spacing": "200 m"}) | {"routing": routes} | flow


def _to(radio: Radio, hops: int, one_way: str) -> Settings:
    """A path over a chain and a wire to a host."""
    host = hops + 1
    return {
        **_aggregates(radio, {"hops": hops, "spacing": "200 m", "wired_nodes": 1}),
        "wired_link": [{"src": hops, "dst": host, "rate": "100 Mbit/s", "delay": one_way}],
        "routing": _fixed(list(range(host + 1))),
        "flow": [{"src": 0, "dst": host}],
        "run": _RUN | {"stop": STOP_AFAR},
    }


def _grid(radio: Radio) -> Settings:
    """Four flows of three hops along the sides of a grid."""
    topology = {"kind": "grid", "rows": 4, "columns": 4, "spacing": "200 m"}
    ends = ((0, 3), (12, 15), (0, 12), (3, 15))
    return {
        **_aggregates(radio, topology),
        "routing": {"protocol": "shortest_path"},
        "flow": [{"src": a, "dst": b} for a, b in ends],
    }


def _access_point(radio: Radio, is_slow: bool) -> Settings:
    """Downloads of four stations from a host behind an access point; the last may be far away."""
    places = [("0 m", "0 m"), ("100 m", "0 m"), ("0 m", "100 m"), ("-100 m", "0 m")]
    places.append(("0 m", "-480 m" if is_slow else "-100 m"))
    host = len(places)
    routes = [r for n in range(1, host) for r in _fixed([host, 0, n])["fixed"]["routes"]]
    # Each route of a station is that of its own download.
    unique = list({(r["node"], r["dst"]): r for r in routes}.values())
    return {
        **_aggregates(radio, {"kind": "list", "positions": [list(p) for p in places], "wired_nodes": 1}),
        "wired_link": [{"src": host, "dst": 0, "rate": "1 Gbit/s", "delay": "5 ms"}],
        "routing": {"protocol": "fixed", "fixed": {"routes": unique}},
        "flow": [{"src": host, "dst": n} for n in range(1, host)],
    }


def _frames(presets: list[str], wlan: Settings, hops: int) -> Settings:
    """A chain of ns-2's radios, which send single frames."""
    return {
        "extends": ["standard", *presets, "linux"],
        "wlan": wlan,
        "topology": {"hops": hops},
        "routing": {"protocol": "shortest_path"},
        "flow": [{"src": 0, "dst": hops}],
        "run": _RUN,
    }


_DSSS = {"data_rate": "11 Mbit/s", "basic_rate": "2 Mbit/s"}
_WIRES = {"to Europe": "15.5 ms", "to the US": "57.5 ms"}


def _networks() -> dict[str, Network]:
    found: dict[str, Network] = {}
    for name, radio in RADIOS.items():
        for hops in range(1, 6):
            path = f"{hops} hop{'s' * (hops > 1)}"
            found[f"{name}, {path}"] = Network(name, path, "static", partial(_chain, radio, hops))
        access = partial(_access_point, radio, is_slow=False)
        found[f"{name}, 4 stations"] = Network(name, "access point, 4 stations", "static", access)
        if name == OTHER_BAND:
            continue
        access = partial(_access_point, radio, is_slow=True)
        path = "access point, 4 stations, one far and hidden"
        found[f"{name}, 4 stations, one far and hidden"] = Network(name, path, "static", access)
        # AODV takes a hop of 400 m.
        found[f"{name}, AODV"] = Network(name, "600 m, 2 hops", "AODV", partial(_chain, radio, 3, "aodv"))
        for title, delay in _WIRES.items():
            found[f"{name}, {title}"] = Network(name, f"3 hops, {title}", "static", partial(_to, radio, 3, delay))
        found[f"{name}, grid"] = Network(name, "grid, 4 flows", "static", partial(_grid, radio))
    for name, presets, wlan in (("802.11b", [], _DSSS), ("802.11a", ["802.11a"], {})):
        for hops in (1, 3, 5):
            path = f"{hops} hop{'s' * (hops > 1)}"
            found[f"{name}, {path}"] = Network(
                name, path, "static", partial(_frames, presets, wlan, hops), is_single=True
            )
    return found


NETWORKS = _networks()
"""Networks by name."""

MPDUS, REPEATED, UNANSWERED = "mpdus_per_frame", "repeated_frames", "unanswered_rts"
FRAMES = {
    MPDUS: "sum(nodes.mpdus_sent) / sum(nodes.data_frames_sent)",
    REPEATED: "sum(nodes.data_frames_failed) / sum(nodes.data_frames_sent)",
    UNANSWERED: "sum(nodes.rts_frames_failed) / sum(nodes.rts_frames_sent)",
}
"""Shares of frames, which say why RTS gains or costs."""


def study(network: Network, seeds: int, out: Path, jobs: int | None) -> chappe.Study:
    """Runs of all changes with all senders; those that the folder has are not made again."""
    return chappe.sweep(
        chappe.Scenario(network.scenario()),
        {"tcp.congestion_control": list(SENDERS)},
        seeds=seeds,
        cases=network.cases(),
        measures=["delay_p95_s", "longest_gap_s", *(f"{name} = {value}" for name, value in FRAMES.items())],
        title=(title := f"{network.radio}, {network.path}, {network.routes}"),
        out=out / re.sub(r"\W+", "-", title),
        jobs=jobs,
        progress=True,
    )
