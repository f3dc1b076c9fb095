"""Cases of the comparison: one saturated link at a ratio of signal to noise, and TCP over chains."""

import csv
import math
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, NamedTuple

from chappe import Scenario

HERE = files("chappe_papers.validation.sinr")

MANAGERS = {
    "Constant": ("fixed", "a fixed rate"),
    "Arf": ("arf", "ARF"),
    "Aarf": ("aarf", "AARF"),
    "Cara": ("cara", "CARA"),
    "Minstrel": ("minstrel", "Minstrel"),
    "Ideal": ("ideal", "ideal rate control"),
}
"""Rate control of ns-3: its algorithm here, and its name for people."""

RATES = {"b": (1, 2, 5.5, 11), "a": (6, 9, 12, 18, 24, 36, 48, 54)}
"""Rates of 802.11b and 802.11a [Mbit/s]."""

PACKET = 1500
"""Of a saturated link [B]; 28 B are header."""

_DISTANCE = 10
"""Of neighbors [m]: what is lost over it does not matter, since the transmit power makes up for it."""

_LOSS_DB = 100

_BANDWIDTH = {"b": 22e6, "a": 20e6}
"""Bandwidth to whose noise the ratios of ns-3 refer [Hz]; it receives in 20 MHz."""

_NOISE_DBM = 10 * math.log10(1.380649e-23 * 290 * 20e6) + 30 + 7
"""Noise in 20 MHz at a noise figure of 7 dB."""


class Case(NamedTuple):
    """A scenario, everything but the seed. Names and values are those of ``ns3.csv``."""

    place: str
    """``link`` or ``chain``."""
    standard: str
    """``b`` or ``a``."""
    manager: str
    """Of :data:`MANAGERS`."""
    rate_mbps: float
    """0 where rates are chosen."""
    short_preamble: bool
    rayleigh: bool
    snr_db: float
    """Over one hop."""
    hops: int = 1
    exponent: float = 2.2
    """Of the loss with distance."""
    sense_db: float = -20
    """From which ratio on a preamble is detected and the medium busy."""
    rts: bool = False
    window: int = 0
    """Segments; 0: without a limit of its own."""
    queue: int = 50
    """Packets at a node, the one in service counted."""
    flows: int = 1
    rows: int = 1
    """Rows of stations, as far apart as neighbors in a row."""

    @property
    def kind(self) -> str:
        """Group of the case in the summary."""
        control = MANAGERS[self.manager][1]
        if self.place == "chain":
            return f"TCP over chains, {control}"
        return f"one link of 802.11{self.standard}, {control}{', Rayleigh fading' if self.rayleigh else ''}"

    @property
    def title(self) -> str:
        """For people."""
        rate = f", {self.rate_mbps:g} Mbit/s" if self.place == "link" and self.rate_mbps else ""
        if self.place == "link":
            return f"{self.kind}{rate}, {self.snr_db:g} dB"
        parts = [f"{self.hops} hop{'s' if self.hops > 1 else ''}"]
        parts += [f"{self.rows} rows"] * (self.rows > 1) + [f"{self.flows} flows"] * (self.flows > 1)
        parts += ["short preamble"] * self.short_preamble + ["RTS"] * self.rts
        parts += [f"window {self.window}"] * (self.window > 0) + [f"queue {self.queue}"] * (self.queue != 50)
        parts += [f"exponent {self.exponent:g}"] * (self.exponent != 2.2)
        parts += [f"sensed from {self.sense_db:g} dB"] * (self.sense_db != 4)
        return f"{self.kind}: {', '.join(parts)}"


def reference() -> dict[Case, list[tuple[float, float]]]:
    """The runs of ns-3.37: seconds and goodput [kbit/s] of each."""
    by_case: dict[Case, list[tuple[float, float]]] = {}
    for row in csv.DictReader(HERE.joinpath("ns3.csv").read_text(encoding="utf-8").splitlines()):
        case = Case(
            row["place"], row["standard"], row["manager"], float(row["rate_mbps"] or 0), row["short_preamble"] == "1",
            row["rayleigh"] == "1", float(row["snr_db"]), int(row["hops"]),
        )  # fmt: skip
        if case.place == "chain":
            case = case._replace(
                exponent=float(row["exponent"]), sense_db=float(row["sense_db"]), rts=row["rts"] == "1",
                window=int(row["window"]), queue=int(row["queue"]), flows=int(row["flows"]), rows=int(row["rows"]),
            )  # fmt: skip
        by_case.setdefault(case, []).append((float(row["seconds"]), float(row["goodput_kbps"])))
    return by_case


def habits(case: Case) -> dict[str, Any]:
    """Settings for deviations of ns-3 from the standard, or from the authors of a rate control, where they matter."""
    settings: dict[str, Any] = {}
    if case.place == "chain":
        # Forwarded packets follow the ACK of their reception without a back-off; EIFS ends while the medium is busy.
        settings |= {"wlan.first_access": "idle", "wlan.eifs": "after_frame"}
    if case.manager in ("Arf", "Aarf", "Minstrel") and case.standard == "b":
        # The PHY of 802.11b lists its rates twice.
        settings["wlan.rate_control.rates"] = 2 * _rates(case)
    if case.manager == "Minstrel":
        settings["wlan.rate_control.minstrel.origin"] = "ns3"
    return settings


def _rates(case: Case) -> list[str]:
    return [f"{r:g} Mbit/s" for r in RATES[case.standard]]


def scenario(case: Case, *, plain: bool = False) -> Scenario:
    """The scenario of a case; `plain`: without the :func:`habits` of ns-3."""
    more_db = 10 * math.log10(_BANDWIDTH[case.standard] / 20e6)
    rates = _rates(case)
    tables: dict[str, Any] = {
        "extends": "802.11a" if case.standard == "a" else "standard",
        "radio": {
            "propagation": "log_distance",
            "log_distance": {
                "exponent": case.exponent, "distance": f"{_DISTANCE} m", "loss": f"{_LOSS_DB} dB",
            },
            "transmit_power": f"{_LOSS_DB + _NOISE_DBM + case.snr_db + more_db} dBm",
            "reception": "sinr",
            "sinr": {
                "bandwidth": "20 MHz",
                "preamble_detection": f"{case.sense_db + more_db} dB",
                "detection_time": "4 us",
                "fading": "rayleigh" if case.rayleigh else "none",
            },
        },
        "wlan": {
            "data_rate": f"{case.rate_mbps:g} Mbit/s" if case.rate_mbps else rates[-1],
            "basic_rate": rates[0],
            # ns-3.37 answers at the rate of the data.
            "response_rates": rates,
            # Segments have RTS, TCP's acknowledgements have not.
            "rts_threshold": "500 B" if case.rts else "never",
            "rate_control": {"algorithm": MANAGERS[case.manager][0]},
        },
    }  # fmt: skip
    if case.standard == "b":
        tables["wlan"]["preamble"] = "short" if case.short_preamble else "long"
    tables |= _link(case) if case.place == "link" else _chain(case, tables, more_db)
    return Scenario(tables).with_settings({} if plain else habits(case))


def _link(case: Case) -> Mapping[str, Any]:
    """A sender that always has a packet."""
    return {
        "topology": {"hops": 1, "spacing": f"{_DISTANCE} m"},
        "routing": {"protocol": "fixed", "fixed": {"routes": [{"node": 0, "dst": 1, "next_hop": 1}]}},
        "cbr": {
            "payload": f"{PACKET - 28} B", "header_size": "28 B",
            "interval": "200 us" if case.standard == "a" else "1 ms",
        },
        "flow": [{"src": 0, "dst": 1, "app": "cbr"}],
        "run": {"stop": "8 s", "batches": 8, "warmup_batches": 5}
        if case.standard == "a"
        else {"stop": "35 s", "batches": 7, "warmup_batches": 1},
    }  # fmt: skip


def _chain(case: Case, tables: dict[str, Any], more_db: float) -> Mapping[str, Any]:
    """TCP over rows of stations."""
    tables["radio"]["sinr"]["energy_detection"] = f"{_NOISE_DBM + case.sense_db + more_db} dBm"
    tables["wlan"] |= {"short_retry_limit": 11, "long_retry_limit": 11}
    if case.manager == "Constant":
        tables["wlan"]["basic_rate"] = "2 Mbit/s"
    ends = [(row * (case.hops + 1), row * (case.hops + 1) + case.hops) for row in range(case.rows)]
    return {
        "topology": {
            "kind": "list",
            "positions": [
                [f"{_DISTANCE * x} m", f"{_DISTANCE * y} m"] for y in range(case.rows) for x in range(case.hops + 1)
            ],
        },
        "routing": {
            "protocol": "fixed",
            "fixed": {
                "routes": [
                    {"node": at, "dst": to, "next_hop": at + step}
                    for first, last in ends
                    for to, step in ((last, 1), (first, -1))
                    for at in range(first, last + 1)
                    if at != to
                ]
            },
        },
        "queue": {"discipline": "droptail", "limit": case.queue - 1},
        "tcp": {
            "variant": "sack", "mss": "1448 B", "header_size": "52 B", "ack_size": "52 B", "timestamps": True,
            "initial_window": 3, "receive_window": case.window or 200, "ack_policy": "delayed",
            "delayed_ack": {"timeout": "40 ms"}, "rto": {"min": "200 ms"},
        },
        "flow": [{"src": a, "dst": b} for a, b in ends for _ in range(case.flows)],
        "run": {"stop": "40 s", "batches": 8, "warmup_batches": 0},
    }  # fmt: skip
