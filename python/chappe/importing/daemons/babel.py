"""Babel: ``dump`` of babeld, and ``show babel neighbors`` of BIRD."""

import re

from chappe.importing.source import Source
from chappe.importing.survey import Kind, Survey, key_of, kind_of, share

_INFINITE = 65535
_PERFECT = 256
"""Cost of a perfect radio link."""


def set_costs(survey: Survey, me: str, peer: str, rxcost: float, txcost: float, kind: Kind = "radio") -> None:
    """Losses of both directions, by the costs of a neighbor: rxcost is what this node hears of its Hellos."""
    for (src, dst), cost in (((peer, me), rxcost), ((me, peer), txcost)):
        if cost < _INFINITE:
            direction = survey.link(src, dst, kind)
            if kind == "radio":
                direction.losses.append(share(1 - _PERFECT / max(cost, _PERFECT)))


def is_babeld(s: Source) -> bool:
    """True for neighbours that babeld adds."""
    return bool(re.search(r"^add (?:neighbour|interface|route) \S+ ", s.text, re.MULTILINE))


def read_babeld(s: Source, survey: Survey) -> None:
    """Reads neighbors; Hellos that arrived give the loss towards this node, the neighbor's cost that away from it."""
    survey.metrics["babeld"] = "babel"
    host = re.search(r"^host (\S+)", s.text, re.MULTILINE)
    s.owner = s.owner or (host[1] if host else "")
    interfaces = re.findall(r"^add interface (\S+).*? ipv6 (\S+)(?: ipv4 (\S+))?", s.text, re.MULTILINE)
    me = s.own(survey, *(a for _, *both in interfaces for a in both if a))
    for line in s.lines():
        if not line.startswith("add neighbour "):
            if re.match(r"add xroute \S*\s?.*prefix 0\.0\.0\.0/0", line):
                survey.node(me).gateway = True
            elif re.match(r"add route \S+ prefix 0\.0\.0\.0/0 .* refmetric 0 ", line) and (
                via := re.search(r" via (\S+)", line)
            ):
                # A neighbor that announces the way out at no cost has it.
                survey.node(key_of(via[1], s.file)).gateway = True
            continue
        words = line.split()
        found = dict(zip(words[3::2], words[4::2], strict=False))
        peer, kind = key_of(found["address"], s.file), kind_of(found["if"])
        rxcost, txcost = int(found["rxcost"]), int(found["txcost"])
        if kind == "radio" and _INFINITE in (rxcost, txcost):
            survey.lose("neighbor of Babel that is not heard in both directions")
            continue
        if kind != "radio":
            set_costs(survey, me, peer, rxcost, txcost, kind)
            continue
        heard = f"{int(found['reach'], 16):016b}".count("1")
        set_costs(survey, me, peer, _PERFECT, txcost)
        survey.link(peer, me).losses[-1] = share(1 - heard / 16)


def is_bird(s: Source) -> bool:
    """True for the table of neighbors."""
    return bool(re.search(r"^IP address\s+Interface\s+Metric\s+Routes\s+Hellos", s.text, re.MULTILINE))


def read_bird(s: Source, survey: Survey) -> None:
    """Reads neighbors; Hellos of 16 give the loss towards this node."""
    survey.metrics["Babel of BIRD"] = "babel"
    me = s.own(survey)
    for line in s.lines():
        if not (found := re.match(r"\s*([0-9a-f:.]+)\s+(\S+)\s+(\d+)\s+\d+\s+(\d+)\s", line)):
            continue
        peer, kind = key_of(found[1], s.file), kind_of(found[2])
        there, back = survey.link(peer, me, kind), survey.link(me, peer, kind)
        if kind == "radio" and int(found[3]) < _INFINITE:
            heard = int(found[4]) / 16
            there.losses.append(share(1 - heard))
            # The metric is 256 divided by what arrives in both directions.
            back.losses.append(share(1 - _PERFECT / int(found[3]) / heard))
