"""Answers of respondd: nodeinfo, neighbours and statistics of a node."""

from typing import Any

from chappe.importing.daemons.babel import set_costs
from chappe.importing.source import Source, latlon, number
from chappe.importing.survey import Survey, address, key_of, share


def is_this(s: Source) -> bool:
    """True for one of the three answers."""
    return s.has("node_id") and any(name in s.json for name in ("network", "batadv", "babel", "wireless", "traffic"))


def read(s: Source, survey: Survey) -> None:
    """Reads an answer; a TQ is that from the node to its neighbor."""
    me = key_of(s.json["node_id"], s.file)
    survey.node(me, file=s.file, name=s.owner)
    if "network" in s.json:
        nodeinfo(s.json, s.file, survey)
    for key, daemon, metric in (("batadv", "batman-adv IV", "tq"), ("babel", "babeld", "babel")):
        if s.json.get(key):
            survey.metrics[daemon] = metric
    for mac, interface in s.each(s.json.get("batadv") or {}, "batadv"):
        survey.node(me, key_of(mac, s.file))
        for peer, found in interface["neighbours"].items():
            if tq := number(found.get("tq") or 0):
                survey.link(me, key_of(peer, s.file)).losses.append(share(1 - tq / 255))
    for _, interface in s.each(s.json.get("babel") or {}, "babel"):
        for peer, found in (interface.get("neighbours") or {}).items():
            set_costs(survey, me, key_of(peer, s.file), number(found["rxcost"]), number(found["txcost"]))
    wireless = s.json.get("wireless")
    for radio in s.each(wireless if isinstance(wireless, list) else [], "wireless"):
        survey.frequency_mhz = radio.get("frequency") or survey.frequency_mhz
        survey.noise_dbm = radio.get("noise") or survey.noise_dbm


def nodeinfo(info: dict[str, Any], file: str, survey: Survey) -> str:
    """A node, from what respondd says of it; returns its key."""
    network = info.get("network") or {}
    key = key_of(info["node_id"], file)
    keys = [a for text in (network.get("mac"), *network.get("addresses", [])) if text and (a := address(str(text)))]
    node = survey.node(key, *keys, file=file, name=str(info.get("hostname", "")))
    place = info.get("location") or {}
    node.latlon = node.latlon or latlon(place.get("latitude"), place.get("longitude"))
    for mesh in (network.get("mesh") or {}).values():
        interfaces = mesh.get("interfaces") or {}
        node.has_radio = bool(node.has_radio or interfaces.get("wireless"))
        for macs in interfaces.values():
            survey.node(key, *(key_of(mac, file) for mac in macs))
    return key
