"""Senders, networks and techniques of ``single_frames.py``, and their runs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import product
from typing import Any, NamedTuple

import chappe
import numpy as np
import polars as pl
from chappe_papers.ahmed2006 import points as ahmed
from chappe_papers.ramarathinam2003 import points as ramarathinam
from chappe_papers.su2008 import points as su
from chappe_papers.su2008.paths import paths
from chappe_papers.zhou2004 import points as zhou
from numpy.typing import NDArray


class Sender(NamedTuple):
    """A sender.

    Attributes:
        title: Name on the page.
        preset: Preset of its TCP.
        tcp: Settings of its TCP that differ.
    """

    title: str
    preset: str
    tcp: dict[str, Any]

    @property
    def settings(self) -> dict[str, Any]:
        """All settings of its TCP, for scenarios that have another one."""
        return _tcp_of(self.preset) | self.tcp


@cache
def _tcp_of(preset: str) -> dict[str, Any]:
    settings = chappe.Scenario.chain(1, stop="1 s", extends=preset)
    return {name: value for name, value in settings.items() if name.startswith("tcp.")}


_OLD = {
    "tcp.mss": "1448 B",
    "tcp.header_size": "52 B",
    "tcp.ack_size": "52 B",
    "tcp.receive_window": 64,
    "tcp.rto.min": "200 ms",
}
"""Settings of the senders of the papers: a window of 64 segments; packets have the sizes of those of Linux."""

_LINUX_VEGAS = {
    "tcp.congestion_control": "linux_vegas",
    "tcp.loss_recovery": "sack",
    "tcp.linux_vegas.alpha": 2,
    "tcp.linux_vegas.beta": 2,
}
"""Window rule of Linux with the thresholds that ElRakabawy 2005 recommends. RACK-TLP does not work with it here."""

SENDERS: Mapping[str, Sender] = {
    "cubic": Sender("CUBIC", "linux", {"tcp.congestion_control": "cubic"}),
    "reno": Sender("Reno", "linux", {"tcp.congestion_control": "reno"}),
    "bbr": Sender("BBR", "linux", {"tcp.congestion_control": "bbr"}),
    "linux_vegas": Sender("Vegas (Linux)", "linux", _LINUX_VEGAS),
    "newreno": Sender("NewReno (2003)", "standard", {"tcp.variant": "newreno", **_OLD}),
    "vegas": Sender("Vegas (2003)", "standard", {"tcp.variant": "vegas", **_OLD}),
    "e_newreno": Sender("E-NewReno (2006)", "standard", {"tcp.variant": "e_newreno", **_OLD}),
}
LINUX = ("cubic", "reno", "bbr")
"""The senders of today, with which all techniques are tried."""
TABLED = ("cubic", "reno", "bbr", "linux_vegas", "newreno", "vegas")
"""The senders of the tables."""


class Technique(NamedTuple):
    """A way to run a network.

    Attributes:
        title: Name on the page.
        changes: Settings that differ.
        source: Paper that recommends it, RFC, or system that has it.
    """

    title: str
    changes: dict[str, Any]
    source: str = ""


_FQ_CODEL = {"queue.discipline": "fq_codel"}
_THINNING = {"tcp.ack_policy": "thinning"}
PLAIN = "plain"
TECHNIQUES: Mapping[str, Technique] = {
    PLAIN: Technique("as it is", {}),
    "thinning": Technique("ACK thinning", _THINNING, "ElRakabawy 2005"),
    "clamp": Technique("limited window", {}, "Su 2008"),
    "small": Technique("queues of 2", {"queue.limit": 2}, "Su 2008"),
    "rts": Technique("RTS", {"wlan.rts_threshold": "500 B"}, "Su 2008"),
    "fixed": Technique("fixed rate", {"wlan.rate_control.algorithm": "fixed"}, "Su 2008"),
    "aodv": Technique("AODV", {"routing.protocol": "aodv"}, "Ramarathinam 2003"),
    "ecn": Technique("CoDel with ECN", {"queue.discipline": "codel", "tcp.ecn.enabled": True}, "Ahmed 2006"),
    "codel": Technique("CoDel", {"queue.discipline": "codel"}, "RFC 8289"),
    "fq_codel": Technique("FQ-CoDel", _FQ_CODEL, "RFC 8290"),
    "no_small_queue": Technique("no small queue of the sender", {"tcp.small_queue": "unlimited"}, "Linux before 3.6"),
    "delayed": Technique("no quick ACKs", {"tcp.delayed_ack.quick_acks": 0}),
    "both": Technique("thinning with FQ-CoDel", {**_THINNING, **_FQ_CODEL}),
    "fast_rates": Technique("rates of 5.5 and 11 Mbit/s only", su.SCHEMES["fast_rates"][1], "Su 2008"),
    "cara": Technique("CARA", su.SCHEMES["cara"][1], "Su 2008"),
    "flow_control": Technique("queues of 2 with flow control", su.SCHEMES["flow_control"][1], "Su 2008"),
    "snoop": Technique("Snoop", {}, "Zhou 2004"),
    "dsr": Technique("DSR", {"routing.protocol": "dsr", "queue.discipline": "cmu_priority"}, "Ramarathinam 2003"),
    "dsdv": Technique("DSDV", {"routing.protocol": "dsdv"}, "Ramarathinam 2003"),
    "no_probes": Technique(
        "without probes", {"tcp.rack_tlp.f_rto": False, "tcp.rack_tlp.tail_loss_probe": False}, "Ahmed 2006"
    ),
}
COLUMNS = (
    "thinning",
    "clamp",
    "small",
    "rts",
    "fixed",
    "aodv",
    "ecn",
    "codel",
    "fq_codel",
    "no_small_queue",
    "delayed",
    "both",
)
"""Techniques of the tables."""
_OF_CHAINS = (PLAIN, *(t for t in COLUMNS if t != "fixed"))
_OF_PATHS = tuple(t for t in (*_OF_CHAINS, "fixed", "fast_rates", "cara", "flow_control") if t != "aodv")
_OF_OTHERS = (PLAIN, "thinning", "aodv")
"""Techniques that other senders than those of today are run with."""


class Network(NamedTuple):
    """A kind of network.

    Attributes:
        title: Name on the page.
        short: Its name in a sentence.
        scenario: Function that makes the scenario of a length, a number of flows and a number of a run.
        lengths: Lengths [hops], or whatever else differs.
        compared: Lengths at which techniques are tried.
        stop: Length of a run.
        flows: Numbers of flows.
        senders: Its senders.
        techniques: Its techniques.
        everywhere: Techniques that are tried at all lengths.
        is_drawn: True if every run has a scenario of its own.
        settings: Settings of a technique that are its own.
        seeds: Number of runs of each kind.
        transfers: Flows that count for goodput, the first one and the one behind the last; ``None``: all.
    """

    title: str
    short: str
    scenario: Callable[[float, int, int], chappe.Scenario]
    lengths: tuple[float, ...]
    compared: tuple[float, ...]
    stop: str
    flows: tuple[int, ...] = (1, 4)
    senders: tuple[str, ...] = TABLED
    techniques: tuple[str, ...] = _OF_CHAINS
    everywhere: tuple[str, ...] = (PLAIN,)
    is_drawn: bool = False
    settings: Mapping[str, dict[str, Any]] = {}
    seeds: int = 10
    transfers: tuple[int, int] | None = None

    def tried(self, sender: str, length: float) -> list[str]:
        """Techniques that a sender is run with at a length."""
        own = self.techniques if sender in LINUX else [t for t in _OF_OTHERS if t in self.techniques]
        return [t for t in own if length in self.compared or t in self.everywhere]

    def changes(self, technique: str) -> dict[str, Any]:
        """Settings of a technique."""
        return TECHNIQUES[technique].changes | self.settings.get(technique, {})


def _chain(
    presets: tuple[str, ...], wlan: dict[str, Any], airtime: bool, hops: float, flows: int, _: int
) -> chappe.Scenario:
    return chappe.Scenario(
        {
            "extends": ["standard", *presets],
            "wlan": wlan,
            "routing": {"protocol": "shortest_path"},
            "topology": {"hops": int(hops)},
            "flow": [{"src": 0, "dst": int(hops)}] * flows,
            "radio": {"energy": {"idle": "0 W"}},
            "run": {"stop": "1 s", "airtime": airtime},
        }
    )


def _path(host: str, hops: float, flows: int, number: int) -> chappe.Scenario:
    point = su.Point("path" if flows == 1 else "shared", int(hops), host=host)
    return paths().on(number, point, su.scenario(point))


def _lossy(percent: float, _flows: int, _number: int) -> chappe.Scenario:
    return zhou.scenario(zhou.Point("sack", "none", percent, "authors"))


def _classroom(_length: float, _flows: int, _number: int) -> chappe.Scenario:
    changes = {f"flow.{ramarathinam.ENTRIES['mesh']}.tcp.header_size": "52 B", "run.airtime": True}
    return ramarathinam.scenario(ramarathinam.Point("reno")).with_settings(changes)


def _walking(speed: float, _flows: int, _number: int) -> chappe.Scenario:
    return ahmed.scenario(ahmed.Point("newreno", speed))


def _limit(segments: int) -> dict[str, dict[str, Any]]:
    return {"clamp": {"tcp.max_cwnd": segments}}


def _of_su(segments: int) -> dict[str, dict[str, Any]]:
    # The packet that is sent counts in a buffer of 2 of Su.
    return {**_limit(segments), "small": su.SCHEMES["buf2"][1]}


_DSSS = {"data_rate": "11 Mbit/s", "basic_rate": "2 Mbit/s"}
_TEN = tuple(range(1, 11))
_PATHS = (1, 3, 5)
_SU: Any = {
    "techniques": _OF_PATHS,
    "everywhere": (PLAIN, "no_small_queue", "clamp", "small"),
    "is_drawn": True,
    "seeds": 25,
}

NETWORKS: dict[str, Network] = {
    "b": Network("802.11b, 11 Mbit/s", "802.11b", partial(_chain, (), _DSSS, True), _TEN, (1, 3, 5, 10), "20 s",
                 settings=_limit(4)),
    "a": Network("802.11a, 54 Mbit/s", "802.11a", partial(_chain, ("802.11a",), {}, False), _TEN, (1, 3, 5, 10), "10 s",
                 settings=_limit(4)),
    "mesh": Network("Su's mesh", "Su's mesh", partial(_path, ""), _PATHS, (5,), "20 s", settings=_of_su(4), **_SU),
    "europe": Network("Su's mesh to Europe", "to Europe", partial(_path, "mesh_europe"), _PATHS, (5,), "20 s",
                      settings=_of_su(7), **_SU),
    "us": Network("Su's mesh to the US", "to the US", partial(_path, "mesh_us"), _PATHS, (5,), "20 s",
                  settings=_of_su(13), **_SU),
}  # fmt: skip
"""Networks of the tables."""
PATHS_OF_SU = ("mesh", "europe", "us")
FIVE_HOPS = (5,)
"""Length over which all techniques are tried on Su's paths, the longest there."""

_SNOOP = {"snoop": {"middlebox": zhou.READINGS["authors"].boxes["snoop"]}}
PAPERS: dict[str, Network] = {
    "lossy": Network("five flows over a lossy link", "lossy link", _lossy, (0.1, 4, 8), (0.1, 4, 8), "50 s", (5,),
                     ("cubic", "reno", "bbr", "linux_vegas"), (PLAIN, "snoop"), settings=_SNOOP),
    "classroom": Network("eleven laptops in a classroom", "classroom", _classroom, (0,), (0,), "500 s", (130,), LINUX,
                         (PLAIN, "dsr", "dsdv"), transfers=(10, 40)),
    "walking": Network("twenty nodes that walk", "walking nodes", _walking, (10,), (10,), "200 s", (20,),
                       (*LINUX, "newreno", "e_newreno"), (PLAIN, "no_probes", "ecn", "fq_codel"), seeds=20),
}  # fmt: skip
"""Networks of three papers, where their recommendations are tried."""

GOODPUT, DELAY, JAIN, GAP = "goodput_bps", "mean_delay_s", "jain_index", "longest_gap_s"
ENERGY, WINDOW = "energy_per_bit_j", "mean_window_segments"
ACKS, BREAKS = "acks_per_segment", "route_failures_per_10000"
MEASURES = (GOODPUT, DELAY, JAIN, GAP, ENERGY, WINDOW, ACKS, BREAKS)
MOST = {JAIN: 1.0}
"""Largest possible value of a measure, where there is one besides infinity."""
_OWN = [GAP, f"{ACKS} = sum(flows.tcp_acks_received) / sum(flows.packets_acked)"]

Values = Mapping[str, Mapping[float, NDArray[np.float64]]]
"""Values of measures, by length, one for each run; NaN where nothing is delivered."""
Key = tuple[str, int, str, str]
"""Network, number of flows, sender, technique."""
Found = Mapping[Key, Values]


def runs(networks: Mapping[str, Network], seeds: int | None, stop: str | None) -> Found:
    """Runs all senders over networks.

    Args:
        networks: The networks by name.
        seeds: Runs of each kind; ``None``: those of each network.
        stop: Length of the runs; ``None``: that of each network.
    """
    found: dict[Key, dict[str, dict[float, NDArray[np.float64]]]] = {}
    for name, network in networks.items():
        for flows, length in product(network.flows, network.lengths):
            title = f"{network.title}, {length:g}, {flows}"
            tables = [
                _study(network, length, scenario.with_settings({"run.stop": stop or network.stop}), numbers, title)
                for scenario, numbers in _scenarios(network, length, flows, seeds or network.seeds)
            ]
            for (case,), rows in pl.concat(tables).sort("seed").partition_by("case", as_dict=True).items():
                sender, technique = str(case).split()
                of_key = found.setdefault((name, flows, sender, technique), {measure: {} for measure in MEASURES})
                for measure in MEASURES:
                    of_key[measure][length] = rows[measure].cast(pl.Float64).fill_null(np.nan).to_numpy()
    return found


def _scenarios(
    network: Network, length: float, flows: int, seeds: int
) -> Iterator[tuple[chappe.Scenario, Sequence[int]]]:
    numbers = range(1, seeds + 1)
    if network.is_drawn:
        yield from ((network.scenario(length, flows, n), [n]) for n in numbers)
    else:
        yield network.scenario(length, flows, 0), numbers


def _study(
    network: Network, length: float, scenario: chappe.Scenario, seeds: Sequence[int], title: str
) -> pl.DataFrame:
    cases = {
        f"{sender} {technique}": SENDERS[sender].settings | network.changes(technique)
        for sender in network.senders
        for technique in network.tried(sender, length)
    }
    study = chappe.sweep(scenario, seeds=seeds, cases=cases, measures=_OWN, title=title, progress=True)
    rows = study.runs.select("run", "case", "seed", *MEASURES)
    if network.transfers is None:
        return rows.drop("run")
    first, last = network.transfers
    chosen = study.table("flows").filter(pl.col("flow").is_between(first, last, closed="left"))
    goodput = chosen.group_by("run").agg(pl.col(GOODPUT).sum().alias("of_transfers"))
    return rows.join(goodput, on="run").with_columns(pl.col("of_transfers").alias(GOODPUT)).drop("run", "of_transfers")
