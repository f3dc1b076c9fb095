"""A reader of captures that shares no code with their writer, and runs that have every kind of header."""

import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import chappe
import polars as pl

_CHAIN = {
    "run.warmup_batches": 0,
    "run.stop": "300 delivered",
    "topology.kind": "chain",
    "topology.hops": 4,
    "topology.spacing": "200 m",
    "wlan.data_rate": "2 Mbit/s",
}
_WIRED = {"topology.wired_nodes": 1, "wired_link": [{"src": 4, "dst": 5, "rate": "2 Mbit/s", "delay": "5 ms"}]}

RUNS: dict[str, dict[str, Any]] = {
    "aodv": {**_CHAIN, "routing.protocol": "aodv", "arp.enabled": True, "wlan.rts_threshold": "always"},
    "dsr": {**_CHAIN, "routing.protocol": "dsr"},
    "dsr_flow_state": {**_CHAIN, "routing.protocol": "dsr", "routing.dsr.flow_state": True},
    "dsdv": {**_CHAIN, "routing.protocol": "dsdv", "flow": [{"dst": 4, "start": "90 s"}]},
    "babel": {**_CHAIN, "routing.protocol": "babel", "flow": [{"dst": 4, "start": "20 s"}]},
    "batman_adv": {
        **_CHAIN,
        **_WIRED,
        "routing": {"protocol": "batman_adv", "gateways": "announced"},
        "flow": [{"dst": 5, "start": "30 s"}],
    },
    "olsr": {**_CHAIN, "routing.protocol": "olsr", "flow": [{"dst": 4, "start": "30 s"}]},
    "olsr_quality": {
        **_CHAIN,
        "routing": {"protocol": "olsr", "olsr.metric": "etx"},
        "flow": [{"dst": 4, "start": "30 s"}],
    },
    "sack": {**_CHAIN, "tcp.variant": "sack", "tcp.timestamps": True, "wlan.error": {"model": "uniform", "rate": 0.3}},
    "ecn": {
        **_CHAIN,
        "routing.protocol": "shortest_path",
        "tcp.ecn.enabled": True,
        "queue": {"discipline": "red", "ecn": True, "red": {"min_threshold": 1, "max_threshold": 4}},
    },
    "wires": {**_CHAIN, **_WIRED, "routing.protocol": "shortest_path", "flow": [{"dst": 5}, {"src": 5, "dst": 2}]},
    "split": {
        **_CHAIN,
        **_WIRED,
        "routing.protocol": "shortest_path",
        "flow": [{"src": 5, "dst": 1}],
        "wired.error": {"model": "uniform", "rate": 0.02},
        "middlebox": [{"kind": "split", "node": 4, "split": {"tcp": {"variant": "sack"}}}],
    },
    "snoop": {
        **_CHAIN,
        **_WIRED,
        "routing.protocol": "shortest_path",
        "flow": [{"src": 5, "dst": 1}],
        "wlan.error": {"model": "uniform", "rate": 0.1, "layer": "net"},
        "middlebox": [{"kind": "snoop", "node": 4}],
    },
    "eln": {
        **_CHAIN,
        **_WIRED,
        "routing.protocol": "shortest_path",
        "flow": [{"src": 5, "dst": 1}],
        "wlan.error": {"model": "uniform", "rate": 0.1, "layer": "net"},
        "tcp.eln.rule": "once",
        "middlebox": [{"kind": "eln", "node": 4}],
    },
    "short_flows": {
        **_CHAIN,
        "flow": [{"dst": 4}],
        "arrival_process": [{"dst": 0, "rate": 5, "size": {"distribution": "exponential", "mean": "5 kB"}}],
    },
    "closing": {
        **_CHAIN,
        "extends": "linux",
        "topology.hops": 2,
        "run.stop": "5 s",
        "wlan.error": {"model": "uniform", "rate": 0.1, "layer": "net"},
        "flow": [{"dst": 2, "bulk.segments": 20}],
        "tcp": {"fin": True, "close_wait": "60 ms"},
    },
    "neighborhood_red": {
        **_CHAIN,
        "run.stop": "60 delivered",
        "net.neighborhood_red": {"enabled": True, "min_threshold": 1, "max_threshold": 20},
        "flow": [{"dst": 4}, {"src": 4, "dst": 0}],
    },
    "ns2_vegas": {**_CHAIN, "extends": "ns2-2.35", "tcp.variant": "vegas"},
    "aggregates": {
        **_CHAIN,
        "extends": "802.11n",
        "topology.hops": 2,
        "topology.spacing": "60 m",
        "run.stop": "900 delivered",
        "wlan.rts_threshold": "9000 B",
        "wlan.aggregation.amsdu_size": "3000 B",
        "wlan.edca.best_effort.txop_limit": "4000 us",
        "wlan.error": {"model": "uniform", "rate": 0.2},
        "wlan.block_ack.mpdu_attempts": 2,
        "tcp.variant": "sack",
    },
    "vht": {
        **_CHAIN,
        "extends": "802.11ac",
        "topology.hops": 1,
        "topology.spacing": "20 m",
        "wlan.error": {"model": "uniform", "rate": 0.2},
        "wlan.block_ack.mpdu_attempts": 2,
    },
    "minstrel_ht": {
        **_CHAIN,
        "extends": "802.11n-2.4ghz",
        "topology.hops": 1,
        "topology.spacing": "20 m",
        "wlan.ppdu.streams": 2,
        "wlan.rate_control.algorithm": "minstrel_ht",
        "wlan.error": {"model": "uniform", "rate": 0.2},
        "wlan.block_ack.mpdu_attempts": 2,
    },
    "two_channels": {
        **_CHAIN,
        "radio.channels": [1, 36],
        "routing.protocol": "aodv",
        "flow": [{"dst": 4}, {"src": 4, "dst": 0, "app": "cbr"}],
    },
}
"""Settings of the runs, by what they have."""


class Packet(NamedTuple):
    """A packet of a capture.

    Attributes:
        interface: Name of its interface.
        time_ns: Time [ns].
        direction: "in", "out", or nothing.
        comment: Text for people.
        data: Contents.
    """

    interface: str
    time_ns: int
    direction: str
    comment: str
    data: bytes


def run(settings: Mapping[str, Any], **more: Any) -> chappe.Results:
    """A run with these settings."""
    return chappe.run({**settings, "run.record": ["frames", "packets"]}, **more)


def expected(results: chappe.Results, flow: int) -> tuple[int, int]:
    """Retransmissions of a flow, and acknowledgements at its sender that repeat the number of the one before."""
    row = results.flows.row(flow, named=True)
    acks = results.recorded["packets"].filter(
        (pl.col("flow") == flow)
        & (pl.col("packet_type") == "tcp_ack")
        & (pl.col("event") == "delivered")
        & (pl.col("node") == row["src"])
    )["sequence"]
    return row["retransmissions"], int((acks.diff() == 0).sum())


def packets(path: Path) -> Iterator[Packet]:
    """The packets of a file; checks the structure of its blocks."""
    data = path.read_bytes()
    assert data[:12] == struct.pack("<II", 0x0A0D0D0A, struct.unpack_from("<I", data, 4)[0]) + b"\x4d\x3c\x2b\x1a"
    names: list[str] = []
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        assert struct.unpack_from("<I", data, at + length - 4)[0] == length
        body = data[at + 8 : at + length - 4]
        if kind == 1:
            options = _options(body[8:])
            assert options[9] == b"\x09"
            assert struct.unpack_from("<HHI", body)[0] == (127 if options[2].startswith(b"radio") else 101)
            names.append(options[2].decode())
        elif kind == 6:
            interface, high, low, size, whole = struct.unpack_from("<5I", body)
            assert size == whole
            options = _options(body[20 + size + -size % 4 :])
            direction = {None: "", 1: "in", 2: "out"}[options[2][0] if 2 in options else None]
            comment = options.get(1, b"").decode()
            yield Packet(names[interface], high << 32 | low, direction, comment, body[20 : 20 + size])
        else:
            assert (kind, at) == (0x0A0D0D0A, 0)
        at += length


def _options(data: bytes) -> dict[int, bytes]:
    found = {}
    at = 0
    while at < len(data):
        code, size = struct.unpack_from("<HH", data, at)
        if code == 0:
            break
        found[code] = data[at + 4 : at + 4 + size]
        at += 4 + size + -size % 4
    return found


def _adds_up(data: bytes) -> bool:
    """True if the ones' complement sum of 16-bit words is that of a right checksum."""
    words = struct.unpack(f"!{len(data) // 2}H", data[: len(data) // 2 * 2])
    odd = data[-1] << 8 if len(data) % 2 else 0
    return bool((sum(words) + odd) % 0xFFFF == 0)


_FRAMES = {
    0xB4: "rts",
    0xC4: "cts",
    0xD4: "ack",
    0x08: "data",
    0x88: "qos_data",
    0x94: "block_ack",
    0x84: "block_ack_request",
    0xE4: "cf_end",
    0xD0: "action",
}
_SIZES = {"rts": 16, "cts": 10, "ack": 10, "block_ack": 28, "block_ack_request": 20, "cf_end": 16, "action": 33}
_DSSS = (2, 4, 11, 22)
"""Rates of 802.11b [500 kbit/s]."""

_MCS, _A_MPDU, _VHT = 1 << 19, 1 << 20, 1 << 21


def check(packet: Packet) -> str:
    """Checks lengths and checksums of a packet; returns the name of its innermost header."""
    if not packet.interface.startswith("radio"):
        return _check_ip(packet.data)
    length = struct.unpack_from("<H", packet.data, 2)[0]
    present = struct.unpack_from("<I", packet.data, 4)[0]
    tsft, flags, rate = struct.unpack_from("<QBB", packet.data, 8)
    # Preamble and header precede the MPDU; the MPDUs of an A-MPDU have its time, and records of their own.
    ahead_us = tsft - packet.time_ns // 1000
    if present & _A_MPDU:
        assert ahead_us <= 0
    elif present & (_MCS | _VHT):
        assert 36 <= ahead_us <= 48
    else:
        assert ahead_us in ((96, 192) if rate in _DSSS else (20,))
    assert flags in ((0x10, 0x50) if packet.direction == "in" else (0x10,))
    assert bool(flags & 0x40) <= ("lost at" in packet.comment or "not decoded at" in packet.comment)
    frame, fcs = packet.data[length:-4], packet.data[-4:]
    assert zlib.crc32(frame) == struct.unpack("<I", fcs)[0]
    name = _FRAMES[frame[0]]
    if name == "qos_data":
        assert bool(present & (_MCS | _VHT)) or not present & _A_MPDU
        return [_check_llc(contents) for contents in _msdus(frame)][-1]
    if name != "data":
        assert len(frame) == _SIZES[name]
        return name
    return _check_llc(frame[24:])


def _msdus(frame: bytes) -> Iterator[bytes]:
    """Contents of QoS data: one packet, or those of an A-MSDU."""
    if not frame[24] & 0x80:
        yield frame[26:]
        return
    body = frame[26:]
    while body:
        assert body[:12] == frame[4:16]
        size = struct.unpack_from("!H", body, 12)[0]
        yield body[14 : 14 + size]
        body = body[(14 + size) + -(14 + size) % 4 :]


def _check_llc(frame: bytes) -> str:
    assert frame[:6] == b"\xaa\xaa\x03\0\0\0"
    ether_type = struct.unpack_from("!H", frame, 6)[0]
    if ether_type == 0x0806:
        assert len(frame) == 8 + 28
        return "arp"
    if ether_type == 0x4305:
        return _check_batman(frame[8:])
    assert ether_type == 0x0800
    return _check_ip(frame[8:])


def _check_batman(packet: bytes) -> str:
    kind, version = packet[:2]
    assert version == 15
    if kind == 0x40:
        assert packet[4:10] == packet[10:16], "the only client of a node is the node"
        assert packet[22:24] == b"\x08\0"
        return "batman_adv+" + _check_ip(packet[24:])
    while packet:
        assert packet[:2] == b"\0\x0f"
        size = 24 + struct.unpack_from("!H", packet, 22)[0]
        containers = packet[24:size]
        while containers:
            containers = containers[4 + struct.unpack_from("!H", containers, 2)[0] :]
        packet = packet[size:]
    return "batman_adv"


def _check_ip(data: bytes) -> str:
    assert data[0] == 0x45
    assert struct.unpack_from("!H", data, 2)[0] == len(data)
    assert _adds_up(data[:20])
    protocol, body = data[9], data[20:]
    before = ""
    while protocol == 48:
        before = "dsr+"
        if body[1] & 0x80:
            protocol, body = body[0], body[4:]
        else:
            size = struct.unpack_from("!H", body, 2)[0]
            assert size % 4 == 0
            protocol, body = body[0], body[4 + size :]
    if protocol == 59:
        assert not body
        return "dsr"
    if protocol == 253:
        assert not body
        return "notification"
    assert protocol in (6, 17)
    assert _adds_up(data[12:20] + struct.pack("!HH", protocol, len(body)) + body)
    if protocol == 17:
        assert struct.unpack_from("!H", body, 4)[0] == len(body)
        known = {654: "aodv", 698: "olsr", 6696: "babel", 50000: "dsdv"}
        return before + known.get(struct.unpack_from("!H", body, 2)[0], "udp")
    return before + "tcp"
