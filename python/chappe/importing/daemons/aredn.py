"""AREDN: ``sysinfo.json`` of a node, with its links, of interfaces 1 (OLSR) and 2 (Babel)."""

from typing import Any

from chappe.importing.source import Source, latlon, number
from chappe.importing.survey import Kind, Survey, address, key_of, set_rate, share

_KINDS: dict[str, Kind] = {"RF": "radio", "DTD": "wire", "XLINK": "wire"}
"""Kinds by the type of a link; all others are tunnels."""


def is_this(s: Source) -> bool:
    """True for the answer of a node."""
    return s.has("node", "meshrf")


def read(s: Source, survey: Survey) -> None:
    """Reads links with their signals, and rates of a channel of 20 MHz."""
    data, rf = s.json, s.json["meshrf"]
    is_babel = str(data.get("api_version", "")).startswith("2")
    survey.metrics["babeld" if is_babel else "olsrd"] = "babel" if is_babel else "etx"
    own = [i[name] for i in data.get("interfaces") or [] for name in ("mac", "ip") if i.get(name)]
    s.owner = s.owner or str(data["node"])
    own = [text for text in own if address(str(text))]
    me = s.own(survey, *own) if own else s.own(survey)
    node = survey.node(me, *(key_of(text, s.file) for text in own), file=s.file, name=str(data["node"]))
    node.latlon = node.latlon or latlon(data.get("lat"), data.get("lon"))
    node.gateway = node.gateway or str(data.get("node_details", {}).get("mesh_gateway", "0")).lower() in ("1", "true")
    if rf.get("freq"):
        survey.frequency_mhz = number(rf["freq"])
    width = number(rf.get("chanbw") or 20)
    if width != 20:
        survey.assumed[
            f"The channel of AREDN has {width:g} MHz, which is not modeled: rates are those of the same MCS in 20 MHz."
        ] = None
    for ip, link in s.each(data.get("link_info") or {}, "link_info"):
        peer, kind = key_of(ip, s.file), _KINDS.get(str(link.get("linkType")), "tunnel")
        survey.node(peer, file=s.file, name=str(link.get("hostname", "")))
        heard, said = survey.link(peer, me, kind), survey.link(me, peer, kind)
        if kind != "radio":
            continue
        if link.get("signal"):
            heard.signals_dbm.append(number(link["signal"]))
        if link.get("noise"):
            survey.noise_dbm = number(link["noise"])
        for direction, quality, rate in (
            (heard, "linkQuality", "rx_rate"),
            (said, "neighborLinkQuality", "tx_rate"),
        ):
            if number(link.get(quality) or 0) > 0:
                direction.losses.append(share(1 - number(link[quality])))
            if link.get(rate):
                set_rate(direction, number(link[rate]) * 20 / width)
    _trackers(s, survey, me)


def _trackers(s: Source, survey: Survey, me: str) -> None:
    """What the link quality manager knows of neighbors: places, the SNR at the other end, what it sent."""
    trackers: dict[str, Any] = ((s.json.get("lqm") or {}).get("info") or {}).get("trackers") or {}
    for mac, found in s.each(trackers, "lqm.info.trackers"):
        if found.get("type", "RF") != "RF":
            continue
        keys = [key_of(mac, s.file), *(a for n in ("ip", "canonical_ip") if (a := address(str(found.get(n) or ""))))]
        peer = keys[0]
        node = survey.node(*keys, file=s.file, name=str(found.get("hostname") or ""))
        node.latlon = node.latlon or latlon(found.get("lat"), found.get("lon"))
        said = survey.link(me, peer)
        if found.get("rev_snr") and survey.noise_dbm is not None:
            said.signals_dbm.append(survey.noise_dbm + number(found["rev_snr"]))
            survey.assumed[
                "The noise at both ends of a link of AREDN is the same: signals there are SNR plus noise."
            ] = None
        if number(found.get("tx_packets") or 0) > 0 and found.get("tx_quality") is not None:
            said.losses.append(share(1 - number(found["tx_quality"]) / 100))
