"""NetJSON: NetworkGraph, NetworkCollection and DeviceMonitoring."""

import math
import re
from typing import Any

from chappe.importing.source import MisreadError, Source, latlon, number
from chappe.importing.survey import Survey, address, key_of, share

_METRICS = {
    "olsr": "etx",
    "olsrv1": "etx",
    "olsrv2": "ett",
    "batmanadv": "tq",
    "babel": "babel",
}
"""Metrics by the protocol of a graph, in lower case without other signs than letters and digits."""


def is_this(s: Source) -> bool:
    """True for one of the three types."""
    return s.has("type") and s.json["type"] in ("NetworkGraph", "NetworkCollection", "DeviceMonitoring")


def read(s: Source, survey: Survey) -> None:
    """Reads one of the three types."""
    if s.json["type"] == "DeviceMonitoring":
        _monitoring(s, survey)
    elif s.json["type"] == "NetworkGraph":
        _graph(s, s.json, survey)
    else:
        graphs = [g for g in s.json["collection"] if g.get("type") == "NetworkGraph"]
        if not graphs:
            raise MisreadError("it is a collection without a NetworkGraph")
        # IPv4 and IPv6 have a graph each, of the same network.
        for graph in graphs[:1]:
            _graph(s, graph, survey)
        for _ in graphs[1:]:
            survey.lose("further graph of a collection, of the same network")


def _key(text: Any, file: str) -> str:
    return key_of(str(text).removeprefix("id_"), file)


def _graph(s: Source, graph: dict[str, Any], survey: Survey) -> None:
    attached = set()
    for node in s.each(graph["nodes"], "nodes"):
        more = node.get("properties") or {}
        if more.get("type") in ("attached", "lan"):
            attached.add(node["id"])
            if "0.0.0.0/0" in str(node.get("label", node["id"])) and more.get("router_addr"):
                survey.node(_key(more["router_addr"], s.file)).gateway = True
            continue
        keys = [_key(node["id"], s.file), *(a for text in node.get("local_addresses", []) if (a := address(str(text))))]
        label = str(node.get("label") or more.get("hostname") or "")
        found = survey.node(*keys, file=s.file, name="" if address(label) else label)
        place = more.get("location") or more
        found.latlon = found.latlon or latlon(
            place.get("latitude", place.get("lat")), place.get("longitude", place.get("lng", place.get("lon")))
        )
    metric = str(graph.get("metric") or "")
    protocol = re.sub("[^a-z0-9]", "", str(graph.get("protocol", "")).lower())
    if known := _METRICS.get(protocol):
        survey.metrics[protocol] = known
    # The plug-in of olsrd names no metric, and its costs are ETX.
    is_etx = "etx" in metric.lower() or (not metric and "olsr" in str(graph.get("protocol", "")).lower())
    for link in s.each(graph["links"], "links"):
        if link["source"] in attached or link["target"] in attached:
            continue
        src, dst = _key(link["source"], s.file), _key(link["target"], s.file)
        more, cost = link.get("properties") or {}, number(link["cost"])
        if is_etx and cost >= 1024:
            survey.lose("link with an infinite cost")
            continue
        there, back = survey.link(src, dst), survey.link(dst, src)
        if "signal" in more or "signal_dbm" in more:
            # As a radio at the source heard it.
            back.signals_dbm.append(number(more.get("signal_dbm", more.get("signal"))))
        if "lq" in more and "nlq" in more:
            back.losses.append(share(1 - number(more["lq"])))
            there.losses.append(share(1 - number(more["nlq"])))
        elif is_etx and cost >= 1:
            there.losses.append(share(1 - 1 / math.sqrt(cost)))
            survey.assumed["An ETX of NetJSON is of both directions: each has its root."] = None
        else:
            survey.assumed[
                f"Costs of the metric {metric or 'without a name'} say that there is a link, and no more."
            ] = None


def _monitoring(s: Source, survey: Survey) -> None:
    general = s.json.get("general") or {}
    own = [i["mac"] for i in s.json["interfaces"] if i.get("mac")]
    s.owner = s.owner or str(general.get("hostname", ""))
    me = s.own(survey, *own)
    for interface in s.each(s.json["interfaces"], "interfaces"):
        wireless = interface.get("wireless") or {}
        if not wireless:
            continue
        survey.frequency_mhz = wireless.get("frequency") or survey.frequency_mhz
        survey.noise_dbm = wireless.get("noise") or survey.noise_dbm
        if wireless.get("mode") not in ("802.11s", "adhoc"):
            survey.lose("wireless interface that is no mesh")
            continue
        for client in wireless.get("clients") or []:
            peer = key_of(client["mac"], s.file)
            if client.get("signal"):
                survey.link(peer, me).signals_dbm.append(number(client["signal"]))
