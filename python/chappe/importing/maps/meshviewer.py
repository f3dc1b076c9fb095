"""Maps of Meshviewer (``meshviewer.json``), as yanic and older generators write them."""

from typing import Any

from chappe.importing.source import Source, latlon, number
from chappe.importing.survey import Kind, Survey, address, key_of, share


def is_this(s: Source) -> bool:
    """True for a list of nodes with ids, and of links."""
    nodes = s.json.get("nodes") if s.has("nodes", "links") else None
    return isinstance(nodes, list) and any(isinstance(n, dict) and "node_id" in n for n in nodes)


def read(s: Source, survey: Survey) -> None:
    """Reads nodes and links; ``source_tq`` is the quality from source to target."""
    offline = set()
    for node in s.each(s.json["nodes"], "nodes"):
        keys = [key_of(node["node_id"], s.file)]
        keys += [a for text in (node.get("mac"), *node.get("addresses", [])) if text and (a := address(text))]
        if node.get("is_online") is False:
            offline |= set(keys)
            survey.lose("node that is offline")
            continue
        found = survey.node(*keys, file=s.file, name=str(node.get("hostname", "")))
        place = node.get("location") or {}
        found.latlon = found.latlon or latlon(place.get("latitude"), place.get("longitude"))
    kinds = kinds_of(s.json["links"], survey)
    best: dict[tuple[Kind, frozenset[str]], tuple[list[str], dict[str, Any]]] = {}
    for link in s.each(s.json["links"], "links"):
        ends = [key_of(link[end], s.file) for end in ("source", "target")]
        if offline.intersection(ends):
            survey.lose("link of a node that is offline")
            continue
        kind = kinds.get(link.get("type", "wifi"), "radio")
        # Interfaces of radios have addresses of their own, by which dumps name the nodes.
        for end, name in zip(ends, ("source_addr", "target_addr"), strict=True):
            if found_address := address(str(link.get(name, ""))):
                survey.node(end, found_address)
        pair = kind, frozenset(ends)
        if pair in best:
            survey.lose("further link of two nodes, by another pair of radios: the best is taken")
        if pair not in best or _quality(link) > _quality(best[pair][1]):
            best[pair] = ends, link
    for (kind, _), (ends, link) in best.items():
        qualities(survey, ends, kind, link)


def _quality(link: dict[str, Any]) -> float:
    return sum(number(link.get(name, 0) or 0) for name in ("source_tq", "target_tq"))


def kinds_of(links: list[dict[str, Any]], survey: Survey) -> dict[str, Kind]:
    """Kinds of links by their types; some generators know no radios, and call these links "other"."""
    if any(link.get("type", "wifi") == "wifi" for link in links):
        return {"vpn": "tunnel", "other": "wire"}
    survey.assumed["No link of the map has the type wifi: those of the type other are radio links."] = None
    return {"vpn": "tunnel"}


def qualities(survey: Survey, ends: list[str], kind: Kind, link: dict[str, Any]) -> None:
    """Both directions of a link, by its qualities from 0 to 1; 0 says nothing where the other one is above 0."""
    tq = [number(link.get(name, 0) or 0) for name in ("source_tq", "target_tq")]
    if kind == "radio" and not any(tq):
        survey.lose("link without quality")
        return
    for (src, dst), quality in zip((ends, ends[::-1]), tq, strict=True):
        direction = survey.link(src, dst, kind)
        if kind == "radio" and quality > 0:
            direction.losses.append(share(1 - quality))
