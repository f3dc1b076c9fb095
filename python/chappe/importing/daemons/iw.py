"""Dumps of ``iw``: ``station dump``, ``survey dump``, ``scan`` and ``mpath dump``."""

import re

from chappe.importing.source import Source
from chappe.importing.survey import HT_MBPS, Link, Survey, key_of, set_rate, share


def is_station(s: Source) -> bool:
    """True for stations."""
    return bool(re.match(r"\s*Station [0-9a-f:]{17} \(on ", s.text))


def is_scan(s: Source) -> bool:
    """True for access points and mesh points that were heard."""
    return bool(re.match(r"\s*BSS [0-9a-f:]{17}", s.text))


def is_survey(s: Source) -> bool:
    """True for channels."""
    return s.text.lstrip().startswith("Survey data from ")


def is_mpath(s: Source) -> bool:
    """True for paths of a mesh."""
    return bool(re.match(r"DEST ADDR\s+NEXT HOP\s+IFACE", s.text))


def read_station(s: Source, survey: Survey) -> None:
    """Reads stations: signal and rx bitrate are those from the station, tx bitrate and retries those to it."""
    me = s.own(survey)
    heard = said = Link()
    packets = None
    for line in s.lines():
        if found := re.match(r"\s*Station ([0-9a-f:]{17}) ", line):
            peer = key_of(found[1], s.file)
            heard, said, packets = survey.link(peer, me), survey.link(me, peer), None
            continue
        name, _, value = line.strip().partition(":")
        value = value.strip()
        if name == "signal":
            heard.signals_dbm.append(float(value.split()[0]))
        elif name == "tx packets":
            packets = int(value)
        elif name == "tx retries" and packets:
            said.retries.append(share(int(value) / (packets + int(value))))
        elif name == "expected throughput":
            # The kernel counts units of 1,024 bit, and iw divides them by 1,024 again.
            said.throughputs_bps.append(float(value.removesuffix("Mbps")) * 1024 * 1024)
        elif name in ("tx bitrate", "rx bitrate"):
            _bitrate(said if name == "tx bitrate" else heard, value)


def _bitrate(link: Link, text: str) -> None:
    """The MCS of a bitrate of iw."""
    mcs = re.search(r"\b(VHT-MCS|HE-MCS|MCS) (\d+)", text)
    if mcs and mcs[1] != "HE-MCS":
        number, streams = int(mcs[2]), re.search(r"NSS (\d)", text)
        link.mcs = number if mcs[1] == "VHT-MCS" else number % len(HT_MBPS)
        link.streams = int(streams[1]) if streams else number // len(HT_MBPS) + 1 if mcs[1] == "MCS" else 1
        width = re.search(r"(\d+)MHz", text)
        link.width_mhz = int(width[1]) if width else 20
    elif rate := re.match(r"([\d.]+) MBit/s", text):
        set_rate(link, float(rate[1]))


def read_survey(s: Source, survey: Survey) -> None:
    """Reads frequency and noise of the channel in use."""
    in_use = False
    for line in s.lines():
        if found := re.match(r"\s*frequency:\s*(\d+) MHz(.*)", line):
            in_use = "in use" in found[2]
            if in_use:
                survey.frequency_mhz = float(found[1])
        elif in_use and (found := re.match(r"\s*noise:\s*(-?\d+) dBm", line)):
            survey.noise_dbm = float(found[1])


def read_scan(s: Source, survey: Survey) -> None:
    """Reads signals of beacons of a mesh; those of others are left out."""
    me = s.own(survey)
    for block in re.split(r"^(?=BSS )", s.text, flags=re.MULTILINE):
        found = re.match(r"BSS ([0-9a-f:]{17})", block)
        signal = re.search(r"signal: (-[\d.]+) dBm", block)
        if not found or not signal:
            continue
        if "MESH ID:" not in block and "IBSS" not in block:
            survey.lose("network of others that was scanned")
            continue
        survey.link(key_of(found[1], s.file), me).signals_dbm.append(float(signal[1]))
        survey.assumed["Signals of a scan are those of beacons, whose power may differ from that of data."] = None


def read_mpath(s: Source, survey: Survey) -> None:
    """Reads the neighbors among the destinations."""
    survey.metrics["802.11s of Linux"] = "linux_airtime"
    me = s.own(survey)
    for line in s.lines():
        words = line.split()
        if len(words) > 2 and words[0] == words[1]:
            survey.link(me, key_of(words[0], s.file))
