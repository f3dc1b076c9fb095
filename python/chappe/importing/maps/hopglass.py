"""Maps of HopGlass: ``nodes.json`` (versions 1 and 2) and ``graph.json``."""

from chappe.importing.daemons.respondd import nodeinfo
from chappe.importing.source import Source, number
from chappe.importing.survey import Kind, Survey, key_of, share


def is_nodes(s: Source) -> bool:
    """True for nodes with what respondd says of them."""
    if not s.has("nodes"):
        return False
    nodes = s.json["nodes"]
    first = next(iter(nodes.values() if isinstance(nodes, dict) else nodes), None) if nodes else None
    return isinstance(first, dict) and "nodeinfo" in first


def is_graph(s: Source) -> bool:
    """True for a graph of batman-adv."""
    return s.has("batadv") and "links" in s.json["batadv"]


def read_nodes(s: Source, survey: Survey) -> None:
    """Reads nodes."""
    nodes = s.json["nodes"]
    for node in s.each(list(nodes.values()) if isinstance(nodes, dict) else nodes, "nodes"):
        if node.get("flags", {}).get("online") is False:
            survey.lose("node that is offline")
            continue
        nodeinfo(node["nodeinfo"], s.file, survey)


def read_graph(s: Source, survey: Survey) -> None:
    """Reads links, whose ends are places in the list of nodes; ``tq`` is 255/TQ of one direction."""
    survey.metrics["batman-adv IV"] = "tq"
    keys = []
    for node in s.each(s.json["batadv"]["nodes"], "batadv.nodes"):
        ids = [key_of(node[name], s.file) for name in ("node_id", "id") if node.get(name)]
        survey.node(*ids)
        keys.append(ids[0])
    for link in s.each(s.json["batadv"]["links"], "batadv.links"):
        ends = [keys[link["source"]], keys[link["target"]]]
        kind: Kind = "tunnel" if link.get("vpn") or link.get("type") == "tunnel" else "radio"
        tq = number(link["tq"])
        if kind == "radio" and tq < 1:
            survey.lose("link without quality")
            continue
        for src, dst in (ends, ends[::-1]):
            direction = survey.link(src, dst, kind)
            if kind == "radio":
                direction.losses.append(share(1 - 1 / tq))
                survey.assumed["HopGlass gives one quality for both directions of a link."] = None
