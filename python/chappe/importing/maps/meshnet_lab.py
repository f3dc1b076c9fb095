"""Graphs of meshnet-lab (JSON with ``nodes`` and ``links``), as its sets of Freifunk maps are."""

from chappe.importing.maps.meshviewer import kinds_of, qualities
from chappe.importing.source import Source, number
from chappe.importing.survey import Survey, key_of


def is_this(s: Source) -> bool:
    """True for nodes with ids, and links between them."""
    if not s.has("nodes", "links"):
        return False
    nodes, links = s.json["nodes"], s.json["links"]
    return all(isinstance(n, dict) and "id" in n for n in nodes) and all("source" in x and "target" in x for x in links)


def read(s: Source, survey: Survey) -> None:
    """Reads nodes and links; where all x and y can be degrees, x is the latitude."""
    placed = [(number(n["x"]), number(n["y"])) for n in s.json["nodes"] if "x" in n and "y" in n]
    are_degrees = bool(placed) and all(abs(x) <= 90 and abs(y) <= 180 for x, y in placed)
    if placed:
        unit = "degrees of latitude and longitude" if are_degrees else "meters"
        survey.assumed[f"Coordinates x and y of meshnet-lab are {unit}."] = None
    for node in s.each(s.json["nodes"], "nodes"):
        found = survey.node(key_of(node["id"], s.file), file=s.file, name=str(node.get("name", "")))
        if "x" in node and "y" in node:
            place = number(node["x"]), number(node["y"])
            found.latlon, found.xy = (place, None) if are_degrees else (None, place)
    kinds = kinds_of(s.json["links"], survey)
    for link in s.each(s.json["links"], "links"):
        ends = [key_of(link[end], s.file) for end in ("source", "target")]
        kind = kinds.get(link.get("type", "wifi"), "radio")
        if "source_tq" in link or "target_tq" in link:
            qualities(survey, ends, kind, link)
        else:
            for src, dst in (ends, ends[::-1]):
                survey.link(src, dst, kind)
