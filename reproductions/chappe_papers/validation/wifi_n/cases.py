"""Cases of the comparison: links, saturated stations, access categories, hidden terminals, noise, TCP over chains."""

import csv
import math
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, NamedTuple

from chappe import Scenario

HERE = files("chappe_papers.validation.wifi_n")

TABLES = ("link", "sat", "edca", "hidden", "hidden_nobar", "snr", "tcp")
"""Tables of ns-3, each with its groups of settings."""

PAYLOAD = 1472
"""Of a datagram in an IP packet of 1500 B [B]."""

RATES_A = (6, 9, 12, 18, 24, 36, 48, 54)
"""Rates of 802.11a [Mbit/s], by their number in the tables."""

_SUBFRAME = 1544
"""An MPDU of 1538 B in an A-MPDU [B]."""

_PRIORITY = {"be": 0, "bk": 8, "vi": 40, "vo": 48}
"""Codepoint of each access category."""

CATEGORY = {"be": "best_effort", "bk": "background", "vi": "video", "vo": "voice"}
"""Name of each access category in settings."""


class Case(NamedTuple):
    """A scenario, everything but the seed. Names and values are those of the tables."""

    table: str
    std: str
    width_mhz: int
    gi_ns: int
    mcs: int
    nss: int
    band_ghz: str
    agg_limit: int
    amsdu_bytes: int
    n: int
    hops: int
    spacing_m: int
    rts: int
    acs: str
    txop: str
    error_model: str
    snr_db: float
    window: int
    flows: int
    seconds: float

    @property
    def kind(self) -> str:
        """Group of the case in the summary."""
        return {
            "link": "one saturated link",
            "sat": "saturated stations",
            "edca": "access categories",
            "hidden": "hidden terminals, a request after a missed block acknowledgement",
            "hidden_nobar": "hidden terminals, the A-MPDU again after a missed block acknowledgement",
            "snr": f"one link with noise, {self.error_model}",
            "tcp": "TCP over chains",
        }[self.table]

    @property
    def title(self) -> str:
        """For people."""
        name = {"a": "802.11a", "n": f"HT{self.width_mhz}", "ac": f"VHT{self.width_mhz}"}[self.std]
        rate = f"{name}, {self.mcs} Mbit/s" if self.std == "a" else f"{name} MCS {self.mcs}"
        parts = [f"{self.kind}: {rate}"]
        parts += ["two streams"] * (self.nss == 2 and self.std == "ac")
        parts += ["short guard interval"] * (self.gi_ns == 400)
        parts += ["2.4 GHz"] * (self.band_ghz == "2.4")
        limit = "the largest A-MPDUs" if self.agg_limit == 999 else f"A-MPDUs of {self.agg_limit}"
        parts += [limit if self.agg_limit else "single frames"]
        parts += [f"A-MSDUs of {self.amsdu_bytes} B"] * bool(self.amsdu_bytes) + ["RTS"] * self.rts
        if self.table == "sat":
            parts += [f"{self.n} stations"]
        if self.table in ("edca",):
            parts += [self.acs]
        if self.txop != "default":
            parts += [f"TXOP limits {self.txop}"]
        if self.table == "snr":
            parts += [f"{self.snr_db:g} dB"]
        if self.table == "tcp":
            parts += [f"{self.hops} hop{'s' if self.hops > 1 else ''} of {self.spacing_m} m", f"window {self.window}"]
            parts += [f"{self.flows} flows"] * (self.flows > 1)
        return ", ".join(parts)


class Measured(NamedTuple):
    """Deliveries of a run of ns-3."""

    goodput_bps: float
    per_flow_bps: tuple[float, ...]


def rows() -> Iterator[tuple[Case, Measured]]:
    """Runs of ns-3.37 with fixed rates."""
    text = HERE.joinpath("ns3.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
        values = [kind(row[name]) for name, kind in Case.__annotations__.items()]
        yield Case(*values), Measured(float(row["goodput_bps"]), tuple(map(float, row["per_flow_bps"].split())))


def reference() -> dict[Case, list[Measured]]:
    """The runs of ns-3.37, by case."""
    by_case: dict[Case, tuple[Case, list[Measured]]] = {}
    for case, measured in rows():
        # A few settings were run for two lengths.
        longest, all_of_case = by_case.setdefault(case._replace(seconds=0), (case, []))
        all_of_case.append(measured)
        by_case[case._replace(seconds=0)] = (max(longest, case, key=lambda c: c.seconds), all_of_case)
    return dict(by_case.values())


def senders(case: Case) -> list[tuple[int, int, str]]:
    """Flows as source, destination and category."""
    if case.table == "tcp":
        return [(0, case.hops, "be")] * case.flows
    if case.table in ("hidden", "hidden_nobar"):
        return [(0, 1, "be"), (2, 1, "be")]
    stations = case.acs.split()
    if case.table != "edca":
        stations *= case.n
    return [(i, 0, c) for i, station in enumerate(stations, start=1) for c in station.split("+")]


def habits(case: Case) -> dict[str, Any]:
    """Settings for deviations of ns-3 from the standard."""
    settings: dict[str, Any] = {}
    if case.std != "a":
        # An MPDU under an agreement, and a request for its block acknowledgement, are repeated without a limit.
        if case.agg_limit:
            # A request is not repeated where an A-MPDU is.
            settings["wlan.block_ack.request_attempts"] = 1 if case.table == "hidden_nobar" else "unlimited"
            settings["wlan.block_ack.mpdu_attempts"] = 7 if case.table == "hidden_nobar" else "unlimited"
            settings |= {"wlan.block_ack.lifetime": "unlimited", "wlan.block_ack.release_after": "never"}
        if case.std == "ac":
            settings["wlan.ppdu.sig_b"] = False
        if case.gi_ns == 400:
            settings["wlan.ppdu.short_symbols_rounded"] = False
    return settings


def scenario(case: Case, *, plain: bool = False) -> Scenario:
    """The scenario of a case; `plain`: without the :func:`habits` of ns-3."""
    noise_dbm = 10 * math.log10(1.380649e-23 * 290 * case.width_mhz * 1e6) + 30 + 7
    snr = case.snr_db if case.table == "snr" else 60.0
    flows = senders(case)
    nodes = 1 + max(max(src, dst) for src, dst, _ in flows)
    reach = {"tcp": 2 if case.spacing_m == 100 else 1, "hidden": 1, "hidden_nobar": 1}.get(case.table, nodes)
    heard = [(a, b) for a in range(nodes) for b in range(nodes) if a != b and abs(a - b) <= reach]
    links = "".join(f"{a},{b},{noise_dbm + snr:.6f}\n" for a, b in heard)
    tables: dict[str, Any] = {
        "extends": "802.11a" if case.std == "a" else "802.11n" if case.std == "n" else "802.11ac",
        "radio": {
            "propagation": "links",
            "links_table": f"src,dst,signal_dbm\n{links}",
            "reception": "sinr",
            "sinr": {
                "bandwidth": f"{case.width_mhz} MHz",
                "preamble_detection": "-20 dB" if case.table == "snr" else "4 dB",
                "detection_time": "4 us",
                "energy_detection": f"{noise_dbm + 4:.6f} dBm",
                "ofdm": "nist",
            },
        },
        "wlan": {
            "response_rates": ["6 Mbit/s", "12 Mbit/s", "24 Mbit/s"],
            "rts_threshold": "always" if case.rts else "never",
            "short_retry_limit": 7,
            "eifs": "instead_of_difs",
        },
        "queue": {"limit": 400 if case.std == "a" else 400 - 128},
        "routing": {"protocol": "fixed", "fixed": {"routes": list(_routes(flows))}},
    }  # fmt: skip
    wlan = tables["wlan"]
    if case.std == "a":
        wlan |= {"data_rate": f"{RATES_A[case.mcs]} Mbit/s", "long_retry_limit": 7}
    else:
        wlan |= _high_throughput(case)
    if case.band_ghz == "2.4":
        wlan |= {"slot_time": "20 us", "sifs": "10 us", "signal_extension": "6 us"}
    tables |= _tcp(case) if case.table == "tcp" else _saturated(case, flows)
    spacing = {"tcp": case.spacing_m, "hidden": 200, "hidden_nobar": 200}.get(case.table)
    tables["topology"] = {
        "kind": "list",
        "positions": [[f"{spacing * i if spacing else 0.5 * i} m", "0 m"] for i in range(nodes)],
    }
    return Scenario(tables).with_settings({} if plain else habits(case))


def _routes(flows: list[tuple[int, int, str]]) -> Iterator[dict[str, int]]:
    """Routes from neighbor to neighbor, both ways."""
    ends = {(src, dst) for src, dst, _ in flows}
    for src, dst in sorted(ends | {(dst, src) for src, dst in ends}):
        step = 1 if dst > src else -1
        if abs(dst - src) == 1 or len(ends) > 1:
            yield {"node": src, "dst": dst, "next_hop": dst}
        else:
            yield from ({"node": at, "dst": dst, "next_hop": at + step} for at in range(src, dst, step))


def _high_throughput(case: Case) -> dict[str, Any]:
    """Settings of the MAC of HT and VHT."""
    limit = case.agg_limit * _SUBFRAME + 8
    largest = 65_535 if case.std == "n" else 1_048_575
    edca: dict[str, Any] = {}
    limits = {"zero": dict.fromkeys(CATEGORY, 0), "2020": {"be": 2528, "bk": 2528, "vi": 4096, "vo": 2080}}
    of_case = limits.get(case.txop, {})
    if case.txop.startswith("be="):
        of_case = {"be": int(case.txop.removeprefix("be="))}
    for category, us in of_case.items():
        edca[CATEGORY[category]] = {"txop_limit": f"{us} us"}
    return {
        "ppdu": {
            "channel_width": f"{case.width_mhz} MHz",
            "guard_interval": f"{case.gi_ns} ns",
            "mcs": case.mcs % 8 if case.std == "n" else case.mcs,
            "streams": case.nss,
        },
        "edca": edca,
        "aggregation": {"amsdu_size": f"{case.amsdu_bytes} B"}
        | (
            {"max_mpdus": 64, "max_size": f"{largest if case.agg_limit == 999 else min(limit, largest)} B"}
            if case.agg_limit
            else {"max_mpdus": 1}
        ),
        "block_ack": (
            # The stations of ns-3 have their agreements before they send at once.
            {"agreement": "established", "after_missed": "repeat" if case.table == "hidden_nobar" else "request"}
            if case.table.startswith("hidden") and case.agg_limit
            else {}
        ),
    }


def _saturated(case: Case, flows: list[tuple[int, int, str]]) -> dict[str, Any]:
    """Senders that always have a packet."""
    # More than the rate of the PHY.
    mbps = (
        54
        if case.std == "a"
        else 500 * case.nss
        if case.width_mhz == 80
        else 10.0 * (case.mcs % (8 if case.std == "n" else 10) + 2) * case.nss
    )
    mbps *= 2.1 if case.width_mhz == 40 else 1
    warmup = 1.0 if case.table not in ("snr",) else 0.5
    parts = round(case.seconds / warmup)
    return {
        "cbr": {"payload": f"{PAYLOAD} B", "header_size": "28 B", "interval": f"{8 * PAYLOAD / mbps:.3f} us"},
        "flow": [
            {"src": src, "dst": dst, "app": "cbr"} | ({} if case.std == "a" else {"dscp": _PRIORITY[category]})
            for src, dst, category in flows
        ],
        "run": {"stop": f"{warmup + case.seconds:g} s", "batches": 1 + parts, "warmup_batches": 1},
    }


def _tcp(case: Case) -> dict[str, Any]:
    """TCP from one end of a chain to the other."""
    return {
        "tcp": {
            "variant": "sack",
            "mss": "1460 B",
            "header_size": "40 B",
            "ack_size": "40 B",
            "initial_window": 10,
            "receive_window": case.window,
            "ack_policy": "delayed",
            "delayed_ack": {"timeout": "100 ms"},
            "rto": {"min": "200 ms", "initial": "1 s"},
            "limited_transmit": True,
        },
        "flow": [{"src": src, "dst": dst} for src, dst, _ in senders(case)],
        "run": {"stop": f"{1 + case.seconds:g} s", "batches": round(1 + case.seconds), "warmup_batches": 1},
    }
