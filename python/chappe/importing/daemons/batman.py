"""batman-adv: ``batctl o``, ``n``, ``gwl``, ``tg`` of algorithms IV and V, their JSON, and what alfred collects."""

import re

from chappe.importing.source import Source, number
from chappe.importing.survey import Survey, key_of, share

_MAC = r"((?:[0-9a-f]{2}:){5}[0-9a-f]{2})"


def is_batctl(s: Source) -> bool:
    """True for a table of batctl with its header."""
    return s.text.lstrip().startswith("[B.A.T.M.A.N. adv ")


def read_batctl(s: Source, survey: Survey) -> None:
    """Reads the neighbors among the originators, or gateways; a TQ is that from this node to the neighbor."""
    if re.match(r".*BATMAN_V\b", s.text.lstrip()):
        survey.metrics["batman-adv V"] = "ett"
    else:
        survey.metrics["batman-adv IV"] = "tq"
    header = re.match(r"\s*\[.*?MainIF/MAC: \S+?/" + _MAC + r"(?: \(\S+?/" + _MAC + ")?", s.text)
    me = s.own(survey, *(found for found in (header.groups() if header else ()) if found))
    for line in list(s.lines()):
        if gateway := re.match(rf"[ *=>]*{_MAC} \(.*?\].*?: ([\d.]+)/([\d.]+) MBit", line):
            node = survey.node(key_of(gateway[1], s.file))
            node.gateway, node.down_mbps, node.up_mbps = True, float(gateway[2]), float(gateway[3])
        elif found := re.match(rf"[ *]*{_MAC}\s+[\d.]+s\s+\(\s*([\d.]+)\) {_MAC}", line):
            if found[1] != found[3]:
                continue
            there = survey.link(me, key_of(found[1], s.file))
            if "." in found[2]:
                survey.assumed["A throughput of batman-adv V says that there is a link, and no more."] = None
            else:
                there.losses.append(share(1 - float(found[2]) / 255))
        elif found := re.match(rf"\s*\S+\s+{_MAC}\s+[\d.]+s\s*$", line):
            survey.link(me, key_of(found[1], s.file))
        elif re.match(rf"[ *]*{_MAC}\s+-?\d+ \[", line):
            survey.lose("client of the translation table of batman-adv")


def is_json(s: Source) -> bool:
    """True for originators as JSON."""
    rows = s.json
    return isinstance(rows, list) and bool(rows) and all(isinstance(r, dict) and "orig_address" in r for r in rows)


def read_json(s: Source, survey: Survey) -> None:
    """Reads the neighbors among the originators."""
    survey.metrics["batman-adv IV"] = "tq"
    me = s.own(survey)
    for row in s.each(s.json, ""):
        if row["orig_address"] == row["neigh_address"] and "tq" in row:
            survey.link(me, key_of(row["orig_address"], s.file)).losses.append(share(1 - number(row["tq"]) / 255))


def is_alfred(s: Source) -> bool:
    """True for what ``batadv-vis`` writes as JSON."""
    return s.has("vis", "algorithm")


def read_alfred(s: Source, survey: Survey) -> None:
    """Reads neighbors of all nodes; a metric is 255/TQ, from the router to its neighbor."""
    survey.metrics["batman-adv IV"] = "tq"
    for row in s.each(s.json["vis"], "vis"):
        me = key_of(row["primary"], s.file)
        survey.node(me, *(key_of(m, s.file) for m in [*row.get("secondary", []), *row.get("clients", [])[:1]]))
        for found in row.get("neighbors", []):
            survey.node(me, key_of(found["router"], s.file))
            metric = number(found["metric"])
            if metric >= 1:
                survey.link(me, key_of(found["neighbor"], s.file)).losses.append(share(1 - 1 / metric))
