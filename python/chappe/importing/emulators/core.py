"""Scenarios of CORE, as XML and as ``.imn``: positions of devices, the range of their wireless network, wires."""

import math
import re
import xml.etree.ElementTree as ET

from chappe.importing.source import MisreadError, Source, latlon
from chappe.importing.survey import Survey, address


def is_xml(s: Source) -> bool:
    """True for a scenario of CORE."""
    return s.xml is not None and s.xml.tag == "scenario" and s.xml.find("devices") is not None


def read_xml(s: Source, survey: Survey) -> None:
    """Reads devices, the range of wireless networks, and links between devices as wires."""
    assert s.xml is not None
    origin = s.xml.find("session_origin")
    scale = float(origin.get("scale", "150")) if origin is not None else 150.0
    places, radios = {}, set()
    for device in s.each(s.xml.findall("devices/device"), "device"):
        key = f"{s.file}#{device.attrib['id']}"
        node = survey.node(key, file=s.file, name=device.get("name", ""))
        position = device.find("position")
        if position is None:
            continue
        places[key] = float(position.get("x", 0)), float(position.get("y", 0))
        node.latlon = latlon(position.get("lat"), position.get("lon"))
        if node.latlon is None:
            node.xy = _meters(places[key], scale)
    networks = {n.attrib["id"] for n in s.xml.findall("networks/network")}
    for link in s.each(s.xml.findall("links/link"), "link"):
        ends = [next((link.get(n) for n in names if link.get(n)), "") or "" for names in
                (("node1", "node_one"), ("node2", "node_two"))]  # fmt: skip
        inner = [end for end in ends if end not in networks]
        for part in link:
            if (
                part.tag.startswith("iface")
                and part.get("ip4")
                and len(inner) == 1
                and (a := address(part.attrib["ip4"]))
            ):
                survey.node(f"{s.file}#{inner[0]}", a)
        if len(inner) == 2:
            for src, dst in (ends, ends[::-1]):
                survey.link(f"{s.file}#{src}", f"{s.file}#{dst}", "wire")
        elif len(inner) == 1:
            radios.add(f"{s.file}#{inner[0]}")
    found = [_range(c) for c in s.xml.iter("configuration") if c.get("name") == "range"]
    _within(survey, {k: p for k, p in places.items() if not radios or k in radios}, next(iter(found), None))


def _range(element: ET.Element) -> float:
    return float(element.attrib["value"])


def is_imn(s: Source) -> bool:
    """True for nodes of the graphical editor."""
    return bool(re.match(r"\s*(?:#[^\n]*\n\s*)*node n\d+ \{", s.text))


def read_imn(s: Source, survey: Survey) -> None:
    """Reads nodes and links; coordinates are pixels, and y grows downwards."""
    if s.text.count("{") != s.text.count("}"):
        raise MisreadError("its braces are not closed; is the file cut off?")
    scale = re.search(r"^\s*scale \{([\d.]+)\}", s.text, re.MULTILINE)
    meters = float(scale[1]) if scale else 150.0
    blocks = dict(re.findall(r"^node (n\d+) \{\n(.*?)^\}", s.text, re.MULTILINE | re.DOTALL))
    networks = {n for n, b in blocks.items() if re.search(r"type (?:wlan|lanswitch|hub|emane)", b)}
    places = {}
    for name, block in s.each(blocks, "node"):
        if name in networks:
            continue
        host, place = re.search(r"hostname (\S+)", block), re.search(r"iconcoords \{([-\d.]+) ([-\d.]+)\}", block)
        key = f"{s.file}#{name}"
        node = survey.node(key, file=s.file, name=host[1] if host else name)
        for ip in re.findall(r"ip address ([\d.]+)/", block):
            survey.node(key, ip)
        if place:
            places[key] = float(place[1]), float(place[2])
            node.xy = _meters(places[key], meters)
    for a, b in re.findall(r"nodes \{(n\d+) (n\d+)\}", s.text):
        if not networks & {a, b}:
            for src, dst in ((a, b), (b, a)):
                survey.link(f"{s.file}#{src}", f"{s.file}#{dst}", "wire")
    reach = re.search(r"\brange=([\d.]+)", s.text)
    _within(survey, places, float(reach[1]) if reach else None)


def _meters(place: tuple[float, float], scale: float) -> tuple[float, float]:
    """A place in pixels as meters; ``scale`` meters are 100 pixels."""
    return place[0] * scale / 100, -place[1] * scale / 100


def _within(survey: Survey, places: dict[str, tuple[float, float]], reach: float | None) -> None:
    """Links between devices within the range of their wireless network [px]."""
    if reach is None:
        return
    for a, place in places.items():
        for b, other in places.items():
            if a != b and math.dist(place, other) <= reach:
                survey.link(a, b)
    survey.assumed[f"Devices of CORE within its range of {reach:g} pixels have a link."] = None
